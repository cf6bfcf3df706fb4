# SPDX-License-Identifier: MIT
"""Sections 8 and 11.2 of numerics.md: the sums of software.

Each model gives a number for C + sum of a[k] b[k], k = first ... last - 1.
"""
from exact import (INFINITIES, NAN, ZERO, ZEROS, add, compare, integer, is_infinite, is_nan, is_zero, magnitude,
                   multiply, negate, subtract, total, units)
from operands import zero_times_infinity
from rounding import TIES_TO_EVEN


def special_sum(terms):
    """NaN or an infinity that decides a sum without arithmetic, or None (section 8, the first two lines)."""
    if any(is_nan(t) for t in terms):
        return NAN
    signs = {t.sign for t in terms if is_infinite(t)}
    if signs:
        return NAN if len(signs) == 2 else INFINITIES[signs.pop()]
    return None


def zero_of(terms, toward_negative):
    """The zero of an exact sum that is 0, section 8: -0 if all terms are -0; -0 in the mode toward negative unless all
    terms are +0; else +0."""
    if all(is_zero(t) and t.sign for t in terms):
        return ZEROS[1]
    if toward_negative and not all(is_zero(t) and not t.sign for t in terms):
        return ZEROS[1]
    return ZERO


def exact_sum(terms, toward_negative):
    """The sum of finite terms without rounding."""
    s = total(terms)
    return zero_of(terms, toward_negative) if is_zero(s) else s


class Exact:
    """exact: the sum of all products and C, formed without rounding."""

    sums = None

    def sum(self, run, first, last, c):
        terms = [run.product(k) for k in range(first, last)] + [c]
        special = special_sum(terms)
        return exact_sum(terms, run.mode.toward_negative) if special is None else special


class Sequence:
    """fp32, fp64, seq(F): s = rnd_F(s + a[k] b[k])."""

    def __init__(self, fmt, mode, can_be_inside=True):
        """fp64 is never inside another model, and so has no format of the sums."""
        self.format, self.mode = fmt, mode
        self.sums = fmt if can_be_inside else None

    def sum(self, run, first, last, c):
        s = c
        for k in range(first, last):
            before, s = s, run.plus(s, run.product(k), self.format, self.mode)
            run.step([([run.a[k], run.b[k]], zero_times_infinity(run.a[k], run.b[k]), run.product(k))], before, s)
        return s


class Sequence2:
    """seq2(P,F): s = rnd_F(s + rnd_P(a[k] b[k]))."""

    def __init__(self, products, fmt, mode):
        self.products, self.sums, self.mode = products, fmt, mode

    def sum(self, run, first, last, c):
        s = c
        for k in range(first, last):
            p = run.round(run.product(k), self.products, self.mode)
            s = run.plus(s, p, self.sums, self.mode)
        return s


class Chunk:
    """chunk(L,P,F): t over L products from +0, then s = rnd_F(s + t)."""

    def __init__(self, length, inner, fmt, mode):
        self.length, self.inner, self.sums, self.mode = length, inner, fmt, mode

    def sum(self, run, first, last, c):
        s = c
        for start in range(first, last, self.length):
            t = ZERO
            for k in range(start, min(start + self.length, last)):
                p = run.round(run.product(k), self.inner, self.mode)
                t = run.plus(t, p, self.inner, self.mode)
            s = run.plus(s, t, self.sums, self.mode)
        return s


class Pairwise:
    """pairwise(F): T(lo,hi) = rnd_F(T(lo,mid) + T(mid,hi)); the result is rnd_F(T(0,n) + C)."""

    def __init__(self, fmt, mode):
        self.sums, self.mode = fmt, mode

    def tree(self, run, lo, hi):
        if hi - lo == 1:
            return run.round(run.product(lo), self.sums, self.mode)
        middle = lo + (hi - lo) // 2
        left = self.tree(run, lo, middle)
        right = self.tree(run, middle, hi)
        return run.meet(left, right, self.sums, self.mode)

    def sum(self, run, first, last, c):
        t = self.tree(run, first, last) if last > first else ZERO
        return run.meet(t, c, self.sums, self.mode)


