/* SPDX-License-Identifier: MIT */
/* steps.h's kernels in the vectors that emu/gemm/seq_lanes.c describes; compiled once a level. */
#include "emu/gemm/tiles/steps.h"

#include "emu/base/float_env.h"
#include "emu/core/bits.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE
#if HU_LEVEL_ID == 0
#include "emu/gemm/tiles/vector_floats.h"
#endif
#include "emu/gemm/tiles/element_words.h"
#include "emu/gemm/tiles/rounding_lanes.h"

#define STEP_FN static inline __attribute__((always_inline))
/* Vectors whose instructions stand side by side: 16 places. */
#define STEP_SIDE (16 / SEQ_LANES)
#define EACH_ONE HU_UNROLL for (size_t i = 0; i < STEP_SIDE; i++)

/* How t comes from the terms of a sum. */
enum { STEP_DIRECTED, STEP_ODD, STEP_NEAR };

STEP_FN int way_of(const hu_step_grid *grid, const int round) {
  if (grid->to.dropped == 0 || grid->near) return STEP_NEAR;
  return rounds_to_odd(round) ? STEP_ODD : STEP_DIRECTED;
}

STEP_FN seq_f sum_by(const int way, seq_f x, seq_f y) { return way == STEP_ODD ? mode_odd_sum(x, y) : seq_add(x, y); }

STEP_FN seq_u words_at(const int round, const uint32_t *words) {
  if (round < HU_SRA) return seq_each(0);
  seq_u z;
  memcpy(&z, words, sizeof z);
  return z;
}

/* Zeros under the signs that the format has. */
STEP_FN seq_f signed_zeros(const hu_step_grid *grid, seq_f z) {
  seq_u bits = seq_bits(z), size = seq_and(bits, seq_each(0x7FFFFFFFu));
  return seq_value(seq_if_zero(size, seq_and(bits, seq_each(grid->sign)), bits));
}

/* t rounded, where one of the lanes is below 2^emin. */
STEP_FN seq_f rounded_low(const hu_step_grid *grid, const mode_lanes *lanes, const int round, const int way, seq_f t,
                          seq_u random) {
  const seq_u sign = seq_and(seq_bits(t), seq_each(0x80000000u));
  seq_f base = seq_value(seq_or_and(lanes->floor, sign, seq_each(0x80000000u))), wide = sum_by(way, t, base);
  seq_f low = seq_sub(mode_rounded(lanes, round, wide, random), base), high = mode_rounded(lanes, round, t, random);
  low = seq_value(seq_or_and(seq_and(seq_bits(low), seq_each(0x7FFFFFFFu)), sign, seq_each(0x80000000u)));
  seq_u below = seq_negative(above_floor(lanes, t)); /* of numbers: both patterns are below 2^31 */
  seq_u z = seq_or_and(seq_and(seq_bits(low), below), seq_and_not(seq_bits(high), below), seq_each(0xFFFFFFFFu));
  return signed_zeros(grid, seq_value(z));
}

/* Where the terms of a step stand: a of products and fused steps is one number, *x, else a vector. */
typedef struct step_places {
  const float *x, *y;
  const uint32_t *words;
  float *z;
} step_places;

STEP_FN step_places places_at(const step_places *places, const int what, size_t j) {
  step_places z = *places;
  if (what == HU_STEPS_SUM) z.x += j;
  z.y += j;
  if (z.words) z.words += j;
  z.z += j;
  return z;
}

STEP_FN seq_f first_of(const step_places *places, const int what) {
  return what == HU_STEPS_SUM ? seq_load(places->x) : seq_all(*places->x);
}

STEP_FN seq_f fused_by(const int way, seq_f a, seq_f b, seq_f c) {
#if HU_LEVEL_FMA
  return way == STEP_ODD ? mode_odd_fma(a, b, c) : seq_fma(a, b, c);
#else
  return sum_by(way, seq_mul(a, b), c);
#endif
}

/* Computes t of one vector. flip: of the sign of y in sums. */
STEP_FN seq_f step_of(const step_places *places, const int what, const int way, seq_u flip) {
  seq_f a = first_of(places, what), b = seq_load(places->y);
  if (what == HU_STEPS_PRODUCT) return seq_mul(a, b);
  if (what == HU_STEPS_FUSED) return fused_by(way, a, b, seq_load(places->z));
  return sum_by(way, a, seq_value(wide_xor(seq_bits(b), flip)));
}

