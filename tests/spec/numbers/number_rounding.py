# SPDX-License-Identifier: MIT
"""One rounding into the number systems beside floating point (numbers.md, N.2 to N.4)."""
from exact import ZERO, compare, finite, floor_log2, is_infinite, is_nan, magnitude, units
from number_kinds import Fixed, HiFloat8, Lns, Posit, TABLE_UNIT, Table, Takum, hifloat8_magnitudes
from number_reals import PowerOfE, log2, stand_in, two_ln
from rounding import TIES_TO_EVEN, takes_upper

DIGITS = 140            # leading digits of stand-ins: 32 of a significand and 34 of nu are decided on
LOWEST = -360           # the place of their last digit where places are absolute (fixed, table)
LOG_PLACES = 80         # places of logarithms: up to 32 of a code and 34 of nu


def encode(system, x, mode, r=0):
    """The code and the set of events of one rounding of a Real or an irrational number x."""
    if is_nan(x):
        return encode_nan(system, mode)
    if is_infinite(x):
        return encode_infinity(system, x.sign, mode)
    if x.n == 0:
        return encode_zero(system, x.sign, mode, r)
    return ENCODERS[type(system)](system, x, mode, r)


# N.3 Beyond the range, infinities, NaN

def encode_nan(system, mode):
    if system.nan_code is not None:
        return system.nan_code, {'nan_in'}
    if mode.nan == 'zero':
        return encode(system, ZERO, TIES_TO_EVEN)[0], {'nan_in'}
    return end(system, 0), {'nan_in', 'invalid'} if mode.nan == 'error' else {'nan_in'}


def encode_infinity(system, sign, mode):
    policy = system.default_policy if mode.sat == 'default' else mode.sat
    if policy in ('none', 'propagate'):
        if isinstance(system, HiFloat8):
            return sign << 7 | system.infinity_code, {'inf_in'}
        if system.nan_code is not None:
            return system.nan_code, {'inf_in', 'invalid'}
    events = {'inf_in', 'saturated'}
    if sign and isinstance(system, Fixed) and not system.is_signed:
        events.add('invalid')
    return end(system, sign), events


def end(system, sign):
    """The code of the largest or the lowest value, by the sign."""
    if isinstance(system, (Posit, Takum)):
        return system.complement(system.largest_code) if sign else system.largest_code
    if isinstance(system, HiFloat8):
        return sign << 7 | system.largest_code
    if isinstance(system, Lns):
        return system.code(system.most, sign)
    if isinstance(system, Fixed):
        return system.mask(system.least if sign else system.most)
    return table_code(system, 0 if sign else len(system.places) - 1, sign)


def encode_zero(system, sign, mode, r):
    """The rows and sentences of N.2 for x = 0."""
    if isinstance(system, Lns) and system.coding == 'unsigned':
        return system.code(system.least, sign), {'inexact'}
    if isinstance(system, Lns):
        return system.special, set()
    if isinstance(system, Table):
        return encode_table(system, finite(sign, 0, 0), mode, r)
    return 0, set()


# N.2 One rounding: posit and takum

def tapered(system, sign, string, shift, mode, r):
    """The endless bit string, string 2^-shift, cut off behind n bits; a negative x gets the two's complement."""
    code, rest = string >> shift, string & (1 << shift) - 1
    if takes_upper(mode, code & 1, rest, shift, sign, r):
        code += 1
    return system.complement(code) if sign else code, {'inexact'} if rest else set()


def at_an_end(system, sign, against_largest, against_smallest):
    """|x| >= maxPos and |x| <= minPos, in every mode, by the signs of comparisons; None strictly between them."""
    if against_largest >= 0:
        return end(system, sign), {'overflow', 'saturated', 'inexact'} if against_largest else set()
    if against_smallest <= 0:
        code = system.complement(1) if sign else 1
        return code, {'underflow', 'inexact'} if against_smallest else set()
    return None


