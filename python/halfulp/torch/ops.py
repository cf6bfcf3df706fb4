# SPDX-License-Identifier: MIT
"""The operators that torch knows: torch.ops.halfulp.*, with fake kernels for tracing and formulas for autograd.

Everything else in this package is made of these. Arguments are tensors, numbers and texts, so that torch.compile can
keep them in a graph; functional.py has friendlier calls with the same names.

quantize         z = x rounded; events
quantize_        x = x rounded, in place; events
inside           which elements lie within the range that they are rounded into
of_integers      integers and booleans as numbers that a rounding takes
encode, decode   codes of a format
unpack           codes of 1 to 7 bits that lie in bytes without gaps
scaled_encode, scaled_decode    codes, scales and second-level scale of a scaled tensor
matmul           D = A B, operands and result rounded, under an accumulation model; events
convolution      the product of a convolution, X and its gradient rounded as tensors; events
patches, unpatch    the rows that a convolution is a product of, and back
add_row          y + b for every row; b's gradient is a sum of columns with a stated order
advance_         a module's stream as it is; its counter moves on
note_            events added to a module's counts

`stream` is int64 of 2 numbers on the CPU: key and counter of halfulp's random words (64-bit patterns); it may be None
where a call and its backward pass draw none. `use` is the child of the stream that a rounding draws from, -1 the
stream itself. `tap` is None, or a tensor of float64 zeros that requires a gradient, one row per part: autograd adds the
counts of the backward pass to its gradient (exact below 2^53).
"""
from typing import List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor

from torch.autograd.graph import increment_version

from .. import _abi as abi
from .._views import CodesOf, float32_of, numbers, overlaps_itself, spare_bits, wide_code
from . import _calls, _convolution, _memory, _product, _records, _rounding
from ._calls import EVENTS, Words
from ._register import fake, formula, operator
from ._streams import missing

GRADIENTS = ('straight_through', 'zero_outside')
_MASK = (1 << 64) - 1


def drawn(stream: Optional[Tensor], *texts: str) -> None:
    """No stream is an error where a rounding or a product of these texts draws random words."""
    if stream is None:
        for text in texts:
            if text and (_records.product(text) if '|' in text else _records.rounding(text)).stochastic:
                raise missing(text)


def words(stream: Optional[Tensor], use: int) -> Words:
    """Key and counter from their tensor, which is on the CPU, so that no call waits for a device."""
    if stream is None:
        return Words(0, 0)
    if stream.dtype != torch.int64 or stream.shape != (2,):
        raise abi.HalfulpTypeError('stream: an int64 tensor of a key and a counter is wanted')
    key, counter = (number & _MASK for number in stream.tolist())
    return Words(_records.child(key, use), counter)


def counts(x: Tensor, count: bool, rows: int = 0) -> Tensor:
    """Zeros for the events of one call (rows: of so many parts), or an empty tensor."""
    shape = ((rows, len(EVENTS)) if rows else (len(EVENTS),)) if count else (0,)
    return torch.zeros(shape, dtype=torch.int64, device=x.device)


def _some(events: Tensor) -> Optional[Tensor]:
    return events if events.numel() else None


def _gradient(gradient: str) -> None:
    if not isinstance(gradient, str):
        raise abi.HalfulpTypeError('gradient: give a text, not {}'.format(type(gradient).__name__))
    if gradient not in GRADIENTS:
        raise abi.HalfulpValueError('gradient: {!r} is none of {}'.format(gradient, ', '.join(GRADIENTS)))


# ---- roundings ----

@operator('quantize(Tensor x, Tensor? stream, Tensor? tap, str forward, str backward, SymInt dim, str gradient, '
          'SymInt use, SymInt back_use, bool count) -> (Tensor, Tensor)', gradient=True)
def quantize(x: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], forward: str, backward: str, dim: int,
             gradient: str, use: int, back_use: int, count: bool) -> Tuple[Tensor, Tensor]:
    _gradient(gradient)
    drawn(stream, forward, backward)
    _rounding.check(_records.rounding(backward), x)
    z, events = torch.empty_like(x), counts(x, count)
    _rounding.into(z, x, _records.rounding(forward), dim, words(stream, use), _some(events))
    return z, events


