# SPDX-License-Identifier: MIT
"""halfulp.quantize takes every text that the command takes: each result is that of the call for its kind alone."""
import warnings

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
    ('rtz', 'is a rounding mode'), ('float8_e4m3fn,sra:8', 'stream: sra:8 draws random words'),
    ('float8_e4m3fn,sr', 'stochastic rounding is sra:N'), ('float8_e4m3fn,turned', 'follow the grammar'),
    ('mx.mxfp5', "did you mean 'mx.mxfp4'"), ('scaled(nf4;scale=binary32;block=1x64)', "'nf4' is a number system, and the elem.*N.7"),
    ('scaled(table(-1,0,1);scale=binary32;block=1x64)', r"'table.-1,0,1.' is a number system"),
    ('scaled(q(3.4);scale=binary32)', r"'q.3.4.' is a number system"), ('scaled(fp9;scale=binary32)', 'fp9'),
])
def test_wrong_texts(random, text, words):
    with pytest.raises(halfulp.HalfulpValueError, match=words):
        halfulp.quantize(matrix(random), text)


def test_wrong_operands(random):
    with pytest.raises(TypeError, match='is no float32 and would be rounded twice'):
        halfulp.quantize(matrix(random).astype(np.float64) * 0.1, 'nvfp4')
    assert halfulp.quantize(np.zeros((0, 4), np.float32), 'nvfp4').shape == (0, 4)
    assert halfulp.quantize(matrix(random).astype(np.float16), 'nvfp4').dtype == np.float32


def test_a_text_may_hold_the_mode(random):
    """The texts of round_tensor and halfulp.torch mean the same here."""
    x, stream = matrix(random) * 300, halfulp.Stream(9, 1)
    for text, kind, mode, more in (('float8_e4m3fn,sra:8', 'float8_e4m3fn', 'sra:8', {}),
                                   ('float8_e4m3fn,rtz,sat=none', 'float8_e4m3fn', 'rtz', {'saturate': 'none'}),
                                   ('float8_e4m3fn,sat=none', 'float8_e4m3fn', 'rne', {'saturate': 'none'}),
                                   ('nvfp4,sra:8', 'nvfp4', 'sra:8', {}), ('posit8,rtz', 'posit8', 'rtz', {}),
                                   ('s2fp8,rtz', 's2fp8', 'rtz', {}), ('fp(4,3,0):fn,ovf=max,rtz', 'fp(4,3,0):fn,ovf=max', 'rtz', {})):
        got = halfulp.quantize(x, text, stream=stream)
        np.testing.assert_array_equal(got, halfulp.quantize(x, kind, mode, stream=stream, **more))
        np.testing.assert_array_equal(got, halfulp.round_tensor(x, text, stream=stream))
        assert not np.array_equal(got, halfulp.quantize(x, kind))
        with pytest.raises(ValueError, match='mode: format .* says itself how it rounds'):
            halfulp.quantize(x, text, 'rne', stream=stream)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(halfulp.quantize(wide, 'float8_e4m3fn,rtz'), halfulp.quantize(wide, 'float8_e4m3fn', 'rtz'))
    np.testing.assert_array_equal(halfulp.encode(x, 'float8_e4m3fn,rtz'), halfulp.encode(x, 'float8_e4m3fn', 'rtz'))
    np.testing.assert_array_equal(scaled.quantize(x, 'mxfp4,rtz'), scaled.quantize(x, 'mxfp4', 'rtz'))
    row, = halfulp.compare(x, ['nvfp4,rtz'])
    assert row.format == 'nvfp4,rtz' and row._replace(format='nvfp4') == halfulp.compare(x, ['nvfp4'], 'rtz')[0]


@pytest.mark.parametrize('text', ['keep', 'float8_e5m2,over=inf,nan=keep', 'float8_e5m2,rtz,over=inf', 'nvfp4,turned'])
def test_texts_of_whole_tensors(random, text):
    x = matrix(random) * 30000
    x[0, :2] = np.nan, np.inf
    events, same = halfulp.Events(), halfulp.Events()
    got = halfulp.quantize(x.reshape(2, 3, 64), text, events=events)
    np.testing.assert_array_equal(got.reshape(6, 64), halfulp.round_tensor(x, text, events=same))
    np.testing.assert_array_equal(halfulp.quantize(x, halfulp.Rounding(text)), got.reshape(6, 64))
    assert events == same
    with pytest.raises(TypeError, match='says itself how it rounds; beside it are stream, events and threads'):
        halfulp.quantize(x, text, saturate='none')
    assert halfulp.compare(x, [text])[0].bits == pytest.approx(halfulp.Rounding(text).bits(6, 64) / x.size)


