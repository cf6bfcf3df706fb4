# SPDX-License-Identifier: MIT
"""Delayed scaling: the scale of a tensor is known before the tensor is, from the largest numbers of earlier steps."""
from collections import deque
import math
from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor, nn

from ... import _abi as abi
from .. import ops
from ..recipe import Recipe
from .named import Named
from .own import Own

_FORMATS = {'x': ('float8_e4m3fn,sat=finite', 448.0), 'w': ('float8_e4m3fn,sat=finite', 448.0),
            'g': ('float8_e5m2,sat=finite', 57344.0)}
_LARGEST = np.finfo(np.float32).max


class _Track:
    """One operand of a module: the amax in force (0: none), those of the last steps, and the one of this step."""

    def __init__(self, length: int) -> None:
        self.force, self.past, self.now = 0.0, deque([0.0] * length, length), None

    def see(self, x: Tensor) -> None:
        """The largest magnitude of a tensor of this step; infinity for a NaN."""
        if x.numel():
            a = x.detach().abs().amax().float()
            a = torch.where(a.isnan(), torch.full_like(a, float('inf')), a)
            self.now = a if self.now is None else torch.maximum(self.now, a.to(self.now.device))

    def end(self, takes: str) -> None:
        """A step ends."""
        a = 0.0 if self.now is None else float(self.now)
        self.past.appendleft(a)
        found = max(self.past) if takes == 'max' else a
        self.now = None
        if 0 < found < float('inf'):
            self.force = found

    def scales(self, largest: float, margin: int) -> Tuple[float, float]:
        """What a tensor is multiplied by, and the number that its codes are multiplied by."""
        if not self.force:
            return 1.0, 1.0
        with np.errstate(over='ignore'):
            a = min(np.float32(self.force) * np.float32(2.0 ** margin), _LARGEST)
            up = min(np.float32(largest) / np.float32(a), _LARGEST)
            down = np.float32(1) / up
        return float(up), float(down or np.float32(2.0 ** -149))


    def numbers(self) -> List[float]:
        """What a state has of it."""
        return [self.force] + list(self.past)

    def take(self, numbers: List[float]) -> None:
        self.force, self.now = numbers[0], None
        self.past = deque(numbers[1:], self.past.maxlen)


def _power(a: float, largest: float, before: float) -> float:
    """The largest power of two that a tensor of amax `a` is multiplied by within `largest`; `before` where `a` is 0 or
    not finite."""
    if not 0 < a < float('inf'):
        return before
    quotient = float(np.float32(largest) / np.float32(a)) if a * 2.0 ** 126 > largest else 2.0 ** 126
    return 2.0 ** (math.frexp(quotient)[1] - 1)


def _amax(x: Tensor) -> float:
    return float(x.abs().amax()) if x.numel() else 0.0


class _Window(_Track):
    """An operand whose scale is `force` and, in the first steps, that of the tensor itself: so until as many steps as are
    remembered have had finite numbers alone; where one step is remembered always."""

    def __init__(self, length: int, largest: float) -> None:
        super().__init__(length)
        self.force, self.largest, self.steps = 1.0, largest, 0

    def end(self, takes: str) -> None:
        a = 0.0 if self.now is None else float(self.now)
        finite = a < float('inf')
        self.past.appendleft(a if finite else 0.0)
        self.force, self.now = _power(max(self.past), self.largest, self.force), None
        self.steps = min(self.steps + 1, len(self.past)) if finite else 0

    def scale_of(self, x: Tensor) -> float:
        own = len(self.past) == 1 or self.steps < len(self.past)
        return _power(_amax(x), self.largest, self.force) if own else self.force

    def numbers(self) -> List[float]:
        return super().numbers() + [float(self.steps)]

    def take(self, numbers: List[float]) -> None:
        super().take(numbers[:-1])
        self.steps = int(numbers[-1])


class _Record:
    """Those of one module. Copies of a model share it: it belongs to the recipe."""

    def __init__(self, tracks: Dict[str, _Track]) -> None:
        self.tracks = tracks

    def __deepcopy__(self, memo: Any) -> '_Record':
        return self


