# SPDX-License-Identifier: MIT
"""The tool of `make check-mutants`: its operators on small samples, the draw, the ledger, rows of equivalent.txt.

usage: test_mutants.py SOURCE_ROOT
"""
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import c_sites
import check_mutants
import draw
import operators
import py_sites
import suites
from ledger import Equivalents, Ledger
from workshop import Workshop, source_copy

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent


def made(text, kind=c_sites, file='emu/x.c', operator=None):
    """The changed lines of a text, without indentation."""
    lines = text.split('\n')
    return [operators.changed(lines[site.line - 1], site).strip() for site in kind.sites(file, text)
            if operator in (None, site.operator)]


def inside(line):
    """A statement within a function."""
    return 'void f(void) {\n  ' + line + '\n}\n'


class COperators(unittest.TestCase):
    def expect(self, line, operator, *wanted):
        self.assertEqual(made(inside(line), operator=operator), list(wanted))

    def test_relational(self):
        self.expect('a = b < c;', 'relational', 'a = b <= c;')
        self.expect('a = b >= c || b == d;', 'relational', 'a = b > c || b == d;', 'a = b >= c || b != d;')
        self.expect('hu_encode<uint8_t, true>(x);', 'relational')  # a template's bracket
        self.expect('kernel<<<grid, block>>>(x);', 'shift')

    def test_add_sub(self):
        self.expect('a = b + c - -d;', 'add-sub', 'a = b - c - -d;', 'a = b + c + -d;')
        self.expect('a += b;', 'add-sub', 'a -= b;')
        self.expect('return -1;', 'add-sub')
        self.expect('a = p->b;', 'add-sub')

    def test_constant(self):
        self.expect('a = 0x7FFu + 9;', 'constant', 'a = 0x800u + 9;', 'a = 0x7FFu + 10;')
        self.expect('a = 0xffffULL;', 'constant', 'a = 0x10000ULL;')
        self.expect('a = 0.5f;', 'constant', 'a = 1.5f;')
        self.expect('a = 0x1.8p3;', 'constant')
        self.expect('uint8_t b[4], c;', 'constant')
        self.expect('uint8_t b[4] = {1};', 'constant', 'uint8_t b[4] = {2};')
        self.expect('case 3: a1 = b2;', 'constant', 'case 4: a1 = b2;')

    def test_and_or_shift_extremes(self):
        self.expect('a = b && (c || d);', 'and-or', 'a = b || (c || d);', 'a = b && (c && d);')
        self.expect('a = b << 3;', 'shift', 'a = b >> 3;')
        self.expect('a >>= b;', 'shift', 'a <<= b;')
        self.expect('a = blk_max(hu_smaller_size(b, c), minute(d));', 'min-max', 'a = blk_min(hu_smaller_size(b, c), minute(d));',
                    'a = blk_max(hu_larger_size(b, c), minute(d));')

    def test_negate(self):
        self.expect('if (a && f(b)) return;', 'negate', 'if (!(a && f(b))) return;')
        self.expect('while (a) a--;', 'negate', 'while (!(a)) a--;')
        self.expect('if (a &&\n      b) return;', 'negate')

    def test_delete(self):
        self.expect('a = b;', 'delete', ';')
        self.expect('*a = b;', 'delete', ';')
        self.expect('a->b[i] += c;', 'delete', ';')
        self.expect('if (a) f(b, c);', 'delete', 'if (a) ;')
        self.expect('for (i = 0; i < n; i++) a[i] = 0;', 'delete', 'for (i = 0; i < n; i++) ;')
        self.expect('else f(a);', 'delete', 'else ;')
        self.expect('case 1: f(a); break;', 'delete', 'case 1: ; break;')
        self.expect('a = b ? c : d(e);', 'delete', ';')
        for line in ('int a = b;', 'uint32_t a = f(b);', 'const char *a = b;', 'hu_spec *a = f(b);', 'return f(a);', 'break;',
                     'goto done;', 'int a;', 'f(a,\n    b);', 'if (a) {', '(void)a;', 'hu_lane v[2];'):
            self.expect(line, 'delete')

    def test_return(self):
        self.expect('return a + b;', 'return', 'return 0;')
        self.expect('return HU_OK;', 'return', 'return 1;')
        self.expect('return 0;', None, 'return 1;')
        self.expect('if (a) return 1;', 'return', 'if (a) return 0;')
        self.expect('return 2;', None, 'return 3;')
        self.expect('return;', 'return')
        self.expect('case 1: return f(a);', 'return', 'case 1: return 0;')

    def test_no_code(self):
        for text in ('/* a < b; f(1 + 2); */', '// if (a < 1) return 2;', '#include <a/b.h>', '#if A < 3 && B', '#pragma unroll 4',
                     'int f(int a[4], int b);', 'typedef struct hu_x hu_x;', 'struct hu_x { uint8_t a[4]; int b : 3; };',
                     '_Static_assert(sizeof(int) == 4 && 1 < 2, "4");', 'extern const int a[12];', 'static int f(int a[3]) {\n}',
                     'int a __attribute__((aligned(16)));'):
            self.assertEqual(made(text), [], text)
        self.expect('f("a < 1 && b == 2 \\" + 3", \'<\');', None, ';')
        self.expect('__asm__("" : "+x"(a[1]));', None)
        self.expect('f(a /* < 1 */, b);', None, ';')

    def test_macros(self):
        self.assertEqual(made('#define MOST 64\n'), ['#define MOST 65'])
        self.assertEqual(made('#ifndef A_H\n#define A_H\n#endif\n'), [])
        self.assertEqual(made('#define F(a, b) \\\n  do { \\\n    g(a); \\\n  } while (0)\n', operator='delete'), ['; \\'])
        self.assertEqual(made('#define F(a) ((a) + 2)\n'), ['#define F(a) ((a) - 2)', '#define F(a) ((a) + 3)'])


