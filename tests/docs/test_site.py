# SPDX-License-Identifier: MIT
"""The site is made without a warning; every public name has a text; every link of every page leads somewhere; nothing comes from
elsewhere.

usage: test_site.py SOURCE_ROOT BUILD_ROOT     exit code 77: no doxygen, mandoc or Pygments"""
import ast
import functools
import html
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path[:0] = [str(root / 'docs' / 'site'), str(root / 'tests' / 'docs')]
import cards    # noqa: E402
import headers  # noqa: E402
import pages    # noqa: E402

import made_site   # noqa: E402
import site_needs  # noqa: E402

site_needs.skip_without(site_needs.missing())
import commands      # noqa: E402
import formula       # noqa: E402
import index         # noqa: E402
import keys          # noqa: E402
import python_names  # noqa: E402

for made in (cards, keys):
    pages.MADE.update(made.made(commands.executable(build)))


class Anchors:
    """What a page refers to and what in it can be referred to. A parser of HTML would take most of this test's time."""
    TAG = re.compile(r'<(\w+)((?:[^<>"]|"[^"]*")*)>')
    VALUE = re.compile(r'\s(id|name|href|src)="([^"]+)"')

    def __init__(self, text):
        self.links, self.loaded, self.names = [], [], set()
        for tag, attributes in self.TAG.findall(re.sub(r'(?s)<!--.*?-->|(<script[^>]*>).*?</script>', r'\1', text)):
            for name, value in self.VALUE.findall(attributes):
                value = html.unescape(value)
                if name in ('id', 'name'):
                    self.names.add(value)
                elif tag == 'a' and name == 'href':
                    self.links.append(value)
                elif name == ('href' if tag == 'link' else 'src') and tag in ('link', 'img', 'script', 'iframe'):
                    self.loaded.append(value)


@functools.lru_cache(maxsize=None)
def anchors(path):
    return Anchors(path.read_text(encoding='utf-8'))


