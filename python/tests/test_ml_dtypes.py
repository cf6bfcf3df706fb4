# SPDX-License-Identifier: MIT
"""Casts of ml_dtypes and NumPy: the same bits except for what docs/python.md lists, which is tested too."""
import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp.format import CODE_DTYPES, Format

NAMES = [name for name in CODE_DTYPES if name != 'float8_e8m0fnu']
NO_NAN = ('float6_e2m3fn', 'float6_e3m2fn', 'float4_e2m1fn')


def dtype(name):
    return np.dtype(np.float16 if name == 'float16' else getattr(ml_dtypes, name))


def midpoints(name):
    """Values, numbers halfway between them, and their neighbours among the float32 numbers."""
    values = np.unique(Format(dtype(name)).values())
    values = values[np.isfinite(values)]
    half = np.concatenate([values, (values[1:] + values[:-1]) / 2,
                           [values[-1] + (values[-1] - values[-2]) / 2]]).astype(np.float32)
    return np.concatenate([half, np.nextafter(half, np.float32(0)), np.nextafter(half, np.float32(np.inf)),
                           np.float32([np.inf, -np.inf, 0.0, -0.0])])


def all_of(kind):
    x = np.arange(65536, dtype=np.uint16).view(kind)
    with np.errstate(invalid='ignore'):
        return x[~np.isnan(x)]


def cast(x, name):
    with np.errstate(all='ignore'):
        return np.asarray(x).astype(dtype(name))


def same_codes(x, name):
    """Codes, where the result is no NaN; NaN at the same places."""
    theirs, ours = cast(x, name), halfulp.encode(x, dtype(name), saturate='none')
    assert ours.dtype == theirs.dtype
    nan = np.isnan(theirs.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(ours.astype(np.float32)), nan)
    np.testing.assert_array_equal(halfulp.as_codes(ours)[~nan], halfulp.as_codes(theirs)[~nan])
    return np.size(x)


@pytest.mark.parametrize('name', NAMES)
def test_decode_every_code(name):
    format = Format(dtype(name))
    codes = np.arange(1 << format.width, dtype=format.dtype)
    with np.errstate(invalid='ignore'):
        theirs = codes.view(dtype(name)).astype(np.float64)
    np.testing.assert_array_equal(halfulp.decode(codes, format, dtype='float64'), theirs)  # NaN equals NaN here
    np.testing.assert_array_equal(np.signbit(halfulp.decode(codes, format))[theirs == 0],
                                  np.signbit(theirs)[theirs == 0])


@pytest.mark.parametrize('name', NAMES)
def test_encode(name, random):
    bits = random.integers(0, 2 ** 32, 200000, dtype=np.uint32).view(np.float32)
    size = (random.normal(size=100000) * np.exp(random.uniform(-20, 12, 100000))).astype(np.float32)
    seen = sum(same_codes(x, name) for x in (bits[~np.isnan(bits)], size, midpoints(name), all_of(np.float16),
                                             all_of(ml_dtypes.bfloat16)))
    assert seen > 400000


@pytest.mark.parametrize('to', NAMES)
@pytest.mark.parametrize('of', [name for name in NAMES if name not in ('float16', 'bfloat16')])
def test_convert_every_code(of, to):
    codes = np.arange(1 << Format(of).width, dtype=np.uint8).view(dtype(of))
    x = codes[~np.isnan(codes.astype(np.float32))]
    np.testing.assert_array_equal(halfulp.as_codes(halfulp.convert(x, dtype(to), saturate='none')),
                                  halfulp.as_codes(cast(x, to)))


@pytest.mark.parametrize('name', [name for name in NAMES if name not in NO_NAN])
def test_nan(name):
    """A NaN is the canonical NaN here; ml_dtypes keeps sign and, in bfloat16 and float16, the payload."""
    ours = halfulp.encode(np.float32([np.nan, -np.nan]), dtype(name))
    assert (halfulp.as_codes(ours) == Format(dtype(name)).nan_code).all()
    assert np.isnan(cast(np.float32([np.nan, -np.nan]), name).astype(np.float32)).all()


@pytest.mark.parametrize('name', NO_NAN)
def test_nan_into_a_format_without(name):
    """max here, or +0 by nan="zero"; a zero in ml_dtypes, whose sign is the inverse of the NaN's."""
    x = np.float32([np.nan, np.copysign(np.nan, np.float32(-1))])
    assert (halfulp.encode(x, name) == Format(name).max_code).all() and (halfulp.encode(x, name, nan='zero') == 0).all()
    assert (cast(x, name).astype(np.float32) == 0).all()


def test_default_saturation():
    """Formats without infinities saturate here by default (OCP MX); ml_dtypes overflows to NaN (`saturate="none"`)."""
    assert halfulp.quantize(1e9, 'float8_e4m3fn') == 448.0 and np.isnan(cast(np.float32(1e9),
                                                                             'float8_e4m3fn').astype(np.float32))
    assert np.isnan(halfulp.quantize(1e9, 'float8_e4m3fn', saturate='none'))


@pytest.mark.parametrize('name', [name for name in NAMES if name != 'float16'])
def test_float64_is_rounded_once(name):
    """float64 is rounded once here, and goes through float32 in ml_dtypes: just above a tie that is another result."""
    tie = 1 + 2.0 ** -(Format(dtype(name)).m + 1)
    above = np.nextafter(tie, 2)
    format = Format(dtype(name))
    assert halfulp.quantize(above, format) == 1 + 2.0 ** -format.m
    assert float(cast(np.float64([above]), name).astype(np.float64)[0]) == 1.0


def test_float64_to_float16_is_numpys(random):
    x = random.normal(size=200000) * np.exp(random.uniform(-30, 14, 200000))
    same_codes(x, 'float16')
    same_codes(np.nextafter(midpoints('float16').astype(np.float64), np.inf), 'float16')


def test_e8m0():
    """Values of E8M0 come back; between them ml_dtypes rounds ties up where the exponent's parity decides here,
    rounds what is below float32's normal numbers up, and has NaN for zero, here the smallest value."""
    kind, format = np.dtype(ml_dtypes.float8_e8m0fnu), Format('float8_e8m0fnu')
    codes = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(halfulp.decode(codes, format, dtype='float64'), codes.view(kind).astype(np.float64))
    x = (np.float32(2) ** np.arange(-120, 127, dtype=np.float32))[:, None] * np.float32([1, 1.25, 1.4999, 1.5001, 1.75])
    x = x.reshape(-1)
    np.testing.assert_array_equal(halfulp.encode(x, format, saturate='none'), cast(x, 'float8_e8m0fnu').view(np.uint8))
    assert list(halfulp.encode(np.float32([1.5, 3.0]), format)) == [128, 128]
    assert list(cast(np.float32([1.5, 3.0]), 'float8_e8m0fnu').view(np.uint8)) == [128, 129]
    small = np.float32([2.0 ** -127 * 1.25])
    assert halfulp.encode(small, format)[0] == 0 and cast(small, 'float8_e8m0fnu').view(np.uint8)[0] == 1
    assert halfulp.encode(np.float32([0]), format, saturate='none')[0] == 0
    assert cast(np.float32([0]), 'float8_e8m0fnu').view(np.uint8)[0] == 255
