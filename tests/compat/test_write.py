# SPDX-License-Identifier: MIT
"""Folders that `quantize --layout` writes, tensor by tensor and byte for byte, against the quantizers that the targets are named
after: compressed-tensors, ModelOpt, transformers, MLX, torchao. Weights of binary32, bfloat16 and binary16 with blocks of zeros, -0,
small and large blocks, those of test_writing.py's digests among them; of the packages at least one must be there."""
import importlib
import json
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / 'cli' / 'tensors'))
import common  # noqa: E402
import writing_model  # noqa: E402

np, torch, safetensors = common.need('numpy', 'torch', 'safetensors.torch')
run = common.Run(sys.argv)
FLOATS = {'F32': torch.float32, 'BF16': torch.bfloat16, 'F16': torch.float16}
NAME = 'model.layers.0.mlp.up_proj'
compared = 0


def weight(dtype, rows, cols):
    torch.manual_seed(rows + cols)
    w = torch.randn(rows, cols) * torch.exp(torch.randn(rows, 1) * 2) * 0.02
    w = torch.where(torch.rand(rows, 1) < 0.3, w * torch.exp(torch.randn(1, cols) * 3), w)
    w[0, :128] = 0
    w[1, :3] = torch.tensor([-0.0, 0.0, -0.0])
    w[2] = torch.round(w[2] * 64) / 8  # ties
    own = torch.tensor(writing_model.numbers(dtype, rows, cols), dtype=torch.float64).reshape(rows, cols)
    assert (own.to(FLOATS[dtype]).double() == own).all()
    return own.to(FLOATS[dtype]), w.clamp(-30000, 30000).to(FLOATS[dtype])


def weights(dtypes, shape=(40, 256)):
    return [(dtype, w) for dtype in dtypes for w in weight(dtype, *shape)]


def written(target, tensors, *options):
    """The tensors and the config of a folder."""
    os.makedirs(run.path('in'), exist_ok=True)
    safetensors.save_file(tensors, run.path('in/model.safetensors'), {'format': 'pt'})
    shutil.rmtree(run.path('out'), ignore_errors=True)
    run.halfulp('quantize', '--layout', target, *options, run.path('in'), run.path('out'))
    with open(run.path('out/config.json'), encoding='utf-8') as file:
        return safetensors.load_file(run.path('out/model.safetensors')), json.load(file)


def raw(tensor):
    return tensor.contiguous().view(torch.uint8).reshape(-1) if tensor.ndim else tensor.reshape(1).view(torch.uint8)


def same(what, ours, theirs):
    """The tensors that theirs has are in ours, of the same dtype, shape and bytes."""
    global compared
    for name, tensor in theirs.items():
        mine = ours[name]
        good = mine.dtype == tensor.dtype and mine.shape == tensor.shape
        count = int((raw(mine) != raw(tensor)).sum()) if good else -1
        compared += 1
        if count:
            run.failed.append(what)
            print('%s: %s: %s %s, %s %s, %d bytes differ' % (what, name, mine.dtype, list(mine.shape), tensor.dtype, list(tensor.shape), count))


