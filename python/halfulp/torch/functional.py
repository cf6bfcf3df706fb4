# SPDX-License-Identifier: MIT
"""Calls on tensors. All of them work under autograd and torch.compile, on the CPU and on CUDA devices.

Roundings are texts (`Recipe` says which), or names of presets; a halfulp.Format or Scaling, or a type of torch
(torch.float8_e4m3fn), may stand for its text. A call whose roundings or sums are stochastic, of its backward pass too,
takes random words and needs `stream`:

    a key, (key, counter), or ht.stream(key, counter)
             the words of that stream: the same ones at every call with it, so take another key or counter for the next
    "torch"  a key and a counter that torch's generator of the CPU draws: other words at every call, the same ones after
             torch.manual_seed and in the second run of torch.utils.checkpoint
    a torch.Generator of the CPU, a numpy.random.Generator
             the same from a generator of your own

Element i of the call, in row-major order, takes word i, whatever the memory layout, the number of threads or the
device. (Of scaled tensors whose `dim` is neither the first nor the last dimension: in row-major order of
x.movedim(dim, -1). Encoding takes the words that quantizing takes.)
"""
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from .. import _abi as abi
from . import _small, ops
from ._calls import EVENTS
from ._records import text_of
from ._streams import StreamLike, draws, missing, pair, stream, taken
from .products import Low, Stays, matrices
from .recipe import Recipe, RecipeLike

if TYPE_CHECKING:
    from .recipe import RoundingLike

__all__ = ['EVENTS', 'ScaledTensor', 'conv2d', 'decode', 'encode', 'inside', 'linear', 'matmul', 'quantize',
           'quantize_', 'quantize_with_events', 's2fp8', 'scaled_decode', 'scaled_encode', 'stream']


def quantize(x: Tensor, rounding: 'RoundingLike' = 'keep', *, backward: 'RoundingLike' = 'keep', dim: int = -1,
             gradient: str = 'straight_through',
             stream: Optional[StreamLike] = None, backward_stream: Optional[StreamLike] = None,
             axis: Optional[int] = None, out: Optional[Tensor] = None) -> Tensor:
    """x rounded; its gradient rounded by `backward`.

    Parameters
    ----------
    x : Tensor
        float32, float64, float16 or bfloat16, any shape and strides. The result has x's type and layout. Integers and
        booleans are rounded once, too; the result is float64, or float32 where the rounding is defined on it.
    rounding, backward : str, torch.dtype, halfulp.Format, ...
        Of the values and of their gradients: a format with a mode ("float8_e4m3fn,rtz"), a scaled tensor ("mxfp4",
        "nvfp4", "scaled(...)"), "s2fp8", another number system ("posit8", "q(3.4)"), "keep"; a preset
        ("torch.float8_e4m3fn", the bits of x.to(torch.float8_e4m3fn).to(x.dtype)).
    dim : int
        The dimension along which blocks of a scaled tensor lie: the one that a product sums over. In weights of a
        convolution, (out, in, rows, columns), dim=1 is the channels; the last one would be the kernel's width.
    axis : int, optional
        Another word for `dim`, as halfulp.quantize and NumPy call it.
    gradient : str
        "straight_through" or "zero_outside": see `Recipe`.
    stream, backward_stream : "torch", torch.Generator, int, (key, counter) or Tensor, optional
        Random words of stochastic modes; of the gradient: child 1 of `stream` without it.
    out : Tensor, optional
        Where the result is written, and what is returned: of x's shape, type and device; x itself (or a view of all of its
        numbers), or memory that x does not lie in. There is no gradient then, so `backward` and `gradient` stay as they
        are, and neither tensor may require one.
    """
    forward, back = text_of(rounding), text_of(backward)
    dim = _along(dim, axis)
    if out is not None:
        if back != 'keep' or gradient != 'straight_through' or backward_stream is not None:
            raise abi.HalfulpValueError('out: what is written into a given tensor has no gradient; leave backward=, '
                                        'backward_stream= and gradient= away')
        return _into(out, x, forward, dim, stream)
    ops.gradient_rule(gradient)
    given = pair(stream)
    if (stream is None or given is not None) and backward_stream is None and back == 'keep' and gradient == 'straight_through':
        small = _small.quantize(x, forward, dim, given)
        if small is not None:
            return small
    x = floating(x, forward)
    if backward_stream is None:
        words = taken(stream, draws(forward) or draws(back))
        return ops.quantize(x, words, None, forward, back, dim, gradient, -1, 1, False)[0]
    if forward != 'keep':
        x = ops.quantize(x, taken(stream, draws(forward)), None, forward, 'keep', dim, gradient, -1, -1, False)[0]
    return ops.quantize(x, taken(backward_stream, draws(back)), None, 'keep', back, dim, 'straight_through', -1,
                        -1, False)[0]


