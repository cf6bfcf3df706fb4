# SPDX-License-Identifier: MIT
"""The C calls on the memory of tensors: one engine for the CPU, one for CUDA devices, with the same methods.

Everything here takes addresses, counts of elements and parsed texts (_records.py); which part of a tensor a call
gets is decided in _rounding.py and _product.py. `events` is the address of 10 counts on the tensor's device, or
None.
"""
import ctypes
from typing import Optional

import torch

from .. import _abi as abi
from .. import _signatures as signatures
from .. import _structs as structs
from .._pointer import floats, floats_out, operation_number, record_type
from ..events import add

EVENTS = tuple(field[0] for field in structs.hu_events._fields_)
STEP = 1 << 36  # words between two calls of a module (docs/training/training.md section 4)

# What these layers use beyond halfulp's own table.
_MORE_MAIN = {
    'format_parse': 'pointer text pointer -> status', 'stream_word': 'stream u64 -> u32',
}
_S2FP8_WORK = 8192  # HU_DEVICE_S2FP8_WORK
_S2FP8_SUMS = ctypes.sizeof(structs.hu_s2fp8_sums)
_ALONE = 1 << 16  # fewer numbers than this are not worth a second thread


def _declared(library: ctypes.CDLL, table: dict) -> ctypes.CDLL:
    signatures.declare(library, table)
    return library


main = _declared(abi.main(), _MORE_MAIN)
ref = ctypes.addressof

FLOAT32, FLOAT64 = structs.hu_type(structs.TYPE_BINARY32), structs.hu_type(structs.TYPE_BINARY64)
_CONVERT = operation_number('convert')


def codes_of(format: structs.hu_format) -> structs.hu_type:
    return structs.hu_type(structs.TYPE_CODES, 0, format)


def values_of(format: structs.hu_format) -> structs.hu_type:
    """The type of values of a format in float32."""
    return structs.hu_type(structs.TYPE_VALUES32, 0, format)


def _of_source(source) -> structs.hu_type:
    """The type of numbers: "32", "64", or the format of the codes that they are."""
    if isinstance(source, str):
        return FLOAT64 if source == '64' else FLOAT32
    return codes_of(source)


def threads(work: int) -> int:
    """The number of threads for so much work: torch's own number; results do not depend on it."""
    return min(torch.get_num_threads(), structs.THREADS_MAX) if work >= _ALONE else 1


class Words:
    """Where a call's random words come from: key and counter of the stream."""

    __slots__ = ('key', 'counter')

    def __init__(self, key: int, counter: int) -> None:
        self.key, self.counter = key, counter

    def after(self, n: int) -> 'Words':
        return Words(self.key, (self.counter + n) % (1 << 64))


