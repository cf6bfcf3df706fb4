# SPDX-License-Identifier: MIT
"""Quantizers of E2M1 whose scales no `scaled(...)` says: Quartet's, that of MXFP4 without a bias, and Quartet II's.

Rows are float32; blocks lie along the last axis. Every operation is one of IEEE 754 in binary32, ties to even, in the
order written; `mean`s and sums of a block begin with its first number.
"""
from typing import Optional, Tuple

import numpy as np
import torch
from torch import Tensor

from ... import _abi as abi
from .. import _product, ops

BLOCK, LARGEST = 32, 6.0
DEVIATION = float(np.float32(2.92247856 / 6))  # the least squares scale of normal numbers on the grid of E2M1
BACK = float(np.float32(16 / 9))  # what 3/4 in both operands is made good by
_LEAST, _MOST = -127, 127  # exponents of scales


def transform(x: Tensor, n: int, *signs: int) -> Tensor:
    """Whole blocks of n numbers behind the transform of docs/hadamard.md, norm "root"; what is left stays."""
    return _product.transformed(x, n, *(signs or (0,)))


def e2m1(x: Tensor, mode: str, stream: Optional[Tensor] = None, use: int = -1) -> Tensor:
    """On the grid of E2M1, at most 6."""
    text = 'float4_e2m1fn,sat=finite' + (',' + mode if mode else '')
    return ops.quantize(x.contiguous(), stream, None, text, 'keep', -1, 'straight_through', use, -1, False)[0]


def split(x: Tensor, n: int) -> Tuple[Tensor, Tensor]:
    """Blocks of n numbers, the last one of a row filled up with zeros; and how many numbers each has."""
    k = x.shape[-1]
    count = -(-k // n)
    full = torch.nn.functional.pad(x, (0, count * n - k)).unflatten(-1, (count, n))
    sizes = torch.full((count, 1), float(n), device=x.device)
    if k % n:
        sizes[-1] = float(k % n)
    return full, sizes


def joined(blocks: Tensor, k: int) -> Tensor:
    return blocks.flatten(-2)[..., :k].contiguous()


def power(x: Tensor, shift: int) -> Tensor:
    """The power of two at or below x, times 2^shift, from 2^-127 to 2^127: 2^-127 for 0, NaN for what is not finite."""
    exponent = torch.frexp(x)[1].to(torch.int32) - 1 + shift
    exponent = torch.where(x == 0, torch.full_like(exponent, _LEAST), exponent.clamp(_LEAST, _MOST))
    bits = torch.where(exponent == _LEAST, torch.full_like(exponent, 1 << 22), exponent + 127 << 23)
    return torch.where(x.isfinite(), bits.view(torch.float32), torch.full_like(x, float('nan')))


def project(x: Tensor) -> Tuple[Tensor, Tensor]:
    """Quartet's projection of rows that are transformed: numbers, and where they lie within the range."""
    blocks, sizes = split(x, BLOCK)
    total, squares = torch.zeros_like(blocks[..., :1]), torch.zeros_like(blocks[..., :1])
    for j in range(BLOCK):
        one = blocks[..., j:j + 1]
        total, squares = total + one, squares + one * one
    mean = total / sizes
    variance = squares / sizes - mean * mean
    deviation = torch.where(variance < 0, torch.ones_like(variance), variance.sqrt())
    scale = power(DEVIATION * deviation + 1e-8, 0)
    over = blocks / scale
    return joined(e2m1(over, '') * scale, x.shape[-1]), joined(over.abs() < LARGEST, x.shape[-1])


def fit(x: Tensor, mode: str, stream: Optional[Tensor], use: int) -> Tensor:
    """3/4 of each number under a scale of the block's largest magnitude A: a quarter of the power of two at or below A, so
    that nothing saturates."""
    blocks, _ = split(x, BLOCK)
    scale = power(blocks.abs().amax(-1, keepdim=True), -2)
    return joined(e2m1(0.75 * blocks / scale, mode, stream, use) * scale, x.shape[-1])


# ---- Quartet II ----

_NVFP4 = 16


def _whole(x: Tensor, n: int, name: str) -> None:
    if x.shape[-1] % n:
        raise abi.HalfulpValueError('quartet_2: {} of shape {}: the axis that a product sums over has to be a multiple of {}'.format(
            name, tuple(x.shape), n))


def _over(x: Tensor, most: float, largest: float, name: str) -> Tuple[Tensor, Tensor, Tensor]:
    """Blocks of 16 over their scales; the scales in E4M3, 1 for 0; the scale of the tensor."""
    _whole(x, _NVFP4, name)
    blocks = x.unflatten(-1, (-1, _NVFP4))
    amax = blocks.abs().amax() if x.numel() else x.new_zeros(())
    tensor = torch.where(amax == 0, torch.ones_like(amax), amax / most / largest)
    ratio = blocks.abs().amax(-1, keepdim=True) / largest / tensor
    scale = ops.quantize(ratio.contiguous(), None, None, 'float8_e4m3fn', 'keep', -1, 'straight_through', -1, -1, False)[0]
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return blocks / (scale * tensor), scale, tensor


def nearest(x: Tensor, name: str) -> Tensor:
    """NVFP4 with ties away from zero, its scale of the tensor amax / 447.99 / 6."""
    over, scale, tensor = _over(x, 447.99, LARGEST, name)
    return (e2m1(over, 'rna') * (scale * tensor)).flatten(-2)


def eden(x: Tensor, n: int, stream: Optional[Tensor], use: int, name: str) -> Tensor:
    """NVFP4 whose scales are corrected, n numbers together, so that their length along x is kept, and then rounded
    stochastically to E4M3. x is transformed."""
    _whole(x, n, name)
    over, scale, tensor = _over(x, 255.99, 6.0 / (17 / 16 * 0.93), name)
    codes = e2m1(over, 'rna')
    both = [one.flatten(-2).unflatten(-1, (-1, n)) for one in (over, codes)]
    above, below = (torch.zeros_like(both[0][..., :1]) for _ in range(2))
    for j in range(n):
        v, q = (one[..., j:j + 1] for one in both)
        above, below = above + v * v, below + v * q
    correction = torch.where(below == 0, torch.ones_like(below), above / below)
    corrected = (scale.unflatten(-2, (-1, n // _NVFP4)) * correction.unsqueeze(-2)).flatten(-3, -2)
    drawn = ops.quantize(corrected.contiguous(), stream, None, 'float8_e4m3fn,sra:16', 'keep', -1, 'straight_through', use,
                         -1, False)[0]
    return (codes * drawn * tensor).flatten(-2)


__all__ = ['BACK', 'BLOCK', 'DEVIATION', 'LARGEST', 'e2m1', 'eden', 'fit', 'nearest', 'power', 'project', 'split', 'transform']
