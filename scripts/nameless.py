# SPDX-License-Identifier: MIT
"""A hash of sources that does not depend on names: for scripts/theorems.py and scripts/campaign.py.

Two sets of sources have one hash only if one becomes the other by renaming, each name to one other name, by moving files, and by changes
of comments, blanks and declarations of public functions. None of that changes what the code computes, so that what was proved for
the one set holds for the other. The argument, for C, C++ and CUDA:

- A file is a stream of tokens. Signs, numbers, strings, directives and keywords stand as they are.
- A *local* name is declared inside a function or among its parameters, and is replaced by the number of its first appearance in that
  function. It is taken for local only if it stands nowhere but behind a declaration of it and in the block of that, is not called, no
  file of the set declares such a name outside of functions, and no macro that the function names, itself or through others, has it
  in its text: so all that the function says with this name, except behind . and ->, means the declared thing. A function that
  declares records or uses offsetof or asm has none.
- A parameter of a macro is replaced by its position.
- An *own* name is declared outside of functions by a file of the set: a function with its body, a type, an object, a macro, a constant,
  a field. It is replaced by the number of its first appearance in the whole set; functions and fields of one spelling are one name,
  and a name that stands where its declarations do not explain it (a field's name without . in front, or the reverse) is not own.
- Every other name stands as it is: what is declared outside of the set (the languages' libraries, compilers, headers that are not
  hashed), words of attributes, names that begin with an underscore, and fields x, y, z, w, which CUDA's types have, too.
- Spelling matters to # and ##, to macros that put a parameter behind . or ->, and to offsetof. The operands of these, what is given to such
  macros, also through other macros, and every name that could be pasted together from these words, stand as they are.
- Python looks for names of C in what clang makes of it, which has no names of locals and fields. Other own names that are words of its
  strings or keyword arguments, or begin or end as a string does that becomes a part of a name, stand as they are; so do those that are
  whole strings of C. Python itself is hashed as text, without comments and strings that document it. Where Python reads C as
  text, no name is replaced (`literally`).

So equal hashes mean the same stream, in which each number stands for one name in one scope; renaming cannot make two things one, nor one two,
since a name that is not replaced is never that of a number in the same scope. Where the reading of C here is not sure it takes
a name for one that stands as it is, and a renaming changes the hash: that costs a proof, never a wrong one.

Files come in the order of their own hashes, each with its names numbered for itself, and an #include of a file of the set names its place in this
order: so paths do not count.
"""
import ast
import functools
import hashlib
import re
from collections import namedtuple

TOKEN = re.compile(r'''(?P<gap>[ \t\r\f\v]+|/\*.*?\*/|//[^\n]*)|(?P<line>\n)
    |(?P<text>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<number>\.?\d(?:[eEpP][-+]|'?[\w.])*)|(?P<word>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|::|\#\#|.)''', re.S | re.X)
TAGS = {'struct', 'union', 'enum', 'class'}
TYPES = set('void char short int long float double signed unsigned bool auto _Bool __int128'.split())
QUALIFIERS = set('const volatile static extern register inline restrict typedef constexpr mutable thread_local __restrict__ __restrict '
                 '__extension__ _Thread_local __shared__ __constant__ __device__ __host__ __forceinline__'.split())
KEYWORDS = TAGS | TYPES | QUALIFIERS | set(
    'alignas alignof and asm break case catch const_cast continue decltype default defined delete do dynamic_cast else explicit export false for '
    'friend goto if namespace new noexcept not nullptr operator or private protected public reinterpret_cast return sizeof static_assert '
    'static_cast switch template this throw true try typeid typename using virtual while xor std offsetof NULL main'.split())
NO_LOCALS = {'offsetof', '__builtin_offsetof', 'asm', '__asm__', '__asm'}
FOREIGN_FIELDS = {'x', 'y', 'z', 'w'}
AFTER_NAME = {'=', ';', ',', '[', ':'}
PAIRS = {'(': ')', '[': ']', '{': '}'}

