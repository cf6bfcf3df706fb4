# SPDX-License-Identifier: MIT
"""What quantizers and layers share: a stream of random words that moves with every call, and counts."""
import operator
from typing import Dict, Optional, Sequence, Union

import torch
from torch import Tensor, nn

from .. import _abi as abi
from . import ops
from ._calls import EVENTS, STEP
from ._streams import TORCH, from_torch, signed, stream

Key = Union[int, str, None]


def is_torch(key: Key) -> bool:
    """Whether words are to come from torch's generator."""
    return isinstance(key, str) and key == TORCH


def own_key(key: Optional[int], stochastic: bool) -> int:
    """A key that is given, or one of torch's generator, so that torch.manual_seed decides; nothing is taken from the
    generator where nothing stochastic needs the key."""
    if key is None:
        return int(torch.randint(0, 1 << 62, (), dtype=torch.int64, device='cpu')) if stochastic else 0
    try:
        return operator.index(key)
    except TypeError:
        raise abi.HalfulpTypeError('key: {!r} is no integer'.format(key)) from None


class Stateful(nn.Module):
    """Buffers: `stream`, key and counter, part of the state of a module that draws random words (a run that is resumed
    draws those that it would have drawn); `seen` and `tap`, counts of forward and backward passes, which are not. All stay
    on the CPU, in their own types, whatever the module is moved to. A forward call that draws random words moves the
    counter on by 2^36; the backward pass uses other children of the stream at the counter of its forward pass. With the
    key "torch" every forward call takes a stream from torch's generator instead, and `stream` is no part of the state."""

    PARTS: Sequence[str] = ()
    BACKWARD_PARTS: Sequence[str] = ()

    def _begin(self, key: Key, count: bool, stochastic: bool) -> None:
        self.count, self.stochastic, self.from_torch = abi.flag('count', count), stochastic, is_torch(key)
        own = 0 if self.from_torch else own_key(key, stochastic)
        self.register_buffer('stream', stream(own), persistent=stochastic and not self.from_torch)
        self.register_buffer('seen', torch.zeros((len(self.PARTS), len(EVENTS)), dtype=torch.int64, device='cpu'),
                             persistent=False)
        self.register_buffer('tap', torch.zeros((len(self.BACKWARD_PARTS), len(EVENTS)), dtype=torch.float64,
                                                requires_grad=self.count, device='cpu'), persistent=False)

    def _apply(self, fn, *more, **others):
        kept = {name: self._buffers[name] for name in ('stream', 'seen', 'tap')}
        super()._apply(fn, *more, **others)
        self._buffers.update(kept)
        return self

    def _load_from_state_dict(self, state, prefix, *more) -> None:
        """A state without a stream, such as that of the plain model, leaves it as it is; a module that has none in its
        state passes over one that a module with random words has written."""
        name = prefix + 'stream'
        if 'stream' in self._non_persistent_buffers_set:
            state.pop(name, None)
        elif name not in state:
            state[name] = self.stream.clone()
        super()._load_from_state_dict(state, prefix, *more)

    def take(self) -> Optional[Tensor]:
        """The stream of this call, None where nothing is drawn."""
        if not self.stochastic:
            return None
        if self.from_torch:
            return from_torch()
        return ops.advance_(self.stream, STEP)

    def note(self, events: Tensor) -> None:
        """The events of a forward pass; those of a repeated one are not counted again."""
        if self.count:
            ops.note_(self.seen, events)

    def tapped(self) -> Optional[Tensor]:
        return self.tap if self.count else None

    def seed(self, key: int, counter: int = 0) -> None:
        """Another key and counter."""
        if self.from_torch:
            raise RuntimeError("seed: a module with key='torch' draws from torch's generator; torch.manual_seed")
        self.stream[0], self.stream[1] = signed(key), signed(counter)

    def events_of(self) -> Dict[str, Dict[str, int]]:
        """Counts since the last reset: {part: {event: count}}."""
        made = rows(self.PARTS, self.seen)
        grad = self.tap.grad if self.tap.grad is not None else torch.zeros_like(self.tap)
        made.update(rows(self.BACKWARD_PARTS, grad.detach()))
        return made

    def reset_events(self) -> None:
        self.seen.zero_()
        self.tap.grad = None


def events(model: torch.nn.Module) -> Dict[str, Dict[str, Dict[str, int]]]:
    """What happened in the modules of a model that count: {module's name: {part: {event: count}}}, parts and events
    without counts left out. Parts are "forward", "backward" of quantizers, those of `Layer.PARTS` of layers."""
    made = {}
    for name, module in model.named_modules():
        if getattr(module, 'count', False) and hasattr(module, 'events_of'):
            made[name] = {part: {event: n for event, n in found.items() if n}
                          for part, found in module.events_of().items()}
    return made


def reset_events(model: torch.nn.Module) -> None:
    """All counts to zero."""
    for module in model.modules():
        if hasattr(module, 'reset_events'):
            module.reset_events()


def rows(parts, table: torch.Tensor) -> Dict[str, Dict[str, int]]:
    """A table of counts, one row per part, as words."""
    return {part: dict(zip(EVENTS, map(int, row))) for part, row in zip(parts, table.reshape(-1, len(EVENTS)).tolist())}
