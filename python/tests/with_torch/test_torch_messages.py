# SPDX-License-Identifier: MIT
"""What is said of names that nothing has, of states and gradients of others, and of recipes that are misspelt."""
import warnings

from torch_support import ht, plain, pytest, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn


def model():
    torch.manual_seed(1)
    return nn.ModuleDict({'body': nn.Linear(8, 8), 'head': nn.Linear(8, 3)})


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = model()

    def forward(self, x):
        return self.parts['head'](self.parts['body'](x))


MISSING = r"the model has no module '{}'.*; did you mean 'parts.head'\?"


@pytest.mark.parametrize('more', [{'skip': 'haed'}, {'only': ['*.body', 'haed']}, {'skip': ('parts.head', 'haed')}], ids=str)
def test_names_of_no_module(more):
    """An error where the model is known, a warning behind the first time where it is not, with names like them."""
    net, x = Net(), plain(2, 8)
    for call in (lambda: ht.precision('bfloat16', model=net, **more), lambda: ht.convert(net, 'bfloat16', **more)):
        with pytest.raises(ValueError, match=MISSING.format('haed')):
            call()
    context = ht.precision('bfloat16', **more)
    with pytest.warns(UserWarning, match='halfulp.torch.precision: ' + MISSING.format('haed')), context:
        net(x)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with context:
            net(x)
        with ht.precision('bfloat16', skip=['*.head', 'parts']):
            net(x)
        with ht.precision('bfloat16', skip='nothing'):  # no module has run
            plain(2, 3) @ plain(3, 2)
    with pytest.raises((ValueError, RuntimeError), match='shapes'), warnings.catch_warnings():
        warnings.simplefilter('error')
        with ht.precision('bfloat16', **more):
            net(plain(2, 5))


def test_exempted_names_of_no_module():
    net, recipe = Net(), ht.recipes.nvfp4_pretraining()
    for asked in (recipe.exempt('haed'), recipe.exempt('parts.body').exempt('haed')):
        for call in (lambda: ht.convert(net, asked), lambda: ht.precision(asked, model=net)):
            with pytest.raises(ValueError, match=MISSING.format('haed')):
                call()
        with pytest.warns(UserWarning, match=MISSING.format('haed')), ht.precision(asked):
            net(plain(16, 8))
    ht.convert(net, recipe.exempt('*.head'))  # those of the recipe itself may match nothing


def test_names_of_recipes():
    for text, words in (('nvfp4_pretraining', r"ht.recipes.get\('nvfp4_pretraining'\) gives the recipe"),
                        ('nvfp4_pretrainin', "of the recipes of ht.recipes.get, did you mean 'nvfp4_pretraining'")):
        for call in (lambda: ht.convert(Net(), text), lambda: ht.precision(text), lambda: ht.Linear(4, 4, recipe=text)):
            with pytest.raises(ValueError, match=words):
                call()
    with pytest.raises(ValueError, match="name: 'te_mxfp': did you mean 'te_mxfp8'"):
        ht.recipes.get('te_mxfp')
    with pytest.raises(ValueError, match="name: 'qqq': there are bf16_kahan, "):
        ht.recipes.get('qqq')
    for recipe in (ht.Recipe(), ht.recipes.quartet().recipe, ht.recipes.quartet()):
        with pytest.raises(TypeError, match="but: no field 'fnord'; there are x, w, g, "):
            recipe.but(fnord='bfloat16')
        with pytest.raises(TypeError, match="but: no field 'acum'; did you mean 'accum'"):
            recipe.but(acum='bfloat16')


@pytest.mark.parametrize('text', ['float8_e4m3fn,rtz,rtp', 'mxfp4,rtz,rtz', 'float8_e4m3fn,sat=none,sat=finite', 'posit8,sat=none,rtz,sat=none'])
def test_parts_stand_once(text):
    for call in (lambda: ht.quantize(plain(4), text), lambda: ht.Recipe(x=text)):
        with pytest.raises(ValueError, match="does not follow the grammar.* from '(rtz|rtp|sat=(none|finite))' on"):
            call()


def test_sparse_gradients():
    for make in (ht.AdamW, ht.SGD, lambda p: ht.Rounded(torch.optim.SGD(p, lr=0.1), weight='bfloat16')):
        layer = nn.Embedding(8, 4, sparse=True)
        optimizer = make(list(layer.parameters()))
        before = layer.weight.detach().clone()
        layer(torch.tensor([1])).sum().backward()
        with pytest.raises(TypeError, match=r'a gradient of a parameter of shape \(8, 4\) is torch.sparse_coo; dense ones'):
            optimizer.step()
        assert torch.equal(before, layer.weight)


def test_states_of_other_optimizers():
    p = nn.Parameter(plain(4, 4))
    theirs = torch.optim.AdamW([p])
    p.grad = torch.ones_like(p)
    theirs.step()
    for ours in (ht.AdamW([p]), ht.SGD([p]), ht.Muon([p]), ht.Rounded(torch.optim.AdamW([p]))):
        key, name = ours.key, type(ours).__name__
        with pytest.raises(ValueError, match='{0}: the state is one of another optimizer, halfulp.torch.{0} has'.format(name)):
            ours.load_state_dict(theirs.state_dict())
        assert ours.key == key and not ours.state


@pytest.mark.parametrize('given', [2.5, '5', True, None])
def test_iterations_of_muon(given):
    with pytest.raises(TypeError, match='iterations: a whole number is expected'):
        ht.Muon([nn.Parameter(plain(4, 4))], iterations=given)


def test_muon_says_that_it_stays_on_the_cpu():
    class Elsewhere(nn.Parameter):  # a device that need not be there
        device = torch.device('cuda', 0)
    with pytest.raises(TypeError, match='Muon: parameters on the CPU are required, not on cuda:0: there are no kernels'):
        ht.Muon([Elsewhere(plain(4, 4))])


def test_long_texts_of_a_report_have_several_lines():
    with ht.precision(ht.recipes.nvfp4_pretraining()) as p:
        nn.Linear(32, 4)(plain(16, 32))
    assert '<td class="long" data-v="nvfp4 scaled(' in p.report().html()
    assert 'td.long{' in p.report().html()
