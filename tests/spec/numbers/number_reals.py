# SPDX-License-Identifier: MIT
"""Irrational numbers known exactly, powers of two and of e, and logarithms of numbers (numbers.md, N.6).

They are computed as intervals of integers that narrow until the digits that are asked for are settled. A *stand-in* of
an irrational number is the dyadic number in the middle of the step of 2^place that it lies in. A rounding whose
decisions are all made at multiples of 2^place takes the number and its stand-in to the same result.
"""
from functools import lru_cache

from exact import FINITE, Real

GUARD = 32                                          # binary digits that the series carry below those they return


@lru_cache(maxsize=None)
def ln2_bounds(places):
    """Integers lo, hi with lo <= ln 2 * 2^places <= hi, by ln 2 = 2 atanh(1/3)."""
    low, high = _atanh(1, 3, places)
    return 2 * low, 2 * high


def _atanh(num, den, places):
    """Bounds of atanh(num/den) * 2^places for 0 <= num/den <= 1/3, by the series of odd powers."""
    work = places + GUARD
    power = (num << work) // den
    square = power * power >> work
    total, odd = 0, 1
    while power:
        total += power // odd
        power = power * square >> work
        odd += 2
    # Every term is cut by less than odd + 3 units, and what is left out is less than one: far below 2^GUARD units.
    middle = total >> GUARD
    return max(middle - 1, 0), middle + 2


def ln_bounds(n, q, places):
    """Bounds of ln(n 2^q) * 2^places for an integer n > 0: an exponent times ln 2, and the logarithm of a rest."""
    exponent = n.bit_length() - 1
    if n * n > 1 << 2 * exponent + 1:               # take the rest between sqrt(1/2) and sqrt(2)
        exponent += 1
    one = 1 << exponent
    low2, high2 = ln2_bounds(places + 16)
    low, high = sorted(((exponent + q) * low2, (exponent + q) * high2))
    rest_low, rest_high = _atanh(abs(n - one), n + one, places + 16)
    if n < one:
        rest_low, rest_high = -rest_high, -rest_low
    return low + 2 * rest_low >> 16, (high + 2 * rest_high >> 16) + 1


def exp_bounds(low, high, places):
    """Bounds of e^r * 2^places for every r with low <= r 2^places <= high and 0 <= r < 1."""
    halvings = 8
    work = places + GUARD
    low = max(low, 0)
    step = (low << GUARD) >> halvings
    total, term, count = 1 << work, 1 << work, 1
    while term:
        term = (term * step >> work) // count
        total += term
        count += 1
    for _ in range(halvings):
        total = total * total >> work
    # The cuts lose less than 2^(halvings + 12) units of 2^-work in total, which is less than 2^GUARD of them.
    middle = total >> GUARD
    return middle - 1, middle + 2 + 6 * (high - low + 1)


def settled_floor(bounds):
    """floor(y) of an irrational y, where bounds(p) gives integers lo, hi with lo <= y 2^p <= hi."""
    places = 32
    while True:
        low, high = bounds(places)
        if low >> places == high >> places:
            return low >> places
        places += 128


