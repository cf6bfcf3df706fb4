# SPDX-License-Identifier: MIT
"""HiFloat4 from Python: values by the bytes of blocks, computed here a second time; names; errors."""
import numpy as np
import pytest

import halfulp


def values(t):
    """What docs/scaled.md and halfulp/scaled.h say of codes and bytes."""
    place = np.arange(t.codes.shape[-1])
    scale = t.scales[..., place // 64, :].astype(np.int64)
    eights = scale[..., 1] >> place % 64 // 8 & 1
    fours = np.where(place % 64 < 32, scale[..., 2], scale[..., 3]) >> place % 32 // 4 & 1
    s = np.ldexp(1 + scale[..., 0] % 4 / 4, scale[..., 0] // 4 - 48)
    made = s * 2.0 ** (eights + fours) * (t.codes & 7) / 4 * np.where(t.codes & 8, -1, 1)
    return np.where(scale[..., 0] == 255, np.nan, made).astype(np.float32)


@pytest.mark.parametrize('kind', ['hifloat4', 'hifloat4_cann', 'hifloat4_hifx', 'hifloat4(ties=away;low=nan)'])
def test_values(kind):
    rng = np.random.default_rng(4)
    x = (rng.normal(size=(3, 2, 150)) * 2.0 ** rng.integers(-9, 9, (3, 2, 1))).astype(np.float32)
    x[1, 1, :64], x[2, 0, 70] = 0, np.inf
    events = halfulp.Events()
    t = halfulp.hifloat4_encode(x, kind, events=events)
    assert t.codes.shape == x.shape and t.scales.shape == (3, 2, 3, 4)
    z = t.decode()
    np.testing.assert_array_equal(z, values(t))
    np.testing.assert_array_equal(halfulp.quantize(x, kind), z)
    good = np.isfinite(z)
    assert np.abs(z[good] - x[good]).max() <= np.abs(x[good]).max() / 8
    assert events.inexact > 500 and events.inf_in == 1
    assert np.isnan(z[1, 1, :64]).all() == (kind in ('hifloat4_cann', 'hifloat4(ties=away;low=nan)'))
    assert np.isnan(z[2, 0, 64:128]).all() and not np.isnan(z[0]).any()


def test_compare():
    row, = halfulp.compare(np.ones((4, 128), np.float32), ['hifloat4'])
    assert row.bits == 4.5


def test_shapes():
    assert halfulp.hifloat4_encode(np.full(5, 7, np.float32)).decode().tolist() == [7] * 5
    empty = halfulp.hifloat4_encode(np.ones((2, 0), np.float32))
    assert empty.scales.shape == (2, 0, 4) and empty.decode().shape == (2, 0)


@pytest.mark.parametrize('call, says', [
    (lambda: halfulp.hifloat4_encode([1.0], 'hifloat4(ties=odd)'), "from 'odd)' on"),
    (lambda: halfulp.hifloat4_encode(np.float32(1)), 'x: a number alone'),
    (lambda: halfulp.quantize(np.ones(4, np.float32), 'hifloat4', 'rtz'), 'mode: hifloat4'),
    (lambda: halfulp.Format('hifloat4'), 'halfulp.hifloat4_encode take it'),
    (lambda: halfulp.hifloat4_encode(np.ones(65, np.float32))._replace(scales=np.zeros((1, 4), np.uint8)).decode(),
     'scales: shape'),
])
def test_errors(call, says):
    with pytest.raises(halfulp.HalfulpValueError) as why:
        call()
    assert says in str(why.value)
