# SPDX-License-Identifier: MIT
"""Section 1 of numerics.md: a format is a set of codes with values."""
from exact import FINITE, INFINITIES, NAN, ZERO, ZEROS, Real, finite

AXES = {
    'zero': ('field', 'code', 'none'),
    'sub': ('gradual', 'none', 'flush'),
    'inf': ('none', 'ieee', 'top'),
    'nan': ('none', 'ieee', 'ieee1', 'ones', 'negzero', 'top'),
    'nz': ('0', '1'),
    'over': ('inf', 'nan', 'max'),
    'neg': ('nan', 'low', 'stop'),
}


class Format:
    """A descriptor, with the attributes of section 1. `inf`, `nan`, ... are the words of the table of axes."""

    def __init__(self, s, e, m, b, zero='field', sub='gradual', inf='ieee', nan='ieee', nz=1, over='inf', neg='nan'):
        self.s, self.e, self.m, self.b = s, e, m, b
        self.zero, self.sub, self.inf, self.nan, self.nz, self.over, self.neg = zero, sub, inf, nan, nz, over, neg
        self.width = s + e + m
        self.bias = (1 << (e - 1)) - 1 + b if e >= 1 else b
        self.emin = 1 - self.bias if zero == 'field' else -self.bias
        self.mask = (1 << self.width) - 1
        self.sign_bit = 1 << (self.width - 1) if s else 0
        self.magnitudes = (1 << (e + m)) - 1            # the largest magnitude code
        self.max_magnitude = self._max_magnitude()
        self.max = self._finite(0, self.max_magnitude)
        self.has_infinity, self.has_nan = inf != 'none', nan != 'none'
        self._values = {}

    def key(self):
        """What makes two formats the same: width, bias and axes."""
        return (self.s, self.e, self.m, self.b, self.zero, self.sub, self.inf, self.nan, self.nz, self.over, self.neg)

    # The parts of a code

    def sign_of(self, code):
        return 1 if code & self.sign_bit else 0

    def magnitude_of(self, code):
        return code & self.magnitudes

    def join(self, sign, c):
        return (self.sign_bit if sign else 0) | c

    def _exponent_all_ones(self, c):
        return self.e > 0 and c >> self.m == (1 << self.e) - 1

    # Special codes

    def is_nan_code(self, code):
        c = code & self.magnitudes
        if self.nan == 'none':
            return False
        if self.nan in ('ieee', 'ieee1'):
            return self._exponent_all_ones(c) and not self.is_infinity_code(code)
        if self.nan == 'negzero':
            return code & self.mask == self.sign_bit
        return c == self.magnitudes                     # ones, top

    def is_infinity_code(self, code):
        c = code & self.magnitudes
        if self.inf == 'none':
            return False
        if self.inf == 'ieee':
            return self._exponent_all_ones(c) and c & ((1 << self.m) - 1) == 0
        return c == self._top_infinity()

    def _top_infinity(self):
        """inf = top: the largest magnitude code that is not NaN."""
        return self.magnitudes - (1 if self.nan in ('top', 'ones') else 0)

    def infinity_code(self, sign):
        c = ((1 << self.e) - 1) << self.m if self.inf == 'ieee' else self._top_infinity()
        return self.join(sign, c)

    def nan_code(self, sign=0):
        """The canonical NaN. It has the sign only where the format has NaNs of both signs (section 3)."""
        if self.nan == 'negzero':
            return self.sign_bit
        if self.nan == 'ieee':
            quiet = 1 << (self.m - 1) if self.m else 0
            return self.join(sign, ((1 << self.e) - 1) << self.m | quiet)
        return self.join(sign if self.nan in ('ieee1', 'ones') else 0, self.magnitudes)

    def _max_magnitude(self):
        """The largest magnitude code that is neither infinity nor NaN."""
        if self.inf == 'ieee' or self.nan in ('ieee', 'ieee1'):
            return (((1 << self.e) - 1) << self.m) - 1
        c = self.magnitudes - (1 if self.nan in ('ones', 'top') else 0)
        return c - (1 if self.inf == 'top' else 0)

    def max_code(self, sign=0):
        return self.join(sign, self.max_magnitude)

    def low_code(self):
        """The lowest finite value: -max in signed formats, 0 or the smallest value in unsigned ones."""
        return self.max_code(1) if self.s else 0

    def zero_code(self, sign):
        """A zero keeps its sign if the format has negative zero, else it is +0."""
        return self.join(sign, 0) if self.nz else 0

    # Values

    def _finite(self, sign, c):
        """The value of a magnitude code that is not special, by the formulas of section 1."""
        exponent, trailing = c >> self.m, c & ((1 << self.m) - 1)
        if self.zero == 'field' and exponent == 0:
            n, q = trailing, 1 - self.bias - self.m
            if self.sub != 'gradual':
                n = 0
        elif self.zero == 'code' and c == 0:
            n, q = 0, 0
        else:
            n, q = (1 << self.m) + trailing, exponent - self.bias - self.m
        return finite(sign, n, q) if n else (ZEROS[sign] if self.nz else ZERO)

    def decode(self, code):
        """The number that a code stands for; higher bits are ignored."""
        code &= self.mask
        x = self._values.get(code)
        if x is None:
            sign = self.sign_of(code)
            if self.is_nan_code(code):
                x = NAN
            elif self.is_infinity_code(code):
                x = INFINITIES[sign]
            else:
                x = self._finite(sign, self.magnitude_of(code))
            if len(self._values) < 1 << 17:
                self._values[code] = x
        return x

    def magnitude_code(self, f, q):
        """The magnitude code of a value f 2^q that the format has, f > 0."""
        k = f.bit_length() - 1 + q
        unit = max(k, self.emin) - self.m
        n = f << (q - unit) if q >= unit else f >> (unit - q)
        if self.zero == 'field' and k < self.emin:
            return n
        return ((k + self.bias) << self.m) + n - (1 << self.m)

    def smallest_magnitude(self):
        """The magnitude code of the smallest positive value."""
        if self.zero == 'none':
            return 0
        return 1 << self.m if self.zero == 'field' and self.sub != 'gradual' else 1

    def smallest_normal(self):
        """2^emin, or 2^emin (1 + 2^-m) where zero = code (section 5)."""
        if self.zero == 'code':
            return Real(FINITE, 0, (1 << self.m) + 1, self.emin - self.m)
        return Real(FINITE, 0, 1, self.emin)

    def is_subnormal(self, x):
        """A number below 2^emin, not zero, in a format with gradual subnormals (section 10, class)."""
        return (self.sub == 'gradual' and self.zero == 'field' and x.kind is FINITE and x.n != 0 and
                x.n.bit_length() - 1 + x.q < self.emin)

    def is_signalling(self, code):
        """IEEE 754-2019 6.2.1: a NaN whose first trailing digit is 0, in formats with NaN = ieee, ieee1 and m >= 1."""
        return (self.nan in ('ieee', 'ieee1') and self.m >= 1 and self.is_nan_code(code) and
                not code >> (self.m - 1) & 1)


BINARY32_FORMAT, BINARY64_FORMAT = Format(1, 8, 23, 0), Format(1, 11, 52, 0)
BFLOAT16_FORMAT = Format(1, 8, 7, 0)
