# SPDX-License-Identifier: MIT
"""Assignments of precision on models of many shapes, their state, and what they refuse."""
import copy
import gc
import weakref

from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

import torch.utils.checkpoint  # isort: skip
from torch import nn

F8, F16 = 'float8_e4m3fn', 'bfloat16'
FORMATS = dict(low=F8, low_gradients=F8, high=F16, high_gradients=F16)


class Residual(nn.Module):
    """A block with functions between its modules, a gain of its own and an activation that works in place."""

    def __init__(self, width=6):
        super().__init__()
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
        self.act, self.gain = nn.ReLU(inplace=True), nn.Parameter(torch.full((width,), 1.03))

    def forward(self, x):
        y = self.second(self.act(self.first(x)))
        y += x
        return self.gain * torch.tanh(y)


def described(plan):
    return [(row.name, row.elements, row.reads, row.product, row.owner) for row in plan.rows]


def test_functions_and_own_parameters():
    torch.manual_seed(0)
    block, x = Residual(), plain(4, 6)
    plan = ht.assign(block, 'uniform', sample=x, **FORMATS)
    assert described(plan) == [('input', 24, 0, False, None), ('first', 24, 0, True, 'first'),
                               ('act', 24, 1, False, None), ('second', 24, 2, True, 'second'),
                               ('Residual', 24, 0, False, 'Residual')]
    assert plan.outside == () and [t.elements for t in plan.tensors if t.kind == 'parameters'] == [42, 42, 6]
    z = block(x)
    plan.remove()
    r = ht.quantize(x, F8)
    y = r
    for layer in (block.first, block.second):
        y = ht.quantize(nn.functional.linear(y, *(ht.quantize(p, F8) for p in layer.parameters())), F8).relu()
        if layer is block.second:
            y = ht.quantize(nn.functional.linear(kept, *(ht.quantize(p, F8) for p in layer.parameters())), F8)
        kept = y
    same(z.detach(), ht.quantize(ht.quantize(block.gain, F8) * torch.tanh(y + r), F8).detach())


class Shared(nn.Module):
    """One module in two places of the row, a view between modules, and what two modules read."""

    def __init__(self):
        super().__init__()
        self.layer, self.flat, self.spare = nn.Linear(4, 4, bias=False), nn.Flatten(), nn.Linear(2, 2)

    def forward(self, x):
        a = self.layer(self.flat(x))
        b = a.sin()
        return self.layer(b), self.layer(b.view(-1, 4).t().t())


def test_one_module_twice():
    """Its parameters belong to the first operator and are rounded once: so is the sum of their gradients."""
    torch.manual_seed(0)
    model, x = Shared(), plain(3, 2, 2)
    plan = ht.assign(model, 'uniform', sample=x, parameter_gradients='rule', **FORMATS)
    assert described(plan) == [('input', 12, 0, False, None), ('layer', 12, 0, True, 'layer'),
                               ('layer#2:input', 12, 1, False, None), ('layer#2', 12, 2, True, None),
                               ('layer#3', 12, 2, True, None)]
    assert plan.outside == ('spare.weight', 'spare.bias')
    one, two = model(x)
    same(one.detach(), two.detach())
    (one.sum() + two.sum()).backward()
    w, r = ht.quantize(model.layer.weight, F8, backward=F8), ht.quantize(x, F8).flatten(1)
    model.layer.weight.grad, grad = None, model.layer.weight.grad

    def layer(z):
        return ht.quantize(z @ w.t(), F8, backward=F8)
    b = ht.quantize(layer(r).sin(), F8, backward=F8)
    (layer(b).sum() + layer(b).sum()).backward()
    same(grad, model.layer.weight.grad)


class Parts(nn.Module):
    """Modules that read a part of a value, other views of what functions made, and two values; a parameter of a module
    that makes no value."""

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.left, self.all, self.both = nn.Linear(2, 2), nn.Linear(8, 3), nn.Bilinear(2, 3, 4)

    def forward(self, x):
        y = self.inner(x).sin()
        half, wide = y.chunk(2)[0], y.view(1, 8)
        return self.both(self.left(half.reshape(1, 4)[:, 1:3]), self.all(wide))


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = nn.Linear(4, 4), nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.layer(x)


def test_views_and_parts():
    model, x = Parts(), plain(2, 4)
    plan = ht.assign(model, 'uniform', sample=x, **FORMATS)
    assert described(plan) == [('input', 8, 0, False, None), ('inner.layer', 8, 0, True, 'inner.layer'),
                               ('inner', 0, 0, False, 'inner'), ('left:input', 2, 2, False, None),
                               ('left', 2, 3, True, 'left'), ('all:input', 8, 4, False, None),
                               ('all', 3, 5, True, 'all'), ('both', 4, 4, True, 'both')]
    assert [t.elements for t in plan.tensors if t.name == 'inner'] == [3, 3] and plan.outside == ()
    model(x).sum().backward()
    assert plan.step() == []


