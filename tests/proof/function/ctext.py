# SPDX-License-Identifier: MIT
"""Reads the functions of a C header into trees: the subset of C in which emu/arith/function_quick.h is written.

A tree is a tuple: ('number', text), ('name', text), ('call', name, [trees]), ('unary', operator, tree),
('binary', operator, left, right), ('if', condition, yes, no), ('cast', type, tree), ('index', ...) is not there. A statement is
('set', name, tree), ('declare', name), ('return', tree), ('do', tree), ('when', condition, statement) or ('block', [statements]).
What this reader does not know is an error, so that a header that was written differently cannot be read wrongly.
"""
import re

TOKEN = re.compile(r'\s*(?:(0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+|0[xX][0-9a-fA-F]+[uU]?[lL]*|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[uU]?)'
                   r'|([A-Za-z_]\w*)|(->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|[-+*/%&|^~!<>=?:;,.(){}\[\]]))')
TYPES = {'double', 'uint64_t', 'int', 'hu_quick_result', 'void', 'int32_t', 'uint32_t'}
LEVELS = [['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '>', '<=', '>='], ['<<', '>>'], ['+', '-'], ['*', '/', '%']]


class NotRead(Exception):
    """The text is not in the subset."""


def tokens(text):
    out, at, text = [], 0, text.rstrip()
    while at < len(text):
        m = TOKEN.match(text, at)
        if not m:
            raise NotRead('no token at: ' + text[at:at + 40])
        out.append(('number', m[1]) if m[1] else ('name', m[2]) if m[2] else ('sign', m[3]))
        at = m.end()
    return out + [('end', '')]


class Parser:
    def __init__(self, text):
        self.list, self.at = tokens(text), 0

    def peek(self, k=0):
        return self.list[self.at + k][1]

    def next(self):
        self.at += 1
        return self.list[self.at - 1]

    def want(self, sign):
        kind, text = self.next()
        if text != sign:
            raise NotRead(f'{sign} was expected, not {text}')

    def take(self, sign):
        found = self.peek() == sign
        self.at += found
        return found

    def expression(self):
        condition = self.level(0)
        if not self.take('?'):
            return condition
        yes = self.expression()
        self.want(':')
        return ('if', condition, yes, self.expression())

    def level(self, n):
        if n == len(LEVELS):
            return self.unary()
        left = self.level(n + 1)
        while self.peek() in LEVELS[n] and self.list[self.at][0] == 'sign':
            operator = self.next()[1]
            left = ('binary', operator, left, self.level(n + 1))
        return left

    def unary(self):
        if self.peek() in ('-', '~', '!', '&', '*'):
            return ('unary', self.next()[1], self.unary())
        if self.peek() == '(' and self.peek(1) in TYPES:
            self.next()
            kind = self.next()[1]
            self.want(')')
            return ('cast', kind, self.unary())
        return self.primary()

    def primary(self):
        kind, text = self.next()
        if text == '(':
            tree = self.expression()
            self.want(')')
        elif kind == 'number':
            tree = ('number', text)
        elif kind == 'name' and self.take('('):
            tree = ('call', text, self.arguments())
        elif kind == 'name':
            tree = ('name', text)
        else:
            raise NotRead(f'an operand was expected, not {text}')
        while self.take('.'):
            tree = ('field', tree, self.next()[1])
        return tree

    def arguments(self):
        out = []
        while not self.take(')'):
            out.append(self.expression() if self.peek() != 'void' else ('name', self.next()[1]))
            if self.peek() != ')':
                self.want(',')
        return out

    def assignment(self):
        left = self.unary()
        if self.peek() in ('=', '+=', '-=', '|=', '&='):
            sign = self.next()[1]
            right = self.expression()
            return ('set', left, right if sign == '=' else ('binary', sign[0], left, right))
        return ('do', left)

    def statement(self):
        """A list: a declaration is a statement for each name."""
        if self.take('{'):
            out = []
            while not self.take('}'):
                out += self.statement()
            return [('block', out)]
        if self.take('if'):
            self.want('(')
            condition = self.expression()
            self.want(')')
            return [('when', condition, self.statement()[0])]
        if self.take('return'):
            tree = self.expression()
            self.want(';')
            return [('return', tree)]
        if self.peek() in TYPES:
            self.next()
            out = []
            while True:
                name = self.next()[1]
                out.append(('set', ('name', name), self.expression()) if self.take('=') else ('declare', name))
                if self.take(';'):
                    return out
                self.want(',')
        out = [self.assignment()]
        self.want(';')
        return out


def expression(text):
    parser = Parser(text)
    tree = parser.expression()
    if parser.peek():
        raise NotRead('more than an expression: ' + text)
    return tree


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def constants(text):
    """The macros that stand for one number."""
    return {m[1]: m[2] for m in re.finditer(r'^#define (\w+) (\S+)[ \t]*$', without_comments(text), re.M)
            if re.fullmatch(r'[-+.xXpPa-fA-F0-9]+', m[2])}


def functions(text):
    """{name: (parameters, statements)} of all HU_FN functions; a parameter that is a pointer has a * before its name."""
    text, out = without_comments(text), {}
    text = re.sub(r'^#.*?(?<!\\)$', '', text, flags=re.M | re.S)
    for m in re.finditer(r'^HU_FN \w+ (\w+)\(([^)]*)\) \{', text, re.M):
        depth, end = 1, m.end()
        while depth:
            depth += {'{': 1, '}': -1}.get(text[end], 0)
            end += 1
        parameters = [(p.split()[-1]) for p in m[2].split(',')] if m[2] != 'void' else []
        try:
            out[m[1]] = (parameters, Parser(text[m.end() - 1:end]).statement()[0][1])
        except NotRead as what:
            out[m[1]] = (parameters, what)
    return out


def show(tree):
    """The tree as text, the same for the same tree, every pair of operands in brackets but for the outermost."""
    def inner(t):
        text = show(t)
        return f'({text})' if t[0] in ('binary', 'if') else text
    kind = tree[0]
    if kind in ('number', 'name'):
        return tree[1]
    if kind == 'call':
        return f'{tree[1]}({", ".join(map(show, tree[2]))})'
    if kind == 'unary':
        return tree[1] + inner(tree[2])
    if kind == 'binary':
        return f'{inner(tree[2])} {tree[1]} {inner(tree[3])}'
    if kind == 'if':
        return f'{inner(tree[1])} ? {inner(tree[2])} : {inner(tree[3])}'
    if kind == 'cast':
        return f'({tree[1]}){inner(tree[2])}'
    return f'{inner(tree[1])}.{tree[2]}'
