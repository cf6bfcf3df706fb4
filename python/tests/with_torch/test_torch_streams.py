# SPDX-License-Identifier: MIT
"""Random words: no call takes some without a stream, and none takes those of the call before. Under
torch.manual_seed, autograd, torch.compile and activation checkpointing."""
import os
import shutil

import halfulp
from torch_support import ht, plain, pytest, same, torch

# After torch_support, which leaves the file out where there is no PyTorch.
from torch.utils.checkpoint import checkpoint  # isort: skip

SR = 'float8_e4m3fn,sra:8'
STOCHASTIC = ht.Recipe(x=SR, w=SR, g='float8_e5m2,sra:8', accum='seq(bfloat16,sra:8)')
X, W, B = plain(40, 32), plain(16, 32, seed=1), plain(16, seed=2)
IMAGES, KERNEL = plain(2, 4, 6, 6), plain(3, 4, 3, 3, seed=1)

# Every function that can draw, each in the ways in which it can.
CALLS = {
    'quantize': lambda **more: ht.quantize(X, SR, **more),
    'quantize, a scaled format': lambda **more: ht.quantize(X, 'mxfp4,sra:8', **more),
    'quantize, a number system': lambda **more: ht.quantize(X, 'posit8,srb:6', **more),
    'quantize, float64': lambda **more: ht.quantize(X.double(), 'fp(11,20,0),sr:4', **more),
    'quantize_with_events': lambda **more: ht.quantize_with_events(X, SR, **more)[0],
    'quantize_': lambda **more: ht.quantize_(X.clone(), SR, **more),
    's2fp8': lambda **more: ht.s2fp8(X, 'sra:8', **more),
    'encode': lambda **more: ht.encode(X, SR, **more),
    'scaled_encode': lambda **more: ht.scaled_encode(X, 'nvfp4,sra:8', **more).codes,
    'matmul, operands': lambda **more: ht.matmul(X, W.t(), ht.Recipe(x=SR), **more),
    'matmul, sums': lambda **more: ht.matmul(X, W.t(), ht.Recipe(accum='seq(bfloat16,sra:8)'), **more),
    'matmul, results': lambda **more: ht.matmul(X, W.t(), ht.Recipe(out='bfloat16,sra:8'), **more),
    'matmul, scaled sums': lambda **more: ht.matmul(X, W.t(), ht.Recipe(
        x='mxfp4', w='mxfp4', accum='parts(seq(bfloat16,sra:8);fp32;exact)'), **more),
    'linear': lambda **more: ht.linear(X, W, B, STOCHASTIC, **more),
    'linear, a rounding': lambda **more: ht.linear(X, W, B, SR, **more),
    'conv2d': lambda **more: ht.conv2d(IMAGES, KERNEL, recipe=STOCHASTIC, **more),
}


@pytest.mark.parametrize('name', CALLS)
def test_no_stream_is_an_error(name):
    with pytest.raises(ValueError, match=r"stream: .* draws random words; give stream=.*, or stream='torch'"):
        CALLS[name]()
    with pytest.raises(ValueError, match="stream: 'numpy' is neither 'torch' nor a key"):
        CALLS[name](stream='numpy')


@pytest.mark.parametrize('name', CALLS)
def test_torchs_generator(name):
    """Two calls differ, the same seed gives the same bits, a generator of one's own does not touch torch's."""
    call, made = CALLS[name], []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append((call(stream='torch'), call(stream='torch')))
    (one, two), (again, again_two), (other, _) = made
    same(one, again)
    same(two, again_two)
    assert not torch.equal(one, two) and not torch.equal(one, other)
    state = torch.get_rng_state()
    mine = [call(stream=torch.Generator().manual_seed(5)) for _ in range(2)]
    same(mine[0], mine[1])
    generator = torch.Generator().manual_seed(5)
    same(call(stream=generator), mine[0])
    assert not torch.equal(call(stream=generator), mine[0])
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize('name', CALLS)
def test_a_stream_of_ones_own(name):
    call, state = CALLS[name], torch.get_rng_state()
    same(call(stream=(3, 4)), call(stream=ht.stream(3, 4)))
    same(call(stream=3), call(stream=(3, 0)))
    assert not torch.equal(call(stream=(3, 0)), call(stream=(3, 1 << 36)))
    assert torch.equal(torch.get_rng_state(), state)