Token = namedtuple('Token', 'kind text gap')  # gap: blanks stand before it; a directive's text is its tokens
# ended: it has no parameters and its text ends with a bracket, so that what stands behind it in brackets is not given to a macro by its name;
# inner: words given to a parameter that is called
Macro = namedtuple('Macro', 'name free pieces spells ended inner calls')
Function = namedtuple('Function', 'first last locals words')
# own: names declared outside of functions; fields; literal: words that stand as they are everywhere; strings: their texts; calls: {name: words given to it}
File = namedtuple('File', 'tokens words functions own fields field_places literal strings macros calls')


@functools.lru_cache(maxsize=None)
def tokens(text):
    out, line, gap, fresh = [], None, True, True
    text = text.replace('\\\n', '')
    for m in TOKEN.finditer(text):
        if m.lastgroup == 'line':
            if line is not None:
                out.append(Token('directive', tuple(line), False))
                line = None
            gap = fresh = True
            continue
        if m.lastgroup == 'gap':
            gap = True
            continue
        if m[0] == '#' and fresh:
            line = []
        else:
            (out if line is None else line).append(Token(m.lastgroup, m[0], gap))
        gap = fresh = False
    if line is not None:
        out.append(Token('directive', tuple(line), False))
    return out


def closing(list_of_tokens, at):
    """Where the bracket at `at` is closed, None if it is not."""
    depth, opens, closes = 0, list_of_tokens[at].text, PAIRS[list_of_tokens[at].text]
    for i in range(at, len(list_of_tokens)):
        if list_of_tokens[i].kind == 'sign':
            depth += (list_of_tokens[i].text == opens) - (list_of_tokens[i].text == closes)
            if depth == 0:
                return i
    return None


def is_name(token):
    return token.kind == 'word' and token.text not in KEYWORDS and token.text[0] != '_'


def declared(line):
    """Places of the names that a declaration declares; none where it is not surely one."""
    at, found, typed = 0, [], False
    while at < len(line):
        token = line[at]
        if token.text in ('__attribute__', 'alignas', '_Alignas') and at + 1 < len(line) and line[at + 1].text == '(':
            end = closing(line, at + 1)
            if end is None:
                return found
            at = end + 1
        elif token.text in QUALIFIERS or typed and token.text in ('*', '&'):
            at += 1
        elif token.text in TAGS and not typed:
            at += 1 + (at + 1 < len(line) and line[at + 1].kind == 'word')
            if at < len(line) and line[at].text == '{':
                end = closing(line, at)
                if end is None:
                    return found
                at = end + 1
            typed = True
        elif token.text in TYPES:
            typed, at = True, at + 1
        elif is_name(token) or token.kind == 'word' and token.text[0] == '_' and not typed:
            after = line[at + 1] if at + 1 < len(line) else Token('sign', ';', False)
            if not typed or after.kind == 'word' or after.text == '*':
                typed, at = True, at + 1
                continue
            if after.text not in AFTER_NAME:
                return found
            found.append(at)
            while at < len(line) and line[at].text not in (',', ';'):
                end = closing(line, at) if line[at].text in PAIRS else at
                if end is None:
                    return found
                at = end + 1
            if at >= len(line) or line[at].text == ';':
                return found
            at += 1
        elif typed and token.text == '(' and [t.text for t in line[at + 1:at + 2]] == ['*'] and len(line) > at + 4 and is_name(line[at + 2]) and \
                line[at + 3].text == ')' and line[at + 4].text == '(':
            return found + [at + 2]
        else:
            return found
    return found


def statements(line):
    """(start, end) of the parts of a body that ; ends, brackets and their insides being one thing."""
    start = at = 0
    while at < len(line):
        if line[at].text == ';':
            yield start, at + 1
            start = at + 1
        elif line[at].text in PAIRS:
            end = closing(line, at)
            if end is None:
                return
            at = end
        at += 1


def inside(line, offset, own, fields, places):
    """Names of records and constants that a declaration outside of functions, or a field's, defines in braces."""
    for at, token in enumerate(line):
        if token.text in TAGS and token.kind == 'word':
            body = at + 1
            if body < len(line) and is_name(line[body]):
                body += 1
            if body < len(line) and line[body].text in ('{', ';') and body > at + 1:
                own.add(line[body - 1].text)
            if body >= len(line) or line[body].text != '{':
                continue
            end = closing(line, body)
            if end is None:
                return
            part = line[body + 1:end]
            if token.text == 'enum':
                own |= {t.text for i, t in enumerate(part) if is_name(t) and (i == 0 or part[i - 1].text == ',')}
                continue
            for first, last in statements(part):
                for place in declared(part[first:last]):
                    fields.add(part[first + place].text)
                    places.add(offset[body + 1 + first + place])


