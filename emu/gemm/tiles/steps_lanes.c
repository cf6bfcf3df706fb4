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
#define EACH_ONE HU_UNROLL for (size_t r = 0; r < STEP_SIDE; r++)

/* How t comes from the terms of a sum. */
enum { STEP_DIRECTED, STEP_ODD, STEP_NEAR };

STEP_FN int way_of(const hu_step_grid *q, const int round) {
  if (q->to.d == 0 || q->near) return STEP_NEAR;
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
STEP_FN seq_f signed_zeros(const hu_step_grid *q, seq_f z) {
  seq_u u = seq_bits(z), size = seq_and(u, seq_each(0x7FFFFFFFu));
  return seq_value(seq_if_zero(size, seq_and(u, seq_each(q->sign)), u));
}

/* t rounded, where one of the lanes is below 2^emin. */
STEP_FN seq_f rounded_low(const hu_step_grid *q, const mode_lanes *v, const int round, const int way, seq_f t,
                          seq_u random) {
  const seq_u sign = seq_and(seq_bits(t), seq_each(0x80000000u));
  seq_f base = seq_value(seq_or_and(v->floor, sign, seq_each(0x80000000u))), w = sum_by(way, t, base);
  seq_f low = seq_sub(mode_rounded(v, round, w, random), base), high = mode_rounded(v, round, t, random);
  low = seq_value(seq_or_and(seq_and(seq_bits(low), seq_each(0x7FFFFFFFu)), sign, seq_each(0x80000000u)));
  seq_u below = seq_negative(above_floor(v, t)); /* of numbers: both patterns are below 2^31 */
  seq_u z = seq_or_and(seq_and(seq_bits(low), below), seq_and_not(seq_bits(high), below), seq_each(0xFFFFFFFFu));
  return signed_zeros(q, seq_value(z));
}

/* Where the terms of a step stand: a of products and fused steps is one number, *x, else a vector. */
typedef struct step_places {
  const float *x, *y;
  const uint32_t *words;
  float *z;
} step_places;

STEP_FN step_places places_at(const step_places *p, const int what, size_t j) {
  step_places z = *p;
  if (what == HU_STEPS_SUM) z.x += j;
  z.y += j;
  if (z.words) z.words += j;
  z.z += j;
  return z;
}

STEP_FN seq_f first_of(const step_places *p, const int what) {
  return what == HU_STEPS_SUM ? seq_load(p->x) : seq_all(*p->x);
}

STEP_FN seq_f fused_by(const int way, seq_f a, seq_f b, seq_f c) {
#if HU_LEVEL_FMA
  return way == STEP_ODD ? mode_odd_fma(a, b, c) : seq_fma(a, b, c);
#else
  return sum_by(way, seq_mul(a, b), c);
#endif
}

/* t of one vector. flip: of the sign of y in sums. */
STEP_FN seq_f step_of(const step_places *p, const int what, const int way, seq_u flip) {
  seq_f a = first_of(p, what), b = seq_load(p->y);
  if (what == HU_STEPS_PRODUCT) return seq_mul(a, b);
  if (what == HU_STEPS_FUSED) return fused_by(way, a, b, seq_load(p->z));
  return sum_by(way, a, seq_value(wide_xor(seq_bits(b), flip)));
}

/* The lanes of `open`, a bit each, of z, in integers. */
static seq_f by_integers(const hu_step_grid *q, const step_places *p, int what, seq_u flip, uint32_t open, seq_f z) {
  float a[SEQ_LANES], b[SEQ_LANES], out[SEQ_LANES];
  seq_store(a, first_of(p, what));
  seq_store(b, seq_value(wide_xor(seq_bits(seq_load(p->y)), flip)));
  seq_store(out, z);
  for (size_t i = 0; open; i++, open >>= 1) {
    if (open & 1) out[i] = q->lane(q, what, a[i], b[i], p->z[i], p->words ? p->words[i] : 0);
  }
  return seq_load(out);
}

/* 16 places with lanes that the pattern alone does not serve. */
HU_NOINLINE static void careful(const hu_step_grid *q, const mode_lanes *v, int round, int way, int what, seq_u flip,
                                const step_places *group) {
  for (size_t r = 0; r < STEP_SIDE; r++) {
    const step_places p = places_at(group, what, r * SEQ_LANES);
    seq_f t = step_of(&p, what, way, flip), z = rounded_low(q, v, round, way, t, words_at(round, p.words));
    uint32_t open = seq_which_from(seq_and(seq_bits(t), seq_each(0x7FFFFFFFu)), seq_plus(v->floor, v->span));
    seq_store(p.z, open ? by_integers(q, &p, what, flip, open, z) : z);
  }
}

/* One row. The inner loop has no calls: they would cost it registers. It ends before places that are not for it. kept:
 * the same as v. */
STEP_FN void row_by(const hu_step_grid *q, const mode_lanes *v, const mode_lanes *kept, const int round, const int way,
                    const int what, size_t cols, seq_u flip, const step_places *row) {
  const int has_minus = q->sign != 0;
  for (size_t j = 0; j < cols; j += 16) {
    for (; j < cols; j += 16) {
      seq_f t[STEP_SIDE];
      seq_u most = seq_each(0);
      EACH_ONE {
        const step_places p = places_at(row, what, j + r * SEQ_LANES);
        t[r] = step_of(&p, what, way, flip);
        seq_u size = seq_and(seq_bits(t[r]), seq_each(0x7FFFFFFFu));
        seq_u above = seq_if_zero(size, size, seq_minus(size, v->floor));
        most = r ? seq_most(most, above) : above;
      }
      if (HU_UNLIKELY(seq_which_from(most, v->span))) break;
      EACH_ONE {
        const step_places p = places_at(row, what, j + r * SEQ_LANES);
        seq_f z = mode_rounded(v, round, t[r], words_at(round, p.words));
        seq_store(p.z, has_minus ? z : signed_zeros(q, z));
      }
    }
    if (j >= cols) return;
    const step_places group = places_at(row, what, j);
    careful(q, kept, round, way, what, flip, &group);
  }
}

/* ---- the steps, each in every mode ---- */

STEP_FN void add_by(const hu_step_grid *q, const int round, const int way, size_t rows, size_t cols, int minus,
                    float *z, const float *x, const float *y, const uint32_t *words) {
  const mode_lanes v = lanes_of(&q->to, round), kept = v;
  const seq_u flip = seq_each(minus ? 0x80000000u : 0);
  for (size_t i = 0; i < rows * HU_STEP_COLS; i += HU_STEP_COLS) {
    const step_places row = {x + i, y + i, round < HU_SRA ? NULL : words + i, z + i};
    row_by(q, &v, &kept, round, way, HU_STEPS_SUM, cols, flip, &row);
  }
}

/* Products are exact: what rounds is their sum with 2^emin, never `near`. */
STEP_FN void multiply_by(const hu_step_grid *q, const int round, const int way, size_t rows, size_t cols, float *z,
                         const float *a, const float *b, const uint32_t *words) {
  const mode_lanes v = lanes_of(&q->to, round), kept = v;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * HU_STEP_COLS;
    const step_places row = {a + i, b, round < HU_SRA ? NULL : words + at, z + at};
    row_by(q, &v, &kept, round, way, HU_STEPS_PRODUCT, cols, seq_each(0), &row);
  }
}

