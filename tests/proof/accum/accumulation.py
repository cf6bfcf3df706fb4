# SPDX-License-Identifier: MIT
"""Accumulation models: functions of the C files beside this one. docs/proof/accumulation.md says what each theorem means."""
from zero import theorem, witness

UNROLLED = ('-funroll-loops', '-mllvm', '-unroll-threshold=100000')
CUTS = ('trunc', 'floor', 'nearest', 'odd')
FORMATS = range(8)  # m of 8 bits with a sign: e = 7 - m
CODES = (0x03, 0x3B, 0xFE)  # of A in the theorems on products: a subnormal one, one of the middle, a negative one


def plain(name, source, function, seconds=1.0, flags=()):
    return theorem(name, f'accum/{source}', UNROLLED + flags, function, {}, seconds)


def steps():
    """A block's steps, which make one of any length."""
    out = [plain('A2/add', 'units.c', 'align_add')]
    out += [theorem(f'A2/largest-m={m}', 'accum/units.c', UNROLLED, 'align_largest', {'m': m, 'e': 7 - m}) for m in FORMATS]
    for i, cut in enumerate(CUTS):
        for code in CODES:
            fixed = {'m': 3, 'e': 4, 'as': code, 'c': 0}
            out.append(theorem(f'A2/product-{cut}-{code:02x}', 'accum/units.c', UNROLLED + (f'-DPROOF_CUT={i}',), 'align_product', fixed, 24))
        out.append(theorem(f'A2/addend-{cut}', 'accum/units.c', UNROLLED + (f'-DPROOF_CUT={i}',), 'align_addend', {'m': 3, 'e': 4}))
    return out


def theorems():
    out = [plain(f'A1/cut-{cut}', 'cuts.c', f'cut_{cut}') for cut in CUTS] + [plain('A1/cut-far', 'cuts.c', 'cut_far')]
    out += steps()
    out += [plain(f'A3/{f}', 'lemmas.c', f) for f in ('product_scales', 'whole_trunc', 'whole_floor', 'whole_near', 'integers_there_and_back')]
    out.append(plain('A4/digits_are_merged', 'digits.c', 'digits_are_merged', flags=('-DPROOF_WORDS=3',)))
    out += [plain(f'A4/{f}', 'digits.c', f) for f in ('merge_associates', 'merge_commutes', 'merge_adds', 'terms_before_or_after')]
    return out


def witnesses():
    five = witness('witness/block', 'accum/units.c', UNROLLED + ('-DPROOF_LENGTH=4',), 'align_sum_reached', {'m': 3, 'e': 4})
    return [five, witness('witness/product_scales', 'accum/lemmas.c', UNROLLED, 'product_scales_reached', {})]
