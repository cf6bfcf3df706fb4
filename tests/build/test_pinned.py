# SPDX-License-Identifier: MIT
"""What scripts and tests install from PyPI is pinned by hash: each list that pip reads names every package with its files' hashes and
has what its short list asks for, and nothing calls pip in another way.

usage: test_pinned.py SOURCE_ROOT
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
# pip with what it does; what does not look at the index, or looks at hashes, may.
PIP = re.compile(r"\bpip(?! does)[\w./\"']*[ ,][^#`]*\b(install|download|wheel)\b")
MAY = ('--require-hashes', '--no-index', '--no-build-isolation --no-deps')
ENTRY = re.compile(r'([\w.-]+)==(\S+)(?: ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n')


def plain(name):
    return re.sub(r'[-_.]+', '-', name).lower()


def pinned(text):
    """{(name, version)} of a list; one without a hash is an error."""
    body = re.sub(r'(?m)^#.*\n', '', text)
    rest = ENTRY.sub('', body)
    if rest.strip():
        raise ValueError('without hashes: ' + rest)
    return {(plain(m[1]), m[2]) for m in ENTRY.finditer(body)}


def wanted(text):
    return {(plain(m[1]), m[2]) for m in re.finditer(r'(?m)^([\w.-]+)==([^\s;]+)', text)}


def loose(text):
    """Calls of pip that look at no hashes."""
    joined = re.sub(r'\\\n|,\n|\(\n', ' ', text)
    lines = [line for line in joined.splitlines() if not line.lstrip().startswith('#')]
    # In Python the words of a command are strings.
    return [line.strip() for line in lines if PIP.search(line) and not any(w in re.sub(r"', '", ' ', re.sub(r"',\s+'", "', '", line)) for w in MAY)]


class Pinned(unittest.TestCase):
    def test_lists(self):
        short = sorted((ROOT / 'tests').glob('*/*requirements*.in'))
        self.assertGreater(len(short), 5)
        self.assertEqual([p.with_suffix('.txt') for p in short], sorted((ROOT / 'tests').glob('*/*requirements*.txt')))
        for path in short:
            with self.subTest(path.name):
                self.assertLessEqual(wanted(path.read_text()), pinned(path.with_suffix('.txt').read_text()), 'scripts/pin.py writes it anew')

    def test_calls(self):
        files = [p for folder in ('scripts', 'tests', '.ci') for p in (ROOT / folder).rglob('*')
                 if p.is_file() and p.suffix in ('', '.sh', '.py') and p.name != 'test_pinned.py']
        self.assertGreater(len(files), 100)
        calls = {str(p.relative_to(ROOT)): loose(re.sub(r'(?s)""".*?"""', '', p.read_text(errors='replace'))) for p in files}
        self.assertEqual({name: lines for name, lines in calls.items() if lines}, {})

    def test_notices(self):
        entry = 'numpy==2.4.6 \\\n    --hash=sha256:' + 'a' * 64 + '\n'
        self.assertEqual(pinned('# a list\n' + entry), {('numpy', '2.4.6')})
        for text in ('numpy==2.4.6\n', 'numpy>=2\n', entry + 'scipy\n', entry.replace('sha256', 'md5')):
            with self.assertRaises(ValueError):
                pinned(text)
        for text in ('"$venv/bin/pip" install -r list', 'pip --quiet \\\n  install numpy', "run([tools / 'pip',\n     'install', made])",
                     "[sys.executable, '-m', 'pip', 'download', '--no-deps', NAME]"):
            self.assertEqual(len(loose(text)), 1, text)
        for text in ('pip install --require-hashes -r list', '# pip install numpy', 'python3 -m pip install --no-index x.whl'):
            self.assertEqual(loose(text), [], text)


if __name__ == '__main__':
    unittest.main()
