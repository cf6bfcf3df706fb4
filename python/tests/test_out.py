# SPDX-License-Identifier: MIT
"""out=: arrays whose elements lie at one place are refused by every function that takes it, others are taken."""
import itertools

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import halfulp
from halfulp import _views, codes, number, scaled

X = np.random.default_rng(3).normal(size=(4, 64)).astype(np.float32)
BYTES, WORDS = halfulp.encode(X, 'float8_e4m3fn'), number.encode(X, 'posit16')
CALLS = {
    'quantize': ('f4', lambda **more: halfulp.quantize(X, 'float8_e4m3fn', **more)),
    'encode': ('u1', lambda **more: halfulp.encode(X, 'float8_e4m3fn', **more)),
    'decode': ('f4', lambda **more: halfulp.decode(BYTES, 'float8_e4m3fn', **more)),
    'convert': ('u1', lambda **more: halfulp.convert(BYTES, 'float8_e5m2', of='float8_e4m3fn', **more)),
    'preset': ('f4', lambda **more: halfulp.quantize(X, 'torch.float8_e4m3fn', **more)),
    'add': ('f4', lambda **more: halfulp.add(X, X, 'float8_e4m3fn', **more)),
    'exp': ('f4', lambda **more: halfulp.exp(X, 'float8_e4m3fn', **more)),
    'fma': ('f4', lambda **more: halfulp.fma(X, X, X, 'float8_e4m3fn', **more)),
    'codes.mul': ('u1', lambda **more: codes.mul(BYTES, BYTES, of='float8_e4m3fn', **more)),
    'codes.fma': ('u1', lambda **more: codes.fma(BYTES, BYTES, BYTES, of='float8_e4m3fn', **more)),
    'codes.round_to_integral': ('u1', lambda **more: codes.round_to_integral(BYTES, of='float8_e4m3fn', **more)),
    'codes.next_up': ('u1', lambda **more: codes.next_up(BYTES, of='float8_e4m3fn', **more)),
    'codes.compare': ('i1', lambda **more: codes.compare(BYTES, BYTES, of='float8_e4m3fn', **more)),
    'codes.classify': ('u1', lambda **more: codes.classify(BYTES, 'float8_e4m3fn', **more)),
    'gemm': ('f4', lambda **more: halfulp.gemm(X, np.eye(64, dtype='f4'), **more)),
    'dot': ('f4', lambda **more: halfulp.dot(np.ones((4, 1, 8), 'f4'), np.ones((64, 8), 'f4'), **more)),
    'scaled.quantize': ('f4', lambda **more: scaled.quantize(X, 'mxfp4', **more)),
    'scaled.decode': ('f4', lambda **more: scaled.decode(scaled.encode(X, 'mxfp4'), **more)),
    'number.quantize': ('f4', lambda **more: number.quantize(X, 'posit8', **more)),
    'number.encode': ('u2', lambda **more: number.encode(X, 'posit16', **more)),
    'number.decode': ('f4', lambda **more: number.decode(WORDS, 'posit16', **more)),
    'number.convert': ('u1', lambda **more: number.convert(WORDS, 'posit8', 'posit16', **more)),
    'hadamard': ('f4', lambda **more: halfulp.hadamard(X, 16, **more)),
    'round_tensor': ('f4', lambda **more: halfulp.round_tensor(X, 'mxfp4', **more)),
}


@pytest.mark.parametrize('name', CALLS)
def test_elements_at_one_place(name):
    kind, call = CALLS[name]
    size, buffer = np.dtype(kind).itemsize, np.zeros(4 * 64 * 2 + 64, kind)
    for rows, cols in ((0, 1), (1, 1), (64, 0), (63, 1), (-1, 1)):
        out = as_strided(buffer[64:], (4, 64), (rows * size, cols * size))
        with pytest.raises(halfulp.HalfulpValueError, match='out: several of its elements lie at one place of memory'):
            call(out=out)
    assert not buffer.any()
    for rows, cols in ((64, 1), (65, 1), (1, 4), (128, 2)):
        out = as_strided(buffer, (4, 64), (rows * size, cols * size))
        out[...] = 0
        assert call(out=out) is out
        np.testing.assert_array_equal(out, call())


def test_other_libraries_arrays():
    class Array:
        """An array that is known by DLPack alone."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()
    with pytest.raises(halfulp.HalfulpValueError, match='out: several of its elements'):
        halfulp.quantize(X, 'bfloat16', out=Array(as_strided(np.zeros(64, 'f4'), (4, 64), (0, 4))))


def test_overlaps_itself():
    """Against looking at every place, for all small shapes and strides."""
    for dims in (1, 2, 3):
        for shape in itertools.product((0, 1, 2, 3), repeat=dims):
            for strides in itertools.product((-3, 0, 1, 2, 3, 4, 7), repeat=dims):
                places = [sum(i * step for i, step in zip(place, strides)) for place in np.ndindex(*shape)]
                assert _views.overlaps_itself(shape, strides) == (len(set(places)) < len(places)), (shape, strides)
    assert not _views.overlaps_itself((), ())
    assert _views.overlaps_itself((1 << 40, 1 << 20), (1, 0)) and not _views.overlaps_itself((1 << 40,), (-3,))
