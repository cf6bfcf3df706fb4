/* SPDX-License-Identifier: MIT */
/* The kernels of lanes.h in vectors of 64-bit integers. On levels without shifts by lanes the same code processes one
 * element at a time. All decisions are masks; there are no branches. Compiled once per level.
 *
 * A finite binary32 operand not 0 is (1.frac) 2^k, subnormal ones counted with k = -127: they lie below everything that
 * is looked for here. Its candidates are P 2^-d cut off and the next integer, P < 2^63, 1 <= d <= 63. */
#include <string.h>

#include "emu/core/port.h"
#include "emu/number/lanes.h"
#include "emu/simd/of_level.h"

#if HU_LEVEL_ID > 0 && (defined(__GNUC__) || defined(__clang__))
enum { W = HU_LEVEL_BYTES / 8 };
typedef uint64_t wide __attribute__((vector_size(HU_LEVEL_BYTES)));
typedef uint32_t narrow __attribute__((vector_size(HU_LEVEL_BYTES / 2)));
typedef double real __attribute__((vector_size(HU_LEVEL_BYTES)));
#define MASK(c) ((wide)(c))
#define WIDE(x) __builtin_convertvector(x, wide)
#define NARROW(x) __builtin_convertvector(x, narrow)
static inline uint64_t lane(wide x, size_t i) { return x[i]; }
#else
enum { W = 1 };
typedef uint64_t wide;
typedef uint32_t narrow;
typedef double real;
#define MASK(c) (0 - (uint64_t)(c))
#define WIDE(x) ((uint64_t)(x))
#define NARROW(x) ((uint32_t)(x))
static inline uint64_t lane(wide x, size_t i) { return x + i; }
#endif

HU_FN wide all_of(uint64_t x) {
  wide z = {0};
  return z + x;
}
HU_FN wide picked(wide mask, wide a, wide b) { return (a & mask) | (b & ~mask); }
/* Lanes that are all ones are counted by subtracting them. */
HU_FN uint64_t sum_of(wide x) {
  uint64_t sum = 0;
  for (size_t i = 0; i < W; i++) sum += lane(x, i);
  return sum;
}

/* P 2^-d rounded; *part: all ones where digits were lost. */
HU_FN wide rounded(const hu_lane_rounding *rounding, wide p, wide d, wide minus, wide *part) {
  wide half = all_of(1) << (d - 1), low = half + half - 1, cut = p >> d;
  wide full = picked(minus, all_of(rounding->full[1]), all_of(rounding->full[0]));
  wide add = (half & rounding->nearest) + ((half + half) & full) + (cut & rounding->even);
  add += picked(minus, all_of(rounding->minus[1]), all_of(rounding->minus[0]));
  *part = MASK((p & low) != 0);
  return ((p + add) >> d) | (*part & rounding->odd);
}

/* Sums of lanes over a piece. */
typedef struct wide_counts {
  wide left, inexact, over, saturated, under, to_zero, invalid;
} wide_counts;

static uint64_t add_wide_counts(const wide_counts *all, hu_lane_counts *counts) {
  counts->inexact += sum_of(all->inexact);
  counts->overflow += sum_of(all->over);
  counts->saturated += sum_of(all->saturated);
  counts->underflow += sum_of(all->under);
  counts->to_zero += sum_of(all->to_zero);
  counts->invalid += sum_of(all->invalid);
  return sum_of(all->left);
}

