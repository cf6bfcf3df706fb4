# SPDX-License-Identifier: MIT
"""gemm and dot: models against fractions, layouts, batches, matrix units, errors."""
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp import Accumulator
from model import Grid

SINGLE, HALF = Grid(8, 23, 0, False), Grid(5, 10, 0, False)


def fractions(x):
    return [[Fraction(float(v)) for v in row] for row in x]


def by_hand(a, b, step, last):
    """Sums of products, element by element: step(acc, product)."""
    rows, cols = fractions(a), fractions(np.transpose(b))
    made = np.zeros((len(rows), len(cols)))
    for i, row in enumerate(rows):
        for j, col in enumerate(cols):
            acc = Fraction(0)
            for x, y in zip(row, col):
                acc = step(acc, x * y)
            made[i, j] = float(last(acc))
    return made


@pytest.mark.parametrize('accum, step, last', [
    ('exact', lambda acc, p: acc + p, SINGLE.exact),
    ('fp32', lambda acc, p: SINGLE.exact(acc + p), SINGLE.exact),
    ('seq(binary16)', lambda acc, p: HALF.exact(acc + p), SINGLE.exact),
    ('seq2(binary16)', lambda acc, p: HALF.exact(acc + HALF.exact(p)), SINGLE.exact)])
def test_models(accum, step, last, random):
    a, b = (random.normal(size=shape).astype(np.float16) for shape in ((4, 37), (37, 5)))
    np.testing.assert_array_equal(halfulp.gemm(a, b, accum=accum), by_hand(a, b, step, last))
    values = halfulp.gemm(a.astype(np.float32), b.astype(np.float32), accum=accum, a_format='binary16',
                          b_format='binary16')
    np.testing.assert_array_equal(values, by_hand(a, b, step, last))
    np.testing.assert_array_equal(halfulp.dot(a[:, None], b.T[None], accum=accum), by_hand(a, b, step, last))


def test_layouts(random):
    a, b = random.normal(size=(3, 6, 9)).astype(np.float32), random.normal(size=(9, 4)).astype(np.float32)
    expected = np.stack([halfulp.gemm(one.copy(), b, accum='fp32') for one in a])
    for left in (a, a.transpose(0, 2, 1).copy().transpose(0, 2, 1), np.repeat(a, 2, axis=2)[..., ::2],
                 a[::-1].copy()[::-1]):
        for right in (b, b.T.copy().T, np.broadcast_to(b, (3, 9, 4)), b[::-1].copy()[::-1]):
            np.testing.assert_array_equal(halfulp.gemm(left, right, accum='fp32'), expected)
    for out in (np.empty((3, 6, 4), np.float32), np.empty((3, 4, 6), np.float32).transpose(0, 2, 1),
                np.empty((3, 6, 8), np.float32)[..., ::2]):
        assert halfulp.gemm(a, b, accum='fp32', out=out) is out
        np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(halfulp.gemm(a[0, 0], b, accum='fp32'), expected[0, 0])
    np.testing.assert_array_equal(halfulp.gemm(a, b[:, 0], accum='fp32'), expected[:, :, 0])
    assert halfulp.gemm(b[:, 0], b[:, 1], accum='fp32') == halfulp.gemm(b.T[:1], b[:, 1:2], accum='fp32')[0, 0]
    c = random.normal(size=(3, 6, 4)).astype(np.float32)
    with_c = halfulp.gemm(a, b, c, accum='exact')
    own = c.copy()
    assert halfulp.gemm(a, b, own, accum='exact', out=own) is own
    np.testing.assert_array_equal(own, with_c)
    np.testing.assert_array_equal(halfulp.gemm(a, b, c[0], accum='exact')[1],
                                  halfulp.gemm(a[1], b, c[0], accum='exact'))
    square = random.normal(size=(5, 5)).astype(np.float32)
    expected = halfulp.gemm(square, square.copy())
    halfulp.gemm(square, square, out=square)
    np.testing.assert_array_equal(square, expected)
    for shape in ((0, 3, 2), (2, 0, 3), (2, 3, 0)):
        m, k, n = shape
        assert (halfulp.gemm(np.ones((m, k), np.float32), np.ones((k, n), np.float32)) == (k if k else 0)).all()


