# SPDX-License-Identifier: MIT
"""Sections 11.1 and 11.3 of numerics.md: the operands of one element, its roundings and their random words."""
from exact import add, compare, integer, is_nan, multiply
from formats import BINARY64_FORMAT
from lines import format_of
from operands import zero_times_infinity
from rounding import Mode, round_real
from words import high_bits

INTEGERS = {'s4': (4, True), 'u4': (4, False), 's8': (8, True), 'u8': (8, False), 's32': (32, True)}


class IntegerElement:
    """Elements that are integers of two's complement or without a sign."""

    def __init__(self, width, signed):
        self.width, self.signed, self.mask = width, signed, (1 << width) - 1

    def decode(self, code):
        code &= self.mask
        return integer(code - (1 << self.width) if self.signed and code >> (self.width - 1) else code)

    def is_signalling(self, code):
        return False

    def encode(self, x):
        n = x.n << x.q if x.q >= 0 else x.n >> -x.q
        return (-n if x.sign else n) & self.mask


def element_of(text):
    """The kind of an element: an integer, binary64, or a format by its axes."""
    if text in INTEGERS:
        return IntegerElement(*INTEGERS[text])
    return BINARY64_FORMAT if text == 'binary64' else format_of(text)


class Run:
    """One element of a call: operands by number k, C, scales, random words, and the number r of the next rounding."""

    def __init__(self, fa, fb, a, b, c, words=None, mode=None, scales=None, watch=None):
        """a, b: codes; c: a Real (+0 if C is absent); words: from r to the word of rounding r; scales: their format,
        and two lists of Reals."""
        self.fa, self.fb, self.a_codes, self.b_codes = fa, fb, a, b
        self.a = [fa.decode(code) for code in a]
        self.b = [fb.decode(code) for code in b]
        self.n, self.c = len(a), c
        self.words, self.mode = words, mode or Mode()
        self.scale_format, self.sa, self.sb = scales or (None, (), ())
        self.watch = watch
        self.steps = None           # a list: the steps of an instruction (11.8)
        self.overflowed = False     # a rounding inside overflowed (11.8)
        self.rounding = 0
        self.limited = False        # int32(sat,N): a limit changed a sum
        self.invalid_product = False                    # some product is infinity times zero
        self.nan_read = is_nan(c) or (self.n > 0 and any(map(is_nan, [*self.sa, *self.sb])))

    def product(self, k):
        """a[k] b[k], exact."""
        self.note(self.a[k], self.b[k])
        return multiply(self.a[k], self.b[k])

    def note(self, a, b):
        """Whether an element is a NaN, as the model reads it, and whether the product is infinity times zero."""
        self.nan_read |= is_nan(a) or is_nan(b)
        self.invalid_product |= zero_times_infinity(a, b)

    def next_random(self, mode):
        """R of the next rounding: every rounding is counted, whether its mode is stochastic or not."""
        r = self.rounding
        self.rounding += 1
        if not mode.bits:
            return 0
        return high_bits(self.words(r), mode.bits)

    def round_events(self, x, fmt, mode):
        """rnd_F(x) as a value, and the events of the rounding."""
        code, events = round_real(x, fmt, mode, self.next_random(mode))
        self.overflowed |= 'overflow' in events
        return fmt.decode(code), events

    def round(self, x, fmt, mode):
        return self.round_events(x, fmt, mode)[0]

    def plus(self, s, t, fmt, mode):
        """rnd_F(s + t), an addition of t to the accumulator s (11.7)."""
        new, events = self.round_events(add(s, t, mode.toward_negative), fmt, mode)
        self.addition(s, t, new, events)
        return new

    def meet(self, left, right, fmt, mode):
        """rnd_F(left + right) in a tree: the operand that is larger in magnitude is the accumulator (11.7)."""
        new, events = self.round_events(add(left, right, mode.toward_negative), fmt, mode)
        self.addition(*by_magnitude(left, right), new, events)
        return new

    def step(self, products, c, new):
        """A step of 11.8: products (see instruction.py), the c that it begins with, and what it gives."""
        if self.steps is not None:
            self.steps.append((products, c, new))

    def addition(self, s, t, new, events):
        if self.watch is not None:
            self.watch.addition(s, t, new, events)


def by_magnitude(left, right):
    """The larger in magnitude first, of equal ones the left."""
    if is_nan(left) or is_nan(right):
        return left, right
    if compare(right._replace(sign=0), left._replace(sign=0)) > 0:
        return right, left
    return left, right
