# SPDX-License-Identifier: MIT
"""Matrix and dot products with the order and the roundings of the sums stated (halfulp/gemm.h, accum.h)."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._elementwise import finished, how
from ._pointer import How, Matrix, codes_type
from ._views import (CodesOf, View, code_types, dtype_name, dtype_of, first_wide, float32_of, format_and_type, fresh,
                     no_codes, numbers_or_codes, target, view, wide_code)
from .accum import Accumulator, AccumulatorLike, Watch, explained, with_words
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike
from .options import ON_HOST, Options, with_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


class _Operand:
    """An array of matrices to read: where they are, their format, and whether they are codes."""

    def __init__(self, argument: str, thing: Any, format: Optional[FormatLike], cuda_stream: Optional[int],
                 expected: Optional[Union[Format, str]] = None, option: Optional[str] = None) -> None:
        option = option or argument + '_format'
        self.argument = argument
        self.view = numbers_or_codes(argument, thing, format, option, cuda_stream)
        if self.view.name == 'float64' and self.view.array is not None:
            self.view = float32_of(argument, self.view)
        name = self.view.name
        if format is None and name == 'float32' and isinstance(expected, Format) and self.view.cuda is None:
            format = expected  # values are looked at on the CPU alone
        if name in CODE_DTYPES:
            self.codes, self.format = True, Format(name)
            if format is not None and Format(format) != self.format:
                raise abi.HalfulpTypeError('{}: an array of {} holds no codes of {}'.format(argument, name,
                    Format(format)))
        elif name == 'float32':
            self.codes, self.format = False, Format('binary32' if format is None else format)
        elif format is None:
            raise abi.HalfulpTypeError('{}: an array of {} on a device; give float32, float16, bfloat16 or codes with '
                                       '{}='.format(argument, name, option))
        elif name in (Format(format).dtype.name, Format(format).dtype.name[1:]):
            self.codes, self.format = True, Format(format)
        else:
            raise abi.HalfulpTypeError(
                '{}: an array of {} holds no codes of {}={}; without it, or with binary32, integers are '
                'numbers'.format(argument, name, option, Format(format)))

    def held(self) -> Tuple[Optional[np.ndarray], Optional[CodesOf]]:
        """The array and what its codes are of, for an error."""
        kind = Format(self.format)
        return self.view.array, CodesOf(self.argument, str(kind), kind.width) if self.codes else None

    def matrix(self, place: Tuple[int, ...]) -> Matrix:
        """The matrix at a place of the leading axes; a copy only where neither rows nor columns are contiguous."""
        one = _at(self.view, place)
        ld, transposed = _leading(one)
        if ld is None:
            if one.array is None:
                raise abi.HalfulpValueError(
                    '{}: a matrix of a device requires contiguous rows or columns'.format(self.argument))
            one = one.copied()
            ld, transposed = _leading(one)
        assert ld is not None
        self.keep = one
        return Matrix(one.address, ld, self.format, self.codes, transposed)


def _at(x: View, place: Tuple[int, ...]) -> View:
    lead = len(x.shape) - 2
    at = tuple(0 if side == 1 else i for side, i in zip(x.shape[:lead], place[len(place) - lead:] if lead else ()))
    address = x.address + x.itemsize * sum(i * step for i, step in zip(at, x.strides))
    array = None if x.array is None else x.array[at]
    return View(x.name, address, x.shape[lead:], x.strides[lead:], array=array, cuda=x.cuda, keep=x.keep)


def _leading(x: View) -> Tuple[Optional[int], bool]:
    """The leading dimension of a matrix, and whether it lies transposed; None: no rows or columns are contiguous."""
    (rows, cols), (down, along) = x.shape, x.strides
    if rows == 0 or cols == 0:
        return max(cols, 1), False
    if (along == 1 or cols == 1) and (down >= cols or rows == 1):
        return max(cols, down if rows > 1 else cols), False
    if (down == 1 or rows == 1) and (along >= rows or cols == 1):
        return max(rows, along if cols > 1 else rows), True
    return None, False


def _result(to: FormatLike, dtype: Any, out: Any, shape: Tuple[int, ...], cuda_stream: Optional[int],
            like: View) -> Tuple[Any, View, Format, bool]:
    """Where a result goes: the new array, its View, the format, and whether it is codes."""
    goal, kind = format_and_type(to)
    name = kind or 'float32' if dtype is None else dtype_name(dtype)
    allowed = list(code_types(goal)) + ['float32']
    if out is not None:
        made, result = target('out', out, shape, allowed if dtype is None else [name], cuda_stream), None
    elif name not in allowed:
        raise abi.HalfulpTypeError('dtype: {} instead of {}'.format(name, ' or '.join(allowed)))
    elif like.cuda is not None:
        raise abi.HalfulpTypeError('gemm: results on a device need an array there: give out=')
    else:
        result, made = fresh('dtype', name, shape)
    return result, made, goal, made.name != 'float32'


_INSIST = "; or insist on others with accum='any(...)'"


def _gemm_remedy(model: Accumulator) -> str:
    if model.of_integers:
        return 'such operands go through halfulp.dot'
    return 'give values of these formats (halfulp.quantize), or their codes with a_format=, b_format=' + _INSIST


def _dot_remedy(model: Accumulator) -> str:
    if model.of_integers:
        return ("give arrays of int8 and uint8 (s4, u4: one to a byte, with a_format='s4'), to='s32'; of float64 with "
                "to='binary64'")
    return ("give codes of these formats (halfulp.encode), with a_format=, b_format=, c_format= where the array's type "
            'does not say it' + _INSIST)


@with_options()
def gemm(a: Any, b: Any, c: Any = None, *, accum: AccumulatorLike = 'exact', to: FormatLike = 'binary32',
         mode: ModeLike = 'rne', a_format: Optional[FormatLike] = None, b_format: Optional[FormatLike] = None,
         c_format: Optional[FormatLike] = None, scale_a: Any = None, scale_b: Any = None,
         scale_format: Optional[FormatLike] = None, dtype: Any = None, out: Any = None, watch: Optional[Watch] = None,
         **options: Unpack[Options]) -> Any:
    """D = A B + C: sums as the accumulation model defines them, then one rounding into the format `to`.

    Parameters
    ----------
    a : array (..., m, k) or (k,)
    b : array (..., k, n) or (k,)
    c : array (..., m, n), optional
        float32 values, or numbers that float32 has (of `a_format` ...; without it of the format that `accum` takes,
        else of binary32: HU_E_GRID where there are others), or codes: float16, bfloat16, a type of ml_dtypes, or
        integers with `a_format`. Without it integers are numbers; those of uint8, uint16 and uint32 may be either and
        are refused.
        Leading axes broadcast, as numpy.matmul's. Rows or columns that are contiguous are not copied.
    accum : Accumulator, Model or str
        "exact", "fp32", "seq(binary16)", the name of a matrix unit, ... (docs/accumulators.md). A matrix unit takes
        operands of its own formats alone (`Accumulator.operands`); "any(...)" takes others. Models of integers and of
        binary64 are for `dot`.
    to : Format, str or dtype
        Of the result. Given as a dtype, or with dtype="uint8", the result is codes; else float32 values.
    scale_a : array (..., m, s); scale_b : array (..., s, n)
        For a model that takes scales (`Accumulator.scaled`), s = ceil(k / Accumulator.every), with `scale_format`.
    out : array (..., m, n)
        float32 or codes; it may be c itself.
    watch : Watch, optional
        Counts what happened inside the sums; slower.

    Element (i, j) of matrix number q has word (q m + i) n + j of the stream as its last rounding's.
    """
    if watch is not None:
        abi.instance('watch', watch, Watch)
    cuda_stream = options.get('cuda_stream')
    model = Accumulator(accum)
    expected = model.operands
    one, two = (_Operand('a', a, a_format, cuda_stream, expected[0]), _Operand('b', b, b_format, cuda_stream, expected[1]))
    flat = [len(operand.view.shape) == 1 for operand in (one, two)]
    one.view, two.view = _plane('a', one.view, flat[0], 0), _plane('b', two.view, flat[1], 1)
    (m, k), (k2, n) = one.view.shape[-2:], two.view.shape[-2:]
    if k != k2:
        raise abi.HalfulpValueError('b: {} rows instead of {}, the columns of a'.format(k2, k))
    lead = _lead([one.view, two.view])
    shape = lead + (() if flat[0] else (m,)) + (() if flat[1] else (n,))
    three = None if c is None else _addend(c, c_format, shape, lead + (m, n), cuda_stream, expected[2])
    result, made, goal, codes = _result(to, dtype, out, shape, cuda_stream, one.view)
    scales = _scales(model, scale_a, scale_b, scale_format, lead, m, n, k, cuda_stream)
    operands = [one, two] + ([three] if three else []) + scales
    with_words(model, options)
    way = how(mode, options, [operand.view for operand in operands] + [made], 'gemm')
    try:
        _products(lead, (m, n, k), _reshaped(made, lead + (m, n)), goal, codes, operands, three, scales, model, way,
                  watch)
    except abi.HalfulpError as error:
        told = wide_code(error, [operand.held() for operand in operands])
        raise explained(told, model, _gemm_remedy(model)) from None
    return finished(result, out, shape == ())


def _plane(argument: str, x: View, flat: bool, axis: int) -> View:
    if not x.shape:
        raise abi.HalfulpValueError('{}: a matrix is expected, not one number'.format(argument))
    if not flat:
        return x
    shape, strides = [x.shape[0]], [x.strides[0]]
    shape.insert(axis, 1)
    strides.insert(axis, 0)
    array = None if x.array is None else np.expand_dims(x.array, axis)
    return View(x.name, x.address, tuple(shape), tuple(strides), array=array, cuda=x.cuda, readonly=x.readonly,
                keep=x.keep)


def _lead(views: List[View]) -> Tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(x.shape[:-2] for x in views))
    except ValueError:
        raise abi.HalfulpValueError('a, b: leading shapes {} do not go together'.format(
            ', '.join(str(x.shape[:-2]) for x in views))) from None


def _addend(c: Any, format: Optional[FormatLike], shape: Tuple[int, ...], full: Tuple[int, ...],
            cuda_stream: Optional[int], expected: Optional[Union[Format, str]]) -> _Operand:
    made = _Operand('c', c, format, cuda_stream, expected)
    if made.view.shape != shape:
        made.view = made.view.broadcast('c', shape)
        if made.view.array is not None:
            made.view = made.view.copied()
    made.view = _reshaped(made.view, full)
    return made


def _reshaped(x: View, full: Tuple[int, ...]) -> View:
    """The same elements with axes of length 1 that vectors had left out."""
    if x.shape == full:
        return x
    strides, mine = [], list(zip(x.shape, x.strides))
    for side in full:
        if mine and mine[0][0] == side:
            strides.append(mine.pop(0)[1])
        else:
            strides.append(0)
    array = None if x.array is None else x.array.reshape(full)
    if array is not None:
        strides = [step // x.itemsize for step in array.strides]
    return View(x.name, x.address, full, tuple(strides), array=array, cuda=x.cuda, readonly=x.readonly, keep=x.keep)


def _scales(model: Accumulator, scale_a: Any, scale_b: Any, format: Optional[FormatLike], lead: Tuple[int, ...],
            m: int, n: int, k: int, cuda_stream: Optional[int]) -> List[_Operand]:
    if not model.scaled:
        if scale_a is not None or scale_b is not None:
            raise abi.HalfulpValueError('scale_a, scale_b: {} takes no scales'.format(model.text))
        return []
    if scale_a is None or scale_b is None:
        raise abi.HalfulpValueError('scale_a, scale_b: {} takes scales'.format(model.text))
    parts = -(-k // model.every)
    made = []
    for argument, thing, shape in (('scale_a', scale_a, (m, parts)), ('scale_b', scale_b, (parts, n))):
        operand = _Operand(argument, thing, format, cuda_stream, option='scale_format')
        if operand.view.shape[-2:] != shape:
            raise abi.HalfulpValueError('{}: {} instead of {}'.format(argument, operand.view.shape, shape))
        if operand.view.shape[:-2] != lead:
            operand.view = operand.view.broadcast(argument, lead + shape)
        made.append(operand)
    return made


def _products(lead: Tuple[int, ...], sizes: Tuple[int, int, int], made: View, goal: Format, codes: bool,
              operands: List[_Operand], addend: Optional[_Operand], scales: List[_Operand], model: Accumulator,
              way: How, watch: Optional[Watch]) -> None:
    m, n, k = sizes
    _apart(made, operands, addend)
    for array, kind in [operand.held() for operand in operands] if lead else []:  # before the first matrix is written
        if array is not None and kind is not None and first_wide(array, kind) is not None:
            raise abi.error(s.E_CODE)
    for number, place in enumerate(np.ndindex(*lead)):
        d = _at(made, place)
        ld, transposed = _leading(d)
        buffer = None
        if ld is None or transposed:
            if d.array is None:
                raise abi.HalfulpValueError('out: a matrix of a device must have contiguous rows')
            buffer, ld = np.empty(d.shape, d.array.dtype), max(n, 1)
        where = Matrix(buffer.ctypes.data if buffer is not None else d.address, ld, goal, codes)
        matrices = [operand.matrix(place) for operand in operands]
        c = matrices[2] if addend else None
        sa, sb = matrices[-2:] if scales else (None, None)
        _one(m, n, k, where, matrices[0], matrices[1], c, sa, sb, model, way.after(number * m * n), watch)
        if buffer is not None:
            d.array[...] = buffer


def _one(m, n, k, d, a, b, c, sa, sb, model: Accumulator, way: How, watch: Optional[Watch]) -> None:
    if watch is not None and way.cuda is not None:
        raise abi.HalfulpTypeError('watch: sums are watched on the CPU alone')
    product = s.hu_product(m, n, k, d.result(), a.operand(), b.operand(), accum=ctypes.addressof(model._c))
    for name, operand in (('c', c), ('sa', sa), ('sb', sb)):
        if operand is not None:
            setattr(product, name, operand.operand())
    product.watch = None if watch is None else ctypes.addressof(watch._c)
    way.run('multiply', abi.address(product), argument='gemm')


def _apart(made: View, operands: List[_Operand], addend: Optional[_Operand]) -> None:
    """Operands that share memory with the result are copied, except C where it is the result itself."""
    if made.array is None:
        return
    for operand in operands:
        x = operand.view
        if x.array is None or not np.may_share_memory(x.array, made.array):
            continue
        same = (x.address, x.shape, x.strides, x.name) == (made.address, made.shape, made.strides, made.name)
        if operand is not addend or not same or _leading(_at(made, (0,) * (len(made.shape) - 2)))[1]:
            operand.view = x.copied()


ElementLike = Union[FormatLike, str]
_INTEGERS = {'int8': 's8', 'uint8': 'u8', 'int32': 's32', 'float64': 'binary64'}


def _vector(argument: str, thing: Any, format: Optional[ElementLike], cuda_stream: Optional[int],
            expected: Optional[Union[Format, str]], whole: bool) -> Tuple[View, s.hu_type]:
    """expected: what the model takes here; whole: the sum is one of integers."""
    word: Optional[str] = None
    if isinstance(format, str) and format in s.ELEMENTS[s.TYPE_BINARY64:]:
        x, word = view(argument, thing, cuda_stream), format
    elif format is None and whole:
        x = view(argument, thing, cuda_stream)
        word = _INTEGERS.get(x.name)
    else:
        x = numbers_or_codes(argument, thing, format, argument + '_format', cuda_stream)
        if x.python and format is not None and Format(format) != Format('binary32'):
            raise no_codes(argument, str(Format(format)), Format(format).dtype)
        if x.name == 'float64' and x.array is not None:
            x, word = _float64(argument, x, expected)
    if word is not None:
        kind = s.hu_type(s.ELEMENTS.index(word))
        own = None
    else:
        own = x.name if x.name in CODE_DTYPES or x.name == 'float32' else None
        if own is None and format is None:
            raise abi.HalfulpTypeError('{}: an array of {} says no format; give {}_format='.format(argument, x.name,
                argument))
        held = Format(own if format is None else format)
        if own is not None and Format(own) != held:
            raise abi.HalfulpTypeError('{}: an array of {} holds no codes of {}'.format(argument, x.name, held))
        kind = codes_type(held)
    unsigned = 'uint{}'.format(8 * abi.main().hu_type_size(kind))
    names = ('float64',) if word == 'binary64' else (own,) if own else (unsigned, unsigned[1:])
    if x.name not in names:
        raise abi.HalfulpTypeError('{}: elements of {} are {}, not {}'.format(
            argument, word or Format(format), ' or '.join(names), x.name))  # type: ignore[arg-type]
    width = abi.main().hu_type_width(kind)
    x.kind = CodesOf(argument, word or str(Format(own if format is None else format)), width, word == 's4')
    return x, kind


def _float64(argument: str, x: View, expected: Optional[Union[Format, str]]) -> Tuple[View, Optional[str]]:
    """float64 numbers as float32, which all models of numbers take, where it has them and binary64 is not asked for."""
    if expected != 'binary64':
        try:
            return float32_of(argument, x), None
        except abi.HalfulpTypeError:
            pass
    if x.exact is not None:
        raise abi.HalfulpTypeError('{}: binary64 lacks an integer in it'.format(argument))
    return x, 'binary64'


@with_options(*ON_HOST)
def dot(a: Any, b: Any, c: Any = None, *, accum: AccumulatorLike = 'exact', to: Union[FormatLike, str] = 'binary32',
        mode: ModeLike = 'rne', a_format: Optional[ElementLike] = None, b_format: Optional[ElementLike] = None,
        c_format: Optional[ElementLike] = None, out: Any = None, **options: Unpack[Options]) -> Any:
    """C plus the dot products along the last axis, under an accumulation model, then one rounding into `to`.

    Parameters
    ----------
    a, b : array (..., n)
        Codes: float16, bfloat16, float32, a type of ml_dtypes, unsigned integers with `a_format`; int8 and uint8 (or
        `a_format` "s4", "u4", one to a byte) where `to` is "s32". Other numbers where float32 has them; where it has
        not, float64 for the models "exact" and "fp64". Leading axes broadcast.
    c : array (...), optional
        The same; int32 for "int32".
    to : Format, str or dtype
        Also "binary64" and "s32". The result is an array of codes: of the dtype, of float32, float16 or bfloat16 if
        these are the formats, float64 or int32, else unsigned integers.
    """
    cuda_stream = options.get('cuda_stream')
    model = Accumulator(accum)
    expected, whole = model.operands, isinstance(to, str) and to == 's32'
    x, tx = _vector('a', a, a_format, cuda_stream, expected[0], whole)
    y, ty = _vector('b', b, b_format, cuda_stream, expected[1], whole)
    if not x.shape or not y.shape or x.shape[-1] != y.shape[-1]:
        raise abi.HalfulpValueError('b: last axis of {} does not go with {}'.format(y.shape, x.shape))
    lead, n = _dot_lead(x, y), x.shape[-1]
    third = None if c is None else _vector('c', c, c_format, cuda_stream, expected[2], whole)
    name, tz = _dot_result(to)
    if out is not None:
        result, made = None, target('out', out, lead, [name], cuda_stream)
    elif x.cuda is not None:
        raise abi.HalfulpTypeError('dot: results on a device need an array there: give out=')
    else:
        result, made = fresh('to', name, lead)
    with_words(model, options)
    way = how(mode, options, [x, y, made] + ([third[0]] if third else []), 'dot')
    if made.array is None:
        raise abi.HalfulpTypeError('dot: arrays of a device go through gemm')
    inputs = [x, y] + ([third[0]] if third else [])
    direct = made.array.flags.c_contiguous and not _shares(made, *inputs)
    z = made.array if direct else np.empty(lead, made.array.dtype)
    left, right = _rows(x, lead + (n,)), _rows(y, lead + (n,))
    product = s.hu_product(z.size, 1, n, s.hu_output(z.ctypes.data, 1, tz, 1), _of_rows(left, tx), _of_rows(right, ty))
    if third:
        addend = _rows(third[0], lead + (1,), last=True)
        product.c = _of_rows(addend, third[1])
    product.accum = ctypes.addressof(model._c)
    try:
        way.run('dot', abi.address(product))
    except abi.HalfulpError as error:
        told = wide_code(error, [(x.array, x.kind) for x in inputs])
        if error.status == 'HU_E_ACCUM' and not model.of_integers:  # a model that takes no binary64
            for argument, one in zip(('a', 'b', 'c'), inputs):
                if one.name == 'float64' and one.array is not None:
                    float32_of(argument, one)
        raise explained(told, model, _dot_remedy(model)) from None
    if z is not made.array:
        made.array[...] = z
    return finished(result, out, lead == ())


def _shares(made: View, *others: View) -> bool:
    return any(np.may_share_memory(made.array, other.array) for other in others if other.array is not None)


def _dot_lead(x: View, y: View) -> Tuple[int, ...]:
    try:
        return np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    except ValueError:
        raise abi.HalfulpValueError('a, b: leading shapes {}, {} do not go together'.format(x.shape[:-1],
            y.shape[:-1])) from None


def _dot_result(to: Union[FormatLike, str]) -> Tuple[str, s.hu_type]:
    if isinstance(to, str) and to in ('binary64', 's32'):
        return {'binary64': 'float64', 's32': 'int32'}[to], s.hu_type(s.ELEMENTS.index(to))
    goal, kind = format_and_type(to)
    own = [name for name in ('float32', 'float16', 'bfloat16') if Format(name) == goal]
    name = kind or (own[0] if own else goal.dtype.name)
    dtype_of('to', name)
    return name, codes_type(goal)


def _rows(x: View, shape: Tuple[int, ...], last: bool = False) -> np.ndarray:
    """x broadcast, as rows of a matrix."""
    array = x.array[..., np.newaxis] if last else x.array
    try:
        full = np.broadcast_to(array, shape)
    except ValueError:
        raise abi.HalfulpValueError('c: shape {} does not go with {}'.format(x.shape, shape[:-1])) from None
    count = 1
    for side in shape[:-1]:
        count *= side
    return full.reshape(count, shape[-1])


def _of_rows(rows: np.ndarray, kind: s.hu_type) -> s.hu_view:
    return s.hu_view(rows.ctypes.data or None, rows.strides[1] // rows.itemsize, kind,
                     rows.strides[0] // rows.itemsize)
