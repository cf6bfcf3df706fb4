#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes emu/arith/function_angles.h: what 2/pi is modulo 4, times each power of two that large binary32 numbers have.

usage: scripts/made/function_angles.py > emu/arith/function_angles.h      (needs the Python package mpmath)

A binary32 number from 2^20 on is s 2^e with an integer s of 24 digits and -3 <= e <= 104. The three numbers of e have
29, 28 and 53 digits, and their sum is 2^e 2/pi less a multiple of 4. The least remainder comes from continued fractions:
the s below 2^24 that brings s 2^e 2/pi nearest to an integer is the denominator of a convergent.
"""
import mpmath as mp

mp.mp.prec = 600
FIRST, LAST = -3, 104
two_over_pi = 2 / mp.pi


def parts(e):
    t = two_over_pi * mp.mpf(2) ** e
    t -= 4 * mp.nint(t / 4)
    first = mp.nint(t * 2 ** 27) / 2 ** 27
    second = mp.nint((t - first) * mp.mpf(2) ** 55) / mp.mpf(2) ** 55
    return float(first), float(second), float(t - first - second)


def least(e):
    """The least distance of s 2^e 2/pi from an integer, 0 < s < 2^24."""
    w = two_over_pi * mp.mpf(2) ** e
    x, q0, q1, best = w, 0, 1, abs(w - mp.nint(w))
    while True:
        x = 1 / (x - mp.floor(x))
        q0, q1 = q1, int(mp.floor(x)) * q1 + q0
        if q1 >= 1 << 24:
            return best
        best = min(best, abs(q1 * w - mp.nint(q1 * w)))


worst = min(least(e) for e in range(FIRST, LAST + 1))
print(f"""/* SPDX-License-Identifier: MIT */
/* emu/arith/function_angles.h - written by scripts/made/function_angles.py; not to be edited.
 *
 * 2^e 2/pi less a multiple of 4 as a sum of three numbers: a multiple of 2^-27 up to 2, a multiple of 2^-55 up to
 * 2^-28, and the rest to nearest, up to 2^-56. For 0 < s < 2^24 no s 2^e 2/pi is nearer to an integer than
 * 2^{int(mp.floor(mp.log(worst, 2)))}. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_ANGLES_H
#define HALFULP_EMU_ARITH_FUNCTION_ANGLES_H

enum {{ HU_ANGLE_FIRST = {FIRST}, HU_ANGLES = {LAST - FIRST + 1} }}; /* the first e, and how many */
""")
for k, name in enumerate(('FIRST', 'SECOND', 'THIRD')):
    numbers = [parts(e)[k].hex() for e in range(FIRST, LAST + 1)]
    print(f'#define HU_ANGLES_{name} \\')
    print(', \\\n'.join('  ' + ', '.join(numbers[i:i + 4]) for i in range(0, len(numbers), 4)) + '\n')
print('#endif')
