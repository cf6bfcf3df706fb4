# SPDX-License-Identifier: MIT
"""Docstrings in NumPy's form as HTML: paragraphs, sections of names, indented programs and >>> lines."""
import html
import re

import highlight


def inline(text):
    text = html.escape(re.sub(r'\s+', ' ', text).strip(), False)
    return re.sub(r'``?([^`]+)``?', r'<code>\1</code>', text)


def dedented(lines):
    room = min((len(x) - len(x.lstrip()) for x in lines if x.strip()), default=0)
    return [x[room:] for x in lines]


def columns(lines):
    """Lines of two columns as a table; else as they stand."""
    rows = [re.split(r' {3,}|  +', line, maxsplit=1) for line in lines]
    if any(len(row) != 2 or not row[0] for row in rows):
        return highlight.block('\n'.join(lines), 'text', True)
    return '<div class="table facts"><table>%s</table></div>' % ''.join(
        '<tr><td>%s</td><td>%s</td></tr>' % (inline(a), inline(b)) for a, b in rows)


def paragraphs(lines):
    """Prose; what is indented, or begins with >>>, is a block."""
    out, group = [], []

    def close():
        while group and not group[-1].strip():
            group.pop()
        if group and group[0].startswith(('    ', '>>>')):
            shell = bool(re.match(r'\s*(\$|pip|halfulp )', group[0]))
            code = bool(re.search(r'[=(]|>>>|import ', '\n'.join(group)))
            out.append(highlight.block('\n'.join(dedented(group)), 'sh' if shell else 'python' if code else 'text', not code))
        elif group and any(re.search(r'\S {3,}\S', x) for x in group):  # columns
            out.append(columns(dedented(group)))
        elif group and group[0].lstrip().startswith('- '):
            items = re.split(r'(?m)^\s*- ', '\n'.join(group))[1:]
            out.append('<ul>%s</ul>' % ''.join('<li>%s</li>' % inline(i) for i in items))
        elif group:
            out.append('<p>%s</p>' % inline(' '.join(group)))
        group.clear()

    for line in lines:
        is_code = bool(group) and group[0].startswith(('    ', '>>>'))
        if not line.strip():
            if is_code:
                group.append(line)
            else:
                close()
        elif is_code and not (line.startswith('    ') or (group[0].startswith('>>>') and group[-1].strip())):
            close()
            group.append(line)
        elif not is_code and group and line.startswith(('    ', '>>>')) and not group[0].startswith('- '):
            close()
            group.append(line)
        else:
            group.append(line)
    close()
    return out


def named(lines):
    """A section of names: `name : type`, below it what it is."""
    out = []
    for line in lines:
        if not line.strip():
            continue
        if not line.startswith(' '):
            name, _, kind = line.partition(' : ')
            shown = '<b>%s</b>' % html.escape(name) if kind else '<span class="value">%s</span>' % inline(name)
            out.append(['%s%s' % (shown, ' <span class="value">%s</span>' % inline(kind) if kind else ''), []])
        elif out:
            out[-1][1].append(line)
    return '<dl class="names">%s</dl>' % ''.join(
        '<dt>%s</dt>' % n + ('<dd>%s</dd>' % '\n'.join(paragraphs(dedented(t))) if t else '') for n, t in out)


def as_html(text):
    """A cleaned docstring."""
    lines, out, at = text.split('\n'), [], 0
    marks = [i for i in range(1, len(lines)) if re.fullmatch(r'-{3,}', lines[i]) and re.fullmatch(r'[A-Z][\w ]*', lines[i - 1])]
    out += paragraphs(lines[:marks[0] - 1] if marks else lines)
    for at, mark in enumerate(marks):
        rest = lines[mark + 1:marks[at + 1] - 1 if at + 1 < len(marks) else len(lines)]
        title = lines[mark - 1]
        out.append('<h5>%s</h5>' % title)
        if title in ('Parameters', 'Attributes', 'Returns', 'Raises', 'Options', 'Yields'):
            # a section ends where prose follows a blank line without a name
            end = next((i for i, x in enumerate(rest) if x.startswith('>>>')), len(rest))
            out += [named(rest[:end])] + paragraphs(rest[end:])
        else:
            out += paragraphs(rest)
    return '\n'.join(out)


def first(text):
    """The first paragraph, for the search."""
    return re.sub(r'\s+', ' ', re.split(r'\n\s*\n', text)[0]).replace('`', '').strip()
