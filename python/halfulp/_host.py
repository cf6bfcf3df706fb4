# SPDX-License-Identifier: MIT
"""Matrices of float32 on the host, for calls that take whole tensors."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

import numpy as np

from . import _abi as abi
from . import _pointer as pointer
from ._elementwise import how, run
from ._integers.odd import to_odd
from ._pointer import How
from ._views import View, float32_of, fresh, numbers, target
from .format import CODE_DTYPES, Format


def float32(argument: str, thing: Any) -> np.ndarray:
    """The numbers as float32, without copying where they are; integers and float64 numbers that are no float32 numbers
    are refused, as they would be rounded."""
    x = numbers(argument, thing)
    if x.array is None:
        raise abi.HalfulpTypeError('{}: an array of the host is expected here'.format(argument))
    if x.name == 'float32':
        return x.array
    if x.name in CODE_DTYPES:
        return _decoded(x)
    made = float32_of(argument, x).array
    assert made is not None
    return made


def _decoded(codes: View) -> np.ndarray:
    made, buffer = fresh('decode', 'float32', codes.shape, codes)
    source = Format(codes.name)

    def call(n, places, way):
        (z, incz), (a, inca) = places
        pointer.decode(n, z, incz, 'float32', a, inca, source, way)
    run(call, buffer, [codes], How())
    return made


def matrix(argument: str, thing: Any) -> Tuple[np.ndarray, Tuple[int, ...]]:
    """The numbers as a float32 matrix with contiguous rows, and the shape that was given: (cols,) is one row."""
    x = float32(argument, thing)
    if x.ndim not in (1, 2):
        raise abi.HalfulpValueError('{}: {} axes; give a matrix (reshape says what its rows are)'.format(argument,
            x.ndim))
    full = x.reshape(1, -1) if x.ndim == 1 else x
    return (full if rows_apart(full) else np.ascontiguousarray(full)), x.shape


def rows_apart(x: np.ndarray) -> bool:
    """Whether rows are contiguous and one after another, as a leading dimension says it."""
    rows, cols = x.shape
    return x.size == 0 or ((cols == 1 or x.strides[1] == x.itemsize)
                           and (rows == 1 or x.strides[0] >= cols * x.itemsize)
                           and x.strides[0] % x.itemsize == 0)


def leading(x: np.ndarray) -> int:
    """The leading dimension of a matrix whose rows are apart."""
    return max(x.shape[1], x.strides[0] // x.itemsize) if x.shape[0] > 1 and x.size else max(x.shape[1], 1)


def float32_result(out: Any, shape: Tuple[int, ...]) -> np.ndarray:
    """A new float32 array, or the array that `out` is."""
    if out is None:
        return np.empty(shape, np.float32)
    made = target('out', out, shape, ['float32']).array
    if made is None:
        raise abi.HalfulpTypeError('out: an array of the host is expected here')
    return made


def host_how(mode: Any, options: Mapping[str, Any], name: str) -> How:
    """How to run a call on the host."""
    if options.get('cuda_stream') is not None:
        raise abi.HalfulpTypeError('cuda_stream: {} takes arrays of the host'.format(name))
    return how(mode, options, [], name)


def amax_record(amax: Optional[float]) -> Optional[np.ndarray]:
    """An amax that is given, where a call can find it."""
    if amax is None:
        return None
    alone = isinstance(amax, np.ndarray) and amax.ndim == 0
    if not alone and not isinstance(amax, (int, float, np.integer, np.floating)):
        raise abi.HalfulpTypeError('amax: a number is expected, not {}'.format(type(amax).__name__))
    with np.errstate(over='ignore'):
        return np.array(to_odd(amax) if isinstance(amax, int) else amax, np.float32)
