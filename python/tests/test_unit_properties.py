# SPDX-License-Identifier: MIT
"""What docs/accumulators.md says of a block of an aligned or exact unit: in which operands it is monotone, that the order
of its products does not matter, and how far it is from the exact sum. Each named unit without scales is asked, and
compared with exact fractions."""
import re
from fractions import Fraction

import numpy as np
import pytest

import halfulp

KEY = re.compile(r'(\w+)=((?:[^,()]|\([^()]*\))+)')


class Unit:
    """A named model whose text is one block: its rule, keys, formats, and the products of an instruction."""

    def __init__(self, model):
        text = halfulp.Accumulator(model.name).text
        found = re.search(r'block\((align|exact),', text)
        self.name, self.rule, self.keys = model.name, found and found[1], dict(KEY.findall(text)) if found else {}
        if found:
            # The numbers of TF32 stand in binary32.
            self.a, self.b = (halfulp.format('tf32' if 'in' in self.keys else x) for x in (model.a, model.b))
            self.c, self.out = halfulp.format(model.c), halfulp.format(self.keys.get('out', 'binary32'))
            self.n = int(self.keys['l']) * (2 if self.keys.get('order') == 'mod4' else 1)
            self.f, self.last = int(self.keys.get('f', 0)), self.keys.get('c') == 'last'

    def __call__(self, a, b, c):
        """Rows of A and B, one C each: D as binary64 numbers."""
        return np.float64([halfulp.gemm(np.float32(x)[None], np.float32(y)[:, None], np.float32([[z]]), accum=self.name)[0, 0]
                           for x, y, z in zip(a, b, c)])

    def drawn(self, rows, seed):
        random = np.random.default_rng(seed)
        return [numbers(random, shape, format) for shape, format in
                (((rows, self.n), self.a), ((rows, self.n), self.b), (rows, self.c))] + [random]


UNITS = [unit for unit in map(Unit, halfulp.models()) if unit.rule and 'scale' not in unit.keys]
ALIGNED = [pytest.param(unit, id=unit.name) for unit in UNITS if unit.rule == 'align']
ALL = [pytest.param(unit, id=unit.name) for unit in UNITS]


def numbers(random, shape, format):
    """Numbers up to 4 of both signs, 2^-6 and more; a third are the largest below 1 or 2, or that power of two."""
    x = 2.0 ** random.integers(max(format.emin, -6), 2, shape) * (1 + random.random(shape) * random.integers(0, 2, shape))
    edge = 2.0 ** random.integers(0, 2, shape)
    x = np.where(random.random(shape) < 0.3, edge - random.integers(0, 2, shape) * edge * 2.0 ** -(format.m + 1), x)
    return halfulp.quantize(np.float32(x * random.choice([-1, 1], shape)), format, 'rtz').astype(np.float64)


def exponent(x, format):
    return max(int(np.floor(np.log2(abs(x)))), format.emin)


def above(x, format):
    """The next number of the format, upward."""
    e = exponent(x, format)
    shrinks = x < 0 and abs(x) == 2.0 ** e and e > format.emin
    return x + 2.0 ** (e - format.m - shrinks)


def has(format, *values):
    return all(halfulp.quantize(np.float32([x]), format)[0] == np.float32(x) for x in values)


@pytest.mark.parametrize('unit', ALIGNED)
def test_monotone_in_c(unit):
    """C goes from the number below 2^top to 2^top, and each product is one digit that is then cut off. One of them can
    also be worth the step of C, which takes the sum past a point where the last rounding changes."""
    top = min(unit.f - 1, unit.c.emax)
    step, falls, asked = 2.0 ** (top - 1 - unit.c.m), False, 0
    digit = 2.0 ** (top - 1 - unit.f)
    for first in (None, step, step + digit):
        low = (top - 1 - unit.f) // 2
        x, y = 2.0 ** low, 2.0 ** (top - 1 - unit.f - low)
        a, b = np.full((2, unit.n), x), np.full((2, unit.n), y)
        if first:
            a[:, 0] = first / y
        if not has(unit.a, x, a[0, 0]) or not has(unit.b, y):
            continue
        d = unit(a, b, [2.0 ** top - step, 2.0 ** top])
        falls, asked = falls or d[1] < d[0], asked + 1
    if not asked:
        pytest.skip('no two numbers of these formats have such a product')
    assert falls != (unit.last or unit.n <= 2.0 ** (unit.f - unit.c.m))


@pytest.mark.parametrize('unit', ALIGNED)
def test_monotone_in_operands(unit):
    assert int(unit.keys['l']) + 1 <= 2 ** (unit.f - 1 - max(unit.a.m, unit.b.m))
    a, b, c, random = unit.drawn(30, 1)
    raised = a.copy()
    for row in range(len(a)):
        k = random.integers(unit.n)
        raised[row, k] = above(a[row, k], unit.a) if b[row, k] > 0 else -above(-a[row, k], unit.a)
    assert has(unit.a, *raised.flat) and (raised != a).any(axis=1).all()
    assert (unit(raised, b, c) >= unit(a, b, c)).all()


@pytest.mark.parametrize('unit', ALL)
def test_order_of_products(unit):
    a, b, c, random = unit.drawn(25, 2)
    d, places = unit(a, b, c), random.permutation(unit.n)
    if unit.keys.get('order') == 'mod4':  # two blocks: within each
        for half in (np.arange(unit.n) % 4 < 2, np.arange(unit.n) % 4 > 1):
            places[half] = random.permutation(np.flatnonzero(half))
    assert (unit(a[:, places], b[:, places], c) == d).all()
    if unit.a == unit.b:
        assert (unit(b, a, c) == d).all()


@pytest.mark.parametrize('unit', ALL)
def test_error(unit):
    a, b, c, random = unit.drawn(10, 3)
    most = Fraction(0)
    for row, d in enumerate(unit(a, b, c)):
        terms = [Fraction(x) * Fraction(y) for x, y in zip(a[row], b[row])]
        top = max(exponent(x, unit.a) + exponent(y, unit.b) for x, y in zip(a[row], b[row]))
        if not unit.last:
            top = max(top, exponent(c[row], unit.c))
        cut = (unit.n + 1) * Fraction(2) ** (top - unit.f) if unit.rule == 'align' else Fraction(0)
        # A step of the format for each rounding: one, or those of the blocks and of C where it is last.
        size = max(abs(Fraction(d)), sum(map(abs, terms)) if unit.last else Fraction(0), Fraction(1, 4))
        step = Fraction(2) ** (exponent(float(size), unit.out) - unit.out.m)
        error = abs(Fraction(d) - sum(terms) - Fraction(c[row]))
        most = max(most, error / (cut + step * (3 if unit.last else 1)))
    assert most <= 1, float(most)
