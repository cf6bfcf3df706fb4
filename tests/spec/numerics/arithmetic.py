# SPDX-License-Identifier: MIT
"""Section 10 of numerics.md: arithmetic. Each operation has an exact result, which is rounded into fz once."""
from math import isqrt

from exact import (INFINITIES, NAN, ZEROS, add, compare, finite, floor_log2, from_units, integer, is_finite,
                   is_infinite, is_nan, is_nonzero, is_zero, multiply, negate)
from lines import format_of, hex_text, hexadecimal, mode_of, operation, result
from rounding import round_real, split, takes_upper
from words import low_bits

DIGITS = 160      # digits of a quotient or a root before the one that says that something follows


def with_following_digit(n, q, more):
    """n 2^q, or a number between it and the next one if something follows: all decisions lie at multiples of 2^q."""
    return (2 * n + 1, q - 1) if more else (n, q)


def quotient(x, y):
    """|x| / |y| of finite numbers that are not 0: its first digits and one that says whether something follows."""
    shift = max(DIGITS + y.n.bit_length() - x.n.bit_length(), 0)
    n, rest = divmod(x.n << shift, y.n)
    return with_following_digit(n, x.q - y.q - shift, rest)


def root(x):
    """The root of x > 0, in the same form."""
    shift = max(2 * DIGITS - x.n.bit_length(), 0)
    shift += (x.q - shift) & 1
    n = isqrt(x.n << shift)
    return with_following_digit(n, (x.q - shift) >> 1, n * n != x.n << shift)


# The exact results: each returns y and the events that the operation itself raises

def exact_add(mode, a, b):
    """A sum of infinities of opposite signs is invalid."""
    y = add(a, b, mode.toward_negative)
    return y, invalid_if(is_nan(y) and not is_nan(a) and not is_nan(b))


def exact_sub(mode, a, b):
    """a + (-b)."""
    return exact_add(mode, a, negate(b))


def exact_mul(mode, a, b):
    """0 times an infinity is invalid."""
    y = multiply(a, b)
    return y, invalid_if(is_nan(y) and not is_nan(a) and not is_nan(b))


def exact_div(mode, a, b):
    """0/0 and an infinity divided by an infinity are invalid; a finite number that is not 0, by a zero, is a pole."""
    if is_nan(a) or is_nan(b):
        return NAN, set()
    sign = a.sign ^ b.sign
    if (is_zero(a) and is_zero(b)) or (is_infinite(a) and is_infinite(b)):
        return NAN, {'invalid'}
    if is_infinite(a):
        return INFINITIES[sign], set()
    if is_infinite(b) or is_zero(a):
        return ZEROS[sign], set()
    if is_zero(b):
        return INFINITIES[sign], {'divide_by_zero'}
    return finite(sign, *quotient(a, b)), set()


def exact_sqrt(mode, x):
    """The root of a number below 0, including -inf, is invalid; that of a zero is the zero of its sign."""
    if is_nan(x) or is_zero(x):
        return x, set()
    if x.sign:
        return NAN, {'invalid'}
    if is_infinite(x):
        return x, set()
    return finite(0, *root(x)), set()


def exact_fma(mode, a, b, c):
    """a b + c: the terms are the product and c. The policy nan_fma decides about 0 times an infinity plus a NaN."""
    product = multiply(a, b)
    zero_times_infinity = is_nan(product) and not is_nan(a) and not is_nan(b)
    if zero_times_infinity:
        return NAN, invalid_if(not is_nan(c) or mode.fma == 'invalid')
    y = add(product, c, mode.toward_negative)
    return y, invalid_if(is_nan(y) and not is_nan(product) and not is_nan(c))


def below(a, b):
    """a < b in the order of minimum and maximum, where -0 < +0."""
    if is_zero(a) and is_zero(b):
        return a.sign > b.sign
    return compare(a, b) < 0


