# SPDX-License-Identifier: MIT
"""Transformer Engine's NVFP4 by its own reference in PyTorch: one scale, and 4over6 with both errors, both bounds, both ways to add errors
up, in blocks of 1x16 and 16x16.

The package itself loads a CUDA library. Its reference is one file that needs none: it is loaded alone, with empty modules for what it
imports beside PyTorch."""
import importlib.metadata
import importlib.util
import pathlib
import sys
import types

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch = common.need('numpy', 'torch')
try:
    files = importlib.metadata.files('transformer_engine')
except importlib.metadata.PackageNotFoundError as error:
    print('skipped: the Python package transformer_engine is not there (%s)' % error)
    sys.exit(common.SKIP)
PLACE = 'transformer_engine/pytorch/custom_recipes/reference_nvfp4.py'
path = next(pathlib.Path(file.locate()) for file in files if str(file) == PLACE)


def stand_in(name, **content):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    module.__dict__.update(content)
    return module


def load(path):
    stand_in('transformer_engine')
    stand_in('transformer_engine.pytorch')
    recipes = 'transformer_engine.pytorch.custom_recipes'
    parts = {name: stand_in('%s.%s' % (recipes, name)) for name in ('gemm', 'reference_utils')}
    parts['reference_utils'].Fp4Formats = type('Fp4Formats', (), {'E2M1': None})
    parts['gemm'].GEMMType = type('GEMMType', (), {'FPROP': None})
    parts['gemm'].MMParams = object
    stand_in(recipes, **parts)
    stand_in('transformer_engine.pytorch.quantized_tensor', QuantizedTensorStorage=object, Quantizer=object)
    spec = importlib.util.spec_from_file_location('reference_nvfp4', path)
    module = sys.modules['reference_nvfp4'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = load(path).NVFP4QuantizerRef._quantize_blockwise_reference
run = common.Run(sys.argv)
rng = np.random.default_rng(14)
BLOCK = 'scaled(float4_e2m1fn;scale=ue4m3;block=%dx16;rule=%s;steps=%s;%s;zero=zero)'


def tensors():
    """Normal numbers; rows of other sizes; blocks near their largest element; digits so few that quotients and errors are ties."""
    shape = (128, 256)
    yield rng.normal(size=shape)
    yield rng.normal(size=shape) * np.exp2(rng.integers(-8, 1, (shape[0], 1)))
    yield rng.uniform(0.4, 1, shape) * rng.choice([-1, 1], shape) * np.exp2(rng.integers(-60, -54))
    yield rng.integers(-24, 25, shape) / 4 * np.exp2(rng.integers(-3, 1, (shape[0], 1)))
    yield rng.integers(-48, 49, shape) / 8 * 448 / 6 * np.exp2(60)


def theirs(x, rows, **how):
    codes, scales = reference(torch.from_numpy(x), torch.from_numpy(x).abs().max(), 16, rows, pow_2_scales=False, eps=0.0, **how)
    codes = codes.numpy()
    return scales.view(torch.uint8).numpy()[::rows], np.stack([codes & 15, codes >> 4], axis=-1).reshape(x.shape)


def compare(what, text, rows, **how):
    """Blocks under scales of zero are left out: zero_scales() has them."""
    blocks = larger = 0
    for x in tensors():
        x = x.astype(np.float32)
        scales, codes = theirs(x, rows, **how)
        ours = run.encode(text, x)
        here = np.load(run.path('z.scales.npy'))
        kept = np.repeat(np.repeat(scales != 0, rows, 0), 16, 1)
        same = run.say(what + ', scales', here.ravel(), scales.ravel(), scales.ravel(), (here == scales).ravel())
        if not same or not run.say(what, ours[kept], codes[kept], x[kept], ours[kept] == codes[kept]):
            return
        blocks += scales.size
        larger += (run.encode(BLOCK % (rows, 'ratio', 'multiply', 'tensor'), x) != ours).any()
    run.presets += 1
    print('%s: %d blocks, equal scales and codes%s' % (what, blocks, '' if larger else ', as without'))


def zero_scales(what, text, rows):
    """Blocks so small that their scale rounds to 0. The values of both are 0. Codes are +0 and -0 here, and there those of x times the
    largest binary32 number: 6 and -6, but of what is below 2^-125. An operand of -0 is +0 there, under any scale
    (docs/compatibility.md)."""
    x = (rng.normal(size=(128, 256)) * np.exp2(rng.integers(-40, -20, (128, 1)))).astype(np.float32)
    x[:16], x[-1, -1] = 0, 2.0**10
    x[16:32] *= np.float32(2.0**-98)
    x[-2:, :3], x[-1, -3:-1] = -0.0, -0.0
    scales, there = theirs(x, rows)
    ours = run.encode(text, x)
    same = run.say(what + ', scales', np.load(run.path('z.scales.npy')).ravel(), scales.ravel(), scales.ravel(),
                   (np.load(run.path('z.scales.npy')) == scales).ravel())
    under = np.repeat(np.repeat(scales == 0, rows, 0), 16, 1)
    largest = np.finfo(np.float32).max
    run.say(what + ', codes here', ours[under], there[under], x[under], ours[under] == np.where(np.signbit(x[under]), 8, 0))
    minus_zero = (x == 0) & np.signbit(x)
    recipe = np.where(minus_zero, 0, run.encode('ocp.fp4_e2m1', (x * largest).astype(np.float32)))
    run.say(what + ', codes there', recipe[under], there[under], x[under], recipe[under] == there[under])
    if rows == 1:
        named = run.encode('te.nvfp4.reference', x)
        run.say('te.nvfp4.reference', named.ravel(), there.ravel(), x.ravel(), (named == there).ravel())
    run.differ(what + ', -0', (ours[minus_zero] == 8).all() and (there[minus_zero] == 0).all() and (minus_zero & ~under).any(), minus_zero.sum())
    run.differ(what + ', blocks whose scale is 0', same and (there[under] != ours[under]).mean() > 0.5 and (~under).any(), int(under.sum()))
    run.presets += 1


for rows in (1, 16):
    zero_scales('NVFP4 %dx16' % rows, BLOCK % (rows, 'ratio', 'encode', 'tensor'), rows)
    compare('NVFP4 %dx16' % rows, BLOCK % (rows, 'ratio', 'encode', 'tensor'), rows)
    for error in ('mae', 'mse'):
        for fast in ('', '_fast'):
            for bound in (256, 448):
                compare('4over6 %dx16 %s%s, bound %d' % (rows, error, fast, bound),
                        BLOCK % (rows, '4over6_' + error + fast, 'multiply', 'tensor=256' if bound == 256 else 'tensor'), rows,
                        nvfp4_use_4over6=True, nvfp4_e4m3_max=bound, nvfp4_4over6_err_mode=error.upper(),
                        nvfp4_4over6_err_use_fast_math=bool(fast))

# Row-scaled: each row has a second level of its own, which is what a row alone gets here.
x = (rng.normal(size=(12, 512)) * np.exp2(rng.integers(-30, 30, (12, 1)))).astype(np.float32)
for what, text, how in (('NVFP4', BLOCK % (1, 'ratio', 'encode', 'tensor'), {}),
                        ('4over6', BLOCK % (1, '4over6_mae', 'multiply', 'tensor=256'),
                         {'nvfp4_use_4over6': True, 'nvfp4_e4m3_max': 256, 'nvfp4_4over6_err_mode': 'MAE'})):
    codes, scales = reference(torch.from_numpy(x), torch.from_numpy(x).abs().amax(1), 16, 1, pow_2_scales=False, eps=0.0,
                              row_scaled_nvfp4=True, **how)
    for i, row in enumerate(x):
        ours, packed = run.encode(text, row[None]), codes[i].numpy()
        there = np.stack([packed & 15, packed >> 4], axis=-1).ravel()
        run.say('row-scaled %s, row %d' % (what, i), ours.ravel(), there, row, ours.ravel() == there)
        same = np.load(run.path('z.scales.npy')).ravel() == scales[i].view(torch.uint8).numpy()
        run.say('row-scaled %s, scales of row %d' % (what, i), same, same, same, same)
    run.presets += 1
run.done('Transformer Engine ' + importlib.metadata.version('transformer_engine'))