def test_gradients_draw_too():
    """A stochastic gradient alone needs a stream; `backward_stream` is enough for it."""
    x = X.clone().requires_grad_()
    for more in ({}, {'rounding': 'float8_e4m3fn'}):
        with pytest.raises(ValueError, match='stream: float8_e5m2,sra:8 draws random words'):
            ht.quantize(x, backward='float8_e5m2,sra:8', **more)
    with pytest.raises(ValueError, match=r"stream: Recipe\(g='float8_e5m2,sra:8'\) draws"):
        ht.matmul(x, W.t(), ht.Recipe(g='float8_e5m2,sra:8'))
    with pytest.raises(ValueError, match='stream: ' + SR + ' draws'):
        ht.quantize(x, SR, backward='float8_e5m2,sra:8', backward_stream=4)
    ht.quantize(x, backward='float8_e5m2,sra:8', backward_stream=4).sum().backward()
    g = plain(40, 32, seed=9)
    grads = [torch.autograd.grad(ht.quantize(x, backward='float8_e5m2,sra:8', stream='torch'), x, g)[0]
             for _ in range(2)]
    assert not torch.equal(*grads)


def test_nothing_is_taken_where_nothing_is_drawn():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2))
    state = torch.get_rng_state()
    ht.quantize(X, 'float8_e4m3fn', stream='torch')
    ht.linear(X, W, B, 'mxfp4', stream='torch')
    ht.encode(X, torch.float8_e5m2, stream='torch')
    ht.convert(net, 'float8_e4m3fn')
    ht.Quantizer('float8_e4m3fn')(X)
    ht.SGD([torch.nn.Parameter(X.clone())], state='bfloat16')
    assert torch.equal(torch.get_rng_state(), state)


def test_draws_is_seen_in_the_text():
    """What functions see in a text is what the C library parses, for all that the catalogues name."""
    from halfulp.torch import _records, _streams
    presets = [p for p in halfulp.presets() if not p.has_steps]
    names = [row.name for rows in (halfulp.formats(), halfulp.scalings(), halfulp.numbers(), presets) for row in rows]
    biased = {p.name for p in presets if p.mode.stochastic}
    assert biased
    for text in ['keep', 's2fp8'] + names:
        rounding = _records.rounding(text)
        assert rounding.stochastic == _streams.draws(text) == (text in biased), text
        if text != 'keep' and '.' not in text:
            for mode in ('sr:1', 'sra:8', 'srb:10', 'src:3'):
                assert _records.rounding(text + ',' + mode).stochastic and _streams.draws(text + ',' + mode)
    assert not any(model.accumulator.stochastic for model in halfulp.models())


# ---- modules ----

def modules(key):
    yield ht.Quantizer(SR, 'float8_e5m2,sra:8', key=key, count=True), X
    yield ht.Linear(32, 16, recipe=STOCHASTIC, key=key, count=True), X
    yield ht.Conv2d(4, 3, 3, recipe=STOCHASTIC, key=key, count=True), IMAGES


@pytest.mark.parametrize('which', range(3))
@pytest.mark.parametrize('key', [None, 'torch', 5])
def test_modules(which, key):
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        module, x = list(modules(key))[which]
        for p in module.parameters():
            torch.nn.init.ones_(p)
        made.append((module(x).detach(), module(x).detach()))
    (one, two), (again, again_two), (other, _) = made
    same(one, again)
    same(two, again_two)
    assert not torch.equal(one, two) and torch.equal(one, other) == (key == 5)
    assert ('stream' in module.state_dict()) == (key != 'torch')
    if key == 'torch':
        with pytest.raises(RuntimeError, match='torch.manual_seed'):
            module.seed(1)


