# SPDX-License-Identifier: MIT
"""Functions of LLVM IR as terms: what they give, and when what they do is undefined.

    code = Module(ir_text)
    out = code.run('proof_round', [variable(n, w) for n, w in code.operands('proof_round')])
    out.value          # a term, a list of them for a struct
    out.undefined      # holds where a poison value decides something or leaves, or a trap, a bad access, a division by 0 is met
    out.memory['z']    # the bytes of an object that an operand pointed to

Blocks are walked in the order of the control flow, each edge with its condition; where edges meet, a value is chosen by
those conditions. A loop is walked again and again until no edge leads back, `most` times at most; what would go on then is
undefined. Poison goes with every value as LLVM's reference defines it."""
import struct
from collections import namedtuple

import llvm_text as text
import terms as t
from llvm_calls import CALLS
from llvm_instructions import execute
from llvm_text import NotRead
from llvm_values import NULL, Pointer, Value, any_poison, as_bits, merged, pointer_to

Outcome = namedtuple('Outcome', 'value undefined memory traps')


def sort_of(kind):
    if kind.kind == 'int':
        return kind.size
    if kind.kind == 'float':
        return t.FLOAT32
    raise NotRead(f'a value of type {kind}')


def join(conditions):
    """The disjunction of edges' conditions; where two differ in one decision alone it is what they share."""
    parts = [set(c.args) if c.op == 'and' else {c} for c in conditions]
    again = True
    while again:
        again = False
        for i in range(len(parts)):
            for j in range(i):
                one, other = parts[i] - parts[j], parts[j] - parts[i]
                if len(one) == len(other) == 1 and t.negation(next(iter(one))) is next(iter(other)):
                    parts[j] = parts[i] & parts[j]
                    del parts[i]
                    again = True
                    break
                if not one:
                    del parts[j]
                    again = True
                    break
            if again:
                break
    return t.disjunction(*(t.conjunction(*sorted(p, key=id)) for p in parts))


class State:
    """Where a path stands: under which condition, with which values and which bytes."""

    def __init__(self, condition, values, memory):
        self.condition, self.values, self.memory = condition, values, memory

    def under(self, condition):
        return State(t.conjunction(self.condition, condition), self.values, self.memory)


class Module:
    """An IR file. calls: functions of other files, name to a Python function of (run, values) that gives a Value."""

    def __init__(self, ir, calls=None, most=130):
        self.text = text.Text(ir)
        self.calls = dict(CALLS, **(calls or {}))
        self.most = most

    def operands(self, name):
        """Pairs of a name, as written or p0, p1, ..., and a width, for each operand of a function of integers."""
        return [(f'p{i}' if n[1:].isdigit() else n[1:], sort_of(k))
                for i, (n, k) in enumerate(self.text.functions[name].takes)]

    def run(self, name, operands, memory=None):
        """operands: terms, or for a pointer the name of its object or None; memory: name to a list of 8-bit terms."""
        values = [pointer_to(x) if isinstance(x, str) else NULL if x is None else Value(x, t.FALSE) for x in operands]
        bytes_of = {n: [Value(b, t.FALSE) for b in content] for n, content in (memory or {}).items()}
        walk = Walk(self)
        value, state = walk.call(name, values, State(t.TRUE, {}, bytes_of))
        walk.undefined.append(any_poison(value) if value is not None else t.FALSE)
        plain = None if value is None else [v.term for v in value] if isinstance(value, list) else value.term
        return Outcome(plain, t.disjunction(*walk.undefined), state.memory, walk.traps)


