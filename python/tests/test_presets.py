# SPDX-License-Identifier: MIT
"""Conversions as other programs do them, from Python: held against those programs where they are installed."""
import pickle

import ml_dtypes
import numpy as np
import pytest

import halfulp


def operands(random):
    bits = random.integers(0, 2 ** 32, 50000, dtype=np.uint32).view(np.float32)  # NaN with payloads among them
    return np.concatenate([bits, (random.normal(size=20000) * np.exp(random.uniform(-20, 12, 20000))).astype(np.float32),
                           np.float32([0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 464, 465, 57344, 61440])])


@pytest.mark.parametrize('name,kind', [('ml_dtypes.float8_e4m3fn', ml_dtypes.float8_e4m3fn),
                                       ('ml_dtypes.float8_e5m2', ml_dtypes.float8_e5m2),
                                       ('ml_dtypes.float8_e8m0fnu', ml_dtypes.float8_e8m0fnu),
                                       ('ml_dtypes.bfloat16', ml_dtypes.bfloat16), ('numpy.float16', np.float16)])
@pytest.mark.parametrize('of', [np.float32, np.float64])
def test_the_bits_of_that_program(name, kind, of, random):
    with np.errstate(invalid='ignore'):
        x = operands(random).astype(of)
    if of == np.float64:
        x = np.concatenate([x, np.nextafter(1 + 2.0 ** -np.arange(2, 12), 2)])  # rounded twice by ml_dtypes
    with np.errstate(all='ignore'):
        expected = x.astype(kind)
    codes = halfulp.encode(x, name)
    np.testing.assert_array_equal(codes, halfulp.as_codes(expected))
    assert not np.array_equal(codes, halfulp.encode(x, halfulp.preset(name).format))  # it does something of its own
    np.testing.assert_array_equal(halfulp.quantize(x, name), expected.astype(of))
    np.testing.assert_array_equal(halfulp.encode(x[::-3], halfulp.preset(name), threads=2), codes[::-3])
    out = x.copy()
    assert halfulp.quantize(out, name, out=out) is out
    np.testing.assert_array_equal(out, expected.astype(of))


def test_narrow_operands(random):
    with np.errstate(invalid='ignore'):
        x = operands(random).astype(ml_dtypes.bfloat16)
    x = x[~np.isnan(x)]
    expected = x.astype(ml_dtypes.float8_e5m2)
    np.testing.assert_array_equal(halfulp.encode(x, 'ml_dtypes.float8_e5m2'), halfulp.as_codes(expected))
    made = halfulp.quantize(x, 'ml_dtypes.float8_e5m2')
    assert made.dtype == x.dtype
    np.testing.assert_array_equal(made, expected.astype(x.dtype))
    with pytest.raises(TypeError, match='out: an array of float32 instead of bfloat16'):
        halfulp.quantize(x, 'ml_dtypes.float8_e5m2', out=np.empty(x.shape, np.float32))
    codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e5m2)
    np.testing.assert_array_equal(halfulp.encode(codes[:120], 'ml_dtypes.float8_e4m3fn'),
                                  halfulp.as_codes(codes[:120].astype(ml_dtypes.float8_e4m3fn)))


def test_list():
    rows = halfulp.presets()
    assert len(rows) > 60 and {row.name.partition('.')[0] for row in rows} >= {'cuda', 'torch', 'ml_dtypes', 'qtorch'}
    for row in rows:
        assert halfulp.preset(row.name) == row and pickle.loads(pickle.dumps(row)) == row and row.stands and row.tested
    own = halfulp.preset('qtorch.float(5,3)')
    assert (own.format.e, own.format.m) == (5, 3)
    events = halfulp.Events()
    halfulp.quantize(np.float32([1e9, 1.1]), 'torch.float8_e5m2', events=events)
    assert (events.overflow, events.inexact) == (1, 2)


