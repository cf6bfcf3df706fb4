# SPDX-License-Identifier: MIT
"""The shortcuts of halfulp/torch/_small.py and the direct way of _register.py against the general way, which counts
events or runs under a mode of torch, and where they must not be taken."""
import math

from torch_support import ht, numbers, plain, pytest, same, torch  # first: skips all where there is no torch

from halfulp.torch import _small as small

FP8 = dict(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2')


class Plain(torch.utils._python_dispatch.TorchDispatchMode):
    """A mode that does nothing, under which all operators are torch's."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        self.seen.append(call._schema.name)
        return call(*args, **(kwargs or {}))


def operator(x, text, stream=None):
    return torch.ops.halfulp.quantize(x, stream, None, text, 'keep', -1, 'straight_through', -1, 1, True)[0]


@pytest.mark.parametrize('text', ['float8_e4m3fn', 'float8_e5m2,rtz', 'bfloat16', 'float4_e2m1fn,sat=finite',
                                  'fp(3,2,0):fnuz', 'nvfp4', 'mxfp8_e4m3', 'mxfp4,rtz', 'dsv3_128x128', 'posit8', 'nf4'])
def test_the_same_bits(text):
    x = numbers(500)
    x[:6] = torch.tensor([0.0, -0.0, float('inf'), float('-inf'), float('nan'), 1e30])
    for y in (x, x.reshape(20, 25), x[:1], x[0]):
        same(small.quantize(y, text, -1), operator(y, text))
        same(ht.quantize(y, text), operator(y, text))
    assert small.quantize(x, text, -1).data_ptr() != x.data_ptr()


def test_what_the_operator_must_do():
    x, text = numbers(64).reshape(8, 8), 'float8_e4m3fn'
    assert small.quantize(x, text, -1) is not None
    for y in (x.t(), x[:, ::2], x.double(), x.half(), x[:0], x.to('meta'), x.to_sparse(), torch._neg_view(x),
              torch.nn.Parameter(torch._neg_view(x)), x.as_subclass(type('Own', (torch.Tensor,), {})),
              torch._efficientzerotensor(3), torch.zeros(1 << 16), None, 1.0):
        assert small.quantize(y, text, -1) is None
    for other in ('keep', 's2fp8', 'bfloat16,sra:8', 'mxfp4,sra:8', 'torch.float8_e4m3fn', 'nothing',
                  'fp(4,3,4):finite,over=inf', 'binary64'):
        assert small.quantize(x, other, -1) is None
    assert small.quantize(x, 'nvfp4', -1) is not None and small.quantize(x, 'nvfp4', 0) is None
    same(ht.quantize(x, 'nvfp4', dim=0), ht.quantize(x.t().contiguous(), 'nvfp4').t())
    with torch.no_grad():
        y = x.clone().requires_grad_()
        same(ht.quantize(y, text), operator(x, text))


def test_modes_and_transforms_see_the_operator():
    x, text = numbers(64).reshape(8, 8), 'float8_e4m3fn'
    with Plain() as mode:
        ht.quantize(x, text)
        ht.linear(x, x, recipe=text)
    assert {'halfulp::quantize', 'halfulp::matmul'} <= set(mode.seen)
    with torch.profiler.profile() as profile:
        ht.quantize(x, text)
    assert any('halfulp::quantize' in event.key for event in profile.key_averages())
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda y: ht.quantize(y, text))(x)
    assert 'halfulp.quantize' in graph.code
    traced = torch.jit.trace(lambda y: ht.quantize(y, text), x, check_trace=False)
    same(traced(2 * x), operator(2 * x, text))
    y = x.clone().requires_grad_()
    ht.quantize(y, text).sum().backward()
    same(y.grad, torch.ones_like(x))


def test_errors_stay():
    with pytest.raises(ValueError, match="did you mean 'float8_e4m3fn'"):
        ht.quantize(numbers(4), 'floot8_e4m3fn')
    with pytest.raises(ValueError, match='gradient'):
        ht.quantize(numbers(4), 'float8_e4m3fn', gradient='other')
    with pytest.raises(ValueError, match='stream'):
        ht.quantize(numbers(4), 'bfloat16,sra:8')


@pytest.mark.parametrize('text', ['float8_e4m3fn', 'nvfp4', 'posit8'])
def test_a_gradient_goes_through(text):
    x = numbers(64).reshape(4, 16).requires_grad_()
    z, g = ht.quantize(x, text), numbers(64, seed=3).reshape(4, 16)
    same(z.detach(), operator(x.detach(), text))
    got, = torch.autograd.grad(z, x, g, create_graph=True)
    same(got, g)
    z = ht.quantize(x, text).square().sum()  # by the rounded numbers: nothing of x is kept
    same(torch.autograd.grad(z, x)[0], 2 * operator(x.detach(), text))


def test_random_words_of_the_shortcut():
    x, words = numbers(300).reshape(3, 100), ht.stream(7, 50)
    for text in ('float8_e4m3fn,sra:8', 'mxfp4,sra:8', 'posit8,sra:8'):
        same(ht.quantize(x, text, stream=words), operator(x, text, words))
    far = ht.stream(0, 50)
    same(ht.quantize(x, 'bfloat16,sra:8', stream=far), operator(x, 'bfloat16,sra:8', far))


def test_a_stream_of_plain_numbers():
    """No tensor is made of it; a deterministic rounding draws nothing from it; what is no stream is an error still."""
    x = numbers(300).reshape(3, 100).requires_grad_()
    for given, key, counter in ((7, 7, 0), ((7, 50), 7, 50), (((1 << 64) - 1, 1 << 63), (1 << 64) - 1, 1 << 63), (0, 0, 0)):
        for text in ('float8_e4m3fn,sra:8', 'mxfp4,sra:8', 'posit8,sra:8', 'float8_e4m3fn'):
            assert small.quantize(x, text, -1, given if isinstance(given, tuple) else (given, 0)) is not None
            z = ht.quantize(x, text, stream=given)
            same(z.detach(), operator(x.detach(), text, ht.stream(key, counter)))
            same(torch.autograd.grad(z.sum(), x)[0], torch.ones_like(x))
    for wrong in ((7,), (7, 50, 1), 1 << 64, -1, (1, -1), True, (True, 0), 'other', 1.5):
        for text in ('float8_e4m3fn,sra:8', 'float8_e4m3fn'):
            with pytest.raises((TypeError, ValueError), match='stream'):
                ht.quantize(x, text, stream=wrong)
    with pytest.raises(ValueError, match='stream'):
        ht.quantize(x, 'float8_e4m3fn,sra:8')


def layer(inputs, outputs, bias, recipe):
    torch.manual_seed(1)
    return ht.Linear(inputs, outputs, bias, recipe=recipe, key=5)


def passes(net, x, g, twice=False):
    x = x.clone().requires_grad_()
    y = net(x)
    found = torch.autograd.grad(y, [x, *net.parameters()], g, create_graph=twice)
    if twice:
        torch.autograd.grad(found[0].sum(), x)
    return [y.detach(), *found]


@pytest.mark.parametrize('recipe', [
    ht.Recipe(), ht.Recipe(**FP8), ht.Recipe(**FP8, gradient='zero_outside'), ht.Recipe(x='nvfp4', w='mxfp4', g='mxfp8_e5m2'),
    ht.Recipe(x='posit8', w='keep', accum='seq(binary16)'), ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2,sra:8'),
    ht.Recipe(**FP8, hadamard=16, signs=77), ht.Recipe(x='bfloat16', out='bfloat16', dx='float8_e5m2'),
    ht.Recipe(x='s2fp8', w='torch.float8_e4m3fn')], ids=str)
def test_linear(recipe, monkeypatch):
    for shape, outputs, bias in (((1, 16), 16, True), ((3, 5, 32), 7, True), ((70, 16), 1, False), ((200, 48), 64, True)):
        x, g = numbers(math.prod(shape)).reshape(shape), numbers(math.prod(shape[:-1]) * outputs, seed=2)
        g = g.reshape(*shape[:-1], outputs)
        for one in (x, x.transpose(0, -2).contiguous().transpose(0, -2), x.expand(x.shape)[..., :]):
            direct = passes(layer(shape[-1], outputs, bias, recipe), one, g)
            with Plain(), monkeypatch.context() as patched:
                for shortcut in ('multiply', 'rounded'):
                    patched.setattr(small, shortcut, lambda *_: None)
                general = passes(layer(shape[-1], outputs, bias, recipe), one, g)
            for got, want in zip(direct, general):
                same(got, want)


def test_linear_without_a_gradient():
    net, x = layer(16, 8, True, ht.Recipe(**FP8)), numbers(48).reshape(3, 16)
    want = passes(net, x, torch.ones(3, 8))[0]
    for context in (torch.no_grad(), torch.inference_mode()):
        with context:
            same(net(x), want)
    with torch.autocast('cpu', dtype=torch.bfloat16):
        assert net(x).dtype == torch.bfloat16
    net.requires_grad_(False)
    assert net(x).grad_fn is None and net(x.clone().requires_grad_()).grad_fn is not None


def test_second_derivatives_are_errors():
    net, x = layer(16, 8, True, ht.Recipe(**FP8)), numbers(48).reshape(3, 16)
    for context in (Plain(), torch.enable_grad()):
        with context, pytest.raises(NotImplementedError, match='gradient of a gradient'):
            y = net(x.clone().requires_grad_())
            g = torch.ones(3, 8, requires_grad=True)
            first = torch.autograd.grad(y, list(net.parameters()), g, create_graph=True)
            torch.autograd.grad(first[0].sum(), g)


def test_hooks_see_the_same():
    seen = []
    net, x = layer(16, 8, True, ht.Recipe(**FP8)), numbers(48).reshape(3, 16).requires_grad_()
    net.weight.register_hook(lambda g: seen.append(('weight', g.clone())))
    net.register_full_backward_hook(lambda module, of_x, of_y: seen.append(('module', of_x[0].clone())))
    net(x).square().sum().backward()
    direct, seen[:] = list(seen), []
    with Plain():
        net(x).square().sum().backward()
    assert [name for name, _ in direct] == [name for name, _ in seen] and len(seen) == 2
    for (_, got), (_, want) in zip(direct, seen):
        same(got, want)


def test_quantize_into():
    x, out = numbers(600).reshape(20, 30), torch.empty(20, 30)
    for text, stream in (('float8_e4m3fn', None), ('nvfp4', None), ('s2fp8', None), ('keep', None), ('mxfp4,sra:8', 3)):
        want, version = ht.quantize(x, text, stream=stream), out._version
        assert ht.quantize(x, text, stream=stream, out=out) is out and out._version > version
        same(out, want)
        far = torch.empty(30, 20).t()
        same(ht.quantize(x, text, stream=stream, out=far), want)
        with Plain():
            same(ht.quantize(x, text, stream=stream, out=torch.empty(20, 30)), want)
        y = x.clone()
        same(ht.quantize(y, text, stream=stream, out=y), want)
    same(ht.quantize(x, 'mxfp4', dim=0, out=out), ht.quantize(x, 'mxfp4', dim=0))
    same(ht.quantize(x.bfloat16(), 'mxfp4', out=out.bfloat16()), ht.quantize(x.bfloat16(), 'mxfp4'))


def test_quantize_into_refuses():
    x, text = numbers(64).reshape(8, 8), 'float8_e4m3fn'
    for wrong in (torch.empty(8, 7), torch.empty(8, 8, dtype=torch.float64), torch.empty(8, 8, device='meta'), 3):
        with pytest.raises(TypeError, match='^out: '):
            ht.quantize(x, text, out=wrong)
    for wrong in (x.view(-1)[1:].as_strided((8, 7), (8, 1)), x.t(), torch.empty(1, 8).expand(8, 8)):
        with pytest.raises(ValueError, match='^out: '):
            ht.quantize(x[:, :wrong.shape[1]], text, out=wrong)
    for name, more in (('x', dict(x=x.clone().requires_grad_(), out=x)), ('out', dict(x=x, out=torch.zeros(8, 8).requires_grad_()))):
        with pytest.raises(ValueError, match='^' + name + ': it requires a gradient'):
            ht.quantize(rounding=text, **more)
        with torch.no_grad():
            ht.quantize(rounding=text, **more)
    for more in (dict(backward='float8_e5m2'), dict(gradient='zero_outside'), dict(backward_stream=3)):
        with pytest.raises(ValueError, match='^out: .* has no gradient'):
            ht.quantize(x, text, out=torch.empty(8, 8), **more)


def test_quantize_into_compiled():
    x, out = numbers(64).reshape(8, 8), torch.zeros(8, 8)
    torch.compile(lambda y, z: ht.quantize(y, 'nvfp4', out=z).add_(1), fullgraph=True, backend='aot_eager')(x, out)
    same(out, ht.quantize(x, 'nvfp4') + 1)
