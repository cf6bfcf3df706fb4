# SPDX-License-Identifier: MIT
"""JAX's conversions on the CPU: every small type, from binary32 and binary64."""
import os
import sys

sys.dont_write_bytecode = True
os.environ['JAX_ENABLE_X64'] = '1'
import common  # noqa: E402

common.xla_on_a_cpu()
np, md, jax = common.need('numpy', 'ml_dtypes', 'jax')
run = common.Run(sys.argv)
WIDTHS = {'float4_e2m1fn': 4, 'float8_e3m4': 8, 'float8_e4m3': 8, 'float8_e4m3b11fnuz': 8, 'float8_e4m3fn': 8, 'float8_e4m3fnuz': 8,
          'float8_e5m2': 8, 'float8_e5m2fnuz': 8, 'float8_e8m0fnu': 8, 'bfloat16': 16, 'float16': 16}




def other(x):
    """Into E8M0 JAX takes binary64 another way than binary32: once rounded, and NaN below 2^-127. Binary32's own numbers above are
    compared all the same."""
    return (x.astype(np.float32) != x) & ~np.isnan(x) | (np.abs(x) < 2.0**-126)


for name, width in WIDTHS.items():
    kind = np.dtype(np.float16 if name == 'float16' else getattr(md, name))
    for dtype in (np.float32, np.float64):
        leave = other if (name, dtype) == ('float8_e8m0fnu', np.float64) else None
        # A processor with AVX512-FP16 keeps digits of a NaN that others do not.
        run.same('jax.' + name, lambda x: np.asarray(jax.numpy.asarray(x).astype(kind)), dtype, width, leave,
                 any_nan=width == 16)
x = np.array([2.0**-140])
there = [np.asarray(jax.numpy.asarray(v).astype(md.float8_e8m0fnu)).view(np.uint8)[0] for v in (x, x.astype(np.float32))]
run.differ('2^-140 into E8M0 is NaN from binary64, 2^-127 from binary32', there == [255, 0], 2)
run.done('JAX ' + jax.__version__)
