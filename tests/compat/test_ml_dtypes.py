# SPDX-License-Identifier: MIT
"""ml_dtypes' and NumPy's conversions: every type, from binary32 and binary64, and every code's value."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, md = common.need('numpy', 'ml_dtypes')
run = common.Run(sys.argv)
WIDTHS = {'float4_e2m1fn': 4, 'float6_e2m3fn': 6, 'float6_e3m2fn': 6, 'float8_e3m4': 8, 'float8_e4m3': 8, 'float8_e4m3b11fnuz': 8,
          'float8_e4m3fn': 8, 'float8_e4m3fnuz': 8, 'float8_e5m2': 8, 'float8_e5m2fnuz': 8, 'float8_e8m0fnu': 8, 'bfloat16': 16}


def wide(dtype):
    return np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8


for name, width in WIDTHS.items():
    kind = np.dtype(getattr(md, name))
    for dtype in (np.float32, np.float64):
        run.same('ml_dtypes.' + name, lambda x: x.astype(kind), dtype, width)
    run.same_values('ml_dtypes.' + name, lambda c: c.astype(wide(kind)).view(kind).astype(np.float32), width)
for dtype in (np.float32, np.float64):
    run.same('numpy.float16', lambda x: x.astype(np.float16), dtype, 16)
run.same_values('numpy.float16', lambda c: c.view(np.float16).astype(np.float32), 16)
# The specifications' conversions, where these do the same: no NaN operands, of which they say nothing.
for preset, name, width in (('ocp.fp8_e4m3.nonsaturating', 'float8_e4m3fn', 8), ('ocp.fp8_e5m2.nonsaturating', 'float8_e5m2', 8),
                            ('ocp.fp6_e2m3', 'float6_e2m3fn', 6), ('ocp.fp6_e3m2', 'float6_e3m2fn', 6), ('ocp.fp4_e2m1', 'float4_e2m1fn', 4)):
    run.same(preset, lambda x: x.astype(getattr(md, name)), np.float32, width, np.isnan)

# Surprise: binary64 goes through binary32. 7.25 is the midpoint of 7 and 7.5 in E4M3; a little more must give 7.5.
x = np.array([7.25 * (1 + 2.0**-40)])
run.differ('ml_dtypes rounds binary64 twice', float(x.astype(md.float8_e4m3fn)[0]) == 7 and
           float(run.quantize('ocp.fp8_e4m3.saturating', x)[0]) == 7.5, 1)
# Integers: toward zero, and what does not fit wraps around; here the ends of the range stay.
x = np.array([7.9, -7.9, 8.0, 9.0, 17.0], np.float32)
wrapped = x.astype(md.int4).astype(np.int32).tolist()
ours = run.quantize('int4', x).tolist()
run.differ('int4 wraps in ml_dtypes, saturates here', wrapped == [7, -7, -8, -7, 1] and ours == [7, -8, 7, 7, 7], len(x))
run.done('ml_dtypes ' + md.__version__, 'NumPy ' + np.__version__)
