# SPDX-License-Identifier: MIT
"""GGUF's MXFP4, both ways, the values of its NVFP4, and whole files both ways, by the Python package of llama.cpp."""
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

# ---- the values of every type that the package has, of any bytes ----
for kind in gguf.GGMLQuantizationType:
    if not hasattr(quants, kind.name) or kind.name == 'BF16':
        continue
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (400, size), dtype=np.uint8)
    with np.errstate(all='ignore'):
        there = quants.dequantize(blocks, kind)
    writer = gguf.GGUFWriter(run.path('v.gguf'), 'llama')
    writer.add_tensor('w', blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    run.halfulp('decode', run.path('v.gguf'), run.path('v.safetensors'))
    with open(run.path('v.safetensors'), 'rb') as file:
        data = file.read()
    here = np.frombuffer(data[8 + int.from_bytes(data[:8], 'little'):], np.float32).reshape(there.shape)
    equal = (here == there) & (np.signbit(here) == np.signbit(there)) | np.isnan(here) & np.isnan(there)
    run.say('values of ' + kind.name, here.ravel(), there.ravel(), np.arange(there.size), equal.ravel())

# ---- whole files ----
Q8_0, Q4_0, BF16 = (gguf.GGMLQuantizationType[name] for name in ('Q8_0', 'Q4_0', 'BF16'))
Q8_0_TEXT = 'scaled(fp(0,7,-6):finite,nonegzero;scale=binary16;block=1x32;rule=ratio;code=twos)'


def write(name, tensors):
    w = gguf.GGUFWriter(run.path(name), 'llama')
    w.add_uint32('llama.block_count', 1)
    w.add_array('tokenizer.ggml.tokens', ['a', 'bc', ''])
    w.add_float64('x.y', 0.5)
    for key, (data, kind) in tensors.items():
        w.add_tensor(key, data, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def read(name):
    r = gguf.GGUFReader(run.path(name))
    run.differ('metadata of ' + name, [r.fields[k].contents() for k in ('llama.block_count', 'tokenizer.ggml.tokens', 'x.y')] ==
               [1, ['a', 'bc', ''], 0.5], 3)
    return {t.name: (t.tensor_type, t.data) for t in r.tensors}


def read_blocks(name):
    return {t.name: (t.tensor_type, t.data) for t in gguf.GGUFReader(run.path(name)).tensors}


def rows(scale, shape):
    z = (rng.normal(size=shape) * scale).astype(np.float32)
    return z[(np.frexp(np.abs(z.reshape(len(z), -1, 32)).max(axis=2))[0] < 1 - 2.0**-20).all(axis=1)]


x = {'a.weight': rows(0.05, (300, 256)), 'b.weight': rows(3, (40, 1024))}
half = rng.normal(size=(20, 128)).astype(np.float16)
brain = (rng.normal(size=(20, 128)).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
norm = rng.normal(size=256).astype(np.float32)
write('m.gguf', {**{k: (v, None) for k, v in x.items()}, 'h': (half, None), 'b': (brain.view(np.uint8), BF16), 'norm': (norm, None)})
run.halfulp('quantize', '-f', 'ggml.mxfp4', '--codes', run.path('m.gguf'), run.path('o.gguf'))
got = read('o.gguf')
x['h'], x['b'] = half.astype(np.float32), (brain.astype(np.uint32) << 16).view(np.float32)
for key, v in x.items():
    top = np.abs(v.reshape(-1, 32)).max(axis=1)
    kept = np.frexp(top)[0] < 1 - 2.0**-20
    here, there = got[key][1].reshape(-1, 17)[kept], quants.quantize(v, MXFP4).reshape(-1, 17)[kept]
    for shift in (0, 4):  # 8 and 0 are both 0 there
        there[:, 1:][there[:, 1:] >> shift & 15 == 8] &= np.uint8(0xF0 >> shift)
    run.say('MXFP4 in a file, ' + key, here.ravel(), there.ravel(), here.ravel(), (here == there).ravel())
run.differ('types', [got[k][0] for k in ('a.weight', 'b.weight', 'h', 'b')] == [MXFP4] * 4 and (got['norm'][1] == norm).all(), 5)

run.halfulp('quantize', '-f', 'ggml.nvfp4', '--codes', run.path('m.gguf'), run.path('o.gguf'))
for key, v in x.items():
    blocks = read('o.gguf')[key][1].reshape(-1, 36)
    subs = v.reshape(-1, 16)
    scales = quants.NVFP4.fp32_to_ue4m3(np.abs(subs).max(axis=1) / np.float32(6))
    d = quants.NVFP4.ue4m3_to_fp32(scales).reshape(-1, 1, 1)
    codes = np.abs(d * np.array(quants.NVFP4.kvalues, np.float32).reshape(1, 1, 16) - subs[:, :, None]).argmin(axis=2).astype(np.uint8)
    there = np.concatenate([scales.reshape(-1, 4), (codes[:, :8] | codes[:, 8:] << 4).reshape(-1, 32)], axis=1)
    # Two ranges where its scale is not the nearest one.
    ratio = np.abs(subs).max(axis=1) / np.float32(6)
    odd = ((ratio >= 7.5 * 2.0**-9) & (ratio < 2.0**-6)) | (ratio >= 256)
    kept = ~odd.reshape(-1, 4).any(axis=1)
    run.say('NVFP4 in a file, ' + key, blocks[kept].ravel(), there[kept].ravel(), there[kept].ravel(), (blocks == there)[kept].ravel())
    run.differ('scales of ggml between 7.5 and 8 times 2^-9', (blocks[:, :4].ravel()[odd] == scales[odd].astype(int) + 1).all(), odd.sum())
run.presets += 1

files = {k: (quants.quantize(x['a.weight'], kind), kind) for k, kind in (('q8', Q8_0), ('q4', Q4_0), ('mx', MXFP4))}
files['nv'] = (rng.integers(0, 256, (40, 36 * 4)).astype(np.uint8), NVFP4)
files['mx.any'] = (rng.integers(0, 256, (40, 17 * 4)).astype(np.uint8), MXFP4)
write('q.gguf', files)
run.halfulp('decode', run.path('q.gguf'), run.path('d.gguf'))
for key, (kind, data) in read('d.gguf').items():
    there = quants.dequantize(*files[key])
    run.say('values of ' + key, data.ravel(), there.ravel(), there.ravel(), (data.reshape(there.shape).view(np.uint32) == there.view(np.uint32)).ravel())

# Blocks of 32 that ggml's reference fills, both ways: every byte. Some blocks are all zero, of one number, or tiny.
wild = (rng.normal(size=(600, 256)) * np.exp2(rng.integers(-30, 14, (600, 1)))).astype(np.float32)
wild[::7, :64] = 0
wild[1::7, 32:96] = np.float32(0.3)
wild[2::7, :32] = np.abs(wild[2::7, :32])
wild[3::7, 96:128] = rng.integers(-8, 8, wild[3::7, 96:128].shape)
write('w.gguf', {'w': (wild, None)})
for kind in ('Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q8_0'):
    text, of = 'ggml.' + kind.lower(), gguf.GGMLQuantizationType[kind]
    run.halfulp('quantize', '-f', text, '--codes', run.path('w.gguf'), run.path('o.gguf'))
    run.halfulp('decode', run.path('o.gguf'), run.path('d.gguf'))
    run.halfulp('quantize', '-f', text, run.path('w.gguf'), run.path('v.gguf'))
    there = quants.quantize(wild, of)
    here = read_blocks('o.gguf')['w'][1].reshape(there.shape)
    if run.say('blocks of ' + kind, here.ravel(), there.ravel(), there.ravel(), (here == there).ravel()):
        print('%s: %d blocks, every byte' % (text, wild.size / 32))
    for name in ('d.gguf', 'v.gguf'):
        values_of, of_package = read_blocks(name)['w'][1].reshape(wild.shape), quants.dequantize(there, of)
        same = values_of.view(np.uint32) == of_package.view(np.uint32)
        run.say('values of %s in %s' % (kind, name), values_of.ravel(), of_package.ravel(), wild.ravel(), same.ravel())
    run.presets += 1

# Any bytes of the types that are only read, with scales of all kinds, infinities and NaN among them.
only_read = {kind: gguf.GGMLQuantizationType[kind] for kind in ('Q2_K', 'Q3_K', 'Q4_K', 'Q5_K', 'Q6_K', 'IQ4_NL', 'IQ4_XS', 'Q4_1', 'Q5_0', 'Q5_1')}
files = {}
for kind, of in only_read.items():
    block, size = gguf.GGML_QUANT_SIZES[of]
    files[kind] = (rng.integers(0, 256, (2000, size)).astype(np.uint8), of)
write('k.gguf', files)
run.halfulp('decode', run.path('k.gguf'), run.path('d.gguf'))
for kind, (number, data) in read_blocks('d.gguf').items():
    there = quants.dequantize(*files[kind])
    same = (data.reshape(there.shape).view(np.uint32) == there.view(np.uint32)) | (np.isnan(data.reshape(there.shape)) & np.isnan(there))
    if run.say('values of ' + kind, data.ravel(), there.ravel(), there.ravel(), same.ravel()):
        print('%s: %d values' % (kind, there.size))

# Whatever codes halfulp chooses, the package reads the values that halfulp does.
for text in (Q8_0_TEXT, 'mxfp4', 'scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;zero=zero)'):
    run.halfulp('quantize', '-f', text, '--codes', run.path('m.gguf'), run.path('o.gguf'))
    run.halfulp('decode', run.path('o.gguf'), run.path('d.gguf'))
    run.halfulp('quantize', '-f', text, '--widen', run.path('m.gguf'), run.path('v.gguf'))
    values_of, decoded, there = read('v.gguf'), read('d.gguf'), read('o.gguf')
    for key in x:
        same = (values_of[key][1] == decoded[key][1]) & (decoded[key][1] == quants.dequantize(there[key][1], there[key][0]))
        run.say('%s, %s' % (there[key][0].name, key), decoded[key][1].ravel(), values_of[key][1].ravel(), x[key].ravel(), same.ravel())
run.done('gguf')
