# SPDX-License-Identifier: MIT
"""The shortcut of ht.quantize (halfulp/torch/_small.py) against the operator, and where it must not be taken."""
from torch_support import ht, numbers, pytest, same, torch  # first: skips all where there is no torch

from halfulp.torch import _small as small


def operator(x, text):
    return torch.ops.halfulp.quantize(x, None, None, text, 'keep', -1, 'straight_through', -1, 1, False)[0]


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
    for y in (x.t(), x[:, ::2], x.double(), x.half(), x[:0], x.to('meta'), x.to_sparse(), torch.nn.Parameter(x),
              x.clone().requires_grad_(), torch._neg_view(x), torch.zeros(1 << 16), None, 1.0):
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
    x, text, seen = numbers(64).reshape(8, 8), 'float8_e4m3fn', []

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, call, types, args=(), kwargs=None):
            seen.append(str(call))
            return call(*args, **(kwargs or {}))

    with Mode():
        ht.quantize(x, text)
    assert any('halfulp.quantize' in name for name in seen)
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
