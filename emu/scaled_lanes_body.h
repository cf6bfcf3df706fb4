/* SPDX-License-Identifier: MIT */
/* The text of emu/scaled_lanes_*.c: HU_BYTES, the bytes of a vector, and HU_LANES, the table's name, are defined there.
 * One element at a time what is left of a block; both ways do the same operations, so the bits do not depend on W. */
#include <string.h>

#include "emu/bits.h"
#include "emu/port.h"
#include "emu/scaled_lanes.h"

#if defined(__GNUC__) || defined(__clang__)

enum { W = HU_BYTES / 4 };
typedef int32_t vints __attribute__((vector_size(HU_BYTES)));
typedef uint32_t vwords __attribute__((vector_size(HU_BYTES)));
typedef float vfloats __attribute__((vector_size(HU_BYTES)));

static inline vints load(const uint32_t *x) {
  vints v;
  memcpy(&v, x, sizeof v);
  return v;
}
static inline void store(uint32_t *z, vints v) { memcpy(z, &v, sizeof v); }
static inline vints larger(vints a, vints b) {
  vints m = a > b;
  return (a & m) | (b & ~m);
}
/* The largest of t and the lanes, by quarters of four lanes. */
typedef int32_t vfour __attribute__((vector_size(16)));
static inline int32_t largest_of(int32_t t, vints v) {
  vfour a, b;
  memcpy(&a, &v, sizeof a);
  for (size_t k = 1; k < W / 4; k++) {
    memcpy(&b, (const char *)&v + 16 * k, sizeof b);
    vfour m = a > b;
    a = (a & m) | (b & ~m);
  }
  int32_t x = a[0] > a[1] ? a[0] : a[1], y = a[2] > a[3] ? a[2] : a[3];
  x = x > y ? x : y;
  return t > x ? t : x;
}

/* Magnitude patterns are positive as signed integers. */
HU_FN void look_block(size_t n, const uint32_t *x, uint32_t *top) {
  int32_t t = (int32_t)*top;
  size_t i = 0;
  if (n >= W) {
    vints v = {0};
    for (; i + W <= n; i += W) v = larger(v, load(x + i) & 0x7FFFFFFF);
    t = largest_of(t, v);
  }
  for (; i < n; i++) {
    int32_t a = (int32_t)(x[i] & 0x7FFFFFFF);
    t = a > t ? a : t;
  }
  *top = (uint32_t)t;
}

/* Whole blocks of a usual side are unrolled. */
static void look(size_t n, size_t side, const uint32_t *x, uint32_t *top) {
  if (side == 32) {
    for (; n > 32; n -= 32, x += 32) look_block(32, x, top++);
  } else if (side == 16) {
    for (; n > 16; n -= 16, x += 16) look_block(16, x, top++);
  }
  for (; n > side; n -= side, x += side) look_block(side, x, top++);
  look_block(n, x, top);
}

/* With both bounds of the magnitude; 0 stays. */
static inline vints shifted(vints x, uint32_t less) {
  vints a = x & 0x7FFFFFFF, least = (a - a) + 0x800000;
  return (x & ~0x7FFFFFFF) | (larger(a - (int32_t)less, least) & (a != 0));
}
static inline uint32_t shifted_one(uint32_t x, uint32_t less) {
  int32_t a = (int32_t)(x & 0x7FFFFFFF), b = (int32_t)((uint32_t)a - less);
  return (x & 0x80000000) | (a == 0 ? 0 : b > 0x800000 ? (uint32_t)b : 0x800000);
}

/* 0 < a < infinity, by one comparison: a - 1 < 0x7F7FFFFF without sign. */
static inline vints shifted_back(vints x, uint32_t less) {
  vints a = x & 0x7FFFFFFF, normal = ((a - 1) & 0x7FFFFFFF) < 0x7F7FFFFF;
  return (vints)((vwords)x - ((vwords)normal & less));
}
static inline uint32_t shifted_back_one(uint32_t x, uint32_t less) {
  return (((x & 0x7FFFFFFF) - 1) & 0x7FFFFFFF) < 0x7F7FFFFF ? x - less : x;
}

static inline vfloats bounded(vfloats y) {
  vints u = (vints)y, inf = (u & 0x7FFFFFFF) == 0x7F800000;
  return (vfloats)(u + inf); /* all ones, -1, where infinite: the number below */
}
static inline float bounded_one(float y) {
  uint32_t u = hu_bits_of_float(y);
  return hu_float_of_bits(u - ((u & 0x7FFFFFFF) == 0x7F800000));
}

/* One pass over the elements of all blocks. */
#define PASS(name, type, vector_step, one_step)                                                         \
  HU_FN void name##_block(size_t n, uint32_t *z, const uint32_t *x, type by) {                          \
    size_t i = 0;                                                                                       \
    for (; i + W <= n; i += W) {                                                                        \
      vints v = load(x + i);                                                                            \
      store(z + i, vector_step);                                                                        \
    }                                                                                                   \
    for (; i < n; i++) z[i] = one_step;                                                                 \
  }                                                                                                     \
  static HU_NOINLINE void name(size_t n, size_t side, uint32_t *z, const uint32_t *x, const type *by) { \
    if (side == 32) {                                                                                   \
      for (; n > 32; n -= 32, x += 32, z += 32) name##_block(32, z, x, *by++);                          \
    } else if (side == 16) {                                                                            \
      for (; n > 16; n -= 16, x += 16, z += 16) name##_block(16, z, x, *by++);                          \
    }                                                                                                   \
    for (; n > side; n -= side, x += side, z += side) name##_block(side, z, x, *by++);                  \
    name##_block(n, z, x, *by);                                                                         \
  }

PASS(shift, uint32_t, shifted(v, by), shifted_one(x[i], by))
PASS(shift_back, uint32_t, shifted_back(v, by), shifted_back_one(x[i], by))
PASS(times, float, (vints)((vfloats)v *by), hu_bits_of_float(hu_float_of_bits(x[i]) * by))
PASS(times_bounded, float, (vints)bounded((vfloats)v *by), hu_bits_of_float(bounded_one(hu_float_of_bits(x[i]) * by)))
PASS(over_bounded, float, (vints)bounded((vfloats)v / by), hu_bits_of_float(bounded_one(hu_float_of_bits(x[i]) / by)))

const hu_scaled_lanes *HU_LANES(void) {
  static const hu_scaled_lanes lanes = {look, shift, shift_back, times, times_bounded, over_bounded};
  return &lanes;
}

#else
const hu_scaled_lanes *HU_LANES(void) { return NULL; }
#endif