def encode_posit(system, x, mode, r):
    x = stand_in(x, DIGITS)
    size = magnitude(x)
    result = at_an_end(system, x.sign, compare(size, system.positive(system.largest_code)),
                       compare(size, system.positive(1)))
    if result:
        return result
    exponent = floor_log2(x)                                    # E
    regime = exponent >> system.es                              # r
    run = regime + 1 if regime >= 0 else -regime                # l
    head = (1 << run + 1) - 2 if regime >= 0 else 1             # the regime: l equal bits and the opposite one
    left = system.width - 1 - (run + 1)                         # p
    # t = (e + phi) 2^(p - es), and e + phi = tail 2^-digits with phi = n 2^-digits - 1
    digits = x.n.bit_length() - 1
    tail = (exponent - (regime << system.es) << digits) + x.n - (1 << digits)
    string = (head << digits + system.es) + tail << left
    return tapered(system, x.sign, string, digits + system.es, mode, r)


def encode_takum(system, x, mode, r):
    if system.linear:
        x = stand_in(x, DIGITS)
        digits = x.n.bit_length() - 1
        num, den = (floor_log2(x) << digits) + x.n - (1 << digits), 1 << digits
    else:
        num, den = two_ln(x, LOG_PLACES)
    # c + m = num / den, and den is a power of two

    def against(code):
        """The sign of c + m minus that of a code."""
        c, mantissa, places = system.fields(code)
        difference = (num << places) - ((c << places) + mantissa) * den
        return (difference > 0) - (difference < 0)
    result = at_an_end(system, x.sign, against(system.largest_code), against(1))
    if result:
        return result
    c = num // den
    if c >= 0:
        size = (c + 1).bit_length() - 1                         # r = R
        head = (8 | size) << size | c - (1 << size) + 1         # D, R, C
    else:
        size = (-c).bit_length() - 1                            # r = 7 - R
        head = 7 - size << size | c + (1 << size + 1) - 1
    # D, R and C are an integer of 4 + r bits below the sign, and the digits of m = num / den - c follow it.
    string = head * den + num - c * den << system.width
    return tapered(system, x.sign, string, den.bit_length() - 1 + 5 + size, mode, r)


# N.2 hifloat8

def encode_hifloat8(system, x, mode, r):
    x = stand_in(x, DIGITS)
    shift = max(-22 - x.q, 0)                                   # |x| = value 2^-shift in steps of 2^-22
    value = x.n << x.q + 22 + shift
    magnitudes = hifloat8_magnitudes()
    index = sum(1 for size, _ in magnitudes if size << shift <= value) - 1
    lower, code = magnitudes[index]
    rest = value - (lower << shift)
    events = {'inexact'} if rest else set()
    if index == 0:
        events.add('underflow')                                 # 0 < |x| < 2^-22
    if index + 1 < len(magnitudes):
        upper, upper_code = magnitudes[index + 1]
        spacing = (upper - lower).bit_length() - 1              # neighbours are a power of two apart
        if takes_upper(mode, code & 1, rest, shift + spacing, x.sign, r):
            code = upper_code
    if code == system.infinity_code:
        return hifloat8_overflow(system, x.sign, mode)
    if code == 0:
        return 0, events | {'to_zero'}
    return x.sign << 7 | code, events


def hifloat8_overflow(system, sign, mode):
    stops = mode.word == 'rtz' or mode.word == ('rtp' if sign else 'rtn')
    if mode.sat in ('none', 'default') and not stops:
        return sign << 7 | system.infinity_code, {'overflow', 'inexact'}
    return sign << 7 | system.largest_code, {'overflow', 'saturated', 'inexact'}


# N.2 lns

def encode_lns(system, x, mode, r):
    num, den = log2(x, system.places, LOG_PLACES)               # t
    integer, rest = divmod(num, den)                            # k, and nu = rest / den
    if takes_upper(mode, integer & 1, rest, den.bit_length() - 1, x.sign, r):
        integer += 1
    if integer > system.most:
        return system.code(system.most, x.sign), {'overflow', 'saturated', 'inexact'}
    if integer < system.least:
        events = {'underflow', 'inexact'}
        away = mode.word in ('raz', 'rto') or mode.word == ('rtn' if x.sign else 'rtp')
        if system.coding == 'unsigned' or away:
            return system.code(system.least, x.sign), events
        return system.special, events | {'to_zero'}
    return system.code(integer, x.sign), {'inexact'} if rest else set()


