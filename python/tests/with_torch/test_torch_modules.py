# SPDX-License-Identifier: MIT
"""Modules: what they print, keep, copy and count; models converted."""
import copy
import io

from torch_support import ht, plain, pytest, same, torch

RECIPE = ht.Recipe(x='float8_e4m3fn,sra:8', w='float8_e4m3fn', g='float8_e5m2', accum='fp32')


def test_repr():
    assert repr(ht.Quantizer('mxfp4', 'float8_e5m2', dim=1)) == (
        "Quantizer('mxfp4', backward='float8_e5m2', dim=1, gradient='straight_through')")
    text = repr(ht.Linear(3, 4, recipe=RECIPE))
    assert text == ("Linear(in_features=3, out_features=4, bias=True, recipe=Recipe(x='float8_e4m3fn,sra:8', "
                    "w='float8_e4m3fn', g='float8_e5m2'))")
    assert "Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), bias=False, recipe=Recipe(accum='exact'))" == repr(
        ht.Conv2d(1, 2, 3, bias=False, recipe=ht.Recipe(accum='exact')))
    assert repr(ht.MatMul(ht.Recipe(x='nvfp4'))) == "MatMul(recipe=Recipe(x='nvfp4'))"
    assert eval(str(RECIPE), {'Recipe': ht.Recipe}) == RECIPE


def modules():
    yield ht.Quantizer('float8_e4m3fn,sra:8', 'float8_e5m2,sra:8', key=5, count=True), plain(4, 6)
    yield ht.Linear(6, 5, recipe=RECIPE, key=6, count=True), plain(4, 6)
    yield ht.Conv2d(2, 3, 3, recipe=RECIPE, key=7, count=True), plain(2, 2, 5, 5)


@pytest.mark.parametrize('which', range(3))
def test_state(which):
    """What a module would draw next is saved, loaded and copied; counts are not saved."""
    module, x = list(modules())[which]
    first = module(x)
    assert not torch.equal(module(x), first)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    twin = copy.deepcopy(module)
    assert twin.events_of() == module.events_of()
    assert any(n for part in twin.events_of().values() for n in part.values())
    third = module(x)
    file.seek(0)
    other, _ = list(modules())[which]
    state = torch.load(file)
    assert set(state) >= {'stream'} and not {'seen', 'tap'} & set(state)
    other.load_state_dict(state)
    same(other(x), third)
    same(twin(x), third)
    assert int(module.stream[1]) == 3 << 36
    module.seed(int(module.stream[0]))
    same(module(x), first)
    module.reset_events()
    assert not any(n for part in module.events_of().values() for n in part.values())


def test_nothing_moves_without_random_words():
    module = ht.Quantizer('float8_e4m3fn')
    module(plain(3))
    assert int(module.stream[1]) == 0


def test_the_seed_is_torchs():
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(int(ht.Quantizer('float8_e4m3fn,sra:8').stream[0]))
    assert made[0] == made[1] != made[2]


def test_types_of_a_module():
    """Halves and doubles change parameters, not streams and counts."""
    layer = ht.Linear(6, 5, recipe=RECIPE.but(x='float8_e4m3fn'), count=True).bfloat16()
    assert layer.weight.dtype == torch.bfloat16
    assert layer.stream.dtype == torch.int64 and layer.tap.dtype == torch.float64
    x = plain(4, 6).bfloat16().requires_grad_()
    z = layer(x)
    z.sum().backward()
    assert z.dtype == x.grad.dtype == layer.bias.grad.dtype == torch.bfloat16
    wide = ht.matmul(x.detach().float(), layer.weight.detach().float().t(), layer.recipe.but(out='bfloat16'))
    same(z.detach(), wide.bfloat16() + layer.bias.detach())
    assert layer.to('cpu') is layer and layer.tap.requires_grad