class Walk:
    """One walk through a function and what it calls."""

    def __init__(self, module):
        self.module, self.undefined, self.traps, self.objects = module, [], 0, 0

    def wrong(self, state, condition=t.TRUE):
        """What is undefined where the path is and the condition holds."""
        self.undefined.append(t.conjunction(state.condition, condition))

    def call(self, name, values, state):
        function = self.module.text.functions[name]
        inner = State(state.condition, dict(zip((n for n, _ in function.takes), values, strict=True)), dict(state.memory))
        done = []
        leads = {label: text.targets(lines[-1]) for label, lines in function.blocks.items()}
        first = next(iter(function.blocks))
        left = self.region(function, leads, set(function.blocks), {first: [(None, inner)]}, done, None)
        if left:
            raise NotRead(f'{name}: edges to {list(left)}')
        if not done:
            raise NotRead(f'{name} never returns')
        cases = [(s.condition, v) for s, v in done]
        value = None if cases[0][1] is None else merged(cases)
        return value, State(state.condition, state.values, self.memories([s for s, _ in done]))

    # ---- control flow ----

    def region(self, function, leads, labels, edges, done, header):
        """Walks the blocks once, in order; gives the edges that leave them, those back to the header among them."""
        left = {}
        for group in groups(leads, labels, header):
            if len(group) == 1 and group[0] not in leads[group[0]] or group[0] == header:
                arriving = edges.pop(group[0], [])
                if arriving:
                    self.block(function, group[0], arriving, done, edges, labels, left, header)
            else:
                self.loop(function, leads, set(group), edges, done, labels, left, header)
        return left

    def loop(self, function, leads, group, edges, done, labels, left, header):
        heads = [b for b in group if b in edges]
        if not heads:
            return
        if len(heads) > 1:
            raise NotRead(f'a loop of {function.name} with {len(heads)} entries')
        arriving = edges.pop(heads[0])
        for _ in range(self.module.most):
            out = self.region(function, leads, group, {heads[0]: arriving}, done, heads[0])
            arriving = out.pop(heads[0], [])
            for label, more in out.items():
                (left if label not in labels or label == header else edges).setdefault(label, []).extend(more)
            if not arriving:
                return
        for _, state in arriving:
            self.wrong(state)

    def block(self, function, label, arriving, done, edges, labels, left, header):
        state = self.meet(arriving)
        if state.condition is t.FALSE:
            return
        lines = function.blocks[label]
        for words in lines:
            if words[0] == 'br' or words[0] == 'switch':
                for target, after in self.branch(words, state):
                    if after.condition is not t.FALSE:
                        into = left if target not in labels or target == header else edges
                        into.setdefault(target, []).append((label, after))
                return
            if words[0] == 'ret':
                r = self.reader(words[1:])
                kind = r.type()
                done.append((state, None if kind.kind == 'void' else self.value(r.value(kind), kind, state)))
                return
            if words[0] == 'unreachable':
                self.wrong(state)
                return
            if len(words) > 3 and words[1] == '=' and words[2] == 'phi':
                state.values[words[0]] = self.phi(words, arriving)
            else:
                execute(self, words, state)
        raise NotRead(f'block {label} of {function.name} has no end')

    def meet(self, arriving):
        """The state where edges meet. Values that not all of them have are of no use behind this point."""
        if len(arriving) == 1:
            s = arriving[0][1]
            return State(s.condition, dict(s.values), dict(s.memory))
        states = [s for _, s in arriving]
        common = set(states[0].values).intersection(*(s.values for s in states[1:]))
        values = {}
        for name in states[0].values:
            if name in common:
                one = states[0].values[name]
                if all(s.values[name] is one for s in states):
                    values[name] = one
                else:
                    values[name] = merged([(s.condition, s.values[name]) for s in states])
        return State(join([s.condition for s in states]), values, self.memories(states))

    def memories(self, states):
        out = {}
        for name in states[0].memory:
            if all(name in s.memory for s in states):
                lists = [(s.condition, s.memory[name]) for s in states]
                out[name] = lists[0][1] if all(b is lists[0][1] for _, b in lists) else merged(lists)
        return out

    def phi(self, words, arriving):
        r = self.reader(words[3:])
        kind = r.type()
        sources = {}
        while r.take('[') or r.take(','):
            if r.peek() == '[':
                continue
            value = r.value(kind)
            r.want(',')
            sources[r.next()] = value
            r.want(']')
        return merged([(s.condition, self.value(sources[label], kind, s)) for label, s in arriving])

    def branch(self, words, state):
        if words[1] == 'label':
            return [(words[2], state)]
        r = self.reader(words[1:])
        kind, value = r.typed()
        on = self.value(value, kind, state)
        self.wrong(state, on.poison)
        goes = text.targets(words)
        if words[0] == 'br':
            holds = t.equal(on.term, 1)
            return [(goes[0], state.under(holds)), (goes[1], state.under(t.negation(holds)))]
        r.want(',')
        r.next()
        r.next()
        r.want('[')
        out, seen = [], []
        while not r.take(']'):
            _, case = r.typed()
            r.want(',')
            r.next()
            hit = t.equal(on.term, t.constant(case, kind.size))
            out.append((r.next(), state.under(hit)))
            seen.append(hit)
        by_target = {}
        for target, after in out:
            by_target.setdefault(target, []).append(after.condition)
        rest = state.under(t.negation(t.disjunction(*seen)))
        by_target.setdefault(goes[0], []).append(rest.condition)
        return [(target, State(t.disjunction(*c), state.values, state.memory)) for target, c in by_target.items()]

    # ---- values ----

    def reader(self, words):
        return self.module.text.reader(words)

    def value(self, v, kind, state):
        if isinstance(v, str):
            if v[0] == '%':
                return state.values[v]
            if v in self.module.text.constants and self.module.text.constants[v].type.kind != 'ptr' and v not in state.memory:
                one = self.module.text.constants[v]
                state.memory[v] = self.bytes_of(self.value(one.value, one.type, state), one.type)
            return pointer_to(v)
        if kind.kind in ('struct', 'array'):
            n = len(kind.of) if kind.kind == 'struct' else kind.size
            parts = v[1] if v[0] == 'parts' else [v] * n
            return [self.value(p, text.part_of(kind, i)[1], state) for i, p in enumerate(parts)]
        if isinstance(v, int):
            return Value(t.constant(v, kind.size), t.FALSE)
        if v[0] in ('undef', 'poison'):  # undef is any value at each use; to take it for poison asks for more
            return NULL._replace(poison=t.TRUE) if kind.kind == 'ptr' else Value(t.constant(0, sort_of(kind)), t.TRUE)
        if v[0] in ('null', 'zeroinitializer'):
            return NULL if kind.kind == 'ptr' else Value(t.constant(0, sort_of(kind)), t.FALSE)
        if v[0] == 'gep':
            return self.address(v[1], v[2], state)
        if v[0] == 'float' and kind.kind == 'float':
            return Value(t.constant(binary32_of(v[1]), t.FLOAT32), t.FALSE)
        raise NotRead(f'{v} of {kind}')

    def bytes_of(self, value, kind):
        size = text.size_of(kind)[0]
        if isinstance(value, list):
            out = [Value(t.constant(0, 8), t.TRUE)] * size
            for i, v in enumerate(value):
                at, of = text.part_of(kind, i)
                part = self.bytes_of(v, of)
                out[at:at + len(part)] = part
            return out
        if isinstance(value, Pointer):
            raise NotRead('a pointer in memory')
        bits = t.widen(as_bits(value.term), 8 * size)
        return [Value(t.extract(bits, 8 * i + 7, 8 * i), value.poison) for i in range(size)]

    def of_bytes(self, content, kind):
        if kind.kind in ('struct', 'array'):
            n = len(kind.of) if kind.kind == 'struct' else kind.size
            parts = [text.part_of(kind, i) for i in range(n)]
            return [self.of_bytes(content[at:at + text.size_of(of)[0]], of) for at, of in parts]
        if kind.kind == 'ptr':
            raise NotRead('a pointer in memory')
        bits = t.concatenate(*(b.term for b in reversed(content)))
        poison = t.disjunction(*(b.poison for b in content))
        return Value(t.float_of_bits(bits) if kind.kind == 'float' else t.cut(bits, kind.size), poison)

    # ---- memory ----

    def address(self, kind, parts, state):
        base = self.value(parts[0][1], parts[0][0], state)
        index = self.value(parts[1][1], parts[1][0], state)
        offset, poison = base.offset, t.disjunction(base.poison, index.poison)
        offset = offset + t.widen_signed(index.term, 64) * t.constant(text.size_of(kind)[0], 64)
        for of, v in parts[2:]:
            index = self.value(v, of, state)
            poison = t.disjunction(poison, index.poison)
            at = t.value_of(index.term)
            if kind.kind == 'struct':
                step, kind = text.part_of(kind, at)
                offset = offset + step
            else:
                kind = kind.of
                offset = offset + t.widen_signed(index.term, 64) * t.constant(text.size_of(kind)[0], 64)
        return Pointer(base.base, offset, base.null, poison)

    def places(self, pointer, size, state, align=1):
        """The offsets that an access may have, each with its condition."""
        self.wrong(state, pointer.poison)
        if pointer.base is None or pointer.base not in state.memory:
            raise NotRead(f'an access to {pointer.base}')
        room = len(state.memory[pointer.base])
        at = t.value_of(pointer.offset)
        if at is not None:
            inside = t.signed(at, 64) in range(room - size + 1)
            self.wrong(state, t.constant(not inside, t.BOOL))
            return [(t.TRUE, at)] if inside else []
        spots = [(t.equal(pointer.offset, i), i) for i in range(0, room - size + 1, align)]
        self.wrong(state, t.negation(t.disjunction(*(c for c, _ in spots))))
        return spots

    def load(self, pointer, kind, state):
        size, align = text.size_of(kind)
        content = state.memory.get(pointer.base)
        cases = [(c, self.of_bytes(content[at:at + size], kind)) for c, at in self.places(pointer, size, state, align)]
        if not cases:
            return self.value(('undef',), kind, state)
        return merged(cases)

    def store(self, pointer, content, state):
        for condition, at in self.places(pointer, len(content), state):
            old = state.memory[pointer.base]
            new = content if condition is t.TRUE else [merged([(condition, b), (t.TRUE, old[at + i])]) for i, b in enumerate(content)]
            state.memory[pointer.base] = old[:at] + list(new) + old[at + len(content):]

    def new_object(self, kind, state):
        self.objects += 1
        name = f'object {self.objects}'
        state.memory[name] = [Value(t.constant(0, 8), t.TRUE)] * text.size_of(kind)[0]
        return pointer_to(name)


