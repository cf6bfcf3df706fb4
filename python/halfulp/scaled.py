# SPDX-License-Identifier: MIT
"""Tensors of small codes with shared scales: MX, NVFP4, block floating point, scaled FP8 (halfulp/scaled.h;
docs/scaled.md).

    t = halfulp.scaled.encode(x, 'mxfp8_e4m3')      # t.codes, t.scales
    y = t.decode()                                  # == halfulp.scaled.quantize(x, 'mxfp8_e4m3')

x is a matrix (rows, cols) or one row (cols,) of float32, float16, bfloat16 on the host, or of other numbers where
float32 has all of them. The mode is that of the
elements' rounding; its policy `default` is `finite` here (MX v1.0 section 6.3). Element (i, j) has word i cols + j of
the stream.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._host import amax_record, float32, float32_result, host_how, leading, matrix, rows_apart
from ._pointer import How, floats, floats_out, matrix_view, record_type, scaled
from ._views import CodesOf, code_types, dtype_of, format_and_type, unpacked, wide_code
from .accum import Accumulator, AccumulatorLike, explained, with_words
from .conversion import Preset, alone
from .format import CODE_DTYPES, Format, FormatLike
from .mode import ModeLike, split
from .options import ON_HOST, Options, with_options
from .scaling import Scaling, ScalingLike

if TYPE_CHECKING:
    from typing_extensions import Unpack

# An element for each block: its largest magnitude, the code of its scale, and counts of its elements.
STATS = np.dtype([('amax', 'f4'), ('scale', 'u4'), ('special', 'u8'), ('saturated', 'u8'), ('to_zero', 'u8')],
                 align=True)


class ScaledTensor(NamedTuple):
    """A scaled tensor as arrays.

    Attributes
    ----------
    codes : array (rows, cols) of unsigned integers
    scales : array (block rows, block cols) of unsigned integers: codes of `scaling.scale`
    tensor : array () of float32, or None where there is no second-level scale
    scaling : Scaling
    transposed : bool
        Whether it stands for its transpose in `gemm` (`T`).
    stats : array (block rows, block cols) of STATS, or None
    """

    codes: np.ndarray
    scales: np.ndarray
    tensor: Optional[np.ndarray]
    scaling: Scaling
    transposed: bool = False
    stats: Optional[np.ndarray] = None

    @property
    def T(self) -> 'ScaledTensor':
        """The transpose; nothing is moved, blocks lie as before."""
        return self._replace(transposed=not self.transposed)

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows and columns of what it stands for."""
        rows, cols = self.codes.shape
        return (cols, rows) if self.transposed else (rows, cols)

    def decode(self, out: Any = None, threads: int = 1, packed: bool = False) -> np.ndarray:
        """The values: float32 of `shape`. packed: the codes are bytes as `packed` gives them."""
        return decode(self, out=out, threads=threads, packed=packed)

    def unpacked(self) -> 'ScaledTensor':
        """The same with a byte for each code, where codes are bytes as `packed` gives them; of a row whose bits end
        between two codes, cut off what is too much."""
        return self._replace(codes=unpacked('codes', self.codes, self.scaling.element.width))

    def packed(self) -> np.ndarray:
        """The codes packed densely, each row from a byte on: uint8 (rows, bytes); scales are not packed. Codes of up
        to 8 bits. `unpacked` is the way back."""
        if self.codes.itemsize != 1:
            raise abi.HalfulpValueError('packed: codes of {} are wider than 8 bits'.format(self.scaling.element))
        codes = np.ascontiguousarray(self.codes)
        rows, cols = codes.shape
        sizes = self.scaling.sizes(rows, cols)
        made = np.empty(sizes.packed, np.uint8)
        abi.check(abi.main().hu_scaled_pack(rows, cols, made.ctypes.data, codes.ctypes.data, max(cols, 1),
                                            abi.address(self.scaling._c), None), 'packed')
        return made.reshape(-1, sizes.packed_row) if sizes.packed_row else made

    def _record(self) -> s.hu_scaled:
        tensor = None if self.tensor is None else self.tensor.ctypes.data
        return s.hu_scaled(self.codes.ctypes.data, leading(self.codes), self.scales.ctypes.data, leading(self.scales),
                           tensor)