@dataclass(frozen=True)
class _Scaled(Own):
    """The recipe of one module."""

    record: Optional[_Record] = field(default=None, compare=False, repr=False)
    margin: int = 0

    SHOWN = ('float8_e4m3fn *x* binary32', 'float8_e4m3fn *x* binary32', 'float8_e5m2 *x* binary32')

    def __post_init__(self) -> None:
        super().__post_init__()
        self._own(False)

    def begin(self, history: int) -> _Record:
        """A record in which nothing has been seen."""
        return _Record({name: _Track(history) for name in _FORMATS})

    def _scales(self, name: str, x: Tensor) -> Tuple[float, float]:
        """What an operand is multiplied by, and the number that its codes are multiplied by."""
        return self.record.tracks[name].scales(_FORMATS[name][1], self.margin)

    def multiply(self, a: Tensor, b: Tensor, stream: Optional[Tensor], tap: Optional[Tensor],
                 count: bool) -> Tuple[Tensor, Tensor]:
        if self.record is None:
            raise abi.HalfulpValueError('recipe: a layer alone has no history; convert and precision give each module its own')
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            for name, operand in (('x', a), ('w', b)):
                if name in self.record.tracks:
                    self.record.tracks[name].see(operand)
        return super().multiply(a, b, stream, tap, count)

    def _of_codes(self, which: int, a: Tensor, b: Tensor, names: str) -> Tensor:
        """A product of codes, times both scales."""
        both = [self._scales(name, operand) for name, operand in zip(names, (a, b))]
        texts = [_FORMATS[name][0] for name in names]
        z = self.product(which, a * both[0][0], b * both[1][0], *texts)
        return z * float(np.float32(both[0][1]) * np.float32(both[1][1]))

    def forward(self, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tensor:
        return self._of_codes(0, a, b, 'xw')

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        self.record.tracks['g'].see(g)
        da = self._of_codes(1, g, b.t(), 'gw') if of_a else None
        db = self._of_codes(2, a.t(), g, 'xg') if of_b else None
        return da, db


@dataclass(frozen=True)
class _Windowed(_Scaled):
    """The same by powers of two, of X and dY from a window of steps; W and dW by their own."""

    SHOWN = ('float8_e4m3fn *x* power of 2', 'float8_e4m3fn *x* power of 2', 'float8_e5m2 *x* power of 2')

    def begin(self, history: int) -> _Record:
        return _Record({name: _Window(history, _FORMATS[name][1]) for name in 'xg'})

    def _scales(self, name: str, x: Tensor) -> Tuple[float, float]:
        track = self.record.tracks.get(name)
        up = track.scale_of(x) if isinstance(track, _Window) else _power(_amax(x), _FORMATS[name][1], 1.0)
        return up, 1.0 / up

    def backward(self, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor], of_a: bool,
                 of_b: bool) -> Tuple[Optional[Tensor], Optional[Tensor]]:
        da, db = super().backward(g, a, b, stream, of_a, of_b)
        if db is not None:
            up = _power(_amax(db), _FORMATS['w'][1], 1.0)
            codes = ops.quantize(db * up, None, None, _FORMATS['w'][0], 'keep', -1, 'straight_through', 0, -1, False)[0]
            db = codes * (1.0 / up)
        return da, db


@dataclass(frozen=True, repr=False)
class Delayed(Named):
    """A named recipe with a record for each module: of the largest magnitudes of X, W and dY in the last steps.

    A pass uses what earlier steps have left and never its own numbers. `step()`, once behind each step of the optimizer,
    ends the step of the records; without it the scales stay as they are, 1 at first. Passes without gradients use the
    scales and record nothing. The records belong to this object, by the names of the modules: copies of a model share
    them, and a second model takes a second object. `state_dict()` and `load_state_dict()` carry them.
    """

    history: int = 1024
    takes: str = 'max'
    margin: int = 0
    records: Dict[str, _Record] = field(default_factory=dict, init=False, compare=False)

    def __call__(self, name: str, module: Optional[nn.Module]) -> Optional[Recipe]:
        chosen = super().__call__(name, module)
        if chosen is not self.recipe:
            return chosen
        if name not in self.records:
            self.records[name] = self.recipe.begin(self.history)
        return replace(self.recipe, record=self.records[name], margin=self.margin)

    def step(self) -> None:
        """The step of all records ends; the next pass uses its numbers."""
        for record in self.records.values():
            for track in record.tracks.values():
                track.end(self.takes)

    def state_dict(self) -> Dict[str, Any]:
        """Numbers of each module and operand: the amax in force, then those of the steps, the last one first; of
        fp8_lm_history the scale in force, the amaxes, and how many steps had finite numbers alone."""
        return {name: {operand: track.numbers() for operand, track in record.tracks.items()}
                for name, record in self.records.items()}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """What `state_dict` gave, of a recipe with the same history."""
        fresh = self.recipe.begin(self.history).tracks
        for name, operands in state.items():
            for operand, numbers in operands.items():
                if operand not in fresh or len(numbers) != len(fresh[operand].numbers()):
                    raise abi.HalfulpValueError('{!r}: {} numbers of {!r} instead of {} of {}'.format(
                        name, len(numbers), operand, len(fresh['x'].numbers()), ', '.join(fresh)))
        for name, operands in state.items():
            record = self.records.setdefault(name, self.recipe.begin(self.history))
            for operand, numbers in operands.items():
                record.tracks[operand].take(numbers)


