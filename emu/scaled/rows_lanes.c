/* SPDX-License-Identifier: MIT */
/* Rows of blocks (rows.h) in a level's lanes; compiled once a level. What is left of a block is done one element at a
 * time, by the same operations, so the bits do not depend on LANES. */
#include <string.h>

#include "emu/core/bits.h"
#include "emu/core/port.h"
#include "emu/scaled/rows.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE

enum { LANES = HU_W };
typedef hu_ilane vints;
typedef hu_lane vwords;
typedef float vfloats __attribute__((vector_size(4 * HU_W)));

static inline vints load(const uint32_t *x) {
  vints vector;
  memcpy(&vector, x, sizeof vector);
  return vector;
}
static inline void store(uint32_t *z, vints vector) { memcpy(z, &vector, sizeof vector); }
static inline vints larger(vints a, vints b) { return (vints)hui_lane_larger((hu_lane)a, (hu_lane)b); }

/* Magnitude patterns are positive as signed integers. */
HU_LANE_FN void look_block(size_t n, const uint32_t *x, uint32_t *top) {
  int32_t largest = (int32_t)*top;
  size_t i = 0;
  if (n >= LANES) {
    vints vector = {0};
    for (; n - i >= LANES; i += LANES) vector = larger(vector, load(x + i) & 0x7FFFFFFF);
    int32_t own = (int32_t)hui_lane_largest((hu_lane)vector);
    largest = own > largest ? own : largest;
  }
  for (; i < n; i++) {
    int32_t a = (int32_t)(x[i] & 0x7FFFFFFF);
    largest = a > largest ? a : largest;
  }
  *top = (uint32_t)largest;
}

/* Several rows side by side, so that memory is asked for more than one at a time. */
enum { ROWS = 8 };
HU_FN void look_rows(size_t rows, size_t n, const uint32_t *x, size_t ld, uint32_t *top) {
  size_t i = 0;
  for (; n - i >= LANES; i += LANES) {
    vints largest = load(top + i);
    for (size_t j = 0; j < rows; j++) largest = larger(largest, load(x + j * ld + i) & 0x7FFFFFFF);
    store(top + i, largest);
  }
  for (; i < n; i++) {
    for (size_t j = 0; j < rows; j++) look_block(1, x + j * ld + i, top + i);
  }
}

static void look_down(size_t rows, size_t n, const uint32_t *x, size_t ld, uint32_t *top) {
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * ld) look_rows(ROWS, n, x, ld, top);
  look_rows(rows, n, x, ld, top);
}

/* Whole blocks of a common side are unrolled. */
static void look(size_t n, size_t side, const uint32_t *x, uint32_t *top) {
  if (side == 1) {
    look_rows(1, n, x, 0, top);
    return;
  }
  if (side == 32) {
    for (; n > 32; n -= 32, x += 32) look_block(32, x, top++);
  } else if (side == 16) {
    for (; n > 16; n -= 16, x += 16) look_block(16, x, top++);
  }
  for (; n > side; n -= side, x += side) look_block(side, x, top++);
  look_block(n, x, top);
}

/* Shifts within both bounds of the magnitude; 0 stays. */
static inline vints shifted(vints x, vints less) {
  vints a = x & 0x7FFFFFFF, least = (a - a) + 0x800000;
  return (x & ~0x7FFFFFFF) | (larger((vints)((vwords)a - (vwords)less), least) & (a != 0));
}
static inline uint32_t shifted_one(uint32_t x, uint32_t less) {
  int32_t a = (int32_t)(x & 0x7FFFFFFF), b = (int32_t)((uint32_t)a - less);
  return (x & 0x80000000) | (a == 0 ? 0 : b > 0x800000 ? (uint32_t)b : 0x800000);
}

