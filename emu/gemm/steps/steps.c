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

static float in_integers(const hu_step_grid *q, int what, float a, float b, float c, uint32_t word) {
  const hu_grid *g = &q->to.grid;
  uint32_t digits = g->spec.round >= HU_SRA ? word >> (32 - g->spec.bits) : 0;
  hu_draw d = hui_draw_of(0, 0, NULL);
  d.words = &digits;
  d.count = 1;
  hu_num x = hui_unpack32(hui_bits_of_float(a)), y = hui_unpack32(hui_bits_of_float(b)), z;
  if (what == HU_STEPS_PRODUCT) {
    z = hui_grid_mul(g, x, y, &d);
  } else if (what == HU_STEPS_SUM) {
    z = hui_grid_add(g, x, y, &d);
  } else {
    z = hui_grid_fma(g, x, y, hui_unpack32(hui_bits_of_float(c)), &d);
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

/* Is every value of f, of no more digits, a multiple of what g's are? */
static int within(const hu_spec *f, const hu_spec *g) { return f->m <= g->m && f->emin - f->m >= g->emin - g->m; }

/* Have both terms of every sum few digits, all on the grid of the sums? */
static int sums_are_near(const hu_gemm_call *g, const steps_way *w) {
  const hu_spec *f = &w->sum.to.grid.spec;
  return f->round == HU_RNE && f->m <= 10 && hui_on_grid_of(&g->c, f) && within(&w->product.to.grid.spec, f);
}

/* Kinds with a format of their products beside that of their sums. */
static int has_product(uint32_t kind) { return kind == HU_ACCUM_SEQ2 || kind == HU_ACCUM_CHUNK; }

static int has_steps(const hu_accum *x) {
  return x->kind == HU_ACCUM_FP32 || (x->kind >= HU_ACCUM_SEQ && x->kind <= HU_ACCUM_NEUMAIER);
}

/* Are products binary32 numbers? Rounded ones may be too large: they are looked at by themselves. */
static int products_are_exact(hu_gemm_call *g, int fused) {
  if (g->a.spec.m + g->b.spec.m + 2 > 24) return 0;
  hui_gemm_look(g);
  if (!g->sa.any || !g->sb.any) return 1;
  return g->sa.low + g->sb.low >= -149 && (!fused || g->sa.high + g->sb.high <= 127);
}

/* 1 if lanes can round to the model's formats. */
static int grids_of(steps_way *w, const hu_gemm_call *g) {
  const hu_accum *x = g->accum;
  const hu_format sum = x->kind == HU_ACCUM_FP32 ? hui_format_binary32() : x->sum;
  if (!hui_step_grid_of(&w->sum, sum, x->mode) ||
      !hui_step_grid_of(&w->product, has_product(x->kind) ? x->product : sum, x->mode))
    return 0;
  w->sum.near = sums_are_near(g, w);
  /* Inside of chunks nothing but rounded products is added. */
  w->product.near = x->kind == HU_ACCUM_CHUNK && x->mode.round == HU_RNE && w->product.to.grid.spec.m <= 10;
  return (!x->promote && !x->slices) || hui_step_grid_of(&w->plain, hui_accum_result(x), hui_plain_mode());
}

/* 1 if the lanes serve the model. */
static int choose(steps_way *w, hu_gemm_call *g, const hu_level *level) {
  const int fused = g->accum->kind == HU_ACCUM_SEQ || g->accum->kind == HU_ACCUM_FP32;
  if (!level->seq_modes || !hui_gemm_is_bare(g) || !has_steps(g->accum)) return 0;
  if (g->k == 0 || (uint64_t)g->k >> (DEPTH - 2)) return 0;
  if (!g->a.carried || !g->b.carried || (g->c.data && !g->c.carried)) return 0;
  w->kernels = level->seq_modes->steps;
  return grids_of(w, g) && ((fused && w->kernels->fused) || products_are_exact(g, fused));
}

/* ---- tiles ---- */

typedef float steps_real;
typedef hu_step_grid steps_grid;
typedef struct steps_tile {
  const hu_gemm_call *g;
  const steps_way *w;
  size_t i0, j0, rows, cols, padded; /* padded: the columns that are computed */
  size_t k0, kc, most;               /* the piece that is unpacked; how long pieces are */
  uint64_t next, drawn;              /* number of the next rounding; of the block of words that is drawn */
  float a[KC * ROWS], b[KC * COLS];
  float product[PLANE], carry[PLANE], first[PLANE], second[PLANE], chunk[PLANE], part[PLANE], slice[PLANE];
  uint32_t words[4 * PLANE];
  float level[DEPTH][PLANE];
} steps_tile;

/* The random words of the next rounding, onto q. */
static const uint32_t *next_words(steps_tile *t, const hu_step_grid *q) {
  const hu_gemm_call *g = t->g;
  uint64_t r = t->next++, block = 1 + r / 4, element = g->stream.counter + (uint64_t)t->i0 * g->n + t->j0;
  if (q->to.grid.spec.round < HU_SRA) return NULL;
  if (block != t->drawn) t->w->kernels->draw(g->stream.key, block, element, g->n, t->rows, t->padded, t->words);
  t->drawn = block;
  return t->words + r % 4 * PLANE;
}

/* ---- steps ---- */

static void add(steps_tile *t, const hu_step_grid *q, float *z, const float *x, const float *y) {
  t->w->kernels->add(q, t->rows, t->padded, 0, z, x, y, next_words(t, q));
}

static void subtract(steps_tile *t, const hu_step_grid *q, float *z, const float *x, const float *y) {
  t->w->kernels->add(q, t->rows, t->padded, 1, z, x, y, next_words(t, q));
}

static void multiply_at(steps_tile *t, const steps_grid *q, float *z, size_t at) {
  t->w->kernels->multiply(q, t->rows, t->padded, z, t->a + at * ROWS, t->b + at * COLS, next_words(t, q));
}

static void sort(const steps_tile *t, float *x, float *y) { t->w->kernels->sort(t->rows, t->padded, x, y); }

static void read_row(const steps_tile *t, const hu_matrix *x, size_t row, size_t column, size_t n, float *z) {
  (void)t;
  hui_gemm_read32(x, row, column, n, z);
}

#include "emu/gemm/steps/models.h"

static void fuse(steps_tile *t, const hu_step_grid *q, float *z, size_t k) {
  size_t at = piece_with(t, k);
  t->w->kernels->fuse(q, t->rows, t->padded, z, t->a + at * ROWS, t->b + at * COLS, next_words(t, q));
}

static void base(steps_tile *t, size_t k, size_t past, float *s) {
  if (t->g->accum->kind != HU_ACCUM_SEQ && t->g->accum->kind != HU_ACCUM_FP32) {
    sum_by_model(t, k, past, s);
    return;
  }
  for (; k < past; k++) fuse(t, &t->w->sum, s, k);
}

static void promoted(steps_tile *t, size_t k, size_t past, float *s) {
  const size_t length = t->g->accum->promote;
  if (!length) base(t, k, past, s);
  for (size_t end; length && k < past; k = end) {
    end = k + hui_least(past - k, length);
    fill(t->part);
    base(t, k, end, t->part);
    add(t, &t->w->plain, s, s, t->part);
  }
}

static void slices(steps_tile *t, float *s) {
  const size_t n = t->g->k, count = hui_least(t->g->accum->slices, n);
  float *total = t->second;
  for (size_t i = 0, k = 0, past; i < count; i++, k = past) {
    past = k + n / count + (i < n % count);
    fill(i ? t->slice : total);
    promoted(t, k, past, i ? t->slice : total);
    if (i) add(t, &t->w->plain, total, total, t->slice);
  }
  add(t, &t->w->plain, s, total, s);
}

/* ---- blocks ---- */

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  steps_tile t;
  float s[PLANE];
  t.g = g;
  t.w = g->way;
  t.i0 = i0;
  t.j0 = j0;
  t.rows = hui_least(g->m - i0, g->block_rows);
  t.cols = hui_least(g->n - j0, g->block_cols);
  t.padded = hui_up_to(t.cols, 16);
  t.k0 = t.kc = 0;
  t.most = g->accum->kind == HU_ACCUM_STRIDED ? 1 : KC; /* its products come from all over K */
  t.next = t.drawn = 0;
  memset(t.b, 0, sizeof t.b);
  fill(s);
  if (g->c.data) unpack(&t, &g->c, i0, j0, t.rows, t.cols, s, COLS, 1);
  if (g->accum->slices) {
    slices(&t, s);
  } else {
    promoted(&t, 0, g->k, s);
  }
  for (size_t i = 0; i < t.rows; i++) hui_gemm_finish32(g, i0 + i, j0, t.cols, s + i * COLS, events);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  steps_way w;
  if (!choose(&w, g, level)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, ROWS, 1, COLS, 16);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_steps = {"steps", run};
