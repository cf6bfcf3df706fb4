#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The record of what has been proved, tests/golden/proof/theorems.txt, and the sources that it was proved for.

usage: theorems.py prove BUILD [NAME...]     asks every query of these theorems, of all without a name, as many side by
                                             side as there are processors, and records the theorems of which each answer
                                             is the expected one; leaves out those recorded for these sources, and resumes a run that was stopped
       theorems.py check                     the record names each theorem once and no other; says which were proved for other sources
       theorems.py header DEPFILE            the theorems as C, for `halfulp verify --theorems`

Between tabs the record has: theorem, hash of its sources, queries, processor seconds, solver, compiler, date.
"""
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections import namedtuple

sys.dont_write_bytecode = True
import nameless  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROOF = ROOT / 'tests' / 'proof'
LIST = PROOF / 'theorems.txt'
RECORD = ROOT / 'tests' / 'golden' / 'proof' / 'theorems.txt'
HEAD = 'theorem\tsources\tqueries\tseconds\tsolver\tcompiler\tdate'
# No theorem depends on them: the version, and the numbers of statuses, of which sources ask only whether one is HU_OK.
NOT_HASHED = [ROOT / 'include' / 'halfulp' / name for name in ('status.h',)]
# Headers here have the names of CUDA's.
STAND_INS = ROOT / 'gpu' / 'host'
# Where names in quotes and in brackets are looked for, after the including file's own folder.
FOLDERS = [ROOT, ROOT / 'include', PROOF, PROOF / 'lanes', STAND_INS]

Theorem = namedtuple('Theorem', 'name program queries starts says')
Proved = namedtuple('Proved', 'theorem sources queries seconds solver compiler date')


def theorems():
    rows = [line.split('\t') for line in LIST.read_text().splitlines() if line and not line.startswith('#')]
    for row in rows:
        if len(row) != len(Theorem._fields):
            sys.exit(f'{LIST}: "{row[0]}" has {len(row)} fields, not {len(Theorem._fields)}')
    return [Theorem(*row) for row in rows]


def record():
    """{name: Proved}"""
    lines = RECORD.read_text().splitlines() if RECORD.exists() else [HEAD]
    if lines[:1] != [HEAD]:
        sys.exit(f'{RECORD}: the first line does not name the columns')
    rows = [line.split('\t') for line in lines[1:]]
    for row in rows:
        if len(row) != len(Proved._fields):
            sys.exit(f'{RECORD}: "{row[0]}" has {len(row)} fields, not {len(Proved._fields)}')
    if len({row[0] for row in rows}) != len(rows):
        sys.exit(f'{RECORD}: a theorem is named twice')
    return {row[0]: Proved(*row) for row in rows}


# ---- sources ----

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([\w./]+)[>"]', re.M)
IMPORT = re.compile(r'^\s*(?:import|from) (\w+)', re.M)


def found(name, beside):
    return next((path for folder in [beside] + FOLDERS if (path := folder / name).is_file()), None)


@functools.lru_cache(maxsize=None)
def named_in(path):
    """Files of the tree that a file includes or imports."""
    text = path.read_text()
    names = [n + '.py' for n in IMPORT.findall(text)] if path.suffix == '.py' else INCLUDE.findall(text)
    return [p.resolve() for n in names if (p := found(n, path.parent))]


@functools.lru_cache(maxsize=None)
def reached_from(starts):
    left, reached = [found(start, PROOF).resolve() for start in starts.split()], set()
    while left:
        path = left.pop()
        if path not in reached:
            reached.add(path)
            left += named_in(path)
    return sorted(reached)


def files(theorem):
    """All files that a theorem's sources reach, the theorem's own among them."""
    return reached_from(theorem.starts)


def reads_text(theorem):
    """Does its Python read C as text, where the others read what clang makes of it?"""
    return theorem.program.startswith('function/')


def sources(theorem):
    """16 hexadecimal digits: nameless.py says of what. A declaration alone proves nothing: what it declares stands in a file that has
    the definition, or is not called. The files where the sources begin are asked for by name."""
    return hash_of(theorem.starts, reads_text(theorem))


@functools.lru_cache(maxsize=None)
def hash_of(starts, literally):
    reached = [path for path in reached_from(starts) if path not in NOT_HASHED]
    titles = {found(start, PROOF).resolve(): start for start in starts.split()}

    def included(path, name):
        one = found(name[1:-1], path.parent)
        return one and one.resolve()

    return nameless.sources_hash({path: path.read_text() for path in reached if path.suffix != '.py'}, included,
                                 {path.stem: path.read_text() for path in reached if path.suffix == '.py'}, titles,
                                 [path for path in reached if STAND_INS in path.parents], literally)


# ---- proving ----

def prove(build, theorem, hashed):
    """The theorem's row, None where it was not proved. Answers that came are kept in BUILD/theorems."""
    answers = build / 'theorems' / f'{theorem.name}-{hashed}.txt'
    answers.parent.mkdir(exist_ok=True)
    command = [str(PROOF / 'run.sh'), str(build), theorem.program, 'run', '-j', str(len(os.sched_getaffinity(0))), '--times', str(answers), '--resume',
               theorem.queries]
    if reads_text(theorem):
        command = [sys.executable, '-B', str(PROOF / theorem.program), str(ROOT), '--times', str(answers)]
    ended = subprocess.run(command).returncode
    if ended:
        print(f'{theorem.name}: not recorded, since {theorem.program} ended with {ended}', flush=True)
        return None
    rows = [line.split('\t') for line in answers.read_text().splitlines()]
    tools = dict(row[1:] for row in rows if row[0] == '#')
    rows = [row for row in rows if row[0] != '#']
    return Proved(theorem.name, hashed, str(len(rows)), f'{sum(float(row[2]) + float(row[3]) for row in rows):.1f}', tools['solver'],
                  tools['compiler'], datetime.date.today().isoformat())


