# SPDX-License-Identifier: MIT
"""Muon against an evaluator in whole numbers and fractions, which was written from docs/training/training.md ("Muon") alone:
every product, sum and rounding in the order of the page."""
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from halfulp import Stream
from halfulp.train import LossScaler, Net, Optimizer

# Digits of the significand, and the exponent of the smallest number.
FORMATS = {'binary32': (24, -149), 'bfloat16': (8, -133), 'binary16': (11, -24), 'float8_e5m2': (3, -16)}


def nearest(x, digits, lowest):
    """A fraction rounded to so many digits, ties to even, with 2^lowest as the smallest step. Nothing here overflows."""
    if x == 0:
        return Fraction(0)
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    step = Fraction(2) ** max(exponent - digits + 1, lowest)
    down = size // step
    rest = size - down * step
    up = rest * 2 > step or (rest * 2 == step and down % 2)
    return (down + up) * step * (1 if x > 0 else -1)


def root64(x):
    """The binary64 root of a binary64 number."""
    if x == 0:
        return x
    shift = 2 * (110 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    whole = isqrt(int(x * Fraction(2) ** shift))
    exact = Fraction(whole) / Fraction(2) ** (shift // 2)
    return nearest(exact if exact * exact == x else exact + Fraction(1, 2 ** (shift // 2 + 1)), 53, -1074)


class Page:
    """The step of the page, of a matrix of fractions."""

    def __init__(self, product='binary32', sums='fp32', state='binary32', rate=0.02, momentum=0.95, nesterov=True,
                 iterations=5, factor=lambda inputs, outputs: max(1, outputs / inputs) ** 0.5, decay=0.0):
        self.sums, self.nesterov, self.iterations, self.factor = sums, nesterov, iterations, factor
        self.product, self.state = FORMATS[product], FORMATS[state]
        self.rate, self.momentum, self.decay = (self.q(Fraction(x)) for x in (rate, momentum, decay))
        self.a, self.b, self.c, self.e = (self.rn(Fraction(x)) for x in ('3.4445', '-4.775', '2.0315', '1e-7'))

    @staticmethod
    def rn(x):
        return nearest(x, *FORMATS['binary32'])

    def p(self, x):
        return nearest(self.rn(x), *self.product)

    def q(self, x):
        return nearest(self.rn(x), *self.state)

    def dot(self, xs, ys):
        """fp32: fma in increasing k from +0; seq(bfloat16): the same, each sum rounded to bfloat16 once."""
        total = Fraction(0)
        for x, y in zip(xs, ys):
            total = nearest(total + x * y, *FORMATS['binary32' if self.sums == 'fp32' else 'bfloat16'])
        return self.p(total)

    def times(self, x, y):
        columns = list(zip(*y))
        return [[self.dot(row, column) for column in columns] for row in x]

    def each(self, function, *matrices):
        return [[function(*numbers) for numbers in zip(*rows)] for rows in zip(*matrices)]

    def orthogonal(self, d):
        x = self.each(self.p, d)
        partial = [Fraction(0)] * 16
        for i, number in enumerate(number for row in x for number in row):
            partial[i % 16] = nearest(partial[i % 16] + number * number, 53, -1074)
        for half in (8, 4, 2, 1):
            for k in range(half):
                partial[k] = nearest(partial[k] + partial[k + half], 53, -1074)
        t = self.rn(self.rn(root64(partial[0])) + self.e)
        x = self.each(lambda number: self.p(number / t), x)
        tall = len(x) > len(x[0])
        x = [list(row) for row in zip(*x)] if tall else x
        for _ in range(self.iterations):
            square = self.times(x, list(zip(*x)))
            s = self.times(self.each(lambda number: self.p(self.c * number), square), square)
            b = self.each(lambda number, other: self.p(self.p(self.b * number) + other), square, s)
            x = self.each(lambda number, other: self.p(self.p(self.a * number) + other), x, self.times(b, x))
        return [list(row) for row in zip(*x)] if tall else x

    def step(self, w, g, m, outputs_first):
        """New weights and momentum."""
        m = self.each(lambda old, new: self.q(self.q(self.momentum * old) + new), m, g)
        d = self.each(lambda new, old: self.q(new + self.q(self.momentum * old)), g, m) if self.nesterov else m
        rows, cols = len(w), len(w[0])
        f = self.q(Fraction(self.factor(*((cols, rows) if outputs_first else (rows, cols)))))
        u = self.each(lambda number: self.q(f * number), self.orthogonal(d))
        if self.decay:
            u = self.each(lambda number, weight: self.q(number + self.q(self.decay * weight)), u, w)
        return self.each(lambda weight, number: self.q(weight - self.q(self.rate * number)), w, u), m


def fractions(x):
    return [[Fraction(float(number)) for number in row] for row in x]


def floats(x):
    return np.array([[float(number) for number in row] for row in x], np.float32)


CASES = [
    (dict(), dict()),
    (dict(product='bfloat16'), dict(product='bfloat16')),
    (dict(product='bfloat16', sums='seq(bfloat16)'), dict(product='bfloat16', accum='seq(bfloat16)')),
    (dict(product='binary16', nesterov=False, decay=0.25), dict(product='binary16', nesterov=False, decay=0.25)),
    (dict(state='bfloat16', product='bfloat16', iterations=3,
          factor=lambda inputs, outputs: 0.2 * max(inputs, outputs) ** 0.5),
     dict(format='bfloat16', iterations=3, aspect='rms')),
    (dict(product='float8_e5m2', iterations=1, factor=lambda inputs, outputs: 1),
     dict(product='float8_e5m2', iterations=1, aspect='one')),
]


@pytest.mark.parametrize('case', range(len(CASES)))
@pytest.mark.parametrize('shape, outputs_first', [((3, 5), False), ((5, 3), True), ((5, 2), False), ((4, 4), False)])
def test_the_page(random, case, shape, outputs_first):
    page, options = Page(**CASES[case][0]), dict(CASES[case][1])
    optimizer = Optimizer('muon', options.pop('format', 'binary32'), outputs_first=outputs_first, **options)
    w = floats(page.each(page.q, fractions(random.normal(size=shape))))
    mine, m = fractions(w), fractions(np.zeros(shape))
    for _ in range(2):
        g = floats(page.each(page.q, fractions(random.normal(size=shape) * 0.1)))
        optimizer.step([w], [g])
        mine, m = page.step(mine, fractions(g), m, outputs_first)
        np.testing.assert_array_equal(w, floats(mine))
        np.testing.assert_array_equal(optimizer.state_dict()['state'][0]['m'], floats(m))


def test_near_orthogonal(random):
    """The update of a matrix with singular values far apart has all of them near 1."""
    w, g = np.zeros((12, 30), np.float32), random.normal(size=(12, 30)).astype(np.float32)
    g *= 0.6 ** np.arange(12, dtype=np.float32)[:, None]
    Optimizer('muon', rate=1.0, product='bfloat16', aspect='one').step([w], [g])
    singular = np.linalg.svd(w, compute_uv=False)
    assert 0.6 < singular.min() and singular.max() < 1.3 and (w * g).sum() < 0


def test_going_on(random):
    """A saved state continues with the same bits, with a stored momentum, too."""
    g = random.normal(size=(4, 9, 6)).astype(np.float32)
    make = lambda: Optimizer('muon', stored_m='mxfp8_e4m3,sra:8', stream=(3, 4))  # noqa: E731
    one, a = make(), np.ones((9, 6), np.float32)
    for step in g[:2]:
        one.step([a], [step])
    two, b = make(), a.copy()
    two.load_state_dict(one.state_dict())
    for step in g[2:]:
        one.step([a], [step])
        two.step([b], [step])
    np.testing.assert_array_equal(a, b)
    assert one.bits(54) == 54 * (32 + 8) + 2 * 8


def test_in_a_net(random):
    """Matrices of products, except for one that is left out, move by Muon, all others by AdamW."""
    x, y = random.normal(size=(8, 6)).astype(np.float32), random.integers(0, 4, 8)
    moved = {}
    for name, left in (('all', None), ('without', 'linear3.weight')):
        net = Net('mlp(layers=2,units=5)', batch=8, width=6, outputs=4, seed=1)
        before = {key: value.copy() for key, value in net.parameters().items()}
        if left:
            net.leave_to_adamw(left)
        net.forward(x, y)
        net.backward()
        net.update(Optimizer('muon', rate=0.5, rate_adamw=2.0 ** -10), LossScaler('none'))
        assert net.moment_counts('linear1.weight')[0].elements == 0
        moved[name] = {key: np.abs(value - before[key]).max() for key, value in net.parameters().items()}
    assert len(moved['all']) == 6
    for key in moved['all']:  # a first step of AdamW is the rate at most
        small = [bool(moved[name][key] < 2.0 ** -9) for name in ('all', 'without')]
        assert small == [key.endswith('bias'), key.endswith('bias') or key == 'linear3.weight'], key


def test_rules_of_parameters(random):
    """A first step of AdamW moves a weight by the rate, unless a rule of its own says otherwise; a decay of 0 does not move it more."""
    x, y = random.normal(size=(8, 6)).astype(np.float32), random.integers(0, 4, 8)
    net = Net('mlp(layers=1,units=5)', batch=8, width=6, outputs=4, seed=1)
    before = {key: value.copy() for key, value in net.parameters().items()}
    net.set_rules('*', decay=0)
    net.set_rules(['*.bias', 'linear2.*'], rate=4, decay=0)
    net.forward(x, y)
    net.backward()
    net.update(Optimizer('adamw', rate=2.0 ** -10, eps=1e-20, decay=0.5), LossScaler('none'))
    for key, value in net.parameters().items():
        moved = np.abs(value - before[key]).max()
        assert moved == pytest.approx(2.0 ** (-10 if key == 'linear1.weight' else -8), rel=1e-4), key
    with pytest.raises(ValueError, match='linear1.bias'):
        net.set_rules('linear1.bias', rate=-1)


def test_lazy_rows(random):
    """A row without a gradient keeps weights and moments; others move as they do in any case."""
    x, y = random.normal(size=(8, 6)).astype(np.float32), random.integers(0, 4, 8)
    x[:, 2], x[:, 3] = 0, 0
    after = {}
    for lazy in False, True:
        net = Net('linear', batch=8, width=6, outputs=4, seed=1)
        before = net.parameters()['linear1.weight'].copy()
        net.set_rules('*', lazy=lazy)
        optimizer = Optimizer('adamw', rate=2.0 ** -6, decay=0.5, format='bfloat16', beta2=0.99, eps=1e-6, mode='sra:9', stream=Stream(3, 0))
        for _ in range(2):
            net.forward(x, y)
            net.backward()
            net.update(optimizer, LossScaler('none'))
        after[lazy] = net.parameters()['linear1.weight']
    kept = np.array([2, 3])
    np.testing.assert_array_equal(after[True][kept], before[kept])
    assert not (after[False][kept] == before[kept]).all()
    others = np.array([0, 1, 4, 5])
    np.testing.assert_array_equal(after[True][others], after[False][others])


@pytest.mark.parametrize('form', ['binary32', 'bfloat16'])
def test_first_sum_of_adagrad(form):
    """Sums begin with the number in the state's format, in a step of arrays and in a net."""
    first = 1 + 2.0 ** -9
    optimizer = Optimizer('adagrad', form, accumulated=first, rate=1)
    w, g = np.ones(3, np.float32), np.array([0.5, 0, -2], np.float32)
    optimizer.step([w], [g])
    sums = (first if form == 'binary32' else 1) + g * g
    if form == 'bfloat16':
        sums = sums.astype(np.float32)
    np.testing.assert_array_equal(optimizer.state_dict()['state'][0]['v'], sums)
    net = Net('linear', batch=1, width=1, outputs=2, seed=1)
    before = net.parameters()['linear1.bias'].copy()
    net.forward(np.ones((1, 1), np.float32), np.array([0]))
    net.backward()
    g = net.gradients()['linear1.bias'].astype(np.float64)
    net.update(Optimizer('adagrad', accumulated=1, rate=1), LossScaler('none'))
    moved = net.parameters()['linear1.bias'] - before
    np.testing.assert_allclose(moved, -g / np.sqrt(1 + g * g), rtol=1e-6)


def test_errors():
    w = [np.ones((2, 3), np.float32)]
    for call, words in [
            (lambda: Optimizer('muon').step([np.ones(3, np.float32)], [np.ones(3, np.float32)]),
             r'weights\[0\]: muon steps on matrices, and its shape is \(3,\)'),
            (lambda: Optimizer('sgd', iterations=5), 'iterations: of muon alone'),
            (lambda: Optimizer('adamw', outputs_first=True), 'outputs_first: of muon alone'),
            (lambda: Optimizer('muon', iterations=65), 'iterations: 65 is not 0 to 64'),
            (lambda: Optimizer('muon', aspect='none'), 'aspect: '),
            (lambda: Optimizer('muon', accum='nv.hopper.e4m3.f32.wgmma'), 'accum: does not take operands'),
            (lambda: Optimizer('muon', accum='seq(bfloat16,sra:8)'), 'accum: rounds stochastically'),
            (lambda: Optimizer('muon', coupled=True), 'coupled: of AdamW alone'),
            (lambda: Optimizer('muon').step(w, [np.ones((3, 2), np.float32)]), r'gradients\[0\]')]:
        with pytest.raises(ValueError, match=words):
            call()
