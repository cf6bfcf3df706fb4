# SPDX-License-Identifier: MIT
"""The shortcut through quantize and encode (halfulp/_small.py) against the general path, which every option takes."""
import numpy as np
import pytest

import halfulp
from halfulp import _small as small

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, 448.0, 500.0, -1e30, 1e-30, np.inf, -np.inf, np.nan]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and type(a) is type(b)
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.fixture
def general(monkeypatch):
    """Calls without the shortcut: general('quantize', x, ...)."""
    def call(name, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(small, name, lambda *_: None)
            return getattr(halfulp, name)(*arguments, **options)
    return call


def numbers(random, kind, shape=(10, 20)):
    return np.concatenate([SPECIAL, random.normal(size=int(np.prod(shape)) - len(SPECIAL)) * 10]).astype(kind).reshape(shape)


FORMATS = ['float8_e4m3fn', 'float8_e5m2', 'bfloat16', 'fp(3,2,0):fnuz', 'float4_e2m1fn']
MODES = [None, 'rne', 'rtz', halfulp.Mode('rna', saturate='finite')]


@pytest.mark.parametrize('kind', [np.float32, np.float64])
@pytest.mark.parametrize('text', FORMATS)
@pytest.mark.parametrize('mode', MODES)
def test_the_same_bits(random, general, kind, text, mode):
    x = numbers(random, kind)
    for format in (text, halfulp.Format(text)):
        for name in ('quantize', 'encode'):
            same(getattr(small, name)(x, format, mode, None, {}), general(name, x, format, mode))
            same(getattr(halfulp, name)(x, format, mode), general(name, x, format, mode))
        codes = halfulp.encode(x, format, mode)
        wide = np.dtype(kind).name
        same(small.decode(codes, format, wide, None, {}), general('decode', codes, format, dtype=wide))
        same(small.convert(codes, 'float8_e5m2', mode, format, None, {}),
             general('convert', codes, 'float8_e5m2', mode or 'rne', of=format))


@pytest.mark.parametrize('text', ['posit8', 'nf4', 'lns8', 'takum8', 'hifloat8', 'q(3.4)', 'nvfp4', 'mxfp8_e4m3', 'msfp12', 'dsv3_128x128'])
@pytest.mark.parametrize('mode', MODES)
def test_systems_and_scales(random, general, text, mode):
    for shape in ((10, 20), (200,), (2, 5, 20), (20, 1)):
        x = numbers(random, np.float32, shape)
        got = small.quantize(x, text, mode, None, {})
        assert got is not None
        same(got, general('quantize', x, text, mode))


@pytest.mark.parametrize('text', ['float8_e4m3fn', 'posit8', 'mxfp4'])
@pytest.mark.parametrize('options', [{'saturate': 'none'}, {'nan': 'zero', 'tiny': 'before'}, {'threads': 2}, {'threads': 0},
                                     {'stream': 7}, {'stream': halfulp.Stream(3, 9), 'threads': 2}])
def test_options(random, general, text, options):
    x = numbers(random, np.float32)
    mode = 'sra:8' if 'stream' in options else None
    counts = halfulp.Events(), halfulp.Events()
    got = small.quantize(x, text, mode, None, dict(options, events=counts[0]))
    assert got is not None
    same(got, general('quantize', x, text, mode, events=counts[1], **options))
    assert counts[0] == counts[1] and counts[0].any()
    if text == 'float8_e4m3fn':
        same(halfulp.encode(x, text, mode, **options), general('encode', x, text, mode, **options))


@pytest.mark.parametrize('text', ['bfloat16', 'posit8', 'nvfp4'])
def test_out(random, general, text):
    x = numbers(random, np.float32)
    expected, out = general('quantize', x, text), np.empty_like(x)
    assert small.quantize(x, text, None, out, {}) is out and out.tobytes() == expected.tobytes()
    assert small.quantize(x, text, None, x, {}) is x and x.tobytes() == expected.tobytes()
    both = np.zeros(30, np.float32)
    readonly = np.empty(20, np.float32)
    readonly.flags.writeable = False
    for out in (both[5:25], np.empty(20, np.float64), np.empty((4, 5), np.float32), np.empty(40, np.float32)[::2], readonly, 1):
        assert small.quantize(both[:20], text, None, out, {}) is None


def test_one_number(general):
    for x in SPECIAL:
        same(halfulp.quantize(x, 'float8_e4m3fn'), general('quantize', x, 'float8_e4m3fn'))
        same(halfulp.quantize(x, 'posit8'), general('quantize', x, 'posit8'))
    assert small.quantize(0.3, 'float8_e4m3fn', None, None, {}) == 0.3125
    assert small.quantize(float('nan'), 'float8_e4m3fn', None, None, {}) is None
    assert small.quantize(0.3, 'nvfp4', None, None, {}) is None


def test_what_goes_the_general_way(random):
    x = random.normal(size=(4, 6)).astype(np.float32)
    unaligned = np.frombuffer(b'\0' + x.tobytes(), np.uint8)[1:].view(np.float32)
    for y in (x.T, x[:, ::2], x.astype('>f4'), x.astype(np.float16), unaligned, x[:0], x.tolist(), np.float32(1), np.array(1, np.float32),
              np.ma.masked_array(x), 1):
        for name in ('quantize', 'encode'):
            assert getattr(small, name)(y, 'float8_e4m3fn', None, None, {}) is None
    for text in ('s2fp8', 'torch.float8_e4m3fn', 'nothing', np.float16):
        assert small.quantize(x, text, None, None, {}) is None and small.encode(x, text, None, None, {}) is None
    for options in ({'cuda_stream': 0}, {'thread': 2}, {'threads': True}, {'threads': -1}, {'threads': 1 << 20}, {'events': 3},
                    {'saturate': 'other'}, {'saturate': 3}, {'stream': -1, 'threads': 1}, {'stream': 1.5}):
        assert small.quantize(x, 'bfloat16', None, None, options) is None, options
    assert small.quantize(x, 'bfloat16', 'sra:8', None, {}) is None and small.quantize(x, 'bfloat16', 'nonsense', None, {}) is None
    codes = halfulp.encode(x, 'bfloat16')
    for y, format, dtype in ((codes, 'float8_e4m3fn', 'float32'), (codes, None, 'float32'), (codes, 'bfloat16', 'float16'),
                             (codes.T, 'bfloat16', 'float32'), (codes, 'posit16', 'float32')):
        assert small.decode(y, format, dtype, None, {}) is None
    assert small.convert(codes, 'float8_e4m3fn', 'rne', None, None, {}) is None
    assert small.convert(codes, 'posit8', 'rne', 'bfloat16', None, {}) is None


def test_errors_stay():
    with pytest.raises(ValueError, match='HU_E_CARRIER'):
        halfulp.quantize(np.zeros(4, np.float32), 'fp(10,5,0)')
    with pytest.raises(ValueError, match="did you mean 'float8_e4m3fn'"):
        halfulp.quantize(np.zeros(4, np.float32), 'floot8_e4m3fn')
    with pytest.raises(ValueError, match='there are rne'):
        halfulp.encode(np.zeros(4, np.float32), 'bfloat16', 'nonsense')
    with pytest.raises(ValueError, match='stream'):
        halfulp.quantize(np.zeros(4, np.float32), 'bfloat16', 'sra:8')
