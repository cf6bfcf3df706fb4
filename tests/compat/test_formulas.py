# SPDX-License-Identifier: MIT
"""Rules that cannot be run here, in NumPy as their authors publish them: microxcaling's quantize_mx_op and Transformer Engine's
scales; and the specifications' conversions through packages that do the same."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, = common.need('numpy')
run = common.Run(sys.argv)
f32 = np.float32
ROWS, COLS = 400, 256


def matrix(seed):
    """Blocks of 32 of very different sizes, with ties, values at the ends of formats, and some zeros; NumPy's binary32."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, COLS // 32, 32)) * np.exp2(rng.integers(-30, 30, (ROWS, COLS // 32, 1)))
    x[::3] = np.round(x[::3] / np.exp2(np.floor(np.log2(np.abs(x[::3]))) - 4)) * np.exp2(np.floor(np.log2(np.abs(x[::3]))) - 4)
    x[5, 2] = 0
    x[7, :, ::4] = 0
    return x.reshape(ROWS, COLS).astype(f32)


def whole(x):
    """floor(log2 x), exactly; 0 for 0."""
    return np.where(x == 0, 0, np.frexp(x)[1] - 1)


def mx_formula(x, ebits, mbits, top):
    """Shared exponent of the block, private exponents, halves away from zero, what is beyond max to max."""
    blocks = x.reshape(-1, 32).astype(np.float64)
    emax = 0 if ebits == 0 else int(whole(np.float64(top)))
    shared = np.clip(whole(np.abs(blocks).max(1, keepdims=True)) - emax, -127, 127)
    y = blocks / np.exp2(shared)
    own = np.zeros_like(y) if ebits == 0 else np.maximum(whole(np.abs(y)), 2 - 2**(ebits - 1))
    y = np.sign(y) * np.floor(np.abs(y) / np.exp2(own - mbits) + 0.5) * np.exp2(own - mbits)
    return (np.clip(y, -top, top) * np.exp2(shared)).reshape(x.shape)


for seed, (name, ebits, mbits, top) in enumerate((('mxfp8_e4m3', 4, 3, 448), ('mxfp8_e5m2', 5, 2, 57344), ('mxfp6_e3m2', 3, 2, 28),
                                                  ('mxfp6_e2m3', 2, 3, 7.5), ('mxfp4', 2, 1, 6), ('mxint8', 0, 6, 127 / 64))):
    x = matrix(seed)
    ours, there = run.quantize('mx.' + name, x), mx_formula(x, ebits, mbits, top)
    run.presets += 1
    if run.say('mx.' + name, ours.ravel(), there.ravel(), x.ravel(), (ours == there).ravel()):
        print('mx.%s: %d elements, equal values' % (name, x.size))


def codes(preset, x):
    np.save(run.path('x.npy'), x)
    run.halfulp('encode', '-f', preset, run.path('x.npy'), run.path('z.npy'))
    return np.load(run.path('z.npy')), np.load(run.path('z.scales.npy'))


for name, top in (('e4m3', 448), ('e5m2', 57344)):
    plain = 'cuda.fp8_%s.satfinite' % name
    x = np.concatenate([matrix(11), matrix(12)]).reshape(8, -1)
    # One scale for the tensor: max / amax in binary32, the products in binary32, then the hardware's conversion.
    for row in x:
        row = row.reshape(1, -1).copy()
        scale = f32(top) / np.abs(row).max()
        there = run.encode(plain, row * scale)
        ours, inverse = codes('te.fp8_%s.tensor' % name, row)
        run.say('te.fp8_%s.tensor' % name, ours.ravel(), there.ravel(), row.ravel(), (ours == there).ravel())
        run.say('te.fp8_%s.tensor, scale' % name, inverse.ravel(), [f32(1) / scale], [scale], inverse.ravel() == f32(1) / scale)
    run.presets += 1
    # A block of 32: amax times the reciprocal of max in binary32, its exponent rounded up.
    x = matrix(13)
    x[9, 3] = f32(top)
    amax = np.abs(x).reshape(ROWS, -1, 32).max(2)
    bits = (amax * (f32(1) / f32(top))).view(np.uint32)
    exponent = (bits >> 23).astype(np.int64) + ((bits & 0x7fffff) > 0)
    ours, scales = codes('te.mxfp8_' + name, x)
    good = run.say('te.mxfp8_%s, scales' % name, scales.ravel(), exponent.ravel(), amax.ravel(), (scales == np.where(amax == 0, 0, exponent)).ravel())
    scaled = x / np.repeat(np.exp2(scales.astype(np.float64) - 127), 32, 1)
    there = run.encode(plain, scaled)
    run.presets += 1
    if run.say('te.mxfp8_' + name, ours.ravel(), there.ravel(), x.ravel(), (ours == there).ravel()) and good:
        print('te.mxfp8_%s: %d elements and %d scales, equal codes' % (name, x.size, scales.size))
