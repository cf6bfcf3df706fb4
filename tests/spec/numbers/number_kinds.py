# SPDX-License-Identifier: MIT
"""Codes and values of the number systems beside floating point (numbers.md, N.1)."""
from functools import lru_cache

from exact import (BINARY32, FINITE, INFINITIES, NAN, Real, ZERO, from_interchange, from_units, is_nan, is_zero,
                   units)
from number_reals import power_of_e, power_of_two


class System:
    """What the kinds have in common. `width` is w; `nan_code` is None in a kind without NaN."""

    nan_code = None

    def mask(self, code):
        """Higher bits are ignored."""
        return code & (1 << self.width) - 1

    def complement(self, code):
        """The two's complement of a code."""
        return self.mask(-code)


class Tapered(System):
    """What posits and takums share: 0, NaR, and two's complement for negative numbers."""

    default_policy = 'none'

    def __init__(self, width):
        self.width = width
        self.nan_code = 1 << width - 1
        self.largest_code = self.nan_code - 1

    def decode(self, code):
        code = self.mask(code)
        if code == 0:
            return ZERO
        if code == self.nan_code:
            return NAN
        if code > self.nan_code:
            return self.positive(self.complement(code), 1)
        return self.positive(code)


class Posit(Tapered):
    """posit(n,es)"""

    def __init__(self, width, es):
        Tapered.__init__(self, width)
        self.es = es

    def positive(self, code, sign=0):
        left = self.width - 1                                   # bits below the top that are still to be read
        first = code >> left - 1 & 1
        length = 0
        while left and code >> left - 1 & 1 == first:
            length, left = length + 1, left - 1
        left = max(left - 1, 0)                                 # the opposite bit
        regime = length - 1 if first else -length
        bits = min(self.es, left)
        exponent = (code >> left - bits & (1 << bits) - 1) << self.es - bits
        left -= bits
        fraction = code & (1 << left) - 1
        return Real(FINITE, sign, (1 << left) + fraction, (regime << self.es) + exponent - left)


class Takum(Tapered):
    """takum(n) and takum_linear(n)"""

    def __init__(self, width, linear):
        Tapered.__init__(self, width)
        self.linear = linear

    def fields(self, code):
        """(c, M, p) of a positive code; bits that are missing are 0."""
        pad = max(12 - self.width, 0)
        width = self.width + pad
        code <<= pad
        direction = code >> width - 2 & 1
        regime = code >> width - 5 & 7
        size = regime if direction else 7 - regime
        places = width - 5 - size
        field = code >> places & (1 << size) - 1
        c = (1 << size) - 1 + field if direction else -(1 << size + 1) + 1 + field
        return c, code & (1 << places) - 1, places

    def positive(self, code, sign=0):
        c, mantissa, places = self.fields(code)
        if self.linear:
            return Real(FINITE, sign, (1 << places) + mantissa, c - places)
        return power_of_e(sign, (c << places) + mantissa, 2 << places)


class HiFloat8(System):
    """hifloat8"""

    width = 8
    nan_code = 0x80
    default_policy = 'none'
    infinity_code = 0x6F
    largest_code = 0x6E

    # Prefix, its length, D, digits: the table of N.1.
    ROWS = ((3, 2, 4, 1), (2, 2, 3, 2), (1, 2, 2, 3), (1, 3, 1, 3), (1, 4, 0, 3))

    def decode(self, code):
        code = self.mask(code)
        sign, rest = code >> 7, code & 0x7F
        if rest == 0:
            return NAN if sign else ZERO
        return INFINITIES[sign] if rest == self.infinity_code else self.positive(rest, sign)

    def positive(self, code, sign=0):
        """The magnitude of the seven bits below the sign; 0x6F counts as the number 1.5 2^15 here."""
        for prefix, length, size, digits in self.ROWS:
            if code >> 7 - length == prefix:
                field = code >> digits & (1 << size) - 1
                fraction = (1 << digits) + (code & (1 << digits) - 1)
                return Real(FINITE, sign, fraction, self.exponent(field, size) - digits)
        return Real(FINITE, sign, 1, (code & 7) - 23)

    @staticmethod
    def exponent(field, size):
        """The exponent field: a sign bit, and a magnitude whose leading 1 is not stored."""
        if size == 0:
            return 0
        magnitude = (1 << size - 1) | field & (1 << size - 1) - 1
        return -magnitude if field >> size - 1 else magnitude