@pytest.mark.parametrize('which', range(3))
def test_states_of_modules_with_and_without_streams(which):
    """Weights written by a module with its own stream go into one that draws from torch's generator; conversely
    its stream stays as it is."""
    own, x = list(modules(5))[which]
    free, _ = list(modules('torch'))[which]
    state = own.state_dict()
    free.load_state_dict(state)
    assert 'stream' in state and 'stream' not in free.state_dict()
    whole = torch.nn.Sequential(list(modules('torch'))[which][0])
    whole.load_state_dict(torch.nn.Sequential(own).state_dict())
    own(x)
    before = own.stream.clone()
    own.load_state_dict(free.state_dict())
    same(own.stream, before)
    torch.nn.Sequential(own).load_state_dict(whole.state_dict())
    same(own.stream, before)


def test_convert_draws_by_the_seed():
    net, made = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.Linear(16, 8)), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(ht.convert(net, STOCHASTIC)(X).detach())
    same(made[0], made[1])
    assert not torch.equal(made[0], made[2])
    same(ht.convert(net, STOCHASTIC, key=4)(X), ht.convert(net, STOCHASTIC, key=4)(X))
    by_torch = ht.convert(net, STOCHASTIC, key='torch')
    assert not torch.equal(by_torch(X), by_torch(X)) and by_torch[0].from_torch and by_torch[1].from_torch
    for wrong in ('numpy', 1.5):
        with pytest.raises(TypeError, match='key: .* is no integer'):
            ht.Linear(3, 2, recipe=STOCHASTIC, key=wrong)


def network(key):
    torch.manual_seed(3)
    return torch.nn.Sequential(
        ht.Quantizer(SR, 'float8_e5m2,sra:8', key=key, count=True),
        ht.Linear(32, 16, recipe=STOCHASTIC, key=key, count=True), torch.nn.ReLU(),
        ht.Linear(16, 8, recipe=STOCHASTIC, key=key, count=True))


def trained(net, call):
    """Everything that a forward and a backward pass leave."""
    torch.manual_seed(7)
    x = X.clone().requires_grad_()
    y = call(x)
    y.square().sum().backward()
    return [y.detach(), x.grad] + [p.grad for p in net.parameters()], ht.events(net)


def compare(one, two):
    for a, b in zip(one[0], two[0]):
        same(a, b)
    assert one[1] == two[1]


def way(name, net):
    """A network called so that it repeats its forward pass."""
    torch._dynamo.reset()
    if name == 'compiled':
        return torch.compile(lambda x: checkpoint(net, x, use_reentrant=False), fullgraph=True, backend='aot_eager')
    if name == 'around compiled':
        inner = torch.compile(net, fullgraph=True, backend='aot_eager')
        return lambda x: checkpoint(inner, x, use_reentrant=False)
    return lambda x: checkpoint(net, x, use_reentrant=name == 'reentrant')


@pytest.mark.parametrize('name', ['not reentrant', 'reentrant', 'compiled',
                                  pytest.param('around compiled', marks=pytest.mark.long)])
def test_checkpointing(name):
    """With the words of torch's generator bits and counts are those without checkpointing; a module that cannot repeat
    its words says so. (A compiler may keep the words instead: PyTorch 2.4 does.)"""
    if name == 'around compiled' and torch.__version__.startswith('2.4'):
        pytest.skip('this version of torch compiles nothing within checkpointing')
    plain_net, net = network('torch'), network('torch')
    compare(trained(plain_net, plain_net), trained(net, way(name, net)))
    own, twin = network(5), network(5)
    try:
        made = trained(own, way(name, own))
    except RuntimeError as error:
        assert "would draw other random words than the first one; make the module with key='torch'" in str(error)
    else:
        assert name == 'compiled'
        compare(made, trained(twin, twin))
    still = ht.convert(torch.nn.Sequential(torch.nn.Linear(32, 8)), ht.Recipe(x='float8_e4m3fn', g='float8_e5m2'),
                       count=True)
    expected = trained(still, still)
    ht.reset_events(still)
    still.zero_grad()
    compare(expected, trained(still, way(name, still)))


def functions(x, w):
    z = ht.quantize(x, SR, backward='float8_e5m2,sra:8', stream='torch')
    y = ht.linear(z, w, None, STOCHASTIC, stream='torch')
    return y.square() + ht.linear(z, w, None, STOCHASTIC, stream='torch')


def passes(call, seed):
    torch.manual_seed(seed)
    x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
    y = call(x, w)
    y.square().sum().backward()
    return y.detach(), x.grad, w.grad


