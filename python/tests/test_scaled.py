# SPDX-License-Identifier: MIT
"""Scaled tensors, number systems, Hadamard transforms, S2FP8 and whole-tensor roundings."""
import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp import number, scaled

SCALINGS = [row.name for row in halfulp.scalings()] + [row.name for row in halfulp.rules() if row.scaling]
NUMBERS = [row.name for row in halfulp.numbers()]


@pytest.fixture
def x(random):
    return (random.normal(size=(6, 130)) * np.exp(random.normal(size=(6, 1)) * 3)).astype(np.float32)


@pytest.mark.parametrize('name', SCALINGS)
def test_encode_decode_quantize(name, x):
    kind, events, more = halfulp.Scaling(name), halfulp.Events(), halfulp.Events()
    t = scaled.encode(x, name, stats=True, events=events)
    sizes = kind.sizes(*x.shape)
    assert t.scales.shape == t.stats.shape == (sizes.block_rows,
                                               sizes.block_cols) and (t.tensor is not None) == kind.two_level
    values = scaled.quantize(x, kind, events=more)
    np.testing.assert_array_equal(t.decode(), values)
    first = 'rna(' in kind.text or 'rnz(' in kind.text  # rounded into the format before the rounding that counts
    assert events == more and (events.inexact > 0) != first
    assert int(t.stats['to_zero'].sum()) == events.to_zero
    np.testing.assert_array_equal(scaled.quantize(np.asfortranarray(x), name), values)
    np.testing.assert_array_equal(t.T.decode(), values.T)
    out = x.copy()
    assert scaled.quantize(out, name, out=out) is out
    np.testing.assert_array_equal(out, values)
    np.testing.assert_array_equal(scaled.quantize(x, name, threads=4), values)
    if kind.element.width <= 8:
        assert t.packed().size == sizes.packed


def test_mx_by_hand(x):
    """OCP MX v1.0 section 6.3 in NumPy: shared exponent floor(log2 amax) - emax, elements rne, saturated."""
    full = x[:, :128].reshape(-1, 32)
    for name, element, emax in (('mxfp8_e4m3', ml_dtypes.float8_e4m3fn, 8), ('mxfp4', ml_dtypes.float4_e2m1fn, 2),
                                ('mxfp6_e3m2', ml_dtypes.float6_e3m2fn, 4)):
        scale = np.exp2(np.floor(np.log2(np.abs(full).max(axis=1, keepdims=True))) - emax)
        top = float(ml_dtypes.finfo(element).max)
        expected = np.clip(full / scale, -top, top).astype(element).astype(np.float32) * scale
        np.testing.assert_array_equal(scaled.quantize(full, name), expected)


def test_amax_and_mode(x):
    kept = scaled.quantize(x, 'fp8_tensor', amax=float(np.abs(x).max()))
    np.testing.assert_array_equal(kept, scaled.quantize(x, 'fp8_tensor'))
    assert (scaled.quantize(x, 'fp8_tensor', amax=1.0) != kept).any()
    one = scaled.quantize(x, 'mxfp4', 'sra:8', stream=3)
    np.testing.assert_array_equal(one, scaled.encode(x, 'mxfp4', 'sra:8', stream=3).decode())
    with pytest.raises(ValueError, match='HU_E_SCALING'):
        scaled.quantize(x, 'mxfp4', amax=1.0)


def test_gemm(x):
    a, b = scaled.encode(x, 'mxfp8_e4m3'), scaled.encode(x[:4], 'mxfp8_e4m3')
    exact = halfulp.gemm(a.decode(), b.decode().T)
    decoded = scaled.gemm(a, b.T, sum=scaled.Sum('decoded', 'exact'))
    np.testing.assert_array_equal(decoded, exact)
    parts = scaled.gemm(a, b.T)
    assert parts.shape == (6, 4)
    np.testing.assert_allclose(parts, exact, rtol=1e-4, atol=1e-3 * np.abs(exact).max())
    parts_exact = scaled.gemm(a, b.T, sum=scaled.Sum('parts', 'exact', 'exact'))
    np.testing.assert_allclose(parts_exact, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())
    plain = scaled.gemm(x, b.T, sum=scaled.Sum('decoded', 'fp32'))
    np.testing.assert_array_equal(plain, halfulp.gemm(x, b.decode().T, accum='fp32'))
    c = np.ones((6, 4), np.float32)
    np.testing.assert_array_equal(scaled.gemm(a, b.T, c, sum=scaled.Sum('decoded', 'exact')),
                                  halfulp.gemm(a.decode(), b.decode().T, c))
    t = scaled.gemm(a, b.T, to=halfulp.Scaling('mxfp8_e4m3'))
    np.testing.assert_array_equal(t.decode(), scaled.quantize(parts, 'mxfp8_e4m3'))
    assert scaled.gemm(a, b.T, to=ml_dtypes.bfloat16).dtype == ml_dtypes.bfloat16
    for call, words in [(lambda: scaled.gemm(a, b), 'b: 4 rows instead of 130'),
                        (lambda: scaled.gemm(a, b.T, sum=scaled.Sum('x')), 'sum: '),
                        (lambda: scaled.gemm(a, b.T, np.ones((2, 2), np.float32)), 'c: shape'),
                        (lambda: scaled.gemm(a._replace(scales=a.scales[:1]), b.T), 'x.scales')]:
        with pytest.raises(ValueError, match=words):
            call()