# Integers under NVFP4's scales, as fouroversix's compute_nv_scale_factors has them.
for name, top in (('nvint4', 7), ('nvint6', 31)):
    for seed in (14, 15):
        x = matrix(seed) if seed == 14 else np.random.default_rng(15).normal(size=(ROWS, COLS)).astype(f32)
        blocks = x.reshape(ROWS, -1, 16)
        most = np.abs(x).max()
        encode = f32(top * 448) / most
        scales = run.encode('ue4m3', (np.abs(blocks).max(2) / f32(top) * encode).ravel()).reshape(ROWS, -1)
        s = run.values('ue4m3', 7)[1].astype(f32)[scales][:, :, None]
        decode = f32(1) / encode
        there = np.where(s == 0, f32(0), np.clip(np.rint(blocks * (f32(1) / (decode * s))), -top, top)).reshape(x.shape)
        ours, ours_scales = codes(name, x)
        bits = 4 if name == 'nvint4' else 6
        signed = ours.astype(np.int64) - ((ours >> (bits - 1)).astype(np.int64) << bits)
        good = run.say(name + ', scales', ours_scales.ravel(), scales.ravel(), scales.ravel(), (ours_scales == scales).ravel())
        if run.say(name, signed.ravel(), there.ravel(), x.ravel(), (signed == there).ravel()) and good:
            print('%s: %d elements and %d scales, equal' % (name, x.size, scales.size))
        run.say(name + ', tensor', [np.load(run.path('z.tensor.npy'))], [decode], [most], np.array([np.load(run.path('z.tensor.npy')) == decode]))
    run.presets += 1
# IF4 and IF6, as fouroversix's select_intfloat has them; sums from the first element on.
E4M3 = run.values('ue4m3', 7)[1].astype(f32)


def rounded(y, name, width):
    """E2M1 or E2M3, E3M2 to nearest, ties to even, saturating: codes, and their numbers."""
    found = run.encode(name, y.ravel()).reshape(y.shape)
    return found, run.values(name, width)[1].astype(f32)[found]


def total(e, error):
    if error == 'max':
        return e.max(2)
    e = e * e if error == 'mse' else e
    at = e[:, :, 0]
    for k in range(1, e.shape[2]):
        at = at + e[:, :, k]
    return at


for seed, (rule, name, top, most, g, f, error) in enumerate((
        ('if4', 'float4_e2m1fn', 6, 7, 1.16666666, 0.8571428571, 'mse'), ('if4.mae', 'float4_e2m1fn', 6, 7, 1.16666666, 0.8571428571, 'mae'),
        ('if4.max', 'float4_e2m1fn', 6, 7, 1.16666666, 0.8571428571, 'max'),
        ('if6_e2m3', 'float6_e2m3fn', 7.5, 31, 4.1333333333, 0.2419355, 'mse'),
        ('if6_e3m2', 'float6_e3m2fn', 28, 31, 1.1071428571, 0.9032258065, 'mse'))):
    x = matrix(seed + 20) if seed % 2 else np.random.default_rng(seed).normal(size=(ROWS, COLS)).astype(f32)
    blocks, width = x.reshape(ROWS, -1, 16), 4 if most == 7 else 6
    largest = np.abs(x).max()
    both = f32(top * 448)
    encode = both / largest
    plain = run.encode('ue4m3', (np.abs(blocks).max(2) / f32(top) * encode).ravel()).reshape(ROWS, -1)
    s = E4M3[plain][:, :, None]
    with np.errstate(divide='ignore', invalid='ignore'):
        y = np.where(s == 0, f32(0), blocks * (f32(1) / (f32(1) / encode * s)))
    floats, p = rounded(y, name, width)
    i = np.rint(np.clip(y * f32(g), -most, most))
    apart = [total(np.abs(p * s * largest / both - blocks), error), total(np.abs(i * s * largest * f32(f) / both - blocks), error)]
    chosen = apart[1] < apart[0]
    signs = (i < 0).astype(np.uint8) << (width - 1)
    integers = i.astype(np.int64) & 15 if width == 4 else signs | np.abs(i).astype(np.uint8)
    there = np.where(chosen[:, :, None], integers, floats).reshape(x.shape)
    ours, scales = codes('fouroversix.' + rule, x)
    good = run.say(rule + ', scales', scales.ravel(), (plain | chosen * 128).ravel(), plain.ravel(), (scales == (plain | chosen * 128)).ravel())
    # A zero of the element format keeps the sign of x, also under a scale of 0.
    there = np.where((there.reshape(blocks.shape) & (2**(width - 1) - 1) == 0) & ~chosen[:, :, None], np.signbit(blocks).astype(np.uint8) << (width - 1),
                     there.reshape(blocks.shape)).reshape(x.shape)
    if run.say(rule, ours.ravel(), there.ravel(), x.ravel(), (ours == there).ravel()) and good:
        print('%s: %d elements and %d scales, equal codes; %d blocks of integers' % (rule, x.size, scales.size, chosen.sum()))
    run.presets += 1
run.done('NumPy ' + np.__version__)
