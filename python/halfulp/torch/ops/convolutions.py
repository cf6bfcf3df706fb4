# SPDX-License-Identifier: MIT
"""Convolutions, and the patches that they are products of."""
import math
from typing import List, Optional, Tuple

import torch
from torch import Tensor

from .. import _convolution, _records
from .._calls import Words
from .._register import fake, formula, operator
from ._shared import counts, drawn, gradient_rule, some, words
from .products import FORWARD, GRAD_A, GRAD_B
from .rounding import inside


@operator('patches(Tensor x, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups) '
          '-> Tensor', gradient=True)
def patches(x: Tensor, kernel: List[int], stride: List[int], padding: List[int], dilation: List[int],
            groups: int) -> Tensor:
    return _convolution.patches(x, kernel, stride, padding, dilation, groups)


@fake(patches)
def _(x, kernel, stride, padding, dilation, groups):
    windows = _convolution.sizes(x.shape, kernel, stride, padding, dilation)
    return x.new_empty((groups, x.shape[0] * math.prod(windows), math.prod(kernel) * (x.shape[1] // groups)))


@operator('unpatch(Tensor p, SymInt[] shape, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, '
          'SymInt groups) -> Tensor', gradient=True)
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


def _unpatch_setup(ctx, inputs, output):
    ctx.rest = inputs[2:]


def _unpatch_backward(ctx, g):
    return (patches(g.contiguous(), *ctx.rest),) + (None,) * 6


formula(unpatch, _unpatch_backward, _unpatch_setup)


@operator('convolution(Tensor x, Tensor w, Tensor? stream, Tensor? tap, str product, str grad_x, str grad_w, '
          'str gradient, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups, '
          'bool count) -> (Tensor, Tensor)', gradient=True)
def convolution(x: Tensor, w: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], product: str, grad_x: str,
                grad_w: str, gradient: str, kernel: List[int], stride_: List[int], padding: List[int],
                dilation: List[int], groups: int, count: bool) -> Tuple[Tensor, Tensor]:
    """w: groups, numbers of a patch, outputs of a group; the result: groups, windows, outputs of a group."""
    gradient_rule(gradient)
    drawn(stream, product, grad_x, grad_w)
    events = counts(x, count, 3)
    geometry = _convolution.Geometry(kernel, stride_, padding, dilation, groups)
    z = _convolution.product(x, w, _records.product(product), geometry, _words_of(stream, FORWARD), some(events))
    return z, events


def _words_of(stream: Optional[Tensor], uses: List[int]) -> Tuple[Words, Words, Words]:
    return words(stream, uses[0]), words(stream, uses[1]), words(stream, uses[2])


@fake(convolution)
def _(x, w, stream, tap, product, grad_x, grad_w, gradient, kernel, stride_, padding, dilation, groups, count):
    gradient_rule(gradient)
    drawn(stream, product, grad_x, grad_w)
    for text in (product, grad_x, grad_w):
        _records.product(text)
    windows = _convolution.sizes(x.shape, kernel, stride_, padding, dilation)
    return x.new_empty((groups, x.shape[0] * math.prod(windows), w.shape[-1])), counts(x, count, 3)


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
                                some(events_x))
    if of_w:
        dw = _convolution.weights(x, g, _records.product(grad_w), geometry, _words_of(stream, GRAD_B), some(events_w))
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


# ---- transposed ----

@operator('transposed(Tensor x, Tensor w, Tensor? stream, Tensor? tap, str product, str grad_x, str grad_w, '
          'str gradient, SymInt[] shape, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, '
          'SymInt groups, bool count) -> (Tensor, Tensor)', gradient=True)
def transposed(x: Tensor, w: Tensor, stream: Optional[Tensor], tap: Optional[Tensor], product: str, grad_x: str,
               grad_w: str, gradient: str, shape: List[int], kernel: List[int], stride_: List[int],
               padding: List[int], dilation: List[int], groups: int, count: bool) -> Tuple[Tensor, Tensor]:
    """x: groups, pixels, inputs of a group; w: groups, numbers of a patch, inputs of a group; the result: an image of
    `shape`, whose convolution has as many windows as x has pixels."""
    gradient_rule(gradient)
    drawn(stream, product, grad_x, grad_w)
    events = counts(x, count, 3)
    geometry = _convolution.Geometry(kernel, stride_, padding, dilation, groups)
    z = _convolution.image(x, w, _records.product(product), shape, geometry, _words_of(stream, FORWARD), some(events))
    return z, events


@fake(transposed)
def _(x, w, stream, tap, product, grad_x, grad_w, gradient, shape, kernel, stride_, padding, dilation, groups, count):
    gradient_rule(gradient)
    drawn(stream, product, grad_x, grad_w)
    for text in (product, grad_x, grad_w):
        _records.product(text)
    return x.new_empty(shape), counts(x, count, 3)


def _transposed_setup(ctx, inputs, output):
    x, w, stream, tap, product, grad_x, grad_w, gradient, shape, *geometry, count = inputs
    ctx.texts, ctx.geometry, ctx.tapped = (product, grad_x, grad_w, gradient), geometry, tap is not None
    ctx.save_for_backward(x, w, stream)


@operator('transposed_back(Tensor g, Tensor x, Tensor w, Tensor? stream, str product, str grad_x, str grad_w, '
          'str gradient, SymInt[] kernel, SymInt[] stride, SymInt[] padding, SymInt[] dilation, SymInt groups, '
          'bool of_x, bool of_w, bool count) -> (Tensor, Tensor, Tensor)')
def transposed_back(g: Tensor, x: Tensor, w: Tensor, stream: Optional[Tensor], product: str, grad_x: str, grad_w: str,
                    gradient: str, kernel: List[int], stride_: List[int], padding: List[int], dilation: List[int],
                    groups: int, of_x: bool, of_w: bool, count: bool) -> Tuple[Tensor, Tensor, Tensor]:
    """dX and dW, an empty tensor for one that is not asked for, and the events of both."""
    geometry = _convolution.Geometry(kernel, stride_, padding, dilation, groups)
    events_x, events_w = counts(g, count, 3), counts(g, count, 3)
    dx, dw = g.new_empty(0), g.new_empty(0)
    if of_x:
        dx = _convolution.product(g, w, _records.product(grad_x), geometry, _words_of(stream, GRAD_A), some(events_x))
    if of_w:
        dw = _convolution.transposed_weights(x, g, _records.product(grad_w), geometry, _words_of(stream, GRAD_B),
                                             some(events_w))
    if gradient == 'zero_outside':
        zero, texts = torch.zeros((), dtype=g.dtype, device=g.device), product.split('|')
        if of_x:
            dx = torch.where(inside(x, texts[0], -1), dx, zero)
        if of_w:
            dw = torch.where(inside(w, texts[1], -1), dw, zero)
    return dx.contiguous(), dw.contiguous(), torch.cat([events_x, events_w])


@fake(transposed_back)
def _(g, x, w, stream, product, grad_x, grad_w, gradient, kernel, stride_, padding, dilation, groups, of_x, of_w, count):
    events = counts(g, count, 6) if count else g.new_empty(0, dtype=torch.int64)
    return g.new_empty(x.shape if of_x else (0,)), g.new_empty(w.shape if of_w else (0,)), events


def _transposed_backward(ctx, g, _):
    x, w, stream = ctx.saved_tensors
    of_x, of_w = ctx.needs_input_grad[:2]
    dx, dw, events = transposed_back(g.contiguous(), x, w, stream, *ctx.texts, *ctx.geometry, of_x, of_w, ctx.tapped)
    tap = events.to('cpu', torch.float64) if ctx.tapped else None
    return (dx if of_x else None, dw if of_w else None, None, tap) + (None,) * 11


formula(transposed, _transposed_backward, _transposed_setup, of_operands=True)
