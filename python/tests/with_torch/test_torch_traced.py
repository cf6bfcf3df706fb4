# SPDX-License-Identifier: MIT
"""Networks traced from PyTorch modules: forward and gradients of PyTorch itself, names, what is refused."""
import struct

from torch_support import pytest, torch  # first: it skips where there is no torch

import numpy as np
from halfulp.train import Net, from_torch, inputs, read_weights, write_weights
from torch import nn
from torch.nn import functional as F


class Exact(nn.Module):
    """Layers that compute whole numbers from whole numbers."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.deep = nn.Sequential(nn.Conv2d(4, 4, 3, stride=2, padding=1, groups=2, bias=False), nn.ReLU(),
                                  nn.Conv2d(4, 4, 1))
        self.down = nn.Conv2d(4, 4, 1, stride=2, bias=False)
        self.wide = nn.Conv2d(4, 6, 2)
        self.head = nn.Linear(6 * 1 * 1, 5)
        self.tall = nn.Conv2d(4, 4, (3, 1), stride=(1, 2), padding=(2, 0), dilation=(2, 1), groups=2)
        self.back = nn.ConvTranspose2d(4, 2, (2, 3), stride=(1, 2), padding=(1, 0), output_padding=(0, 1), groups=2)
        self.oblong = nn.Linear(2 * 3 * 6, 5)
        self.flat = nn.Linear(4 * 4 * 4, 5)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = self.deep(x) + self.down(x)  # 4 x 4
        left, right = x.chunk(2, 1)
        y = torch.cat([right, F.relu(left)], 1)
        y = y.view(len(y), 2, 2, 4, 4).transpose(1, 2).contiguous().view(len(y), 4, 4, 4)
        z = self.wide(F.max_pool2d(y, 2))
        u = F.hardtanh(self.back(self.tall(F.max_pool2d(y, 3, (1, 1), 1))), -8, 8)  # 3 x 6
        u = self.oblong(u.flatten(1))
        return self.head(torch.flatten(z, 1)) + self.flat(F.hardtanh(y, 0, 6).flatten(1)) + u * 2


def whole(module, seed=4):
    """Whole numbers for all parameters, from -1 to 1."""
    made = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for x in module.parameters():
            x.copy_(torch.randint(-1, 2, x.shape, generator=made).float())
    return module.double()


def test_same_numbers():
    """Where nothing is rounded, loss, output and all gradients are PyTorch's, to the last bit."""
    made = torch.Generator().manual_seed(1)
    x = torch.randint(-2, 3, (4, 3, 8, 8), generator=made).double()
    module = whole(Exact())
    traced = from_torch(module, x)
    net = traced.net(batch=4, loss='squared_error')
    y = torch.randint(-3, 4, (4, 5), generator=made).double()
    z = module(x)
    loss = ((z - y) ** 2).sum() / 8
    loss.backward()
    assert net.forward(inputs(x), y.numpy().astype(np.float32)) == loss.item() and loss.item() < 2**20
    np.testing.assert_array_equal(net.output, z.detach().numpy())
    net.backward()
    gradients = traced.state_dict(net, gradients=True)
    assert sorted(gradients) == sorted(name for name, _ in module.named_parameters())
    for name, parameter in module.named_parameters():
        assert np.abs(parameter.grad.numpy()).max() < 2**22 and parameter.grad.abs().max() > 0
        np.testing.assert_array_equal(gradients[name], parameter.grad.numpy(), err_msg=name)
    # The text alone, as it is described, is the same network.
    again = Net(net.describe(), batch=4, loss='squared_error')
    assert again.parameter_names == net.parameter_names
    traced.load(again, module.state_dict())
    assert again.digest == net.digest
    for name, parameter in module.named_parameters():
        np.testing.assert_array_equal(traced.state_dict(again)[name], parameter.detach().numpy())


class Rounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.Conv = nn.Conv2d(2, 6, 3, padding='same')
        self.bn = nn.BatchNorm2d(6)
        self.depth = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.fc = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))

    def forward(self, x):
        x = F.avg_pool2d(F.relu6(self.bn(self.Conv(x))), 2)
        x = torch.tanh(self.depth(x)) * torch.sigmoid(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Norms(nn.Module):
    """Norms, functions and pools with numbers of their own."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 6, (2, 3), padding='same', bias=False)
        self.bn = nn.BatchNorm2d(6, eps=1e-3, momentum=0.003)
        self.near = nn.LocalResponseNorm(4, alpha=0.3, beta=0.6, k=1.5)
        self.deep = nn.Conv2d(6, 4, 3, padding=2, dilation=2)
        self.fc = nn.Sequential(nn.Linear(4, 8), nn.RMSNorm(8, eps=1e-3), nn.GELU('tanh'), nn.Linear(8, 8), nn.SiLU(),
                                nn.Linear(8, 8), nn.Softplus(), nn.LayerNorm(8, eps=1e-2), nn.Linear(8, 3))

    def forward(self, x):
        x = F.leaky_relu(self.near(self.bn(self.conv(x))), 0.2)
        x = F.avg_pool2d(x, 3, 2, (1, 0), ceil_mode=True, count_include_pad=False)
        x = F.avg_pool2d(self.deep(x) * 0.5, (2, 3), 1, (1, 1)).clamp(-1, 2)
        x = F.adaptive_avg_pool2d(F.max_pool2d(x, 3, 2, 1), 1).flatten(1)
        return self.fc(x + x.detach())


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(7, 6), nn.Linear(6, 7)
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        return self.out(self.norm(self.table(x)))


class Decoder(nn.Module):
    """Grouped queries, SwiGLU, two blocks that are one, and a table that is the last layer's."""

    def __init__(self):
        super().__init__()
        self.table, self.norm, self.last = nn.Embedding(7, 12), nn.RMSNorm(12, eps=1e-5), nn.Linear(12, 7)
        self.q, self.k, self.v, self.o = (nn.Linear(12, side, bias=False) for side in (12, 6, 6, 12))
        self.gate, self.up, self.down = nn.Linear(12, 8), nn.Linear(12, 8), nn.Linear(8, 12)
        self.last.weight = self.table.weight

    def forward(self, x):
        h = self.table(x)
        for causal, scale in ((True, None), (False, 0.3)):
            z = self.norm(h)
            q, k, v = (one(z).view(len(x), x.shape[1], -1, 3).transpose(1, 2) for one in (self.q, self.k, self.v))
            z = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True)
            h = h + self.o(z.transpose(1, 2).reshape(h.shape))
            h = h + self.down(F.silu(self.gate(h)) * self.up(h))
        return self.last(self.norm(h))


class Heads(nn.Module):
    """PyTorch's own layer of attention, causal and not."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(7, 12), nn.Linear(12, 7)
        self.one, self.two = (nn.MultiheadAttention(12, 3, bias=bias, batch_first=True) for bias in (True, False))

    def forward(self, x):
        h = self.table(x)
        h = h + self.one(h, h, h)[0]
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=h.dtype)
        return self.out(h + self.two(h, h, h, attn_mask=mask, is_causal=True, need_weights=False)[0])


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x):
        return self.one(x, x, x, attn_mask=torch.ones(3, 3))[0]


WORDS = (Words, Decoder, Heads)


@pytest.mark.parametrize('kind', [Rounded, Norms, Words, Decoder, Heads])
def test_near_numbers(kind):
    """Norms and functions: what PyTorch computes in binary64, except for binary32's rounding."""
    torch.manual_seed(3)
    module = kind()
    x = torch.randint(0, 7, (5, 4)) if kind in WORDS else torch.randn(5, 2, 6, 6)
    traced = from_torch(module, x)
    net = traced.net(batch=5)
    labels = torch.randint(0, 3, (5, 4) if kind in WORDS else (5,))
    module.double()
    z = module(x if kind in WORDS else x.double())
    loss = F.cross_entropy(z.flatten(0, -2), labels.flatten())
    loss.backward()
    value = net.forward(inputs(x), labels.numpy())
    net.backward()
    np.testing.assert_allclose(value, loss.item(), rtol=1e-6)
    np.testing.assert_allclose(net.output.reshape(z.shape), z.detach().numpy(), rtol=1e-5, atol=2e-6)
    gradients = traced.state_dict(net, gradients=True)
    for name, parameter in module.named_parameters():
        np.testing.assert_allclose(gradients[name], parameter.grad.numpy(), rtol=3e-5, atol=2e-7, err_msg=name)


def test_scopes_and_dropout():
    module = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.25), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2)))
    text = from_torch(module, torch.zeros(2, 3)).text
    assert text == ('v0 = input(1, 3)\nv1 = linear(v0, 4)\nv2 = dropout(v1, 0.25)\nscope 2\nv3 = linear(v2, 4)\n'
                    'v4 = linear(v3, 2)\nend\noutput v4\n')
    assert 'dropout' not in from_torch(module.eval(), torch.zeros(2, 3)).text
    assert from_torch(module, torch.zeros(2, 3)).net(batch=2).parameter_names[2] == '2.linear1.weight'


