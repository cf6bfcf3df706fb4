# SPDX-License-Identifier: MIT
"""Real numbers between two fractions: pi, square roots, e^x, ln x, erfc x at fractions, in exact rational arithmetic.

Every function returns (low, high) with low <= the number <= high. Nothing here is rounded to nearest: a series is cut where its rest is
known, and the rest is added to one end.
"""
import math
from fractions import Fraction

DIGITS = 400  # binary digits behind the point that are kept


def cut(low, high, digits=DIGITS):
    """Fewer digits, outward."""
    one = 1 << digits
    return Fraction(low.numerator * one // low.denominator, one), Fraction(-(-high.numerator * one // high.denominator), one)


def arctan_inverse(n):
    """arctan(1/n): an alternating series of falling terms."""
    total, power, k = Fraction(0), Fraction(1, n), 0
    while power / (2 * k + 1) > Fraction(1, 1 << (DIGITS + 8)):
        total += (-1) ** k * power / (2 * k + 1)
        power /= n * n
        k += 1
    rest = power / (2 * k + 1)
    return cut(total - rest, total + rest)


def pi():
    a, b = arctan_inverse(5), arctan_inverse(239)  # Machin
    return 16 * a[0] - 4 * b[1], 16 * a[1] - 4 * b[0]


def root(x):
    x, shift = Fraction(x), 2 * DIGITS
    low = math.isqrt(x.numerator * (1 << shift) // x.denominator)
    return Fraction(low, 1 << DIGITS), Fraction(low + 1, 1 << DIGITS)


def series(x, terms):
    """The sum of terms x^k for 0 <= x <= 1/2; the terms fall from 1 and are positive."""
    total, power, n, small = Fraction(0), Fraction(1), 0, Fraction(1, 1 << (DIGITS - 16))
    for term in terms:
        if power < small:
            break
        total += term * power
        power = cut(power * x, power * x)[1]
        n += 1
    # Each power was rounded up, by less than 2^(1 - DIGITS) with those before it; what was left out is below 2 power.
    return cut(total - Fraction(2 * n, 1 << DIGITS), total + 2 * power)


def inverse_factorials():
    k, f = 0, 1
    while True:
        yield Fraction(1, f)
        k += 1
        f *= k


def odd_inverses():
    k = 1
    while True:
        yield Fraction(1, k)
        k += 2


def exp(x):
    """e^x for x >= 0."""
    halvings, y = 0, Fraction(x)
    while y > Fraction(1, 2):
        y /= 2
        halvings += 1
    low, high = series(y, inverse_factorials())
    for _ in range(halvings):
        low, high = cut(low * low, high * high)
    return low, high


def e_to(x):
    """e^x of any sign."""
    low, high = exp(abs(Fraction(x)))
    return (low, high) if x >= 0 else (1 / high, 1 / low)


def log(x):
    """ln x for x > 0: 2 artanh of a fraction, and whole ln 2."""
    x, k = Fraction(x), 0
    while x > Fraction(4, 3):
        x /= 2
        k += 1
    while x < Fraction(2, 3):
        x *= 2
        k -= 1

    def small(y):
        q = (y - 1) / (y + 1)
        low, high = series(q * q, odd_inverses())
        ends = sorted((2 * q * low, 2 * q * high))
        return ends[0], ends[1]
    low, high = small(x)
    if k:
        half = small(Fraction(4, 3)), small(Fraction(3, 2))  # ln 2 is their sum
        two = half[0][0] + half[1][0], half[0][1] + half[1][1]
        ends = sorted((k * two[0], k * two[1]))
        low, high = low + ends[0], high + ends[1]
    return cut(low, high)


def erfc(x):
    """erfc x for 0 < x < 9, by 1 - e^(-x^2) times a sum of positive terms; from 9 on between 0 and e^(-x^2) / (x sqrt pi)."""
    x = Fraction(x)
    e, p = e_to(-x * x), pi()
    low_root, high_root = root(p[0])[0], root(p[1])[1]
    if x >= 9:
        return Fraction(0), e[1] / (x * low_root)
    total, term, k, small = Fraction(0), x, 0, Fraction(1, 1 << (DIGITS - 16))
    while k < 4 * x * x + 4 or term > small:  # from there on each term is less than half of the one before
        total += term
        k += 1
        term = cut(term * 2 * x * x / (2 * k + 1), term * 2 * x * x / (2 * k + 1))[1]
    slack = Fraction(1, 1 << (DIGITS - 150))  # terms rounded up by 2^-DIGITS and grown by less than e^(x^2), 2^117
    return cut(1 - 2 * e[1] * (total + 2 * term) / low_root, 1 - 2 * e[0] * (total - slack) / high_root)
