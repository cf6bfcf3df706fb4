# SPDX-License-Identifier: MIT
"""QPyTorch (qtorch 0.3.0): what docs/torch.md says of its roundings, on numbers that it rounded itself.

qtorch-0.3.0.txt was written by `python test_torch_qtorch.py`, which wants qtorch and g++ (it compiles itself when
imported). Where qtorch is installed and HALFULP_TEST_SLOW is set the file is made anew and must come out the same.
"""
import importlib.util
import os
import pathlib

import numpy as np
from torch_support import ht, pytest, torch

FILE = pathlib.Path(__file__).parent / 'qtorch-0.3.0.txt'
FLOATS = [(5, 2), (4, 3), (2, 1), (5, 10), (6, 9), (8, 7)]
FIXED = [(8, 4), (16, 8), (4, 2)]
BLOCKS = [(4, -1), (8, -1), (8, 0), (8, 1)]


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


def written():
    import qtorch.quant as quant
    lines = ['# qtorch 0.3.0, rounding="nearest", on the CPU: call and arguments, then the results as binary32 '
             'patterns', '# for the inputs of test_torch_qtorch.py']
    for name, arguments, x in cases():
        z = getattr(quant, name)(x, *arguments, rounding='nearest').flatten().view(torch.int32)
        lines.append('{} {} {}'.format(name, *arguments))
        words = ['{:08x}'.format(word & 0xFFFFFFFF) for word in z.tolist()]
        lines += [' '.join(words[i:i + 12]) for i in range(0, len(words), 12)]
    return '\n'.join(lines) + '\n'


def recorded():
    made, rows = {}, None
    for line in FILE.read_text().splitlines():
        if line[0] == '#':
            continue
        if '_quantize ' in line:
            name, *numbers = line.split()
            rows = made.setdefault((name, tuple(map(int, numbers))), [])
        else:
            rows += [int(word, 16) for word in line.split()]
    return {key: torch.tensor(words).to(torch.int32).view(torch.float32) for key, words in made.items()}


THEIRS = recorded() if FILE.exists() else {}


def theirs(name, arguments, x):
    z = THEIRS[name, arguments]
    assert z.numel() == x.numel() > 100
    return z.reshape(x.shape)


@pytest.mark.parametrize('exp, man', FLOATS)
def test_float_quantize(exp, man):
    """Ties away from zero, every code finite, gradual subnormals; infinities become the largest number; zeros lose
    their sign. An exception: what is subnormal has first been rounded to multiples of 2^(emin - 23), ties to even."""
    x = inputs()
    z = theirs('float_quantize', (exp, man), x)
    format = 'fp({},{},0):finite,rna'.format(exp, man) if exp < 8 else 'bfloat16,rna'
    emin = 2 - 2 ** (exp - 1)
    unit = 2.0 ** max(emin - 23, -149)
    before = torch.where(x.abs() < 2.0 ** emin, ((x.double() / unit).round() * unit).float(), x)
    assert torch.equal(z, ht.quantize(before, format))
    assert (z != ht.quantize(x, format)).sum() <= 0.02 * x.numel()
    assert exp >= 8 or bool(((z == 0) & (torch.signbit(x))).any() and not torch.signbit(z[z == 0]).any())


@pytest.mark.parametrize('wl, fl', FIXED)
def test_fixed_point_quantize(wl, fl):
    """Ties to even, ends of the range beyond it. An exception: a half is first added in binary32, which rounds."""
    x = torch.cat([x for name, arguments, x in cases() if arguments == (wl, fl) and name.startswith('fixed')])
    z, format = theirs('fixed_point_quantize', (wl, fl), x), 'q({}.{})'.format(wl - fl - 1, fl)
    before = ((x * 2.0 ** fl + 0.5).double() - 0.5) / 2.0 ** fl
    assert torch.equal(z, ht.quantize(before, format).float())
    assert 0 < (z != ht.quantize(x, format)).sum() <= 0.02 * x.numel()


@pytest.mark.parametrize('wl, dim', BLOCKS)
def test_block_quantize(wl, dim):
    """Ties toward plus infinity: those of positive numbers are `rna`, those of negative ones `rnz`."""
    x = tensor()
    z = theirs('block_quantize', (wl, dim), x)
    def mine(mode):
        text = 'scaled(fp(0,{},0):finite;scale=float8_e8m0fnu;block={};rule=floor),{}'.format(
            wl - 1, '*x*' if dim < 0 else '*x1', mode)
        return ht.Quantizer(text, dim=dim)(x)
    expected = torch.where(x > 0, mine('rna'), mine('rnz'))
    assert torch.equal(z, expected)
    assert (mine('rna') != expected).any() or wl < 8


@pytest.mark.skipif(importlib.util.find_spec('qtorch') is None,
                    reason='qtorch is not installed: its recorded results are used alone')
@pytest.mark.skipif(not os.environ.get('HALFULP_TEST_SLOW'),
                    reason='HALFULP_TEST_SLOW is not set: qtorch is not compiled anew')
def test_records_are_its_own():
    assert written() == FILE.read_text()


if __name__ == '__main__':
    FILE.write_text(written())
