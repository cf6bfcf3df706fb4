# SPDX-License-Identifier: MIT
"""A type for each block (scaled.md, 4.5): integers under a scale, and the error by which a block has them."""
from exact import BINARY32, ZERO, finite, from_interchange, multiply
from formats import Format
from rounding import round_real
from scaled_binary32 import ieee_divided, ieee_minus, ieee_times, less, rne, times
from scaled_scales import Scale, ratio
from scaled_search import number_under, summed

# By the digits of exponent and significand: N, g, f, and whether codes are in two's complement.
TABLE = {(2, 1): (7, 0x3f955555, 0x3f5b6db7, True),
         (2, 3): (31, 0x40844444, 0x3e77bdf1, False),
         (3, 2): (31, 0x3f8db6db, 0x3f6739ce, False)}


class Integers:
    """Integers in place of an element format."""

    def __init__(self, element):
        self.most, g, f, self.twos = TABLE[element.e, element.m]
        self.g, self.f = from_interchange(g, BINARY32), from_interchange(f, BINARY32)
        m = self.most.bit_length()
        self.format = Format(1, 0, m, 1 - m, inf='none', nan='none', nz=0, over='max')

    def rounded(self, y, mode, r):
        """The code of I for what the steps give, and the events."""
        code, events = round_real(times(y, self.g) if y.n else y, self.format, mode, r)
        if self.twos and self.format.sign_of(code):
            code = -self.format.magnitude_of(code) & 2 * self.most + 1
        return code, events

    def number(self, code):
        """I of a code."""
        minus, size = code > self.most, code & self.most
        if minus and self.twos:
            size = self.most + 1 - size
        return finite(int(minus and size > 0), size, 0)

    def value(self, code, d):
        return rne(multiply(rne(multiply(self.number(code), self.f)), d))


class IntegerScale(Scale):
    """A scale whose block has integers: the sign bit of its code is set."""

    def __init__(self, layout, second, code, s):
        super().__init__(layout, second, code, s)
        self.code = code | 0x80


def error_under(scale, rows, mode, words):
    """The error of a block, by the formulas of 4.5."""
    layout, second = scale.layout, scale.second
    divisor = multiply(layout.largest, finite(0, 448, 0))

    def error(x, r):
        if isinstance(scale, IntegerScale):
            code = layout.integers.rounded(scale.operand(x) if scale.d.n else ZERO, mode, r)[0]
            v = ieee_times(multiply(layout.integers.number(code), scale.s), second.a_t)
            v = ieee_divided(ieee_times(v, layout.integers.f), divisor)
        else:
            v = ieee_divided(ieee_times(multiply(number_under(scale, x, mode, r), scale.s), second.a_t), divisor)
        difference = ieee_minus(v, x)
        return ieee_times(difference, difference) if layout.rule == 'intfloat_mse' else difference._replace(sign=0)

    errors = [[error(x, r) for x, r in zip(row, word_row)] for row, word_row in zip(rows, words)]
    if layout.rule != 'intfloat_max':
        return summed(errors)
    largest = ZERO
    for e in (e for row in errors for e in row):
        largest = e if less(largest, e) else largest
    return largest


def typed_scale(layout, second, a, rows, mode, words):
    """The scale of a block of finite elements with A > 0."""
    floats = ratio(layout, second, a)
    integers = IntegerScale(layout, second, floats.code, floats.s)
    return integers if less(error_under(integers, rows, mode, words), error_under(floats, rows, mode, words)) else floats
