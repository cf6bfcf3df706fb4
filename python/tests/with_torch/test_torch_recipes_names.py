# SPDX-License-Identifier: MIT
"""Recipes by their names: the list and the page's table, which modules they are for, optimizers, what they refuse."""
import os
import pathlib

from torch_support import ht, plain, pytest, same, torch  # first: it skips where there is no torch

from torch import nn  # isort: skip

SOURCE = pathlib.Path(os.environ.get('HALFULP_SOURCE', pathlib.Path(__file__).resolve().parents[3]))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.block = nn.Embedding(9, 32), nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32))
        self.gate, self.lm_head = nn.Linear(32, 32), nn.Linear(32, 9)

    def forward(self, tokens):
        x = self.block(self.embed(tokens))
        return self.lm_head(x), self.gate(x)


def recipes_of(model, named):
    """The recipe of each linear layer: of convert, and asked as ht.precision asks."""
    low = ht.convert(model, named, key=1)
    made = {name: getattr(module, 'recipe', None) for name, module in low.named_modules() if isinstance(module, nn.Linear)}
    asked = {name: named(name, module) for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    assert made == asked
    return made


@pytest.mark.parametrize('name', ht.recipes.names())
def test_each(name):
    """Every name gives a recipe that says where it comes from, computes a step of a model, and is found again."""
    named = ht.recipes.get(name)
    assert isinstance(named, ht.recipes.Named) and named.name == name and getattr(ht.recipes, name)() == named
    assert named.source and named.same and named.compared
    text = str(named)
    assert text.startswith(name + ': ' + named.source) and all(line in text for line in named.same + named.others)
    assert repr(named) == 'ht.recipes.{}()'.format(name)
    model, tokens = Model(), torch.arange(64) % 9
    with ht.precision(named) as p:
        loss = sum(z.square().mean() for z in model(tokens))
        loss.backward()
    assert all(one.grad.isfinite().all() for one in model.parameters())
    low = {row['module'] for row in p.report().rows if row['in'] == 'halfulp' and row['operator'] == 'matmul'}
    assert {'block.0', 'block.2'} <= low
    assert ht.compare_models(model, [named], tokens).rows[0]['recipe'] == name


def table():
    page = SOURCE / 'docs' / 'torch' / 'recipes.md'
    if not page.is_file():
        pytest.skip('docs/torch/recipes.md is not beside these tests')
    lines = [line for line in page.read_text(encoding='utf-8').splitlines() if line.startswith('| `')]
    return [[cell.strip().strip('`') for cell in line.strip('|').split('|')] for line in lines if line.count('|') == 9]


def test_page():
    """The page's table is what rows() says."""
    keys = ('name', 'source', 'x', 'w', 'g', 'sum', 'exempted', 'compared')
    expected = [[row[key].replace('*', '\\*') if key in ('exempted', 'source') else row[key] for key in keys]
                for row in ht.recipes.rows()]
    assert table() == expected


def test_names():
    assert ht.recipes.names() == sorted(ht.recipes.names()) and len(ht.recipes.names()) > 20
    with pytest.raises(ValueError, match="'quartet3': did you mean 'quartet"):
        ht.recipes.get('quartet3')
    with pytest.raises(TypeError, match='name: a text is required'):
        ht.recipes.get(3)
    assert ht.recipes.get('torchao_mxfp8', scale='floor') == ht.recipes.torchao_mxfp8('floor') != ht.recipes.torchao_mxfp8()
    with pytest.raises(ValueError, match='scale'):
        ht.recipes.torchao_mxfp8('up')
    for make in (ht.recipes.mxfp4_stochastic, ht.recipes.quartet_2):
        with pytest.raises(ValueError, match='n: 16 is not'):
            make(16)
    with pytest.raises(TypeError, match='stochastic'):
        ht.recipes.quartet('yes')


def test_exempted():
    """Layers that the source leaves, those of the caller, and what they are computed in."""
    named = ht.recipes.nvfp4_pretraining()
    rest = ht.Recipe(x='bfloat16', w='bfloat16', g='bfloat16')
    expected = dict.fromkeys(('block.0', 'block.2', 'gate'), named.recipe)
    assert recipes_of(Model(), named) == dict(expected, lm_head=rest)
    assert recipes_of(Model(), named.exempt('block.2', '*gate')) == {'block.0': named.recipe, 'block.2': rest, 'gate': rest,
                                                                     'lm_head': rest}
    assert recipes_of(Model(), named.exempt(rest=None)) == dict(expected, lm_head=None)
    assert recipes_of(Model(), ht.recipes.te_nvfp4().exempt('block', rest='float8_e4m3fn')) == dict.fromkeys(
        ('gate', 'lm_head'), ht.recipes.te_nvfp4().recipe) | dict.fromkeys(('block.0', 'block.2'), ht.Recipe.of('float8_e4m3fn'))
    bert = nn.ModuleDict({'output': nn.Linear(4, 4), 'layer': nn.ModuleDict({'output': nn.Linear(4, 4)})})
    assert [named(name, module) == rest for name, module in bert.named_modules() if isinstance(module, nn.Linear)] == [True, False]
    with pytest.raises(TypeError, match='names'):
        named.exempt(3)


def test_modules():
    named, conv = ht.recipes.torchao_mxfp8(), nn.Conv2d(32, 8, 1)
    assert named('', conv) is None and named('', None) is None
    assert named.on(nn.Linear, nn.Conv2d)('', conv) == named.recipe
    assert named.on()('', None) == named.recipe
    with pytest.raises(TypeError, match='types: 3 is not a type of module'):
        named.on(3)
    x = plain(4, 32)
    with ht.precision(named.on()):
        y = x @ x.t()
    same(y, ht.matmul(x, x.t(), named))
    layer = ht.Linear(32, 8, recipe=named)
    assert layer.recipe == named.recipe


def test_last():
    model = Model()
    assert ht.recipes.last(model, 0) == [] and ht.recipes.last(model, 0.25) == ['lm_head']
    assert ht.recipes.last(model, 0.26) == ['gate', 'lm_head'] and len(ht.recipes.last(model, 1)) == 4
    assert ht.recipes.last(model, 1.0, nn.Embedding) == ['embed']
    for share in (-0.1, 1.1, '1', True):
        with pytest.raises(ValueError, match='share'):
            ht.recipes.last(model, share)


def test_changed():
    """What is changed is said."""
    named = ht.recipes.te_current().but(accum='exact')
    assert named.recipe.accum == 'exact' and "changed here: accum='exact'" in str(named)
    assert named.others[:-1] == ht.recipes.te_current().others
    with pytest.raises(ValueError, match='accum'):
        ht.recipes.quartet().but(accum='fp33')
    with pytest.raises(ValueError, match='g= is given'):
        ht.recipes.quartet().but(g='bfloat16')


def test_optimizers():
    p = [nn.Parameter(torch.ones(3))]
    assert ht.recipes.bf16_kahan().optimizer(p, lr=0.5).update == 'kahan'
    assert ht.recipes.bf16_stochastic(8).optimizer(p).weight_rounding == 'bfloat16,sra:8'
    scaled = ht.recipes.fp16_master()
    assert scaled.optimizer(p).weight_rounding == 'binary32' and ht.LossScaler(scaled.scaler).factor == 65536
    with pytest.raises(ValueError, match='te_block: its source says nothing of an optimizer'):
        ht.recipes.te_block().optimizer(p)


def test_a_gradient_of_a_gradient():
    x = plain(4, 32).requires_grad_()
    layer = ht.convert(nn.Linear(32, 4), ht.recipes.quartet())
    grad, = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match='once_differentiable|twice'):
        grad.sum().backward()
