# SPDX-License-Identifier: MIT
"""Sections 2 to 5 of numerics.md: one rounding, what lies beyond the range, NaN operands, events."""
from exact import INFINITE, NOT_A_NUMBER

EVENTS = ('nan_in', 'inf_in', 'invalid', 'overflow', 'saturated', 'inexact', 'underflow', 'to_zero', 'subnormal',
          'divide_by_zero')
DETERMINISTIC = ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto')
STOCHASTIC = ('sra', 'srb', 'src')


class Mode:
    """A rounding mode with its policies: saturation (section 3), tininess (5), NaN (4), and nan_fma (10)."""

    def __init__(self, word='rne', bits=0, sat='default', tiny='after', nan='max', fma='quiet'):
        self.word, self.bits, self.sat, self.tiny, self.nan, self.fma = word, bits, sat, tiny, nan, fma

    @property
    def toward_negative(self):
        return self.word == 'rtn'

    def saturation(self, fmt):
        """The default is `none` where the result's format has infinities and `finite` where it has none."""
        if self.sat != 'default':
            return self.sat
        return 'none' if fmt.has_infinity else 'finite'


TIES_TO_EVEN = Mode()


# Section 2: one rounding

def nearest_even(n, shift):
    """n 2^-shift rounded to an integer, ties to even."""
    if shift <= 0:
        return n << -shift
    f, rest, half = n >> shift, n & ((1 << shift) - 1), 1 << (shift - 1)
    return f + (1 if rest > half or (rest == half and f & 1) else 0)


def takes_upper(mode, odd, rest, shift, negative, r):
    """The table of modes: whether f + 1 is taken, where nu = rest 2^-shift and `odd` is the parity of the lower one."""
    word, bits = mode.word, mode.bits
    if word == 'sra':
        return ((rest << bits) >> shift) + r >= 1 << bits
    if word == 'srb':
        return ((rest << (bits + 1)) >> shift) + 2 * r + 1 >= 1 << (bits + 1)
    if word == 'src':
        return nearest_even(rest << bits, shift) + r >= 1 << bits
    if rest == 0 or word == 'rtz':
        return False
    if word == 'rne':
        return 2 * rest > 1 << shift or (2 * rest == 1 << shift and odd)
    if word == 'rna':
        return 2 * rest >= 1 << shift
    if word == 'rnz':
        return 2 * rest > 1 << shift
    if word == 'rtp':
        return not negative
    if word == 'rtn':
        return bool(negative)
    if word == 'raz':
        return True
    assert word == 'rto'
    return not odd


def split(n, q, unit):
    """f, rest, shift: n 2^q is (f + rest 2^-shift) 2^unit."""
    if q >= unit:
        return n << (q - unit), 0, 0
    shift = unit - q
    return n >> shift, n & ((1 << shift) - 1), shift


def rounded_magnitude(x, fmt, mode, r):
    """f, Q: the rounded magnitude f 2^Q of a finite x that is not 0. Its exponent is unbounded above."""
    k = x.n.bit_length() - 1 + x.q
    m, emin = fmt.m, fmt.emin
    if k < emin and fmt.zero == 'none':
        return 1, emin                                  # the result is 2^emin in every mode
    unit = max(k, emin) - m
    if k < emin and fmt.sub == 'none' and fmt.zero == 'field':
        unit = emin                                     # the candidates are 0 and 2^emin
    f, rest, shift = split(x.n, x.q, unit)
    odd = f & 1
    if m == 0 and f == 1:
        odd = (k + fmt.bias) & 1                        # the parity of E
    return f + (1 if takes_upper(mode, odd, rest, shift, x.sign, r) else 0), unit


def rounded_to_precision(x, fmt, mode, r):
    """|x| rounded to precision m + 1 with the exponent unbounded below, for tininess after rounding (section 5)."""
    k = x.n.bit_length() - 1 + x.q
    unit = k - fmt.m
    f, rest, shift = split(x.n, x.q, unit)
    odd = f & 1 if fmt.m else (k + fmt.bias) & 1
    return f + (1 if takes_upper(mode, odd, rest, shift, x.sign, r) else 0), unit


def less(a, p, b, q):
    """a 2^p < b 2^q for integers a, b >= 0."""
    return a << (p - q) < b if p >= q else a < b << (q - p)


def same(a, p, b, q):
    return a << (p - q) == b if p >= q else a == b << (q - p)