def test_catalogues():
    for row in halfulp.scalings():
        assert halfulp.Scaling(row.scaling.text) == row.scaling and row.source
    for row in halfulp.rules():
        assert row.source and (row.open if row.scaling is None else halfulp.Scaling(row.scaling.text) == row.scaling)
    with pytest.raises(ValueError, match='vllm.nvfp4.cuda.*has no text: It uses rcp.approx'):
        halfulp.Scaling('vllm.nvfp4.cuda')
    for row in halfulp.numbers():
        assert halfulp.Number(row.number.text) == row.number and row.source
    assert halfulp.Scaling('mxfp4').block == (1, 32) and halfulp.Scaling('mxfp4').turned().block == (32, 1)
    with pytest.raises(ValueError, match='scaling: '):
        halfulp.Scaling('mxfp5')


@pytest.mark.parametrize('name', NUMBERS)
def test_numbers(name, x):
    system = halfulp.Number(name)
    values = number.quantize(x, system)
    codes = number.encode(x.T, name)
    assert codes.dtype == system.dtype
    np.testing.assert_array_equal(number.decode(codes, name), values.T)
    if system.width <= 16:
        grid = system.values()
        assert np.isin(values.astype(np.float64), grid.astype(np.float32).astype(np.float64)).all()
    np.testing.assert_array_equal(number.encode(x.astype(ml_dtypes.bfloat16), name),
                                  number.encode(x.astype(ml_dtypes.bfloat16).astype(np.float32), name))


def test_posit_by_hand():
    """posit(3,0) by the standard's rule: regime only. 0, 1/2, 1, 2, NaR, -2, -1, -1/2."""
    system = halfulp.Number('posit(3,0)')
    values = system.values()
    assert list(values[:4]) == [0, 0.5, 1, 2] and np.isnan(values[4]) and list(values[5:]) == [-2, -1, -0.5]
    assert list(number.quantize([1e-9, 100.0, -0.7], system)) == [0.5, 2, -0.5]
    with pytest.raises(TypeError, match='codes: codes of'):
        number.decode(np.zeros(3, np.uint16), system)
    with pytest.raises(ValueError, match='number: '):
        halfulp.Number('posit(1,0)')
    table = halfulp.Number('table(0,0.25,1)')
    assert list(number.quantize([0.3, 9.0, -9.0], table)) == [0.25, 1, 0]
    np.testing.assert_array_equal(number.convert(np.uint8([0, 1, 2]), 'float8_e4m3fn', table),
                                  halfulp.encode(np.float32([0, 0.25, 1]), 'float8_e4m3fn'))


