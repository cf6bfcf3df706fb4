# SPDX-License-Identifier: MIT
"""What an all-reduce over many machines gives, computed on one (halfulp/collective.h), and exact sums (halfulp/sum.h)."""
from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._elementwise import finished, how
from ._integers.wide import add_integer, is_held
from ._pointer import codes_type
from ._structs import Value
from ._views import CodesOf, View, float32_of, fresh, no_codes, numbers_or_codes, target, wide_code
from .accum import with_words
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike, StreamLike, mode_of, stream_of
from .options import ON_HOST, Options, with_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TEXT_MAX = 1536  # HU_COLLECTIVE_TEXT_MAX


class Collective(Value):
    """A model of an all-reduce: which sums the participants make, in which order, and how numbers travel.

    Parameters
    ----------
    text : str
        "exact"; "ring(bfloat16)", reduce-scatter and all-gather; "tree(F)"; "doubling(F)"; "pairwise(F)"; "direct(F)", all
        to all, then all-gather; "switch(F)", one sum of all; "hierarchical(8,exact,ring(bfloat16))", the first within
        groups of 8, the second over the groups. In the parentheses after the format a rounding mode, "sat=POLICY" and
        "wire=", a format or a scaled format, may follow: "ring(binary32,wire=mxfp8_e4m3)". The grammar and every step
        are in halfulp/collective.h.
    """

    __slots__ = ()

    def __init__(self, text: 'CollectiveLike' = 'exact') -> None:
        self._c = text._c if isinstance(text, Collective) else _parse(text)

    @property
    def text(self) -> str:
        """The one canonical text."""
        return abi.written(abi.main().hu_collective_text, _TEXT_MAX, abi.address(self._c))

    @property
    def stochastic(self) -> bool:
        """Whether its roundings draw random words."""
        return bool(self._c.base.mode.bits or self._c.outer.mode.bits)


CollectiveLike = Union[Collective, str]


@abi.text_cache(256)
def _parse(text: str) -> s.hu_collective:
    record = s.hu_collective()
    abi.parse('reduce', text, abi.main().hu_collective_parse, record)
    return record


def _format_of(argument: str, x: View, format: Optional[FormatLike]) -> Format:
    """The format whose codes an array holds: float32 is binary32, ml_dtypes' and float16 their own."""
    own = 'binary32' if x.name == 'float32' else x.name if x.name in CODE_DTYPES else None
    kind = Format(own if format is None else format)
    if own is not None and Format(own) != kind:
        raise abi.HalfulpTypeError('{}: an array of {} holds no codes of {}'.format(argument, x.name, kind))
    if own is None and x.name not in (kind.dtype.name, kind.dtype.name[1:]):
        raise abi.HalfulpTypeError('{}: codes of {} are {}, not {}; without a format, or with binary32, integers are '
                                   'numbers'.format(argument, kind, kind.dtype.name, x.name))
    x.kind = CodesOf(argument, str(kind), kind.width)
    return kind


def _operand(argument: str, thing: Any, format: Optional[FormatLike], option: str = 'format') -> View:
    """Codes, or numbers as float32."""
    x = numbers_or_codes(argument, thing, format, option)
    if x.name != 'float64' or x.array is None:
        return x
    if format is not None and Format(format) != Format('binary32'):
        if x.python:
            raise no_codes(argument, str(Format(format)), Format(format).dtype)
        raise abi.HalfulpTypeError('{}: codes of {} are {}, not {}'.format(argument, Format(format),
                                                                           Format(format).dtype.name, x.name))
    return float32_of(argument, x)


def _done(status: int, argument: str, *views: View) -> None:
    if status != s.OK:
        raise wide_code(abi.error(status, argument), [(x.array, x.kind) for x in views])


def _contiguous(x: View) -> np.ndarray:
    if x.array is None:
        raise abi.HalfulpTypeError('buffers: arrays of a device are not taken here; copy them to the host')
    return np.ascontiguousarray(x.array)


