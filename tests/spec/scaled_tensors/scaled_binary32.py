# SPDX-License-Identifier: MIT
"""The binary32 operations of scaled.md: rn and rn+ (section 1), and IEEE 754's with overflow to infinity (rne)."""
from exact import FINITE, INFINITIES, INFINITE, NOT_A_NUMBER, Real, ZEROS, add, finite, multiply, negate
from formats import BINARY32_FORMAT
from rounding import nearest_even

LARGEST = (BINARY32_FORMAT.max, negate(BINARY32_FORMAT.max))
SMALLEST = finite(0, 1, -149)
QUOTIENT_DIGITS = 140       # digits of stand-ins of quotients, of which 31 of a significand and 34 of nu are decided on


def rne(x):
    """x rounded into binary32 with ties to even and overflow to infinity; infinities and NaN stay."""
    if x.kind is not FINITE or not x.n:
        return x
    size = x.n.bit_length() - 1 + x.q
    place = max(size, -126) - 23
    n = nearest_even(x.n, place - x.q) if x.q < place else x.n
    place = max(x.q, place)
    if n.bit_length() - 1 + place > 127:
        return INFINITIES[x.sign]
    return Real(FINITE, x.sign, n, place) if n else ZEROS[x.sign]


def rn(x):
    """The same, except that a finite x beyond the range gives the largest finite number with its sign."""
    y = rne(x)
    return LARGEST[x.sign] if y.kind is INFINITE and x.kind is FINITE else y


def rn_plus(x):
    """rn(x), but 2^-149 where that is 0."""
    y = rn(x)
    return y if y.n else SMALLEST


def quotient(x, y, digits=QUOTIENT_DIGITS):
    """x / y for finite x and finite y not 0: a dyadic number, or a stand-in where the quotient is not dyadic."""
    sign = x.sign ^ y.sign
    if not x.n:
        return ZEROS[sign]
    shift = max(digits + y.n.bit_length() - x.n.bit_length(), 0)
    n, rest = divmod(x.n << shift, y.n)
    q = x.q - y.q - shift
    return Real(FINITE, sign, 2 * n + 1, q - 1) if rest else Real(FINITE, sign, n, q)


def divided(x, y):
    """rn(x / y)."""
    return rn(quotient(x, y, 40))


def times(x, y):
    """rn(x y)."""
    return rn(multiply(x, y))


def ieee_divided(x, y):
    """IEEE 754's quotient of a finite number or an infinity and a finite number that is not 0."""
    return x if x.kind is INFINITE else rne(quotient(x, y, 40))


def ieee_times(x, y):
    return rne(multiply(x, y))


def ieee_plus(x, y):
    return rne(add(x, y))


def ieee_minus(x, y):
    return rne(add(x, negate(y)))


def less(x, y):
    """x < y for numbers that are not negative; false where one of them is NaN."""
    if x.kind is NOT_A_NUMBER or y.kind is NOT_A_NUMBER or x.kind is INFINITE:
        return False
    if y.kind is INFINITE:
        return True
    q = min(x.q, y.q)
    return x.n << x.q - q < y.n << y.q - q
