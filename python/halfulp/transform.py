# SPDX-License-Identifier: MIT
"""What is done to whole tensors before or instead of rounding: Hadamard transforms, S2FP8, HiFloat4, texts."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi as abi
from . import _structs as s
from ._host import float32, float32_result, host_how, leading, matrix, rows_apart
from ._pointer import How, floats, floats_out, plain_type, record_type, scaled
from ._views import CodesOf, wide_code
from .accum import with_words
from .events import Events, add
from .format import Format
from .mode import ModeLike, stream_of
from .options import ON_HOST, Options, with_options
from .scaling import Rounding, RoundingLike

if TYPE_CHECKING:
    from typing_extensions import Unpack


@with_options('stream', 'threads')
def hadamard(x: Any, n: int = 16, *, axis: str = 'rows', norm: str = 'root',
             signs: Union[None, str, int, Sequence[int]] = None, whole: bool = False, inverse: bool = False,
             out: Any = None, **options: Unpack[Options]) -> Any:
    """The random Hadamard transform of blocks of n elements in float32 (halfulp/hadamard.h; docs/hadamard.md).

    Parameters
    ----------
    x : array (rows, cols) or (cols,)
        The axis of the blocks must be a multiple of n.
    n : 16, 32, 64 or 128
    axis : "rows" or "columns"
        Whether a block's elements lie next to each other in a row, or one above the other in a column.
    norm : "root" (1/sqrt(n) in both directions), "power" (powers of two) or "sum" (1 and 1/n)
    signs : None, "stream", or words of 32 bits (an integer, or a sequence of them), a set bit being -1
        "stream": the words of `stream`.
    whole : bool
        One sign for each element along the axis, instead of the same n signs for every block.
    inverse : bool
        Takes the forward transform back, up to roundings.
    """
    along, scale = abi.word('axis', axis, ('rows', 'columns')), abi.word('norm', norm, ('root', 'power', 'sum'))
    n, whole, inverse = abi.whole('n', n, 0, (1 << 32) - 1), abi.flag('whole', whole), abi.flag('inverse', inverse)
    full, shape = matrix('x', x)
    words = None
    if signs is not None and not isinstance(signs, str):
        words = _sign_words(signs)
        length = full.shape[1 if axis == 'rows' else 0] if whole else n
        if words.size * 32 < length:
            raise abi.HalfulpValueError('signs: {} bits for {} elements'.format(words.size * 32, length))
    elif signs not in (None, 'stream'):
        raise abi.HalfulpValueError('signs: {!r} is neither None nor "stream" nor words of bits'.format(signs))
    elif signs == 'stream' and options.get('stream') is None:
        raise abi.HalfulpValueError('stream: signs="stream" takes its words; give stream=Stream(key, counter)')
    elif signs == 'stream':
        options['stream'] = stream_of(options['stream'])
    kind = 1 if words is not None else 2 if signs == 'stream' else 0
    record = s.hu_hadamard(n, along, scale, kind, whole,
                           words.ctypes.data if words is not None else None)
    way = host_how('rne', options, 'hadamard')
    buffer = np.empty(full.shape, np.float32)
    call = abi.main().hu_hadamard_inverse if inverse else abi.main().hu_hadamard_forward
    abi.check(call(*full.shape, buffer.ctypes.data, leading(buffer), full.ctypes.data, leading(full), abi.address(record),
                   abi.address(way.exec)), 'hadamard')
    return _given(buffer.reshape(shape), out)


def _sign_words(signs: Any) -> np.ndarray:
    words = np.asarray([signs] if isinstance(signs, (int, np.integer)) else signs if isinstance(signs, np.ndarray) else
                       abi.instance('signs', signs, list, tuple), object)
    return np.array([abi.whole('signs', one, 0, (1 << 32) - 1) for one in words.flat], np.uint32)


class S2FP8Tensor(NamedTuple):
    """A shifted and squeezed tensor: codes, and two numbers for all of them (halfulp/s2fp8.h; docs/s2fp8.md).

    mu, m : int
        The mean and the largest of log2 |x|, in units of 2^-40.
    alpha, beta : float
        As the paper stores them; for the record.
    """

    codes: np.ndarray
    mu: int
    m: int
    alpha: float
    beta: float
    kind: str

    def decode(self, threads: int = 1) -> np.ndarray:
        """The values: float32 of the codes' shape."""
        kind, scale = _s2fp8(self.kind), s.hu_s2fp8_scale(self.mu, self.m, self.alpha, self.beta)
        way, codes = host_how('rne', {'threads': threads}, 'decode'), np.ascontiguousarray(self.codes)
        made = np.empty(codes.shape, np.float32)
        z, x = s.hu_output(made.ctypes.data, 1, plain_type('float32')), s.hu_view(codes.ctypes.data, 1, _CODES)
        _shifted(codes.size, z, x, kind, scale, way, 'decode')
        return made


