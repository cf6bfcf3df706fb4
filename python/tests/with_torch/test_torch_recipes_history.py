# SPDX-License-Identifier: MIT
"""Delayed scaling: the rule of hu_net_delay_product (halfulp/train/products.h) written here once more, and halfulp.train's network."""
import copy
import math

import numpy as np
from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

from torch import nn  # isort: skip

MOST = {'x': 448.0, 'w': 448.0, 'g': 57344.0}
KINDS = {'x': torch.float8_e4m3fn, 'w': torch.float8_e4m3fn, 'g': torch.float8_e5m2}


class ByHand:
    """One operand: the amax in force, and those of earlier steps."""

    def __init__(self, history, takes, margin):
        self.force, self.past, self.history, self.takes, self.margin = 0.0, [], history, takes, margin

    def end(self, a):
        self.past = ([a] + self.past)[:self.history]
        found = max(self.past) if self.takes == 'max' else a
        if found and math.isfinite(found):
            self.force = found

    def codes(self, x, name):
        most = MOST[name]
        up = np.float32(most) / np.float32(self.force * 2 ** self.margin) if self.force else np.float32(1)
        codes = (x * float(up)).clamp(-most, most).to(KINDS[name]).double()
        return codes, float(np.float32(1) / up)


def steps(count):
    """Tensors that grow and shrink; one step has an infinity."""
    for i in range(count):
        size = (1.0, 8.0, 0.25, 3.0, 0.125, 0.125, 2.0)[i % 7]
        x, g = plain(24, 40, seed=i) * size, plain(24, 16, seed=90 + i) * size * 1e-4
        if i == 2:
            g[0, 0] = float('inf')
        yield x, g


@pytest.mark.parametrize('history, takes, margin', [(3, 'max', 0), (1, 'max', 0), (1024, 'most_recent', 2)])
def test_by_hand(history, takes, margin):
    recipe = ht.recipes.te_delayed(history, takes, margin).but(accum='exact')
    model = ht.convert(nn.Sequential(nn.Linear(40, 16, bias=False)), recipe)
    hand = {name: ByHand(history, takes, margin) for name in MOST}
    for x, g in steps(9):
        x = x.requires_grad_()
        model.zero_grad()
        y = model(x)
        y.backward(g)
        w = model[0].weight.detach()
        made = {name: hand[name].codes(v, name) for name, v in (('x', x.detach()), ('w', w), ('g', g))}
        def product(a, b, one, other):
            return (a @ b).float() * float(np.float32(one) * np.float32(other))
        (cx, sx), (cw, sw), (cg, sg) = made['x'], made['w'], made['g']
        same(y.detach(), product(cx, cw.t(), sx, sw))
        same(x.grad, product(cg, cw, sg, sw))
        same(model[0].weight.grad, product(cg.t(), cx, sg, sx))
        for name, v in (('x', x.detach()), ('w', w), ('g', g)):
            hand[name].end(float(v.abs().max()))
        recipe.step()
        with torch.no_grad():
            model[0].weight.mul_(1.25)
            assert model(1000 * x).isfinite().all()  # evaluation records nothing
    state = recipe.state_dict()['0']
    assert [state[name][0] for name in 'xwg'] == [hand[name].force for name in 'xwg']
    assert len(state['x']) == 1 + history and state['x'][1:1 + len(hand['x'].past)] == hand['x'].past


def test_several_passes_are_one_step():
    recipe = ht.recipes.te_delayed(history=4)
    model = ht.convert(nn.Linear(8, 4), recipe, strict=True)
    for size in (1.0, 5.0, 2.0):
        model(torch.full((3, 8), size)).sum().backward()
    recipe.step()
    assert recipe.state_dict()['']['x'] == [5.0, 5.0, 0.0, 0.0, 0.0]
    recipe.step()  # nothing ran: 0, and the amax in force stays
    assert recipe.state_dict()['']['x'] == [5.0, 0.0, 5.0, 0.0, 0.0]
    model(torch.full((3, 8), float('nan'))).sum().backward()
    recipe.step()
    assert recipe.state_dict()['']['x'] == [5.0, float('inf'), 0.0, 5.0, 0.0]


