#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the queries of queries.py and says which came out as they must.

    prove.py list [NAME...]                  names, and what is expected
    prove.py run [OPTION...] [NAME...]       NAME may hold * and ?; all of them without one

    --quick            only those of every `make check-all`
    --every N          of these, in the order of their names, one of N
    -j N               so many side by side (1)
    --solver S         bitwuzla (the default), z3 or cvc5
    --limit SECONDS    what takes longer is unknown, and a failure
    --times FILE       a line a query, as they come: name, answer, processor seconds, seconds to build it, terms; a line of # for each tool
    --resume           leaves out the queries that FILE has as they must be
    --smtlib FOLDER    also writes each query as FOLDER/NAME.smt2, for any solver

Ends with 1 if an answer is not the expected one, with 77 and words where clang or a solver is missing."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import queries  # noqa: E402
import solve  # noqa: E402
import sources  # noqa: E402
import terms  # noqa: E402


def missing(solver):
    """What has to be installed, as words; None if nothing."""
    if sources.clang() is None:
        return 'clang is not on the PATH (Debian: clang)'
    if not solve.there(solver):
        return f'{solver} is not installed (PyPI: {"z3-solver" if solver == "z3" else solver})'
    return None


def one(name, solver, limit, folder):
    """Builds and asks one query: name, answer, seconds to build, number of terms."""
    query = next(q for q in queries.everything() if q.name == name)
    before = time.process_time()
    assertions = query.make()
    built = time.process_time() - before
    if folder:
        path = pathlib.Path(folder) / f'{name}.smt2'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(terms.smtlib(assertions))
    return name, solve.ask(assertions, solver, limit), built, len(terms.in_order(assertions))


def said(query, answer, built, count):
    """A line about one query, and whether it came out as it must."""
    good = answer.says == query.expects
    line = f'{"ok  " if good else "FAIL"} {query.name}: {answer.says}, {answer.seconds:.2f} s'
    if not good:
        line += f', expected {query.expects}'
        line += ''.join(f'\n       {n} = {v:#x}' for n, v in sorted((answer.model or {}).items()) if isinstance(v, int))
    return good, line, f'{query.name}\t{answer.says}\t{answer.seconds:.2f}\t{built:.2f}\t{count}\n'


def compiler():
    """The name and version that clang says of itself."""
    said = subprocess.run([sources.clang(), '--version'], capture_output=True, text=True, check=True).stdout
    return 'clang ' + re.search(r'version (\S+)', said)[1]


def known(path):
    """{name: answer} of the queries in a file of --times."""
    if not pathlib.Path(path).exists():
        return {}
    rows = [line.split('\t') for line in pathlib.Path(path).read_text().splitlines()]
    return {row[0]: row[1] for row in rows if row[0] != '#' and len(row) == 5}


def run(given):
    what = missing(given.solver)
    if what:
        print(f'left out: {what}')
        return 77
    asked = sorted(queries.chosen(given.names, given.quick), key=lambda q: q.name)[::given.every]
    asked.sort(key=lambda q: -q.seconds)
    chosen = len(asked)
    if given.resume:
        answers = known(given.times)
        asked = [q for q in asked if answers.get(q.name) != q.expects]
    tools = f'#\tsolver\t{given.solver} {solve.version(given.solver)}\n#\tcompiler\t{compiler()}\n'
    print(f'{len(asked)} queries, {given.solver} {solve.version(given.solver)}, {sources.clang()}', flush=True)
    times = open(given.times, 'a' if given.resume else 'w', buffering=1, encoding='utf-8') if given.times else None
    if times:
        times.write(tools)
    failed, seconds, named = 0, 0.0, {q.name: q for q in asked}
    with concurrent.futures.ProcessPoolExecutor(given.j) as pool:
        made = [pool.submit(one, name, given.solver, given.limit, given.smtlib) for name in named]
        for done in concurrent.futures.as_completed(made):
            if done.exception():
                pool.shutdown(cancel_futures=True)
            name, answer, built, count = done.result()
            good, line, record = said(named[name], answer, built, count)
            print(line, flush=True)
            failed += not good
            seconds += answer.seconds + built
            if times and (good or not given.resume):
                times.write(record)
    print(f'{len(asked) - failed} of {len(asked)} as expected, {seconds:.1f} processor seconds')
    return 1 if failed or not chosen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('what', choices=['list', 'run'])
    parser.add_argument('names', nargs='*')
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('-j', type=int, default=1)
    parser.add_argument('--solver', choices=solve.SOLVERS, default='bitwuzla')
    parser.add_argument('--limit', type=float)
    parser.add_argument('--times')
    parser.add_argument('--resume', action='store_true')
    parser.add_argument('--smtlib')
    given = parser.parse_intermixed_args()
    if given.resume and not given.times:
        parser.error('--resume requires --times')
    if given.every < 1:
        parser.error('--every requires a number from 1 on')
    try:
        if given.what == 'run':
            return run(given)
        for q in queries.chosen(given.names, given.quick):
            print(q.name, q.expects)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main())
