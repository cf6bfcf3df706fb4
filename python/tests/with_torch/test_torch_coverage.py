# SPDX-License-Identifier: MIT
"""What `convert` leaves in float32 is reported: by names and their share, as an error if it is to be one."""
import copy
import pickle
import warnings

from torch_support import ht, plain, pytest, same, torch  # first: it leaves the tests out where there is no PyTorch

from torch import nn
from torch.nn.utils import prune

F8 = 'float8_e4m3fn'
weight_norm, spectral_norm = nn.utils.parametrizations.weight_norm, nn.utils.parametrizations.spectral_norm


class Sub(nn.Linear):
    pass


class Own(nn.Module):
    """A product with a parameter of the module itself."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 8))

    def forward(self, x):
        return nn.functional.linear(x, self.w)


class Past(nn.Module):
    """A layer whose weights are read, and which is never called."""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(24, 8)

    def forward(self, x):
        return self.out(nn.functional.linear(x, self.qkv.weight))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(self.q(x), self.k(x), x)


def pruned():
    layer = nn.Linear(8, 4)
    prune.l1_unstructured(layer, 'weight', amount=0.5)
    return layer


# Modules that hold factors of products, and their inputs.
HELD = {
    'Sub': (lambda: Sub(8, 4), plain(3, 8)), 'weight norm': (lambda: weight_norm(nn.Linear(8, 4)), plain(3, 8)),
    'spectral norm': (lambda: spectral_norm(nn.Linear(8, 4)).eval(), plain(3, 8)), 'pruned': (pruned, plain(3, 8)),
    'older weight norm': (lambda: nn.utils.weight_norm(nn.Linear(8, 4)), plain(3, 8)),
    'Own': (Own, plain(3, 8)), 'one output': (lambda: Sub(8, 1), plain(3, 8)),
    'Conv1d': (lambda: nn.Conv1d(8, 4, 3), plain(2, 8, 6)), 'Conv3d': (lambda: nn.Conv3d(8, 4, 1), plain(2, 8, 3, 2, 2)),
    'ConvTranspose2d': (lambda: nn.ConvTranspose2d(8, 4, 3), plain(2, 8, 4, 5)),
    'Conv2d same': (lambda: nn.Conv2d(8, 4, 2, padding='same'), plain(2, 8, 4, 5)),
    'Conv2d valid': (lambda: nn.Conv2d(8, 4, 2, padding='valid'), plain(2, 8, 4, 5)),
    'Conv2d circular': (lambda: nn.Conv2d(8, 4, 3, padding=1, padding_mode='circular'), plain(2, 8, 4, 5)),
    'Conv2d reflect': (lambda: nn.Conv2d(8, 4, 3, padding='same', padding_mode='reflect'), plain(8, 4, 5)),
    'LSTM': (lambda: nn.LSTM(8, 4), plain(3, 2, 8)), 'GRU': (lambda: nn.GRU(8, 4), plain(3, 2, 8)),
    'RNN': (lambda: nn.RNN(8, 4), plain(3, 2, 8)), 'LSTMCell': (lambda: nn.LSTMCell(8, 4), plain(3, 8)),
    'Embedding': (lambda: nn.Embedding(8, 4), torch.tensor([1, 5, 2])),
    'EmbeddingBag': (lambda: nn.EmbeddingBag(8, 4), torch.tensor([[1, 5, 2], [0, 1, 1]])),
    'LayerNorm around': (lambda: nn.Sequential(nn.LayerNorm(8), Own()), plain(3, 8)),
}
RECIPE = ht.Recipe(x=F8, w='mxfp4', g='float8_e5m2', embedding=F8)


def told(call):
    """The one warning of a call, and what it returns."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        made = call()
    mine = [str(one.message) for one in seen if 'halfulp' in str(one.message)]
    assert len(mine) == 1, mine
    return mine[0], made


def results(z):
    return [x.detach() for x in torch.utils._pytree.tree_leaves(z)]


