# SPDX-License-Identifier: MIT
"""bench/README.md's generated part, bench/goals.csv, bench/limits.csv, and bench/measure.py over programs made up here."""
import contextlib
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BENCH = ROOT / 'bench'
sys.path.insert(0, str(BENCH))
import instructions  # noqa: E402
import limits  # noqa: E402
import rows as table  # noqa: E402
import tables  # noqa: E402

CPUINFO = '''processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Made Up
stepping\t: 8
flags\t\t: fpu fma avx2 avx512f amx_bf16 avx512_bf16
'''
# Prints its figures, which are worse in every further run; fails while the file `stop` is there.
PROGRAM = '''#!/bin/sh
here=$(dirname "$0")
[ ! -e "$here/stop" ] || { echo "made to stop" >&2; exit 3; }
n=$(cat "$here/count" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$here/count"
echo "row,level,threads,unit,figure"
echo "\\"grid values, rne, float8_e4m3fn\\",avx512,1,time / memcpy,0.$n"
echo "\\"grid values, rto, float8_e4m3fn\\",avx512,1,time / memcpy,1.$n"
echo "\\"grid values, other\\",avx512,1,time / memcpy,5"
'''
GEMM = '''#!/bin/sh
echo "row,level,threads,unit,figure"
echo "\\"intel.vdpbf16ps, bfloat16 x bfloat16 to binary32, codes nn, normal\\",bf16,1,speed / sgemm,0.5"
'''
TRAIN = '''#!/bin/sh
echo "row,level,threads,unit,figure"
echo '"digits, binary32",best,1,us,60'
echo '"digits, S2FP8, products",best,1,us,90'
echo '"digits, S2FP8, products",best,1,time / binary32,1.5'
echo '"digits, S2FP8, products",best,1,rounding / products,0.5'
'''


def run(*arguments):
    return subprocess.run([sys.executable, '-B', *map(str, arguments)], capture_output=True, text=True, check=False)


def here(*arguments):
    """tables.py in this process, which has its modules already: exit code and error text, as of run()."""
    words, error, code = sys.argv, io.StringIO(), 0
    sys.argv = ['tables.py', *map(str, arguments)]
    try:
        with contextlib.redirect_stderr(error):
            tables.main()
    except SystemExit as end:
        code = 1
        print(end.code, file=error)
    finally:
        sys.argv = words
    return subprocess.CompletedProcess(arguments, code, '', error.getvalue())


class Page(unittest.TestCase):
    def test_readme_is_what_the_results_make(self):
        z = run(BENCH / 'tables.py', '--check')
        self.assertEqual(z.returncode, 0, z.stderr)

    def test_the_chart_is_what_its_file_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / 'speed.svg'
            z = run(ROOT / 'scripts/made/speed_chart.py', BENCH / 'results/amd-25-17.csv', made)
            self.assertEqual(z.returncode, 0, z.stderr)
            self.assertEqual(made.read_text(), (ROOT / 'docs/img/speed.svg').read_text(),
                             'python3 scripts/made/speed_chart.py bench/results/amd-25-17.csv docs/img/speed.svg')
            z = run(ROOT / 'scripts/made/speed_chart.py', BENCH / 'results/nvidia-90-h200.csv', made)
            self.assertEqual(z.returncode, 1)
            self.assertIn('the file has no row "8-bit codes, rne, float8_e4m3fn" of array', z.stderr)

    def test_all_rows_are_printed(self):
        z = run(BENCH / 'tables.py', '--all')
        self.assertEqual(z.returncode, 0, z.stderr)
        rows = {(r['benchmark'], r['row'], r['unit']) for path in (BENCH / 'results').glob('*.csv') for r in table.read_results(path)[1]}
        self.assertEqual(len([line for line in z.stdout.splitlines() if line.startswith('| `')]), len(rows))
        self.assertIn('| `sum` | time / memcpy | 3.6 | avx2 2.67 to 3.15 | avx2 **7.96** | avx2 **12.3** |', z.stdout)

    def test_a_changed_figure_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for one in (BENCH / 'results').glob('*.csv'):
                shutil.copy(one, folder)
            path = folder / 'intel-6-106.csv'
            text = path.read_text()
            line = next(x for x in text.splitlines() if 'decode 8-bit codes, float8_e4m3fn",avx512' in x)
            path.write_text(text.replace(line, line.replace('0.98', '9.98')))
            self.assertNotEqual(path.read_text(), text)
            z = run(BENCH / 'tables.py', '--check', '--results', folder)
            self.assertEqual(z.returncode, 1)
            self.assertIn('is not what the results make', z.stderr)

    def test_committed_verdicts_are_those_of_the_goals(self):
        goals = table.read_goals()
        for path in sorted((BENCH / 'results').glob('*.csv')):
            machine, rows = table.read_results(path)
            written = [(r['goal'], r['met']) for r in rows]
            self.assertNotIn(('', ''), written, 'a row without a goal')
            table.judge(rows, goals, machine['flags'].split())
            self.assertEqual(written, [(r['goal'], r['met']) for r in rows], path)

    def test_every_goal_is_of_a_measured_row_or_needs_a_feature(self):
        seen = [(r['benchmark'], r['row'], r['level'], r['unit']) for path in (BENCH / 'results').glob('*.csv')
                for r in table.read_results(path)[1]]
        for goal in table.read_goals():
            if not goal['needs']:
                alone = [dict(goal, needs='')]
                self.assertTrue(any(table.goal_of(alone, [], *one) for one in seen), f'no row has {goal}')

    def test_a_miss_is_bold_and_one_run_has_one_figure(self):
        row = {'best': 1.2, 'worst': 1.5, 'met': 'no', 'level': 'avx2', 'threads': '1'}
        self.assertEqual(tables.cell([row]), 'avx2 **1.20 to 1.50**')
        self.assertEqual(tables.cell([dict(row, met='yes', worst=1.2, level='best', threads='2')]), '1.20 (2 threads)')

    def test_a_page_without_the_marks_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / 'page.md'
            page.write_text('text\n')
            z = run(BENCH / 'tables.py', '--readme', page)
            self.assertEqual((z.returncode, page.read_text()), (1, 'text\n'))
            self.assertIn('page.md: the lines', z.stderr)


