# SPDX-License-Identifier: MIT
"""The operators as torch sees them: schemas, fake kernels, autograd registration, torch.compile."""
import os
import shutil

from torch_support import ht, plain, pytest, same, torch

ops = torch.ops.halfulp
S = ht.stream(7, 100)
P = ht.Recipe(x='float8_e4m3fn', w='mxfp4', g='float8_e5m2,sra:8', accum='seq(binary16,sra:4)', gradient='zero_outside')


# Each kind of tensor with each rounding counts its events, or does not; in the long run it does both.
LONG = os.environ.get('HALFULP_QUICK') != '1'


def quantize_cases():
    for x in (plain(6, 40), plain(40, 6).t(), plain(6, 80)[:, ::2], plain(6, 40).bfloat16(), plain(0, 3)):
        for forward, dim in (('float8_e4m3fn', -1), ('mxfp4', 0), ('s2fp8', -1), ('posit8,sra:8', 1)):
            yield x, S, None, forward, 'float8_e5m2', dim, 'zero_outside', 0, 1, dim != -1
            if LONG:
                yield x, S, None, forward, 'float8_e5m2', dim, 'zero_outside', 0, 1, dim == -1


def test_quantize():
    for i, case in enumerate(quantize_cases()):
        if i % 3 == 0:  # one in three with a gradient: opcheck is slow
            case = (case[0].clone().requires_grad_(),) + case[1:]
        torch.library.opcheck(ops.quantize, case,
                              test_utils=('test_schema', 'test_autograd_registration', 'test_faketensor'))
    torch.library.opcheck(ops.quantize, case)
    tap = torch.zeros((1, 10), dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(ops.quantize, (plain(4, 5).requires_grad_(), S, tap) + case[3:])


@pytest.mark.parametrize('name, case', [
    ('quantize_', (plain(6, 40), S, 'mxfp4', 0, -1, True)),
    ('quantize_', (plain(6, 40), None, 'mxfp4', 0, -1, False)),
    ('encode', (plain(6, 40), None, 'torch.float8_e4m3fn', -1, True)),
    ('inside', (plain(6, 40), 'mxfp4', -1)),
    ('inside', (plain(40, 6).t(), 'mxfp4', -1)),
    ('encode', (plain(6, 40), S, 'fp(5,10,0)', -1, False)),
    ('decode', (torch.arange(16, dtype=torch.uint8), 'float8_e4m3fn', torch.bfloat16)),
    ('scaled_encode', (plain(6, 40), S, 'nvfp4', -1, -1, True)),
    ('scaled_encode', (plain(3, 5, 40), S, 'mxint8', 1, -1, False)),
    ('scaled_decode', ht.scaled_encode(plain(6, 40), 'nvfp4') + ('nvfp4',)),
    ('matmul', (plain(6, 40).requires_grad_(), plain(40, 5).requires_grad_(), S, None) + P.texts()
     + (P.gradient, [0, 1, 6], True)),
    ('matmul', (plain(2, 6, 40), plain(2, 40, 5), S, None) + P.texts() + (P.gradient, [0, 1, 6], False)),
    ('add_row', (plain(6, 4).requires_grad_(), plain(4).requires_grad_())),
    ('patches', (plain(2, 4, 7, 6).requires_grad_(), [3, 2], [2, 1], [1, 0], [1, 2], 2)),
    ('convolution', (plain(2, 4, 7, 6).requires_grad_(), plain(2, 12, 5).requires_grad_(), S, None) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, True)),
    ('convolution', (plain(2, 4, 7, 6), plain(2, 12, 5), S, None) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, False)),
    ('convolution_back', (plain(2, 32, 5), plain(2, 4, 7, 6), plain(2, 12, 5), S) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, True, True, True)),
    ('convolution_back', (plain(2, 32, 5), plain(2, 4, 7, 6), plain(2, 12, 5), S) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, True, False, False)),
    ('convolution', (plain(2, 4, 7).requires_grad_(), plain(2, 6, 5).requires_grad_(), S, None) + P.texts()
     + (P.gradient, [3], [2], [1], [1], 2, True)),
    ('transposed', (plain(2, 32, 5).requires_grad_(), plain(2, 12, 5).requires_grad_(), S, None) + P.texts()
     + (P.gradient, [2, 4, 7, 6], [3, 2], [2, 1], [1, 0], [1, 2], 2, True)),
    ('transposed_back', (plain(2, 4, 7, 6), plain(2, 32, 5), plain(2, 12, 5), S) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, True, False, False)),
    ('transposed_back', (plain(2, 4, 7, 6), plain(2, 32, 5), plain(2, 12, 5), S) + P.texts()
     + (P.gradient, [3, 2], [2, 1], [1, 0], [1, 2], 2, True, True, True)),
    ('columns', (plain(2, 5, 4).requires_grad_(),)),
    ('of_integers', (torch.arange(-3, 5, dtype=torch.int16).reshape(2, 4).t(), 'bfloat16')),
    ('of_integers', (torch.tensor([True, False]), 'mxfp4')),
    ('unpack', (torch.arange(36, dtype=torch.uint8).reshape(3, 12), 'mxfp6_e2m3')),
    ('advance_', (ht.stream(7, 100), 1 << 36)),
    ('note_', (torch.zeros((3, 10), dtype=torch.int64), torch.ones((3, 10), dtype=torch.int64))),
    ('unpatch', (plain(2, 32, 12).requires_grad_(), [2, 4, 7, 6], [3, 2], [2, 1], [1, 0], [1, 2], 2)),
], ids=lambda value: value if isinstance(value, str) else '')
def test_operator(name, case):
    torch.library.opcheck(getattr(ops, name), case)