@pytest.mark.parametrize('name', HELD)
@pytest.mark.filterwarnings('ignore:`torch.nn.utils', 'ignore:.*weight_norm')
def test_modules_with_weights(name):
    """A converted module, by its class or by what it calls, has the bits of `precision` and keeps what it carries."""
    make, x = HELD[name]
    torch.manual_seed(4)
    module = make()
    with ht.precision(RECIPE, strict=True):
        want = results(module(x))
    before, calls = results(module(x)), []
    assert not all(torch.equal(a, b) for a, b in zip(before, want))
    module.my_tag = 'kept'
    module.register_forward_pre_hook(lambda m, args: calls.append('before'))
    module.register_forward_hook(lambda m, args, z: calls.append('after'))
    kind, parameters = nn.utils.parametrize.type_before_parametrizations(module), dict(module.named_parameters())
    with warnings.catch_warnings():
        warnings.simplefilter('error', UserWarning)
        made = ht.convert(module, RECIPE, strict=True, count=True, inplace=True)
    assert made is module and isinstance(made, kind) and made.my_tag == 'kept'
    for _ in range(2):
        for a, b in zip(results(made(x)), want):
            same(a, b)
    assert calls == 2 * ['before', 'after'] and all(dict(made.named_parameters())[n] is p for n, p in parameters.items())
    assert any(part for events in ht.events(made).values() for part in events.values())


@pytest.mark.parametrize('name', ['Sub', 'Conv1d', 'LSTM', 'Own', 'Embedding', 'LayerNorm around'])
def test_copies(name):
    make, x = HELD[name]
    low = ht.convert(make(), RECIPE)
    for twin in (copy.deepcopy(low), pickle.loads(pickle.dumps(low))):
        assert type(twin) is type(low)
        for a, b in zip(results(twin(x)), results(low(x))):
            same(a, b)


def test_attention_is_one_module():
    """torch.nn.MultiheadAttention reads its projection and never calls it; the products of activations are its own."""
    torch.manual_seed(4)
    module, x = nn.MultiheadAttention(8, 2, batch_first=True), plain(2, 5, 8)
    low = ht.convert(nn.Sequential(module), RECIPE, strict=True, count=True)[0]
    assert isinstance(low, nn.MultiheadAttention) and type(low.out_proj) is type(module.out_proj)
    with ht.precision(RECIPE, strict=True) as p:
        want = module(x, x, x)
    for a, b in zip(low(x, x, x), want):
        same(a.detach(), b.detach())
    assert list(ht.events(low)) == ['']


def test_modules_inside():
    """The products of modules that stay are torch's, whatever calls them."""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.own, self.inner = nn.Parameter(torch.randn(8, 8)), nn.Linear(8, 8)

        def forward(self, x):
            return self.inner(x @ self.own) @ self.own
    torch.manual_seed(4)
    block, x = Block(), plain(3, 8)
    low = ht.convert(block, RECIPE, skip='inner')
    same(low(x).detach(), ht.matmul(block.inner(ht.matmul(x, block.own, RECIPE)), block.own, RECIPE).detach())
    with ht.precision(RECIPE, skip='inner'):
        same(low(x).detach(), block(x).detach())


def test_a_forward_of_its_own():
    """What accelerate does: a module's own `forward` calls its class's, which conversion must not pass by."""
    layer, x = nn.Linear(8, 4), plain(3, 8)
    want = ht.linear(x, layer.weight, layer.bias, RECIPE).detach()
    old = layer.forward
    layer.forward = lambda y: 2 * old(y)
    same(ht.convert(layer, RECIPE, inplace=True)(x).detach(), 2 * want)


