/* SPDX-License-Identifier: MIT */
/* hu_gemm under models of software whose steps are one rounding each into binary16, in ties to even, toward zero,
 * positive and negative, by the processor's operations on binary16: seq2, chunk, pairwise, strided, kahan and neumaier.
 * seq has half.c, which keeps its sums in registers; under splitk both serve the slices (slices.c).
 *
 * The argument. Products and sums of these models are rounded once into binary16 in one mode, and every operand is a
 * number of binary16: A, B and C by their formats, and all else as a result. So each step is IEEE 754's multiplication,
 * addition or subtraction of binary16 in that direction, which the processor has (arith/half.h), and the steps follow
 * one another as in models.h. No C is +0, as in the model. NaN and events: as in half.c. */
#include "emu/gemm/steps/half.h"
#include "emu/gemm/tiles/steps.h"

/* DEPTH: as in steps.c. */
enum { ROWS = HU_STEP_ROWS, COLS = HU_STEP_COLS, PLANE = HU_STEP_PLANE, KC = 64, DEPTH = 34 };

typedef uint16_t steps_real;
typedef uint32_t steps_grid; /* the mode */

/* What the way keeps of a call. */
typedef struct half_steps_way {
  const hu_half_kernels *kernels;
  const hu_half_arith *arith;
  steps_grid product, sum;
} half_steps_way;

static int rounds_products(uint32_t kind) { return kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK; }

/* 1 if the instructions serve the model. */
static int choose(half_steps_way *w, const hu_gemm_call *g) {
  const hu_accum *x = g->accum;
  w->kernels = g->extensions.halves;
  w->arith = g->extensions.half_arith;
  if (!w->kernels || !w->arith || !hui_gemm_is_bare(g) || g->k == 0 || (uint64_t)g->k >> (DEPTH - 2)) return 0;
  if (x->kind < HU_ACCUM_SEQ2 || x->kind > HU_ACCUM_NEUMAIER || x->promote || x->slices) return 0;
  hu_spec sum = hui_spec_of(x->sum, x->mode),
          product = rounds_products(x->kind) ? hui_spec_of(x->product, x->mode) : sum;
  w->product = w->sum = sum.round;
  return hui_half_serves(&sum) && hui_half_serves(&product) && hui_half_holds(&g->a) && hui_half_holds(&g->b) &&
         hui_half_holds(&g->c);
}

/* ---- tiles ---- */

typedef struct steps_tile {
  const hu_gemm_call *g;
  const half_steps_way *w;
  size_t i0, j0, rows, cols, padded; /* padded: the columns that are computed */
  size_t k0, kc, most;
  uint16_t a[KC * ROWS], b[KC * COLS];
  uint16_t product[PLANE], carry[PLANE], first[PLANE], chunk[PLANE];
  uint16_t level[DEPTH][PLANE];
} steps_tile;

static void operate(const steps_tile *t, int32_t op, uint32_t round, uint16_t *z, const uint16_t *x,
                    const uint16_t *y) {
  if (t->padded == COLS) {
    const uint16_t *const all[3] = {x, y, NULL};
    t->w->arith->operate(op, round, t->rows * COLS, z, all);
    return;
  }
  for (size_t i = 0; i < t->rows * COLS; i += COLS) {
    const uint16_t *const row[3] = {x + i, y + i, NULL};
    t->w->arith->operate(op, round, t->padded, z + i, row);
  }
}

static void add(steps_tile *t, const steps_grid *q, uint16_t *z, const uint16_t *x, const uint16_t *y) {
  operate(t, HU_OP_ADD, *q, z, x, y);
}

static void subtract(steps_tile *t, const steps_grid *q, uint16_t *z, const uint16_t *x, const uint16_t *y) {
  operate(t, HU_OP_SUB, *q, z, x, y);
}

static void multiply_at(steps_tile *t, const steps_grid *q, uint16_t *z, size_t at) {
  t->w->kernels->outer(*q, t->rows, t->padded, z, COLS, t->a + at * ROWS, t->b + at * COLS);
}

/* Codes of one sign are in the order of their magnitudes. */
static void sort(const steps_tile *t, uint16_t *x, uint16_t *y) {
  for (size_t i = 0; i < t->rows * COLS; i += COLS) {
    for (size_t j = i; j < i + t->padded; j++) {
      const uint16_t u = x[j], v = y[j], kept = (u & 0x7FFF) >= (v & 0x7FFF);
      x[j] = kept ? u : v;
      y[j] = kept ? v : u;
    }
  }
}

static void read_row(const steps_tile *t, const hu_matrix *x, size_t row, size_t column, size_t n, uint16_t *z) {
  hui_half_read(t->w->kernels, x, row, column, n, z);
}

#include "emu/gemm/steps/models.h"

/* ---- blocks ---- */

static void finish(const steps_tile *t, size_t i, const uint16_t *sum, hu_events *events) {
  float values[COLS];
  t->w->kernels->widen(t->padded, values, sum);
  hui_gemm_finish32(t->g, t->i0 + i, t->j0, t->cols, values, events);
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  steps_tile t;
  uint16_t s[PLANE];
  t.g = g;
  t.w = g->way;
  t.i0 = i0;
  t.j0 = j0;
  t.rows = hui_least(g->m - i0, g->block_rows);
  t.cols = hui_least(g->n - j0, g->block_cols);
  t.padded = hui_up_to(t.cols, HU_HALF_STEP);
  t.k0 = t.kc = 0;
  t.most = g->accum->kind == HU_ACCUM_STRIDED ? 1 : KC; /* its products come from all over K */
  memset(t.b, 0, sizeof t.b);
  fill(s);
  if (g->c.data) unpack(&t, &g->c, i0, j0, t.rows, t.cols, s, COLS, 1);
  sum_by_model(&t, 0, g->k, s);
  for (size_t i = 0; i < t.rows; i++) finish(&t, i, s + i * COLS, events);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  half_steps_way w;
  (void)level;
  if (!choose(&w, g)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, ROWS, 1, COLS, HU_HALF_STEP);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_half_steps = {"half steps", run};
