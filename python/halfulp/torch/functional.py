# SPDX-License-Identifier: MIT
"""Calls on tensors. All of them work under autograd and torch.compile, on the CPU and on CUDA devices.

Roundings are texts (`Recipe` says which); a halfulp.Format or halfulp.Scaling may stand for its text. Random words of
stochastic modes are those of the stream (key, counter): element i of the call, in row-major order, takes word i,
whatever the memory layout, the number of threads or the device. (Of scaled tensors whose `dim` is neither the first
nor the last dimension: in row-major order of x.movedim(dim, -1). Encoding takes the words that quantizing takes.) A
call never moves a stream: take another counter or key for the next.
"""
from typing import NamedTuple, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from .. import _abi as abi
from . import _convolution, ops
from ._calls import EVENTS
from .recipe import Recipe

__all__ = ['EVENTS', 'ScaledTensor', 'conv2d', 'decode', 'encode', 'inside', 'linear', 'matmul', 'quantize',
           'quantize_', 'quantize_with_events', 's2fp8', 'scaled_decode', 'scaled_encode', 'stream']
StreamLike = Union[Tensor, Tuple[int, int], int]


def _signed(x: int) -> int:
    if not 0 <= x < 1 << 64:
        raise abi.HalfulpValueError('stream: key and counter are integers of 64 bits, not {}'.format(x))
    return x - (1 << 64) if x >> 63 else x


def stream(key: int, counter: int = 0) -> Tensor:
    """A stream of random words as a tensor: int64 of 2 numbers, the 64-bit patterns of key and counter, on the CPU."""
    return torch.tensor([_signed(key), _signed(counter)], dtype=torch.int64, device='cpu')


def _stream(given: StreamLike) -> Tensor:
    if isinstance(given, Tensor):
        return given
    return stream(*given) if isinstance(given, tuple) else stream(given)


def _text(rounding) -> str:
    return rounding if isinstance(rounding, str) else getattr(rounding, 'text', None) or str(rounding)


def quantize(x: Tensor, rounding='keep', *, backward='keep', dim: int = -1, gradient: str = 'straight_through',
             stream: StreamLike = 0, backward_stream: Optional[StreamLike] = None) -> Tensor:
    """x rounded; its gradient rounded by `backward`.

    Parameters
    ----------
    x : Tensor
        float32, float64, float16 or bfloat16, any shape and strides. The result has x's type and layout.
    rounding, backward : str
        Of the values and of their gradients: a format with a mode ("float8_e4m3fn,rtz"), a scaled tensor ("mxfp4",
        "nvfp4", "scaled(...)"), "s2fp8", another number system ("posit8", "q(3.4)"), "keep".
    dim : int
        The dimension along which blocks of a scaled tensor lie.
    gradient : str
        "straight_through" or "zero_outside": see `Recipe`.
    stream, backward_stream : int, (key, counter) or Tensor
        Random words; of the gradient: child 1 of `stream` without it.
    """
    own = _stream(stream)
    if backward_stream is not None:
        if _text(rounding) != 'keep':
            x = ops.quantize(x, own, None, _text(rounding), 'keep', dim, gradient, -1, -1, False)[0]
        return ops.quantize(x, _stream(backward_stream), None, 'keep', _text(backward), dim, 'straight_through',
                            -1, -1, False)[0]
    return ops.quantize(x, own, None, _text(rounding), _text(backward), dim, gradient, -1, 1, False)[0]


def quantize_with_events(x: Tensor, rounding='keep', *, dim: int = -1, stream: StreamLike = 0) -> Tuple[Tensor, Tensor]:
    """x rounded, and int64 counts of what happened, in the order of `EVENTS` (docs/numerics.md section 5)."""
    return ops.quantize(x, _stream(stream), None, _text(rounding), 'keep', dim, 'straight_through', -1, -1, True)


def quantize_(x: Tensor, rounding='keep', *, dim: int = -1, stream: StreamLike = 0) -> Tensor:
    """x rounded in its own memory; x. Not for tensors that require a gradient."""
    ops.quantize_(x, _stream(stream), _text(rounding), dim, -1, False)
    return x


def s2fp8(x: Tensor, mode: str = 'rne', *, backward='keep', stream: StreamLike = 0) -> Tensor:
    """x shifted and squeezed: the truncation of Cambier et al. (ICLR 2020; docs/s2fp8.md)."""
    return quantize(x, 's2fp8,' + mode, backward=backward, stream=stream)


def inside(x: Tensor, rounding, *, dim: int = -1) -> Tensor:
    """bool: which elements lie within the range that `rounding` rounds them into, the ends included. What
    "zero_outside" lets through."""
    return ops.inside(x, _text(rounding), dim)