def test_continued():
    """A state that is loaded gives the bits of the run without a break; copies of a model share the records."""
    x = plain(12, 8) * 3
    def trained(recipe, model, count):
        made = []
        for i in range(count):
            model.zero_grad()
            y = model(x * (i + 1))
            y.square().sum().backward()
            recipe.step()
            made.append(y.detach().clone())
        return made
    first = ht.recipes.te_delayed(history=2)
    model = ht.convert(nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4)), first)
    trained(first, model, 3)
    second = ht.recipes.te_delayed(history=2)
    second.load_state_dict(first.state_dict())
    plainly = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4))
    plainly.load_state_dict(model.state_dict())
    other = ht.convert(plainly, second)
    twin = copy.deepcopy(model)
    for one, two in zip(trained(first, model, 3), trained(second, other, 3)):
        same(one, two)
    same(model(x).detach(), twin(x).detach())
    with pytest.raises(ValueError, match="'0': 3 numbers of 'x' instead of 6"):
        ht.recipes.te_delayed(history=5).load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match="of 'y'"):
        second.load_state_dict({'0': {'y': [0.0] * 3}})


def test_in_a_context():
    """The records are those of the object, so that a context that is entered for each step continues."""
    model, x = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4)), plain(12, 8) * 3
    recipe, other = ht.recipes.te_delayed(), ht.recipes.te_delayed()
    low = ht.convert(model, other)
    for i in range(3):
        with ht.precision(recipe, strict=True) as p:
            z = model(x * (i + 1))
            z.square().sum().backward()
        recipe.step()
        y = low(x * (i + 1))
        y.square().sum().backward()
        other.step()
        same(y.detach(), z.detach())
    assert recipe.state_dict() == other.state_dict() and sorted(recipe.state_dict()) == ['0', '2']
    assert p.report().share == 1 and p.report().rows[0]['a'].startswith('float8_e4m3fn')
    same(low[2].weight.grad, model[2].weight.grad)


def test_narrow_tensors():
    recipe = ht.recipes.te_delayed()
    model, x = ht.convert(nn.Linear(8, 6).to(torch.bfloat16), recipe), plain(4, 8, dtype=torch.bfloat16)
    y = model(x)
    y.sum().backward()
    assert y.dtype == model.weight.grad.dtype == torch.bfloat16


def test_refused():
    for how, error in (({'history': 0}, ValueError), ({'takes': 'mean'}, ValueError), ({'margin': 65}, ValueError),
                       ({'history': '3'}, TypeError)):
        with pytest.raises(error, match=list(how)[0]):
            ht.recipes.te_delayed(**how)
    with pytest.raises(ValueError, match='recipe: a layer alone has no history'):
        ht.Linear(4, 4, recipe=ht.recipes.te_delayed())(torch.ones(1, 4))
    with pytest.raises(ValueError, match='counts no events'):
        ht.convert(nn.Linear(4, 4), ht.recipes.te_delayed(), count=True)(torch.ones(1, 4))
    with pytest.raises(ValueError, match='x= is given, and the steps of this recipe decide it'):
        ht.recipes.te_delayed().but(x='bfloat16')
    with pytest.raises(ValueError, match='not for convolutions'):
        ht.convert(nn.Conv2d(1, 1, 2), ht.recipes.te_delayed().on(nn.Conv2d))(torch.ones(1, 1, 4, 4))
    compiled = torch.compile(ht.convert(nn.Linear(4, 4), ht.recipes.te_delayed()), backend='eager', fullgraph=True)
    with pytest.raises(Exception, match='torch.compile takes no recipe whose steps are its own'):
        compiled(torch.ones(1, 4))
