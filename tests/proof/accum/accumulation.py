# SPDX-License-Identifier: MIT
"""Accumulation models: functions of the C files beside this one. docs/proof-accumulation.md says what each theorem means."""
from zero import chosen, theorem, witness

UNROLLED = ('-funroll-loops', '-mllvm', '-unroll-threshold=100000')
CUTS = ('trunc', 'floor', 'nearest')
FORMATS = range(8)  # m of 8 bits with a sign: e = 7 - m


def plain(name, source, function, seconds=1.0, flags=()):
    return theorem(name, f'accum/{source}', UNROLLED + flags, function, {}, seconds)


def steps():
    """A block's steps, which make one of any length."""
    out = [plain('A2/add', 'units.c', 'align_add')]
    for m in FORMATS:
        for i, cut in enumerate(CUTS):
            flags = UNROLLED + (f'-DPROOF_CUT={i}',)
            out.append(theorem(f'A2/product-{cut}-m={m}', 'accum/units.c', flags, 'align_product', {'m': m, 'e': 7 - m}))
        out.append(theorem(f'A2/largest-m={m}', 'accum/units.c', UNROLLED, 'align_largest', {'m': m, 'e': 7 - m}))
    for i, cut in enumerate(CUTS):
        out.append(theorem(f'A2/addend-{cut}', 'accum/units.c', UNROLLED + (f'-DPROOF_CUT={i}',), 'align_addend', {'m': 3, 'e': 4}))
    return out


def theorems():
    out = [plain(f'A1/cut-{cut}', 'cuts.c', f'cut_{cut}') for cut in CUTS] + [plain('A1/cut-far', 'cuts.c', 'cut_far')]
    out += steps()
    out += [plain(f'A3/{f}', 'lemmas.c', f) for f in ('product_scales', 'product_few', 'whole_trunc', 'whole_floor', 'whole_near',
                                                      'sum_of_two', 'integers_there_and_back')]
    out += [plain(f'A4/{f}', 'digits.c', f) for f in ('merge_associates', 'merge_commutes', 'merge_adds', 'digits_are_merged',
                                                      'terms_before_or_after')]
    return out


def witnesses():
    five = witness('witness/block', 'accum/units.c', UNROLLED + ('-DPROOF_LENGTH=4',), 'align_sum_reached', {'m': 3, 'e': 4})
    return [five, witness('witness/product_scales', 'accum/lemmas.c', UNROLLED, 'product_scales_reached', {})]


EVERY_RUN = ('A1/cut-trunc', 'A1/cut-floor', 'A1/cut-far', 'A2/largest-m=3', 'A3/product_scales', 'A3/whole_trunc', 'A3/whole_floor', 'A3/whole_near',
             'A4/merge_commutes', 'A4/merge_adds')
# Planted faults of tests/fault, and the query that each makes satisfiable.
FAULTS = {40: 'A1/cut-floor', 41: 'A1/cut-nearest', 55: 'A4/digits_are_merged', 63: 'A2/product-floor-m=3', 216: 'A4/merge_adds'}


def everything():
    return chosen(theorems() + witnesses(), EVERY_RUN, FAULTS)
