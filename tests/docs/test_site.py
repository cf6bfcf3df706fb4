# SPDX-License-Identifier: MIT
"""The site is made without a warning; every public name has a text; every link of every page leads somewhere; nothing comes from
elsewhere.

usage: test_site.py SOURCE_ROOT BUILD_ROOT     exit code 77: no doxygen"""
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(root / 'docs' / 'site'))
import headers  # noqa: E402
import pages    # noqa: E402

if not shutil.which('doxygen'):
    print('no doxygen (Debian: doxygen): the site was not made')
    sys.exit(77)


class Anchors(html.parser.HTMLParser):
    """What a page refers to and what in it can be referred to."""

    def __init__(self):
        super().__init__()
        self.links, self.loaded, self.names = [], [], set()

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.names.update(a[k] for k in ('id', 'name') if a.get(k))
        if tag == 'a' and a.get('href'):
            self.links.append(a['href'])
        elif tag in ('img', 'script', 'iframe') and a.get('src'):
            self.loaded.append(a['src'])
        elif tag == 'link' and a.get('href'):
            self.loaded.append(a['href'])


class Fragments(html.parser.HTMLParser):
    """The blocks of code of a page, as a reader sees them."""

    def __init__(self):
        super().__init__()
        self.found, self.depth, self.line = [], 0, False

    def handle_starttag(self, tag, attributes):
        name = dict(attributes).get('class', '')
        if tag == 'div' and (self.depth or name == 'fragment'):
            self.depth += 1
            if name == 'fragment':
                self.found.append([])
            elif name == 'line':
                self.found[-1].append('')
                self.line = True
        elif tag == 'br' and self.line:
            self.found[-1][-1] += ' '

    def handle_endtag(self, tag):
        if tag == 'div' and self.depth:
            self.depth -= 1
            self.line = False

    def handle_data(self, data):
        if self.line:
            self.found[-1][-1] += data


def text_of(node):
    return ''.join(''.join(n.itertext()) for name in ('briefdescription', 'detaileddescription') for n in node.findall(name)).strip()


def documented(xml):
    """{name: has a text} of everything that a header declares, in Doxygen's own view; enumerations without a name by their first value."""
    found = {}
    for path in xml.glob('*.xml'):
        for compound in tree.parse(path).getroot().findall('compounddef'):
            kind = compound.get('kind')
            if kind == 'struct' and '::' not in compound.findtext('compoundname'):  # of C, not of the wrapper
                found[compound.findtext('compoundname')] = bool(text_of(compound))
            elif kind == 'file' and compound.findtext('compoundname').endswith('.h'):
                found[compound.findtext('compoundname')] = bool(text_of(compound))
                for member in compound.iter('memberdef'):
                    values = member.findall('enumvalue')
                    name = member.findtext('name')
                    if values and (not name or name.startswith('@')):
                        name = 'enum of ' + values[0].findtext('name')
                    if not re.match(r'HALFULP_\w+_H$', name):
                        found[name] = found.get(name, False) or bool(text_of(member))
                    for value in values:
                        found[value.findtext('name')] = bool(text_of(value))
    return found


def without_text(xml):
    return sorted(name for name, good in documented(xml).items() if not good)


