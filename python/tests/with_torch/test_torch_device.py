# SPDX-License-Identifier: MIT
"""The calls that a CUDA tensor takes, without a device: kernels compiled for the CPU (gpu/host) on
host memory must give the bits of the CPU's own calls. HALFULP_CUDA_ON_HOST names their library;
the build makes it. On a machine with a device and a CUDA build of halfulp, real CUDA tensors are compared as well."""
import contextlib
import copy
import ctypes
import os

import halfulp
from torch_support import bits, ht, numbers, plain, pytest, torch  # first: it skips where there is no torch

import halfulp.torch._calls as calls  # isort: skip
from halfulp import _signatures as signatures

FILE = os.environ.get('HALFULP_CUDA_ON_HOST')
on_host = pytest.mark.skipif(not FILE,
                             reason='HALFULP_CUDA_ON_HOST is not set: the calls for CUDA tensors are not tested')


class Host(calls.Cuda):
    """The device's engine where device memory is the CPU's."""

    def __init__(self):
        self.device, self.called = torch.device('cpu'), 0
        self.library = ctypes.CDLL(FILE)
        signatures.declare(self.library, signatures.CUDA)

    def stream(self):
        return 0

    def room(self, size):
        return torch.empty(size + 64, dtype=torch.uint8)

    def _call(self, name, *arguments, **keys):
        self.called += 1
        super()._call(name, *arguments, **keys)


@pytest.fixture
def both(monkeypatch):
    host = Host()
    monkeypatch.setattr(torch.cuda, 'device', lambda device: contextlib.nullcontext())

    def compare(f):
        with monkeypatch.context() as m:
            expected, before = f(), host.called
            m.setattr(calls, 'engine', lambda device: host)
            got = f()
        assert host.called > before and len(got) == len(expected)
        for a, b in zip(expected, got):
            assert a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a), bits(b))
    return compare


ROUNDINGS = ['float8_e4m3fn', 'float8_e5m2,sra:8', 'posit8', 'q(3.4),sra:5', 'mxfp4', 'mxfp8_e4m3,sra:8', 'nvfp4',
             'fp8_tensor', 'dsv3_128x128', 's2fp8', 's2fp8,sra:7']


@on_host
@pytest.mark.parametrize('rounding', ROUNDINGS)
def test_roundings(both, rounding):
    x = plain(70, 96) * 3
    for y in (x, x.t(), x[:, ::2], x.bfloat16()):
        both(lambda: ht.quantize_with_events(y, rounding, stream=(3, 4)))
    both(lambda: (ht.quantize(x, rounding, dim=0, stream=5), ht.quantize_(x.clone(), rounding, stream=6)))


@on_host
@pytest.mark.parametrize('rounding', [
    'fp(4,3,4):finite,nan=keep', 'fp(5,2,0):finite,over=inf', 'fp(6,9,0):finite,rtz,over=inf',
    'float8_e4m3fn,over=inf,sat=none', 'float8_e4m3fn,sra:8,over=inf,nan=keep', 'fp(4,3,0):finite,unsigned,over=inf',
    'binary16,over=inf'])
def test_what_formats_lack(both, rounding):
    """over=inf and nan=keep, with events, at the ends of the range and far beyond it."""
    near = (28.0, 30, 31, 32, 240, 448, 464, 480, 57344, 61440, 65504, 65520, 114688, 122880, 4e9, 1e38)
    ends = torch.tensor([s * v * (1 + d) for v in near for d in (-2e-7, 0, 2e-7, 0.03) for s in (1, -1)])
    x = torch.cat([numbers(3000, spread=40.0), ends])
    for y in (x, x.view(2, -1).t(), x.bfloat16() if rounding.startswith('float8') else x[::3]):
        both(lambda: ht.quantize_with_events(y, rounding, stream=(3, 4)))
    both(lambda: (ht.quantize_(x.clone(), rounding, stream=6),))


