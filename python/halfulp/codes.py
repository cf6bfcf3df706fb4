# SPDX-License-Identifier: MIT
"""Arithmetic and elementary functions on codes (halfulp/arith.h; docs/numerics.md sections 10 and 12).

    halfulp.codes.add(a, b, of='float8_e4m3fn', to='binary16')

Operands are arrays of codes: unsigned integers of `Format.dtype` (or signed ones of the same bits) with `of` naming
their format (one for all, or a tuple, one an operand), or arrays of float16, bfloat16, float32 or a type of ml_dtypes,
whose elements are codes of that type. Shapes broadcast. `to` is the result's format, the first operand's without it;
the exact result is rounded into it ONCE. The result is an array of codes as `halfulp.encode` returns them. mode, out
and the other keywords: see halfulp.arrays.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union, TypeVar

from . import _abi as abi
from . import _structs as s
from ._elementwise import finished, how, made_or_given, run, shape_of
from ._pointer import How, codes_type
from ._views import View, code_types, codes_view, format_and_type, target, view
from .format import Format, FormatLike
from .mode import ModeLike
from .options import EXACT, Options, with_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

CLASSES = s.CLASSES  # what classify's numbers mean
Formats = Union[None, FormatLike, Sequence[Optional[FormatLike]]]


def operands_of(names: Sequence[str], things: Sequence[Any], of: Formats, options: Mapping[str, Any],
                packed: bool = False) -> 'Tuple[List[View], List[Format]]':
    """Views and formats of operands."""
    formats: List[Any] = list(of) if isinstance(of, (tuple, list)) else [of] * len(things)
    if len(formats) != len(things):
        raise abi.HalfulpTypeError('of: {} formats for {} operands'.format(len(formats), len(things)))
    pairs = [codes_view(name, view(name, thing, options.get('cuda_stream')), format_, packed)
             for name, thing, format_ in zip(names, things, formats)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def place_and_call(call: str, n: int, places: Sequence[Tuple[int, int]], to: Format, formats: Sequence[Format],
                   way: How) -> None:
    """Operation `call` of operands with a format each, into codes of `to`."""
    way.apply(call, n, (*places[0], codes_type(to)), [(*place, codes_type(f)) for place, f in zip(places[1:], formats)])


def _call_to_int8(call: str, n: int, places: Sequence[Tuple[int, int]], formats: Sequence[Format], way: How,
                  argument: str) -> None:
    """Operation `call` of operands with a format each, into numbers of 8 bits."""
    way.apply(call, n, (*places[0], s.hu_type(s.TYPE_INT8)),
              [(*place, codes_type(f)) for place, f in zip(places[1:], formats)], argument)


def apply(name: str, names: Sequence[str], things: Sequence[Any], of: Formats, to: Optional[FormatLike],
          mode: ModeLike, packed: bool, out: Any, options: Mapping[str, Any]) -> Any:
    """Operation `name` element by element."""
    operands, formats = operands_of(names, things, of, options, packed)
    shape = shape_of(names, operands)
    goal, kind = format_and_type(to) if to is not None else (formats[0], operands[0].name)
    given = None if out is None else target('out', out, shape, code_types(goal), options.get('cuda_stream'))
    way = how(mode, options, operands + ([given] if given else []), name)
    result, made = made_or_given(name, out, given, kind or goal.dtype.name, shape, operands)
    run(lambda n, places, way_: place_and_call(name, n, places, goal, formats, way_), made, operands, way)
    return finished(result, out, shape == ())


def _unary(name: str) -> Callable[..., Any]:
    def function(x: Any, *, of: Formats = None, to: Optional[FormatLike] = None, mode: ModeLike = 'rne',
                 packed: bool = False, out: Any = None, **options: Unpack[Options]) -> Any:
        return apply(name, ['x'], [x], of, to, mode, packed, out, options)
    return _named(name)(function)


def _binary(name: str) -> Callable[..., Any]:
    def function(a: Any, b: Any, *, of: Formats = None, to: Optional[FormatLike] = None, mode: ModeLike = 'rne',
                 packed: bool = False, out: Any = None, **options: Unpack[Options]) -> Any:
        return apply(name, OPERANDS.get(name, ('a', 'b')), [a, b], of, to, mode, packed, out, options)
    return _named(name)(function)


_Call = TypeVar('_Call', bound=Callable[..., Any])
PARAMETERS = """

Parameters
----------
operands : array of unsigned integers (`Format.dtype`), float16, bfloat16, float32 or a type of ml_dtypes
    Codes. Shapes broadcast.
of : Format, str or dtype, or one of them for each operand
    The format of the codes, where the type of the array does not say it.
to : Format, str or dtype, optional
    The format of the result; that of the first operand without it.
mode : Mode or str
    The rounding ("rne", "rtz", "sra:8", ...; see `Mode`).
packed : bool
    All operands are bytes of packed codes, as `halfulp.decode` takes them; the result is not packed.