/* Shifts where 0 < a < infinity, by one comparison: a - 1 < 0x7F7FFFFF without sign. */
static inline vints shifted_back(vints x, vints less) {
  vints a = x & 0x7FFFFFFF, normal = ((a - 1) & 0x7FFFFFFF) < 0x7F7FFFFF;
  return (vints)((vwords)x - (vwords)(normal & less));
}
static inline uint32_t shifted_back_one(uint32_t x, uint32_t less) {
  return (((x & 0x7FFFFFFF) - 1) & 0x7FFFFFFF) < 0x7F7FFFFF ? x - less : x;
}

static inline vfloats bounded(vfloats y) {
  vints bits = (vints)y, inf = (bits & 0x7FFFFFFF) == 0x7F800000;
  return (vfloats)(bits + inf); /* all ones, -1, where infinite: the number below */
}
static inline float bounded_one(float y) {
  uint32_t bits = hui_bits_of_float(y);
  return hui_float_of_bits(bits - ((bits & 0x7FFFFFFF) == 0x7F800000));
}

/* One pass over the elements of all blocks: `vector` and `amounts`, or `bits` and `amount`, are an element's and its
 * block's. */
#define PASS(name, vector_step, one_step)                                                                   \
  HU_LANE_FN void name##_block(size_t n, uint32_t *z, const uint32_t *x, uint32_t amount) {                 \
    const vints amounts = (vints){0} + (int32_t)amount;                                                     \
    size_t i = 0;                                                                                           \
    for (; n - i >= LANES; i += LANES) {                                                                    \
      vints vector = load(x + i);                                                                           \
      store(z + i, vector_step);                                                                            \
    }                                                                                                       \
    for (; i < n; i++) {                                                                                    \
      uint32_t bits = x[i];                                                                                 \
      z[i] = one_step;                                                                                      \
    }                                                                                                       \
  }                                                                                                         \
  HU_LANE_FN void name##_each(size_t n, uint32_t *z, const uint32_t *x, const uint32_t *by) {               \
    size_t i = 0;                                                                                           \
    for (; n - i >= LANES; i += LANES) {                                                                    \
      vints vector = load(x + i), amounts = load(by + i);                                                   \
      store(z + i, vector_step);                                                                            \
    }                                                                                                       \
    for (; i < n; i++) {                                                                                    \
      uint32_t bits = x[i], amount = by[i];                                                                 \
      z[i] = one_step;                                                                                      \
    }                                                                                                       \
  }                                                                                                         \
  static HU_NOINLINE void name(size_t n, size_t side, uint32_t *z, const uint32_t *x, const uint32_t *by) { \
    if (side == 1) {                                                                                        \
      name##_each(n, z, x, by);                                                                             \
      return;                                                                                               \
    }                                                                                                       \
    if (side == 32) {                                                                                       \
      for (; n > 32; n -= 32, x += 32, z += 32) name##_block(32, z, x, *by++);                              \
    } else if (side == 16) {                                                                                \
      for (; n > 16; n -= 16, x += 16, z += 16) name##_block(16, z, x, *by++);                              \
    }                                                                                                       \
    for (; n > side; n -= side, x += side, z += side) name##_block(side, z, x, *by++);                      \
    name##_block(n, z, x, *by);                                                                             \
  }

#define FLOAT(bits) hui_float_of_bits(bits)
PASS(shift, shifted(vector, amounts), shifted_one(bits, amount))
PASS(shift_back, shifted_back(vector, amounts), shifted_back_one(bits, amount))
PASS(times, (vints)((vfloats)vector *(vfloats)amounts), hui_bits_of_float(FLOAT(bits) * FLOAT(amount)))
PASS(times_bounded, (vints)bounded((vfloats)vector *(vfloats)amounts),
     hui_bits_of_float(bounded_one(FLOAT(bits) * FLOAT(amount))))
PASS(over_bounded, (vints)bounded((vfloats)vector / (vfloats)amounts),
     hui_bits_of_float(bounded_one(FLOAT(bits) / FLOAT(amount))))

