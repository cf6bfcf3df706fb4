# SPDX-License-Identifier: MIT
"""PyTorch's conversions on the CPU: every small type, from binary32 and binary64, and every code's value."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, torch = common.need('numpy', 'torch')
run = common.Run(sys.argv)
torch.set_num_threads(1)
WIDTHS = {'float8_e4m3fn': 8, 'float8_e5m2': 8, 'float8_e4m3fnuz': 8, 'float8_e5m2fnuz': 8, 'float8_e8m0fnu': 8, 'bfloat16': 16,
          'float16': 16}


def codes(x, kind):
    z = torch.from_numpy(x).to(kind)
    return z.view(torch.uint8).numpy() if z.element_size() == 1 else z.view(torch.int16).numpy()


def values(c, kind, width):
    return torch.from_numpy(c if width == 8 else c.view(np.int16)).view(kind).to(torch.float32).numpy()


for name, width in WIDTHS.items():
    kind = getattr(torch, name)
    for dtype in (np.float32, np.float64):
        # Which NaN depends on the processor's vector instructions, in bfloat16 on the place in the array too: below.
        run.same('torch.' + name, lambda x: codes(x, kind), dtype, width, any_nan=width == 16)
    run.same_values('torch.' + name, lambda c: values(c, kind, width), width)
x = np.array([1e9, np.inf], np.float32)
run.differ('E4M3FN saturates in this version', codes(x, torch.float8_e4m3fn).tolist() == [0x7e, 0x7e], 2)
nans = [codes(np.full(n, np.nan, kind), torch.bfloat16).view(np.uint16) for n in range(1, 70) for kind in (np.float32, np.float64)]
run.differ('the code of a NaN in bfloat16 is 0x7fc0 or 0xffff, by processor, operand and place',
           {int(c) for z in nans for c in z} <= {0x7fc0, 0xffff}, 138)
# microxcaling takes floor(log2 amax) of binary32 tensors: one too many just below a power of two.
x = torch.from_numpy(np.nextafter(np.exp2(np.arange(-60, 60)).astype(np.float32), np.float32(0)))
wrong = int((torch.floor(torch.log2(x)).numpy() != np.frexp(x.numpy())[1] - 1).sum())
run.differ('floor(log2 x) is too large for %d of %d numbers below powers of two' % (wrong, len(x)), wrong > 60, len(x))
run.done('PyTorch ' + torch.__version__)
