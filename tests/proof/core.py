# SPDX-License-Identifier: MIT
"""The theorems about emu/core/round.h and emu/format: P1 to P9 of docs/proof/proof.md.

Each function gives the assertions of one query, which cannot hold together where the theorem is true: what is supposed, and
that the code is undefined or not what docs/numerics.md wants."""
import specification as s
import terms as t
from integers import Integer, choose, pow2
from llvm_calls import plain
from symbols import FORMAT, MODE, OPERAND, Symbols, parts

DETERMINISTIC = range(s.RNE, s.RTO + 1)
STOCHASTIC = range(s.SRA, s.SRC + 1)
NAMES = {s.SRA: 'sra', s.SRB: 'srb', s.SRC: 'src'}


def fails(out, right):
    return t.disjunction(out.undefined, t.negation(right))


def round_of(module, x, **instead):
    """The code's own rounding of the symbols' operand; instead: terms in the place of some of them."""
    return module.run('proof_round', [instead.get(n, x.v[n]) for n in FORMAT + MODE + OPERAND + ('random',)])


def finite(x, rounds):
    """What P1 and P2 suppose: a valid format, a mode, a normalised number in the domain."""
    return [x.valid(), x.any_mode(rounds), x.in_domain(), x.normalised()]


FINITE = t.constant(s.KIND_FINITE, 8)


def p1(sources, m):
    """Deterministic modes: code and events are the page's."""
    x = Symbols(m, bits=0)
    supposed = finite(x, DETERMINISTIC)
    out = round_of(sources.module('core.c'), x, kind=FINITE)
    return supposed + [fails(out, s.right(x.format, x.mode, x.operand, lambda places: t.FALSE, *parts(out.value)))]


def decision(x, places):
    """What a stochastic mode does with the fraction of sig 2^-places: a function of which nothing is known."""
    v = x.v
    cut = places.unsigned(32) if isinstance(places, Integer) else t.constant(places, 32)
    args = [t.widen(v['round'], 32), t.widen(v['bits'], 32), v['sig'], t.widen(v['sticky'], 32), cut, v['random']]
    return t.bit(t.applied('decision', args, 32), 0)


def lemmas(x, m, places):
    """What p3_lemma proves of hui_stochastic_up, where P2 uses it: an exact value stays; and who goes up with 63 - m digits of
    fraction, the next digit being 1, goes up with that digit in the fraction, too."""
    def stays(p):
        return t.implies(s.is_zero(s.fraction(s.real(x.operand.sig, x.operand.more, p))), t.negation(decision(x, p)))
    grows = t.implies(t.conjunction(decision(x, 63 - m), t.bit(x.v['sig'], 63 - m)), decision(x, 64 - m))
    return [stays(p) for p in places] + [grows]


def p2(sources, m):
    """All modes: the same, whatever the stochastic ones decide, with the lemmas of P3."""
    x = Symbols(m)
    supposed, places = finite(x, range(s.RNE, s.SRC + 1)), []

    def decide(p):
        places.append(p)
        return decision(x, p)
    calls = {'proof_decision': plain(lambda *args: t.applied('decision', list(args), 32))}
    out = round_of(sources.module('core.c', '-DPROOF_DECISION', calls=calls), x, kind=FINITE)
    right = s.right(x.format, x.mode, x.operand, decide, *parts(out.value))
    return supposed + lemmas(x, m, places) + [fails(out, right)]


def drawn(sources, x, cut):
    """hui_stochastic_up itself."""
    v = x.v
    return sources.module('core.c').run('proof_decision', [t.widen(v['round'], 32), t.widen(v['bits'], 32), v['sig'],
                                                           t.widen(v['sticky'], 32), cut, v['random']])


def stochastic_symbols(kind, bits):
    """One stochastic mode, and a number of fraction digits from 33 on, as a term and as an integer."""
    x = Symbols(3, bits)
    x.v['round'] = t.constant(kind, 8)
    x.mode = x.mode._replace(round=x.v['round'])
    cut = t.variable('cut', 32)
    return x, cut, Integer.of(cut, 33, 2**31 - 1)


def p3(sources, kind, bits=None):
    """hui_stochastic_up is the mode's row of the table, for every fraction of sig 2^-cut, 33 <= cut."""
    x, cut, places = stochastic_symbols(kind, bits)
    out = drawn(sources, x, cut)
    row = s.stochastic(x.mode, s.fraction(s.real(x.operand.sig, x.operand.more, places)), Integer.of(x.v['random']))
    return [x.any_mode(), x.normalised(), t.at_most_signed(t.constant(33, 32), cut), fails(out, t.equal(t.differs(out.value, 0), row))]