_CODES = s.hu_type(s.TYPE_CODES)  # of the kind's format, whichever it is


def _shifted(n: int, z: s.hu_output, x: s.hu_view, kind: s.hu_s2fp8, scale: s.hu_s2fp8_scale, way: How, what: str) -> None:
    abi.check(abi.main().hu_s2fp8_apply(n, abi.address(z), abi.address(x), abi.address(kind), abi.address(scale),
                                        abi.address(way.record())), what)


def _s2fp8(text: str) -> s.hu_s2fp8:
    record = s.hu_s2fp8()
    abi.parse('kind', text, abi.main().hu_s2fp8_parse, record)
    return record


@with_options(*ON_HOST)
def s2fp8_encode(x: Any, kind: str = 's2fp8', mode: ModeLike = 'rne', *, scale: Optional[Tuple[int, int]] = None,
                 **options: Unpack[Options]) -> S2FP8Tensor:
    """x shifted and squeezed into FP8 (Cambier et al., ICLR 2020), with statistics of its own or a given (mu, m).

    Parameters
    ----------
    x : array of any shape
    kind : str
        "s2fp8" or "s2fp8(FORMAT;target=T;special=element)".
    """
    record, way, library = _s2fp8(kind), host_how(mode, options, 's2fp8_encode'), abi.main()
    full = np.ascontiguousarray(float32('x', x))
    made, found = np.empty(full.shape, Format._from_c(record.element).dtype), s.hu_s2fp8_scale()
    if scale is None:
        sums = s.hu_s2fp8_sums()
        abi.check(library.hu_s2fp8_sum_n(full.size, full.ctypes.data, 1, abi.address(sums), abi.address(way.exec)), 'x')
        abi.check(library.hu_s2fp8_scale_of(abi.address(found), abi.address(sums), abi.address(record), None), 'x')
    else:
        mu, m = (abi.whole('scale', part, -(1 << 63), (1 << 63) - 1) for part in abi.pair('scale', scale, '(mu, m)'))
        abi.check(library.hu_s2fp8_scale_from(abi.address(found), mu, m, abi.address(record)), 'scale')
    z, source = s.hu_output(made.ctypes.data, 1, _CODES), s.hu_view(full.ctypes.data, 1, plain_type('float32'))
    _shifted(full.size, z, source, record, found, way, 's2fp8_encode')
    return S2FP8Tensor(made, found.mu, found.m, found.alpha, found.beta, kind)


