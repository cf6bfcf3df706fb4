# SPDX-License-Identifier: MIT
"""Every page has its place in the navigation and its test; every relative link and anchor of every *.md leads somewhere;
a block that a page shares with a public header is the same in both.

usage: test_pages.py SOURCE_ROOT PAGE...     PAGE: those whose blocks the build tests"""
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
root, tested = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
sys.path[:0] = [str(root / 'docs' / 'site'), str(root / 'tests' / 'docs')]
import pages          # noqa: E402
import pages_to_test  # noqa: E402

SKIPPED = re.compile(r'(^|/)(build[^/]*|\.git|node_modules|subprojects|venv|\.venv|\.pytest_cache)/')


def markdown(top):
    for path in sorted(top.rglob('*.md')):
        if not SKIPPED.search(str(path.relative_to(top))):
            yield path


def wrong_links(top, absent=()):
    """Sentences on links that lead nowhere, and how many there are that do. absent: pages that may not be there."""
    wrong, good = [], 0
    for path in markdown(top):
        text = path.read_text(encoding='utf-8')
        for line, target, _ in pages.links(text):
            if re.match(r'(https?|mailto):', target):
                continue
            file, _, anchor = target.partition('#')
            aim = (path.parent / file).resolve() if file else path
            where = '%s, line %d: %s' % (path.relative_to(top), line, target)
            if not aim.exists():
                if aim.is_relative_to(top) and str(aim.relative_to(top)) in absent:
                    continue
                wrong.append(where + ': no such file')
            elif anchor and aim.suffix == '.md' and anchor not in pages.anchors(aim.read_text(encoding='utf-8')):
                wrong.append(where + ': no such heading')
            elif file.startswith('/') or not aim.is_relative_to(top):
                wrong.append(where + ': not within the repository')
            else:
                good += 1
    return wrong, good


def test_navigation():
    listed = [path for _, lines in pages.table(root) for path, _, _ in lines]
    assert len(listed) == len(set(listed)), 'a page twice in docs/site/pages.txt'
    missing = set(pages.own(root)) - set(listed)
    assert not missing, 'without a line in docs/site/pages.txt: %s' % ', '.join(sorted(missing))
    gone = [path for _, lines in pages.table(root) for path, _, optional in lines if not optional and not (root / path).is_file()]
    assert not gone, 'in docs/site/pages.txt, but not there: %s' % ', '.join(gone)
    for path in pages.on_site(root):
        heads = pages.headings((root / path).read_text(encoding='utf-8'))
        assert heads and heads[0].level == 1 and [h.level for h in heads].count(1) == 1, '%s: one title, at its top' % path
    print('%d pages in the navigation' % len(pages.on_site(root)))


def test_all_are_tested():
    assert tested == pages_to_test.to_test(), 'pages came or went since the build was configured: meson setup --reconfigure'


def test_links():
    absent = {path for _, lines in pages.table(root) for path, _, optional in lines if optional}
    wrong, good = wrong_links(root, absent)
    assert not wrong, '\n'.join(wrong)
    assert good > 60, good
    print('%d relative links lead somewhere' % good)


def shared(text, top):
    """Of each block under `<!-- in: FILE -->` its line and FILE, and whether a comment there has its lines, one after another."""
    for block in pages.blocks(text):
        name = re.fullmatch(r'in: (\S+)', block.comment)
        if name:
            lines = [line.strip() for line in block.text.strip('\n').split('\n')]
            there = [re.sub(r'^ \*', '', line).strip() for line in (top / name[1]).read_text(encoding='utf-8').split('\n')]
            yield block.line, name[1], any(there[i:i + len(lines)] == lines for i in range(len(there)))


def test_shared_blocks():
    found = [(path.relative_to(root), *of) for path in markdown(root) for of in shared(path.read_text(encoding='utf-8'), root)]
    wrong = ['%s, line %d: not as in %s' % of[:3] for of in found if not of[3]]
    assert not wrong, '\n'.join(wrong)
    assert len(found) >= 6, found
    page = '<!-- in: x.h -->\n```text\na = b\n  | c\n```\n'
    with tempfile.TemporaryDirectory() as folder:
        for header, same in (('/* x\n *   a = b\n *     | c\n */\n', True), ('/* x\n *   a = b\n *     | d\n */\n', False)):
            (pathlib.Path(folder) / 'x.h').write_text(header)
            assert [of[2] for of in shared(page, pathlib.Path(folder))] == [same]
    print('%d blocks are those of public headers' % len(found))


def long_sections(text, most):
    """Sections of the news, one a version, that have more lines."""
    parts = re.split(r'(?m)^## ', text)[1:]
    return [part.split('\n')[0] for part in parts if len(part.rstrip().split('\n')) > most]


def test_news_is_for_users():
    assert not long_sections((root / 'NEWS.md').read_text(encoding='utf-8'), 150), 'NEWS.md: 150 lines of a version are enough'
    assert long_sections('# N\n\n## a\n1\n2\n\n## b\n1\n', 2) == ['a']


def test_wrong_links_are_seen():
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder).resolve()
        (top / 'a.md').write_text('# A title: with `code`\n\n[x](b.md) [y](#a-title-with-code) [z](#not) [w](c.md)\n\n```text\n[q](d.md)\n```\n`[r](e.md)`\n')
        (top / 'b.md').write_text('# B\n\n[x](a.md#a-title-with-code) [y](a.md#a-title) ![i](gone.svg)\n')
        wrong, good = wrong_links(top)
        assert [w.split(': ')[1] for w in wrong] == ['#not', 'c.md', 'a.md#a-title', 'gone.svg'], wrong
        assert good == 3, good


if __name__ == '__main__':
    for name, test in sorted(globals().items()):
        if name.startswith('test_'):
            test()