@pytest.mark.parametrize('name', ['not reentrant', 'reentrant', 'compiled', 'compiled checkpoint'])
def test_functions(name):
    def again(x, w):
        return checkpoint(functions, x, w, use_reentrant=name == 'reentrant')
    torch._dynamo.reset()
    call = torch.compile(again if 'checkpoint' in name else functions, fullgraph=True,
                         backend='aot_eager') if 'compiled' in name else again
    for a, b in zip(passes(functions, 4), passes(call, 4)):
        same(a, b)
    for a, b in zip(passes(functions, 4), passes(call, 5)):
        assert not torch.equal(a, b)


def test_calls_are_not_merged():
    """Equal calls in one compiled graph draw different words, and other ones when it is called again."""
    torch._dynamo.reset()
    both = torch.compile(lambda x: (ht.quantize(x, SR, stream='torch'), ht.quantize(x, SR, stream='torch')),
                         fullgraph=True, backend='aot_eager')
    made = both(X) + both(X)
    for i, one in enumerate(made):
        assert not any(torch.equal(one, other) for other in made[:i])
    with pytest.raises(Exception, match='draws random words'):
        torch.compile(lambda x: ht.quantize(x, SR), backend='aot_eager')(X)


def test_optimizers_draw_anew_at_every_step():
    """Steps differ; the same seed gives the same weights. (Nothing of an optimizer is repeated by checkpointing.)"""
    def run(make, seed):
        torch.manual_seed(seed)
        p = torch.nn.Parameter(torch.full((1000,), 1.0))
        optimizer, seen = make([p]), []
        for _ in range(2):
            with torch.no_grad():
                p.fill_(1.0)
            p.grad = torch.full_like(p, 2.0 ** -10)
            optimizer.step()
            seen.append(p.detach().clone())
        return seen
    for make in (lambda p: ht.SGD(p, lr=1.0, momentum=0, state='bfloat16', weight='bfloat16,sra:16'),
                 lambda p: ht.AdamW(p, lr=2.0 ** -10, betas=(0.9, 0.99), state='bfloat16', weight='bfloat16,sra:16'),
                 lambda p: ht.Rounded(torch.optim.SGD(p, lr=1.0), weight='bfloat16,sra:16')):
        one, again, other = (run(make, seed) for seed in (1, 1, 2))
        assert not torch.equal(one[0], one[1]) and not torch.equal(one[0], other[0])
        same(one[0], again[0])
        same(one[1], again[1])
    with pytest.raises(TypeError, match='key: .torch. is no integer'):
        ht.SGD([torch.nn.Parameter(torch.ones(3))], weight='bfloat16,sra:16', key='torch')


@pytest.mark.skipif(shutil.which('g++') is None,
                    reason='g++ is not there: torch.compile with its own code generator is not tested')
@pytest.mark.skipif(not os.environ.get('HALFULP_TEST_SLOW'),
                    reason='HALFULP_TEST_SLOW is not set: a minute of compiling is left out')
def test_with_generated_code(tmp_path, monkeypatch):
    """torch's own code generator has a generator of its own: reproducible, other bits, unless one asks for torch's."""
    from torch._inductor import config
    monkeypatch.setenv('TORCHINDUCTOR_CACHE_DIR', str(tmp_path))
    torch._dynamo.reset()
    compiled = torch.compile(functions, fullgraph=True)
    one, again, other, expected = (passes(compiled, 4), passes(compiled, 4), passes(compiled, 5), passes(functions, 4))
    for a, b, c, d in zip(one, again, other, expected):
        same(a, b)
        assert not torch.equal(a, c) and not torch.equal(a, d)
    both = torch.compile(lambda x: (ht.quantize(x, SR, stream='torch'), ht.quantize(x, SR, stream='torch')),
                         fullgraph=True)
    made = both(X) + both(X)
    for i, a in enumerate(made):
        assert not any(torch.equal(a, b) for b in made[:i])
    torch._dynamo.reset()
    with config.patch(fallback_random=True):
        for a, b in zip(passes(torch.compile(functions, fullgraph=True), 4), expected):
            same(a, b)