def model(count):
    torch.manual_seed(3)
    recipe = ht.Recipe(x='float8_e4m3fn', w='mxfp8_e4m3', g='float8_e5m2,sra:8', accum='seq(binary16)',
                       gradient='zero_outside')
    return torch.nn.Sequential(
        ht.Conv2d(1, 4, 3, padding=1, recipe=recipe, count=count), torch.nn.ReLU(),
        ht.Quantizer('mxfp4,sra:8', 'bfloat16', dim=1, count=count), torch.nn.Flatten(),
        ht.Linear(64, 10, recipe=recipe, count=count))


def steps(compiled, net, dynamic=False):
    """Two batches through it; everything that came out."""
    made = []
    for i in range(2):
        x = plain(3 + (i if dynamic else 0), 1, 4, 4, seed=i).requires_grad_()
        y = compiled(x)
        y.square().sum().backward()
        made += [y.detach(), x.grad]
    return made + [p.grad for p in net.parameters()] + [b.clone() for b in net.buffers() if b.dtype == torch.int64] + [
        b.grad for b in net.buffers() if b.requires_grad]


def compare(backend, count=True, dynamic=False):
    one, two = model(count), model(count)
    expected = steps(one, one, dynamic)
    torch._dynamo.reset()
    got = steps(torch.compile(two, fullgraph=True, backend=backend, dynamic=dynamic or None), two, dynamic)
    assert len(expected) == len(got)
    for a, b in zip(expected, got):
        same(a, b)
    assert ht.events(one) == ht.events(two)
    if count:
        assert ht.events(one)['2']['backward']['inexact'] > 0 and ht.events(one)['4']['dw.g']['inexact'] > 0


def test_compiled_traced():
    """The whole graph forward and backward, counters and counts among it, without code generation."""
    compare('aot_eager')


@pytest.mark.long
def test_compiled_for_any_batch():
    compare('aot_eager', dynamic=True)


needs_compiler = pytest.mark.skipif(shutil.which('g++') is None,
                                    reason='g++ is not there: torch.compile with its own code generator is not tested')


@needs_compiler
@pytest.mark.long  # g++ reads torch's headers three times; test_compiled_traced has the same graphs without it
def test_compiled(tmp_path, monkeypatch):
    """With generated code around the operators."""
    monkeypatch.setenv('TORCHINDUCTOR_CACHE_DIR', str(tmp_path))
    one, two = (ht.Linear(8, 6, recipe=P, key=4) for _ in range(2))
    two.load_state_dict(one.state_dict())
    torch._dynamo.reset()
    compiled = torch.compile(two, fullgraph=True)
    for i in range(2):
        a, b = (plain(5, 8, seed=i).requires_grad_() for _ in range(2))
        one(a).sum().backward()
        compiled(b).sum().backward()
        same(a.grad, b.grad)
    for a, b in zip(one.state_dict().values(), two.state_dict().values()):
        same(a, b)
    same(one.weight.grad, two.weight.grad)


@needs_compiler
@pytest.mark.skipif(not os.environ.get('HALFULP_TEST_SLOW'),
                    reason='HALFULP_TEST_SLOW is not set: a minute of compiling is left out')
def test_compiled_model(tmp_path, monkeypatch):
    monkeypatch.setenv('TORCHINDUCTOR_CACHE_DIR', str(tmp_path))
    compare('inductor')


def test_functions_compiled():
    def f(x, w, b):
        z = ht.quantize(x, 'nvfp4', backward='float8_e5m2', stream=(5, 6))
        return ht.linear(z, w, b, P, stream=8).relu() + ht.matmul(z, w.t(), P, stream=9)
    x, w, b = plain(6, 32).requires_grad_(), plain(5, 32, seed=1).requires_grad_(), plain(5, seed=2).requires_grad_()
    g = plain(6, 5, seed=3)
    torch._dynamo.reset()
    compiled = torch.compile(f, fullgraph=True, backend='aot_eager')
    for a, c in zip(torch.autograd.grad(compiled(x, w, b), (x, w, b), g),
                    torch.autograd.grad(f(x, w, b), (x, w, b), g)):
        same(a, c)