@pytest.mark.parametrize('n', [16, 32, 64, 128])
@pytest.mark.parametrize('norm', ['root', 'power', 'sum'])
def test_hadamard(n, norm, random):
    x = random.integers(-8, 8, (3, 256)).astype(np.float32)
    sylvester = np.array([[1]])
    while len(sylvester) < n:
        sylvester = np.block([[sylvester, sylvester], [sylvester, -sylvester]])
    signs = 0xD7E8D7E8
    s = np.array([-1 if signs >> (j % 32) & 1 else 1 for j in range(n)])
    k = n.bit_length() - 1
    c = {'root': np.float32(n ** -0.5), 'power': np.float32(n ** -0.5 if n in (16, 64) else 2.0 ** -(k // 2)),
         'sum': np.float32(1)}[norm]
    expected = (x.reshape(3, -1, n) * s @ sylvester).reshape(3, -1).astype(np.float32) * c
    z = halfulp.hadamard(x, n, norm=norm, signs=[signs] * (n // 32 or 1))
    np.testing.assert_array_equal(z, expected)
    np.testing.assert_array_equal(halfulp.hadamard(x.T, n, axis='columns', norm=norm, signs=[signs] * (n // 32 or 1)),
                                  z.T)
    back = halfulp.hadamard(z, n, norm=norm, signs=[signs] * (n // 32 or 1), inverse=True)
    np.testing.assert_allclose(back, x, atol=1e-4)
    with pytest.raises(ValueError, match='HU_E_SHAPE'):
        halfulp.hadamard(x[:, :100], n)
    with pytest.raises(ValueError, match='stream'):
        halfulp.hadamard(x, n, signs='stream')
    with pytest.raises(ValueError, match='signs: 32 bits for 256 elements'):
        halfulp.hadamard(x, n, signs=1, whole=True)


def test_s2fp8_and_roundings(x):
    t = halfulp.s2fp8_encode(x)
    values = halfulp.round_tensor(x, 's2fp8')
    np.testing.assert_array_equal(t.decode(), values)
    assert t.alpha > 0 and np.abs(values).max() == np.abs(x).max()
    np.testing.assert_array_equal(halfulp.s2fp8_encode(x, scale=(t.mu, t.m)).codes, t.codes)
    np.testing.assert_array_equal(halfulp.round_tensor(x, 'float8_e5m2'), halfulp.quantize(x, 'float8_e5m2'))
    np.testing.assert_array_equal(halfulp.round_tensor(x, 'mxfp4'), scaled.quantize(x, 'mxfp4'))
    np.testing.assert_array_equal(halfulp.round_tensor(x, 'mxfp4,turned'),
                                  scaled.quantize(x, halfulp.Scaling('mxfp4').turned()))
    np.testing.assert_array_equal(halfulp.round_tensor(x, 'posit8'), number.quantize(x, 'posit8'))
    np.testing.assert_array_equal(halfulp.round_tensor(x, 'float8_e5m2,sra:4', stream=(3, 5)),
                                  halfulp.quantize(x, 'float8_e5m2', 'sra:4', stream=(3, 5)))
    events = halfulp.Events()
    halfulp.round_tensor(x, 'float8_e5m2', events=events)
    assert events.inexact > 0 and halfulp.Rounding('float8_e5m2').bits(2, 3) == 48
    with pytest.raises(ValueError, match='stream'):
        halfulp.round_tensor(x, 'float8_e5m2,sra:4')
    with pytest.raises(ValueError, match='rounding: '):
        halfulp.Rounding('nothing')


def searched(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A block of mxfp8_e4m3 as docs/scaled.md section 4.6 has it: its values. Some element counts."""
    counted = np.abs(x[(weights != 0) & (x != 0)]).astype(np.float64)
    first, last = (next(e for e in range(-127, 128) if y <= 448 * 2.0**e) for y in (counted.min(), counted.max()))
    best, least = None, np.inf
    for e in range(max(first - 1, -127), last + 1):
        values = halfulp.quantize(np.float64(x) / 2.0**e, 'float8_e4m3fn', saturate='finite') * 2.0**e
        error = 0.0
        for value, v, w in zip(values, np.float64(x), np.float64(weights)):
            error += w * ((value - v) * (value - v)) if w else 0
        if error < least:
            best, least = values, error
    return np.float32(best)


def test_importance():
    """Scales of the least weighted error, by columns and by elements; what is refused."""
    rng = np.random.default_rng(7)
    x = (rng.normal(size=(5, 64)) * np.exp2(rng.integers(-9, 9, (5, 64)))).astype(np.float32)
    columns, elements = rng.uniform(0, 1, 64).astype(np.float32), rng.integers(0, 4, (5, 64)).astype(np.float32)
    for weights in (columns, elements):
        want = [np.concatenate([searched(row[k:k + 32], each[k:k + 32]) for k in (0, 32)])
                for row, each in zip(x, np.broadcast_to(weights, x.shape))]
        made = scaled.encode(x, 'mxfp8_e4m3', importance=weights, stats=True)
        assert np.array_equal(made.decode(), np.array(want))
        assert np.array_equal(scaled.quantize(x, 'mxfp8_e4m3', importance=weights), np.array(want))
        assert np.array_equal(made.stats['scale'], made.scales)
    assert not np.array_equal(made.scales, scaled.encode(x, 'mxfp8_e4m3').scales)
    assert np.array_equal(scaled.quantize(x[0], 'mxfp4', importance=columns), scaled.quantize(x, 'mxfp4', importance=columns)[0])
    for wrong, says in ((columns[:63], 'importance: '), (-columns, 'from 0 up'), (np.full(64, np.inf, np.float32), 'from 0 up'),
                        (elements[:4], 'importance: ')):
        with pytest.raises(halfulp.HalfulpValueError, match=says):
            scaled.encode(x, 'mxfp4', importance=wrong)
    with pytest.raises(halfulp.HalfulpValueError, match='importance'):
        scaled.encode(x, 'mxfp4', importance=columns, amax=1.0)
    with pytest.raises(halfulp.HalfulpValueError, match='HU_E_SCALING|do not go together'):
        scaled.encode(x, 'nvfp4', importance=columns)
