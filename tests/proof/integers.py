# SPDX-License-Identifier: MIT
"""Integers as mathematics has them, for the specification: each knows the least and the largest value that it can have, and
its bit-vector is as wide as those need. So no sum, product or power can wrap, and nothing here has a width to check.

    k = Integer.of(exp, -2**30, 2**30) + 63
    k < emin            # a term: comparisons give booleans
    a // pow2(n)        # the floor; a % pow2(n) is what is left"""
import terms as t


def digits_for(low, high):
    """The width of a two's complement number that holds both."""
    return max(low.bit_length() if low >= 0 else (-low - 1).bit_length(), high.bit_length() if high >= 0 else (-high - 1).bit_length()) + 1


class Integer:
    """term is the value as a two's complement number; low <= value <= high."""
    __hash__ = object.__hash__

    def __init__(self, term, low, high):
        width = digits_for(low, high)
        self.term = t.widen_signed(term, width) if term.sort < width else t.cut(term, width)
        self.low, self.high = low, high

    @staticmethod
    def of(term, low=None, high=None):
        """An unsigned bit-vector's number; with a range that number must be known to lie in it, signed if low < 0."""
        if low is None:
            low, high = 0, (1 << term.sort) - 1
        return Integer(term if low < 0 else t.concatenate(t.constant(0, 1), term), low, high)

    @staticmethod
    def constant(value):
        return Integer(t.constant(value, digits_for(value, value)), value, value)

    def _both(self, other, low, high):
        """The two terms at one width that holds low, high and both."""
        w = max(digits_for(low, high), self.term.sort, other.term.sort)
        return t.widen_signed(self.term, w), t.widen_signed(other.term, w)

    def __add__(self, other):
        other = integer(other)
        low, high = self.low + other.low, self.high + other.high
        a, b = self._both(other, low, high)
        return Integer(a + b, low, high)

    __radd__ = __add__

    def __sub__(self, other):
        other = integer(other)
        low, high = self.low - other.high, self.high - other.low
        a, b = self._both(other, low, high)
        return Integer(a - b, low, high)

    def __rsub__(self, other):
        return integer(other) - self

    def __neg__(self):
        return 0 - self

    def __mul__(self, other):
        if isinstance(other, Power):
            n = other.n
            ends = (self.low, self.low << n.high, self.high, self.high << n.high)
            w = digits_for(min(ends), max(ends))
            return Integer(t.widen_signed(self.term, w) << _amount(n, w), min(ends), max(ends))
        other = integer(other)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        a, b = self._both(other, min(ends), max(ends))
        return Integer(a * b, min(ends), max(ends))

    __rmul__ = __mul__

    def __floordiv__(self, power):
        """By a power of two, downward."""
        n, w = power.n, self.term.sort
        ends = (self.low, self.high, self.low >> n.low, self.high >> n.low, self.low >> n.high, self.high >> n.high)
        amount = _amount(n, w) if n.high < w else _amount(smallest(n, w - 1), w)
        return Integer(t.shift_right_signed(self.term, amount), *((min(ends), max(ends)) if self.low < 0 else (ends[4], ends[3])))

    def __mod__(self, power):
        """Of a number >= 0, by a power of two."""
        n = power.n
        if n.low == n.high:
            return Integer.of(t.cut(self.term, min(n.low, self.term.sort - 1))) if n.low else Integer.constant(0)
        w = self.term.sort
        ones = (t.constant(1, w) << _amount(n if n.high < w else smallest(n, w - 1), w)) - 1
        return Integer(self.term & ones, 0, self.high)

    def __lt__(self, other):
        return _less(self, integer(other))

    def __le__(self, other):
        return t.negation(_less(integer(other), self))

    def __gt__(self, other):
        return _less(integer(other), self)

    def __ge__(self, other):
        return t.negation(_less(self, integer(other)))

    def __eq__(self, other):
        other = integer(other)
        if self.high < other.low or self.low > other.high:
            return t.FALSE
        return t.equal(*self._both(other, 0, 0))

    def __ne__(self, other):
        return t.negation(self == other)

    @property
    def odd(self):
        return t.bit(self.term, 0)

    def unsigned(self, width):
        """A number >= 0 as a bit-vector of that width, which must hold it."""
        if self.term.sort <= width:
            return t.widen_signed(self.term, width)
        if self.high >> width:
            raise ValueError(f'{self.high} in {width} digits')
        return t.cut(self.term, width)

    def known(self, low, high):
        """The same number, known to lie in a narrower range."""
        return Integer(self.term, max(low, self.low), min(high, self.high))


def _less(a, b):
    if a.high < b.low or a.low >= b.high:
        return t.TRUE if a.high < b.low else t.FALSE
    return t.less_signed(*a._both(b, 0, 0))


def _amount(n, width):
    """A number of places as the operand of a shift at that width."""
    if n.low < 0:
        raise ValueError('a shift by a number that may be negative')
    if n.term.sort <= width:
        return t.widen_signed(n.term, width)
    if n.high >> width:
        raise ValueError(f'a shift by up to {n.high} at {width} digits')
    return t.cut(n.term, width)


class Power(Integer):
    """2^n for n >= 0, which others are multiplied with or divided by."""
    __hash__ = object.__hash__

    def __init__(self, n):
        self.n = n
        width = n.high + 2
        super().__init__(t.constant(1, width) << _amount(n, width), 1 << n.low, 1 << n.high)


def integer(x):
    return x if isinstance(x, Integer) else Integer.constant(x)


def pow2(n):
    """2^n."""
    return Power(integer(n))


def choose(condition, a, b):
    """condition ? a : b."""
    a, b = integer(a), integer(b)
    low, high = min(a.low, b.low), max(a.high, b.high)
    if condition.op == 'constant':
        return a if condition.data else b
    w = digits_for(low, high)
    return Integer(t.choose(condition, t.widen_signed(a.term, w), t.widen_signed(b.term, w)), low, high)


def select(*table, otherwise):
    """The number of the first condition that holds."""
    out = integer(otherwise)
    for condition, value in reversed(table):
        out = choose(condition, value, out)
    return out


def smallest(a, b):
    a, b = integer(a), integer(b)
    if a.high <= b.low or b.high <= a.low:
        return a if a.high <= b.low else b
    out = choose(a < b, a, b)
    return out.known(out.low, min(a.high, b.high))


def largest(a, b):
    a, b = integer(a), integer(b)
    if a.low >= b.high or b.low >= a.high:
        return a if a.low >= b.high else b
    out = choose(a < b, b, a)
    return out.known(max(a.low, b.low), out.high)
