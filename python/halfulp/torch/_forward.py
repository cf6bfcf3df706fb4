# SPDX-License-Identifier: MIT
"""The operators' derivatives in forward mode (docs/torch/torch.md section 3).

The rule is the one of the gradients: a rounding counts as the identity, or under "zero_outside" as 0 outside of its
range. So the tangent of a rounding is the tangent, and that of a product D = A B is dA B' + A' dB with A' and B' the
operands as they were rounded. Tangents themselves are rounded nowhere: recipes say nothing of them. Their products add
in float32 in the order of the terms (float64 of float64), so that they have the same bits on every machine.

Rules call operators only, so that they work on whatever stands for a tensor (torch.func).
"""
from typing import Any, List, Optional, Sequence

import torch
from torch import Tensor

from . import _convolution, _records, ops
from ._register import tangents

Tangents = Sequence[Optional[Tensor]]
_PLAIN, _PLAIN64 = 'keep|keep|fp32|keep', 'keep|keep|fp64|keep'


def _masked(t: Optional[Tensor], mask: Tensor) -> Optional[Tensor]:
    return None if t is None else torch.where(mask, t, torch.zeros((), dtype=t.dtype, device=t.device))


def _moved(x: Optional[Tensor], like: Tensor) -> Tensor:
    """A tangent, zeros where there is none."""
    return torch.zeros_like(like) if x is None else x


@tangents(ops.quantize)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    x, _, _, forward, _, dim, gradient, *_ = primals
    return (_masked(moved[0], ops.inside(x, forward, dim)) if gradient == 'zero_outside' else moved[0]), None


@tangents(ops.add_row)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    y, b = primals
    return (ops.add_row(_moved(moved[0], y), _moved(moved[1], b)),)


@tangents(ops.columns)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    return (ops.columns(moved[0]),)


@tangents(ops.patches)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    return (ops.patches(moved[0], *primals[1:]),)


@tangents(ops.unpatch)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    return (ops.unpatch(moved[0], *primals[1:]),)


# ---- products ----

def _wide(x: Optional[Tensor]) -> Optional[Tensor]:
    return x if x is None or x.dtype == torch.float64 else x.to(torch.float32)


def rows_rounded(x: Tensor, text: str, stream: Optional[Tensor], use: int, apart: bool) -> Tensor:
    """Rows as a product rounds them. apart: each matrix of a batch as a tensor of its own, as sums of scaled tensors
    take them; its words come behind those of the matrices before it."""
    if text == 'keep':
        return x
    if not apart or x.dim() == 2:
        flat = ops.quantize(x.flatten(0, -2), stream, None, text, 'keep', -1, 'straight_through', use, -1, False)[0]
        return flat.reshape(x.shape)
    matrices = x.reshape((-1,) + tuple(x.shape[-2:]))
    made: List[Tensor] = []
    for i, one in enumerate(matrices.unbind()):
        words = None if stream is None else stream + torch.tensor([0, i * one.numel()], device='cpu')
        made.append(rows_rounded(one, text, words, use, False))
    return torch.stack(made).reshape(x.shape) if made else x


def _product_rule(a: Tensor, b: Tensor, left: Tensor, right: Tensor, ta: Optional[Tensor],
                  tb: Optional[Tensor]) -> Optional[Tensor]:
    """ta right + left tb, each product rounded to the type of a; left, right: a and b as they were rounded."""
    text = _PLAIN64 if a.dtype == torch.float64 else _PLAIN
    parts = []
    for x, y in ((ta, right), (left, tb)):
        if x is not None and y is not None:
            parts.append(ops.matmul(x, y, None, None, text, '', '', 'straight_through', ops.FORWARD, False)[0])
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return total.to(a.dtype)


def _turned(x: Tensor) -> Tensor:
    return x.transpose(-1, -2)


@tangents(ops.matmul)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    a, b, stream, _, product, _, _, gradient, uses, _ = primals
    text_a, text_b, _, _ = product.split('|')
    ta, tb = moved[:2]
    if gradient == 'zero_outside':
        ta = ta if ta is None else _masked(ta, ops.inside(a, text_a, -1))
        tb = tb if tb is None else _masked(tb, _turned(ops.inside(_turned(b), text_b, -1)))
    apart = _records.product(product).sum.scaled is not None
    left = rows_rounded(_wide(a), text_a, stream, uses[0], apart and b.dim() > 2)
    right = _turned(rows_rounded(_turned(_wide(b)), text_b, stream, uses[1], apart))
    return _product_rule(a, b, left, right, _wide(ta), _wide(tb)), None


def _each_pixel(x: Tensor, shape: Sequence[int], call: Any) -> Tensor:
    """What `call` makes of the rows of pixels, as an image."""
    return _convolution._image(call(_convolution._pixels(x).contiguous()), shape)


@tangents(ops.convolution)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    x, w, stream, _, product, _, _, gradient, *geometry, _ = primals
    text_x, text_w, _, _ = product.split('|')
    tx, tw = moved[:2]
    if gradient == 'zero_outside':
        tx = tx if tx is None else _masked(tx, _each_pixel(x, x.shape, lambda rows: ops.inside(rows, text_x, -1)))
        tw = tw if tw is None else _masked(tw, _turned(ops.inside(_turned(w), text_w, -1)))
    by_windows = _records.product(product).sum.scaled is not None
    image = _wide(x)
    if not by_windows:
        image = _each_pixel(image, x.shape, lambda rows: rows_rounded(rows, text_x, stream, ops.FORWARD[0], False))
    left = ops.patches(image, *geometry)
    if by_windows:
        left = rows_rounded(left, text_x, stream, ops.FORWARD[0], True)
    right = _turned(rows_rounded(_turned(_wide(w)), text_w, stream, ops.FORWARD[1], by_windows))
    tp = None if tx is None else ops.patches(_wide(tx), *geometry)
    return _product_rule(x, w, left, right, tp, _wide(tw)), None


@tangents(ops.transposed)
def _(primals: Sequence[Any], moved: Tangents, results: Any) -> Tangents:
    x, w, stream, _, product, _, _, gradient, shape, *geometry, _ = primals
    text_x, text_w, _, _ = product.split('|')
    tx, tw = moved[:2]
    if gradient == 'zero_outside':
        tx = tx if tx is None else _masked(tx, ops.inside(x, text_x, -1))
        tw = tw if tw is None else _masked(tw, ops.inside(w, text_w, -1))
    apart = _records.product(product).sum.scaled is not None
    left = rows_rounded(_wide(x), text_x, stream, ops.FORWARD[0], apart)
    right = _turned(rows_rounded(_wide(w), text_w, stream, ops.FORWARD[1], apart))
    gifts = _product_rule(x, w, left, right, _wide(tx), None if tw is None else _turned(_wide(tw)))
    return ops.unpatch(gifts, shape, *geometry), None
