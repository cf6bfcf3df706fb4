# SPDX-License-Identifier: MIT
"""What each instruction of LLVM IR does to values and poison, by the LLVM language reference."""
import terms as t
from llvm_arithmetic import binary, compare, compare_floats, convert, convert_float
from llvm_calls import TRAPS
from llvm_text import NotRead, size_of
from llvm_values import NULL, Value, as_bits, merged

FLAGS = ('nuw', 'nsw', 'exact', 'disjoint', 'nneg', 'samesign')
FLOATS = {'fadd': 'fp.add', 'fsub': 'fp.sub', 'fmul': 'fp.mul', 'fdiv': 'fp.div'}


def flags_of(r):
    out = set()
    while r.peek() in FLAGS:
        out.add(r.next())
    return out


def execute(walk, words, state):
    """Carries out one instruction; what it names is added to the state's values."""
    name = words[0] if len(words) > 1 and words[1] == '=' else None
    r = walk.reader(words[2:] if name else words)
    op = r.next()
    if op in ('tail', 'musttail', 'notail'):
        op = r.next()
    out = _result(walk, op, r, state)
    if name:
        state.values[name] = out


def _operands(walk, r, state, count=2):
    """Operands of one type, written once."""
    kind = r.type()
    out = []
    for i in range(count):
        if i:
            r.want(',')
        out.append(walk.value(r.value(kind), kind, state))
    return kind, out


def _result(walk, op, r, state):
    if op in ('add', 'sub', 'mul', 'shl', 'lshr', 'ashr', 'and', 'or', 'xor', 'udiv', 'urem', 'sdiv', 'srem'):
        flags = flags_of(r)
        _, (a, b) = _operands(walk, r, state)
        z, bad, wrong = binary(op, a.term, b.term, flags)
        if op in ('udiv', 'urem', 'sdiv', 'srem'):
            walk.wrong(state, t.disjunction(wrong, b.poison))
        return Value(z, t.disjunction(a.poison, b.poison, bad))
    if op == 'icmp':
        flags = flags_of(r)
        predicate = r.next()
        kind, (a, b) = _operands(walk, r, state)
        if kind.kind != 'int':
            return _compare_pointers(predicate, a, b)
        bad = t.differs(t.extract(a.term, kind.size - 1, kind.size - 1), t.extract(b.term, kind.size - 1, kind.size - 1)) \
            if 'samesign' in flags else t.FALSE
        return Value(t.number(compare(predicate, a.term, b.term)), t.disjunction(a.poison, b.poison, bad))
    if op in ('zext', 'sext', 'trunc', 'bitcast', 'uitofp', 'sitofp', 'fptoui', 'fptosi'):
        return _cast(walk, op, r, state)
    if op == 'select':
        return _select(walk, r, state)
    if op == 'freeze':
        _, (a,) = _operands(walk, r, state, 1)
        return Value(t.choose(a.poison, t.any_value(a.term.sort), a.term), t.FALSE)
    if op in FLOATS or op in ('fneg', 'fcmp'):
        return _float(walk, op, r, state)
    if op in ('extractvalue', 'insertvalue'):
        return _aggregate(walk, op, r, state)
    if op == 'alloca':
        return walk.new_object(r.type(), state)
    if op == 'getelementptr':
        while r.peek() in ('inbounds', 'nuw', 'nusw'):
            r.next()
        kind = r.type()
        r.want(',')
        return walk.address(kind, _rest(r), state)
    if op in ('load', 'store'):
        return _access(walk, op, r, state)
    if op == 'call':
        return _call(walk, r, state)
    raise NotRead(f'instruction {op}: {" ".join(r.words)}')


def _compare_pointers(predicate, a, b):
    """With null alone: where objects lie is not known."""
    if b is not NULL or predicate not in ('eq', 'ne'):
        raise NotRead('a comparison of two pointers')
    return Value(t.number(a.null if predicate == 'eq' else t.negation(a.null)), a.poison)


def _rest(r):
    """Typed operands up to the end; alignment and the like are passed over."""
    out = []
    while r.peek() is not None and r.peek() not in ('align', '!', 'inrange'):
        out.append(r.typed())
        if not r.take(','):
            break
    return out


