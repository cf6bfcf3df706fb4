#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes emu/arith/function_polynomials.h: polynomials for the elementary functions' quick way.

usage: scripts/made/function_polynomials.py > emu/arith/function_polynomials.h      (needs the Python package mpmath)

Each is the Chebyshev interpolant of a function on an interval, in powers of the variable, coefficients rounded to
binary64. The error printed beside it is the largest seen on 4000 points, of the polynomial with rounded coefficients in
exact arithmetic, relative to the function.
"""
import mpmath as mp

mp.mp.prec = 300


def interpolate(g, low, high, degree):
    n = degree + 1
    middle, half = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 2
    x = [mp.cos(mp.pi * (2 * j + 1) / (2 * n)) for j in range(n)]
    y = [g(middle + half * v) for v in x]
    c = [2 * mp.fsum(y[j] * mp.cos(k * mp.pi * (2 * j + 1) / (2 * n)) for j in range(n)) / n for k in range(n)]
    c[0] /= 2
    a, b = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    sums = [mp.mpf(0)] * n
    for k in range(n):
        for i, v in enumerate(a):
            sums[i] += c[k] * v
        a, b = b, [u - v for u, v in zip([mp.mpf(0)] + [2 * v for v in b], a + [0] * (len(b) + 1 - len(a)))]
    # From the variable on [-1, 1] to x: powers of (x - middle) / half, multiplied out.
    out, power = [mp.mpf(0)] * n, [mp.mpf(1)]
    for s in sums:
        for i, v in enumerate(power):
            out[i] += s * v
        power = [u / half - v * middle / half for u, v in zip([mp.mpf(0)] + power, power + [0])]
    return out


def show(name, what, variable, g, low, high, degree, list_them=False):
    """list_them: as a list, too, the constant first, for who adds them up in another order."""
    rounded = [mp.mpf(float(v)) for v in interpolate(g, low, high, degree)]
    worst = mp.mpf(0)
    for i in range(4001):
        x = low + (mp.mpf(high) - low) * i / 4000
        worst = max(worst, abs(mp.polyval(rounded[::-1], x) / g(x) - 1))
    print('/* %s; relative error below 2^%d. */' % (what, int(mp.ceil(mp.log(worst, 2)))))
    print('HU_FN double hui_polynomial_%s(double %s) {' % (name, variable))
    print('  double p = %s;' % float(rounded[-1]).hex())
    for v in rounded[-2::-1]:
        print('  p = p * %s + %s;' % (variable, float(v).hex()) if v >= 0 else
              '  p = p * %s - %s;' % (variable, float(-v).hex()))
    print('  return p;\n}\n')
    if list_them:
        print('#define HU_%s_COEFFICIENTS \\\n  %s\n' % (name.upper(), ', '.join(float(v).hex() for v in rounded)))


def at_zero(g, value):
    return lambda x: mp.mpf(value) if x == 0 else g(x)


K = mp.mpf(15) / 4
LAST = 28  # the largest t
SCALE = mp.mpf(float(2 * (LAST + K) / LAST))  # SCALE t / (t + K) - 1 is -1 at t = 0 and 1 at LAST


def scaled_erfc(w):
    t = K * (w + 1) / (SCALE - (w + 1))
    return mp.exp(t * t) * mp.erfc(t) * (1 + 2 * t)


print("""/* SPDX-License-Identifier: MIT */
/* emu/arith/function_polynomials.h - written by scripts/made/function_polynomials.py; not to be edited. */
#ifndef HALFULP_EMU_FUNCTION_POLYNOMIALS_H
#define HALFULP_EMU_FUNCTION_POLYNOMIALS_H

#include "emu/core/port.h"
""")
r = mp.mpf('0.3467')
show('expm1', '(e^r - 1) / r for |r| < 0.3467', 'r', at_zero(lambda x: mp.expm1(x) / x, 1), -r, r, 11, True)
s = mp.mpf('0.02945')
show('log', 'ln((1 + q) / (1 - q)) / q for s = q^2 < 0.02945', 's',
     at_zero(lambda x: 2 * mp.atanh(mp.sqrt(x)) / mp.sqrt(x), 2), 0, s, 8)
show('log_rest', '(ln((1 + q) / (1 - q)) / q - 2) / s for s = q^2 < 0.02945', 's',
     at_zero(lambda x: (2 * mp.atanh(mp.sqrt(x)) / mp.sqrt(x) - 2) / x, mp.mpf(2) / 3), 0, s, 8)
t = mp.mpf('0.6170')
show('sin', 'sin(r) / r for t = r^2 < 0.617', 't', at_zero(lambda x: mp.sin(mp.sqrt(x)) / mp.sqrt(x), 1), 0, t, 7)
show('cos', 'cos(r) for t = r^2 < 0.617', 't', lambda x: mp.cos(mp.sqrt(x)), 0, t, 7)
show('erf', 'erf(x) / x for t = x^2 < 0.2501', 't',
     at_zero(lambda x: mp.erf(mp.sqrt(x)) / mp.sqrt(x), 2 / mp.sqrt(mp.pi)), 0, mp.mpf('0.2501'), 9)
show('erfc', 'e^(t^2) erfc(t) (1 + 2 t) for 0 <= t < %d, w = HU_ERFC_SCALE t / (t + 3.75) - 1' % LAST,
     'w', scaled_erfc, -1, 1, 21)
print('#define HU_ERFC_SCALE %s' % float(SCALE).hex())
print('#define HU_ERFC_LAST %d.0\n' % LAST)
print('#endif')