def test_counts_backward():
    """Twice through one module before the backward pass; as often as gradients come, they are counted."""
    module = ht.Quantizer('float8_e4m3fn', 'float8_e4m3fn', count=True)
    x = torch.tensor([1.0, 1e6]).requires_grad_()
    (module(x) + module(x)).backward(torch.tensor([1e9, 1.0]))
    assert module.events_of()['forward']['overflow'] == 2 and module.events_of()['backward']['overflow'] == 2
    assert module.events_of()['backward']['inexact'] == 2
    assert ht.events(torch.nn.Sequential(module, torch.nn.ReLU())) == {'0': {
        'forward': {'overflow': 2, 'saturated': 2, 'inexact': 2},
        'backward': {'overflow': 2, 'saturated': 2, 'inexact': 2}}}
    ht.reset_events(module)
    assert ht.events(module) == {'': {'forward': {}, 'backward': {}}}


def test_stochastic_backward_uses_its_own_call():
    """The words of a backward pass are those of its forward pass, in whatever order backward passes come."""
    module = ht.Quantizer('keep', 'float8_e5m2,sra:8', key=3)
    x, g = plain(50).requires_grad_(), plain(50, seed=1)
    one, two = module(x), module(x)
    late, = torch.autograd.grad(two, x, g)
    early, = torch.autograd.grad(one, x, g)
    assert not torch.equal(late, early)
    module.seed(3)
    again, = torch.autograd.grad(module(x), x, g)
    same(again, early)


def test_quantizers_by_tensor_channel_block():
    x = plain(6, 4, 10) * torch.exp2(torch.arange(6.0))[:, None, None]
    whole, channels, blocks = (make('float8_e4m3fn') for make in
                               (ht.Quantizer.per_tensor, ht.Quantizer.per_channel, ht.Quantizer.per_block))
    same(channels(x), torch.stack([whole(row) for row in x]))
    same(ht.Quantizer.per_channel('float8_e4m3fn', dim=1)(x),
         torch.stack([whole(x[:, i].contiguous()) for i in range(4)], dim=1))
    same(blocks(x), ht.quantize(x, 'scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=floor)'))
    assert not torch.equal(channels(x), whole(x))
    assert ht.Quantizer.per_block('fp(2,1,0):finite,sra:8', size=16).forward_rounding == (
        'scaled(fp(2,1,0):finite;scale=float8_e8m0fnu;block=1x16;rule=floor),sra:8')
    assert ht.Quantizer.per_channel('float8_e5m2,rtz,sat=none').forward_rounding.endswith('rule=ratio),rtz,sat=none')
    with pytest.raises(ValueError, match='is not a format'):
        ht.Quantizer.per_tensor('mxfp4')


def net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.ReLU(),
                                                   torch.nn.Linear(8, 2, bias=False)))


def test_convert():
    plain_net, x = net(), plain(5, 1, 4, 4)
    made = ht.convert(plain_net, RECIPE, key=9, skip=['3.2'], count=True)
    homes = [type(m).__module__.partition('.')[0] for m in (made[0], made[3][0], made[3][2])]
    assert homes == ['halfulp', 'halfulp', 'torch']
    assert made[0].weight is not plain_net[0].weight and type(plain_net[0]) is torch.nn.Conv2d
    assert int(made[0].stream[0]) != int(made[3][0].stream[0])
    exact = ht.convert(plain_net, ht.Recipe())
    assert torch.allclose(exact(x), plain_net(x), atol=1e-6) and not torch.equal(made(x), plain_net(x))
    same(ht.convert(plain_net, RECIPE, key=9, skip=['3.2'])(x), ht.convert(plain_net, RECIPE, key=9, skip=['3.2'])(x))
    def choice(name, module):
        return RECIPE if isinstance(module, torch.nn.Linear) and module.bias is not None else None
    chosen = ht.convert(plain_net, choice, inplace=True)
    assert chosen is plain_net and type(chosen[0]) is torch.nn.Conv2d and isinstance(chosen[3][0], ht.Linear)
    assert type(chosen[3][2]) is torch.nn.Linear
    assert isinstance(ht.convert(torch.nn.Linear(2, 3), RECIPE), ht.Linear)
    with pytest.raises(ValueError, match="no module 'head'"):
        ht.convert(net(), RECIPE, skip=['head'])
    with pytest.raises(ValueError, match="Conv2d: conv2d: shapes .* do not go together"):
        ht.Conv2d(1, 1, 3, padding='same')(plain(1, 2, 4, 4))


