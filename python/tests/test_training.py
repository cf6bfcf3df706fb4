# SPDX-License-Identifier: MIT
"""Loss scalers, optimizers and assignments, against NumPy that does the same by docs/training/training.md."""
import pickle

import ml_dtypes
import numpy as np
import pytest

import halfulp
from halfulp.train import Assignment, Found, Layout, LossScaler, Optimizer, scale_of_gmax


def test_gradscaler():
    """torch.amp.GradScaler: half after a bad step, twice after `growth_interval` good ones."""
    scaler = LossScaler('gradscaler(init_scale=1024,growth_interval=3)')
    seen = []
    for bad in (0, 0, 1, 0, 0, 0, 0):
        seen.append((scaler.scale, scaler.update(Found(1.0, bool(bad)))))
    assert seen == [(1024, True), (1024, True), (1024, False), (512, True), (512, True), (512, True), (1024, True)]
    assert scaler.iteration == 7 and scaler.skipped == 1
    other = LossScaler(scaler.rule)
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() and other.scale == 1024
    g = np.float32([2048, -1, 0])
    assert scaler.unscale([g]) == (2.0, False) and list(g) == [2, -1 / 1024, 0]
    assert scaler.unscale([np.float32([np.inf])]).bad
    assert scale_of_gmax(1.0) == 32768.0
    with pytest.raises(ValueError, match='rule: '):
        LossScaler('gradscaler(growth=2)')
    with pytest.raises(TypeError, match=r'gradients\[0\]'):
        scaler.unscale([np.ones(3)])