class Fragments(html.parser.HTMLParser):
    """The blocks of code of a page, as a reader sees them, and those of formulas by their source."""

    def __init__(self):
        super().__init__()
        self.found, self.inside, self.formula = [], False, 0

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag == 'pre':
            self.found.append('')
            self.inside = True
        elif tag == 'div' and (self.formula or a.get('class') == 'formula'):
            if not self.formula:
                self.found.append('')
            self.formula += 1
        elif tag == 'math' and self.formula:
            self.found[-1] += a['alttext'] + '\n'

    def handle_endtag(self, tag):
        if tag == 'pre':
            self.inside = False
        elif tag == 'div' and self.formula:
            self.formula -= 1

    def handle_data(self, data):
        if self.inside:
            self.found[-1] += data


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
    made_site.made(root, build)


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
    """The same on a header with six things that have none; the filter runs as a program here."""
    text = '/* SPDX-License-Identifier: MIT */\n/* a.h - a header. */\n\n/* Has one. */\nint hu_good(void);\n\nint hu_bad(void);\n'
    text += '/* Of two kinds. */\nenum {\n  HU_GOOD = 0, /* this */\n  HU_BAD = 1\n};\n\nenum { HU_WORSE = 2 };\n\n'
    text += 'typedef struct hu_bare {\n  int x; /* a field */\n} hu_bare;\n\n#define HU_MACRO 1\n'
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        (top / 'a.h').write_text(text)
        (top / 'Doxyfile').write_text(
            'INPUT=a.h\nFILTER_PATTERNS="*.h=\'%s\' -B \'%s\'"\nGENERATE_XML=YES\nGENERATE_HTML=NO\nGENERATE_LATEX=NO\nQUIET=YES\nWARNINGS=NO\n'
            'OPTIMIZE_OUTPUT_FOR_C=YES\nTYPEDEF_HIDES_STRUCT=YES\nJAVADOC_AUTOBRIEF=YES\n' % (sys.executable, root / 'docs/site/header_filter.py'))
        subprocess.run(['doxygen'], cwd=top, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        missing = without_text(top / 'xml')
    assert missing == ['HU_BAD', 'HU_MACRO', 'HU_WORSE', 'enum of HU_WORSE', 'hu_bad', 'hu_bare'], missing


def test_links_and_resources():
    site = build / 'docs' / 'html'
    seen = {path.name: anchors(path) for path in sorted(site.glob('*.html'))}
    wrong, inside, outside = [], 0, 0
    for name, page in seen.items():
        for target in page.loaded:
            if not target.startswith('data:') and (re.match(r'(\w+:)?//', target) or not (site / target).is_file()):
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
    for path in list(site.glob('*.css')) + [site / 'search.js', site / 'page.js']:
        assert not re.search(r'(https?:)?//\w+\.', path.read_text(encoding='utf-8')), path
    print('%d pages, %d links within, %d to elsewhere' % (len(seen), inside, outside))


def squeezed(text):
    """A formula's letters without its columns."""
    return ''.join(text.split())


def test_blocks_are_shown_as_they_are():
    count, formulas = 0, 0
    for path in pages.on_site(root):
        shown = Fragments()
        shown.feed((build / 'docs' / 'html' / (pages.label(path) + '.html')).read_text(encoding='utf-8'))
        blocks = pages.blocks(pages.text_of(path))
        assert len(blocks) == len(shown.found), (path, len(blocks), len(shown.found))
        for block, seen in zip(blocks, shown.found):
            if block.comment == 'formula':
                assert squeezed(block.text) == squeezed(seen), (path, block.text, seen)
                formulas += 1
                continue
            wanted = [line.rstrip() for line in textwrap.dedent(block.text).strip('\n').split('\n')]
            lines = [line.replace('\xa0', ' ').rstrip() for line in textwrap.dedent(seen).split('\n')]
            assert wanted == lines, '%s:\n%s\nbecame\n%s' % (path, '\n'.join(wanted), '\n'.join(lines))
            count += 1
    assert formulas >= 6, formulas
    print('%d blocks of code and %d of formulas, shown as they stand' % (count, formulas))


def shown_text(path):
    """The letters of a page of the site, without frame, contents and the links to headings; of a formula its source."""
    text = path.read_text(encoding='utf-8')
    text = text[text.index('<main'):text.index('</main>')]
    text = re.sub(r'(?s)<nav .*?</nav>|<a class="self".*?</a>', ' ', text)
    text = re.sub(r'(?s)<math [^>]*?alttext="([^"]*)".*?</math>', r'\1', text)
    return letters(re.sub(r'<[^>]+>', ' ', text))


def letters(text):
    """What both forms of a page must have in common: no blanks, no marks of Markdown."""
    return re.sub(r'[\s`*|_\\#–—-]', '', html.unescape(text))


def test_prose_is_shown_as_it_is():
    """Every letter of every page, and nothing of the way through Doxygen; without a playground not the paragraph on it."""
    count, playground = 0, (build / 'docs' / 'html' / 'playground.html').is_file()
    for path in pages.on_site(root):
        wanted = re.sub(r'(?m)^<!--.*-->$|^```\w*$|^ *\d+\. |!\[[^\]]*\]\([^)]*\)', '', pages.text_of(path))
        wanted = wanted if playground else re.sub(r'(?m)^`playground\.html`(?:.+\n)+', '', wanted)
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


def test_calls_have_texts_of_their_own():
    """Who comes to a call by search finds a text that says what this call does, not the one of its neighbours."""
    count = 0
    for path in headers.public_headers(root):
        texts = {}
        for item in headers.declared(headers.parse(path)[1]):
            if item.kind != 'other' or '(' not in item.text or item.text.startswith('typedef'):
                continue
            said = item.behind or item.before
            assert said and said not in texts, '%s: %s and %s: "%s"' % (path.name, item.name(), texts.get(said), said)
            texts[said] = item.name()
            count += 1
    assert count > 500, count
    print('%d calls, each with a text of its own' % count)


def test_narrow_screens():
    """Addresses that are longer than a phone's line are there, and may be broken; tables of three columns become cards."""
    site = build / 'docs' / 'html'
    style = (site / 'style.css').read_text(encoding='utf-8')
    long_words, wide_tables = 0, 0
    for path in pages.on_site(root):
        text = (site / (pages.label(path) + '.html')).read_text(encoding='utf-8')
        text = text[text.index('<main'):text.index('</main>')]
        prose = re.sub(r'(?s)<table.*?</table>|<pre.*?</pre>', ' ', text)
        long_words += sum(len(w) > 40 for w in re.sub(r'<[^>]+>', ' ', prose).split())
        wide_tables += sum(row.count('<th') >= 3 for row in re.findall(r'(?s)<tr class="markdownTableHead">.*?</tr>', text))
    assert long_words and wide_tables, (long_words, wide_tables)
    assert re.search(r'(?m)^main \{[^}]*overflow-wrap: break-word', style)
    narrow = style[style.index('@media (max-width: 56rem)'):]
    assert re.search(r'\.cards td \{ display: block', narrow) and 'attr(data-head)' in narrow
    assert any('<div class="table cards"' in p.read_text(encoding='utf-8') and 'data-head="' in p.read_text(encoding='utf-8') for p in site.glob('page_*.html'))


def test_search_index():
    site = build / 'docs' / 'html'
    entries = json.loads((site / 'search-index.js').read_text(encoding='utf-8').partition('= ')[2].rstrip(';\n'))
    names = {e[1] for e in entries if e[0] == 'C'}
    for name in ('hu_gemm', 'hu_format', 'HU_RNE', 'HU_E_SHAPE', 'hu_net_linear', 'HU_ACCUM_TEXT_MAX', 'hu_float8_e4m3fn', 'hu_device_synchronize'):
        assert name in names, name
    for kind, title, address, text, *_ in entries:
        file, _, anchor = address.partition('#')
        assert not anchor or anchor in anchors(site / file).names, (title, address)
    assert sum(e[0] in ('page', 'section') for e in entries) > 150, len(entries)
    said = {e[1]: e[3] for e in entries}
    for title in ('halfulp encode', 'halfulp encode --bits32', 'halfulp gemm --accum', 'halfulp.quantize', 'halfulp.scaled.encode', 'halfulp.torch.matmul'):
        assert title in said, title
    for kind, title, _, text, *_ in entries:
        if kind in ('page', 'section') and address != pages.label('CONTRIBUTING.md') + '.html' and 'contributing' not in address:  # which describes such marks
            assert not re.search(r'<!--|```|\]\(|^(sh|text|python|c|ini) |<[a-z/]', text), (title, text[:80])
    assert any(len(e) > 5 and 'echo 1000 | halfulp encode' in e[5] for e in entries), 'pipes of commands'
    assert all(any(e[2].startswith(pages.label(p) + '.html') for e in entries) for p in pages.on_site()), 'a page that is not found'


def test_words_of_the_index():
    """Each place of words.txt is there, and no word stands at two places. A star in code is no mark of emphasis."""
    assert index.plain('*All* of `cuda.*.satfinite`') == 'All of cuda.*.satfinite'
    seen = {}
    for (path, anchor), words in index.words().items():
        assert path in pages.on_site(root), path
        assert not anchor or anchor in pages.anchors(pages.text_of(path)), (path, anchor)
        for word in words:
            assert word not in seen, (word, path, seen[word])
            seen[word] = path
    assert len(seen) > 50, len(seen)


def test_python_names():
    """Every name of __all__ that is no module stands on its page, with a signature and a text."""
    site = build / 'docs' / 'html'
    count = 0
    for module, file in (('halfulp', '__init__'), ('halfulp.train', 'train/__init__'), ('halfulp.torch', 'torch/__init__'),
                         ('halfulp.torch.distributed', 'torch/distributed'), ('halfulp.torch.recipes', 'torch/recipes/__init__')):
        text = (root / 'python/halfulp' / (file + '.py')).read_text(encoding='utf-8')
        public = ast.literal_eval(re.search(r'(?s)__all__ = (\[.*?\])', text)[1])
        page = (site / python_names.file_of(module)).read_text(encoding='utf-8')
        for name in public:
            if module + '.' + name in dict(python_names.MODULES):
                assert (site / python_names.file_of(module + '.' + name)).is_file(), name
                continue
            if name == 'EVENTS':
                continue  # a tuple
            found = re.search(r'(?s)<h3 id="%s">.*?<div class="signature">(.*?)</div>\s*<p>(.*?)</p>' % re.escape(module + '.' + name), page)
            assert found and found[1].strip() and found[2].strip(), (module, name)
            count += 1
    assert count > 90, count
    add = python_names.find('arithmetic', 'add')
    assert add.signature() == 'add(a, b, to, mode=\'rne\', *, dtype=None, out=None, ' + ', '.join(
        '%s=%s' % (o, 1 if o == 'threads' else None) for o in python_names.OPTIONS) + ')', add.signature()
    print('%d Python names with signature and text' % count)


def test_command_pages():
    """Each option that --help lists stands on the command's page, and each command has a man page; where the command is built."""
    site, exe = build / 'docs' / 'html', build / 'cli' / 'halfulp'
    if not exe.is_file():
        return
    count = 0
    for name in re.findall(r'(?m)^  ([a-z-]+) +\S', subprocess.run([str(exe), '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout.split(
            'Commands:\n')[1].split('\n\n')[0]):
        said = subprocess.run([str(exe), name, '--help'], stdout=subprocess.PIPE, text=True)
        page = (site / ('command_%s.html' % name.replace('-', '_'))).read_text(encoding='utf-8')
        assert (site / ('man_halfulp_%s_1.html' % name.replace('-', '_'))).is_file(), name
        for option in re.findall(r'(?m)^  (?:-\w, |    )--([\w-]+)', said.stdout):
            assert '<dt id="option-%s">' % option in page, (name, option)
            count += 1
        shown = squeezed(html.unescape(re.sub(r'<[^>]+>', '', page)))
        for line in said.stdout.split('\n'):
            for part in re.split(r'  +', line.replace('Usage:', '').strip()):
                assert squeezed(part.replace('`', '')).rstrip(':') in shown, (name, part)
    assert count > 100, count
    print('%d options of commands' % count)


def test_formulas():
    """What becomes a formula in the prose, and what stays words."""
    for text, wanted in (('The candidates are f 2^Q and (f+1) 2^Q; their', ['f 2^Q', '(f+1) 2^Q']), ('or it is a 2^emin that has', ['2^emin']),
                         ('counted (mod 2^64): one', ['(mod 2^64)']), ('nu = |x| 2^-emin;', ['nu = |x| 2^-emin']), ('x^2, e^x.', ['x^2', 'e^x']),
                         ('2^(mu + log2 b (m - mu) / T), rounded', ['2^(mu + log2 b (m - mu) / T)']), ('a - b and c', [])):
        found = [text[a:b] for a, b in formula.spans(text)]
        assert found == wanted, (text, found)
    assert '<msup><mn>2</mn><mrow><mo form="prefix">−</mo><mi>m</mi></mrow></msup>' in formula.mathml('2^-m')
    assert '<mo stretchy="false">⌊</mo>' in formula.mathml('floor(t)') and formula.typeset('1 &lt; 2') == '1 &lt; 2'
    count = 0
    for path in pages.on_site(root):
        text = (build / 'docs' / 'html' / (pages.label(path) + '.html')).read_text(encoding='utf-8')
        count += text.count('<math')
        for found in re.findall(r'(?s)<math.*?</math>', text):
            tree.fromstring(html.unescape(re.sub(r'&(lt|gt|amp|quot);', r'&amp;\1;', found)).replace('&nbsp;', ' '))  # well-formed
    assert count > 250, count
    print('%d formulas' % count)


def test_playground_is_promised_where_it_is():
    """A paragraph of a page on the playground has a link to it, and is left out of a site without one."""
    import build as made
    text = 'Before.\n\n<code>playground.html</code> runs\nthe library.\n\nBehind.'
    assert made.of_playground(text, False) == 'Before.\n\nBehind.'
    assert made.of_playground(text, True) == text.replace('<code>playground.html</code>', '<a href="playground.html">playground.html</a>')
    start, there = (build / 'docs' / 'html' / 'index.html').read_text(encoding='utf-8'), (build / 'docs' / 'html' / 'playground.html').is_file()
    assert 'runs the library in the browser' not in start or there, 'a playground that the site does not have'
    assert not there or '<a href="playground.html">playground.html</a>' in start


def test_extra_files():
    """A folder beside the pages is copied; a name that the site has is refused; the playground gets its entry."""
    import build as made
    import frame
    with tempfile.TemporaryDirectory() as folder:
        extra, site = pathlib.Path(folder) / 'extra', pathlib.Path(folder) / 'site'
        (extra / 'play').mkdir(parents=True)
        site.mkdir()
        (extra / 'playground.html').write_text('<!-- framed: Play -->\n<p>here</p>')
        (extra / 'bare.html').write_text('<p>bare</p>')
        (extra / 'play' / 'a.wasm').write_bytes(b'\0asm')
        assert not any(f == 'playground.html' for g in made.groups(site, []) for f, _ in g.pages)
        made.copy_extra(extra, site)
        assert (site / 'play' / 'a.wasm').read_bytes() == b'\0asm'
        assert any(f == 'playground.html' for g in made.groups(site, []) for f, _ in g.pages)
        assert 'playground.html' in frame.Frame(made.groups(site, []), '1').page('a.html', 'A', '<p>a</p>')
        made.framed(site, [], '1')
        page = (site / 'playground.html').read_text(encoding='utf-8')
        assert '<h1>Play</h1>' in page and '<p>here</p>' in page and 'aria-current="page">Playground' in page, page
        assert (site / 'bare.html').read_text(encoding='utf-8') == '<p>bare</p>'
        try:
            made.copy_extra(extra, site)
        except SystemExit as refused:
            assert 'the site has a file of that name' in str(refused)
        else:
            raise AssertionError('a file was written over')


if __name__ == '__main__':
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            test()
