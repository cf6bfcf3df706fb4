# SPDX-License-Identifier: MIT
"""Files that other programs write, read as checkpoints: torch.save, ONNX with its reference, torchao's and compressed-tensors' own
quantizers. A package that is missing is left out in words."""
import importlib
import json
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch = common.need('numpy', 'torch')
run = common.Run(sys.argv)
rng = np.random.default_rng(46)
torch.manual_seed(46)
DTYPES = {'F32': np.float32, 'F64': np.float64, 'F16': np.float16, 'I64': np.int64, 'I32': np.int32, 'U8': np.uint8, 'I8': np.int8,
          'BOOL': np.bool_, 'U16': np.uint16}


def decoded(name, *args):
    """What decode makes of a file: arrays by name; BF16 as F32."""
    run.halfulp('decode', run.path(name), run.path('o.safetensors'), *args)
    with open(run.path('o.safetensors'), 'rb') as file:
        data = file.read()
    n = int.from_bytes(data[:8], 'little')
    found = {}
    for key, entry in json.loads(data[8:8 + n]).items():
        if key == '__metadata__':
            continue
        part = data[8 + n + entry['data_offsets'][0]:8 + n + entry['data_offsets'][1]]
        if entry['dtype'] == 'BF16':
            found[key] = (np.frombuffer(part, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(entry['shape'])
        else:
            found[key] = np.frombuffer(part, DTYPES[entry['dtype']]).reshape(entry['shape'])
    return found


def same(what, here, there):
    here, there = np.asarray(here), np.asarray(there)
    fits = here.shape == there.shape
    equal = np.array_equal(here, there, equal_nan=here.dtype.kind == 'f') if fits else False
    run.differ(what, equal, here.size)


# ---- PyTorch ----
base, codes = torch.randn(6, 8), torch.arange(256, dtype=torch.uint8)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
saved = {'state': model.state_dict(), 't': base.t(), 'part': base[1:4, 2:7], 'step': base[::2, ::3], 'scalar': torch.tensor(3.25),
         'wide': torch.tensor([1.5, 2.5])[:, None].expand(2, 3), 'empty': torch.zeros(0, 3), 'turned': torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1),
         'half': torch.randn(5).bfloat16()[1:4], 'flag': torch.tensor([True, False]), 'p': torch.nn.Parameter(base), 'tied': base,
         'list': [torch.ones(2), {'x': torch.zeros(1, dtype=torch.float64)}], 'note': {'rate': 0.1, 'name': 'x', 'none': None, 'big': 2**80}}
for name in ('float8_e4m3fn', 'float8_e5m2', 'float8_e4m3fnuz', 'float8_e5m2fnuz', 'float8_e8m0fnu'):
    saved[name] = codes.view(getattr(torch, name))
torch.save(saved, run.path('m.pt'))
flat = {}


def walk(value, name):
    if isinstance(value, torch.Tensor):
        value = value.detach()
        flat[name] = (value.float() if value.dtype.is_floating_point and value.dtype != torch.float64 else value).numpy()
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        walk(one, '%s.%s' % (name, key) if name else str(key))


walk(saved, '')
found = decoded('m.pt')
run.differ('names of torch.save', set(found) == set(flat), len(flat))
for name, there in flat.items():
    same('torch.save ' + name, found[name], there)

# ---- ONNX ----
try:
    onnx = importlib.import_module('onnx')
    evaluator = importlib.import_module('onnx.reference').ReferenceEvaluator
    T, helper, arrays = onnx.TensorProto, onnx.helper, onnx.numpy_helper
except ImportError as error:
    onnx = None
    print('left out: onnx (%s)' % error)


def linear(name, kind, shape, scale, low=None, high=None, zero=False, **attributes):
    """A DequantizeLinear and its tensors."""
    numbers = rng.integers(low, high, shape) if low is not None else rng.normal(size=shape).astype(np.float32)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    parts = [(name, numbers.astype(np.uint8 if low == 0 else np.int8).astype(dtype) if low is not None else numbers.astype(dtype)), (name + '.s', scale)]
    if zero:
        parts.append((name + '.z', rng.integers(low, high, scale.shape).astype(np.uint8 if low == 0 else np.int8).astype(dtype)))
    node = helper.make_node('DequantizeLinear', [part[0] for part in parts], [name + '.y'], **attributes)
    return [arrays.from_array(value, key) for key, value in parts], node


def scales(*shape):
    return np.exp(rng.normal(size=shape)).astype(np.float32)


if onnx:
    cases = [linear('a', T.INT8, (3, 5), scales(), -128, 128), linear('b', T.UINT8, (3, 5), scales(5), 0, 256, True),
             linear('c', T.INT8, (3, 5, 7), scales(3), -128, 128, True, axis=0), linear('d', T.INT8, (3, 5, 7), scales(5), -128, 128, axis=-2),
             linear('e', T.INT4, (3, 5), scales(3, 3), -8, 8, axis=1, block_size=2), linear('f', T.UINT4, (7, 5), scales(3, 5), 0, 16, True, axis=0,
                     block_size=3),
             linear('g', T.UINT4, (2, 7, 5), scales(2, 3, 5), 0, 16, True, axis=1, block_size=3), linear('h', T.FLOAT8E4M3FN, (4, 6), scales()),
             linear('i', T.FLOAT8E5M2, (4, 6), scales(6)), linear('j', T.FLOAT4E2M1, (4, 33), scales(4, 3), axis=1, block_size=16),
             linear('k', T.INT2, (3, 3), scales(3), -2, 2, axis=0), linear('l', T.UINT2, (3, 3), scales(3), 0, 4, True, axis=0)]
    first, second = linear('w', T.FLOAT4E2M1, (4, 48), scales(4, 3)[:, :3], axis=1, block_size=16), linear('q', T.FLOAT8E4M3FN, (4, 3), scales())
    first[1].input[1] = 'q.y'  # the scales of w are made by another node
    nodes, tensors = [second[1], first[1]], [first[0][0], *second[0]]
    for parts, node in cases:
        nodes.append(node)
        tensors += parts
    wanted = [node.output[0] for node in nodes[1:]]
    graph = helper.make_graph(nodes, 'g', [], [helper.make_tensor_value_info(name, T.FLOAT, None) for name in wanted], tensors)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 25)])
    onnx.save(proto, run.path('m.onnx'))
    there = dict(zip(wanted, evaluator(proto).run(None, {})))
    for name in ('m.onnx', 'x.onnx'):
        found = decoded(name)
        run.differ('names of ' + name, {key + '.y' for key in found} == set(there), len(found))
        for key, value in found.items():
            same('%s of %s' % (key, name), value, there[key + '.y'])
        onnx.save(onnx.load(run.path('m.onnx')), run.path('x.onnx'), save_as_external_data=True, location='x.data', size_threshold=0)

