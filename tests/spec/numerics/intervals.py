# SPDX-License-Identifier: MIT
"""Intervals for section 12 of numerics.md. They contain the value of a function: integers (lo, hi), in units of 2^-p.

Every step rounds lo down and hi up, so that the real number lies between them whatever the step loses.
"""
from functools import lru_cache
from math import isqrt

GUARD = 32


def up(n, shift):
    """ceil(n 2^-shift)."""
    return -(-n >> shift)


def fixed(n, q, p):
    """The interval of the number n 2^q."""
    shift = q + p
    return (n << shift, n << shift) if shift >= 0 else (n >> -shift, up(n, -shift))


def multiply(a, b, p):
    """The product of two intervals, of any signs."""
    ends = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(ends) >> p, up(max(ends), p)


def divide(a, b, p):
    """The quotient of two intervals; b is positive."""
    lo = (a[0] << p) // (b[1] if a[0] >= 0 else b[0])
    hi = -((-a[1] << p) // (b[0] if a[1] >= 0 else b[1]))
    return lo, hi


def narrower(a, p, q):
    """An interval in units of 2^-p, in units of 2^-q, q <= p."""
    return a[0] >> (p - q), up(a[1], p - q)


@lru_cache(maxsize=64)
def log_of_two(p):
    """ln 2 = 2 artanh(1/3)."""
    w = p + GUARD
    lo = hi = 0
    power, n = (1 << w + 1) // 3, 1
    while power:
        lo += power // n
        hi += power // n + 2                            # the power and the quotient are each less than 1 too small
        power, n = power // 9, n + 2
    return narrower((lo, hi + 4), w, p)


@lru_cache(maxsize=64)
def pi(p):
    """pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    w = p + GUARD

    def arctan(x):
        """arctan(1/x): alternating, the terms fall."""
        lo = hi = 0
        power, n, sign = (1 << w) // x, 1, 1
        while power:
            term = power // n
            lo, hi = (lo + term, hi + term + 2) if sign > 0 else (lo - term - 2, hi - term)
            power, n, sign = power // (x * x), n + 2, -sign
        return lo - 2, hi + 2
    a, b = arctan(5), arctan(239)
    return narrower((16 * a[0] - 4 * b[1], 16 * a[1] - 4 * b[0]), w, p)


def exp_series(x, p):
    """e^x of an interval 0 <= x < 1: the sum of x^n / n!."""
    lo_sum, hi_sum, lo, hi, n = 1 << p, 1 << p, 1 << p, 1 << p, 1
    while hi > 1:
        lo = (lo * x[0] >> p) // n
        hi = -(-up(hi * x[1], p) // n)
        lo_sum, hi_sum, n = lo_sum + lo, hi_sum + hi, n + 1
    return lo_sum, hi_sum + 2 * hi                      # the terms after this one are below it and fall by half


def exp(x, p):
    """e^x of an interval of any sign: x = k ln 2 + y. Beyond 2^16 digits this has no use and is refused."""
    ln2 = log_of_two(p + GUARD)
    k = (x[0] << GUARD) // ln2[1]
    if abs(k) > 1 << 16:
        raise OverflowError('e^x is out of range')
    w = p + GUARD + max(k, 0)
    ln2 = log_of_two(w)
    a = (x[0] << (w - p), x[1] << (w - p))
    y = (a[0] - max(k * ln2[0], k * ln2[1]), a[1] - min(k * ln2[0], k * ln2[1]))
    e = exp_series((max(y[0], 0), max(y[1], 0)), w)
    if y[0] < 0:                                        # by what ln 2's interval loses: e^y >= 1 + y
        e = ((1 << w) + y[0], e[1])
    shift = w - p - k
    return (e[0] >> shift, up(e[1], shift)) if shift >= 0 else (e[0] << -shift, e[1] << -shift)


def log(n, q, p):
    """ln(n 2^q) for n > 0: n 2^q = 2^k z with z between 2/3 and 4/3; ln z = 2 artanh((z - 1) / (z + 1))."""
    k = n.bit_length() - 1 + q
    if 3 * n > 1 << (n.bit_length() + 1):               # n 2^q > 4/3 2^k
        k += 1
    w = p + GUARD
    unit = k - q                                        # z = n 2^-unit
    one = 1 << unit
    top, bottom = n - one, n + one
    sign, top = (-1, -top) if top < 0 else (1, top)
    power = ((top << w) // bottom, -((-top << w) // bottom))
    square = multiply(power, power, w)
    lo = hi = 0
    i = 1
    while power[1] > 1:
        lo, hi = lo + power[0] // i, hi - (-power[1] // i)
        power, i = (power[0] * square[0] >> w, up(power[1] * square[1], w)), i + 2
    lo, hi = 2 * lo, 2 * hi + 8                         # the terms after the last one add up to less than 2
    if sign < 0:
        lo, hi = -hi, -lo
    ln2 = log_of_two(w + 16)
    k_ln2 = narrower((min(k * ln2[0], k * ln2[1]), max(k * ln2[0], k * ln2[1])), w + 16, w)
    return narrower((lo + k_ln2[0], hi + k_ln2[1]), w, p)


def sine_series(y, first, p):
    """sin y (first = 1) or cos y (first = 0) of a number y 2^-p between 0 and 2: an alternating sum."""
    lo = hi = y if first else 1 << p
    lo_sum, hi_sum, n, sign = lo, hi, first, -1
    square = (y * y >> p, up(y * y, p))
    while True:
        divisor = (n + 1) * (n + 2)
        lo, hi = (lo * square[0] >> p) // divisor, -(-up(hi * square[1], p) // divisor)
        lo_sum, hi_sum = (lo_sum + lo, hi_sum + hi) if sign > 0 else (lo_sum - hi, hi_sum - lo)
        n, sign = n + 2, -sign
        if hi <= 1:
            return lo_sum - 2, hi_sum + 2


def sine(n, q, p, cosine):
    """sin or cos of n 2^q > 0: the multiple k of pi/2 below is taken off."""
    w = p + GUARD + max(n.bit_length() + q, 0) + 8
    x = fixed(n, q, w)
    half_pi = pi(w)                                     # in units of 2^-(w+1): pi / 2
    k = (x[0] << 1) // half_pi[1]
    y = (2 * x[0] - k * half_pi[1], 2 * x[1] - k * half_pi[0])
    shift = w + 1 - p
    y = narrower(y, shift, 0)
    start = y[0]
    quadrant = (k + (1 if cosine else 0)) & 3
    lo, hi = sine_series(start, 1 - (quadrant & 1), p)
    spread = y[1] - start                               # sin and cos change by no more than their argument
    lo, hi = lo - spread, hi + spread
    return (-hi, -lo) if quadrant & 2 else (lo, hi)


def erf_sum(first, square, p):
    """Sum of first square^i / (1 3 5 ... (2 i + 1)), a series of positive terms."""
    lo, hi = first
    lo_sum, hi_sum, i = lo, hi, 1
    while hi > 1 or square[1] > (2 * i + 1) << (p - 1):
        lo = (lo * square[0] >> p) // (2 * i + 1)
        hi = -(-up(hi * square[1], p) // (2 * i + 1))
        lo_sum, hi_sum, i = lo_sum + lo, hi_sum + hi, i + 1
    return lo_sum, hi_sum + 2 * hi + 2                  # the terms after this one fall by more than half


def root(a, p):
    """The root of a positive interval."""
    return isqrt(a[0] << p), isqrt(a[1] << p) + 1
