# SPDX-License-Identifier: MIT
"""Terms over booleans, bit-vectors and binary floats: what the code and the specification become before a solver sees them.

A term is made by the functions below and is never changed. Equal terms are one object. Constants are folded as a term is
made, so that what does not depend on a variable is a constant again.

    x = variable('x', 32)
    holds = equal(x + 1, x - constant(-1, 32))
    evaluate([holds], {'x': 7})            # [1]
    smtlib([negation(holds)])              # the text of a query in SMT-LIB 2.6

A sort is BOOL, a number of bits, FLOAT32 or MODE (a rounding direction). solve.py asks solvers."""
import floats

BOOL, MODE = 'Bool', 'RoundingMode'
FLOAT32 = ('float', 8, 24)
FLOAT64 = ('float', 11, 53)  # for solvers alone: nothing of it is folded or evaluated

# Operations on bit-vectors whose two operands and result have one width, and what they compute on numbers below 2^n.
_SAME = {
    'bvadd': lambda a, b, n: a + b,
    'bvsub': lambda a, b, n: a - b,
    'bvmul': lambda a, b, n: a * b,
    'bvand': lambda a, b, n: a & b,
    'bvor': lambda a, b, n: a | b,
    'bvxor': lambda a, b, n: a ^ b,
    'bvshl': lambda a, b, n: a << b if b < n else 0,
    'bvlshr': lambda a, b, n: a >> b if b < n else 0,
    'bvashr': lambda a, b, n: signed(a, n) >> min(b, n - 1),
    'bvudiv': lambda a, b, n: a // b if b else -1,
    'bvurem': lambda a, b, n: a % b if b else a,
    'bvsdiv': lambda a, b, n: _toward_zero(signed(a, n), signed(b, n))[0],
    'bvsrem': lambda a, b, n: _toward_zero(signed(a, n), signed(b, n))[1],
}
_COMPARE = {
    'bvult': lambda a, b, n: a < b,
    'bvule': lambda a, b, n: a <= b,
    'bvslt': lambda a, b, n: signed(a, n) < signed(b, n),
    'bvsle': lambda a, b, n: signed(a, n) <= signed(b, n),
}


