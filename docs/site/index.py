# SPDX-License-Identifier: MIT
"""What search.js looks through: [kind, title, address, text, page, code, words] of the sections of the pages, the headers and their
names, the commands with their options, the Python names and the man pages."""
import re

import headers
import pages

ROOT = pages.ROOT


def excerpt(body):
    """The words of a section, as a reader sees them: without marks of Markdown; blocks of code are left out of it."""
    out, closing = [], None
    for line in body.split('\n'):
        fence = pages.FENCE.match(line)
        if closing is None and fence:
            closing = fence.group(2)
        elif closing is not None:
            closing = None if line.strip() == closing else closing
        elif not re.match(r'\s*<!--.*-->\s*$|\|[-| :]+$', line):
            prose = pages.LINK.sub(lambda m: '' if m[1] else m[2], line)
            if prose.startswith('|'):
                cells = re.split(r'(?<!\\)\|', prose)[1:-1]
                prose = ' · '.join(c.strip() for c in cells if c.strip()).replace('\\|', '|') + '.'
            prose = re.sub(r'^\s*(?:[-*]|\d+\.) ', '', re.sub(r'^#+ ', '', prose))
            out.append(re.sub(r'<[^>]+>', '', unmarked(prose)))
    return re.sub(r'\s+', ' ', ' '.join(out)).strip()


def code(body):
    """The words of a section's blocks: found, not shown."""
    return re.sub(r'\s+', ' ', ' '.join(b.text for b in pages.blocks(body))).strip()


def unmarked(text):
    """Without the marks of code and emphasis; a star in code stays."""
    return ''.join(part if i % 2 else part.replace('*', '') for i, part in enumerate(text.split('`')))


def plain(title):
    return unmarked(pages.LINK.sub(lambda m: m[2], title))


def words():
    """{(page, anchor): [word]} of words.txt."""
    out = {}
    for line in (ROOT / 'docs' / 'site' / 'words.txt').read_text(encoding='utf-8').split('\n'):
        if line.strip() and not line.startswith('#'):
            place, said = line.split(None, 1)
            path, _, anchor = place.partition('#')
            out[path, anchor] = [w.strip().lower() for w in said.split(',')]
    return out


def of_pages():
    found, more = [], words()
    short = {path: title for _, lines in pages.navigation() for path, title in lines}
    for path in pages.on_site():
        text = pages.text_of(path)
        lines, heads = text.split('\n'), pages.headings(text)
        for h, after in zip(heads, heads[1:] + [None]):
            body = '\n'.join(lines[h.line:after.line - 1 if after else len(lines)])
            first = h is heads[0]
            anchor = '' if first else '#%s__%s' % (pages.label(path), re.sub(r'\W', '_', h.anchor))
            found.append(['page' if first else 'section', plain(h.title), pages.label(path) + '.html' + anchor, excerpt(body),
                          short[path] if not first or short[path] != plain(h.title) else '', code(body),
                          '|'.join(more.get((path, '' if first else h.anchor), []))])
    return found


def of_headers(html):
    found = []
    tags = (html.parent / 'halfulp.tag').read_text(encoding='utf-8')
    places = {m[1]: (m[2], m[3]) for m in re.finditer(
        r'<name>(\w+)</name>\s*<anchorfile>([^<]+)</anchorfile>\s*<anchor>([^<]*)</anchor>', tags)}
    places.update({m[1]: (m[2], '') for m in re.finditer(r'<compound kind="struct">\s*<name>(\w+)</name>\s*<filename>([^<]+)</filename>', tags)})
    for path in headers.public_headers(ROOT) + headers.wrappers(ROOT):
        name = str(path.relative_to(ROOT / 'include'))
        found.append(['header', name, headers.html_of(name, ROOT), headers.sentence(headers.about(path)).replace('`', ''), ''])
        for item in headers.declared(headers.parse(path)[1]) if path.suffix == '.h' else []:
            names = [(item.name(), item)]
            if item.kind == 'enum':
                names += [(re.match(r'\w+', m.text).group(), m) for m in headers.declared(item.members)]
            for word, what in names:
                if word in places:
                    file, anchor = places[word]
                    said = re.sub(r'\s+', ' ', ' '.join(p for p in (what.behind, what.before) if p)).replace('`', '')
                    found.append(['C', word, file + ('#' + anchor if anchor else ''), said[:300], name])
    return found
