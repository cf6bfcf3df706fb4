# SPDX-License-Identifier: MIT
"""The operators that torch knows: torch.ops.halfulp.*, with fake kernels for tracing and formulas for autograd.

Everything else in this package is made of these. Arguments are tensors, numbers and texts, so that torch.compile can
keep them in a graph; functional.py has friendlier calls with the same names.

quantize         z = x rounded; events
quantize_        x = x rounded, in place; events
inside           which elements lie within the range that they are rounded into
encode, decode   codes of a format
scaled_encode, scaled_decode    codes, scales and second-level scale of a scaled tensor
matmul           D = A B, operands and result rounded, under an accumulation model; events
patches, unpatch    the rows that a convolution is a product of, and back
add_row          y + b for every row; b's gradient is a sum of columns with a stated order

`stream` is int64 of 2 numbers on the CPU: key and counter of halfulp's random words (64-bit patterns). `use` is the
child of the stream that a rounding draws from, -1 the stream itself. `tap` is None, or a tensor of float64 zeros
that requires a gradient, a row a part: autograd adds the counts of the backward pass to its gradient (exact below
2^53).
"""
from typing import List, Optional, Tuple

import torch
from torch import Tensor

from .. import _abi as abi
from . import _calls, _convolution, _memory, _product, _records, _rounding
from ._calls import EVENTS, Words

GRADIENTS = ('straight_through', 'zero_outside')
_MASK = (1 << 64) - 1


def words(stream: Tensor, use: int) -> Words:
    """Key and counter from their tensor (on the processor, so that nobody waits)."""
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
    if gradient not in GRADIENTS:
        raise abi.HalfulpValueError('gradient: {!r} is none of {}'.format(gradient, ', '.join(GRADIENTS)))


# ---- roundings ----

@torch.library.custom_op('halfulp::quantize', mutates_args=())
def quantize(x: Tensor, stream: Tensor, tap: Optional[Tensor], forward: str, backward: str, dim: int, gradient: str,
             use: int, back_use: int, count: bool) -> Tuple[Tensor, Tensor]:
    _gradient(gradient)
    _rounding.check(_records.rounding(backward), x)
    z, events = torch.empty_like(x), counts(x, count)
    _rounding.into(z, x, _records.rounding(forward), dim, words(stream, use), _some(events))
    return z, events


@quantize.register_fake
def _(x, stream, tap, forward, backward, dim, gradient, use, back_use, count):
    _gradient(gradient)
    _rounding.check(_records.rounding(forward), x)
    _rounding.check(_records.rounding(backward), x)
    return torch.empty_like(x), counts(x, count)


def _quantize_setup(ctx, inputs, output):
    x, stream, tap, forward, backward, dim, gradient, use, back_use, count = inputs
    ctx.texts = (forward, backward, gradient)
    ctx.numbers = (dim, back_use, tap is not None)
    drawn = _records.rounding(backward).stochastic
    ctx.save_for_backward(x if gradient == 'zero_outside' else None, stream if drawn else None)


def _quantize_backward(ctx, g, _):
    forward, backward, gradient = ctx.texts
    dim, back_use, tapped = ctx.numbers
    x, stream = ctx.saved_tensors
    if stream is None:
        stream = torch.zeros(2, dtype=torch.int64, device='cpu')
    z, events = quantize(g, stream, None, backward, 'keep', dim, 'straight_through', back_use, -1, tapped)
    if x is not None:
        z = torch.where(inside(x, forward, dim), z, torch.zeros((), dtype=z.dtype, device=z.device))
    tap = events.to('cpu', torch.float64).reshape(1, -1) if tapped else None
    return z, None, tap, None, None, None, None, None, None, None


quantize.register_autograd(_quantize_backward, setup_context=_quantize_setup)


@torch.library.custom_op('halfulp::quantize_', mutates_args=('x',))
def quantize_(x: Tensor, stream: Tensor, rounding: str, dim: int, use: int, count: bool) -> Tensor:
    events = counts(x, count)
    _rounding.into(x, x, _records.rounding(rounding), dim, words(stream, use), _some(events))
    return events


