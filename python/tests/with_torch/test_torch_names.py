# SPDX-License-Identifier: MIT
"""What may stand for a rounding: types of torch, presets, objects of halfulp; a rounding for a recipe; errors that say
what a text is."""
import numpy as np

import halfulp
from torch_support import ht, numbers, plain, pytest, same, torch

TYPES = {'float16': 'binary16', 'bfloat16': 'bfloat16', 'float32': 'binary32', 'float8_e4m3fn': 'float8_e4m3fn',
         'float8_e5m2': 'float8_e5m2', 'float8_e4m3fnuz': 'float8_e4m3fnuz', 'float8_e5m2fnuz': 'float8_e5m2fnuz',
         'float8_e8m0fnu': 'float8_e8m0fnu', 'float4_e2m1fn_x2': 'float4_e2m1fn'}
TYPES = {getattr(torch, name): text for name, text in TYPES.items() if hasattr(torch, name)}
CODES = [kind for kind in TYPES if 'x2' not in str(kind)]


@pytest.mark.parametrize('kind', TYPES, ids=str)
def test_types_of_torch_are_formats(kind):
    x = numbers(500)
    same(ht.quantize(x, kind), ht.quantize(x, TYPES[kind]))
    same(ht.quantize(x, 'keep', backward=kind), x)
    assert halfulp.Format(kind) == halfulp.Format(TYPES[kind])
    np.testing.assert_array_equal(halfulp.quantize(x.numpy(), kind), ht.quantize(x, kind).numpy())
    assert halfulp.encode(x.numpy(), kind).dtype == halfulp.Format(kind).dtype
    assert ht.Recipe(x=kind, g=kind) == ht.Recipe(x=TYPES[kind], g=TYPES[kind])
    assert ht.Quantizer(kind).forward_rounding == TYPES[kind]


@pytest.mark.parametrize('kind', CODES, ids=str)
def test_codes_in_a_tensor_of_the_type(kind):
    x = numbers(500)
    codes = ht.encode(x, kind)
    assert codes.dtype == kind and torch.equal(codes.view(ht.encode(x, TYPES[kind]).dtype), ht.encode(x, TYPES[kind]))
    same(ht.decode(codes), ht.quantize(x, kind))
    same(ht.decode(codes, TYPES[kind]), ht.decode(codes, kind))
    with pytest.raises(TypeError, match='holds no codes of fp'):
        ht.decode(codes, 'fp(3,2,1)')


def test_types_that_are_no_formats():
    x = plain(4)
    for kind in (torch.int8, torch.float64, torch.complex64):
        for call in (lambda: ht.quantize(x, kind), lambda: halfulp.Format(kind), lambda: ht.Recipe(w=kind)):
            with pytest.raises(TypeError, match='format: {} is no floating-point type'.format(kind)):
                call()
    with pytest.raises(TypeError, match='codes: a tensor of torch.uint8 says no format'):
        ht.decode(ht.encode(x, 'float8_e4m3fn'))
    if hasattr(torch, 'float4_e2m1fn_x2'):
        with pytest.raises(TypeError, match='holds two codes per byte'):
            ht.encode(x, torch.float4_e2m1fn_x2)


@pytest.mark.parametrize('name', [p.name for p in halfulp.presets() if not p.scaling and not p.mode.stochastic])
def test_presets(name):
    """The names mean what they mean for arrays, in every type."""
    x = torch.cat([numbers(2000, spread=40), torch.tensor([460.0, 1e6, -1e6, 3e38, 1e-40, 0.0, -0.0])])
    expected = halfulp.quantize(x.numpy(), name)
    same(ht.quantize(x, name), torch.from_numpy(expected))
    same(ht.quantize(x[::2], name), torch.from_numpy(expected[::2].copy()))
    codes = halfulp.encode(x.numpy(), name)
    np.testing.assert_array_equal(ht.encode(x, name).numpy(), codes)
    same(ht.quantize(x.double(), name), torch.from_numpy(halfulp.quantize(x.double().numpy(), name)))
    for dtype in (torch.float16, torch.bfloat16):
        y = x.to(dtype)
        np.testing.assert_array_equal(ht.encode(y, name).numpy(), halfulp.encode(y.float().numpy(), name))
        if halfulp.preset(name).format.fits({torch.float16: 'binary16', torch.bfloat16: 'bfloat16'}[dtype]):
            same(ht.quantize(y, name), ht.quantize(y.float(), name).to(dtype))
    events = halfulp.Events()
    halfulp.quantize(x.numpy(), name, events=events)
    assert ht.quantize_with_events(x, name)[1].tolist() == list(events.as_dict().values())


