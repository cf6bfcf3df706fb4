# SPDX-License-Identifier: MIT
"""What the kernels of several operators share: counts, the words of a call, checks of arguments."""
from typing import Optional

import torch
from torch import Tensor

from ... import _abi as abi
from .. import _records
from .._calls import EVENTS, Words
from .._streams import missing

GRADIENTS = ('straight_through', 'zero_outside')
_MASK = (1 << 64) - 1
_NONE = Words(0, 0)


def drawn(stream: Optional[Tensor], *texts: str) -> None:
    """No stream is an error where a rounding or a product of these texts draws random words."""
    if stream is None:
        for text in texts:
            if text and (_records.product(text) if '|' in text else _records.rounding(text)).stochastic:
                raise missing(text)


def words(stream: Optional[Tensor], use: int) -> Words:
    """Key and counter from their tensor, which is on the CPU, so that no call waits for a device."""
    if stream is None:
        return _NONE
    if stream.dtype != torch.int64 or stream.shape != (2,):
        raise abi.HalfulpTypeError('stream: an int64 tensor of a key and a counter is required')
    key, counter = (number & _MASK for number in stream.tolist())
    return Words(_records.child(key, use), counter)


def counts(x: Tensor, count: bool, rows: int = 0) -> Tensor:
    """Zeros for the events of one call (rows: of so many parts), or an empty tensor."""
    if not count:
        return x.new_empty((0,), dtype=torch.int64)
    return torch.zeros((rows, len(EVENTS)) if rows else (len(EVENTS),), dtype=torch.int64, device=x.device)


def some(events: Tensor) -> Optional[Tensor]:
    return events if events.numel() else None


def gradient_rule(gradient: str) -> None:
    if not isinstance(gradient, str):
        raise abi.HalfulpTypeError('gradient: give a text, not {}'.format(type(gradient).__name__))
    if gradient not in GRADIENTS:
        raise abi.HalfulpValueError('gradient: {!r} is not one of {}'.format(gradient, ', '.join(GRADIENTS)))
