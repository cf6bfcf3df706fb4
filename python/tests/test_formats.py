# SPDX-License-Identifier: MIT
"""Formats, modes, streams and events as objects."""
import copy
import pickle

import numpy as np
import pytest

import halfulp
from halfulp import Events, Format, Mode, Stream


def test_fields():
    f = Format(e=4, m=3, b=4, finite=True)
    assert (f.max, f.min, f.bias, f.width, f.storage, f.dtype) == (30.0, 2.0 ** -13, 11, 8, 8, np.uint8)
    assert not f.has_nan and not f.has_inf and f.nan_code is None and f.inf_code is None
    g = Format('float8_e4m3fn')
    assert (g.max, g.min, g.min_normal, g.nan_code, g.finite_codes, g.nan_codes) == (448.0, 2.0 ** -9, 2.0 ** -6, 0x7F,
        254, 2)
    assert g == Format(e=4, m=3, fn=True) == Format('fp(4,3,0):fn') and g != f and hash(g) == hash(Format(g))
    assert g.text == 'fp(4,3,0):fn' and g.name == str(g) == 'float8_e4m3fn' and repr(g) == "Format('float8_e4m3fn')"
    assert Format(e=8, m=0, unsigned=True, suffix='zero=none,sub=none,inf=none,nan=top,ovf=nan').low > 0
    assert Format(np.float16) == Format('binary16') and Format(np.dtype('float32')) == Format('binary32')
    assert pickle.loads(pickle.dumps(f)) == f


def test_catalogue():
    rows = halfulp.formats()
    assert len(rows) > 100 and all(row.source for row in rows)
    for row in rows:
        assert Format(row.name) == row.format and Format(row.format.text) == row.format
        for alias in row.aliases:
            assert Format(alias) == row.format


def test_table():
    rows = Format('float4_e2m1fn').table()
    assert [row.value for row in rows] == [0.0, 0.5, 1, 1.5, 2, 3, 4, 6, 0.0, -0.5, -1, -1.5, -2, -3, -4, -6]
    assert rows[0].kind == '+0' and rows[1].kind == '+subnormal' and rows[2].kind == '+normal' and rows[8].kind == '-0'
    assert rows[9].bits == '1001'
    assert [row.kind for row in Format('float8_e5m2').table()[0x7B:0x80]] == ['+normal', '+inf', 'nan', 'nan', 'nan']
    with pytest.raises(ValueError, match='2\\^32 codes'):
        Format('binary32').values()


def test_fits():
    """`fits` against the values themselves."""
    half = set(Format('binary16').values()[np.isfinite(Format('binary16').values())])
    brain = set(Format('bfloat16').values()[np.isfinite(Format('bfloat16').values())])
    for row in halfulp.formats():
        if row.format.width > 16:
            continue
        values = row.format.values()
        values = set(values[np.isfinite(values)])
        assert row.format.fits('binary16') == (values <= half), row.name
        assert row.format.fits('bfloat16') == (values <= brain), row.name


@pytest.mark.parametrize('text, word', [('fp(4,31,0)', 'm: more than 30'), ('fp(4,3', 'at its end'),
                                        ('nobody', 'nothing has this name'), ('fp(4,3,0):fn,fn', "from 'fn' on"),
                                        ('a\0b', 'grammar')])
def test_format_errors(text, word):
    with pytest.raises(ValueError, match=word) as caught:
        Format(text)
    assert str(caught.value).startswith('format: ') and caught.value.status in str(caught.value) and caught.value.status


def test_format_misuse():
    for wrong in (lambda: Format(), lambda: Format(e=4), lambda: Format('binary16', b=1), lambda: Format(np.int32),
                  lambda: Format(np.float64), lambda: Format(object()), lambda: Format(e=4, m=3, fn=True, fnuz=True)):
        with pytest.raises(TypeError):
            wrong()