HU_FN narrow posits_of(const hu_number_lane *lane, wide u, wide_counts *counts) {
  uint32_t es = lane->es, w = lane->width;
  uint64_t top = (uint64_t)(w - 2) << es, more = w > 25 + es ? w - 25 - es : 0, tail = es + 23 + more;
  uint64_t origin = 1024 >> es; /* k counts from -1024 */
  wide minus = MASK(u >> 31 != 0), a = u & 0x7FFFFFFF, k = (a >> 23) + (1024 - 127), part;
  wide above = MASK(k >= 1024 + top), below = MASK(k < 1024 - top), zero = MASK(a == 0);
  wide exact = MASK(a == (top + 127) << 23); /* maxPos itself */
  k = picked(above | below, all_of(1024), k);
  wide q = k >> es, e = k & (((uint64_t)1 << es) - 1), up = MASK(q >= origin);
  wide bits = picked(up, q - origin + 2, origin - q + 1);
  wide regime = picked(up, (all_of(1) << bits) - 2, all_of(1));
  wide p = (regime << (es + 23) | e << 23 | (a & 0x7FFFFF)) << more;
  wide code = rounded(&lane->rounding, p, bits + (tail - (w - 1)), minus, &part);
  code = picked(above, all_of(lane->max_code), picked(below, all_of(1), code)) & ~zero;
  counts->left -= MASK(a >> 23 == 255);
  counts->over -= above & ~exact;
  counts->saturated -= above & ~exact;
  counts->under -= below & ~zero;
  counts->inexact -= picked(above, ~exact, picked(below, ~zero, part));
  return NARROW(((code ^ minus) - minus) & lane->mask);
}

HU_FN narrow fixed_of(const hu_number_lane *lane, wide u, wide_counts *counts) {
  uint64_t wrap = 0 - (uint64_t)lane->wrap, is_signed = 0 - (uint64_t)lane->is_signed;
  wide minus = MASK(u >> 31 != 0), a = u & 0x7FFFFFFF, k = (a >> 23) + (lane->fraction + 1024 - 127), part;
  wide tiny = MASK(k < 1024 - 1), big = MASK(k > 1024 + 34), zero = MASK(a == 0); /* tiny: below a half */
  k = picked(big, all_of(1024 + 34), picked(tiny, all_of(1024 - 1), k));
  wide p = picked(tiny, all_of(1), ((a & 0x7FFFFF) | 0x800000) << 39);
  wide whole = rounded(&lane->rounding, p, 62 + 1024 - k, minus, &part) & ~zero;
  wide beyond = MASK(whole > picked(minus, all_of(lane->top & is_signed), all_of(lane->max_code)));
  wide none = beyond & minus & ~is_signed & ~wrap; /* below the range of unsigned numbers */
  wide end = picked(minus, all_of(lane->low_code), all_of(lane->max_code)),
       code = ((whole ^ minus) - minus) & lane->mask;
  counts->left -= MASK(a >> 23 == 255) | (big & wrap);
  counts->over -= beyond & ~none;
  counts->saturated -= beyond & ~wrap;
  counts->invalid -= none;
  counts->inexact -= beyond | (part & ~zero);
  counts->to_zero -= ~beyond & ~zero & MASK(whole == 0);
  return NARROW(picked(beyond & ~wrap, end, code));
}

#include "emu/number/tapered_lanes.h"

/* What is left of a piece is filled up with zeros, which raise no event. */
#define ENCODE(name, code_of)                                                                 \
  static uint64_t name(const hu_number_lane *given, size_t n, uint32_t *z, const uint32_t *x, \
                       hu_lane_counts *counts) {                                              \
    const hu_number_lane lane = *given;                                                       \
    wide_counts all;                                                                          \
    narrow v;                                                                                 \
    size_t i = 0;                                                                             \
    memset(&all, 0, sizeof all);                                                              \
    for (; n - i >= W; i += W) {                                                              \
      memcpy(&v, x + i, sizeof v);                                                            \
      v = code_of(&lane, WIDE(v), &all);                                                      \
      memcpy(z + i, &v, sizeof v);                                                            \
    }                                                                                         \
    if (i < n) {                                                                              \
      memset(&v, 0, sizeof v);                                                                \
      memcpy(&v, x + i, (n - i) * sizeof *x);                                                 \
      v = code_of(&lane, WIDE(v), &all);                                                      \
      memcpy(z + i, &v, (n - i) * sizeof *z);                                                 \
    }                                                                                         \
    return add_wide_counts(&all, counts);                                                     \
  }

