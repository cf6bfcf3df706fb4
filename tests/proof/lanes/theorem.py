# SPDX-License-Identifier: MIT
"""Theorems that are C functions: each returns 0 whatever it is given, or, where its name ends in _reached, 1 for something.

    run('Lanes', [Query('quick 3', 'lanes/ways.c', (), 'quick_codes', {'m': 3}, 'unsat')], options())

A query gives some operands their numbers and leaves the others free. It asks whether the function can return something
else than 0, or do something undefined. Prints a line for each query with the solver's processor seconds."""
import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import llvm
import solve
import terms as t
from llvm_calls import plain

# name, source beside tests/proof, what clang is told, function, operands with numbers, unsat or sat, seconds to wait
Query = namedtuple('Query', 'name source flags function fixed expect')
CLANG = ('-O2', '-fno-vectorize', '-fno-slp-vectorize', '-fno-strict-aliasing', '-S', '-emit-llvm', '-w')
TURNS = 40  # of a loop; what would go on behind them is a wrong result
sys.setrecursionlimit(100000)


def float_call(op, direction):
    """A function of two binary32 patterns that has no body in C."""
    return plain(lambda a, b: t.float_bits(t.float_operation(op, t.mode(direction), t.float_of_bits(a), t.float_of_bits(b))))


CALLS = {f'float_{op}_{d.lower()}': float_call(f'fp.{op}', d) for op in ('add', 'sub', 'mul', 'div')
         for d in ('RNE', 'RTN', 'RTP', 'RTZ')}
CALLS.update({name: plain(lambda a, b, name=name: t.applied(name, (a, b), 32)) for name in ('any_product', 'any_quotient')})


class Files:
    """Compiled sources of a tree, each translated once: the project's, or a copy with a planted fault."""

    def __init__(self, root, work, calls):
        self.root, self.work, self.calls, self.modules = root, work, calls, {}

    def module(self, source, flags):
        key = (source, flags)
        if key not in self.modules:
            out = self.work / f'{len(self.modules)}.ll'
            cpp = source.endswith('.cpp')
            command = ['clang++' if cpp else 'clang', '-std=c++17' if cpp else '-std=c11', *CLANG, *flags, '-I', str(self.root), '-I',
                       str(self.root / 'include'), str(self.root / 'tests/proof' / source), '-o', str(out)]
            subprocess.run(command, check=True)
            text = out.read_text()
            module = llvm.Module(text, self.calls, TURNS)
            self.modules[key] = module, names_of(self.root / 'tests/proof' / source)
        return self.modules[key]


def names_of(path):
    """The operands' names from the source's ARGUMENTS, as IR has none."""
    for source in [path, *path.parent.glob('*.h')]:
        found = re.search(r'#define ARGUMENTS ((?:[^\n]*\\\n)*[^\n]*)', source.read_text())
        if found:
            return [x.split()[-1] for x in found[1].replace('\\\n', ' ').split(',')]
    raise ValueError(f'{path}: no list of operands')


def operands(module, names, function, fixed):
    """The rest of the names: more1, more2, ..."""
    takes = module.operands(function)
    named = (names + [f'more{i}' for i in range(1, 9)])[:len(takes)]
    strange = set(fixed) - set(named)
    if strange:
        raise ValueError(f'{function} has no operand {strange}')
    return [t.constant(fixed[n], w) if n in fixed else t.variable(n, w) for n, (_, w) in zip(named, takes, strict=True)]


def wrong(files, query):
    """Holds where the function returns something else than 0 or does something undefined."""
    module, names = files.module(query.source, query.flags)
    out = module.run(query.function, operands(module, names, query.function, query.fixed))
    result = t.differs(out.value, t.constant(0, out.value.sort))
    return result if query.function.endswith('_reached') else t.disjunction(result, out.undefined)


def decided(files, query, solver, limit):
    """The answer; a model is held against the terms by numbers."""
    goal = wrong(files, query)
    if goal.op == 'constant':
        return solve.Answer('sat' if goal.data else 'unsat', {}, 0.0, 'folding')
    answer = solve.ask([goal], solver, limit)
    if answer.says == 'sat' and answer.model is not None:
        values = {v.data: answer.model.get(v.data, 0) for v in t.in_order([goal]) if v.op == 'variable'}
        if not any(x.op in ('applied', 'float_bits') for x in t.in_order([goal])) and t.evaluate([goal], values) != [1]:
            raise RuntimeError(f'{query.name}: the model does not make the query true')
    return answer


