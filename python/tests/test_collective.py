# SPDX-License-Identifier: MIT
"""halfulp.all_reduce against sums made step by step with halfulp.add and fractions; exact sums against math.fsum."""
import fractions
import math
import random as rng

import numpy as np
import pytest

import halfulp
from halfulp import Collective, ExactSum, Stream


def draws(random, ranks, n, scale=1.0):
    return (random.standard_normal((ranks, n)) * scale).astype(np.float32)


def singles(rows):
    return np.array([np.float32(float(sum(map(fractions.Fraction, map(float, column))))) for column in rows.T])


def added(p, q, format):
    return halfulp.add(p, q, to=format)


def test_exact(random):
    rows = np.round(draws(random, 7, 50, 100) * 64) / 64
    np.testing.assert_array_equal(halfulp.all_reduce(rows), singles(rows))
    np.testing.assert_array_equal(halfulp.all_reduce(list(rows[::-1])), singles(rows))


def test_ring_is_its_chunks(random):
    rows = halfulp.quantize(draws(random, 5, 23), 'bfloat16')
    got = halfulp.all_reduce(rows, 'ring(bfloat16)')
    for chunk, places in enumerate(np.array_split(np.arange(23), 5)):
        held = rows[chunk][places]
        for step in range(1, 5):
            held = added(rows[(chunk + step) % 5][places], held, 'bfloat16')
        np.testing.assert_array_equal(got[places], held)


def test_tree_and_pairwise(random):
    rows = halfulp.quantize(draws(random, 3, 40), 'bfloat16')
    left = added(added(rows[0], rows[1], 'bfloat16'), rows[2], 'bfloat16')
    np.testing.assert_array_equal(halfulp.all_reduce(rows, 'tree(bfloat16)'), left)
    np.testing.assert_array_equal(halfulp.all_reduce(rows, 'pairwise(bfloat16)'), left)


def test_wire(random):
    rows = draws(random, 2, 64)
    sent = halfulp.quantize(rows[1], 'mxfp8_e4m3')
    expected = halfulp.quantize(added(rows[0], sent, 'binary32'), 'mxfp8_e4m3')
    np.testing.assert_array_equal(halfulp.all_reduce(rows, 'tree(binary32,wire=mxfp8_e4m3)'), expected)


@pytest.mark.parametrize('wire', ['mxfp8_e4m3', 'nvfp4', 'scaled(float8_e4m3fn;scale=binary32;block=1x128;rule=ratio)'])
def test_direct_and_switch(random, wire):
    """collective.h: pieces of 512 numbers, which end with a chunk of `direct`, are quantized as rows of their own."""
    n, ranks = 1400, 3
    rows, at = draws(random, ranks, n), np.arange(n)

    def sent(x, cuts):
        return np.concatenate([halfulp.quantize(part, halfulp.Scaling(wire)) for part in np.split(x, cuts)])

    chunks = [c[0] for c in np.array_split(at, ranks)][1:]
    cuts = sorted({*chunks, 512, 1024})
    total = sent(rows[0], cuts)
    for row in rows[1:]:
        total = added(total, sent(row, cuts), 'binary32')
    np.testing.assert_array_equal(halfulp.all_reduce(rows, 'direct(binary32,wire=%s)' % wire), sent(total, cuts))
    arrived = np.stack([sent(row, [512, 1024]) for row in rows]).astype(np.float64)
    total = halfulp.quantize(arrived.sum(axis=0), 'bfloat16').astype(np.float32)  # exact in binary64: few digits
    np.testing.assert_array_equal(halfulp.all_reduce(rows, 'switch(bfloat16,wire=%s)' % wire), sent(total, [512, 1024]))


def test_types(random):
    rows = draws(random, 4, 30)
    half = halfulp.all_reduce(rows.astype(np.float16), 'ring(binary16)')
    assert half.dtype == np.float16
    codes = halfulp.encode(rows, 'float8_e4m3fn')
    small = halfulp.all_reduce(codes.view(np.uint8), 'ring(binary32)', format='float8_e4m3fn')
    assert small.dtype == np.uint8
    values = halfulp.decode(codes.view(np.uint8), 'float8_e4m3fn')
    np.testing.assert_array_equal(halfulp.decode(small, 'float8_e4m3fn'),
                                  halfulp.quantize(halfulp.all_reduce(values, 'ring(binary32)'), 'float8_e4m3fn'))
    out = np.zeros(30, np.float32)
    assert halfulp.all_reduce(rows, out=out) is out and out.any()


