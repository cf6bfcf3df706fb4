# SPDX-License-Identifier: MIT
"""Section 12 of numerics.md: elementary functions. The exact result is rounded into fz once.

An exact result without a finite expansion is enclosed by intervals that narrow until they give its FIRST digits; one
more digit says that something follows. All decisions of the rounding lie at numbers of fewer digits.
"""
from math import isqrt

import intervals
from arithmetic import DIGITS, quotient, round_exact, with_following_digit
from exact import (INFINITIES, NAN, ONE, ZERO, ZEROS, equal, finite, floor_log2, integer, is_infinite, is_nan, is_zero,
                   negate)
from intervals import fixed
from lines import format_of, hexadecimal, mode_of, operation, result
from words import low_bits

FIRST = 128            # digits of the exact result
NEXT = 200             # "next to 1": between 1 - 2^-NEXT and 1
BEYOND = 12            # |x| >= 2^BEYOND: e^x and 2^x lie beyond every format
PRECISION = 1 << 15    # no case needs as many digits


class Range:
    """Where all numbers round alike into a format: below 2^least, and from 2^most on."""

    def __init__(self, fmt):
        self.least = fmt.emin - fmt.m - 40
        self.most = floor_log2(fmt.max) + 2

    def tiny(self, sign):
        return finite(sign, 1, self.least - 1)

    def huge(self, sign):
        return finite(sign, 1, self.most + 1)


def below_number(x):
    """A number next to x, of the same sign and of smaller magnitude."""
    return finite(x.sign, (x.n << NEXT) - 1, x.q - NEXT)


def narrow(enclosure, area, start=192):
    """The exact result as digits. enclosure(p) gives lo < result < hi in units of 2^-p."""
    p = start
    while p <= PRECISION:
        lo, hi = enclosure(p)
        sign, a, b = (1, -hi, -lo) if hi <= 0 else (0, lo, hi)
        if a >= 0 and b.bit_length() <= area.least + p:
            return area.tiny(sign)
        if a > 0 and a.bit_length() - 1 - p >= area.most:
            return area.huge(sign)
        shift = a.bit_length() - FIRST
        if a > 0 and shift > 0 and a >> shift == (b - 1) >> shift:
            return finite(sign, 2 * (a >> shift) + 1, shift - p - 1)
        p *= 2
    raise ArithmeticError('the intervals do not narrow')


def signed_units(x, p):
    """The interval of x itself."""
    return fixed(-x.n if x.sign else x.n, x.q, p)


def at_least(a, bound):
    return max(a[0], bound), a[1]


def at_most(a, bound):
    return a[0], min(a[1], bound)


# Each function: the exact result of a finite x that is not 0, as a Real, and the events of its own

def exact_exp(x, area):
    """e^x, next to 1 for small x."""
    if floor_log2(x) >= BEYOND:
        return area.tiny(0) if x.sign else area.huge(0)
    return narrow(lambda p: beside_one(intervals.exp(signed_units(x, p), p), x, p), area)


def beside_one(a, x, p):
    """e^x, 2^x < 1 for x < 0, > 1 for x > 0."""
    return at_most(a, 1 << p) if x.sign else at_least(a, 1 << p)


def exact_exp2(x, area):
    """2^x: a power of two for an integer x."""
    if floor_log2(x) >= BEYOND:
        return area.tiny(0) if x.sign else area.huge(0)
    if is_integer(x):
        return finite(0, 1, integer_of(x))

    def enclosure(p):
        ln2 = intervals.log_of_two(p + 16)
        product = intervals.multiply(signed_units(x, p + 16), ln2, p + 16)
        return beside_one(intervals.narrower(intervals.exp(product, p + 16), p + 16, p), x, p)
    return narrow(enclosure, area)


def exact_expm1(x, area):
    """e^x - 1, which is above x."""
    if floor_log2(x) >= BEYOND:
        return below_number(integer(-1)) if x.sign else area.huge(0)

    def enclosure(p):
        lo, hi = beside_one(intervals.exp(signed_units(x, p), p), x, p)
        return at_least((lo - (1 << p), hi - (1 << p)), signed_units(x, p)[0])
    return narrow(enclosure, area, start_for(x))


