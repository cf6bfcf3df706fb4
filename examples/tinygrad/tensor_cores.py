# SPDX-License-Identifier: MIT
"""What a product of matrices gives in tinygrad's emulator of some GPUs, with its own sums and with those of the GPU.

    python tensor_cores.py

A line has the matrix instructions that were run, the elements that differ, and the largest error of either. The result
with the unit is that of one halfulp.gemm of the whole matrices, bit for bit; the program ends with 1 where it is not.
On NVIDIA's GPUs each instruction takes the sum of the one before as its C. On AMD's tinygrad begins four sums with 0 and
adds them itself, in binary32: splitk(4,UNIT)."""
import sys

import numpy as np
import halfulp
from tinygrad import Context, Tensor, dtypes
from tinygrad.runtime import ops_python

import units

GPUS = (('sm_80', dtypes.half, 'binary16', 'nv.ampere.f16.f32', '{}'),
        ('sm_80', dtypes.bfloat16, 'bfloat16', 'nv.ampere.bf16.f32', '{}'),
        ('sm_89', dtypes.fp8e4m3, 'float8_e4m3fn', 'nv.ada.e4m3.f32', '{}'),
        ('gfx942', dtypes.bfloat16, 'bfloat16', 'amd.cdna3.bf16', 'splitk(4,{})'))


def product(arch, a, b, dtype):
    """A B on the emulator, and the number of matrix instructions."""
    calls, instruction = [], ops_python.generic_wmma_helper
    ops_python.generic_wmma_helper = lambda *operands: calls.append(1) or instruction(*operands)
    with Context(DEV='PYTHON::' + arch):
        d = Tensor(a).cast(dtype).realize().matmul(Tensor(b).cast(dtype).realize(), dtype=dtypes.float).numpy()
    ops_python.generic_wmma_helper = instruction
    return d, len(calls)


def main():
    random, own, same = np.random.default_rng(1), ops_python.generic_wmma_helper, True
    print('GPU     operands       unit                instructions  differ       error, own    unit')
    for arch, dtype, name, unit, whole in GPUS:
        a, b = (halfulp.quantize(random.standard_normal(shape, np.float32), name) for shape in ((16, 64), (64, 16)))
        ops_python.generic_wmma_helper = own
        before, _ = product(arch, a, b, dtype)
        units.use(unit)
        after, count = product(arch, a, b, dtype)
        same &= count > 0 and np.array_equal(after, halfulp.gemm(a, b, accum=whole.format(unit)))
        errors = (abs(d - a.astype(np.float64) @ b).max() for d in (before, after))
        print('{:7} {:14} {:19} {:12} {:7} of {} {:12.1e} {:7.1e}'.format(arch, name, unit, count, (before != after).sum(),
                                                                    after.size, *errors))
    return 0 if same else 1


if __name__ == '__main__':
    sys.exit(main())