def test_names():
    model = nn.ModuleDict({'a': nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)), 'b': nn.Sequential(nn.Linear(4, 4)),
                           'head': nn.Linear(4, 4)})
    def low(**more):
        return [n for n, m in ht.convert(model, F8, **more).named_modules() if isinstance(m, ht.Linear)]
    assert low(skip='head') == low(skip=['h*']) == low(only=['a', 'b']) == ['a.0', 'a.1', 'b.0']
    assert low(skip='*.0') == ['a.1', 'head'] and low(only='?.0') == ['a.0', 'b.0']
    assert low(only='a', skip='*.1') == ['a.0']
    for more in ({'skip': 'heads'}, {'only': ['a', '*.7']}):
        with pytest.raises(ValueError, match='the model has no module'):
            ht.convert(model, F8, **more)


def test_nothing_to_convert():
    for model in (nn.Sequential(nn.ReLU()),
        nn.Sequential(nn.LayerNorm((2, 3)), nn.BatchNorm2d(3), nn.Embedding(3, 4))):
        with pytest.raises(ValueError, match='nothing was converted, for no module of the model holds a matrix'):
            ht.convert(model, F8)
    with pytest.raises(ValueError, match=r"nothing was converted; 100.0 % .*'0' \(Linear\)"):
        ht.convert(nn.Sequential(nn.Linear(3, 4)), F8, skip='0')
    with pytest.raises(ValueError, match='nothing was converted'):
        ht.convert(nn.Sequential(nn.Linear(3, 4)), lambda name, module: None)


def test_what_is_converted_already():
    low = ht.convert(nn.Sequential(nn.Linear(3, 4)), F8)
    for model, place in ((low, '0'), (low[0], '')):
        with pytest.raises(ValueError, match=r"nothing was converted; '{}' \(halfulp.*Linear\) is a layer of this "
                           'package already'.format(place)):
            ht.convert(model, 'bfloat16')


@pytest.mark.filterwarnings('ignore')
def test_what_is_quantized_already():
    try:
        model = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.ReLU(), nn.Linear(3, 4)))
    except RuntimeError as error:
        pytest.skip('torch quantizes nothing here: {}'.format(error))
    with pytest.raises(ValueError, match=r"'1' \(torch.ao.nn.quantized.dynamic.Linear\) has quantized its weights"):
        ht.convert(model, F8)