def _into(out: Any, x: Any, text: str, dim: int, given: Optional[StreamLike]) -> Tensor:
    """quantize(out=)."""
    for name, one in (('x', _tensor('x', x)), ('out', _tensor('out', out))):
        if one.requires_grad and torch.is_grad_enabled():
            raise abi.HalfulpValueError('{}: it requires a gradient, which a result in a given tensor has not; leave out= '
                                        'away, or take {}.detach() or torch.no_grad()'.format(name, name))
    if x.dtype != out.dtype or x.device != out.device or x.shape != out.shape:
        raise abi.HalfulpTypeError('out: {} of shape {} on {}, but x is {} of shape {} on {}'.format(
            out.dtype, tuple(out.shape), out.device, x.dtype, tuple(x.shape), x.device))
    words = taken(given, draws(text))
    ops.quantize_into(out, x, words, text, dim)
    return out


def _tensor(argument: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise abi.HalfulpTypeError('{}: a tensor is required, not {}; torch.tensor makes one'.format(argument,
                                                                                                   type(x).__name__))
    return x


def _whole(argument: str, thing: Any) -> int:
    if not isinstance(thing, int) or isinstance(thing, bool):
        raise abi.HalfulpTypeError('{}: a whole number is required, not {}'.format(argument, type(thing).__name__))
    if not -(1 << 31) <= thing < 1 << 31:
        raise abi.HalfulpValueError('{}: {} is out of range'.format(argument, thing))
    return thing


def _along(dim: Any, axis: Any) -> int:
    """The dimension of blocks, by either of its words."""
    if axis is None:
        return _whole('dim', dim)
    if dim != -1:
        raise abi.HalfulpTypeError('axis: it is another word for dim; give one of them')
    return _whole('axis', axis)


def _bias(bias: Any, outputs: int) -> Tensor:
    if tuple(_tensor('bias', bias).shape) != (outputs,):
        raise abi.HalfulpValueError('bias: shape {} instead of {}'.format(tuple(bias.shape), (outputs,)))
    return bias


def floating(x: Tensor, text: str) -> Tensor:
    """The tensor, with integers and booleans as numbers that the rounding takes."""
    _tensor('x', x)
    return x if x.is_floating_point() or x.is_complex() else ops.of_integers(x, text)


def quantize_with_events(x: Tensor, rounding: 'RoundingLike' = 'keep', *, dim: int = -1,
                         stream: Optional[StreamLike] = None) -> Tuple[Tensor, Tensor]:
    """x rounded, and int64 counts of what happened, in the order of `EVENTS` (docs/numerics.md section 5)."""
    text = text_of(rounding)
    return ops.quantize(floating(x, text), taken(stream, draws(text)), None, text, 'keep', _whole('dim', dim),
                        'straight_through', -1, -1, True)


def quantize_(x: Tensor, rounding: 'RoundingLike' = 'keep', *, dim: int = -1,
              stream: Optional[StreamLike] = None) -> Tensor:
    """x rounded in its own memory; x. Not for tensors that require a gradient."""
    if _tensor('x', x).requires_grad and torch.is_grad_enabled():
        raise abi.HalfulpValueError('x: it requires a gradient, which rounding in place would miss; use quantize, or '
                                    'x.detach() or torch.no_grad()')
    text = text_of(rounding)
    ops.quantize_(x, taken(stream, draws(text)), text, _whole('dim', dim), -1, False)
    return x


def s2fp8(x: Tensor, mode: str = 'rne', *, backward: 'RoundingLike' = 'keep',
          stream: Optional[StreamLike] = None) -> Tensor:
    """x shifted and squeezed: the truncation of Cambier et al. (ICLR 2020; docs/s2fp8.md)."""
    if not isinstance(mode, str):
        raise abi.HalfulpTypeError('mode: give a text, not {}'.format(type(mode).__name__))
    return quantize(x, 's2fp8,' + mode, backward=backward, stream=stream)


def inside(x: Tensor, rounding: 'RoundingLike', *, dim: int = -1) -> Tensor:
    """bool: which elements lie within the range that `rounding` rounds them into, the ends included. What
    "zero_outside" lets through."""
    text = text_of(rounding)
    return ops.inside(floating(x, text), text, _whole('dim', dim))


_UNSIGNED = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32}


