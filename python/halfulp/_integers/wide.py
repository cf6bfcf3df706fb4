# SPDX-License-Identifier: MIT
"""Integers that binary64 lacks, where a rounding would see that it was given something else.

`odd` makes such an integer a binary64 number rounded to odd, on the same side as the integer of every number of
up to 52 digits. Roundings to nearest and directed ones into a format decide at such numbers, and so do stochastic ones
of few random bits. What is left:

    formats, more random bits      the integer is an exact sum (halfulp/sum.h), which is rounded once
    fixed point that wraps         the integer modulo the range, beyond it on the same side
    logarithms and other grids     both binary64 neighbours of the integer must become the same value, as the integer
                                   between them then does; else HalfulpValueError. Nothing that can be exact is refused
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from .. import _abi as abi
from .. import _structs as s
from .._pointer import How, encode, number_type, plain_type
from .._views import View, numbers
from ..events import NAMES, Events
from ..format import Format
from .odd import DIGITS

if TYPE_CHECKING:
    from ..number import Number

_BEYOND = 1 << 1100  # every format ends before it
_POSIT, _FIXED, _LINEAR, _HIFLOAT8, _WRAP = 1, 3, 5, 7, 1  # HU_NUMBER_, HU_FIXED_WRAP


def decides(digits: int, bits: int) -> bool:
    """Whether a rounding to so many digits by so many random bits (0: none) decides at numbers that a binary64 number
    rounded to odd distinguishes."""
    return bits == 0 or digits + bits + 1 < DIGITS


def number_decides(record: s.hu_number, bits: int) -> bool:
    """The same of a number system of another kind."""
    wraps = record.kind == _FIXED and record.overflow == _WRAP
    return not wraps and record.kind in (_POSIT, _FIXED, _LINEAR, _HIFLOAT8) and decides(record.width, bits)


def codes_of(x: View, goal: Format, way: How) -> Optional[np.ndarray]:
    """The codes of numbers, integers that binary64 lacks among them, or None where its numbers rounded to odd do."""
    if x.exact is None or not way.mode.stochastic:
        return None
    beyond = any(abs(int(one)) >> 1024 for one in x.exact.flat if is_integer(one))
    if decides(goal.m + 1, way.mode.bits) and not beyond:
        return None
    made = np.empty(x.shape, goal.dtype)
    held, codes, word = np.ascontiguousarray(x.array).reshape(-1), made.reshape(-1), (ctypes.c_uint32 * 1)()
    for place, one in enumerate(x.exact.flat):
        then = way.after(place)
        if is_held(one, held[place]):
            encode(1, codes[place:].ctypes.data, 1, held[place:].ctypes.data, 1, 'float64', goal, then)
            continue
        abi.main().hu_stream_words_n(1, ctypes.addressof(word), then.stream._record())
        codes[place] = _of_sum(int(one), goal, way, word[0] >> (32 - way.mode.bits))
    return made


def is_integer(thing: Any) -> bool:
    return isinstance(thing, (int, np.integer, np.bool_))


def is_held(thing: Any, x: np.float64) -> bool:
    """Whether x is the number that was given."""
    return not is_integer(thing) or int(thing) == int(x)


def add_integer(total: s.hu_sum, x: int) -> None:
    """Adds an integer of up to 1200 digits to a sum."""
    sign, size = (-1 if x < 0 else 1), abs(x)
    for place in range(0, size.bit_length(), 52):
        part, half = sign * float((size >> place) & ((1 << 52) - 1)), place // 2
        if part:
            abi.main().hu_sum_add_product64(abi.address(total), part * 2.0 ** half, 2.0 ** (place - half))


def _of_sum(x: int, goal: Format, way: How, random: int) -> int:
    """The code of an integer, which is added up from parts that binary64 has."""
    total, happened = s.hu_sum(), ctypes.c_uint32()
    add_integer(total, max(-_BEYOND, min(x, _BEYOND)))
    code = abi.main().hu_sum_round(abi.address(total), goal._c, way.mode._c, random, ctypes.addressof(happened))
    if isinstance(way.events, Events):
        way.events += Events(**{name: happened.value >> bit & 1 for bit, name in enumerate(NAMES)})
    return code


def settled(argument: str, x: View, goal: 'Number', way: How) -> View:
    """Numbers that number system `goal` rounds as it rounds those that were given, integers that binary64 lacks among
    them."""
    record = goal._c
    if x.exact is None:
        return x
    if record.kind == _FIXED and record.overflow == _WRAP:
        return _wrapped(argument, x, 1 << (record.width - record.fraction))
    if not number_decides(record, way.mode.bits):
        _between(argument, x, goal, way)
    return x


def _wrapped(argument: str, x: View, modulus: int) -> View:
    def one(thing: Any) -> Any:
        if not is_integer(thing) or abs(int(thing)) <= modulus:
            return float(thing)
        return float(int(thing) % modulus + (modulus if thing > 0 else -2 * modulus))
    return numbers(argument, np.array([one(thing) for thing in x.exact.flat], np.float64).reshape(x.shape))


def _between(argument: str, x: View, goal: 'Number', way: How) -> None:
    """HalfulpValueError where the neighbours of an integer become other values than it, rounded to odd, does."""
    held, quiet = np.ascontiguousarray(x.array).reshape(-1), How(way.mode, stream=way.stream, threads=way.threads)
    unheld = np.array([not is_held(one, y) for one, y in zip(x.exact.flat, held)])

    def codes(values: np.ndarray) -> np.ndarray:
        made = np.empty(values.size, goal.dtype)
        quiet.convert(made.size, (made.ctypes.data, 1, number_type(goal._c)),
                      (values.ctypes.data, 1, plain_type('float64')), 'encode')
        return made
    middle = codes(held)
    for end in (0.0, np.inf):
        beside = np.where(unheld, np.nextafter(held, np.copysign(end, held)), held)
        open_ = codes(beside) != middle
        if open_.any():
            which = list(x.exact.flat)[int(np.argmax(open_))]
            raise abi.HalfulpValueError('{}: {} rounds binary64 numbers, and those on both sides of {!r} differ; give '
                                        'the one that is meant'.format(argument, goal, which))
