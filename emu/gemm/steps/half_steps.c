/* SPDX-License-Identifier: MIT */
/* hu_gemm under models of software whose steps are one rounding each into binary16, in ties to even, toward zero,
 * positive and negative, by the CPU's operations on binary16: seq2, chunk, pairwise, strided, kahan and neumaier. seq
 * has half.c, which keeps its sums in registers; under splitk both serve the slices (slices.c).
 *
 * The argument. Products and sums of these models are rounded once into binary16 in one mode, and every operand is a
 * number of binary16: A, B and C by their formats, and all else as a result. So each step is IEEE 754's
 * multiplication, addition or subtraction of binary16 in that direction, which the CPU has (arith/half.h), and the
 * steps follow one another as in models.h. No C is +0, as in the model. NaN and events: as in half.c. */
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
static int choose(half_steps_way *way, const hu_gemm_call *call) {
  const hu_accum *accum = call->accum;
  way->kernels = call->extensions.halves;
  way->arith = call->extensions.half_arith;
  if (!way->kernels || !way->arith || !hui_gemm_is_bare(call) || call->k == 0 || (uint64_t)call->k >> (DEPTH - 2))
    return 0;
  if (accum->kind < HU_ACCUM_SEQ2 || accum->kind > HU_ACCUM_NEUMAIER || accum->promote || accum->slices) return 0;
  hu_spec sum = hui_spec_of(accum->sum, accum->mode),
          product = rounds_products(accum->kind) ? hui_spec_of(accum->product, accum->mode) : sum;
  way->product = way->sum = sum.round;
  return hui_half_serves(&sum) && hui_half_serves(&product) && hui_half_holds(&call->a) && hui_half_holds(&call->b) &&
         hui_half_holds(&call->c);
}

/* ---- tiles ---- */

typedef struct steps_tile {
  const hu_gemm_call *call;
  const half_steps_way *way;
  size_t i0, j0, rows, cols, padded; /* padded: the columns that are computed */
  size_t k0, kc, most;
  uint16_t a[KC * ROWS], b[KC * COLS];
  uint16_t product[PLANE], carry[PLANE], first[PLANE], chunk[PLANE];
  uint16_t level[DEPTH][PLANE];
} steps_tile;

static void operate(const steps_tile *tile, int32_t op, uint32_t round, uint16_t *z, const uint16_t *x,
                    const uint16_t *y) {
  if (tile->padded == COLS) {
    const uint16_t *const all[3] = {x, y, NULL};
    tile->way->arith->operate(op, round, tile->rows * COLS, z, all);
    return;
  }
  for (size_t i = 0; i < tile->rows * COLS; i += COLS) {
    const uint16_t *const row[3] = {x + i, y + i, NULL};
    tile->way->arith->operate(op, round, tile->padded, z + i, row);
  }
}

static void add(steps_tile *tile, const steps_grid *grid, uint16_t *z, const uint16_t *x, const uint16_t *y) {
  operate(tile, HU_OP_ADD, *grid, z, x, y);
}

static void subtract(steps_tile *tile, const steps_grid *grid, uint16_t *z, const uint16_t *x, const uint16_t *y) {
  operate(tile, HU_OP_SUB, *grid, z, x, y);
}

static void multiply_at(steps_tile *tile, const steps_grid *grid, uint16_t *z, size_t at) {
  tile->way->kernels->outer(*grid, tile->rows, tile->padded, z, COLS, tile->a + at * ROWS, tile->b + at * COLS);
}

/* Codes of one sign are in the order of their magnitudes. */
static void sort(const steps_tile *tile, uint16_t *x, uint16_t *y) {
  for (size_t i = 0; i < tile->rows * COLS; i += COLS) {
    for (size_t j = i; j < i + tile->padded; j++) {
      const uint16_t a = x[j], b = y[j], kept = (a & 0x7FFF) >= (b & 0x7FFF);
      x[j] = kept ? a : b;
      y[j] = kept ? b : a;
    }
  }
}

static void read_row(const steps_tile *tile, const hu_matrix *x, size_t row, size_t column, size_t n, uint16_t *z) {
  hui_half_read(tile->way->kernels, x, row, column, n, z);
}

#include "emu/gemm/steps/models.h"

/* ---- blocks ---- */

static void finish(const steps_tile *tile, size_t i, const uint16_t *sum, hu_events *events) {
  float values[COLS];
  tile->way->kernels->widen(tile->padded, values, sum);
  hui_gemm_finish32(tile->call, tile->i0 + i, tile->j0, tile->cols, values, events);
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  steps_tile tile;
  uint16_t total[PLANE];
  tile.call = call;
  tile.way = call->way;
  tile.i0 = i0;
  tile.j0 = j0;
  tile.rows = hui_least(call->m - i0, call->block_rows);
  tile.cols = hui_least(call->n - j0, call->block_cols);
  tile.padded = hui_up_to(tile.cols, HU_HALF_STEP);
  tile.k0 = tile.kc = 0;
  tile.most = call->accum->kind == HU_ACCUM_STRIDED ? 1 : KC; /* its products come from all over K */
  memset(tile.b, 0, sizeof tile.b);
  fill(total);
  if (call->c.data) unpack(&tile, &call->c, i0, j0, tile.rows, tile.cols, total, COLS, 1);
  sum_by_model(&tile, 0, call->k, total);
  for (size_t i = 0; i < tile.rows; i++) finish(&tile, i, total + i * COLS, events);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  half_steps_way way;
  (void)level;
  if (!choose(&way, call)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, ROWS, 1, COLS, HU_HALF_STEP);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_half_steps = {"half steps", run};