class Engine:
    """Calls of libhalfulp; `prefix` and what stands behind the arguments differ on a device. `steps`: libhalfulp-train
    makes the steps of optimizers on this memory. `specials`: it rounds with over=inf and nan=keep there."""

    steps = specials = False

    def _call(self, name: str, *arguments, argument: str = '') -> None:
        abi.check(getattr(main, 'hu_' + name)(*arguments), argument or name)

    def exec(self, words: Words, work: int):
        raise NotImplementedError

    def preset(self, what: str, n, z, incz, x, incx, wide: bool, r, words: Words, events: Optional[int]) -> None:
        """Another program's conversion; `what` is "quantize" or "encode"."""
        raise NotImplementedError

    def quantize(self, n, z, incz, x, incx, wide: bool, r, words: Words, events: Optional[int]) -> None:
        """A rounding into a format or another number system, element by element."""
        if r.preset is not None:
            self.preset('quantize', n, z, incz, x, incx, wide, r, words, events)
            return
        plain, values = (FLOAT64, structs.TYPE_VALUES64) if wide else (FLOAT32, structs.TYPE_VALUES32)
        to = structs.hu_type(values, 0, r.record.format, number=None if r.kind == 1 else ref(r.record.number))
        self.convert(n, (z, incz, to), (x, incx, plain), r.mode, self.exec(words, n), events)

    def encode(self, n, z, incz, x, incx, source, r, words: Words, events: Optional[int]) -> None:
        """Codes of r's format of numbers: `source` is "32", "64", or the format of the codes that x has."""
        if r.preset is not None:
            self.preset('encode', n, z, incz, x, incx, source == '64', r, words, events)
            return
        self.convert(n, (z, incz, codes_of(r.record.format)), (x, incx, _of_source(source)), r.mode, self.exec(words, n),
                     events)

    def decode(self, n, z, incz, x, incx, target, f) -> None:
        self.convert(n, (z, incz, _of_source(target)), (x, incx, codes_of(f)), structs.hu_mode(),
                     self.exec(Words(0, 0), n), None)

    def convert(self, n, z, x, mode: structs.hu_mode, e: structs.hu_exec, events: Optional[int]) -> None:
        """HU_OP_CONVERT; z, x: address, stride, type."""
        to, view, how = structs.hu_output(*z), structs.hu_view(*x), structs.hu_how(mode, ctypes.pointer(e), events)
        self._call('apply', _CONVERT, n, ref(to), ref(view), ref(how))

    def scaled_decode(self, rows, cols, z, ldz, record, scaling) -> None:
        e = self.exec(Words(0, 0), rows * cols)
        place = structs.hu_view(ref(record), 1, record_type(structs.TYPE_SCALED, scaling))
        self.scaled('decode', rows, cols, floats_out(z, ldz), place, structs.hu_mode(), e, None)

    def scaled(self, name, rows, cols, z: structs.hu_output, x: structs.hu_view, mode, e, events: Optional[int]) -> None:
        """hu_scaled_apply, as hu_scaled_NAME in messages."""
        how = structs.hu_how(mode, ctypes.pointer(e), events)
        self._call('scaled_apply', rows, cols, ref(z), ref(x), None, ref(how), argument='scaled_' + name)

    def scaled_exec(self, words: Words, rows, cols, scaling):
        """An exec with memory for a call that makes a scaled tensor, and that memory."""
        return self.exec(words, rows * cols), None

    def scaled_quantize(self, rows, cols, z, ldz, x, ldx, scaling, mode, words: Words, events: Optional[int]) -> None:
        e, work = self.scaled_exec(words, rows, cols, scaling)
        values = floats_out(z, ldz, record_type(structs.TYPE_SCALED_VALUES, scaling))
        self.scaled('quantize', rows, cols, values, floats(x, ldx), mode, e, events)

    def scaled_encode(self, rows, cols, record, x, ldx, scaling, mode, words: Words, events: Optional[int]) -> None:
        e, work = self.scaled_exec(words, rows, cols, scaling)
        place = structs.hu_output(ref(record), 1, record_type(structs.TYPE_SCALED, scaling))
        self.scaled('encode', rows, cols, place, floats(x, ldx), mode, e, events)

    def truncate(self, n, z, incz, x, incx, kind, mode, sums, scale, e, events: Optional[int]) -> None:
        """hu_s2fp8_truncate."""
        to, of = structs.hu_output(z, incz, structs.hu_type(structs.TYPE_VALUES32)), structs.hu_view(x, incx, FLOAT32)
        how = structs.hu_how(mode, ctypes.pointer(e), events)
        self._call('s2fp8_truncate', n, ref(to), ref(of), ref(kind), sums, scale, ref(how))

    def hadamard(self, rows, cols, z, x, transform) -> None:
        """z = whole blocks of the rows of x, both contiguous, transformed forward."""
        e = self.exec(Words(0, 0), rows * cols)
        self._call('hadamard_forward', rows, cols, z, cols, x, cols, ref(transform), ref(e))

    def gemm(self, m, n, k, d, a, b, accum, mode, words: Words, events: Optional[int]) -> None:
        e = self.exec(words, m * n * max(k, 1))
        self._multiply(structs.hu_product(m, n, k, d, a, b, accum=ref(accum)), mode, e, events)

    def _multiply(self, product: structs.hu_product, mode, e: structs.hu_exec, events: Optional[int]) -> None:
        how = structs.hu_how(mode, ctypes.pointer(e), events)
        self._call('multiply', ref(product), ref(how))

    def scaled_gemm(self, m, n, k, d, a, b, total, mode, words: Words, events: Optional[int]) -> None:
        e = self.exec(words, m * n * max(k, 1))
        product = structs.hu_product(m, n, k, d, a, b, sum=ref(total))
        size = main.hu_multiply_space(ref(product), ref(e))
        if size == ctypes.c_size_t(-1).value:
            size = 0  # the call itself says what is wrong
        space = torch.empty(size + 63, dtype=torch.uint8, device=self.device)
        product.space, product.bytes = space.data_ptr() + 63 & ~63, size
        self._multiply(product, mode, e, events)

    def dots64(self, count, n, z, a, b, accum) -> None:
        """z = `count` dot products of n float64 numbers; a, b: address, stride from k to k, distance from product to
        product."""
        left, right = [structs.hu_view(data, stride, FLOAT64, row) for data, stride, row in (a, b)]
        x = structs.hu_product(count, 1, n, structs.hu_output(z, 1, FLOAT64, 1), left, right)
        x.accum = ref(accum)
        e = self.exec(Words(0, 0), count * n)
        how = structs.hu_how(structs.hu_mode(), ctypes.pointer(e))
        self._call('dot', ref(x), ref(how))


