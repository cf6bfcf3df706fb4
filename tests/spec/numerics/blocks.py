# SPDX-License-Identifier: MIT
"""Section 11.5 of numerics.md: blocks. The value of one block is the c of the next."""
from exact import (INFINITIES, ZERO, ZEROS, add, equal, floor_log2, from_units, is_nan, is_nonzero, is_zero, multiply,
                   total, units)
from operands import Product, exponent
from rounding import nearest_even
from runs import by_magnitude
from sums import exact_sum, special_sum


def cut(x, q, how):
    """cut_q(x): 2^q times an integer, x / 2^q rounded toward zero, toward minus infinity, to nearest even or to odd."""
    if not x.n or x.q >= q:
        return x
    shift = q - x.q
    n, rest = x.n >> shift, x.n & ((1 << shift) - 1)
    if how == 'rne':
        n = nearest_even(x.n, shift)
    elif how == 'odd':
        n |= 1 if rest else 0
    elif how == 'floor':
        n += 1 if rest and x.sign else 0
    return from_units(-n if x.sign else n, q, ZEROS[x.sign])


class Block:
    """What all rules share: the walk over k, C, the last rounding of a block, c=last and scaling=sum."""

    def __init__(self, keys):
        self.__dict__.update(keys)
        self.sums = self.acc

    def sum(self, run, first, last, c):
        """C is flushed once, also where n = 0; then come the steps of L or, with order=mod4, 2 L products."""
        c = self.operands.read_c(c, self.out)
        step = 2 * self.l if self.order == 'mod4' else self.l
        for k0 in range(first, last, step):
            c = self.step(run, range(k0, min(k0 + step, last)), c)
        return c

    def step(self, run, ks, c):
        """A block, or the two of order=mod4; with c=last it starts from +0, and then c is added."""
        products = self.products_of(run, ks)
        v = ZERO if self.c == 'last' else c
        for part in self.halves(products) if self.order == 'mod4' else (products,):
            v = self.value(run, part, v)
        if self.c == 'last':
            v = self.add_last(run, self.scaled_value(run, ks[0], v) if self.scaling == 'sum' else v, c)
        run.step([(p.factors, p.invalid, self.counted(p.value)) for p in products], c, v)
        return v

    @staticmethod
    def halves(products):
        """order=mod4: the products with (k - k0) mod 4 in {0, 1}, then the others, of which there may be none."""
        k0 = products[0].k
        return [p for p in products if (p.k - k0) % 4 < 2], [p for p in products if (p.k - k0) % 4 >= 2]

    def counted(self, x):
        """big=B (late): a finite product of magnitude >= 2^B counts as an infinity."""
        return INFINITIES[x.sign] if self.big is not None and is_nonzero(x) and floor_log2(x) >= self.big else x

    def round_last(self, run, x):
        """rnd_acc by `last`; with last=rto a block's over=inf holds here, too. Value and events."""
        new, events = run.round_events(x, self.acc, self.last)
        if self.over == 'inf' and self.last.word == 'rto' and 'overflow' in events:
            new = INFINITIES[x.sign]
        return self.flush(x, new, events, self.acc.emin), events

    def scaled_value(self, run, k, v):
        """scaling=sum: rnd_acc(rnd_acc(sA sB) value), with the scales of the first k."""
        factor = self.round_last(run, multiply(*self.scales(run, k)))[0]
        return self.round_last(run, multiply(factor, v))[0]

    def add_last(self, run, v, c):
        """c = rnd_acc(value + c) by `last`; in chain the result is flushed as ftz says."""
        s = add(v, c, self.last.toward_negative)
        new, events = self.round_last(run, s)
        run.addition(c, v, new, events)
        return new

    def scales(self, run, k):
        """The scales of product k: those of number floor(k / every)."""
        return run.sa[k // self.every], run.sb[k // self.every]

    def products_of(self, run, ks):
        """The products of a block, of operands as the block reads them."""
        emin_a, emin_b = self.operands.shape(run.fa).emin, self.operands.shape(run.fb).emin
        found = []
        for k in ks:
            a, b = self.operands.read(run.a_codes[k], run.fa), self.operands.read(run.b_codes[k], run.fb)
            run.note(a, b)
            found.append(Product(k, a, b, emin_a, emin_b))
        return found

    def round_out(self, run, s):
        """rnd_out(S) with `over`: an overflow gives the infinity of S's sign in every mode. Value and events."""
        new, events = run.round_events(s, self.out, self.round)
        if self.over == 'inf' and 'overflow' in events:
            new = INFINITIES[s.sign]
        return self.flush(s, new, events, self.out.emin), events

    def round_twice(self, run, s):
        """via=P: rnd_P(S) first."""
        return self.round_out(run, s if self.via is None else run.round_events(s, self.via, self.round)[0])

    def finish(self, run, s):
        """*Out*: an exact sum S becomes rnd_out(S); with zero=plus a non-zero S that rounds to zero becomes +0."""
        new, events = self.round_twice(run, s)
        if self.zero == 'plus' and is_nonzero(s) and is_zero(new):
            new = ZERO
        if run.watch is not None:
            run.watch.block_overflow(events)
        return new

    def special(self, run, values):
        """*Specials*, decided before any arithmetic: what they round to, or None."""
        special = special_sum(values)
        return None if special is None else self.round_out(run, special)[0]

    def flush(self, exact, new, events, emin):
        """ftz: which results become the zero of their sign."""
        if self.ftz == 'before' and is_nonzero(exact) and floor_log2(exact) < emin:
            return ZEROS[exact.sign]
        if self.ftz in ('after', 'tiny') and is_nonzero(new) and floor_log2(new) < emin:
            return ZEROS[new.sign]
        if self.ftz == 'tiny' and 'underflow' in events:
            return ZEROS[exact.sign]
        return new

    def rnd(self, run, x):
        """rnd of tree, chain and lanes: rnd_out with `over` and `ftz`. Value and events."""
        return self.round_out(run, x)

    def plus(self, run, s, t):
        """rnd(s + t), an addition of t to s."""
        new, events = self.rnd(run, add(s, t, self.round.toward_negative))
        run.addition(s, t, new, events)
        return new

    def meet(self, run, left, right):
        """rnd(left + right), an addition where the larger in magnitude is s."""
        new, events = self.rnd(run, add(left, right, self.round.toward_negative))
        run.addition(*by_magnitude(left, right), new, events)
        return new


class Align(Block):
    """Products and c are aligned to the largest exponent, cut F digits below it, and added."""

    def value(self, run, products, c):
        scaled = self.scale is not None and self.scaling == 'terms'
        for p in products if scaled else ():
            p.scale(*self.scales(run, p.k))
        special = self.special(run, [p.value for p in products] + [c])
        if special is not None:
            return special
        terms = [(p.value, p.e) for p in products if p.e is not None]
        return self.cut_sum(run, products, terms, c, [p.e_of_zero for p in products])

    def cut_sum(self, run, products, terms, c, of_zeros):
        """The terms, with their exponents, and c: cut at 2^(E - F) and added. `of_zeros`: exponents of zeros, or None."""
        if is_nonzero(c):
            terms.append((c, exponent(c, self.acc.emin)))
        exponents = [self.emin] + [e for _, e in terms]
        if self.zeros in ('exponent', 'both'):
            exponents += [e for e in of_zeros if e is not None] + ([self.acc.emin] if is_zero(c) else [])
        e = self.emin if self.to == 'fixed' else max(exponents)
        terms = [(x, ex) for x, ex in terms if is_nonzero(x)]
        kept = [self.cut_term(run, x, ex, e) for x, ex in terms]
        bit = any(not equal(new, x) for new, (x, _) in zip(kept, terms))
        if self.zeros in ('sticky', 'both'):
            bit = bit or is_zero(c) or any(is_zero(p.value) for p in products)
        s = total(kept) if self.wide is None else self.register_sum(kept, e, is_nonzero(c))
        if self.sticky == 'or' and bit and is_nonzero(s):
            h = from_units(-1 if self.cut == 'trunc' and s.sign else 1, e - self.f - 70)
            s = total([s, h])
        return self.finish(run, s)

    def register_sum(self, kept, e, has_c):
        """wide=W: c first, then the other terms one by one, each sum within -2^(E+W) ... 2^(E+W) - 2^(E-F)."""
        top, s = 1 << self.wide + self.f, 0
        for x in kept[-1:] + kept[:-1] if has_c else kept:
            s += units(x, e - self.f)
            s = min(max(s, -top), top - 1) if self.past == 'limit' else (s + top) % (2 * top) - top
        return from_units(s, e - self.f)

    def cut_term(self, run, x, ex, e):
        new = cut(x, e - self.f, self.cut)
        if run.watch is not None:
            run.watch.term(new, e - ex)
        return new


class Groups(Align):
    """Groups of products are added exactly and scaled; then the groups and c are aligned, cut and added."""

    def value(self, run, products, c):
        groups = [products[i:i + self.g] for i in range(0, len(products), self.g)]
        for p in products if self.scale is not None else ():
            p.factors += self.scales(run, p.k)
        nans = [x for p in products for x in p.factors if is_nan(x)]
        special = self.special(run, [p.value for p in products] + [c] + nans)
        if special is not None:
            return special
        terms, of_zeros = [], []
        for group in groups:
            exponents = [p.e for p in group if p.e is not None]
            if self.zeros in ('exponent', 'both'):
                exponents += [p.e_of_zero for p in group if p.e_of_zero is not None]
            y = max(exponents, default=None)            # None: nothing counts
            value = total([p.value if self.window is None else cut(p.value, y - self.window, self.cut)
                           for p in group if p.e is not None])
            if self.scale is not None:
                sa, sb = self.scales(run, group[0].k)
                if is_zero(sa) or is_zero(sb):
                    continue                            # left out
                emin = run.scale_format.emin
                y = exponent(sa, emin) + exponent(sb, emin)
                value = multiply(value, multiply(sa, sb))
            if all(p.e is None for p in group):
                of_zeros.append(y)
                continue
            terms.append((value, y))
        return self.cut_sum(run, products, terms, c, of_zeros)


class Late(Block):
    """Products are aligned and cut among themselves and added; c is aligned with that sum afterwards."""

    def value(self, run, products, c):
        special = self.special(run, [self.counted(p.value) for p in products] + [c])
        if special is not None:
            return special
        if self.lanes == 2:
            lanes = [self.lane(run, [p for p in products if (p.k - products[0].k) % 2 == i]) for i in (0, 1)]
            ed = larger(lanes[0][0], lanes[1][0])
            p = total([cut(value, ed - self.f, 'floor') for _, value in lanes]) if ed is not None else ZERO
        else:
            ed, p = self.lane(run, products)
        ec = exponent(c, self.acc.emin) if is_nonzero(c) else self.acc.emin
        e = larger(ed, ec)
        t = cut(p, e - self.f2 - 1, 'floor')
        q = self.addend(run, c, ec, e)
        v = total([t, q])
        if is_zero(v):
            return self.finish(run, ZERO)
        x = max(floor_log2(v), self.acc.emin)
        return self.finish(run, cut(v, x - self.f2, 'floor'))

    def lane(self, run, products):
        """ed and P: the largest exponent of the non-zero products, and the sum of the products cut to 2^(ed - F)."""
        products = [p for p in products if p.e is not None]
        if not products:
            return None, ZERO
        ed = max(p.e for p in products)
        terms = [cut(p.value, ed - self.f, 'trunc') for p in products]
        if run.watch is not None:
            for p, term in zip(products, terms):
                run.watch.term(term, ed - p.e)
        return ed, total(terms)

    def addend(self, run, c, ec, e):
        """Q: c floored to 2^(e-F), 0 if far is given and ec < e - far."""
        q = ZERO if self.far is not None and ec < e - self.far else cut(c, e - self.f, 'floor')
        if run.watch is not None and is_nonzero(c):
            run.watch.term(q, e - ec)
        return q


def larger(a, b):
    """The larger of two exponents, of which None is -infinity."""
    return b if a is None else a if b is None else max(a, b)


class ExactBlock(Block):
    """Products and c are added exactly."""

    def value(self, run, products, c):
        values = [p.value for p in products]
        special = self.special(run, values + [c])
        if special is not None:
            return special
        s = exact_sum(values + [c], self.round.toward_negative) if self.zero == 'ieee' else total(values + [c])
        new, events = self.round_twice(run, s)
        run.addition(c, total(values), new, events)
        return new


class Tree(Block):
    """Rounded products are added in pairs, pairs of pairs, and so on; c is added last."""

    def value(self, run, products, c):
        values = [p.value for p in products] + [ZERO] * (self.l - len(products))
        if self.products == 'exact':
            g = self.g or 2
            values = [self.leaf(values[i:i + g]) for i in range(0, self.l, g)]
        return self.plus(run, c, self.pair(run, values))

    def leaf(self, values):
        """The exact sum of a group."""
        special = special_sum(values)
        return exact_sum(values, self.round.toward_negative) if special is None else special

    def pair(self, run, values):
        """The left half with all that is in it, the right one likewise, their sum; a leaf is rounded."""
        if len(values) == 1:
            return self.rnd(run, values[0])[0]
        half = len(values) // 2
        left = self.pair(run, values[:half])
        right = self.pair(run, values[half:])
        return self.meet(run, left, right)


class Chain(Block):
    """Products are added to c by one fused multiply-add after another, k ascending or descending."""

    def value(self, run, products, c):
        for p in reversed(products) if self.order == 'down' else products:
            c = self.plus(run, c, p.value)
        return c


class Lanes(Block):
    """The same in two chains, over even and over odd k, whose sum is added to c."""

    def value(self, run, products, c):
        lanes = [ZERO, ZERO]
        for p in products:
            i = (p.k - products[0].k) % 2
            lanes[i] = self.plus(run, lanes[i], p.value)
        return self.plus(run, c, self.meet(run, *lanes))


RULES = {'align': Align, 'groups': Groups, 'late': Late, 'exact': ExactBlock, 'tree': Tree, 'chain': Chain,
         'lanes': Lanes}