@fake(quantize)
def _(x, stream, tap, forward, backward, dim, gradient, use, back_use, count):
    _gradient(gradient)
    drawn(stream, forward, backward)
    _rounding.check(_records.rounding(forward), x)
    _rounding.check(_records.rounding(backward), x)
    return torch.empty_like(x), counts(x, count)


def _quantize_setup(ctx, inputs, output):
    x, stream, tap, forward, backward, dim, gradient, use, back_use, count = inputs
    ctx.texts = (forward, backward, gradient)
    ctx.numbers = (dim, back_use, tap is not None)
    ctx.save_for_backward(x if gradient == 'zero_outside' else None,
                          stream if _records.rounding(backward).stochastic else None)


def _quantize_backward(ctx, g, _):
    forward, backward, gradient = ctx.texts
    dim, back_use, tapped = ctx.numbers
    x, stream = ctx.saved_tensors
    z, events = quantize(g, stream, None, backward, 'keep', dim, 'straight_through', back_use, -1, tapped)
    if x is not None:
        z = torch.where(inside(x, forward, dim), z, torch.zeros((), dtype=z.dtype, device=z.device))
    tap = events.to('cpu', torch.float64).reshape(1, -1) if tapped else None
    return z, None, tap, None, None, None, None, None, None, None


formula(quantize, _quantize_backward, _quantize_setup)


@operator('quantize_(Tensor(a!) x, Tensor? stream, str rounding, SymInt dim, SymInt use, bool count) -> Tensor')
def quantize_(x: Tensor, stream: Optional[Tensor], rounding: str, dim: int, use: int, count: bool) -> Tensor:
    drawn(stream, rounding)
    if overlaps_itself(tuple(x.shape), x.stride()):
        raise abi.HalfulpValueError('x: several of its elements lie at one place of memory; clone it first')
    events = counts(x, count)
    _rounding.into(x, x, _records.rounding(rounding), dim, words(stream, use), _some(events))
    if not x.is_inference():
        increment_version(x)
    return events


@fake(quantize_)
def _(x, stream, rounding, dim, use, count):
    drawn(stream, rounding)
    _rounding.check(_records.rounding(rounding), x)
    return counts(x, count)


@operator('inside(Tensor x, str rounding, SymInt dim) -> Tensor')
def inside(x: Tensor, rounding: str, dim: int) -> Tensor:
    return _rounding.inside(x, _records.rounding(rounding), dim).contiguous()


@fake(inside)
def _(x, rounding, dim):
    return torch.empty(x.shape, dtype=torch.bool, device=x.device)


def _narrow(r: _records.Rounding) -> bool:
    """Whether a rounding is defined on float32 numbers alone."""
    return r.kind in (_records.SCALED, _records.S2FP8) or r.special


@operator('of_integers(Tensor x, str rounding) -> Tensor')
def of_integers(x: Tensor, rounding: str) -> Tensor:
    """float64, which the rounding rounds as it rounds the integers; float32 for roundings that begin there."""
    r = _records.rounding(rounding)
    made = numbers('x', x.detach().cpu().numpy())
    if _narrow(r):
        made = float32_of('x', made)
    elif made.exact is not None and r.kind == _records.KEEP:
        raise abi.HalfulpValueError("x: float64 lacks an integer in it, and 'keep' rounds nothing; x.double() rounds "
                                    'it')
    elif made.exact is not None and not _rounding.decides(r):
        raise abi.HalfulpValueError('x: float64 lacks an integer in it, and {!r} does not round what is near instead; '
                                    'halfulp.quantize takes it'.format(rounding))
    return torch.from_numpy(made.array).to(x.device)


@fake(of_integers)
def _(x, rounding):
    return torch.empty_like(x, dtype=torch.float32 if _narrow(_records.rounding(rounding)) else torch.float64)


# ---- the state of modules ----

def _repeated() -> bool:
    """Whether a backward pass runs in this thread: a forward call then repeats an earlier one, which is what
    torch.utils.checkpoint does. Kernels look at it, so that compiled graphs do, too."""
    return torch._C._current_graph_task_id() != -1