def there(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # a package may not go with this torch
        print('left out: %s (%s)' % (name, str(error).split('\n', maxsplit=1)[0]))
        return None


# ---- compressed-tensors: its scheme from the config that was written ----


def compressed(ct, w, config):
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization.utils import calculate_qparams, generate_gparam
    scheme = ct.QuantizationConfig.model_validate(config['quantization_config']).config_groups['group_0']
    args, extra = scheme.weights, {}
    rows, cols = w.shape
    if args.strategy == 'block':
        pad = torch.nn.functional.pad(w, (0, -cols % 128, 0, -rows % 128))
        blocks = pad.reshape(pad.shape[0] // 128, 128, pad.shape[1] // 128, 128)
        low, high = blocks.amin((1, 3)), blocks.amax((1, 3))
    elif args.group_size:
        groups = w.reshape(rows, cols // args.group_size, args.group_size)
        low, high = groups.amin(-1), groups.amax(-1)
    else:
        low, high = (w.amin(1, keepdim=True), w.amax(1, keepdim=True)) if args.strategy == 'channel' else (w.min(), w.max())
    if args.strategy == 'tensor_group':
        extra['weight_global_scale'] = generate_gparam(w.min(), w.max())
    scale, zero = calculate_qparams(low, high, args, global_scale=extra.get('weight_global_scale'))
    if args.strategy != 'tensor_group':
        scale = scale.to(w.dtype)
    kind = BaseCompressor.get_value_from_registry(config['quantization_config']['format'])
    state = {'weight': w, 'weight_scale': scale, 'weight_zero_point': zero, **extra}
    made = kind.compress(state, scheme)
    back = kind.decompress(dict(made), scheme)['weight']
    return {'%s.%s' % (NAME, key): value for key, value in made.items()}, back


def values_of(folder):
    """What halfulp reads in the folder, as float32."""
    run.halfulp('decode', folder, run.path('values.safetensors'))
    return safetensors.load_file(run.path('values.safetensors'))[NAME + '.weight']


ct = there('compressed_tensors.quantization')
for target in writing_model.TARGETS if ct else ():
    for dtype, w in weights(FLOATS, writing_model.SHAPES.get(target, (40, 256))) if target.startswith('ct-') else ():
        ours, config = written(target, {NAME + '.weight': w})
        theirs, back = compressed(ct, w, config)
        theirs.pop(NAME + '.weight_zero_point', None)
        same('%s of %s' % (target, dtype), ours, theirs)
        error = (values_of(run.path('out')) - back.float()).abs().max() / back.float().abs().max()
        if error > 0.01:
            run.failed.append(target)
            print('%s of %s: its values differ from those of halfulp by %g' % (target, dtype, error))

# An FP8 folder becomes an NVFP4 folder, which the package reads by the config alone: the values are those of halfulp, in bfloat16.
converters = there('compressed_tensors.entrypoints.convert.converters') if ct else None
if converters:
    layers = {'model.layers.%d.mlp.up_proj.weight' % i: weight('BF16', 256, 384)[i] for i in range(2)}
    written('hf-fp8', {**layers, 'lm_head.weight': weight('BF16', 40, 256)[0]})
    shutil.rmtree(run.path('fp8'), ignore_errors=True)
    os.rename(run.path('out'), run.path('fp8'))
    run.halfulp('quantize', '--layout', 'ct-nvfp4', run.path('fp8'), run.path('nvfp4'))
    reader = converters.CompressedTensorsDequantizer(run.path('nvfp4'))
    tensors = safetensors.load_file(run.path('nvfp4/model.safetensors'))
    reader.validate(dict(tensors))
    theirs = reader.process(tensors)
    run.halfulp('decode', run.path('nvfp4'), run.path('values.safetensors'))
    ours = safetensors.load_file(run.path('values.safetensors'))
    same('FP8 to NVFP4', {name: tensor.to(torch.bfloat16) for name, tensor in ours.items()}, theirs)

# ---- transformers, ModelOpt, MLX, torchao ----

hf = there('transformers.integrations.finegrained_fp8')
for dtype, w in weights(FLOATS, writing_model.SHAPES['hf-fp8']) if hf else ():
    settings = type('Settings', (), {'quantization_config': type('Config', (), {'weight_block_size': (128, 128), 'scale_fmt': None})})
    same('hf-fp8 of ' + dtype, written('hf-fp8', {NAME + '.weight': w})[0],
         hf.Fp8Quantize(settings).convert({NAME + '.weight': w}))

modelopt = there('modelopt.torch.quantization.qtensor.nvfp4_tensor')
for dtype, w in weights(FLOATS) if modelopt else ():
    packed, scale, second = modelopt.NVFP4QTensor.quantize(w.clone(), 16)
    same('modelopt-nvfp4 of ' + dtype, written('modelopt-nvfp4', {NAME + '.weight': w})[0], {
        NAME + '.weight': packed._quantized_data, NAME + '.weight_scale': scale, NAME + '.weight_scale_2': second})
    scale = w.abs().max().float() / 448  # export/quant_utils.py: to_quantized_weight
    same('modelopt-fp8 of ' + dtype, written('modelopt-fp8', {NAME + '.weight': w})[0], {
        NAME + '.weight': (w / scale).to(torch.float8_e4m3fn), NAME + '.weight_scale': scale})

mx = there('mlx.core')
for dtype, w in weights(FLOATS) if mx else ():
    array = mx.array(w.float().numpy()).astype({'F32': mx.float32, 'BF16': mx.bfloat16, 'F16': mx.float16}[dtype])
    for mode, size in (('affine', 64), ('mxfp4', 32), ('mxfp8', 32), ('nvfp4', 16)):
        made = mx.quantize(array, group_size=size, bits=8 if mode == 'mxfp8' else 4, mode=mode)
        names = (NAME + '.weight', NAME + '.scales', NAME + '.biases')
        theirs = {name: torch.from_numpy(np.array(part.astype(mx.float32) if part.dtype == mx.bfloat16 else part))
                  for name, part in zip(names, made)}
        ours = written('mlx-' + mode, {NAME + '.weight': w})[0]
        if dtype == 'BF16' and mode == 'affine':
            theirs = {name: part if part.dtype == torch.uint32 else part.to(torch.bfloat16) for name, part in theirs.items()}
        same('mlx-%s of %s' % (mode, dtype), ours, theirs)

ao = there('torchao.prototype.mx_formats.mx_tensor')
for dtype, w in weights(('F32', 'BF16')) if ao else ():
    for target, elements, rule, mode in (('ct-mxfp8', torch.float8_e4m3fn, 'mxfp8_e4m3', 'FLOOR'), ('ct-mxfp4', torch.float4_e2m1fn_x2, 'mxfp4', 'FLOOR')):
        scale, codes = ao.to_mx(w, elements, 32, getattr(ao.ScaleCalculationMode, mode))
        ours = written(target, {NAME + '.weight': w}, '-f', rule)[0]
        name = NAME + ('.weight' if target == 'ct-mxfp8' else '.weight_packed')
        same('%s by torchao of %s' % (target, dtype), {'c': raw(ours[name]), 's': ours[NAME + '.weight_scale'].reshape(-1)},
             {'c': raw(codes), 's': raw(scale)})

print('%d tensors compared, %d tests failed' % (compared, len(run.failed)))
sys.exit(1 if run.failed else 0 if compared else common.SKIP)