def write(rows):
    order = [t.name for t in theorems()]
    lines = [HEAD] + ['\t'.join(rows[name]) for name in order if name in rows]
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text('\n'.join(lines) + '\n')


def prove_all(build, names):
    known, failed = {t.name: t for t in theorems()}, 0
    for name in names:
        if name not in known:
            sys.exit(f'theorems.py: no theorem {name} in {LIST}')
    for name in names or known:
        hashed, rows = sources(known[name]), record()
        if name in rows and rows[name].sources == hashed:
            print(f'{name}: recorded on {rows[name].date} for these sources')
            continue
        row = prove(build, known[name], hashed)
        failed += row is None
        if row:
            write({**record(), name: row})  # others may have written meanwhile
    return failed != 0


# ---- looking ----

def check():
    rows, known = record(), theorems()
    wrong = [f'{RECORD.name}: {name} is no theorem of {LIST.name}' for name in rows if name not in [t.name for t in known]]
    states = {t.name: 'not recorded' if t.name not in rows else 'proved' if rows[t.name].sources == sources(t) else 'proved for other sources'
              for t in known}
    for name, state in states.items():
        if state != 'proved':
            print(f'{name}: {state}')
    for line in wrong:
        print(line)
    print(f'{len(known)} theorems, {list(states.values()).count("proved")} of them proved for these sources')
    return 1 if wrong or not known else 0


def header(depfile):
    rows, reached = record(), {LIST, RECORD, pathlib.Path(nameless.__file__).resolve()}
    print('/* SPDX-License-Identifier: MIT */\n/* Made by scripts/theorems.py: name, statement, hash proved for, hash built from, queries, date. */')
    for t in theorems():
        row = rows.get(t.name, Proved(t.name, '-', '0', '-', '-', '-', '-'))
        print('{%s, %s, "%s", "%s", %s, "%s"},' % (json.dumps(t.name), json.dumps(t.says), row.sources, sources(t), row.queries, row.date))
        reached |= set(files(t))
    pathlib.Path(depfile).write_text('proof_theorems.h: %s\n' % ' '.join(str(p).replace(' ', '\\ ') for p in sorted(reached)))


def main():
    what, rest = sys.argv[1:2], sys.argv[2:]
    if what == ['prove'] and rest:
        sys.exit(prove_all(pathlib.Path(rest[0]).resolve(), rest[1:]))
    if what == ['check'] and not rest:
        sys.exit(check())
    if what == ['header'] and len(rest) == 1:
        return header(rest[0])
    sys.exit(__doc__)


if __name__ == '__main__':
    main()