def locals_of(line, head, body):
    """Names that a function declares before it says anything else with them. head: where its parameters are; body: its brace."""
    texts = [t.text for t in line]
    if NO_LOCALS & set(texts):
        return frozenset()
    for at in range(body, len(line)):
        if texts[at] in TAGS and '{' in texts[at + 1:at + 3]:
            if texts[at] != 'enum':
                return frozenset()
    places, start, block, ends = [], head + 1, [], {}  # ends: of the block of each declaration
    for at in range(head + 1, body):
        if texts[at] in (',', ')'):
            part, end = line[start:at], at
            while part and part[-1].text == ']':
                while part and part[-1].text != '[':
                    part = part[:-1]
                part = part[:-1]
            known = [t for t in part[:-1] if t.kind == 'word' and t.text not in QUALIFIERS]
            if known and is_name(part[-1]) and part[-2].text not in TAGS and all(t.kind == 'word' or t.text in '*&' for t in part):
                places.append(start + len(part) - 1)
                ends[places[-1]] = len(line)
            start = end + 1
    for at in range(body, len(line)):
        if texts[at] == '{':
            block.append(closing(line, at) or 0)
        elif texts[at] == '}':
            block.pop()
        begins = texts[at - 1] in ('{', '}', ';') or texts[at - 1] == '(' and texts[at - 2] == 'for'
        if begins and line[at].kind == 'word':
            end = next((i for i in range(at, len(line)) if texts[i] == ';'), len(line) - 1)
            for place in declared(line[at:end + 1]):
                places.append(at + place)
                ends[at + place] = block[-1]
    last, other = {}, {texts[at] for at in range(len(line) - 1) if texts[at + 1] == '('}
    for at, token in enumerate(line):
        if at in ends:
            last[token.text] = max(ends[at], last.get(token.text, 0))
        elif token.kind == 'word' and texts[at - 1] not in ('.', '->') and at > last.get(token.text, -1):
            other.add(token.text)
    return frozenset(texts[p] for p in places) - other


def given(line, without=()):
    """{name: words in the brackets behind it}"""
    out = {}
    for at in range(len(line) - 1):
        if line[at].kind == 'word' and line[at + 1].text == '(' and line[at].text not in ('if', 'for', 'while', 'switch', 'return', 'sizeof'):
            end = closing(line, at + 1)
            words = {t.text for t in line[at + 2:end] if t.kind == 'word'} - set(without)
            out.setdefault(line[at].text, set()).update(words)
    return out


def is_macro(token):
    """A #define that a compiler would take."""
    line = token.text if token.kind == 'directive' else ()
    return len(line) > 1 and line[0].text == 'define' and line[1].kind == 'word' and \
        not (len(line) > 2 and line[2].text == '(' and not line[2].gap and closing(line, 2) is None)


def macro_of(line):
    """(Macro, parameters, body) of the tokens behind #define."""
    name, at, parameters = line[0].text, 1, None
    if len(line) > 1 and line[1].text == '(' and not line[1].gap:
        at = closing(line, 1) + 1
        parameters = [t.text for t in line[2:at - 1] if t.text != ',']
        parameters = ['__VA_ARGS__' if p == '...' else p for p in parameters]
    body, known = line[at:], set(parameters or ())
    words = [t.text for t in body]
    spells = any(w in ('#', '##') for w in words) or any(
        w in known and i and words[i - 1] in ('.', '->', 'struct', 'union', 'enum', 'class', 'goto', '::') for i, w in enumerate(words))
    pieces = {w for i, w in enumerate(words) if body[i].kind == 'word' and w not in known and
              ('##' in words[i + 1:i + 2] or i and words[i - 1] == '##')}
    calls = given(body, known)
    inner = set().union(*[calls[p] for p in calls if p in known]) if known & set(calls) else None
    return Macro(name, frozenset(t.text for t in body if t.kind == 'word') - known, pieces, spells,
                 parameters is None and words[-1:] == [')'], inner, calls), parameters, body


