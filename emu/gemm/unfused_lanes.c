/* SPDX-License-Identifier: MIT */
/* unfused.h's tiles in the vectors that seq_lanes.c describes, SEQ_LANES columns a time; compiled as that is. */
#include "emu/gemm/unfused.h"
#include "emu/simd/lanes.h"

#define STEP_FN static inline __attribute__((always_inline))

/* Rows with sums in registers, and those of them whose instructions stand side by side: their chains are long. */
#define STEP_ROWS (HU_LEVEL_REGISTERS == 32 ? 8 : 4)
#define STEP_SIDE (HU_LEVEL_REGISTERS == 32 ? 4 : 2)

/* most: the largest exponent field so far, of those that are watched. */
typedef struct step_state {
  seq_f scale;
  seq_u floor, sign, most;
} step_state;

STEP_FN step_state state_of(const hu_unfused_grid *grid) {
  step_state state;
  state.scale = seq_all(grid->scale);
  state.floor = seq_each(grid->floor);
  state.sign = seq_each(grid->sign);
  state.most = seq_each(0);
  return state;
}

enum { FLOOR = 1, WATCH = 2, SIGN = 4, ALL = 7 };

/* Rounds each t onto the grid. */
STEP_FN void round_by_anchor(step_state *state, const int care, seq_f *t) {
  seq_u e[STEP_SIDE];
  seq_f z[STEP_SIDE];
  HU_UNROLL
  for (size_t i = 0; i < STEP_SIDE; i++) {
    e[i] = seq_and(seq_bits(t[i]), seq_each(0x7F800000u));
    if (care & FLOOR) e[i] = seq_max(e[i], state->floor);
    if (care & WATCH) state->most = seq_max(state->most, e[i]);
  }
  HU_UNROLL
  for (size_t i = 0; i < STEP_SIDE; i++) z[i] = seq_fma(seq_value(e[i]), state->scale, t[i]);
  HU_UNROLL
  for (size_t i = 0; i < STEP_SIDE; i++) {
    z[i] = seq_fnma(seq_value(e[i]), state->scale, z[i]);
    t[i] = care & SIGN ? seq_value(seq_or_and(seq_bits(z[i]), seq_bits(t[i]), state->sign)) : z[i];
  }
}

#define EACH_ROW HU_UNROLL for (size_t r = 0; r < STEP_SIDE; r++)

STEP_FN void add_kahan(step_state *state, const int variant, const seq_f *p, seq_f *sum, seq_f *c) {
  const int care = variant == HU_UNFUSED_FULL ? ALL : 0, watched = variant == HU_UNFUSED_LIGHT ? WATCH : care;
  seq_f y[STEP_SIDE], t[STEP_SIDE];
  EACH_ROW y[r] = seq_sub(p[r], c[r]);
  round_by_anchor(state, watched, y);
  EACH_ROW t[r] = seq_add(sum[r], y[r]);
  round_by_anchor(state, watched, t);
  EACH_ROW c[r] = seq_sub(t[r], sum[r]);
  round_by_anchor(state, care, c);
  EACH_ROW c[r] = seq_sub(c[r], y[r]);
  round_by_anchor(state, care, c);
  EACH_ROW sum[r] = t[r];
}

STEP_FN void add_neumaier(step_state *state, const int variant, const seq_f *p, seq_f *sum, seq_f *c) {
  const int care = variant == HU_UNFUSED_FULL ? ALL : 0, watched = variant == HU_UNFUSED_LIGHT ? WATCH : care;
  seq_f t[STEP_SIDE], e[STEP_SIDE];
  EACH_ROW t[r] = seq_add(sum[r], p[r]);
  round_by_anchor(state, watched, t);
  EACH_ROW e[r] = seq_sub(seq_if_larger(sum[r], p[r], sum[r], p[r]), t[r]);
  round_by_anchor(state, care, e);
  EACH_ROW e[r] = seq_add(e[r], seq_if_larger(sum[r], p[r], p[r], sum[r]));
  round_by_anchor(state, care, e);
  EACH_ROW c[r] = seq_add(c[r], e[r]);
  round_by_anchor(state, watched, c);
  EACH_ROW sum[r] = t[r];
}

/* Makes one step of STEP_SIDE rows. */
STEP_FN void step(step_state *product, step_state *state, const int kind, const int variant, const float *a, seq_f b,
                  seq_f *sum, seq_f *c) {
  seq_f p[STEP_SIDE];
  EACH_ROW p[r] = seq_mul(seq_all(a[r]), b);
  round_by_anchor(product, variant == HU_UNFUSED_FULL ? ALL : variant == HU_UNFUSED_LIGHT ? FLOOR : 0, p);
  if (kind == HU_UNFUSED_KAHAN) {
    add_kahan(state, variant, p, sum, c);
  } else if (kind == HU_UNFUSED_NEUMAIER) {
    add_neumaier(state, variant, p, sum, c);
  } else {
    EACH_ROW sum[r] = seq_add(sum[r], p[r]);
    round_by_anchor(state, variant == HU_UNFUSED_FULL ? ALL : variant == HU_UNFUSED_LIGHT ? WATCH : 0, sum);
  }
}

/* Infinities, NaN, and zeros that may have the wrong sign. */
STEP_FN int left_open(const seq_f z, int zeros, size_t n) {
  seq_u size = seq_and(seq_bits(z), seq_each(0x7FFFFFFFu));
  if (!zeros) return seq_any_from(size, 0x7F800000u, n);
  return seq_any_from(seq_minus(size, seq_each(1)), 0x7F7FFFFFu, n);
}

