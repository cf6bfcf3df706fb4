# SPDX-License-Identifier: MIT
"""ht.precision: every product of torch's functions under a recipe, forward and backward, and nothing else."""
import contextlib
import copy
import pickle
import threading

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

EXACT = ht.Recipe(accum='exact')
LOW = ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2', dx='bfloat16', out='bfloat16')
DRAWN = ht.Recipe(x='float8_e4m3fn,sra:8', w='float8_e4m3fn', g='float8_e5m2,sra:8')


class Count(TorchDispatchMode):
    """Multiply-adds of every operator that runs, from shapes of tensors alone: of this package, and of torch."""

    def __init__(self):
        super().__init__()
        self.low, self.high = 0, {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        z = function(*args, **(kwargs or {}))
        name = function._schema.name
        low = {'halfulp::matmul': lambda: z[0].numel() * args[0].shape[-1],
               'halfulp::convolution': lambda: z[0].numel() * args[1].shape[1],
               'halfulp::convolution_back': lambda: sum(args[-3:-1]) * args[0].numel() * args[2].shape[1],
               'halfulp::transposed': lambda: args[0].numel() * args[1].shape[1],
               'halfulp::transposed_back': lambda: sum(args[-3:-1]) * args[1].numel() * args[2].shape[1]}
        if name in low:
            self.low += low[name]()
        elif name.startswith('aten::') and name[6:].strip('_').startswith((
                'mm', 'bmm', 'addmm', 'baddbmm', 'mv', 'addmv', 'dot', 'vdot', 'conv', 'scaled_dot', 'grouped_mm',
                'trilinear', 'mkldnn', 'native_multi', 'transformer', 'int_mm')):
            a = args[0] if name in ('aten::mm', 'aten::bmm', 'aten::mv', 'aten::dot') else args[1]
            first = z if isinstance(z, torch.Tensor) else z[0]
            self.high[name] = self.high.get(name, 0) + (first.numel() * a.shape[-1] if first is not None else 1)
        return z


def drawn_shape(*shape):
    return plain(*shape, seed=sum(shape) + 3)


OFFSETS = torch.tensor([4, 4, 8], dtype=torch.int32)  # the second group is empty
MASK = torch.arange(30).view(5, 6) % 3 > 0
NOTHING = torch.arange(5)[:, None] > torch.zeros(6)  # the first row sees no key


def bag(*more):
    return lambda w: F.embedding_bag(torch.tensor([[1, 2], [0, 3]]), w, *more)


# Name: the function, and the shapes of its operands.
FUNCTIONS = {
    'linear': (F.linear, (3, 2, 4), (5, 4), (5,)), 'linear of a vector': (F.linear, (4,), (5, 4)),
    'linear to a number': (F.linear, (3, 4), (4,)),
    'bilinear': (F.bilinear, (3, 2, 4), (3, 2, 6), (5, 4, 6), (5,)),
    '@': (lambda a, b: a @ b, (3, 4), (4, 5)), 'mm': (torch.mm, (3, 4), (4, 5)),
    'method': (lambda a, b: a.mm(b) + a.matmul(b), (3, 4), (4, 5)), 'bmm': (torch.bmm, (2, 3, 4), (2, 4, 5)),
    'mv': (torch.mv, (3, 4), (4,)), 'dot': (torch.dot, (4,), (4,)), 'vector first': (torch.matmul, (4,), (4, 5)),
    'vector and batch': (torch.matmul, (4,), (2, 4, 5)), 'batch and vector': (torch.matmul, (2, 3, 4), (4,)),
    'matrix and batch': (torch.matmul, (3, 4), (2, 4, 5)), 'batch and matrix': (torch.matmul, (2, 3, 4), (4, 5)),
    'batches': (torch.matmul, (6, 1, 3, 4), (2, 4, 5)), 'given': (lambda a, b: torch.mm(input=a, mat2=b), (3, 4), (4, 5)),
    'addmm': (lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), (3, 5), (3, 4), (4, 5)),
    'addmm of a bias': (torch.addmm, (5,), (3, 4), (4, 5)), 'addmv': (torch.addmv, (3,), (3, 4), (4,)),
    'baddbmm': (lambda c, a, b: torch.baddbmm(c, a, b, beta=2), (2, 3, 5), (2, 3, 4), (2, 4, 5)),
    'addbmm': (torch.addbmm, (3, 5), (2, 3, 4), (2, 4, 5)), 'inner': (torch.inner, (2, 3, 4), (5, 4)),
    'vecdot': (torch.linalg.vecdot, (2, 3, 4), (3, 4)),
    'multi_dot': (lambda *a: torch.linalg.multi_dot(a), (3, 4), (4, 5), (5, 2)),
    'chain_matmul': (torch.chain_matmul, (3, 4), (4, 5), (5, 2)),
    'tensordot': (lambda a, b: torch.tensordot(a, b, dims=([1, 2], [0, 2])), (2, 3, 4), (3, 5, 4)),
    'tensordot of one': (lambda a, b: torch.tensordot(a, b, 1), (2, 3, 4), (4, 5)),
    'attention': (F.scaled_dot_product_attention, (2, 4, 5, 8), (2, 4, 6, 8), (2, 4, 6, 3)),
    'causal': (lambda *a: F.scaled_dot_product_attention(*a, is_causal=True, scale=0.3),
               (2, 4, 5, 8), (2, 4, 6, 8), (2, 4, 6, 3)),
    'masked': (lambda *a: F.scaled_dot_product_attention(*a, attn_mask=MASK), (2, 5, 8), (2, 6, 8), (2, 6, 3)),
    'sees nothing': (lambda *a: F.scaled_dot_product_attention(*a, attn_mask=NOTHING), (5, 8), (6, 8), (6, 3)),
    'added mask': (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
                   (2, 5, 8), (2, 6, 8), (2, 6, 3), (5, 6)),
    'grouped queries': (lambda *a: F.scaled_dot_product_attention(*a, enable_gqa=True),
                        (2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 8)),
    'convolution': (lambda x, w: torch.convolution(x, w, None, [1], [1], [1], False, [0], 1), (2, 4, 7), (6, 4, 3)),
    'conv_tbc': (F.conv_tbc, (7, 2, 4), (3, 4, 6), (6,)),
    'embedding': (lambda w: F.embedding(torch.tensor([1, 2, 0]), w), (4, 5)), 'bag': (bag(), (4, 5)),
}
if hasattr(F, 'grouped_mm'):
    FUNCTIONS.update({
        'groups of rows': (lambda a, b: F.grouped_mm(a, b, offs=OFFSETS), (8, 8), (3, 8, 8)),
        'groups of columns': (lambda a, b: F.grouped_mm(a, b, offs=OFFSETS), (3, 8, 8), (8, 8)),
        'groups of terms': (lambda a, b: F.grouped_mm(a, b, offs=OFFSETS), (8, 8), (8, 8))})