out : array, optional
    Where the codes of the result go."""


def named(text: str, name: str) -> Callable[[_Call], _Call]:
    """Decorates the function of operation `name`; `text` is what help() says behind what is computed."""
    def given_its_name(function: _Call) -> _Call:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = WHAT[name] + text
        return with_options()(function)
    return given_its_name


_named = functools.partial(named, ', of codes, rounded once into `to`.' + PARAMETERS)


# Operations of one operand and of two, whose names are a and b or OPERANDS, and what each computes, as
# halfulp/operation.h has them (test_arithmetic.py);
# halfulp.arithmetic has the same for values.
UNARY = ('sqrt', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log1p', 'tanh', 'sigmoid', 'erf', 'gelu', 'rsqrt', 'reciprocal',
         'sin', 'cos')
BINARY = ('add', 'sub', 'mul', 'div', 'minimum', 'maximum', 'minimum_number', 'maximum_number', 'pow',
          'remainder')
OPERANDS = {'pow': ('x', 'y'), 'remainder': ('x', 'y')}
WHAT = {
    'add': 'a + b', 'sub': 'a - b', 'mul': 'a b', 'div': 'a / b',
    'minimum': 'The smaller of a and b, -0 below +0, NaN if one is a NaN (IEEE 754-2019 9.6)',
    'maximum': 'The larger of a and b, -0 below +0, NaN if one is a NaN (IEEE 754-2019 9.6)',
    'minimum_number': 'The smaller of a and b; beside a NaN the other one', 'maximum_number':
    'The larger of a and b; beside a NaN the other one', 'pow': 'x^y (IEEE 754-2019 9.2.1)',
    'remainder': 'x - y n, n the integer nearest to x / y, of two the even one (IEEE 754-2019 5.3.1)',
    'sqrt': 'The square root of x', 'fma': 'a b + c, the product not rounded', 'exp': 'e^x', 'exp2': '2^x',
    'expm1': 'e^x - 1', 'log': 'ln x', 'log2': 'log2 x', 'log1p': 'ln(1 + x)', 'tanh': 'The hyperbolic tangent of x',
    'sigmoid': '1 / (1 + e^-x)', 'erf': 'The error function of x', 'gelu': 'x Phi(x), the exact GELU',
    'rsqrt': '1 / sqrt(x)', 'reciprocal': '1 / x', 'sin': 'The sine of x radians', 'cos': 'The cosine of x radians',
}
add, sub, mul, div, minimum, maximum, minimum_number, maximum_number, pow, remainder = map(_binary, BINARY)
sqrt, exp, exp2, expm1, log, log2, log1p, tanh, sigmoid, erf, gelu, rsqrt, reciprocal, sin, cos = map(_unary, UNARY)


@_named('fma')
def fma(a: Any, b: Any, c: Any, *, of: Formats = None, to: Optional[FormatLike] = None, mode: ModeLike = 'rne',
        packed: bool = False, out: Any = None, **options: Unpack[Options]) -> Any:
    return apply('fma', ['a', 'b', 'c'], [a, b, c], of, to, mode, packed, out, options)


def _within(call: str, x: Any, of: Formats, mode: ModeLike, packed: bool, out: Any, options: Mapping[str, Any]) -> Any:
    operands, formats = operands_of(['x'], [x], of, options, packed)
    given = None if out is None else target('out', out, operands[0].shape, code_types(formats[0]),
                                            options.get('cuda_stream'))
    way = how(mode, options, operands + ([given] if given else []), call)
    result, made = made_or_given(call, out, given, operands[0].name, operands[0].shape, operands)

    run(lambda n, places, way_: place_and_call(call, n, places, formats[0], formats, way_), made, operands, way)
    return finished(result, out, operands[0].shape == ())


@with_options('stream', 'events', *EXACT)
def round_to_integral(x: Any, *, of: Formats = None, mode: ModeLike = 'rne', packed: bool = False, out: Any = None,
                      **options: Unpack[Options]) -> Any:
    """The integer that x rounds to, in x's format (IEEE 754's roundToIntegralExact)."""
    return _within('round_to_integral', x, of, mode, packed, out, options)


@with_options(*EXACT)
def next_up(x: Any, *, of: Formats = None, packed: bool = False, out: Any = None,
            **options: Unpack[Options]) -> Any:
    """The next value above x in its format (IEEE 754-2019 5.3.1)."""
    return _within('next_up', x, of, 'rne', packed, out, options)


@with_options(*EXACT)
def next_down(x: Any, *, of: Formats = None, packed: bool = False, out: Any = None,
              **options: Unpack[Options]) -> Any:
    """The next value below x in its format (IEEE 754-2019 5.3.1)."""
    return _within('next_down', x, of, 'rne', packed, out, options)


@with_options(*EXACT)
def compare(a: Any, b: Any, *, of: Formats = None, packed: bool = False, out: Any = None,
            **options: Unpack[Options]) -> Any:
    """How a stands to b: int8 of -1 (less), 0 (equal), 1 (greater), 2 (unordered: one is a NaN). Exact."""
    operands, formats = operands_of(['a', 'b'], [a, b], of, options, packed)
    shape = shape_of(['a', 'b'], operands)
    given = None if out is None else target('out', out, shape, ['int8'], options.get('cuda_stream'))
    way = how('rne', options, operands + ([given] if given else []), 'compare')
    result, made = made_or_given('compare', out, given, 'int8', shape, operands)

    run(lambda n, places, way_: _call_to_int8('compare', n, places, formats, way_, 'compare'), made, operands, way)
    return finished(result, out, shape == ())


@with_options(*EXACT)
def classify(x: Any, of: Formats = None, *, packed: bool = False, out: Any = None, **options: Unpack[Options]) -> Any:
    """The class of each code (IEEE 754-2019 5.7.2): uint8, a place in `CLASSES`."""
    operands, formats = operands_of(['x'], [x], of, options, packed)
    given = None if out is None else target('out', out, operands[0].shape, ['uint8'], options.get('cuda_stream'))
    way = how('rne', options, operands + ([given] if given else []), 'classify')
    result, made = made_or_given('classify', out, given, 'uint8', operands[0].shape, operands)

    run(lambda n, places, way_: _call_to_int8('class', n, places, formats, way_, 'classify'), made, operands, way)
    return finished(result, out, operands[0].shape == ())
