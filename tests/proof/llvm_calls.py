# SPDX-License-Identifier: MIT
"""The functions of LLVM itself that clang's code calls: name to a Python function of (walk, state, type, operands).

Whoever proves code with calls of its own adds them to Module's `calls` in the same form, mostly by `plain`."""
import terms as t
from llvm_arithmetic import outside, with_room
from llvm_text import NotRead
from llvm_values import Value, any_poison

TRAPS = ('llvm.trap', 'llvm.ubsantrap', 'llvm.debugtrap')


def plain(f):
    """A call whose result is f of its operands' terms, poison where an operand is."""
    def call(walk, state, gives, operands):
        return Value(f(*(x.term for x in operands)), t.disjunction(*map(any_poison, operands)))
    return call


def _zeros(trailing):
    """ctlz, cttz: poison for 0 where their second operand says so."""
    def call(walk, state, gives, operands):
        x, flag = operands
        digits = x.term
        if trailing:
            digits = t.concatenate(*(t.extract(digits, i, i) for i in range(digits.sort)))
        poison = t.conjunction(t.equal(flag.term, 1), t.equal(x.term, 0))
        return Value(t.leading_zeros(digits), t.disjunction(x.poison, poison))
    return call


def _overflow(op, is_signed):
    """The operation and whether it overflowed."""
    def call(walk, state, gives, operands):
        a, b = operands
        exact = with_room(op, a.term, b.term, is_signed)
        poison = t.disjunction(a.poison, b.poison)
        return [Value(t.cut(exact, a.term.sort), poison), Value(t.number(outside(exact, a.term.sort, is_signed)), poison)]
    return call


def _extreme(least, f):
    return plain(lambda a, b: t.choose(f(a, b), a, b) if least else t.choose(f(a, b), b, a))


def _funnel(left):
    def f(a, b, c):
        n = a.sort
        wide = t.concatenate(a, b)
        by = t.widen(t.remainder(c, t.constant(n, n)), 2 * n)
        return t.extract(wide << by, 2 * n - 1, n) if left else t.cut(wide >> by, n)
    return plain(f)


def _ones(a):
    out = t.constant(0, a.sort)
    for i in range(a.sort):
        out = out + t.widen(t.extract(a, i, i), a.sort)
    return out


def _saturated(op):
    def f(a, b):
        exact = with_room(op, a, b, False)
        return t.choose(outside(exact, a.sort, False), t.constant(-1 if op == 'add' else 0, a.sort), t.cut(exact, a.sort))
    return plain(f)


def _absolute(walk, state, gives, operands):
    x, flag = operands
    n = x.term.sort
    least = t.conjunction(t.equal(flag.term, 1), t.equal(x.term, 1 << (n - 1)))
    return Value(t.choose(t.bit(x.term, n - 1), t.constant(0, n) - x.term, x.term), t.disjunction(x.poison, least))


def _nothing(walk, state, gives, operands):
    return None


def _assume(walk, state, gives, operands):
    walk.wrong(state, t.disjunction(operands[0].poison, t.equal(operands[0].term, 0)))


def _fill(walk, state, gives, operands):
    size = t.value_of(operands[2].term)
    if size is None:
        raise NotRead('memset of a size that is not constant')
    walk.store(operands[0], [operands[1]] * size, state)


def _copy(walk, state, gives, operands):
    size, at = t.value_of(operands[2].term), t.value_of(operands[1].offset)
    if size is None or at is None:
        raise NotRead('memcpy of a size or from a place that is not constant')
    walk.places(operands[1], size, state)
    walk.store(operands[0], state.memory[operands[1].base][at:at + size], state)


CALLS = {
    'llvm.ctlz': _zeros(False),
    'llvm.cttz': _zeros(True),
    'llvm.ctpop': plain(_ones),
    'llvm.umin': _extreme(True, t.less),
    'llvm.umax': _extreme(False, t.less),
    'llvm.smin': _extreme(True, t.less_signed),
    'llvm.smax': _extreme(False, t.less_signed),
    'llvm.abs': _absolute,
    'llvm.fshl': _funnel(True),
    'llvm.fshr': _funnel(False),
    'llvm.bswap': plain(lambda a: t.concatenate(*(t.extract(a, 8 * i + 7, 8 * i) for i in range(a.sort // 8)))),
    'llvm.usub.sat': _saturated('sub'),
    'llvm.uadd.sat': _saturated('add'),
    'llvm.expect': plain(lambda a, b: a),
    'llvm.assume': _assume,
    'llvm.lifetime.start': _nothing,
    'llvm.lifetime.end': _nothing,
    'llvm.experimental.noalias.scope.decl': _nothing,
    'llvm.memset': _fill,
    'llvm.memcpy': _copy,
    'llvm.memmove': _copy,
    'llvm.fabs': plain(t.float_magnitude),
    'llvm.fma': plain(lambda a, b, c: t.float_operation('fp.fma', t.mode('RNE'), a, b, c)),
    'llvm.sqrt': plain(lambda a: t.float_operation('fp.sqrt', t.mode('RNE'), a)),
}
for _op in ('add', 'sub', 'mul'):
    CALLS[f'llvm.u{_op}.with.overflow'] = _overflow(_op, False)
    CALLS[f'llvm.s{_op}.with.overflow'] = _overflow(_op, True)
