# SPDX-License-Identifier: MIT
"""HiFloat8 of en_dtypes: every code's value, and codes by ties away from zero."""
import sys

sys.dont_write_bytecode = True
import common  # noqa: E402

np, en_dtypes = common.need('numpy', 'en_dtypes')
run = common.Run(sys.argv)
codes, values = run.values('hifloat8', 8)
there = codes.view(en_dtypes.hifloat8).astype(np.float32).astype(np.float64)
run.say('values of hifloat8', values, there, codes, (values == there) | (np.isnan(values) & np.isnan(there)))
x = run.operands(values, np.float32)
x = np.concatenate([x, np.exp2(np.random.default_rng(5).uniform(-26, 18, 300000)).astype(np.float32)])
np.save(run.path('x.npy'), x)
run.halfulp('encode', '-f', 'hifloat8', '-r', 'rna', run.path('x.npy'), run.path('z.npy'))
ours, theirs = np.load(run.path('z.npy')), x.astype(en_dtypes.hifloat8).view(np.uint8)
if run.say('hifloat8', ours, theirs, x, ours == theirs):
    print('hifloat8: %d operands, equal codes' % len(x))
run.presets += 1
run.done('en_dtypes')
