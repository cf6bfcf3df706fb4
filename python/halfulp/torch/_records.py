# SPDX-License-Identifier: MIT
"""Texts to the C library's records, each text parsed once.

A rounding is what hu_rounding_parse reads (halfulp/train/rounding.h): "keep", a format, a scaled tensor, "s2fp8",
another number system; then, after commas, a mode and its policies. Or it is the name of a preset (halfulp.presets).
A product says how the operands of D = A B are rounded, how the products are summed and how D is rounded (`Product`).
"""
import ctypes
import functools
import re
from typing import Any, List, NamedTuple, Optional

import torch

from .. import _abi as abi
from .. import _names as names
from .. import _structs as structs
from .._pointer import matrix_view
from ..accum import Accumulator, explained
from ..conversion import Preset, names_preset, preset
from ..format import TORCH_DTYPES, Format
from ._calls import main

KEEP, FORMAT, SCALED, S2FP8, NUMBER = range(5)
_SRA = structs.ROUNDINGS.index('sra')

PARTS, UNIT, DECODED = range(3)
FACTORS = ('exact', 'rounded', 'twice', 'alpha')


def text_of(thing: Any) -> str:
    """The text of a rounding, a format or a model from what may stand for it: halfulp.Format, Scaling, Rounding,
    Number, Preset; a type of torch, ml_dtypes or NumPy."""
    if isinstance(thing, str):
        if not thing.isascii():
            abi.raw_text('rounding', thing)  # operators take no text that UTF-8 has no bytes for
        return thing
    if isinstance(thing, (Format, Preset)):
        return thing.name
    text = getattr(thing, 'text', None)
    if isinstance(text, str):
        return text
    if isinstance(thing, torch.dtype) and thing in _DTYPES:
        return _DTYPES[thing]
    return Format(thing).name


_DTYPES = {getattr(torch, name): text for name, text in TORCH_DTYPES.items() if hasattr(torch, name)}