@operator('advance_(Tensor(a!) stream, SymInt step) -> Tensor')
def advance_(stream: Tensor, step: int) -> Tensor:
    if _repeated():
        raise RuntimeError('halfulp: a forward call of a stochastic module, made while a backward pass runs '
                           '(activation checkpointing), would draw other random words than the first one; make the '
                           "module with key='torch', whose words torch.utils.checkpoint repeats")
    now = stream.clone()
    stream[1] += step
    return now


@fake(advance_)
def _(stream, step):
    return torch.empty_like(stream)


@operator('note_(Tensor(a!) seen, Tensor events) -> ()')
def note_(seen: Tensor, events: Tensor) -> None:
    if not _repeated():
        seen += events.reshape(seen.shape).to(seen.device)


@fake(note_)
def _(seen, events):
    return None


# ---- codes ----

def _element(text: str):
    r = _records.rounding(text)
    if r.kind != _records.FORMAT or r.special:
        more = '; scaled_encode takes scaled formats' if r.kind == _records.SCALED else ''
        raise abi.HalfulpValueError('encode: {!r} is no format{}'.format(text, more))
    return r


def same_format(one: str, other: str) -> bool:
    """Whether the codes of two formats mean the same numbers."""
    return _element(one).record.format == _element(other).record.format


def _kind(dtype: torch.dtype):
    """What the array calls have for a type: "32", "64", or the format whose codes it holds."""
    return {torch.float32: '32', torch.float64: '64'}.get(dtype) or _records.format_of(_rounding.NARROW[dtype])


