# SPDX-License-Identifier: MIT
"""The order of operations of a function of emu/arith/function_quick.h, as a list of steps in binary64, from the C text.

`Run` goes through the C statements with symbols in place of numbers. Each +, -, *, / of two doubles becomes a step, whose name
is made from the C variable that gets it. Integers are not followed: the few functions that look into a number's pattern are named in
LEAVES, with what they mean, and tests compare each of them with the compiled function. At a condition the caller says
which way is meant, by the condition's text; a condition that it does not know is an error. The walk ends at
`hui_quick_decided`, whose operand is the y of the rounding test.
"""
import math
import struct
from fractions import Fraction

import ctext


class Drift(Exception):
    """The C text is not what the proof was written for."""


class Step:
    """name = rounded(left operator right); an operand is a Step, an Input or a Constant."""

    def __init__(self, name, operator, left, right):
        self.name, self.operator, self.left, self.right = name, operator, left, right


class Input:
    def __init__(self, name):
        self.name = name


class Constant:
    def __init__(self, text):
        self.text = text
        self.value = float.fromhex(text) if 'x' in text.lower() else float(text)


class Opaque:
    """An integer, a pattern, a condition: not followed."""

    def __init__(self, of=None):
        self.of = of  # for a pattern: the double that it is the pattern of


class Decided(Exception):
    pass


class Run:
    """One way through one function."""

    def __init__(self, texts, choices=None, leaves=None):
        self.functions, self.constants = {}, {}
        for text in texts:
            self.functions.update(ctext.functions(text))
            self.constants.update(ctext.constants(text))
        self.choices, self.leaves = dict(choices or {}), {**LEAVES, **(leaves or {})}
        self.steps, self.names, self.used, self.y = [], set(), set(), None

    def fresh(self, name):
        out, k = name, 1
        while out in self.names:
            k += 1
            out = f'{name}_{k}'
        self.names.add(out)
        return out

    def step(self, operator, left, right, name='t'):
        if isinstance(left, Constant) and isinstance(right, Constant):
            raise Drift('an operation of two constants')
        out = Step(self.fresh(name), operator, left, right)
        self.steps.append(out)
        return out

    def call(self, name, arguments):
        """Runs the function; returns its value. Pointers among the parameters are set in the caller's names."""
        parameters, statements = self.functions[name]
        if isinstance(statements, Exception):
            raise Drift(f'{name} is not in the subset of C: {statements}')
        local = dict(zip([p.lstrip('*') for p in parameters], arguments))
        for kind, *what in statements:
            if kind == 'return':
                value = self.value(what[0], local, name.replace('hui_', '').replace('quick_', ''))
                return value, local
            if kind == 'set':
                target, tree = what
                where = target[2][1] if target[0] == 'unary' else target[1]
                if where == 'q' and target == ('name', 'q') and tree[0] == 'call' and tree[1] == 'hui_quick_or':
                    continue
                local[where] = self.value(tree, local, where)
            elif kind == 'do':
                self.value(what[0], local, 't')
            elif kind == 'when':
                if self.choose(what[0], local):
                    if what[1][0] != 'return':
                        raise Drift('a condition before something else than a return')
                    return self.value(what[1][1], local, name), local
            elif kind != 'declare':
                raise Drift('a statement of another kind: ' + kind)
        return None, local

    def choose(self, condition, local):
        text = ctext.show(condition)
        known = local.get(text) if condition[0] == 'name' else None
        if isinstance(known, (int, Constant)):
            return (known.value if isinstance(known, Constant) else known) != 0
        if text not in self.choices:
            raise Drift(f'which way at "{text}"?')
        self.used.add(text)
        return self.choices[text]

    def value(self, tree, local, name):
        kind = tree[0]
        if kind == 'number':
            return Constant(tree[1])
        if kind == 'name':
            if tree[1] in local:
                return local[tree[1]]
            if tree[1] in self.constants:
                return Constant(self.constants[tree[1]])
            raise Drift(f'an unknown name: {tree[1]}')
        if kind == 'if':
            return self.value(tree[2] if self.choose(tree[1], local) else tree[3], local, name)
        if kind == 'unary' and tree[1] == '-':
            of = self.value(tree[2], local, name)
            return Constant('-' + of.text) if isinstance(of, Constant) else self.step('negate', of, None, name)
        if kind == 'call':
            return self.called(tree, local, name)
        if kind == 'binary' and tree[1] in '+-*/':
            left, right = (self.value(t, local, name) for t in tree[2:])
            if isinstance(left, Opaque) or isinstance(right, Opaque):
                return Opaque()
            return self.step(tree[1], left, right, name)
        if kind == 'binary' and tree[1] in ('^', '|'):
            left = self.value(tree[2], local, name)
            return Opaque(left.of) if isinstance(left, Opaque) else Opaque()
        return Opaque()

    def called(self, tree, local, name):
        _, callee, trees = tree
        if callee == 'hui_quick_decided':
            self.y = self.value(trees[0], local, 'y')
            raise Decided
        if callee in self.leaves:
            values = [None if t[0] == 'unary' and t[1] == '&' else self.value(t, local, name) for t in trees]
            out = self.leaves[callee](self, values)
            if isinstance(out, tuple):
                out, pointed = out
                for t, v in zip([t for t in trees if t[0] == 'unary' and t[1] == '&'], pointed):
                    local[t[2][1]] = v
            return out
        if callee not in self.functions:
            raise Drift(f'an unknown function: {callee}')
        arguments = [self.value(t, local, name) if not (t[0] == 'unary' and t[1] == '&') and not (t[0] == 'name' and t[1] in self.pointers(local))
                     else Opaque() for t in trees]
        value, inside = self.call(callee, arguments)
        for t, p in zip(trees, self.functions[callee][0]):
            if p.startswith('*'):
                local[t[2][1] if t[0] == 'unary' else t[1]] = inside[p[1:]]
        return value

    @staticmethod
    def pointers(local):
        return [n for n, v in local.items() if isinstance(v, Opaque)]