def test_stochastic_words(random):
    """The last rounding of element (i, j) of product q has word (q m + i) n + j."""
    a, b = random.normal(size=(2, 3, 8)).astype(np.float32), random.normal(size=(8, 5)).astype(np.float32)
    z = halfulp.gemm(a, b, to='float8_e5m2', mode='sra:6', stream=(7, 100))
    exact = halfulp.gemm(a, b)
    counts = halfulp.Events()
    assert (halfulp.quantize(np.float64(a @ b), 'float8_e5m2') != z).any()
    expected = halfulp.gemm(a[1], b, to='float8_e5m2', mode='sra:6', stream=(7, 115))
    np.testing.assert_array_equal(z[1], expected)
    np.testing.assert_array_equal(halfulp.gemm(a, b, to='float8_e5m2', mode='sra:6', stream=(7, 100), threads=3,
                                               events=counts), z)
    assert counts.inexact == 30 and np.isfinite(exact).all()


UNIT = 'nv.hopper.e4m3.f32.wgmma'


def test_a_unit_takes_its_own_formats(random):
    """A matrix unit for FP8 given binary32 numbers would be 78 times better than the hardware."""
    x, w = random.normal(size=(16, 64)).astype('f4'), random.normal(size=(64, 16)).astype('f4')
    for call in (halfulp.gemm, halfulp.dot):
        right = w if call is halfulp.gemm else w.T.copy()
        with pytest.raises(halfulp.HalfulpValueError, match='the model takes A float8_e4m3fn, B float8_e4m3fn, C binary32'):
            call(x, right, accum=UNIT)
    with pytest.raises(halfulp.HalfulpValueError, match='HU_E_OPERAND_A'):
        halfulp.gemm(x, w, accum=UNIT, a_format='binary32')
    with pytest.raises(halfulp.HalfulpValueError, match='HU_E_OPERAND_B'):
        halfulp.gemm(halfulp.quantize(x, 'float8_e4m3fn'), w.astype(np.float16), accum=UNIT)
    a, b = halfulp.quantize(x, 'float8_e4m3fn'), halfulp.quantize(w, 'float8_e4m3fn')
    real = halfulp.gemm(a, b, accum=UNIT)
    np.testing.assert_array_equal(real, halfulp.gemm(a, b, accum=UNIT, a_format='float8_e4m3fn', b_format='float8_e4m3fn'))
    np.testing.assert_array_equal(real, halfulp.gemm(a, b, accum=halfulp.model(UNIT)))
    insisted = halfulp.gemm(x, w, accum='any({})'.format(UNIT))
    exact = x.astype('f8') @ w
    assert abs(real - exact).max() > 10 * abs(insisted - exact).max()
    with pytest.raises(halfulp.HalfulpValueError, match='HU_E_OPERAND_C'):
        halfulp.gemm(a, b, np.zeros((16, 16), np.float16), accum=UNIT)
    halfulp.gemm(a, b, np.zeros((16, 16), np.float16), accum='promote(32,{},binary32)'.format(UNIT))


def test_each_call_names_its_own_remedy(random):
    """What an error proposes works in the call that gave it."""
    x = random.normal(size=(16, 64)).astype('f4')
    codes = halfulp.encode(x, 'float8_e4m3fn')
    with pytest.raises(halfulp.HalfulpValueError, match='halfulp.quantize'):
        halfulp.gemm(x, x.T, accum=UNIT)
    with pytest.raises(halfulp.HalfulpValueError, match=r'codes of these formats \(halfulp.encode\), with a_format='):
        halfulp.dot(halfulp.quantize(x, 'float8_e4m3fn'), x, accum=UNIT)
    halfulp.dot(codes, codes, accum=UNIT, a_format='float8_e4m3fn', b_format='float8_e4m3fn')
    with pytest.raises(halfulp.HalfulpValueError, match='A s8, B s8.*arrays of int8'):
        halfulp.dot(codes, codes, accum='nv.turing.s8.s32', a_format='float8_e4m3fn', b_format='float8_e4m3fn')
    with pytest.raises(halfulp.HalfulpValueError, match='A s8, B s8.*go through halfulp.dot'):
        halfulp.gemm(x, x.T, accum='nv.turing.s8.s32')
    with pytest.raises(halfulp.HalfulpValueError, match="A s8, B s8.*to='s32'"):
        halfulp.dot(np.ones((2, 8), np.int8), np.ones((2, 8), np.int8), accum='nv.turing.s8.s32')
    whole = np.ones((2, 8), np.int8)
    assert halfulp.dot(whole, whole, accum='nv.turing.s8.s32', to='s32').tolist() == [8, 8]
    narrow = np.ones((2, 8), np.uint8)
    assert halfulp.dot(narrow, narrow, accum='nv.turing.s4.s32', a_format='s4', b_format='s4', to='s32').tolist() == [8, 8]


