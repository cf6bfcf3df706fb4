# SPDX-License-Identifier: MIT
"""Scales of a window of steps, as in the sources of MS-AMP, written here once more in NumPy."""
import math

import numpy as np
from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

from torch import nn  # isort: skip

MOST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}


def power(a, kind, scale):
    if a == 0 or not math.isfinite(a):
        return scale
    up = 2.0 ** math.floor(math.log2(MOST[kind] / a))
    while up * a > MOST[kind]:  # of a logarithm that is rounded up
        up /= 2
    return up


class Meta:
    """ScalingMeta and what the optimizer does with it."""

    def __init__(self, kind, window):
        self.kind, self.window, self.scale, self.counter = kind, window, 1.0, 0
        self.amax = np.zeros(window)

    def cast(self, x):
        a = float(x.abs().max())
        if self.window == 1 or self.counter < self.window:
            self.scale = power(a, self.kind, self.scale)
        self.amax[0] = max(self.amax[0], a)
        most = MOST[self.kind]
        return (x * self.scale).clamp(-most, most).to(self.kind).double(), 1 / self.scale

    def end(self):
        bad = not math.isfinite(self.amax[0])
        if bad:
            self.amax[0] = 0
        self.scale = power(self.amax.max(), self.kind, self.scale)
        self.amax = np.roll(self.amax, 1)
        self.amax[0] = 0
        self.counter = 0 if bad else self.counter + 1


def tensors(count, bad):
    for i in range(count):
        size = (1.0, 8.0, 0.25, 3.0, 1e-3, 0.125, 1024.0)[i % 7]
        x, g = plain(24, 40, seed=i) * size, plain(24, 16, seed=90 + i) * size * 1e-4
        if i in bad:
            g[0, 0] = float('inf')
        yield x, g


@pytest.mark.parametrize('window, bad', [(3, ()), (1, ()), (16, ()), (3, (5,))])
def test_by_hand(window, bad):
    recipe = ht.recipes.fp8_lm_history(window).but(accum='exact')
    model = ht.convert(nn.Sequential(nn.Linear(40, 16, bias=False)), recipe)
    of_x, of_g = Meta(torch.float8_e4m3fn, window), Meta(torch.float8_e5m2, window)
    for i, (x, g) in enumerate(tensors(12, bad)):
        x = x.requires_grad_()
        model.zero_grad()
        y = model(x)
        y.backward(g)
        w = model[0].weight.detach()
        (cx, sx), (cw, sw), (cg, sg) = of_x.cast(x.detach()), Meta(torch.float8_e4m3fn, 1).cast(w), of_g.cast(g)

        def product(a, b, scale):
            return (a @ b).float() * scale
        same(y.detach(), product(cx, cw.t(), sx * sw))
        if i not in bad:
            same(x.grad, product(cg, cw, sg * sw))
            codes, scale = Meta(torch.float8_e4m3fn, 1).cast(product(cg.t(), cx, sg * sx))
            same(model[0].weight.grad, (codes * scale).float())
        of_x.end(), of_g.end()
        recipe.step()
        state = recipe.state_dict()['0']
        for name, meta in (('x', of_x), ('g', of_g)):
            assert state[name][0] == meta.scale and state[name][-1] == min(meta.counter, window)
        with torch.no_grad():
            model[0].weight.mul_(1.25)
            model(1000 * x)  # evaluation records nothing
    assert recipe.state_dict()['0'] == state


def test_states_and_refusals():
    x = plain(12, 8)

    def trained(recipe, model, count):
        made = []
        for i in range(count):
            model.zero_grad()
            y = model(x * (i + 1))
            y.square().sum().backward()
            recipe.step()
            made.append(y.detach().clone())
        return made
    first, second = ht.recipes.fp8_lm_history(2), ht.recipes.get('fp8_lm_history', history=2)
    model = ht.convert(nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4)), first)
    trained(first, model, 3)
    second.load_state_dict(first.state_dict())
    assert second.state_dict() == first.state_dict()
    plainly = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4))
    plainly.load_state_dict(model.state_dict())
    for one, two in zip(trained(first, model, 3), trained(second, ht.convert(plainly, second), 3)):
        same(one, two)
    with pytest.raises(ValueError, match="'0': 4 numbers of 'x' instead of 18 of x, g"):
        ht.recipes.fp8_lm_history().load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match='history: 0 is not 1 to 65536'):
        ht.recipes.fp8_lm_history(0)


@pytest.mark.parametrize('size', [0.0, 2.0 ** -140, 3e38])
def test_numbers_at_the_ends(size):
    """No scale that is not finite, and none whose reciprocal is 0."""
    recipe = ht.recipes.fp8_lm_history()
    model = ht.convert(nn.Linear(8, 4, bias=False), recipe)
    with torch.no_grad():
        model.weight.fill_(0.5)
    y = model(torch.full((2, 8), size))
    want = min(max(size, 0), 3e38) * 4
    assert (y == 0).all() if size < 1e-30 else ((y - want).abs() <= want / 8).all() or (y == float('inf')).all()
