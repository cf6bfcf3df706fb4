#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site: reference of the public headers and the pages of docs/, by Doxygen, without a warning.

    build.py OUT [VERSION]        OUT/html/index.html

Exit code 1 with Doxygen's words if it warns. OUT/xml is Doxygen's view of the headers, which tests/docs/test_site.py reads."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import names    # noqa: E402
import pages    # noqa: E402

ROOT = pages.ROOT
SITE = pathlib.Path(__file__).resolve().parent
# The reference's own list: headers by library, each set with what it is for.
LIBRARIES = [
    ('libhalfulp', 'formats, conversion, arithmetic, functions, products, scaled tensors', r'halfulp/(?!train|device|oracle)\w+\.h(pp)?'),
    ('libhalfulp, named formats', 'one inline function each', r'halfulp/formats/\w+\.h'),
    ('libhalfulp-cuda', 'the same calls on a CUDA device', r'halfulp/device\w*\.h'),
    ('libhalfulp-train', 'training in low precision', r'halfulp/train(\.h|/\w+\.h)'),
    ('libhalfulp-oracle', 'the reference by MPFR', r'halfulp/oracle\.h'),
]


def about(path):
    return headers.sentence(headers.about(path))


def reference():
    """The page that lists all headers; written for Doxygen, which puts the frame around it."""
    out = ['# Reference {#page_reference}', '',
           'Every public function, type and macro with its text, made from the headers. The headers are the contract: what a',
           'call returns, its shapes, special operands, events, errors and source stand there.', '']
    for library, what, pattern in LIBRARIES:
        out += ['## %s {#page_reference__%s}' % (library, re.sub(r'\W', '_', library)), '', what[:1].upper() + what[1:] + '.', '']
        out += ['| header | says |', '|---|---|']
        for path in headers.public_headers(ROOT) + headers.wrappers(ROOT):
            name = str(path.relative_to(ROOT / 'include'))
            if re.fullmatch(pattern, name):
                said = about(path).replace('|', '\\|').replace('@', '\\@')
                out.append('| <a href="%s"><code>%s</code></a> | %s |' % (headers.html_of(name, ROOT), name, said))
        out.append('')
    return '\n'.join(out)


def navigation():
    out = []
    for section, lines in pages.navigation():
        out += ['<h2>%s</h2>' % section, '<ul>']
        out += ['<li><a href="$relpath^%s.html">%s</a></li>' % (pages.label(path), title) for path, title in lines]
        out.append('</ul>')
    out += ['<h2>Reference</h2>', '<ul>', '<li><a href="$relpath^page_reference.html">All headers</a></li>']
    out.append('<li><a href="$relpath^page_command.html">The command</a></li>')
    out.append('<li><a href="$relpath^page_python_names.html">Python names</a></li>')
    for name in ('format.h', 'mode.h', 'scalar.h', 'array.h', 'arith.h', 'core.h', 'conversion.h', 'function.h', 'accum.h', 'gemm.h', 'scaled.h', 'number.h',
                 'halfulp.hpp', 'device.h', 'train/net.h', 'train/trainer.h', 'oracle.h'):
        out.append('<li><a href="$relpath^%s">%s</a></li>' % (headers.html_of('halfulp/' + name, ROOT), name))
    return '\n'.join(out + ['</ul>'])


def excerpt(body):
    """The words of a section, as a reader sees them: without marks of Markdown, code as it stands, pipes among it."""
    out, closing = [], None
    for line in body.split('\n'):
        fence = pages.FENCE.match(line)
        if closing is None and fence:
            closing = fence.group(2)
        elif closing is not None:
            closing = None if line.strip() == closing else closing
            out.append(line if closing else '')
        elif not re.match(r'\s*<!--.*-->\s*$|\|[-| :]+$', line):
            prose = pages.LINK.sub(lambda m: m[2], line)
            if prose.startswith('|'):
                prose = re.sub(r'(?<!\\)\|', ' ', prose).replace('\\|', '|')
            out.append(re.sub(r'[`*]', '', re.sub(r'^#+ ', '', prose)))
    return re.sub(r'\s+', ' ', ' '.join(out))


