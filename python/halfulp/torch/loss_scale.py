# SPDX-License-Identifier: MIT
"""The factor on the loss that keeps small gradients above the smallest number (halfulp/train/gradient.h)."""
import ctypes
from typing import Any, Dict, Iterable, List

import torch
from torch import Tensor

from .. import _abi as abi
from .. import _structs as structs
from . import _calls


class LossScaler:
    """Used as torch.amp.GradScaler is, under any of halfulp's rules:

        scaler = LossScaler('backoff(scale_max=16777216,step_window=1000)')
        scaler.scale(loss).backward()
        scaler.step(optimizer)          # unscales, looks, steps if the gradients are finite, and moves the scale

    Parameters
    ----------
    rule : str
        "none", "static(S)", "backoff(...)", "logmax(...)", "lognormal(...)", "gradscaler(...)",
        "exponential(...)".
    """

    _STATE = tuple(field[0] for field in structs.hu_loss_scale._fields_)

    def __init__(self, rule: str = 'gradscaler') -> None:
        self.rule = rule
        self._rule = structs.hu_loss_rule()
        abi.parse('rule', rule, abi.train().hu_loss_rule_parse, self._rule)
        self._state = abi.train().hu_loss_scale_start(_calls.ref(self._rule))
        self._found = structs.hu_gradient_found()
        self._unscaled = False

    @property
    def factor(self) -> float:
        """What the next loss is multiplied by."""
        return self._state.scale

    @property
    def skipped(self) -> int:
        """Steps that were not taken."""
        return self._state.skipped

    def scale(self, loss: Tensor) -> Tensor:
        """loss times the factor."""
        return loss * self._state.scale

    def unscale_(self, tensors: Iterable[Tensor]) -> None:
        """Gradients times rn(1 / factor), each product one binary32 operation (of float16 and bfloat16 then stored
        in their own type), and looked at. For clipping between this and `step`. Waits once for each device."""
        if self._unscaled:
            raise RuntimeError('unscale_: gradients of this step have been unscaled')
        found, factor = self._found, self._state.scale
        back = (torch.ones((), device='cpu') / factor).item()
        looks: Dict[torch.device, List[Tensor]] = {}
        for g in tensors:
            if g.device.type == 'cpu' and g.dtype == torch.float32 and g.is_contiguous():
                abi.train().hu_gradient_unscale_n(g.numel(), g.data_ptr(), factor, _calls.ref(found))
            elif g.numel():
                looks.setdefault(g.device, []).append(self._unscale(g, back))
        for made in looks.values():
            amax, bad = torch.stack(made).amax(0).tolist()
            found.amax, found.bad = max(found.amax, amax), max(found.bad, int(bad))
        self._unscaled = True

    @staticmethod
    def _unscale(g: Tensor, back: float) -> Tensor:
        """Multiplies g; its largest finite magnitude, and 1 if a number is not finite: float32, on g's device."""
        g.copy_(g.to(torch.float32) * back)
        finite = torch.isfinite(g)
        amax = torch.where(finite, g.abs(), torch.zeros_like(g)).max()
        return torch.stack((amax.to(torch.float32), torch.logical_not(finite.all()).to(torch.float32)))

    def step(self, optimizer: torch.optim.Optimizer, *arguments: Any) -> bool:
        """The optimizer's step, if the gradients are finite; moves the scale. Whether it was taken."""
        if not self._unscaled:
            self.unscale_(p.grad for group in optimizer.param_groups for p in group['params'] if p.grad is not None)
        taken = bool(abi.train().hu_loss_scale_update(_calls.ref(self._state), _calls.ref(self._rule), self._found))
        self._found, self._unscaled = structs.hu_gradient_found(), False
        if taken:
            optimizer.step(*arguments)
        return taken

    def state_dict(self) -> Dict[str, Any]:
        return dict({name: getattr(self._state, name) for name in self._STATE}, rule=self.rule)

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        if state['rule'] != self.rule:
            raise ValueError('LossScaler: the state is of the rule {!r}, not of {!r}'.format(state['rule'], self.rule))
        for name in self._STATE:
            setattr(self._state, name, state[name])

    def __deepcopy__(self, memo: Dict[int, Any]) -> 'LossScaler':
        made = LossScaler(self.rule)
        ctypes.memmove(_calls.ref(made._state), _calls.ref(self._state), ctypes.sizeof(self._state))
        return made

    def __repr__(self) -> str:
        return 'LossScaler({!r}): {:g}, {} of {} steps skipped'.format(self.rule, self.factor, self.skipped,
                                                                       self._state.iteration)