@pytest.mark.parametrize('name', [p.name for p in halfulp.presets() if p.mode.stochastic])
def test_presets_with_a_bias(name):
    x = numbers(2000, spread=20)
    for key in (7, 8):
        got = ht.quantize(x, name, stream=(key, 3))
        same(got, torch.from_numpy(halfulp.quantize(x.numpy(), name, stream=(key, 3))))
    assert (got != ht.quantize(x, name, stream=(7, 3))).any()
    with pytest.raises(ValueError, match='draws random words'):
        ht.quantize(x, name)


@pytest.mark.parametrize('name', [p.name for p in halfulp.presets() if p.scaling and p.has_steps])
def test_presets_with_steps(name):
    with pytest.raises(ValueError, match='has steps of its own'):
        ht.quantize(plain(8, 64), name)


@pytest.mark.parametrize('name', [p.name for p in halfulp.presets() if p.scaling and not p.has_steps])
def test_scaled_presets(name):
    x, p = plain(8, 64), halfulp.preset(name)
    made = halfulp.scaled.encode(x.numpy(), p.scaling, p.mode)
    same(ht.quantize(x, name), torch.from_numpy(made.decode()))
    encoded = ht.scaled_encode(x, name)
    np.testing.assert_array_equal(encoded.codes.numpy(), made.codes)
    same(ht.scaled_decode(encoded, name), ht.quantize(x, name))


def test_as_torch_itself_converts():
    x = torch.cat([numbers(4096, spread=40), torch.tensor([448.0, 464.0, 465.0, 1e6, -1e6, 6e4, 3e38])])
    for name in ('float8_e5m2', 'bfloat16', 'float16'):
        z = x.to(getattr(torch, name)).float()
        got = ht.quantize(x, 'torch.' + name)
        same(torch.where(z.isnan(), 0.0, got), torch.where(z.isnan(), 0.0, z))
        assert torch.equal(got.isnan(), z.isnan())


def test_presets_in_products():
    """They round operands; the sum of a product is rounded by one as any tensor is, from float32."""
    a, b = plain(6, 40), plain(40, 5, seed=1)
    recipe = ht.Recipe(x='torch.float8_e5m2', w='mx.mxfp4', out='cuda.half.rz')
    sums = ht.matmul(ht.quantize(a, recipe.x), ht.quantize(b, recipe.w, dim=0))
    same(ht.matmul(a, b, recipe), ht.quantize(sums, recipe.out))
    large = torch.tensor([[1e6, 2.0]]), torch.tensor([[1.0], [1.0]])
    assert ht.matmul(*large, ht.Recipe(x='torch.float8_e5m2')).item() == float('inf')
    x = torch.tensor([100.0, 448.0, 460.0]).requires_grad_()
    ht.quantize(x, 'torch.float8_e4m3fn', gradient='zero_outside').sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_what_a_preset_is_not_for():
    x = plain(4)
    with pytest.raises(ValueError, match="the preset 'torch.float8_e4m3fn' says how it is rounded"):
        ht.quantize(x, 'torch.float8_e4m3fn,rtz')
    with pytest.raises(ValueError, match="did you mean 'torch.float8_e4m3fn'"):
        ht.quantize(x, 'torch.float8_e4m3')
    with pytest.raises(ValueError, match='is not a format'):
        ht.SGD([torch.nn.Parameter(x)], weight='torch.bfloat16')
    with pytest.raises(ValueError, match='is not a format'):
        ht.Quantizer.per_tensor('torch.float8_e4m3fn')
    with pytest.raises(ValueError, match="'mx.mxfp4' is not a format; scaled_encode takes scaled formats"):
        ht.encode(x, 'mx.mxfp4')
    with pytest.raises(ValueError, match="'torch.bfloat16' is no scaled tensor; encode takes formats"):
        ht.scaled_encode(x, 'torch.bfloat16')


