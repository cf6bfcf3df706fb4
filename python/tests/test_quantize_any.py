# SPDX-License-Identifier: MIT
"""halfulp.quantize takes every text that the command takes: each result is that of the call for its kind alone."""
import numpy as np
import pytest

import halfulp
from halfulp import number, scaled


def matrix(random):
    return random.normal(size=(6, 64)).astype(np.float32)


@pytest.mark.parametrize('text', ['nvfp4', 'mxfp8_e4m3', 'bfp(7,8,16)', 'fp8_tensor'])
def test_scaled_formats(random, text):
    x = matrix(random)
    expected = scaled.quantize(x, text)
    np.testing.assert_array_equal(halfulp.quantize(x, text), expected)
    np.testing.assert_array_equal(halfulp.quantize(x, halfulp.Scaling(text)), expected)
    np.testing.assert_array_equal(halfulp.quantize(x.reshape(2, 3, 64), text), expected.reshape(2, 3, 64))
    np.testing.assert_array_equal(halfulp.quantize(x.T, text), scaled.quantize(np.ascontiguousarray(x.T), text))
    assert not np.array_equal(halfulp.quantize(x, text), x)


def test_shifted_and_squeezed(random):
    x = matrix(random)
    np.testing.assert_array_equal(halfulp.quantize(x, 's2fp8'), halfulp.s2fp8_encode(x).decode())
    np.testing.assert_array_equal(halfulp.quantize(x, 's2fp8', 'rtz'), halfulp.s2fp8_encode(x, mode='rtz').decode())


@pytest.mark.parametrize('text', ['posit8', 'q(3.4)', 'nf4', 'lns(8,3)', 'takum16', 'takum_linear(12)', 'hifloat8', 'dynamic8_bnb'])
@pytest.mark.parametrize('kind', [np.float32, np.float64])
def test_number_systems(random, text, kind):
    x = matrix(random).astype(kind)
    expected = number.quantize(x, text)
    got = halfulp.quantize(x, text)
    assert got.dtype == kind
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(halfulp.quantize(x, halfulp.Number(text)), expected)
    assert halfulp.quantize(0.3, text) == number.quantize(0.3, text)


@pytest.mark.parametrize('name', ['mx.mxfp4', 'te.nvfp4', 'tt.bfp4.packer'])
def test_presets_of_scaled_formats(random, name):
    x, p = matrix(random), halfulp.preset(name)
    expected = scaled.quantize(x, p)
    assert p.has_steps == (expected != scaled.quantize(x, p.scaling, p.mode)).any()
    np.testing.assert_array_equal(halfulp.quantize(x, name), expected)
    np.testing.assert_array_equal(halfulp.quantize(x, p), expected)
    with pytest.raises(ValueError, match='nothing may stand beside it'):
        halfulp.quantize(x, name, 'rtz')


def test_options_reach_the_call(random):
    x, stream = matrix(random), halfulp.Stream(5, 7)
    out, events, same = np.empty_like(x), halfulp.Events(), halfulp.Events()
    assert halfulp.quantize(x, 'nvfp4', 'sra:8', out=out, stream=stream, events=events) is out
    np.testing.assert_array_equal(out, scaled.quantize(x, 'nvfp4', 'sra:8', stream=stream, events=same))
    assert events == same and events.any()
    for text in ('nvfp4', 's2fp8', 'posit8'):
        with pytest.raises(ValueError, match='stream'):
            halfulp.quantize(x, text, 'sra:8')
    halfulp.quantize(x, 's2fp8', out=out)
    np.testing.assert_array_equal(out, halfulp.quantize(x, 's2fp8'))


@pytest.mark.parametrize('text, words', [
    ('nvfp5', "did you mean 'nvfp4'"), ('posit_8', "did you mean 'posit8'"), ('e4m3', "'e4m3' is ambiguous; one of float8_e4m3fn"),
    ('rtz', 'is a rounding mode'), ('float8_e4m3fn,sra:8', 'a mode is an argument of its own'),
    ('mx.mxfp5', "did you mean 'mx.mxfp4'"),
])
def test_wrong_texts(random, text, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words):
        halfulp.quantize(matrix(random), text)


def test_wrong_operands(random):
    with pytest.raises(TypeError, match='is no float32 and would be rounded twice'):
        halfulp.quantize(matrix(random).astype(np.float64) * 0.1, 'nvfp4')
    with pytest.raises(TypeError, match='round_tensor'):
        halfulp.quantize(matrix(random), halfulp.Rounding('nvfp4'))
    assert halfulp.quantize(np.zeros((0, 4), np.float32), 'nvfp4').shape == (0, 4)
    assert halfulp.quantize(matrix(random).astype(np.float16), 'nvfp4').dtype == np.float32