STEP_FN void fuse_by(const hu_step_grid *q, const int round, const int way, size_t rows, size_t cols, float *z,
                     const float *a, const float *b, const uint32_t *words) {
  const mode_lanes v = lanes_of(&q->to, round), kept = v;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * HU_STEP_COLS;
    const step_places row = {a + i, b, round < HU_SRA ? NULL : words + at, z + at};
    row_by(q, &v, &kept, round, way, HU_STEPS_FUSED, cols, seq_each(0), &row);
  }
}

/* One function a mode and a way. */
#define STEP_MODES(X) \
  X(HU_RNA) X(HU_RNZ) X(HU_RTZ) X(HU_RTP) X(HU_RTN) X(HU_RAZ) X(HU_RTO) X(HU_SRA) X(HU_SRB) X(HU_SRC)
#define STEP_CASE(round)                                               \
  case round:                                                          \
    STEP_CALL(round, rounds_to_odd(round) ? STEP_ODD : STEP_DIRECTED); \
    break;
#define STEP_DISPATCH(q)                    \
  switch ((q)->to.grid.spec.round) {        \
    STEP_MODES(STEP_CASE)                   \
    default:                                \
      if (way_of(q, HU_RNE) == STEP_NEAR) { \
        STEP_CALL(HU_RNE, STEP_NEAR);       \
      } else {                              \
        STEP_CALL(HU_RNE, STEP_ODD);        \
      }                                     \
  }