typedef struct step_tile {
  float sum[HU_GEMM_MR * HU_GEMM32_NR], other[HU_GEMM_MR * HU_GEMM32_NR];
} step_tile;

/* Sums STEP_ROWS rows of one vector; rows, n: those that count. */
STEP_FN int strip(const hu_unfused *steps, const int kind, const int variant, size_t rows, size_t n, size_t kc,
                  const float *a, const float *b, float *sum, float *other, const float *from,
                  const float *from_other) {
  seq_f z[STEP_ROWS], c[STEP_ROWS];
  step_state product = state_of(&steps->product), state = state_of(&steps->sum);
  HU_UNROLL
  for (size_t i = 0; i < STEP_ROWS; i++) {
    z[i] = seq_load(from + i * HU_GEMM32_NR);
    c[i] = kind == HU_UNFUSED_SEQ2 ? z[i] : seq_load(from_other + i * HU_GEMM32_NR);
  }
  for (size_t k = 0; k < kc; k++) {
    seq_f y = seq_load(b + k * HU_GEMM32_NR);
    HU_UNROLL
    for (size_t i = 0; i < STEP_ROWS; i += STEP_SIDE)
      step(&product, &state, kind, variant, a + k * HU_GEMM_MR + i, y, z + i, c + i);
  }
  if (variant == HU_UNFUSED_FULL && seq_any_from(product.most, steps->product.top, n)) return 0;
  if (variant != HU_UNFUSED_BARE &&
      seq_any_from(state.most, variant == HU_UNFUSED_LIGHT ? steps->top : steps->sum.top, n))
    return 0;
  HU_UNROLL
  for (size_t i = 0; i < STEP_ROWS; i++) {
    if (i < rows && left_open(z[i], variant != HU_UNFUSED_FULL && steps->minus, n)) return 0;
    if (i < rows && kind != HU_UNFUSED_SEQ2 && left_open(c[i], 0, n)) return 0;
    seq_store(sum + i * HU_GEMM32_NR, z[i]);
    if (kind != HU_UNFUSED_SEQ2) seq_store(other + i * HU_GEMM32_NR, c[i]);
  }
  return 1;
}

STEP_FN int tile_by(const hu_unfused *steps, const int kind, const int variant, size_t rows, size_t cols, size_t kc,
                    const float *a, const float *b, float *sum, float *other) {
  step_tile z;
  size_t j = 0;
  for (; j < cols; j += SEQ_LANES) {
    size_t n = cols - j < SEQ_LANES ? cols - j : SEQ_LANES;
    for (size_t i = 0; i < HU_GEMM_MR; i += STEP_ROWS) {
      size_t at = i * HU_GEMM32_NR + j;
      if (!strip(steps, kind, variant, rows > i ? rows - i : 0, n, kc, a + i, b + j, z.sum + at, z.other + at, sum + at,
                 other + at))
        return 0;
    }
  }
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i += HU_GEMM32_NR) {
    memcpy(sum + i, z.sum + i, j * sizeof *sum);
    if (kind != HU_UNFUSED_SEQ2) memcpy(other + i, z.other + i, j * sizeof *other);
  }
  return 1;
}

static int tile(const hu_unfused *steps, int variant, size_t rows, size_t cols, size_t kc, const float *a,
                const float *b, float *sum, float *other) {
#define STEP_TILE(kind, variant) tile_by(steps, kind, variant, rows, cols, kc, a, b, sum, other)
#define STEP_VARIANTS(kind)                                         \
  variant == HU_UNFUSED_BARE    ? STEP_TILE(kind, HU_UNFUSED_BARE)  \
  : variant == HU_UNFUSED_LIGHT ? STEP_TILE(kind, HU_UNFUSED_LIGHT) \
                                : STEP_TILE(kind, HU_UNFUSED_FULL)
  if (steps->kind == HU_UNFUSED_SEQ2) return STEP_VARIANTS(HU_UNFUSED_SEQ2);
  if (steps->kind == HU_UNFUSED_KAHAN) return STEP_VARIANTS(HU_UNFUSED_KAHAN);
  return STEP_VARIANTS(HU_UNFUSED_NEUMAIER);
#undef STEP_VARIANTS
#undef STEP_TILE
}

static int join(const hu_unfused_grid *grid, size_t rows, size_t cols, float *sum, const float *part) {
  step_tile kept;
  step_state state = state_of(grid);
  for (size_t j = 0; j < cols; j += SEQ_LANES) {
    size_t n = cols - j < SEQ_LANES ? cols - j : SEQ_LANES;
    state.most = seq_each(0);
    for (size_t i = 0; i < HU_GEMM_MR; i += STEP_SIDE) {
      seq_f z[STEP_SIDE];
      size_t at = i * HU_GEMM32_NR + j;
      EACH_ROW z[r] = seq_add(seq_load(sum + at + r * HU_GEMM32_NR), seq_load(part + at + r * HU_GEMM32_NR));
      if (grid->scale > 0) round_by_anchor(&state, ALL, z);
      EACH_ROW seq_store(kept.sum + at + r * HU_GEMM32_NR, z[r]);
      EACH_ROW if (i + r < rows && left_open(z[r], 0, n)) return 0;
    }
    if (grid->scale > 0 && seq_any_from(state.most, grid->top, n)) return 0;
  }
  for (size_t i = 0; i < rows * HU_GEMM32_NR; i += HU_GEMM32_NR) memcpy(sum + i, kept.sum + i, cols * sizeof *sum);
  return 1;
}

const hu_unfused_kernels HU_OF_LEVEL(hu_unfused) = {tile, join};