def test_one_number_for_each(random):
    """A whole array of one axis, whose rows are no arrays but NumPy's numbers."""
    x = np.array([1.5, 2, 4, 8], np.float32)
    for rows in (x, np.repeat(x, 2)[::2], list(x)):
        z = halfulp.all_reduce(rows, 'ring(bfloat16)')
        assert z == 15.5 and z.shape == () and z.dtype == np.float32
    out = np.zeros((), np.float32)
    assert halfulp.all_reduce(x, out=out) is out and out == 15.5
    assert halfulp.all_reduce(halfulp.encode(x, 'binary16'), format='binary16') == halfulp.encode(15.5, 'binary16')
    assert halfulp.all_reduce(np.zeros((3, 0), np.float32)).shape == (0,)


def test_stochastic_requires_words(random):
    rows = draws(random, 4, 300)
    with pytest.raises(halfulp.HalfulpValueError, match='stream'):
        halfulp.all_reduce(rows, 'ring(bfloat16,sra:8)')
    one, two = (halfulp.all_reduce(rows, 'ring(bfloat16,sra:8)', stream=Stream(key, 0)) for key in (1, 2))
    assert (one != two).any()
    np.testing.assert_array_equal(one, halfulp.all_reduce(rows, 'ring(bfloat16,sra:8)', stream=Stream(1, 0), threads=3))


def test_text():
    model = Collective('hierarchical(8,exact,ring(bfloat16,wire=float8_e5m2))')
    assert Collective(model.text) == model and model.text == 'hierarchical(8,exact,ring(bfloat16,wire=float8_e5m2))'
    assert not model.stochastic and Collective('tree(binary16,srb:4)').stochastic


@pytest.mark.parametrize('call, says', [
    (lambda: Collective('rung(bfloat16)'), 'reduce'), (lambda: Collective('ring(bfloat17)'), 'bfloat17'),
    (lambda: Collective('ring(fp(11,20,0),wire=mxfp8_e4m3)'), 'HU_E_CARRIER'),
    (lambda: halfulp.all_reduce([]), 'no participant'), (lambda: halfulp.all_reduce(np.float32(1)), 'participants'),
    (lambda: halfulp.all_reduce([np.zeros(3, np.float32), np.zeros(4, np.float32)]), r'buffers\[1\]'),
    (lambda: halfulp.all_reduce(np.zeros((2, 3), np.uint8)), 'format= says'),
    (lambda: halfulp.all_reduce(np.full((2, 3), 0.1)), 'buffers: 0.1 is no float32'),
    (lambda: halfulp.all_reduce(np.zeros((2, 3), np.uint8), format='bfloat16'), 'are uint16, not uint8'),
    (lambda: halfulp.all_reduce(np.zeros((2, 3), np.float32), format='bfloat16'), 'no codes of'),
    (lambda: halfulp.all_reduce(np.zeros((2, 3), np.float32), out=np.zeros(4, np.float32)), 'out'),
    (lambda: ExactSum.from_bytes(b'HUS1'), 'data'), (lambda: ExactSum().round('bfloat16', 'sra:3'), 'stream'),
    (lambda: ExactSum().add_products(np.zeros(3, np.float32), np.zeros(2, np.float32)), 'b: shape')])
def test_wrong(call, says):
    with pytest.raises(halfulp.HalfulpError, match=says):
        call()


def test_sums_in_any_order(random):
    x = (random.standard_normal(1000) * 10.0 ** random.integers(-30, 30, 1000)).astype(np.float32)
    whole, parts = ExactSum().add(x), [ExactSum().add(part) for part in np.array_split(x[::-1], 7)]
    rng.Random(1).shuffle(parts)
    merged = ExactSum()
    for part in parts:
        merged += ExactSum.from_bytes(part.to_bytes())
    assert merged == whole and merged.to_bytes() == whole.to_bytes()
    assert float(whole) == math.fsum(map(float, x))
    assert whole.round('binary32') == np.float32(math.fsum(map(float, x)))


def test_products(random):
    a, b = random.standard_normal((2, 500)).astype(np.float32)
    total = ExactSum().add_products(a, b)
    assert float(total) == math.fsum(float(x) * float(y) for x, y in zip(a, b))
    assert total.round('binary32') == halfulp.dot(a, b)
    low, high = (total.round('float8_e4m3fn', mode) for mode in ('rtn', 'rtp'))
    assert low <= float(total) <= high and low < high
    assert {total.round('float8_e4m3fn', 'sra:16', Stream(key, 0)) for key in range(64)} == {low, high}
