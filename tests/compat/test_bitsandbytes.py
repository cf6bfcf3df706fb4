# SPDX-License-Identifier: MIT
"""NF4, FP4 and the dynamic maps of bitsandbytes on a CPU: every code's value; codes by its limits on a CPU, and by those of its CUDA
kernels but where the two part (docs/numbers.md)."""
import json
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch, bnb, functional = common.need('numpy', 'torch', 'bitsandbytes', 'bitsandbytes.functional')
run = common.Run(sys.argv)
rng = np.random.default_rng(13)
SIZE = 64


def quantized(x, kind):
    """Codes of rows whose first element is 1, so that nothing is scaled."""
    packed, state = functional.quantize_4bit(torch.from_numpy(x), blocksize=SIZE, quant_type=kind)
    packed = packed.numpy().reshape(-1)
    return np.stack([packed >> 4, packed & 15], axis=-1).reshape(x.shape), state.code.numpy()


for kind in ('nf4', 'fp4'):
    preset = kind + '_bnb_cpu'
    codes, values = run.values(preset, 4)
    x = rng.uniform(-1, 1, (4000, SIZE)).astype(np.float32)
    middle = np.unique(values)
    middle = ((middle[1:] + middle[:-1]) / 2).astype(np.float32)
    near = np.concatenate([middle, np.nextafter(middle, np.float32(2)), np.nextafter(middle, np.float32(-2))])
    x[0, 1:1 + len(near)] = near
    x[1, 1:17] = values
    x[:, 0] = 1
    codes_there, table = quantized(x, kind)
    run.say('values of ' + preset, values.astype(np.float32), table, codes, values.astype(np.float32) == table)
    here = run.encode(preset, x).reshape(x.shape)
    # Either code of 0 is right where there are two.
    good = (here == codes_there) | (values[here] == 0) & (values[codes_there] == 0) & (kind == 'fp4')
    if run.say(preset, here.ravel(), codes_there.ravel(), x.ravel(), good.ravel()):
        print('%s: %d operands, equal codes, the limits and what is beside them among them' % (preset, x.size))
    run.presets += 1
    # The limits of the CUDA kernels, and of NF4 the exact ones, are not the same, but near.
    beside = np.abs(x[..., None] - middle).min(axis=-1) < (2.0**-8 if kind == 'fp4' else 2.0**-20)
    for other in (kind + '_bnb', kind)[:2 if kind == 'nf4' else 1]:
        here = run.encode(other, x).reshape(x.shape)
        apart = values[here] != values[codes_there]
        if run.say(other, here.ravel(), codes_there.ravel(), x.ravel(), (~apart | beside).ravel()):
            print('%s: %d operands, %d of them with another code there, all beside a limit' % (other, x.size, apart.sum()))
        run.presets += 1
# The dynamic maps of 8 bits. Its CPU kernel looks codes up in a table of steps, so that they are nearest up to 2^-15; halfulp's are
# the nearest ones. Its values come from torch.linspace, whose last bits are others without vector instructions.
SLACK = 2 if torch.backends.cpu.get_cpu_capability() == 'DEFAULT' else 0
for preset, signed in (('dynamic8_bnb', True), ('udynamic8_bnb', False)):
    code = functional.create_dynamic_map(signed=signed)
    codes, values = run.values(preset, 8)
    here = values.astype(np.float32)
    run.say('values of ' + preset, here, code.numpy(), codes, np.abs(here - code.numpy()) <= SLACK * np.spacing(np.abs(here)))
    x = np.concatenate([rng.uniform(-1 if signed else 0, 1, 255000), rng.uniform(-1, 1, 255000) * 10.0**rng.integers(-8, 1, 255000)])
    x = np.concatenate([np.ones((2000, 1)), x.reshape(2000, 255)], axis=1).astype(np.float32)
    there = functional.quantize_blockwise(torch.from_numpy(x), code=code, blocksize=256)[0].numpy().reshape(x.shape)
    here = run.encode(preset, x).reshape(x.shape)
    distance = np.abs(values[here] - x)
    good = (distance <= np.abs(values[there] - x)) & (np.abs(values[there] - x) - distance <= 2.0**-15)
    if run.say(preset, here.ravel(), there.ravel(), x.ravel(), good.ravel()):
        print('%s: %d operands, %d of them with another code there' % (preset, x.size, (here != there).sum()))
    run.presets += 1
def checkpoint(path, tensors):
    """A .safetensors file of torch's tensors by name."""
    dtypes, header, data = {torch.uint8: 'U8', torch.float32: 'F32'}, {}, b''
    for name, tensor in tensors.items():
        part = tensor.contiguous().view(torch.uint8).numpy().tobytes()
        header[name] = {'dtype': dtypes[tensor.dtype], 'shape': list(tensor.shape), 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(path, 'wb') as file:
        file.write(len(text).to_bytes(8, 'little') + text + data)


# Files of quantized weights, as Linear4bit saves them: `decode` gives what dequantize_4bit does; blocks run across rows.
for kind in ('nf4', 'fp4'):
    for nested in (False, True):
        weight = torch.from_numpy(rng.standard_normal((333, 100)).astype(np.float32))
        packed, state = functional.quantize_4bit(weight, blocksize=SIZE, quant_type=kind, compress_statistics=nested)
        parts = {'l.weight.' + name: part for name, part in state.as_dict(packed=True).items()}
        checkpoint(run.path('m.safetensors'), {'l.weight': packed, **parts})
        run.halfulp('decode', run.path('m.safetensors'), run.path('o.npy'))
        here, there = np.load(run.path('o.npy')), functional.dequantize_4bit(packed, state).float().numpy()
        name = 'checkpoint of {}{}'.format(kind, ', nested' if nested else '')
        # Code 8 of fp4 is 0 in the table of the file, and -0 in the kernel.
        good = (here == there) & ((here.view(np.uint32) == there.view(np.uint32)) | ((kind == 'fp4') & (here == 0)))
        if run.say(name, here.ravel(), there.ravel(), here.ravel(), good.ravel()):
            print('%s: %d equal values' % (name, here.size))
run.done('bitsandbytes ' + bnb.__version__)