class Bounds(unittest.TestCase):
    """bench/limits.csv: each row that misses its goal has a line with a figure, and each line has such a row."""

    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'limits.csv'
            path.write_text(text)
            page = pathlib.Path(folder) / 'README.md'
            shutil.copy(BENCH / 'README.md', page)
            made = here('--limits', path, '--readme', page)
            return made, here('--limits', path, '--readme', page, '--check')

    def test_no_line_can_be_left_out(self):
        head, *lines = (BENCH / 'limits.csv').read_text().splitlines(keepends=True)
        for i in range(0, len(lines), 5):
            made, checked = self.check(head + ''.join(lines[:i] + lines[i + 1:]))
            self.assertEqual((made.returncode, checked.returncode), (0, 1), lines[i])
            self.assertIn('no line says what bounds', made.stderr)
            self.assertIn('no line says what bounds', checked.stderr)

    def test_a_line_needs_a_row_that_misses_its_goal(self):
        text = (BENCH / 'limits.csv').read_text()
        made, checked = self.check(text + 'array,no such row,*,*,1 of it,nothing\n')
        self.assertEqual((made.returncode, checked.returncode), (0, 1))
        self.assertIn(f'line {len(text.splitlines()) + 1}: bounds no row that misses its goal', checked.stderr)

    def test_a_limit_has_a_figure_and_no_field_is_empty(self):
        head = ','.join(table.LIMIT_COLUMNS) + '\n'
        for line, said in (('array,*,*,*,it is slow,tried', 'line 2: limit: has no figure'),
                           ('array,*,*,*,slow under AVX2,tried', 'line 2: limit: has no figure'),
                           ('array,*,*,*,1.2,', 'line 2: why: is empty'), ('array,*,*,*', 'line 2: not 6 fields')):
            made, _ = self.check(head + line + '\n')
            self.assertEqual(made.returncode, 1)
            self.assertIn('limits.csv: ' + said, made.stderr)

    def test_patterns(self):
        limit = {'benchmark': 'gemm', 'row': 'seq(*,r??), *|nv.*', 'level': 'avx2|vnni', 'machine': 'amd-*'}
        of = lambda row, level, machine: table.bounds(limit, machine, {'benchmark': 'gemm', 'row': row, 'level': level})  # noqa: E731
        self.assertTrue(of('seq(binary16,rto), x', 'vnni', 'amd-25-17') and of('nv.volta', 'avx2', 'amd-25-1'))
        self.assertFalse(of('seq(binary16), x', 'vnni', 'amd-25-17') or of('nv.volta', 'avx512', 'amd-25-1') or of('nv.volta', 'avx2', 'intel-6-106'))