def finished(run, function):
    for text in run.choices:
        if text not in run.used:
            raise Drift(f'{function}: no condition "{text}" was met')


def decided(texts, function, arguments, choices=None, leaves=None):
    """The walk through `function` to its rounding test: a Run with steps and y. Every choice must have been met."""
    run = Run(texts, choices, leaves)
    run.names |= {a.name for a in arguments if isinstance(a, Input)}
    try:
        run.call(function, list(arguments))
    except Decided:
        run.y = run.y.of if isinstance(run.y, Opaque) else run.y
        finished(run, function)
        run.steps = needed(run.steps, run.y)
        return run
    raise Drift(f'{function} has no rounding test')


def returned(texts, function, arguments, choices=None, leaves=None):
    """The same for a function that returns a double: y is that; `pointed` what its pointers get."""
    run = Run(texts, choices, leaves)
    run.names |= {a.name for a in arguments if isinstance(a, Input)}
    run.y, run.pointed = run.call(function, list(arguments))
    finished(run, function)
    run.steps = needed(run.steps, run.y, *[v for v in run.pointed.values() if isinstance(v, Step)])
    return run


def needed(steps, *ends):
    """Those that the ends are made of, in their order."""
    wanted, out = {id(e) for e in ends}, []
    for s in reversed(steps):
        if id(s) in wanted:
            out.append(s)
            for o in (s.left, s.right):
                wanted.add(id(o))
    return out[::-1]


def evaluate(steps, inputs):
    """All values in binary64; Python's floats are that, to nearest."""
    values = dict(inputs)

    def of(o):
        if isinstance(o, Constant):
            return o.value
        if o is None:
            return None
        return values[o.name]
    for s in steps:
        values[s.name] = LEAF_VALUES[s.operator](of(s.left), of(s.right))
    return values


def pattern(x):
    return struct.unpack('<Q', struct.pack('<d', x))[0]


def double(u):
    return struct.unpack('<d', struct.pack('<Q', u & 0xFFFFFFFFFFFFFFFF))[0]


# ---- the functions that look into patterns, by what they mean ----

def leaf_absolute(run, values):
    return run.step('absolute', values[0], None, 'a')


def leaf_power(run, values):
    return run.step('power', values[0], None, 'power')


def leaf_split(run, values):
    return run.step('significand', values[0], None, 'm'), [run.step('exponent', values[0], None, 'k')]


def leaf_product(run, values):
    high = run.step('*', values[0], values[1], 'high')
    return None, [high, run.step('low', values[0], values[1], 'low')]


def leaf_pattern(run, values):
    return Opaque(values[0])


def leaf_double(run, values):
    """A pattern with its sign changed, perhaps: the bounds are symmetric."""
    return values[0].of if values[0].of is not None else values[0]


LEAVES = {'hui_abs64': leaf_absolute, 'hui_power_of_two64': leaf_power, 'hui_quick_split': leaf_split, 'hui_product64': leaf_product,
          'hui_pattern64': leaf_pattern, 'hui_double64': leaf_double, 'hui_quick_signed': lambda run, values: values[0]}

LOWEST = double(0x3FE6A09E00000000)  # hui_quick_split's smallest significand


def split(x):
    """x = m 2^k, m from LOWEST to twice that; k as a double."""
    m, k = math.frexp(x)
    if m < LOWEST:
        m, k = m * 2, k - 1
    return m, float(k)


LEAF_VALUES = {
    'absolute': lambda a, b: abs(a),
    'power': lambda a, b: 2.0 ** (a - 1.5 * 2.0 ** 52),
    'significand': lambda a, b: split(a)[0],
    'exponent': lambda a, b: split(a)[1],
    'low': lambda a, b: float(Fraction(a) * Fraction(b) - Fraction(a * b)),
    'negate': lambda a, b: -a,
    'root': lambda a, b: math.sqrt(a),
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
}