class PythonOperators(unittest.TestCase):
    def expect(self, text, operator, *wanted):
        self.assertEqual(made(text, py_sites, 'python/x.py', operator), list(wanted))

    def test_all(self):
        self.expect('a = b < c and d == 2\n', None, 'a = b <= c and d == 2', 'a = b < c or d == 2', 'a = b < c and d != 2',
                    'a = b < c and d == 3')
        self.expect('a = f(-1, *b) - 1\n', 'add-sub', 'a = f(-1, *b) + 1')
        self.expect('a = max(b, c) << d\n', None, 'a = min(b, c) << d', 'a = max(b, c) >> d')
        body = 'def f(a):\n    if a:\n        g(a)\n    b = a  # b = 1\n    return b\n'
        self.expect(body, 'negate', 'if not (a):')
        self.expect(body, 'delete', 'pass', 'pass  # b = 1')
        self.expect(body, 'return', 'return None')
        self.expect('def f():\n    return None\n', 'return', 'return True')

    def test_no_code(self):
        self.expect('"""a < 1 and f(2)"""\n# a = 1 + 2\nfrom a import (b,\n    c)\nimport d\n', None)
        self.expect('a = "1 < 2 and 3" f"{b}"\n', None)

    def test_compiles(self):
        self.assertTrue(py_sites.compiles('a = 1\n'))
        self.assertFalse(py_sites.compiles('a = = 1\n'))


class Draw(unittest.TestCase):
    def setUp(self):
        self.sources = draw.Sources(ROOT)

    def drawn(self, seed, only='emu/base'):
        return [operators.label(site, self.sources.sites(site.file)) for site in draw.draws(self.sources, 'emu', seed, only)]

    def test_seed(self):
        first = self.drawn('7')
        self.assertEqual(first, self.drawn('7'))
        self.assertNotEqual(first, self.drawn('8'))
        self.assertEqual(len(first), len({name.rpartition(':')[0] for name in first}), 'a line was drawn twice')
        self.assertGreater(len(first), 50)
        for name in first[:20]:
            site = operators.find(name, self.sources.sites)
            self.assertEqual(operators.label(site, self.sources.sites(site.file)), name)

    def test_names(self):
        for name in ('emu/base/threads.c', 'emu/base/threads.c:1:relational', 'emu/base/threads.c:1:nothing', 'emu/none.c:1:return'):
            with self.assertRaises(ValueError):
                operators.find(name, self.sources.sites)

    def test_shares(self):
        sizes = {'emu': 20000, 'gpu': 6000, 'train': 10000, 'cli': 16000, 'python': 100}
        share = draw.shares(sizes, 60)
        self.assertEqual(sum(share.values()), 60)
        self.assertEqual(share['python'], 6)
        self.assertGreater(share['emu'], share['cli'])
        self.assertEqual(sum(draw.shares(sizes, 7).values()), 7)
        self.assertEqual(draw.shares({'emu': 10, 'gpu': 0}, 3), {'emu': 3})
        order = draw.order(share)
        self.assertEqual({part: order.count(part) for part in share}, share)
        self.assertEqual(set(order[:10]), {'emu', 'gpu', 'train', 'cli', 'python'})

    def test_left_out(self):
        for part in draw.PARTS:
            names = draw.files(ROOT, part)
            self.assertGreater(len(names), 10, part)
            for name in names:
                self.assertFalse(name.startswith('emu/oracle/') or '/tests/' in name or name.endswith('function_polynomials.h'), name)


