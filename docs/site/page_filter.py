# SPDX-License-Identifier: MIT
"""Turns a page into Doxygen's Markdown: build.py leaves the result where Doxygen's filter finds it.

Headings get labels from which links of the form page.md#anchor can be made, links and images the names that they have on
the site, and what Doxygen would take for commands is kept from it. docs/ stays what every other reader of Markdown
understands."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import pages    # noqa: E402

ROOT = pages.ROOT
NAMES = headers.names(ROOT)
SITE = set(pages.on_site())
HIGHLIGHTED = {'c': '.c', 'cpp': '.cpp', 'cuda': '.cpp', 'python': '.py'}
TOKEN = re.compile(r'(`+)(.+?)\1|' + pages.LINK.pattern, re.S)


def anchor_label(path, anchor):
    return '%s__%s' % (pages.label(path), re.sub(r'[^\w]', '_', anchor))


def plain(text):
    """Prose: marks that Doxygen would take for commands, and no Markdown reader does."""
    text = re.sub(r'&(?!\w+;)', '&amp;', text)
    text = re.sub(r'<(?!/?(?:a|br|sub|sup|details|summary)\b)', '&lt;', text)
    text = re.sub(r'\\(?![*_`|\[\]])', r'\\\\', text)
    return re.sub(r'([@#%])', r'\\\1', text.replace('--', r'\--')).replace('~', r'\~')


def code(text):
    aim = next((p for p in (text, 'docs/' + text) if p in SITE), None)
    if aim:
        return '<a href="%s.html">%s</a>' % (pages.label(aim), plain(text))
    if text in NAMES:
        return '@ref %s "%s"' % (text, text)
    text = text.replace('\\|', '|').replace('\\', '\\\\').replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
    text = re.sub(r'([@#%*_~|])', r'\\\1', text).replace('--', r'\--').replace('"', '&quot;')
    return '<code>%s</code>' % text.replace("'", '&apos;').replace('`', '\\`')


def link(path, image, text, target):
    if re.match(r'\w+:', target):
        return '<a href="%s">%s</a>' % (target, prose(path, text))
    if image:
        return '<img src="%s" alt="%s"/>' % (os.path.basename(target), text.replace('"', '&quot;'))
    file, _, anchor = target.partition('#')
    aim = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    if aim in SITE:
        html = pages.label(aim) + '.html' + ('#' + anchor_label(aim, anchor) if anchor else '')
        return '<a href="%s">%s</a>' % (html, prose(path, text))
    if aim.startswith('include/') and aim.endswith('.h'):
        return '@ref %s "%s"' % (aim[len('include/'):], text.replace('`', ''))
    if (ROOT / aim).is_file():
        return '<a href="source/%s">%s</a>' % (aim, prose(path, text))
    return prose(path, text)  # a page that is not there yet, a folder


def prose(path, text):
    out, at = [], 0
    for found in TOKEN.finditer(text):
        out.append(plain(text[at:found.start()]))
        out.append(code(found[2].strip()) if found[1] else link(path, found[3], found[4], found[5]))
        at = found.end()
    return ''.join(out) + plain(text[at:])


def block(language, body):
    if language in HIGHLIGHTED:
        return ['@code{%s}' % HIGHLIGHTED[language], *body, '@endcode']
    return ['@code{.unparsed}', *body, '@endcode']


def page(path):
    text = pages.text_of(path)
    titles = {h.line: h for h in pages.headings(text)}
    out, body, lines, closing, language = [], [], [], None, ''

    def close():  # a span of code or a link may go on in the next line
        if lines:
            out.append(prose(path, '\n'.join(lines)))
            lines.clear()

    for number, line in enumerate(text.split('\n'), 1):
        fence = pages.FENCE.match(line)
        if closing is None and (fence or number in titles or not line.strip() or line.startswith(('|', '<!--'))):
            close()
        if closing is None and fence:
            closing, language, body = fence.group(2), fence.group(3), []
        elif closing is not None and line.strip() == closing:
            out.extend(block(language, body))
            closing = None
        elif closing is not None:
            body.append(line)
        elif number in titles:
            h = titles[number]
            name = pages.label(path) if h.level == 1 else anchor_label(path, h.anchor)
            out.append('%s %s {#%s}' % ('#' * h.level, prose(path, h.title), name if name != 'index' else 'mainpage'))
        elif re.match(r'\s*<!--.*-->\s*$', line):
            out.append('')
        elif re.match(r'\|[-| :]+$', line):
            out.append(line)  # under a table's head
        elif line.startswith('|'):
            out.append(prose(path, line))
        elif line.strip():
            lines.append(line)
        else:
            out.append('')
    close()
    return '\n'.join(out)
