# SPDX-License-Identifier: MIT
"""Pages, comments of public headers, docstrings, man pages, and what the command prints in plain English, as prose.py
sees it; every page, public header and Python module is in the list.

usage: test_prose.py SOURCE_ROOT                      the files of prose_pages.txt and the sources of HELD, after a test of the rules
       test_prose.py SOURCE_ROOT --help-of HALFULP    its commands, with their --help
       test_prose.py SOURCE_ROOT --spelling           the same files by codespell; 77 without it
       test_prose.py SOURCE_ROOT --report [HALFULP]   no test: the faults of every file there is"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
root = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / 'tests' / 'docs'))
import prose  # noqa: E402

# Folders whose sources are held to prose.txt, prose_sources.txt and verbs.txt, comments and messages alike.
HELD = ('bench', 'cli', 'dpi', 'emu', 'files', 'gpu', 'layouts', 'mpi', 'python', 'train')

# A fault each, and a word of what is then said.
WRONG = [
    ('A format wants zeros.', '"wants"'),
    ('Nothing else\ngoes on here.', '"goes on"'),
    ('- An item\n  with 8 bits an element', '"bits an element"'),
    ('| cell | the usual value |', '"usual"'),
    ('# Whoever reads this', '"Whoever"'),
    ('A [link that wants](x.md#y) more.', '"wants"'),
    (('word ' * 20 + '\n') * 5 + 'word ' * 11, 'a paragraph of 111 words'),
    ('word\n' * 111, 'a paragraph of 111 words'),
    ('- ' + 'word\n  ' * 111, 'an item of 111 words'),
    ('| cell | ' + 'word ' * 111 + '|', 'a cell of 111 words'),
    ('letters ' * 16, 'a line of 128 characters'),
    ('- ' + 'letters ' * 16, 'a line of 130 characters'),
    ('A link [of two\nlines](x.md).', 'a link broken over two lines'),
    ('A digest is printed.', 'glossary.md#digest'),
    ('A digest is printed; see [digest](glossary.md#digest).', 'glossary.md#digest'),
]
RIGHT = [
    'That is what you want. `A format wants more.` ``goes on ` here``',
    '```text\nA format wants more, and goes on.\n```',
    '<!-- not run: the usual -->',
    'word ' * 12 + '\n' + ('word ' * 12 + '\n') * 7,
    ('word ' * 12 + '\n') * 8 + '\n' + ('word ' * 12 + '\n') * 8,
    ('- ' + 'word ' * 20 + '\n') * 8,
    '[A link of one word](' + 'x' * 130 + '.md)',
    '- `' + 'x ' * 70 + '`',
    '| ' + 'letters ' * 16 + ' | a digest |',
    'A [digest](glossary.md#digest) is a digest.',
    '# Digests\n\nA digest is a number.',
]


# Sources, and the line of their one fault; 0: they have none.
SOURCES = [
    ('int x;\n/* a buffer that is wanted */', 2), ('f("it wants more");', 1), ('f("wants", \'"\'); /* `wants` */', 0),
    ('int x;\n/* The rows of x. */\nint f(int x);', 2), ('int x;\n/* The rows of x. */\nstatic int f(int x) {', 2),
    ('int x;\n/* The rows of x. */\n#define F(x) x', 2), ('int x;\n/* The rows of x. */\n#define F (x)', 0),
    ('/* The rows of x. */\nint f(int x);', 0), ('int x;\n/* Returns the rows of x. */\nint f(int x);', 0),
    ('int x;\n/* z = x y */\nint f(int x);', 0),
    ('int x;\n/* The counts of rows. */\nint f(int x);', 2), ('int x;\n/* Counts rows. */\nint f(int x);', 0),
    ('int x;\n/* 1 if x is even. */\nint f(int x);', 0), ('int x;\n/* ---- rows ---- */\nint f(int x);', 0),
    ('int f(int x) {\n  /* Rows of x. */\n  g(x);', 0), ('struct x {\n  /* Rows of x. */\n  int (*f)(int x);', 0),
    ('int x;\n/* Rows of x. */\nstatic const int rows[] = {f(x)};', 0), ('int x;\n/* Rows of x. */\ntypedef int f(int x);', 0),
    ('extern "C" {\n/* The rows of x. */\nint f(int x);', 2),
]


def shown(name, found):
    return '\n'.join('%s, line %d: %s' % (name, line, fault) for line, fault in found)


def test_rules():
    for text, word in WRONG:
        found = [fault for _, fault in prose.of_page(text)]
        assert len(found) == 1 and word in found[0], (text, word, found)
    for text in RIGHT:
        assert not prose.of_page(text), (text, prose.of_page(text))
    assert prose.of_page('x\n\nA line.\nIt\nwants more.')[0][0] == 5
    assert prose.of_header('int x;\n/* a rounding that\n * wants more */\nint wants;')[0][0] == 3
    assert not prose.of_header('int wants; /* as `wants` is */')
    assert prose.of_python('def f():\n    """Text.\n\n    It wants more."""\n')[0][0] == 4
    assert not prose.of_python('def f():\n    """Text."""\n    wants = "goes on"\n')
    assert prose.of_source('int wants;\nf("%s: it "\n  "wants more");')[0][0] == 3
    assert not prose.of_source('/* "it wants more" */ f("wants", "  halfulp x wants more", "`it wants`");')
    assert prose.of_roff('.TP\n.BR wants " (it wants it),"\nA format\nthat wants more')[0][0] == 2
    assert not prose.of_roff('.B it wants\n\\fBit wants\\fR')
    assert prose.of_script('x = 1\ny = f("wants", "it wants more")')[0][0] == 2
    for text, line in SOURCES:
        found = prose.of_code('x.c', text)
        assert [at for at, _ in found] == ([line] if line else []), (text, found)
    assert prose.of_code('x.py', 'x = 1  # it wants more\n') and not prose.of_code('x.py', 'wants = "wants"\n')
    assert missing(everything()[1:]) == everything()[:1] and not missing(everything())
    assert prose.of_help('Usage: x\nIt wants more.\n') and not prose.of_help('Usage: x\n\nExamples:\n  x wants\n')
    for found, advice in prose.PHRASES:
        assert not found.search(''), found.pattern
    anchors = prose.pages.anchors((root / 'docs' / 'glossary.md').read_text(encoding='utf-8'))
    assert not {anchor for anchor, _ in prose.TERMS} - anchors, 'a term that docs/glossary.md does not have'


def faults(name):
    text = (root / name).read_text(encoding='utf-8')
    if name == 'docs/glossary.md':
        return prose.of_glossary(text)
    if name.startswith('docs/man/'):
        return prose.of_script(text)
    return {'.md': prose.of_page, '.py': prose.of_python, '.c': prose.of_source, '.1': prose.of_roff}.get(
        pathlib.Path(name).suffix, prose.of_header)(text)


def listed():
    return list(prose.rows('prose_pages.txt'))


def files():
    """Those of the list; a row with a star stands for all that it matches."""
    names = []
    for name in listed():
        if '*' in name:
            found = sorted(str(path.relative_to(root)) for path in root.glob(name))
            assert found, 'prose_pages.txt: no file is %s' % name
            names += found
        else:
            names.append(name)
    return names


def missing(names):
    return sorted(set(everything()) - set(names))


def test_files():
    assert len(set(listed())) == len(listed()) and 'docs/glossary.md' in files(), 'prose_pages.txt'
    assert not missing(files()), 'not in prose_pages.txt: ' + ' '.join(missing(files()))
    wrong = [shown(name, faults(name)) for name in files() if faults(name)]
    assert not wrong, '\n'.join(wrong)
    print('%d files clean' % len(files()))


def held():
    """The sources of the folders of HELD."""
    names = [str(path.relative_to(root)) for folder in HELD for path in sorted((root / folder).rglob('*'))
             if path.suffix in ('.c', '.h', '.cu', '.cuh', '.cpp', '.hpp', '.py') and not path.is_symlink()]
    assert all(any(name.startswith(folder + '/') for name in names) for folder in HELD), 'a folder without sources'
    return names


def test_held():
    wrong = [shown(name, found) for name in held() if (found := prose.of_code(name, (root / name).read_text(encoding='utf-8')))]
    assert not wrong, '\n'.join(wrong)
    print('%d sources of %s clean' % (len(held()), ', '.join(HELD)))


def everything():
    """What users read. The headers of single formats are made from the cards, and core/ is not part of the interface."""
    names = ['README.md', 'CONTRIBUTING.md', 'NEWS.md', 'bench/README.md', 'data/README.md', 'cli/halfulp.1']
    for folder, suffix in (('docs', 'md'), ('docs/man', 'py'), ('examples', 'md'), ('formats', 'md'), ('include', 'h'), ('include', 'hpp'),
                           ('python/halfulp', 'py'), ('cli', 'c')):
        names += [str(path.relative_to(root)) for path in sorted((root / folder).rglob('*.' + suffix))]
    return [name for name in names if not name.startswith(('include/halfulp/formats/', 'include/halfulp/core/'))]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def commands(halfulp):
    return [one['id'] for one in json.loads(run(halfulp, 'help', '--json'))] + ['rounding']


def faults_of_help(halfulp, name):
    return prose.of_help(run(halfulp, 'help', name))


def help_texts(halfulp):
    wrong = [shown(name, faults_of_help(halfulp, name)) for name in commands(halfulp) if faults_of_help(halfulp, name)]
    assert not wrong, '\n'.join(wrong)
    print('%d help texts clean' % len(commands(halfulp)))


def spelling():
    if not shutil.which('codespell'):
        print('codespell is not installed (Debian: codespell): spelling is not checked')
        sys.exit(77)
    call = ['codespell', '--ignore-words', str(root / 'tests' / 'docs' / 'spelling.txt')]
    misspelt = subprocess.run(call + ['-'], input='This is teh word.\n', stdout=subprocess.PIPE, text=True)
    assert 'teh' in misspelt.stdout, 'codespell does not find a wrong word'
    done = subprocess.run(call + everything(), cwd=root, stdout=subprocess.PIPE, text=True)
    assert not done.returncode, done.stdout
    print('%d files without a misspelt word that codespell knows' % len(everything()))


def report(halfulp):
    found = {name: faults(name) for name in everything()}
    if halfulp:
        found.update({'halfulp help ' + c: faults_of_help(halfulp, c) for c in commands(halfulp)})
    for name, wrong in found.items():
        print('%4d %s%s' % (len(wrong), name, '' if name in listed() or wrong else ' (clean; not in prose_pages.txt)'))
    for name, wrong in found.items():
        print(shown(name, wrong), end='\n' if wrong else '')


if __name__ == '__main__':
    what = sys.argv[2:3]
    if what == ['--report']:
        report(sys.argv[3] if sys.argv[3:] else None)
    elif what == ['--help-of']:
        help_texts(sys.argv[3])
    elif what == ['--spelling']:
        spelling()
    else:
        test_rules()
        test_files()
        test_held()
