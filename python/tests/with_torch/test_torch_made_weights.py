# SPDX-License-Identifier: MIT
"""Weights that a module makes when it is called, by parametrizations and pruning: what is rounded is the weight that is
multiplied, gradients reach what it was made of, and both can be taken off again."""
import copy

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

LOW = ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2', dx='bfloat16', out='bfloat16')


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


class Adapter(nn.Module):
    """A product makes the weight: it is under the recipe as well."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(plain(2, 8, seed=1)), nn.Parameter(plain(8, 2, seed=2))

    def forward(self, x):
        return x + self.b @ self.a


def own(layer, parametrization, name='weight'):
    parametrize.register_parametrization(layer, name, parametrization)
    return layer


def pruned(layer, method=prune.l1_unstructured, name='weight', **more):
    method(layer, name, amount=0.5, **more)
    return layer


LINEAR = {
    'weight norm': lambda layer: parametrizations.weight_norm(layer), 'symmetric': lambda layer: own(layer, Symmetric()),
    'spectral norm': lambda layer: parametrizations.spectral_norm(layer).eval(),
    'two': lambda layer: own(own(layer, Symmetric()), nn.Tanh()), 'bias, too': lambda layer: own(
        own(layer, Symmetric()), nn.Tanh(), 'bias'),
    'pruned': pruned, 'pruned rows': lambda layer: pruned(layer, prune.ln_structured, n=2, dim=0),
    'pruned twice': lambda layer: pruned(pruned(layer), prune.random_unstructured),
    'pruned bias': lambda layer: pruned(pruned(layer), name='bias'),
}
def gradients(z, parameters):
    made = torch.autograd.grad(z, parameters, torch.sin(1.7 * torch.arange(z.numel())).view(z.shape), allow_unused=True)
    return [z.detach()] + list(made)


def alike(got, want):
    assert len(got) == len(want)
    for one, two in zip(got, want):
        same(one, two)


@pytest.mark.parametrize('name', LINEAR)
def test_linear(name):
    """The bits of `ht.linear` of the weight that there is, under a precision and converted, in place and in a copy."""
    torch.manual_seed(3)
    layer, x = LINEAR[name](nn.Linear(8, 8)), plain(5, 8)
    with ht.precision(LOW):  # the product by which a spectral norm is found
        want = gradients(ht.linear(x, layer.weight, layer.bias, LOW), list(layer.parameters()))
    keys = list(layer.state_dict())
    with ht.precision(LOW, strict=True) as p:
        alike(gradients(layer(x), list(layer.parameters())), want)
    assert p.report().share == 1
    low = ht.convert(nn.Sequential(layer), LOW, strict=True)[0]
    assert low is not layer and isinstance(low, nn.Linear)
    for one in (low, copy.deepcopy(low), ht.convert(layer, LOW, strict=True, inplace=True)):
        alike(gradients(one(x), list(one.parameters())), want)
        assert list(one.state_dict()) == keys
        one.load_state_dict(layer.state_dict())


def test_a_product_inside():
    """What a parametrization multiplies is a product of its own."""
    layer, x = own(nn.Linear(8, 8), Adapter()), plain(5, 8)
    inner = layer.parametrizations.weight
    weight = inner.original + ht.matmul(inner[0].b, inner[0].a, LOW)
    want = gradients(ht.linear(x, weight, layer.bias, LOW), list(layer.parameters()))
    with ht.precision(LOW, strict=True, model=layer) as p:
        alike(gradients(layer(x), list(layer.parameters())), want)
    assert [row['module'] for row in p.report().rows if row['part'] == 'forward'] == ['parametrizations.weight.0', '']
    low = ht.convert(layer, LOW, strict=True)
    alike(gradients(low(x), list(low.parameters())), want)


@pytest.mark.parametrize('make, name, shape', [
    (lambda: nn.Conv2d(8, 4, 3), 'weight', (2, 8, 5, 4)), (lambda: nn.Conv1d(8, 4, 3), 'weight', (2, 8, 5)),
    (lambda: nn.ConvTranspose2d(8, 4, 3), 'weight', (2, 8, 5, 4)), (lambda: nn.GRU(8, 8), 'weight_hh_l0', (3, 2, 8)),
    (lambda: nn.LSTMCell(8, 8), 'weight_ih', (3, 8)), (lambda: nn.Bilinear(8, 8, 3), 'weight', (3, 8)),
    (lambda: nn.MultiheadAttention(8, 2), 'in_proj_weight', (3, 2, 8))],
    ids=['Conv2d', 'Conv1d', 'ConvTranspose2d', 'GRU', 'LSTMCell', 'Bilinear', 'MultiheadAttention'])
@pytest.mark.parametrize('how', [pruned, lambda layer, name: own(layer, nn.Tanh(), name)], ids=['pruned', 'parametrized'])
def test_other_layers(how, make, name, shape):
    """As the same layer that has the made weight as its parameter."""
    torch.manual_seed(3)
    layer, plain_one, x = make(), make(), plain(*shape)
    layer = how(layer, name=name)
    state = {key: value for key, value in layer.state_dict().items() if key in plain_one.state_dict()}
    plain_one.load_state_dict(dict(state, **{name: getattr(layer, name).detach()}))
    args = (x,) * {nn.Bilinear: 2, nn.MultiheadAttention: 3}.get(type(plain_one), 1)
    with ht.precision(LOW, strict=True) as p:
        got, want = layer(*args), plain_one(*args)
    assert p.report().share == 1
    low = ht.convert(layer, LOW, strict=True)
    for one in (got, low(*args)):
        alike([z.detach() for z in torch.utils._pytree.tree_leaves(one)],
              [z.detach() for z in torch.utils._pytree.tree_leaves(want)])


@pytest.mark.parametrize('kind', [nn.Linear, type('Own', (nn.Linear,), {})])
@pytest.mark.parametrize('first', [True, False], ids=['made first', 'converted first'])
def test_taken_off(first, kind):
    """Removed from a converted layer, in either order, the layer stays converted."""
    x = plain(5, 8)
    for make, remove in ((pruned, prune.remove), (lambda layer: own(layer, nn.Tanh()), parametrize.remove_parametrizations)):
        torch.manual_seed(3)
        layer = kind(8, 8)
        low = ht.convert(make(layer), LOW, inplace=True) if first else make(ht.convert(layer, LOW, inplace=True))
        want = ht.linear(x, low.weight, low.bias, LOW).detach()
        same(low(x).detach(), want)
        remove(low, 'weight')
        assert isinstance(low, kind) and sorted(low.state_dict()) == ['bias', 'weight']
        same(low(x).detach(), want)
        assert 'recipe=' in repr(low)


@pytest.mark.parametrize('how', ['matrix_exp', 'cayley', 'householder'])
def test_what_is_made_by_torch_alone(how):
    """Products inside of torch.linalg, and of its gradients, are torch's: said, an error under `strict`, or left by name."""
    layer, x = parametrizations.orthogonal(nn.Linear(8, 8), 'weight', how), plain(5, 8)
    want = gradients(ht.linear(x, layer.weight, layer.bias, LOW), list(layer.parameters()))
    with ht.precision(LOW) as p:
        gradients(layer(x), list(layer.parameters()))
    assert {(row['module'], row['why']) for row in p.report().left} == {('parametrizations.weight.0', 'torch.linalg')}
    with pytest.raises(ValueError, match=r"'parametrizations.weight.0' \(_Orthogonal\): aten::.* in torch .torch.linalg."):
        with ht.precision(LOW, strict=True):
            gradients(layer(x), list(layer.parameters()))
    with ht.precision(LOW, skip='parametrizations', strict=True) as p:
        alike(gradients(layer(x), list(layer.parameters())), want)
    assert {row['why'] for row in p.report().left} == {'the recipe leaves it'}