def start_for(x):
    """Digits for a result of about the size of x or of its square root."""
    return 192 + max(0, -floor_log2(x))


def exact_log(x, area):
    """ln x: +0 for x = 1."""
    if equal(x, ONE):
        return ZERO
    return narrow(lambda p: intervals.log(x.n, x.q, p), area)


def exact_log2(x, area):
    """log2 x: an integer for a power of two."""
    n, q = odd_part(x)
    if n == 1:
        return integer(q)

    def enclosure(p):
        return intervals.divide(intervals.log(x.n, x.q, p), intervals.log_of_two(p), p)
    return narrow(enclosure, area)


def exact_log1p(x, area):
    """ln(1 + x), which is below x."""
    n, q = (x.n, x.q) if x.q <= 0 else (x.n << x.q, 0)
    n = (1 << -q) + (-n if x.sign else n)

    def enclosure(p):
        return at_most(intervals.log(n, q, p), signed_units(x, p)[1])
    return narrow(enclosure, area, start_for(x))


def exact_tanh(x, area):
    """(1 - e^-2x) / (1 + e^-2x) for x > 0; below x, and next to 1 for large x."""
    if floor_log2(x) >= 7:
        return below_number(finite(x.sign, 1, 0))

    def enclosure(p):
        lo, hi = at_most(intervals.exp(fixed(-x.n, x.q + 1, p), p), 1 << p)
        one = 1 << p
        return at_most(intervals.divide((one - hi, one - lo), (one + lo, one + hi), p), fixed(x.n, x.q, p)[1])
    return with_sign(x.sign, narrow(enclosure, area, start_for(x)))


def exact_sigmoid(x, area):
    """1 / (1 + e^-x): next to 1 for large x; below 1/2 for x < 0, above it for x > 0."""
    if floor_log2(x) >= BEYOND:
        return area.tiny(0) if x.sign else below_number(ONE)
    if not x.sign and floor_log2(x) >= 8:
        return below_number(ONE)

    def enclosure(p):
        one, half = 1 << p, 1 << (p - 1)
        lo, hi = at_most(intervals.exp(fixed(-x.n, x.q, p), p), one)
        if x.sign:
            return at_most(intervals.divide((lo, hi), (one + lo, one + hi), p), half)
        return at_least(intervals.divide((one, one), (one + lo, one + hi), p), half)
    return narrow(enclosure, area)


def exact_erf(x, area):
    """2 / sqrt(pi) e^-(x^2) times the sum of 2^i x^(2 i + 1) / (1 3 ... (2 i + 1)); next to 1 for large x."""
    if floor_log2(x) >= 4:
        return below_number(finite(x.sign, 1, 0))

    def enclosure(p):
        total = intervals.erf_sum(fixed(x.n, x.q, p), fixed(x.n * x.n, 2 * x.q + 1, p), p)
        growth = intervals.exp(fixed(x.n * x.n, 2 * x.q, p), p)
        lo, hi = intervals.divide(intervals.divide(total, growth, p), intervals.root(intervals.pi(p), p), p)
        return at_most((2 * lo, 2 * hi), 1 << p)
    return with_sign(x.sign, narrow(enclosure, area, start_for(x)))


def exact_gelu(x, area):
    """x Phi(x), Phi(x) = 1/2 + e^-(x^2/2) / sqrt(2 pi) times the sum of x^(2 i + 1) / (1 3 ... (2 i + 1))."""
    if floor_log2(x) >= 6:
        return area.tiny(1) if x.sign else below_number(x)

    def enclosure(p):
        square = fixed(x.n * x.n, 2 * x.q, p)
        total = intervals.erf_sum(fixed(x.n, x.q, p), square, p)
        growth = intervals.exp(fixed(x.n * x.n, 2 * x.q - 1, p), p)
        two_pi = intervals.pi(p + 1)
        root = intervals.root((2 * two_pi[0], 2 * two_pi[1]), p + 1)
        root = intervals.narrower(root, p + 1, p)
        lo, hi = intervals.divide(intervals.divide(total, growth, p), root, p)
        half = 1 << (p - 1)
        phi = (half - hi, half - lo) if x.sign else (half + lo, half + hi)
        phi = (max(phi[0], 0), phi[1]) if x.sign else (max(phi[0], half), phi[1])
        return intervals.multiply(fixed(x.n, x.q, p), at_most(phi, half if x.sign else 1 << p), p)
    return with_sign(x.sign, narrow(enclosure, area, start_for(x)))


