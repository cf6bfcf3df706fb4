# SPDX-License-Identifier: MIT
"""Digests of what a wheel computes, one a line: what all machines must agree on. Run it with the wheel's folder in
PYTHONPATH."""
import hashlib

import numpy as np

import halfulp


def say(what, *arrays):
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    print(what, digest.hexdigest()[:16])


draws = np.random.Generator(np.random.PCG64(7))
bits = draws.integers(0, 1 << 32, 20000, dtype=np.uint32)
x = bits.view(np.float32)
x = x[np.isfinite(x)]
for name in ('bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float4_e2m1fn', 'float16'):
    say(name, halfulp.encode(x, name), halfulp.quantize(x, name))
a = draws.integers(-64, 64, (24, 40)).astype(np.float32) / 16
b = draws.integers(-64, 64, (40, 16)).astype(np.float32) / 64
say('gemm', halfulp.gemm(a, b))
say('exp', halfulp.exp(x[:4000], 'bfloat16'))
print('version', halfulp.__version__, 'levels', len(halfulp.levels()) > 1)
