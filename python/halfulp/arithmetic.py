# SPDX-License-Identifier: MIT
"""Arithmetic and elementary functions on values: exact result, one rounding into a format.

    halfulp.add(a, b, 'float8_e4m3fn')       # float32 values of the format

Operands are arrays of float16, bfloat16, float32 or a type of ml_dtypes, taken as the exact numbers they are; numbers
of Python and arrays of integers and of float64 go where float32 holds them exactly (HalfulpTypeError otherwise).
Shapes broadcast.
The result is of `dtype` (float32, or what `to` was given as), whose numbers include the format's. mode, out and the
other keywords: see halfulp.arrays. `halfulp.codes` has the same operations on codes.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence

import numpy as np

from . import _abi as abi
from . import _pointer as pointer
from ._elementwise import finished, how, made_or_given, run, shape_of
from ._views import VALUES, View, dtype_name, float32_of, format_and_type, numbers, target
from .codes import BINARY, OPERANDS, UNARY, named, place_and_call
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike

if TYPE_CHECKING:
    from .options import Options
    from typing_extensions import Unpack


def _operand(argument: str, thing: Any, cuda_stream: Optional[int]) -> View:
    made = numbers(argument, thing, cuda_stream)
    if made.name == 'float64' and made.array is not None:
        return float32_of(argument, made)
    if made.name != 'float32' and made.name not in CODE_DTYPES:
        raise abi.HalfulpTypeError(
            '{}: an array of {} instead of float16, bfloat16, float32 or a type of ml_dtypes'.format(
            argument, made.name))
    return made


def apply(name: str, names: Sequence[str], things: Sequence[Any], to: FormatLike, mode: ModeLike, dtype: Any, out: Any,
          options: Mapping[str, Any]) -> Any:
    """Operation `name` on values."""
    operands = [_operand(argument, thing, options.get('cuda_stream')) for argument, thing in zip(names, things)]
    formats: List[Format] = [Format(one.name) for one in operands]
    shape = shape_of(names, operands)
    goal, kind = format_and_type(to)
    expected = kind or 'float32' if dtype is None else dtype_name(dtype)
    kinds = [expected] if out is None or dtype is not None else list(VALUES) + ([kind] if kind else [])
    given = None if out is None else target('out', out, shape, kinds, options.get('cuda_stream'))
    expected = given.name if given else expected
    direct = expected in CODE_DTYPES + ('float32',) and Format(expected) == goal
    if not direct and expected not in VALUES:
        raise abi.HalfulpTypeError('dtype: {} is neither the type of {} nor one of {}'.format(expected, goal,
            ', '.join(VALUES)))
    way = how(mode, options, operands + ([given] if given else []), name)
    result, made = made_or_given(name, out, given, expected, shape, operands)

    def call(n, places, way_):
        if direct:
            place_and_call(name, n, places, goal, formats, way_)
            return
        if way_.cuda is not None:
            raise abi.HalfulpTypeError('out: on a device the result is codes: of {}, use halfulp.codes.{}'.format(goal,
                name))
        buffer = np.empty(n, goal.dtype)
        place_and_call(name, n, [(buffer.ctypes.data, 1)] + list(places[1:]), goal, formats, way_)
        pointer.decode(n, *places[0], expected, buffer.ctypes.data, 1, goal, way_)
    run(call, made, operands, way)
    return finished(result, out, shape == ())


PARAMETERS = """

Parameters
----------
operands : array of float16, bfloat16, float32 or a type of ml_dtypes, or numbers
    The exact numbers that they are. Shapes broadcast.
to : Format, str or dtype
    The format of the result.
mode : Mode or str
    The rounding ("rne", "rtz", "sra:8", ...; see `Mode`).
dtype : type, optional
    Of the result; float32 without it, or what `to` was given as.
out : array, optional
    Where the result goes."""
_named = functools.partial(named, ', rounded once into the format `to`.' + PARAMETERS)


def _unary(name: str) -> Callable[..., Any]:
    def function(x: Any, to: FormatLike, mode: ModeLike = 'rne', *, dtype: Any = None, out: Any = None,
                 **options: Unpack[Options]) -> Any:
        return apply(name, ['x'], [x], to, mode, dtype, out, options)
    return _named(name)(function)


def _binary(name: str) -> Callable[..., Any]:
    def function(a: Any, b: Any, to: FormatLike, mode: ModeLike = 'rne', *, dtype: Any = None, out: Any = None,
                 **options: Unpack[Options]) -> Any:
        return apply(name, OPERANDS.get(name, ('a', 'b')), [a, b], to, mode, dtype, out, options)
    return _named(name)(function)


add, sub, mul, div, minimum, maximum, minimum_number, maximum_number, pow, remainder = map(_binary, BINARY)
sqrt, exp, exp2, expm1, log, log2, log1p, tanh, sigmoid, erf, gelu, rsqrt, reciprocal, sin, cos = map(_unary, UNARY)


@_named('fma')
def fma(a: Any, b: Any, c: Any, to: FormatLike, mode: ModeLike = 'rne', *, dtype: Any = None, out: Any = None,
        **options: Unpack[Options]) -> Any:
    return apply('fma', ['a', 'b', 'c'], [a, b, c], to, mode, dtype, out, options)