# ---- torchao ----
SAFETENSORS = {torch.uint8: 'U8', torch.int8: 'I8', torch.float32: 'F32', torch.bfloat16: 'BF16', torch.float8_e4m3fn: 'F8_E4M3',
               torch.float8_e8m0fnu: 'F8_E8M0', torch.int32: 'I32', torch.int64: 'I64', torch.float16: 'F16'}


def checkpoint(name, tensors, metadata=None):
    """A .safetensors file of torch's tensors by name."""
    header, data = {'__metadata__': metadata} if metadata else {}, b''
    for key, tensor in tensors.items():
        shape = list(tensor.shape)
        part = tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.dim() else tensor.reshape(1).view(torch.uint8).numpy().tobytes()
        header[key] = {'dtype': SAFETENSORS[tensor.dtype], 'shape': shape, 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(run.path(name), 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text + data)


try:
    nv = importlib.import_module('torchao.prototype.mx_formats.nvfp4_tensor')
    mx = importlib.import_module('torchao.prototype.mx_formats.mx_tensor')
    flatten = importlib.import_module('torchao.prototype.safetensors.safetensors_support').flatten_tensor_state_dict
except ImportError as error:
    flatten = None
    print('left out: torchao (%s)' % error)
if flatten:
    weight = torch.randn(130, 80)
    made = {'nv.weight': nv.NVFP4Tensor.to_nvfp4(weight, per_tensor_scale=weight.abs().max() / 2688),
            'one.weight': nv.NVFP4Tensor.to_nvfp4(weight),
            'tiles.weight': nv.NVFP4Tensor.to_nvfp4(weight, per_tensor_scale=weight.abs().max() / 2688, is_swizzled_scales=True),
            'mx8.weight': mx.MXTensor.to_mx(weight[:, :64].contiguous(), torch.float8_e4m3fn, 32), 'mx4.weight': mx.MXTensor.to_mx(weight[:, :64].contiguous(),
                    torch.float4_e2m1fn_x2, 32)}
    tensors, metadata = flatten(made)
    checkpoint('ao.safetensors', {key: value.view(torch.uint8) if value.dtype == torch.float4_e2m1fn_x2 else value for key, value in tensors.items()}, metadata)
    found = decoded('ao.safetensors')
    for key, tensor in made.items():
        same('torchao ' + key, found[key], tensor.dequantize(torch.float32).numpy())

# ---- compressed-tensors ----
try:
    arguments = importlib.import_module('compressed_tensors.quantization').QuantizationArgs
    pack = importlib.import_module('compressed_tensors.compressors.pack_quantized.helpers').pack_to_int32
    fp4 = importlib.import_module('compressed_tensors.compressors.nvfp4.helpers').pack_fp4_to_uint8
except ImportError as error:
    arguments = None
    print('left out: compressed-tensors (%s)' % error)
if arguments:
    grid = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6])
    elements = grid[torch.from_numpy(rng.integers(0, 16, (6, 64)))]
    scale = torch.from_numpy(scales(6, 4)).to(torch.float8_e4m3fn)
    checkpoint('ct.safetensors', {'l.weight_packed': fp4(elements), 'l.weight_scale': scale, 'l.weight_global_scale': torch.tensor([37.5])})
    there = elements * (scale.float() / torch.tensor([37.5])).repeat_interleave(16, 1)
    same('compressed-tensors NVFP4', decoded('ct.safetensors')['l.weight'], there.numpy())
    for bits in (4, 8):
        with open(run.path('config.json'), 'w') as file:  # 12 words of 48 columns are 7 or 8 bits
            json.dump({'quantization_config': {'config_groups': {'g': {'targets': ['Linear'], 'weights': {'num_bits': bits}}}}}, file)
        integers = torch.from_numpy(rng.integers(-(1 << bits - 1), 1 << bits - 1, (5, 48))).to(torch.int8)
        halves = torch.from_numpy(scales(5, 3)).to(torch.bfloat16)
        checkpoint('ct.safetensors', {'l.weight_packed': pack(integers, bits), 'l.weight_scale': halves, 'l.weight_shape': torch.tensor([5, 48])})
        same('compressed-tensors int%d' % bits, decoded('ct.safetensors')['l.weight'], (integers.float() * halves.float().repeat_interleave(16, 1)).numpy())
run.done('torch ' + torch.__version__)
