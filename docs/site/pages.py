# SPDX-License-Identifier: MIT
"""The pages of the documentation: which there are (pages.txt), their headings and anchors, their links, their blocks of
code. Read by the site (page_filter.py, build.py) and by the tests of the pages (tests/docs)."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r'^( *)(```+|~~~+)\s*([\w+-]*)\s*$')
# Folders of pages.
FOLDERS = ('docs', 'docs/proof', 'docs/torch', 'docs/training')
LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)')


# What the site shows of a page in place of its file, by path; build.py fills it.
MADE = {}


@dataclasses.dataclass
class Block:
    """A fenced block: its language, its line (of the fence, from 1), its text, the comment before its fence."""
    language: str
    line: int
    text: str
    comment: str


@dataclasses.dataclass
class Heading:
    level: int
    title: str
    anchor: str
    line: int


def table(root=ROOT):
    """[(section, [(path, title, may be absent)])] of pages.txt."""
    sections = []
    for line in (root / 'docs' / 'site' / 'pages.txt').read_text(encoding='utf-8').split('\n'):
        if line.startswith('  '):
            path, title = line.split(None, 1)
            sections[-1][1].append((path.rstrip('?'), title, path.endswith('?')))
        elif line and not line.startswith('#'):
            sections.append((line, []))
    return sections


def own(root=ROOT):
    """The pages of docs/, and of its folders of pages."""
    return [str(p.relative_to(root)) for folder in FOLDERS for p in sorted((root / folder).glob('*.md'))]


def examples(root=ROOT):
    return [str(p.relative_to(root)) for p in sorted((root / 'examples').rglob('README.md'))]


def navigation(root=ROOT):
    """The table's sections with the pages that are there, the examples' own among them."""
    sections = [(name, [(p, t) for p, t, _ in lines if (root / p).is_file()]) for name, lines in table(root)]
    own = [(p, title(p, root)) for p in examples(root)]
    if own:
        sections.insert(2, ('Examples', own))
    return sections


def text_of(path, root=ROOT):
    return MADE.get(path) or (root / path).read_text(encoding='utf-8')


def title(path, root=ROOT):
    return headings(text_of(path, root))[0].title.replace('`', '')


def on_site(root=ROOT):
    return [path for _, lines in navigation(root) for path, _ in lines]


def label(path):
    """The name of a page on the site: its HTML file without the suffix."""
    name = str(path)[:-len('.md')].lower()
    if name == 'docs/index':
        return 'index'
    name = name.replace('docs/', '', 1).replace('/readme', '')
    return 'page_' + re.sub(r'\W', '_', name)


def slug(heading):
    """The anchor that a heading gets where Markdown is shown: lower case, blanks as hyphens, punctuation left out."""
    text = LINK.sub(lambda m: m[2], heading).replace('`', '').replace('*', '').strip().lower()
    return re.sub(r'[^\w\- ]', '', text).replace(' ', '-')


def lines_outside(text):
    """(number from 1, line) of the lines that are not inside a fence; fences themselves left out, too."""
    closing = None
    for number, line in enumerate(text.split('\n'), 1):
        found = FENCE.match(line)
        if closing is None and found:
            closing = found.group(2)
        elif closing is not None:
            if line.strip() == closing:
                closing = None
        else:
            yield number, line


def headings(text):
    seen, out = {}, []
    for number, line in lines_outside(text):
        found = re.match(r'(#{1,6})\s+(.*?)\s*#*$', line)
        if found:
            anchor = slug(found.group(2))
            count = seen.get(anchor, 0)
            seen[anchor] = count + 1
            out.append(Heading(len(found.group(1)), found.group(2), anchor + ('-%d' % count if count else ''), number))
    return out


def anchors(text):
    return {h.anchor for h in headings(text)} | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def links(text):
    """(line, target, is an image) of the links outside of code."""
    for number, line in lines_outside(text):
        for found in LINK.finditer(re.sub(r'`[^`]*`', lambda m: '`' + ' ' * (len(m[0]) - 2) + '`', line)):
            yield number, found.group(3), found.group(1) == '!'


def blocks(text):
    """The fenced blocks, in order."""
    out, start, comment, body = [], None, '', []
    for number, line in enumerate(text.split('\n'), 1):
        found = FENCE.match(line)
        if start is None and found:
            start, indent, closing, language, body = number, len(found.group(1)), found.group(2), found.group(3), []
        elif start is not None and line.strip() == closing:
            out.append(Block(language, start, '\n'.join(body) + '\n', comment))
            start, comment = None, ''
        elif start is not None:
            body.append(line[indent:] if not line[:indent].strip() else line)
        elif line.strip():
            found = re.match(r'\s*<!--\s*(.*?)\s*-->\s*$', line)
            comment = found.group(1) if found else ''
    if start is not None:
        out.append(Block('unclosed fence', start, '', ''))
    return out


def indented_blocks(text):
    """Lines with which a block of code by indentation begins: what the pages do not use."""
    before, in_list = '', False
    for number, line in lines_outside(text):
        if re.match(r'\s*([-*+]|\d+\.)\s', line):
            in_list = True
        elif line and not line.startswith(' '):
            in_list = False
        if line.startswith('    ') and not before.strip() and not in_list:
            yield number
        before = line if not (line.startswith('    ') and not before.strip()) else ''
