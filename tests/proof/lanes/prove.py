#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lanes against the core: the list of queries, each a function of ways.c or strips.c with m (and a mode, or N) chosen.

    prove.py                 the selection of `make check`
    prove.py --all           every query
    prove.py --faults        each planted fault of faults.txt makes its query sat
    prove.py --only middle2  queries whose name contains this"""
import sys

from theorem import HERE, Query, options, run, run_faults

MODES = ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto')
STOCHASTIC = {'sra': 8, 'srb': 9, 'src': 10}
ALL_M = range(23)
PLAIN = ('-DPROOF_DEVICE=0',)


def ways(name, function, fixed=None, flags=PLAIN, expect='unsat'):
    return Query(name, 'lanes/ways.c', flags, function, fixed or {}, expect)


def of_mode(mode, device=0):
    number = MODES.index(mode) if mode in MODES else STOCHASTIC[mode]
    return (f'-DPROOF_DEVICE={device}', f'-DPROOF_ROUND={number}'), {'round': number}


def deterministic(way, theorem, m):
    """All eight modes in one query."""
    return ways(f'{way} {theorem} m={m}', f'{way}_{theorem}', {'m': m, 'bits': 0})


def middle2(mode, theorem, m, device=0):
    flags, fixed = of_mode(mode, device)
    return ways(f'middle2{" device" * device} {theorem} {mode} m={m}', f'middle2_{theorem}', dict(fixed, m=m, bits=0), flags)


def random(way, theorem, mode, m, n=None):
    """n None: every N at once."""
    flags, fixed = of_mode(mode)
    fixed = dict(fixed, m=m, **({} if n is None else {'bits': n}))
    return ways(f'{way} {theorem} {mode}{"" if n is None else f":{n}"} m={m}', f'{way}_{theorem}', fixed, flags)


def strip(theorem, mode, m, n=None):
    """Elements under a shared scale."""
    flags, fixed = of_mode(mode)
    fixed = dict(fixed, m=m, bits=n or 0)
    if theorem.startswith(('times', 'over')):
        flags += ('-DPROOF_ANY_PRODUCT',)
    name = f'strip_{theorem} {mode}{"" if n is None else f":{n}"} m={m}'
    return Query(name, 'lanes/strips.c', flags, f'strip_{theorem}', fixed, 'unsat')


def reached():
    """That the theorems are about something."""
    out = [ways(f'{w} reached', f'{w}_reached', {'m': 3, 'bits': 0}, expect='sat') for w in ('quick', 'slow_way', 'beyond', 'below', 'middle1')]
    flags, fixed = of_mode('rne')
    out.append(ways('middle2 reached', 'middle2_reached', dict(fixed, m=3, bits=0), flags, 'sat'))
    flags, fixed = of_mode('sra')
    out.append(ways('random_quick reached', 'random_quick_reached', dict(fixed, m=3, bits=7), flags, 'sat'))
    out.append(strip('shift_reached', 'rne', 3)._replace(name='strip_shift reached', expect='sat'))
    out.append(ways('random_middle reached', 'random_middle_reached', dict(fixed, m=3, bits=7), flags, 'sat'))
    return out


def decodings(m):
    return [ways(f'{f} m={m}', f, {'m': m}) for f in ('decode_slowly', 'decode_plain1', 'decode_plain2')]


def everything():
    out = reached()
    for m in ALL_M:
        out.append(ways(f'checks_agree m={m}', 'checks_agree', {'m': m}))
        for way in ('quick', 'middle1', 'beyond', 'below'):
            out += [deterministic(way, theorem, m) for theorem in ('codes', 'values')]
        out += [deterministic('slow_way', theorem, m) for theorem in ('codes', 'values_within', 'values_beyond')]
        out += decodings(m)
        out.append(ways(f'odd_first m={m}', 'odd_first', {'m': m, 'bits': 0}))
        out += [random('random_quick', 'codes', mode, m) for mode in STOCHASTIC]
    for mode in MODES:
        out += [middle2(mode, theorem, m) for m in range(1, 22) for theorem in ('codes', 'values')]
    out += [middle2('rtn', 'codes', m, 1) for m in (1, 3, 10, 21)]
    for mode in STOCHASTIC:
        for n in (1, 2, 7, 16, 23, 31, 32):
            if n < 32 or mode == 'sra':
                out += [random('slow_way', 'codes', mode, 3, n), random('random_middle', 'codes', mode, 3, n)]
    for m in range(1, 16):
        out += [strip(theorem, 'rne', m) for theorem in ('shift_codes', 'times_codes', 'over_codes', 'times_values')]
    out += [strip('shift_codes', mode, 3) for mode in MODES[1:]]
    out += [strip('shift_values', mode, 3) for mode in MODES]
    out += [strip('shift_codes', mode, 3, 7) for mode in STOCHASTIC]
    return out


SELECTION = ('quick codes m=0', 'quick codes m=3', 'quick values m=3', 'slow_way codes m=3', 'middle1 codes m=3', 'middle1 values m=3',
             'middle2 codes rne m=3', 'middle2 codes rtn m=3', 'beyond codes m=3', 'below codes m=3', 'checks_agree m=3',
             'decode_slowly m=3', 'strip_over_codes rne m=3', 'decode_plain1 m=3', 'decode_plain2 m=3', 'odd_first m=3', 'random_quick codes sra m=3')


def selection():
    return [q for q in everything() if q.name in SELECTION or q.name.endswith('reached')]


if __name__ == '__main__':
    o = options(__doc__.splitlines()[0])
    if o.faults:
        from faults_of import QUERIES
        sys.exit(run_faults('Faults of the lanes', HERE / 'faults.txt', QUERIES, o) != 0)
    sys.exit(run('Lanes', everything() if o.all or o.only else selection(), o) != 0)
