# SPDX-License-Identifier: MIT
"""What a weight matrix with outliers loses in today's formats: signal-to-noise ratio, and what happened on the way."""
import numpy as np

import halfulp

random = np.random.default_rng(1)
weights = random.normal(size=(256, 1024)).astype(np.float32) * 0.02
weights[:, ::97] *= 40  # a few columns stand out, as they do in transformers


def decibels(values):
    error = np.float64(values) - weights
    return 10 * np.log10(np.sum(np.float64(weights) ** 2) / np.sum(error ** 2))


def turned(x, events):
    """Quantized in a basis in which outliers are spread out, and turned back."""
    signs = halfulp.Stream(key=7)
    spread = halfulp.hadamard(x, 64, signs='stream', stream=signs)
    small = halfulp.scaled.quantize(spread, 'mxfp4', events=events)
    return halfulp.hadamard(small, 64, signs='stream', stream=signs, inverse=True)


print('{:34} {:>6}  {}'.format('', 'dB', 'events'))
for name, quantize in [
        ('float8_e4m3fn', lambda x, e: halfulp.quantize(x, 'float8_e4m3fn', events=e)),
        ('float8_e5m2', lambda x, e: halfulp.quantize(x, 'float8_e5m2', events=e)),
        ('fp8_tensor (one scale)', lambda x, e: halfulp.scaled.quantize(x, 'fp8_tensor', events=e)),
        ('mxfp8_e4m3', lambda x, e: halfulp.scaled.quantize(x, 'mxfp8_e4m3', events=e)),
        ('mxfp4', lambda x, e: halfulp.scaled.quantize(x, 'mxfp4', events=e)),
        ('nvfp4', lambda x, e: halfulp.scaled.quantize(x, 'nvfp4', events=e)),
        ('mxfp4 after a Hadamard transform', turned),
        ('posit8', lambda x, e: halfulp.number.quantize(x, 'posit8', events=e)),
        ('s2fp8', lambda x, e: halfulp.round_tensor(x, 's2fp8', events=e))]:
    events = halfulp.Events()
    print('{:34} {:6.2f}  {}'.format(name, decibels(quantize(weights, events)), events))
    assert events.inexact > 0
