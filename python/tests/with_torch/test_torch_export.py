# SPDX-License-Identifier: MIT
"""Export to ONNX: what the reference evaluator of onnx and onnxruntime compute of the exported model has the bits of
halfulp.torch, and what ONNX cannot say is refused with the layer's name."""
import numpy as np

from torch_support import ht, pytest, torch

onnx = pytest.importorskip('onnx', reason='onnx is not installed')
pytest.importorskip('onnxscript', reason='onnxscript is not installed')

# The tie, the end of the range and what lies beyond it, of every format here.
EDGES = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 464.1, 480, 57344, 61440, 61441, 240, 247, 248, 65504, 65519, 65520,
                    6, 7, 7.5, 7.9, 127, 127.5, 128, -8, -8.5, 1e30, -1e30])
FORMATS = ['float8_e4m3fn', 'float8_e4m3fn,sat=none', 'float8_e5m2', 'float8_e5m2,sat=finite', 'float8_e4m3fnuz',
           'float8_e4m3fnuz,sat=none', 'float8_e5m2fnuz', 'bfloat16', 'binary16', 'float4_e2m1fn', 'int8', 'int4', 'q(3.4)', 'q(2.1)']
# onnxruntime 1.32 does not take saturate=0 as ONNX defines it: beyond the range it gives other results. It has no 4-bit floats.
NOT_RUNTIME = ('float8_e4m3fn,sat=none', 'float8_e5m2', 'float4_e2m1fn')


def operands():
    random = np.random.default_rng(5)
    wide = random.normal(size=2000) * np.exp2(random.integers(-20, 18, 2000))
    return torch.from_numpy(np.concatenate([random.integers(0, 1 << 32, 2000, dtype=np.uint32).view(np.float32), np.float32(wide),
                                            EDGES, -EDGES]))


def by_reference(model, *inputs):
    names = [one.name for one in model.graph.input]
    return onnx.reference.ReferenceEvaluator(model).run(None, dict(zip(names, (x.numpy() for x in inputs))))[0]


def by_runtime(model, *inputs):
    runtime = pytest.importorskip('onnxruntime', reason='onnxruntime is not installed')
    runner = runtime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    return runner.run(None, dict(zip((one.name for one in runner.get_inputs()), (x.numpy() for x in inputs))))[0]


def equal(got, expected):
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize('text', FORMATS)
def test_roundings(text):
    """NaN where the format has none is left open by ONNX; the evaluator converts integers through int32."""
    x = operands()
    if text in ('float4_e2m1fn', 'int8', 'int4', 'q(3.4)', 'q(2.1)'):
        x = x[~x.isnan() & (x.abs() < 2.0 ** 24)]
    version = 23 if text == 'float4_e2m1fn' else 21
    model = ht.export_onnx(ht.Quantizer(text).eval(), (x,), opset_version=version).model_proto
    assert {node.op_type for node in model.graph.node} <= {'Constant', 'QuantizeLinear', 'DequantizeLinear', 'Cast'}
    expected = ht.quantize(x, text).numpy()
    assert not np.array_equal(expected, x.numpy())
    equal(by_reference(model, x), expected)
    if text not in NOT_RUNTIME:
        equal(by_runtime(model, x), expected)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2)
        self.second = torch.nn.Conv2d(6, 2, (1, 3), dilation=(1, 2), bias=False)
        self.last = torch.nn.Linear(32, 5)

    def forward(self, x):
        return self.last(self.second(self.first(x).relu()).flatten(1))


def whole(model):
    """The model with small whole numbers as weights, whose sums float32 has exactly in every order."""
    torch.manual_seed(3)
    with torch.no_grad():
        for one in model.parameters():
            one.copy_(torch.randint(-3, 4, one.shape))
    return model


@pytest.mark.parametrize('recipe', [ht.Recipe(x='float8_e4m3fn', w='float8_e4m3fn'), ht.Recipe(x='q(5.2)', w='bfloat16', out='binary16')],
                         ids=['fp8', 'mixed'])
