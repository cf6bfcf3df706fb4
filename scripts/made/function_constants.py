#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes emu/core/function_constants.h: the constants of the elementary functions' exact way, as digits of 32 bits.

usage: scripts/made/function_constants.py > emu/core/function_constants.h

Integers only: pi by Machin's formula, logarithms by atanh series, roots by integer square roots, each with 128 bits
more than are printed, and the printed digits are cut off, not rounded.
"""
from math import isqrt

LIMBS = 24  # of the fraction of a constant
LONG = 58  # of 2/pi
GUARD = 128
BITS = 32 * LONG + GUARD
ONE = 1 << BITS


def arctan_of_inverse(n, sign):
    """atan(1/n) (sign -1) or atanh(1/n) (sign 1), times ONE."""
    total, power, k = 0, ONE // n, 0
    while power:
        total += sign**k * power // (2 * k + 1)
        power //= n * n
        k += 1
    return total


pi = 4 * (4 * arctan_of_inverse(5, -1) - arctan_of_inverse(239, -1))
ln2 = 2 * arctan_of_inverse(3, 1)
root_pi = isqrt(pi * ONE)
root_2pi = isqrt(2 * pi * ONE)
named = [
    ('LN2', 'ln 2', ln2),
    ('LOG2E', '1 / ln 2', ONE * ONE // ln2),
    ('HALF_PI', 'pi / 2', pi // 2),
    ('INV_ROOT_PI', '1 / sqrt(pi)', ONE * ONE // root_pi),
    ('INV_ROOT_2PI', '1 / sqrt(2 pi)', ONE * ONE // root_2pi),
]


def rows(words):
    lines, line = [], '     '
    for i, word in enumerate(words):
        text = ' 0x%08Xu%s' % (word, ',' if i + 1 < len(words) else '};')
        if len(line) + len(text) > 119:
            lines.append(line)
            line = '     '
        line += text
    return '\n'.join(lines + [line])


def fraction_words(value, count):
    """The first digits of the fraction, the highest first."""
    return [(value >> (BITS - 32 * (i + 1))) & 0xFFFFFFFF for i in range(count)]


print("""/* SPDX-License-Identifier: MIT */
/* emu/core/function_constants.h - written by scripts/made/function_constants.py; not to be edited.
 *
 * hui_constant_digit(which, i): the i-th 32 bits of the fraction (i = 0 the highest) of a constant below 2, cut off
 * after HU_CONSTANT_DIGITS of them; its integer part is 1 for those from HU_CONSTANT_ONE on. hui_two_over_pi_digit: of
 * 2/pi. */
#ifndef HALFULP_EMU_FUNCTION_CONSTANTS_H
#define HALFULP_EMU_FUNCTION_CONSTANTS_H

#include "emu/core/port.h"
""")
below = [n for n in named if n[2] < ONE]
above = [n for n in named if n[2] >= ONE]
print('enum { HU_CONSTANT_DIGITS = %d, HU_TWO_OVER_PI_DIGITS = %d };' % (LIMBS, LONG))
print('enum {')
for i, (name, text, value) in enumerate(below + above):
    print('  HU_CONSTANT_%s = %d, /* %s */' % (name, i, text))
print('  HU_CONSTANT_ONE = %d' % len(below))
print('};\n')
print('HU_OUTLINE uint32_t hui_constant_digit(int32_t which, int32_t i) {')
print('  const uint32_t digits[%d] = {' % (LIMBS * len(named)))
print(rows([w for _, _, value in below + above for w in fraction_words(value, LIMBS)]))
print('  return digits[which * HU_CONSTANT_DIGITS + i];')
print('}\n')
print('HU_OUTLINE uint32_t hui_two_over_pi_digit(int32_t i) {')
print('  const uint32_t digits[%d] = {' % LONG)
print(rows(fraction_words(2 * ONE * ONE // pi, LONG)))
print('  return digits[i];')
print('}\n')
print('#endif')
