# SPDX-License-Identifier: MIT
"""Shifted and squeezed tensors (s2fp8.md): logarithms, statistics, codes and values."""
from functools import lru_cache
from math import gcd

from exact import (BINARY32, FINITE, Real, ZERO, ZEROS, finite, floor_log2, is_finite, is_infinite, is_nan,
                   to_interchange)
from number_reals import Irrational, log2, power_of_two, stand_in
from rounding import Mode, round_real
from scaled_binary32 import quotient, rne

STEP = 40                                   # mu and m are multiples of 2^-40, and integers here
DIGITS = 140                                # digits of stand-ins: 31 of a significand and 34 of nu are decided on
FAR = 4096                                  # powers of two that are beyond every format are replaced by 2^FAR, 2^-FAR


class Kind:
    """The element format F, the target T and the treatment of infinities (sections 1 and 4)."""

    def __init__(self, element, target=None, special='nan'):
        self.element, self.special = element, special
        self.target = floor_log2(element.max) if target is None else target


# 2. Logarithms

@lru_cache(maxsize=4096)
def _significand_logarithm(n):
    num, den = log2(Real(FINITE, 0, n, 0), 0, STEP + 1)
    return ((num << STEP + 1) // den + 1) >> 1          # the nearest step: there are no ties


def logarithm(x):
    """L(x) in steps, by L(2^k x) = L(x) + k."""
    twos = (x.n & -x.n).bit_length() - 1
    return _significand_logarithm(x.n >> twos) + (x.q + twos << STEP)


# 3. Statistics

def statistics(elements, target):
    """mu and m, in steps."""
    logarithms = [logarithm(x) for x in elements if not is_nan(x) and not is_infinite(x) and x.n]
    if not logarithms:
        return 0, target << STEP
    most = max(logarithms)
    mean = nearest_even(sum(logarithms), len(logarithms))
    return (most - (target << STEP) if mean == most else mean), most


def nearest_even(num, den):
    """num / den rounded to an integer, ties to even, for den > 0."""
    quotient, rest = divmod(num, den)
    return quotient + (1 if 2 * rest > den or 2 * rest == den and quotient & 1 else 0)


def to_binary32(num, den):
    """num / den for den > 0, rounded once to binary32, ties to even; 0 is +0. The bits."""
    x = rne(quotient(finite(int(num < 0), abs(num), 0), finite(0, den, 0))) if num else ZERO
    return to_interchange(x, BINARY32)


def alpha_beta(mu, most, target):
    """The bits of alpha and beta: T / (m - mu) and -T mu / (m - mu)."""
    return to_binary32(target << STEP, most - mu), to_binary32(-target * mu, most - mu)


def from_stored(alpha, beta, target):
    """The stored form: mu = -beta / alpha and m = mu + T / alpha, each quotient rounded to a step, ties to even.

    alpha and beta are Reals. None is a refusal: a pair that is not finite, alpha not above 0, m = mu, or values beyond
    the bounds of section 1.
    """
    if not is_finite(alpha) or not is_finite(beta) or alpha.sign or not alpha.n:
        return None

    def by_alpha(num, shift):
        """num 2^shift / alpha in steps."""
        shift += STEP - alpha.q
        return nearest_even(num << max(shift, 0), alpha.n << max(-shift, 0))
    signed = beta.n if beta.sign else -beta.n
    mu = by_alpha(signed, beta.q)
    most = mu + by_alpha(target, 0)
    bound = 1 << STEP + 10
    return (mu, most) if mu < most and abs(mu) <= bound and abs(most) <= bound else None


# 4. Codes

def power(sign, num, den):
    """(-1)^sign 2^(num / den), exactly or as a stand-in."""
    if abs(num) > FAR * den:
        return Real(FINITE, sign, 3, FAR if num > 0 else -FAR)
    return stand_in(power_of_two(sign, num, den), DIGITS)


def encode(x, kind, mu, most, mode, r):
    """The code of an element, and its events."""
    if is_infinite(x) and kind.special == 'nan':
        return encode_infinity(x, kind.element)
    if is_nan(x) or is_infinite(x) or x.n == 0:
        return round_real(x, kind.element, mode, r)
    y = power(x.sign, kind.target * (logarithm(x) - mu), most - mu)
    return round_real(y, kind.element, mode, r)


def encode_infinity(x, element):
    """special=nan: the canonical NaN; a format without NaN takes it as under `finite`. No policy of the mode counts."""
    if element.has_nan:
        return element.nan_code(x.sign), {'inf_in', 'invalid'}
    return round_real(x, element, Mode(sat='finite'))


# 5. Values

def decode(code, kind, mu, most):
    """The value of a code: a binary32 number."""
    p = kind.element.decode(code)
    if is_nan(p) or is_infinite(p):
        return p
    if p.n == 0:
        return ZEROS[p.sign]
    return rne(value(p, kind, mu, most))


def value(p, kind, mu, most):
    """sign(P) 2^(mu + log2|P| (m - mu) / T), exactly or as a stand-in, for |P| = odd 2^j."""
    twos = (p.n & -p.n).bit_length() - 1
    odd, j = p.n >> twos, p.q + twos
    num, den = mu * kind.target + (most - mu) * j, kind.target << STEP      # 2^(num / den) odd^((m - mu) / den)
    if odd == 1:
        return power(p.sign, num, den)

    def bounds(places):
        """Bounds of the exponent of the value, times 2^places."""
        width = places + 32
        low = log2(Real(FINITE, 0, odd, 0), 0, width)[0] >> 1
        low, high = low * (most - mu), (low + 1) * (most - mu)
        return ((num << width) + low) // den >> 32, (((num << width) + high) // den + 1 >> 32) + 1
    y = Irrational(p.sign, bounds)
    exponent = y.floor_log2()
    if abs(exponent) > FAR:
        return Real(FINITE, p.sign, 3, FAR if exponent > 0 else -FAR)
    return dyadic_value(p.sign, odd, num, most - mu, den) or y.stand_in(DIGITS)


def dyadic_value(sign, odd, num, slope, den):
    """The value where it is dyadic: |P|^(w/u) 2^j, with w/u = slope / den reduced, and odd a u-th power."""
    u = den // gcd(slope, den)
    root = whole_root(odd, u)
    if root is None or num % den:
        return None
    return Real(FINITE, sign, root ** (slope * u // den), num // den)


def whole_root(odd, u):
    """The integer whose u-th power is odd > 1, or None."""
    if u > odd.bit_length():
        return None
    low, high = 1, odd
    while low < high:                                   # the least integer whose power is not less
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle ** u < odd else (low, middle)
    return low if low ** u == odd else None