def binary32_of(word):
    """LLVM writes a float as the double that it is, in hexadecimal or decimal digits."""
    x = struct.unpack('>d', bytes.fromhex(word[2:]))[0] if word.startswith('0x') else float(word)
    u = struct.unpack('>I', struct.pack('>f', x))[0]
    return u


def groups(leads, labels, header):
    """The blocks in the order of the control flow, those of one loop together; edges back to the header do not count."""
    index, low, stack, on, out, counter = {}, {}, [], set(), [], [0]

    def inside(label):
        return [b for b in leads[label] if b in labels and b != header]

    for root in sorted(labels, key=list(leads).index):
        if root in index:
            continue
        work = [(root, iter(inside(root)))]
        index[root] = low[root] = counter[0]
        counter[0] += 1
        stack.append(root)
        on.add(root)
        while work:
            label, rest = work[-1]
            for b in rest:
                if b not in index:
                    index[b] = low[b] = counter[0]
                    counter[0] += 1
                    stack.append(b)
                    on.add(b)
                    work.append((b, iter(inside(b))))
                    break
                if b in on:
                    low[label] = min(low[label], index[b])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[label])
                if low[label] == index[label]:
                    group = []
                    while True:
                        b = stack.pop()
                        on.discard(b)
                        group.append(b)
                        if b == label:
                            break
                    out.append(group)
    return out[::-1]