class Nearest(unittest.TestCase):
    def test_order(self):
        def test(name, folder):
            return suites.Test(name, folder, (), {}, '', (), 30)
        tests = [test('gemm', 'gemm'), test('gemm_seq', 'gemm'), test('arrays', 'array'), test('slow', 'array'), test('cli-x', 'cli'),
                 test('not-known', 'gemm')]
        seconds = {'gemm': 1, 'gemm_seq': 9, 'arrays': 1, 'slow': 5, 'cli-x': 1}
        first, wider = suites.nearest('emu/gemm/seq.c', tests, seconds)
        self.assertEqual([one.name for one in first], ['gemm_seq', 'gemm'])
        self.assertEqual([one.name for one in wider], ['arrays', 'slow'])
        first, wider = suites.nearest('cli/main.c', tests, seconds)
        self.assertEqual([one.name for one in first + wider], ['cli-x'])

    def test_build_that_fails(self):
        self.assertEqual(check_mutants.unbuilt('x\nFAILED: emu/a.c.o\nerror', 1)['result'], 'no compile')
        self.assertEqual(check_mutants.unbuilt('FAILED: docs/halfulp.1\nexit 1', 1)['by'], 'the build of docs/halfulp.1')


class Copy(unittest.TestCase):
    def test_source_that_git_does_not_know(self):
        """The copy has every file but builds, links as links, and loses what the source loses; with and without a git."""
        for path in (os.environ['PATH'], '/nowhere'):
            with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, PATH=path):
                source = pathlib.Path(folder) / 'source'
                for name in ('emu/a.c', 'tests/b.py', 'build/x.o', 'tests/__pycache__/b.pyc'):
                    (source / name).parent.mkdir(parents=True, exist_ok=True)
                    (source / name).write_text(name)
                (source / 'include').symlink_to('emu')
                shop = Workshop(source, pathlib.Path(folder) / 'copy', 1)
                shop.refresh()
                self.assertEqual(sorted(source_copy.names(shop.root)), ['emu/a.c', 'include', 'tests/b.py'])
                self.assertTrue((shop.root / 'include').is_symlink())
                (source / 'tests/b.py').unlink()
                (source / 'emu/a.c').write_text('other')
                shop.refresh()
                self.assertEqual(sorted(source_copy.names(shop.root)), ['emu/a.c', 'include'])
                self.assertEqual((shop.root / 'emu/a.c').read_text(), 'other')


class Files(unittest.TestCase):
    def test_ledger(self):
        with tempfile.TemporaryDirectory() as folder:
            path, header = pathlib.Path(folder) / 'ledger', {'seed': '7', 'count': 2, 'only': None}
            ledger = Ledger(path, header)
            self.assertFalse(ledger.resumed)
            ledger.add({'at': 'a:1:delete', 'result': 'killed'})
            ledger.add({'at': 'a:2:delete', 'result': 'no compile'})
            with open(path, 'a') as file:
                file.write('{"at": "a:3')  # killed while it wrote
            again = Ledger(path, header)
            self.assertTrue(again.resumed)
            self.assertEqual(sorted(again.rows), ['a:1:delete', 'a:2:delete'])
            self.assertEqual(len(again.counted()), 1)
            again.add({'at': 'a:4:delete', 'result': 'survived'})
            self.assertEqual(len(Ledger(path, header).rows), 3)
            with self.assertRaises(SystemExit):
                Ledger(path, {'seed': '8', 'count': 2, 'only': None})

    def test_equivalents(self):
        sources = draw.Sources(ROOT)
        rows = Equivalents(HERE / 'equivalent.txt')
        self.assertEqual(list(rows.stale(sources)), [])
        site = next(site for site in draw.draws(sources, 'emu', '7', 'emu/base')
                    if sources.text(site.file).count(sources.line(site).strip()) == 1)
        line = sources.line(site)
        above = sources.text(site.file).split('\n')[site.line - 2].strip()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'equivalent.txt'
            text = 'file: {}\nbefore: {}\nafter: {}\nreason: none\n'
            path.write_text('# rows\n\n' + text.format(site.file, line.strip(), operators.changed(line, site).strip()))
            self.assertEqual(Equivalents(path).reason(site, sources.text(site.file)), 'none')
            self.assertEqual(list(Equivalents(path).stale(sources)), [])
            named = text.replace('before', 'above: {}\nbefore', 1)
            path.write_text(named.format(site.file, above or 'x', line.strip(), operators.changed(line, site).strip()))
            self.assertEqual(Equivalents(path).reason(site, sources.text(site.file)), 'none' if above else None)
            for row in (named.format(site.file, 'no such line', line.strip(), operators.changed(line, site).strip()),
                        text.format(site.file, 'no such line', 'x'), text.format(site.file, line.strip(), line.strip() + ' x'),
                        text.format('emu/none.c', 'a', 'b')):
                path.write_text(row)
                self.assertEqual(len(list(Equivalents(path).stale(sources))), 1, row)
            path.write_text('file: a\nafter: b\n')
            with self.assertRaises(ValueError):
                Equivalents(path)


unittest.main()