def test_modes():
    mode = Mode('sra:8', saturate='finite', nan='zero', tiny='before')
    assert (mode.round, mode.saturate, mode.nan, mode.tiny, mode.bits, mode.stochastic) == ('sra:8', 'finite', 'zero',
        'before', 8, True)
    assert mode == Mode('sr:8', saturate='finite', nan='zero',
                        tiny='before') and pickle.loads(pickle.dumps(mode)) == mode
    assert repr(Mode('rtz')) == "Mode('rtz')" and "saturate='finite'" in repr(mode)
    for wrong in (lambda: Mode('rn'), lambda: Mode('sra:33'), lambda: Mode(saturate='x'), lambda: Mode(nan='x'),
                  lambda: Mode(tiny='x')):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(TypeError):
        Mode(3)
    # Parts replaced in a call.
    assert halfulp.quantize(1e9, 'float8_e5m2', 'rne', saturate='finite') == 57344.0
    assert halfulp.quantize(1e9, 'float8_e5m2', mode) == 57344.0 if not mode.stochastic else True
    assert np.isinf(halfulp.quantize(1e9, 'float8_e5m2', Mode('rne', saturate='finite'), saturate='none'))


def test_stream():
    stream = Stream(2, 5)
    words = stream.words(10)
    assert words.dtype == np.uint32 and (stream.after(4).words(6) == words[4:]).all()
    assert Stream(1, 2 ** 64 - 1).after(1).counter == 0
    # Philox4x32-10 of key 0, counter 0: Random123's known answer.
    assert [hex(word) for word in Stream(0).words(4)] == ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    with pytest.raises(ValueError):
        Stream(-1).words(1)


def test_events():
    counts = Events(inexact=2)
    halfulp.quantize(np.float32([0.1, 1.0, 1e9, np.nan]), 'float8_e5m2', events=counts)
    assert counts == Events(inexact=4, overflow=1, nan_in=1)
    assert dict(counts)['overflow'] == 1 and counts.any() and not Events().any()
    total = counts + Events(overflow=1)
    assert total.overflow == 2 and counts.overflow == 1 and pickle.loads(pickle.dumps(total)) == total
    counts.clear()
    assert counts == Events() and repr(total) == 'Events(overflow=2, inexact=4, nan_in=1)'
    with pytest.raises(TypeError):
        Events(wrong=1)
    with pytest.raises(ValueError):
        Events(inexact=-1)


@pytest.mark.parametrize('row', halfulp.formats(), ids=lambda row: row.name)
def test_figures_as_finfo_has_them(row):
    f = row.format
    assert (f.bits, f.tiny, f.smallest_normal, f.smallest_subnormal) == (f.width, f.min_normal, f.min_normal, f.min)
    if f.width > 16:
        return
    values = np.unique(f.values()[np.isfinite(f.values())])
    above = values[values > 1]
    assert f.eps == (above[0] - 1 if 1 in values and above.size else None)
    assert (f.max, f.low) == (values[-1], values[0])


@pytest.mark.parametrize('kind', [np.float16, np.float32])
def test_figures_of_numpy_s_types(kind):
    f, info = Format(kind), np.finfo(kind)
    for name in ('bits', 'eps', 'tiny', 'smallest_normal', 'smallest_subnormal', 'max'):
        assert getattr(f, name) == float(getattr(info, name)), name
    assert f.low == info.min and Format('float8_e4m3fn').eps == 0.125 and Format('float8_e8m0fnu').eps == 1


def test_watch_is_a_value():
    made = [halfulp.Watch(), halfulp.Watch()]
    ones = np.ones((1, 3000), np.float16)
    for watch in made:
        halfulp.gemm(ones, ones.T, accum='seq(binary16)', watch=watch)
    assert made[0] == made[1] != halfulp.Watch() and made[0] != 1
    for again in (copy.copy(made[0]), copy.deepcopy(made[0]), pickle.loads(pickle.dumps(made[0]))):
        assert again == made[0] and (again.additions, again.swamped, again.gap) == (3000, 952, 11)
        halfulp.gemm(ones, ones.T, accum='seq(binary16)', watch=again)
        assert again != made[0] and again.additions == 2 * made[0].additions
    with pytest.raises(TypeError, match='unhashable'):
        hash(made[0])
