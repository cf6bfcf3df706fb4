# SPDX-License-Identifier: MIT
"""Formulas of scaled tensors (scaled.md, section 4.4): their text, and what they give."""
import re

from exact import BINARY32, FINITE, ONE, Real, ZERO, add, finite, floor_log2, from_interchange, magnitude, multiply
from rounding import Mode, nearest_even, round_real
from scaled_binary32 import LARGEST, SMALLEST, divided, less, rn, times

KEYS = ('S', 't', 's', 'x', 'v')
TOKEN = re.compile(r'0x[0-9a-f]{8}|[0-9]+|[A-Za-z]+[0-9]?|[-+*/(),]')


class Reader:
    """formula = term { "+" term }, and so on, into nested tuples (word, operand, ...)."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        if ''.join(self.tokens) != text:
            raise ValueError('no formula: ' + text)
        self.tokens.append('')
        self.tree = self.formula()
        if self.tokens != ['']:
            raise ValueError('no formula: ' + text)

    def chain(self, words, operand):
        left = operand()
        while self.tokens[0] in words:
            word = self.tokens.pop(0)
            left = (word, left, operand())
        return left

    def formula(self):
        return self.chain(('+',), lambda: self.chain(('*', '/'), self.factor))

    def passed(self, word):
        if self.tokens.pop(0) != word:
            raise ValueError('no ' + word)

    def factor(self):
        word = self.tokens.pop(0)
        if word == '(':
            inner = self.formula()
            self.passed(')')
            return inner
        if word.startswith('0x'):
            return ('number', from_interchange(int(word, 16), BINARY32))
        if word.isdigit():
            return ('number', finite(0, int(word), 0))
        if self.tokens[0] != '(':
            return ('name', word)
        self.passed('(')
        operands = [self.formula()]
        while self.tokens[0] == ',':
            self.passed(',')
            operands.append(self.formula())
        self.passed(')')
        return (word, *operands)


def uses(tree, name):
    """Whether a formula has a name."""
    if tree[0] in ('name', 'number'):
        return tree == ('name', name)
    return any(uses(operand, name) for operand in tree[1:])


def power(e):
    """2^e between 2^-149 and 2^127."""
    return Real(FINITE, 0, 1, max(min(e, 127), -149))


def rounded_to(x, nearest, digits, least, largest):
    """x to so many digits, or to a multiple of 2^least where that is more; at most the largest number."""
    if not x.n:
        return x
    shift = max(floor_log2(x) - digits + 1, least) - x.q
    if shift > 0:
        x = finite(0, nearest_even(x.n, shift) if nearest else x.n >> shift, x.q + shift)
    return largest if less(largest, x) else x


BFLOAT16 = (8, -133, finite(0, 255, 120))
BINARY16 = (11, -24, finite(0, 2047, 5))


def even(x, m):
    """down(x rounded to m + 1 digits, ties up)."""
    if not x.n:
        return x
    k = floor_log2(x)
    place = max(k - m, -149)
    shift = place - x.q
    n = (x.n + (1 << shift - 1) >> shift) if shift > 0 else x.n
    return power(n.bit_length() - 1 + max(place, x.q))


def near(x):
    """2^(k+1) from sqrt(2) 2^k on: where the square of x 2^-k is at least 2."""
    k = floor_log2(x)
    square = multiply(x, x)
    return power(k + 1 if not less(square, Real(FINITE, 0, 1, 2 * k + 1)) else k)


def into(x, form, mode):
    z = form.decode(round_real(x, form, mode)[0])
    return z._replace(sign=0)


class Formulas:
    """The formulas of a text; layout: whose formats scale(), rna() and rnz() take."""

    def __init__(self, layout, keys):
        self.layout = layout
        self.trees = {key: Reader(keys[key]).tree for key in KEYS if key in keys}

    def run(self, key, names):
        return self.value(self.trees[key], names)

    def value(self, tree, names):
        """What a formula gives for numbers from 0 up."""
        word = tree[0]
        if word == 'number':
            return tree[1]
        if word == 'name':
            return names[tree[1]]
        return self.operation(word, [self.value(operand, names) for operand in tree[1:]])

    def operation(self, word, operands):
        a, b = operands[0], operands[-1]
        if word == '+':
            return rn(add(a, b))
        if word == '*':
            return times(a, b)
        if word == '/':
            return (divided(a, b) if b.n else LARGEST[0]) if a.n else ZERO
        if word in ('max', 'min'):
            return b if less(a, b) == (word == 'max') else a
        if word in ('or', 'and'):
            return (a if word == 'or' else b) if a.n else (b if word == 'or' else ZERO)
        if word == 'scale':
            return into(a, self.layout.scale, self.layout.scale_mode)
        if word in ('rna', 'rnz'):
            return into(a, self.layout.element, Mode(word, 0, sat='finite'))
        return self.on_one(word, a)

    @staticmethod
    def on_one(word, a):
        if word == 'bf':
            return rounded_to(a, True, *BFLOAT16)
        if word in ('h', 'hz'):
            return rounded_to(a, word == 'h', *BINARY16)
        if not a.n:
            return ZERO
        k = floor_log2(a)
        if word == 'up':
            return power(k if a.n & a.n - 1 == 0 else k + 1)
        if word == 'down':
            return power(k)
        if word == 'near':
            return near(a)
        if word.startswith('even'):
            return even(a, int(word[4:]))
        raise ValueError('no function: ' + word)

    # ---- what a tensor and its blocks are made by ----

    def second_level(self, a_t):
        """S and t; 1 where there is no formula or the tensor has zeros alone."""
        made = {'T': a_t}
        order = ['S', 't'] if 'S' not in self.trees or not uses(self.trees['S'], 't') else ['t', 'S']
        for key in order:
            if key in self.trees:
                z = self.run(key, made) if a_t.n else ONE
                made[key] = z if z.n else SMALLEST
        return made

    def is_factor(self):
        """Whether v is P*f, where f has no P."""
        word, left, right = (self.trees['v'] + ('', ''))[:3]
        return word == '*' and left == ('name', 'P') and not uses(right, 'P')

    def value_of(self, p, s, stored):
        """The value of |P|; s and what the tensor stores without their signs."""
        names = {'P': p, 's': s, ('t' if 't' in self.trees else 'S'): stored}
        if self.is_factor():
            return multiply(p, self.value(self.trees['v'][2], names))   # rne of it, which can be an infinity
        return self.run('v', names)


class FormulaScale:
    """The scale of a block: its code, s, and the step from an element to the operand of rnd_F, as of other rules."""

    def __init__(self, layout, second, a, code, s):
        self.code, self.s, self.is_nan = code, s, s.kind is not FINITE
        self.d = ONE                                                        # section 5, case 2 does not apply
        self.formulas, self.names = layout.formulas, dict(second.names, A=a, s=magnitude(s))

    def operand(self, x):
        """What the formula x gives for |x|, with the sign of x."""
        if not x.n:
            return x
        return self.formulas.run('x', dict(self.names, x=magnitude(x)))._replace(sign=x.sign)


class FormulaLevel:
    """S and t of a tensor; what it stores is `t`."""

    def __init__(self, layout, a_t):
        self.names = dict(layout.formulas.second_level(a_t), T=a_t)
        self.t = self.names.get('t', self.names.get('S', ONE))


def by_formulas(layout, second, a):
    """The scale of a block with the amax a."""
    code, s = layout.rounded_scale(layout.formulas.run('s', dict(second.names, A=a)))
    return FormulaScale(layout, second, a, code, s)


def formula_value(layout, number, s, stored):
    """The value of a code's number before rne, where there is a formula v."""
    is_number = s.kind is FINITE and stored.kind is FINITE
    if is_number and (layout.formulas.is_factor() or (number.kind is FINITE and number.n)):
        value = layout.formulas.value_of(magnitude(number), magnitude(s), magnitude(stored))
        return value._replace(sign=number.sign ^ s.sign ^ stored.sign)
    return multiply(number, rn(multiply(s, stored)))
