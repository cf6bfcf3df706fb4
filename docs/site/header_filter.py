#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a public header into what Doxygen reads: header_filter.py HEADER; build.py does all in one process.

Each declaration gets the comment that holds for it (headers.py) as a block before it; what is indented in a comment
becomes code or preformatted text; names of the library become links."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import pages    # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = headers.names(ROOT)
PAGES = set(pages.own(ROOT))
HEADERS = {str(p.relative_to(ROOT / 'include')) for p in headers.public_headers(ROOT) + headers.wrappers(ROOT)}


def words(text):
    """A line of prose: marks that Doxygen would take for its own are kept from it, names and files become links."""
    parts = re.split(r'(`[^`]+`)', text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = '<code>%s</code>' % escape(part[1:-1], part[1:-1])
        else:
            parts[i] = escape(part, '')
    return ''.join(parts)


def escape(text, code):
    text = text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replace('\\', '\\\\').replace('@', '\\@')
    text = re.sub(r'([#%*~])', r'\\\1', text).replace('"', '&quot;').replace('--', r'\--')
    text = text.replace('|', r'\|' if code else '|')
    text = re.sub(r'\bdocs/[\w/-]+\.md\b', lambda m: '@ref %s "%s"' % (pages.label(m[0]), m[0]) if m[0] in PAGES else m[0], text)
    return re.sub(r'\bhu_\w+\b|\bHU_\w*[A-Z0-9]\b', lambda m: '@ref %s "%s"' % (m[0], m[0]) if m[0] in NAMES else m[0], text)


def is_code(lines):
    return any(re.search(r';\s*(//.*)?$', line) for line in lines)


def body(text):
    """A comment's text, its lines: paragraphs, and blocks of lines that are indented."""
    out, block = [], []

    def close():
        while block and not block[-1]:
            block.pop()
        if block:
            indent = min(len(line) - len(line.lstrip()) for line in block if line)
            word = ('code{.c}', 'endcode') if is_code(block) else ('verbatim', 'endverbatim')
            out.extend(['', '@' + word[0], *(line[indent:].replace('/*', '/ *') for line in block), '@' + word[1], ''])
            block.clear()

    for line in text.split('\n'):
        if line.startswith('  ') or (block and not line):
            block.append(line)
        else:
            close()
            out.append(words(line))
    close()
    return out


def comment(item):
    """Of a call, what is said of it alone comes first: it is what lists and the search show."""
    parts = (item.behind, item.before) if item.kind == 'other' and '(' in item.text else (item.before, item.behind)
    parts = [p for p in parts if p]
    if not parts:
        return ''
    lines = [line for p in parts for line in [''] + body(p)]
    return '/**%s\n*/\n' % '\n'.join(lines)


def declaration(item):
    if item.kind in ('record', 'enum'):
        members = ''.join(comment(m) + m.text + '\n' for m in headers.declared(item.members))
        return '%s%s {\n%s} %s' % (comment(item), item.head, members, item.tail)
    return comment(item) + item.text


def sections(items):
    """The items as text, those of a section in a group of its title."""
    open_group = False
    for item in items:
        found = headers.SECTION.search(item.text) if item.kind == 'comment' else None
        if found:
            if open_group:
                yield '/** @} */'
            title, _, rest = found.group(1).partition(': ')
            yield '/** @name %s\n%s\n@{ */' % (title[:1].upper() + title[1:], words(rest[:1].upper() + rest[1:]))
            open_group = True
        elif item.kind in ('directive', 'plain'):
            if open_group and '__cplusplus' in item.text:  # around the brace of extern "C"; Doxygen leaves out what is within
                yield '/** @} */'
                open_group = False
            yield item.text
        elif item.kind not in ('blank', 'comment'):
            yield declaration(item)
    if open_group:
        yield '/** @} */'


def wrapper(text):
    """A header of C++: comments alone on their lines become blocks for what follows, the rest stays as it is."""
    def one(found):
        said = headers.strip_marks(found[2])
        return '' if headers.SECTION.search(said) or 'SPDX' in said else '%s/** %s\n*/\n' % (found[1], '\n'.join(body(said)).strip())

    return re.sub(r'(?ms)^([ ]*)(/\*.*?\*/)\n', one, text)


def filtered(path):
    """What Doxygen reads in place of a header."""
    name = next((h for h in HEADERS if str(path).endswith('include/' + h)), '')
    said = re.sub(r'^[\w/]+\.hp* - ', '', headers.about(path))
    text = '\n'.join(body(headers.sentence(headers.about(path))[:1] + said[1:]))
    about = '/** @file %s\n%s\n*/\n' % (name, text)
    if str(path).endswith('.hpp'):
        source = pathlib.Path(path).read_text(encoding='utf-8')
        return about + wrapper(source.split('*/', 2)[2])
    return about + '\n'.join(sections(headers.parse(path)[1]))


if __name__ == '__main__':
    print(filtered(sys.argv[1]))
