# SPDX-License-Identifier: MIT
"""Section 11.4 of numerics.md: operands of blocks."""
from exact import NAN, ZERO, ZEROS, floor_log2, is_finite, is_nan, is_nonzero, is_zero, multiply


class Operands:
    """The options in, nan=kept, as, daz of a block."""

    def __init__(self, width=None, kept=False, taken_as=None, daz='none'):
        self.width, self.kept, self.taken_as, self.daz = width, kept, taken_as, daz

    def shape(self, fmt):
        """The format whose emin counts: the operand's own, or G."""
        return self.taken_as or fmt

    def read(self, code, fmt):
        """The value that a code of A or B has for the block."""
        x = fmt.decode(code)
        if self.width is not None and fmt.m > self.width:
            cut = code & fmt.mask & ~((1 << (fmt.m - self.width)) - 1)
            x = NAN if self.kept and is_nan(x) else fmt.decode(cut)
        return flushed(x, self.shape(fmt).emin, self.daz)

    def read_c(self, c, out):
        """The same happens once to C, with emin of `out`."""
        return flushed(c, out.emin, self.daz)


def flushed(x, emin, daz):
    """daz=sign: below 2^emin, the zero of its sign; daz=plus: such a value and every zero become +0."""
    if daz == 'none' or not (is_zero(x) or (is_nonzero(x) and floor_log2(x) < emin)):
        return x
    return ZERO if daz == 'plus' else ZEROS[x.sign]


def exponent(x, emin):
    """e(x) = max(floor(log2 |x|), emin)."""
    return max(floor_log2(x), emin)


def zero_times_infinity(x, y):
    return is_nan(multiply(x, y)) and not is_nan(x) and not is_nan(y)


class Product:
    """The product of number k: its value, and e(ab) = e(a) + e(b), None for a zero."""

    def __init__(self, k, a, b, emin_a, emin_b):
        self.k, self.factors = k, [a, b]
        self.value = multiply(a, b)
        self.invalid = zero_times_infinity(a, b)
        self.e = exponent(a, emin_a) + exponent(b, emin_b) if is_nonzero(self.value) else None
        # that of a product which a zero operand makes zero, where zeros have one: e(0) is emin of the format
        self.e_of_zero = sum(exponent(x, emin) if is_nonzero(x) else emin
                             for x, emin in ((a, emin_a), (b, emin_b))) if is_zero(self.value) else None

    def scale(self, sa, sb):
        """Its value and exponent are 2^(sA + sB) as large. A scale of 0 makes a finite product zero; no scale but a NaN
        changes an infinite one."""
        self.factors += (sa, sb)
        s = multiply(sa, sb)
        if is_nan(s) or is_finite(self.value):
            self.value = multiply(self.value, s)
        scales = floor_log2(sa) + floor_log2(sb) if is_nonzero(s) else None
        self.e = None if self.e is None or scales is None else self.e + scales
        self.e_of_zero = None if self.e_of_zero is None or scales is None else self.e_of_zero + scales