def test_converted_places():
    """A layer in two places is one layer afterwards; a skipped one stays in both."""
    torch.manual_seed(2)
    shared, other = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    plain_net = torch.nn.Sequential(shared, torch.nn.Sequential(other, shared), other)
    made = ht.convert(plain_net, RECIPE, key=9)
    assert isinstance(made[0], ht.Linear) and made[0] is made[1][1] and made[2] is made[1][0] is not made[0]
    first = ht.convert(torch.nn.Sequential(copy.deepcopy(shared)), RECIPE, key=9)
    same(made[0].stream, first[0].stream)
    kept = ht.convert(plain_net, RECIPE, skip=['2'])
    assert type(kept[2]) is torch.nn.Linear and kept[2] is kept[1][0] and isinstance(kept[1][1], ht.Linear)


@pytest.mark.filterwarnings('ignore')
def test_converted_transformers_do_not_take_the_fused_path():
    torch.manual_seed(3)
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).eval()
    encoder = torch.nn.TransformerEncoder(layer, 2).eval()
    x, masked = plain(3, 5, 8), torch.arange(5) >= torch.tensor([5, 4, 3])[:, None]
    for model, more in ((layer, {}), (encoder, {}), (encoder, {'src_key_padding_mask': masked})):
        made = ht.convert(model, ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn'), count=True)
        with torch.no_grad():
            z = made(x, **more)
        counts = ht.events(made)
        assert len(counts) == (3 if model is layer else 6) and all(part['x'] for part in counts.values())
        with torch.no_grad():
            assert not torch.allclose(z[0], model(x, **more)[0], atol=1e-6)


@pytest.fixture
def elsewhere():
    """Another default device."""
    torch.set_default_device('meta')
    yield
    torch.set_default_device(None)


def test_default_devices(elsewhere):
    x = torch.linspace(-1, 1, 24, device='cpu').view(4, 6).requires_grad_()
    layer = ht.Linear(6, 5, device='cpu', recipe=RECIPE.but(accum='parts(exact;fp32;exact)', x='mxfp4,sra:4', w='mxfp4',
                                                            g='mxfp4'), count=True)
    assert layer.stream.device.type == layer.seen.device.type == layer.tap.device.type == 'cpu'
    scaler = ht.LossScaler('static(2)')
    scaler.scale(layer(x).sum()).backward()
    ht.quantize(x, 'keep', backward='float8_e5m2').sum().backward()
    assert layer.events_of()['dw.g'] and x.grad.device.type == 'cpu'
    optimizer = ht.Rounded(torch.optim.SGD(layer.parameters(), lr=1), weight='float8_e4m3fn,sra:8')
    scaler.unscale_([torch.zeros(0, dtype=torch.bfloat16, device='cpu')])
    optimizer.step()
    ht.SGD(layer.parameters(), state='bfloat16').step()
    assert ht.stream(1).device.type == 'cpu'


@pytest.mark.parametrize('recipe', [RECIPE, RECIPE.but(x='float8_e4m3fn')], ids=['words', 'none'])
def test_converted_state_loads(recipe):
    """A checkpoint of the plain model loads into the converted one, whose streams stay; conversely it has them
    where words are drawn, and loads strictly where not."""
    made, other = ht.convert(net(), recipe, key=4), net()
    with torch.no_grad():
        other[0].weight.mul_(2)
    before = made[0].stream.clone()
    made.load_state_dict(other.state_dict())
    same(made[0].weight, other[0].weight)
    same(made[0].stream, before)
    assert ('0.stream' in made.state_dict()) == recipe.stochastic
    if not recipe.stochastic:
        other.load_state_dict(made.state_dict())
        made.load_state_dict(ht.convert(net(), RECIPE, key=4).state_dict())