class HiFloat4Tensor(NamedTuple):
    """HiFloat4: codes, and four bytes for each block of 64 of them (halfulp/scaled.h; docs/scaled.md section 10).

    codes : array of uint8, the shape of the values
    scales : array of uint8, with the blocks of the last axis and 4 in its place
    """

    codes: np.ndarray
    scales: np.ndarray
    kind: str

    def decode(self) -> np.ndarray:
        """The values: float32 of the codes' shape."""
        codes, scales = np.ascontiguousarray(self.codes), np.ascontiguousarray(self.scales)
        rows, cols = _rows_of(codes)
        blocks = -(-cols // 64)
        if scales.shape != codes.shape[:-1] + (blocks, 4):
            raise abi.HalfulpValueError('scales: shape {} does not fit codes of shape {}'.format(scales.shape,
                                                                                                codes.shape))
        made = np.empty(codes.shape, np.float32)
        place, kind = s.hu_scaled(codes.ctypes.data, cols, scales.ctypes.data, blocks), s.hu_hif4()
        source = s.hu_view(ctypes.addressof(place), 1, record_type(s.TYPE_HIF4, kind))
        status = scaled(rows, cols, floats_out(made.ctypes.data, cols), source, How().record())
        if status != s.OK:
            raise wide_code(abi.error(status, 'decode'), [(codes, CodesOf('codes', self.kind, 4))])
        return made


def _rows_of(x: np.ndarray) -> Tuple[int, int]:
    cols = x.shape[-1]
    return (x.size // cols if cols else 0), cols


@with_options('events')
def hifloat4_encode(x: Any, kind: str = 'hifloat4', **options: Unpack[Options]) -> HiFloat4Tensor:
    """x in HiFloat4, blocks of 64 along the last axis (Huawei; halfulp/scaled.h).

    Parameters
    ----------
    x : array of one axis or more
    kind : str
        "hifloat4", "hifloat4_cann", "hifloat4_hifx", or "hifloat4(ties=away;low=nan)" with the keys that differ.
    """
    record, way = s.hu_hif4(), host_how('rne', options, 'hifloat4_encode')
    abi.parse('kind', kind, abi.main().hu_hif4_parse, record)
    full = float32('x', x)
    if full.ndim == 0:
        raise abi.HalfulpValueError('x: a number alone has no blocks')
    full = np.ascontiguousarray(full)
    rows, cols = _rows_of(full)
    blocks = -(-cols // 64)
    codes, scales = np.empty(full.shape, np.uint8), np.empty(full.shape[:-1] + (blocks, 4), np.uint8)
    place = s.hu_scaled(codes.ctypes.data, cols, scales.ctypes.data, blocks)
    z = s.hu_output(ctypes.addressof(place), 1, record_type(s.TYPE_HIF4, record))
    abi.check(scaled(rows, cols, z, floats(full.ctypes.data, cols), way.record()), 'hifloat4_encode')
    return HiFloat4Tensor(codes, scales, kind)


@with_options('stream', 'events', 'threads')
def round_tensor(x: Any, rounding: RoundingLike, *, out: Any = None, **options: Unpack[Options]) -> Any:
    """x rounded as a whole, as `halfulp train` rounds tensors: float32 of x's shape (halfulp/train/rounding.h).

    Parameters
    ----------
    x : array (rows, cols) or (cols,)
    rounding : Rounding or str
        "float8_e5m2,sra:16", "mxfp8_e4m3,turned", "s2fp8", "posit16", "keep"
    """
    kind = rounding if isinstance(rounding, Rounding) else Rounding(rounding)
    full, shape = matrix('x', x)
    full = full if rows_apart(full) and leading(full) == full.shape[1] else np.ascontiguousarray(full)
    with_words(kind, options)
    way, counts = host_how('rne', options, 'round_tensor'), s.hu_rounding_counts()
    buffer = np.empty(full.shape, np.float32)
    abi.check(abi.train().hu_rounding_apply(*full.shape, buffer.ctypes.data, full.ctypes.data, abi.address(kind._c),
                                            abi.address(way.exec), ctypes.addressof(counts)), 'rounding')
    if isinstance(way.events, Events):
        add(way.events._c, counts.events)
    return _given(buffer.reshape(shape), out)


def _given(made: np.ndarray, out: Any) -> Any:
    if out is None:
        return made
    float32_result(out, made.shape)[...] = made
    return out