def round_real(x, fmt, mode, r=0):
    """The code of fmt that x becomes, and the set of events. x is a Real; r is R, the random integer of the mode."""
    if x.kind is NOT_A_NUMBER:
        return nan_operand(fmt, mode)
    if x.kind is INFINITE:
        return infinite_operand(x.sign, fmt, mode)
    if x.n == 0:
        return zero_operand(x.sign, fmt)
    f, unit = rounded_magnitude(x, fmt, mode, r)
    if fmt.sub == 'flush' and f:                        # rule 1
        k = f.bit_length() - 1 + unit
        if k < fmt.emin or (fmt.zero == 'code' and same(f, unit, 1, fmt.emin)):
            f = 0
    if not fmt.s and x.sign and (f or fmt.zero == 'none'):
        return below_the_range(fmt, mode, 'inexact')    # rule 2
    if less(fmt.max.n, fmt.max.q, f, unit):
        return finite_overflow(x.sign, fmt, mode)       # rule 3
    if f:                                               # rule 4
        c = fmt.magnitude_code(f, unit)
        code = fmt.join(x.sign, c)
    else:
        code = fmt.zero_code(x.sign)
    return code, finite_events(x, f, unit, fmt, mode, r)


def zero_operand(sign, fmt):
    """x = 0 gives the zero of its sign; where zero = none it gives the smallest value, code 0."""
    if fmt.zero == 'none':
        return 0, {'inexact'}
    return fmt.zero_code(sign), set()


# Section 3: beyond the range

def finite_overflow(sign, fmt, mode):
    """The column "finite overflow", and the events of an overflow (section 5)."""
    events = {'overflow', 'inexact'}
    if mode.saturation(fmt) == 'none' and fmt.over != 'max' and not stays_at_max(sign, fmt, mode):
        if fmt.over == 'inf':
            return fmt.infinity_code(sign), events
        return fmt.nan_code(sign), events
    return fmt.max_code(sign), events | {'saturated'}


def stays_at_max(sign, fmt, mode):
    """Under `none` with the overflow axis inf or nan: the cases that give max instead of overflowing."""
    return (mode.word == 'rtz' or (mode.word == 'rtp' and sign) or (mode.word == 'rtn' and not sign) or
            (mode.word == 'rto' and fmt.inf == 'ieee' and fmt.max_magnitude & 1 == 1))


def infinite_operand(sign, fmt, mode):
    """The column "infinite operand"."""
    if sign and not fmt.s:
        return below_the_range(fmt, mode, 'inf_in')
    policy = mode.saturation(fmt)
    if policy != 'finite' and fmt.has_infinity:
        return fmt.infinity_code(sign), {'inf_in'}
    if policy == 'none' and fmt.over == 'nan':
        return fmt.nan_code(sign), {'inf_in', 'invalid'}
    return fmt.max_code(sign), {'inf_in', 'saturated'}


def below_the_range(fmt, mode, operand):
    """The column "below the range of an unsigned format"; `operand` is the event inexact or inf_in."""
    nan = False
    if mode.saturation(fmt) == 'none' and fmt.has_nan:
        finite_number = operand == 'inexact'
        if fmt.neg == 'stop':
            nan = not (finite_number and mode.word in ('rtz', 'rtp'))
        else:
            nan = fmt.neg == 'nan'
    if nan:
        return fmt.nan_code(), {'invalid', operand}
    return fmt.low_code(), {'invalid', operand, 'saturated'}


# Section 4: NaN operands

def nan_operand(fmt, mode):
    if fmt.has_nan:
        return fmt.nan_code(), {'nan_in'}
    if mode.nan == 'zero':
        return 0, {'nan_in'}
    return fmt.max_code(), {'nan_in', 'invalid'} if mode.nan == 'error' else {'nan_in'}


# Section 5: events

def finite_events(x, f, unit, fmt, mode, r):
    """The events of a finite operand that is not 0 and neither overflows nor lies below the range."""
    events = set()
    if not same(f, unit, x.n, x.q):
        events.add('inexact')
        if is_tiny(x, fmt, mode, r):
            events.add('underflow')
    if f == 0:
        events.add('to_zero')
    elif fmt.sub == 'gradual' and fmt.zero == 'field' and f.bit_length() - 1 + unit < fmt.emin:
        events.add('subnormal')
    return events


def is_tiny(x, fmt, mode, r):
    """Tininess before or after rounding, of a finite operand that is not 0."""
    normal = fmt.smallest_normal()
    if mode.tiny == 'before':
        return less(x.n, x.q, normal.n, normal.q)
    f, unit = rounded_to_precision(x, fmt, mode, r)
    return less(f, unit, normal.n, normal.q)