EQUATIONS = {
    'ij,jk->ik': ((3, 4), (4, 5)), 'bij,bjk->bik': ((2, 3, 4), (2, 4, 5)), '...ij,jk->...ik': ((2, 3, 4), (4, 5)),
    'bhqd,bhkd->bhqk': ((2, 3, 4, 5), (2, 3, 6, 5)), 'ij,kj': ((3, 4), (5, 4)), 'bi,bi->b': ((2, 3), (2, 3)),
    'bi,ij,bj->b': ((2, 3), (3, 4), (2, 4)), 'abc,cd,def->abef': ((2, 3, 4), (4, 5), (5, 2, 3)),
    'b...,b...->...': ((2, 3, 4), (2, 3, 4)), 'iij,jk->ik': ((3, 3, 4), (4, 5)), 'ijk,ilj->kl': ((1, 3, 4), (2, 5, 3)),
    'a...b,b...c->...ac': ((2, 3, 4), (4, 3, 5)), 'ij,jk,kl': ((2, 3), (3, 4), (4, 2)),
}
FUNCTIONS.update({text: (lambda *a, text=text: torch.einsum(text, *a), *shapes) for text, shapes in EQUATIONS.items()})
FUNCTIONS['einsum of lists'] = (lambda a, b: torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), (3, 4), (4, 5))


def gradients(function, operands):
    """Results and gradients of a function that may be a module, as a list."""
    operands = [x.detach().clone().requires_grad_() for x in operands]
    weights = list(getattr(function, 'parameters', lambda: [])())
    made = [z for z in torch.utils._pytree.tree_leaves(function(*operands)) if isinstance(z, torch.Tensor)]
    total = sum((z * torch.sin(1.7 * torch.arange(z.numel())).view(z.shape).to(z)).sum() for z in made)
    return [z.detach() for z in made], torch.autograd.grad(total, operands + weights, allow_unused=True)


