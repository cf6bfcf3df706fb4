/* SPDX-License-Identifier: MIT */
/* emu/number/tapered_lanes.h - takums and HiFloat8 in the vectors of loops.c, which alone includes this file.
 *
 * No finite binary32 number is beyond a takum's range or between 0 and the least one: 2 ln |x| and log2 |x| lie between
 * -207 and 178, and c goes from -255 to 254. So takums raise no event but inexact here. */

/* ---- takums ---- */

/* D, R, C and 40 digits of m, for c = whole - 256 from -255 to 254; *d: how many of these the code cuts off. */
HU_FN wide takum_digits(const hu_number_lane *lane, wide whole, wide part, wide *d) {
  wide up = MASK(whole >= 256), v = picked(up, whole - 255, 256 - whole), r = all_of(0);
  for (uint32_t i = 1; i < 8; i++) r -= MASK(v >= (uint64_t)1 << i); /* floor(log2 v) */
  wide first = all_of(1) << r, field = picked(up, v - first, first + first - 1 - v);
  *d = r + (45 - (uint64_t)lane->width);
  return (picked(up, r + 8, 7 - r) << r | field) << 40 | part;
}

HU_FN narrow takums_linear_of(const hu_number_lane *lane, wide u, wide_counts *counts) {
  wide minus = MASK(u >> 31 != 0), a = u & 0x7FFFFFFF, e = a >> 23, zero = MASK(a == 0), part, d;
  wide p = takum_digits(lane, e + (256 - 127), (a & 0x7FFFFF) << 17, &d);
  wide code = rounded(&lane->rounding, p, d, minus, &part) & ~zero;
  counts->left -= MASK(e == 255) | (MASK(e == 0) & ~zero);
  counts->inexact -= part & ~zero;
  return NARROW(((code ^ minus) - minus) & lane->mask);
}

HU_FN real real_of_bits(wide x) {
  real z;
  memcpy(&z, &x, sizeof z);
  return z;
}

HU_FN wide bits_of_real(real x) {
  wide z;
  memcpy(&z, &x, sizeof z);
  return z;
}

/* 2 ln(m 2^k) = k 2 ln 2 + 4 atanh((m - 1) / (m + 1)) with m from 1/2 sqrt 2 to sqrt 2, in binary64. The series ends
 * with the 17th power: the terms behind it are below 2^-50, and all roundings together, of numbers up to 207, below
 * 2^-43. Adding 4096 + 256 leaves 40 digits behind the point, with an error below one unit of them: P is at most two
 * units from the digits of the exact number, which are endless unless x is 1. So the rounding of P is the right one
 * where no limit, a multiple of half the last digit kept, lies within two units; the rest is left. */
HU_FN narrow takums_of(const hu_number_lane *lane, wide u, wide_counts *counts) {
  static const double odd[8] = {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17};
  wide minus = MASK(u >> 31 != 0), a = u & 0x7FFFFFFF, e = a >> 23, digits = a & 0x7FFFFF, zero = MASK(a == 0);
  wide high = MASK(digits > 0x3504F3), part, d; /* of sqrt 2 */
  real m = real_of_bits(digits << 29 | picked(high, all_of(1022), all_of(1023)) << 52);
  real k = real_of_bits((e + (high & 1)) | (uint64_t)0x433 << 52) - (0x1p52 + 127);
  real s = (m - 1.0) / (m + 1.0), square = s * s, sum = square * odd[7];
  for (int i = 6; i >= 0; i--) sum = (sum + odd[i]) * square;
  real y = k * 0x1.62e42fefa39efp+0 + s * 4.0 * (sum + 1.0);
  wide q = bits_of_real(y + (4096.0 + 256.0)) & (((uint64_t)1 << 52) - 1);
  wide p = takum_digits(lane, q >> 40, q & (((uint64_t)1 << 40) - 1), &d);
  wide code = rounded(&lane->rounding, p, d, minus, &part) & ~zero;
  wide near = MASK(((p + 2) & ((all_of(1) << (d - 1)) - 1)) <= 4);
  counts->left -= (MASK(e == 255) | MASK(e == 0) | near) & ~zero;
  counts->inexact -= ~zero;
  return NARROW(((code ^ minus) - minus) & lane->mask);
}

/* ---- HiFloat8 ---- */

HU_FN wide above(wide e, uint64_t from) { return (e - from) & MASK(e >= from); }

/* Where |x| lies among the places of emu/number/tapered.h, with 55 digits behind the point. Down to 2^-22 the place of
 * 2^e is a line of eight pieces, and the digits of a binade are their slopes; below that a place is |x| 2^22. Of what
 * is below 2^-54 only that it is not zero matters. */