def _cast(walk, op, r, state):
    flags = flags_of(r)
    kind, value = r.typed()
    a = walk.value(value, kind, state)
    r.want('to')
    to = r.type()
    if op == 'bitcast' and kind.kind == to.kind == 'ptr':
        return a
    if op == 'bitcast':
        z, bad = (t.float_of_bits(a.term) if to.kind == 'float' else as_bits(a.term)), t.FALSE
        if size_of(kind) != size_of(to):
            raise NotRead(f'bitcast of {kind} to {to}')
    elif op in ('zext', 'sext', 'trunc'):
        z, bad = convert(op, a.term, to.size, flags)
    else:
        z, bad = convert_float(op, a.term, to)
    return Value(z, t.disjunction(a.poison, bad))


def _select(walk, r, state):
    (ck, c), (ak, a), (bk, b) = _rest(r)
    c, a, b = walk.value(c, ck, state), walk.value(a, ak, state), walk.value(b, bk, state)
    out = merged([(t.equal(c.term, 1), a), (t.TRUE, b)])
    if isinstance(out, list):
        walk.wrong(state, c.poison)
        return out
    return out._replace(poison=t.disjunction(c.poison, out.poison)) if not isinstance(out, Value) \
        else Value(out.term, t.disjunction(c.poison, out.poison))


def _float(walk, op, r, state):
    if r.peek() in ('fast', 'nnan', 'ninf', 'nsz', 'arcp', 'contract', 'afn', 'reassoc'):
        raise NotRead(f'{op} with {r.peek()}')
    predicate = r.next() if op == 'fcmp' else None
    kind, values = _operands(walk, r, state, 1 if op == 'fneg' else 2)
    if kind.kind != 'float':
        raise NotRead(f'{op} of {kind}')
    poison = t.disjunction(*(v.poison for v in values))
    x = [v.term for v in values]
    if op == 'fcmp':
        return Value(t.number(compare_floats(predicate, *x)), poison)
    return Value(t.float_negated(x[0]) if op == 'fneg' else t.float_operation(FLOATS[op], t.mode('RNE'), *x), poison)


def _aggregate(walk, op, r, state):
    kind, value = r.typed()
    whole = walk.value(value, kind, state)
    r.want(',')
    if op == 'extractvalue':
        out = whole[int(r.next())]
        while r.take(','):
            out = out[int(r.next())]
        return out
    of, part = r.typed()
    part = walk.value(part, of, state)
    r.want(',')
    path = [int(r.next())]
    while r.take(','):
        path.append(int(r.next()))

    def put(into, path):
        into = list(into)
        into[path[0]] = part if len(path) == 1 else put(into[path[0]], path[1:])
        return into
    return put(whole, path)


def _access(walk, op, r, state):
    if r.peek() in ('volatile', 'atomic'):
        raise NotRead(f'{op} {r.peek()}')
    if op == 'load':
        kind = r.type()
        r.want(',')
        of, pointer = r.typed()
        return walk.load(walk.value(pointer, of, state), kind, state)
    kind, value = r.typed()
    r.want(',')
    of, pointer = r.typed()
    walk.store(walk.value(pointer, of, state), walk.bytes_of(walk.value(value, kind, state), kind), state)
    return None


def _call(walk, r, state):
    r.attributes()
    while r.peek() in ('fastcc', 'ccc', 'nnan'):
        r.next()
        r.attributes()
    gives = r.type()
    name = r.next()
    if name[0] != '@':
        raise NotRead(f'call of {name}')
    r.want('(')
    name, operands = name[1:], []
    while not r.take(')'):
        kind = r.type()
        r.attributes()
        if kind.kind == 'void' or r.peek() == 'metadata':
            raise NotRead(f'call of {name}')
        operands.append(walk.value(r.value(kind), kind, state))
        r.take(',')
    if name in TRAPS:
        walk.traps += 1
        walk.wrong(state)
        return None
    if name in walk.module.text.functions:
        value, after = walk.call(name, operands, state)
        state.memory = after.memory
        return value
    key = next((k for k in walk.module.calls if name == k or name.startswith(k + '.')), None)
    if key is None:
        raise NotRead(f'call of {name}')
    return walk.module.calls[key](walk, state, gives, operands)
