/* SPDX-License-Identifier: MIT */
/* emu/arith/function_large.h - sine and cosine of binary32 numbers from 2^20 on in binary64, with the rounding test of
 * emu/arith/function_quick.h.
 *
 * x = s 2^e, s an integer of 24 digits. With T = 2^e 2/pi less a multiple of 4, x 2/pi and s T differ by a multiple of
 * 4, so that the quarter turns and what is left of x are those of s T. T is first + second + third
 * (emu/arith/function_angles.h), and with u = 2^-53:
 *   s first    below 2^25 and a multiple of 2^-27: exact.
 *   s second   at most 2^-4 and a multiple of 2^-55: exact.
 *   k          an integer, the one nearest to their rounded sum: within 1/2 + 2^-28 of s T.
 *   s first - k is a multiple of 2^-27 below 1: exact; its sum with s second is `high` + `low` exactly (Knuth).
 *   s third    at most 2^-32, within 2^-32 u twice, for the rounding of third and of the product.
 *   low + s third is at most 2^-31 and rounded by 2^-31 u; high + that is rounded by u of itself.
 * So the remainder f = s T - k is within 2^-83 + u |f|. By the table's header |f| is at least 2^-30, so that f is
 * within 2 u of itself. r = f pi/2 has two roundings more: 2^-51. |r| is below (1/2 + 2^-28) pi/2, and r^2 is in the
 * polynomials' range. As in hui_quick_sin the results are within 2^-48 of themselves, where the test supposes 2^-44. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_LARGE_H
#define HALFULP_EMU_ARITH_FUNCTION_LARGE_H

#include "emu/arith/function_angles.h"
#include "emu/arith/function_quick.h"

#define HU_LARGE_FIRST 0x49800000u /* 2^20 */

/* Is it finite and from 2^20 on? */
HU_FN uint64_t hui_is_large(uint32_t pattern) {
  return ((pattern & 0x7FFFFFFF) - HU_LARGE_FIRST) < 0x7F800000u - HU_LARGE_FIRST;
}

/* Of a binary32 pattern; known if it is large. */
HU_FN hu_quick_result hui_quick_large_sin(uint32_t pattern, uint64_t cosine) {
  static const double first[HU_ANGLES] = {HU_ANGLES_FIRST}, second[HU_ANGLES] = {HU_ANGLES_SECOND};
  static const double third[HU_ANGLES] = {HU_ANGLES_THIRD};
  uint64_t large = hui_is_large(pattern);
  uint32_t field = large ? pattern >> 23 & 0xFF : 147, e = field - 150 - (uint32_t)HU_ANGLE_FIRST;
  double s = (double)(int32_t)((pattern & 0x7FFFFF) | 0x800000);
  double a = s * first[e], b = s * second[e], shifted = (a + b) + HU_SHIFTER;
  double left = a - (shifted - HU_SHIFTER), high = left + b, t = high - left;
  double low = (left - (high - t)) + (b - t);
  double r = (high + (low + s * third[e])) * 0x1.921fb54442d18p0, square = r * r;
  uint64_t quarter = hui_pattern64(shifted) + cosine, sign = cosine ? 0 : (uint64_t)(pattern >> 31) << 63;
  double y = quarter & 1 ? hui_polynomial_cos(square) : r * hui_polynomial_sin(square);
  return hui_quick_decided(hui_double64(hui_pattern64(y) ^ (quarter & 2) << 62 ^ sign), large);
}

#endif
