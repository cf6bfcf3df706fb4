# SPDX-License-Identifier: MIT
"""Convolutions as products of patches (docs/training.md section 3): a row of P for every window, in the order of
samples, rows and columns; in a row the kernel's rows, its columns, the channels; zeros outside of the image."""
from typing import NamedTuple, Optional, Sequence, Tuple

import torch
import torch.nn.functional as F

from .. import _abi as abi
from . import _product, _records, _rounding
from ._calls import Words


def sizes(shape: Sequence[int], kernel, stride, padding, dilation) -> Tuple[int, int]:
    """Windows down and across; at least one."""
    high, wide = ((n + 2 * p - d * (k - 1) - 1) // s + 1
                  for n, k, s, p, d in zip(shape[2:], kernel, stride, padding, dilation))
    if high < 1 or wide < 1:
        raise abi.HalfulpValueError('conv2d: no window of {} fits into an image of {} (padding {}, dilation {})'.format(
            tuple(kernel), tuple(shape[2:]), tuple(padding), tuple(dilation)))
    return high, wide


def _window(i: int, j: int, high: int, wide: int, stride, dilation) -> Tuple[slice, slice]:
    """The pixels of the framed image that kernel place (i, j) meets."""
    first = i * dilation[0], j * dilation[1]
    return (slice(first[0], first[0] + (high - 1) * stride[0] + 1, stride[0]),
            slice(first[1], first[1] + (wide - 1) * stride[1] + 1, stride[1]))


def patches(x: torch.Tensor, kernel, stride, padding, dilation, groups: int) -> torch.Tensor:
    """x: samples, channels, rows, columns. P: groups, windows, numbers of a patch."""
    n, channels = x.shape[:2]
    high, wide = sizes(x.shape, kernel, stride, padding, dilation)
    framed = F.pad(x, (padding[1], padding[1], padding[0], padding[0]))
    p = x.new_empty((groups, n, high, wide, kernel[0], kernel[1], channels // groups))
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows, cols = _window(i, j, high, wide, stride, dilation)
            part = framed[:, :, rows, cols].reshape(n, groups, channels // groups, high, wide)
            p[:, :, :, :, i, j] = part.permute(1, 0, 3, 4, 2)
    return p.view(groups, n * high * wide, kernel[0] * kernel[1] * (channels // groups))


def unpatch(p: torch.Tensor, shape: Sequence[int], kernel, stride, padding, dilation, groups: int) -> torch.Tensor:
    """Each pixel: its numbers in the patches, added from +0 in the order of the windows (in float32, or float64 of
    float64; then rounded to the patches' type). A pixel meets the windows
    that begin later at earlier places of the kernel, so that going through the kernel backwards is that order."""
    n, channels, rows_x, cols_x = shape
    high, wide = sizes(shape, kernel, stride, padding, dilation)
    framed = p.new_zeros((n, channels, rows_x + 2 * padding[0], cols_x + 2 * padding[1]),
                         dtype=torch.promote_types(p.dtype, torch.float32))
    parts = p.reshape(groups, n, high, wide, kernel[0], kernel[1], channels // groups)
    for i in reversed(range(kernel[0])):
        for j in reversed(range(kernel[1])):
            rows, cols = _window(i, j, high, wide, stride, dilation)
            part = parts[:, :, :, :, i, j].permute(1, 0, 4, 2, 3).reshape(n, channels, high, wide)
            framed[:, :, rows, cols] += part
    return framed[:, :, padding[0]:padding[0] + rows_x, padding[1]:padding[1] + cols_x].to(p.dtype).contiguous()


# ---- X and dX rounded as tensors ----

class Geometry(NamedTuple):
    """What patches are made of."""
    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int


def _pixels(x: torch.Tensor) -> torch.Tensor:
    """Rows of pixels, columns of channels."""
    return x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])


def _image(m: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    n, channels, high, wide = shape
    return m.reshape(n, high, wide, channels).permute(0, 3, 1, 2)


def rounded(x: torch.Tensor, r: _records.Rounding, down: bool, words: Words,
            events: Optional[torch.Tensor]) -> torch.Tensor:
    """x, rounded, in float32: each pixel once. Blocks and random words go along channels, or, down, along pixels."""
    _rounding.check(r, x)
    rows = _pixels(x.to(torch.float32))
    rows = rows.t().contiguous() if down else rows.contiguous()
    z = torch.empty_like(rows)
    _rounding.into(z, rows, r, -1, words, events)
    return _image(z.t() if down else z, x.shape)


def inside(x: torch.Tensor, r: _records.Rounding) -> torch.Tensor:
    """Which elements of x lie within the range that `rounded` rounds them into."""
    return _image(_rounding.inside(_pixels(x), r, -1), x.shape)


def _left(x, p: _records.Product, down: bool, geometry: Geometry, words: Words,
          events) -> Tuple[torch.Tensor, bool]:
    """Patches of x, and whether x has been rounded. As it is where nothing rounds it, or where the sum itself takes
    scaled operands, whose blocks lie along its terms."""
    ready = p.a.kind != _records.KEEP and p.sum.scaled is None and x.dtype != torch.float64
    image = rounded(x, p.a, down, words, events) if ready else x
    return patches(image, *geometry), ready


def product(x, w, p: _records.Product, geometry: Geometry, words, events) -> torch.Tensor:
    """Z: groups, windows, outputs of a group."""
    left, ready = _left(x, p, False, geometry, words[0], None if events is None else events[0])
    return _product.multiply(left, w, p, words, events, rounded=ready)


def weights(x, g, p: _records.Product, geometry: Geometry, words, events) -> torch.Tensor:
    """dW: groups, numbers of a patch, outputs of a group. g: groups, windows, outputs."""
    left, ready = _left(x, p, True, geometry, words[0], None if events is None else events[0])
    return _product.multiply(left.transpose(-1, -2), g, p, words, events, rounded=ready)


def image(g, w, p: _records.Product, shape: Sequence[int], geometry: Geometry, words, events) -> torch.Tensor:
    """dX, in g's type: what the windows give to a pixel is added in float32, and then the image is rounded."""
    wide = torch.float64 if g.dtype == torch.float64 else torch.float32
    gifts = p._replace(out=_records.rounding('keep')) if wide == torch.float32 else p
    dp = _product.multiply(g, w.transpose(-1, -2), gifts, words, events, dtype=wide)
    dx = unpatch(dp, shape, *geometry)
    if p.out.kind != _records.KEEP and wide == torch.float32:
        dx = rounded(dx, p.out, False, words[2], None if events is None else events[2])
    return dx.to(g.dtype).contiguous()
