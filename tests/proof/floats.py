# SPDX-License-Identifier: MIT
"""Arithmetic of binary32 on numbers, exact by fractions and rounded once, in each rounding direction: terms.evaluate's."""
import math
from fractions import Fraction

NAN, INF, DIGITS, LEAST = 0x7FC00000, 0x7F800000, 24, -149


def is_nan(u):
    return u & 0x7FFFFFFF > INF


def same(u, v):
    """Whether two patterns are one datum: every NaN is one."""
    return is_nan(u) and is_nan(v) or u == v


def value(u):
    """The fraction of a finite pattern; an infinity as a float."""
    field, rest = u >> 23 & 0xFF, u & 0x7FFFFF
    if field == 0xFF:
        return math.inf if u >> 31 == 0 else -math.inf
    x = Fraction(rest | (0x800000 if field else 0)) * Fraction(2) ** (max(field, 1) - 150)
    return -x if u >> 31 else x


def whole(x, direction):
    """The integer that x rounds to."""
    f = math.floor(x)
    rest = x - f
    if direction == 'RTN' or direction == 'RTZ' and x >= 0 or rest == 0:
        return f
    if direction in ('RTP', 'RTZ'):
        return f + 1
    if rest == Fraction(1, 2):
        return f + (x > 0 if direction == 'RNA' else f & 1)
    return f + (rest > Fraction(1, 2))


def rounded(x, direction, zero=0):
    """The pattern of a fraction; zero: the sign of an exact 0."""
    if x == 0:
        return zero << 31
    sign = x < 0
    size = abs(x)
    k = size.numerator.bit_length() - size.denominator.bit_length()
    k -= size < Fraction(2) ** k
    q = max(k - DIGITS + 1, LEAST)
    n = abs(whole(x / Fraction(2) ** q, direction))
    u = n if q == LEAST and n < 1 << 23 else 0
    if u == 0 and n:
        while n >= 1 << DIGITS:
            n, q = n >> 1, q + 1
        u = (q + 150 << 23) + n - (1 << 23)
    if u >= INF:
        stays = direction == 'RTZ' or direction == ('RTP' if sign else 'RTN')
        u = INF - 1 if stays else INF
    return sign << 31 | u


def _zero_of_sum(a, b, direction):
    """The sign of an exact 0 that is a sum of patterns a and b."""
    if a >> 31 == b >> 31:
        return a >> 31
    return int(direction == 'RTN')


def add(direction, a, b):
    if is_nan(a) or is_nan(b):
        return NAN
    x, y = value(a), value(b)
    if math.inf in (x, y) or -math.inf in (x, y):
        return NAN if isinstance(x, float) and isinstance(y, float) and x != y else a if isinstance(x, float) else b
    return rounded(x + y, direction, _zero_of_sum(a, b, direction))


def multiply(direction, a, b):
    sign = (a ^ b) >> 31
    if is_nan(a) or is_nan(b):
        return NAN
    x, y = value(a), value(b)
    if isinstance(x, float) or isinstance(y, float):
        return NAN if x == 0 or y == 0 else sign << 31 | INF
    return rounded(x * y, direction, sign)


def fused(direction, a, b, c):
    if is_nan(a) or is_nan(b) or is_nan(c):
        return NAN
    x, y, z = value(a), value(b), value(c)
    sign = (a ^ b) >> 31
    if isinstance(x, float) or isinstance(y, float):
        return NAN if x == 0 or y == 0 else add(direction, sign << 31 | INF, c)
    if isinstance(z, float):
        return c
    zero = sign << 31
    return rounded(x * y + z, direction, _zero_of_sum(zero, c, direction))


def _ordered(a, b, f):
    return int(not is_nan(a) and not is_nan(b) and f(value(a), value(b)))


def integer(direction, u, width, is_signed):
    n = whole(value(u), direction)
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if is_signed else (0, 1 << width)
    if not low <= n < high:
        raise ValueError('a float beyond the range of an integer has no value')
    return n


def compute(op, v, sorts, data):
    """The value of one of terms.py's operations on floats."""
    simple = {
        'float_of_bits': lambda a: a,
        'float_bits': lambda a: NAN if is_nan(a) else a,
        'fp.add': add,
        'fp.sub': lambda d, a, b: add(d, a, b ^ 1 << 31),
        'fp.mul': multiply,
        'fp.fma': fused,
        'fp.lt': lambda a, b: _ordered(a, b, lambda x, y: x < y),
        'fp.leq': lambda a, b: _ordered(a, b, lambda x, y: x <= y),
        'fp.eq': lambda a, b: _ordered(a, b, lambda x, y: x == y),
        'fp.isNaN': lambda a: int(is_nan(a)),
        'fp.isInfinite': lambda a: int(a & 0x7FFFFFFF == INF),
        'fp.isZero': lambda a: int(a & 0x7FFFFFFF == 0),
        'fp.neg': lambda a: a ^ 1 << 31,
        'fp.abs': lambda a: a & 0x7FFFFFFF,
        'float_of_unsigned': lambda d, a: rounded(Fraction(a), d),
        'float_of_signed': lambda d, a: rounded(Fraction(a - (1 << sorts[1]) if a >> (sorts[1] - 1) else a), d),
        'to_signed': lambda d, a: integer(d, a, data, True),
        'to_unsigned': lambda d, a: integer(d, a, data, False),
    }
    if op not in simple:
        raise NotImplementedError(f'{op} on numbers')
    return simple[op](*v)
