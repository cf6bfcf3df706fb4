# SPDX-License-Identifier: MIT
"""Theorems that are C functions of numbers: each returns 0 whatever it is given, or, for a witness, something else once.

A query gives some operands their numbers and leaves the others free. It asks whether the function can return something else
than 0, or do something undefined."""
import functools
import re
import sys

import llvm
import terms as t
from llvm_calls import plain
from query import Query
from sources import HERE, Sources

sys.setrecursionlimit(100000)
TREE = Sources()
# -O2 takes what functions are called with into account; loops stay loops. Turns of a loop: at most 31 are needed.
OPTIONS, TURNS = ('-O2', '-fno-strict-aliasing'), 40


def float_call(op, direction):
    """A function of patterns of binary32 or binary64 that has no body in C."""
    return plain(lambda *x: t.float_bits(t.float_operation(op, t.mode(direction), *map(t.float_of_bits, x))))


def any_call(name):
    """A function of which nothing is known."""
    return plain(lambda a, b: t.applied(name, (a, b), a.sort))


DIRECTIONS = ('RNE', 'RTN', 'RTP', 'RTZ')
CALLS = {f'float{width}_{op}_{d.lower()}': float_call(f'fp.{op}', d) for width in ('', '64') for op in ('add', 'sub', 'mul')
         for d in DIRECTIONS}
CALLS.update({f'float64_whole_{d.lower()}': float_call('fp.roundToIntegral', d) for d in DIRECTIONS})
CALLS.update({name: any_call(name) for name in ('any_product', 'any_quotient', 'any_sum64', 'any_product64', 'any_whole64')})


@functools.lru_cache(maxsize=None)
def module(sources, name, flags):
    ir = sources.text(name, *OPTIONS, *flags)
    return llvm.Module(own_functions(ir) if name.endswith('.cpp') else ir, CALLS, TURNS)


def own_functions(ir):
    """The functions with names as C has them that take and give numbers: not what C++'s headers add."""
    kept, keep = [], True
    for line in ir.split('\n'):
        if line.startswith('define'):
            keep = re.match(r'define .*i32 @[a-z_]+\((i\d+ [a-z ]*%\d+(, )?)+\)', line) is not None
        if keep and not line.startswith(('%"', '@', '$')):
            kept.append(line)
        keep = keep or line == '}'
    return '\n'.join(kept)


@functools.lru_cache(maxsize=None)
def names_of(source):
    """The operands' names from ARGUMENTS in the source or a header beside it, as IR has none."""
    path = HERE / source
    for file in [path, *path.parent.glob('*.h')]:
        found = re.search(r'#define ARGUMENTS ((?:[^\n]*\\\n)*[^\n]*)', file.read_text())
        if found:
            return [x.split()[-1] for x in found[1].replace('\\\n', ' ').split(',')]
    raise ValueError(f'{path}: no list of operands')


def operands(code, names, function, fixed):
    """Operands behind those of ARGUMENTS are more1, more2, ..."""
    takes = code.operands(function)
    named = (names + [f'more{i}' for i in range(1, 9)])[:len(takes)]
    strange = set(fixed) - set(named)
    if strange:
        raise ValueError(f'{function} has no operand {strange}')
    return [t.constant(fixed[n], w) if n in fixed else t.variable(n, w) for n, (_, w) in zip(named, takes, strict=True)]


def wrong(sources, source, flags, function, fixed):
    """The assertion that the function returns something else than 0, or does something undefined."""
    code = module(sources, source, flags)
    out = code.run(function, operands(code, names_of(source), function, fixed))
    return [t.disjunction(t.differs(out.value, t.constant(0, out.value.sort)), out.undefined)]


def reached(sources, source, flags, function, fixed):
    """The assertion that it returns something else than 0, and all that it does is defined."""
    code = module(sources, source, flags)
    out = code.run(function, operands(code, names_of(source), function, fixed))
    return [t.conjunction(t.differs(out.value, t.constant(0, out.value.sort)), t.negation(out.undefined))]


def theorem(name, source, flags, function, fixed, seconds=5.0):
    return Query(name, 'unsat', lambda sources=TREE: wrong(sources, source, flags, function, fixed), seconds, False)


def witness(name, source, flags, function, fixed, seconds=0.5):
    return Query(name, 'sat', lambda sources=TREE: reached(sources, source, flags, function, fixed), seconds, True)


def with_fault(number, query, quick):
    """The query on the sources with a planted fault in them."""
    return Query(f'fault/{number}-{query.name.replace("/", "-")}', 'sat', lambda: query.make(Sources(number)), 1.0, quick)


def chosen(queries, names, faults, often):
    """All queries; those with these names are of every run, and so are some faults. faults: a number and a query's name."""
    out = [q._replace(quick=q.quick or q.name in names) for q in queries]
    named = {q.name: q for q in out}
    missing = [n for n in [*names, *faults.values()] if n not in named]
    if missing or len(named) != len(out):
        raise ValueError(f'no such query: {missing}' if missing else 'two queries of one name')
    return out + [with_fault(number, named[name], number in often) for number, name in faults.items()]