def test_parts_of_values():
    """The first half of a value is another one; a value in another shape is the same."""
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.part = nn.ReLU(), nn.ReLU()

        def forward(self, x):
            return self.part(self.one(x).chunk(2)[0]), self.one(x.flatten())
    plan = ht.assign(Halves(), 'uniform', sample=plain(2, 4), **FORMATS)
    assert described(plan) == [('input', 8, 0, False, None), ('one', 8, 0, False, None),
                               ('part:input', 4, 1, False, None), ('part', 4, 2, False, None),
                               ('one#2', 8, 0, False, None)]


def test_two_readers_of_what_functions_made():
    """One reads it as it is, the other in another shape: that is another value, in every pass."""
    class Readers(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.ReLU(), nn.ReLU()

        def forward(self, x):
            y = x.sin()
            return self.one(y), self.two(y.flatten())
    model = Readers()
    plan = ht.assign(model, 'uniform', sample=plain(2, 4), **FORMATS)
    assert [row.name for row in plan.rows] == ['input', 'one:input', 'one', 'two:input', 'two']
    one, two = model(plain(2, 4))
    same(one.flatten(), two)


class Names(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell, self.attention = nn.Embedding(7, 8), nn.LSTM(8, 8), nn.MultiheadAttention(8, 2)
        self.input = nn.LayerNorm(8)

    def forward(self, tokens, keep=None):
        x, (h, c) = self.cell(self.table(tokens))
        y, _ = self.attention(x, x, x, need_weights=False)
        return {'y': self.input(y), 'states': [h, c]}


def test_names_cells_attention():
    """An input of integers has no elements; parameters that modules keep in lists of their own are rounded, too."""
    torch.manual_seed(0)
    model, tokens = Names(), torch.arange(10).view(5, 2) % 7
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(1.01)
    plan = ht.assign(model, 'uniform', sample={'tokens': tokens}, low='bfloat16', low_gradients='keep')
    assert described(plan) == [('input', 0, 0, False, None), ('table', 80, 0, False, 'table'),
                               ('cell', 80, 1, True, 'cell'), ('cell[1]', 16, 1, False, None),
                               ('cell[2]', 16, 1, False, None), ('attention', 80, 2, True, 'attention'),
                               ('input#2', 80, 5, False, 'input')]
    assert plan.outside == () and plan.tensors[0].name == 'table'
    made = model(tokens=tokens)
    plan.remove()
    twin = copy.deepcopy(model)
    with torch.no_grad():
        for p in twin.parameters():
            ht.quantize_(p, 'bfloat16')
    x, (h, c) = twin.cell(ht.quantize(twin.table(tokens), 'bfloat16'))
    x = ht.quantize(x, 'bfloat16')
    y = ht.quantize(twin.attention(x, x, x, need_weights=False)[0], 'bfloat16')
    same(made['y'].detach(), ht.quantize(twin.input(y), 'bfloat16').detach())
    same(made['states'][1].detach(), ht.quantize(c, 'bfloat16').detach())
    same(model(tokens)['y'].detach(), copy.deepcopy(model)(tokens)['y'].detach())


def test_layers_of_this_package():
    """Converted layers are products and keep their recipes, with random words and counts of their own."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Flatten(), nn.Linear(12, 4), nn.Linear(4, 4))
    low = ht.convert(net, ht.Recipe(x='float8_e4m3fn,sra:8', w=F8), key=4, count=True)
    stream = low[0].stream.clone()
    plan = ht.assign(low, 'op', sample=plain(2, 1, 4, 4), **FORMATS)
    assert torch.equal(low[0].stream, stream) and int(low[0].seen.sum()) == 0
    assert [row.product for row in plan.rows[1:]] == [True, True, True]
    low(plain(2, 1, 4, 4)).sum().backward()
    assert low[2].weight.grad is not None and not torch.equal(low[0].stream, stream)


def test_the_sample_leaves_no_trace():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    before, state = torch.get_rng_state(), copy.deepcopy(model.state_dict())
    plan = ht.assign(model, sample=plain(8, 4))
    assert torch.equal(torch.get_rng_state(), before)
    for name, x in model.state_dict().items():
        assert torch.equal(x, state[name]) and x.data_ptr() != state[name].data_ptr()
    assert list(dict(model.named_parameters())) == ['0.weight', '0.bias', '1.weight', '1.bias']
    model.eval()
    with torch.no_grad():
        assert model(plain(3, 4)).shape == (3, 4)  # without dropout, and of another size
    with pytest.raises(RuntimeError, match='without a pass for training'):
        plan.step()


def test_failures_leave_the_model_whole():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    plan = ht.assign(model, 'uniform', sample=plain(3, 4))
    expected = model(plain(3, 4))
    with pytest.raises(RuntimeError, match='shapes cannot be multiplied'):
        model(plain(3, 5))
    assert isinstance(model[0].weight, nn.Parameter) and 'weight' not in model[0].__dict__
    same(model(plain(3, 4)).detach(), expected.detach())
    with pytest.raises(RuntimeError, match="module '1' was called outside of a call of the model"):
        model[1](plain(3, 4))
    with pytest.raises(RuntimeError, match='has an assignment already'):
        ht.assign(model, sample=plain(3, 4))
    plan.remove()
    with pytest.raises(RuntimeError, match='shapes cannot be multiplied'):
        ht.assign(model, sample=plain(3, 5))
    assert not model._forward_hooks and not model[1]._forward_pre_hooks
    same(model(plain(3, 4)).detach(), nn.Sequential(*model)(plain(3, 4)).detach())


@pytest.mark.filterwarnings('error::pytest.PytestUnraisableExceptionWarning')
def test_compiled_models():
    """The modules are compiled one by one, without complaints; bits and promotion are those without torch.compile."""
    made = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
        plan = ht.assign(model, 'uniform', sample=plain(3, 4), promote=0.01)
        call = torch.compile(model, backend='eager') if compiled else model
        for step in range(3):
            y = call(plain(3, 4, seed=step) * 8.0 ** step)
            y.sum().backward()
            made.append((y.detach(), model[0].weight.grad.clone(), plan.step()))
    assert made[2][2] and [x[2] for x in made[:3]] == [x[2] for x in made[3:]]
    for a, b in zip(made[:3], made[3:]):
        same(a[0], b[0])
        same(a[1], b[1])


def test_checkpointing_is_refused():
    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = nn.Linear(4, 4)

        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(self.part, x, use_reentrant=False)
    model = Again()
    ht.assign(model, 'uniform', sample=plain(3, 4))
    with pytest.raises(RuntimeError, match='outside of a call of the model'):
        model(plain(3, 4)).sum().backward()


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, second=False):
        return self.two(x) if second else self.one(x)


def test_another_way_through_the_model():
    model = Branch()
    ht.assign(model, sample=plain(3, 4))
    with pytest.raises(ValueError, match="uses the parameter 'weight' of module 'two'"):
        model(plain(3, 4), second=True)
    assert model(plain(3, 4)).shape == (3, 4) and 'weight' not in model.two.__dict__


@pytest.mark.parametrize('more, why', [
    (dict(rule='best'), 'rule: .best. is not one of high, uniform, op'),
    (dict(rule='op', ratio=0.5), 'they belong to the rule demote'),
    (dict(rule='uniform', order='largest'), 'they belong to the rule demote'),
    (dict(order='middle'), 'order: .middle. is not one of'),
    (dict(ratio=1.5), 'ratio: 1.5 is not between 0 and 1'), (dict(ratio='a half'), 'ratio: .a half. is no ratio'),
    (dict(ratio=float('nan')), 'ratio: nan is no ratio'), (dict(ratio=(1, 0)), r'ratio: \(1, 0\) is no ratio'),
    (dict(promote=-0.1), 'promote: -0.1 is not between'), (dict(promote=1e-7), 'promote: 1e-07 is not between'),
    (dict(low='fp(9)'), 'rounding'), (dict(parameter_gradients='low'), 'parameter_gradients: .low. is neither'),
    (dict(sample=torch.arange(3)), 'went through no module')])
def test_refused(more, why):
    model = nn.Sequential(nn.Linear(4, 4)) if 'sample' not in more else nn.Identity()
    with pytest.raises(ValueError, match=why):
        ht.assign(model, **dict(dict(sample=plain(3, 4)), **more))
    assert not model._forward_hooks


def test_loss_refused():
    model = nn.Linear(4, 2)
    plan = ht.assign(model, sample=plain(3, 4))
    with pytest.raises(ValueError, match=r'it is not a value of this assignment; assign\(..., loss=True\)'):
        plan.loss(model(plain(3, 4)).sum())
    plan.remove()
    named = nn.Sequential()
    named.add_module('loss', nn.Linear(4, 1))
    with pytest.raises(ValueError, match='loss: a module of the model has this name'):
        ht.assign(named, sample=plain(3, 4), loss=True)
    with pytest.raises(ValueError, match='it is not a value of this assignment'):
        ht.assign(named, sample=plain(3, 4)).loss(plain(1))
    plan = ht.assign(model, sample=plain(3, 4), loss=True)
    with pytest.raises(ValueError, match='loss: one number is required, not 6'):
        plan.loss(model(plain(3, 4)))


def trained(model, plan, steps, first=0):
    """Some steps of SGD under growing inputs; the names that were promoted."""
    optimizer, names = torch.optim.SGD(model.parameters(), lr=0.01), []
    for step in range(first, first + steps):
        optimizer.zero_grad()
        model(plain(8, 4, seed=step) * 2.0 ** step).square().mean().backward()
        optimizer.step()
        names += plan.step()
    return names


def test_state_and_copies():
    """A run that is resumed, and one of a copied model, continue with the same bits."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    text = dict(low='fp(4,3,4):finite,sra:8', key=5)
    plan = ht.assign(model, 'uniform', sample=plain(8, 4), promote=0.01, **text)
    assert trained(model, plan, 5)
    twin = copy.deepcopy(model)
    other = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    other.load_state_dict(model.state_dict())
    resumed = ht.assign(other, 'uniform', sample=plain(8, 4), promote=0.01, **dict(text, key=0))
    resumed.load_state_dict(copy.deepcopy(plan.state_dict()))
    assert resumed.state_dict() == plan.state_dict() and repr(resumed) == repr(plan)
    names = trained(model, plan, 3, 5)
    assert names and trained(other, resumed, 3, 5) == names and resumed.mean_ratio == plan.mean_ratio < 1
    copied = [h for h in twin._forward_pre_hooks.values()][0].func.__self__.visitor
    assert trained(twin, copied, 3, 5) == names and copied is not plan
    for a, b, c in zip(model.parameters(), other.parameters(), twin.parameters()):
        same(a.detach(), b.detach())
        same(a.detach(), c.detach())
    state = dict(plan.state_dict(), names=['input'])
    with pytest.raises(ValueError, match='of a model with other tensors'):
        resumed.load_state_dict(state)
    with pytest.raises(ValueError, match='of a model with other tensors'):
        resumed.load_state_dict(dict(plan.state_dict(), v=[2, 1, 1, 1]))


def test_memory():
    """Bits, tensor by tensor; scaled ones with their scales."""
    model, x = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2), nn.Linear(2, 2)), torch.zeros(5, 64)
    values, thetas = [320, 160, 160, 10, 10], [32 * 65, 0, 66, 6]
    plan = ht.assign(model, 'uniform', sample=x)
    memory = plan.memory()
    assert memory == (8 * sum(values), 8 * sum(values), 8 * sum(thetas), 16 * sum(thetas),
                      16 * sum(values) + 24 * sum(thetas), 32 * (sum(values) + sum(thetas)))
    plan.remove()
    plan = ht.assign(model, 'op', sample=x, low='mxfp8_e4m3', high='keep', high_gradients='keep')
    # The value of 160 elements before the product, in 5 blocks of 32, and its weights, 2 of 32 and a bias, are low.
    assert plan.memory().values == 32 * (sum(values) - 160) + 8 * (160 + 5)
    assert plan.memory().weights == 32 * (sum(thetas) - 66) + 8 * (66 + 3)


def test_activations_are_not_kept():
    """Without gradients nothing of a pass outlives it, or waits for its end."""
    alive, most, collects = weakref.WeakSet(), [0], [False]

    class Watch(nn.Module):
        def forward(self, x):
            if collects[0]:
                gc.collect()
            alive.add(x)
            most[0] = max(most[0], len(alive))
            return x + 1
    model = nn.Sequential(*(Watch() for _ in range(6)))
    ht.assign(model, 'uniform', sample=plain(5, 4))
    alive.clear()
    most[0], collects[0] = 0, True
    gc.collect()
    gc.freeze()  # what was there before, which whole packages are, is not looked at by each collection
    try:
        with torch.no_grad():
            model(plain(5, 4))
        gc.collect()
        assert most[0] <= 3 and len(alive) == 0
    finally:
        gc.unfreeze()


def test_kept_tensors_keep_their_bits():
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), plain(3, 4)
    expected = model(x).detach()
    plan = ht.assign(model, 'uniform', sample=x, low='keep', low_gradients='keep', high='keep', high_gradients='keep',
                     promote=0.5)
    same(model(x).detach(), expected)
    assert plan.step() == [] and {t.overflow for t in plan.tensors} == {0.0, None}