def signed(value, width):
    """The two's complement number of a pattern."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def _toward_zero(a, b):
    """Quotient and remainder as SMT-LIB defines them for signed division, by zero too."""
    if b == 0:
        return (1 if a < 0 else -1), a
    q = abs(a) // abs(b)
    q = q if (a < 0) == (b < 0) else -q
    return q, a - b * q


class Term:
    """An operation, its operands, its numbers (widths, values, names) and its sort."""
    __slots__ = ('op', 'args', 'data', 'sort')
    table = {}

    def __repr__(self):
        return f'<{self.op} {self.data} {self.sort}>'

    def __add__(self, other):
        return _same('bvadd', self, other)

    def __sub__(self, other):
        return _same('bvsub', self, other)

    def __mul__(self, other):
        return _same('bvmul', self, other)

    def __and__(self, other):
        return conjunction(self, other) if self.sort == BOOL else _same('bvand', self, other)

    def __or__(self, other):
        return disjunction(self, other) if self.sort == BOOL else _same('bvor', self, other)

    def __xor__(self, other):
        return negation(equal(self, other)) if self.sort == BOOL else _same('bvxor', self, other)

    def __invert__(self):
        return negation(self) if self.sort == BOOL else self ^ constant(-1, self.sort)

    def __lshift__(self, other):
        return _same('bvshl', self, other)

    def __rshift__(self, other):
        """The logical shift; shift_right_signed is the other one."""
        return _same('bvlshr', self, other)


def _make(op, args, data, sort):
    key = (op, tuple(map(id, args)), data, sort)
    term = Term.table.get(key)
    if term is None:
        term = Term()
        term.op, term.args, term.data, term.sort = op, tuple(args), data, sort
        Term.table[key] = term
    return term


def value_of(term):
    """The number of a constant, None for any other term."""
    return term.data if term.op == 'constant' else None


def constant(value, sort):
    """A number as a bit-vector (modulo 2^sort), a boolean (0 or 1), or the pattern of a float."""
    if sort == BOOL:
        value = int(bool(value))
    elif isinstance(sort, int):
        value &= (1 << sort) - 1
    return _make('constant', (), value, sort)


TRUE, FALSE = constant(1, BOOL), constant(0, BOOL)


def mode(name):
    """A rounding direction: RNE, RNA, RTZ, RTP, RTN."""
    return _make('constant', (), name, MODE)


def variable(name, sort):
    return _make('variable', (), name, sort)


def any_value(sort):
    """A variable of which nothing is known and that no one names; `evaluate` takes 0 for it."""
    return variable(f'any{len(Term.table)}', sort)


def applied(name, args, sort):
    """A function of which nothing is known but that equal operands give equal results."""
    return _make('applied', args, name, sort)


def _as(other, sort):
    return constant(other, sort) if isinstance(other, int) else other


def _folded(op, args, data, sort):
    """The term, or its value where every operand is a constant."""
    if all(a.op == 'constant' for a in args) and FLOAT64 not in (sort, *(a.sort for a in args)):
        return constant(_compute(op, [a.data for a in args], [a.sort for a in args], data, sort), sort)
    return _make(op, args, data, sort)


def _same(op, a, b):
    b = _as(b, a.sort)
    n = a.sort
    if not isinstance(n, int) or n != b.sort:
        raise TypeError(f'{op}: {a.sort} and {b.sort}')
    if value_of(a) is not None and value_of(b) is None and op in ('bvadd', 'bvmul', 'bvand', 'bvor', 'bvxor'):
        a, b = b, a
    v = value_of(b)
    if v == 0 and op in ('bvadd', 'bvsub', 'bvor', 'bvxor', 'bvshl', 'bvlshr', 'bvashr'):
        return a
    if v == 0 and op in ('bvmul', 'bvand') or v == (1 << n) - 1 and op == 'bvor':
        return b
    if v == (1 << n) - 1 and op == 'bvand' or v == 1 and op in ('bvmul', 'bvudiv'):
        return a
    if v is not None and op == 'bvsub':
        return _same('bvadd', a, constant(-v, n))
    if v is not None and op == 'bvadd' and a.op == 'bvadd' and value_of(a.args[1]) is not None:
        return _same('bvadd', a.args[0], constant(a.args[1].data + v, n))
    # Constants of sums go outward, so that sums that differ in their order only are one term.
    if op in ('bvadd', 'bvsub') and b.op == 'bvadd' and value_of(b.args[1]) is not None:
        k = b.args[1].data
        return _same('bvadd', _same(op, a, b.args[0]), constant(k if op == 'bvadd' else -k, n)) if value_of(a) is None \
            else _same(op, constant(a.data + (k if op == 'bvadd' else -k), n), b.args[0])
    if op in ('bvadd', 'bvsub') and v is None and a.op == 'bvadd' and value_of(a.args[1]) is not None:
        return _same('bvadd', _same(op, a.args[0], b), a.args[1])
    if v is not None and v >= n and op in ('bvshl', 'bvlshr'):
        return constant(0, n)
    if a is b and op in ('bvand', 'bvor'):
        return a
    if a is b and op in ('bvsub', 'bvxor'):
        return constant(0, n)
    if a.op == b.op == 'ite' and a.args[0] is b.args[0]:  # what was chosen together stays together
        return choose(a.args[0], _same(op, a.args[1], b.args[1]), _same(op, a.args[2], b.args[2]))
    if op == 'bvshl' and v is not None:
        return concatenate(extract(a, n - 1 - v, 0), constant(0, v))
    if op == 'bvlshr' and v is not None:
        return concatenate(constant(0, v), extract(a, n - 1, v))
    return _folded(op, (a, b), None, n)


def divide(a, b):
    return _same('bvudiv', a, b)


def remainder(a, b):
    return _same('bvurem', a, b)


def divide_signed(a, b):
    return _same('bvsdiv', a, b)


def remainder_signed(a, b):
    return _same('bvsrem', a, b)


def shift_right_signed(a, b):
    return _same('bvashr', a, b)


def _compare(op, a, b):
    b = _as(b, a.sort)
    if a.sort != b.sort or not isinstance(a.sort, int):
        raise TypeError(f'{op}: {a.sort} and {b.sort}')
    if a is b:
        return constant(op in ('bvule', 'bvsle'), BOOL)
    if op == 'bvult' and value_of(b) == 0 or op == 'bvult' and value_of(a) == (1 << a.sort) - 1:
        return FALSE
    if op == 'bvule' and (value_of(a) == 0 or value_of(b) == (1 << a.sort) - 1):
        return TRUE
    return _folded(op, (a, b), None, BOOL)


def less(a, b):
    """Unsigned."""
    return _compare('bvult', a, b)


def at_most(a, b):
    """Unsigned."""
    return _compare('bvule', a, b)


def less_signed(a, b):
    return _compare('bvslt', a, b)


def at_most_signed(a, b):
    return _compare('bvsle', a, b)


def _pieces(a):
    """The parts of a chain of concatenations."""
    while a.op == 'concat':
        yield a.args[0]
        a = a.args[1]
    yield a


def equal(a, b):
    """Equality of any two terms of one sort; of floats: the same datum (every NaN is one, +0 is not -0)."""
    b = _as(b, a.sort)
    if a.sort != b.sort:
        raise TypeError(f'equal: {a.sort} and {b.sort}')
    if a is b:
        return TRUE
    if a.sort == BOOL:
        for one, other in ((a, b), (b, a)):
            if one.op == 'constant':
                return other if one.data else negation(other)
    if a.op == b.op == 'constant' and not isinstance(a.sort, tuple):
        return constant(a.data == b.data, BOOL)
    if isinstance(a.sort, int):
        if a.op == 'constant':
            a, b = b, a
        if a.op == 'concat' and b.op == 'constant' and any(p.op == 'constant' for p in _pieces(a)):
            upper, lower = a.args
            return conjunction(equal(upper, b.data >> lower.sort), equal(lower, b.data & (1 << lower.sort) - 1))
        # (condition ? 3 : 5) = 3 is the condition, as flags and switch values are.
        if a.op == 'ite' and b.op == 'constant' and a.args[1].op == a.args[2].op == 'constant':
            then, other = a.args[1].data == b.data, a.args[2].data == b.data
            return a.args[0] if then and not other else negation(a.args[0]) if other and not then else constant(then, BOOL)
    return _folded('=', (a, b), None, BOOL)


def differs(a, b):
    return negation(equal(a, b))


def negation(a):
    if a.op == 'not':
        return a.args[0]
    return _folded('not', (a,), None, BOOL)


def _flat(op, terms, stop):
    """Operands of a conjunction or disjunction, each once; None where one of them decides."""
    out = []
    for t in terms:
        if t.sort != BOOL:
            raise TypeError(f'{op}: {t.sort}')
        if t is stop or negation(t) in out:
            return None
        if t.op != 'constant' and t not in out:
            out.append(t)
    return out


def conjunction(*terms):
    out = _flat('and', terms, FALSE)
    if out is None:
        return FALSE
    return TRUE if not out else out[0] if len(out) == 1 else _make('and', out, None, BOOL)


def disjunction(*terms):
    out = _flat('or', terms, TRUE)
    if out is None:
        return TRUE
    return FALSE if not out else out[0] if len(out) == 1 else _make('or', out, None, BOOL)


def implies(a, b):
    return disjunction(negation(a), b)


def choose(condition, then, other):
    """condition ? then : other."""
    if isinstance(other, int):
        other = constant(other, then.sort)
    if isinstance(then, int):
        then = constant(then, other.sort)
    if then.sort != other.sort:
        raise TypeError(f'choose: {then.sort} and {other.sort}')
    if condition.op == 'constant':
        return then if condition.data else other
    if then is other:
        return then
    if condition.op == 'not':
        return choose(condition.args[0], other, then)
    if then.sort == BOOL:
        if then.op == 'constant':
            return disjunction(condition, other) if then.data else conjunction(negation(condition), other)
        if other.op == 'constant':
            return disjunction(negation(condition), then) if other.data else conjunction(condition, then)
    return _make('ite', (condition, then, other), None, then.sort)


def select(table, otherwise):
    """The value of the first condition that holds; table: pairs of condition and value."""
    out = otherwise
    for condition, then in reversed(table):
        out = choose(condition, then, out)
    return out


def extract(a, high, low):
    """Digits high to low, as a bit-vector of high - low + 1."""
    if not 0 <= low <= high < a.sort:
        raise TypeError(f'extract: {high} to {low} of {a.sort}')
    if high == a.sort - 1 and low == 0:
        return a
    if a.op == 'extract':
        return extract(a.args[0], high + a.data[1], low + a.data[1])
    if a.op == 'concat':
        upper, lower = a.args
        if high < lower.sort:
            return extract(lower, high, low)
        if low >= lower.sort:
            return extract(upper, high - lower.sort, low - lower.sort)
        return concatenate(extract(upper, high - lower.sort, 0), extract(lower, lower.sort - 1, low))
    if a.op == 'ite' and 'constant' in (a.args[1].op, a.args[2].op):
        return choose(a.args[0], extract(a.args[1], high, low), extract(a.args[2], high, low))
    return _folded('extract', (a,), (high, low), high - low + 1)


def concatenate(*parts):
    """The first one on top. Parts of no digits (constants of width 0) are left out."""
    parts = [piece for p in parts if p.sort != 0 for piece in _pieces(p)]
    joined = [parts[-1]]
    for p in reversed(parts[:-1]):
        q = joined[-1]
        if p.op == q.op == 'extract' and p.args[0] is q.args[0] and p.data[1] == q.data[0] + 1:
            joined[-1] = extract(p.args[0], p.data[0], q.data[1])
        elif p.op == q.op == 'constant':
            joined[-1] = constant(p.data << q.sort | q.data, p.sort + q.sort)
        else:
            joined.append(p)
    out = joined[0]
    for p in joined[1:]:
        out = _make('concat', (p, out), None, p.sort + out.sort)
    return out


def widen(a, width):
    """With zeros on top."""
    if width < a.sort:
        raise TypeError(f'widen: {a.sort} to {width}')
    return a if width == a.sort else concatenate(constant(0, width - a.sort), a)


def widen_signed(a, width):
    if width < a.sort:
        raise TypeError(f'widen_signed: {a.sort} to {width}')
    if a.op == 'concat' and value_of(a.args[0]) is not None and a.args[0].data >> (a.args[0].sort - 1) == 0:
        return widen(a, width)
    return a if width == a.sort else _folded('sign_extend', (a,), width - a.sort, width)


def cut(a, width):
    """The lowest digits."""
    return extract(a, width - 1, 0)


def bit(a, place):
    """Whether that digit is 1."""
    return equal(extract(a, place, place), 1)


def number(condition, width=1):
    """0 or 1."""
    return choose(condition, constant(1, width), constant(0, width))


def leading_zeros(a):
    """Of all a.sort digits, a.sort for 0; by halves, as a circuit would."""
    n = a.sort
    if a.op == 'ite':
        return choose(a.args[0], leading_zeros(a.args[1]), leading_zeros(a.args[2]))
    if n & (n - 1):
        wide = 1 << n.bit_length()
        return cut(leading_zeros(widen(a, wide)) - (wide - n), n)
    count, x, half = constant(0, n), a, n // 2
    while half:
        empty = equal(extract(x, n - 1, n - half), 0)
        count = count + choose(empty, constant(half, n), constant(0, n))
        x = choose(empty, x << half, x)
        half //= 2
    return count + number(equal(a, 0), n)


# ---- floats ----

def float_of_bits(bits):
    """The binary32 with this pattern, of 64 bits the binary64."""
    sort = FLOAT32 if bits.sort == 32 else FLOAT64
    return bits.args[0] if bits.op == 'float_bits' else _folded('float_of_bits', (bits,), None, sort)


def float_bits(x):
    """A pattern of x: of a NaN any one (in `evaluate` 0x7FC00000), else the only one."""
    return x.args[0] if x.op == 'float_of_bits' else _folded('float_bits', (x,), None, sum(x.sort[1:]))


def float_operation(op, direction, *args):
    """fp.add, fp.sub, fp.mul, fp.div, fp.fma, fp.sqrt or fp.roundToIntegral in a rounding direction."""
    return _folded(op, (direction,) + args, None, args[0].sort)


def float_compare(op, a, b):
    """fp.lt, fp.leq, fp.eq: false where one is a NaN; zeros are equal."""
    return _folded(op, (a, b), None, BOOL)


def float_is(op, a):
    """fp.isNaN, fp.isInfinite, fp.isZero."""
    return _folded(op, (a,), None, BOOL)


def float_negated(a):
    return _folded('fp.neg', (a,), None, FLOAT32)


def float_magnitude(a):
    return _folded('fp.abs', (a,), None, FLOAT32)


def float_of_integer(a, is_signed, direction):
    return _folded('float_of_signed' if is_signed else 'float_of_unsigned', (direction, a), None, FLOAT32)


def integer_of_float(x, width, is_signed, direction=None):
    """Rounded in a direction, to zero if none is given; beyond the range of the width any value (refused by evaluate)."""
    return _folded('to_signed' if is_signed else 'to_unsigned', (direction or mode('RTZ'), x), width, width)


# ---- numbers ----

def _compute(op, v, sorts, data, sort):
    """The value of one operation on numbers."""
    if op in _SAME:
        return _SAME[op](v[0], v[1], sort) & ((1 << sort) - 1)
    if op in _COMPARE:
        return int(_COMPARE[op](v[0], v[1], sorts[0]))
    if op == '=':
        return int(floats.same(v[0], v[1]) if isinstance(sorts[0], tuple) else v[0] == v[1])
    if op == 'not':
        return 1 - v[0]
    if op == 'and':
        return int(all(v))
    if op == 'or':
        return int(any(v))
    if op == 'ite':
        return v[1] if v[0] else v[2]
    if op == 'extract':
        return v[0] >> data[1] & ((1 << sort) - 1)
    if op == 'concat':
        return v[0] << sorts[1] | v[1]
    if op == 'sign_extend':
        return signed(v[0], sorts[0]) & ((1 << sort) - 1)
    return floats.compute(op, v, sorts, data)


def in_order(roots):
    """Every term below the roots once, operands before what they are used in."""
    done, out, stack = set(), [], list(roots)
    while stack:
        t = stack.pop()
        if id(t) in done:
            continue
        missing = [a for a in t.args if id(a) not in done]
        if missing:
            stack.append(t)
            stack.extend(missing)
        else:
            done.add(id(t))
            out.append(t)
    return out


def evaluate(roots, values, functions=None):
    """The numbers of terms, given those of the variables and, by name, what applied functions are."""
    got = {}
    for t in in_order(roots):
        if t.op == 'constant':
            got[id(t)] = t.data
        elif t.op == 'variable':
            value = values.get(t.data, 0) if t.data.startswith('any') else values[t.data]
            got[id(t)] = value if t.sort == MODE else constant(value, t.sort).data
        elif t.op == 'applied':
            got[id(t)] = constant(functions[t.data](*(got[id(a)] for a in t.args)), t.sort).data
        else:
            got[id(t)] = _compute(t.op, [got[id(a)] for a in t.args], [a.sort for a in t.args], t.data, t.sort)
    return [got[id(r)] for r in roots]


# ---- SMT-LIB ----

def _sort_text(sort):
    return f'(_ BitVec {sort})' if isinstance(sort, int) else f'(_ FloatingPoint {sort[1]} {sort[2]})' \
        if isinstance(sort, tuple) else sort


def _to_float(t):
    return f'(_ to_fp {t.sort[1]} {t.sort[2]})'


def _constant_text(t):
    if t.sort == BOOL:
        return 'true' if t.data else 'false'
    if t.sort == MODE:
        return t.data
    if isinstance(t.sort, tuple):
        return f'({_to_float(t)} #b{t.data:0{sum(t.sort[1:])}b})'
    return f'#b{t.data:0{t.sort}b}'


HEADS = {  # what SMT-LIB writes for an operation with numbers or another name
    'extract': lambda t: f'(_ extract {t.data[0]} {t.data[1]})',
    'sign_extend': lambda t: f'(_ sign_extend {t.data})',
    'applied': lambda t: t.data,
    'float_of_bits': _to_float,
    'float_of_signed': lambda t: '(_ to_fp 8 24)',
    'float_of_unsigned': lambda t: '(_ to_fp_unsigned 8 24)',
    'to_signed': lambda t: f'(_ fp.to_sbv {t.data})',
    'to_unsigned': lambda t: f'(_ fp.to_ubv {t.data})',
}


def functions_of(terms):
    """Each applied function once: name to its operands' sorts and its own."""
    return {t.data: ([a.sort for a in t.args], t.sort) for t in terms if t.op == 'applied'}


