/* SPDX-License-Identifier: MIT */
/* hu_gemm under models of software in any mode: trees, compensated sums, chunks, parts and slices, and chains where no
 * other lanes serve. Every element of a tile takes the same steps, whatever its numbers are, so that a model is written
 * here as in emu/core/accum.h, with planes of a tile in place of numbers: one call of tiles/steps.h's kernels does one
 * step of all elements, and what is exact about a step stands there. The words of four roundings are drawn at once. */
#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/gemm/seq_modes.h"
#include "emu/gemm/steps/steps.h"

/* KC: products of a piece, whose operands are unpacked at once; DEPTH: levels of a tree, for 2^(DEPTH - 2) products. */
enum { ROWS = HU_STEP_ROWS, COLS = HU_STEP_COLS, PLANE = HU_STEP_PLANE, KC = 64, DEPTH = 34 };

/* What the way keeps of a call. */
typedef struct steps_way {
  const hu_step_kernels *kernels;
  hu_step_grid product, sum, plain; /* as in hu_accum_plan */
} steps_way;

/* ---- the choice ---- */

static float in_integers(const hu_step_grid *step, int what, float a, float b, float c, uint32_t word) {
  const hu_grid *grid = &step->to.grid;
  uint32_t digits = grid->spec.round >= HU_SRA ? word >> (32 - grid->spec.bits) : 0;
  hu_draw draw = hui_draw_of(0, 0, NULL);
  draw.words = &digits;
  draw.count = 1;
  hu_num x = hui_unpack32(hui_bits_of_float(a)), y = hui_unpack32(hui_bits_of_float(b)), z;
  if (what == HU_STEPS_PRODUCT) {
    z = hui_grid_mul(grid, x, y, &draw);
  } else if (what == HU_STEPS_SUM) {
    z = hui_grid_add(grid, x, y, &draw);
  } else {
    z = hui_grid_fma(grid, x, y, hui_unpack32(hui_bits_of_float(c)), &draw);
  }
  return hui_float_of_bits(hui_pack32(z));
}

int hui_step_grid_of(hu_step_grid *z, hu_format format, hu_mode mode) {
  memset(z, 0, sizeof *z);
  if (!hui_mode_grid_of(&z->to, format, mode)) return 0;
  z->sign = z->to.grid.spec.negzero ? 0x80000000u : 0;
  z->lane = in_integers;
  return 1;
}

/* Checks whether every value of inner, of no more digits, is a multiple of what outer's are. */
static int within(const hu_spec *inner, const hu_spec *outer) {
  return inner->m <= outer->m && inner->emin - inner->m >= outer->emin - outer->m;
}

/* Have both terms of every sum few digits, all on the grid of the sums? */
static int sums_are_near(const hu_gemm_call *call, const steps_way *way) {
  const hu_spec *spec = &way->sum.to.grid.spec;
  return spec->round == HU_RNE && spec->m <= 10 && hui_on_grid_of(&call->c, spec) &&
         within(&way->product.to.grid.spec, spec);
}

/* Checks for kinds with a format of their products beside that of their sums. */
static int has_product(uint32_t kind) { return kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK; }

static int has_steps(const hu_accum *accum) {
  return accum->kind == HU_ACCUM_FP32 || (accum->kind >= HU_ACCUM_SEQ && accum->kind <= HU_ACCUM_NEUMAIER);
}

/* Are products binary32 numbers? Rounded ones may be too large: they are looked at by themselves. */
static int products_are_exact(hu_gemm_call *call, int fused) {
  if (call->a.spec.m + call->b.spec.m + 2 > 24) return 0;
  hui_gemm_look(call);
  if (!call->sa.any || !call->sb.any) return 1;
  return call->sa.low + call->sb.low >= -149 && (!fused || call->sa.high + call->sb.high <= 127);
}

/* 1 if lanes can round to the model's formats. */
static int grids_of(steps_way *way, const hu_gemm_call *call) {
  const hu_accum *accum = call->accum;
  const hu_format sum = accum->kind == HU_ACCUM_FP32 ? hui_format_binary32() : accum->sum;
  if (!hui_step_grid_of(&way->sum, sum, accum->mode) ||
      !hui_step_grid_of(&way->product, has_product(accum->kind) ? accum->product : sum, accum->mode))
    return 0;
  way->sum.near = sums_are_near(call, way);
  /* Inside of chunks nothing but rounded products is added. */
  way->product.near = accum->kind == HU_ACCUM_CHUNK && accum->mode.round == HU_RNE && way->product.to.grid.spec.m <= 10;
  return (!accum->promote && !accum->slices) ||
         hui_step_grid_of(&way->plain, hui_accum_result(accum), hui_plain_mode());
}

/* 1 if the lanes serve the model. */
static int choose(steps_way *way, hu_gemm_call *call, const hu_level *level) {
  const int fused = call->accum->kind == HU_ACCUM_SEQ || call->accum->kind == HU_ACCUM_FP32;
  if (!level->seq_modes || !hui_gemm_is_bare(call) || !has_steps(call->accum)) return 0;
  if (call->k == 0 || (uint64_t)call->k >> (DEPTH - 2)) return 0;
  if (!call->a.carried || !call->b.carried || (call->c.data && !call->c.carried)) return 0;
  way->kernels = level->seq_modes->steps;
  return grids_of(way, call) && ((fused && way->kernels->fused) || products_are_exact(call, fused));
}