@on_host
def test_presets_are_for_the_cpu(monkeypatch):
    """Those of formats; those of scaled formats are roundings as others are."""
    host, x = Host(), plain(6, 64)
    monkeypatch.setattr(torch.cuda, 'device', lambda device: contextlib.nullcontext())
    expected = ht.quantize(x, 'mx.mxfp4')
    monkeypatch.setattr(calls, 'engine', lambda device: host)
    assert torch.equal(ht.quantize(x, 'mx.mxfp4'), expected)
    for call in (ht.quantize, ht.encode):
        with pytest.raises(halfulp.HalfulpDeviceError, match='the preset torch.float8_e4m3fn works on'):
            call(x, 'torch.float8_e4m3fn')


@on_host
def test_codes(both):
    x = plain(70, 96) * 3
    both(lambda: (ht.quantize(x.double(), 'float8_e4m3fn'), ht.encode(x, 'float8_e5m2'),
                  ht.encode(x.half(), 'float8_e5m2'),
                  ht.encode(x.double(), 'bfloat16')))
    codes = ht.encode(x, 'float8_e5m2')
    both(lambda: [ht.decode(codes, 'float8_e5m2', dtype) for dtype in (torch.float32, torch.float64, torch.bfloat16)])
    for text in ('mxfp4', 'nvfp4', 'mxint8'):
        both(lambda: ht.scaled_encode(x, text))
        both(lambda: (ht.scaled_decode(ht.scaled_encode(x, text), text), ht.inside(x, text)))


@on_host
@pytest.mark.parametrize('recipe', [
    ht.Recipe(), ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e5m2,sra:8', accum='seq(binary16)',
                           out='bfloat16,sra:8'),
    ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn', g='float8_e4m3fn', accum='nv.hopper.e4m3.f32.wgmma'),
    ht.Recipe(x='mxfp8_e4m3', w='mxfp4', g='mxfp8_e5m2', accum='parts(exact;fp32;rounded)'),
    ht.Recipe(x='nvfp4', w='nvfp4', g='nvfp4', accum='unit(nv.blackwell.nvfp4.b16.ue4m3)')], ids=str)
def test_products(both, recipe):
    def layer():
        x, w, b = (t.requires_grad_() for t in (plain(30, 96), plain(24, 96, seed=1), torch.zeros(24)))
        z = ht.linear(x, w, b, recipe, stream=(5, 6))
        z.backward(plain(30, 24, seed=2))
        return z.detach(), x.grad, w.grad, b.grad
    both(layer)


@on_host
def test_wide_products(both):
    both(lambda: (ht.matmul(plain(4, 20, dtype=torch.float64), plain(20, 5, dtype=torch.float64),
                            ht.Recipe(accum='fp64')),))


@on_host
def test_assignments(both):
    """Values, gradients, promotion and the words of a stochastic low format."""
    def steps():
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        plan = ht.assign(net, 'uniform', sample=plain(5, 6), low='fp(4,3,4):finite,nan=keep,sra:8', promote='0.01',
                         key=3)
        made = []
        for step in range(4):
            y = net(plain(5, 6, seed=step) * 8.0 ** step)
            y.square().sum().backward()
            plan.step()
            made += [y.detach()] + [p.grad.clone() for p in net.parameters()]
            made.append(torch.tensor(plan.assignment.v.tolist()))
        assert plan.promoted > 1
        return made
    both(steps)


OPTIMIZERS = {
    'sgd binary32': lambda p: ht.SGD(p, lr=0.1, weight_decay=0.01),
    'sgd nearest': lambda p: ht.SGD(p, lr=0.1, momentum=0, state='bfloat16'),
    'sgd stochastic': lambda p: ht.SGD(p, lr=0.003, weight_decay=0.01, state='bfloat16', weight='bfloat16,sra:16',
                                       key=3),
    'sgd kahan': lambda p: ht.SGD(p, lr=0.003, weight_decay=0.01, state='bfloat16', update='kahan'),
    'sgd e5m2': lambda p: ht.SGD(p, lr=0.125, momentum=0.5, state='float8_e5m2', weight='binary16,rtz'),
    'adamw binary32': lambda p: ht.AdamW(p, lr=0.01, weight_decay=0.1),
    'adamw stochastic': lambda p: ht.AdamW(p, lr=0.003, betas=(0.9, 0.997), weight_decay=0.1, state='bfloat16',
                                           weight='bfloat16,sra:16', key=5),
    'adamw stored': lambda p: ht.AdamW(p, lr=0.01, state=('mxfp8_e4m3,sra:8', 'fp8_tensor'), key=5),
    'adamw stored so': lambda p: ht.AdamW(p, lr=0.003, betas=(0.9, 0.997), operators='bfloat16',
                                          state=('s2fp8', 'binary16,sra:8,sat=finite'), key=6),
    'adamw kahan': lambda p: ht.AdamW(p, lr=0.003, betas=(0.9, 0.997), weight_decay=0.1, coupled=True,
                                      state='bfloat16', update='kahan'),
}


