# SPDX-License-Identifier: MIT
"""Where a line of C, C++ or CUDA can be made wrong.

Tokens are read as a compiler reads them: comments, strings and preprocessor lines are no code, but the bodies of macros
are. Left alone are declarations without a value, the heads of functions, static assertions, attributes and assembly.
"""
import collections
import re

from operators import EXCHANGED, OPERATOR_OF, Site, next_number, other_extreme

Token = collections.namedtuple('Token', 'kind text line start')

_TOKEN = re.compile(r'''
    (?P<comment> /\*.*?\*/ | //[^\n]* )
  | (?P<string> (?:u8|[uUL])?" (?:\\.|[^"\\\n])* " )
  | (?P<char> [uUL]?' (?:\\.|[^'\\\n])* ' )
  | (?P<number> \.?[0-9] (?:[eEpP][+-]|[0-9a-zA-Z_.])* )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<splice> \\\n )
  | (?P<newline> \n )
  | (?P<blank> [^\S\n]+ )
  | (?P<mark> <<<|>>>|<<=|>>=|\.\.\.|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|. )
''', re.S | re.X)

_ASSIGNS = ('=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=')
_CONTROL = {'if', 'else', 'for', 'while', 'do', 'switch', 'case', 'default', 'return', 'goto', 'break', 'continue', 'sizeof'}
_DECLARES = {'const', 'static', 'extern', 'inline', 'typedef', 'struct', 'union', 'unsigned', 'signed', 'int', 'char',
             'short', 'long', 'float', 'double', 'void', 'register', 'auto', 'volatile', 'template', 'class', 'typename',
             'using', 'friend', 'namespace', 'constexpr', 'bool'}
_BARRED_CALLS = {'_Static_assert', 'static_assert', '__attribute__', '__asm__', 'asm', '_Alignas', 'alignas',
                 '__align__', '__launch_bounds__', '_Pragma', 'defined'}
_OPEN, _CLOSE = {'(', '[', '{'}, {')', ']', '}'}


def units(text):
    """Lists of tokens: first the code of the file, then the body of each macro."""
    code, macros, line, at = [], [], 1, 0
    first, directive, body = True, None, None  # directive: words seen of the preprocessor line that is being read
    for match in _TOKEN.finditer(text):
        kind, word = match.lastgroup, match[0]
        if kind == 'newline':
            first, directive = True, None
        elif kind in ('word', 'number', 'string', 'char', 'mark'):
            token = Token(kind, word, line, match.start() - at)
            if directive is not None:
                directive.append((token, match.start(), match.end()))
                _read_directive(directive, macros)
            elif first and word == '#':
                directive = []
            else:
                code.append(token)
            first = False
        line += word.count('\n')
        if '\n' in word:
            at = match.start() + word.rindex('\n') + 1
    return [code] + [[token for token in macro if token] for macro in macros]


def _read_directive(seen, macros):
    """#define NAME(PARAMETERS) BODY: the body's tokens go into a list of their own."""
    if seen[0][0].text != 'define' or len(seen) < 2:
        return
    if len(seen) == 2:
        macros.append([])
    elif len(seen) == 3 and seen[2][0].text == '(' and seen[2][1] == seen[1][2]:
        macros[-1].append(None)  # parameters, up to the bracket that closes
    elif macros[-1] == [None]:
        if seen[-1][0].text == ')':
            macros[-1].clear()
            macros[-1].append(0)
    else:
        macros[-1].append(seen[-1][0])


def _level(token):
    """1 for a bracket that opens, -1 for one that closes."""
    return (token.text in _OPEN) - (token.text in _CLOSE) if token.kind == 'mark' else 0


def _closing(tokens, i):
    """The index of the bracket that closes the one at i; the last token where none does."""
    depth = 0
    for j in range(i, len(tokens)):
        depth += _level(tokens[j])
        if depth == 0:
            return j
    return len(tokens) - 1


def _is_declaration(tokens):
    first, words = tokens[0], [token.text for token in tokens]
    if first.kind != 'word' or words[0] in _CONTROL:
        return False
    if words[0] in _DECLARES or (len(tokens) > 1 and tokens[1].kind == 'word'):
        return True
    if words[1:2] == ['*'] and len(tokens) > 2 and (tokens[2].kind == 'word' or words[2] == '*'):
        return True
    # A template's name has no blank before its bracket.
    return words[1:2] == ['<'] and (tokens[1].line, tokens[1].start) == (first.line, first.start + len(words[0])) and \
        not any(word in _ASSIGNS for word in words)


def _barred(tokens):
    """Indices of tokens that no operator may touch."""
    bad, depth, start = set(), 0, 0
    for i, token in enumerate(tokens):
        if token.text in _BARRED_CALLS and i + 1 < len(tokens) and tokens[i + 1].text == '(':
            bad.update(range(i, _closing(tokens, i + 1) + 1))
        elif token.kind == 'mark' and token.text in ('(', '[', ')', ']'):
            depth += _level(token)
        elif token.kind == 'mark' and token.text in (';', '{', '}') and depth == 0:
            if i > start and _is_declaration(tokens[start:i]):
                bad.update(range(start, next((j for j in range(start, i) if tokens[j].text == '='), i)))
            start = i + 1
    return bad