def _buffers(buffers: Any, format: Optional[FormatLike]) -> Tuple[List[np.ndarray], View]:
    """A contiguous array for each participant, and what they all look like."""
    if isinstance(buffers, (list, tuple)):
        views = [_operand('buffers[{}]'.format(i), one, format) for i, one in enumerate(buffers)]
        for i, one in enumerate(views):
            if (one.shape, one.name) != (views[0].shape, views[0].name):
                raise abi.HalfulpValueError('buffers[{}]: {} of {} instead of {} of {}'.format(
                    i, one.shape, one.name, views[0].shape, views[0].name))
        if not views:
            raise abi.HalfulpValueError('buffers: there is no participant')
        return [_contiguous(one) for one in views], views[0]
    whole = _operand('buffers', buffers, format)
    if not whole.shape or not whole.shape[0]:
        raise abi.HalfulpValueError('buffers: the first axis counts the participants, and there are none')
    rows = _contiguous(whole)
    each = [rows[i:i + 1].reshape(whole.shape[1:]) for i in range(len(rows))]  # rows[i] of one number is no array
    return each, View(whole.name, rows.ctypes.data, whole.shape[1:], tuple(whole.strides[1:]), array=each[0])


@with_options(*ON_HOST)
def all_reduce(buffers: Union[Sequence[Any], Any], reduce: CollectiveLike = 'exact', *,
               format: Optional[FormatLike] = None, mode: ModeLike = 'rne', out: Any = None,
               **options: Unpack[Options]) -> Any:
    """What every participant holds after an all-reduce.

    Parameters
    ----------
    buffers : sequence of arrays, or one array (participants, ...)
        What each participant holds: float32, float16, bfloat16, a type of ml_dtypes, or unsigned integers, which are
        codes of `format`. Without a format, or with binary32, other integers and numbers are float32 numbers, if they
        are such.
    reduce : Collective or str
        The model: "exact", "ring(bfloat16)", "ring(binary32,wire=float8_e5m2)", ...
    mode : Mode or str
        Of the last rounding, into the format of the buffers, and of "exact".

    The result has the shape and the type of one buffer. Stochastic models require `stream`.
    """
    model = Collective(reduce)
    rows, like = _buffers(buffers, format)
    kind = _format_of('buffers', like, format)
    held = CodesOf('buffers', str(kind), kind.width)
    with_words(model, options)
    way = how(mode, options, [], 'all_reduce')
    if out is not None:
        result, made = None, target('out', out, like.shape, [like.name])
    else:
        result, made = fresh('buffers', like.name, like.shape)
    if made.array is None:
        raise abi.HalfulpTypeError('out: an array of a device')
    z = np.empty(made.array.shape, made.array.dtype)
    places = (ctypes.c_void_p * len(rows))(*(row.ctypes.data for row in rows))
    try:
        way.run('collective_reduce', len(rows), z.size, z.ctypes.data, kind._c, ctypes.addressof(places),
                abi.address(model._c), argument='all_reduce')
    except abi.HalfulpError as error:
        raise wide_code(error, [(row, held) for row in rows]) from None
    made.array[...] = z
    return finished(result, out, like.shape == ())


