# SPDX-License-Identifier: MIT
"""Exact numbers: what all pages call a real number, an infinity or NaN, with the sign of a zero.

A Real is (-1)^sign n 2^q with integers n >= 0 and q. Nothing here rounds.
"""
from collections import namedtuple

FINITE, INFINITE, NOT_A_NUMBER = 'finite', 'infinite', 'nan'

Real = namedtuple('Real', 'kind sign n q')

NAN = Real(NOT_A_NUMBER, 0, 0, 0)
ZERO = Real(FINITE, 0, 0, 0)
ZEROS = (ZERO, Real(FINITE, 1, 0, 0))
INFINITIES = (Real(INFINITE, 0, 0, 0), Real(INFINITE, 1, 0, 0))
ONE = Real(FINITE, 0, 1, 0)


def finite(sign, n, q):
    """(-1)^sign n 2^q; n = 0 gives the zero of that sign."""
    return Real(FINITE, sign, n, q) if n else ZEROS[sign]


def integer(i):
    """An integer as a Real; 0 is +0."""
    return finite(1 if i < 0 else 0, abs(i), 0)


def is_nan(x):
    return x.kind is NOT_A_NUMBER


def is_infinite(x):
    return x.kind is INFINITE


def is_finite(x):
    return x.kind is FINITE


def is_zero(x):
    return x.kind is FINITE and x.n == 0


def is_nonzero(x):
    """A finite number that is not 0."""
    return x.kind is FINITE and x.n != 0


def floor_log2(x):
    """floor(log2 |x|) of a finite x that is not 0."""
    return x.n.bit_length() - 1 + x.q


def negate(x):
    return x if is_nan(x) else x._replace(sign=1 - x.sign)


def magnitude(x):
    return x if is_nan(x) else x._replace(sign=0)


def scaled(x, shift):
    """x 2^shift."""
    return x._replace(q=x.q + shift) if is_nonzero(x) else x


def units(x, q):
    """The integer x 2^-q of a finite x that is a multiple of 2^q (q <= x.q), with its sign."""
    n = x.n << (x.q - q) if x.n else 0
    return -n if x.sign else n


def from_units(i, q, zero=ZERO):
    """The number i 2^q; `zero` is what i = 0 gives."""
    return finite(1 if i < 0 else 0, abs(i), q) if i else zero


def compare(x, y):
    """-1, 0, 1 as x <, =, > y as real numbers with infinities at the ends; -0 = +0. Neither is NaN."""
    if is_infinite(x) or is_infinite(y):
        def rank(z):
            return (1 - 2 * z.sign) if is_infinite(z) else 0
        return (rank(x) > rank(y)) - (rank(x) < rank(y))
    q = min(x.q, y.q)
    a, b = units(x, q), units(y, q)
    return (a > b) - (a < b)


def equal(x, y):
    """Whether x and y are the same number (-0 = +0); NaN equals nothing."""
    return not is_nan(x) and not is_nan(y) and compare(x, y) == 0


def multiply(x, y):
    """The exact product: 0 times an infinity is NaN; a zero has the sign that the signs of its factors give."""
    if is_nan(x) or is_nan(y):
        return NAN
    sign = x.sign ^ y.sign
    if is_infinite(x) or is_infinite(y):
        return NAN if is_zero(x) or is_zero(y) else INFINITIES[sign]
    return finite(sign, x.n * y.n, x.q + y.q)


def add(x, y, toward_negative=False):
    """The exact sum: infinity minus infinity is NaN; an exact zero sum has the sign of its terms where they agree,
    else + (- in the mode toward negative)."""
    if is_nan(x) or is_nan(y):
        return NAN
    if is_infinite(x) or is_infinite(y):
        if is_infinite(x) and is_infinite(y):
            return x if x.sign == y.sign else NAN
        return x if is_infinite(x) else y
    if not x.n and not y.n:
        return ZEROS[x.sign if x.sign == y.sign else int(toward_negative)]
    if not x.n:
        return y
    if not y.n:
        return x
    q = min(x.q, y.q)
    return from_units(units(x, q) + units(y, q), q, ZEROS[int(toward_negative)])


def subtract(x, y, toward_negative=False):
    """x + (-y)."""
    return add(x, negate(y), toward_negative)


def total(terms):
    """The exact sum of finite terms; +0 if it is 0."""
    q = min((t.q for t in terms if t.n), default=0)
    return from_units(sum(units(t, q) for t in terms), q)


BINARY32, BINARY64 = (8, 23), (11, 52)


def from_interchange(bits, shape):
    """The number that the bits of binary32 or binary64 stand for."""
    e, m = shape
    sign, field, trailing = bits >> (e + m) & 1, bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    if field == (1 << e) - 1:
        return NAN if trailing else INFINITIES[sign]
    lowest = 1 - ((1 << (e - 1)) - 1) - m
    return finite(sign, trailing, lowest) if field == 0 else finite(sign, trailing + (1 << m), lowest + field - 1)


def to_interchange(x, shape=BINARY64):
    """The bits of a number that the format has; NaN gives the quiet one with no other digit (section 4)."""
    e, m = shape
    if is_nan(x):
        return ((1 << e) - 1) << m | 1 << (m - 1)
    sign = x.sign << (e + m)
    if is_infinite(x):
        return sign | ((1 << e) - 1) << m
    if not x.n:
        return sign
    lowest, k = 1 - ((1 << (e - 1)) - 1), floor_log2(x)
    q = max(k, lowest) - m
    assert x.q >= q or x.n % (1 << (q - x.q)) == 0, 'not a number of the format'
    n = x.n << (x.q - q) if x.q >= q else x.n >> (q - x.q)
    return sign | (n if k < lowest else n + ((k - lowest) << m))