def encode(x: Tensor, format, *, stream: StreamLike = 0) -> Tensor:
    """Codes of a format: uint8, uint16 or uint32 of x's shape."""
    return ops.encode(x, _stream(stream), _text(format), -1, False)[0]


def decode(codes: Tensor, format, dtype: torch.dtype = torch.float32) -> Tensor:
    """The values of codes, exact."""
    return ops.decode(codes, _text(format), dtype)


class ScaledTensor(NamedTuple):
    """A tensor of small codes with shared scales (halfulp/scaled.h).

    codes : rows x cols; scales : one code a block; tensor : the second-level scale, float32 of shape (), 1 where
    there is none.
    """

    codes: Tensor
    scales: Tensor
    tensor: Tensor


def scaled_encode(x: Tensor, scaling, *, dim: int = -1, stream: StreamLike = 0) -> ScaledTensor:
    """x, seen as a matrix whose rows lie along `dim`, as codes, scales of blocks and second-level scale."""
    return ScaledTensor(*ops.scaled_encode(x, _stream(stream), _text(scaling), dim, -1, False)[:3])


def scaled_decode(x: ScaledTensor, scaling) -> Tensor:
    """The values: float32, rows x cols."""
    return ops.scaled_decode(x.codes, x.scales, x.tensor, _text(scaling))


def matmul(a: Tensor, b: Tensor, recipe: Optional[Recipe] = None, *, stream: StreamLike = 0) -> Tensor:
    """A B under a recipe: `x` rounds A and `w` rounds B^T, rows along the axis that is summed over; dx and dw are
    the gradients of A and B.

    a is (..., m, k), b is (k, n) or (..., k, n), batches broadcast; float32, float16 or bfloat16, both the same. The
    sum of element (i, j) takes k in order; nothing but the recipe's model decides its roundings.
    """
    recipe = recipe or Recipe()
    if b.dim() > 2:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    product, grad_a, grad_b = recipe.texts()
    return ops.matmul(a, b, _stream(stream), None, product, grad_a, grad_b, recipe.gradient, ops.FORWARD, False)[0]


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, recipe: Optional[Recipe] = None, *,
           stream: StreamLike = 0) -> Tensor:
    """X W^T under a recipe, then + bias. x is (..., in), weight (out, in), bias (out).

    The bias is added to the rounded result, one operation of the tensors' type; its gradient is a sum of columns in
    chunks of 64 rows (docs/training.md section 2), so that it has the same bits on every machine.
    """
    shape = x.shape[:-1] + (weight.shape[0],)
    y = matmul(x.unsqueeze(0).flatten(0, -2), weight.t(), recipe, stream=stream)
    return (y if bias is None else ops.add_row(y, bias)).reshape(shape)


def _pair(n: Union[int, Sequence[int]]) -> list:
    return [n, n] if isinstance(n, int) else list(n)


def conv2d(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride=1, padding=0, dilation=1, groups: int = 1,
           recipe: Optional[Recipe] = None, *, count: bool = False, stream: StreamLike = 0) -> Tensor:
    """A convolution as the product of patches and weights (docs/training.md section 3): x is (n, in, h, w), weight
    (out, in / groups, kh, kw). A sum takes the kernel's rows, its columns, the channels, in this order; zeros around
    the image are among its products. `x` of the recipe rounds the patches. The gradient of x adds what the patches
    give to a pixel in float32, in the order of the windows."""
    return convolve(x, weight, bias, _pair(stride), _pair(padding), _pair(dilation), groups, recipe or Recipe(),
                    _stream(stream), None, count)[0]


def convolve(x, weight, bias, stride, padding, dilation, groups, recipe, words, tap, count) -> Tuple[Tensor, Tensor]:
    """conv2d and its events."""
    out, channels, kh, kw = weight.shape
    if x.dim() != 4 or x.shape[1] != channels * groups or out % groups:
        raise abi.HalfulpValueError('conv2d: shapes {} and {} with {} groups do not go together'.format(
            tuple(x.shape), tuple(weight.shape), groups))
    high, wide = _convolution.sizes(x.shape, (kh, kw), stride, padding, dilation)
    p = ops.patches(x, [kh, kw], stride, padding, dilation, groups)
    w = weight.permute(0, 2, 3, 1).reshape(groups, out // groups, kh * kw * channels).transpose(1, 2)
    texts = recipe.texts()
    z, events = ops.matmul(p, w, words, tap, *texts, recipe.gradient, ops.FORWARD, count)
    z = z.permute(1, 0, 2).flatten(1)
    z = z if bias is None else ops.add_row(z, bias)
    return z.reshape(x.shape[0], high, wide, out).permute(0, 3, 1, 2).contiguous(), events