def test_what_a_model_takes():
    unit = halfulp.Accumulator(UNIT)
    e4m3 = halfulp.Format('float8_e4m3fn')
    assert unit.operands == (e4m3, e4m3, halfulp.Format('binary32')) and unit.any().operands == (None, None, None)
    assert unit.any() == halfulp.Accumulator('any({})'.format(UNIT)) != unit
    assert halfulp.Accumulator(unit.text) == unit and unit.text.startswith('takes(float8_e4m3fn,float8_e4m3fn,binary32,block(')
    assert halfulp.Accumulator('nv.turing.s8xu8.s32').operands == ('s8', 'u8', 's32')
    assert halfulp.Accumulator('promote(64,{},binary32)'.format(UNIT)).operands == (e4m3, e4m3, None)
    assert halfulp.Accumulator('exact').operands == (None, None, None)
    scaled = halfulp.scaled.encode(np.ones((4, 32), 'f4'), 'mxfp8_e5m2')
    with pytest.raises(halfulp.HalfulpValueError, match='the model takes A float8_e4m3fn.*halfulp.scaled.encode'):
        halfulp.scaled.gemm(scaled, scaled.T, sum=halfulp.scaled.Sum('unit', 'nv.blackwell.mxfp8.e4m3'))


def test_codes_in_and_out(random):
    a = halfulp.encode(random.normal(size=(16, 32)), ml_dtypes.float8_e4m3fn)
    b = halfulp.encode(random.normal(size=(32, 16)), ml_dtypes.float8_e5m2)
    unit = halfulp.model('nv.hopper.e4m3xe5m2.f32.wgmma')
    assert unit.a == halfulp.Format('float8_e4m3fn') and unit.confidence == 'HW' and len(halfulp.models()) > 250
    values = halfulp.gemm(a, b, accum=unit.accumulator)
    raw = halfulp.gemm(a.view(np.uint8), b.view(np.uint8), accum=unit.name, a_format='float8_e4m3fn',
                       b_format='float8_e5m2')
    np.testing.assert_array_equal(values, raw)
    half = halfulp.gemm(a, b, accum=unit.name, to=np.float16)
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, values.astype(np.float16))
    eight = halfulp.gemm(a, b, to='float8_e4m3fn', dtype='uint8')
    np.testing.assert_array_equal(halfulp.decode(eight, 'float8_e4m3fn'), halfulp.gemm(a, b, to='float8_e4m3fn'))


def test_scales(random):
    a = halfulp.encode(random.normal(size=(4, 64)), ml_dtypes.float8_e4m3fn)
    accum = Accumulator('promote(32,fp32,binary32,scaled)')
    assert accum.scaled and accum.every == 32
    scale = (2.0 ** random.integers(-3, 3, (4, 2))).astype(np.float32)
    z = halfulp.gemm(a, a.T, accum=accum, scale_a=scale, scale_b=scale.T)
    full = a.astype(np.float32) * np.repeat(scale, 32, axis=1)
    np.testing.assert_allclose(z, full @ full.T, rtol=1e-5)
    with pytest.raises(ValueError, match='scale_a, scale_b: .* takes scales'):
        halfulp.gemm(a, a.T, accum=accum)
    with pytest.raises(ValueError, match='takes no scales'):
        halfulp.gemm(a, a.T, scale_a=scale, scale_b=scale.T)
    with pytest.raises(ValueError, match='scale_b: '):
        halfulp.gemm(a, a.T, accum=accum, scale_a=scale, scale_b=scale)


def test_watch(random):
    ones, watch = np.ones((1, 4096), np.float16), halfulp.Watch()
    assert halfulp.gemm(ones, ones.T, accum='seq(binary16)', watch=watch)[0, 0] == 2048
    assert watch.swamped == 2048 and watch.additions == 4096 and watch.gap == 11