def brain(x):
    return np.asarray(x, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def test_sgd_in_bfloat16(random):
    w = brain(random.normal(size=300))
    mine, m = w.copy(), np.zeros(300, np.float32)
    optimizer = Optimizer('sgd', 'bfloat16', rate=0.01, momentum=0.9)
    rate, momentum = brain(0.01), brain(0.9)
    for _ in range(5):
        g = brain(random.normal(size=300))
        optimizer.step([w], [g])
        m = brain(brain(momentum * m) + g)
        mine = brain(mine - brain(rate * m))
        np.testing.assert_array_equal(w, mine)
    assert optimizer.steps == 5 and 0 < optimizer.lost < optimizer.moved <= 1500


def test_adamw_going_on(random):
    w, g = random.normal(size=(20, 3)).astype(np.float32), random.normal(size=(20, 3)).astype(np.float32)
    one, two = Optimizer('adamw', 'binary32', decay=0.1), Optimizer('adamw', 'binary32', decay=0.1)
    a, b = w.copy(), w.copy()
    for step in range(4):
        one.step([a], [g])
    two.step([b], [g])
    three = Optimizer('adamw', 'binary32', decay=0.1)
    three.load_state_dict(two.state_dict())
    for step in range(3):
        three.step([b], [g])
    np.testing.assert_array_equal(a, b)
    m = v = np.zeros_like(w)
    x = w.astype(np.float64)
    for t in range(1, 5):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.astype(np.float64) ** 2
        x = x - 1e-3 * ((m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8) + 0.1 * x)
    np.testing.assert_allclose(a, x, rtol=1e-5, atol=1e-6)


def test_nesterov_and_adagrad(random):
    """Against the formulas in binary32, operation by operation; the state continues with the same bits."""
    f = np.float32
    w, g = random.standard_normal(100).astype(f), random.standard_normal((4, 100)).astype(f)
    nesterov, adagrad = Optimizer(momentum=0.5, nesterov=True, rate=0.25), Optimizer('adagrad', rate=0.25)
    one, two, expected, other = w.copy(), w.copy(), w.copy(), w.copy()
    m, v = np.zeros_like(w), np.zeros_like(w)
    for step in g:
        nesterov.step([one], [step])
        m = f(0.5) * m + step
        expected -= f(0.25) * (step + f(0.5) * m)
        adagrad.step([two], [step])
        v = v + step * step
        other -= f(0.25) * (step / (np.sqrt(v) + f(1e-10)))
    assert (one == expected).all() and (two == other).all()
    assert list(adagrad.state_dict()['state'][0]) == ['v']
    again, further = Optimizer('adagrad', rate=0.25), two.copy()
    again.load_state_dict(adagrad.state_dict())
    again.step([further], [g[0]])
    adagrad.step([two], [g[0]])
    assert (further == two).all() and (further != other).any()
    with pytest.raises(ValueError, match='nesterov'):
        Optimizer('adamw', nesterov=True)


def test_stochastic_and_kahan(random):
    """Updates below half a unit: lost by rounding to nearest, kept by the two others."""
    w = np.ones(4000, np.float32)
    g = np.full(4000, 2.0 ** -11, np.float32)
    ends = {}
    for name, more in (('rne', {}), ('sra', {'mode': 'sra:16', 'stream': 5}), ('kahan', {'update': 'kahan'})):
        own = w.copy()
        optimizer = Optimizer('sgd', 'bfloat16', rate=1.0, momentum=0.0, **more)
        for _ in range(16):
            optimizer.step([own], [g])
        ends[name] = own.mean()
    exact = 1 - 2.0 ** -7
    assert ends['rne'] == 1 and abs(ends['kahan'] - exact) < 2e-3 and abs(ends['sra'] - exact) < 1e-3


def test_words_of_a_step(random):
    """Step t of tensor i draws from key + i, counter + t 2^32."""
    w = [brain(random.normal(size=500)) for _ in range(2)]
    optimizer = Optimizer('sgd', 'bfloat16', rate=1.0, momentum=0.0, mode='sra:16', stream=(7, 9))
    for t in (1, 2):
        g = [brain(random.normal(size=500) * 0.01) for _ in w]
        expected = [halfulp.quantize(one - step, 'bfloat16', 'sra:16', stream=(7 + i, 9 + (t << 32)))
                  for i, (one, step) in enumerate(zip(w, g))]
        optimizer.step(w, g)
        for one, other in zip(w, expected):
            np.testing.assert_array_equal(one, other)


def mx_row(x, element, emax):
    """All numbers as one row of MX blocks (docs/scaled.md, section 4: floor): 32 under 2^(floor(log2 amax) - emax);
    ml_dtypes rounds the elements, below and up to their largest number."""
    row, kept = x.ravel(), []
    for at in range(0, row.size, 32):
        block = row[at:at + 32].astype(np.float64)
        amax = np.abs(block).max()
        scale = 2.0 ** max(np.floor(np.log2(amax)) - emax, -127) if amax else 2.0 ** -127
        largest = float(ml_dtypes.finfo(element).max)
        kept.append(np.clip(block / scale, -largest, largest).astype(np.float32).astype(element).astype(np.float64) * scale)
    return np.concatenate(kept).astype(np.float32).reshape(x.shape)


def test_stored_moments(random):
    """AdamW's moments in MX between steps, step by step in NumPy: 37 x 9 numbers are ten blocks and 13 numbers."""
    f = np.float32
    shape = 37, 9
    w = random.normal(size=shape).astype(f)
    optimizer = Optimizer('adamw', stored_m='mxfp8_e4m3', stored_v='mxfp8_e5m2')
    mine, m, v = w.copy(), np.zeros(shape, f), np.zeros(shape, f)
    for t in range(1, 6):
        g = (random.normal(size=shape) * 2.0 ** random.integers(-12, 3, shape)).astype(f)
        optimizer.step([w], [g])
        m = f(0.9) * m + f(1 - float(f(0.9))) * g
        v = f(0.999) * v + f(1 - float(f(0.999))) * (g * g)
        past1, past2 = f(1 - float(f(0.9)) ** t), f(1 - float(f(0.999)) ** t)
        mine = mine - f(1e-3) * ((m / past1) / (np.sqrt(v / past2) + f(1e-8)))
        m, v = mx_row(m, ml_dtypes.float8_e4m3fn, 8), mx_row(v, ml_dtypes.float8_e5m2, 15)
        np.testing.assert_array_equal(w, mine)
        state = optimizer.state_dict()['state'][0]
        np.testing.assert_array_equal(state['m'], m)
        np.testing.assert_array_equal(state['v'], v)
    other, again = Optimizer('adamw', stored_m='mxfp8_e4m3', stored_v='mxfp8_e5m2'), w.copy()
    other.load_state_dict(optimizer.state_dict())
    for one, x in ((optimizer, w), (other, again)):
        one.step([x], [g])
    np.testing.assert_array_equal(w, again)
    assert optimizer.bits(333) == 32 * 333 + 2 * (8 * 333 + 8 * 11) and optimizer.bytes_per_weight == 0
    assert Optimizer('adamw').bits(333) == 96 * 333


def test_stored_moments_errors():
    for kind, what, words in [('sgd', {'stored_v': 'mxfp8_e4m3'}, 'stored_v: this optimizer has no such moment'),
                              ('adagrad', {'stored_m': 'mxfp8_e4m3'}, 'stored_m: this optimizer has no such moment'),
                              ('adamw', {'stored_v': 'dsv3_128x128'}, 'stored_v: blocks of several rows'),
                              ('adamw', {'stored_m': 'mxfp8_e4m3,turned'}, 'stored_m: blocks of several rows'),
                              ('adamw', {'stored_m': 'mxfp8_e4m3,sra:8'}, 'stream: mxfp8_e4m3,sra:8 draws'),
                              ('adamw', {'stored_m': 'mxfp9'}, 'mxfp9')]:
        with pytest.raises(ValueError, match=words):
            Optimizer(kind, **what)


def test_optimizer_errors():
    w = [np.ones(3, np.float32)]
    for call, kind, words in [
            (lambda: Optimizer('adam'), ValueError, 'kind'),
            (lambda: Optimizer('adamw', 'bfloat16'), ValueError, 'beta2'),
            (lambda: Optimizer('sgd', speed=1), TypeError, 'speed'),
            (lambda: Optimizer('sgd', mode='sra:4'), ValueError, 'stream'),
            (lambda: Optimizer().step(w, []), ValueError, 'weights, gradients'),
            (lambda: Optimizer().step(w, [np.ones(4, np.float32)]), ValueError, r'gradients\[0\]'),
            (lambda: Optimizer().step([np.ones(3)], [np.ones(3, np.float32)]), TypeError, r'weights\[0\]'),
            (lambda: Optimizer().step([np.ones((3, 3), np.float32).T[::2]], [np.ones((2, 3), np.float32)]), ValueError,
             'contiguous')]:
        with pytest.raises(kind, match=words):
            call()


def test_assignments():
    layout = Layout([100, 50, 20, 10, 10], [5000, 0, 200, 100], [True, False, True, True])
    assert layout.elements == 2 * (190 + 5300)
    assert Assignment(layout).ratio == (0, 1)
    uniform = Assignment(layout, 'uniform', keep_parameter_gradients=False)
    assert uniform.ratio == (1, 1) and uniform.v.all() and uniform.theta.all()
    half = Assignment(layout, 'demote', ratio='1/2')
    num, den = half.ratio
    low = int((half.v * [100, 50, 20, 10, 10]).sum() + (half.dv * [100, 50, 20, 10, 10]).sum() + (half.theta * [5000,
        0, 200, 100]).sum()
              + (half.dtheta * [5000, 0, 200, 100]).sum())
    assert num / den == low / layout.elements and not half.dtheta[[0, 2, 3]].any()
    twin = pickle.loads(pickle.dumps(half))
    assert twin.layout is not layout and twin.ratio == half.ratio and Assignment(twin.layout, 'operator').ratio == \
        Assignment(layout, 'operator').ratio
    published = Layout([100, 50, 50, 20], [5000, 200, 0], [True, True, False], [0, 0, 2], reading='published')
    for one in (published, pickle.loads(pickle.dumps(published))):
        assert Assignment(one, 'demote', ratio='1/2').theta.tolist() == [1, 1, 0]
    before = half.theta.copy()
    assert half.promote([0] * 5, [5000, 0, 0, 0], '1/100') == int(before[0]) and half.theta[0] == 0
    for call in (lambda: Layout([1, 2], [1, 2], [1, 1]), lambda: Layout([1, 2], [1], [1], reading='text'), lambda: Assignment(layout, 'none'),
                 lambda: Assignment(layout, 'demote', ratio='2'), lambda: Assignment(layout, 'demote', order='x'),
                 lambda: half.promote([1], [1])):
        with pytest.raises(ValueError):
            call()


def test_constants_that_vanish():
    with pytest.raises(ValueError, match=r'eps: .* 1e-08 is 0 there; the smallest above 0 is 2\^-24'):
        Optimizer('adamw', 'binary16')
    with pytest.raises(ValueError, match='beta2: .* 0.999 is 1 there; the largest below 1 is 0.99609375'):
        Optimizer('adamw', 'bfloat16')
    with pytest.raises(ValueError, match='rate: .* is 0 there'):
        Optimizer('sgd', 'binary16', rate=1e-9)
    Optimizer('adamw', 'binary16', eps=1e-7)
    Optimizer('adamw', 'binary16', eps=0)
