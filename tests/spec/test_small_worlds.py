# SPDX-License-Identifier: MIT
"""Small formats, every value and the points between: the rounding of section 2 against a choice among all values."""
import unittest
from fractions import Fraction

import evaluate  # noqa: F401  finds the modules
from exact import finite, is_finite
from lines import format_of
from rounding import Mode, round_real

FORMATS = (
    's=1 e=3 m=2 b=0 zero=field sub=gradual inf=ieee nan=ieee nz=1 over=inf neg=nan',
    's=1 e=2 m=0 b=0 zero=field sub=gradual inf=none nan=none nz=1 over=max neg=nan',
    's=1 e=3 m=0 b=-1 zero=field sub=none inf=none nan=none nz=0 over=max neg=nan',
    's=1 e=2 m=3 b=1 zero=field sub=none inf=none nan=ones nz=1 over=nan neg=nan',
    's=1 e=0 m=4 b=0 zero=field sub=gradual inf=none nan=none nz=1 over=max neg=nan',
    's=0 e=3 m=1 b=0 zero=none sub=none inf=none nan=top nz=0 over=nan neg=nan',
    's=1 e=3 m=2 b=1 zero=field sub=gradual inf=top nan=negzero nz=0 over=inf neg=nan',
)


def value(x):
    """A finite Real as a Fraction."""
    n = Fraction(x.n) * Fraction(2) ** x.q
    return -n if x.sign else n


def nearest(word, x, below, above, odd_below):
    """The neighbour of a positive x that a deterministic mode takes, by its meaning."""
    if word in ('rtz', 'rtn'):
        return below
    if word in ('raz', 'rtp'):
        return above
    if word == 'rto':
        return below if odd_below else above
    if 2 * x != below + above:
        return below if 2 * x < below + above else above
    return {'rne': above if odd_below else below, 'rna': above, 'rnz': below}[word]


def points(values):
    """All positive values of a format, and eighths of each step."""
    for low, high in zip(values, values[1:]):
        for eighth in range(8):
            yield low + (high - low) * Fraction(eighth, 8)


def real_of(x):
    q = x.denominator.bit_length() - 1
    return finite(0, x.numerator, -q)


class SmallWorlds(unittest.TestCase):
    def check(self, fmt, word):
        codes = [c for c in range(fmt.magnitudes + 1) if is_finite(fmt.decode(c)) and not fmt.decode(c).sign]
        at = {}
        for c in codes:
            at.setdefault(value(fmt.decode(c)), c)
        values = sorted(at)
        start = values if values[0] == 0 or fmt.zero == 'none' else [Fraction(0)] + values
        for x in points(start):
            if x == 0:
                continue
            code, events = round_real(real_of(x), fmt, Mode(word))
            below = max((v for v in values if v <= x), default=None)
            above = min(v for v in values if v >= x)
            wanted = above if below is None or below == x else nearest(word, x, below, above, at[below] & 1)
            self.assertEqual(value(fmt.decode(code)), wanted, (word, x))
            self.assertEqual('inexact' in events, wanted != x)

    def test_all(self):
        for text in FORMATS:
            fmt = format_of(text)
            for word in ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto'):
                self.check(fmt, word)

    def test_stochastic(self):
        """Each of the 2^N random integers: so many lead away from zero as nu 2^N says, up to the rule of the mode."""
        fmt = format_of(FORMATS[0])
        for eighth in range(9):
            x = finite(0, 64 + eighth, -6)              # 1 + eighth / 64: nu = eighth / 16
            for word, expected in (('sra', eighth), ('srb', eighth), ('src', eighth)):
                ups = sum(value(fmt.decode(round_real(x, fmt, Mode(word, 4), r)[0])) > 1 for r in range(16))
                self.assertEqual(ups, expected, word)


if __name__ == '__main__':
    unittest.main()
