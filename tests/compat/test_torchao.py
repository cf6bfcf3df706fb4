# SPDX-License-Identifier: MIT
"""torchao's MX formats with all four rules of the scale, and its NVFP4, codes and scales."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch, torchao = common.need('numpy', 'torch', 'torchao')
mx, nv, config = common.need('torchao.prototype.mx_formats.mx_tensor', 'torchao.prototype.mx_formats.nvfp4_tensor',
                             'torchao.prototype.mx_formats.config')
run = common.Run(sys.argv)
rng = np.random.default_rng(11)
MOST = {'float8_e4m3fn': 448, 'float8_e5m2': 57344, 'float6_e3m2fn': 28, 'float6_e2m3fn': 7.5, 'float4_e2m1fn': 6}
FP4 = torch.float4_e2m1fn_x2
ELEMENTS = (('mxfp8_e4m3', 'float8_e4m3fn', torch.float8_e4m3fn), ('mxfp8_e5m2', 'float8_e5m2', torch.float8_e5m2),
            ('mxfp6_e3m2', 'float6_e3m2fn', 'fp6_e3m2'), ('mxfp6_e2m3', 'float6_e2m3fn', 'fp6_e2m3'), ('mxfp4', 'float4_e2m1fn', FP4))


def nibbles(packed):
    packed = packed.view(torch.uint8).numpy()
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(packed.shape[0], -1)


def blocks(rows, size):
    """Spread over the range of binary32, at and beside the numbers where rules of scales part, and with ties in the blocks."""
    x = rng.normal(size=(rows, size)) * np.exp2(rng.integers(-100, 100, (rows, 1)))
    tops = np.array([1, 1.5, 1.75, 1.875, 1.9375, 1.96875, 2 - 2.0**-23])
    beside = rng.choice(tops, (rows, 1)) * np.exp2(rng.integers(-90, 90, (rows, 1))) * (1 + rng.integers(-1, 2, (rows, 1)) * 2.0**-23)
    x[::2, :1] = beside[::2]
    x[::2, 1:] = beside[::2] * rng.integers(-64, 65, (rows // 2, size - 1)) / 64
    return x.astype(np.float32)


def compare(what, preset, x, scales, codes):
    ours = run.encode(preset, x)
    there = np.concatenate([scales.reshape(len(x), -1).astype(np.uint16), codes.reshape(len(x), -1).astype(np.uint16)], axis=1)
    here = np.concatenate([np.load(run.path('z.scales.npy')).reshape(len(x), -1).astype(np.uint16), ours.astype(np.uint16)], axis=1)
    if run.say(what, here, there, x[:, 0], (here == there).all(axis=1)):
        print('%s: %d blocks, equal scales and codes' % (what, scales.size))
    run.presets += 1


def beside(x, most):
    """Rows with a block whose amax is just above max times a power of two: torchao takes log2 of the quotient in binary32 on a CPU, which
    is the power itself there."""
    digits = np.frexp(np.abs(x.reshape(len(x), -1, 32)).max(axis=2).astype(np.float64) / most)[0]
    return ((digits > 0.5) & (digits < 0.5 * (1 + 2.0**-18))).any(axis=1)


x = blocks(4000, 64)
for name, element, there in ELEMENTS:
    for mode in config.ScaleCalculationMode:
        kept = x
        if mode == config.ScaleCalculationMode.RCEIL:
            away = beside(x, MOST[element])
            kept = x[~away]
            scales = mx.to_mx(torch.from_numpy(x[away]), there, 32, mode)[0].view(torch.uint8).numpy()
            run.encode('scaled(%s;scale=float8_e8m0fnu;block=1x32;rule=rceil)' % element, x[away])
            lower = np.load(run.path('z.scales.npy')).reshape(scales.shape).astype(int) - scales
            run.differ('to_mx %s rceil: one lower just above a power of two' % name, set(np.unique(lower)) == {0, 1}, scales.size)
        scale, data = mx.to_mx(torch.from_numpy(kept), there, 32, mode)
        codes = nibbles(data) if there is FP4 else data.view(torch.uint8).numpy()
        compare('to_mx %s %s' % (name, mode.value), 'scaled(%s;scale=float8_e8m0fnu;block=1x32;rule=%s)' % (element, mode.value), kept,
                scale.view(torch.uint8).numpy(), codes)

for data in (rng.normal(size=(4000, 64)), rng.integers(-24, 25, (4000, 64)) / 4 * np.exp2(rng.integers(-3, 1, (4000, 1)))):
    x = data.astype(np.float32)
    x[:, ::16] += np.float32(0.5)  # block scales of 2^-6 and more, where torchao's lower bound is out of the way
    t = nv.per_tensor_amax_to_scale(torch.from_numpy(x).abs().max())
    scale, data = nv.nvfp4_quantize(torch.from_numpy(x), 16, t)
    compare('nvfp4_quantize, two levels', 'torchao.nvfp4', x, scale.view(torch.uint8).numpy(), nibbles(data))
    scale, data = nv.nvfp4_quantize(torch.from_numpy(x), 16, None)
    compare('nvfp4_quantize, one level', 'scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;steps=multiply)', x,
            scale.view(torch.uint8).numpy(), nibbles(data))
    for two, rule in ((t, 'torchao.nvfp4.cpu'), (None, 'torchao.nvfp4.one')):
        small = x * np.exp2(rng.integers(-14, 1, (4000, 1))).astype(np.float32)  # scales below 2^-6, and blocks of zeros
        small[:, 16:32] *= rng.integers(0, 2, (4000, 1)).astype(np.float32)
        two = nv.per_tensor_amax_to_scale(torch.from_numpy(small).abs().max()) if two is not None else None
        scale, data = nv.nvfp4_quantize(torch.from_numpy(small), 16, two)
        compare('nvfp4_quantize, small blocks, ' + rule, rule, small, scale.view(torch.uint8).numpy(), nibbles(data))

primitives, = common.need('torchao.quantization.quant_primitives')
for rule, dtype in (('torchao.float8.cpu', torch.float32), ('torchao.float8.bf16.cpu', torch.bfloat16)):
    x = torch.from_numpy(blocks(4000, 64)).to(dtype)
    scale = primitives._choose_scale_float8(x, [1, 64])
    codes = primitives._quantize_affine_float8(x, scale).view(torch.uint8).numpy()
    ours = run.encode(rule, x.float().numpy())
    own = np.load(run.path('z.scales.npy'))
    own = own.view(np.float32) if own.dtype != np.float32 else own
    good = (ours == codes).all(axis=1) & (own.reshape(-1) == scale.numpy().reshape(-1))
    if run.say(rule, ours[:, 0], codes[:, 0], x[:, 0].float().numpy(), good):
        print('%s: %d rows, equal scales and codes' % (rule, len(x)))
    run.presets += 1
run.done('torchao ' + torchao.__version__)
