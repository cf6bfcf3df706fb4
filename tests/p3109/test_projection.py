# SPDX-License-Identifier: MIT
"""Projection of the library against the draft's functions in exact rationals (specification.py): all roundings and saturations that
`halfulp info --p3109` declares, every random number of the stochastic ones, formats of few bits.

usage: test_projection.py PRINT_PROJECTIONS HALFULP MOST BITS

Formats have K = 3 to MOST bits, and K = 2 where a descriptor can be written out for them; stochastic roundings have 1 to BITS random
bits. Points lie at all values, at 2^(BITS + 1) places of each step between neighbours, which is where all of these roundings have
their limits, on past the largest value, and one binary64 number beside each such place; of both signs, with infinities and NaN."""
import functools
import json
import math
import struct
import subprocess
import sys
from fractions import Fraction

sys.dont_write_bytecode = True
import page  # noqa: E402
import specification as draft  # noqa: E402

print_projections, halfulp, most, bits = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
# The library's words, as halfulp/p3109.h has them. They are in no list of the library, so that the declaration is held to these.
WORDS = {'NearestTiesToEven': 'rne', 'NearestTiesToAway': 'rna', 'TowardZero': 'rtz', 'TowardPositive': 'rtp', 'TowardNegative': 'rtn',
         'ToOdd': 'rto', 'StochasticA': 'sra', 'StochasticB': 'srb', 'StochasticC': 'src'}
# In the order of print_projections.c; the last one is the policy `default` of the library.
SATURATION = ('SatNone', 'SatFinite', 'SatPropagate', 'SatNone')
POLICIES = [(rules, saturation) for rules in draft.RULES for saturation in SATURATION]
# K = 2 has no names here, but most of its formats can be written out.
written_out = page.written_out()
CHUNK = 4000
PAST = 3  # steps past the largest value

declared = json.loads(subprocess.run([halfulp, 'info', '--p3109', '--json'], stdout=subprocess.PIPE, check=True).stdout)
assert declared['rounding'] == list(draft.ROUNDING), declared['rounding']
assert declared['saturation'] == list(draft.SATURATION), declared['saturation']
least, most_bits = declared['random_bits']
assert least == 1 and most_bits >= bits, declared['random_bits']
# (rounding, random bits), and for each of them the numbers that are drawn.
roundings = [(name, n) for name in declared['rounding'] for n in (range(1, bits + 1) if name.startswith('Stochastic') else [0])]
cases = [(name, n, random) for name, n in roundings for random in range(2**n)]
words = [WORDS[name] + (':%d' % n if n else '') for name, n in roundings]


def beside(x):
    """A rational that binary64 has, and the numbers of binary64 beside it."""
    z = float(x)
    assert Fraction(z) == x
    return z, math.nextafter(z, math.inf), math.nextafter(z, -math.inf)


def points(f):
    parts = 2**(bits + 1)
    found = [math.inf, math.nan, sys.float_info.max, sys.float_info.min, 2 * float(f.m_hi), 2.0**1023]
    for code in range(f.largest + PAST):
        low, high = draft.magnitude(f, code), draft.magnitude(f, code + 1)
        for part in range(parts):
            found += beside(low + (high - low) * Fraction(part, parts))
    found = [x for x in found if x == x and x >= 0] + [math.nan]
    return found + [-x for x in found]


@functools.lru_cache(maxsize=None)
def directions(negative, delta, even):
    """Of each case, whether it goes away from zero."""
    return [draft.rounds_away(name, n, random, negative, delta, even) for name, n, random in cases]


def codes_of(f, x, kept):
    """Of each case the codes of a rounded x, which only the rounding's name changes. `kept` has those that were asked before."""
    if x not in kept:
        of = {name: bytes(draft.encode(f, draft.saturate(f, name, saturation, x, rules)) for rules, saturation in POLICIES) for name in draft.ROUNDING}
        kept[x] = [of[name] for name, n, random in cases]
    return kept[x]


def expected(f, x, kept):
    if x != x or math.isinf(x) or x == 0:
        return b''.join(codes_of(f, None if x != x else x if x else Fraction(0), kept))
    negative, q, i, delta, even = draft.split(f, Fraction(x))
    unit = -draft.two_to(q) if negative else draft.two_to(q)
    stay, away = codes_of(f, i * unit, kept), codes_of(f, (i + 1) * unit, kept)
    return b''.join([a if goes else s for s, a, goes in zip(stay, away, directions(negative, delta, even))])


def report(f, x, got, want):
    at = next(i for i in range(len(want)) if got[i:i + 1] != want[i:i + 1])
    (name, n, random), rest = cases[at // len(POLICIES)], at % len(POLICIES)
    sys.exit('%s: %s by %s (%d bits, R %d), %s, rules %s: %s, the draft has %d' % (
        f.name, x.hex(), name, n, random, POLICIES[rest][1], POLICIES[rest][0],
        got[at] if at < len(got) else 'nothing', want[at]))


def compare(f, text):
    """The number of projections."""
    for code in range(2**f.k):
        assert draft.encode(f, draft.decode(f, code)) == code, (f.name, code)
    kept, of = {}, points(f)
    for start in range(0, len(of), CHUNK):
        some = of[start:start + CHUNK]
        ran = subprocess.run([print_projections, text] + words, input=struct.pack('%dd' % len(some), *some), stdout=subprocess.PIPE, check=False)
        if ran.returncode:
            sys.exit('%s: print_projections ended with %d' % (f.name, ran.returncode))
        step = len(cases) * len(POLICIES)
        for i, x in enumerate(some):
            got, want = ran.stdout[i * step:(i + 1) * step], expected(f, x, kept)
            if got != want:
                report(f, x, got, want)
        assert len(ran.stdout) == len(some) * step
    return len(of) * len(cases) * len(POLICIES)


# The draft's own words of one projection, and the way they are taken apart above, give the same.
one = draft.Format(4, 2, True, True)
for x in (Fraction(3, 7), Fraction(-9, 4), Fraction(100), Fraction(1, 64)):
    parts = expected(one, float(x), {})
    want = bytes(draft.project(one, name, saturation, Fraction(float(x)), n, random, rules) for name, n, random in cases
                 for rules, saturation in POLICIES)
    assert parts == want, x
total = count = 0
for f in draft.formats(2, most):
    if f.k > 2 or f.name in written_out:
        total += compare(f, written_out.get(f.name, f.name))
        count += 1
print('%d formats, %d projections, random numbers of 1 to %d bits: all are those of the draft' % (count, total, bits))