def tile(scales: np.ndarray) -> np.ndarray:
    """Scales in the order that cuBLAS, CUTLASS and torch._scaled_mm take: tiles of 128 x 4 (docs/scaled.md section 7).

    Parameters
    ----------
    scales : array of uint8 (rows, columns), such as `ScaledTensor.scales` of formats whose scales have 8 bits

    Returns
    -------
    array of uint8 (bytes,)
        512 for each tile; what no scale fills is 0.
    """
    x = _scales_of_bytes('scales', scales, 2)
    made = np.zeros(_tiles_size(*x.shape), np.uint8)
    abi.check(abi.main().hu_scaled_tile(*x.shape, made.ctypes.data, x.ctypes.data, max(x.shape[1], 1)), 'scales')
    return made


def untile(tiles: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """The way back from `tile`: uint8 (rows, cols). HalfulpValueError (HU_E_SHAPE): the tiles, whatever their shape, are not
    those of so many scales."""
    x = _scales_of_bytes('tiles', tiles, None)
    sides = [_side('rows', rows), _side('cols', cols)]
    if x.size != _tiles_size(*sides) or 0 in sides and x.size:
        raise abi.error(-40, 'tiles', '{} bytes for {} x {} scales'.format(x.size, *sides))
    made = np.zeros(sides, np.uint8)
    abi.check(abi.main().hu_scaled_untile(*sides, made.ctypes.data, max(sides[1], 1), x.ctypes.data), 'tiles')
    return made


def _tiles_size(rows: int, cols: int) -> int:
    return -(-rows // 128) * -(-cols // 4) * 512


def _side(argument: str, side: Any) -> int:
    if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or not 0 <= side < 2**62:
        raise abi.HalfulpTypeError('{}: give a whole number from 0 on, not {!r}'.format(argument, side))
    return int(side)


def _scales_of_bytes(argument: str, thing: Any, dims: Optional[int]) -> np.ndarray:
    if not isinstance(thing, np.ndarray) or thing.dtype.itemsize != 1 or (dims and thing.ndim != dims) or thing.dtype.kind in 'bSU':
        raise abi.HalfulpTypeError('{}: give {}array of uint8'.format(argument, 'a matrix, an ' if dims else 'an '))
    return np.ascontiguousarray(thing).view(np.uint8)


def _kind(scaling: ScalingLike) -> Scaling:
    return scaling if isinstance(scaling, Scaling) else Scaling(scaling)


def _with_preset(scaling: Union[ScalingLike, Preset], mode: Optional[ModeLike],
                 options: Mapping[str, Any]) -> Tuple[Scaling, ModeLike, Optional[Preset]]:
    """A preset says its mode itself."""
    scaling, mode = split('scaling', scaling, mode)
    if not isinstance(scaling, Preset):
        return _kind(scaling), 'rne' if mode is None else mode, None
    if not scaling.scaling:
        raise abi.HalfulpValueError('scaling: the preset {} is no scaled tensor; halfulp.encode takes it'.format(
            scaling.name))
    alone(scaling, mode, options)
    return Scaling(scaling.scaling), scaling.mode, scaling


def _buffer(rows: int, cols: int, kind: Scaling, stats: bool) -> ScaledTensor:
    sizes = kind.sizes(rows, cols)
    blocks = (sizes.block_rows, sizes.block_cols)
    return ScaledTensor(np.zeros((rows, cols), 'u{}'.format(sizes.code_bytes)),
                        np.zeros(blocks, 'u{}'.format(sizes.scale_bytes)),
                        np.ones((), np.float32) if kind.two_level else None, kind,
                        stats=np.zeros(blocks, STATS) if stats else None)


@with_options(*ON_HOST)
def encode(x: Any, scaling: Union[ScalingLike, Preset], mode: Optional[ModeLike] = None, *, amax: Optional[float] = None,
           importance: Any = None, stats: bool = False, **options: Unpack[Options]) -> ScaledTensor:
    """x in codes and scales.

    Parameters
    ----------
    x : array (rows, cols) or (cols,)
    scaling : Scaling or str; Preset
        A mode may stand behind the text, "mxfp4,sra:8"; none may then be given beside it.
        A preset of another program's scaled tensor (`halfulp.preset`) says its mode itself.
    mode : optional
        'rne' unless it is given. Nothing may stand beside a preset.
    amax : float, optional
        Instead of the tensor's own largest magnitude (delayed scaling): of the second level, or where a block is all.
    importance : array (cols,) or (rows, cols), optional
        How much each column, or element, counts: scales of powers of two are those of the least error so weighted, and
        not those of their rule (docs/scaled.md section 4.6). Finite, from 0 up.
    stats : bool
        Whether to say what happened in each block.
    """
    kind, mode, given = _with_preset(scaling, mode, options)
    full, _ = matrix('x', x)
    stats = abi.flag('stats', stats)
    made, known = _buffer(full.shape[0], full.shape[1], kind, stats), amax_record(amax)
    way = host_how(mode, options, 'encode')
    record = made._record()
    z = s.hu_output(ctypes.addressof(record), 1, record_type(s.TYPE_SCALED, kind._c))
    _make('encode', *full.shape, z, full, way, given, known, made.stats, importance)
    return made


def _weights(importance: Any, rows: int, cols: int) -> np.ndarray:
    """How much elements count, a row for all rows or one for each."""
    full, _ = matrix('importance', importance)
    if full.shape not in ((1, cols), (rows, cols)):
        raise abi.HalfulpValueError('importance: {} instead of {} or {}'.format(full.shape, (cols,), (rows, cols)))
    if not ((full >= 0) & np.isfinite(full)).all():
        raise abi.HalfulpValueError('importance: finite numbers from 0 up are expected')
    return full


def _make(what: str, rows: int, cols: int, z: s.hu_output, x: np.ndarray, way: How, given: Optional[Preset],
          amax: Optional[np.ndarray], stats: Optional[np.ndarray], importance: Any) -> None:
    """z = x as a scaled tensor of z's type, or of a preset."""
    source, more = floats(x.ctypes.data, leading(x)), [None if a is None else a.ctypes.data for a in (amax, stats)]
    if importance is not None:
        if given is not None or amax is not None:
            raise abi.HalfulpValueError('importance: scales are searched for, and a preset, or amax, gives them')
        full = _weights(importance, rows, cols)
        weights = floats(full.ctypes.data, leading(full) if len(full) > 1 else 0)
        status = abi.main().hu_scaled_search(rows, cols, abi.address(z), abi.address(source), abi.address(weights), more[1],
                                             abi.address(way.record()))
    elif given is None:
        status = scaled(rows, cols, z, source, way.record(), *more)
    else:
        status = abi.main().hu_conversion_apply_scaled(
            rows, cols, abi.address(z), abi.address(source), abi.address(given.record),
            abi.address(s.hu_scaled_extra(*more)), abi.address(way.exec), way.counts)
    abi.check(status, what)


def decode(x: ScaledTensor, *, out: Any = None, threads: int = 1, packed: bool = False) -> np.ndarray:
    """The values of a scaled tensor: float32 of its shape. packed: its codes are bytes as `ScaledTensor.packed` gives
    them."""
    if abi.flag('packed', packed) and isinstance(x, ScaledTensor):
        _arrays(x)
        x = x.unpacked()
    _whole(x)
    rows, cols = x.codes.shape
    made, way, record = np.empty((rows, cols), np.float32), host_how('rne', {'threads': threads}, 'decode'), x._record()
    source = s.hu_view(ctypes.addressof(record), 1, record_type(s.TYPE_SCALED, x.scaling._c))
    status = scaled(rows, cols, floats_out(made.ctypes.data, max(cols, 1)), source, way.record())
    if status != s.OK:
        raise wide_code(abi.error(status, 'decode'), _held('x', x))
    made = made.T if x.transposed else made
    if out is None:
        return made
    float32_result(out, made.shape)[...] = made
    return out


def _arrays(x: ScaledTensor) -> None:
    abi.instance('x.scaling', x.scaling, Scaling)
    for name in ('codes', 'scales') + (('tensor',) if x.tensor is not None else ()):
        abi.instance('x.' + name, getattr(x, name), np.ndarray)


def _whole(x: ScaledTensor) -> None:
    """What a tensor made by hand may get wrong."""
    if not isinstance(x, ScaledTensor):
        raise abi.HalfulpTypeError('x: a ScaledTensor is expected, not {}'.format(type(x).__name__))
    _arrays(x)
    if x.codes.ndim != 2:
        raise abi.HalfulpValueError('x.codes: a matrix is expected, not {} axes'.format(x.codes.ndim))
    sizes = x.scaling.sizes(*x.codes.shape)
    blocks = (sizes.block_rows, sizes.block_cols)
    for name, array, shape, size in (('codes', x.codes, x.codes.shape, sizes.code_bytes),
                                     ('scales', x.scales, blocks, sizes.scale_bytes)):
        if array.shape != shape or array.dtype != np.dtype('u{}'.format(size)):
            raise abi.HalfulpValueError('x.{}: {} of {} instead of uint{} of {}'.format(name, array.dtype, array.shape,
                8 * size, shape))
        if not rows_apart(array):
            raise abi.HalfulpValueError('x.{}: rows are not contiguous'.format(name))
    if x.scaling.two_level and (x.tensor is None or x.tensor.dtype != np.float32 or x.tensor.size != 1):
        raise abi.HalfulpValueError('x.tensor: one float32 is expected')


@with_options(*ON_HOST)
def quantize(x: Any, scaling: Union[ScalingLike, Preset], mode: Optional[ModeLike] = None, *, amax: Optional[float] = None,
             importance: Any = None, out: Any = None, **options: Unpack[Options]) -> Any:
    """The values that x has as a scaled tensor: `decode` of `encode` in one go, with the same bits and events.

    Parameters are those of `encode`; the result is float32 of x's shape, or `out`, which may be x.
    """
    kind, mode, given = _with_preset(scaling, mode, options)
    full, shape = matrix('x', x)
    way, known = host_how(mode, options, 'quantize'), amax_record(amax)
    goal = float32_result(out, shape)
    rows, cols = full.shape
    two = goal.reshape(full.shape) if goal.ndim == 1 and goal.flags.c_contiguous else goal
    buffer = two if two.ndim == 2 and rows_apart(two) and _same_or_apart(two, full) else np.empty(full.shape, np.float32)
    values = floats_out(buffer.ctypes.data, leading(buffer), record_type(s.TYPE_SCALED_VALUES, kind._c))
    _make('quantize', rows, cols, values, full, way, given, known, None, importance)
    if buffer is not two:
        goal[...] = buffer.reshape(shape)
    return goal if out is None else out


def _same_or_apart(z: np.ndarray, x: np.ndarray) -> bool:
    return not np.may_share_memory(z, x) or (z.ctypes.data == x.ctypes.data and leading(z) == leading(x))


def _held(argument: str, x: ScaledTensor) -> 'List[Tuple[Optional[np.ndarray], Optional[CodesOf]]]':
    """The arrays of codes and what they are codes of, for an error."""
    element, scale = x.scaling.element, x.scaling.scale
    return [(x.codes, CodesOf(argument + '.codes', str(element), element.width, bool(x.scaling._c.coding))),
            (x.scales, CodesOf(argument + '.scales', str(scale), scale.width))]


class Sum(NamedTuple):
    """How the sums of a product of scaled tensors are formed (halfulp/gemm.h; docs/scaled.md section 9).

    way : "parts": within runs of one scale by `inside`, these joined by `across`, scales as `factor` says ("exact",
        "rounded", "twice", "alpha"); "unit": scales go into `inside`, a model that takes them; "decoded": the values
        (rounded into `decoded_as` if that is given) go through `inside`.
    """

    way: str = 'parts'
    inside: AccumulatorLike = 'fp32'
    across: AccumulatorLike = 'fp32'
    factor: str = 'exact'
    decoded_as: Optional[FormatLike] = None

    def _record(self) -> s.hu_scaled_sum:
        ways, factors = ('parts', 'unit', 'decoded'), ('exact', 'rounded', 'twice', 'alpha')
        made = s.hu_scaled_sum()
        made.way, factor = abi.word('sum: way', self.way, ways), abi.word('sum: factor', self.factor, factors)
        made.inside = Accumulator(self.inside)._c
        if self.way == 'parts':
            made.factor = factor
            made.across = Accumulator(self.across)._c
        if self.way == 'decoded' and self.decoded_as is not None:
            setattr(made, 'as', Format(self.decoded_as)._c)
        abi.check(abi.main().hu_scaled_sum_check(abi.address(made)), 'sum', repr(self))
        return made


class _Plain:
    """An operand without scales: float32 values, or codes of a type of ml_dtypes."""

    def __init__(self, argument: str, x: Any) -> None:
        name = np.dtype(getattr(x, 'dtype', np.float64)).name if isinstance(x, np.ndarray) else ''
        codes = name in CODE_DTYPES
        array = np.asarray(x).view('u{}'.format(x.itemsize)) if codes else float32(argument, x)
        if array.ndim != 2:
            raise abi.HalfulpValueError('{}: a matrix is expected, not {} axes'.format(argument, array.ndim))
        self.array = array if rows_apart(array) else np.ascontiguousarray(array)
        self.format = Format(name if codes else 'binary32')
        self.type = s.hu_type(s.TYPE_CODES if codes else s.TYPE_VALUES32, 0, self.format._c)
        self.shape = array.shape

    def held(self, argument: str) -> 'Tuple[np.ndarray, Optional[CodesOf]]':
        """The array and what its codes are of, for an error."""
        codes = self.type.kind == s.TYPE_CODES
        return self.array, CodesOf(argument, str(self.format), self.format.width) if codes else None


def _operand(argument: str, x: Any) -> 'Tuple[s.hu_view, Tuple[int, int], Any]':
    if isinstance(x, ScaledTensor):
        _whole(x)
        record = x._record()
        made = matrix_view(ctypes.addressof(record), 0, _scaled_type(x.scaling), x.transposed)
        made._keep = record  # the view has its address alone
        return made, x.shape, x
    plain = _Plain(argument, x)
    return s.hu_view(plain.array.ctypes.data, 1, plain.type, leading(plain.array)), plain.shape, plain


def _scaled_type(scaling: Scaling) -> s.hu_type:
    return s.hu_type(s.TYPE_SCALED, scaling=ctypes.addressof(scaling._c))


_REMEDY = ("encode operands into scaled tensors of these elements (halfulp.scaled.encode), or insist on others with "
           "any(...) around the model that Sum has inside")


@with_options(*ON_HOST)
def gemm(a: Any, b: Any, c: Any = None, *, sum: Sum = Sum(), to: Union[FormatLike, Scaling] = 'binary32',
         mode: ModeLike = 'rne', amax: Optional[float] = None, **options: Unpack[Options]) -> Any:
    """D = A B + C of scaled tensors, with every rounding of the sums stated.

    Parameters
    ----------
    a, b, c : ScaledTensor, or array (float32, or a type of ml_dtypes)
        (m, k), (k, n) and (m, n). `ScaledTensor.T` gives the transpose: weights (n, k) with blocks along k are ``b.T``.
    sum : Sum
    to : Format, str, dtype or Scaling
        Of the result: float32 values of the format; codes for a dtype; a ScaledTensor for a Scaling (`amax` as in
        `encode`).
    """
    (ra, (m, k), keep_a), (rb, (k2, n), keep_b) = _operand('a', a), _operand('b', b)
    if k != k2:
        raise abi.HalfulpValueError('b: {} rows instead of {}, the columns of a'.format(k2, k))
    rc, keep_c = s.hu_view(), None
    if c is not None:
        rc, shape, keep_c = _operand('c', c)
        if shape != (m, n):
            raise abi.HalfulpValueError('c: shape {} instead of {}'.format(shape, (m, n)))
    record, known = abi.instance('sum', sum, Sum)._record(), amax_record(amax)
    for model in (record.inside, record.across):
        with_words(Accumulator._from_c(model), options)
    way = host_how(mode, options, 'gemm')
    product = s.hu_product(m, n, k, a=ra, b=rb, c=rc, sum=ctypes.addressof(record))
    if isinstance(to, Scaling):
        made: Any = _buffer(m, n, to, False)
        place = made._record()
        product.d = s.hu_output(ctypes.addressof(place), 1, _scaled_type(to))
        product.amax = None if known is None else known.ctypes.data
    else:
        made, product.d = _plain_result(to, m, n)
    size = abi.main().hu_multiply_space(abi.address(product), abi.address(way.exec))
    space = np.empty((0 if size > 1 << 62 else size) + 64, np.uint8)
    product.space = -(-space.ctypes.data // 64) * 64
    product.bytes = space.size - (product.space - space.ctypes.data)
    try:
        way.run('multiply', abi.address(product), argument='gemm')
    except abi.HalfulpError as error:
        operands = [('a', keep_a), ('b', keep_b), ('c', keep_c)]
        held = [one for name, x in operands if x is not None for one in
                (_held(name, x) if isinstance(x, ScaledTensor) else [x.held(name)])]
        raise explained(wide_code(error, held), Accumulator._from_c(record.inside), _REMEDY) from None
    del keep_a, keep_b, keep_c
    return made


def _plain_result(to: FormatLike, m: int, n: int) -> 'Tuple[np.ndarray, s.hu_output]':
    goal, kind = format_and_type(to)
    name = kind or 'float32'
    made = np.empty((m, n), dtype_of('to', name))
    assert name == 'float32' or name in code_types(goal)
    of = s.hu_type(s.TYPE_VALUES32 if name == 'float32' else s.TYPE_CODES, 0, goal._c)
    return made, s.hu_output(made.ctypes.data, 1, of, max(n, 1))