def test_files(tmp_path):
    """Weights by the module's names, from and to safetensors files."""
    module, path = Rounded(), tmp_path / 'weights.safetensors'
    traced = from_torch(module, torch.zeros(2, 2, 6, 6))
    write_weights(path, {name: x.detach().numpy() for name, x in module.named_parameters()})
    net = Net(traced.text, batch=2, seed=9)
    traced.load(net, read_weights(path))
    assert net.digest == traced.net(batch=2).digest
    net.save_weights(path)
    other = Net(traced.text, batch=2, seed=10)
    before = other.digest
    for weights, says in (({}, "there is no 'conv1.weight'"),
                          (dict(net.parameters(), **{'fc.linear1.bias': np.zeros(3)}), 'fc.linear1.bias: shape')):
        with pytest.raises(ValueError, match=says):
            other.load_weights(weights)
    assert other.digest == before
    with pytest.raises(ValueError, match='fc.0.weight: shape'):
        traced.load(other, dict(traced.first, **{'fc.0.weight': np.zeros((3, 3))}))
    assert other.digest == before
    other.load_weights(path)
    assert other.digest == net.digest
    # Half precision is read exactly; other types are refused.
    for name, data in (('F16', struct.pack('<2e', 1.5, -2)), ('BF16', struct.pack('<2H', 0x3FC0, 0xC000))):
        header = ('{"a":{"dtype":"%s","shape":[2],"data_offsets":[0,4]}}' % name).encode()
        path.write_bytes(struct.pack('<Q', len(header)) + header + data)
        np.testing.assert_array_equal(read_weights(path)['a'], np.float32([1.5, -2]))
    path.write_bytes(path.read_bytes().replace(b'"BF16"', b'"I16" '))
    with pytest.raises(ValueError, match="tensor 'a' is not a whole one of"):
        read_weights(path)


class Half(nn.Module):
    """Two layers that share a weight, and no bias."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)
        self.two.weight = self.one.weight

    def forward(self, x):
        return self.two(self.one(x))


class Other(nn.Module):
    def __init__(self, of):
        super().__init__()
        self.of, self.one = of, nn.Linear(3, 3)

    def forward(self, x):
        return self.of(self.one(x))


@pytest.mark.parametrize('module, shape, says', [
    (Half(), (2, 3), 'one.weight is used twice, and not by two equal layers'),
    (Other(torch.sin), (2, 3), r'sin \(aten.sin.default\): there is no layer for it'),
    (Other(lambda x: x * x[:, :1]), (2, 3), 'there is no layer for it'),
    (Other(lambda x: x / torch.tanh(x)), (2, 3), 'div .*there is no layer for it'),
    (Other(lambda x: F.softplus(x, beta=2)), (2, 3), 'beta is not 1'),
    (Other(lambda x: x.clamp(min=0.5)), (2, 3), 'not between two numbers'),
    (Other(lambda x: x.view(3, 2)), (2, 3), 'from .* to'),
    (Other(lambda x: F.scaled_dot_product_attention(x, x, x)), (2, 4, 3), 'with a mask, or not of heads'),
    (Masked(), (2, 3, 4), 'another mask than a causal one'),
    (nn.BatchNorm2d(2, affine=False), (2, 2, 3, 3), 'without gain and offset'),
    (nn.BatchNorm2d(2, track_running_stats=False).eval(), (2, 2, 3, 3), 'without running statistics'),
    (nn.Sequential(nn.BatchNorm2d(2, momentum=None)).eval(), (2, 2, 3, 3), '0: a batch norm whose statistics are means')])
def test_refused(module, shape, says):
    with pytest.raises(ValueError, match=says):
        from_torch(module, torch.zeros(*shape))


def test_running_statistics():
    """PyTorch's running variance is that of R - 1, which evaluation takes."""
    torch.manual_seed(5)
    module = nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3, momentum=0.3), nn.Flatten(), nn.Linear(48, 2))
    x, labels = torch.randn(3, 1, 5, 5), torch.tensor([0, 1, 1])
    net = from_torch(module, x).net(batch=3)
    module.double()
    for _ in range(2):
        module(x.double())
        net.forward(inputs(x), labels.numpy(), training=True)
    z = module.eval()(x.double())
    net.forward(inputs(x), labels.numpy(), training=False)
    np.testing.assert_allclose(net.output, z.detach().numpy(), rtol=2e-5, atol=2e-6)
