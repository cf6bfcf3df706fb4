# SPDX-License-Identifier: MIT
"""Every query by name, with what must come of it: theorems are `unsat`, witnesses and planted faults `sat`.

A name is THEOREM/CASE. `quick` are those of every `make check-all`; the others wait for -Dexhaustive=true."""
import fnmatch

import arith
import core
import specification as s
from query import Query
from sources import TRAPS, Sources

TREE = Sources()  # as it stands, compiled once per process
QUICK_M = {'P1': 3, 'P2': 0}  # of every run: E4M3 in the deterministic modes; no trailing digits, in all modes
# Digits of a (its first one on top) and of b: those of FP4 and FP8, and more. Beyond them the time grows quickly.
DIVISIONS = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 6))
ROOTS = (2, 3, 4, 5, 6, 8)
EVENTS = [i for i, name in enumerate(s.EVENTS) if name not in ('nan_in', 'inf_in')]


def theorem(name, f, *args, seconds=1.0, quick=True):
    return Query(name, 'unsat', lambda sources=TREE: f(sources, *args), seconds, quick)


def witness(name, f, *args, seconds=0.3, quick=True):
    return Query(name, 'sat', lambda sources=TREE: f(sources, *args), seconds, quick)


def core_queries():
    """P1 to P9, and that what they suppose can happen."""
    out = [theorem(f'P1/m={m}', core.p1, m, seconds=15, quick=m == QUICK_M['P1']) for m in range(31)]
    out += [theorem(f'P2/m={m}', core.p2, m, seconds=20, quick=m == QUICK_M['P2']) for m in range(31)]
    for kind, name in core.NAMES.items():
        out += [theorem(f'P3/{name}:{n}', core.p3, kind, n, quick=n in (1, 32)) for n in range(1, 33)]
        out.append(theorem(f'P3/lemmas-{name}', core.p3_lemma, kind))
        out += [theorem(f'P23/m=3-{name}:{n}', core.direct, 3, kind, n, seconds=20, quick=False) for n in (1, 7, 32)]
    out += [theorem(f'P4/digit={d}', core.p4, d, seconds=0.1, quick=d in (0, 1, 31, 32, 62)) for d in range(63)]
    out += [theorem('P5/specials', core.p5), theorem('P6/traps', core.p6, *TRAPS), theorem('P6/poison', core.p6),
            theorem('P7/format_check', core.p7), theorem('P7/large', core.p7_large), theorem('P8/unpack', core.p8, seconds=5),
            theorem('P9/max', core.p9_max), theorem('P9/one-code-a-value', core.p9_grows, seconds=5)]
    for a, b in ((31, 31), (31, 64), (64, 31)):
        out += [theorem(f'P9/compare-{a}-{b}', core.p9_compare, a, b), theorem(f'P9/compare-far-{a}-{b}', core.p9_compare_far, a, b)]
    out += [witness(f'witness/event-{s.EVENTS[i]}', core.witness, 3, ('event', i)) for i in EVENTS]
    for axis, values in (('zero', 3), ('subnormal', 3), ('inf', 3), ('nan', 6), ('overflow', 3), ('negative', 3), ('round', 11),
                         ('saturate', 4), ('tiny', 2), ('sign', 2), ('negzero', 2), ('minus', 2), ('sticky', 2)):
        out += [witness(f'witness/{axis}={v}', core.witness, 3, (axis, v), quick=v == values - 1) for v in range(values)]
    return out


def arith_queries():
    """P10 and P11."""
    out = []
    for name, letters, more in (('add', 'ab', 1), ('div', 'a', 0), ('sqrt', 'a', 0)):
        count = 1 if name == 'sqrt' else 2
        out += [theorem(f'P10/top-{name}-{x}={d}', arith.same_on_top, f'proof_{name}', x, d, count, more, seconds=0.1,
                        quick=d in (0, 30)) for x in letters for d in range(63)]
    out += [theorem(f'P10/add={d}', arith.add, d, quick=d in (-1, 0, 1, 64, 128)) for d in range(-128, 129)]
    out += [theorem(f'P10/add-far-{name}', arith.add_far, 64, above) for name, above in (('left', True), ('right', False))]
    out.append(theorem('P10/mul', arith.mul, 32))
    out += [theorem(f'P10/div={a}-{b}', arith.div, b, a, seconds=10, quick=a == 3 and b == 3) for a, b in DIVISIONS]
    out += [theorem(f'P10/sqrt={d}', arith.sqrt, d, seconds=10, quick=d == 4) for d in ROOTS]
    for name, digits, count, more in (('add', 64, 2, 1), ('mul', 32, 2, 0), ('fma', 32, 3, 1), ('div', 32, 2, 0), ('sqrt', 63, 1, 0)):
        out.append(theorem(f'P11/{name}', arith.fits, f'proof_{name}', digits, count, more))
    out += [theorem(f'P11/unpack{w}', arith.unpacks, w) for w in (32, 64)] + [theorem('P11/pack64', arith.packs64, 31)]
    return out


# Each planted fault of the core that rounding, unpacking or descriptors can show, and a query that it makes satisfiable.
FAULTS = {1: 'P1/m=3', 2: 'P3/sra:7', 3: 'P1/m=3', 4: 'P1/m=3', 5: 'P1/m=3', 6: 'P1/m=3', 7: 'P1/m=3', 8: 'P1/m=3', 10: 'P5/specials',
          11: 'P1/m=3', 12: 'P8/unpack', 13: 'P1/m=0', 14: 'P3/src:7', 15: 'P3/srb:7', 16: 'P5/specials', 17: 'P10/add=128', 18: 'P10/add=0', 20: 'P10/sqrt=2'}


def with_fault(number, query):
    """The query on the sources with a planted fault in them."""
    return Query(f'fault/{number}-{query.name.replace("/", "-")}', 'sat', lambda: query.make(Sources(number)), 1.0, True)


def everything():
    """All queries, a name each."""
    out = core_queries() + arith_queries()
    named = {q.name: q for q in out}
    if len(named) != len(out):
        raise ValueError('two queries of one name')
    return out + [with_fault(number, named[name]) for number, name in FAULTS.items()]


def chosen(patterns, quick):
    """Those whose name fits one of the patterns; quick: of every run only."""
    named = everything()
    for p in patterns:
        if not any(fnmatch.fnmatchcase(q.name, p) for q in named):
            raise LookupError(f'{p}: no such query')
    return [q for q in named if any(fnmatch.fnmatchcase(q.name, p) for p in patterns or ['*']) and (q.quick or not quick)]
