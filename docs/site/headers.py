# SPDX-License-Identifier: MIT
"""The public headers as lists of declarations with their comments, for the reference (header_filter.py) and halfulp(3).

The headers' own style: a comment stands before what it describes and holds for every declaration down to the next blank
line or comment; a comment behind a declaration, a field or an enumerator on its line belongs to that one alone, besides;
`---- title ----` begins a section."""
import dataclasses
import functools
import pathlib
import re

SECTION = re.compile(r'----\s*(.*?)\s*----\s*$', re.S)


@dataclasses.dataclass
class Item:
    """One piece of a header. kind: comment, blank, directive, macro, plain (extern "C", its brace), record, enum, other."""
    kind: str
    text: str                  # source text without the comments around it
    before: str = ''           # text of the comment that holds for it, marks taken away
    behind: str = ''           # of the comment behind it
    members: list = dataclasses.field(default_factory=list)  # fields, enumerators
    head: str = ''             # record, enum: what stands before and behind the braces
    tail: str = ''

    def name(self):
        """Of what is declared; '' of an enum without one."""
        if self.kind == 'macro':
            return re.match(r'#\s*define\s+(\w+)', self.text).group(1)
        if self.kind in ('record', 'enum'):
            found = re.match(r'\s*(\w+)', self.tail) or re.search(r'(?:struct|enum)\s+(\w+)\s*$', self.head)
            return found.group(1) if found else ''
        function = re.search(r'(\w+)\s*\(', re.sub(r'__attribute__\s*\(\(.*?\)\)', '', self.text))
        return function.group(1) if function else re.findall(r'\w+', self.text)[-1]


def strip_marks(comment):
    """The text of a comment: without its ends and the stars that begin its lines; what is indented stays so."""
    lines = comment[2:-2].split('\n')
    out = [lines[0].strip()]
    for line in lines[1:]:
        line = line.strip() if not re.match(r'\s*\*', line) else re.sub(r'^\s*\* ?', '', line)
        out.append(line.rstrip())
    return '\n'.join(out).strip('\n')


def skip_quoted(text, at):
    """Behind a string, a character or a comment that begins at `at`; else at itself."""
    if text.startswith('/*', at):
        return text.index('*/', at) + 2
    if text.startswith('//', at):
        return (text + '\n').index('\n', at)
    if text[at] in '"\'':
        end = at + 1
        while text[end] != text[at]:
            end += 2 if text[end] == '\\' else 1
        return end + 1
    return at


def end_of(text, at, marks):
    """Where, outside of brackets, one of the marks stands."""
    depth = 0
    while at < len(text):
        next_one = skip_quoted(text, at)
        if next_one > at:
            at = next_one
            continue
        if depth == 0 and text[at] in marks:
            return at
        if text[at] in '([{':
            depth += 1
        elif text[at] in ')]}':
            depth -= 1
            if depth == 0 and text[at] == '}' and '}' in marks:
                return at
        at += 1
    return at


def pieces(text, marks, top):
    """The items of a text: of a file (top) or between the braces of a record or enum."""
    at, same_line = 0, False
    items = []
    while True:
        space = re.compile(r'\s*').match(text, at)
        if space.group().count('\n') > 1:
            items.append(Item('blank', ''))
        same_line = same_line and '\n' not in space.group()
        at = space.end()
        if at >= len(text):
            return items
        if text.startswith('/*', at):
            end = text.index('*/', at) + 2
            said = strip_marks(text[at:end])
            if same_line and items and items[-1].kind not in ('blank', 'comment', 'directive', 'plain'):
                items[-1].behind = re.sub(r'\s+', ' ', said)
            else:
                items.append(Item('comment', said))
                same_line = False
        elif text[at] == '#':
            end = re.compile(r'(?:\\\n|[^\n])*').match(text, at).end()
            line = text[at:end]
            items.append(Item('macro' if re.match(r'#\s*define\s+(?:HU|hu)_', line) else 'directive', line))
            same_line = False
        elif top and re.compile(r'extern "C" \{|\}').match(text, at):
            end = re.compile(r'extern "C" \{|\}').match(text, at).end()
            items.append(Item('plain', text[at:end]))
        else:
            function = text.startswith(('static inline', 'HU_FN'), at)
            end = end_of(text, at, '}' if function else marks)  # a function with its body, or what ends with a mark
            comment = text.find('/*', at)
            if end >= len(text) and comment > at:
                end = comment - 1  # the last enumerator has no comma behind it
            items.append(declaration(text[at:min(end + 1, len(text))].rstrip()))
            same_line = True
        at = max(end, at + 1) if text[at] in '/#' else (end + 1 if items[-1].kind != 'plain' else end)