HU_FN wide hif8_place(wide e, wide fraction) {
  const uint64_t from = 127;
  wide place = above(e, from - 22) + above(e, from - 15) + 2 * above(e, from - 7) + 4 * above(e, from - 3) -
               4 * above(e, from + 4) - 2 * above(e, from + 8) + 1;
  wide digits = (MASK(e >= from - 15) & 1) + (MASK(e >= from - 7) & 1) + (MASK(e >= from - 3) & 1) -
                (MASK(e >= from + 4) & 1) - (MASK(e >= from + 8) & 1);
  wide tiny = MASK(e < from - 22), least = MASK(e < from - 54), big = MASK(e > from + 15);
  wide down = picked(tiny & ~least, from - 22 - e, all_of(0));
  wide small = picked(least, all_of(1), (fraction | 0x800000) << 32 >> down);
  wide p = picked(tiny, small, ((place << 23) + (fraction << digits)) << 32);
  return picked(big, all_of((uint64_t)127 << 55), p);
}

/* Returns the place, 127 from there on, and 128 more for negative numbers. */
HU_FN narrow hif8_places_of(const hu_number_lane *lane, wide u, wide_counts *counts) {
  wide minus = MASK(u >> 31 != 0), a = u & 0x7FFFFFFF, e = a >> 23, zero = MASK(a == 0), part;
  wide place = rounded(&lane->rounding, hif8_place(e, a & 0x7FFFFF), all_of(55), minus, &part) & ~zero;
  wide over = MASK(place >= 127);
  counts->left -= MASK(e == 255);
  counts->over -= over;
  counts->saturated -= over & picked(minus, all_of(lane->stops[1]), all_of(lane->stops[0]));
  counts->inexact -= (over | part) & ~zero;
  counts->under -= MASK(e < 127 - 22) & ~zero;
  counts->to_zero -= MASK(place == 0) & ~zero;
  return NARROW(picked(over, all_of(127), place) | (minus & 128));
}

/* ---- values ---- */

/* A takum's fields: the rest behind R from the top of 32 bits, c, and m from the top. */
#define TAKUM_FIELDS                                                                                       \
  uint32_t pattern = x[i] & mask, minus = 0 - (pattern >> (w - 1)),                                        \
           a = (((pattern ^ minus) - minus) & body) << (32 - w);                                           \
  uint32_t up = 0 - (a >> 30 & 1), r = (a >> 27 & 7) ^ (~up & 7), rest = a << 5, first = (uint32_t)1 << r; \
  uint32_t field = rest >> 1 >> (31 - r), whole = field + ((up & (first - 1)) | (~up & (1 - 2 * first)));  \
  uint32_t m = rest << r, none = 0 - (uint32_t)(a == 0)

/* Up to 28 bits m has at most 23 digits. */
static void values_of_takum_linear(const hu_number_lane *restrict lane, size_t n, uint32_t *restrict z,
                                   const uint32_t *restrict x) {
  uint32_t w = lane->width, mask = (uint32_t)lane->mask, body = (uint32_t)lane->top - 1;
  for (size_t i = 0; i < n; i++) {
    TAKUM_FIELDS;
    uint32_t e = whole + 127, left = 0 - (uint32_t)(e - 1 >= 254);
    uint32_t value = (e << 23 | m >> 9) | (minus & 0x80000000);
    z[i] = (((value & ~left) | (left & HU_LANE_LEFT)) & ~none) | (none & minus & 0x7FC00000);
  }
}

/* e^((c + m) / 2) = 2^k e^f with |f| <= 1/2 ln 2 and k an integer, which the addition of 1.5 2^52 leaves in the
 * lowest digits. k times the upper half of ln 2 is exact, and so is the difference. The series ends with f^12 / 12!:
 * the terms behind it and all roundings together are below 2^-50 of the value. The value in binary32 is sure where no
 * middle between two of them lies within 2^-46; the rest is left, as are values that binary32 has not as normal
 * numbers. */
static void values_of_takum(const hu_number_lane *restrict lane, size_t n, uint32_t *restrict z,
                            const uint32_t *restrict x) {
  static const double over[13] = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,      1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  const double whole_of = 0x1.8p52;
  uint32_t w = lane->width, mask = (uint32_t)lane->mask, body = (uint32_t)lane->top - 1;
  for (size_t i = 0; i < n; i++) {
    TAKUM_FIELDS;
    double half = 0.5 * ((double)(int32_t)whole + 0x1p-31 * (double)(int32_t)(m >> 1));
    double shifted = half * 0x1.71547652b82fep+0 + whole_of, k = shifted - whole_of;
    double f = half - k * 0x1.62e42fefa0000p-1 - k * 0x1.cf79abc9e3b3ap-40, sum = over[12];
    uint64_t sum_bits, up_by;
    for (int j = 11; j >= 0; j--) sum = sum * f + over[j];
    memcpy(&sum_bits, &sum, sizeof sum_bits);
    memcpy(&up_by, &shifted, sizeof up_by);
    sum_bits += up_by << 52;
    uint32_t near = (uint32_t)((sum_bits & 0x1FFFFFFF) - 0x10000000 + 64) <= 128;
    uint32_t left = 0 - (uint32_t)(near || half > 87 || half < -87);
    uint32_t value = (uint32_t)((sum_bits + 0x10000000) >> 29) - ((1023u - 127u) << 23) + (minus & 0x80000000);
    z[i] = (((value & ~left) | (left & HU_LANE_LEFT)) & ~none) | (none & minus & 0x7FC00000);
  }
}