/* ---- tiles ---- */

typedef float steps_real;
typedef hu_step_grid steps_grid;
typedef struct steps_tile {
  const hu_gemm_call *call;
  const steps_way *way;
  size_t i0, j0, rows, cols, padded; /* padded: the columns that are computed */
  size_t k0, kc, most;               /* the piece that is unpacked; how long pieces are */
  uint64_t next, drawn;              /* number of the next rounding; of the block of words that is drawn */
  float a[KC * ROWS], b[KC * COLS];
  float product[PLANE], carry[PLANE], first[PLANE], second[PLANE], chunk[PLANE], part[PLANE], slice[PLANE];
  uint32_t words[4 * PLANE];
  float level[DEPTH][PLANE];
} steps_tile;

/* Returns the random words of the next rounding onto the grid; NULL where it takes none. */
static const uint32_t *next_words(steps_tile *tile, const hu_step_grid *grid) {
  const hu_gemm_call *call = tile->call;
  uint64_t number = tile->next++, block = 1 + number / 4,
           element = call->stream.counter + (uint64_t)tile->i0 * call->n + tile->j0;
  if (grid->to.grid.spec.round < HU_SRA) return NULL;
  if (block != tile->drawn)
    tile->way->kernels->draw(call->stream.key, block, element, call->n, tile->rows, tile->padded, tile->words);
  tile->drawn = block;
  return tile->words + number % 4 * PLANE;
}

/* ---- steps ---- */

static void add(steps_tile *tile, const hu_step_grid *grid, float *z, const float *x, const float *y) {
  tile->way->kernels->add(grid, tile->rows, tile->padded, 0, z, x, y, next_words(tile, grid));
}

static void subtract(steps_tile *tile, const hu_step_grid *grid, float *z, const float *x, const float *y) {
  tile->way->kernels->add(grid, tile->rows, tile->padded, 1, z, x, y, next_words(tile, grid));
}

static void multiply_at(steps_tile *tile, const steps_grid *grid, float *z, size_t at) {
  tile->way->kernels->multiply(grid, tile->rows, tile->padded, z, tile->a + at * ROWS, tile->b + at * COLS,
                               next_words(tile, grid));
}

static void sort(const steps_tile *tile, float *x, float *y) {
  tile->way->kernels->sort(tile->rows, tile->padded, x, y);
}

static void read_row(const steps_tile *tile, const hu_matrix *x, size_t row, size_t column, size_t n, float *z) {
  (void)tile;
  hui_gemm_read32(x, row, column, n, z);
}

#include "emu/gemm/steps/models.h"

static void fuse(steps_tile *tile, const hu_step_grid *grid, float *z, size_t k) {
  size_t at = piece_with(tile, k);
  tile->way->kernels->fuse(grid, tile->rows, tile->padded, z, tile->a + at * ROWS, tile->b + at * COLS,
                           next_words(tile, grid));
}

static void base(steps_tile *tile, size_t k, size_t past, float *total) {
  if (tile->call->accum->kind != HU_ACCUM_SEQ && tile->call->accum->kind != HU_ACCUM_FP32) {
    sum_by_model(tile, k, past, total);
    return;
  }
  for (; k < past; k++) fuse(tile, &tile->way->sum, total, k);
}

static void promoted(steps_tile *tile, size_t k, size_t past, float *total) {
  const size_t length = tile->call->accum->promote;
  if (!length) base(tile, k, past, total);
  for (size_t end; length && k < past; k = end) {
    end = k + hui_least(past - k, length);
    fill(tile->part);
    base(tile, k, end, tile->part);
    add(tile, &tile->way->plain, total, total, tile->part);
  }
}

static void slices(steps_tile *tile, float *sum) {
  const size_t n = tile->call->k, count = hui_least(tile->call->accum->slices, n);
  float *total = tile->second;
  for (size_t i = 0, k = 0, past; i < count; i++, k = past) {
    past = k + n / count + (i < n % count);
    fill(i ? tile->slice : total);
    promoted(tile, k, past, i ? tile->slice : total);
    if (i) add(tile, &tile->way->plain, total, total, tile->slice);
  }
  add(tile, &tile->way->plain, sum, total, sum);
}

/* ---- blocks ---- */

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  steps_tile tile;
  float total[PLANE];
  tile.call = call;
  tile.way = call->way;
  tile.i0 = i0;
  tile.j0 = j0;
  tile.rows = hui_least(call->m - i0, call->block_rows);
  tile.cols = hui_least(call->n - j0, call->block_cols);
  tile.padded = hui_up_to(tile.cols, 16);
  tile.k0 = tile.kc = 0;
  tile.most = call->accum->kind == HU_ACCUM_STRIDED ? 1 : KC; /* its products come from all over K */
  tile.next = tile.drawn = 0;
  memset(tile.b, 0, sizeof tile.b);
  fill(total);
  if (call->c.data) unpack(&tile, &call->c, i0, j0, tile.rows, tile.cols, total, COLS, 1);
  if (call->accum->slices) {
    slices(&tile, total);
  } else {
    promoted(&tile, 0, call->k, total);
  }
  for (size_t i = 0; i < tile.rows; i++) hui_gemm_finish32(call, i0 + i, j0, tile.cols, total + i * COLS, events);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  steps_way way;
  if (!choose(&way, call, level)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, ROWS, 1, COLS, 16);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_steps = {"steps", run};