def entries(html):
    """What search.js looks through: sections of the pages, headers, names."""
    found = []
    for path in pages.on_site():
        text = (ROOT / path).read_text(encoding='utf-8')
        lines, heads = text.split('\n'), pages.headings(text)
        for h, after in zip(heads, heads[1:] + [None]):
            body = '\n'.join(lines[h.line:after.line - 1 if after else len(lines)])
            body = excerpt(body)
            first = h is heads[0]
            anchor = '' if first else '#%s__%s' % (pages.label(path), re.sub(r'\W', '_', h.anchor))
            name = h.title.replace('`', '') if first else '%s: %s' % (heads[0].title, h.title)
            found.append(['page', pages.LINK.sub(lambda m: m[2], name).replace('`', ''), pages.label(path) + '.html' + anchor, body.strip()])
    tags = (html.parent / 'halfulp.tag').read_text(encoding='utf-8')
    places = {m[1]: (m[2], m[3]) for m in re.finditer(
        r'<name>(\w+)</name>\s*<anchorfile>([^<]+)</anchorfile>\s*<anchor>([^<]*)</anchor>', tags)}
    places.update({m[1]: (m[2], '') for m in re.finditer(r'<compound kind="struct">\s*<name>(\w+)</name>\s*<filename>([^<]+)</filename>', tags)})
    for path in headers.public_headers(ROOT) + headers.wrappers(ROOT):
        name = str(path.relative_to(ROOT / 'include'))
        found.append(['header', name, headers.html_of(name, ROOT), about(path)])
        for item in headers.declared(headers.parse(path)[1]) if path.suffix == '.h' else []:
            names = [(item.name(), item)]
            if item.kind == 'enum':
                names += [(re.match(r'\w+', m.text).group(), m) for m in headers.declared(item.members)]
            for word, what in names:
                if word in places:
                    file, anchor = places[word]
                    said = re.sub(r'\s+', ' ', ' '.join(p for p in (what.behind, what.before) if p))[:200]
                    found.append(['name', word, file + ('#' + anchor if anchor else ''), said])
    return found


def sources(html):
    """Files that pages link to and that are no pages: copies under source/."""
    for path in pages.on_site():
        for _, target, image in pages.links((ROOT / path).read_text(encoding='utf-8')):
            file = target.partition('#')[0]
            aim = (ROOT / path).parent / file
            if re.match(r'\w+:', target) or not file or not aim.is_file():
                continue
            name = aim.resolve().relative_to(ROOT)
            if image:
                shutil.copy(aim, html / aim.name)
            elif str(name) not in pages.on_site():
                (html / 'source' / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(aim, html / 'source' / name)


def run(out, version):
    out.mkdir(parents=True, exist_ok=True)
    for old in ('html', 'xml'):
        shutil.rmtree(out / old, ignore_errors=True)
    (out / 'reference.md').write_text(reference(), encoding='utf-8')
    command, of_command = names.command_page(out.parent)
    python, of_python = names.python_page()
    (out / 'command.md').write_text(command, encoding='utf-8')
    (out / 'python_names.md').write_text(python, encoding='utf-8')
    frame = (SITE / 'header.html').read_text(encoding='utf-8')
    (out / 'header.html').write_text(frame.replace('@NAVIGATION@', navigation()), encoding='utf-8')
    inputs = [str(p) for p in headers.public_headers(ROOT) + headers.wrappers(ROOT)] + [str(ROOT / p) for p in pages.on_site()]
    inputs += [str(out / name) for name in ('reference.md', 'command.md', 'python_names.md')]
    settings = (SITE / 'Doxyfile').read_text(encoding='utf-8')
    for name, value in {'ROOT': ROOT, 'OUT': out, 'INPUT': ' '.join('"%s"' % i for i in inputs), 'PYTHON': sys.executable,
                        'VERSION': version}.items():
        settings = settings.replace('@%s@' % name, str(value))
    (out / 'Doxyfile').write_text(settings, encoding='utf-8')
    (out / 'names.txt').write_text('\n'.join(sorted(headers.names(ROOT))), encoding='utf-8')
    done = subprocess.run(['doxygen', str(out / 'Doxyfile')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=out,
                          env=dict(os.environ, HALFULP_NAMES=str(out / 'names.txt')))
    warnings = (out / 'warnings.txt').read_text(encoding='utf-8') if (out / 'warnings.txt').exists() else ''
    if done.returncode or warnings.strip() or done.stdout.strip():
        print(done.stdout + warnings)
        return 1
    html = out / 'html'
    sources(html)
    index = of_command + of_python + entries(html)
    (html / 'search-index.js').write_text('window.halfulpIndex = %s;\n' % json.dumps(index, ensure_ascii=False, separators=(',', ':')),
                                          encoding='utf-8')
    print('%d pages, %d headers, %d entries to search: %s' % (
        len(pages.on_site()), len(headers.public_headers(ROOT)), len(index), html / 'index.html'))
    return 0


def version_of():
    return re.search(r'VERSION_STRING "(.*)"', (ROOT / 'include/halfulp/version.h').read_text()).group(1)


if __name__ == '__main__':
    sys.exit(run(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else version_of()))
