# SPDX-License-Identifier: MIT
"""compressed-tensors' NVFP4, MXFP4 and MXFP8 on a CPU, in binary32 and bfloat16: codes, scales and values."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch, package = common.need('numpy', 'torch', 'compressed_tensors')
schemes, helpers, forward = common.need('compressed_tensors.quantization.quant_scheme', 'compressed_tensors.quantization.utils.helpers',
                                        'compressed_tensors.quantization.lifecycle.forward')
run = common.Run(sys.argv)
rng = np.random.default_rng(12)


def there(x, args, side, dtype):
    """Their scales, values of codes and decoded values, of a matrix whose rows are whole blocks; S of NVFP4 is in binary32."""
    x = torch.from_numpy(x).to(dtype)
    blocks = x.reshape(len(x), -1, side)
    big = helpers.generate_gparam(x.min(), x.max(), dtype=torch.float32) if args.scale_dtype == torch.float8_e4m3fn else None
    scales, zero = helpers.calculate_qparams(blocks.amin(-1), blocks.amax(-1), args, global_scale=big)
    codes = forward.quantize(x, scales, zero, args, global_scale=big)
    return scales.float().numpy(), codes.float().numpy(), forward.dequantize(codes, scales, zero, args, global_scale=big).float().numpy()


def compare(rule, x, args, side, dtype, element):
    scales, codes, values = there(x, args, side, dtype)
    made = run.encode(rule, x)
    table = run.values(element, 4 if element == 'float4_e2m1fn' else 8)[1]
    own = np.load(run.path('z.scales.npy'))
    own = run.values('ue4m3', 7)[1][own] if side == 16 else 2.0 ** (own.astype(float) - 127)
    same = (table[made] == codes) & np.repeat(own == scales, side, axis=1)
    if dtype == torch.float32:
        same &= run.quantize(rule, x) == values
    print('%s: %d elements, %d differ' % (rule, same.size, (~same).sum()))
    if run.say(rule, table[made].ravel(), codes.ravel(), x.ravel(), same.ravel()):
        run.presets += 1


for spread in (1, 8):
    data = (rng.normal(size=(600, 128)) * np.exp2(rng.integers(-spread, spread + 1, (600, 8)).repeat(16, axis=1))).astype(np.float32)
    narrow = torch.from_numpy(data).bfloat16().float().numpy()
    data[7, :16] = narrow[7, :16] = 0  # a block of zeros
    compare('compressed-tensors.nvfp4.cpu', data, schemes.NVFP4['weights'], 16, torch.float32, 'float4_e2m1fn')
    compare('compressed-tensors.nvfp4.bf16.both', narrow, schemes.NVFP4['weights'], 16, torch.bfloat16, 'float4_e2m1fn')
    compare('compressed-tensors.mxfp4', data, schemes.MXFP4['weights'], 32, torch.float32, 'float4_e2m1fn')
    compare('compressed-tensors.mxfp8', data, schemes.MXFP8['weights'], 32, torch.float32, 'float8_e4m3fn')
run.done('compressed-tensors ' + package.__version__)