class Goals(unittest.TestCase):
    def test_the_strictest_goal_of_the_machine_counts(self):
        goals = [{'benchmark': 'gemm', 'row': 'x(*', 'level': 'avx512|amx', 'unit': unit, 'goal': goal, 'needs': needs}
                 for unit, goal, needs in (('speed / sgemm', 2, ''), ('speed / sgemm', 8, 'amx_int8|amx_fp16'), ('ns', 3, ''), ('ns', 4, ''))]
        of = lambda flags, unit, level='amx': table.goal_of(goals, flags, 'gemm', 'x(1)', level, unit)  # noqa: E731
        self.assertEqual([of([], 'speed / sgemm'), of(['amx_fp16'], 'speed / sgemm'), of([], 'ns'), of([], 'ns', 'avx2')], [2, 8, 3, None])

    def test_wrong_files_are_named(self):
        for text, said in (('a,b\n', 'line 1: the columns are a,b'),
                           ('benchmark,row,level,unit,goal,needs,source\na,b,c,ns,fast,,x\n', "line 2: goal: 'fast' is not a number"),
                           ('benchmark,row,level,unit,goal,needs,source\na,b,c,ns,-1,,x\n', 'line 2: goal: -1 is not above 0'),
                           ('benchmark,row,level,unit,goal,needs,source\na,b,c,ns,1,mmx,x\n', 'needs: unknown feature mmx'),
                           ('benchmark,row,level,unit,goal,needs,source\na,b,c\n', 'line 2: not 7 fields')):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / 'goals.csv'
                path.write_text(text)
                with self.assertRaisesRegex(table.Wrong, re.escape(f'{path}: ') + '.*' + re.escape(said)):
                    table.read_goals(path)


class Measure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        (self.at / 'build' / 'bench').mkdir(parents=True)
        (self.at / 'cpuinfo').write_text(CPUINFO)
        for name, text in (('bench_array', PROGRAM), ('bench_gemm', GEMM), ('bench_train', TRAIN)):
            self.program(name, text)

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.at / 'build' / 'bench' / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def measure(self, *more):
        return run(BENCH / 'measure.py', self.at / 'build', '--to', self.at, '--cpuinfo', self.at / 'cpuinfo', '--quick', *more)

    def results(self):
        machine, rows = table.read_results(self.at / 'intel-6-143.csv')
        return machine, {(r['benchmark'], r['row'], r['unit']): r for r in rows}

    def test_best_worst_goal_and_machine(self):
        z = self.measure()
        self.assertEqual(z.returncode, 0, z.stderr)
        machine, rows = self.results()
        self.assertEqual([machine[k] for k in ('machine', 'stepping', 'flags')],
                         ['Intel(R) Xeon(R) Made Up', '8', 'fma avx2 avx512f avx512_bf16 amx_bf16'])
        for key in ('cores', 'date', 'compiler', 'openblas', 'commit', 'load'):
            self.assertTrue(machine[key], key)
        row = rows['array', 'grid values, rne, float8_e4m3fn', 'time / memcpy']
        self.assertEqual([row[k] for k in ('best', 'worst', 'runs', 'goal', 'met', 'level', 'threads')],
                         [0.1, 0.3, '3', '1', 'yes', 'avx512', '1'])
        self.assertIn('quick', row['from'])
        self.assertEqual(rows['array', 'grid values, rto, float8_e4m3fn', 'time / memcpy']['met'], 'no')
        self.assertNotIn(('array', 'grid values, other', 'time / memcpy'), rows)  # without a goal
        gemm = rows['gemm', 'intel.vdpbf16ps, bfloat16 x bfloat16 to binary32, codes nn, normal', 'speed / sgemm']
        self.assertEqual([gemm['goal'], gemm['met']], ['0.9', 'no'])
        self.assertEqual(rows['train', 'digits, S2FP8, products', 'time / binary32']['best'], 1.5)
        self.assertEqual(rows['train', 'digits, S2FP8, products', 'rounding / products']['best'], 0.5)
        every = table.read_results(self.at / 'build/bench/all.csv')[1]
        self.assertEqual([(r['row'], r['unit'], r['best'], r['goal']) for r in every if not r['goal'] and r['benchmark'] != 'gemm'],
                         [('grid values, other', 'time / memcpy', 5, ''), ('digits, binary32', 'us', 60, ''),
                          ('digits, S2FP8, products', 'us', 90, '')])

    def test_a_stopped_run_goes_on_and_a_finished_one_starts_again(self):
        self.program('bench_gemm', '#!/bin/sh\nexit 3\n')
        z = self.measure()
        self.assertEqual(z.returncode, 1)
        self.assertIn('bench_gemm --size 512 --rounds 9: exit code 3', z.stderr)
        self.assertFalse((self.at / 'intel-6-143.csv').exists())
        self.program('bench_gemm', GEMM)
        self.assertEqual(self.measure().returncode, 0)
        self.assertEqual((self.at / 'build/bench/count').read_text(), '3\n')  # the first run was kept
        self.assertEqual(self.measure().returncode, 0)
        self.assertEqual((self.at / 'build/bench/count').read_text(), '6\n')

    def test_another_build_makes_kept_runs_useless(self):
        self.program('bench_gemm', '#!/bin/sh\nexit 3\n')
        self.assertEqual(self.measure().returncode, 1)
        self.program('bench_gemm', GEMM)
        self.program('bench_array', PROGRAM + '# another\n')
        self.assertEqual(self.measure().returncode, 0)
        self.assertEqual((self.at / 'build/bench/count').read_text(), '4\n')

    def test_only_leaves_the_other_rows(self):
        self.assertEqual(self.measure('--runs', '1').returncode, 0)
        self.program('bench_gemm', GEMM.replace('0.5', '2.5'))
        self.assertEqual(self.measure('--only', 'bench_gemm').returncode, 0)
        rows = self.results()[1]
        self.assertEqual({key[0]: row['runs'] for key, row in rows.items()}, {'array': '1', 'train': '1', 'gemm': '3', 'presets': '3'})
        self.assertEqual([row['best'] for key, row in rows.items() if key[0] in ('gemm', 'presets')], [2.5, 2.5])

    def test_wrong_output_and_an_empty_build_are_named(self):
        self.program('bench_gemm', '#!/bin/sh\necho something\n')
        z = self.measure()
        self.assertEqual(z.returncode, 1)
        self.assertIn("bench_gemm: its first line is 'something'", z.stderr)
        shutil.rmtree(self.at / 'build/bench')
        z = self.measure()
        self.assertEqual(z.returncode, 1)
        self.assertIn('no benchmarks in it; configure it with -Dbench=enabled', z.stderr)