def _code_type(f) -> torch.dtype:
    return _rounding._CODES[_calls.main.hu_limits_of(f).storage // 8]


@operator('encode(Tensor x, Tensor? stream, str rounding, SymInt use, bool count) -> (Tensor, Tensor)')
def encode(x: Tensor, stream: Optional[Tensor], rounding: str, use: int, count: bool) -> Tuple[Tensor, Tensor]:
    _rounding.known(x)
    r, source, events = _element(rounding), x.contiguous(), counts(x, count)
    drawn(stream, rounding)
    z = torch.empty(x.shape, dtype=_code_type(r.record.format), device=x.device)
    if r.preset is not None and x.dtype in _rounding.NARROW:
        source = source.to(torch.float32)
    _calls.engine(x.device).encode(x.numel(), z.data_ptr(), 1, source.data_ptr(), 1, _kind(source.dtype), r,
                                   words(stream, use), events.data_ptr() if count else None)
    return z, events


@fake(encode)
def _(x, stream, rounding, use, count):
    drawn(stream, rounding)
    return torch.empty(x.shape, dtype=_code_type(_element(rounding).record.format), device=x.device), counts(x, count)


@operator('decode(Tensor codes, str rounding, ScalarType dtype) -> Tensor')
def decode(codes: Tensor, rounding: str, dtype: torch.dtype) -> Tensor:
    f = _element(rounding).record.format
    if codes.dtype not in (_code_type(f), _SIGNED[_code_type(f)]):
        raise abi.HalfulpTypeError('codes: {} are {}, not {}'.format(rounding, _code_type(f), codes.dtype))
    z = torch.empty(codes.shape, dtype=dtype, device=codes.device)
    _rounding.check(_records.rounding(rounding), z)
    source = codes.contiguous()  # named, so that it lives until the call is done
    try:
        _calls.engine(codes.device).decode(codes.numel(), z.data_ptr(), 1, source.data_ptr(), 1, _kind(dtype), f)
    except abi.HalfulpError as error:
        raise _wide_code(error, ('codes', source, f)) from None
    return z


_BYTES = (torch.uint8, torch.int8, getattr(torch, 'float4_e2m1fn_x2', torch.uint8))


def _packed(packed: Tensor, rounding: str) -> Tuple[int, int]:
    """Bits of a code of a format or of an element of a scaled one, and how many a row has."""
    r = _records.rounding(rounding)
    f = r.scaling(False).element if r.kind == _records.SCALED else _element(rounding).record.format
    width = _calls.main.hu_limits_of(f).width
    if width > 7:
        raise abi.HalfulpValueError('packed: codes of {} bits are not packed, those of 1 to 7 are'.format(width))
    if packed.dtype not in _BYTES or packed.dim() == 0:
        raise abi.HalfulpTypeError('codes: packed codes are uint8, not {}'.format(packed.dtype))
    return width, packed.shape[-1] * 8 // width


@operator('unpack(Tensor packed, str rounding) -> Tensor')
def unpack(packed: Tensor, rounding: str) -> Tensor:
    """A byte for each of the codes that halfulp.pack packs, row by row of the last dimension."""
    width, count = _packed(packed, rounding)
    first = torch.arange(count, device=packed.device) * width
    spare, size = packed.shape[-1] * 8 % width, packed.shape[-1]
    if spare:
        left = (packed.view(torch.uint8)[..., -1] >> (8 - spare)).reshape(-1).cpu().numpy()
        if left.any():
            place = np.unravel_index(int(np.argmax(left != 0)), tuple(packed.shape[:-1]))
            raise abi.HalfulpValueError(spare_bits('codes', width, size, [int(i) for i in place]))
    whole = torch.nn.functional.pad(packed.view(torch.uint8).to(torch.int32), (0, 1))
    two = whole[..., first // 8] | whole[..., first // 8 + 1] << 8
    return (two >> (first % 8) & ((1 << width) - 1)).to(torch.uint8).contiguous()


@fake(unpack)
def _(packed, rounding):
    shape = tuple(packed.shape[:-1]) + (_packed(packed, rounding)[1],)
    return torch.empty(shape, dtype=torch.uint8, device=packed.device)


_SIGNED = {torch.uint8: torch.int8, torch.uint16: torch.int16, torch.uint32: torch.int32}


def _wide_code(error: abi.HalfulpError, *held: Tuple[str, Tensor, _calls.structs.hu_format],
               signed: bool = False) -> abi.HalfulpError:
    """The error of a code wider than its format, with the code; of tensors on a device without it, which they keep."""
    pairs = []
    for argument, x, f in held:
        width, name = _calls.main.hu_limits_of(f).width, abi.written(_calls.main.hu_format_text, 128, f)
        pairs.append((x.detach().numpy() if x.device.type == 'cpu' else None, CodesOf(argument, name, width, signed)))
    return wide_code(error, pairs)


@fake(decode)
def _(codes, rounding, dtype):
    return torch.empty(codes.shape, dtype=dtype, device=codes.device)


def _scaled(text: str):
    r = _records.rounding(text)
    if r.kind != _records.SCALED:
        more = '; encode takes formats' if r.kind == _records.FORMAT else ''
        raise abi.HalfulpValueError('scaled: {!r} is no scaled tensor{}'.format(text, more))
    return r


def _matrix_shape(x: Tensor, dim: int) -> Tuple[int, int]:
    m, turned = _memory.matrix(x, dim)
    return (m.shape[1], m.shape[0]) if turned else (m.shape[0], m.shape[1])


@operator('scaled_encode(Tensor x, Tensor? stream, str rounding, SymInt dim, SymInt use, bool count) '
          '-> (Tensor, Tensor, Tensor, Tensor)')
def scaled_encode(x: Tensor, stream: Optional[Tensor], rounding: str, dim: int, use: int,
                  count: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    r, events = _scaled(rounding), counts(x, count)
    drawn(stream, rounding)
    _rounding.check(r, x)
    m, turned = _rounding.blocks(x.to(torch.float32), r, dim)  # as `quantize` sees it, so that words are the same
    made = _rounding.encoded(m, r, r.scaling(turned), words(stream, use), _some(events))
    codes, scales = (y.t().contiguous() if turned else y for y in (made.codes, made.scales))
    t = made.tensor if made.tensor is not None else torch.ones((), dtype=torch.float32, device=x.device)
    return codes, scales, t, events


@fake(scaled_encode)
def _(x, stream, rounding, dim, use, count):
    r = _scaled(rounding)
    drawn(stream, rounding)
    rows, cols = _matrix_shape(x, dim)
    scaling = r.scaling(False)
    sizes = _calls.main.hu_scaled_sizes_of(1, 1, _calls.ref(scaling))
    down = (rows + scaling.rows - 1) // scaling.rows if scaling.rows else 1
    across = (cols + scaling.cols - 1) // scaling.cols if scaling.cols else 1
    return (torch.empty((rows, cols), dtype=_rounding._CODES[sizes.code_bytes], device=x.device),
            torch.empty((down, across), dtype=_rounding._CODES[sizes.scale_bytes], device=x.device),
            torch.empty((), dtype=torch.float32, device=x.device), counts(x, count))


def _whole(codes: Tensor, scales: Tensor, tensor: Tensor, scaling) -> None:
    """What a scaled tensor made by hand may get wrong."""
    if codes.dim() != 2:
        raise abi.HalfulpValueError('codes: a matrix is wanted, not {} dimensions'.format(codes.dim()))
    sizes = _calls.main.hu_scaled_sizes_of(*codes.shape, _calls.ref(scaling))
    wanted = [('codes', codes, tuple(codes.shape), _rounding._CODES[sizes.code_bytes]),
              ('scales', scales, (sizes.block_rows, sizes.block_cols), _rounding._CODES[sizes.scale_bytes])]
    if scaling.tensor:
        wanted.append(('tensor', tensor, tuple(tensor.shape) if tensor.numel() == 1 else (), torch.float32))
    for name, x, shape, dtype in wanted:
        if x.dtype != dtype or x.device != codes.device:
            raise abi.HalfulpTypeError('{}: {} on {} instead of {} on {}'.format(name, x.dtype, x.device, dtype,
                                                                                 codes.device))
        if tuple(x.shape) != shape:
            raise abi.HalfulpValueError('{}: shape {} instead of {}'.format(name, tuple(x.shape), shape))


@operator('scaled_decode(Tensor codes, Tensor scales, Tensor tensor, str rounding) -> Tensor')
def scaled_decode(codes: Tensor, scales: Tensor, tensor: Tensor, rounding: str) -> Tensor:
    scaling = _scaled(rounding).scaling(False)
    _whole(codes, scales, tensor, scaling)
    rows, cols = codes.shape
    made = _rounding.Encoded(codes.contiguous(), scales.contiguous(), tensor.contiguous() if scaling.tensor else None)
    z = torch.empty((rows, cols), dtype=torch.float32, device=codes.device)
    try:
        _calls.engine(codes.device).scaled_decode(rows, cols, z.data_ptr(), max(cols, 1), made.record, scaling)
    except abi.HalfulpError as error:
        raise _wide_code(error, ('codes', made.codes, scaling.element), signed=bool(scaling.coding)) from None
    return z


@fake(scaled_decode)
def _(codes, scales, tensor, rounding):
    return torch.empty(codes.shape, dtype=torch.float32, device=codes.device)


# ---- products ----

# Children of a product's stream (docs/training.md section 4): of A, B and D of each of the three products.
FORWARD, GRAD_B, GRAD_A = [0, 1, 6], [2, 3, 8], [4, 5, 7]


@operator('matmul(Tensor a, Tensor b, Tensor? stream, Tensor? tap, str product, str grad_a, str grad_b, '
          'str gradient, SymInt[] uses, bool count) -> (Tensor, Tensor)', gradient=True)
def matmul(a: Tensor, b: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], product: str, grad_a: str,
           grad_b: str, gradient: str, uses: List[int], count: bool) -> Tuple[Tensor, Tensor]:
    _gradient(gradient)
    drawn(stream, product, grad_a, grad_b)
    events = counts(a, count, 3)
    d = _product.multiply(a, b, _records.product(product), tuple(words(stream, use) for use in uses), _some(events))
    return d, events


@fake(matmul)
def _(a, b, stream, tap, product, grad_a, grad_b, gradient, uses, count):
    _gradient(gradient)
    drawn(stream, product, grad_a, grad_b)
    _product.check(a, b)
    for text in (product, grad_a, grad_b):
        if text:
            _records.product(text)
    return a.new_empty(tuple(a.shape[:-1]) + (b.shape[-1],)), counts(a, count, 3)


def _matmul_setup(ctx, inputs, output):
    a, b, stream, tap, product, grad_a, grad_b, gradient, uses, count = inputs
    ctx.texts = (product, grad_a, grad_b, gradient)
    ctx.tapped = tap is not None
    ctx.save_for_backward(a, b, stream)


def _matmul_backward(ctx, g, _):
    product, grad_a, grad_b, gradient = ctx.texts
    if not (grad_a and grad_b):
        raise NotImplementedError('halfulp::matmul: the gradient of a gradient has no formula')
    a, b, stream = ctx.saved_tensors
    no = torch.zeros((3, len(EVENTS)), dtype=torch.int64, device=g.device)
    events_a = events_b = no
    da = db = None
    if ctx.needs_input_grad[0]:
        da, events_a = matmul(g, b.transpose(-1, -2), stream, None, grad_a, '', '', 'straight_through', GRAD_A,
                              ctx.tapped)
        if gradient == 'zero_outside':
            da = torch.where(inside(a, product.split('|')[0], -1), da,
                             torch.zeros((), dtype=da.dtype, device=da.device))
    if ctx.needs_input_grad[1]:
        left, right = (a, g) if b.dim() > 2 else (a.flatten(0, -2), g.flatten(0, -2))
        db, events_b = matmul(left.transpose(-1, -2), right, stream, None, grad_b, '', '', 'straight_through', GRAD_B,
                              ctx.tapped)
        if gradient == 'zero_outside':
            mask = inside(b.transpose(-1, -2), product.split('|')[1], -1).transpose(-1, -2)
            db = torch.where(mask, db, torch.zeros((), dtype=db.dtype, device=db.device))
    tap = torch.cat([events_a, events_b]).to('cpu', torch.float64) if ctx.tapped else None
    return da, db, None, tap, None, None, None, None, None, None


formula(matmul, _matmul_backward, _matmul_setup, of_operands=True)


# ---- what a layer has beside its product ----

@operator('add_row(Tensor y, Tensor b) -> Tensor', gradient=True)
def add_row(y: Tensor, b: Tensor) -> Tensor:
    return y + b


@fake(add_row)
def _(y, b):
    return y + b


# Sums of columns as docs/training.md section 2 has them: chunks of 64 rows, then the chunks, each from +0; of
# float64 in order.
COLUMNS, COLUMNS64 = 'keep|keep|chunk(64,binary32,binary32)|keep', 'keep|keep|fp64|keep'


def _add_row_backward(ctx, g):
    rows = g.unsqueeze(0).flatten(0, -2)
    ones = torch.ones((1, rows.shape[0]), dtype=g.dtype, device=g.device)
    text = COLUMNS64 if g.dtype == torch.float64 else COLUMNS
    db, _ = matmul(ones, rows, None, None, text, '', '', 'straight_through', FORWARD, False)
    return g, db.reshape(-1)


formula(add_row, _add_row_backward)


@operator('patches(Tensor x, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) '
          '-> Tensor', gradient=True)
def patches(x: Tensor, kernel: List[int], stride: List[int], padding: List[int], dilation: List[int],
            groups: int) -> Tensor:
    return _convolution.patches(x, kernel, stride, padding, dilation, groups)


@fake(patches)
def _(x, kernel, stride, padding, dilation, groups):
    high, wide = _convolution.sizes(x.shape, kernel, stride, padding, dilation)
    return x.new_empty((groups, x.shape[0] * high * wide, kernel[0] * kernel[1] * (x.shape[1] // groups)))


@operator('unpatch(Tensor p, SymInt[] shape, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, '
          'SymInt groups) -> Tensor')
def unpatch(p: Tensor, shape: List[int], kernel: List[int], stride: List[int], padding: List[int], dilation: List[int],
            groups: int) -> Tensor:
    return _convolution.unpatch(p, shape, kernel, stride, padding, dilation, groups)


@fake(unpatch)
def _(p, shape, kernel, stride, padding, dilation, groups):
    return p.new_empty(shape)


def _patches_setup(ctx, inputs, output):
    x, kernel, stride, padding, dilation, groups = inputs
    ctx.shape, ctx.rest = list(x.shape), (kernel, stride, padding, dilation, groups)


def _patches_backward(ctx, g):
    return unpatch(g, ctx.shape, *ctx.rest), None, None, None, None, None


formula(patches, _patches_backward, _patches_setup)


@operator('convolution(Tensor x, Tensor w, Tensor? stream, Tensor? tap, str product, str grad_x, str grad_w, '
          'str gradient, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups, '
          'bool count) -> (Tensor, Tensor)', gradient=True)
def convolution(x: Tensor, w: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], product: str, grad_x: str,
                grad_w: str, gradient: str, kernel: List[int], stride_: List[int], padding: List[int],
                dilation: List[int], groups: int, count: bool) -> Tuple[Tensor, Tensor]:
    """w: groups, numbers of a patch, outputs of a group; the result: groups, windows, outputs of a group."""
    _gradient(gradient)
    drawn(stream, product, grad_x, grad_w)
    events = counts(x, count, 3)
    geometry = _convolution.Geometry(kernel, stride_, padding, dilation, groups)
    z = _convolution.product(x, w, _records.product(product), geometry, _words_of(stream, FORWARD), _some(events))
    return z, events


def _words_of(stream: Optional[Tensor], uses: List[int]) -> Tuple[Words, Words, Words]:
    return words(stream, uses[0]), words(stream, uses[1]), words(stream, uses[2])


@fake(convolution)
def _(x, w, stream, tap, product, grad_x, grad_w, gradient, kernel, stride_, padding, dilation, groups, count):
    _gradient(gradient)
    drawn(stream, product, grad_x, grad_w)
    for text in (product, grad_x, grad_w):
        _records.product(text)
    high, wide = _convolution.sizes(x.shape, kernel, stride_, padding, dilation)
    return x.new_empty((groups, x.shape[0] * high * wide, w.shape[-1])), counts(x, count, 3)


def _convolution_setup(ctx, inputs, output):
    x, w, stream, tap, product, grad_x, grad_w, gradient, *geometry, count = inputs
    ctx.texts, ctx.geometry, ctx.tapped = (product, grad_x, grad_w, gradient), geometry, tap is not None
    ctx.save_for_backward(x, w, stream)


@operator('convolution_back(Tensor g, Tensor x, Tensor w, Tensor? stream, str product, str grad_x, str grad_w, '
          'str gradient, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups, '
          'bool of_x, bool of_w, bool count) -> (Tensor, Tensor, Tensor)')
def convolution_back(g: Tensor, x: Tensor, w: Tensor, stream: Optional[Tensor], product: str, grad_x: str, grad_w: str,
                     gradient: str, kernel: List[int], stride_: List[int], padding: List[int], dilation: List[int],
                     groups: int, of_x: bool, of_w: bool, count: bool) -> Tuple[Tensor, Tensor, Tensor]:
    """dX and dW, an empty tensor for one that is not asked for, and the events of both."""
    geometry = _convolution.Geometry(kernel, stride_, padding, dilation, groups)
    events_x, events_w = counts(g, count, 3), counts(g, count, 3)
    dx, dw = g.new_empty(0), g.new_empty(0)
    if of_x:
        dx = _convolution.image(g, w, _records.product(grad_x), list(x.shape), geometry, _words_of(stream, GRAD_A),
                                _some(events_x))
    if of_w:
        dw = _convolution.weights(x, g, _records.product(grad_w), geometry, _words_of(stream, GRAD_B), _some(events_w))
    if gradient == 'zero_outside':
        zero, texts = torch.zeros((), dtype=g.dtype, device=g.device), product.split('|')
        if of_x:
            dx = torch.where(_convolution.inside(x, _records.rounding(texts[0])), dx, zero).contiguous()
        if of_w:
            dw = torch.where(inside(w.transpose(-1, -2), texts[1], -1).transpose(-1, -2), dw, zero).contiguous()
    return dx, dw, torch.cat([events_x, events_w])


@fake(convolution_back)
def _(g, x, w, stream, product, grad_x, grad_w, gradient, kernel, stride_, padding, dilation, groups, of_x, of_w, count):
    events = counts(g, count, 6) if count else g.new_empty(0, dtype=torch.int64)
    return g.new_empty(x.shape if of_x else (0,)), g.new_empty(w.shape if of_w else (0,)), events


def _convolution_backward(ctx, g, _):
    x, w, stream = ctx.saved_tensors
    of_x, of_w = ctx.needs_input_grad[:2]
    dx, dw, events = convolution_back(g.contiguous(), x, w, stream, *ctx.texts, *ctx.geometry, of_x, of_w, ctx.tapped)
    tap = events.to('cpu', torch.float64) if ctx.tapped else None
    return (dx if of_x else None, dw if of_w else None, None, tap) + (None,) * 10


formula(convolution, _convolution_backward, _convolution_setup, of_operands=True)
