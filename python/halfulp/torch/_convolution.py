# SPDX-License-Identifier: MIT
"""Convolutions as products of patches (docs/training.md section 3): a row of P for every window, in the order of
samples, rows and columns; in a row the kernel's rows, its columns, the channels; zeros outside of the image."""
from typing import Sequence, Tuple

import torch
import torch.nn.functional as F

from .. import _abi as abi


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