def extremum(smaller, number):
    """minimum, maximum, minimum_number, maximum_number."""
    def exact(mode, a, b):
        if is_nan(a) or is_nan(b):
            if number:
                return (b if is_nan(a) else a), set()
            return NAN, set()
        return (a if below(a, b) == smaller else b), set()
    return exact


def exact_remainder(mode, x, y):
    """x - y n, n the integer nearest to x / y, of two such integers the even one."""
    if is_nan(x) or is_nan(y):
        return NAN, set()
    if is_infinite(x) or is_zero(y):
        return NAN, {'invalid'}
    if is_infinite(y) or is_zero(x):
        return x, set()
    if floor_log2(x) < floor_log2(y) - 1:
        return x, set()                                 # |x| < |y| / 2: n = 0
    q = min(x.q, y.q)
    a, b = x.n << (x.q - q), y.n << (y.q - q)
    n, rest = divmod(a, b)
    if 2 * rest > b or (2 * rest == b and n & 1):
        rest -= b
    return from_units(-rest if x.sign else rest, q, ZEROS[x.sign]), set()


def exact_convert(mode, x):
    return x, set()


def invalid_if(condition):
    return {'invalid'} if condition else set()


EXACT = {
    'add': (2, exact_add), 'sub': (2, exact_sub), 'mul': (2, exact_mul), 'div': (2, exact_div), 'sqrt': (1, exact_sqrt),
    'fma': (3, exact_fma), 'minimum': (2, extremum(True, False)), 'maximum': (2, extremum(False, False)),
    'minimum_number': (2, extremum(True, True)), 'maximum_number': (2, extremum(False, True)),
    'remainder': (2, exact_remainder), 'convert': (1, exact_convert),
}


def round_exact(y, own, operands, fmt, mode, r):
    """One rounding of the exact result y, and the table *Events*. `own` are the events of the operation itself."""
    code, rounding = round_real(y, fmt, mode, r)
    events = own | (rounding - {'nan_in', 'inf_in'})
    if any(is_nan(x) for x in operands):
        events.add('nan_in')
    if any(is_infinite(x) for x in operands):
        events.add('inf_in')
    return code, events


# round_to_integral, to_integer, from_signed, from_unsigned

def chosen_integer(x, mode, r):
    """f or f + 1, chosen by the table of section 2 for f = floor(|x|), with the sign of x; and whether it is not x."""
    f, rest, shift = split(x.n, x.q, 0)
    i = f + (1 if takes_upper(mode, f & 1, rest, shift, x.sign, r) else 0)
    return i, rest != 0


def round_to_integral(fmt, x, mode, r):
    """The integer is rounded into the operand's own format with the same R."""
    if not is_finite(x):
        return round_real(x, fmt, mode, r)
    i, inexact = chosen_integer(x, mode, r)
    code, events = round_real(finite(x.sign, i, 0), fmt, mode, r)
    if inexact:
        events.add('inexact')
    if is_nonzero(x) and is_zero(fmt.decode(code)):
        events.add('to_zero')
    return code, events


def to_integer(x, mode, r, width, signed, rule, exact):
    """The integer, or what the call's rule gives (the table of rules), and the events."""
    lowest, highest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    if is_finite(x):
        i, inexact = chosen_integer(x, mode, r)
        i = -i if x.sign else i
        if lowest <= i <= highest:
            events = {'inexact'} if inexact and exact else set()
            return i, events | {'to_zero'} if i == 0 and is_nonzero(x) else events
    events = {'invalid'} | ({'nan_in'} if is_nan(x) else set()) | ({'inf_in'} if is_infinite(x) else set())
    if rule == 'x86':
        return lowest if signed else highest, events
    if is_nan(x):
        return highest if rule == 'riscv' else 0, events
    return lowest if x.sign else highest, events


# next_up, next_down, class, compare

