# SPDX-License-Identifier: MIT
"""The man pages as pages of the site, by mandoc (Debian: mandoc) from the roff that docs/man makes."""
import html
import re
import subprocess
import sys
import tempfile
import pathlib

import commands
import finish
import pages

sys.path.insert(0, str(pages.ROOT / 'docs' / 'man'))
import command_pages  # noqa: E402
import keys_page      # noqa: E402
import library_page   # noqa: E402

INDEX = 'man.html'


def file_of(name, section):
    return 'man_%s_%s.html' % (re.sub(r'\W', '_', name), section)


def sources(build):
    """[(name, section, what it is, roff)]: without the command there are halfulp(1) and halfulp(3)."""
    out = [('halfulp', '1', 'The command', command_pages.overview()),
           ('halfulp', '3', 'The calls of the library', library_page.page())]
    exe = commands.executable(build)
    if exe is None:
        return out
    with tempfile.TemporaryDirectory() as folder:
        command_pages.main(folder, str(exe))
        for name, short in command_pages.commands():
            text = pathlib.Path(folder, 'halfulp-%s.1' % name).read_text(encoding='ascii')
            out.append(('halfulp-' + name, '1', short[:1].upper() + short[1:], text))
    keys = keys_page.keys_of(str(exe))
    if keys:
        out.append(('halfulp-train.ini', '5', 'Keys of a training run', keys_page.page(keys)))
    return out


def rendered(roff):
    done = subprocess.run(['mandoc', '-Thtml', '-Ofragment'], input=roff, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=True)
    text = done.stdout
    return text[text.index('<div class="manual-text">'):text.rindex('<table class="foot">')]


def body(roff, known):
    text = rendered(roff)
    text = re.sub(r'(?s)<h([12]) class="S[hs]" id="([^"]+)"><a class="permalink" href="[^"]*">(.*?)</a></h\1>',
                  lambda m: finish.heading(int(m[1]) + 1, m[2], title(m[3]) if m[1] == '1' else m[3]), text)
    text = re.sub(r'(?s)<pre>(.*?)</pre>', lambda m: '<div class="code" data-language="text"><pre><code>%s</code></pre></div>' % m[1].strip('\n'), text)
    return '<div class="manual">%s</div>' % references(text, known)


def title(inside):
    """Of a section: not in capitals."""
    said = re.sub(r'\s+', ' ', inside).strip()
    return said[:1] + said[1:].lower() if said.isupper() else said


def references(text, known):
    """`halfulp-mma (1)` as links."""
    def one(found):
        name = html.unescape(found[1])
        return '<a href="%s"><b>%s</b>(%s)</a>' % (file_of(name, found[2]), found[1], found[2]) if (name, found[2]) in known else found[0]

    return re.sub(r'<b>([\w.-]+) ?\(([135])\)</b>|<b>([\w.-]+)</b> ?\(([135])\)', lambda m: one(m) if m[1] else one(re.fullmatch(
        r'<b>([\w.-]+)</b> ?\(([135])\)', m[0])), text)


def made(build):
    """([(file, title, body)], entries of the search)."""
    found = sources(build)
    known = {(name, section) for name, section, _, _ in found}
    rows = ''.join('<dt><a href="%s">%s(%s)</a></dt><dd>%s</dd>\n' % (file_of(n, s), n, s, html.escape(what)) for n, s, what, _ in found)
    files = [(INDEX, 'Man pages', '<p>What an installed halfulp shows as <code>man halfulp</code>.</p>\n<dl class="names">\n%s</dl>' % rows)]
    entries = []
    for name, section, what, roff in found:
        shown = '%s(%s)' % (name, section)
        files.append((file_of(name, section), shown, body(roff, known)))
        entries.append(['man page', shown, file_of(name, section), what + '.', ''])
    return files, entries