@lru_cache(maxsize=None)
def hifloat8_magnitudes():
    """Pairs (integer n, code) by ascending value n 2^-22, with 0 and with 1.5 2^15."""
    return sorted([(0, 0)] + [(units(HiFloat8().positive(code), -22), code) for code in range(1, 0x80)])


class Lns(System):
    """lns(w,f)"""

    default_policy = 'finite'

    def __init__(self, width, places, coding='twos'):
        self.width, self.places, self.coding = width, places, coding
        half = 1 << width - 2
        self.field_mask = 2 * half - 1
        self.special = {'twos': half, 'offset': 0, 'unsigned': None}[coding]
        self.least = 0 if coding == 'unsigned' else -half + 1
        self.most = 2 * half - 1 if coding == 'unsigned' else half - 1
        if self.special is not None:
            self.nan_code = 2 * half | self.special

    def decode(self, code):
        code = self.mask(code)
        sign, field = code >> self.width - 1, code & self.field_mask
        if field == self.special:
            return NAN if sign else ZERO
        return power_of_two(sign, self.integer(field), 1 << self.places)

    def integer(self, field):
        """k of a field F."""
        half = 1 << self.width - 2
        if self.coding == 'twos':
            return field - 2 * half if field >= half else field
        return field - half if self.coding == 'offset' else field

    def code(self, integer, sign):
        """The code of (-1)^sign 2^(k / 2^f)."""
        offset = 1 << self.width - 2 if self.coding == 'offset' else 0
        return sign << self.width - 1 | integer + offset & self.field_mask


class Fixed(System):
    """q(m.n) and uq(m.n)"""

    default_policy = 'finite'

    def __init__(self, integer_bits, places, signed, wraps=False):
        self.places, self.is_signed, self.wraps = places, signed, wraps
        self.width = integer_bits + places + (1 if signed else 0)
        self.least = -(1 << self.width - 1) if signed else 0
        self.most = (1 << self.width - (1 if signed else 0)) - 1

    def decode(self, code):
        code = self.mask(code)
        if self.is_signed and code >> self.width - 1:
            code -= 1 << self.width
        return from_units(code, -self.places)


TABLE_UNIT = -150                                       # values and limits of tables are integers times 2^-150 below


class Table(System):
    """table: `patterns` are binary32 patterns, count values and, if ties = given, count limits behind them."""

    default_policy = 'finite'

    def __init__(self, patterns, ties='even'):
        self.ties = ties
        count = len(patterns) // 2 if ties == 'given' else len(patterns)
        self.values = [from_interchange(pattern, BINARY32) for pattern in patterns[:count]]
        self.limits = [from_interchange(pattern, BINARY32) for pattern in patterns[count:]]
        self.width = max((count - 1).bit_length(), 1)
        nans = [code for code, value in enumerate(self.values) if is_nan(value)]
        self.nan_code = nans[0] if nans else None
        lowest = {}                                     # finite value: the lowest of its codes
        self.zeros = {}                                 # sign: the lowest code of a zero with it
        for code, value in enumerate(self.values):
            if not is_nan(value):
                lowest.setdefault(units(value, TABLE_UNIT), code)
                if is_zero(value):
                    self.zeros.setdefault(value.sign, code)
        self.places = sorted(lowest.items())

    def decode(self, code):
        code = self.mask(code)
        return self.values[code] if code < len(self.values) else NAN
