# SPDX-License-Identifier: MIT
"""Texts to the C library's records, each text parsed once.

A rounding is what hu_rounding_parse reads (halfulp/train/rounding.h): "keep", a format, a scaled tensor, "s2fp8",
another number system; then, after commas, a mode and its policies. A product says how the operands of D = A B are
rounded, how the products are summed and how D is rounded (`Product`).
"""
import functools
from typing import NamedTuple

from .. import _abi as abi
from .. import _structs as structs
from ._calls import main

KEEP, FORMAT, SCALED, S2FP8, NUMBER = range(5)
_SRA = structs.ROUNDINGS.index('sra')

PARTS, UNIT, DECODED = range(3)
FACTORS = ('exact', 'rounded', 'twice', 'alpha')


class Rounding:
    """One parsed rounding. `low`, `high`: the range of a format or number system; None where blocks decide."""

    def __init__(self, text: str, record) -> None:
        self.text = text
        self.record = record
        self.kind = record.kind
        self.mode = record.mode
        self.stochastic = record.mode.round >= _SRA
        self.special = bool(record.over_inf or record.keep_nan)
        self.fits32 = True
        self.low = self.high = None
        if self.kind == FORMAT:
            limits = main.hu_format_limits(record.format)
            self.low, self.high = limits.low, limits.max
            self.fits32 = bool(main.hu_format_fits_binary32(record.format))
        elif self.kind == NUMBER:
            limits = main.hu_number_limits_of(record.number)
            self.low, self.high = limits.low, limits.max

    def scaling(self, turned: bool):
        """The scaling for blocks that lie along rows, or, turned, along columns."""
        s = structs.hu_scaling.from_buffer_copy(self.record.scaling)
        if bool(self.record.turned) != turned:
            s.rows, s.cols = s.cols, s.rows
        return s

    def grid(self):
        """The format whose values the results are, as an operand of a product declares it: binary32 where there is
        none."""
        r = self.record
        if self.kind != FORMAT:
            return format_of('binary32')
        return _grid_with_specials(r.format) if self.special else r.format


def _grid_with_specials(f):
    """What over=inf and nan=keep leave: the format with an exponent bit more, for infinities and NaNs
    (train/product.c)."""
    if f.e == 0:
        return format_of('binary32')
    g = structs.hu_format.from_buffer_copy(f)
    g.b -= 1 << (f.e - 1)
    g.e += 1
    g.inf, g.nan, g.overflow, g.negative = 1, 1, 0, 0
    good = main.hu_format_check(g, None) == structs.OK and main.hu_format_fits_binary32(g)
    return g if good else format_of('binary32')


@functools.lru_cache(maxsize=None)
def format_of(text: str):
    record = structs.hu_format()
    abi.parse('format', text, main.hu_format_parse, record)
    return record


def _wide_format(text: str):
    """A rounding into a format beyond binary32, for float64 tensors: hu_rounding_parse refuses those."""
    parts, words = text.split(','), []
    while parts and (parts[-1].partition(':')[0] in structs.ROUNDINGS + ('sr',) or parts[-1].startswith('sat=')):
        words.append(parts.pop())
    r = structs.hu_rounding()
    r.kind, r.format = FORMAT, format_of(','.join(parts))
    for word in words:
        policy = word.startswith('sat=')
        call = main.hu_mode_parse_saturate if policy else main.hu_mode_parse_round
        abi.check(call(abi.address(r.mode), (word[4:] if policy else word).encode()), 'rounding', repr(text))
    return r


@functools.lru_cache(maxsize=None)
def rounding(text: str) -> Rounding:
    """A rounding from its text; HalfulpValueError names what is wrong with it, and where."""
    record = structs.hu_rounding()
    try:
        abi.parse('rounding', text, abi.train().hu_rounding_parse, record)
    except abi.HalfulpValueError as error:
        if error.status != 'HU_E_CARRIER':
            raise
        record = _wide_format(text)
    return Rounding(text, record)


@functools.lru_cache(maxsize=None)
def accum_of(text: str):
    record = structs.hu_accum()
    abi.parse('accum', text, main.hu_accum_parse, record)
    return record


class Sum:
    """How products are added: a model of accum.h, or one of the ways of scaled_gemm.h, whose record is `scaled`."""

    def __init__(self, text: str) -> None:
        self.text, self.accum, self.scaled = text, None, None
        way, inside = _way(text)
        if way is None:
            self.accum = accum_of(text)
            return
        z = structs.hu_scaled_sum()
        z.way = way
        if way == PARTS:
            if len(inside) != 3 or inside[2] not in FACTORS:
                raise abi.HalfulpValueError(
                    'accum: {!r}: parts(INSIDE;ACROSS;FACTOR) is wanted, with one of the factors {}'.format(
                        text, ' '.join(FACTORS)))
            z.inside, z.across, z.factor = accum_of(inside[0]), accum_of(inside[1]), FACTORS.index(inside[2])
        elif way == UNIT:
            if len(inside) != 1:
                raise abi.HalfulpValueError('accum: {!r}: unit(MODEL) is wanted'.format(text))
            z.inside = accum_of(inside[0])
        else:
            if len(inside) not in (1, 2):
                raise abi.HalfulpValueError('accum: {!r}: decoded([FORMAT;]MODEL) is wanted'.format(text))
            z.inside = accum_of(inside[-1])
            if len(inside) == 2:
                setattr(z, 'as', format_of(inside[0]))
        abi.check(main.hu_scaled_sum_check(abi.address(z)), 'accum', repr(text))
        self.scaled = z


def _way(text: str):
    for way, word in ((PARTS, 'parts('), (UNIT, 'unit('), (DECODED, 'decoded(')):
        if text.startswith(word) and text.endswith(')'):
            return way, text[len(word):-1].split(';')
    return None, None


@functools.lru_cache(maxsize=None)
def sum_of(text: str) -> Sum:
    return Sum(text)


class Product(NamedTuple):
    """D = A B: roundings of A and of B, the sum, the rounding of D. Its text has them in this order, '|' between."""
    a: Rounding
    b: Rounding
    sum: Sum
    out: Rounding


@functools.lru_cache(maxsize=None)
def product(text: str) -> Product:
    parts = text.split('|')
    if len(parts) != 4:
        raise abi.HalfulpValueError('product: {!r}: A|B|SUM|OUT is wanted'.format(text))
    return Product(rounding(parts[0]), rounding(parts[1]), sum_of(parts[2]), rounding(parts[3]))


@functools.lru_cache(maxsize=4096)
def child(key: int, use: int) -> int:
    """The key of child `use` (docs/training-data.md): words 2 use and 2 use + 1 of the stream (key, 0); -1: the key
    itself."""
    if use < 0:
        return key
    s = structs.hu_stream(key, 0)
    return main.hu_stream_word(s, 2 * use) | main.hu_stream_word(s, 2 * use + 1) << 32
