# SPDX-License-Identifier: MIT
"""Projection of IEEE P3109 in exact rational numbers: Decode, RoundToPrecision, Saturate and Encode, each written case by case from the
function of this name, as the formal specification has it (ieee-p3109, 80f0f58), with the case of D1 and the four of report v4.0. It
calls nothing of the library.

A value is a Fraction, +INFINITY, -INFINITY, or None for NaN. Python compares a Fraction with an infinity exactly."""
from collections import namedtuple
from fractions import Fraction

INFINITY = float('inf')
ROUNDING = ('NearestTiesToEven', 'NearestTiesToAway', 'TowardZero', 'TowardPositive', 'TowardNegative', 'ToOdd',
            'StochasticA', 'StochasticB', 'StochasticC')
SATURATION = ('SatNone', 'SatFinite', 'SatPropagate')
# Which text decides: draft standard D1; the formal specification of July 2026 (ToOdd); report v4.0 (formats without infinities, too).
RULES = ('d1', 'july-2026', 'v4.0')


class Format(namedtuple('Format', 'k p signed extended')):
    """K bits, precision P; with a sign or without; with infinities (extended) or without (finite)."""

    @property
    def name(self):
        return 'binary%dp%d%s%s' % (self.k, self.p, 's' if self.signed else 'u', 'e' if self.extended else 'f')

    @property
    def bias(self):
        return 2**(self.k - self.p - 1) if self.signed else 2**(self.k - self.p)

    @property
    def exponent_bits(self):
        return self.k - self.p if self.signed else self.k - self.p + 1

    @property
    def nan(self):
        return 2**(self.k - 1) if self.signed else 2**self.k - 1

    @property
    def largest(self):
        """The code of M_hi, the largest finite number: below NaN in unsigned formats and below 10..0 in signed ones, and below
        +infinity where there is one."""
        return self.nan - (2 if self.extended else 1)

    @property
    def m_hi(self):
        return decode(self, self.largest)

    @property
    def m_lo(self):
        return -self.m_hi if self.signed else Fraction(0)


def formats(least, most):
    """Every format of the draft with K from least to most."""
    for k in range(least, most + 1):
        for signed in (True, False):
            for p in range(1, k if signed else k + 1):
                for extended in (True, False):
                    yield Format(k, p, signed, extended)


def magnitude(f, code):
    """The number of a code without a sign that is neither NaN nor an infinity; of codes from those on, the numbers that would come
    next."""
    exponent, trailing = divmod(code, 2**(f.p - 1))
    fraction = Fraction(trailing, 2**(f.p - 1))
    return fraction * two_to(1 - f.bias) if exponent == 0 else (1 + fraction) * two_to(exponent - f.bias)


def decode(f, code):
    """Decode: the value of a code."""
    if code == f.nan:
        return None
    if f.signed and code > f.nan:
        return -decode(f, code - f.nan)
    return INFINITY if f.extended and code == f.nan - 1 else magnitude(f, code)


def two_to(n):
    return Fraction(2**n) if n >= 0 else Fraction(1, 2**-n)


def floor_log2(x):
    """The largest n with 2^n <= x, of a rational x above 0."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if two_to(n) <= x else n - 1


def nearest_even(x):
    """The integer that is nearest to a rational x >= 0, of two the even one."""
    whole, rest = divmod(x, 1)
    return int(whole) + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))


def rounds_away(mode, bits, random, negative, delta, even):
    """Whether a number with the fraction delta behind its last digit becomes the larger magnitude. `even`: the code of the smaller
    one is. The stochastic modes have `bits` random bits; `random` is their number."""
    if delta == 0:
        return False
    if mode == 'NearestTiesToEven':
        return delta > Fraction(1, 2) or (delta == Fraction(1, 2) and not even)
    if mode == 'NearestTiesToAway':
        return delta >= Fraction(1, 2)
    if mode == 'TowardZero':
        return False
    if mode == 'TowardPositive':
        return not negative
    if mode == 'TowardNegative':
        return negative
    if mode == 'ToOdd':
        return even
    steps = delta * 2**bits
    if mode == 'StochasticA':
        return steps // 1 + random >= 2**bits
    if mode == 'StochasticB':
        return (2 * steps) // 1 + 2 * random + 1 >= 2**(bits + 1)
    if mode == 'StochasticC':
        return nearest_even(steps) + random >= 2**bits
    raise ValueError(mode)


def split(f, x):
    """A rational x other than 0 as (negative, q, i, delta, even): |x| = (i + delta) 2^q with an integer i and 0 <= delta < 1. The
    exponent is bounded below, and not above. With P = 1 a code has no digit behind the point, and its exponent decides."""
    q = max(floor_log2(abs(x)), 1 - f.bias) - f.p + 1
    i, delta = divmod(abs(x) / two_to(q), 1)
    return x < 0, q, int(i), delta, i % 2 == 0 if f.p > 1 else i == 0 or (q + f.bias) % 2 == 0


def round_to_precision(f, mode, x, bits=0, random=0):
    """RoundToPrecision."""
    if x is None or abs(x) == INFINITY or x == 0:
        return x
    negative, q, i, delta, even = split(f, x)
    z = (i + rounds_away(mode, bits, random, negative, delta, even)) * two_to(q)
    return -z if negative else z


def saturate(f, mode, saturation, x, rules='d1'):
    """Saturate. The first line that fits decides, as in the draft's list."""
    low, high = f.m_lo, f.m_hi
    if x is None or low <= x <= high:
        return x
    if saturation == 'SatFinite':
        return high if x > high else low
    if saturation == 'SatPropagate':
        if x == INFINITY and f.extended:
            return x
        if x == -INFINITY and f.signed and f.extended:
            return x
        return high if x > high else low
    beyond = None if rules != 'v4.0' else high if x > high else low  # what a format without infinities has
    if x == INFINITY:
        return x if f.extended else beyond
    if x == -INFINITY:
        return None if not f.signed else x if f.extended else beyond
    if x > high and mode == 'ToOdd' and not f.signed and f.extended and rules != 'd1':
        return high
    if x > high and mode in ('TowardZero', 'TowardNegative'):
        return high
    if x < low and mode in ('TowardZero', 'TowardPositive'):
        return low
    if x < low and not f.signed:
        return None
    if f.extended:
        return INFINITY if x > high else -INFINITY
    return beyond


def encode(f, x):
    """Encode: the code of a value of the format."""
    if x is None:
        return f.nan
    if x == INFINITY:
        return f.nan - 1
    if x < 0:
        return f.nan + encode(f, -x)
    if x == 0:
        return 0
    e = max(floor_log2(x), 1 - f.bias)
    digits = x * two_to(f.p - 1 - e)
    assert digits.denominator == 1 and digits < 2**f.p, (f.name, x)
    trailing = int(digits) % 2**(f.p - 1)
    return trailing if digits < 2**(f.p - 1) else (e + f.bias) * 2**(f.p - 1) + trailing


def project(f, mode, saturation, x, bits=0, random=0, rules='d1'):
    """Project."""
    return encode(f, saturate(f, mode, saturation, round_to_precision(f, mode, x, bits, random), rules))