def next_up(fmt, code):
    """The least value of the format above that of the code."""
    x = fmt.decode(code)
    if is_nan(x):
        return fmt.nan_code()
    if is_zero(x):
        return fmt.smallest_magnitude()
    top = fmt.infinity_code(0) if fmt.has_infinity else fmt.max_code()
    if not x.sign:
        c = fmt.magnitude_of(code)
        return c if c == top else c + 1
    c = fmt.magnitude_of(code)
    return fmt.zero_code(1) if c == fmt.smallest_magnitude() else fmt.join(1, c - 1)


def next_down(fmt, code):
    """The largest value of the format below that of the code."""
    x = fmt.decode(code)
    if is_nan(x):
        return fmt.nan_code()
    c = fmt.magnitude_of(code)
    if is_zero(x):
        return fmt.join(1, fmt.smallest_magnitude()) if fmt.s else 0
    if x.sign:
        top = fmt.magnitude_of(fmt.infinity_code(0)) if fmt.has_infinity else fmt.max_magnitude
        return fmt.join(1, c if c == top else c + 1)
    if c == fmt.smallest_magnitude():
        return c if fmt.zero == 'none' else 0
    return c - 1


CLASSES = ('nan', 'negative_infinity', 'negative_normal', 'negative_subnormal', 'negative_zero', 'positive_zero',
           'positive_subnormal', 'positive_normal', 'positive_infinity')
RELATIONS = {-1: 'less', 0: 'equal', 1: 'greater', 2: 'unordered'}


def class_of(fmt, code):
    """The classes of IEEE 754-2019 5.7.2, with one class for NaN: 0 to 8, in the order of CLASSES."""
    x = fmt.decode(code)
    if is_nan(x):
        return 0
    kind = 1 if is_infinite(x) else 4 if is_zero(x) else 3 if fmt.is_subnormal(x) else 2
    return kind if x.sign else 9 - kind


def relation(a, b):
    """compare: -1, 0, 1, or 2 if one of them is a NaN."""
    return 2 if is_nan(a) or is_nan(b) else compare(a, b)


# The lines

OPERANDS = (('fx', 'x'), ('fy', 'y'), ('fw', 'w'))


def signed64(pattern):
    return pattern - (1 << 64) if pattern >> 63 else pattern


@operation('arith', 'op x', 'fz mode word fx fy y fw w width signed rule exact')
def arith(fields):
    op, x = fields['op'], hexadecimal(fields['x'])
    mode = mode_of(fields.get('mode', 'rne'))
    r = low_bits(hexadecimal(fields.get('word', '0')), mode.bits)
    if op in EXACT:
        count, exact = EXACT[op]
        operands = [format_of(fields[f]).decode(hexadecimal(fields[v])) for f, v in OPERANDS[:count]]
        y, own = exact(mode, *operands)
        return result(*round_exact(y, own, operands, format_of(fields['fz']), mode, r))
    if op in ('from_signed', 'from_unsigned'):
        i = signed64(x) if op == 'from_signed' else x
        return result(*round_real(integer(i), format_of(fields['fz']), mode, r))
    fmt = format_of(fields['fx'])
    if op == 'round_to_integral':
        return result(*round_to_integral(fmt, fmt.decode(x), mode, r))
    if op == 'to_integer':
        i, events = to_integer(fmt.decode(x), mode, r, int(fields['width']), fields['signed'] == '1', fields['rule'],
                               fields['exact'] == '1')
        texts = result(0, events)
        return {'value': hex_text(i & ((1 << 64) - 1)), 'events': texts['events']}
    if op == 'compare':
        return {'value': RELATIONS[relation(fmt.decode(x), format_of(fields['fy']).decode(hexadecimal(fields['y'])))]}
    if op == 'class':
        return {'value': CLASSES[class_of(fmt, x)]}
    if op == 'is_signalling':
        return {'value': '1' if fmt.is_signalling(x & fmt.mask) else '0'}
    if op in ('next_up', 'next_down'):
        return {'code': hex_text((next_up if op == 'next_up' else next_down)(fmt, x))}
    raise ValueError('unknown op ' + op)