@quantize_.register_fake
def _(x, stream, rounding, dim, use, count):
    _rounding.check(_records.rounding(rounding), x)
    return counts(x, count)


@torch.library.custom_op('halfulp::inside', mutates_args=())
def inside(x: Tensor, rounding: str, dim: int) -> Tensor:
    return _rounding.inside(x, _records.rounding(rounding), dim).contiguous()


@inside.register_fake
def _(x, rounding, dim):
    return torch.empty(x.shape, dtype=torch.bool, device=x.device)


# ---- codes ----

def _element(text: str):
    r = _records.rounding(text)
    if r.kind != _records.FORMAT or r.special:
        raise abi.HalfulpValueError('encode: {!r} is no format'.format(text))
    return r


def _code_type(f) -> torch.dtype:
    return _rounding._CODES[_calls.main.hu_format_limits(f).storage // 8]


@torch.library.custom_op('halfulp::encode', mutates_args=())
def encode(x: Tensor, stream: Tensor, rounding: str, use: int, count: bool) -> Tuple[Tensor, Tensor]:
    _rounding.known(x)
    r, source, events = _element(rounding), x.contiguous(), counts(x, count)
    z = torch.empty(x.shape, dtype=_code_type(r.record.format), device=x.device)
    kind = {torch.float32: '32', torch.float64: '64'}.get(x.dtype) or _records.format_of(_rounding.NARROW[x.dtype])
    _calls.engine(x.device).encode(x.numel(), z.data_ptr(), 1, source.data_ptr(), 1, kind, r.record.format, r.mode,
                                   words(stream, use), events.data_ptr() if count else None)
    return z, events


@encode.register_fake
def _(x, stream, rounding, use, count):
    return torch.empty(x.shape, dtype=_code_type(_element(rounding).record.format), device=x.device), counts(x, count)


@torch.library.custom_op('halfulp::decode', mutates_args=())
def decode(codes: Tensor, rounding: str, dtype: torch.dtype) -> Tensor:
    f = _element(rounding).record.format
    if codes.dtype != _code_type(f):
        raise abi.HalfulpTypeError('codes: {} are {}, not {}'.format(rounding, _code_type(f), codes.dtype))
    z = torch.empty(codes.shape, dtype=dtype, device=codes.device)
    _rounding.check(_records.rounding(rounding), z)
    kind = {torch.float32: '32', torch.float64: '64'}.get(dtype) or _records.format_of(_rounding.NARROW[dtype])
    source = codes.contiguous()  # named, so that it lives until the call is done
    _calls.engine(codes.device).decode(codes.numel(), z.data_ptr(), 1, source.data_ptr(), 1, kind, f)
    return z


@decode.register_fake
def _(codes, rounding, dtype):
    return torch.empty(codes.shape, dtype=dtype, device=codes.device)


def _scaled(text: str):
    r = _records.rounding(text)
    if r.kind != _records.SCALED:
        raise abi.HalfulpValueError('scaled: {!r} is no scaled tensor'.format(text))
    return r


def _matrix_shape(x: Tensor, dim: int) -> Tuple[int, int]:
    m, turned = _memory.matrix(x, dim)
    return (m.shape[1], m.shape[0]) if turned else (m.shape[0], m.shape[1])


@torch.library.custom_op('halfulp::scaled_encode', mutates_args=())
def scaled_encode(x: Tensor, stream: Tensor, rounding: str, dim: int, use: int,
                  count: bool) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    r, events = _scaled(rounding), counts(x, count)
    _rounding.check(r, x)
    m, turned = _rounding.blocks(x.to(torch.float32), r, dim)  # as `quantize` sees it, so that words are the same
    made = _rounding.encoded(m, r, r.scaling(turned), words(stream, use), _some(events))
    codes, scales = (y.t().contiguous() if turned else y for y in (made.codes, made.scales))
    t = made.tensor if made.tensor is not None else torch.ones((), dtype=torch.float32, device=x.device)
    return codes, scales, t, events


@scaled_encode.register_fake
def _(x, stream, rounding, dim, use, count):
    r = _scaled(rounding)
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


@torch.library.custom_op('halfulp::scaled_decode', mutates_args=())
def scaled_decode(codes: Tensor, scales: Tensor, tensor: Tensor, rounding: str) -> Tensor:
    scaling = _scaled(rounding).scaling(False)
    _whole(codes, scales, tensor, scaling)
    rows, cols = codes.shape
    made = _rounding.Encoded(codes.contiguous(), scales.contiguous(), tensor.contiguous() if scaling.tensor else None)
    z = torch.empty((rows, cols), dtype=torch.float32, device=codes.device)
    _calls.engine(codes.device).scaled_decode(rows, cols, z.data_ptr(), max(cols, 1), made.record, scaling)
    return z


@scaled_decode.register_fake
def _(codes, scales, tensor, rounding):
    return torch.empty(codes.shape, dtype=torch.float32, device=codes.device)


# ---- products ----

# Children of a product's stream (docs/training.md section 4): of A, B and D of each of the three products.
FORWARD, GRAD_B, GRAD_A = [0, 1, 6], [2, 3, 8], [4, 5, 7]


@torch.library.custom_op('halfulp::matmul', mutates_args=())
def matmul(a: Tensor, b: Tensor, stream: Tensor, tap: Optional[Tensor], product: str, grad_a: str, grad_b: str,
           gradient: str, uses: List[int], count: bool) -> Tuple[Tensor, Tensor]:
    _gradient(gradient)
    events = counts(a, count, 3)
    d = _product.multiply(a, b, _records.product(product), tuple(words(stream, use) for use in uses), _some(events))
    return d, events


@matmul.register_fake
def _(a, b, stream, tap, product, grad_a, grad_b, gradient, uses, count):
    _gradient(gradient)
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


matmul.register_autograd(_matmul_backward, setup_context=_matmul_setup)


# ---- what a layer has beside its product ----

@torch.library.custom_op('halfulp::add_row', mutates_args=())
def add_row(y: Tensor, b: Tensor) -> Tensor:
    return y + b


@add_row.register_fake
def _(y, b):
    return y + b


# Sums of columns as docs/training.md section 2 has them: chunks of 64 rows, then the chunks, each from +0; of
# float64 in order.
COLUMNS, COLUMNS64 = 'keep|keep|chunk(64,binary32,binary32)|keep', 'keep|keep|fp64|keep'


def _add_row_backward(ctx, g):
    rows = g.unsqueeze(0).flatten(0, -2)
    ones = torch.ones((1, rows.shape[0]), dtype=g.dtype, device=g.device)
    text = COLUMNS64 if g.dtype == torch.float64 else COLUMNS
    db, _ = matmul(ones, rows, torch.zeros(2, dtype=torch.int64, device='cpu'), None, text, '', '',
                   'straight_through', FORWARD, False)
    return g, db.reshape(-1)


add_row.register_autograd(_add_row_backward)


@torch.library.custom_op('halfulp::patches', mutates_args=())
def patches(x: Tensor, kernel: List[int], stride: List[int], padding: List[int], dilation: List[int],
            groups: int) -> Tensor:
    return _convolution.patches(x, kernel, stride, padding, dilation, groups)


@patches.register_fake
def _(x, kernel, stride, padding, dilation, groups):
    high, wide = _convolution.sizes(x.shape, kernel, stride, padding, dilation)
    return x.new_empty((groups, x.shape[0] * high * wide, kernel[0] * kernel[1] * (x.shape[1] // groups)))


@torch.library.custom_op('halfulp::unpatch', mutates_args=())
def unpatch(p: Tensor, shape: List[int], kernel: List[int], stride: List[int], padding: List[int], dilation: List[int],
            groups: int) -> Tensor:
    return _convolution.unpatch(p, shape, kernel, stride, padding, dilation, groups)


@unpatch.register_fake
def _(p, shape, kernel, stride, padding, dilation, groups):
    return p.new_empty(shape)


def _patches_setup(ctx, inputs, output):
    x, kernel, stride, padding, dilation, groups = inputs
    ctx.shape, ctx.rest = list(x.shape), (kernel, stride, padding, dilation, groups)


def _patches_backward(ctx, g):
    return unpatch(g, ctx.shape, *ctx.rest), None, None, None, None, None


patches.register_autograd(_patches_backward, setup_context=_patches_setup)
