# SPDX-License-Identifier: MIT
"""The array calls on raw addresses, on the CPU and on CUDA devices: what calls over arrays stand on.

Addresses are integers (``array.ctypes.data``, ``tensor.data_ptr()``), strides count elements, `dtype` is "float32",
"float64", "float16" or "bfloat16". Nothing is checked but what the C library checks: it cannot know how long arrays
are.

`how` says the rest: rounding, random stream, threads, counts, device. With ``cuda`` None a call runs on the CPU and is
done when it returns. Else ``cuda`` is a cudaStream_t as an integer (0: the default stream), the addresses are the
device's, `events` is the address of a hu_events there (or None), and the call is enqueued: memory must stay until the
stream has done it.
"""
from __future__ import annotations

import ctypes
import functools
import struct
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple, Union

from . import _abi as abi
from . import _structs as s
from .events import Events
from .format import Format, FormatLike
from .mode import Mode, ModeLike, Stream, StreamLike, mode_of, stream_of

_NARROW = {'float16': 'binary16', 'bfloat16': 'bfloat16'}
# Of float and double: the types of any numbers, and of values of a format or number system.
_WIDE = {'float32': s.hu_type(s.TYPE_BINARY32), 'float64': s.hu_type(s.TYPE_BINARY64)}
VALUES = {'float32': s.TYPE_VALUES32, 'float64': s.TYPE_VALUES64}


class How:
    """How a call is run.

    Parameters
    ----------
    mode : Mode or str
        The rounding.
    stream : Stream, (key, counter) or key, optional
        Random words of stochastic modes; (0, 0) without it.
    threads : int
        On the CPU.
    events : Events, int or None
        Counts to be added to; an integer is the address of a hu_events.
    cuda : int or None
        A cudaStream_t; None: the CPU.
    levels_off : int
        Kernel levels not to use (halfulp/view.h).
    """

    __slots__ = ('mode', 'stream', 'threads', 'events', 'cuda', 'exec')

    def __init__(self, mode: ModeLike = 'rne', *, stream: Optional[StreamLike] = None, threads: int = 1,
                 events: Union[Events, int, None] = None, cuda: Optional[int] = None, levels_off: int = 0) -> None:
        self.mode: Mode = mode_of(mode)
        self.stream: Stream = stream_of(stream, self.mode.stochastic) if stream is not None else Stream(0, 0)
        self.threads = threads = abi.whole('threads', threads, 0, s.THREADS_MAX)
        self.events = events
        self.cuda = cuda
        self.exec = s.hu_exec(threads, levels_off, self.stream._record())
        if cuda is not None:
            self.exec.where = abi.cuda().hu_cuda(cuda)

    def after(self, n: int) -> 'How':
        """The same with the stream n words later."""
        return How(self.mode, stream=self.stream.after(n), threads=self.threads, events=self.events, cuda=self.cuda,
                   levels_off=self.exec.levels_off)

    @property
    def counts(self) -> Optional[int]:
        """The address of the counts."""
        return abi.address(self.events._c) if isinstance(self.events, Events) else self.events

    def record(self) -> s.hu_how:
        """The same as a record of C."""
        events = ctypes.addressof(self.events._c) if isinstance(self.events, Events) else self.events
        return s.hu_how(self.mode._c, ctypes.pointer(self.exec), events)

    def run(self, name: str, *arguments: Any, argument: str = '') -> None:
        """hu_NAME of the arguments, then this."""
        status = getattr(abi.main(), 'hu_' + name)(*arguments, abi.address(self.record()))
        abi.check(status, argument or name)

    def apply(self, name: str, n: int, z: 'Place', x: Sequence['Place'], argument: str = '') -> None:
        """hu_apply of the operation `name` of halfulp/operation.h: z[i] of x[0][i], x[1][i], ..."""
        views, how = (s.hu_view * len(x))(*x), self.record()
        status = abi.main().hu_apply(operation_number(name), n, abi.address(s.hu_output(*z)), abi.address(views),
                                     abi.address(how))
        abi.check(status, argument or name)

    def convert(self, n: int, z: 'Place', x: 'Place', argument: str) -> None:
        """z[i] = x[i] converted (HU_OP_CONVERT)."""
        self.apply('convert', n, z, [x], argument)