class Processor(Engine):
    device = torch.device('cpu')
    steps = specials = True

    def exec(self, words: Words, work: int):
        return structs.hu_exec(threads(work), 0, structs.hu_stream(words.key, words.counter))

    def preset(self, what: str, n, z, incz, x, incx, wide: bool, r, words: Words, events: Optional[int]) -> None:
        values = structs.TYPE_VALUES64 if wide else structs.TYPE_VALUES32
        to = structs.hu_output(z, incz, structs.hu_type(structs.TYPE_CODES if what == 'encode' else values))
        e, of = self.exec(words, n), structs.hu_view(x, incx, FLOAT64 if wide else FLOAT32)
        self._call('conversion_apply', n, ref(to), ref(of), ref(r.preset), ref(e), events)

    def with_specials(self, rows, cols, z, x, r, words: Words, events: Optional[int]) -> None:
        """over=inf, nan=keep: contiguous float32."""
        counts = structs.hu_rounding_counts()
        e = self.exec(words, rows * cols)
        abi.check(abi.train().hu_rounding_apply(rows, cols, z, x, ref(r.record), ref(e), ref(counts)), 'quantize')
        if events:
            add(structs.hu_events.from_address(events), counts.events)

    def s2fp8(self, n, z, incz, x, incx, kind, mode, words: Words, events: Optional[int]) -> None:
        e = self.exec(words, n)
        self.truncate(n, z, incz, x, incx, kind, mode, None, None, e, events)


class Cuda(Engine):
    """The same on torch's current stream of a device. Calls are enqueued; memory that they work in is torch's own,
    which waits for the stream before it is used again."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.library = abi.cuda()

    def stream(self) -> int:
        return torch.cuda.current_stream(self.device).cuda_stream

    def room(self, size: int) -> torch.Tensor:
        return torch.empty(max(size, 1), dtype=torch.uint8, device=self.device)

    def _call(self, name: str, *arguments, argument: str = '') -> None:
        with torch.cuda.device(self.device):
            super()._call(name, *arguments, argument=argument)

    def exec(self, words: Words, work: int):
        place = self.library.hu_cuda(self.stream())
        return structs.hu_exec(1, 0, structs.hu_stream(words.key, words.counter), place)

    def scaled_exec(self, words: Words, rows, cols, scaling):
        e = self.exec(words, 0)
        work = self.room(main.hu_scaled_work_size(rows, cols, ref(scaling), ref(e)))
        e.where.work = work.data_ptr()
        return e, work

    def preset(self, what: str, n, z, incz, x, incx, wide: bool, r, words: Words, events: Optional[int]) -> None:
        raise abi.error(-90, what, 'the preset {} works on tensors on the CPU'.format(r.text))

    def scaled(self, name, rows, cols, z, x, mode, e, events: Optional[int]) -> None:
        with torch.cuda.device(self.device):
            super().scaled(name, rows, cols, z, x, mode, e, events)

    def s2fp8(self, n, z, incz, x, incx, kind, mode, words: Words, events: Optional[int]) -> None:
        e, work = self.exec(words, 0), self.room(_S2FP8_WORK)
        e.where.work = work.data_ptr()
        sums, scale = self.room(_S2FP8_SUMS), self.room(ctypes.sizeof(structs.hu_s2fp8_scale))
        self.truncate(n, z, incz, x, incx, kind, mode, sums.data_ptr(), scale.data_ptr(), e, events)


_PROCESSOR = Processor()


def engine(device: torch.device) -> Engine:
    """The engine of a tensor's device; TypeError for devices that halfulp has none for."""
    if device.type == 'cpu':
        return _PROCESSOR
    if device.type == 'cuda':
        return Cuda(device)
    raise abi.HalfulpTypeError('tensor: halfulp works on cpu and cuda tensors, not on {}'.format(device))
