# SPDX-License-Identifier: MIT
"""docs/numerics.md, sections 1 to 5, as terms. To be read beside the page: each function says which lines it stands for.

Integers are those of integers.py, which cannot wrap. A code is never made from a number here: `right` asks whether the code
that somebody else found has the value that the page wants."""
from collections import namedtuple

from integers import Integer, choose, integer, largest, pow2, select, smallest
from terms import FALSE, TRUE, conjunction as both, differs, disjunction as either, equal, negation as no

# ---- numbers of the headers: include/halfulp/format.h and mode.h ----
ZERO_FIELD, ZERO_CODE, ZERO_NONE = range(3)
GRADUAL, NOTHING, FLUSH = range(3)
INF_NONE, INF_IEEE, INF_TOP = range(3)
NAN_NONE, NAN_IEEE, NAN_IEEE1, NAN_ONES, NAN_NEGZERO, NAN_TOP = range(6)
OVER_INF, OVER_NAN, OVER_MAX = range(3)
BELOW_NAN, BELOW_LOW, BELOW_STOP = range(3)
RNE, RNA, RNZ, RTZ, RTP, RTN, RAZ, RTO, SRA, SRB, SRC = range(11)
SAT_DEFAULT, SAT_NONE, SAT_FINITE, SAT_PROPAGATE = range(4)
TINY_AFTER, TINY_BEFORE = range(2)
NAN_TO_MAX, NAN_TO_ZERO, NAN_TO_ERROR = range(3)
EVENTS = ('overflow', 'saturated', 'underflow', 'to_zero', 'subnormal', 'inexact', 'invalid', 'nan_in', 'inf_in')
KIND_ZERO, KIND_FINITE, KIND_INF, KIND_NAN = range(4)

# Axes are 8-bit terms; sign and negzero are booleans; e, m and b are integers.
Format = namedtuple('Format', 'sign e m b zero subnormal inf nan negzero overflow negative')
Mode = namedtuple('Mode', 'round saturate tiny nan bits')
# (-1)^minus (sig + s) 2^exp, 0 < s < 1 if more, else s = 0. minus, more: booleans.
Operand = namedtuple('Operand', 'minus sig exp more')
# What a code is: booleans, and for a finite number that is not zero its magnitude sig 2^exp.
Decoded = namedtuple('Decoded', 'nan inf zero finite minus sig exp field trailing')
# A number >= 0: floor(2^DIGITS times it), and whether anything is left. Compared with multiples of 2^-DIGITS only.
Real = namedtuple('Real', 'scaled more')
DIGITS = 40
# The rounded magnitude r 2^q, and whether x is tiny.
Rounded = namedtuple('Rounded', 'r q tiny')


def one_of(axis, *values):
    return either(*(equal(axis, v) for v in values))


# ---- section 1 ----

def bias(f):
    """bias = 2^(e-1) - 1 + b for e >= 1; bias = b for e = 0."""
    return f.b + choose(f.e == 0, 0, pow2(largest(f.e, 1) - 1) - 1)


def emin(f):
    """The exponent of the lowest normal binade: 1 - bias (field) or -bias (code, none)."""
    return choose(equal(f.zero, ZERO_FIELD), 1 - bias(f), -bias(f))


def all_ones(f):
    """The magnitude code whose bits are all 1."""
    return pow2(f.e + f.m) - 1


def field_ones(f):
    """The exponent field whose bits are all 1."""
    return pow2(f.e) - 1


def has_inf(f):
    return differs(f.inf, INF_NONE)


def has_nan(f):
    return differs(f.nan, NAN_NONE)


def inf_code(f):
    """ieee: E all ones and M = 0; top: the largest magnitude code that is not NaN."""
    top = choose(equal(f.nan, NAN_TOP), all_ones(f) - 1, all_ones(f))
    return choose(equal(f.inf, INF_IEEE), field_ones(f) * pow2(f.m), top)


def is_inf(f, c):
    """Is the magnitude code c an infinity (unless the code is NaN as a whole: negzero)?"""
    return both(has_inf(f), c == inf_code(f))


def is_nan(f, sign_bit, c):
    field = c // pow2(f.m)
    ones = c == all_ones(f)
    return either(both(one_of(f.nan, NAN_IEEE, NAN_IEEE1), field == field_ones(f), no(is_inf(f, c))),
                  both(one_of(f.nan, NAN_ONES, NAN_TOP), ones),
                  both(equal(f.nan, NAN_NEGZERO), sign_bit, c == 0))


