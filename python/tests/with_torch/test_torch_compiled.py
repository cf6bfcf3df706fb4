# SPDX-License-Identifier: MIT
"""ht.precision under torch.compile and torch.export: the same bits, or an error."""
import shutil
import warnings

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn

F8, FP4 = (ht.Recipe(x=text, w=text, g='float8_e5m2') for text in ('float8_e4m3fn', 'nvfp4'))
BACKENDS = ['eager', 'aot_eager', pytest.param('inductor', marks=[
    pytest.mark.long, pytest.mark.skipif(shutil.which('g++') is None, reason='g++ is not there')])]


class Block(nn.Module):
    """A product of a module's own, a convolution, attention, a bias that is added."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first, self.own = nn.Linear(8, 8), nn.Parameter(torch.randn(8, 8))
        self.images, self.last = nn.Conv1d(4, 4, 3, padding='same'), nn.Sequential(nn.Linear(8, 3))

    def forward(self, x):
        x = torch.addmm(self.own[0], self.first(x).flatten(0, 1), self.own).view(x.shape)
        x = nn.functional.scaled_dot_product_attention(x, x, self.images(x))
        return self.last(torch.einsum('bij,bkj->bik', x, x) @ x)


def near(a, b):
    """Sums of float32 in two orders."""
    assert (a - b).abs().max() <= 1e-5 * a.abs().max()


def steps(call, model, context):
    model.zero_grad()
    with context:
        z = call(plain(2, 4, 8))
        z.square().sum().backward()
    return [z.detach()] + [p.grad for p in model.parameters()]


@pytest.mark.parametrize('backend', BACKENDS)
@pytest.mark.parametrize('skip', [(), 'first', 'last', ['first', '']], ids=str)
def test_compiled(backend, skip, tmp_path, monkeypatch):
    """What is low in eager mode is low in the graph, what is torch's is torch's; another recipe is another graph."""
    monkeypatch.setenv('TORCHINDUCTOR_CACHE_DIR', str(tmp_path))
    one, two = Block(), Block()
    torch._dynamo.reset()
    compiled = torch.compile(two, fullgraph=True, backend=backend)
    for recipe in (F8, FP4, F8, None):
        with ht.precision(recipe, skip=skip) as seen:
            pass
        want = steps(one, one, ht.precision(recipe, skip=skip))
        got = steps(compiled, two, seen)
        if recipe is None:  # torch's own compiler sums in an order of its own
            for a, b in zip(want, got):
                near(a, b)
        elif backend != 'inductor' or skip == ():
            names = [''] + [name for name, _ in one.named_parameters()]
            for name, a, b in zip(names, want, got):
                if skip and name.split('.')[0] in (skip, skip[0]):  # torch's own product, which may sum in another order
                    near(a, b)
                else:
                    same(a, b)
        assert (seen.report().share == 1) == (recipe is not None and skip == ())
    for a, b in zip(steps(one, one, ht.precision(None)), steps(compiled, two, ht.precision(None))):
        near(a, b)


def test_two_recipes_are_two_graphs():
    layer, x = nn.Linear(8, 4), plain(3, 8)
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph
    compiled = torch.compile(layer, fullgraph=True, backend=backend)
    contexts = {recipe: ht.precision(recipe) for recipe in (F8, FP4, None)}
    for recipe in (F8, FP4, None, F8, FP4, F8, FP4, F8, FP4):
        with contexts[recipe]:
            z = compiled(x).detach()
        same(z, ht.linear(x, layer.weight, layer.bias, recipe).detach() if recipe else layer(x).detach())
    assert len(graphs) == 3


def test_a_module_that_knows_its_precision():
    one, two = Block(), ht.precision(F8)(Block())
    torch._dynamo.reset()
    compiled = torch.compile(two, fullgraph=True, backend='aot_eager')
    import contextlib
    for a, b in zip(steps(one, one, ht.precision(F8)), steps(compiled, two, contextlib.nullcontext())):
        same(a, b)
    for more in ({'skip': 'first'}, {'strict': True}):
        torch._dynamo.reset()
        with pytest.raises(Exception, match='takes one recipe for'):
            torch.compile(ht.precision(F8, **more)(Block()), fullgraph=True, backend='eager')(plain(2, 4, 8))


def test_a_context_inside_of_what_is_compiled():
    """torch.compile breaks its graph there; the bits are the same."""
    block, x = Block(), plain(2, 4, 8)
    with ht.precision(F8):
        want = block(x).detach()

    def function(y):
        with ht.precision(F8):
            return block(y)
    torch._dynamo.reset()
    same(torch.compile(function, backend='eager')(x).detach(), want)


def test_strict():
    """Nothing runs unseen: what would be compiled runs in eager mode, which is said, or is an error where that is forbidden."""
    block, x = Block(), plain(2, 4, 8)
    torch._dynamo.reset()
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph
    with ht.precision(F8, strict=True) as p:
        want = steps(block, block, p)
        with pytest.warns(UserWarning, match='functions of torch.compile run in eager mode'):
            got = steps(torch.compile(block, backend=backend), block, p)
        with warnings.catch_warnings():
            warnings.filterwarnings('error', 'halfulp')
            torch.compile(block, backend=backend)(x)  # once is enough
        for a, b in zip(want, got):
            same(a, b)
        with pytest.raises(ValueError, match='which fullgraph=True forbids'):
            torch.compile(block, fullgraph=True, backend=backend)(x)
    assert p.report().share == 1 and graphs == []
    same(torch.compile(block, fullgraph=True, backend=backend)(x), block(x))  # outside it is a graph as before
    assert len(graphs) == 1


def test_converted():
    """Modules of any type, compiled; one with others inside says that it cannot be."""
    model = nn.Sequential(nn.Conv1d(4, 4, 3), nn.utils.parametrizations.weight_norm(nn.Linear(6, 5)))
    low, x = ht.convert(model, F8, count=True), plain(2, 4, 8)
    want = low(x).detach()
    torch._dynamo.reset()
    same(torch.compile(low, fullgraph=True, backend='aot_eager')(x).detach(), want)
    with pytest.raises(Exception, match='others inside of it'):
        torch.compile(ht.convert(Block(), F8), fullgraph=True, backend='eager')(plain(2, 4, 8))


@pytest.mark.parametrize('strict', [False, True])
def test_exported(strict):
    block, x = Block(), plain(2, 4, 8)
    with ht.precision(F8, strict=strict, skip='last'):
        want = block(x).detach()
        program = torch.export.export(block, (x,))
    same(program.module()(x).detach(), want)
    with ht.precision(F8, strict=strict), torch.no_grad():
        traced = torch.jit.trace(block.first, (x,))
    same(traced(x).detach(), ht.linear(x, block.first.weight, block.first.bias, F8).detach())
