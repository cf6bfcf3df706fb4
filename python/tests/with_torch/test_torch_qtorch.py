# SPDX-License-Identifier: MIT
"""QPyTorch (qtorch 0.3.0): what docs/torch/torch.md says of its roundings, on numbers that it rounded itself.

RECORDED are digests of its results with rounding="nearest" on the CPU for the inputs here; `python test_torch_qtorch.py`
prints them, and needs qtorch and g++ (it compiles itself when imported). Where qtorch is installed and HALFULP_TEST_SLOW is
set they are made again and must come out the same.
"""
import hashlib
import importlib.util
import os

import numpy as np
from torch_support import ht, pytest, torch

FLOATS = [(5, 2), (4, 3), (2, 1), (5, 10), (6, 9), (8, 7)]
FIXED = [(8, 4), (16, 8), (4, 2)]
BLOCKS = [(4, -1), (8, -1), (8, 0), (8, 1)]
RECORDED = {
    ('float_quantize', 5, 2): '4edaad5bdcbb3c1e4d38ce89722e57c4',
    ('float_quantize', 4, 3): '8830b89555133bc1a5ac86581ef4232c',
    ('float_quantize', 2, 1): '6ff8c4dcb2b6f73e5a1a5f4293d26846',
    ('float_quantize', 5, 10): '5b852e99d0ada4f99bd7916696d1f7ae',
    ('float_quantize', 6, 9): '03faade81eea6e552b43a13f7978d169',
    ('float_quantize', 8, 7): '29d5c2c4d851800eaa1a9e7b75c1d7b2',
    ('fixed_point_quantize', 8, 4): 'e5983505f2540063acea782c59cad66b',
    ('fixed_point_quantize', 16, 8): 'abcaaf669d53aeed51f5fa8db111b840',
    ('fixed_point_quantize', 4, 2): 'a52cc6bb925ee075494a570fd8ccf1cd',
    ('block_quantize', 4, -1): '001c04498fc1152ae725b6259b0af54d',
    ('block_quantize', 8, -1): '85c931f5e8cc83df15e702b91f8e7575',
    ('block_quantize', 8, 0): '85c931f5e8cc83df15e702b91f8e7575',
    ('block_quantize', 8, 1): 'cdcc352cf635f09ed310c8dc104bb0a9',
}


def inputs():
    """Around every step and tie of small formats, beyond the range, below the smallest number, at random."""
    made = np.random.default_rng(7)  # torch draws other numbers where the CPU has other vector instructions
    steps = torch.arange(1, 32).float()
    x = torch.cat([steps * 2.0 ** e for e in (-18, -9, -4, 0, 10)])
    bits = torch.cat([x.view(torch.int32) + d for d in (-1, 0, 1)]).view(torch.float32)
    wide = torch.from_numpy(np.ldexp(made.normal(size=100), made.integers(-30, 18, 100)).astype(np.float32))
    ends = torch.tensor([0.0, 1e38, 3e38, float('inf'), 2.0 ** -126, 2.0 ** -130, 1.4e-45])
    x = torch.cat([bits, wide, ends])
    return torch.cat([x, -x])


def tensor():
    """A tensor for blocks: many ties among ordinary numbers."""
    made = np.random.default_rng(8)
    x = made.normal(size=(6, 8, 5)).astype(np.float32)
    return torch.from_numpy(np.where(made.random((6, 8, 5)) < 0.5, np.round(x * 64) / 64, x).astype(np.float32))


def cases():
    for exp, man in FLOATS:
        yield 'float_quantize', (exp, man), inputs()
    for wl, fl in FIXED:
        x = inputs()
        yield 'fixed_point_quantize', (wl, fl), x[x.abs() < 2.0 ** 20]
    for wl, dim in BLOCKS:
        yield 'block_quantize', (wl, dim), tensor()


def digest(z):
    """Of all bits, signs of zeros too."""
    assert z.numel() > 100
    return hashlib.sha256(z.flatten().float().numpy().astype('<f4').tobytes()).hexdigest()[:32]


def made():
    import qtorch.quant as quant
    return {(name, *arguments): digest(getattr(quant, name)(x, *arguments, rounding='nearest')) for name, arguments, x in cases()}


@pytest.mark.parametrize('exp, man', FLOATS)
def test_float_quantize(exp, man):
    """Ties away from zero, every code finite, gradual subnormals; infinities become the largest number; zeros lose
    their sign. An exception: what is subnormal has first been rounded to multiples of 2^(emin - 23), ties to even."""
    x = inputs()
    format = 'fp({},{},0):finite,rna'.format(exp, man) if exp < 8 else 'bfloat16,rna'
    emin = 2 - 2 ** (exp - 1)
    unit = 2.0 ** max(emin - 23, -149)
    before = torch.where(x.abs() < 2.0 ** emin, ((x.double() / unit).round() * unit).float(), x)
    z = ht.quantize(before, format) + 0.0
    assert digest(z) == RECORDED['float_quantize', exp, man]
    assert (z != ht.quantize(x, format)).sum() <= 0.02 * x.numel()
    assert bool(((z == 0) & torch.signbit(x)).any())


@pytest.mark.parametrize('wl, fl', FIXED)
def test_fixed_point_quantize(wl, fl):
    """Ties to even, ends of the range beyond it; zeros keep a sign. An exception: a half is first added in binary32, which
    rounds."""
    x = torch.cat([x for name, arguments, x in cases() if arguments == (wl, fl) and name.startswith('fixed')])
    format = 'q({}.{})'.format(wl - fl - 1, fl)
    before = ((x * 2.0 ** fl + 0.5).double() - 0.5) / 2.0 ** fl
    z = ht.quantize(before, format).float().copysign(before.float())
    assert digest(z) == RECORDED['fixed_point_quantize', wl, fl]
    assert 0 < (z != ht.quantize(x, format)).sum() <= 0.02 * x.numel()


@pytest.mark.parametrize('wl, dim', BLOCKS)
def test_block_quantize(wl, dim):
    """Ties toward plus infinity: those of positive numbers are `rna`, those of negative ones `rnz`."""
    x = tensor()
    def mine(mode):
        text = 'scaled(fp(0,{},0):finite;scale=float8_e8m0fnu;block={};rule=floor),{}'.format(
            wl - 1, '*x*' if dim < 0 else '*x1', mode)
        return ht.Quantizer(text, dim=dim)(x)
    expected = torch.where(x > 0, mine('rna'), mine('rnz'))
    assert digest(expected + 0.0) == RECORDED['block_quantize', wl, dim]
    assert (mine('rna') != expected).any() or wl < 8


@pytest.mark.skipif(importlib.util.find_spec('qtorch') is None,
                    reason='qtorch is not installed: the digests of its results are used alone')
@pytest.mark.skipif(not os.environ.get('HALFULP_TEST_SLOW'),
                    reason='HALFULP_TEST_SLOW is not set: qtorch is not compiled again')
def test_records_are_its_own():
    assert made() == RECORDED


if __name__ == '__main__':
    print(*('    {!r}: {!r},'.format(*row) for row in made().items()), sep='\n')
