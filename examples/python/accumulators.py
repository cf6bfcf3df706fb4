# SPDX-License-Identifier: MIT
"""The same FP8 product as five pieces of hardware sum it: how far each is from the exact result, and why."""
import ml_dtypes
import numpy as np

import halfulp

random = np.random.default_rng(2)
a = halfulp.encode(random.normal(size=(32, 4096)) + 0.5, ml_dtypes.float8_e4m3fn)
b = halfulp.encode(random.normal(size=(4096, 32)) + 0.5, ml_dtypes.float8_e4m3fn)
exact = halfulp.gemm(a, b)

print('{:46} {:>12}'.format('sums', 'worst error'))
for model in ('fp32', 'nv.hopper.e4m3.f32.wgmma', 'promote(128,nv.hopper.e4m3.f32.wgmma,binary32)', 'seq(binary16)',
              'kahan(binary16)'):
    error = np.abs(halfulp.gemm(a, b, accum=model) - exact) / np.abs(exact)
    print('{:46} {:12.2e}'.format(model, error.max()))

watch = halfulp.Watch()
halfulp.gemm(a[:1], b[:, :1], accum='seq(binary16)', watch=watch)
print('seq(binary16): {} of {} additions left the sum as it was'.format(watch.swamped, watch.additions))
assert watch.swamped > 0

unit = halfulp.model('nv.hopper.e4m3.f32.wgmma')
print('{}: {} ({})'.format(unit.name, unit.unit, unit.confidence))
