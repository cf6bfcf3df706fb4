/* SPDX-License-Identifier: MIT */
/* emu/arith/function_power.h - x^y of two binary32 numbers in lanes: hui_quick_pow, and what it leaves to its caller.
 *
 * hui_quick_pow needs x > 0 other than 1 and y other than 0, and cannot decide a result of few digits, which lies on
 * the middle that its test keeps away from. Of these the common ones are found here:
 *   y = 0          1, by definition.
 *   x = 2^k        2^(k y) where k y is an integer; k y is exact, for k has 8 digits and y 24. So 1^y is 1.
 *   y = 2          x x, exact with 48 digits; y = 3 with at most 17 digits of x: x x x, exact with 51.
 *   y = 1/2        a root of at most 26 digits is one of the two numbers of 26 digits beside the value that
 *                  hui_quick_pow found, which is within 2^-44 of it; its square has 52 digits and shows it.
 *   tiny results   for 2^k <= x < 2^(k+1) the result is below 2^-200 if 2^(k y) and 2^((k+1) y) are, and so below all
 *                  numbers of binary32.
 * A negative x has the power of -x, negative if y is odd, where y is an integer. Integers from 2^51 on are even. All
 * other operands are left: zeros, infinities, NaN, a negative x without an integer y. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_POWER_H
#define HALFULP_EMU_ARITH_FUNCTION_POWER_H

#include "emu/arith/function_quick.h"

/* x > 0. The exact ones of the list above, and the tiny ones, which get the pattern `tiny`. */
HU_FN hu_quick_result hui_quick_power_of(double x, double y, uint64_t tiny) {
  uint64_t u = hui_pattern64(x), one = (uint64_t)1 << HU_QUICK_SPARE;
  hu_quick_result q = hui_quick_pow(x, y);
  double below = hui_double64(q.bits & ~(one - 1)), above = hui_double64((q.bits & ~(one - 1)) + one);
  double k = hui_double64(0x4330000000000000u | u >> 52) - (0x1p52 + 1023), low = k * y, high = (k + 1) * y;
  double shifted = low + HU_SHIFTER, square = x * x;
  uint64_t is_power = ((u & 0xFFFFFFFFFFFFFu) == 0) & (shifted - HU_SHIFTER == low) & (hui_abs64(low) < 1000);
  q = hui_quick_or(q, (y == 0.5) & (below * below == x), hui_pattern64(below));
  q = hui_quick_or(q, (y == 0.5) & (above * above == x), hui_pattern64(above));
  q = hui_quick_or(q, (y == 3) & ((u & 0xFFFFFFFFFu) == 0), hui_pattern64(square * x));
  q = hui_quick_or(q, y == 2, hui_pattern64(square));
  q = hui_quick_or(q, (low < -200) & (high < -200), tiny);
  q = hui_quick_or(q, is_power, hui_pattern64(hui_power_of_two64(shifted)));
  return hui_quick_or(q, y == 0, hui_pattern64(1));
}

HU_FN hu_quick_result hui_quick_power(double x, double y, uint64_t tiny) {
  double a = hui_abs64(x), size = hui_abs64(y), shifted = y + HU_SHIFTER;
  uint64_t whole = (shifted - HU_SHIFTER == y) | (size >= 0x1p51), odd = hui_pattern64(shifted) & (size < 0x1p51);
  uint64_t fit = (a > 0) & (a < 0x1p128) & (size < 0x1p128) & ((x > 0) | whole);
  hu_quick_result q = hui_quick_power_of(a, y, tiny);
  q.bits |= (odd & (x < 0)) << 63;
  q.known &= fit;
  return q;
}

#endif