/* Each block's vectors may reach into the next one's, which are written later. */
static void spread(size_t n, size_t side, uint32_t *z, const uint32_t *x) {
  for (size_t i = 0; i < n; i += side, x++) {
    size_t m = n - i < side ? n - i : side;
    const vints vector = (vints){0} + (int32_t)*x;
    for (size_t k = 0; k < m; k += LANES) store(z + i + k, vector);
  }
}

/* ---- errors of several scales, one in a lane ---- */

static inline vfloats float_of(vints vector) { return (vfloats)vector; }

/* y to nearest in E2M1, ties to even, at most 6: steps of 1/2 below 2, of 1 below 4, of 2 from there on. Adding
 * 1.5 2^23 steps rounds to a step, and that number of them is even. Patterns of magnitudes are ordered as numbers. */
static inline vfloats to_e2m1(vfloats y) {
  vints bits = (vints)y, a = bits & 0x7FFFFFFF, below = a < 0x40C00000;
  a = (a & below) | (0x40C00000 & ~below);
  vints far = 0x4BC00000 - ((a < 0x40000000) & 0x800000) - ((a < 0x40800000) & 0x800000);
  vfloats nearest = (float_of(a) + float_of(far)) - float_of(far);
  return float_of((vints)nearest | (bits & ~0x7FFFFFFF));
}

HU_LANE_FN vfloats error_of(const hu_scaled_trial *trial, uint32_t x, vfloats by, vfloats back, int divide, int squares,
                            int of_ratio) {
  const vfloats element = (vfloats){0} + FLOAT(x);
  vfloats value = to_e2m1(divide ? element / by : element * by) * back;
  if (of_ratio) value = (value * trial->amax) / trial->both;
  value = float_of((vints)(value - element * trial->factor) & 0x7FFFFFFF);
  return squares ? value * value : value;
}

HU_LANE_FN vfloats errors_of(const hu_scaled_trial *trial, vfloats by, vfloats back, int divide, int squares,
                             int of_ratio) {
  enum { SIDE = 16 };
  vfloats row[SIDE];
  for (size_t i = 0; i < trial->rows; i++) {
    const uint32_t *x = trial->x + i * trial->ldx;
    vfloats sum = {0};
    for (size_t j = 0; j < trial->cols; j++) sum += error_of(trial, x[j], by, back, divide, squares, of_ratio);
    row[i] = sum;
  }
  if (trial->rows == 1) return row[0];
  for (size_t i = trial->rows; i < SIDE; i++) row[i] = (vfloats){0};
  for (size_t half = SIDE / 2; half; half /= 2) {
    for (size_t i = 0; i < half; i++) row[i] += row[i + half];
  }
  return row[0];
}

#define ERRORS(name, divide, squares, of_ratio)                                                                     \
  static void name(const hu_scaled_trial *trial, size_t n, uint32_t *z, const uint32_t *by, const uint32_t *back) { \
    for (size_t i = 0; i < n; i += LANES)                                                                           \
      store(z + i,                                                                                                  \
            (vints)errors_of(trial, float_of(load(by + i)), float_of(load(back + i)), divide, squares, of_ratio));  \
  }
ERRORS(errors_times, 0, 1, 0)
ERRORS(errors_over, 1, 1, 0)
ERRORS(errors_ratio, 0, 0, 1)
ERRORS(squares_ratio, 0, 1, 1)
ERRORS(errors_plain, 0, 0, 0)

static HU_NOINLINE void errors(const hu_scaled_trial *trial, size_t n, uint32_t *z, const uint32_t *by,
                               const uint32_t *back) {
  if (trial->divide)
    errors_over(trial, n, z, by, back);
  else if (trial->of_ratio)
    (trial->squares ? squares_ratio : errors_ratio)(trial, n, z, by, back);
  else
    (trial->squares ? errors_times : errors_plain)(trial, n, z, by, back);
}

const hu_scaled_lanes HU_OF_LEVEL(hu_scaled_lanes) = {look,          look_down,    shift,  shift_back, times,
                                                      times_bounded, over_bounded, spread, errors};

#endif