def near(got, want):
    for a, b in zip(got, want):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize('name', FUNCTIONS)
def test_functions(name):
    """Without roundings each function of torch is what it is, all of its products counted."""
    function, *shapes = FUNCTIONS[name]
    operands = [drawn_shape(*shape) for shape in shapes]
    want = gradients(function, operands)
    with Count() as count, ht.precision(EXACT, strict=True) as p:
        got = gradients(function, operands)
    near(got[0], want[0])
    near(got[1], want[1])
    assert not count.high and (count.low > 0) == (name not in ('embedding', 'bag'))
    assert p.report().work('halfulp') == count.low


def packed(network):
    sequence = nn.utils.rnn.pack_sequence([drawn_shape(4, 6), drawn_shape(3, 6), drawn_shape(1, 6)])

    class Packed(nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, data):
            z, state = self.network(nn.utils.rnn.PackedSequence(data, sequence.batch_sizes))
            return z.data, state
    return Packed(), sequence.data


def networks():
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        yield kind.__name__, kind(6, 5), (4, 3, 6)
        yield kind.__name__ + ' both', kind(6, 5, 2, bidirectional=True, batch_first=True), (3, 4, 6)
        yield kind.__name__ + ' alone', kind(6, 5, 2, bias=False), (3, 6)
        yield (kind.__name__ + ' packed', *packed(kind(6, 5, 2, bidirectional=True)))
        cell = {nn.LSTM: nn.LSTMCell, nn.GRU: nn.GRUCell, nn.RNN: nn.RNNCell}[kind]
        yield cell.__name__, cell(6, 5), (3, 6)
    yield 'projected', nn.LSTM(6, 5, 2, proj_size=3), (4, 3, 6)
    yield 'relu', nn.RNN(6, 5, nonlinearity='relu'), (4, 3, 6)
    yield 'relu cell', nn.RNNCell(6, 5, nonlinearity='relu'), (3, 6)
    attention = nn.MultiheadAttention(8, 2)
    yield 'MultiheadAttention', Called(attention, lambda m, x: m(x, x, x)), (4, 3, 8)
    yield 'without weights', Called(attention, lambda m, x: m(x, x, x, need_weights=False)[0]), (4, 3, 8)
    yield 'TransformerEncoderLayer', nn.TransformerEncoderLayer(8, 2, 16, dropout=0), (4, 3, 8)
    yield 'Transformer', Called(nn.Transformer(8, 2, 1, 1, 16, dropout=0), lambda m, x: m(x, x)), (4, 3, 8)
    yield 'weight norm', nn.utils.parametrizations.weight_norm(nn.Linear(6, 5)), (3, 6)


class Called(nn.Module):
    def __init__(self, module, call):
        super().__init__()
        self.module, self.call = module, call

    def forward(self, x):
        return self.call(self.module, x)


torch.manual_seed(6)
NETWORKS = {name: rest for name, *rest in networks()}


@pytest.mark.parametrize('name', NETWORKS)
def test_networks(name):
    module, x = NETWORKS[name]
    x = x if isinstance(x, torch.Tensor) else drawn_shape(*x)
    want = gradients(module, [x])
    with Count() as count, ht.precision(EXACT, strict=True) as p:
        got = gradients(module, [x])
    near(got[0], want[0])
    near(got[1], want[1])
    assert not count.high and p.report().work('halfulp') == count.low > 0


