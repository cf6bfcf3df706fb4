# SPDX-License-Identifier: MIT
"""Formulas as the pages write them, in plain letters, typeset as MathML.

Two forms: in prose and tables a run of numbers, letters and operators that has a power in it, `(2^m + M) 2^(E-bias-m)`;
and a block of text with `<!-- formula -->` before its fence, a formula a line, two blanks and more between columns. The
source stays what a reader of plain text understands; it is the MathML's alttext, too."""
import html
import re

SIGNS = {'<=': '≤', '>=': '≥', '!=': '≠', '-': '−', '*': '·', '+-': '±'}
# Names of more than one letter that make a formula go on; others are words. They are spelt as in the prose around them.
NAMES = {'nu', 'phi', 'mu', 'pi', 'floor', 'ceil', 'log2', 'max', 'min', 'mod', 'sqrt', 'emin', 'emax', 'bias', 'rne', 'es', 'amax', 'fl'}
TOKEN = re.compile(r'\s+|\d+(?:[.,]\d+)*|[^\W\d]\w*|\+-|<=|>=|!=|\.\.\.|[-+*/=<>^()|,;:&.!"\']')
OPEN, CLOSE = {'(': ')', '[': ']'}, ')]'


class Reader:
    """One formula's tokens, read from the left."""

    def __init__(self, text):
        self.tokens = [t for t in re.findall(r'\s+|\d+(?:\.\d+)?|[^\W\d]\w*|\+-|<=|>=|!=|\.\.\.|.', text)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ''

    def row(self, ends):
        out = []
        while self.peek() and self.peek() not in ends:
            out.append(self.power())
        return ''.join(out)

    def group(self):
        """What is in brackets, and its marks."""
        mark = self.peek()
        self.at += 1
        inside = self.row((OPEN.get(mark, mark),))
        self.at += 1
        return mark, inside, OPEN.get(mark, mark)

    def atom(self):
        token = self.peek()
        if token in OPEN or (token == '|' and '|' in self.tokens[self.at + 1:]):
            left, inside, right = self.group()
            if token == '|':
                return '<mrow><mo stretchy="false" form="prefix">|</mo>%s<mo stretchy="false" form="postfix">|</mo></mrow>' % inside
            return '<mrow><mo stretchy="false">%s</mo>%s<mo stretchy="false">%s</mo></mrow>' % (left, inside, right)
        self.at += 1
        if token.isspace():
            if len(token) == 1 and re.search(r'[-+*/=<>]', self.tokens[self.at - 2] + self.peek()):
                return ''  # operators bring their own
            return '<mspace width="%s"/>' % ('.28em' if len(token) == 1 else '2em')
        if re.match(r'\d', token):
            return '<mn>%s</mn>' % token
        if token in ('floor', 'ceil') and self.peek() == '(':
            _, inside, _ = self.group()
            marks = '⌊⌋' if token == 'floor' else '⌈⌉'
            return '<mrow><mo stretchy="false">%s</mo>%s<mo stretchy="false">%s</mo></mrow>' % (marks[0], inside, marks[1])
        if token == 'log2':
            return '<msub><mi>log</mi><mn>2</mn></msub>'
        if token == 'sqrt' and self.peek() == '(':
            return '<msqrt>%s</msqrt>' % self.group()[1]
        if re.match(r'[^\W\d]', token):
            name, _, below = token.partition('_')
            made = '<mi>%s</mi>' % name
            return '<msub>%s<mi>%s</mi></msub>' % (made, below) if name and below else made
        before = ''.join(self.tokens[:self.at - 1]).rstrip()
        form = ' form="%s"' % ('prefix' if not before or before[-1] in '(=<>,;:+-*/' else 'infix') if token in ('-', '+') else ''
        return '<mo%s>%s</mo>' % (form, html.escape(SIGNS.get(token, token)))

    def power(self):
        base = self.atom()
        while self.peek() == '^':
            self.at += 1
            base = '<msup>%s%s</msup>' % (base, self.exponent())
        return base

    def exponent(self):
        sign = ''
        if self.peek() == '-':
            sign, self.at = '<mo form="prefix">−</mo>', self.at + 1
        if self.peek() in OPEN:
            return '<mrow>%s%s</mrow>' % (sign, self.group()[1])
        return '<mrow>%s%s</mrow>' % (sign, self.power())


def mathml(text, block=False):
    inside = Reader(text).row(())
    return '<math%s alttext="%s"><mrow>%s</mrow></math>' % (' display="block"' if block else '', html.escape(text), inside)


def lines(text):
    """A block of formulas; its columns stand below one another where there is no room beside."""
    rows = []
    for line in text.strip('\n').split('\n'):
        rows.append('<div>%s</div>' % '\n'.join(mathml(part, True) for part in re.split(r'\s{2,}', line.strip())))
    return '<div class="formula">%s</div>' % '\n'.join(rows)


def tokens(text):
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        token = found[0] if found else text[at]
        if token == '(' and re.search(r'\^-?$', text[:at]):
            token = group_at(text, at)  # an exponent in brackets, whatever is in it
        yield at, token
        at += len(token)


def group_at(text, at):
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == '(') - (text[end] == ')')
        if depth == 0:
            return text[at:end + 1]
    return text[at]


def belongs(token):
    return bool(re.match(r'\d|\s|[-+*/=<>^()|]|<=|>=|!=|\+-', token)) or token in NAMES or (len(token) == 1 and token.isalpha())


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == '(') - (c == ')')
        if depth < 0:
            return False
    return depth == 0 and text.count('|') % 2 == 0


def trimmed(run):
    """A run of (place, token) without what is left over at its ends: blanks, operators, articles, brackets of the prose."""
    run = list(run)
    words = {'a', 'A', 'I'}
    while run:
        text = ''.join(t for _, t in run)
        first, last = run[0][1], run[-1][1]
        if first.isspace() or re.fullmatch(r'[+*/=<>^)]|<=|>=|!=', first) or (first in words and len(run) > 1 and run[1][1].isspace()):
            run.pop(0)
        elif last.isspace() or re.fullmatch(r'[-+*/=<>^(]|<=|>=|!=|\+-', last) or (last in words and len(run) > 1 and run[-2][1].isspace()):
            run.pop()
        elif not balanced(text):
            if first in '(|' and text.count('(') >= text.count(')'):
                run.pop(0)
            elif last in ')|':
                run.pop()
            else:
                run.pop(0)
        else:
            break
    return run


def spans(text):
    """[(begin, end)] of the formulas in a line of prose."""
    out, run = [], []

    def close():
        good = trimmed(run)
        if good and any(t == '^' for _, t in good):
            out.append((good[0][0], good[-1][0] + len(good[-1][1])))
        run.clear()

    for at, token in tokens(text):
        after_power = run and run[-1][1] == '^' or (len(run) > 1 and run[-1][1] == '-' and run[-2][1] == '^')
        before = text[at + len(token):at + len(token) + 1] == '^'
        word = re.match(r'[^\W\d]|\(.', token)
        if belongs(token) or (word and (after_power or before)):
            run.append((at, token))
        else:
            close()
    close()
    return out


def typeset(text):
    """A text node of HTML with its formulas as MathML."""
    if '^' not in text:
        return text
    plain, out, at = html.unescape(text), [], 0
    for begin, end in spans(plain):
        out += [html.escape(plain[at:begin], False), mathml(re.sub(r'\s+', ' ', plain[begin:end]))]
        at = end
    return ''.join(out) + html.escape(plain[at:], False)