/* Computes the lanes of `open`, a bit each, of z, in integers. */
static seq_f by_integers(const hu_step_grid *grid, const step_places *places, int what, seq_u flip, uint32_t open,
                         seq_f z) {
  float a[SEQ_LANES], b[SEQ_LANES], out[SEQ_LANES];
  seq_store(a, first_of(places, what));
  seq_store(b, seq_value(wide_xor(seq_bits(seq_load(places->y)), flip)));
  seq_store(out, z);
  for (size_t i = 0; open; i++, open >>= 1) {
    if (open & 1) out[i] = grid->lane(grid, what, a[i], b[i], places->z[i], places->words ? places->words[i] : 0);
  }
  return seq_load(out);
}

/* 16 places with lanes that the pattern alone does not serve. */
HU_NOINLINE static void careful(const hu_step_grid *grid, const mode_lanes *lanes, int round, int way, int what,
                                seq_u flip, const step_places *group) {
  for (size_t i = 0; i < STEP_SIDE; i++) {
    const step_places places = places_at(group, what, i * SEQ_LANES);
    seq_f t = step_of(&places, what, way, flip),
          z = rounded_low(grid, lanes, round, way, t, words_at(round, places.words));
    uint32_t open = seq_which_from(seq_and(seq_bits(t), seq_each(0x7FFFFFFFu)), seq_plus(lanes->floor, lanes->span));
    seq_store(places.z, open ? by_integers(grid, &places, what, flip, open, z) : z);
  }
}

/* Computes one row. The inner loop has no calls: they would cost it registers. It ends before places that are not for
 * it. kept: the same as lanes. */
STEP_FN void row_by(const hu_step_grid *grid, const mode_lanes *lanes, const mode_lanes *kept, const int round,
                    const int way, const int what, size_t cols, seq_u flip, const step_places *row) {
  const int has_minus = grid->sign != 0;
  for (size_t j = 0; j < cols; j += 16) {
    for (; j < cols; j += 16) {
      seq_f t[STEP_SIDE];
      seq_u most = seq_each(0);
      EACH_ONE {
        const step_places places = places_at(row, what, j + i * SEQ_LANES);
        t[i] = step_of(&places, what, way, flip);
        seq_u size = seq_and(seq_bits(t[i]), seq_each(0x7FFFFFFFu));
        seq_u above = seq_if_zero(size, size, seq_minus(size, lanes->floor));
        most = i ? seq_most(most, above) : above;
      }
      if (HU_UNLIKELY(seq_which_from(most, lanes->span))) break;
      EACH_ONE {
        const step_places places = places_at(row, what, j + i * SEQ_LANES);
        seq_f z = mode_rounded(lanes, round, t[i], words_at(round, places.words));
        seq_store(places.z, has_minus ? z : signed_zeros(grid, z));
      }
    }
    if (j >= cols) return;
    const step_places group = places_at(row, what, j);
    careful(grid, kept, round, way, what, flip, &group);
  }
}

/* ---- the steps, each in every mode ---- */

STEP_FN void add_by(const hu_step_grid *grid, const int round, const int way, size_t rows, size_t cols, int minus,
                    float *z, const float *x, const float *y, const uint32_t *words) {
  const mode_lanes lanes = lanes_of(&grid->to, round), kept = lanes;
  const seq_u flip = seq_each(minus ? 0x80000000u : 0);
  for (size_t i = 0; i < rows * HU_STEP_COLS; i += HU_STEP_COLS) {
    const step_places row = {x + i, y + i, round < HU_SRA ? NULL : words + i, z + i};
    row_by(grid, &lanes, &kept, round, way, HU_STEPS_SUM, cols, flip, &row);
  }
}

/* Products are exact: what rounds is their sum with 2^emin, never `near`. */
STEP_FN void multiply_by(const hu_step_grid *grid, const int round, const int way, size_t rows, size_t cols, float *z,
                         const float *a, const float *b, const uint32_t *words) {
  const mode_lanes lanes = lanes_of(&grid->to, round), kept = lanes;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * HU_STEP_COLS;
    const step_places row = {a + i, b, round < HU_SRA ? NULL : words + at, z + at};
    row_by(grid, &lanes, &kept, round, way, HU_STEPS_PRODUCT, cols, seq_each(0), &row);
  }
}

STEP_FN void fuse_by(const hu_step_grid *grid, const int round, const int way, size_t rows, size_t cols, float *z,
                     const float *a, const float *b, const uint32_t *words) {
  const mode_lanes lanes = lanes_of(&grid->to, round), kept = lanes;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * HU_STEP_COLS;
    const step_places row = {a + i, b, round < HU_SRA ? NULL : words + at, z + at};
    row_by(grid, &lanes, &kept, round, way, HU_STEPS_FUSED, cols, seq_each(0), &row);
  }
}