def nan_code(f):
    """The canonical NaN: ieee: the trailing bits 1.0...0; ieee1, ones, top: all ones; negzero: 10...0."""
    quiet = field_ones(f) * pow2(f.m) + choose(f.m == 0, 0, pow2(largest(f.m, 1) - 1))
    return select((equal(f.nan, NAN_IEEE), quiet), (equal(f.nan, NAN_NEGZERO), pow2(f.e + f.m)), otherwise=all_ones(f))


def max_code(f):
    """The largest magnitude code that is neither infinity nor NaN (P9 proves that it is this)."""
    return select((equal(f.inf, INF_IEEE), field_ones(f) * pow2(f.m) - 1),
                  (equal(f.inf, INF_TOP), inf_code(f) - 1),
                  (one_of(f.nan, NAN_IEEE, NAN_IEEE1), field_ones(f) * pow2(f.m) - 1),
                  (one_of(f.nan, NAN_ONES, NAN_TOP), all_ones(f) - 1), otherwise=all_ones(f))


def magnitude(f, c):
    """Field, trailing bits, and the value sig 2^exp of a magnitude code that is not special.

    zero = field:  E = 0:  M 2^(1-bias-m)      E > 0:  (2^m + M) 2^(E-bias-m)
    zero = code, none:  (2^m + M) 2^(E-bias-m) for every E"""
    field, trailing = c // pow2(f.m), c % pow2(f.m)
    low = both(equal(f.zero, ZERO_FIELD), field == 0)
    sig = choose(low, trailing, pow2(f.m) + trailing)
    exp = choose(low, 1 - bias(f) - f.m, field - bias(f) - f.m)
    return field, trailing, sig, exp


