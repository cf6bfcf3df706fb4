# SPDX-License-Identifier: MIT
"""The theorems about emu/core/arith.h and the ways into and out of binary32 and binary64: P10 and P11 of docs/proof/proof.md.

P10: what hu_exact_* return is the exact result, all of it, or its leading 64 digits with sticky set for the rest. P1 to P4
then say that it is rounded once as the page wants it. P11: what hui_round supposes of its operand holds for them."""
from collections import namedtuple

import specification as s
import terms as t
from integers import Integer, choose, pow2
from symbols import LIMIT

FINITE = s.KIND_FINITE
# sign, more, kind: terms; sig, exp: integers
Number = namedtuple('Number', 'kind sign sig exp more')
EXPONENTS = 2400  # of operands, either sign: the least of a binary64 is -1074, a product's twice that


class Given:
    """An operand: a finite number of at most `digits` digits, or of any kind (None). first: the place of its first digit."""

    def __init__(self, tag, digits, kind=FINITE, first=None):
        self.kind = t.widen(t.variable(f'kind_{tag}', 2), 8) if kind is None else t.constant(kind, 8)
        self.minus = t.widen(t.variable(f'minus_{tag}', 1), 8)
        sig = t.variable(f'sig_{tag}', digits)
        if first is not None:
            sig = t.concatenate(t.constant(1, 64 - first), *([t.variable(f'sig_{tag}', first)] if first else []))
        self.code = [self.kind, self.minus, t.widen(sig, 64), t.variable(f'exp_{tag}', 32)]
        self.sig, self.exp = Integer.of(sig), Integer.of(self.code[3], -EXPONENTS, EXPONENTS)
        self.sign = t.equal(self.minus, 1)

    def supposed(self):
        """Within the exponents, and finite numbers are not 0, as hui_num_finite makes them."""
        exp = self.code[3]
        return t.conjunction(t.at_most_signed(t.constant(-EXPONENTS, 32), exp), t.at_most_signed(exp, EXPONENTS),
                             t.implies(t.equal(self.kind, FINITE), t.differs(self.code[2], 0)))


def made(out):
    """The number that a function of arith.c returned."""
    sig, rest = out.value
    return Number(t.extract(rest, 35, 34), t.bit(rest, 33), Integer.of(sig), Integer.of(t.cut(rest, 32), -2**31, 2**31 - 1), t.bit(rest, 32))


def run(sources, name, *operands):
    flat = [x for one in operands for x in (one.code if isinstance(one, Given) else [one])]
    return sources.module('arith.c').run(name, flat)


def first_on_top(term, exp):
    """A number that is not 0 with its first digit on top: significand, exponent."""
    lead = t.leading_zeros(term)
    return term << lead, exp - Integer.of(lead).known(0, term.sort - 1)


