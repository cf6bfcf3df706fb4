# SPDX-License-Identifier: MIT
"""Convolutions as products of patches (docs/training/training.md section 3): a row of P for every window, in the order of
samples, rows and columns (before them, of three axes, depths); in a row the kernel's rows, its columns, the channels;
zeros outside of the image."""
import itertools
import math
from typing import Iterator, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.nn.functional as F

from .. import _abi as abi
from . import _product, _records, _rounding
from ._calls import Words


def sizes(shape: Sequence[int], kernel, stride, padding, dilation) -> Tuple[int, ...]:
    """Windows along each axis of an image; at least one."""
    made = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, s, p, d in zip(shape[2:], kernel, stride, padding, dilation))
    if any(n < 1 for n in made):
        raise abi.HalfulpValueError('conv{}d: no window of {} fits into an image of {} (padding {}, dilation {})'.format(
            len(made), tuple(kernel), tuple(shape[2:]), tuple(padding), tuple(dilation)))
    return made


def _window(place: Sequence[int], windows: Sequence[int], stride, dilation) -> Tuple[slice, ...]:
    """The pixels of the framed image that a place of the kernel meets."""
    return tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in zip(place, windows, stride, dilation))


def _places(kernel: Sequence[int]) -> Iterator[Tuple[int, ...]]:
    """The places of the kernel, the last axis fastest."""
    return itertools.product(*(range(k) for k in kernel))


def patches(x: torch.Tensor, kernel, stride, padding, dilation, groups: int) -> torch.Tensor:
    """x: samples, channels, axes of the image. P: groups, windows, numbers of a patch."""
    n, channels = x.shape[:2]
    windows, axes = sizes(x.shape, kernel, stride, padding, dilation), len(kernel)
    framed = F.pad(x, [side for p in reversed(padding) for side in (p, p)])
    p = x.new_empty((groups, n, *windows, *kernel, channels // groups))
    order = (1, 0, *range(3, 3 + axes), 2)
    for place in _places(kernel):
        part = framed[(slice(None), slice(None), *_window(place, windows, stride, dilation))]
        part = part.reshape(n, groups, channels // groups, *windows)
        p[(slice(None),) * (2 + axes) + tuple(place)] = part.permute(order)
    return p.view(groups, n * math.prod(windows), math.prod(kernel) * (channels // groups))


def unpatch(p: torch.Tensor, shape: Sequence[int], kernel, stride, padding, dilation, groups: int) -> torch.Tensor:
    """Each pixel: its numbers in the patches, added from +0 in the order of the windows (in float32, or float64 of
    float64; then rounded to the patches' type). A pixel meets the windows
    that begin later at earlier places of the kernel, so that going through the kernel backwards is that order."""
    n, channels = shape[:2]
    windows, axes = sizes(shape, kernel, stride, padding, dilation), len(kernel)
    framed = p.new_zeros((n, channels, *(side + 2 * pad for side, pad in zip(shape[2:], padding))),
                         dtype=torch.promote_types(p.dtype, torch.float32))
    parts = p.reshape(groups, n, *windows, *kernel, channels // groups)
    order = (1, 0, 2 + axes, *range(2, 2 + axes))
    for place in reversed(list(_places(kernel))):
        part = parts[(slice(None),) * (2 + axes) + tuple(place)].permute(order).reshape(n, channels, *windows)
        framed[(slice(None), slice(None), *_window(place, windows, stride, dilation))] += part
    inner = tuple(slice(pad, pad + side) for side, pad in zip(shape[2:], padding))
    return framed[(slice(None), slice(None), *inner)].to(p.dtype).contiguous()


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
    return x.movedim(1, -1).reshape(-1, x.shape[1])


def _image(m: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    return m.reshape(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


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
    ready = p.a.kind != _records.KEEP and p.sum.scaled is None and x.dtype != torch.float64 and p.before is None
    image = rounded(x, p.a, down, words, events) if ready else x
    return patches(image, *geometry), ready


def product(x, w, p: _records.Product, geometry: Geometry, words, events) -> torch.Tensor:
    """Z: groups, windows, outputs of a group."""
    left, ready = _left(x, p, False, geometry, words[0], None if events is None else events[0])
    return _product.multiply(left, w, p, words, events, rounded=(ready, False))


def _once(p: _records.Product) -> None:
    """An image is rounded once: what the forward pass has left of its patches is no image."""
    if p.before is not None and p.before.rounding is not None:
        raise abi.HalfulpValueError('convolution: a recipe with twice=True takes products of matrices')


def weights(x, g, p: _records.Product, geometry: Geometry, words, events) -> torch.Tensor:
    """dW: groups, numbers of a patch, outputs of a group. g: groups, windows, outputs."""
    _once(p)
    left, ready = _left(x, p, True, geometry, words[0], None if events is None else events[0])
    return _product.multiply(left.transpose(-1, -2), g, p, words, events, rounded=(ready, False))


def transposed_weights(x, g, p: _records.Product, geometry: Geometry, words, events) -> torch.Tensor:
    """dW of a transposed convolution: groups, numbers of a patch, inputs of a group. x: groups, pixels, inputs; g: the
    gradient of the image."""
    _once(p)
    ready = p.b.kind != _records.KEEP and p.sum.scaled is None and g.dtype != torch.float64 and p.before is None
    gradient = rounded(g, p.b, True, words[1], None if events is None else events[1]) if ready else g
    right = patches(gradient, *geometry)
    dw = _product.multiply(x.transpose(-1, -2), right, p, words, events, rounded=(False, ready), dtype=x.dtype)
    return dw.transpose(-1, -2)


def image(g, w, p: _records.Product, shape: Sequence[int], geometry: Geometry, words, events) -> torch.Tensor:
    """dX, in g's type: what the windows give to a pixel is added in float32, and then the image is rounded."""
    wide = torch.float64 if g.dtype == torch.float64 else torch.float32
    gifts = p._replace(out=_records.rounding('keep')) if wide == torch.float32 else p
    dp = _product.multiply(g, w.transpose(-1, -2), gifts, words, events, dtype=wide)
    dx = unpatch(dp, shape, *geometry)
    if p.out.kind != _records.KEEP and wide == torch.float32:
        dx = rounded(dx, p.out, False, words[2], None if events is None else events[2])
    return dx.to(g.dtype).contiguous()
