/* SPDX-License-Identifier: MIT */
/* Rounds a few numbers in their binary32 patterns, as hui_quick of emu/simd/round.h does, with constants that follow
 * from the spec in a few steps: no lane constants, no processor settings, no threads. What has no normal number of the
 * format as its result goes through the core. */
#include "emu/array/few.h"

#include "emu/core/lane_constants.h"
#include "emu/format/value32.h"

enum { MOST_LEFT = 8 }; /* so many elements through the core take as long as the kernels' preparation */

/* For |x| from 2^emin to the largest number, the low `digits` digits of x's pattern are the fraction, and what the mode
 * adds to it carries into the digits kept. The result is no larger than the largest number, which lies on the grid. */
typedef struct rounding {
  uint32_t lowest, span; /* patterns of 2^emin, and of the largest number less that of 2^emin */
  uint32_t zeros;        /* x is a zero of the format where x & zeros is 0: it stays as it is */
  uint32_t base;         /* a magnitude code is the pattern without its fraction, less this */
  int32_t digits, sign_shift;
  hu_addend addend;
} rounding;

/* Formats with m = 0 have the parity of their codes elsewhere, stochastic modes have other addends. */
static int can(rounding *few, const hu_array_view *z) {
  const hu_spec *spec = &z->spec;
  int32_t low = spec->emin + 127;
  if (!hui_spec_is_plain(spec) || spec->m == 0 || spec->m > 22 || spec->round >= HU_SRA || low < 1 ||
      !spec->fits_binary32 || spec->max_code >> spec->m == 0)
    return 0;
  few->digits = 23 - spec->m;
  few->sign_shift = hui_clz64(spec->sign_mask) - 32;
  few->base = (uint32_t)(low - 1) << spec->m;
  few->lowest = (uint32_t)low << 23;
  few->span = ((spec->max_code + few->base) << few->digits) - few->lowest;
  few->zeros = spec->negzero ? 0x7FFFFFFF : 0xFFFFFFFF;
  few->addend = hui_addend_of(spec->round, few->digits);
  return 1;
}

/* Is x left to the core? As signed numbers, which vectors of the baseline compare: 2^31 is subtracted on both sides. */
static inline uint32_t leaves(const rounding *few, uint32_t x) {
  const uint32_t top = 0x80000000;
  int32_t above = (int32_t)((x & 0x7FFFFFFF) - (few->lowest + top)), span = (int32_t)(few->span - top);
  return (above > span) & ((x & few->zeros) != 0);
}

static inline uint32_t pattern_at(const uint8_t *x, size_t i) {
  uint32_t pattern;
  memcpy(&pattern, x + 4 * i, sizeof pattern);
  return pattern;
}

/* Rounds operands to z, patterns. Returns how many are left to the core; *inexact: how many of the others changed.
 * n: a multiple of 4. */
static inline uint32_t round_patterns(const rounding *few, size_t n, uint8_t *restrict z,
                                      const uint8_t *restrict operands, uint32_t *inexact) {
  const rounding constants = *few;
  uint32_t left = 0, same = 0, differs = constants.addend.base[0] ^ constants.addend.base[1],
           keep = ~(((uint32_t)1 << constants.digits) - 1);
  for (size_t i = 0; i < n; i++) {
    uint32_t x = pattern_at(operands, i), odd = 0 - (x << (31 - constants.digits) >> 31);
    uint32_t add = constants.addend.base[0] ^ (differs & (0 - (x >> 31)));
    uint32_t rounded = (x + add + (constants.addend.step & odd)) & keep;
    memcpy(z + 4 * i, &rounded, sizeof rounded);
    uint32_t leave = leaves(&constants, x);
    left += leave;
    same += leave | (rounded == x);
  }
  *inexact = (uint32_t)n - same;
  return left;
}

/* Turns the patterns of results into codes. */
static void to_codes(const rounding *few, size_t n, uint32_t *z) {
  const rounding constants = *few;
  for (size_t i = 0; i < n; i++) {
    uint32_t magnitude = z[i] & 0x7FFFFFFF, sign = (z[i] & 0x80000000) >> constants.sign_shift;
    z[i] = sign | (((magnitude >> constants.digits) - constants.base) & (0 - (uint32_t)(magnitude != 0)));
  }
}

/* Rounds the elements that leaves() names: codes, or patterns. */
static HU_NOINLINE void round_left(const rounding *few, const hu_array_view *view, size_t n, uint8_t *z,
                                   const uint8_t *operands, hu_events *events) {
  for (size_t i = 0; i < n; i++) {
    uint32_t x = pattern_at(operands, i), set;
    if (!leaves(few, x)) continue;
    uint32_t result = hui_round(&view->spec, hui_unpack32(x), 0, &set);
    if (view->kind != HU_VIEW_CODES) result = hui_value32(&view->spec, result);
    memcpy(z + 4 * i, &result, sizeof result);
    if (events) hu_events_count(events, set);
  }
}
/* Returns the operands one after another, in place or in buffer, with zeros behind them up to a multiple of 4. */
static const uint8_t *load(size_t n, uint8_t *buffer, const hu_array_view *x) {
  const uint8_t *data = x->data;
  if (x->stride == 1 && n % 4 == 0) return data;
  for (size_t i = 0; i < n; i++) memcpy(buffer + 4 * i, data + (ptrdiff_t)i * x->stride * 4, 4);
  for (size_t i = n; i % 4; i++) memset(buffer + 4 * i, 0, 4);
  return buffer;
}

static void store(size_t n, const hu_array_view *z, const uint32_t *out) {
  uint8_t *data = (uint8_t *)(uintptr_t)z->data;
  if (z->size == 1 && z->stride == 1) {
    for (size_t i = 0; i < n; i++) data[i] = (uint8_t)out[i];
  } else {
    for (size_t i = 0; i < n; i++)
      hui_store_code(data + (ptrdiff_t)i * z->stride * (ptrdiff_t)z->size, z->size, out[i]);
  }
}

int hui_few_run(size_t n, const hu_array_view *z, const hu_array_view *x, hu_events *events) {
  rounding few;
  uint32_t out[HU_FEW], inexact;
  uint8_t buffer[4 * HU_FEW], *data = (uint8_t *)(uintptr_t)z->data;
  size_t fours = (n + 3) & ~(size_t)3;
  if (x->kind != HU_VIEW_BINARY32 || z->kind == HU_VIEW_BINARY64 || !can(&few, z)) return 0;
  const uint8_t *in = load(n, buffer, x);
  /* Straight into z, where that is no copy of what is read, and the kernels may have to read it. */
  int straight = z->kind == HU_VIEW_BINARY32 && z->stride == 1 && n == fours && data != x->data;
  uint8_t *to = straight ? data : (uint8_t *)out;
  uint32_t left = round_patterns(&few, fours, to, in, &inexact);
  if (left > MOST_LEFT) return 0;
  if (z->kind == HU_VIEW_CODES) to_codes(&few, fours, out);
  if (left) round_left(&few, z, n, to, in, events);
  if (events) events->inexact += inexact;
  if (!straight) store(n, z, out);
  return 1;
}
