# SPDX-License-Identifier: MIT
"""Clang's LLVM IR as text, taken apart: types, constants, functions, blocks and their instructions as lists of words.

Typed pointers (clang 14) and opaque ones (15 and later) are read alike. What it does not know is an error, never a guess."""
import re
from collections import namedtuple

Function = namedtuple('Function', 'name gives takes blocks')  # takes: pairs of name and type; blocks: label to instructions
Constant = namedtuple('Constant', 'name type value')
Type = namedtuple('Type', 'kind size of')  # int: digits; array: count and type; struct: types; ptr, float, void: nothing

WORD = re.compile(r'"(?:[^"\\]|\\.)*"|c"(?:[^"\\]|\\.)*"|[%@](?:"[^"]*"|[\w.$-]+)|[\w.$+-]+|\.\.\.|[][(){}<>,=*!#|:]')
VOID, PTR, FLOAT, DOUBLE = (Type(k, 0, None) for k in ('void', 'ptr', 'float', 'double'))
# Attributes of operands and results that say nothing which is relied on, or (noundef, range) what the caller's terms obey.
ATTRIBUTES = {'noundef', 'zeroext', 'signext', 'inreg', 'returned', 'nonnull', 'noalias', 'nocapture', 'readonly', 'readnone',
              'writeonly', 'nofree', 'immarg', 'nest', 'writable', 'dead_on_unwind', 'dso_local', 'tail', 'musttail', 'notail'}
WITH_NUMBER = {'align', 'dereferenceable', 'dereferenceable_or_null', 'captures', 'range', 'initializes', 'memory', 'sret', 'byval'}


class NotRead(Exception):
    """Text that this translator does not know."""


def words_of(line):
    """The words of a line without comments, metadata and attribute groups."""
    line = re.sub(r'\s;.*', '', ' ' + line).strip()
    line = re.sub(r',?\s*![\w.]+ ![\w{}]+', '', line)
    return WORD.findall(re.sub(r'\s#\d+', '', line))


