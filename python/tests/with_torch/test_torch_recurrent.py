# SPDX-License-Identifier: MIT
"""Recurrent networks, each by its name, and grouped products, under recipes: written out product by product, from
docs/torch/products.md and torch's formulas of the gates."""
from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

import torch.nn.functional as F
from torch import nn

# With one scale for a whole tensor it matters which rows are one product.
RECIPES = [ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2', dx='bfloat16', out='bfloat16'),
           ht.Recipe(x='fp8_tensor', w='fp8_tensor', g='fp8_tensor')]
GATES = {'LSTM': 4, 'GRU': 3, 'RNN': 1}


def step(kind, x, h, state, activation):
    """The next state, from the products with input and state: the formulas of torch's documentation."""
    if kind == 'LSTM':
        i, f, g, o = (x + h).chunk(4, -1)
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if kind == 'GRU':
        (xr, xz, xn), (hr, hz, hn) = x.chunk(3, -1), h.chunk(3, -1)
        n = (xn + (xr + hr).sigmoid() * hn).tanh()
        return (n + (xz + hz).sigmoid() * (state[0] - n),)
    return (getattr(x + h, activation)(),)


def cell(module, x, state, recipe):
    kind = type(module).__name__[:-4]
    return step(kind, ht.linear(x, module.weight_ih, module.bias_ih, recipe),
                ht.linear(state[0], module.weight_hh, module.bias_hh, recipe), state, getattr(module, 'nonlinearity', None))


def direction(module, suffix, x, state, recipe):
    """Outputs of all steps, and the last state."""
    w = {name: getattr(module, name + suffix, None) for name in ('weight_ih', 'weight_hh', 'bias_ih', 'bias_hh', 'weight_hr')}
    rows = ht.linear(x.flatten(0, 1), w['weight_ih'], w['bias_ih'], recipe).unflatten(0, x.shape[:2])
    seen = [None] * len(x)
    for t in reversed(range(len(x))) if suffix.endswith('reverse') else range(len(x)):
        state = step(type(module).__name__, rows[t], ht.linear(state[0], w['weight_hh'], w['bias_hh'], recipe), state,
                     getattr(module, 'nonlinearity', None))
        if w['weight_hr'] is not None:
            state = (ht.linear(state[0], w['weight_hr'], None, recipe), state[1])
        seen[t] = state[0]
    return torch.stack(seen), state


def network(module, x, state, recipe):
    suffixes, last = ['', '_reverse'] if module.bidirectional else [''], []
    for layer in range(module.num_layers):
        made = [direction(module, '_l{}{}'.format(layer, suffix), x, tuple(s[layer * len(suffixes) + i] for s in state), recipe)
                for i, suffix in enumerate(suffixes)]
        x = torch.cat([one for one, _ in made], -1)
        last += [state for _, state in made]
    return (x, *(torch.stack(one) for one in zip(*last)))


def flat(z):
    return [one for one in torch.utils._pytree.tree_leaves(z) if isinstance(one, torch.Tensor)]


def with_gradients(z, parameters):
    ends = [torch.cos(1.3 * torch.arange(one.numel())).view(one.shape) for one in flat(z)]
    return [one.detach() for one in flat(z)] + list(torch.autograd.grad(flat(z), parameters, ends))


def checked(module, call, want, recipe):
    """A module under a precision and converted has the bits of what is written out, gradients too."""
    want = with_gradients(want, list(module.parameters()))
    with ht.precision(recipe, strict=True) as p:
        got = with_gradients(call(module), list(module.parameters()))
    low = ht.convert(module, recipe, strict=True)
    for seen in (got, with_gradients(call(low), list(low.parameters()))):
        assert len(seen) == len(want)
        for one, two in zip(seen, want):
            same(one, two)
    assert p.report().share == 1


CELLS = {'LSTMCell': lambda: nn.LSTMCell(8, 32), 'GRUCell': lambda: nn.GRUCell(8, 32), 'RNNCell': lambda: nn.RNNCell(8, 32),
         'RNNCell of relu': lambda: nn.RNNCell(8, 32, nonlinearity='relu'),
         'LSTMCell without biases': lambda: nn.LSTMCell(8, 32, bias=False)}


