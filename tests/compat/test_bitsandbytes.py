# SPDX-License-Identifier: MIT
"""NF4 and FP4 of bitsandbytes on a CPU: every code's value, and codes but where its nearest value in binary32 and the thresholds of
its CUDA kernels part (docs/numbers.md)."""
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
    preset = kind + '_bnb' if kind == 'fp4' else kind
    codes, values = run.values(preset, 4)
    x = rng.uniform(-1, 1, (4000, SIZE)).astype(np.float32)
    x[:, 0] = 1
    there, table = quantized(x, kind)
    run.say('values of ' + preset, values.astype(np.float32), table, codes, values.astype(np.float32) == table)
    here = run.encode(preset, x).reshape(x.shape)
    middle = np.sort(values)
    middle = (middle[1:] + middle[:-1]) / 2
    apart = np.abs(x[..., None] - middle).min(axis=-1)
    beside = apart < 2.0**-8 if kind == 'fp4' else apart < 2.0**-20
    good = (values[here] == values[there]) | beside
    if run.say(preset, here.ravel(), there.ravel(), x.ravel(), good.ravel()):
        print('%s: %d operands, %d of them beside a limit' % (preset, x.size, beside.sum()))
    run.presets += 1
run.done('bitsandbytes ' + bnb.__version__)