def te_delayed(history: int = 1024, takes: str = 'max', margin: int = 0) -> Delayed:
    """Transformer Engine's DelayedScaling: E4M3 forward, E5M2 for gradients, a scale for each tensor from the largest
    magnitudes of earlier steps.

    Parameters
    ----------
    history : int
        Steps that are remembered (amax_history_len), from 1 to 65536.
    takes : "max" or "most_recent"
        The largest of them, or that of the last step (amax_compute_algo).
    margin : int
        Binades that are left free, from 0 to 64.
    """
    abi.whole('history', history, 1, 65536)
    abi.word('takes', takes, ('max', 'most_recent'))
    abi.whole('margin', margin, 0, 64)
    return Delayed('te_delayed', _Scaled(), 'Transformer Engine 2.20, common/recipe, DelayedScaling; delayed_scaling.cu',
                   same=('scales from the history before the step, kept where it is 0 or infinite', 'codes saturate; they are '
                         'summed, and the sum is multiplied by both scales', 'results have the tensors\' own type'),
                   others=('step() ends a step of the records, not the end of a context', 'a NaN counts as an infinity',
                           'amaxes are this process\'s, not reduced over several', 'functions of your own for the amax or the '
                           'scale are not taken', 'sums are float32 in a stated order unless but(accum=) says otherwise'),
                   compared='an evaluator in NumPy of hu_net_delay_product\'s rule', history=history, takes=takes,
                   margin=margin)


def fp8_lm_history(history: int = 16) -> Delayed:
    """FP8-LM as its program MS-AMP computes it: E4M3 forward and for gradients of weights, E5M2 for gradients of results, each
    by a power of two; X and dY by that of the last steps, and in the first steps, like W and dW always, by their own.

    Parameters
    ----------
    history : int
        Steps that are remembered (window_size), from 1 to 65536.
    """
    abi.whole('history', history, 1, 65536)
    return Delayed('fp8_lm_history', _Windowed(), 'MS-AMP, msamp/nn/functional.py, common/tensor/{meta,cast}.py, optim/optimizer.py',
                   same=('the scale is the largest power of two that leaves the amax within the format', 'tensors\' own scales in '
                         'the first `history` steps, and in as many behind a step with an infinity or a NaN', 'codes saturate; '
                         'they are summed, and the sum is multiplied by both scales', 'weight gradients in E4M3'),
                   others=('the exponent is exact; there it is that of a logarithm in binary32', 'scales are at most 2^126',
                           'step() ends a step, there the optimizer\'s does', 'of several passes of one step the largest number '
                           'counts; in the first steps there that of the last pass', 'a tensor with an infinity keeps the scale; in '
                           'the first steps there the reciprocal of it', 'amaxes are this process\'s, not reduced over several',
                           'gradients of several backward passes are added in float32 behind the rounding', 'weights are the '
                           'model\'s own in float32; there binary16 with a scale for each tensor', 'states of the optimizer: not '
                           'here', 'sums are float32 in a stated order unless but(accum=) says otherwise'),
                   compared='an evaluator in NumPy from its source', history=history)


__all__ = ['Delayed', 'fp8_lm_history', 'te_delayed']