class ExactSum:
    """A sum of numbers and products without rounding, in any order: equal terms give equal sums, bit for bit.

        total = halfulp.ExactSum()
        total.add(x).add_products(a, b)
        total += other                  # a sum made elsewhere
        total.round('bfloat16')         # the only rounding
    """

    __slots__ = ('_c',)

    def __init__(self) -> None:
        self._c = s.hu_sum()

    def add(self, x: Any, format: Optional[FormatLike] = None) -> 'ExactSum':
        """Adds all elements of an array: float32, float16, bfloat16, a type of ml_dtypes, codes of `format`; or numbers
        as they are: float64, integers below 2^1024, booleans, Python's (uint8, uint16 and uint32 may be codes, and are
        refused without a format)."""
        one = numbers_or_codes('x', x, format, 'format')
        if one.name == 'float64':
            self._add_numbers(one if format is None else _operand('x', x, format))
            return self
        kind = _format_of('x', one, format)
        flat = _contiguous(one).reshape(-1)
        view = s.hu_view(flat.ctypes.data, 1, codes_type(kind))
        _done(abi.main().hu_sum_add_all(abi.address(self._c), flat.size, view, None), 'x', one)
        return self

    def _add_numbers(self, x: View) -> None:
        """Numbers in float64, integers that it lacks among them."""
        held, buffer = _contiguous(x).reshape(-1), abi.address(self._c)
        given = held if x.exact is None else x.exact.reshape(-1)
        whole = [int(thing) if not is_held(thing, y) else None for thing, y in zip(given, held)]
        for one in whole:
            if one is not None and abs(one) >> 1024:
                raise abi.HalfulpValueError('x: an integer of {} bits; an exact sum has terms below '
                                            '2^1024'.format(abs(one).bit_length()))
        for one, y in zip(whole, held):
            if one is None:
                abi.main().hu_sum_add64(buffer, y)
            else:
                add_integer(self._c, one)

    def add_products(self, a: Any, b: Any, a_format: Optional[FormatLike] = None,
                     b_format: Optional[FormatLike] = None) -> 'ExactSum':
        """Adds the products of the elements of two arrays of one shape, as `add` takes them; numbers in other types
        where float32 has them."""
        x, y = _operand('a', a, a_format, 'a_format'), _operand('b', b, b_format, 'b_format')
        if x.shape != y.shape:
            raise abi.HalfulpValueError('b: shape {} instead of {}'.format(y.shape, x.shape))
        fa, fb = _format_of('a', x, a_format), _format_of('b', y, b_format)
        left, right = _contiguous(x).reshape(-1), _contiguous(y).reshape(-1)
        views = s.hu_view(left.ctypes.data, 1, codes_type(fa)), s.hu_view(right.ctypes.data, 1, codes_type(fb))
        _done(abi.main().hu_sum_add_dot(abi.address(self._c), left.size, *views, None), 'a, b', x, y)
        return self

    def __iadd__(self, other: 'ExactSum') -> 'ExactSum':
        if not isinstance(other, ExactSum):
            return NotImplemented
        abi.main().hu_sum_merge(abi.address(self._c), abi.address(other._c))
        return self

    def round(self, format: FormatLike, mode: ModeLike = 'rne', stream: Optional[StreamLike] = None) -> float:
        """The value of `format` that the sum rounds to; a stochastic mode takes word 0 of `stream`."""
        kind, full = Format(format), mode_of(mode, None, None, None)
        if full.stochastic and stream is None:
            raise abi.HalfulpValueError(
                'stream: {} draws random words; give stream=Stream(key, counter)'.format(full.round))
        word = 0
        if full.stochastic:
            words = (ctypes.c_uint32 * 1)()
            abi.main().hu_stream_words_n(1, ctypes.addressof(words), stream_of(stream)._record())  # type: ignore[arg-type]
            word = words[0] >> (32 - full._c.bits)
        code = abi.main().hu_sum_round(abi.address(self._c), kind._c, full._c, word, None)
        return abi.main().hu_decode64(kind._c, code)

    def __float__(self) -> float:
        """The float that the sum rounds to, ties to even."""
        return abi.main().hu_sum_round64(abi.address(self._c))

    def to_bytes(self) -> bytes:
        """The sum as bytes, which are the same on every machine and for every order of its terms."""
        length = abi.main().hu_sum_write(None, 0, abi.address(self._c))
        buffer = ctypes.create_string_buffer(length)
        abi.main().hu_sum_write(ctypes.addressof(buffer), length, abi.address(self._c))
        return buffer.raw

    @classmethod
    def from_bytes(cls, data: bytes) -> 'ExactSum':
        """The sum whose to_bytes() these are; HalfulpValueError for others."""
        made, raw = cls(), bytes(abi.instance('data', data, bytes, bytearray, memoryview))
        buffer = ctypes.create_string_buffer(raw, max(len(raw), 1))
        abi.check(abi.main().hu_sum_read(abi.address(made._c), ctypes.addressof(buffer), len(raw)), 'data')
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactSum) and self._c == other._c

    __hash__ = None  # type: ignore[assignment]  # it can be added to

    def __repr__(self) -> str:
        return 'ExactSum({!r})'.format(float(self))
