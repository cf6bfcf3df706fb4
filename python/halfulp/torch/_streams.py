# SPDX-License-Identifier: MIT
"""Where the random words of a call come from: a stream that is given, or torch's generator."""
import numbers
from typing import TYPE_CHECKING, Any, Optional, Tuple, Union

import torch
from torch import Tensor

from .. import _abi as abi

if TYPE_CHECKING:
    import numpy.random

TORCH = 'torch'
StreamLike = Union[Tensor, Tuple[int, int], int, str, torch.Generator, 'numpy.random.Generator']


def signed(x: int) -> int:
    """A number of 64 bits as the int64 of the same bits."""
    if not isinstance(x, numbers.Integral) or isinstance(x, bool):
        raise abi.HalfulpTypeError('stream: key and counter are integers, not {}'.format(type(x).__name__))
    if not 0 <= x < 1 << 64:
        raise abi.HalfulpValueError('stream: key and counter are integers of 64 bits, not {}'.format(abi.shown(x)))
    return int(x) - (1 << 64) if int(x) >> 63 else int(x)


def pair(given: Any) -> Optional[Tuple[int, int]]:
    """Key and counter of a stream that is given by plain numbers; None for all others."""
    key, counter = (given, 0) if type(given) is int else given if type(given) is tuple and len(given) == 2 else (None, None)
    good = type(key) is int and type(counter) is int and 0 <= key < 1 << 64 and 0 <= counter < 1 << 64
    return (key, counter) if good else None


def stream(key: int, counter: int = 0) -> Tensor:
    """A stream of random words as a tensor: int64 of 2 numbers, the 64-bit patterns of key and counter, on the CPU."""
    return torch.tensor([signed(key), signed(counter)], dtype=torch.int64, device='cpu')


def from_torch(generator: Optional[torch.Generator] = None) -> Tensor:
    """The stream that torch's generator (of the CPU) gives next: 63 random bits each as key and counter. What restores
    the generator's state, as torch.utils.checkpoint does, gives the same stream again. torch.randint is an operator
    that every part of torch.compile knows to be random, so that no two of these become one."""
    more = {} if generator is None else {'generator': generator}
    return torch.randint(0, (1 << 63) - 1, (2,), dtype=torch.int64, device='cpu', **more)


def draws(text: str) -> bool:
    """Whether a rounding has a stochastic mode, or is a preset with one, seen in its text alone, which torch.compile
    can follow. (That a stream is missing is for the operators to say, which look at what was parsed.)"""
    return any(mode in text for mode in ('sr:', 'sra:', 'srb:', 'src:', 'intel.vcvtbias', 'ptx.cvt.rs'))


def taken(given: Optional[StreamLike], drawn: bool) -> Optional[Tensor]:
    """The stream that a call is given, None for none; nothing is taken from torch's generator where a call draws
    nothing."""
    if given is None or isinstance(given, Tensor):
        return given
    if isinstance(given, torch.Generator):
        return from_torch(given) if drawn else None
    if hasattr(given, 'integers') and hasattr(given, 'bit_generator'):  # numpy.random.Generator
        return stream(*(int(n) for n in given.integers(0, 1 << 63, 2))) if drawn else None
    if isinstance(given, str):
        if given != TORCH:
            raise abi.HalfulpValueError("stream: {!r} is neither 'torch' nor a key".format(given))
        return from_torch() if drawn else None
    if isinstance(given, (tuple, list)):
        if len(given) != 2:
            raise abi.HalfulpTypeError('stream: (key, counter) is required, not {} numbers'.format(len(given)))
        return stream(given[0], given[1])
    return stream(given)


def missing(what: Any) -> abi.HalfulpValueError:
    """The error of a call that draws random words and was not given a stream."""
    return abi.HalfulpValueError("stream: {} draws random words; give stream=(key, counter), or stream='torch' for "
                                 "the next ones of torch's generator".format(what))