def options(description):
    p = argparse.ArgumentParser(description=description)
    p.add_argument('--all', action='store_true', help='every query, not the selection')
    p.add_argument('--only', default='', help='queries whose name contains this')
    p.add_argument('--solver', default='bitwuzla', choices=solve.SOLVERS)
    p.add_argument('--limit', type=float, default=None, help='seconds of the clock for a query')
    p.add_argument('--faults', action='store_true', help='plants the faults of faults.txt instead')
    p.add_argument('-j', type=int, default=solve.processors())
    return p.parse_args()


def missing(solver):
    """What this machine lacks, or None."""
    if not shutil.which('clang'):
        return 'clang'
    return None if importlib.util.find_spec(solver) else f'the Python package {solver}'


def report(query, answer, started):
    good = answer.says == query.expect
    model = '' if not answer.model or good and query.expect == 'unsat' else '  ' + ' '.join(
        f'{k}={v:#x}' for k, v in sorted(answer.model.items()) if not k.startswith('frozen'))
    note = '' if good else f'  WRONG, {query.expect} was expected'
    print(f'{query.name:<44} {answer.says:<8} {answer.seconds:8.1f}{note}{model}', flush=True)
    return good


def run(title, queries, o, root=ROOT, calls=None):
    """Decides all queries; 1 if one comes out wrong. Exit 77: this machine cannot."""
    lacks = missing(o.solver)
    if lacks:
        print(f'{title}: left out: {lacks} is not here')
        sys.exit(77)
    queries = [q for q in queries if o.only in q.name]
    start, bad, total = time.monotonic(), 0, 0.0
    with tempfile.TemporaryDirectory() as work:
        files = Files(root, pathlib.Path(work), dict(CALLS, **(calls or {})))
        for q in queries:
            files.module(q.source, q.flags)
        print(f'{title}: {len(queries)} queries, {o.solver} {solve.version(o.solver)}', flush=True)
        print(f'{"query":<44} {"answer":<8} {"CPU s":>8}')
        with ThreadPoolExecutor(o.j) as pool:
            for q, a in zip(queries, pool.map(lambda q: decided(files, q, o.solver, o.limit), queries)):
                total += a.seconds
                bad += not report(q, a, start)
    print(f'{len(queries) - bad} of {len(queries)} as expected, {total:.0f} CPU s of the solver')
    return bad


def planted(root, rows, work):
    """A copy of the sources with the rows of one fault written into it."""
    for name in ('emu', 'include', 'gpu', 'formats', 'tests/proof', 'tests/cuda_host'):
        if (root / name).is_dir():
            shutil.copytree(root / name, work / name, ignore=shutil.ignore_patterns('__pycache__'))
    for row in rows:
        path = work / row.path
        text, old = path.read_text(), '\n'.join(row.text)
        if text.count(old) != 1:
            raise ValueError(f'{row.number}: the text does not occur once in {row.path}')
        path.write_text(text.replace(old, '\n'.join(row.wrong)))
    return work


def run_faults(title, table, queries_of, o, root=ROOT, calls=None):
    """Each fault of the table must make the query that queries_of names sat."""
    sys.path.insert(0, str(root / 'tests/fault'))
    import faults
    rows = faults.rows_of(table)
    bad, total = 0, 0.0
    lacks = missing(o.solver)
    if lacks:
        print(f'{title}: left out: {lacks} is not here')
        sys.exit(77)
    numbers = sorted({r.number for r in rows})
    if set(numbers) != set(queries_of):
        raise ValueError(f'faults and their queries differ: {set(numbers) ^ set(queries_of)}')
    for n in numbers:
        if o.only and str(n) != o.only:
            continue
        with tempfile.TemporaryDirectory() as work:
            tree = planted(root, [r for r in rows if r.number == n], pathlib.Path(work) / 'tree')
            (pathlib.Path(work) / 'out').mkdir()
            files = Files(tree, pathlib.Path(work) / 'out', dict(CALLS, **(calls or {})))
            q = queries_of[n]._replace(name=f'fault {n}: {queries_of[n].name}', expect='sat')
            a = decided(files, q, o.solver, o.limit)
            total += a.seconds
            bad += not report(q, a, 0)
    print(f'{len(numbers) - bad} of {len(numbers)} faults are seen, {total:.0f} CPU s of the solver')
    return bad
