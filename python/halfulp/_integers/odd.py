# SPDX-License-Identifier: MIT
"""Integers, and lists of Python's numbers, before a rounding: as binary64 numbers that are rounded to odd.

A call rounds an integer once, whatever holds it (IEEE 754-2019 5.4.1, convertFromInt). binary64 has 53 digits; of an
integer with more it gets the first 53, the last of which is made 1 where anything was cut off. Such a number lies on
the same side as the integer of every number of up to 52 digits, so that all roundings whose decisions are made at such
numbers round it as they round the integer (`wide` has the others).
"""
from __future__ import annotations

import math
import sys
from typing import Any, List, Optional, Tuple

import numpy as np

from .. import _abi as abi

DIGITS = 53
_PLAIN = ('float16', 'float32', 'float64')
# An array of numbers, and the exact ones as an array of the same shape where binary64 lacks some of them.
Held = Tuple[np.ndarray, Optional[np.ndarray]]


def to_odd(x: int) -> float:
    """The binary64 number of an integer, rounded to odd; beyond the range the largest one, which is odd."""
    size, cut = abs(x), max(abs(x).bit_length() - DIGITS, 0)
    if size >> 1024:
        made = sys.float_info.max
    else:
        made = math.ldexp((size >> cut) | (size & ((1 << cut) - 1) != 0), cut)
    return -made if x < 0 else made


def of_integers(x: np.ndarray) -> Held:
    """An array of integers or booleans."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64), None
    flat = x.reshape(-1)
    negative = flat < 0
    size = flat.astype(np.uint64)  # modulo 2^64, as the next line: the magnitude of -2^63 is there, too
    size = np.where(negative, np.uint64(0) - size, size)
    _, exponent = np.frexp((size >> np.uint64(11)).astype(np.float64))
    cut = np.maximum(exponent - (DIGITS - 11), 0).astype(np.uint64)
    rest = size & ((np.uint64(1) << cut) - np.uint64(1))
    digits = (size >> cut) | (rest != 0).astype(np.uint64)
    made = np.ldexp(digits.astype(np.float64), cut.astype(np.int64))
    return np.where(negative, -made, made).reshape(x.shape), (x if rest.any() else None)


def _one(argument: str, thing: Any) -> Tuple[float, bool]:
    """An element of a list as binary64, and whether that is it."""
    if isinstance(thing, (int, np.integer, np.bool_)):
        made, whole = to_odd(int(thing)), int(thing)
        return made, made == whole
    if isinstance(thing, (float, np.float16, np.float32)):
        return float(thing), True
    raise abi.HalfulpTypeError('{}: {} of type {} is not a number that halfulp knows{}'.format(
        argument, abi.shown(thing), type(thing).__name__, '; give its arrays one by one' if isinstance(thing, dict) else ''))


def _each(argument: str, x: np.ndarray) -> Held:
    pairs: List[Tuple[float, bool]] = [_one(argument, thing) for thing in x.flat]
    made = np.array([pair[0] for pair in pairs], np.float64).reshape(x.shape)
    return made, (None if all(pair[1] for pair in pairs) else x)


def of_python(argument: str, thing: Any) -> Held:
    """A number of Python, or a list of such numbers, of NumPy's and of lists, each of them as it is."""
    if type(thing) in (bool, int, float):
        made, good = _one(argument, thing)
        return np.array(made), (None if good else np.array(thing, object))
    try:
        x = np.asarray(thing)
    except (TypeError, ValueError, OverflowError) as error:
        raise abi.HalfulpTypeError('{}: no array of numbers: {}'.format(argument, error)) from None
    if x.size == 0:
        return x.astype(np.float64), None
    if x.dtype.kind in 'iub':
        return of_integers(x)
    if x.dtype.kind == 'O':
        return _each(argument, x)
    # NumPy has made integers that stand beside other numbers binary64 numbers: those that it rounded are large.
    if x.dtype == np.float64 and (np.abs(x) >= 2.0 ** DIGITS).any():
        return _each(argument, np.array(thing, object))
    return x, None


def unknown(argument: str, kind: np.dtype) -> abi.HalfulpTypeError:
    """The error of an array whose elements are no numbers that halfulp knows, with what can be done."""
    if kind.kind == 'f' and kind.name not in _PLAIN:
        more = '; binary64 lacks some of them, so that they would be rounded twice: x.astype(numpy.float64) says so'
    elif kind.kind == 'c':
        more = '; give x.real and x.imag'
    elif kind.kind == 'O':
        more = '; x.tolist() is taken, each number as it is'
    else:
        more = ''
    return abi.HalfulpTypeError('{}: an array of {} holds no numbers that halfulp knows{}'.format(argument, kind, more))
