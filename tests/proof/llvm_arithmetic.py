# SPDX-License-Identifier: MIT
"""Operations of LLVM IR on terms: the value, and when it is poison or the operation is undefined."""
import terms as t
from llvm_text import NotRead

ARITHMETIC = {'add': 'bvadd', 'sub': 'bvsub', 'mul': 'bvmul'}


def outside(exact, width, is_signed):
    """Whether a result, computed with room to spare, is beyond the width."""
    back = t.cut(exact, width)
    return t.differs(t.widen_signed(back, exact.sort) if is_signed else t.widen(back, exact.sort), exact)


def with_room(op, a, b, is_signed):
    """The exact result of add, sub or mul."""
    wide = a.sort * 2 if op == 'mul' else a.sort + 2
    widen = t.widen_signed if is_signed else t.widen
    a, b = widen(a, wide), widen(b, wide)
    return a + b if op == 'add' else a - b if op == 'sub' else a * b


def shift(op, a, b, flags):
    n = a.sort
    z = a << b if op == 'shl' else a >> b if op == 'lshr' else t.shift_right_signed(a, b)
    bad = [t.negation(t.less(b, n))]
    if 'nuw' in flags:
        bad.append(t.differs(z >> b, a))
    if 'nsw' in flags:
        bad.append(t.differs(t.shift_right_signed(z, b), a))
    if 'exact' in flags:
        bad.append(t.differs(z << b, a))
    return z, t.disjunction(*bad)


def binary(op, a, b, flags):
    """The value, when it is poison although the operands are not, and when the operation itself is undefined."""
    if op in ARITHMETIC:
        z = t._same(ARITHMETIC[op], a, b)
        bad = [outside(with_room(op, a, b, s), a.sort, s) for f, s in (('nuw', False), ('nsw', True)) if f in flags]
        return z, t.disjunction(*bad), t.FALSE
    if op in ('shl', 'lshr', 'ashr'):
        return shift(op, a, b, flags) + (t.FALSE,)
    if op in ('and', 'or', 'xor'):
        bad = t.differs(a & b, 0) if 'disjoint' in flags else t.FALSE
        return (a & b if op == 'and' else a | b if op == 'or' else a ^ b), bad, t.FALSE
    zero = t.equal(b, 0)
    if op in ('udiv', 'urem'):
        z = t.divide(a, b) if op == 'udiv' else t.remainder(a, b)
        return z, t.differs(t.remainder(a, b), 0) if 'exact' in flags else t.FALSE, zero
    z = t.divide_signed(a, b) if op == 'sdiv' else t.remainder_signed(a, b)
    overflow = t.conjunction(t.equal(a, 1 << (a.sort - 1)), t.equal(b, -1))
    bad = t.differs(t.remainder_signed(a, b), 0) if 'exact' in flags else t.FALSE
    return z, bad, t.disjunction(zero, overflow)


def compare(predicate, a, b):
    table = {'eq': lambda: t.equal(a, b), 'ne': lambda: t.differs(a, b), 'ult': lambda: t.less(a, b),
             'ule': lambda: t.at_most(a, b), 'ugt': lambda: t.less(b, a), 'uge': lambda: t.at_most(b, a),
             'slt': lambda: t.less_signed(a, b), 'sle': lambda: t.at_most_signed(a, b),
             'sgt': lambda: t.less_signed(b, a), 'sge': lambda: t.at_most_signed(b, a)}
    return table[predicate]()


def compare_floats(predicate, a, b):
    unordered = t.disjunction(t.float_is('fp.isNaN', a), t.float_is('fp.isNaN', b))
    if predicate in ('ord', 'uno', 'true', 'false'):
        return {'ord': t.negation(unordered), 'uno': unordered, 'true': t.TRUE, 'false': t.FALSE}[predicate]
    holds = {'eq': lambda: t.float_compare('fp.eq', a, b), 'lt': lambda: t.float_compare('fp.lt', a, b),
             'le': lambda: t.float_compare('fp.leq', a, b), 'gt': lambda: t.float_compare('fp.lt', b, a),
             'ge': lambda: t.float_compare('fp.leq', b, a),
             'ne': lambda: t.conjunction(t.negation(unordered), t.negation(t.float_compare('fp.eq', a, b)))}[predicate[1:]]()
    return t.disjunction(unordered, holds) if predicate[0] == 'u' else holds


def convert(op, a, width, flags):
    """The integer casts: value and poison."""
    if op == 'zext':
        return t.widen(a, width), t.bit(a, a.sort - 1) if 'nneg' in flags else t.FALSE
    if op == 'sext':
        return t.widen_signed(a, width), t.FALSE
    z = t.cut(a, width)
    bad = [t.differs(t.widen(z, a.sort), a)] if 'nuw' in flags else []
    bad += [t.differs(t.widen_signed(z, a.sort), a)] if 'nsw' in flags else []
    return z, t.disjunction(*bad)


def convert_float(op, x, kind):
    """Casts between floats and integers: value and poison."""
    rne, rtz = t.mode('RNE'), t.mode('RTZ')
    if op in ('uitofp', 'sitofp') and kind.kind == 'float':
        return t.float_of_integer(x, op == 'sitofp', rne), t.FALSE
    if op in ('fptoui', 'fptosi'):
        signed, n = op == 'fptosi', kind.size
        low = t.constant(0xBF800000 if not signed else (0x80000000 | (127 + n - 1) << 23), t.FLOAT32)
        high = t.constant((127 + n - signed) << 23, t.FLOAT32)
        above = t.float_compare('fp.leq' if signed else 'fp.lt', low, x)
        inside = t.conjunction(above, t.float_compare('fp.lt', x, high))
        return t.integer_of_float(x, n, signed, rtz), t.negation(inside)
    raise NotRead(f'{op} to {kind}')
