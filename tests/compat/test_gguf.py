# SPDX-License-Identifier: MIT
"""GGUF's MXFP4, both ways, and the values of its NVFP4, by the Python package of llama.cpp."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, gguf, quants = common.need('numpy', 'gguf', 'gguf.quants')
run = common.Run(sys.argv)
rng = np.random.default_rng(12)
MXFP4, NVFP4 = gguf.GGMLQuantizationType.MXFP4, gguf.GGMLQuantizationType.NVFP4


def halves(packed):
    """Element j of a block is in the low half of byte j, element j + 16 in the high half."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


# Magnitudes and ties of E2M1 under scales of the whole range; a maximum is not just below a power of two, where log2 in binary32 goes
# one up there.
grid = np.arange(-26, 27) / 4
x = np.concatenate([rng.normal(size=(20000, 32)), rng.choice(grid, (20000, 32)), rng.normal(size=(20000, 32)) * 3])
x = (x * np.exp2(rng.integers(-120, 120, (len(x), 1)))).astype(np.float32)
top = np.abs(x).max(axis=1)
x = x[(np.frexp(top)[0] < 1 - 2.0**-20) & (top > 0)]
blocks = quants.quantize(x, MXFP4).reshape(len(x), 17)
ours = run.encode('ggml.mxfp4', x)
here = np.concatenate([np.load(run.path('z.scales.npy')).reshape(-1, 1), ours], axis=1)
there = np.concatenate([blocks[:, :1], halves(blocks[:, 1:])], axis=1)
there[:, 1:][there[:, 1:] == 8] = 0  # its table has 0 there, too
if run.say('ggml.mxfp4', here, there, x[:, 0], (here == there).all(axis=1)):
    print('ggml.mxfp4: %d blocks, equal scales and codes' % len(x))
run.presets += 1


def values(text, codes, scales):
    np.save(run.path('c.npy'), codes)
    np.save(run.path('c.scales.npy'), scales)
    run.halfulp('decode', '-f', text, run.path('c.npy'), run.path('v.npy'))
    return np.load(run.path('v.npy'))


# All codes under all finite scales.
scales = np.arange(255, dtype=np.uint8).reshape(-1, 1)
codes = np.tile(np.arange(16, dtype=np.uint8), (255, 2))
packed = np.concatenate([scales, codes[:, :16] | codes[:, 16:] << 4], axis=1)
here, there = values('scaled(float4_e2m1fn;scale=float8_e8m0fnu;block=1x32;rule=floor)', codes, scales), quants.dequantize(packed, MXFP4)
run.say('values of MXFP4', here.ravel(), there.ravel(), codes.ravel(), (here == there).ravel())

scales = np.arange(0x7F, dtype=np.uint8)[rng.integers(0, 0x7F, (500, 4))]
codes = rng.integers(0, 16, (500, 64)).astype(np.uint8)
bytes_of = [codes[:, 16 * k:16 * k + 8] | codes[:, 16 * k + 8:16 * k + 16] << 4 for k in range(4)]
here = values('scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio)', codes, scales)
there = quants.dequantize(np.concatenate([scales] + bytes_of, axis=1), NVFP4)
run.say('values of NVFP4', here.ravel(), there.ravel(), codes.ravel(), (here == there).ravel())
run.done('gguf')