@pytest.mark.filterwarnings('ignore')
def test_the_fused_path():
    """Without gradients torch has one call for a layer of a transformer."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    encoder, x = nn.TransformerEncoder(layer, 2).eval(), drawn_shape(3, 5, 8)
    for more in ({}, {'src_key_padding_mask': torch.arange(5) >= torch.tensor([5, 4, 3])[:, None]}):
        with torch.no_grad(), Count() as count, ht.precision(LOW, strict=True) as p:
            z = encoder(x, **more)
        assert not count.high and p.report().share == 1 and not torch.allclose(z, encoder(x, **more), atol=1e-5)


@pytest.mark.parametrize('axes', [1, 2, 3])
@pytest.mark.parametrize('groups', [1, 2])
def test_images(axes, groups):
    """Geometry, against torch's own sums of the numbers that exact products have."""
    sides = [7, 6, 5][:axes]
    names = {'stride': [2, 1, 2], 'padding': [1, 0, 2], 'dilation': [1, 2, 1]}
    more = {name: values[:axes] for name, values in names.items()}
    x = plain(2, 4, *sides).double().requires_grad_()
    w = plain(6, 4 // groups, *[3, 2, 2][:axes], seed=1).double().requires_grad_()
    v = plain(4, 6 // groups, *[3, 2, 2][:axes], seed=2).double().requires_grad_()

    def both(x, w, v):
        return (getattr(F, 'conv{}d'.format(axes))(x, w, groups=groups, **more),
                getattr(F, 'conv_transpose{}d'.format(axes))(x, v, groups=groups, output_padding=[1, 0, 1][:axes],
                                                            **more))
    want = both(x, w, v)
    with ht.precision(EXACT, strict=True):
        got = both(x, w, v)
    for a, b in zip(got, want):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    ends = [plain(*z.shape, seed=3).double() for z in want]
    for a, b in zip(torch.autograd.grad(got, (x, w, v), ends), torch.autograd.grad(want, (x, w, v), ends)):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


# ---- the same bits as layers ----

def both_ways(module, x, recipe, **more):
    """Under `convert` and under `precision`."""
    low = ht.convert(module, recipe, **more)
    with ht.precision(recipe, **({'key': more['key']} if 'key' in more else {})):
        return gradients(low, [x]), gradients(module, [x])


@pytest.mark.parametrize('recipe', [LOW, LOW.but(gradient='zero_outside'), LOW.but(convolution='windows')], ids=str)
def test_the_bits_of_layers(recipe):
    torch.manual_seed(5)
    for module, x in ((nn.Linear(64, 5), plain(3, 2, 64)), (nn.Linear(64, 5, bias=False), plain(3, 64)),
                      (nn.Conv2d(32, 4, 3, 2, 1, groups=2), plain(2, 32, 7, 6))):
        for a, b in zip(*both_ways(module, x, recipe)):
            for one, two in zip(a, b):
                same(one, two)
    with ht.precision(recipe):
        z = plain(2, 3, 32) @ plain(2, 32, 5)
    same(z, ht.matmul(plain(2, 3, 32), plain(2, 32, 5), recipe))


def test_random_words():
    """A key of its own gives the first product the words of a layer with that key; torch's generator gives the others."""
    layer, x = nn.Linear(64, 5), plain(3, 64)
    low = ht.Linear(64, 5, recipe=DRAWN, key=5)
    low.load_state_dict(layer.state_dict())
    want = gradients(low, [x])
    with ht.precision(DRAWN, key=5) as p:
        got, again = gradients(layer, [x]), gradients(layer, [x])
    for one, two in zip(want[0] + list(want[1]), got[0] + list(got[1])):
        same(one, two)
    assert not torch.equal(got[0][0], again[0][0]) and int(p.stream[1]) == 2 << 36
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        with ht.precision(DRAWN):
            made.append(layer(x).detach())
    same(made[0], made[1])
    assert not torch.equal(made[1], made[2])


# ---- who decides ----

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.a, self.b = nn.Parameter(plain(8, 8)), nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8))

    def forward(self, x):
        return self.b(self.a(x) @ self.own)


def where(report):
    """The modules of products, and the text of x or the reason why it is torch's."""
    return {(row['module'], row['a'] or row['why']) for row in report.rows if row['part'] == 'forward'}


def test_choices():
    model, x = nn.Sequential(Block(), nn.Linear(8, 3)), plain(2, 8)
    left = 'the recipe leaves it'

    def ran(recipe, **more):
        with ht.precision(recipe, **more) as p:
            model(x)
        return where(p.report())
    f = 'float8_e4m3fn'
    every = {('0.a', f), ('0', f), ('0.b.0', f), ('1', f)}
    assert ran(f) == every
    assert ran(f, skip='0.b') == every - {('0.b.0', f)} | {('0.b.0', left)}
    assert ran(f, skip=['*.a', '1']) == {('0.a', left), ('0', f), ('0.b.0', f), ('1', left)}
    assert ran(f, only='0', skip='0.b.0') == {('0.a', f), ('0', f), ('0.b.0', left), ('1', left)}
    assert ran(None) == {(name, left) for name, _ in every}
    by_name = ran(lambda name, module: 'nvfp4' if name == '0' else f if isinstance(module, nn.Linear) else None)
    assert by_name == {('0.a', f), ('0', 'nvfp4'), ('0.b.0', f), ('1', f)}
    assert ran(f, strict=True, skip='0') == {('0.a', left), ('0', left), ('0.b.0', left), ('1', f)}


