# SPDX-License-Identifier: MIT
"""Cast of ONNX's reference implementation: saturate true and false, and the roundings of float8e8m0."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, md, onnx = common.need('numpy', 'ml_dtypes', 'onnx')
cast = common.need('onnx.reference.ops.op_cast')[0].cast_to
run = common.Run(sys.argv)
KINDS = onnx.TensorProto
DTYPES = (np.float32, np.float64)


def raw(x, name, saturate, mode='up'):
    return cast(x, getattr(KINDS, name.upper()), saturate, mode)


for name in ('float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'):
    for saturate in (True, False):
        for dtype in DTYPES:
            run.same('onnx.%s.%s' % (name, 'saturate' if saturate else 'nosaturate'), lambda x: raw(x, name, saturate), dtype)


for preset, name in (('ocp.fp8_e4m3.saturating', 'float8e4m3fn'), ('ocp.fp8_e5m2.saturating', 'float8e5m2')):
    run.same(preset, lambda x: raw(x, name, True), np.float32, 8, np.isnan)
for mode in ('up', 'nearest'):
    for saturate in (True, False):
        for dtype in DTYPES:
            run.same('onnx.float8e8m0.%s.%s' % (mode, 'saturate' if saturate else 'nosaturate'),
                     lambda x: raw(x, 'float8e8m0', saturate, mode), dtype)
for dtype in DTYPES:
    run.same('onnx.float8e8m0.down', lambda x: raw(x, 'float8e8m0', True, 'down'), dtype)
    run.same('onnx.float4e2m1', lambda x: raw(x, 'float4e2m1', True), dtype, 4)
    run.same('onnx.bfloat16', lambda x: raw(x, 'bfloat16', True), dtype, 16)
    run.same('onnx.float16', lambda x: raw(x, 'float16', True), dtype, 16)
# 2^-127 is a value of E8M0 (code 0): up must leave it there and lift 2^-140 to it.
x = np.array([2.0**-127, 2.0**-140], np.float32)
run.differ('up lifts 2^-127 and less to 2^-126', raw(x, 'float8e8m0', True).view(np.uint8).tolist() == [1, 1] and
           run.encode('cuda.fp8_e8m0.rp.satfinite', x).tolist() == [0, 0], 2)
run.done('onnx ' + onnx.__version__)