def declaration(text):
    found = re.match(r'((?:typedef\s+)?(struct|enum|union)\b[^{;]*)\{', text)
    if not found:
        return Item('other', text)
    close = text.rindex('}')
    body = text[found.end():close]
    kind = 'enum' if found.group(2) == 'enum' else 'record'
    members = pieces(body, ',' if kind == 'enum' else ';', False)
    return Item(kind, text, members=members, head=found.group(1).strip(), tail=text[close + 1:].strip())


def share(items):
    """Gives each declaration the comment that holds for it; under a section without one, the section's sentence."""
    said = section = ''
    for item in items:
        if item.kind == 'blank':
            said = ''
        elif item.kind == 'comment':
            found = SECTION.search(item.text)
            if found:
                section, said = found.group(1), ''
            else:
                said = item.text
        elif item.kind not in ('directive', 'plain'):
            item.before = said or (section.partition(': ')[2] if not item.behind else '')
            share(item.members)
    return items


def about(path):
    """The text of a header's own comment, the second in it."""
    return strip_marks(re.findall(r'/\*.*?\*/', pathlib.Path(path).read_text(encoding='utf-8'), re.S)[1])


@functools.lru_cache(maxsize=None)
def parse(path):
    """(the comment of the file, its items)."""
    items = pieces(pathlib.Path(path).read_text(encoding='utf-8'), ';', True)
    own = about(path)
    return own, share([i for i in items if not (i.kind == 'comment' and (i.text == own or 'SPDX' in i.text))])


def sentence(about):
    """The first sentence of a header's own comment, as one that stands alone."""
    text = re.sub(r'\s+', ' ', re.sub(r'^[\w/]+\.hp* - ', '', about).split('\n\n')[0])
    first = re.split(r'(?<=\.)\s', text)[0]
    return first if re.match(r'\w+\.h\b', first) else first[:1].upper() + first[1:]


def public_headers(root):
    # formats/ is a link, which rglob would not follow
    return [p for pattern in ('*.h', 'formats/*.h', 'train/*.h') for p in sorted(pathlib.Path(root, 'include/halfulp').glob(pattern))]


def wrappers(root):
    """Headers of C++ alone, which are shown too; their comments are read one by one."""
    return sorted(pathlib.Path(root, 'include/halfulp').glob('*.hpp'))


def html_of(name, root):
    """Doxygen's name for a header's page: the file's own name, with its folder where another one has it, too."""
    path = pathlib.PurePath(name)
    same = [p for p in public_headers(root) + wrappers(root) if p.name == path.name]
    shown = path.name if len(same) == 1 or path.parent.name == 'halfulp' else path.parent.name + '/' + path.name
    return ''.join({'_': '__', '/': '_2', '.': '_8'}.get(c, c) for c in shown) + '.html'


def declared(items):
    return [i for i in items if i.kind in ('macro', 'record', 'enum', 'other')]


@functools.lru_cache(maxsize=None)
def names(root):
    """All names that the headers declare: functions, types, macros, enumerators."""
    found = set()
    for path in public_headers(root):
        for item in declared(parse(path)[1]):
            if item.name():
                found.add(item.name())
            if item.kind == 'enum':
                found.update(re.match(r'\w+', m.text).group() for m in declared(item.members))
    return found