def p3_lemma(sources, kind):
    """hui_stochastic_up gives 0 or 1; 0 for an exact value; and where the digit above the fraction is 1 and it gives 1, it gives
    1 with that digit in the fraction, too."""
    x, cut, places = stochastic_symbols(kind, None)
    one, two = drawn(sources, x, cut), drawn(sources, x, cut + 1)
    exact = s.is_zero(s.fraction(s.real(x.operand.sig, x.operand.more, places)))
    shorter = t.conjunction(t.at_most(cut, 63), t.bit(x.v['sig'] >> t.widen(cut, 64), 0), t.equal(one.value, 1), t.equal(two.value, 0))
    stays = t.conjunction(exact, t.differs(one.value, 0))
    return [x.any_mode(), x.normalised(), t.at_most_signed(t.constant(33, 32), cut),
            t.disjunction(shorter, stays, t.less(t.constant(1, 32), one.value), one.undefined)]


def direct(sources, m, kind, bits):
    """P2 and P3 at once for one m, one mode and one N, nothing between them."""
    x = Symbols(m, bits)
    x.v['round'] = t.constant(kind, 8)
    x.mode = x.mode._replace(round=x.v['round'])
    supposed = finite(x, [kind])
    out = round_of(sources.module('core.c'), x, kind=FINITE)

    def decide(places):
        nu = s.fraction(s.real(x.operand.sig, x.operand.more, places))
        return s.stochastic(x.mode, nu, Integer.of(x.v['random']))
    return supposed + [fails(out, s.right(x.format, x.mode, x.operand, decide, *parts(out.value)))]


def p4(sources, digit):
    """A number whose first digit stands at `digit` is rounded as the same number with its first digit on top."""
    x = Symbols()
    upper = t.constant(0, 63 - digit)
    sig = t.concatenate(upper, t.constant(1, 1), *([t.variable('rest', digit)] if digit else []))
    zero = t.constant(0, 8)
    module = sources.module('core.c')
    low = round_of(module, x, kind=FINITE, sticky=zero, sig=sig)
    high = round_of(module, x, kind=FINITE, sticky=zero, sig=sig << (63 - digit), exp=x.v['exp'] - (63 - digit))
    return [x.valid(), x.any_mode(), x.in_domain(), t.differs(low.value, high.value)]


def p5(sources):
    """Zeros, infinities, NaNs: every format, every mode."""
    x = Symbols()
    supposed = [x.valid(), x.any_mode(), t.differs(x.v['kind'], s.KIND_FINITE)]
    out = round_of(sources.module('core.c'), x)
    return supposed + [fails(out, s.right_special(x.format, x.mode, x.v['kind'], x.operand.minus, *parts(out.value)))]


def p6(sources, *options):
    """Nothing in hui_spec_of and hui_round is undefined; with the sanitizer's options, none of its traps can be reached."""
    x = Symbols()
    supposed = [x.valid(), x.any_mode(), x.in_domain(), t.differs(x.v['sig'], 0), t.implies(t.equal(x.v['sticky'], 1), x.normalised())]
    out = round_of(sources.module('core.c', *options), x)
    if options and out.traps < 20:
        raise RuntimeError(f'only {out.traps} traps: the sanitizer is not at work')
    return supposed + [out.undefined]


def p7(sources):
    """hu_format_check accepts what section 1 accepts: e below 16, m below 32, every b, every byte on the other axes."""
    x = Symbols(wide=True)
    out = sources.module('check.c').run('proof_check', x.take(*FORMAT))
    booleans = t.conjunction(t.less(x.v['sign'], 2), t.less(x.v['negzero'], 2))
    return [fails(out, t.equal(t.equal(out.value, 1), t.conjunction(booleans, s.valid(x.format))))]


def p7_large(sources):
    """And nothing with a larger e or m."""
    x = Symbols(wide=True)
    e, m = t.variable('e', 8), t.variable('m', 8)
    out = sources.module('check.c').run('proof_check', [{'e': e, 'm': m}.get(n, x.v[n]) for n in FORMAT])
    return [t.disjunction(t.less(t.constant(15, 8), e), t.less(t.constant(31, 8), m)), t.disjunction(out.undefined, t.differs(out.value, 0))]