def test_nothing_is_said_where_nothing_stays():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.PReLU(2), nn.Flatten(), nn.Linear(32, 4),
                          nn.LayerNorm(4), nn.RMSNorm((2, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        made = ht.convert(model, F8, strict=True)
        ht.convert(nn.Sequential(made, nn.Linear(4, 4)), F8, strict=True)  # layers of before are low, too
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        ht.convert(model[:6], F8, strict=True, sample=plain(2, 1, 6, 6))


def test_skipped_containers():
    inner = nn.Sequential(nn.Linear(4, 4), nn.LazyLinear(4))
    made = ht.convert(nn.Sequential(nn.Linear(4, 4), inner), F8, skip='1', strict=True)
    assert isinstance(made[0], ht.Linear) and type(made[1][0]) is nn.Linear


@pytest.mark.parametrize('make, sample, names, share', [
    (lambda: Attention(), plain(2, 5, 8), ["'' (Attention)"], 100 * 2 * 2 * 25 * 8 / (2 * 2 * 25 * 8 + 2 * 2 * 5 * 64)),
    (Past, plain(2, 5, 8), ["'' (Past)"], 50.0),
    (lambda: nn.Sequential(nn.Linear(8, 8), Attention()), plain(2, 5, 8), ["'1' (Attention)"],
     100 * 2 * 2 * 25 * 8 / (2 * 2 * 25 * 8 + 3 * 2 * 5 * 64)),
    (lambda: nn.Sequential(nn.Linear(8, 8), nn.LazyLinear(4)), plain(2, 8), ["'1' (Linear)"], 100 * 32 / (32 + 64)),
], ids=['attention', 'weights read', 'inside', 'lazy'])
def test_a_pass(make, sample, names, share):
    torch.manual_seed(1)
    model = make().eval()
    text, made = told(lambda: ht.convert(model, F8, sample=sample))
    assert text.partition('float32: ')[2].partition(';')[0] == ', '.join(names)
    assert '{:.1f} % of the multiply-adds of the pass'.format(share) in text, (text, share)
    with pytest.raises(ValueError, match='of the pass stay in float32'):
        ht.convert(model, F8, sample=(sample,), strict=True)


def test_lazy_weights():
    text, _ = told(lambda: ht.convert(nn.Sequential(nn.Linear(8, 8), nn.LazyLinear(4)), F8))
    assert "at least 0.0 % " in text and "'1' (LazyLinear)" in text


def test_a_pass_leaves_no_trace():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout())
    before, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    made = ht.convert(model, F8 + ',sra:8', key=3, count=True, sample={'input': plain(3, 8)}, strict=True)
    assert torch.equal(random, torch.get_rng_state())
    same(made[1].running_mean, before['1.running_mean'])
    assert made[0].stream.tolist()[1] == 0 and not any(made[0].events_of()['x'].values())


def test_an_error_leaves_the_model():
    model = nn.Sequential(nn.Linear(8, 8), Sub(8, 8), nn.LazyLinear(4))
    for more in ({}, {'sample': plain(2, 3, 8)}):
        with pytest.raises(ValueError, match='2.*Linear'):
            ht.convert(model, F8, strict=True, inplace=True, **more)
        assert [type(m) for m in model][:2] == [nn.Linear, Sub] and not list(model.buffers())
    with pytest.raises(ValueError, match="'0': .*do not go together"):
        ht.convert(model, F8, inplace=True, sample=plain(2, 3, 7))
    assert type(model[0]) is nn.Linear and 'recipe' not in model[0].__dict__


class Hidden(nn.Module):
    """It calls a layer that it has in a list of Python's, where no module is registered."""

    def __init__(self):
        super().__init__()
        self.l, self.hidden = nn.Linear(4, 4), [nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4))]

    def forward(self, x):
        return self.hidden[1](self.hidden[0](self.l(x)))


def test_layers_that_are_not_registered():
    model = nn.Sequential(nn.Linear(4, 4), Hidden())
    text, _ = told(lambda: ht.convert(model, F8, sample=plain(3, 4)))
    assert text.partition('float32: ')[2].startswith(
        "'1' (Hidden, which calls Linear that is no module of the model);") and '50.0 %' in text
    with pytest.raises(ValueError, match='which calls Linear'):
        ht.convert(model, F8, sample=plain(3, 4), strict=True)


@pytest.mark.parametrize('kind', ['_Whole', 'LazyLinear', 'Model'])
def test_names_of_classes_are_none_of_places(kind):
    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.l, self.model = nn.Linear(8, 8), Attention()

        def forward(self, x):
            return self.model(self.l(x))
    around = type(kind, (Around,), {})
    share = 100 * 2 * 2 * 25 * 8 / (2 * 2 * 25 * 8 + 3 * 2 * 5 * 64)
    text, _ = told(lambda: ht.convert(around(), F8, sample=plain(2, 5, 8)))
    assert "{:.1f} % of the multiply-adds of the pass stay in float32: 'model' (Attention);".format(share) in text
    text, _ = told(lambda: ht.convert(nn.Sequential(around(), nn.Linear(8, 4)), F8, sample=plain(2, 5, 8)))
    assert "'0.model' (Attention);" in text


def test_a_module_in_two_places():
    shared = Attention()
    model = nn.Sequential(nn.Linear(8, 8), nn.Sequential(shared), nn.Sequential(shared))
    text, _ = told(lambda: ht.convert(model, F8, sample=plain(2, 5, 8)))
    one, all_of_it = 2 * 2 * 25 * 8, 2 * (2 * 2 * 25 * 8 + 2 * 2 * 5 * 64) + 2 * 5 * 64
    assert '{:.1f} %'.format(100 * 2 * one / all_of_it) in text and "float32: '1.0' (Attention);" in text
