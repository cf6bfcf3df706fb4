# SPDX-License-Identifier: MIT
"""The lanes against the core: functions of ways.c and strips.c, each for a number of significand digits m, and some for a
mode or a number N of random bits. docs/proof/lanes.md says what each theorem means."""
from sources import ROOT
from zero import theorem, witness

MODES = ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto')
STOCHASTIC = ('sra', 'srb', 'src')
ALL_M = range(23)
HOST = ('-DPROOF_DEVICE=0',)
WAYS, STRIPS = 'lanes/ways.c', 'lanes/strips.c'


def of_mode(mode, device=0):
    number = (MODES + STOCHASTIC).index(mode)
    return (f'-DPROOF_DEVICE={device}', f'-DPROOF_ROUND={number}'), {'round': number}


def deterministic(name, function, m, seconds):
    """All eight modes in one query."""
    return theorem(f'{name}/m={m}', WAYS, HOST, function, {'m': m, 'bits': 0}, seconds)


def sums(theorem_of, mode, m, device=0):
    """The second middle way in one mode."""
    flags, fixed = of_mode(mode, device)
    name = f'L3/{"device-" * device}{theorem_of}-{mode}-m={m}'
    return theorem(name, WAYS, flags, f'middle2_{theorem_of}', dict(fixed, m=m, bits=0), 6)


def random(name, way, mode, m, n=None):
    """n None: every N at once."""
    flags, fixed = of_mode(mode)
    fixed = dict(fixed, m=m, **({} if n is None else {'bits': n}))
    if way != 'random_middle':
        flags = HOST
    return theorem(f'{name}/{mode}{"" if n is None else f":{n}"}-m={m}', WAYS, flags, f'{way}_codes', fixed, 10)


def strip(theorem_of, mode, m, n=None):
    """Elements under a shared scale."""
    flags, fixed = of_mode(mode)
    if not theorem_of.startswith('shift'):
        flags += ('-DPROOF_ANY_PRODUCT',)
    name = f'L9/{theorem_of}-{mode}{"" if n is None else f":{n}"}-m={m}'
    return theorem(name, STRIPS, flags, f'strip_{theorem_of}', dict(fixed, m=m, bits=n or 0), 30)


def device(theorem_of, m, n=0, seconds=10):
    """Elements under a scale 2^power in the CUDA kernels, compiled for the processor."""
    flags = ('-std=c++17', '-I', str(ROOT / 'gpu/host'))
    return theorem(f'L10/{theorem_of}{f"-n={n}" if n else ""}/m={m}', 'lanes/device.cpp', flags, f'device_{theorem_of}', {'m': m, 'bits': n}, seconds)


def witnesses():
    """That the theorems are about something."""
    out = [witness(f'witness/{w}', WAYS, HOST, f'{w}_reached', {'m': 3, 'bits': 0}) for w in ('quick', 'slow_way', 'beyond', 'below', 'middle1')]
    flags, fixed = of_mode('rne')
    out.append(witness('witness/middle2', WAYS, flags, 'middle2_reached', dict(fixed, m=3, bits=0)))
    out.append(witness('witness/strip_shift', STRIPS, flags, 'strip_shift_reached', dict(fixed, m=3, bits=0)))
    flags, fixed = of_mode('sra')
    for way, which in (('random_quick', HOST), ('random_middle', flags)):
        out.append(witness(f'witness/{way}', WAYS, which, f'{way}_reached', dict(fixed, m=3, bits=7)))
    return out


def theorems():
    out = []
    for m in ALL_M:
        out += [deterministic('L1/codes', 'quick_codes', m, 5), deterministic('L1/values', 'quick_values', m, 6),
                deterministic('L2/codes', 'middle1_codes', m, 2), deterministic('L2/values', 'middle1_values', m, 2),
                deterministic('L4/codes', 'slow_way_codes', m, 7), deterministic('L4/values-within', 'slow_way_values_within', m, 24),
                deterministic('L4/values-beyond', 'slow_way_values_beyond', m, 22),
                deterministic('L5/beyond-codes', 'beyond_codes', m, 2), deterministic('L5/beyond-values', 'beyond_values', m, 7),
                deterministic('L5/below-codes', 'below_codes', m, 2), deterministic('L5/below-values', 'below_values', m, 3),
                deterministic('L8/binary64', 'odd_first', m, 6)]
        out.append(theorem(f'L5/checks/m={m}', WAYS, HOST, 'checks_agree', {'m': m}, 0.3))
        for f in ('decode_slowly', 'decode_plain1', 'decode_plain2'):
            out.append(theorem(f'L7/{f}/m={m}', WAYS, HOST, f, {'m': m}, 2))
        out += [random('L6/quick', 'random_quick', mode, m) for mode in STOCHASTIC]
    for mode in MODES:
        out += [sums(of, mode, m) for m in range(1, 22) for of in ('codes', 'values')]
    out += [sums('codes', 'rtn', m, 1) for m in (1, 3, 10, 21)]
    for mode in STOCHASTIC:
        for n in (1, 2, 7, 16, 23, 31):
            out += [random('L6/slow', 'slow_way', mode, 3, n), random('L6/sums', 'random_middle', mode, 3, n)]
    for m in range(1, 16):
        out += [strip(of, 'rne', m) for of in ('shift_codes', 'times_codes', 'over_codes', 'times_values')]
    out += [strip('shift_codes', mode, 3) for mode in MODES[1:]] + [strip('shift_values', mode, 3) for mode in MODES]
    out += [strip('shift_codes', mode, 3, 7) for mode in STOCHASTIC]
    for m in range(1, 16):
        out += [device(of, m) for of in ('nearest_codes', 'nearest_values', 'lanes_codes')]
    return out + [device('stepped', m) for m in ALL_M] + [device('lanes_codes', 3, 7)]
