# SPDX-License-Identifier: MIT
"""Rotary positions of PyTorch modules as they are written in public models: their texts, outputs and gradients."""
import math

from torch_support import pytest, torch  # first: it skips where there is no torch

import numpy as np
from halfulp.train import from_torch, inputs
from torch import nn
from torch.nn import functional as F

STEPS, UNITS, HEADS, KV, WIDTH = 9, 24, 4, 2, 12


class Rms(nn.Module):
    """The norm of Llama's code, with casts."""

    def __init__(self, cols, first):
        super().__init__()
        self.weight, self.first = nn.Parameter(1 + 0.1 * torch.randn(cols)), first

    def forward(self, x):
        y = x.float() if x.dtype == torch.float32 else x
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * y.to(x.dtype) if self.first else y.type_as(x) * self.weight


class DivRms(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(cols))

    def forward(self, x):
        return self.weight * (x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + 1e-6))


def frequencies(base=10000.0, width=WIDTH):
    return 1.0 / (base ** (torch.arange(0, width, 2, dtype=torch.float32) / width))


def llama3(f, factor, original):
    """The loop of Meta's code."""
    made = []
    for one in f:
        wave = 2 * math.pi / float(one)
        if wave < original / 4:
            made.append(float(one))
        elif wave > original:
            made.append(float(one) / factor)
        else:
            smooth = (original / wave - 1) / (4 - 1)
            made.append((1 - smooth) * float(one) / factor + smooth * float(one))
    return torch.tensor(made)


def yarn(base, factor, original, whole, width=WIDTH):
    """The frequencies of transformers and of gpt-oss."""
    def at(turns):
        return width * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
    low, high = at(32), at(1)
    if whole:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    keep = 1 - ((torch.arange(width // 2, dtype=torch.float32) - low) / (high - low)).clamp(0, 1)
    f = frequencies(base, width)
    return f / factor * (1 - keep) + f * keep


def rotate_half(x):
    a, b = x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-b, a), dim=-1)


class Block(nn.Module):
    """A block of a decoder; `positions` and `attend` are what models differ in."""

    width, bias = WIDTH, False

    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(7, UNITS), nn.Linear(UNITS, 5)
        self.one, self.two, self.three = Rms(UNITS, True), Rms(UNITS, False), DivRms(UNITS)
        self.q, self.k, self.v = (nn.Linear(UNITS, heads * self.width, bias=self.bias) for heads in (HEADS, KV, KV))
        self.o = nn.Linear(HEADS * self.width, UNITS, bias=False)
        self.gate, self.up, self.down = nn.Linear(UNITS, 8), nn.Linear(UNITS, 8), nn.Linear(8, UNITS)
        self.tables()

    def parts(self, z):
        return (one(z).view(*z.shape[:2], -1, self.width) for one in (self.q, self.k, self.v))

    def forward(self, x):
        h = self.table(x)
        z = self.attend(self.one(h))
        h = h + self.o(z.transpose(1, 2).contiguous().view(*x.shape, -1))
        z = self.two(h)
        h = h + self.down(F.silu(self.gate(z)) * self.up(z))
        return self.last(self.three(h))


class Halves(Block):
    """Tables that are kept, x cos + rotate_half(x) sin, and keys of which several heads of queries read each."""

    says = 'rotary({}, 12)'

    def tables(self):
        f = torch.outer(torch.arange(16).float(), frequencies())
        both = torch.cat((f, f), -1)
        self.register_buffer('cos', both.cos(), persistent=False)
        self.register_buffer('sin', both.sin())

    def turned(self, x):
        cos, sin = self.cos[:x.shape[2]], self.sin[:x.shape[2]]
        return x * cos + rotate_half(x) * sin

    def attend(self, z):
        q, k, v = (x.transpose(1, 2) for x in self.parts(z))
        return F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True, enable_gqa=True)


