# SPDX-License-Identifier: MIT
"""What quantizers and layers share: a stream of random words that moves with every call, and counts."""
from typing import Dict, Optional, Sequence

import torch
from torch import Tensor, nn

from ._calls import EVENTS, STEP
from .events import rows
from .functional import _signed, stream


class Stateful(nn.Module):
    """Buffers: `stream`, key and counter, part of the state (a run that goes on draws the words that it would have
    drawn); `seen` and `tap`, counts of forward and backward passes, which are not. All stay on the CPU, in their own
    types, whatever the module is moved to. A forward call that draws random words moves the counter on by 2^36; the
    backward pass uses other children of the stream at the counter of its forward pass."""

    PARTS: Sequence[str] = ()
    BACKWARD_PARTS: Sequence[str] = ()

    def _begin(self, key: Optional[int], count: bool, stochastic: bool) -> None:
        if key is None:  # torch.manual_seed decides
            key = int(torch.randint(0, 1 << 62, (), dtype=torch.int64, device='cpu'))
        self.count, self.stochastic = count, stochastic
        self.register_buffer('stream', stream(key))
        self.register_buffer('seen', torch.zeros((len(self.PARTS), len(EVENTS)), dtype=torch.int64, device='cpu'),
                             persistent=False)
        self.register_buffer('tap', torch.zeros((len(self.BACKWARD_PARTS), len(EVENTS)), dtype=torch.float64,
                                                requires_grad=count, device='cpu'), persistent=False)

    def _apply(self, fn, *more, **others):
        kept = {name: self._buffers[name] for name in ('stream', 'seen', 'tap')}
        super()._apply(fn, *more, **others)
        self._buffers.update(kept)
        return self

    def take(self) -> Tensor:
        """The stream of this call."""
        if not self.stochastic:
            return self.stream
        now = self.stream.clone()
        self.stream[1] += STEP
        return now

    def note(self, events: Tensor) -> None:
        """The events of a forward pass."""
        if self.count:
            self.seen += events.reshape(self.seen.shape).to(self.seen.device)

    def tapped(self) -> Optional[Tensor]:
        return self.tap if self.count else None

    def seed(self, key: int, counter: int = 0) -> None:
        """Another key and counter."""
        self.stream[0], self.stream[1] = _signed(key), _signed(counter)

    def events_of(self) -> Dict[str, Dict[str, int]]:
        """Counts since the last reset: {part: {event: count}}."""
        made = rows(self.PARTS, self.seen)
        grad = self.tap.grad if self.tap.grad is not None else torch.zeros_like(self.tap)
        made.update(rows(self.BACKWARD_PARTS, grad.detach()))
        return made

    def reset_events(self) -> None:
        self.seen.zero_()
        self.tap.grad = None