def stands_for_e4m3():
    yield 'float8_e4m3fn'
    yield torch.float8_e4m3fn
    yield halfulp.Format('float8_e4m3fn')
    yield halfulp.Rounding('float8_e4m3fn')
    try:
        import ml_dtypes
    except ImportError:
        return
    yield ml_dtypes.float8_e4m3fn
    yield np.dtype(ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize('thing', list(stands_for_e4m3()), ids=repr)
def test_a_rounding_is_a_recipe(thing):
    """The recipe that rounds inputs and weights."""
    torch.manual_seed(1)
    net, x = torch.nn.Sequential(torch.nn.Linear(12, 8), torch.nn.Linear(8, 2)), plain(5, 12)
    recipe = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn')
    made = ht.convert(net, thing)
    assert made[0].recipe == made[1].recipe == recipe
    same(made(x), ht.convert(net, recipe)(x))
    same(made(x), ht.convert(net, lambda name, module: thing)(x))
    w, b = net[0].weight.detach(), net[0].bias.detach()
    same(ht.linear(x, w, b, thing), ht.linear(x, w, b, recipe))
    same(ht.matmul(x, w.t(), thing), ht.matmul(x, w.t(), recipe))
    image, kernel = plain(1, 2, 5, 5), plain(3, 2, 3, 3)
    same(ht.conv2d(image, kernel, recipe=thing), ht.conv2d(image, kernel, recipe=recipe))
    for layer in (ht.Linear(3, 2, recipe=thing), ht.Conv2d(1, 1, 3, recipe=thing), ht.MatMul(thing)):
        assert layer.recipe == recipe


def test_what_is_no_recipe():
    net = torch.nn.Linear(4, 3)
    for wrong in (5, ['float8_e4m3fn'], {}, object()):
        for call in (lambda: ht.convert(net, wrong), lambda: ht.matmul(plain(2, 2), plain(2, 2), wrong or [])):
            with pytest.raises(TypeError, match='recipe: .* is neither a Recipe nor a rounding'):
                call()
    with pytest.raises(ValueError, match="did you mean 'float8_e4m3fn'"):
        ht.convert(net, 'float8_e4m3f')
    with pytest.raises(ValueError, match="no module 'head'"):
        ht.convert(net, 'mxfp4', skip='head')
    assert type(ht.convert(torch.nn.Sequential(net, torch.nn.Linear(3, 4)), 'mxfp4', skip='0')[0]) is torch.nn.Linear


def test_errors_say_what_a_text_is():
    x = plain(4)
    for text, words in (('nv.hopper.e4m3.f32.wgmma', 'is an accumulation model: accum= takes it'),
                        ('e4m3', "'e4m3' is ambiguous; one of float8_e4m3fn .*, float8_e4m3 "),
                        ('FP8', "'FP8' is ambiguous; one of float8_e4m3fn, float8_e5m2"), ('mxfp4x', "did you mean 'mxfp4'"),
                        ('float8_e4m3f,rtz', "did you mean 'float8_e4m3fn'"), ('rtz', 'is a rounding mode')):
        with pytest.raises(ValueError, match=words):
            ht.quantize(x, text)
        with pytest.raises(ValueError, match=words):
            ht.Recipe(x=text)
    for text, words in (('mxfp4', "'mxfp4' is a scaled format, not an accumulation model"),
                        ('float8_e4m3fn', r'is a format, not an accumulation model; seq\(float8_e4m3fn\) adds in it'),
                        ('nv.hopper.e4m3.f32.wgma', "did you mean 'nv.hopper.e4m3.f32.wgmma'")):
        with pytest.raises(ValueError, match=words):
            ht.Recipe(accum=text)
    for text in ('float8_e4m3fn\ud800', 'float8_e4m3\u00fc', '\ud83d', 'mxfp4\0'):
        for call in (lambda: ht.quantize(x, text), lambda: ht.Recipe(x=text), lambda: ht.Quantizer(text)):
            with pytest.raises(halfulp.HalfulpValueError, match='rounding: the text does not follow the grammar'):
                call()


def test_in_place_into_elements_of_one_place():
    for x in (torch.zeros(4).expand(3, 4), torch.zeros(9).as_strided((3, 4), (1, 1))):
        with pytest.raises(ValueError, match='x: several of its elements lie at one place'):
            ht.quantize_(x, 'float8_e4m3fn')
    with pytest.raises(ValueError, match='x: it requires a gradient'):
        ht.quantize_(torch.ones(3, requires_grad=True), 'float8_e4m3fn')
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        ht.quantize_(x, 'float8_e4m3fn')


def test_generators_of_numpy():
    """Two numbers of a generator are the stream; nothing is taken where nothing is drawn."""
    x = torch.full((64,), 1.0625)
    key, counter = (int(n) for n in np.random.default_rng(3).integers(0, 1 << 63, 2))
    generator = np.random.default_rng(3)
    one = ht.quantize(x, 'float8_e4m3fn,sra:8', stream=generator)
    assert torch.equal(one, ht.quantize(x, 'float8_e4m3fn,sra:8', stream=(key, counter)))
    assert not torch.equal(one, ht.quantize(x, 'float8_e4m3fn,sra:8', stream=generator))
    before = generator.bit_generator.state
    ht.quantize(x, 'float8_e4m3fn', stream=generator)
    assert generator.bit_generator.state == before


def test_products_of_vectors():
    a, b = torch.arange(12.0).view(3, 4) / 7, torch.arange(4.0) / 5
    recipe = ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn')
    assert torch.equal(ht.matmul(a, b, recipe), ht.matmul(a, b[:, None], recipe)[:, 0])
    assert torch.equal(ht.matmul(b, a.t(), recipe), ht.matmul(b[None], a.t(), recipe)[0])
    assert ht.matmul(b, b, recipe).shape == ()
    with pytest.raises(ValueError, match='do not go together'):
        ht.matmul(a, a[:, 0], recipe)


@pytest.mark.parametrize('text', ['float8_e4m3fn,sra:8', 'float8_e5m2,rtz,sat=none', 'float8_e5m2,over=inf,nan=keep', 'keep',
                                  'mxfp4', 'nvfp4,sra:8', 'posit8,rtz', 's2fp8', 'torch.float8_e4m3fn', 'q(3.4)', 'hifloat8'])
def test_one_grammar_in_numpy_and_torch(text):
    """A text, a stream and an axis mean the same bits to halfulp.quantize and to halfulp.torch.quantize."""
    x = numbers(6 * 64).reshape(6, 64) * 30
    for axis in (0, 1):
        for stream in (5, (5, 7), lambda: np.random.default_rng(2), lambda: torch.Generator().manual_seed(3)):
            one, two = (stream(), stream()) if callable(stream) else (stream, stream)
            expected = ht.quantize(x, text, dim=axis, stream=one)
            np.testing.assert_array_equal(halfulp.quantize(x.numpy(), text, axis=axis, stream=two), expected.numpy())
            same(ht.quantize(x, text, axis=axis, stream=stream() if callable(stream) else stream), expected)
    y = x.reshape(6, 4, 4, 4)
    np.testing.assert_array_equal(halfulp.quantize(y.numpy(), text, axis=1, stream=9), ht.quantize(y, text, dim=1, stream=9).numpy())


def test_words_for_the_dimension():
    x = numbers(64).reshape(8, 8)
    for axis, error, words in ((0.5, TypeError, 'axis: a whole number'), ('0', TypeError, 'axis: a whole number')):
        with pytest.raises(error, match=words):
            ht.quantize(x, 'mxfp4', axis=axis)
    with pytest.raises(TypeError, match='axis: it is another word for dim; give one of them'):
        ht.quantize(x, 'mxfp4', dim=0, axis=0)


def test_a_recipe_at_the_place_of_the_stride():
    x, w, b = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 1, 1), torch.zeros(3)
    for recipe in (ht.Recipe(x='bfloat16'), 'bfloat16'):
        with pytest.raises(TypeError, match='^stride: .*the recipe stands behind groups, .*: recipe='):
            ht.conv2d(x, w, b, recipe)
    for thing in (0.3, np.ones(3, np.float32), [0.3]):
        with pytest.raises(TypeError, match='^x: a tensor is required, not {}; torch.tensor makes one'.format(type(thing).__name__)):
            ht.quantize(thing, 'bfloat16')