class Rounding:
    """One parsed rounding. `low`, `high`: the range of a format or number system; None where blocks decide. `preset`:
    the conversion of another program, into `record.format`, or None."""

    def __init__(self, text: str, record, preset_record=None) -> None:
        self.text = text
        self.record = record
        self.preset = preset_record
        self.kind = record.kind
        self.mode = record.mode
        self.stochastic = record.mode.round >= _SRA
        self.special = bool(record.over_inf or record.keep_nan)
        self.fits32 = True
        self.low = self.high = None
        if self.kind == FORMAT:
            limits = main.hu_limits_of(record.format)
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
    (train/net/product.c)."""
    if f.e == 0:
        return format_of('binary32')
    g = structs.hu_format.from_buffer_copy(f)
    g.b -= 1 << (f.e - 1)
    g.e += 1
    g.inf, g.nan, g.overflow, g.negative = 1, 1, 0, 0
    good = main.hu_format_check(g, None) == structs.OK and main.hu_format_fits_binary32(g)
    return g if good else format_of('binary32')


@abi.text_cache(None)
def format_of(text: str):
    record = structs.hu_format()
    names.parse('format', 'format', text, main.hu_format_parse, record)
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
        call = main.hu_mode_saturate_parse if policy else main.hu_mode_round_parse
        abi.check(call(abi.address(r.mode), (word[4:] if policy else word).encode()), 'rounding', repr(text))
    return r


@functools.lru_cache(maxsize=None)
def rounding(text: str) -> Rounding:
    """A rounding from its text; HalfulpValueError names what is wrong with it, and where."""
    if names_preset(text):
        return _of_preset(text, preset(text))
    record = structs.hu_rounding()
    try:
        names.parse('rounding', 'rounding', text, abi.train().hu_rounding_parse, record)
    except abi.HalfulpValueError as error:
        if error.status != 'HU_E_CARRIER':
            raise
        record = _wide_format(text)
    return Rounding(text, record)


def _of_preset(text: str, given: Preset) -> Rounding:
    mode = given.mode
    if given.has_steps:
        raise abi.HalfulpValueError('rounding: the preset {0} has steps of its own; halfulp.scaled.quantize(x, p) with '
                                    'p = halfulp.preset({0!r})'.format(given.name))
    if given.scaling:
        full = '{},{},sat={}'.format(given.scaling, mode.round, mode.saturate)
        return Rounding(text, rounding(full).record)
    record = structs.hu_rounding()
    record.kind, record.format, record.mode = FORMAT, given.format._c, mode._c
    return Rounding(text, record, given.record)


@abi.text_cache(None)
def accum_of(text: str):
    record = structs.hu_accum()
    names.parse('accum', 'accum', text, main.hu_accum_parse, record)
    return record


class Sum:
    """How products are added: a model of accum.h, or one of the ways of gemm.h, whose record is `scaled`."""

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
                    'accum: {!r}: parts(INSIDE;ACROSS;FACTOR) is required, with one of the factors {}'.format(
                        text, ' '.join(FACTORS)))
            z.inside, z.across, z.factor = accum_of(inside[0]), accum_of(inside[1]), FACTORS.index(inside[2])
        elif way == UNIT:
            if len(inside) != 1:
                raise abi.HalfulpValueError('accum: {!r}: unit(MODEL) is required'.format(text))
            z.inside = accum_of(inside[0])
        else:
            if len(inside) not in (1, 2):
                raise abi.HalfulpValueError('accum: {!r}: decoded([FORMAT;]MODEL) is required'.format(text))
            z.inside = accum_of(inside[-1])
            if len(inside) == 2:
                setattr(z, 'as', format_of(inside[0]))
        abi.check(main.hu_scaled_sum_check(abi.address(z)), 'accum', repr(text))
        self.scaled = z

    @property
    def stochastic(self) -> bool:
        """Whether roundings inside the sums draw random words."""
        parts = [self.accum] if self.scaled is None else [self.scaled.inside, self.scaled.across]
        return any(part.mode.bits for part in parts)


def _way(text: str):
    for way, word in ((PARTS, 'parts('), (UNIT, 'unit('), (DECODED, 'decoded(')):
        if text.startswith(word) and text.endswith(')'):
            return way, text[len(word):-1].split(';')
    return None, None


@abi.text_cache(None)
def sum_of(text: str) -> Sum:
    return Sum(text)


_WAYS = ('parts({};...)', 'unit({})', 'decoded({})')


def unit_error(error: abi.HalfulpError, total: Sum, float64: bool = False) -> abi.HalfulpError:
    """The error of operands that a recipe's model does not take, with what can change it."""
    model = Accumulator._from_c(total.accum if total.scaled is None else total.scaled.inside)
    if model.of_integers and 'binary64' in model.operands:
        return explained(error, model, 'give float64 tensors (x.double()) without roundings')
    if model.of_integers:
        return explained(error, model, 'no tensor of torch is multiplied so; halfulp.dot takes such operands')
    if float64:
        return explained(error, model, 'float64 tensors are multiplied under exact and fp64 alone; x.float() for others')
    insist = 'any(...)' if total.scaled is None else _WAYS[total.scaled.way].format('any(...)')
    return explained(error, model, 'give these formats as x= and w= of the recipe and, for the products of the backward '
                     "pass, as g= (or accum_dx= and accum_dw= models of their own); or insist with accum='{}'".format(insist))


class Before(NamedTuple):
    """What is done to the rows of operands before their own roundings. "hadamard(N,SIGNS)": whole blocks of N numbers along
    the sum are transformed in both (halfulp/hadamard.h, HU_HADAMARD_ROOT), SIGNS in hexadecimal digits; numbers behind
    the last whole block stay. "first(a,ROUNDING)", or b: that operand is rounded, with blocks across the sum."""
    n: int = 0
    signs: int = 0
    operand: int = 0
    rounding: Optional[Rounding] = None


_HADAMARD = re.compile(r'hadamard\((16|32|64|128),([0-9a-f]{1,8})\)')
_FIRST = re.compile(r'first\(([ab]),(.+)\)')