def test_models(recipe, tmp_path):
    x = torch.randint(-40, 40, (3, 4, 8, 16)) / 2
    model = whole(Net())
    low = ht.convert(model, recipe).eval()
    with torch.no_grad():
        expected = low(x).numpy()
        assert not np.array_equal(expected, model(x).numpy())
    path = tmp_path / 'model.onnx'
    program = ht.export_onnx(low, (x,), str(path))
    made = onnx.load(str(path))
    onnx.checker.check_model(made)
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count('Conv') == 2 and sum(kinds.count(name) for name in ('MatMul', 'Gemm')) == 1
    equal(by_reference(program.model_proto, x), expected)
    equal(by_runtime(made, x), expected)


def test_products_under_a_precision():
    class Inside(torch.nn.Module):
        def forward(self, a, b):
            with ht.precision('float8_e5m2,sat=finite'):
                return a @ b

    a, b = torch.randint(-9, 9, (2, 3, 8)) * 1.0, torch.randint(-9, 9, (2, 8, 5)) * 1.0
    made = ht.export_onnx(Inside(), (a, b)).model_proto
    expected = ht.matmul(a, b, 'float8_e5m2,sat=finite').numpy()
    assert not np.array_equal(expected, (a @ b).numpy())
    equal(by_runtime(made, a, b), expected)


def layers(recipe, **more):
    return ht.convert(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(32, 32)), recipe, **more).eval()


@pytest.mark.parametrize('make, x, words', [
    (lambda: layers('mxfp4'), torch.ones(2, 32), r"'1': ONNX has no rounding of the bits of 'mxfp4'; the scales of its blocks come from"),
    (lambda: layers('float8_e4m3fn,sra:8'), torch.ones(2, 32), "'1': .*'float8_e4m3fn,sra:8'; it draws random words"),
    (lambda: layers('float8_e4m3fn,rtz'), torch.ones(2, 32), "'1': .*all to nearest even"),
    (lambda: layers('torch.float8_e4m3fn'), torch.ones(2, 32), "'1': ONNX has no rounding of the bits of 'torch.float8_e4m3fn'"),
    (lambda: layers('float8_e5m2,over=inf'), torch.ones(2, 32), "'1': ONNX has no rounding of the bits"),
    (lambda: layers('posit8'), torch.ones(2, 32), "'1': ONNX has no rounding of the bits of 'posit8'"),
    (lambda: layers('binary16,sat=finite'), torch.ones(2, 32), "'1': ONNX has no rounding of the bits"),
    (lambda: layers('float4_e2m1fn'), torch.ones(2, 32), "'1': 'float4_e2m1fn' requires opset_version=23 or later, not 21"),
    (lambda: layers(ht.Recipe(x='float8_e4m3fn', accum='seq(bfloat16)')), torch.ones(2, 32),
     r"'1': ONNX has no operator for the sums of 'seq\(bfloat16\)'; sums=\"any\""),
    (lambda: layers('float8_e4m3fn', count=True), torch.ones(2, 32), "'1': it counts events"),
    (lambda: layers('float8_e4m3fn').half(), torch.ones(2, 32).half(), "'1': a tensor of torch.float16; only float32"),
])
def test_what_onnx_cannot_say(make, x, words):
    with pytest.raises(ValueError, match='^export_onnx: ' + words):
        ht.export_onnx(make(), (x,))


def test_sums_left_to_the_runtime():
    plain = whole(torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(32, 32)))
    model = ht.convert(plain, ht.Recipe(x='float8_e4m3fn', accum='seq(binary16)')).eval()
    x = torch.randint(-9, 9, (4, 32)) * 1.0
    equal(by_runtime(ht.export_onnx(model, (x,), sums='any').model_proto, x),
          ht.convert(plain, ht.Recipe(x='float8_e4m3fn'))(x).detach().numpy())
    for more, words in (({'sums': 'fp64'}, "sums: 'fp64' is not one of fp32, any"), ({'opset_version': 18}, 'opset_version: 18 is not 21')):
        with pytest.raises(ValueError, match=words):
            ht.export_onnx(model, (x,), **more)
