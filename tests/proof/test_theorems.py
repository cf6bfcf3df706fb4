# SPDX-License-Identifier: MIT
"""The record of what is proved: a changed source changes the hash of the theorems that reach it and of no other, a comment changes none, and
what is malformed is named."""
import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'scripts'))
import theorems  # noqa: E402


class Tree(unittest.TestCase):
    """A copy of all that the theorems reach."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()
        whole = {theorems.LIST, theorems.RECORD, ROOT / 'scripts/theorems.py', ROOT / 'scripts/campaign.py', ROOT / 'tests/build/folders.py'}
        for t in theorems.theorems():
            whole |= set(theorems.files(t))
        for path in whole:
            copy = self.root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)

    def tearDown(self):
        self.folder.cleanup()

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, '-B', str(self.root / 'scripts/theorems.py'), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def hashes(self):
        """{theorem: hash built from}"""
        done = self.run_script('header', str(self.root / 'depfile'))
        self.assertEqual(done.returncode, 0, done.stdout)
        return dict(re.findall(r'^\{"([\w-]+)", .*, "([0-9a-f]{16})", \d+, "[^"]*"\},$', done.stdout, re.M))

    def change(self, name, old, new):
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def changed_by(self, name, old, new):
        before = self.hashes()
        self.change(name, old, new)
        after = self.hashes()
        self.assertEqual(list(before), [t.name for t in theorems.theorems()])
        self.assertEqual(list(before), list(after))
        return {t for t in before if before[t] != after[t]}

    def test_comments(self):
        self.assertEqual(self.changed_by('emu/core/round.h', '/* SPDX', '/* Something else.\n *\n * SPDX'), set())
        self.assertEqual(self.changed_by('tests/proof/core.py', 'import ', '# Something else.\n\nimport '), set())

    def test_code(self):
        every = {t.name for t in theorems.theorems()}
        self.assertEqual(self.changed_by('emu/core/port.h', '#endif', '#define SOMETHING 1\n#endif'), every - {'A3'})
        self.assertEqual(self.changed_by('gpu/scaled/quantize.cu', 'hu_element_limits', 'hu_other_limits'), {'L10'})
        self.assertEqual(self.changed_by('emu/arith/function_quick.h', '#endif', '#define SOMETHING 1\n#endif'), {'F1', 'L11'})
        self.assertEqual(self.changed_by('tests/proof/check.c', 'return', 'return 1 + '), {'P7'})
        lanes = self.changed_by('emu/simd/convert_lanes.c', 'return', 'return 1 + ')
        self.assertTrue({f'L{i}' for i in range(1, 9)} <= lanes, lanes)
        self.assertFalse({'P1', 'P10', 'A4', 'F1'} & lanes, lanes)

    def test_moved(self):
        """A file that stands elsewhere under another name changes no hash; another file in its place, or its guard, does."""
        before = self.hashes()
        (self.root / 'emu/elsewhere').mkdir()
        moves = {'emu/simd/convert_lanes.c': 'emu/elsewhere/lanes_of_conversions.c', 'emu/core/bits.h': 'emu/elsewhere/patterns.h',
                 '"port.h"': '"emu/core/port.h"', 'HALFULP_EMU_CORE_BITS_H': 'HALFULP_EMU_ELSEWHERE_PATTERNS_H'}
        for old, new in moves.items():
            if (self.root / old).exists():
                (self.root / old).rename(self.root / new)
        for path in self.root.rglob('*.*'):
            if path.suffix in ('.c', '.h', '.cu', '.cuh', '.cpp') and path.is_file():
                text = path.read_text()
                for old, new in moves.items():
                    text = text.replace(old, new)
                path.write_text(text)
        self.assertEqual(self.hashes(), before)
        self.assertEqual(self.changed_by('emu/elsewhere/patterns.h', 'return', 'return 1 + '), {'L11'})
        head = '#ifndef HALFULP_EMU_{0}_H\n#define HALFULP_EMU_{0}_H\n'
        self.assertEqual(self.changed_by('emu/elsewhere/patterns.h', head.format('ELSEWHERE_PATTERNS'), head.format('CORE_PORT')), {'L11'})
        self.assertIn('P1', self.changed_by('emu/core/round.h', 'halfulp/format.h', 'halfulp/mode.h'))

    def test_domain_of_exponents(self):
        """What the page and the list say of P10's operands is what its queries suppose."""
        most = re.search(r'^EXPONENTS = (\d+)', (ROOT / 'tests/proof/arith.py').read_text(), re.M).group(1)
        rows = [line for line in (ROOT / 'docs/proof.md').read_text().splitlines() if line.startswith('| P10 |')]
        self.assertEqual(re.findall(r'2\^-?(\d+) to 2\^(\d+)', rows[0]), [(most, most)])
        self.assertIn(f'up to {most} in magnitude', {t.name: t.says for t in theorems.theorems()}['P10'])

    def test_every_query_is_of_one_theorem(self):
        """A theorem that theorems.txt lacks would be proved and not recorded."""
        for program in ('prove.py', 'lanes/prove.py', 'accum/prove.py'):
            done = subprocess.run([sys.executable, '-B', str(ROOT / 'tests/proof' / program), 'list'], stdout=subprocess.PIPE, text=True, check=True)
            names = [line.split()[0] for line in done.stdout.splitlines()]
            self.assertGreater(len(names), 30)
            for name in names:
                of = [t.name for t in theorems.theorems() if t.program == program and fnmatch.fnmatchcase(name, t.queries)]
                self.assertEqual(len(of), 0 if name.startswith('fault/') else 1, (program, name, of))

    def test_a_record_of_other_sources(self):
        name, row = next(iter(theorems.record().items()))
        self.change('tests/golden/proof/theorems.txt', row.sources, '0' * 16)
        done = self.run_script('check')
        self.assertEqual(done.returncode, 0)
        self.assertIn(f'{name}: proved for other sources', done.stdout)

    def test_malformed(self):
        name = next(iter(theorems.record()))
        self.change('tests/golden/proof/theorems.txt', name + '\t', 'P99\t')
        done = self.run_script('check')
        self.assertEqual(done.returncode, 1)
        self.assertIn('P99 is no theorem', done.stdout)
        self.change('tests/golden/proof/theorems.txt', 'P99\t', 'P99 ')
        done = self.run_script('check')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('theorems.txt: "P99', done.stdout)
        self.assertIn('6 fields, not 7', done.stdout)
        self.change('tests/golden/proof/theorems.txt', 'theorem', 'something')
        self.assertIn('does not name the columns', self.run_script('check').stdout)
        self.assertIn('no theorem P98', self.run_script('prove', str(self.root), 'P98').stdout)


if __name__ == '__main__':
    unittest.main()