ENCODE(encode_posit, posits_of)
ENCODE(encode_fixed, fixed_of)
ENCODE(encode_takum_linear, takums_linear_of)
ENCODE(encode_takum, takums_of)
ENCODE(find_hif8_places, hif8_places_of)

static uint64_t encode_hif8(const hu_number_lane *lane, size_t n, uint32_t *z, const uint32_t *x,
                            hu_lane_counts *counts) {
  uint64_t left = find_hif8_places(lane, n, z, x, counts);
  for (size_t i = 0; i < n; i++) z[i] = lane->codes[z[i] & 0xFF];
  return left;
}

static void find_places(const hu_number_lane *restrict lane, size_t n, uint32_t *restrict z,
                        const uint32_t *restrict x) {
  for (size_t i = 0; i < n; i++) z[i] = 0;
  for (uint32_t j = 0; j < lane->thresholds; j++) {
    int32_t t = lane->threshold[j];
    for (size_t i = 0; i < n; i++) z[i] += (uint32_t)(hui_key_of(x[i]) >= t);
  }
}

/* ---- values ---- */

/* The place of the first bit that differs from the first one is that of the leading one of an integer of up to 24
 * digits, which its binary32 exponent holds. */
static void values_of_posit(const hu_number_lane *restrict lane, size_t n, uint32_t *restrict z,
                            const uint32_t *restrict x) {
  uint32_t w = lane->width, es = lane->es, mask = (uint32_t)lane->mask, top = (uint32_t)lane->top, body = top - 1;
  for (size_t i = 0; i < n; i++) {
    uint32_t pattern = x[i] & mask, minus = 0 - (pattern >> (w - 1)), a = ((pattern ^ minus) - minus) & body;
    uint32_t ones = 0 - (a >> (w - 2) & 1), run = (a ^ ones) & body, bits;
    float f = (float)(int32_t)run;
    memcpy(&bits, &f, sizeof bits);
    uint32_t some = 0 - (uint32_t)(run != 0), p = ((bits >> 23) - 127) & some, length = w - 2 - p + (1 & ~some);
    uint32_t r = ((length - 1) & ones) | ((0 - length) & ~ones), rest = a & ((1u << p) - 1);
    uint32_t tail = rest << (23 + es - p), k = (r << es) + (tail >> 23) + 127;
    uint32_t value = (k << 23) + (tail & 0x7FFFFF) + (minus & 0x80000000), none = 0 - (uint32_t)(a == 0);
    z[i] = (value & ~none) | (none & minus & 0x7FC00000);
  }
}

static void values_of_fixed(const hu_number_lane *restrict lane, size_t n, uint32_t *restrict z,
                            const uint32_t *restrict x) {
  uint64_t scale_bits = (uint64_t)(1023 - lane->fraction) << 52;
  uint32_t up = 32 - lane->width, sign = lane->is_signed ? 0x80000000u : 0;
  double scale, offset = lane->is_signed ? 0 : 2147483648.0;
  memcpy(&scale, &scale_bits, sizeof scale);
  for (size_t i = 0; i < n; i++) {
    /* Unsigned codes less 2^31 are signed, and 2^31 comes back in binary64 without rounding. */
    int32_t k = sign ? (int32_t)(x[i] << up) >> up : (int32_t)((x[i] & (uint32_t)lane->mask) ^ 0x80000000u);
    float v = (float)(((double)k + offset) * scale);
    memcpy(z + i, &v, sizeof v);
  }
}

const hu_number_lanes HU_OF_LEVEL(hu_number_lanes) = {
    .posit = encode_posit,
    .fixed = encode_fixed,
    .takum = {encode_takum, encode_takum_linear},
    .hif8 = encode_hif8,
    .places = find_places,
    .posit_values = values_of_posit,
    .fixed_values = values_of_fixed,
    .takum_values = {values_of_takum, values_of_takum_linear},
};