class Reader:
    """Reads types and values from a list of words."""

    def __init__(self, words, named):
        self.words, self.at, self.named = words, 0, named

    def peek(self, ahead=0):
        return self.words[self.at + ahead] if self.at + ahead < len(self.words) else None

    def next(self):
        self.at += 1
        return self.words[self.at - 1]

    def take(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    def want(self, word):
        if not self.take(word):
            raise NotRead(f'{word} is wanted in: {" ".join(self.words)}, not {self.peek()}')

    def type(self):
        t = self._plain_type()
        while self.peek() in ('*', '('):
            if self.take('('):  # the type of a function
                depth = 1
                while depth:
                    w = self.next()
                    depth += (w == '(') - (w == ')')
                t = VOID
            else:
                self.next()
                t = PTR
        return t

    def _plain_type(self):
        w = self.next()
        if re.fullmatch(r'i\d+', w):
            return Type('int', int(w[1:]), None)
        if w in ('void', 'ptr', 'float', 'double'):
            return Type(w, 0, None)
        if w == '[':
            n = int(self.next())
            self.want('x')
            of = self.type()
            self.want(']')
            return Type('array', n, of)
        if w == '{':
            of = []
            while not self.take('}'):
                of.append(self.type())
                self.take(',')
            return Type('struct', 0, tuple(of))
        if w in self.named:
            return Reader(self.named[w], self.named).type()
        raise NotRead(f'type {w} in: {" ".join(self.words)}')

    def attributes(self):
        """Passes over the attributes of an operand."""
        while True:
            if self.peek() in ATTRIBUTES:
                self.next()
            elif self.peek() in WITH_NUMBER:
                self.next()
                if self.take('('):
                    depth = 1
                    while depth:
                        w = self.next()
                        depth += (w == '(') - (w == ')')
                else:
                    self.next()
            else:
                return

    def value(self, t):
        """An operand of type t: a name, a number, or a constant of parts; constant expressions as ('gep', ...)."""
        w = self.next()
        if w[0] in '%@':
            return w
        if t.kind == 'int' and re.fullmatch(r'-?\d+', w):
            return int(w)
        if w in ('true', 'false'):
            return int(w == 'true')
        if w in ('undef', 'poison', 'null', 'zeroinitializer'):
            return (w,)
        if t.kind in ('float', 'double'):
            return ('float', w)
        if w == 'getelementptr':
            flags = []
            while self.peek() in ('inbounds', 'nuw', 'nusw'):
                flags.append(self.next())
            self.want('(')
            of = self.type()
            self.want(',')
            parts = self.typed_list(')')
            return ('gep', of, parts)
        if w == 'bitcast':
            self.want('(')
            value = self.value(self.type())
            self.want('to')
            self.type()
            self.want(')')
            return value
        if w in ('[', '{'):
            return ('parts', tuple(v for _, v in self.typed_list(']' if w == '[' else '}')))
        if w[:2] == 'c"':
            text = re.sub(r'\\([0-9A-Fa-f]{2})', lambda h: chr(int(h[1], 16)), w[2:-1])
            return ('parts', tuple(map(ord, text)))
        raise NotRead(f'value {w} in: {" ".join(self.words)}')

    def typed(self):
        t = self.type()
        self.attributes()
        return t, self.value(t)

    def typed_list(self, end):
        out = []
        while not self.take(end):
            out.append(self.typed())
            self.take(',')
        return out


class Text:
    """All functions and constants of one IR file."""

    def __init__(self, text):
        self.named, self.functions, self.constants = {}, {}, {}
        lines = text.splitlines()
        for line in lines:
            found = re.match(r'(%[\w.$"-]+) = type (.*)', line)
            if found and found[2] != 'opaque':
                self.named[found[1]] = words_of(found[2])
        body = None
        for line in lines:
            if body is not None:
                if line == '}':
                    self._function(body)
                    body = None
                else:
                    body.append(line)
            elif line.startswith('define '):
                body = [line]
            elif line.startswith('@'):
                self._constant(line)

    def reader(self, words):
        return Reader(words, self.named)

    def _constant(self, line):
        words = words_of(line)
        if 'constant' not in words:
            return
        r = self.reader(words[words.index('constant') + 1:])
        t = r.type()
        self.constants[words[0]] = Constant(words[0], t, r.value(t))

    def _function(self, lines):
        head = words_of(lines[0])
        name = next(w for w in head if w[0] == '@')
        r = self.reader(head)
        r.next()
        while r.peek() in ATTRIBUTES or r.peek() in WITH_NUMBER or r.peek() in ('internal', 'hidden', 'private', 'fastcc',
                                                                               'protected', 'linkonce_odr'):
            if r.peek() in WITH_NUMBER:
                r.attributes()
            else:
                r.next()
        gives = r.type()
        r.next()
        r.want('(')
        takes = []
        while not r.take(')'):
            t = r.type()
            r.attributes()
            takes.append((r.next() if r.peek()[0] == '%' else f'%{len(takes)}', t))
            r.take(',')
        self.functions[name[1:]] = Function(name[1:], gives, takes, self._blocks(lines[1:], len(takes)))

    @staticmethod
    def _blocks(lines, first):
        """The first block is labelled by the number behind the operands, as LLVM counts, unless it has a name."""
        blocks, label, joined = {}, None, None
        for line in lines:
            if not line.strip() or line.strip().startswith((';', '#dbg')):
                continue
            found = re.match(r'("?[\w.$-]+"?):', line)
            if found:
                label = '%' + found[1]
                blocks[label] = []
                continue
            if label is None:
                label = f'%{first}'
                blocks[label] = []
            words = words_of(line)
            if joined is not None:  # a switch goes over several lines
                joined += words
                if words[0] == ']':
                    blocks[label].append(joined)
                    joined = None
            elif words[0] == 'switch' and words[-1] == '[':
                joined = words
            else:
                blocks[label].append(words)
        return blocks


def targets(instruction):
    """The labels that a block's last instruction leads to."""
    return [instruction[i + 1] for i, w in enumerate(instruction) if w == 'label']


def size_of(t):
    """Bytes and alignment, as on every 64-bit machine here."""
    if t.kind == 'int':
        n = 1
        while 8 * n < t.size:
            n *= 2
        return n, n
    if t.kind in ('ptr', 'double'):
        return 8, 8
    if t.kind == 'float':
        return 4, 4
    if t.kind == 'array':
        n, align = size_of(t.of)
        return n * t.size, align
    if t.kind == 'struct':
        at, most = 0, 1
        for of in t.of:
            n, align = size_of(of)
            at, most = -(-at // align) * align + n, max(most, align)
        return -(-at // most) * most, most
    raise NotRead(f'size of {t}')


def part_of(t, i):
    """The offset and type of part i of an array or a struct."""
    if t.kind == 'array':
        return i * size_of(t.of)[0], t.of
    at = 0
    for j, of in enumerate(t.of):
        n, align = size_of(of)
        at = -(-at // align) * align
        if j == i:
            return at, of
        at += n
    raise NotRead(f'part {i} of {t}')