HU_NOINLINE static void add_each(const hu_step_grid *q, size_t rows, size_t cols, int minus, float *z, const float *x,
                                 const float *y, const uint32_t *words){
#define STEP_CALL(round, way) add_by(q, round, way, rows, cols, minus, z, x, y, words)
    STEP_DISPATCH(q)
#undef STEP_CALL
}

HU_NOINLINE static void multiply_each(const hu_step_grid *q, size_t rows, size_t cols, float *z, const float *a,
                                      const float *b, const uint32_t *words){
#define STEP_CALL(round, way) multiply_by(q, round, way, rows, cols, z, a, b, words)
    STEP_DISPATCH(q)
#undef STEP_CALL
}

HU_NOINLINE static void fuse_each(const hu_step_grid *q, size_t rows, size_t cols, float *z, const float *a,
                                  const float *b, const uint32_t *words) {
#define STEP_CALL(round, way) fuse_by(q, round, way, rows, cols, z, a, b, words)
  STEP_DISPATCH(q)
#undef STEP_CALL
}

static hu_float_env enter(const hu_step_grid *q) {
  int round = q->to.grid.spec.round;
  return hui_float_env_enter(way_of(q, round) == STEP_NEAR ? HU_LANE_NEAREST : mode_direction(round));
}

static void add(const hu_step_grid *q, size_t rows, size_t cols, int minus, float *z, const float *x, const float *y,
                const uint32_t *words) {
  hu_float_env saved = enter(q);
  add_each(q, rows, cols, minus, z, x, y, words);
  hui_float_env_leave(saved);
}

/* Of the grids of products and of fused steps none is near, but for binary32. */
static void multiply(const hu_step_grid *q, size_t rows, size_t cols, float *z, const float *a, const float *b,
                     const uint32_t *words) {
  hu_step_grid far = *q;
  far.near = 0;
  hu_float_env saved = enter(&far);
  multiply_each(&far, rows, cols, z, a, b, words);
  hui_float_env_leave(saved);
}

static void fuse(const hu_step_grid *q, size_t rows, size_t cols, float *z, const float *a, const float *b,
                 const uint32_t *words) {
  hu_step_grid far = *q;
  far.near = 0;
  hu_float_env saved = enter(&far);
  fuse_each(&far, rows, cols, z, a, b, words);
  hui_float_env_leave(saved);
}

static void sort(size_t rows, size_t cols, float *x, float *y) {
  for (size_t i = 0; i < rows * HU_STEP_COLS; i += HU_STEP_COLS) {
    for (size_t j = i; j < i + cols; j += SEQ_LANES) {
      seq_f u = seq_load(x + j), v = seq_load(y + j);
      seq_store(x + j, seq_if_larger(u, v, u, v));
      seq_store(y + j, seq_if_larger(u, v, v, u));
    }
  }
}

static void draw(uint64_t key, uint64_t q, uint64_t element, uint64_t pitch, size_t rows, size_t cols,
                 uint32_t *words) {
  const mode_keys keys = keys_of(key);
  for (size_t i = 0; i < rows; i += MODE_DRAWN) {
    for (size_t j = 0; j < cols; j += SEQ_LANES) {
      seq_u some[4 * MODE_DRAWN];
      mode_blocks blocks = blocks_of(&keys, element + i * pitch + j, pitch, (uint32_t)(q >> 32));
      words_of(&keys, &blocks, (uint32_t)q, some);
      for (size_t r = 0; r < MODE_DRAWN; r++) {
        for (size_t w = 0; w < 4; w++) {
          memcpy(words + w * HU_STEP_PLANE + (i + r) * HU_STEP_COLS + j, &some[4 * r + w], sizeof some[0]);
        }
      }
    }
  }
}

const hu_step_kernels HU_OF_LEVEL(hu_steps) = {add, multiply, fuse, sort, draw, HU_LEVEL_FMA};

#endif