@pytest.mark.parametrize('recipe', RECIPES, ids=['rows', 'tensors'])
@pytest.mark.parametrize('name', CELLS)
def test_cells(name, recipe):
    torch.manual_seed(2)
    module, x = CELLS[name](), plain(5, 8)
    state = (plain(5, 32, seed=1), plain(5, 32, seed=2))[:2 if name.startswith('LSTM') else 1]
    checked(module, lambda m: m(x, state if len(state) == 2 else state[0]), cell(module, x, state, recipe), recipe)
    nothing = tuple(torch.zeros_like(s) for s in state)
    checked(module, lambda m: m(x), cell(module, x, nothing, recipe), recipe)


NETWORKS = {'{} {}'.format(kind, name): (kind, dict(more)) for kind in GATES for name, more in (
    ('one direction', {}), ('both directions', {'bidirectional': True, 'num_layers': 2}), ('bare', {'bias': False, 'num_layers': 2}))}
NETWORKS.update({'LSTM projected': ('LSTM', {'proj_size': 4, 'num_layers': 2}), 'LSTM projected both directions': (
    'LSTM', {'proj_size': 4, 'bidirectional': True}), 'RNN of relu': ('RNN', {'nonlinearity': 'relu'})})


@pytest.mark.parametrize('recipe', RECIPES, ids=['rows', 'tensors'])
@pytest.mark.parametrize('name', NETWORKS)
def test_networks(name, recipe):
    torch.manual_seed(2)
    kind, more = NETWORKS[name]
    module, x = getattr(nn, kind)(8, 16, **more), plain(4, 3, 8)
    many = module.num_layers * (2 if module.bidirectional else 1)
    state = (plain(many, 3, more.get('proj_size', 16), seed=1), plain(many, 3, 16, seed=2))[:2 if kind == 'LSTM' else 1]
    checked(module, lambda m: m(x, state if len(state) == 2 else state[0]), network(module, x, state, recipe), recipe)


@pytest.mark.parametrize('name', CELLS)
def test_gates(name):
    """Where all products are exact, in torch's order of sums as in any other, a cell's bits are torch's."""
    made = torch.Generator().manual_seed(5)
    module = CELLS[name]()
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randint(-3, 4, p.shape, generator=made) / 8)
    x, h, c = (torch.randint(-8, 9, (5, n), generator=made) / 8 for n in (8, 32, 32))
    state = (h, c) if name.startswith('LSTM') else h
    with ht.precision(ht.Recipe(accum='exact'), strict=True):
        got = flat(module(x, state))
    for one, two in zip(got, flat(module(x, state))):
        same(one.detach(), two.detach())


@pytest.mark.skipif(not hasattr(F, 'grouped_mm'), reason='this version of PyTorch has no grouped_mm')
@pytest.mark.parametrize('recipe', RECIPES, ids=['rows', 'tensors'])
@pytest.mark.parametrize('kind', ['rows', 'columns', 'terms', 'matrices'])
def test_groups(kind, recipe):
    """One product for each group, the empty one too; rows and columns behind the last group are zeros."""
    edges = [(0, 8), (8, 8), (8, 24)]
    offsets = torch.tensor([j for _, j in edges], dtype=torch.int32)
    shapes = {'rows': ((32, 16), (3, 16, 8)), 'columns': ((3, 8, 16), (16, 32)), 'terms': ((8, 24), (24, 16)),
              'matrices': ((3, 8, 16), (3, 16, 8))}[kind]
    a, b = (plain(*shape, seed=i).requires_grad_() for i, shape in enumerate(shapes))
    if kind == 'rows':
        parts = [ht.matmul(a[i:j], b[n], recipe) for n, (i, j) in enumerate(edges)]
        want = torch.cat(parts + [torch.zeros(8, 8)])
    elif kind == 'columns':
        parts = [ht.matmul(a[n], b[:, i:j], recipe) for n, (i, j) in enumerate(edges)]
        want = torch.cat(parts + [torch.zeros(8, 8)], 1)
    elif kind == 'terms':
        want = torch.stack([ht.matmul(a[:, i:j], b[i:j], recipe) for i, j in edges])
    else:
        want = ht.matmul(a, b, recipe)
    want = with_gradients(want, [a, b])
    with ht.precision(recipe, strict=True) as p:
        got = with_gradients(F.grouped_mm(a, b, offs=None if kind == 'matrices' else offsets), [a, b])
    for one, two in zip(got, want):
        same(one, two)
    assert p.report().share == 1
