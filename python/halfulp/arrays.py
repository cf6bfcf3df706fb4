# SPDX-License-Identifier: MIT
"""Values to codes and back, over arrays of any shape and strides (halfulp/array.h).

What every function here takes:

    mode    the rounding, a Mode or its text ("rne", "sra:8"); saturate=, nan=, tiny= replace parts of it (Mode)
    stream  random words of stochastic roundings: Stream(key, counter); element i in C order has word i
    events  an Events whose counts are added to
    threads how many threads the C library may use; the result is the same bits with any number
    out     an array to write to, of the result's shape and type; it may be the operand itself
    cuda_stream  the stream (an integer, cudaStream_t) for arrays on a CUDA device, which require `out`; the call is
    enqueued
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union, overload

import numpy as np

from . import _abi as abi
from . import _pointer as pointer
from . import _small as small
from . import _structs as s
from ._elementwise import finished, how, made_or_given, run
from ._integers import wide
from ._targets import Axis, TargetLike, axes_of, quantize_whole, warned, whole
from ._views import (VALUES, View, code_types, codes_view, dtype_name, dtype_of, first_wide, format_and_type, numbers,
                     size_of, target, unpacked, view, wide_code)
from .conversion import Preset, alone, preset_of
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike, split
from .options import EXACT, Options, with_options
from .scaling import Rounding

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _numbers(argument: str, x: View) -> None:
    if x.name not in VALUES:
        hint = '; convert() takes codes' if x.name in CODE_DTYPES else ''
        raise abi.HalfulpTypeError('{}: an array of {} instead of float16, bfloat16, float32 or float64{}'.format(
            argument, x.name, hint))


def _codes_alone(x: View) -> None:
    """HalfulpValueError for a code with bits above its width."""
    if x.array is not None and x.kind is not None and first_wide(x.array, x.kind) is not None:
        raise wide_code(abi.error(s.E_CODE), [(x.array, x.kind)])


_NARROW = ('float16', 'bfloat16')


def _way(preset: Optional[Preset], mode: Optional[ModeLike], options: Options, views: Sequence[View],
         name: str) -> pointer.How:
    way = how(preset.mode if preset is not None else 'rne' if mode is None else mode, options, views, name)
    if preset is not None and way.cuda is not None:
        raise abi.HalfulpTypeError('format: the preset {} works on arrays of the host'.format(preset.name))
    return way


def _quantize_whole(x: Any, other: Any, mode: Optional[ModeLike], out: Any, axis: Axis, options: Any) -> Any:
    kind, preset = other
    warned('x', kind, axis, getattr(x, 'shape', ()), 4)
    if isinstance(kind, Rounding):
        if mode is not None or not {'stream', 'events', 'threads'}.issuperset(options):
            raise abi.HalfulpTypeError('format: {!r} says itself how it rounds; beside it are stream, events and '
                                       'threads'.format(kind.text))
        return quantize_whole(x, kind, None, out, axis, options)
    if preset is None:
        return quantize_whole(x, kind, 'rne' if mode is None else mode, out, axis, options)
    alone(preset, mode, options)
    return quantize_whole(x, preset, None, out, axis, options)


@overload
def quantize(x: np.ndarray, format: TargetLike, mode: Optional[ModeLike] = None, *, axis: Axis = None,
             out: Optional[np.ndarray] = None, **options: Unpack[Options]) -> np.ndarray: ...


@overload
def quantize(x: Any, format: TargetLike, mode: Optional[ModeLike] = None, *, axis: Axis = None, out: Any = None,
             **options: Unpack[Options]) -> Any: ...


@with_options()
def quantize(x: Any, format: TargetLike, mode: Optional[ModeLike] = None, *, axis: Axis = None, out: Any = None,
             **options: Unpack[Options]) -> Any:
    """The values that x rounds to, in x's own type (docs/numerics.md section 2).

    Parameters
    ----------
    x : array of float16, bfloat16, float32 or float64, any shape and strides; or integers, booleans, numbers of Python
        of any size, lists of them, each rounded once: then the result is float64
    format : Format, str or dtype; Scaling, Number, Rounding; Preset or its name
        Every text that the command takes: a floating-point format ("float8_e4m3fn"), a scaled format ("nvfp4",
        "mxfp8_e4m3"), "s2fp8", "hifloat4", another number system ("posit8"), a preset ("torch.float8_e4m3fn", "mx.mxfp4").
        And every text that halfulp.torch and `round_tensor` take: a mode may stand behind a format
        ("float8_e4m3fn,sra:8", "nvfp4,rtz", "float8_e5m2,over=inf,nan=keep", "keep"); none may then be given here.
        The finite values of a floating-point format must all be values of x's type; HalfulpValueError (HU_E_CARRIER)
        otherwise. For scaled formats, S2FP8, HiFloat4 and texts with over=, nan=, turned or keep, x is float32, or is
        float16 or bfloat16 and the result is float32.
    mode : Mode or str, optional
        The rounding ("rne", "rtz", "sra:8", ...; see `Mode`): "rne" without it; none may stand beside a preset.
    axis : int or tuple of int, optional
        Where blocks of a scaled format and of HiFloat4 lie: along this axis, or these joined in the order they are
        named. It should be what a product sums over. The last axis without it, with a warning if x has four axes or
        more, as weights of a convolution have, (out, in, rows, columns): axis=1 is their channels, axis=(1, 2, 3) all
        that one output sums. Random words follow the order of x where axis is the first or the last one, else that of
        x with these axes moved to the end.
    out : array, optional
        Where the result goes, an array of its shape and type. It may be x.

    Returns
    -------
    array of x's shape and type, or `out`.

    >>> quantize(np.float32([0.1, 500.0]), 'float8_e4m3fn')
    array([1.015625e-01, 4.480000e+02], dtype=float32)
    """
    result = small.quantize(x, format, mode, out, options) if axis is None else None
    if result is not None:
        return result
    format, mode = split('format', format, mode)
    other = whole(format)
    if other is not None:
        return _quantize_whole(x, other, mode, out, axis, options)
    preset = preset_of(format, mode, options)
    operand = numbers('x', x, options.get('cuda_stream'))
    _numbers('x', operand)
    axes_of('axis', axis, len(operand.shape))
    given = None if out is None else target('out', out, operand.shape, [operand.name], options.get('cuda_stream'))
    if preset is not None and operand.name in _NARROW:  # by codes, which have every value of the result
        codes = encode(x, preset, **options)
        return decode(codes, preset.format, dtype=operand.name, out=out, threads=options.get('threads', 1))
    way = _way(preset, mode, options, [operand] + ([given] if given else []), 'quantize')
    goal = preset.format if preset is not None else Format(format)
    result, made = made_or_given('quantize', out, given, operand.name, operand.shape, [operand])
    exact = None if preset is not None else wide.codes_of(operand, goal, way)
    if exact is not None and made.array is not None:
        made.array[...] = decode(exact, goal, dtype='float64')
        return finished(result, out, operand.shape == ())

    def call(n, places, way_):
        (z, incz), (a, inca) = places
        if preset is not None:
            preset._call('quantize', n, z, incz, a, inca, operand.name, way_)
        else:
            pointer.quantize(n, z, incz, a, inca, operand.name, goal, way_)
    run(call, made, [operand], way)
    return finished(result, out, operand.shape == ())


@overload
def encode(x: np.ndarray, format: Union[FormatLike, Preset], mode: Optional[ModeLike] = None, *,
           out: Optional[np.ndarray] = None, **options: Unpack[Options]) -> np.ndarray: ...


@overload
def encode(x: Any, format: Union[FormatLike, Preset], mode: Optional[ModeLike] = None, *, out: Any = None,
           **options: Unpack[Options]) -> Any: ...


@with_options()
def encode(x: Any, format: Union[FormatLike, Preset], mode: Optional[ModeLike] = None, *, out: Any = None,
           **options: Unpack[Options]) -> Any:
    """The codes of a format that x rounds to: one rounding.

    Parameters
    ----------
    x : array of float16, bfloat16, float32, float64, or of an 8-, 6- or 4-bit type of ml_dtypes, any shape and strides;
        or integers, booleans, numbers of Python of any size, lists of them, each rounded once
    format : Format, str or dtype; Preset or its name
        A mode may stand behind it, "float8_e4m3fn,sra:8"; none may then be given here.
    mode : Mode or str, optional
        The rounding ("rne", "rtz", "sra:8", ...; see `Mode`): "rne" without it; none may stand beside a preset.
    out : array, optional
        Where the codes go, an array of their shape and type.

    Returns
    -------
    array of x's shape: uint8, uint16 or uint32 (`Format.dtype`), or of the type that `format` was given as
    (``encode(x, ml_dtypes.float8_e5m2)`` is an array of that type), or `out`.
    """
    result = small.encode(x, format, mode, out, options)
    if result is not None:
        return result
    format, mode = split('format', format, mode)
    preset = preset_of(format, mode, options)
    operand = numbers('x', x, options.get('cuda_stream'))
    if operand.name not in CODE_DTYPES:
        _numbers('x', operand)
    elif preset is not None and operand.cuda is None:
        _codes_alone(operand)
        operand = view('x', decode(x))
    goal, kind = format_and_type(preset.format if preset is not None else format)
    given = None if out is None else target('out', out, operand.shape, code_types(goal), options.get('cuda_stream'))
    way = _way(preset, mode, options, [operand] + ([given] if given else []), 'encode')
    result, made = made_or_given('encode', out, given, kind or goal.dtype.name, operand.shape, [operand])
    exact = None if preset is not None else wide.codes_of(operand, goal, way)
    if exact is not None and made.array is not None:
        made.array[...] = exact
        return finished(result, out, operand.shape == ())
    name = operand.name

    def call(n, places, way_):
        (z, incz), (a, inca) = places
        if preset is not None:
            preset._call('encode', n, z, incz, a, inca, name, way_)
        elif name in VALUES:
            pointer.encode(n, z, incz, a, inca, name, goal, way_)
        else:
            pointer.convert(n, z, incz, goal, a, inca, name, way_)
    run(call, made, [operand], way)
    return finished(result, out, operand.shape == ())


@with_options(*EXACT)
def decode(codes: Any, format: Optional[FormatLike] = None, *, dtype: Any = 'float32', packed: bool = False,
           out: Any = None, **options: Unpack[Options]) -> Any:
    """The values of codes; exact.

    Parameters
    ----------
    codes : array of uint8, uint16, uint32 as `Format.dtype` says (or int8, ... of the same bits; V1, V2: what
        numpy.load makes of a type of ml_dtypes), or of a type of ml_dtypes. HalfulpValueError (HU_E_CODE) where one has bits above the format's width.
    format : Format, str or dtype
        May be left out where the array's type says it.
    dtype : "float32", "float64", "float16" or "bfloat16"
        Of the result. It must hold every value of the format: HalfulpValueError (HU_E_CARRIER) otherwise.
    packed : bool
        The codes are bytes as `pack` packs them, each row (the last axis) by itself: `unpack` comes first.
    out : array, optional
        Where the values go.

    Returns
    -------
    array of the codes' shape and of `dtype`, or `out` (whose type then counts).
    """
    codes = _void_codes(codes)
    result = None if abi.flag('packed', packed) else small.decode(codes, format, dtype, out, options)
    if result is not None:
        return result
    operand, source = codes_view('codes', view('codes', codes, options.get('cuda_stream')), format, packed)
    given = None if out is None else target('out', out, operand.shape, VALUES, options.get('cuda_stream'))
    name = given.name if given else dtype_name(dtype)
    if name not in VALUES:
        raise abi.HalfulpTypeError('dtype: {} is not one of {}'.format(name, ', '.join(VALUES)))
    way = how('rne', options, [operand] + ([given] if given else []), 'decode')
    result, made = made_or_given('decode', out, given, name, operand.shape, [operand])

    def call(n, places, way_):
        (z, incz), (a, inca) = places
        pointer.decode(n, z, incz, name, a, inca, source, way_)
    run(call, made, [operand], way)
    return finished(result, out, operand.shape == ())


def _void_codes(codes: Any) -> Any:
    """An array of V1 or V2 as bits: NumPy writes the types of ml_dtypes so, and reads them back without their names."""
    void = isinstance(codes, np.ndarray) and codes.dtype.type is np.void and codes.dtype.names is None and codes.dtype.subdtype is None
    return codes.view('u%d' % codes.dtype.itemsize) if void and codes.dtype.itemsize in (1, 2) else codes


@with_options()
def convert(codes: Any, to: FormatLike, mode: ModeLike = 'rne', *, of: Optional[FormatLike] = None,
            packed: bool = False, out: Any = None, **options: Unpack[Options]) -> Any:
    """Codes of one format to codes of another: one rounding, whatever the two formats.

    Parameters
    ----------
    codes : array of unsigned integers, or of float16, bfloat16, float32 or a type of ml_dtypes, which are codes too
    to : Format, str or dtype
    mode : Mode or str
        The rounding ("rne", "rtz", "sra:8", ...; see `Mode`).
    of : Format, str or dtype
        The format of `codes`; may be left out where the array's type says it.
    packed : bool
        As `decode`. The result is not packed.
    out : array, optional
        Where the codes go, an array of their shape and type.

    Returns
    -------
    array of codes, as `encode` returns them.
    """
    result = None if abi.flag('packed', packed) else small.convert(codes, to, mode, of, out, options)
    if result is not None:
        return result
    operand, source = codes_view('codes', view('codes', codes, options.get('cuda_stream')), of, packed)
    goal, kind = format_and_type(to)
    given = None if out is None else target('out', out, operand.shape, code_types(goal), options.get('cuda_stream'))
    way = how(mode, options, [operand] + ([given] if given else []), 'convert')
    result, made = made_or_given('convert', out, given, kind or goal.dtype.name, operand.shape, [operand])

    def call(n, places, way_):
        (z, incz), (a, inca) = places
        pointer.convert(n, z, incz, goal, a, inca, source, way_)
    run(call, made, [operand], way)
    return finished(result, out, operand.shape == ())


def as_ml_dtypes(codes: np.ndarray, format: FormatLike) -> np.ndarray:
    """Codes seen as ml_dtypes' (or NumPy's) type for that format, without copying; HalfulpTypeError if it has none."""
    goal = Format(format)
    given, _ = codes_view('codes', view('codes', codes), goal)
    _codes_alone(given)
    for name in CODE_DTYPES:
        if Format(name) == goal:
            return np.asarray(codes).view(dtype_of('format', name))
    raise abi.HalfulpTypeError('format: ml_dtypes has no type for {}'.format(goal))


def _array(argument: str, thing: Any) -> np.ndarray:
    try:
        return np.asarray(thing)
    except ValueError as error:
        raise abi.HalfulpTypeError('{}: no array: {}'.format(argument, error)) from None


def as_codes(x: np.ndarray) -> np.ndarray:
    """An array of a type of ml_dtypes (or NumPy's floats) seen as its codes, without copying."""
    array = _array('x', x)
    if array.dtype.kind == 'u' and array.itemsize <= 4:
        return array
    if array.dtype.name not in CODE_DTYPES + ('float32',):
        raise abi.HalfulpTypeError('x: an array of {} holds no codes'.format(array.dtype))
    return array.view('u{}'.format(size_of(array.dtype.name)))


def pack(codes: Any, width: int) -> np.ndarray:
    """Codes of `width` bits (1 to 8), one a byte, packed densely: uint8 of shape (ceil(n * width / 8),).

    Code i has bits i * width and on of one little-endian string of bits (two 4-bit codes a byte, the first one low)."""
    x, width = np.ascontiguousarray(as_codes(_array('codes', codes))), abi.whole('width', width, 0, 1 << 62)
    if x.itemsize != 1:
        raise abi.HalfulpTypeError('codes: one code per byte is expected, not {}'.format(x.dtype))
    if not 1 <= width <= 8:
        raise abi.HalfulpValueError('width: {} is not 1 to 8'.format(width))
    library = abi.main()
    z = np.empty(-(-x.size * width // 8), np.uint8)
    abi.check(library.hu_pack_n(x.size, z.ctypes.data, x.ctypes.data, width, None), 'pack')
    return z


def unpack(packed: Any, width: int, n: Optional[int] = None) -> np.ndarray:
    """The codes of `width` bits (1 to 7) that `pack` packed, a byte each.

    With n: that many codes of one string of bits, uint8 of shape (n,), of up to 8 bits. Without n: row by row of the
    last axis, as many as the bytes of a row hold, (..., bytes) to (..., bytes * 8 // width); where rows end in
    bits between two codes, cut off what is too much. HalfulpValueError where bits behind the last code are not 0."""
    x, library = np.ascontiguousarray(_array('packed', packed)), abi.main()
    width = abi.whole('width', width, 0, 1 << 62)
    if x.dtype != np.uint8:
        raise abi.HalfulpTypeError('packed: uint8 is expected, not {}'.format(x.dtype))
    if n is None:
        return unpacked('packed', x, width)
    n = abi.whole('n', n, -1, 1 << 62)
    if not 1 <= width <= 8 or n < 0 or -(-n * width // 8) > x.size:
        raise abi.HalfulpValueError('n: {} codes of {} bits are not in {} bytes'.format(n, width, x.size))
    z = np.empty(n, np.uint8)
    abi.check(library.hu_unpack_n(n, z.ctypes.data, x.ctypes.data, width, None), 'unpack')
    return z