@functools.lru_cache(maxsize=None)
def read(text):
    """A File."""
    every = tokens(text)
    places = [i for i, t in enumerate(every) if t.kind != 'directive']
    line = [every[i] for i in places]
    functions, own, fields, field_places, literal, macros, dropped = [], set(), set(), set(), set(), [], set()
    start = at = 0
    while at < len(line):
        what = line[at].text
        if what in '([' and closing(line, at) is not None:
            at = closing(line, at)
        elif what == '{':
            head, end = line[start:at], closing(line, at)
            texts = [t.text for t in head]
            if texts[:1] == ['namespace'] or texts == ['extern', '"C"'] or end is None:
                start = at + 1
            elif texts and texts[-1] == ')' and '=' not in texts:
                group = len(texts) - 1
                depth = 0
                while group >= 0:
                    depth += (texts[group] == ')') - (texts[group] == '(')
                    if depth == 0:
                        break
                    group -= 1
                if group > 1 and is_name(head[group - 1]):
                    own.add(texts[group - 1])
                part = line[start:end + 1]
                functions.append(Function(places[start], places[end], locals_of(part, group, at - start), frozenset(t.text for t in part if t.kind == 'word')))
                at, start = end, end + 1
            else:
                at = end
        elif what == '}':
            start = at + 1
        elif what == ';':
            part = line[start:at + 1]
            if part[0].text == 'HU_API' and not any(t.text in '{}' for t in part):
                dropped |= set(places[start:at + 1])
            else:
                own |= {part[p].text for p in declared(part)}
                inside(part, places[start:at + 1], own, fields, field_places)
            start = at + 1
        at += 1
    for i, token in enumerate(line):
        if token.text in ('__attribute__', '_Pragma', '__declspec', 'offsetof', '__builtin_offsetof') and line[i + 1:i + 2] and line[i + 1].text == '(' or \
                token.text == '[' and line[i + 1:i + 2] and line[i + 1].text == '[':
            literal |= {t.text for t in line[i:closing(line, i + 1)] if t.kind == 'word'}
    calls = given(line)
    for token in every:
        if is_macro(token):
            macro = macro_of(token.text[1:])[0]
            macros.append(macro)
            own.add(macro.name)
            for name, words in macro.calls.items():
                calls.setdefault(name, set()).update(words)
            literal |= macro.pieces | set().union(*[macro.calls.get(n, set()) for n in ('__attribute__', '_Pragma', 'offsetof', '__builtin_offsetof')])
    kept = [t if i not in dropped else None for i, t in enumerate(every)]
    strings = {t.text[1:-1] for t in line if t.kind == 'text'}
    words = {t.text for token in kept if token for t in (token.text if token.kind == 'directive' else [token])}
    return File(kept, words, functions, own, fields, field_places, literal, strings, macros, calls)


@functools.lru_cache(maxsize=None)
def encoded(text, excluded):
    """(digest of the stream, names in the order of their appearance, {name: the ways in which it stands}, included names). excluded: pairs
    (number of a function, name) that are not local."""
    file, out, names, ways, includes = read(text), [], {}, {}, []

    def name(word, way):
        ways.setdefault(word, set()).add(way)
        return '@%d' % names.setdefault(word, len(names))

    def outside(token, before, place=None):
        if token.kind != 'word' or token.text in KEYWORDS or token.text[0] == '_':
            return '=' + token.text
        return name(token.text, 'field' if before in ('.', '->') or place in file.field_places else 'other')

    scopes, before, numbers, last, current = iter(enumerate(file.functions)), '', {}, -1, None
    following = next(scopes, None)
    for place, token in enumerate(file.tokens):
        if token is None:
            continue
        if following and place == following[1].first:
            number, current = following
            last, numbers = current.last, {}
            known = {n for n in current.locals if (number, n) not in excluded}
            following = next(scopes, None)
        if token.kind == 'directive':
            line = token.text
            what = line[0].text if line else ''
            if what == 'include':
                included = ''.join(t.text for t in line[1:])
                includes.append(included)
                out.append('#include')
            elif is_macro(token):
                macro, parameters, body = macro_of(line[1:])
                out += ['#define', name(macro.name, 'other'), '-' if parameters is None else str(len(parameters))]
                previous = ''
                for t in body:
                    out.append('$%d' % parameters.index(t.text) if parameters and t.text in parameters else outside(t, previous))
                    previous = t.text
            elif what == 'pragma':
                out += ['#'] + ['=' + t.text for t in line]
            else:
                out += ['#' + what] + [outside(t, '') for t in line[1:]]
            out.append('#end')
            continue
        if place <= last and token.kind == 'word' and token.text in known and before not in ('.', '->'):
            out.append('%%%d' % numbers.setdefault(token.text, len(numbers)))
        else:
            out.append(outside(token, before, place))
        before = token.text
    return hashlib.sha256('\n'.join(out).encode()).hexdigest(), tuple(names), ways, tuple(includes)