def _of_codes(dtype: torch.dtype) -> torch.dtype:
    """A type of torch whose elements are codes, one each."""
    if dtype is getattr(torch, 'float4_e2m1fn_x2', None):
        raise abi.HalfulpTypeError("format: torch.float4_e2m1fn_x2 holds two codes per byte; decode takes it with "
                                   "packed=True, and encode 'float4_e2m1fn', whose codes halfulp.pack packs")
    return dtype


def encode(x: Tensor, format: 'RoundingLike', *, stream: Optional[StreamLike] = None) -> Tensor:
    """Codes of a format, of x's shape: uint8, uint16 or uint32; of that type where `format` is a type of torch.

    The rounding is halfulp's, with the format's default saturation (docs/numerics.md section 3); the presets
    "torch.float8_e4m3fn" ... are torch's own conversions."""
    text = text_of(format)
    kind = _of_codes(format) if isinstance(format, torch.dtype) else None
    codes = ops.encode(floating(x, text), taken(stream, draws(text)), text, -1, False)[0]
    return codes if kind is None else codes.view(kind)


def decode(codes: Tensor, format: 'Optional[RoundingLike]' = None, dtype: torch.dtype = torch.float32, *,
           packed: bool = False) -> Tensor:
    """The values of codes, exact. `format` may be left out where the type of the tensor says it (torch.float8_e4m3fn,
    torch.bfloat16, ...).

    A code with bits above its format's width raises HalfulpValueError (HU_E_CODE). packed: codes are bytes as
    halfulp.pack packs them, each row (the last dimension) by itself; torch.float4_e2m1fn_x2 has two a byte."""
    if not isinstance(dtype, torch.dtype):
        raise abi.HalfulpTypeError('dtype: a type of torch is required, not {!r}'.format(dtype))
    if abi.flag('packed', packed):
        text = text_of(_tensor('codes', codes).dtype if format is None else format)
        return ops.decode(ops.unpack(codes, text), text, dtype)
    if _tensor('codes', codes).dtype.is_floating_point:
        own = text_of(_of_codes(codes.dtype))
        if format is not None and not ops.same_format(own, text_of(format)):
            raise abi.HalfulpTypeError('codes: a tensor of {} holds no codes of {}'.format(codes.dtype,
                                                                                          text_of(format)))
        codes, format = codes.view(_UNSIGNED[codes.element_size()]), own
    elif format is None:
        raise abi.HalfulpTypeError('codes: a tensor of {} says no format; name it'.format(codes.dtype))
    return ops.decode(codes, text_of(format), dtype)


class ScaledTensor(NamedTuple):
    """A tensor of small codes with shared scales (halfulp/scaled.h).

    codes : rows x cols; scales : one code per block; tensor : the second-level scale, float32 of shape (), 1 where
    there is none.
    """

    codes: Tensor
    scales: Tensor
    tensor: Tensor


def scaled_encode(x: Tensor, scaling: 'RoundingLike', *, dim: int = -1, stream: Optional[StreamLike] = None) -> ScaledTensor:
    """x, seen as a matrix whose rows lie along `dim`, as codes, scales of blocks and second-level scale."""
    text = text_of(scaling)
    made = ops.scaled_encode(floating(x, text), taken(stream, draws(text)), text, _whole('dim', dim), -1, False)
    return ScaledTensor(*made[:3])


def scaled_decode(x: ScaledTensor, scaling: 'RoundingLike', *, packed: bool = False) -> Tensor:
    """The values: float32, rows x cols. packed: as `decode`; each row of codes begins with a byte."""
    text = text_of(scaling)
    codes, scales, tensor = (_tensor(name, getattr(x, name, None)) for name in ScaledTensor._fields)
    return ops.scaled_decode(ops.unpack(codes, text) if abi.flag('packed', packed) else codes, scales, tensor, text)


def _words(recipe: Recipe, given: Optional[StreamLike]) -> Optional[Tensor]:
    if given is None and recipe.stochastic:
        raise missing(recipe)
    return taken(given, recipe.stochastic)


