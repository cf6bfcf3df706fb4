# SPDX-License-Identifier: MIT
"""The record of what is proved: a changed source changes the hash of the theorems that reach it and of no other; comments, names and places of
files change none, where they change no meaning; and what is malformed is named."""
import contextlib
import fnmatch
import importlib.util
import io
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
import nameless  # noqa: E402
import theorems  # noqa: E402


class Tree(unittest.TestCase):
    """A copy of all that the theorems reach."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()
        whole = {theorems.LIST, theorems.RECORD, ROOT / 'scripts/theorems.py', ROOT / 'scripts/nameless.py'}
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
        place = importlib.util.spec_from_file_location('theorems_of_copy', self.root / 'scripts/theorems.py')
        script, printed = importlib.util.module_from_spec(place), io.StringIO()
        place.loader.exec_module(script)  # with the nameless.py of this test, which has read most of these texts before
        with contextlib.redirect_stdout(printed):
            script.header(str(self.root / 'depfile'))
        return dict(re.findall(r'^\{"([\w-]+)", .*, "([0-9a-f]{16})", \d+, "[^"]*"\},$', printed.getvalue(), re.M))

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
        self.assertEqual(self.changed_by('gpu/scaled/quantize.cu', 'hui_element_limits', 'hu_other_limits'), {'L10'})
        self.assertEqual(self.changed_by('emu/arith/function_quick.h', '#endif', '#define SOMETHING 1\n#endif'), {'F1', 'L11'})
        self.assertEqual(self.changed_by('tests/proof/check.c', 'return', 'return 1 + '), {'P7'})
        lanes = self.changed_by('emu/simd/convert_lanes.c', 'return', 'return 1 + ')
        self.assertTrue({f'L{i}' for i in range(1, 9)} <= lanes, lanes)
        self.assertFalse({'P1', 'P10', 'A4', 'F1'} & lanes, lanes)

    def rename(self, old, new):
        for path in self.root.rglob('*.*'):
            if path.suffix in ('.c', '.h', '.cpp', '.cu', '.cuh'):
                path.write_text(re.sub(r'\b%s\b' % old, new, path.read_text()))

    def test_names(self):
        """A function, a type, a field and a macro have other names everywhere, and a file another place; F1's Python reads C as text."""
        before = self.hashes()
        for old in ('hui_round', 'hu_lane_constants', 'fits_binary32', 'HU_ALL'):
            self.rename(old, 'other_' + old)
        round_h = self.root / 'emu/core/round.h'  # a local of many functions
        round_h.write_text(re.sub(r'(?<![.\w>])spec\b', 'unfolded', round_h.read_text()))
        moved = self.root / 'emu/base/bits.h'
        (self.root / 'emu/core/bits.h').rename(moved)
        moved.write_text(moved.read_text().replace('"port.h"', '"emu/core/port.h"'))
        self.rename('HALFULP_EMU_CORE_BITS_H', 'HALFULP_EMU_BASE_BITS_H')
        self.rename('emu/core/bits.h', 'emu/base/bits.h')
        self.assertEqual({t for t, h in self.hashes().items() if h != before[t]}, {'F1'})

    def test_a_name_that_python_asks_for(self):
        self.assertIn('P1', self.changed_by('tests/proof/core.c', 'proof_unpack', 'proof_unpacked'))
        before = self.hashes()
        self.rename('proof_round', 'proof_rounded')
        self.rename('middle2', 'middle')  # in the name of a function that its macro makes
        changed = {t for t, h in self.hashes().items() if h != before[t]}
        self.assertTrue({'P1', 'L3'} <= changed, changed)

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
        rows = [line for line in (ROOT / 'docs/proof/proof.md').read_text().splitlines() if line.startswith('| P10 |')]
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


A = """
#include <math.h>
#include "b.h"
/* What it is. */
typedef struct spec { int digits, low; } spec;
static int first(const spec *s, int n) {
  spec t = *s;
  for (int i = 0; i < n; i++) t.low += TWICE(i);
  return t.digits + s->low + HU_OK;
}
int second(int k) { int m = k + 1; spec s = {k, 2}; k -= m; return first(&s, m) * 3; }
"""
B = """
#define TWICE(x) ((x) + (x))
#define MEMBER(r, f) ((r).f)
#define NUMBER(n) function_##n
#define TEXT(x) #x
static inline int helper(spec *r, int low) { return MEMBER(*r, low) + low; }
static inline int NUMBER(seven)(int h) { return (int)floor(h) + (int)INT_MAX; }
static inline int function_eight(int h) { return function_seven(h); }
static inline int table[] = {1, 2};
#define CAUGHT (caught + 1)
#define NOTHING(x) 1
static inline int fourth(int caught) { return CAUGHT; }
static inline int sixth(int h) { return h; }
static inline int function_42(int h) { return h + sizeof TEXT(sixth); }
static inline int fifth(void) { return NUMBER(42)(1); }
struct size { int width, depth; };
static inline int third(struct size *r, int depth) { return r->depth + depth; }
static inline int eighth(struct size *size) { return size->width; }
"""