def quotient_bounds(low, high, low2, high2, places):
    """Bounds of (y / z) 2^places from those of y and of z > 0, both of one scale."""
    least = (low << places) // (high2 if low >= 0 else low2)
    most = -((-high << places) // (low2 if high >= 0 else high2))
    return least, most


class Irrational:
    """(-1)^sign 2^y for an irrational number 2^y > 0; log2_bounds(p) gives bounds of y 2^p."""

    kind = FINITE
    n = 1                                           # not 0

    def __init__(self, sign, log2_bounds):
        self.sign, self.log2_bounds = sign, log2_bounds

    def log2_ratio(self):
        """(num, den) with y = num / den, where y is known to be rational."""
        return None

    def ln_ratio(self):
        """(num, den) with y ln 2 = num / den, where that is known to be rational."""
        return None

    def floor_log2(self):
        return settled_floor(self.log2_bounds)

    def _mantissa_bounds(self, exponent, places):
        """Bounds of 2^(y - exponent) 2^places."""
        work = places + 16
        low, high = self.log2_bounds(work)
        low2, high2 = ln2_bounds(work)
        rest_low, rest_high = max(low - (exponent << work), 0), high - (exponent << work)
        low, high = exp_bounds(rest_low * low2 >> work, (rest_high * high2 >> work) + 1, work)
        return low >> 16, (high >> 16) + 1

    def stand_in(self, digits, place=None):
        """A dyadic stand-in with at least `digits` digits that has every digit down to 2^place, too."""
        exponent = self.floor_log2()
        last = exponent - digits if place is None else min(exponent - digits, place)
        cut = settled_floor(lambda extra: self._mantissa_bounds(exponent, exponent - last + extra))
        return Real(FINITE, self.sign, 2 * cut + 1, last - 1)


    def odd_digits(self, digits):
        """The leading digits, of which the last one is made odd (N.6, takum into a table)."""
        x = self.stand_in(digits - 1)
        return Real(FINITE, self.sign, x.n >> 1 | 1, x.q + 1)


class PowerOfTwo(Irrational):
    """2^(num / den), where den does not divide num."""

    def __init__(self, sign, num, den):
        Irrational.__init__(self, sign, lambda places: ((num << places) // den, (num << places) // den + 1))
        self.num, self.den = num, den

    def floor_log2(self):
        return self.num // self.den

    def log2_ratio(self):
        return self.num, self.den


class PowerOfE(Irrational):
    """e^(num / den), where num is not 0."""

    def __init__(self, sign, num, den):
        def bounds(places):
            low2, high2 = ln2_bounds(places + 64)
            value = num << places + 64
            return quotient_bounds(value, value, low2 * den, high2 * den, places)
        Irrational.__init__(self, sign, bounds)
        self.num, self.den = num, den

    def ln_ratio(self):
        return self.num, self.den


def power_of_two(sign, num, den):
    """(-1)^sign 2^(num / den)."""
    return PowerOfTwo(sign, num, den) if num % den else Real(FINITE, sign, 1, num // den)


def power_of_e(sign, num, den):
    """(-1)^sign e^(num / den)."""
    return PowerOfE(sign, num, den) if num else Real(FINITE, sign, 1, 0)


def stand_in(x, digits, place=None):
    """A Real in place of x; a dyadic number needs none."""
    return x if isinstance(x, Real) else x.stand_in(digits, place)


def _log2_bounds(x):
    """Bounds of log2 |x| for a Real or an irrational number."""
    if isinstance(x, Irrational):
        return x.log2_bounds

    def bounds(places):
        low, high = ln_bounds(x.n, x.q, places + 16)
        return quotient_bounds(low, high, *ln2_bounds(places + 16), places)
    return bounds


def log2(x, shift, places):
    """(n, d), exactly or as a stand-in at `places`: 2^shift log2 |x| = n / d."""
    if isinstance(x, Irrational) and x.log2_ratio():
        num, den = x.log2_ratio()
        return num << shift, den
    if isinstance(x, Real) and x.n & x.n - 1 == 0:
        return x.n.bit_length() - 1 + x.q << shift, 1
    bounds, width = _log2_bounds(x), shift + places
    return 2 * settled_floor(lambda extra: bounds(width + extra)) + 1, 2 << places


def two_ln(x, places):
    """(n, d), exactly or as a stand-in at `places`: 2 ln |x| = n / d."""
    if isinstance(x, Irrational) and x.ln_ratio():
        num, den = x.ln_ratio()
        return 2 * num, den
    if isinstance(x, Real) and x.n == 1 << max(-x.q, 0) and x.q <= 0:
        return 0, 1

    def bounds(extra):
        if isinstance(x, Real):
            low, high = ln_bounds(x.n, x.q, places + extra)
            return 2 * low, 2 * high
        num, den = x.log2_ratio()
        low, high = sorted(num * bound for bound in ln2_bounds(places + extra + 64))
        return (low // den) >> 63, ((high // den + 1) >> 63) + 1
    return 2 * settled_floor(bounds) + 1, 2 << places
