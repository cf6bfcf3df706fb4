# SPDX-License-Identifier: MIT
"""Number systems beside floating point: posits, takums, HiFloat8, logarithmic numbers, fixed point, tables (halfulp/number.h;
docs/numbers.md).

    halfulp.number.quantize(x, 'posit16')

mode, out and the other keywords: see halfulp.arrays.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _names as names
from . import _pictures as pictures
from . import _structs as s
from ._elementwise import finished, how, made_or_given, run
from ._integers import wide
from ._pointer import number_type, plain_type
from ._views import CodesOf, View, dtype_name, numbers as taken, stored, target, view
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike
from .options import EXACT, Options, with_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

_WIDE = ('float32', 'float64')
_FIXED = 3  # HU_NUMBER_FIXED


class Number:
    """A number system.

    Parameters
    ----------
    text : str, Format or dtype
        "posit16" (Standard for Posit Arithmetic, 2022), "posit(12,1)", "takum16", "takum_linear(12)", "hifloat8",
        "lns(8,3)", "q(3.4)", "uq(0.8)", "nf4", "table(0,0.5,1)", or any text of a Format. The grammar and the catalogue are in halfulp/number.h.
    """

    __slots__ = ('_c', '_buffer', '_limits')
    _c: s.hu_number
    _buffer: Any

    def __init__(self, text: Union[FormatLike, 'Number']) -> None:
        if isinstance(text, Number):
            self._c, self._buffer = text._c, text._buffer
        else:
            self._c, self._buffer = s.hu_number(), (ctypes.c_float * 256)()
            names.parse('number', 'number', text if isinstance(text, str) else Format(text).text,
                        abi.main().hu_number_parse, self._c, ctypes.addressof(self._buffer))
        self._limits = abi.main().hu_number_limits_of(self._c)

    @property
    def text(self) -> str:
        """The one canonical text."""
        return abi.written(abi.main().hu_number_text, 3072, self._c)

    @property
    def name(self) -> str:
        """The catalogue's name, or the text."""
        found = abi.main().hu_number_id(self._c)
        return found.decode() if found else self.text

    width = property(lambda self: self._limits.width, doc='Bits of a code.')
    storage = property(lambda self: self._limits.storage, doc='Bits of a code in an array.')
    max = property(lambda self: self._limits.max, doc='The largest value.')
    low = property(lambda self: self._limits.low, doc='The lowest value.')
    min = property(lambda self: self._limits.min, doc='The smallest positive value.')
    has_nan = property(lambda self: bool(self._limits.has_nan), doc='Whether there is a NaN (posits: NaR).')
    has_zero = property(lambda self: bool(self._limits.has_zero), doc='Whether there is a zero.')

    @property
    def dtype(self) -> np.dtype:
        """NumPy's type of an array of codes."""
        return np.dtype('uint{}'.format(self.storage))

    def values(self) -> np.ndarray:
        """The values of all codes in order: float64 (2^width,). Systems of up to 16 bits."""
        if self.width > 16:
            raise abi.HalfulpValueError('values: {} has 2^{} codes; decode those you want'.format(self, self.width))
        return decode(np.arange(1 << self.width, dtype=self.dtype), self, dtype='float64')

    def plot(self) -> pictures.Picture:
        """Draw the positive values on a logarithmic line, as `halfulp plot` does; a notebook shows it. halfulp.plot
        draws several number systems, and data."""
        return pictures.plot([self.name])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and bool(abi.main().hu_number_equal(self._c, other._c))

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return 'Number({!r})'.format(self.name)

    __str__ = name.fget  # type: ignore[attr-defined]

    def __reduce__(self):
        return Number, (self.text,)


NumberLike = Union[Number, FormatLike]


class NumberEntry(NamedTuple):
    """A row of the catalogue of number systems."""

    name: str
    source: str
    open: str  # what the source leaves open and what was decided
    number: Number


def numbers() -> List[NumberEntry]:
    """The named number systems; floating-point formats have `halfulp.formats`."""
    library = abi.main()
    rows = (library.hu_number_at(place) for place in range(library.hu_number_count()))
    return [NumberEntry(row.name.decode(), row.source.decode(), row.open.decode(),
                        Number(row.name.decode())) for row in rows]


def _of(number: NumberLike) -> Number:
    return number if isinstance(number, Number) else Number(number)


def _source(x: View) -> Number:
    if x.name not in CODE_DTYPES:
        raise abi.HalfulpTypeError('x: an array of {} instead of float16, bfloat16, float32 or float64'.format(x.name))
    return Number(Format(x.name))