def test_names_of_a_model():
    """`model=` gives the names, whatever module is called; without it the outermost call does."""
    model = nn.Sequential(Block(), nn.Linear(8, 3))
    for more, name in (({}, 'a'), ({'model': model}, '0.a')):
        with ht.precision('bfloat16', **more) as p:
            model[0](plain(2, 8))
        assert (name, 'bfloat16') in where(p.report())


def test_names_after_an_error():
    model = nn.Sequential(Block())
    with ht.precision('bfloat16') as p:
        with pytest.raises(ValueError, match=r"^'0.a' \(Linear\): matmul: shapes"):
            model(plain(2, 7))
        p.reset()
        model(plain(2, 8))
    assert where(p.report()) == {('0.a', 'bfloat16'), ('0', 'bfloat16'), ('0.b.0', 'bfloat16')}


def test_nested():
    """The innermost context holds; both have its products in their reports."""
    layer, x = nn.Linear(8, 8), plain(2, 8)
    with ht.precision('bfloat16') as outer:
        layer(x)
        with ht.precision('float8_e4m3fn') as inner:
            z = layer(x)
        with outer:
            layer(x)
        low = ht.convert(layer, 'nvfp4')(x)
    same(z.detach(), ht.linear(x, layer.weight, layer.bias, 'float8_e4m3fn').detach())
    same(low.detach(), ht.linear(x, layer.weight, layer.bias, 'nvfp4').detach())
    assert where(inner.report()) == {('', 'float8_e4m3fn')}
    assert where(outer.report()) == {('', 'float8_e4m3fn'), ('', 'bfloat16'), ('', 'nvfp4')}
    same(layer(x), F.linear(x, layer.weight, layer.bias))


def test_attention_in_parts():
    q, k, v = plain(2, 5, 32), plain(2, 6, 32, seed=1), plain(2, 6, 32, seed=2)
    parts = ht.Attention(scores='float8_e4m3fn', values='nvfp4', softmax='float8_e5m2')
    with ht.precision('bfloat16', attention=parts, strict=True) as p:
        z = F.scaled_dot_product_attention(q, k, v)
    weights = torch.softmax(ht.matmul(q, k.transpose(1, 2), 'float8_e4m3fn') / 32 ** 0.5, -1)
    same(z, ht.matmul(ht.quantize(weights, 'float8_e5m2'), v, 'nvfp4'))
    assert [(row['operator'], row['a']) for row in p.report().rows] == [
        ('matmul', 'float8_e4m3fn'), ('rounding', 'float8_e5m2'), ('matmul', 'nvfp4')]
    with ht.precision('bfloat16', attention=ht.Attention(scores=None)) as p:
        same(F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v))
    assert p.report().share == 0
    for wrong in ({'scores': 'fp9'}, {'softmax': 'fp9'}):
        with pytest.raises(ValueError, match='fp9'):
            ht.Attention(**wrong)
    with pytest.raises(TypeError, match='attention'):
        ht.precision('bfloat16', attention='nvfp4')


def test_strict():
    """A product that torch would compute is an error with module, operator and shapes, forward and backward."""
    class Far(nn.Module):
        def forward(self, x):
            return torch.cdist(x, x)
    model = nn.Sequential(nn.Linear(4, 4), Far())
    with ht.precision('bfloat16', strict=True), pytest.raises(
            ValueError, match=r"precision: '1' \(Far\): aten::_euclidean_dist of \(40, 4\) and \(40, 4\) runs in torch \(no rule\)"):
        model(plain(40, 4))
    with ht.precision('bfloat16', strict=True, skip='1') as p:
        model(plain(40, 4)).sum().backward()
    assert 0 < p.report().share < 1 and {row['why'] for row in p.report().left} == {'the recipe leaves it'}
    with ht.precision('bfloat16', strict=True), pytest.raises(ValueError, match=r'float64 tensors'):
        plain(2, 3).double() @ plain(3, 4).double()
    with ht.precision('bfloat16', strict=True):
        assert (torch.arange(4).view(2, 2) @ torch.arange(2)).tolist() == [1, 3]  # integers are exact
    with ht.precision('bfloat16', strict=True), pytest.raises(RuntimeError, match='dtype|type'):
        plain(2, 3) @ plain(3, 4).bfloat16()  # torch's own error
    assert not any(row['in'] == 'halfulp' for row in p.report().left)