class Computed(Block):
    """As in transformers: tables of a pass, Llama 3's frequencies, keys and values that are repeated, a mask."""

    says = 'rotary({}, 12, base=500, factor=4, original=128)'

    def tables(self):
        self.register_buffer('inverse', llama3(frequencies(500.0), 4.0, 128))

    def angles(self, x):
        positions = torch.arange(x.shape[1], dtype=torch.float32).unsqueeze(0)
        with torch.no_grad():
            f = (self.inverse.float()[None, :, None] @ positions[:, None, :]).transpose(1, 2)
        both = torch.cat((f, f), dim=-1)
        return both.cos().to(x.dtype).unsqueeze(1), both.sin().to(x.dtype).unsqueeze(1)

    def attend(self, z):
        q, k, v = (x.transpose(1, 2) for x in self.parts(z))
        cos, sin = self.angles(z)
        q, k = ((x * cos) + (rotate_half(x) * sin) for x in (q, k))
        k, v = (x[:, :, None].expand(-1, -1, HEADS // KV, -1, -1).reshape(len(x), HEADS, -1, self.width) for x in (k, v))
        mask = torch.full((z.shape[1], z.shape[1]), float('-inf'), dtype=z.dtype).triu(1)[None, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Complex(Block):
    """As in Meta's code: complex numbers of columns side by side."""

    says = 'rotary({}, 12, interleaved=1, base=500000)'

    def tables(self):
        f = torch.outer(torch.arange(STEPS).float(), frequencies(500000.0))
        self.circle = torch.polar(torch.ones_like(f), f)

    def turned(self, x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2) if x.dtype == torch.float32
                                      else x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.circle[None, :, None].to(pairs.dtype)).flatten(3).type_as(x)

    def attend(self, z):
        q, k, v = self.parts(z)
        k, v = (x.repeat_interleave(HEADS // KV, dim=2) for x in (self.turned(k), v))
        q, k, v = (x.transpose(1, 2) for x in (self.turned(q), k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class Oss(Block):
    """As in gpt-oss: one layer of queries, keys and values, YaRN with its factor of cosines, halves apart."""

    width, bias, says = 16, True, 'rotary({}, 16, base=200, factor=8, original=512, yarn=1)'

    def tables(self):
        self.all = nn.Linear(UNITS, (HEADS + 2 * KV) * self.width)
        del self.q, self.k, self.v
        f = torch.outer(torch.arange(STEPS).float(), yarn(200.0, 8.0, 512, False, 16))
        m = 0.1 * math.log(8.0) + 1.0
        self.register_buffer('cos', (f.cos() * m)[:, None])
        self.register_buffer('sin', (f.sin() * m)[:, None])

    def turned(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def attend(self, z):
        q, k, v = self.all(z).split([HEADS * self.width, KV * self.width, KV * self.width], -1)
        q, k, v = (x.view(*z.shape[:2], -1, self.width) for x in (q, k, v))
        q, k, v = (x.transpose(1, 2) for x in (self.turned(q), self.turned(k), v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3, enable_gqa=True)


class Deep(Block):
    """YaRN with whole bounds and no factor of cosines, columns side by side, stacked."""

    width, says = 16, 'rotary({}, 16, interleaved=1, base=200, factor=40, original=512, yarn=1, whole=1, magnitude=1)'

    def tables(self):
        f = torch.outer(torch.arange(STEPS).float(), yarn(200.0, 40.0, 512, True, 16))
        self.register_buffer('cos', f.cos())
        self.register_buffer('sin', f.sin())

    def turned(self, x):
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1).flatten(-2)

    def attend(self, z):
        q, k, v = (x.transpose(1, 2) for x in self.parts(z))
        return F.scaled_dot_product_attention(self.turned(q), self.turned(k), v, is_causal=True, enable_gqa=True)


@pytest.mark.parametrize('kind', [Halves, Computed, Complex, Oss, Deep])
def test_blocks(kind):
    """Outputs and gradients are PyTorch's in binary64, except for binary32's rounding."""
    torch.manual_seed(11)
    module, x = kind(), torch.randint(0, 7, (3, STEPS))
    traced = from_torch(module, x)
    assert traced.text.count('rotary(') == 2 and traced.text.count('rms_norm(') == 3
    for line in traced.text.split('\n'):
        if 'rotary(' in line:
            assert line.split(' = ')[1] == kind.says.format(line.split('(')[1].split(',')[0]), line
    net = traced.net(batch=3)
    labels = torch.randint(0, 5, (3, STEPS))
    module.double()
    assert from_torch(module, x).text == traced.text
    z = module(x)
    loss = F.cross_entropy(z.flatten(0, -2), labels.flatten())
    loss.backward()
    value = net.forward(inputs(x), labels.numpy())
    net.backward()
    np.testing.assert_allclose(value, loss.item(), rtol=1e-6)
    np.testing.assert_allclose(net.output.reshape(z.shape), z.detach().numpy(), rtol=2e-5, atol=3e-6)
    gradients = traced.state_dict(net, gradients=True)
    assert sorted(gradients) == sorted(name for name, _ in module.named_parameters())
    for name, parameter in module.named_parameters():
        assert parameter.grad.abs().max() > 1e-5
        np.testing.assert_allclose(gradients[name], parameter.grad.numpy(), rtol=1e-4, atol=1e-6, err_msg=name)


class Turns(nn.Module):
    """A layer whose heads are turned by what is given, and attention."""

    def __init__(self, turned, shape=(2, STEPS, 2, 8)):
        super().__init__()
        self.one, self.turned, self.shape = nn.Linear(16, 16), turned, shape
        self.trained = nn.Parameter(torch.ones(STEPS, 8))

    def forward(self, x):
        z = self.one(x).view(*self.shape).transpose(1, 2)
        z = F.scaled_dot_product_attention(self.turned(self, z), z, z)
        return z.transpose(1, 2).reshape(x.shape)


def by(f, steps=None):
    """The function that turns halves by frequencies f at steps."""
    angles = torch.outer(torch.arange(STEPS).float() if steps is None else steps, f)
    both = torch.cat((angles, angles), -1)
    cos, sin = both.cos(), both.sin()
    return lambda _, x: x * cos.to(x.dtype) + rotate_half(x) * sin.to(x.dtype)


@pytest.mark.parametrize('turned, says', [
    (by(torch.tensor([1, 0.5, 0.2, 0.1])), 'query: its frequencies are neither those of one base nor those of Llama 3'),
    (by(frequencies(width=8), torch.arange(STEPS).float() ** 2), 'query: its angles are not those of the steps'),
    (by(frequencies(width=8), torch.arange(STEPS).float() + 1), "query: its first step is not a value's own columns"),
    (lambda _, x: x * torch.linspace(1, 2, 8), "query: its first step is not a value's own columns"),
    (lambda _, x: torch.cat([by(frequencies(width=4))(_, x[..., :4]), x[..., 4:]], -1), 'query: its columns are not turned in pairs'),
    (lambda _, x: x * torch.tensor([1.0, 2.0])[:, None, None, None], 'query: samples are not treated alike'),
    (lambda _, x: torch.cat([x, x.flip(-1)], 2)[:, :, :STEPS], 'flip .*there is no layer for it|made of'),
    (lambda _, x: torch.cat([x[:, 1:], x[:, :1]], 1), 'query: its heads are not columns side by side'),
    (lambda self, x: x * self.trained, 'not of two values of one shape'),
    (lambda _, x: x + 1, "query: its first step is not a value's own columns"),
    (lambda _, x: torch.cat([x[:, :1], x[:, :1]], 1), 'query: heads are repeated'),
])
def test_refused(turned, says):
    with pytest.raises(ValueError, match=says):
        from_torch(Turns(turned), torch.zeros(2, STEPS, 16))


def test_factors():
    """Queries that are multiplied by a number, and repeated heads of an odd width, without positions."""
    assert 'scale(v1, 0.25)\n' in from_torch(Turns(lambda _, x: x * 0.25), torch.zeros(2, STEPS, 16)).text

    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv = nn.Linear(6, 12), nn.Linear(6, 6)

        def forward(self, x):
            q, k = (one(x).view(2, 5, -1, 3).transpose(1, 2) for one in (self.q, self.kv))
            z = F.scaled_dot_product_attention(q * 0.5, k.repeat_interleave(2, 1), k.repeat_interleave(2, 1), scale=1.0)
            return z.transpose(1, 2).reshape(2, 5, 12)

    torch.manual_seed(1)
    module, x = Odd(), torch.randn(2, 5, 6)
    net = from_torch(module, x).net(batch=2, loss='squared_error')
    np.testing.assert_allclose(net.predict(inputs(x)).reshape(2, 5, 12), module(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_other_masks():
    class Masked(nn.Module):
        def __init__(self, mask):
            super().__init__()
            self.one, self.mask = nn.Linear(16, 16), mask

        def forward(self, x):
            z = self.one(x).view(2, STEPS, 2, 8).transpose(1, 2)
            return F.scaled_dot_product_attention(z, z, z, attn_mask=self.mask).transpose(1, 2).reshape(x.shape)

    x, below = torch.zeros(2, STEPS, 16), torch.ones(STEPS, STEPS).tril()
    assert 'causal=1' in from_torch(Masked(below.bool()), x).text
    for mask in (below, below.bool().T, (1 - below) * -1.0):
        with pytest.raises(ValueError, match='with a mask'):
            from_torch(Masked(mask), x)