class Limits(unittest.TestCase):
    LOOP = ['vmovups (%rdi),%zmm0', 'vfmadd213ps (%rsi){1to16},%zmm0,%zmm1', 'vbroadcastss 4(%rsi),%zmm2', 'vmulps %zmm2,%zmm0,%zmm3',
            'vandps %zmm4,%zmm1,%zmm5', 'vfmadd213ps 8(%rsi){1to16},%zmm0,%zmm1', 'vfmadd213ps 12(%rsi){1to16},%zmm0,%zmm1',
            'add $64,%rdi', 'cmp %rdi,%rax']

    def test_an_inner_loop_is_counted_per_vector(self):
        code = [(i, text) for i, text in enumerate(['nop'] + self.LOOP + ['jne 1 <tile+0x1>', 'jne 0 <tile>'])]
        self.assertEqual(limits.inner_loops(code), [(1, 10)])
        one, = limits.counted('tile', code)
        self.assertEqual((one.fma, one.other, one.all), (1, 0.25, 2.5))
        self.assertEqual((limits.two_ports(one), limits.four_pipes(one, 'avx512'), limits.four_pipes(one, 'avx2')), (0.8, 1, 1))

    def test_a_loop_that_spreads_nothing_is_left_out(self):
        code = [(i, text.replace('{1to16}', '')) for i, text in enumerate(self.LOOP + ['jne 0 <tile>'])]
        self.assertEqual(list(limits.counted('tile', code)), [])

    def test_instructions_are_counted_within_the_call(self):
        self.assertEqual([instructions.function_of(x) for x in ('quantize bfloat16 rne normal', 'scaled-decode mxfp4', 'scaled-decode_n mxfp4')],
                         ['hu_quantize_n', 'hu_scaled_decode', 'hu_decode_n'])
        self.assertEqual(instructions.collected('events: Ir\nsummary: 524288\nfn=1\ntotals: 524288\n'), 524288)
        for text in ('events: Ir\nsummary: 0\ntotals: 0\n', 'events: Ir\n'):
            self.assertRaises(ValueError, instructions.collected, text)
        z = run(BENCH / 'instructions.py', 'build', 'no such row')
        self.assertEqual((z.returncode, 'no row "no such row"' in z.stderr), (1, True))

    def test_a_build_without_the_level_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            z = run(BENCH / 'limits.py', folder)
        self.assertNotEqual(z.returncode, 0)
        self.assertIn('this build has no such level', z.stderr)


if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    unittest.main()