@pytest.mark.parametrize('text', ['nvfp4', 'mxfp8_e4m3,sra:8', 'hifloat4', 'mx.mxfp4', 'scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=2x8;rule=floor)'])
def test_blocks_lie_along_axis(random, text):
    """Each line along the axis is rounded as a row of its own; joined axes are one line."""
    x = np.float32(random.normal(size=(4, 64, 3, 5)) * np.exp(random.normal(size=(4, 1, 3, 1))))
    more = {'stream': 3} if 'sra' in text else {}
    for axis in (1, 2, -1, (1, 2, 3), (3, 1), [0, 2]):
        order = [axis] if isinstance(axis, int) else list(axis)
        order = [n % 4 for n in order]
        rest = [n for n in range(4) if n not in order]
        moved = x.transpose(rest + order)
        rows = moved.reshape(int(np.prod([x.shape[n] for n in rest])), -1)
        expected = halfulp.quantize(rows, text, **more).reshape(moved.shape).transpose(np.argsort(rest + order))
        got = halfulp.quantize(x, text, axis=axis, **more)
        assert got.flags.c_contiguous and got.dtype == np.float32
        np.testing.assert_array_equal(got, expected)
        out = np.empty_like(x)
        assert halfulp.quantize(x, text, axis=axis, out=out, **more) is out
        np.testing.assert_array_equal(out, expected)
    assert not np.array_equal(halfulp.quantize(x, text, axis=1, **more), halfulp.quantize(x, text, axis=-1, **more))


def test_blocks_along_the_first_axis_draw_words_in_order(random):
    x = np.float32(random.normal(size=(64, 6)))
    got = halfulp.quantize(x, 'mxfp4,sra:8', axis=0, stream=3)
    np.testing.assert_array_equal(got, halfulp.round_tensor(x, 'mxfp4,sra:8,turned', stream=3))
    np.testing.assert_array_equal(halfulp.quantize(x.reshape(64, 2, 3), 'mxfp4,sra:8', axis=0, stream=3), got.reshape(64, 2, 3))
    np.testing.assert_array_equal(halfulp.quantize(x, 'mxfp4', axis=0), halfulp.quantize(np.array(x.T, order='C'), 'mxfp4').T)


@pytest.mark.parametrize('text', ['float8_e4m3fn', 'posit8', 's2fp8'])
def test_axis_of_what_has_no_blocks(random, text):
    x = matrix(random)
    np.testing.assert_array_equal(halfulp.quantize(x, text, axis=0), halfulp.quantize(x, text))
    for axis, kind, words in ((2, ValueError, 'axis: 2 is not -2 to 1'), ((0, 0), ValueError, 'are not different axes'),
                              ((), ValueError, 'are not different axes'), ('x', TypeError, 'axis: a whole number')):
        with pytest.raises(kind, match=words):
            halfulp.quantize(x, text, axis=axis)


@pytest.mark.parametrize('text', ['mxfp4', 'nvfp4', 'hbfp8'])
def test_axis_of_nothing(text):
    for shape in ((0, 5), (5, 0), (0, 0)):
        assert halfulp.quantize(np.zeros(shape, np.float32), text, axis=0).shape == shape


def test_blocks_along_a_kernel_are_warned_of(random):
    x = np.float32(random.normal(size=(4, 16, 3, 3)))
    for text in ('nvfp4', 'mx.mxfp4', 'hifloat4'):
        with pytest.warns(UserWarning, match='x: blocks lie along the last of 4 axes, of 3 elements.*axis=1 is the chan') as seen:
            halfulp.quantize(x, text)
        assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match="^conv: blocks lie along the last of 4 axes, of 3 elements"):
        halfulp.compare({'conv': x, 'linear': x.reshape(4, -1)}, ['bfloat16', 'nvfp4'])
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        halfulp.quantize(x, 'float8_e4m3fn'), halfulp.quantize(x, 'fp8_tensor'), halfulp.quantize(x[0], 'nvfp4')
        halfulp.quantize(x, 'nvfp4', axis=-1), halfulp.compare(x, ['nvfp4'], axis=1)
