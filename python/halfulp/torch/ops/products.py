# SPDX-License-Identifier: MIT
"""Products of matrices, and the bias that a layer adds."""
from typing import List, Optional, Tuple

import torch
from torch import Tensor

from .. import _product, _records, _small, _watch
from .._calls import EVENTS
from .._register import fake, formula, operator
from ._shared import counts, drawn, gradient_rule, some, words
from .rounding import inside

# Children of a product's stream (docs/training/training.md section 4): of A, B and D of each of the three products.
FORWARD, GRAD_B, GRAD_A = [0, 1, 6], [2, 3, 8], [4, 5, 7]


@operator('matmul(Tensor a, Tensor b, Tensor? stream, Tensor? tap, str product, str grad_a, str grad_b, '
          'str gradient, SymInt[] uses, bool count) -> (Tensor, Tensor)', gradient=True)
def matmul(a: Tensor, b: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], product: str, grad_a: str,
           grad_b: str, gradient: str, uses: List[int], count: bool) -> Tuple[Tensor, Tensor]:
    gradient_rule(gradient)
    drawn(stream, product, grad_a, grad_b)
    events = counts(a, count, 3)
    d = None if count else _small.multiply(a, b, product)
    if d is not None:
        return d, events
    d = _product.multiply(a, b, _records.product(product), tuple(words(stream, use) for use in uses), some(events))
    return d, events


@fake(matmul)
def _(a, b, stream, tap, product, grad_a, grad_b, gradient, uses, count):
    gradient_rule(gradient)
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
    grad_a, grad_b = ctx.texts[1:3]
    if not (grad_a and grad_b):
        raise NotImplementedError('halfulp::matmul: the gradient of a gradient has no formula')
    a, b, stream = ctx.saved_tensors
    da, db, tap = _gradients(ctx, g, a, b, stream)
    return da, db, None, tap, None, None, None, None, None, None


def _gradients(ctx, g: Tensor, a: Tensor, b: Tensor, stream: Optional[Tensor]) -> Tuple[Optional[Tensor], ...]:
    """Those of A and of B that autograd asks for, and the counts of both products for the tap."""
    product, grad_a, grad_b, gradient = ctx.texts
    events_a = events_b = torch.zeros((3, len(EVENTS)), dtype=torch.int64, device=g.device) if ctx.tapped else None
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
    return da, db, tap


formula(matmul, _matmul_backward, _matmul_setup, of_operands=True)


class _Linear(torch.autograd.Function):
    """X W^T + b as one node of autograd, whose gradients are those of `matmul` and `add_row`."""

    @staticmethod
    def forward(ctx, x, weight, bias, texts):
        y = _small.linear(x, weight, bias, texts[0])
        if y is None:
            raise _General
        ctx.texts, ctx.tapped = texts, False
        ctx.save_for_backward(x, weight)
        return y

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        dx, dw, _ = _gradients(ctx, g, x, weight.t(), None)
        return dx, None if dw is None else dw.t(), columns(g) if ctx.needs_input_grad[2] else None, None


class _General(Exception):
    """A call that the general way must make."""


def linear(x: Tensor, weight: Tensor, bias: Optional[Tensor], texts: Tuple[str, str, str],
           gradient: str) -> Optional[Tensor]:
    """X W^T + b without random words and counts, by the library's calls alone; None where operators must make it."""
    if _watch.watched((x, weight, bias)) or _watch.autocast() or not _small.known(texts[0]):
        return None
    if not (torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad
                                         or bias is not None and bias.requires_grad)):
        return _small.linear(x, weight, bias, texts[0])
    try:
        return _Linear.apply(x, weight, bias, (*texts, gradient))
    except _General:
        return None


# ---- what a layer has beside its product ----

@operator('add_row(Tensor y, Tensor b) -> Tensor', gradient=True)
def add_row(y: Tensor, b: Tensor) -> Tensor:
    return y + b


@fake(add_row)
def _(y, b):
    return y + b


# Sums of columns as docs/training/training.md section 2 has them: chunks of 64 rows, then the chunks, each from +0; of
# float64 in order. `fp32` adds a chunk's numbers so, as products with ones, and then the sums of the chunks: the same as
# the model chunk(64,binary32,binary32), which the library computes sum by sum.
_CHUNK, _COLUMNS, _COLUMNS64 = 64, 'keep|keep|fp32|keep', 'keep|keep|fp64|keep'


def _sums(rows: Tensor, text: str, dtype: torch.dtype) -> Tensor:
    """The sum of each column, as a row."""
    no, ones = words(None, -1), torch.ones((1, rows.shape[0]), dtype=rows.dtype, device=rows.device)
    return _product.multiply(ones, rows, _records.product(text), (no, no, no), None, dtype=dtype)


@operator('columns(Tensor g) -> Tensor', gradient=True)
def columns(g: Tensor) -> Tensor:
    rows = g.unsqueeze(0).flatten(0, -2)
    count, width = rows.shape
    if g.dtype == torch.float64 or count <= _CHUNK:
        return _sums(rows, _COLUMNS64 if g.dtype == torch.float64 else _COLUMNS, g.dtype).reshape(-1)
    whole = count // _CHUNK
    # Row i of all chunks side by side, so that one product adds all chunks.
    beside = rows[:whole * _CHUNK].view(whole, _CHUNK, width).transpose(0, 1).reshape(_CHUNK, whole * width)
    chunks = _sums(beside, _COLUMNS, torch.float32).view(whole, width)
    if count % _CHUNK:
        chunks = torch.cat([chunks, _sums(rows[whole * _CHUNK:], _COLUMNS, torch.float32)])
    return _sums(chunks, _COLUMNS, g.dtype).reshape(-1)


@fake(columns)
def _(g):
    return g.new_empty(g.shape[-1:])


def _columns_setup(ctx, inputs, output):
    ctx.shape = inputs[0].shape


def _columns_backward(ctx, h):
    return h.expand(ctx.shape).contiguous()


formula(columns, _columns_backward, _columns_setup)


def _add_row_backward(ctx, g):
    return g, columns(g)


formula(add_row, _add_row_backward)