def p8(sources):
    """hui_unpack: kind, sign and value of every 32-bit code of every format are section 1's."""
    x = Symbols()
    supposed = [x.valid()]
    out = sources.module('core.c').run('proof_unpack', x.take(*FORMAT, 'code'))
    sig, rest = Integer.of(out.value[0]), out.value[1]
    kind, sign, sticky = t.extract(rest, 55, 48), t.extract(rest, 47, 40), t.extract(rest, 39, 32)
    exp = Integer.of(t.cut(rest, 32), -2**31, 2**31 - 1)
    page = s.decode(x.format, Integer.of(x.v['code']))
    same = t.conjunction(t.equal(t.equal(kind, s.KIND_NAN), page.nan), t.equal(t.equal(kind, s.KIND_INF), page.inf),
                         t.equal(t.equal(kind, s.KIND_ZERO), page.zero), t.equal(t.equal(kind, s.KIND_FINITE), page.finite),
                         t.equal(sticky, 0), t.implies(t.negation(page.nan), t.equal(sign, t.number(page.minus, 8))),
                         t.implies(page.finite, t.conjunction(sig == page.sig, exp == page.exp, sig != 0)))
    return supposed + [fails(out, same)]


# ---- P9: of the specification itself ----

def code_of(x, name):
    """A magnitude code of the format, what it is, and that it lies in its width."""
    c = Integer.of(t.variable(name, 32), 0, 2**31 - 1)
    return c, s.decode(x.format, c), [c < pow2(x.format.e + x.format.m), t.negation(t.bit(t.variable(name, 32), 31))]


def p9_max(sources):
    """max is a number, and no code of a number is larger."""
    x = Symbols()
    supposed = [x.valid()]
    c, at, inside = code_of(x, 'c')
    top = s.decode(x.format, s.max_code(x.format).known(0, 2**31 - 1))
    number = t.negation(t.disjunction(at.nan, at.inf))
    return supposed + inside + [t.disjunction(top.nan, top.inf, t.conjunction(number, c > s.max_code(x.format)))]


def p9_grows(sources):
    """Of two codes of numbers that are not zero the larger one has the larger value; so each value has one code."""
    x = Symbols()
    supposed = [x.valid()]
    a, at_a, inside_a = code_of(x, 'a')
    b, at_b, inside_b = code_of(x, 'b')
    return supposed + inside_a + inside_b + [at_a.finite, at_b.finite, a < b, s.compare(at_a.sig, at_a.exp, at_b.sig, at_b.exp) >= 0]


def p9_compare(sources, digits, other):
    """compare is right: against both numbers at one exponent, written out, for exponents up to 100 apart."""
    a, b = Integer.of(t.variable('a', digits)), Integer.of(t.variable('b', other))
    p, q = Integer.of(t.variable('p', 32), -2**30, 2**30), Integer.of(t.variable('q', 32), -2**30, 2**30)
    apart = (p - q + 100).known(0, 200)
    x, y = a * pow2(apart), b * pow2(100)
    exact = choose(x < y, -1, choose(x == y, 0, 1))
    within = [Integer.of(t.variable(n, 32), -2**31, 2**31 - 1) for n in 'pq']
    return [t.conjunction(*(t.conjunction(i >= -2**30, i <= 2**30) for i in within)), p - q >= -100, p - q <= 100,
            s.compare(a, p, b, q) != exact]


def p9_compare_far(sources, digits, other):
    """Further apart the larger exponent decides, unless its number is 0."""
    a, b = Integer.of(t.variable('a', digits)), Integer.of(t.variable('b', other))
    p, q = Integer.of(t.variable('p', 32), -2**30, 2**30), Integer.of(t.variable('q', 32), -2**30, 2**30)
    within = [Integer.of(t.variable(n, 32), -2**31, 2**31 - 1) for n in 'pq']
    domain = t.conjunction(*(t.conjunction(i >= -2**30, i <= 2**30) for i in within))
    up = choose(t.conjunction(a == 0, b == 0), 0, choose(a == 0, -1, 1))
    down = choose(t.conjunction(a == 0, b == 0), 0, choose(b == 0, 1, -1))
    z = s.compare(a, p, b, q)
    return [domain, t.disjunction(t.conjunction(p - q > 64, z != up), t.conjunction(p - q < -64, z != down))]


# ---- what is supposed can happen ----

def witness(sources, m, what):
    """Satisfiable: the suppositions of P2 together with an event, a mode or an axis."""
    x = Symbols(m)
    supposed = finite(x, range(s.RNE, s.SRC + 1))
    out = round_of(sources.module('core.c'), x, kind=FINITE)
    name, number = what
    if name == 'event':
        happens = t.bit(out.value, 32 + number)
    else:
        happens = t.equal(x.v[name], number)
    return supposed + [t.negation(out.undefined), happens]
