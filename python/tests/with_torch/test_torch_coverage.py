# SPDX-License-Identifier: MIT
"""What `convert` leaves in float32 is told: by names and their share, as an error if it is to be one."""
import copy
import re
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
        self.qkv, self.out, self.place = nn.Linear(8, 24), nn.Linear(24, 8), nn.Parameter(torch.randn(1, 5, 8))

    def forward(self, x):
        return self.out(nn.functional.linear(x + self.place, self.qkv.weight))


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


# Modules that hold factors of products and are not converted; multiply-adds of a row, window or step.
LEFT = {
    'Sub': (lambda: Sub(8, 4), 32), 'ParametrizedLinear': (lambda: weight_norm(nn.Linear(8, 4)), 32),
    'spectral norm': (lambda: spectral_norm(nn.Linear(8, 4)), 32), 'Linear, weight computed': (pruned, 32),
    'Own': (Own, 32),
    'one output': (lambda: Sub(8, 1), 8), 'one channel': (lambda: nn.Conv1d(1, 1, 3), 3),
    'Conv1d': (lambda: nn.Conv1d(8, 4, 3), 96), 'Conv3d': (lambda: nn.Conv3d(8, 4, 1), 32),
    'ConvTranspose2d': (lambda: nn.ConvTranspose2d(8, 4, 3), 288), 'Bilinear': (lambda: nn.Bilinear(8, 3, 4), 96),
    "Conv2d, padding 'same'": (lambda: nn.Conv2d(8, 4, 3, padding='same'), 288),
    "Conv2d, padding 'circular'": (lambda: nn.Conv2d(8, 4, 3, padding=1, padding_mode='circular'), 288),
    'LSTM': (lambda: nn.LSTM(8, 4), 4 * 48), 'GRU': (lambda: nn.GRU(8, 4), 3 * 48), 'RNN': (lambda: nn.RNN(8, 4), 48),
    'LSTMCell': (lambda: nn.LSTMCell(8, 4), 4 * 48), 'EmbeddingBag': (lambda: nn.EmbeddingBag(8, 4), 32),
    'MultiheadAttention': (lambda: nn.MultiheadAttention(8, 2), 4 * 64),
}


def told(call):
    """The one warning of a call, and what it returns."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        made = call()
    mine = [str(one.message) for one in seen if 'halfulp' in str(one.message)]
    assert len(mine) == 1, mine
    return mine[0], made


@pytest.mark.parametrize('name', LEFT)
@pytest.mark.filterwarnings('ignore:`torch.nn.utils')
def test_modules_with_weights(name):
    module, work = LEFT[name][0](), LEFT[name][1]
    alone, place = LEFT[name][0](), {'inplace': 'computed' in name}  # torch copies no pruned weights
    with pytest.raises(ValueError, match='convert: nothing was converted; 100.0 % of .* stay in float32: ') as error:
        ht.convert(alone, F8, **place)
    if name not in ('spectral norm', 'one output', 'one channel'):
        assert '({})'.format(name) in str(error.value)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), module)
    text, made = told(lambda: ht.convert(model, F8, **place))
    assert '{:.1f} % of the multiply-adds of a row, a window or a step stay'.format(100 * work / (work + 128)) in text
    said = '' if name in ('spectral norm', 'one output', 'one channel') else name
    assert re.search(r"'2(\.out_proj)?' \(" + said, text)
    assert isinstance(made[0], ht.Linear) and type(made[2]) is type(module)
    for more, refused in (({}, True), ({'skip': ['2']}, False)):
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), LEFT[name][0]())
        with warnings.catch_warnings():
            warnings.simplefilter('error', UserWarning)
            if refused:
                with pytest.raises(ValueError, match="stay in float32: .*'2.*; skip= names those that may"):
                    ht.convert(model, F8, strict=True, **place)
                assert type(model[0]) is nn.Linear
                ht.convert(model, lambda at, module: F8 if at == '0' else None, strict=True, **place)
            else:
                ht.convert(model, F8, strict=True, **place, **more)


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
    inner = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4))
    made = ht.convert(nn.Sequential(nn.Linear(4, 4), inner), F8, skip='1', strict=True)
    assert isinstance(made[0], ht.Linear) and type(made[1][0]) is nn.Linear


@pytest.mark.parametrize('make, sample, names, share', [
    (Past, plain(2, 5, 8), ["'' (Past)"], 50.0),
    (Attention, plain(2, 5, 8), ["'' (Attention)"], 100 * 2 * 2 * 25 * 8 / (2 * 2 * 25 * 8 + 2 * 2 * 5 * 64)),
    (lambda: nn.Sequential(nn.Linear(8, 8), nn.GRU(8, 4)), plain(2, 5, 8), ["'1' (GRU)"], 100 * 144 / (144 + 64)),
    (lambda: nn.Sequential(nn.Linear(8, 8), nn.LSTM(8, 4)), plain(2, 5, 8), ["'1' (LSTM)"], 100 * 192 / (192 + 64)),
    (lambda: nn.Sequential(nn.Conv2d(4, 8, 3, groups=2), nn.ConvTranspose2d(8, 4, 1)), plain(2, 4, 6, 6),
     ["'1' (ConvTranspose2d)"], 100 * 32 / (32 + 9 * 2 * 8)),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), plain(2, 5, 8),
        ["'self_attn' (MultiheadAttention)"],
     100 * (4 * 64 + 2 * 5 * 8) / (4 * 64 + 2 * 5 * 8 + 2 * 128)),
    (lambda: nn.Sequential(nn.Linear(8, 8), nn.LazyLinear(4)), plain(2, 8), ["'1' (Linear)"], 100 * 32 / (32 + 64)),
], ids=['weights read', 'attention', 'GRU', 'LSTM', 'convolutions', 'transformer', 'lazy'])
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
    model = nn.Sequential(nn.Linear(8, 8), nn.LSTM(8, 4))
    for more in ({}, {'sample': plain(2, 3, 8)}):
        with pytest.raises(ValueError, match='LSTM'):
            ht.convert(model, F8, strict=True, inplace=True, **more)
        assert type(model[0]) is nn.Linear
    with pytest.raises(ValueError, match='do not go together'):
        ht.convert(model, F8, inplace=True, sample=plain(2, 3, 7))
    assert type(model[0]) is nn.Linear


class Vector(nn.Module):
    """Products with vectors, of which torch's own counter knows none."""

    def __init__(self, product, work):
        super().__init__()
        self.l, self.v, self.product, self.work = nn.Linear(4, 4), nn.Parameter(torch.ones(4)), product, work

    def forward(self, x):
        return self.product(self.l(x), self.v)