def _spaced(tokens, i, lines):
    """Whether a mark has a blank or a line's end on both sides: < of a relation, not of a template."""
    token = tokens[i]
    line, end = lines[token.line - 1], token.start + len(token.text)
    return (token.start == 0 or line[token.start - 1] == ' ') and (end >= len(line) or line[end] == ' ')


def _ends_value(token):
    return token.kind in ('number', 'char') or token.text in (')', ']') or (token.kind == 'word' and token.text not in _CONTROL)


def _starts(tokens):
    """Indices behind which a statement may begin, within braces and outside of other brackets."""
    braces, opened = 0, []  # words before the brackets that are open
    for i, token in enumerate(tokens):
        text, begins = token.text, False
        if token.kind != 'mark':
            begins = text in ('else', 'do')
        elif text in ('(', '['):
            opened.append(tokens[i - 1].text if i else '')
        elif text in (')', ']') and opened:
            begins = opened.pop() in ('if', 'for', 'while', 'constexpr') and text == ')'
        elif text in ('{', '}'):
            braces += 1 if text == '{' else -1
            begins = True
        else:
            begins = text == ';' or (text == ':' and _is_label(tokens, i))
        if begins and not opened and braces > 0:
            yield i + 1


def _statements(tokens):
    """(start, end) of the simple statements of one line: end is the index of their semicolon."""
    for start in _starts(tokens):
        end, level = start, 0
        while end < len(tokens) and (level > 0 or tokens[end].text not in (';', '{', '}')):
            level += _level(tokens[end])
            end += 1
        if start < end < len(tokens) and tokens[end].text == ';' and tokens[start].line == tokens[end].line:
            yield start, end


def _is_label(tokens, i):
    """case N: and default: , not the : of a conditional."""
    j = i - 1
    while j >= 0 and tokens[j].text not in (';', '{', '}', '?', ':'):
        if tokens[j].text in ('case', 'default'):
            return True
        j -= 1
    return False


def _is_deletable(statement):
    """A call, or an assignment to what was declared before."""
    first = statement[0]
    if first.kind == 'mark' and first.text not in ('*', '++', '--'):
        return False
    if first.text in _CONTROL or first.text in _BARRED_CALLS or _is_declaration(statement):
        return False
    words, level = [token.text for token in statement], 0
    for token in statement:
        level += _level(token)
        if level == 0 and token.text in _ASSIGNS:
            return True
    return words[-1] == ')' or '++' in (words[0], words[-1]) or '--' in (words[0], words[-1])


def _is_truth(tokens, i):
    """The number of return 0; and return 1; , which 'return' exchanges: 2 is as true as 1."""
    return tokens[i].text in ('0', '1') and tokens[i - 1].text == 'return' and tokens[i + 1].text == ';'


def _is_zero(value):
    return len(value) == 1 and (value[0].text in ('0', 'NULL', 'nullptr', 'false') or value[0].text.endswith('_OK'))


def sites(file, text):
    """The sites of a file, in the order of its lines."""
    lines, found = text.split('\n'), []
    parts = units(text)
    for n, tokens in enumerate(parts):
        found += _of_unit(file, tokens, lines, in_macro=n > 0)
    return sorted(set(found), key=lambda site: (site.line, site.start, site.end, site.operator))


def _of_unit(file, tokens, lines, in_macro):
    if in_macro:  # as if in a function
        tokens = [Token('mark', '{', 0, 0)] + tokens + [Token('mark', ';', tokens[-1].line if tokens else 0, 0)]
    bad = _barred(tokens)
    for i, token in enumerate(tokens):
        if i in bad or token.line == 0:
            continue
        end = token.start + len(token.text)
        text = token.text
        if token.kind == 'mark' and text in OPERATOR_OF and i > 0:
            operator = OPERATOR_OF[text]
            if operator == 'add-sub' and not _ends_value(tokens[i - 1]):
                continue
            if _spaced(tokens, i, lines):
                yield Site(file, token.line, operator, token.start, end, EXCHANGED[text])
        elif token.kind == 'number' and next_number(text) and not _is_truth(tokens, i):
            yield Site(file, token.line, 'constant', token.start, end, next_number(text))
        elif token.kind == 'word' and i + 1 < len(tokens) and tokens[i + 1].text == '(':
            if text in ('if', 'while'):
                close = _closing(tokens, i + 1)
                if tokens[close].line == token.line and close > i + 2:
                    a, b = tokens[i + 1].start, tokens[close].start
                    yield Site(file, token.line, 'negate', a, b + 1, '(!' + lines[token.line - 1][a:b + 1] + ')')
            elif other_extreme(text):
                yield Site(file, token.line, 'min-max', token.start, end, other_extreme(text))
    for start, end in _statements(tokens):
        statement = tokens[start:end]
        if any(i in bad for i in range(start, end + 1)):
            continue
        a, b = tokens[start].start, tokens[end].start
        if statement[0].text == 'return' and len(statement) > 1:
            if not (len(statement) == 2 and statement[1].kind == 'number' and statement[1].text not in ('0', '1')):
                yield Site(file, tokens[start].line, 'return', statement[1].start, b, '1' if _is_zero(statement[1:]) else '0')
        elif _is_deletable(statement):
            yield Site(file, tokens[start].line, 'delete', a, b, '')


def code_lines(text):
    """How many lines have code."""
    return len({token.line for part in units(text) for token in part})
