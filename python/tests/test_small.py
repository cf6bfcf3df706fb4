# SPDX-License-Identifier: MIT
"""The short way through quantize and encode (halfulp/_small.py) against the general way, which every option takes."""
import numpy as np
import pytest

import halfulp
from halfulp import _small as small

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, 448.0, 500.0, -1e30, 1e-30, np.inf, -np.inf, np.nan]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and type(a) is type(b)
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize('kind', [np.float32, np.float64])
@pytest.mark.parametrize('text', ['float8_e4m3fn', 'float8_e5m2', 'bfloat16', 'fp(3,2,0):fnuz', 'float4_e2m1fn'])
@pytest.mark.parametrize('mode', [None, 'rne', 'rtz', halfulp.Mode('rna', saturate='finite')])
def test_the_same_bits(random, kind, text, mode):
    x = np.concatenate([SPECIAL, random.normal(size=188) * 10]).astype(kind).reshape(10, 20)
    for format in (text, halfulp.Format(text)):
        same(small.quantize(x, format, mode), halfulp.quantize(x, format, mode, threads=1))
        same(small.encode(x, format, mode), halfulp.encode(x, format, mode, threads=1))
        same(halfulp.quantize(x, format, mode), small.quantize(x, format, mode))
        same(halfulp.encode(x, format, mode), small.encode(x, format, mode))


def test_one_number():
    for x in SPECIAL:
        same(halfulp.quantize(x, 'float8_e4m3fn'), halfulp.quantize(x, 'float8_e4m3fn', threads=1))
    assert small.quantize(0.3, 'float8_e4m3fn', None) == 0.3125
    assert small.quantize(float('nan'), 'float8_e4m3fn', None) is None


def test_what_goes_the_general_way(random):
    x = random.normal(size=(4, 6)).astype(np.float32)
    unaligned = np.frombuffer(b'\0' + x.tobytes(), np.uint8)[1:].view(np.float32)
    for y in (x.T, x[:, ::2], x.astype('>f4'), x.astype(np.float16), unaligned, x[:0], x.tolist(), np.float32(1),
              np.ma.masked_array(x), 1):
        assert small.quantize(y, 'float8_e4m3fn', None) is None and small.encode(y, 'float8_e4m3fn', None) is None
    for text in ('nvfp4', 'posit8', 's2fp8', 'torch.float8_e4m3fn', 'nothing', np.float16):
        assert small.quantize(x, text, None) is None and small.encode(x, text, None) is None
    assert small.quantize(x, 'bfloat16', 'sra:8') is None and small.quantize(x, 'bfloat16', 'nonsense') is None


def test_errors_stay():
    with pytest.raises(ValueError, match='HU_E_CARRIER'):
        halfulp.quantize(np.zeros(4, np.float32), 'fp(10,5,0)')
    with pytest.raises(ValueError, match="did you mean 'float8_e4m3fn'"):
        halfulp.quantize(np.zeros(4, np.float32), 'floot8_e4m3fn')
    with pytest.raises(ValueError, match='there are rne'):
        halfulp.encode(np.zeros(4, np.float32), 'bfloat16', 'nonsense')
    with pytest.raises(ValueError, match='stream'):
        halfulp.quantize(np.zeros(4, np.float32), 'bfloat16', 'sra:8')