def stepped(make, device='cpu', steps=4):
    """Weights, state and counts after some steps on gradients of many binades, infinities and NaN among them. The
    first parameter has one element, the last none."""
    torch.manual_seed(0)
    params = [torch.nn.Parameter(x.to(device)) for x in (plain(1), plain(7, 30), torch.zeros(0, 3))]
    optimizer = make(params)
    for step in range(steps):
        for i, p in enumerate(params):
            p.grad = numbers(*p.shape, spread=30.0, seed=10 * step + i).to(device)
        optimizer.step()
    state = [x for p in params for _, x in sorted(optimizer.state[p].items()) if isinstance(x, torch.Tensor)]
    assert 0 <= optimizer.lost < optimizer.moved <= steps * 211
    return [x.detach().cpu() for x in params + state] + [torch.tensor([optimizer.moved, optimizer.lost])]


@on_host
@pytest.mark.parametrize('name', OPTIMIZERS)
def test_optimizers(both, name):
    both(lambda: stepped(OPTIMIZERS[name]))


@on_host
def test_optimizers_in_halves(both):
    """A copy that was made after some steps continues with counts, state and words."""
    def halves():
        p = torch.nn.Parameter(plain(40))
        optimizer = ht.SGD([p], lr=0.003, state='bfloat16', weight='bfloat16,sra:16', key=3)
        for step in range(4):
            p.grad = plain(40, seed=step)
            optimizer.step()
            p, optimizer = copy.deepcopy((p, optimizer))
        return p.detach(), torch.tensor([optimizer.moved, optimizer.lost])
    both(halves)


@pytest.mark.skipif(not torch.cuda.is_available(), reason='no CUDA device: CUDA tensors are not tested')
@pytest.mark.parametrize('name', OPTIMIZERS)
def test_cuda_optimizers(name):
    for a, b in zip(stepped(OPTIMIZERS[name]), stepped(OPTIMIZERS[name], 'cuda')):
        assert torch.equal(bits(a), bits(b))


@pytest.mark.skipif(not torch.cuda.is_available(), reason='no CUDA device: CUDA tensors are not tested')
def test_cuda_tensors():
    torch.manual_seed(0)
    recipe = ht.Recipe(x='float8_e4m3fn,sra:8', w='mxfp8_e4m3', g='float8_e5m2', accum='seq(binary16)')
    net = torch.nn.Sequential(ht.Conv2d(1, 4, 3, recipe=recipe, key=1, count=True), torch.nn.Flatten(),
                              ht.Linear(16, 8, recipe=recipe, key=2, count=True),
                              ht.Quantizer('nvfp4', 's2fp8', count=True))
    made = []
    for device in ('cpu', 'cuda'):
        net.to(device)
        net.zero_grad()
        net[0].seed(1), net[2].seed(2), ht.reset_events(net)
        x = plain(6, 1, 4, 4).to(device)
        z = net(x)
        z.backward(plain(6, 8, seed=1).to(device))
        made.append([z.detach().cpu()] + [p.grad.cpu() for p in net.parameters()] + [ht.events(net)])
    for a, b in zip(made[0][:-1], made[1][:-1]):
        assert torch.equal(bits(a), bits(b))
    assert made[0][-1] == made[1][-1]
