# SPDX-License-Identifier: MIT
"""Whatever an argument is given, a call takes it or raises an error of halfulp's, without a warning."""
import inspect

from test_odd_values import ODD as NUMPY, check_odd_values
from torch_support import ht, pytest, torch

ODD = dict(NUMPY, tensor=torch.arange(3), floats=torch.ones(2), dtype=torch.int32)
X, W, CODES = torch.ones(2, 32), torch.ones(3, 32), torch.zeros(3, dtype=torch.uint8)


def weights():
    return [torch.nn.Parameter(torch.ones(3))]


CALLS = {
    'quantize': (ht.quantize, dict(x=X, rounding='bfloat16')),
    'quantize stochastically': (ht.quantize, dict(x=X, rounding='bfloat16,sra:3', stream=1)),
    'quantize_with_events': (ht.quantize_with_events, dict(x=X, rounding='bfloat16')),
    'quantize_': (ht.quantize_, dict(x=X.clone(), rounding='bfloat16')),
    'inside': (ht.inside, dict(x=X, rounding='bfloat16')),
    'encode': (ht.encode, dict(x=X, format='bfloat16')),
    'decode': (ht.decode, dict(codes=CODES, format='float8_e5m2')),
    'scaled_encode': (ht.scaled_encode, dict(x=X, scaling='mxfp4')),
    'scaled_decode': (ht.scaled_decode, dict(x=ht.scaled_encode(X, 'mxfp4'), scaling='mxfp4')),
    's2fp8': (ht.s2fp8, dict(x=X)),
    'matmul': (ht.matmul, dict(a=X, b=W.t())), 'linear': (ht.linear, dict(x=X, weight=W)),
    'conv2d': (ht.conv2d, dict(x=torch.ones(1, 1, 4, 4), weight=torch.ones(1, 1, 2, 2))),
    'stream': (ht.stream, dict(key=1, counter=1)),
    'convert': (ht.convert, dict(model=torch.nn.Linear(3, 4), recipe='bfloat16')),
    'Quantizer': (ht.Quantizer, dict(forward='bfloat16')), 'Recipe': (ht.Recipe, {}),
    'LossScaler': (ht.LossScaler, {}),
    'SGD': (lambda lr, momentum, weight_decay, state, weight, update, key: ht.SGD(
        weights(), lr, momentum, weight_decay, state=state, weight=weight, update=update, key=key),
        dict(lr=0.1, momentum=0.9, weight_decay=0.0, state='binary32', weight=None, update='round', key=None)),
    'AdamW': (lambda lr, betas, eps, weight_decay, coupled, state: ht.AdamW(
        weights(), lr, betas, eps, weight_decay, coupled=coupled, state=state),
        dict(lr=0.1, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.0, coupled=False, state='binary32')),
    'Rounded': (lambda weight, gradient, state, master, update, key: ht.Rounded(
        torch.optim.SGD(weights(), lr=0.1), weight=weight, gradient=gradient, state=state, master=master,
        update=update,
        key=key), dict(weight='keep', gradient='keep', state='keep', master=None, update='round', key=None)),
    # Parameters that torch's own layers have are torch's to check.
    'Linear': (lambda recipe, key, count: ht.Linear(3, 4, recipe=recipe, key=key, count=count),
        dict(recipe=None, key=None,
                                                                                                    count=False)),
    'Embedding': (lambda rounding, key, count: ht.Embedding(3, 4, rounding=rounding, key=key, count=count),
                  dict(rounding='keep', key=None, count=False)),
    'MatMul': (ht.MatMul, {}),
}
OTHERS = {'assign', 'compare_models', 'sensitivity', 'events', 'export_onnx', 'release', 'reset_events'}  # they take a model, and say what they do not take


def test_every_function_is_here():
    there = {name for name in ht.__all__ if inspect.isfunction(getattr(ht, name))}
    assert there == {name for name in CALLS if name in there} | OTHERS


@pytest.mark.parametrize('name', CALLS)
def test_odd_values(name):
    # A function that convert is given as its recipe is the caller's, and is called; what a model says of its arguments is
    # the model's own word.
    own = [('recipe', 'function')] + [('sample', what) for what in ODD]
    check_odd_values(name, *CALLS[name], ODD, own if name == 'convert' else [])