def decode(f, code):
    """What a code is. The top bit is the sign; bits above the width are ignored."""
    c = code % pow2(f.e + f.m)
    sign_bit = both(f.sign, (code // pow2(f.e + f.m)).odd)
    field, trailing, sig, exp = magnitude(f, c)
    nan = is_nan(f, sign_bit, c)
    inf = both(no(nan), is_inf(f, c))
    # E = 0 and M != 0 without subnormals: read as zero. A code 10...0 that is no NaN: -0, or +0 where that is absent.
    flat = both(equal(f.zero, ZERO_FIELD), differs(f.subnormal, GRADUAL), field == 0)
    zero = both(no(nan), no(inf), differs(f.zero, ZERO_NONE), either(c == 0, flat))
    finite = no(either(nan, inf, zero))
    minus = both(sign_bit, either(no(zero), f.negzero))
    return Decoded(nan, inf, zero, finite, minus, sig, exp, field, trailing)


def valid(f):
    """hu_format_check accepts the descriptor: the ranges and the table at the end of section 1."""
    plain = both(equal(f.zero, ZERO_FIELD), equal(f.subnormal, GRADUAL))
    ieee_nan = one_of(f.nan, NAN_IEEE, NAN_IEEE1)
    table = [
        (equal(f.zero, ZERO_CODE), equal(f.subnormal, FLUSH)),
        (equal(f.zero, ZERO_NONE), both(no(f.sign), equal(f.subnormal, NOTHING))),
        (f.e == 0, both(plain, one_of(f.inf, INF_NONE, INF_TOP), no(ieee_nan))),
        (both(equal(f.inf, INF_IEEE), f.m > 0), ieee_nan),
        (both(equal(f.inf, INF_IEEE), f.m == 0), one_of(f.nan, NAN_NONE, NAN_NEGZERO)),
        (equal(f.inf, INF_TOP), one_of(f.nan, NAN_NONE, NAN_NEGZERO, NAN_TOP)),
        (one_of(f.nan, NAN_ONES, NAN_NEGZERO), f.sign),
        (equal(f.nan, NAN_NEGZERO), no(f.negzero)),
        (equal(f.nan, NAN_TOP), no(f.sign)),
        (f.negzero, both(f.sign, one_of(f.zero, ZERO_FIELD, ZERO_CODE))),
        (equal(f.overflow, OVER_INF), has_inf(f)),
        (equal(f.overflow, OVER_NAN), has_nan(f)),
        (f.sign, equal(f.negative, BELOW_NAN)),
    ]
    width = choose(f.sign, 1, 0) + f.e + f.m
    known = both(one_of(f.zero, 0, 1, 2), one_of(f.subnormal, 0, 1, 2), one_of(f.inf, 0, 1, 2), one_of(f.nan, 0, 1, 2, 3, 4, 5),
                 one_of(f.overflow, 0, 1, 2), one_of(f.negative, 0, 1, 2))
    return both(f.e <= 11, f.m <= 30, width >= 1, width <= 32, f.e + f.m >= 1, known, holds_all(table), has_values(f))


def holds_all(table):
    """Each line's choice has what it requires."""
    return both(*(either(no(choice), requires) for choice, requires in table))


def has_values(f):
    """There is a positive finite value, and all finite values are exact in binary64: exponents -1074 to 1023."""
    smallest_code = select((equal(f.zero, ZERO_NONE), 0), (equal(f.subnormal, GRADUAL), 1), (equal(f.zero, ZERO_CODE), 1),
                           otherwise=pow2(f.m))
    _, _, sig, exp = magnitude(f, largest(max_code(f), 0))
    return both(max_code(f) >= smallest_code, emin(f) - f.m >= -1074, compare(sig, exp, 1, 1024) < 0)


# ---- numbers a 2^p ----

def compare(a, p, b, q):
    """-1, 0 or 1 as a 2^p is less than, equal to or greater than b 2^q; a, b >= 0. P9 proves it."""
    a, b = integer(a), integer(b)
    apart = p - q
    x = a * pow2(smallest(largest(apart, 0), b.high.bit_length()))    # 2^ that many is more than b, so it decides
    y = b * pow2(smallest(largest(-apart, 0), a.high.bit_length()))
    return select((x < y, -1), (x == y, 0), otherwise=1)


# ---- section 2 ----

def real(sig, more, places):
    """(sig + s) 2^-places as a Real, 0 < s < 1 if more, else s = 0; where more, places >= DIGITS."""
    shift = integer(places) - DIGITS                 # digits of sig that are left behind; fewer than 0 are added
    added = max(0, -shift.low)
    wide = sig * pow2(added)
    by = smallest(shift + added, wide.term.sort)
    return Real(wide // pow2(by), either(more, wide % pow2(by) != 0))


def floor(x):
    return x.scaled // pow2(DIGITS)


def fraction(x):
    """nu = t - floor(t)."""
    return Real(x.scaled % pow2(DIGITS), x.more)


def is_zero(nu):
    return both(nu.scaled == 0, no(nu.more))


def above_half(nu):
    half = 1 << (DIGITS - 1)
    return either(nu.scaled > half, both(nu.scaled == half, nu.more))


def is_half(nu):
    return both(nu.scaled == 1 << (DIGITS - 1), no(nu.more))


def floor_times(nu, n):
    """floor(nu 2^n); n <= DIGITS."""
    return nu.scaled // pow2(DIGITS - n)


def rne_times(nu, n):
    """rne(nu 2^n): to an integer, ties to even; n < DIGITS."""
    whole = floor_times(nu, n)
    rest = Real((nu.scaled % pow2(DIGITS - n)) * pow2(n), nu.more)
    return whole + choose(either(above_half(rest), both(is_half(rest), whole.odd)), 1, 0)


def takes_upper(mode, nu, odd, minus, decide):
    """The table of section 2: does the mode take f + 1? decide(nu): the rows of the stochastic modes."""
    exact = is_zero(nu)
    table = [
        (RNE, either(above_half(nu), both(is_half(nu), odd))),
        (RNA, either(above_half(nu), is_half(nu))),
        (RNZ, above_half(nu)),
        (RTZ, FALSE),
        (RTP, both(no(exact), no(minus))),
        (RTN, both(no(exact), minus)),
        (RAZ, no(exact)),
        (RTO, both(no(exact), no(odd))),
    ]
    return either(*(both(equal(mode.round, number), row) for number, row in table),
                  both(one_of(mode.round, SRA, SRB, SRC), decide))


def stochastic(mode, nu, random):
    """The last three rows: R is the low N bits of the word. mode.bits is an integer N, 1 <= N <= 32."""
    n = mode.bits
    r = random % pow2(n)
    return either(both(equal(mode.round, SRA), floor_times(nu, n) + r >= pow2(n)),
                  both(equal(mode.round, SRB), floor_times(nu, n + 1) + 2 * r + 1 >= pow2(n + 1)),
                  both(equal(mode.round, SRC), rne_times(nu, n) + r >= pow2(n)))


def rounded(f, mode, x, decide):
    """Section 2 for |x| > 0 with 2^63 <= x.sig < 2^64, and whether x is tiny (section 5).

    decide(places): what a stochastic mode does with the fraction of (sig + s) 2^-places."""
    k = x.exp + 63                                   # k = floor(log2 |x|)
    depth = largest(emin(f) - k, 0)                  # max(k, emin) = k + depth
    below = k < emin(f)
    q = k + depth - f.m                              # Q = max(k, emin) - m
    places = 63 - f.m + depth                        # t = |x| 2^-Q = (sig + s) 2^-(63 - m + depth)
    # "subnormals none, zero = field: the candidates are 0 and 2^emin; take Q = emin"
    coarse = both(below, equal(f.subnormal, NOTHING), equal(f.zero, ZERO_FIELD))
    places = choose(coarse, places + f.m, places)
    t = real(x.sig, x.more, places)
    lower, nu = floor(t), fraction(t)
    # Parity: of f for m >= 1; of E for m = 0 and f = 1; f = 0 is even. E = k + bias continues above max.
    odd = either(both(f.m > 0, lower.odd), both(f.m == 0, lower == 1, (k + bias(f)).odd))
    up = takes_upper(mode, nu, odd, x.minus, decide(places))
    r = lower + choose(up, 1, 0)
    r, q = choose(coarse, r * pow2(f.m), r), q       # one step is 2^emin = 2^m 2^Q there
    # "zero = none: the result is 2^emin in every mode"
    r = choose(both(below, equal(f.zero, ZERO_NONE)), pow2(f.m), r)
    return Rounded(r, q, tiny(f, mode, x, decide))


# ---- section 5: tiny ----

def smallest_normal(f):
    """2^emin, or 2^emin (1 + 2^-m) where zero = code: as sig, exp."""
    return pow2(f.m) + choose(equal(f.zero, ZERO_CODE), 1, 0), emin(f) - f.m


def tiny(f, mode, x, decide):
    k = x.exp + 63
    normal_sig, normal_exp = smallest_normal(f)
    # Before rounding: |x| below the smallest normal value.
    before = compare(x.sig, x.exp, normal_sig, normal_exp) < 0
    # After: |x| rounded to precision m + 1, the exponent unbounded below: Q = k - m.
    t = real(x.sig, x.more, 63 - f.m)
    lower, nu = floor(t), fraction(t)
    odd = choose(f.m == 0, choose((k + bias(f)).odd, 1, 0), choose(lower.odd, 1, 0)) == 1
    r = lower + choose(takes_upper(mode, nu, odd, x.minus, decide(63 - f.m)), 1, 0)
    after = compare(r, k - f.m, normal_sig, normal_exp) < 0
    # "Formats with e = 0 have none; there tiny means |x| < 2^emin."
    return either(both(f.e == 0, k < emin(f)), both(f.e > 0, either(both(equal(mode.tiny, TINY_BEFORE), before),
                                                                   both(equal(mode.tiny, TINY_AFTER), after))))


# ---- section 3 ----

def policy(f, mode):
    """Which of `none`, `finite`, `propagate` holds; the default is none with infinities, finite without."""
    default = equal(mode.saturate, SAT_DEFAULT)
    return (either(equal(mode.saturate, SAT_NONE), both(default, has_inf(f))),
            either(equal(mode.saturate, SAT_FINITE), both(default, no(has_inf(f)))),
            equal(mode.saturate, SAT_PROPAGATE))


def with_sign(f, c, minus):
    """A magnitude code that is not zero, under the sign of x."""
    return c + choose(both(f.sign, minus), pow2(f.e + f.m), 0)


def signed_nan(f, minus):
    """The NaN made by overflow or by an infinity: it carries the sign where there are NaNs of both signs."""
    return nan_code(f) + choose(both(f.sign, minus, one_of(f.nan, NAN_IEEE, NAN_IEEE1, NAN_ONES)), pow2(f.e + f.m), 0)


def stays_at_max(f, mode, minus):
    """rtz; rtp for x < 0; rtn for x > 0; rto where infinities are ieee and max has an odd code."""
    return either(equal(mode.round, RTZ), both(equal(mode.round, RTP), minus), both(equal(mode.round, RTN), no(minus)),
                  both(equal(mode.round, RTO), equal(f.inf, INF_IEEE), max_code(f).odd))


def overflow(f, mode, minus):
    """The code of a finite value beyond max, and whether it is finite."""
    none, _, _ = policy(f, mode)
    over = both(none, no(stays_at_max(f, mode, minus)))
    to_inf, to_nan = both(over, equal(f.overflow, OVER_INF)), both(over, equal(f.overflow, OVER_NAN))
    code = select((to_inf, with_sign(f, inf_code(f), minus)), (to_nan, signed_nan(f, minus)),
                  otherwise=with_sign(f, max_code(f), minus))
    return code, no(either(to_inf, to_nan))


def below_range(f, mode, infinite):
    """The code of a number below the range of an unsigned format, and whether it is NaN. The lowest value is code 0."""
    none, _, _ = policy(f, mode)
    stops = both(equal(f.negative, BELOW_STOP), one_of(mode.round, RTZ, RTP), no(infinite))
    nan = both(none, has_nan(f), one_of(f.negative, BELOW_NAN, BELOW_STOP), no(stops))
    return choose(nan, nan_code(f), 0), nan


# ---- sections 2 to 5 together ----

def events(**when):
    """The set of events as an integer; those that are not named do not happen."""
    total = integer(0)
    for i, name in enumerate(EVENTS):
        total = total + choose(when.get(name, FALSE), 1 << i, 0)
    return total


def right(f, mode, x, decide, code, reported):
    """Whether code and the reported events are the page's for a finite x that is not 0."""
    got = decode(f, code)
    in_width = code < pow2(f.e + f.m + choose(f.sign, 1, 0))
    z = rounded(f, mode, x, decide)
    normal_sig, normal_exp = smallest_normal(f)
    # 1. subnormals flush: r below the smallest normal value becomes 0.
    flushed = both(equal(f.subnormal, FLUSH), compare(z.r, z.q, normal_sig, normal_exp) < 0)
    r = choose(flushed, 0, z.r)
    # 2. unsigned, x < 0 and r not 0 (any x < 0 where zero = none)
    under = both(no(f.sign), x.minus, either(r != 0, equal(f.zero, ZERO_NONE)))
    under_code, under_nan = below_range(f, mode, FALSE)
    # 3. |r| > max
    _, _, max_sig, max_exp = magnitude(f, max_code(f))
    over = both(no(under), compare(r, z.q, max_sig, max_exp) > 0)
    over_code, over_finite = overflow(f, mode, x.minus)
    # 4. the code of r with the sign of x; a zero keeps the sign if the format has negative zero
    zero_code = choose(both(f.negzero, x.minus), pow2(f.e + f.m), 0)
    is_r = either(both(r == 0, code == zero_code),
                  both(r != 0, got.finite, equal(got.minus, both(f.sign, x.minus)), compare(r, z.q, got.sig, got.exp) == 0))
    right_code = both(in_width, either(both(under, code == under_code), both(over, code == over_code),
                                       both(no(under), no(over), is_r)))
    # Section 5.
    inexact = either(got.zero, x.more, compare(got.sig, got.exp, x.sig, x.exp) != 0)
    subnormal = both(got.finite, equal(f.zero, ZERO_FIELD), got.field == 0)
    set_under = events(invalid=TRUE, inexact=TRUE, saturated=no(under_nan))
    set_over = events(overflow=TRUE, inexact=TRUE, saturated=over_finite)
    set_else = events(inexact=inexact, underflow=both(z.tiny, inexact), to_zero=got.zero, subnormal=subnormal)
    return both(right_code, reported == select((under, set_under), (over, set_over), otherwise=set_else))


def right_special(f, mode, kind, minus, code, reported):
    """The same for an operand that is a zero, an infinity or a NaN."""
    none, finite, propagate = policy(f, mode)
    # Section 2: x = 0 gives the zero of its sign; where zero = none, the smallest value (code 0), which is not equal to it.
    zero = both(code == choose(both(f.negzero, minus), pow2(f.e + f.m), 0),
                reported == events(inexact=equal(f.zero, ZERO_NONE)))
    # Section 4.
    max_or_zero = choose(equal(mode.nan, NAN_TO_ZERO), 0, max_code(f))
    nan = both(code == choose(has_nan(f), nan_code(f), max_or_zero),
               reported == events(nan_in=TRUE, invalid=both(no(has_nan(f)), equal(mode.nan, NAN_TO_ERROR))))
    # Section 3, an infinite operand.
    under = both(no(f.sign), minus)
    under_code, under_nan = below_range(f, mode, TRUE)
    to_inf = both(either(none, propagate), has_inf(f))
    to_nan = both(none, no(has_inf(f)), equal(f.overflow, OVER_NAN))
    inf_result = select((under, under_code), (to_inf, with_sign(f, inf_code(f), minus)), (to_nan, signed_nan(f, minus)),
                        otherwise=with_sign(f, max_code(f), minus))
    becomes_nan = choose(under, choose(under_nan, 1, 0), choose(to_nan, 1, 0)) == 1
    saturated = choose(under, choose(under_nan, 0, 1), choose(either(to_inf, to_nan), 0, 1)) == 1
    inf = both(code == inf_result, reported == events(inf_in=TRUE, invalid=either(under, becomes_nan), saturated=saturated))
    return either(both(equal(kind, KIND_ZERO), zero), both(equal(kind, KIND_NAN), nan), both(equal(kind, KIND_INF), inf))
