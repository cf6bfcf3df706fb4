#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes emu/s2fp8/polynomial.h: logarithms to base 2 of significands in units of 2^-40, and of codes' numbers.

usage: scripts/made/s2fp8_polynomial.py > emu/s2fp8/polynomial.h      (needs the Python package mpmath)

Sixteen intervals of [1, 2); in each a factor c of 20 digits brings m to 1 + r, and -log2 c is an integer of units and a
fraction. The polynomial is the Chebyshev interpolant of log2(1 + r) / r.
"""
import contextlib
import io

import mpmath as mp

with contextlib.redirect_stdout(io.StringIO()):
    from function_polynomials import interpolate

mp.mp.prec = 300
DIGITS, PARTS = 40, 16
factors = [mp.mpf(int(mp.nint(2 ** 20 / (1 + (mp.mpf(i) + 0.5) / PARTS)))) / 2 ** 20 for i in range(PARTS)]
reach = max(abs(c * (1 + mp.mpf(i + e) / PARTS) - 1) for i, c in enumerate(factors) for e in (0, 1))
unit = mp.mpf(2) ** DIGITS


def log_over(r):
    return unit * (mp.log1p(r) / r if r else mp.mpf(1)) / mp.log(2)


rounded = [mp.mpf(float(v)) for v in interpolate(log_over, -reach, reach, 8)]
worst = max(abs(mp.polyval(rounded[::-1], x) / log_over(x) - 1)
            for x in (reach * (i - 2000) / 2000 for i in range(4001)))
logs = [-unit * mp.log(c, 2) for c in factors]
whole = [int(mp.nint(v)) for v in logs]
print(f"""/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/polynomial.h - written by scripts/made/s2fp8_polynomial.py; not to be edited.
 *
 * log2 m in units of 2^-40 for 1 <= m < 2: with i the first four digits behind the point and r = m factor[i] - 1, exact
 * and less than {mp.nstr(reach, 5)} in magnitude, it is whole[i] + (part[i] + r hui_polynomial_s2(r)). */
#ifndef HALFULP_EMU_S2FP8_POLYNOMIAL_H
#define HALFULP_EMU_S2FP8_POLYNOMIAL_H

#include "emu/core/port.h"

/* Sums 2^40 log2(1 + r) / r, with a relative error below 2^{int(mp.ceil(mp.log(worst, 2)))}. */""")
print('#define HU_S2_POLYNOMIAL(first, step) \\')
print('  first(%s) \\' % float(rounded[-1]).hex())
for v in rounded[-2::-1]:
    print('  step(%s)%s' % (float(v).hex(), ' \\' if v is not rounded[0] else ''))
print("""
HU_FN double hui_polynomial_s2(double r) {
#define HU_S2_FIRST(c) double p = c;
#define HU_S2_STEP(c) p = p * r + c;
  HU_S2_POLYNOMIAL(HU_S2_FIRST, HU_S2_STEP)
#undef HU_S2_FIRST
#undef HU_S2_STEP
  return p;
}
""")


def table(name, what, values):
    lines = '\\\n'.join('  ' + ', '.join(values[i:i + 4]) + (',' if i + 4 < len(values) else '') + ' '
                        for i in range(0, len(values), 4))
    print(f'#define {name} /* {what} */ \\\n' + lines.rstrip() + '\n')


table('HU_S2_FACTORS', 'factor[i]', [float(c).hex() for c in factors])
table('HU_S2_WHOLES', 'whole[i], integers as binary64 numbers', [float(w).hex() for w in whole])
table('HU_S2_PARTS', 'part[i]', [float(v - w).hex() for v, w in zip(logs, whole)])


def log2_hex(x):
    return float(mp.log(x, 2)).hex() if x else '0'


def rows(name, what, value):
    """Of m = 0 ... 4, for sixteen codes each, the fields of exponents counted from the first row's."""
    table(name, what, [log2_hex(value(mp.mpf(j & (1 << m) - 1) / (1 << m), mp.mpf(2) ** -m) * 2 ** (j >> m))
                       for m in range(5) for j in range(16)])


rows('HU_S2_CODE_LOG2', 'of 2^(j >> m) (1 + (j mod 2^m) / 2^m) at 16 m + j', lambda f, last: 1 + f)
rows('HU_S2_MIDDLE_LOG2', 'of the middle between it and the next', lambda f, last: 1 + f + last / 2)
table('HU_S2_LOW_LOG2', 'of j, for 0: 0', [log2_hex(mp.mpf(j)) for j in range(16)])
table('HU_S2_LOW_MIDDLE_LOG2', 'of j + 1/2', [log2_hex(j + mp.mpf(1) / 2) for j in range(16)])
print('#endif')