def is_include(token):
    return token.text and token.text[0].text == 'include'


@functools.lru_cache(maxsize=None)
def plain(text):
    """The tokens of C as text, without names of included files and declarations of public functions."""
    return '\n'.join('#' + ' '.join(part.text for part in t.text[:1 if is_include(t) else None]) if t.kind == 'directive' else t.text
                     for t in read(text).tokens if t)


# ---- Python ----

@functools.lru_cache(maxsize=None)
def python_text(text):
    """Python without comments, blank lines and strings that are no part of a statement."""
    inert = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            inert |= set(range(node.lineno, node.end_lineno + 1))
    lines = [line.rstrip() for i, line in enumerate(text.split('\n'), 1) if i not in inert]
    return '\n'.join(line for line in lines if line.strip() and not line.lstrip().startswith('#'))


@functools.lru_cache(maxsize=None)
def python_names(text):
    """(words, beginnings, ends) of names that Python could look for."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.Expr, ast.Raise, ast.JoinedStr, ast.BinOp, ast.keyword, ast.Constant))]
    inert = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
    inert |= {id(part) for n in nodes if isinstance(n, ast.Raise) for part in ast.walk(n)}  # messages
    before, behind = set(), set()  # strings behind which something is put, and before which
    for n in nodes:
        if isinstance(n, ast.JoinedStr):
            before |= {id(p) for p in n.values[:-1]}
            behind |= {id(p) for p in n.values[1:]}
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add):
            before |= {id(n.left), id(n.right)}
            behind |= {id(n.left), id(n.right)}
    words, starts, ends = set(), set(), set()
    for n in nodes:
        if isinstance(n, ast.keyword) and n.arg:
            words.add(n.arg)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in inert:
            found = re.findall(r'[A-Za-z_]\w*', n.value)
            words |= set(found) | set(re.findall(r'-D([A-Za-z_]\w*)', n.value))
            starts |= {w for w in found if w[-1] == '_'} | set(re.findall(r'([A-Za-z_]\w*)(?=%|\{)', n.value))
            ends |= {w for w in found if w[0] == '_'}
            starts |= set(re.findall(r'[A-Za-z_]\w*$', n.value)) if id(n) in before else set()
            ends |= set(re.findall(r'^\w+', n.value)) if id(n) in behind else set()
    return words, starts - {'_'}, ends - {'_'}


# ---- the whole ----

def spelled(macros, calls):
    """Names of macros for which the spelling of what they are given matters."""
    out = {m.name for m in macros if m.spells}
    while True:
        more = {m.name for m in macros if m.name not in out and
                (m.free & out or m.inner is not None and calls.get(m.name, set()) & out)}
        if not more:
            return out
        out |= more


def makes(parts):
    """A function: could two or more of these words and numbers make this name?"""
    first = tuple(parts)  # a name does not begin with a number
    return lambda name: name.startswith(first) and pasted(name, parts)


def pasted(name, parts):
    ends, whole = {0}, len(name)
    for i in range(whole):
        if i in ends:
            ends |= {j for j in range(i + 1, whole + 1) if j - i < whole and (name[i:j] in parts or name[i:j].isdigit())}
    return whole in ends


def kept_words(files, every):
    """Words that stand as they are everywhere, since their spelling matters to a macro."""
    macros, calls = [m for f in files for m in f.macros], {}
    for f in files:
        for name, words in f.calls.items():
            calls.setdefault(name, set()).update(words)
    out, sensitive = set().union(*[f.literal for f in files]), spelled(macros, calls)
    for all_of_them in (False, True):
        parts = set().union(*[m.pieces for m in macros])
        for m in macros:
            if m.name in sensitive:
                parts |= calls.get(m.name, set()) if all_of_them or not m.ended else set()
                parts |= m.inner if m.inner and (all_of_them or calls.get(m.name, set()) & sensitive) else set()
        for words in (m.calls for m in macros if m.name in sensitive):
            parts |= set().union(*[words[name] for name in words if name in sensitive])
        more = parts
        while more:  # what is given may itself be a macro, whose text is pasted then
            more = set().union(*[m.free for m in macros if m.name in more]) - parts
            parts |= more
        made = makes(parts)
        if not any(made(name) for name in sensitive):
            break
    return out | parts | {name for name in every if made(name)}


def texts_of_macros(files):
    """{macro: words of its text and of the macros' that it names}"""
    direct = {}
    for f in files:
        for m in f.macros:
            direct.setdefault(m.name, set()).update(m.free)
    while True:
        grown = False
        for name, words in direct.items():
            more = set().union(*[direct[w] for w in words if w in direct]) - words if words else set()
            if more:
                words |= more
                grown = True
        if not grown:
            return direct


def sources_hash(texts, included, python, titles=None, stand_ins=(), literally=False):
    """16 hexadecimal digits. texts: {path: C}; included(path, name as written, with its brackets or quotes): the path, None where it
    is none of the set's; python: {module: text}; titles: {path: a name that stands in the hash}; stand_ins: paths of files that stand
    in for headers from elsewhere, so that their names are not own; literally: no name is replaced."""
    whole, modules = hashlib.sha256(), [(name, python_text(text)) for name, text in sorted(python.items())]
    if literally:
        order = sorted(texts, key=lambda path: (plain(texts[path]), str(path)))
        for path in order:
            to = [included(path, name) for name in encoded(texts[path], frozenset())[3]]
            whole.update((plain(texts[path]) + repr([order.index(one) if one in texts else None for one in to])).encode() + b'\0')
        whole.update(repr(modules).encode())
        return whole.hexdigest()[:16]
    files = {path: read(text) for path, text in texts.items()}
    every = set().union(*[f.words for f in files.values()])
    foreign = set().union(*[files[path].own | files[path].fields for path in stand_ins])
    own = set().union(*[f.own for f in files.values()])
    fields = set().union(*[f.fields for f in files.values()]) - FOREIGN_FIELDS - foreign
    kept, inner = kept_words(files.values(), every | own), texts_of_macros(files.values())
    coded, not_local = {}, own | kept
    for path, f in files.items():
        excluded = set()
        for number, function in enumerate(f.functions):
            said = function.locals & not_local
            for word in function.words & inner.keys():
                said = said | function.locals & inner[word]
            excluded |= {(number, name) for name in said}
        coded[path] = encoded(texts[path], frozenset(excluded))
    ways = {}
    for digest, names, how, includes in coded.values():
        for name, ways_of_file in how.items():
            ways.setdefault(name, set()).update(ways_of_file)
    words, starts, ends = (set().union(*[python_names(p)[i] for p in python.values()]) for i in range(3))
    letters = {w for w in starts | ends if len(w) == 1}  # before or behind one of the words or a number
    starts, ends = tuple(starts - letters), tuple(ends - letters)
    words |= set().union(*[f.strings for f in files.values()])
    own -= foreign

    def made(name):
        return name in words or name.startswith(starts) or name.endswith(ends) or \
            name[0] in letters and (name[1:] in words or name[1:].isdigit()) or name[-1] in letters and name[:-1] in words

    def stands(name):
        explained = ('field' not in ways[name] or name in fields) and ('other' not in ways[name] or name in own)
        return name in kept or not explained or name in own and made(name)

    as_it_is = {name for name in ways if stands(name)}
    order = sorted(coded, key=lambda path: (coded[path][0], str(path)))
    place, numbers = {path: i for i, path in enumerate(order)}, {}
    for path in order:
        digest, names, _, includes = coded[path]
        lines = [digest, (titles or {}).get(path, '-')]
        lines += ['=' + name if name in as_it_is else '@%d' % numbers.setdefault(name, len(numbers)) for name in names]
        lines += ['#%s' % place.get(included(path, name), name) for name in includes]
        whole.update('\n'.join(lines).encode() + b'\0')
    whole.update(repr(modules).encode())
    return whole.hexdigest()[:16]
