# SPDX-License-Identifier: MIT
"""Recipes by name: a step of a network is that of truncations placed by hand around torch's own layers."""
import copy

from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

import halfulp.torch._records as records  # isort: skip
from torch import nn
from torch.nn import functional as F


def around(product, x, w, text):
    """Figure 4 of Cambier et al.: X, W and dZ before the product; Z, dX and dW after it. torch multiplies in float64,
    where the sums of these float32 numbers are exact or rounded far below float32's digits."""
    x, w = ht.quantize(x, backward=text), ht.quantize(w, backward=text)  # dX, dW
    x, w = ht.quantize(x, text), ht.quantize(w, text)
    z = product(x.double(), w.double()).float()
    z = ht.quantize(z, backward=text)  # dZ
    return ht.quantize(z, text)


class ByHand(nn.Module):
    """A network of this file with truncations around torch's own linear and conv2d."""

    def __init__(self, net, text):
        super().__init__()
        self.net, self.text = net, text

    def forward(self, x):
        for layer in self.net:
            if isinstance(layer, nn.Embedding):
                x = ht.quantize(layer(x), self.text)
            elif isinstance(layer, nn.Linear):
                x = around(F.linear, x, layer.weight, self.text) + layer.bias
            elif isinstance(layer, nn.Conv2d):
                x = around(lambda a, b: F.conv2d(a, b, None, layer.stride, layer.padding), x, layer.weight,
                           self.text) + layer.bias.view(1, -1, 1, 1)
            else:
                x = layer(x)
        return x


def mlp():
    return nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 5)), plain(12, 20) * 1e-3


def conv():
    return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 3, 2, stride=2), nn.Flatten(),
                         nn.Linear(27, 5)), plain(6, 2, 6, 6) * 1e4


def patches():
    return nn.Sequential(nn.Conv2d(2, 4, 3, stride=3), nn.ReLU(), nn.Conv2d(4, 3, 2), nn.Flatten(),
                         nn.Linear(3, 5)), plain(6, 2, 6, 6) * 1e4


def tokens():
    return (nn.Sequential(nn.Embedding(9, 8), nn.Flatten(), nn.Linear(24, 5)),
            torch.arange(18).view(6, 3) * 5 % 9)


def step(net, x):
    """Loss, gradients (the input's, too) and weights of one step of SGD with momentum and a loss of many binades."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = x.clone().requires_grad_(x.is_floating_point())
    z = net(x)
    weights = torch.exp2(torch.arange(z.numel()).view_as(z) % 12 - 20.0)
    loss = (weights * (z - 1).square()).sum()
    loss.backward()
    grads = [p.grad.clone() for p in net.parameters()]
    optimizer.step()
    return [z.detach(), loss.detach()] + grads + [p.detach().clone() for p in net.parameters()] + [
        x.grad if x.requires_grad else torch.zeros(1, 1)]


@pytest.mark.parametrize('make', [mlp, conv, patches, tokens])
@pytest.mark.parametrize('name, text', [('s2fp8', 's2fp8'), ('fp8_e5m2', 'fp(5,2,0)')])
def test_one_step(make, name, text):
    torch.manual_seed(0)
    net, x = make()
    recipe = getattr(ht.recipes, name)()
    exact = step(ht.convert(net, recipe.but(accum='exact')), x)
    hand = step(ByHand(copy.deepcopy(net), text), x)
    for i, (a, b) in enumerate(zip(exact, hand)):
        # Gradients of biases are sums in torch's own order; so is dX of overlapping windows.
        if a.dim() == 1 or (make is conv and i == len(hand) - 1):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-30)
        else:
            same(a, b)
    fp32 = step(ht.convert(net, recipe), x)
    assert all(torch.isfinite(a).all() for a in fp32)
    torch.testing.assert_close(fp32[0], exact[0], rtol=0.3, atol=float(exact[0].abs().max()) / 16)


def test_embeddings():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Embedding(9, 8, padding_idx=2), nn.Linear(8, 4))
    low = ht.convert(net, ht.recipes.s2fp8('sra:8'), key=3, count=True)
    assert type(low[0]) is ht.Embedding and low[0].padding_idx == 2 and "rounding='s2fp8,sra:8'" in repr(low[0])
    t = torch.arange(9)
    words = records.child(records.child(3, 0), 0)  # of layer 0, of its look-ups
    same(low[0](t).detach(), ht.s2fp8(net[0](t), 'sra:8', stream=words).detach())
    assert low[0].events_of()['out']['inexact'] > 0
    assert type(ht.convert(net, 's2fp8')[0]) is nn.Embedding  # a rounding is one of operands
    assert type(ht.convert(net, ht.recipes.s2fp8(), skip='0')[0]) is nn.Embedding
    low[0](t).sum().backward()
    assert low[0].weight.grad[2].abs().sum() == 0 and low[0].weight.grad[3].eq(1).all()


def test_refused():
    with pytest.raises(ValueError, match='rounding'):
        ht.Recipe(embedding='float9')
    with pytest.raises(ValueError, match='rounding'):
        ht.recipes.s2fp8('nearest')