# The product, and its multiply-adds for rows of 3 x 4.
VECTORS = {
    'mv': (lambda y, v: y @ v, 12), 'linear': (lambda y, v: nn.functional.linear(y, v), 12),
    'batch': (lambda y, v: y[None] @ v, 12), 'dot': (lambda y, v: y[0] @ v, 4),
    'vdot': (lambda y, v: torch.vdot(y[0], v), 4), 'addmv': (lambda y, v: torch.addmv(v[:3], y, v), 12),
    'addr': (lambda y, v: torch.addr(y, v[:3], v), 12),
    'addbmm': (lambda y, v: torch.addbmm(v[:3, None], y[None], v.view(1, 4, 1)), 12),
    'sparse': (lambda y, v: torch.sparse.mm(torch.eye(3).to_sparse(), y), 36),
    'conv_tbc': (lambda y, v: nn.functional.conv_tbc(y[:, None], v.view(1, 4, 1), v[:1]), 12),
}


@pytest.mark.parametrize('name', VECTORS)
@pytest.mark.filterwarnings('ignore:Sparse')
def test_products_with_vectors(name):
    model, work = Vector(*VECTORS[name]), VECTORS[name][1]
    text, _ = told(lambda: ht.convert(model, F8, sample=plain(3, 4)))
    assert "'' (Vector)" in text and '{:.1f} %'.format(100 * work / (work + 48)) in text, text
    with pytest.raises(ValueError, match=r"stay in float32: '' \(Vector\)"):
        ht.convert(model, F8, sample=plain(3, 4), strict=True)


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


class Global(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.l, self.model = nn.Linear(4, 4), inner

    def forward(self, x):
        return self.model(self.l(x)[:, :, None])[:, :, 0]


@pytest.mark.parametrize('kind', [Global, type('_Whole', (Global,), {}), type('Conv1d', (Global,), {})])
def test_names_of_classes_are_none_of_places(kind):
    text, _ = told(lambda: ht.convert(kind(nn.Conv1d(4, 4, 1)), F8, sample=plain(3, 4)))
    assert "50.0 % of the multiply-adds of the pass stay in float32: 'model' (Conv1d);" in text
    text, _ = told(lambda: ht.convert(nn.Sequential(kind(nn.Conv1d(4, 4, 1)), nn.Linear(4, 4)), F8, sample=plain(3, 4)))
    assert "33.3 %" in text and "'0.model' (Conv1d);" in text


def test_a_module_in_two_places():
    shared = nn.Conv1d(4, 4, 1)
    model = nn.Sequential(nn.Linear(4, 4), nn.Unflatten(1, (4, 1)), nn.Sequential(shared), nn.Sequential(shared))
    text, _ = told(lambda: ht.convert(model, F8, sample=plain(3, 4)))
    assert "66.7 %" in text and "float32: '2.0' (Conv1d);" in text