class Names(unittest.TestCase):
    """What keeps a hash and what does not."""

    def hash_of(self, a=A, b=B, python='run("second")\n', name='b.h', **more):
        return nameless.sources_hash({'a.c': a, name: b}, lambda path, n: n[1:-1], {'ask': python}, **more)

    def both(self, *changes):
        a, b = A, B
        for old, new in changes:
            self.assertTrue(re.search(old, a + b), old)
            a, b = re.sub(old, new, a), re.sub(old, new, b)
        return self.hash_of(a, b)

    def test_kept(self):
        for changes in ([(r'\bt\b', 'copy')], [(r'\bi\b', 'index')], [(r'digits', 'places')], [('TWICE', 'DOUBLE')],
                        [(r'\bfirst\b', 'one_of_them')],
                        [(r'\bspec\b', 'form')], [(r'\btable\b', 'list')], [('function_eight', 'function_nine')],
                        [(r'\bk\b', 'm0'), (r'\bm\b', 'k'), ('m0', 'm')],
                        [(r'(?<=[*& ])s\b', 'given')], [(r'What it is', 'Something')], [(r' = ', '  =\n')], [(r'(?<!\.)\bh\b', 'height')]):
            self.assertEqual(self.both(*changes), self.hash_of(), changes)

    def test_one_function_alone(self):
        """The same letter in another function is another name."""
        head, tail = A.split('int second')
        self.assertEqual(self.hash_of(re.sub(r'(?<=[*& ])s\b', 'given', head) + 'int second' + tail), self.hash_of())

    def test_moved(self):
        self.assertEqual(self.hash_of(A.replace('"b.h"', '"folder/c.h"'), name='folder/c.h'), self.hash_of())

    def test_changed(self):
        seen = {self.hash_of()}
        for a, b in ((A.replace('t.low', 't.digits'), B), (A.replace('k -= m', 'm -= k'), B), (A.replace('k + 1', 'k - 1'), B), (A.replace('* 3', '* 4'), B),
                     (A.replace('int m = k + 1; spec s = {k, 2};', 'spec s = {k, 2}; int m = k + 1;'), B), (A.replace('const spec', 'spec'), B),
                     (A.replace('int n', 'long n'), B), (A.replace('(&s, m)', '(&s, k)'), B), (A.replace('{k, 2}', '{m, 2}'), B),
                     (A.replace('second(int k)', 'third(int k)'), B), (A.replace('HU_OK', 'HU_NOT_OK'), B), (A.replace('math.h', 'float.h'), B),
                     (A.replace('TWICE(i)', 'TWICE(n)'), B), (A.replace('i < n', 'i <= n'), B), (A.replace('digits, low', 'low, digits'), B),
                     (A.replace('t.low', 't.low_', 1), B), (A.replace('spec t', 'spec first'), B), (A, B.replace('floor', 'ceil')),
                     (A, B.replace('INT_MAX', 'INT_MIN')), (A, B.replace('(x) + (x)', '(x) * (x)')), (A, B.replace('TWICE(x)', 'TWICE (x)')),
                     (A, B.replace('seven', 'six')), (A, B.replace('function_seven', 'function_nine')), (A, B.replace('#x', 'x')),
                     (A.replace('#include "b.h"', ''), B), (A, B.replace('(*r, low) + low', '(*r, high) + high').replace('int low', 'int high')),
                     (A.replace('"b.h"', '"d.h"'), B),
                     (A, B.replace('(*r, low) + low', '(*r, digits) + digits').replace('helper(spec *r, int low', 'helper(spec *r, int digits')),
                     (A, B.replace('*r, int depth', '*r, int width').replace('r->depth + depth', 'r->width + width')),
                     (A, B.replace('fourth(int caught', 'fourth(int other')), (A, B.replace('NOTHING(x)', 'NOTHING(x, y)'))):
            self.assertNotIn(self.hash_of(a, b), seen, (a, b))
            seen.add(self.hash_of(a, b))

    def test_names_from_elsewhere(self):
        """The same name of another header, in all places."""
        for old, new in (('floor', 'ceil'), ('INT_MAX', 'INT_MIN'), ('HU_OK', 'HU_NOT_OK'), (r'\bint\b', 'long'),
                         (r'\bseven', 'eleven'), ('function_seven', 'function_nine'), ('sixth', 'ninth'), ('function_42', 'function_of')):
            self.assertNotEqual(self.both((old, new)), self.hash_of(), old)

    def test_python(self):
        renamed = re.sub('first', 'initial', A)
        self.assertEqual(self.hash_of(renamed), self.hash_of())
        for asks in ('run("first")', 'run(f"fi{x}")', 'run("fir" + x)', 'run(first=1)', 'run(f"{x}st")', '["-Dfirst=1"]'):
            self.assertNotEqual(self.hash_of(renamed, python=asks), self.hash_of(python=asks), asks)
        self.assertEqual(self.hash_of(python='"""One."""\nx = 1  \n\n# more\n'), self.hash_of(python='"""Another."""\nx = 1\n'))
        self.assertNotEqual(self.hash_of(python='x = 1\n'), self.hash_of(python='x = 2\n'))

    def test_text(self):
        self.assertEqual(self.hash_of(A.replace('What', 'How'), literally=True), self.hash_of(literally=True))
        self.assertNotEqual(self.hash_of(re.sub(r'\bt\b', 'copy', A), literally=True), self.hash_of(literally=True))

    def test_files_that_stand_in(self):
        """Their names are those of a header from elsewhere."""
        for old, new in (('helper', 'maximum'), ('width', 'height')):
            b = B.replace(old, new)
            self.assertEqual(self.hash_of(b=b), self.hash_of())
            self.assertNotEqual(self.hash_of(b=b, stand_ins=['b.h']), self.hash_of(stand_ins=['b.h']))

    def test_not_c(self):
        for wrong in ('#define\n', '#define F(\n', 'int f( {', '}}}', 'struct {', '"', "'", '#', '#include', 'f(', '[[', '#define F(a, a'):
            self.hash_of(b=wrong)


if __name__ == '__main__':
    unittest.main()
