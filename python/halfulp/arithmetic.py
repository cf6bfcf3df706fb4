# SPDX-License-Identifier: MIT
"""Arithmetic and elementary functions on values: exact result, one rounding into a format.

    halfulp.add(a, b, 'float8_e4m3fn')       # float32 values of the format

Operands are arrays of float16, bfloat16, float32 or a type of ml_dtypes, taken as the exact numbers they are; numbers
of Python and arrays of integers and of float64 go where float32 holds them exactly (HalfulpTypeError otherwise).
Shapes broadcast.
The result is of `dtype` (float32, or what `to` was given as), whose numbers include the format's. mode, out and the
other keywords: see halfulp.arrays. `halfulp.codes` has the same operations on codes. `path` computes an expression of
several operations, rounded where a program rounds it.
"""
from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _abi as abi
from . import _pointer as pointer
from . import _structs as s
from ._elementwise import finished, how, made_or_given, run, shape_of
from ._views import VALUES, View, dtype_name, float32_of, format_and_type, numbers, target
from .arrays import decode, encode
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


# ---- expressions under rules of rounding (halfulp/path.h; docs/paths.md section 2) ----
class PathRule(NamedTuple):
    """A rule of rounding that `path` takes: its name, its items, which program it is of and what it rests on."""

    name: str
    text: str
    of: str


def path_rules() -> List[PathRule]:
    """The rules of programs ("torch.cpu", "inductor.cpu", "triton.sm90", ...), and "each", "end", "fma"."""
    library = abi.main()
    rows = (library.hu_path_rule_at(i) for i in range(library.hu_path_rule_count()))
    return [PathRule(*(text.decode() for text in (row.name, row.text, row.of))) for row in rows]


@abi.text_cache(256)
def _parsed(text: str) -> s.hu_path:
    record, where, why = s.hu_path(), ctypes.c_size_t(0), ctypes.c_char_p()
    raw = abi.raw_text('path', text)
    status = abi.main().hu_path_parse(ctypes.byref(record), raw, ctypes.byref(where), ctypes.byref(why))
    if status != s.OK:
        rest, reason = raw[where.value:].decode(errors='replace'), (why.value or b'').decode()
        raise abi.error(status, 'path', '{!r}{}{}'.format(text, ' from {!r} on'.format(rest) if rest else ' at its end',
                                                          ': ' + reason if reason else ''))
    return record


@abi.text_cache(256)
def _rule(text: str) -> s.hu_path_rule:
    record = s.hu_path_rule()
    abi.parse('rule', text, abi.main().hu_path_rule_parse, record)
    return record


def _operands(names: List[str], given: Tuple[Any, ...], named: Any) -> List[Any]:
    """The operands in the path's order: named ones, and the others in the order in which they are given."""
    left = list(given)
    for name in named:
        if name not in names:
            raise abi.HalfulpValueError('path: there is no operand {!r}, but {}'.format(name, ', '.join(names)))
    if len(left) + len(named) != len(names):
        raise abi.HalfulpValueError('path: {} operands for {}'.format(len(left) + len(named), ', '.join(names)))
    return [named[name] if name in named else left.pop(0) for name in names]


def path(text: str, *operands: Any, rule: str = 'each', **named: Any) -> np.ndarray:
    """An expression element by element, rounded where a program rounds it.

    Parameters
    ----------
    text : str
        Format, expression and perhaps a format of the result, as "bf16: relu(x * w + b) : float8_e4m3fn".
    operands : arrays or numbers, which NumPy can bring to one shape
        In the order in which the names first appear, or by their names. Those that are no values of the format are
        rounded into it first, ties to even.
    rule : str
        A name of `path_rules`, "eager", "inductor" or "xla"; items behind it replace its own, as
        "inductor;functions=correct".

    Returns
    -------
    array of float32 (float64 where that does not hold the result's format): the values.

    >>> path('bf16: x * w + b', 1.0078125, 1.0078125, -1.015625, rule='eager')
    array(0., dtype=float32)
    """
    record, decided, why = _parsed(text), _rule(rule), ctypes.c_char_p()
    library, status = abi.main(), abi.main().hu_path_check(abi.address(record), abi.address(decided), ctypes.byref(why))
    if status != s.OK:
        raise abi.error(status, 'rule', '{!r} leaves the bits of {!r} open: {}'.format(rule, text, (why.value or b'').decode()))
    source, target = Format._from_c(record.format), Format._from_c(record.result.format)
    names = [record.name[i].value.decode() for i in range(record.operands)]
    codes = [encode(one, source) for one in _operands(names, operands, named)]
    codes = [np.ascontiguousarray(one) for one in np.broadcast_arrays(*codes)]
    made = np.empty(codes[0].shape, target.dtype)
    views = (s.hu_view * len(codes))(*(s.hu_view(one.ctypes.data, 1, pointer.codes_type(source)) for one in codes))
    output = s.hu_output(made.ctypes.data, 1, pointer.codes_type(target))
    abi.check(library.hu_path_apply(made.size, abi.address(output), ctypes.addressof(views), abi.address(record),
                                    abi.address(decided), None), 'path', text)
    wide = not library.hu_format_fits_binary32(record.result.format)
    return np.asarray(decode(made, target, dtype='float64' if wide else 'float32'))