# N.2 and N.3 fixed

def encode_fixed(system, x, mode, r):
    x = stand_in(x, DIGITS, LOWEST)
    shift = max(-(x.q + system.places), 0)
    value = x.n << x.q + system.places + shift                  # t 2^shift
    integer, rest = value >> shift, value & (1 << shift) - 1
    if takes_upper(mode, integer & 1, rest, shift, x.sign, r):
        integer += 1
    integer = -integer if x.sign else integer                   # I
    if system.least <= integer <= system.most:
        events = {'inexact'} if rest else set()
        return system.mask(integer), events | {'to_zero'} if integer == 0 else events
    if system.wraps:
        return system.mask(integer), {'overflow', 'inexact'}
    if integer < system.least and not system.is_signed:
        return 0, {'invalid', 'saturated', 'inexact'}
    return end(system, x.sign), {'overflow', 'saturated', 'inexact'}


# N.2 table

def encode_table(system, x, mode, r):
    x = x.odd_digits(64) if isinstance(x, PowerOfE) else stand_in(x, DIGITS, LOWEST)
    shift = max(TABLE_UNIT - x.q, 0)                            # everything is an integer times 2^(TABLE_UNIT - shift)
    value = units(x, TABLE_UNIT - shift)
    sizes = [size << shift for size, _ in system.places]
    below = sum(1 for size in sizes if size <= value) - 1       # the place of the largest value that is not above x
    if below >= 0 and sizes[below] == value:
        return table_code(system, below, x.sign), set()
    if below < 0 or value > sizes[-1]:
        place, events = max(below, 0), {'overflow', 'saturated', 'inexact'}
    else:
        place, events = between(system, sizes, below, value, shift, x.sign, mode, r), {'inexact'}
    if sizes[place] == 0 and x.n:
        events.add('to_zero')
    return table_code(system, place, x.sign), events


def between(system, sizes, below, value, shift, sign, mode, r):
    """The place that x gets, strictly between the values a at the place `below` and b above it."""
    a, b = sizes[below], sizes[below + 1]
    if mode.word == 'rne' and system.ties == 'low':
        return below + 1 if 2 * value > a + b else below
    if mode.word == 'rne' and system.ties in ('low32', 'given'):
        return below + 1 if value > limit(system, below) << shift else below
    lower, upper = (below + 1, below) if sign else (below, below + 1)
    # nu = |x - lower| / (b - a), or a stand-in of it: all modes decide at multiples of 2^-33.
    whole, rest = divmod(abs(value - sizes[lower]) << 40, b - a)
    nu = 2 * whole + (1 if rest else 0)
    # The sign of a zero counts for the directions toward positive and negative, too.
    return upper if takes_upper(mode, lower & 1, nu, 41, sign, r) else lower


def limit(system, place):
    """T, in units of 2^TABLE_UNIT."""
    if system.ties == 'given':
        return units(system.limits[system.places[place][1]], TABLE_UNIT)
    return half_to_binary32(system.places[place][0] + system.places[place + 1][0])


def half_to_binary32(twice):
    """twice / 2 rounded to binary32, ties to even, in units of 2^TABLE_UNIT, which is half its smallest number."""
    size = abs(twice)
    shift = max(size.bit_length() - 24, 2)
    steps, rest = size >> shift, size & (1 << shift) - 1
    if takes_upper(TIES_TO_EVEN, steps & 1, rest, shift, False, 0):
        steps += 1
    return (-steps if twice < 0 else steps) << shift - 1


def table_code(system, place, sign):
    """The lowest code of the value at a place; of zeros with both signs, the lowest with the sign of x."""
    size, code = system.places[place]
    return system.zeros[sign] if size == 0 and len(system.zeros) == 2 else code


ENCODERS = {Posit: encode_posit, Takum: encode_takum, HiFloat8: encode_hifloat8, Lns: encode_lns, Fixed: encode_fixed,
            Table: encode_table}