def holds(n, size, exp):
    """Whether n is size 2^exp, size > 0: all of it, or its leading 64 digits and sticky for what is left."""
    width = max(128, -(-size.high.bit_length() // 64) * 64)
    top, at = first_on_top(size.unsigned(width), exp)
    got, got_at = first_on_top(n.sig.unsigned(64), n.exp)
    left = t.differs(t.cut(top, width - 64), 0)
    return t.conjunction(t.equal(got, t.extract(top, width - 1, width - 64)), got_at == at + (width - 64), t.equal(left, n.more),
                         t.implies(n.more, n.sig >= 2**63))


def is_number(z, sign):
    return t.conjunction(t.equal(z.kind, FINITE), t.equal(z.sign, sign))


# ---- P10 ----

def same_on_top(sources, name, which, first, count, more=0):
    """The operand whose first digit stands at `first` gives what it gives with that digit on top."""
    low = [Given(tag, 64, FINITE, first if tag == which else None) for tag in 'abc'[:count]]
    high = [Given(tag, 64) for tag in 'abc'[:count]]
    at = 'abc'.index(which)
    high[at].code = list(low[at].code)
    high[at].code[2] = low[at].code[2] << (63 - first)
    high[at].code[3] = low[at].code[3] - (63 - first)
    down = [t.widen(t.variable('down', 1), 8)] * more
    one, two = (run(sources, name, *operands, *down) for operands in (low, high))
    return [g.supposed() for g in low] + [t.negation(t.conjunction(*map(t.equal, one.value, two.value)))]


def add(sources, apart):
    """a + b for finite operands with their first digits on top, a that many places above b (below, if negative)."""
    a, b = Given('a', 64, FINITE, 63), Given('b', 64, FINITE, 63)
    a.exp = b.exp + apart
    a.code[3] = b.code[3] + apart
    down = t.widen(t.variable('down', 1), 8)
    z = run(sources, 'proof_add', a, b, down)
    n = made(z)
    far, low = abs(apart), (b if apart >= 0 else a).exp
    x, y = (a.sig * pow2(far), b.sig) if apart >= 0 else (a.sig, b.sig * pow2(far))
    same = t.equal(a.sign, b.sign)
    size = choose(same, x + y, choose(x > y, x - y, y - x)).known(0, x.high + y.high)
    sign = t.choose(x >= y, a.sign, b.sign)
    zero = t.conjunction(t.equal(n.kind, s.KIND_ZERO), t.equal(n.sign, t.equal(down, 1)))
    right = t.choose(size == 0, zero, t.conjunction(is_number(n, sign), holds(n, size, low)))
    return [b.supposed(), t.disjunction(z.undefined, t.negation(right))]


def add_far(sources, digits, above):
    """a + b where the exponents differ by more than 127 + `digits` - 1 or so: the larger one with a little more or less.

    In units u of a's lowest digit when its first one is on top, a is A and b less than 1/2: the sum lies between A and
    A + 1, the difference between A - 1 and A; or, in units of u/2, between 2A - 1 and 2A."""
    a, b = Given('a', digits), Given('b', digits)
    down = t.widen(t.variable('down', 1), 8)
    z = run(sources, 'proof_add', a, b, down) if above else run(sources, 'proof_add', b, a, down)
    n = made(z)
    lead = t.leading_zeros(a.code[2])
    top, exp = Integer.of(a.code[2] << lead), a.exp - Integer.of(t.cut(lead, 7), 0, 63)
    same = t.equal(a.sign, b.sign)
    once = t.conjunction(n.exp == exp, n.sig == choose(same, top, top - 1))
    twice = t.conjunction(n.exp == exp - 1, n.sig == choose(same, 2 * top, 2 * top - 1))
    right = t.conjunction(is_number(n, a.sign), n.more, n.sig >= 2**63, t.disjunction(once, twice))
    # |b| < 2^(b.exp + digits) <= u / 2
    little = b.exp + digits <= exp - 1
    return [a.supposed(), b.supposed(), a.exp - b.exp > 64 + digits, t.disjunction(z.undefined, t.negation(t.conjunction(little, right)))]


def mul(sources, digits):
    """a b, all of it."""
    a, b = Given('a', digits), Given('b', digits)
    z = run(sources, 'proof_mul', a, b)
    n = made(z)
    # The product of the specification, at the width of the code's, so that both are one multiplication.
    product = Integer.of(t.widen(a.sig.unsigned(digits), 64) * t.widen(b.sig.unsigned(digits), 64))
    right = t.conjunction(is_number(n, a.sign ^ b.sign), t.negation(n.more), n.sig == product, n.exp == a.exp + b.exp)
    return [a.supposed(), b.supposed(), t.disjunction(z.undefined, t.negation(right))]


def div(sources, digits, quotient_of):
    """a / b, a with its first digit on top: z b <= a < (z + 1) b in units of the last digit, by multiplication."""
    a, b = Given('a', 64, FINITE, 63), Given('b', digits)
    low = t.constant(0, 64 - quotient_of)
    z = run(sources, 'proof_div', a, b)
    n = made(z)
    apart = (a.exp - b.exp - n.exp).known(0, 64)     # a is that many places above z b
    left, right, next_one = n.sig * b.sig, a.sig * pow2(apart), (n.sig + 1) * b.sig
    exact = t.choose(n.more, t.conjunction(left < right, right < next_one), left == right)
    inside = t.conjunction(a.exp - b.exp - n.exp >= 0, a.exp - b.exp - n.exp <= 64)
    good = t.conjunction(is_number(n, a.sign ^ b.sign), n.sig >= 2**63, inside, exact)
    return [a.supposed(), b.supposed(), t.equal(t.cut(a.code[2], 64 - quotient_of), low), t.disjunction(z.undefined, t.negation(good))]


def sqrt(sources, digits):
    """sqrt a, a > 0, its first digit on top of 63 (the code takes 63 digits): z^2 <= a < (z + 1)^2 in units of the last digit."""
    a = Given('a', 64, FINITE, 62)
    z = run(sources, 'proof_sqrt', a)
    n = made(z)
    apart = (a.exp - n.exp - n.exp).known(0, 66)
    size, square, next_one = a.sig * pow2(apart), n.sig * n.sig, (n.sig + 1) * (n.sig + 1)
    exact = t.choose(n.more, t.conjunction(square < size, size < next_one), square == size)
    inside = t.conjunction(a.exp - n.exp - n.exp >= 0, a.exp - n.exp - n.exp <= 66)
    good = t.conjunction(is_number(n, t.FALSE), n.sig >= 2**63, inside, exact)
    return [a.supposed(), t.negation(a.sign), t.equal(t.cut(a.code[2], 63 - digits), 0), t.disjunction(z.undefined, t.negation(good))]


# ---- P11 ----

def fit(n):
    """What hui_round supposes: the exponent within its domain; with sticky the first digit on top; a finite number is not 0."""
    return t.implies(t.equal(n.kind, FINITE), t.conjunction(n.exp >= -LIMIT, n.exp <= LIMIT, n.sig != 0,
                                                            t.disjunction(t.negation(n.more), n.sig >= 2**63)))


def fits(sources, name, digits, count, more=0):
    """The result of an operation on operands of every kind is one that hui_round takes; nothing is undefined."""
    given = [Given(tag, digits, None) for tag in 'abc'[:count]]
    z = run(sources, name, *given, *[t.widen(t.variable('down', 1), 8)] * more)
    return [g.supposed() for g in given] + [t.disjunction(z.undefined, t.negation(fit(made(z))))]


def unpacks(sources, width):
    """hui_unpack32 and hui_unpack64: kind, sign and value of every pattern are section 1's with e, m and the IEEE axes."""
    e, m = (8, 23) if width == 32 else (11, 52)
    u = t.variable('u', width)
    z = sources.module('arith.c').run(f'proof_unpack{width}', [u])
    n = made(z)
    axis = {'zero': s.ZERO_FIELD, 'subnormal': s.GRADUAL, 'inf': s.INF_IEEE, 'nan': s.NAN_IEEE, 'overflow': s.OVER_INF, 'negative': s.BELOW_NAN}
    f = s.Format(t.TRUE, Integer.constant(e), Integer.constant(m), Integer.constant(0), negzero=t.TRUE,
                 **{name: t.constant(v, 8) for name, v in axis.items()})
    page = s.decode(f, Integer.of(u))
    same = t.conjunction(t.equal(t.equal(n.kind, s.KIND_NAN), page.nan), t.equal(t.equal(n.kind, s.KIND_INF), page.inf),
                         t.equal(t.equal(n.kind, s.KIND_ZERO), page.zero), t.equal(t.equal(n.kind, FINITE), page.finite),
                         t.negation(n.more), t.equal(n.sign, page.minus), fit(n),
                         t.implies(page.finite, t.conjunction(n.sig == page.sig, n.exp == page.exp)))
    return [t.disjunction(z.undefined, t.negation(same))]


def packs64(sources, digits):
    """hui_pack64 of a number of at most 31 digits within binary64 gives the pattern that has its value."""
    a = Given('a', digits, None)
    z = run(sources, 'proof_pack64', a)
    e, m = 11, 52
    axis = {'zero': s.ZERO_FIELD, 'subnormal': s.GRADUAL, 'inf': s.INF_IEEE, 'nan': s.NAN_IEEE, 'overflow': s.OVER_INF, 'negative': s.BELOW_NAN}
    f = s.Format(t.TRUE, Integer.constant(e), Integer.constant(m), Integer.constant(0), negzero=t.TRUE,
                 **{name: t.constant(v, 8) for name, v in axis.items()})
    page = s.decode(f, Integer.of(z.value))
    inside = t.conjunction(a.exp >= -1074, s.compare(a.sig, a.exp, 1, 1024) < 0)
    same = t.conjunction(t.equal(t.equal(a.kind, s.KIND_NAN), page.nan), t.equal(t.equal(a.kind, s.KIND_INF), page.inf),
                         t.equal(t.equal(a.kind, s.KIND_ZERO), page.zero), t.disjunction(page.nan, t.equal(a.sign, page.minus)),
                         t.implies(page.finite, s.compare(a.sig, a.exp, page.sig, page.exp) == 0),
                         t.implies(page.nan, Integer.of(z.value) == 0x7FF8000000000000))
    return [a.supposed(), t.implies(t.equal(a.kind, FINITE), inside), t.disjunction(z.undefined, t.negation(same))]