def before(text: str) -> Before:
    made = _HADAMARD.fullmatch(text)
    if made:
        return Before(n=int(made[1]), signs=int(made[2], 16))
    made = _FIRST.fullmatch(text)
    if made:
        return Before(operand='ab'.index(made[1]), rounding=rounding(made[2]))
    raise abi.HalfulpValueError('product: {!r}: hadamard(N,SIGNS) or first(OPERAND,ROUNDING) is required'.format(text))


class Product(NamedTuple):
    """D = A B: roundings of A and of B, the sum, the rounding of D. Its text has them in this order, '|' between; behind
    a fourth one stands what is done to the operands before."""
    a: Rounding
    b: Rounding
    sum: Sum
    out: Rounding
    stochastic: bool  # whether random words are drawn anywhere
    before: Optional[Before] = None

    @classmethod
    def of(cls, a: Rounding, b: Rounding, total: Sum, out: Rounding, first: Optional[Before]) -> 'Product':
        return cls(a, b, total, out, any(part.stochastic for part in (a, b, total, out)), first)


@functools.lru_cache(maxsize=None)
def product(text: str) -> Product:
    parts = text.split('|')
    if len(parts) not in (4, 5):
        raise abi.HalfulpValueError('product: {!r}: A|B|SUM|OUT or A|B|SUM|OUT|BEFORE is required'.format(text))
    made = Product.of(rounding(parts[0]), rounding(parts[1]), sum_of(parts[2]), rounding(parts[3]),
                      before(parts[4]) if parts[4:] else None)
    _operands_taken(made)
    return made


def _operands_taken(p: Product) -> None:
    """Formats that the model does not take are refused before anything is multiplied. What is kept has the format of a
    tensor, which the product itself looks at."""
    if p.sum.scaled is not None:
        status = _scaled_status(p) if p.a.kind == p.b.kind == SCALED else structs.OK
    else:
        status = _plain_status(p) if any(r.kind == FORMAT for r in (p.a, p.b)) else structs.OK
    if main.hu_status_name(status).startswith(b'HU_E_OPERAND_'):
        raise unit_error(abi.error(status, 'accum', repr(p.sum.text)), p.sum)


def _plain_status(p: Product) -> int:
    """What a product of nothing says of the operands' formats."""
    operands = []
    for r, wanted in zip((p.a, p.b), (p.sum.accum.a, p.sum.accum.b)):
        known = r.kind == FORMAT or wanted.kind == structs.TYPE_NONE
        f = (r.grid() if r.fits32 else format_of('binary32')) if known else wanted.format
        operands.append(structs.hu_view(None, 1, structs.hu_type(structs.TYPE_CODES, 0, f)))
    if any(x.type.format.e + x.type.format.m == 0 for x in operands):
        return structs.OK  # a model of integers or binary64, which says so itself
    return _status_of(operands, accum=ctypes.addressof(p.sum.accum))


def _status_of(operands: List[structs.hu_view], **sums: int) -> int:
    """What hu_multiply says of a product of nothing."""
    d = structs.hu_output(None, 1, structs.hu_type(structs.TYPE_BINARY32))
    product = structs.hu_product(0, 0, 0, d, *operands, **sums)
    return main.hu_multiply(abi.address(product), None)


def _scaled_status(p: Product) -> int:
    """The same of scaled tensors."""
    scalings, nowhere = [r.scaling(False) for r in (p.a, p.b)], structs.hu_scaled()
    operands = [matrix_view(ctypes.addressof(nowhere), 0, structs.hu_type(structs.TYPE_SCALED, scaling=ctypes.addressof(scaling)), turned)
                for scaling, turned in zip(scalings, (False, True))]
    return _status_of(operands, sum=ctypes.addressof(p.sum.scaled))


@functools.lru_cache(maxsize=4096)
def child(key: int, use: int) -> int:
    """The key of child `use` (docs/training/data.md): words 2 use and 2 use + 1 of the stream (key, 0); -1: the key
    itself."""
    if use < 0:
        return key
    s = structs.hu_stream(key, 0)
    return main.hu_stream_word(s, 2 * use) | main.hu_stream_word(s, 2 * use + 1) << 32