/* A loop of its own for each mode; ties to even have one more, for grids that are near. */
#define STEP_CASE(mode, name, first, words, p3109, ieee)                 \
  case mode:                                                             \
    if (mode == HU_RNE && way_of(grid, HU_RNE) == STEP_NEAR) {           \
      STEP_CALL(mode, STEP_NEAR);                                        \
    } else {                                                             \
      STEP_CALL(mode, first == HU_FIRST_ODD ? STEP_ODD : STEP_DIRECTED); \
    }                                                                    \
    break;
#define STEP_DISPATCH(grid)             \
  switch ((grid)->to.grid.spec.round) { \
    HU_EACH_MODE(STEP_CASE)             \
    default: break;                     \
  }

HU_NOINLINE static void add_each(const hu_step_grid *grid, size_t rows, size_t cols, int minus, float *z,
                                 const float *x, const float *y, const uint32_t *words){
#define STEP_CALL(round, way) add_by(grid, round, way, rows, cols, minus, z, x, y, words)
    STEP_DISPATCH(grid)
#undef STEP_CALL
}

HU_NOINLINE static void multiply_each(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a,
                                      const float *b, const uint32_t *words){
#define STEP_CALL(round, way) multiply_by(grid, round, way, rows, cols, z, a, b, words)
    STEP_DISPATCH(grid)
#undef STEP_CALL
}

HU_NOINLINE static void fuse_each(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a,
                                  const float *b, const uint32_t *words) {
#define STEP_CALL(round, way) fuse_by(grid, round, way, rows, cols, z, a, b, words)
  STEP_DISPATCH(grid)
#undef STEP_CALL
}

static hu_float_env enter(const hu_step_grid *grid) {
  int round = grid->to.grid.spec.round;
  return hui_float_env_enter(way_of(grid, round) == STEP_NEAR ? HU_LANE_NEAREST : mode_direction(round));
}

static void add(const hu_step_grid *grid, size_t rows, size_t cols, int minus, float *z, const float *x, const float *y,
                const uint32_t *words) {
  hu_float_env saved = enter(grid);
  add_each(grid, rows, cols, minus, z, x, y, words);
  hui_float_env_leave(saved);
}

/* Multiplies. Of the grids of products and of fused steps none is near, except for binary32's. */
static void multiply(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a, const float *b,
                     const uint32_t *words) {
  hu_step_grid far = *grid;
  far.near = 0;
  hu_float_env saved = enter(&far);
  multiply_each(&far, rows, cols, z, a, b, words);
  hui_float_env_leave(saved);
}

static void fuse(const hu_step_grid *grid, size_t rows, size_t cols, float *z, const float *a, const float *b,
                 const uint32_t *words) {
  hu_step_grid far = *grid;
  far.near = 0;
  hu_float_env saved = enter(&far);
  fuse_each(&far, rows, cols, z, a, b, words);
  hui_float_env_leave(saved);
}

static void sort(size_t rows, size_t cols, float *x, float *y) {
  for (size_t i = 0; i < rows * HU_STEP_COLS; i += HU_STEP_COLS) {
    for (size_t j = i; j < i + cols; j += SEQ_LANES) {
      seq_f a = seq_load(x + j), b = seq_load(y + j);
      seq_store(x + j, seq_if_larger(a, b, a, b));
      seq_store(y + j, seq_if_larger(a, b, b, a));
    }
  }
}

static void draw(uint64_t key, uint64_t block, uint64_t element, uint64_t pitch, size_t rows, size_t cols,
                 uint32_t *words) {
  const mode_keys keys = keys_of(key);
  for (size_t i = 0; i < rows; i += MODE_DRAWN) {
    for (size_t j = 0; j < cols; j += SEQ_LANES) {
      seq_u some[4 * MODE_DRAWN];
      mode_blocks blocks = blocks_of(&keys, element + i * pitch + j, pitch, (uint32_t)(block >> 32));
      words_of(&keys, &blocks, (uint32_t)block, some);
      for (size_t k = 0; k < MODE_DRAWN; k++) {
        for (size_t n = 0; n < 4; n++) {
          memcpy(words + n * HU_STEP_PLANE + (i + k) * HU_STEP_COLS + j, &some[4 * k + n], sizeof some[0]);
        }
      }
    }
  }
}

const hu_step_kernels HU_OF_LEVEL(hu_steps) = {add, multiply, fuse, sort, draw, HU_LEVEL_FMA};

#endif
