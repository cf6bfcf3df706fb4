# SPDX-License-Identifier: MIT
"""What the tests of halfulp.torch share."""
import pytest

torch = pytest.importorskip('torch', minversion='2.4',
                            reason='PyTorch 2.4 or later is not installed: halfulp.torch is not tested')

import halfulp.torch as ht  # noqa: E402

SEED = 20261122


def numbers(*shape, dtype=torch.float32, spread=12.0, seed=SEED):
    """Numbers of both signs over many binades, with zeros, infinities and NaN where the type has them."""
    made = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=made, dtype=torch.float64) * torch.exp2(
        (torch.rand(shape, generator=made, dtype=torch.float64) - 0.5) * spread)
    x = x.to(dtype)
    flat = x.view(-1)
    for i, value in enumerate((0.0, -0.0, float('inf'), -float('inf'), float('nan'))):
        if flat.numel() > 64:
            flat[7 * i + 3] = value
    return x


def plain(*shape, dtype=torch.float32, seed=SEED):
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def bits(x):
    """The bits of a tensor, so that NaN equals NaN and -0 does not equal +0."""
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    return x.contiguous().view(kind)


def same(a, b):
    """Bit for bit, in shape and type."""
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    assert torch.equal(bits(a), bits(b)), 'differ in {} of {} places'.format(int((bits(a) != bits(b)).sum()), a.numel())


__all__ = ['SEED', 'bits', 'ht', 'numbers', 'plain', 'pytest', 'same', 'torch']