def exact_sin(x, area):
    """sin x: below x for x > 0."""
    def enclosure(p):
        a = intervals.sine(x.n, x.q, p, False)
        return at_most(a, fixed(x.n, x.q, p)[1])
    y = narrow(enclosure, area, start_for(x))
    return negate(y) if x.sign else y


def exact_cos(x, area):
    return narrow(lambda p: at_most(intervals.sine(x.n, x.q, p, True), 1 << p), area)


def exact_rsqrt(x, area):
    """1 / sqrt x: floor of the root of 2^(2 s) / n, and whether that is all."""
    n, q = (x.n, x.q) if x.q % 2 == 0 else (2 * x.n, x.q - 1)
    s = DIGITS + n.bit_length()
    f = isqrt((1 << 2 * s) // n)
    return finite(0, *with_following_digit(f, -q // 2 - s, f * f * n != 1 << 2 * s))


def exact_reciprocal(x, area):
    return finite(x.sign, *quotient(ONE, x))


def with_sign(sign, y):
    return y._replace(sign=sign)


def is_integer(x):
    return x.q >= 0 or x.n % (1 << -x.q) == 0


def integer_of(x):
    n = x.n << x.q if x.q >= 0 else x.n >> -x.q
    return -n if x.sign else n


def is_odd(y):
    """An odd integer."""
    return is_integer(y) and odd_part(y)[1] == 0


def odd_part(x):
    """n, q: |x| = n 2^q with n odd."""
    zeros = (x.n & -x.n).bit_length() - 1
    return x.n >> zeros, x.q + zeros


# pow

def power(x, y, area):
    """|x|^y of finite numbers that are not 0: the cases that integers decide, else e^(y ln |x|)."""
    n, q = odd_part(x)
    if n == 1:
        return power_of_two(q, y, area)
    m, r = odd_part(y)
    if not y.sign:
        for _ in range(-r):                             # y = m 2^r: take the root while there is an exact one
            base = isqrt(n)
            if base * base != n or q % 2:
                break
            n, q, r = base, q // 2, r + 1
        if r >= 0 and m.bit_length() + r < 16 and (m << r) * n.bit_length() < 4096:
            return finite(0, n ** (m << r), q * (m << r))
    return narrow_power(x, y, area)


def power_of_two(q, y, area):
    """(2^q)^y: 2 to the power q y."""
    if q == 0:
        return ONE
    sign = y.sign ^ (1 if q < 0 else 0)
    return exact_exp2(finite(sign, abs(q) * y.n, y.q), area)


def narrow_power(x, y, area):
    reach = max(0, floor_log2(y)) + 16

    def exponent(p):
        """y ln |x| in units of 2^-p."""
        lo, hi = intervals.log(x.n, x.q, p + reach)
        if y.sign:
            lo, hi = -hi, -lo
        lo, hi = lo * y.n, hi * y.n
        return fixed(lo, y.q - p - reach, p)[0], fixed(hi, y.q - p - reach, p)[1]
    lo, hi = exponent(64)
    if lo >> 64 >= 1 << BEYOND:
        return area.huge(0)
    if hi < -1 << (64 + BEYOND):
        return area.tiny(0)

    def enclosure(p):
        a = exponent(p + 16)
        below_one = a[0] < 0
        e = intervals.narrower(intervals.exp(a, p + 16), p + 16, p)
        return at_most(e, 1 << p) if below_one and a[1] <= 0 else at_least(e, 1 << p) if a[0] >= 0 else e
    return narrow(enclosure, area)


def exact_pow(x, y, area):
    """The table of pow: the first line that fits."""
    if is_zero(y) or equal(x, ONE):
        return ONE, set()
    if is_nan(x) or is_nan(y):
        return NAN, set()
    if is_infinite(y):
        return power_infinite(x, y), set()
    odd = y.n and is_odd(y)
    sign = 1 if x.sign and odd else 0
    if is_infinite(x):
        return (ZEROS if y.sign else INFINITIES)[sign], set()
    if is_zero(x):
        return (INFINITIES[sign], {'divide_by_zero'}) if y.sign else (ZEROS[sign], set())
    if x.sign and not is_integer(y):
        return NAN, {'invalid'}
    return with_sign(sign, power(x, y, area)), set()


def power_infinite(x, y):
    """y infinite: x = -1, |x| > 1, |x| < 1."""
    if is_infinite(x):
        above = True
    elif is_zero(x):
        above = False
    else:
        if odd_part(x) == (1, 0):
            return ONE
        above = floor_log2(x) >= 0
    return INFINITIES[0] if above != bool(y.sign) else ZERO


# The table of functions: of a finite x that is not 0, of +0, -0, of -inf, of +inf

ITSELF, INVALID, POLE = 'x', 'invalid', 'pole'
ONE_HALF, MINUS_ONE = finite(0, 1, -1), integer(-1)

TABLE = {
    'exp': (exact_exp, ONE, ZERO, INFINITIES[0]),
    'exp2': (exact_exp2, ONE, ZERO, INFINITIES[0]),
    'expm1': (exact_expm1, ITSELF, MINUS_ONE, INFINITIES[0]),
    'log': (exact_log, POLE, INVALID, INFINITIES[0]),
    'log2': (exact_log2, POLE, INVALID, INFINITIES[0]),
    'log1p': (exact_log1p, ITSELF, INVALID, INFINITIES[0]),
    'tanh': (exact_tanh, ITSELF, MINUS_ONE, ONE),
    'sigmoid': (exact_sigmoid, ONE_HALF, ZERO, ONE),
    'erf': (exact_erf, ITSELF, MINUS_ONE, ONE),
    'gelu': (exact_gelu, ITSELF, ZEROS[1], INFINITIES[0]),
    'rsqrt': (exact_rsqrt, POLE, INVALID, ZERO),
    'reciprocal': (exact_reciprocal, POLE, ZEROS[1], ZERO),
    'sin': (exact_sin, ITSELF, INVALID, INVALID),
    'cos': (exact_cos, ONE, INVALID, INVALID),
}


def pole(name, x):
    """The infinity at a zero: that of its sign for rsqrt and reciprocal, -inf for logarithms."""
    return INFINITIES[x.sign] if name in ('rsqrt', 'reciprocal') else INFINITIES[1]


def exact_result(name, x, area):
    """The exact result and the events of the function itself."""
    of_finite, of_zero, of_minus_infinity, of_infinity = TABLE[name]
    if is_nan(x):
        return NAN, set()
    if is_infinite(x) or is_zero(x):
        y = of_zero if is_zero(x) else (of_minus_infinity if x.sign else of_infinity)
        if y is POLE:
            return pole(name, x), {'divide_by_zero'}
        if y is INVALID:
            return NAN, {'invalid'}
        return (x if y is ITSELF else y), set()
    if x.sign and name in ('log', 'log2', 'rsqrt'):
        return NAN, {'invalid'}
    if x.sign and name == 'log1p':
        if odd_part(x) == (1, 0):
            return INFINITIES[1], {'divide_by_zero'}
        if floor_log2(x) >= 0:
            return NAN, {'invalid'}
    return of_finite(x, area), set()


@operation('function', 'op fz mode word fx x', 'fy y')
def function(fields):
    fmt, mode = format_of(fields['fz']), mode_of(fields['mode'])
    r = low_bits(hexadecimal(fields['word']), mode.bits)
    operands = [format_of(fields['fx']).decode(hexadecimal(fields['x']))]
    if fields['op'] == 'pow':
        operands.append(format_of(fields['fy']).decode(hexadecimal(fields['y'])))
        y, own = exact_pow(*operands, Range(fmt))
    else:
        y, own = exact_result(fields['op'], operands[0], Range(fmt))
    return result(*round_exact(y, own, operands, fmt, mode, r))