def test_unknown_operators():
    """An operator of another package may multiply."""
    library = torch.library.Library('halfulp_tests', 'FRAGMENT')
    library.define('twice(Tensor x) -> Tensor')
    library.impl('twice', lambda x: 2 * x, 'CompositeExplicitAutograd')
    with ht.precision('bfloat16') as p:
        torch.ops.halfulp_tests.twice(plain(3))
    assert [(row['operator'], row['why']) for row in p.report().rows] == [('halfulp_tests::twice', 'no rule')]
    with ht.precision('bfloat16', strict=True), pytest.raises(ValueError, match='halfulp_tests::twice'):
        torch.ops.halfulp_tests.twice(plain(3))


# ---- other parts of torch ----

def steps(model, context, x, backward_inside=True):
    model.zero_grad()
    with context:
        loss = model(x).square().sum()
        if backward_inside:
            loss.backward()
    if not backward_inside:
        loss.backward()
    return [loss.detach()] + [p.grad for p in model.parameters()]


@pytest.mark.parametrize('skip', [(), 'a', '*.0'], ids=str)
def test_backward_outside(skip):
    """The recipe of a product is that of its gradients, wherever they are computed, and torch's own gradients are torch's;
    the report has what ran inside."""
    model, x = Block(), plain(2, 8)
    for one, two in zip(steps(model, ht.precision(LOW, skip=skip), x), steps(model, ht.precision(LOW, skip=skip), x, False)):
        same(one, two)
    with ht.precision(LOW) as p:
        model(x)
    assert {row['part'] for row in p.report().rows} == {'forward'}


@pytest.mark.parametrize('reentrant', [False, True])
@pytest.mark.parametrize('inside', [False, True])
@pytest.mark.parametrize('recipe', [LOW, DRAWN], ids=['nearest', 'stochastic'])
def test_checkpointing(recipe, inside, reentrant):
    """The second run is under the recipes of the first, outside of the context, too, with the same random words."""
    class Kept(nn.Module):
        def __init__(self, block):
            super().__init__()
            self.block = block

        def forward(self, x):
            return checkpoint(lambda y: self.block(y) @ self.block.own, x, use_reentrant=reentrant)

    class Plain(Kept):
        def forward(self, x):
            return self.block(x) @ self.block.own
    block, x = Block(), plain(2, 8).requires_grad_()
    made = []
    for kind in (Plain, Kept):
        torch.manual_seed(3)
        x.grad = None
        choose = (lambda name, module: None if name == 'block.b.0' else recipe)
        made.append(steps(kind(block), ht.precision(choose), x, inside) + [x.grad])
    for one, two in zip(*made):
        same(one, two)


def test_a_key_of_its_own_is_not_repeated():
    block, x = Block(), plain(2, 8).requires_grad_()
    with ht.precision(DRAWN, key=3), pytest.raises(RuntimeError, match='key='):
        checkpoint(block, x, use_reentrant=False).sum().backward()


@pytest.mark.parametrize('dtype', [torch.bfloat16, torch.float16])
def test_autocast(dtype):
    """Operands have the type that torch's own products give them, and so have results."""
    model, x = nn.Sequential(Block(), nn.Conv1d(2, 2, 3)), plain(2, 8)
    with torch.autocast('cpu', dtype=dtype), ht.precision(EXACT, strict=True):
        z = model(x)
    with torch.autocast('cpu', dtype=dtype):
        want = model(x)
    assert z.dtype == want.dtype == dtype
    assert (z.float() - want.float()).abs().max() <= 0.05 * want.float().abs().max()
    z.sum().backward()
    assert all(p.grad.dtype == torch.float32 for p in model.parameters())
    with torch.autocast('cpu', dtype=dtype):
        low = ht.convert(model, EXACT, strict=True)(x)
    assert low.dtype == dtype