class Strided:
    """strided(F): U(i,h) = rnd_F(U(i,2h) + U(i+h,2h)), +0 without a rounding where i >= n; the result is
    rnd_F(U(0,1) + C)."""

    def __init__(self, fmt, mode):
        self.sums, self.mode = fmt, mode

    def tree(self, run, first, n, power, i, h):
        if i >= n:
            return ZERO
        if h == power:
            return run.round(run.product(first + i), self.sums, self.mode)
        left = self.tree(run, first, n, power, i, 2 * h)
        right = self.tree(run, first, n, power, i + h, 2 * h)
        return run.meet(left, right, self.sums, self.mode)

    def sum(self, run, first, last, c):
        n, power = last - first, 1
        while power < n:
            power *= 2
        return run.meet(self.tree(run, first, n, power, 0, 1), c, self.sums, self.mode)


class Kahan:
    """kahan(F): p, y = p - c, t = s + y, c = (t - s) - y, s = t, each rounded."""

    def __init__(self, fmt, mode):
        self.sums, self.mode = fmt, mode

    def minus(self, run, x, y):
        return run.round(subtract(x, y, self.mode.toward_negative), self.sums, self.mode)

    def sum(self, run, first, last, start):
        s, c = start, ZERO
        for k in range(first, last):
            p = run.round(run.product(k), self.sums, self.mode)
            y = self.minus(run, p, c)
            t = run.plus(s, y, self.sums, self.mode)
            c = self.minus(run, self.minus(run, t, s), y)
            s = t
        return s


class Neumaier:
    """neumaier(F): t = s + v; e is what t lost of the smaller one of s and v; c collects e; the result is s + c."""

    def __init__(self, fmt, mode):
        self.sums, self.mode = fmt, mode

    def round_sum(self, run, x, y):
        return run.round(add(x, y, self.mode.toward_negative), self.sums, self.mode)

    def sum(self, run, first, last, start):
        s, c = start, ZERO
        for k in range(first, last):
            v = run.round(run.product(k), self.sums, self.mode)
            t = run.plus(s, v, self.sums, self.mode)
            large, small = (s, v) if not_less(s, v) else (v, s)
            e = self.round_sum(run, self.round_sum(run, large, negate(t)), small)
            c = self.round_sum(run, c, e)
            s = t
        return run.plus(s, c, self.sums, self.mode)


def not_less(s, v):
    """|s| >= |v|: false where one of them is NaN; infinities are largest."""
    return not is_nan(s) and not is_nan(v) and compare(magnitude(s), magnitude(v)) >= 0


class Promote:
    """promote(N,M,F): s = rne_F(s + M of the part from C = +0); scaled: s = rne_F(rne_F(sA[j] sB[j]) M + s)."""

    def __init__(self, length, model, fmt, scaled):
        self.length, self.model, self.sums, self.scaled = length, model, fmt, scaled

    def sum(self, run, first, last, c):
        s = c
        for start in range(first, last, self.length):
            end = min(start + self.length, last)
            part = self.model.sum(run, start, end, ZERO)
            if self.scaled:
                j = start // self.length                # counted over the whole row
                part = multiply(run.round(multiply(run.sa[j], run.sb[j]), self.sums, TIES_TO_EVEN), part)
            s = run.plus(s, part, self.sums, TIES_TO_EVEN)
        return s


class SplitK:
    """splitk(S,M): slices of consecutive k, the first n mod S of them one longer; t = rne_F(t + slice); then C."""

    def __init__(self, slices, model):
        self.slices, self.model, self.sums = slices, model, model.sums

    def sum(self, run, first, last, c):
        n = last - first
        count = min(self.slices, n)
        t, start = ZERO, first
        for i in range(count):
            end = start + n // count + (1 if i < n % count else 0)
            value = self.model.sum(run, start, end, ZERO)
            t = run.plus(t, value, self.sums, TIES_TO_EVEN) if i else value
            start = end
        return run.plus(t, c, self.sums, TIES_TO_EVEN)


class Int32:
    """int32: the sum modulo 2^32; (sat,N): after every N products, and at the end, the exact sum is limited."""

    sums = None

    def __init__(self, length=None):
        self.length = length

    def sum(self, run, first, last, c):
        s = units(c, 0)
        step = self.length or 1
        for start in range(first, last, step):
            t = sum(units(run.product(k), 0) for k in range(start, min(start + step, last)))
            s = self.step(run, s, t)
        return integer(s if first < last else self.limited(s))

    def limited(self, s):
        if self.length:
            return max(-1 << 31, min(s, (1 << 31) - 1))
        return (s + (1 << 31)) % (1 << 32) - (1 << 31)

    def step(self, run, s, t):
        new = self.limited(s + t)
        run.limited |= bool(self.length) and new != s + t
        if run.watch is not None:
            run.watch.integer(t, not -1 << 31 <= s + t < 1 << 31)
        return new