def smtlib(assertions):
    """The assertions as a query: one definition a term, so that the text is as long as the graph."""
    terms = in_order(assertions)
    lines = ['(set-logic QF_UFBVFP)' if any(isinstance(t.sort, tuple) for t in terms) else '(set-logic QF_UFBV)']
    for name, (takes, gives) in functions_of(terms).items():
        lines.append(f'(declare-fun {name} ({" ".join(map(_sort_text, takes))}) {_sort_text(gives)})')
    names = {}
    for i, t in enumerate(terms):
        if t.op == 'constant':
            names[id(t)] = _constant_text(t)
        elif t.op == 'variable':
            names[id(t)] = t.data
            lines.append(f'(declare-const {t.data} {_sort_text(t.sort)})')
        else:
            names[id(t)] = f't{i}'
            args = ' '.join(names[id(a)] for a in t.args)
            if t.op == 'float_bits':
                lines.append(f'(declare-const t{i} {_sort_text(t.sort)})')
                lines.append(f'(assert (= ({_to_float(t.args[0])} t{i}) {args}))')
            else:
                head = HEADS[t.op](t) if t.op in HEADS else t.op
                lines.append(f'(define-fun t{i} () {_sort_text(t.sort)} ({head} {args}))')
    lines += [f'(assert {names[id(a)]})' for a in assertions]
    return '\n'.join(lines + ['(check-sat)', ''])