class Twice(torch.autograd.Function):
    """A hand-written gradient."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.t(), x.t() @ g


def test_hand_written_gradients():
    x, w, g = plain(3, 8).requires_grad_(), plain(8, 4).requires_grad_(), plain(3, 4)
    with ht.precision(LOW, strict=True):
        z = Twice.apply(x, w)
        dx, dw = torch.autograd.grad(z, (x, w), g)
    same(z.detach(), ht.matmul(x, w, LOW).detach())
    same(dx, ht.matmul(g, w.detach().t(), LOW))
    same(dw, ht.matmul(x.detach().t(), g, LOW))


def test_threads():
    """A context is of the thread that enters it."""
    layer, x, made = nn.Linear(8, 8), plain(2, 8), []

    def work(context):
        with context:
            made.append(layer(x).detach())
    with ht.precision('nvfp4') as p:
        for context in (contextlib.nullcontext(), p):
            thread = threading.Thread(target=work, args=(context,))
            thread.start()
            thread.join()
        layer(x)
    same(made[0], layer(x).detach())
    same(made[1], ht.linear(x, layer.weight, layer.bias, 'nvfp4').detach())
    assert sum(row['calls'] for row in p.report().rows) == 2


CALLS = []


def called(module, args, z):
    CALLS.append(module)


def test_functions_and_modules():
    """Called with a function or a module."""
    torch.manual_seed(2)
    model, x = nn.Sequential(Block()), plain(2, 8)
    with ht.precision(LOW):
        want = model(x).detach()
    same(ht.precision(LOW)(lambda y: model(y))(x).detach(), want)
    del CALLS[:]
    model.register_forward_hook(called)
    state, kind = model.state_dict().keys(), type(model)
    p = ht.precision(LOW)
    low = p(model)
    assert low is model and isinstance(model, kind) and model.state_dict().keys() == state
    assert type(model).__name__ == kind.__name__
    same(model(x).detach(), want)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        same(twin(x).detach(), want)
    assert len(CALLS) == 3 and p.report().share == 1
    assert ht.release(model) is model and type(model) is kind
    assert not torch.equal(model(x).detach(), want)
    with pytest.raises(TypeError, match='neither a function nor a module'):
        p(3)


def test_copies_of_a_context():
    p = pickle.loads(pickle.dumps(ht.precision(LOW, skip='head', strict=True, key=4, count=True)))
    assert (p.recipe, p.skip, p.strict, p.count, p.stream.tolist()) == (LOW, ['head'], True, True, [4, 0])
    assert repr(p) == 'precision({})'.format(LOW)


def test_transforms():
    """vmap calls the product once for each element; derivatives of torch.func are those of the operators."""
    w, x, block = plain(8, 4), plain(3, 2, 8), Block()
    with ht.precision(LOW):
        z = torch.func.vmap(lambda y: y @ w)(x)
        moved = torch.func.jvp(lambda y: y @ w, (x[0],), (torch.ones(2, 8),))[1]
        with pytest.raises(NotImplementedError, match='jvp, jacfwd'):
            torch.func.grad(lambda y: (y @ w).sum())(x[0])
        other = torch.func.functional_call(block, {'own': -block.own}, (x[0],))
    same(z, torch.stack([ht.matmul(y, w, LOW) for y in x]))
    assert moved.abs().max() > 0 and other.shape == (2, 8)
    y = plain(2, 8).requires_grad_()
    with ht.precision(LOW):
        g, = torch.autograd.grad((y @ w).square().sum(), y, create_graph=True)
    with pytest.raises(NotImplementedError, match='gradient of a gradient'):
        g.sum().backward()


def test_without_a_compiler(tmp_path):
    """A program that compiles nothing does not pay for torch.compile."""
    import subprocess
    import sys
    text = ('import sys, torch, halfulp.torch as ht\nwith ht.precision("bfloat16", strict=True):\n'
            '    torch.nn.Linear(3, 4)(torch.ones(2, 3))\nassert "torch._dynamo" not in sys.modules')
    subprocess.run([sys.executable, '-c', text], check=True)


def test_distributed_data_parallel():
    """The bits of the model alone, and its names."""
    import torch.distributed as dist
    import halfulp.torch.distributed  # noqa: F401  (before the process group)
    model, x = Block(), plain(2, 8)
    want = steps(copy.deepcopy(model), ht.precision(LOW), x)
    dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)
    try:
        parallel = nn.parallel.DistributedDataParallel(model)
        with ht.precision(LOW, strict=True) as p:
            loss = parallel(x).square().sum()
            loss.backward()
    finally:
        dist.destroy_process_group()
    for one, two in zip(want, [loss.detach()] + [q.grad for q in model.parameters()]):
        same(one, two)
    assert where(p.report()) == {('a', LOW.x), ('', LOW.x), ('b.0', LOW.x)}