def test_scaled_presets(random):
    x = random.normal(size=(8, 64)).astype(np.float32)
    rows = [row for row in halfulp.presets() if row.scaling]
    assert rows
    for row in rows:
        with pytest.raises(ValueError, match='scaled tensor'):
            halfulp.encode(x, row)
        made = halfulp.scaled.encode(x, row)
        assert made.scaling.element == row.format and made.scaling == halfulp.Scaling(row.scaling)
        if not row.has_steps:
            np.testing.assert_array_equal(made.codes, halfulp.scaled.encode(x, row.scaling, row.mode).codes)
        values = made.decode()
        np.testing.assert_array_equal(halfulp.scaled.quantize(x, row), values)
        np.testing.assert_array_equal(halfulp.quantize(x, row.name), values)
    assert sum(row.has_steps for row in rows) == 7
    with pytest.raises(ValueError, match='nothing may stand beside it'):
        halfulp.scaled.encode(x, rows[0], 'rtz')
    for more in ({'mode': 'rne'}, {'saturate': 'none'}, {'nan': 'zero'}, {'tiny': 'after'}):
        for call in (halfulp.scaled.encode, halfulp.scaled.quantize):
            with pytest.raises(ValueError, match='nothing may stand beside it'):
                call(x, rows[0], **more)
    with pytest.raises(ValueError, match='is no scaled tensor'):
        halfulp.scaled.quantize(x, halfulp.preset('torch.bfloat16'))


def test_two_step_packer():
    """1.9921875 becomes 2 in E8M6, and the block's exponent with it; the codes are the packer's bytes."""
    made = halfulp.scaled.encode(np.float32([[1.9921875, 1.2421875, 0.0390625, -0.001953125]]), halfulp.preset('tt.bfp8.packer'))
    assert made.codes.tolist() == [[0x40, 0x28, 1, 0]] and made.scales.tolist() == [[128]]


def test_chains_of_roundings(random):
    x = np.float32(1 + random.random(20000))
    halves = halfulp.quantize(x, 'binary16', 'rtz')
    path = halfulp.preset('path(binary16:rtz,float8_e4m3fn)')
    np.testing.assert_array_equal(halfulp.encode(x, path), halfulp.encode(halves, 'float8_e4m3fn'))
    np.testing.assert_array_equal(halfulp.quantize(x, path.name), halfulp.quantize(halves, 'float8_e4m3fn'))
    assert path.rounds_before and not path.once.rounds_before and pickle.loads(pickle.dumps(path)) == path
    np.testing.assert_array_equal(halfulp.encode(x, path.once), halfulp.encode(x, 'float8_e4m3fn'))
    three = 'path(bfloat16,fp(5,4,0):rna,float8_e4m3fn:rtp)'
    step = halfulp.quantize(halfulp.quantize(x, 'bfloat16'), 'fp(5,4,0)', 'rna')
    np.testing.assert_array_equal(halfulp.encode(x, three), halfulp.encode(step, 'float8_e4m3fn', 'rtp'))
    made = halfulp.compare(x, ['path(bfloat16,float8_e4m3fn)', three, 'torch.bfloat16', 'nvfp4'])
    expected = [np.count_nonzero(halfulp.encode(halfulp.quantize(x, 'bfloat16'), 'float8_e4m3fn') != halfulp.encode(x, 'float8_e4m3fn')),
                np.count_nonzero(halfulp.encode(x, three) != halfulp.encode(x, 'float8_e4m3fn', 'rtp')), None, None]
    assert [row.rounded_twice for row in made] == expected and expected[0] > 0 and 'rounded_twice' in str(made)
    assert 'rounded_twice' not in str(halfulp.compare(x, ['nvfp4', 'binary16']))
    for text, words in (('path(binary16,bfloat17)', "from 'bfloat17"), ('path(binary16', 'at its end'),
                        ('path(binary16:sra:8,bfloat16)', 'HU_E_MODE'), ('path(binary16:rt,bfloat16)', "from 'rt,")):
        with pytest.raises(ValueError, match=words):
            halfulp.encode(x, text)
    with pytest.raises(ValueError, match='nothing may stand beside it'):
        halfulp.encode(x, three, 'rtz')


def test_refused():
    for more, words in (({'mode': 'rne'}, 'mode'), ({'saturate': 'none'}, 'saturate'), ({'nan': 'zero'}, 'nan'),
                        ({'tiny': 'before'}, 'tiny')):
        for call in (halfulp.quantize, halfulp.encode):
            with pytest.raises(ValueError, match=words + ': the preset torch.float8_e4m3fn'):
                call(1.0, 'torch.float8_e4m3fn', **more)
    for name in ('torch.float8', 'qtorch.float(9,9)'):
        with pytest.raises(ValueError, match='presets\\(\\) lists them'):
            halfulp.quantize(1.0, name)
    with pytest.raises(ValueError, match='grammar'):
        halfulp.quantize(1.0, 'nobody.float8')