def test_parameters_compared():
    model = torch.nn.Sequential(torch.nn.Linear(64, 8), torch.nn.Conv2d(32, 4, 1))
    named = {name: one for name, one in model.named_parameters() if 'weight' in name}
    rows = halfulp.compare(named, ['nvfp4'], axis=1)
    assert rows[1]._replace(tensor='x') == halfulp.compare(named['1.weight'].detach().flatten(1).numpy(), ['nvfp4'])[0]
    assert all(one.grad is None for one in named.values()) and [row.tensor for row in rows] == list(named)
    with pytest.raises(TypeError, match=r'^x: the tensor requires a gradient, .*x.detach\(\)'):
        halfulp.quantize(named['0.weight'], 'nvfp4')


def test_blocks_of_a_table():
    """docs/numbers.md: scales around the call, since a table is no element format, which the error says."""
    functional = pytest.importorskip('bitsandbytes.functional', reason='bitsandbytes is not installed')
    x = plain(300, 64)
    x[:, 3] *= 1e-3
    scales = x.abs().amax(1, keepdim=True)
    packed, state = functional.quantize_4bit(x, blocksize=64, quant_type='nf4')
    same(ht.quantize(x / scales, 'nf4_bnb_cpu') * scales, functional.dequantize_4bit(packed, state))
    for call in (lambda text: ht.quantize(x, text), lambda text: ht.Recipe(w=text), lambda text: ht.Quantizer(text),
                 lambda text: ht.AdamW([torch.nn.Parameter(x.clone())], state=text)):
        with pytest.raises(ValueError, match="'dynamic8_bnb' is a number system, and the elements of a scaled format are"):
            call('scaled(dynamic8_bnb;scale=binary32;block=1x64)')