def scaled(rows: int, cols: int, z: s.hu_output, x: s.hu_view, how: s.hu_how, amax: Optional[int] = None,
           stats: Optional[int] = None) -> int:
    """The status of hu_scaled_apply."""
    extra = s.hu_scaled_extra(amax, stats)
    return abi.main().hu_scaled_apply(rows, cols, abi.address(z), abi.address(x), abi.address(extra), abi.address(how))


def floats(address: int, ld: int) -> s.hu_view:
    """A matrix of float32."""
    return s.hu_view(address, 1, _WIDE['float32'], ld)


def floats_out(address: int, ld: int, kind: Optional[s.hu_type] = None) -> s.hu_output:
    """A matrix of float32 to write: any numbers, or values of a type."""
    return s.hu_output(address, 1, kind or _WIDE['float32'], ld)


Place = Tuple[int, int, s.hu_type]  # an address, a stride, and the type of the elements


@functools.lru_cache(maxsize=None)
def operation_number(name: str) -> int:
    """HU_OP_ of the operation of a name."""
    return abi.main().hu_operation_find(name.encode())


def codes_type(format: FormatLike) -> s.hu_type:
    """The type of codes of a format."""
    return s.hu_type(s.TYPE_CODES, 0, _c(format))


def values_type(dtype: str, format: FormatLike) -> s.hu_type:
    """The type of values of a format in float32 or float64."""
    return s.hu_type(VALUES[dtype], 0, _c(format))


def number_type(record: s.hu_number, dtype: Optional[str] = None) -> s.hu_type:
    """The type of codes of a number system, whose record the caller keeps, or of its values in float32 or float64."""
    return s.hu_type(s.TYPE_CODES if dtype is None else VALUES[dtype], 0, number=ctypes.addressof(record))


def record_type(kind: int, record: Any) -> s.hu_type:
    """A type that a record says more of: hu_scaling, hu_hif4. The caller keeps it."""
    return s.hu_type(kind, 0, number=ctypes.addressof(record))


def plain_type(dtype: str) -> s.hu_type:
    """The type of any numbers: float32, float64, or float16 and bfloat16, which are codes."""
    return codes_type(_NARROW[dtype]) if dtype in _NARROW else _WIDE[dtype]


def _c(format: FormatLike) -> s.hu_format:
    return (format if isinstance(format, Format) else Format(format))._c


_PLACE = struct.Struct('Pn')  # how views and outputs begin: address and stride
_ROW = struct.Struct('n')  # and how they end
_HOW = struct.Struct('8sPP')  # hu_how


def how_bytes(mode: s.hu_mode, run: s.hu_exec, counts: Optional[int]) -> bytes:
    """A hu_how; `run`, which it points to, is the caller's."""
    return _HOW.pack(bytes(mode), ctypes.addressof(run), counts or 0)


def conversion(z: s.hu_type, x: s.hu_type) -> Callable[[int, int, int, bytes], int]:
    """call(n, z, x, how): the status of HU_OP_CONVERT between dense arrays of these types at these addresses."""
    apply, op = abi.main().hu_apply, operation_number('convert')
    to, of = bytes(z) + bytes(8), bytes(x) + bytes(8)  # row 0
    place = _PLACE.pack
    return lambda n, z_, x_, how: apply(op, n, place(z_, 1) + to, place(x_, 1) + of, how)


def scaled_values(scaling: s.hu_scaling) -> Callable[[int, int, int, int, bytes], int]:
    """call(rows, cols, z, x, how): the status of quantizing dense matrices of float32. The caller keeps `scaling`."""
    apply, place, ld = abi.main().hu_scaled_apply, _PLACE.pack, _ROW.pack
    to, of = bytes(record_type(s.TYPE_SCALED_VALUES, scaling)), bytes(plain_type('float32'))
    return lambda rows, cols, z, x, how: apply(rows, cols, place(z, 1) + to + ld(cols), place(x, 1) + of + ld(cols), None,
                                               how)