def test_dot_of_integers_and_doubles():
    a, b = np.int8([[1, 2, -3], [100, 100, 100]]), np.int8([4, 5, 6])
    z = halfulp.dot(a, b, accum='int32', to='s32')
    assert z.dtype == np.int32 and list(z) == [-4, 1500]
    assert list(halfulp.dot(a, b, np.int32([1, 2]), accum='int32', to='s32')) == [-3, 1502]
    x = np.float64([1e16, 1.0, -1e16])
    assert halfulp.dot(x, np.ones(3), to='binary64') == 1.0 and halfulp.dot(x, np.ones(3), accum='fp64',
                                                                            to='binary64') == 0.0
    assert halfulp.dot(x, np.ones(3)).dtype == np.float32


def test_errors(random):
    x = np.ones((3, 3), np.float32)
    for call, kind, words in [
            (lambda: halfulp.gemm(x, np.ones((4, 3), np.float32)), ValueError, 'b: 4 rows instead of 3'),
            (lambda: halfulp.gemm(x, np.full((3, 3), 0.1)), TypeError, 'b: 0.1 is no float32'),
            (lambda: halfulp.gemm(x, np.ones((3, 3), np.uint16)), TypeError, 'b: an array of uint16 .* b_format='),
            (lambda: halfulp.gemm(x, np.ones((3, 3), np.int64), b_format='bfloat16'), TypeError,
             'b: an array of int64 holds no codes of b_format=bfloat16'),
            (lambda: halfulp.gemm(x, x, a_format='float4_e2m1fn', accum='nothing'), ValueError, 'accum: '),
            (lambda: halfulp.gemm(x * 0.3, x, a_format='float4_e2m1fn'), ValueError, 'HU_E_GRID'),
            (lambda: halfulp.gemm(x, x, np.ones((2, 3), np.float32)), ValueError, 'c: shape'),
            (lambda: halfulp.gemm(x, x, out=np.ones((3, 2), np.float32)), ValueError, 'out: shape'),
            (lambda: halfulp.gemm(x, np.float32(3)), ValueError, 'b: a matrix'),
            (lambda: halfulp.gemm(np.ones((2, 3, 3), np.float32), np.ones((5, 3, 3), np.float32)), ValueError,
             'leading shapes'),
            (lambda: halfulp.dot(x, np.ones(4, np.float32)), ValueError, 'b: last axis'),
            (lambda: halfulp.dot(np.int8([1]), np.int8([1]), accum='exact', to='s32'), ValueError, 'HU_E_ACCUM'),
            (lambda: halfulp.model('nobody'), ValueError, 'name: ')]:
        with pytest.raises(kind, match=words):
            call()


def test_dot_whose_result_lies_over_c(random):
    a, b = (random.normal(size=(9, 40)).astype(np.float32) for _ in 'ab')
    c = random.normal(size=12).astype(np.float32)
    for of, to in ((slice(8, None, -1), slice(0, 9)), (slice(0, 9), slice(1, 10)), (slice(3, 12), slice(2, 11)),
                   (slice(0, 9), slice(0, 9))):
        buffer = c.copy()
        expected = halfulp.dot(a, b, c[of].copy(), accum='fp32')
        halfulp.dot(a, b, buffer[of], accum='fp32', out=buffer[to])
        np.testing.assert_array_equal(buffer[to], expected)


def test_stochastic_sums_want_a_stream(random):
    a = random.normal(size=(4, 64)).astype(np.float32)
    model, t = 'seq(binary16,sra:8)', halfulp.scaled.encode(a, 'mxfp8_e4m3')
    assert halfulp.Accumulator(model).stochastic and not halfulp.Accumulator('seq(binary16)').stochastic
    inside, across = halfulp.scaled.Sum(inside=model), halfulp.scaled.Sum(across=model)
    for call in (lambda **more: halfulp.gemm(a, a.T, accum=model, **more),
                 lambda **more: halfulp.gemm(a, a.T, accum='promote(16,%s,binary32)' % model, **more),
                 lambda **more: halfulp.dot(a, a, accum=model, **more),
                 lambda **more: halfulp.scaled.gemm(t, t.T, sum=inside, **more),
                 lambda **more: halfulp.scaled.gemm(t, t.T, sum=across, **more)):
        with pytest.raises(ValueError, match='draws random words'):
            call()
        assert not np.array_equal(call(stream=1), call(stream=2))