def _prepared(name: str, x: View, kinds: Sequence[str], mode: ModeLike, out: Any,
              options: Mapping[str, Any]) -> Tuple[Any, View, Any]:
    given = None if out is None else target('out', out, x.shape, kinds, options.get('cuda_stream'))
    way = how(mode, options, [x] + ([given] if given else []), name)
    result, made = made_or_given(name, out, given, kinds[0], x.shape, [x])
    return result, made, way


def _settled(x: View, goal: Number, way: Any) -> Tuple[View, Any]:
    """Numbers, and their codes where integers among them are rounded otherwise than float64 numbers."""
    if x.exact is None:
        return x, None
    if goal._c.kind == 0:
        return x, wide.codes_of(x, Format._from_c(goal._c.format), way)
    return wide.settled('x', x, goal, way), None


@with_options()
def quantize(x: Any, number: NumberLike, mode: ModeLike = 'rne', *, out: Any = None, **options: Unpack[Options]) -> Any:
    """The values that x (float32 or float64) rounds to, in x's own type; values that it lacks are rounded into it.
    Integers, booleans and Python's numbers give float64."""
    operand, goal = taken('x', x, options.get('cuda_stream')), _of(number)
    if operand.name not in _WIDE:
        raise abi.HalfulpTypeError('x: an array of {} instead of float32 or float64'.format(operand.name))
    result, made, way = _prepared('quantize', operand, [operand.name], mode, out, options)
    operand, codes = _settled(operand, goal, way)
    if codes is not None and made.array is not None:
        made.array[...] = decode(codes, goal, dtype='float64')
        return finished(result, out, operand.shape == ())
    _run(made, number_type(goal._c, made.name), operand, plain_type(operand.name), way, 'quantize')
    return finished(result, out, operand.shape == ())


@with_options()
def encode(x: Any, number: NumberLike, mode: ModeLike = 'rne', *, out: Any = None, **options: Unpack[Options]) -> Any:
    """The codes that x (float16, bfloat16, float32, float64, a type of ml_dtypes, integers, booleans or Python's
    numbers) rounds to."""
    operand, goal = taken('x', x, options.get('cuda_stream')), _of(number)
    result, made, way = _prepared('encode', operand, [goal.dtype.name], mode, out, options)
    operand, codes = _settled(operand, goal, way)
    if codes is not None and made.array is not None:
        made.array[...] = codes
        return finished(result, out, operand.shape == ())
    source = None if operand.name in _WIDE else _source(operand)
    kind = plain_type(operand.name) if source is None else number_type(source._c)
    _run(made, number_type(goal._c), operand, kind, way, 'encode')
    return finished(result, out, operand.shape == ())


@with_options(*EXACT)
def decode(codes: Any, number: NumberLike, *, dtype: Any = 'float32', packed: bool = False, out: Any = None,
           **options: Unpack[Options]) -> Any:
    """The values of codes as float32 or float64: exact, except for irrational values of logarithmic systems, and what
    float32 lacks, which are rounded to nearest. packed: bytes of packed codes, as halfulp.decode takes them."""
    operand, source = view('codes', codes, options.get('cuda_stream')), _of(number)
    operand = _codes(operand, source, packed)
    name = dtype_name(dtype)
    if name not in _WIDE:
        raise abi.HalfulpTypeError('dtype: {} is neither float32 nor float64'.format(name))
    kinds = [name] if out is None else list(_WIDE)
    result, made, way = _prepared('decode', operand, kinds, 'rne', out, options)
    _run(made, plain_type(made.name), operand, number_type(source._c), way, 'decode')
    return finished(result, out, operand.shape == ())


@with_options()
def convert(codes: Any, to: NumberLike, of: NumberLike, mode: ModeLike = 'rne', *, packed: bool = False,
            out: Any = None, **options: Unpack[Options]) -> Any:
    """Codes of system `of` to codes of `to`: one rounding, whatever the two kinds. packed: as `decode`."""
    operand, goal, source = view('codes', codes, options.get('cuda_stream')), _of(to), _of(of)
    operand = _codes(operand, source, packed)
    result, made, way = _prepared('convert', operand, [goal.dtype.name], mode, out, options)
    _run(made, number_type(goal._c), operand, number_type(source._c), way, 'convert')
    return finished(result, out, operand.shape == ())


def _codes(x: View, source: Number, packed: bool) -> View:
    kind = CodesOf('codes', str(source), source.width, source._c.kind == _FIXED and bool(source._c.sign))
    typed = (x.name in CODE_DTYPES or x.name == 'float32') and x.itemsize * 8 == source.storage
    if typed and not abi.flag('packed', packed):
        x.kind = kind
        return x
    return stored(x, kind, source.dtype, packed)


def _run(made: View, to: s.hu_type, operand: View, of: s.hu_type, way: Any, argument: str) -> None:
    run(lambda n, places, way_: way_.convert(n, (*places[0], to), (*places[1], of), argument), made, [operand], way)
