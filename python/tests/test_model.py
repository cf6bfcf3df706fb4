# SPDX-License-Identifier: MIT
"""quantize and encode against exact fractions: any small format, any mode, any float."""
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import halfulp
from model import Grid

FLOATS = st.one_of(st.floats(width=32, allow_nan=True), st.floats(-100, 100, width=32),
                   st.floats(-2.0 ** -7, 2.0 ** -7, width=32))
MODES = st.sampled_from(['rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto'])


def same(a, b):
    return (np.isnan(a) and np.isnan(b)) or (a == b and np.signbit(a) == np.signbit(b))


@given(st.integers(2, 6), st.integers(1, 8), st.integers(-8, 8), st.booleans(), MODES,
       st.sampled_from(['none', 'finite']), st.lists(FLOATS, min_size=1, max_size=20))
def test_quantize(e, m, b, finite, mode, saturate, values):
    format = halfulp.Format(e=e, m=m, b=b, finite=finite)
    grid, x = Grid(e, m, b, finite), np.float32(values)
    z = halfulp.quantize(x, format, mode, saturate=saturate)
    for given_, got in zip(x, z):
        expected = grid.round(given_, mode, saturate)
        assert same(got, expected), (format, mode, saturate, float(given_), float(got), expected)
    codes = halfulp.encode(x, format, mode, saturate=saturate)
    np.testing.assert_array_equal(halfulp.decode(codes, format), z)


@given(st.integers(2, 5), st.integers(1, 5), st.integers(1, 32), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1),
       st.lists(FLOATS, min_size=1, max_size=20))
def test_stochastic(e, m, bits, key, counter, values):
    format, grid, x = halfulp.Format(e=e, m=m), Grid(e, m, 0, False), np.float32(values)
    stream = halfulp.Stream(key, counter)
    z = halfulp.quantize(x, format, 'sra:{}'.format(bits), stream=stream)
    for given_, got, word in zip(x, z, stream.words(len(values))):
        expected = grid.round(given_, 'sra', bits=bits, word=int(word) >> (32 - bits))
        assert same(got, expected), (format, bits, float(given_), float(got), expected)


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=20), MODES)
def test_binary64_operands(values, mode):
    grid, x = Grid(5, 10, 0, False), np.float64(values)
    for given_, got in zip(x, halfulp.quantize(x, 'binary16', mode)):
        assert same(got, grid.round(given_, mode)), (mode, given_, got)