def _known(dtype: str) -> None:
    if dtype not in _NARROW and dtype not in _WIDE:
        raise abi.HalfulpTypeError('dtype: {!r} is not one of float16, bfloat16, float32, float64'.format(dtype))


def encode(n: int, z: int, incz: int, x: int, incx: int, dtype: str, format: FormatLike, how: How) -> None:
    """z[i] = the code of `format` that number x[i] rounds to."""
    _known(dtype)
    how.convert(n, (z, incz, codes_type(format)), (x, incx, plain_type(dtype)), 'encode')


def decode(n: int, z: int, incz: int, dtype: str, x: int, incx: int, format: FormatLike, how: How) -> None:
    """z[i] = the value of code x[i], exact: HalfulpValueError where `dtype` cannot hold all values of the format."""
    _known(dtype)
    if dtype in _NARROW:
        _must_fit(format, dtype)
        how = How(threads=how.threads, cuda=how.cuda)
    how.convert(n, (z, incz, plain_type(dtype)), (x, incx, codes_type(format)), 'decode')


def quantize(n: int, z: int, incz: int, x: int, incx: int, dtype: str, format: FormatLike, how: How,
             work: Optional[int] = None) -> None:
    """z[i] = the value of `format` that x[i] rounds to, z and x of one type; z may be x with the same stride.

    float16 and bfloat16 go through codes (one rounding; decoding is exact), which need memory for n of them: allocated
    here on the CPU; on a device `work` is its address there.
    """
    _known(dtype)
    if dtype in _WIDE:
        how.convert(n, (z, incz, values_type(dtype, format)), (x, incx, plain_type(dtype)), 'quantize')
        return
    target = format if isinstance(format, Format) else Format(format)
    _must_fit(target, dtype)
    buffer = None
    if work is None:
        if how.cuda is not None:
            raise abi.HalfulpValueError('work: quantizing {} on a device needs memory for {} codes there'.format(
                dtype, n))
        buffer = ctypes.create_string_buffer(max(n * target.storage // 8, 1) + 4)  # codes are aligned to their size
        work = ctypes.addressof(buffer) + 3 & ~3
    encode(n, work, 1, x, incx, dtype, target, how)
    decode(n, z, incz, dtype, work, 1, target, how)
    del buffer


def convert(n: int, z: int, incz: int, to: FormatLike, x: int, incx: int, of: FormatLike, how: How) -> None:
    """z[i] = code x[i] of format `of` rounded into `to`."""
    how.convert(n, (z, incz, codes_type(to)), (x, incx, codes_type(of)), 'convert')


def _must_fit(format: FormatLike, dtype: str) -> None:
    target = format if isinstance(format, Format) else Format(format)
    if not target.fits(_NARROW[dtype]):
        raise abi.HalfulpValueError('format: {} has values that {} cannot hold exactly (HU_E_CARRIER)'.format(target,
            dtype))


def matrix_view(address: Optional[int], ld: int, kind: s.hu_type, transposed: bool) -> s.hu_view:
    """A matrix to read, whose stored rows lie ld apart."""
    return s.hu_view(address, ld, kind, 1) if transposed else s.hu_view(address, 1, kind, ld)


class Matrix(NamedTuple):
    """A matrix of `gemm`: element (i, j) at i * ld + j, or at j * ld + i if transposed (operands only).

    codes False: float32 values on the grid of the format; True: its codes.
    """

    address: Optional[int]
    ld: int
    format: FormatLike
    codes: bool = False
    transposed: bool = False

    def operand(self) -> s.hu_view:
        return matrix_view(self.address, self.ld, self.type(), self.transposed)

    def result(self) -> s.hu_output:
        return s.hu_output(self.address, 1, self.type(), self.ld)

    def type(self) -> s.hu_type:
        return s.hu_type(s.TYPE_CODES if self.codes else s.TYPE_VALUES32, 0, _c(self.format))