def test_made_without_a_warning():
    out = build / 'docs'
    done = subprocess.run([sys.executable, '-B', str(root / 'docs/site/build.py'), str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    print(done.stdout.strip())


def test_every_name_has_a_text():
    missing = without_text(build / 'docs' / 'xml')
    assert not missing, 'without a text: ' + ', '.join(missing)
    found = documented(build / 'docs' / 'xml')
    declared = set()
    for path in headers.public_headers(root):
        text = re.sub(r'/\*.*?\*/', '', path.read_text(encoding='utf-8'), flags=re.S)
        declared.update(re.findall(r'\b(hu_\w+)\s*\((?=[^;{]*\)\s*;)', ' '.join(re.findall(r'HU_API[^;]*;', text))))
        declared.update(re.findall(r'(?m)^\} (hu_\w+);', text))
        declared.update(re.findall(r'(?m)^\s+(HU_\w+)(?: = [^,]*)?,?\s*$', text))
        declared.update(re.findall(r'(?m)^#define (HU_\w+)', text))
    assert len(declared) > 800, len(declared)
    assert not declared - set(found), 'in the headers, but not in the reference: ' + ', '.join(sorted(declared - set(found)))
    print('%d names with their text, %d of them found by reading the headers' % (len(found), len(declared)))


def test_a_name_without_text_is_seen():
    """The same on a header with six things that have none, through the same filter."""
    text = '/* SPDX-License-Identifier: MIT */\n/* a.h - a header. */\n\n/* Has one. */\nint hu_good(void);\n\nint hu_bad(void);\n'
    text += '/* Of two kinds. */\nenum {\n  HU_GOOD = 0, /* this */\n  HU_BAD = 1\n};\n\nenum { HU_WORSE = 2 };\n\n'
    text += 'typedef struct hu_bare {\n  int x; /* a field */\n} hu_bare;\n\n#define HU_MACRO 1\n'
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        (top / 'a.h').write_text(text)
        (top / 'Doxyfile').write_text(
            'INPUT=a.h\nFILTER_PATTERNS="*.h=%s -B %s"\nGENERATE_XML=YES\nGENERATE_HTML=NO\nGENERATE_LATEX=NO\nQUIET=YES\nWARNINGS=NO\n'
            'OPTIMIZE_OUTPUT_FOR_C=YES\nTYPEDEF_HIDES_STRUCT=YES\nJAVADOC_AUTOBRIEF=YES\n' % (sys.executable, root / 'docs/site/header_filter.py'))
        subprocess.run(['doxygen'], cwd=top, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        missing = without_text(top / 'xml')
    assert missing == ['HU_BAD', 'HU_MACRO', 'HU_WORSE', 'enum of HU_WORSE', 'hu_bad', 'hu_bare'], missing


def test_links_and_resources():
    site = build / 'docs' / 'html'
    seen = {}
    for path in sorted(site.glob('*.html')):
        seen[path.name] = Anchors()
        seen[path.name].feed(path.read_text(encoding='utf-8'))
    wrong, inside, outside = [], 0, 0
    for name, page in seen.items():
        for target in page.loaded:
            if re.match(r'(\w+:)?//', target) or not (site / target).is_file():
                wrong.append('%s: loads %s' % (name, target))
        for target in page.links:
            file, _, anchor = target.partition('#')
            if re.match(r'\w+:', target):
                outside += 1
            elif file and not (site / file).is_file():
                wrong.append('%s: %s: no such file' % (name, target))
            elif name.endswith('_source.html'):
                inside += 1  # listings have places for members without a text, too
            elif anchor and (file or name) in seen and anchor not in seen[file or name].names:
                wrong.append('%s: %s: no such place' % (name, target))
            else:
                inside += 1
    assert not wrong, '\n'.join(wrong[:40])
    for path in list(site.glob('*.css')) + [site / 'search.js']:
        assert not re.search(r'(https?:)?//\w+\.', path.read_text(encoding='utf-8')), path
    print('%d pages, %d links within, %d to elsewhere' % (len(seen), inside, outside))


def test_blocks_are_shown_as_they_are():
    count = 0
    for path in pages.on_site(root):
        shown = Fragments()
        shown.feed((build / 'docs' / 'html' / (pages.label(path) + '.html')).read_text(encoding='utf-8'))
        wanted = [[line.rstrip() for line in textwrap.dedent(b.text).rstrip('\n').split('\n')] for b in pages.blocks((root / path).read_text(encoding='utf-8'))]
        seen = [[line.replace('\xa0', ' ').rstrip() for line in lines] for lines in shown.found]
        for block, lines in zip(wanted, seen):
            assert block == lines, '%s:\n%s\nbecame\n%s' % (path, '\n'.join(block), '\n'.join(lines))
        assert len(wanted) == len(seen), (path, len(wanted), len(seen))
        count += len(wanted)
    print('%d blocks of code, shown as they stand' % count)


def shown_text(path):
    """The letters of a page of the site, without frame, tables of contents and the boxes behind links."""
    text = path.read_text(encoding='utf-8')
    text = text[text.index('<main>'):text.index('</main>')]
    return letters(re.sub(r'(?s)<div class="onpage">.*?</div>|<div class="ttc".*?</div>\s*</div>|<[^>]+>', ' ', text))


def letters(text):
    """What both forms of a page must have in common: no blanks, no marks of Markdown."""
    return re.sub(r'[\s`*|_\\#–—-]', '', html.unescape(text))


def test_prose_is_shown_as_it_is():
    """Every letter of every page, and nothing of the way through Doxygen."""
    count = 0
    for path in pages.on_site(root):
        wanted = re.sub(r'(?m)^<!--.*-->$|^```\w*$|^ *\d+\. |!\[[^\]]*\]\([^)]*\)', '', (root / path).read_text(encoding='utf-8'))
        wanted = letters(pages.LINK.sub(lambda m: m[2], wanted))
        shown = shown_text(build / 'docs' / 'html' / (pages.label(path) + '.html'))
        if wanted != shown:
            at = next(i for i, (x, y) in enumerate(zip(wanted + ' ', shown + '  ')) if x != y)
            raise AssertionError('%s: "%s" became "%s"' % (path, wanted[max(at - 30, 0):at + 30], shown[max(at - 30, 0):at + 30]))
        count += len(wanted)
    for path in sorted((build / 'docs' / 'html').glob('*.html')):
        if not path.name.endswith('_source.html'):
            text = path.read_text(encoding='utf-8')
            wrong = re.search(r'&amp;(#\d+|lt|gt|amp|quot|apos|mdash|minus|lowast);|[@\\](ref|code|verbatim|endcode|endverbatim|name)\b', text)
            assert not wrong, '%s: %s' % (path.name, text[max(wrong.start() - 60, 0):wrong.end() + 20])
    print('%d letters of %d pages, shown as they stand' % (count, len(pages.on_site(root))))


def test_comments_are_shown_as_they_are():
    """Every comment of the headers that describes something, on the page of its header or of a record."""
    site = build / 'docs' / 'html'
    records = ''.join(shown_text(p) for p in site.glob('struct*.html'))
    count = 0
    for path in headers.public_headers(root):
        name = str(path.relative_to(root / 'include'))
        shown = shown_text(site / headers.html_of(name, root)) + records
        items = headers.declared(headers.parse(path)[1])
        every = items + [m for i in items for m in headers.declared(i.members)]
        for said in [re.sub(r'^[\w/]+\.h - .', '', headers.about(path))] + [text for i in every for text in (i.before, i.behind) if text]:
            assert re.sub(r'/\*|\*/', '', letters(said)).rstrip('.') in shown, '%s: "%s"' % (name, said)
            count += 1
    assert count > 1000, count
    print('%d comments of headers, shown as they stand' % count)


def test_narrow_screens():
    """Addresses that are longer than a phone's line are there, and may be broken; tables of three columns become cards."""
    site = build / 'docs' / 'html'
    style = (site / 'style.css').read_text(encoding='utf-8')
    long_words, wide_tables = 0, 0
    for path in pages.on_site(root):
        text = (site / (pages.label(path) + '.html')).read_text(encoding='utf-8')
        text = text[text.index('<main>'):text.index('</main>')]
        prose = re.sub(r'(?s)<table.*?</table>|<div class="fragment">.*?</div><!-- fragment -->', ' ', text)
        long_words += sum(len(w) > 40 for w in re.sub(r'<[^>]+>', ' ', prose).split())
        wide_tables += sum(row.count('<th') >= 3 for row in re.findall(r'(?s)<tr class="markdownTableHead">.*?</tr>', text))
    assert long_words and wide_tables, (long_words, wide_tables)
    assert re.search(r'(?m)^main \{[^}]*overflow-wrap: break-word', style)
    narrow = style[style.index('@media (max-width: 56rem)'):]
    assert re.search(r'\.cards td \{ display: block', narrow) and 'attr(data-head)' in narrow
    assert "classList.add('cards')" in (site / 'search.js').read_text(encoding='utf-8')


def test_search_index():
    site = build / 'docs' / 'html'
    entries = json.loads((site / 'search-index.js').read_text(encoding='utf-8').partition('= ')[2].rstrip(';\n'))
    names = {e[1] for e in entries if e[0] == 'name'}
    for name in ('hu_gemm', 'hu_format', 'HU_RNE', 'HU_E_SHAPE', 'hu_net_linear', 'HU_ACCUM_TEXT_MAX', 'hu_float8_e4m3fn', 'hu_device_gemm'):
        assert name in names, name
    places = {}
    for kind, title, address, text in entries:
        file, _, anchor = address.partition('#')
        if file not in places:
            places[file] = Anchors()
            places[file].feed((site / file).read_text(encoding='utf-8'))
        assert not anchor or anchor in places[file].names, (title, address)
    assert sum(e[0] == 'page' for e in entries) > 150, len(entries)
    said = {e[1]: e[3] for e in entries}
    for title in ('halfulp encode', 'halfulp encode --bits32', 'halfulp gemm --accum', 'halfulp.quantize', 'halfulp.scaled.encode', 'halfulp.torch.matmul'):
        assert title in said, title
    for kind, title, _, text in entries:
        if kind == 'page' and not title.startswith('Contributing'):  # which describes such marks
            assert not re.search(r'<!--|```|^(sh|text|python|c|ini) ', text), (title, text[:80])
    assert any('echo 1000 | halfulp encode' in text for text in said.values()), 'pipes of commands'
    assert all(any(e[2].startswith(pages.label(p) + '.html') for e in entries) for p in pages.on_site()), 'a page that is not found'


if __name__ == '__main__':
    test_made_without_a_warning()
    test_every_name_has_a_text()
    test_a_name_without_text_is_seen()
    test_links_and_resources()
    test_blocks_are_shown_as_they_are()
    test_prose_is_shown_as_it_is()
    test_comments_are_shown_as_they_are()
    test_narrow_screens()
    test_search_index()
