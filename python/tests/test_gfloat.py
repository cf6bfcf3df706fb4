# SPDX-License-Identifier: MIT
"""gfloat's values and roundings: the same except for what docs/python.md lists, which is tested too."""
import gfloat
import gfloat.formats as known
import numpy as np
import pytest

import halfulp

PAIRS = {'float8_e4m3fn': known.format_info_ocp_e4m3, 'float8_e5m2': known.format_info_ocp_e5m2,
         'float4_e2m1fn': known.format_info_ocp_e2m1, 'float6_e2m3fn': known.format_info_ocp_e2m3,
         'float6_e3m2fn': known.format_info_ocp_e3m2, 'binary16': known.format_info_binary16,
         'bfloat16': known.format_info_bfloat16}
NO_NAN = ('float4_e2m1fn', 'float6_e2m3fn', 'float6_e3m2fn')
MODES = {'rne': gfloat.RoundMode.TiesToEven, 'rna': gfloat.RoundMode.TiesToAway, 'rtz': gfloat.RoundMode.TowardZero,
         'rtp': gfloat.RoundMode.TowardPositive, 'rtn': gfloat.RoundMode.TowardNegative}


def same(a, b):
    np.testing.assert_array_equal(a, b)
    zero = np.asarray(a) == 0
    np.testing.assert_array_equal(np.signbit(a)[zero], np.signbit(b)[zero])


@pytest.mark.parametrize('name', sorted(PAIRS) + ['float8_e8m0fnu'])
def test_decode_every_code(name):
    info = PAIRS.get(name, known.format_info_ocp_e8m0)
    codes = np.arange(1 << halfulp.Format(name).width)
    same(gfloat.decode_ndarray(info, codes), halfulp.Format(name).values())


def operands(name, random):
    format = halfulp.Format(name)
    values = np.unique(format.values()[np.isfinite(format.values())])
    if len(values) > 2000:
        values = np.unique(np.concatenate([values[:20], values[-20:], random.choice(values, 2000)]))
    half = (values[1:] + values[:-1]) / 2
    top = format.max
    return np.concatenate([values, half, np.nextafter(half, 0), np.nextafter(half, np.inf),
                           [0.0, -0.0, np.inf, -np.inf, format.min / 4],
                           top * np.float64([1.01, 1.03125, 1.3, 2, -1.01, -2])])


@pytest.mark.parametrize('mode', sorted(MODES))
@pytest.mark.parametrize('name', sorted(PAIRS))
def test_round(name, mode, random):
    x = operands(name, random)
    for saturate in (True, False):
        if name in NO_NAN and not saturate:
            with pytest.raises(ValueError):  # gfloat has no answer there; here `none` of these formats is max
                gfloat.round_ndarray(PAIRS[name], x, MODES[mode], saturate)
            continue
        theirs = gfloat.round_ndarray(PAIRS[name], x, MODES[mode], saturate)
        same(halfulp.quantize(x, name, mode, saturate='finite' if saturate else 'none'), theirs)


@pytest.mark.parametrize('k, p, signed, extended', [(8, 4, 1, 1), (8, 4, 1, 0), (8, 3, 1, 1), (6, 3, 1, 0), (8, 1, 0,
    0), (7, 4, 0, 1)])
def test_p3109_values(k, p, signed, extended):
    info = known.format_info_p3109(k, p, gfloat.Signedness.Signed if signed else gfloat.Signedness.Unsigned,
                                   gfloat.Domain.Extended if extended else gfloat.Domain.Finite)
    name = 'binary{}p{}{}{}'.format(k, p, 's' if signed else 'u', 'e' if extended else 'f')
    same(gfloat.decode_ndarray(info, np.arange(1 << k)), halfulp.Format(name).values())


def test_differences():
    """A NaN into a format without: refused by one call of gfloat, kept by another. E8M0 gets values that it lacks."""
    with pytest.raises(ValueError):
        gfloat.round_float(PAIRS['float4_e2m1fn'], float('nan'), sat=True)
    assert np.isnan(gfloat.round_ndarray(PAIRS['float4_e2m1fn'], np.float64([np.nan]), MODES['rne'], True)).all()
    assert halfulp.quantize(np.nan, 'float4_e2m1fn') == 6
    info = known.format_info_ocp_e8m0
    assert gfloat.round_float(info, 0.0) == 0.0 and halfulp.quantize(0.0, 'float8_e8m0fnu') == 2.0 ** -127
    assert gfloat.round_float(info, -4.0) == -4.0 and np.isnan(halfulp.quantize(-4.0, 'float8_e8m0fnu',
                                                                                saturate='none'))