def _low(recipe: Recipe, given: Optional[StreamLike]) -> Low:
    words = _words(recipe, given)
    return Low(recipe, lambda: words)


def matmul(a: Tensor, b: Tensor, recipe: Optional[RecipeLike] = None, *,
           stream: Optional[StreamLike] = None) -> Tensor:
    """A B under a recipe: `x` rounds A and `w` rounds B^T, rows along the axis that is summed over; dx and dw are
    the gradients of A and B.

    a is (..., m, k), b is (k, n) or (..., k, n), batches broadcast; a vector is a matrix of one row or column, as in
    torch.matmul. float32, float16 or bfloat16, both the same (torch.autocast gives them its type). The
    sum of element (i, j) takes k in order; nothing but the recipe's model decides its roundings.
    """
    recipe = Recipe.of(recipe)
    _tensor('a', a), _tensor('b', b)
    if a.dim() == 1 or b.dim() == 1:
        try:
            return matrices.matmul(_low(recipe, stream), a, b)
        except Stays as reason:
            raise abi.HalfulpValueError('matmul: shapes {} and {}: {}'.format(tuple(a.shape), tuple(b.shape), reason)
                                        ) from None
    return _low(recipe, stream).product(a, b)


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, recipe: Optional[RecipeLike] = None, *,
           stream: Optional[StreamLike] = None) -> Tensor:
    """X W^T under a recipe, then + bias. x is (..., in), weight (out, in), bias (out).

    The bias is added to the rounded result, one operation of the tensors' type; its gradient is a sum of columns in
    chunks of 64 rows (docs/training/training.md section 2), so that it has the same bits on every machine.
    """
    if _tensor('weight', weight).dim() != 2 or _tensor('x', x).dim() < 1:
        raise abi.HalfulpValueError('linear: shapes {} and {} do not go together'.format(tuple(x.shape),
                                                                                         tuple(weight.shape)))
    return _low(Recipe.of(recipe), stream).linear(x, weight, None if bias is None else _bias(bias, weight.shape[0]))


def _pair(argument: str, n: Union[int, Sequence[int]], least: int) -> List[int]:
    both = [n, n] if isinstance(n, int) else list(n) if isinstance(n, (tuple, list)) else []
    if isinstance(n, (str, Recipe)):
        raise abi.HalfulpTypeError('{}: a number or two are required; the recipe stands behind groups, where '
                                   'torch.nn.functional.conv2d ends: recipe={!r}'.format(argument, n))
    if len(both) != 2:
        raise abi.HalfulpTypeError('{}: a number or two are required, not {!r}'.format(argument, n))
    if any(_whole(argument, one) < least for one in both):
        raise abi.HalfulpValueError('{}: {} is below {}'.format(argument, n, least))
    return both


def conv2d(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, stride=1, padding=0, dilation=1, groups: int = 1,
           recipe: Optional[RecipeLike] = None, *, stream: Optional[StreamLike] = None) -> Tensor:
    """A convolution as the product of patches and weights (docs/training/training.md section 3): x is (n, in, h, w), weight
    (out, in / groups, kh, kw). A sum takes the kernel's rows, its columns, the channels, in this order; zeros around
    the image are among its products. `x` of the recipe rounds the image, each pixel once, blocks along channels. The
    gradient of x adds what the patches give to a pixel in float32, in the order of the windows, and then `dx` rounds
    it. Recipe(convolution='windows') rounds the patches, and what they give, instead."""
    recipe = Recipe.of(recipe)
    sides = _pair('stride', stride, 1), _pair('padding', padding, 0), _pair('dilation', dilation, 1)
    _images(x, weight, groups)
    return _low(recipe, stream).convolution(x, weight, None if bias is None else _bias(bias, weight.shape[0]), *sides,
                                            groups)


def _images(x: Any, weight: Any, groups: Any) -> None:
    if _tensor('weight', weight).dim() != 4 or _whole('groups', groups) < 1:
        raise abi.HalfulpValueError('conv2d: a weight of shape {} with {} groups'.format(tuple(weight.shape), groups))
    if _tensor('x', x).dim() != 4 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise abi.HalfulpValueError('conv2d: shapes {} and {} with {} groups do not go together'.format(
            tuple(x.shape), tuple(weight.shape), groups))
