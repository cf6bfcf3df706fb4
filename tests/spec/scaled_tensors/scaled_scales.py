# SPDX-License-Identifier: MIT
"""How scales come from the largest magnitude (scaled.md, sections 2 to 4), and the steps from x to its operand."""
from exact import FINITE, INFINITE, ONE, Real, ZERO, floor_log2, is_finite, magnitude, multiply
from scaled_binary32 import LARGEST, divided, less, quotient, rn, rn_plus, times
from scaled_formulas import FormulaScale


# 2. amax

def amax(elements, layout):
    """The largest |x| of a block by the table of `special` (`nan` counts like `element`), before `amin` limits it."""
    largest = ZERO
    for x in elements:
        if x.kind is INFINITE and layout.special == 'saturate':
            x = LARGEST[0]
        if x.kind is FINITE and less(largest, magnitude(x)):
            largest = magnitude(x)
    return largest


def largest_of(numbers):
    """The largest of some A."""
    largest = ZERO
    for number in numbers:
        if less(largest, number):
            largest = number
    return largest


# 3. Scales that are powers of two

def power_of_two_exponent(a, layout):
    """e before it is limited, by the column "equal to" or the definition of each rule."""
    k = floor_log2(a)
    e = k - layout.emax
    if layout.rule == 'ceil':
        up = a.n & a.n - 1 != 0                                             # A is not 2^k
    elif layout.rule == 'even':
        digits = layout.element.m + 1
        up = not less(a, Real(FINITE, 0, (1 << digits + 1) - 1, k - digits))    # A >= 2^k (2 - 2^-(m+1))
    elif layout.rule == 'rceil':
        up = less(layout.largest._replace(q=layout.largest.q + e), a)       # A > M 2^(k - emax)
    else:
        up = False
    return e + 1 if up else e


def limited(e, layout):
    """e limited to the exponents of the powers of two that the scale format has."""
    least, most = layout.powers
    return min(max(e, least), most)


# 4. Ratios

class SecondLevel:
    """t and S of a tensor whose largest magnitude is A_T."""

    def __init__(self, layout, a_t):
        self.t, self.big_s, self.a_t = ONE, ONE, a_t
        if not layout.has_tensor or not a_t.n:
            return
        product = multiply(layout.largest, layout.bound)                    # M M_S
        if layout.steps in ('multiply', 'encode'):
            self.big_s = rn_plus(quotient(product, a_t))
            self.t = rn_plus(quotient(ONE, self.big_s))
        else:
            self.t = rn_plus(quotient(a_t, product))
            if layout.steps == 'reciprocal':
                self.big_s = rn_plus(quotient(ONE, self.t))


class Scale:
    """The scale of a block: its code, s, d, and the step from an element x to the operand of rnd_F."""

    def __init__(self, layout, second, code, s, big_s=None):
        self.layout, self.second, self.code, self.s = layout, second, code, s
        self.is_nan = s.kind is not FINITE
        if self.is_nan:
            return
        product = multiply(s, second.t)
        self.d = product if layout.steps == 'exact' else rn(product)
        self.big_s = second.big_s if layout.has_tensor else big_s
        self.factor = None                                                  # what x is multiplied by
        if self.d.n and layout.steps != 'exact':
            if layout.steps == 'encode' and not layout.has_tensor:
                self.factor = big_s
            elif layout.steps == 'reciprocal' and layout.has_tensor:
                self.factor = divided(self.big_s, s)
            elif layout.steps != 'divide':
                self.factor = divided(ONE, self.d)                          # r

    def operand(self, x):
        """x / d, or the binary32 number that the steps give, for a finite x (row "element", and section 5, case 3)."""
        if not x.n:
            return x
        if self.factor is not None:
            return times(x, self.factor)
        if self.layout.steps == 'divide':
            return divided(x, self.d)
        return quotient(x, self.d)


def ratio(layout, second, a):
    """The scale of the rule `ratio`, row "s, two levels" or "s, one level"."""
    big_s = None
    if layout.steps == 'exact':
        code, s = layout.rounded_scale(quotient(a, multiply(layout.largest, second.t)))
    elif layout.steps == 'encode':
        if layout.has_tensor:
            inverse = divided(ONE, layout.largest)
            code, s = layout.rounded_scale(times(a, times(second.big_s, inverse)))
        else:
            big_s = rn_plus(quotient(layout.largest, a))
            code, s = layout.rounded_scale(rn_plus(quotient(ONE, big_s)))
    else:
        y = divided(a, layout.largest)
        if layout.has_tensor and layout.steps == 'multiply':
            y = times(y, second.big_s)
        elif layout.has_tensor:
            y = divided(y, second.t)
        code, s = layout.rounded_scale(y)
    return Scale(layout, second, code, s, big_s)


def zero_scale(layout, second, a):
    """2, Zero: A = 0."""
    if layout.zero == 'low':
        code, s = layout.power_scale(layout.powers[0])
    else:
        code, s = layout.rounded_scale(ONE if layout.zero == 'one' else ZERO)
    return FormulaScale(layout, second, a, code, s) if layout.formulas else Scale(layout, second, code, s)


def nan_scale(layout, second):
    """2, special=nan: the canonical NaN of the scale format."""
    code = layout.scale.nan_code()
    s = layout.scale.decode(code)
    return FormulaScale(layout, second, ZERO, code, s) if layout.formulas else Scale(layout, second, code, s)


def has_special(elements):
    """Whether a block has an infinity or a NaN."""
    return not all(is_finite(x) for x in elements)
