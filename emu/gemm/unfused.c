/* SPDX-License-Identifier: MIT */
/* hu_gemm under models of unfused steps, ties to even, in binary32 lanes (unfused.h); elements that the lanes leave
 * go to integers. */
#include "emu/gemm/unfused.h"

#include "emu/core/bits.h"
#include "emu/gemm/call.h"

/* What the way keeps of a call. */
typedef struct unfused_way {
  const hu_unfused_kernels *kernels;
  hu_unfused steps;
} unfused_way;

/* ---- the choice ---- */

/* 1 if lanes can round to f. */
static int grid_of(hu_unfused_grid *z, const hu_spec *f) {
  if (!hui_lanes_round_into(f, 10)) return 0;
  z->scale = 1.5f * hui_float_of_bits(hui_power_bits(23 - f->m));
  z->floor = hui_power_bits(f->emin);
  z->top = hui_power_bits(f->emax < 105 + f->m ? f->emax : 105 + f->m);
  z->sign = f->negzero ? 0x80000000u : 0;
  return 1;
}

/* The format that parts are joined in: binary32 is not rounded to, and takes any part. */
static int joined_of(hu_unfused_grid *z, hu_format format, const hu_spec *f, int32_t part_digits) {
  memset(z, 0, sizeof *z);
  if (hu_format_equal(format, hui_format_binary32())) return 1;
  return grid_of(z, f) && part_digits <= f->m;
}

static int kind_of(const hu_accum *x) {
  if (x->promote && (x->kind == HU_ACCUM_CHUNK || x->scaled)) return -1;
  if (x->kind == HU_ACCUM_SEQ2 || x->kind == HU_ACCUM_CHUNK) return HU_UNFUSED_SEQ2;
  if (x->kind == HU_ACCUM_KAHAN) return HU_UNFUSED_KAHAN;
  return x->kind == HU_ACCUM_NEUMAIER ? HU_UNFUSED_NEUMAIER : -1;
}

/* The formats of products and of sums; chunk: those inside a chunk. */
static void formats_of(const hu_accum *x, hu_format *product, hu_format *sum) {
  *sum = x->kind == HU_ACCUM_CHUNK ? x->product : x->sum;
  *product = x->kind == HU_ACCUM_KAHAN || x->kind == HU_ACCUM_NEUMAIER ? x->sum : x->product;
}

/* What the data have to say: whether products are exact, and how to begin. */
static int look(hu_unfused *q, hu_gemm_call *g, const hu_spec *p, const hu_spec *f) {
  hui_gemm_look(g);
  int some = g->sa.any && g->sb.any;
  int32_t low = some ? g->sa.low + g->sb.low : 0, high = some ? g->sa.high + g->sb.high : -1000;
  if (low < -149) return 0;
  if (g->sc.any && g->sc.low < low) low = g->sc.low;
  int32_t top = f->emax < 105 + f->m ? f->emax : 105 + f->m;
  if (q->kind != HU_UNFUSED_SEQ2) top--;
  q->top = hui_power_bits(top);
  q->variant = HU_UNFUSED_FULL;
  if (high > p->emax || high > top || high > 104 + p->m || p->emin - p->m < f->emin - f->m) return 1;
  q->variant = low >= p->emin && low >= f->emin && f->emax >= 105 + f->m ? HU_UNFUSED_BARE : HU_UNFUSED_LIGHT;
  return 1;
}

/* 1 if the lanes serve the model. */
static int choose(unfused_way *w, hu_gemm_call *g, const hu_level *level) {
  const hu_accum *x = g->accum;
  hu_unfused *q = &w->steps;
  hu_format product, sum, joined = x->promote ? x->promoted : x->sum;
  w->kernels = level->unfused;
  if (!w->kernels || !hui_gemm_is_bare(g)) return 0;
  memset(q, 0, sizeof *q);
  q->kind = kind_of(x);
  if (q->kind < 0 || x->slices || x->mode.round != HU_RNE || g->k == 0) return 0;
  if (!g->a.carried || !g->b.carried || (g->c.data && !g->c.carried)) return 0;
  if (g->a.spec.m + g->b.spec.m + 2 > 24) return 0;
  formats_of(x, &product, &sum);
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  hu_spec p = hui_spec_of(product, x->mode), f = hui_spec_of(sum, x->mode);
  hu_spec h = hui_spec_of(joined, x->promote ? rne : x->mode);
  if (!grid_of(&q->product, &p) || !grid_of(&q->sum, &f) || p.m > f.m) return 0;
  q->length = x->promote ? x->promote : x->kind == HU_ACCUM_CHUNK ? x->length : 0;
  if (q->length && !joined_of(&q->joined, joined, &h, f.m)) return 0;
  if (q->length ? q->joined.scale > 0 && !hui_on_grid_of(&g->c, &h) : !hui_on_grid_of(&g->c, &f)) return 0;
  q->minus = g->c.data != NULL && !q->length;
  return look(q, g, &p, &f);
}

/* ---- blocks ---- */

/* A block has STEPS_ROWS rows: below them its panels have room for parts and for what compensated sums carry. */
enum { STEPS_ROWS = HU_GEMM32_MB / 4, PLANE = STEPS_ROWS * HU_GEMM32_NR, TILE = HU_GEMM_MR * HU_GEMM32_NR };

static void fill(float *z, uint32_t bits) {
  for (size_t i = 0; i < TILE; i++) z[i] = hui_float_of_bits(bits);
}

/* Up to kc steps, all of one part. */
static int run_steps(const hu_gemm_call *g, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                     float *sum, float *other) {
  const unfused_way *w = g->way;
  const hu_unfused *q = &w->steps;
  if (w->kernels->tile(q, q->variant, rows, cols, kc, a, b, sum, other)) return 1;
  return q->variant != HU_UNFUSED_FULL && w->kernels->tile(q, HU_UNFUSED_FULL, rows, cols, kc, a, b, sum, other);
}

/* The end of a part, or of K. */
static int end_part(const hu_gemm_call *g, size_t rows, size_t cols, float *sum, float *part, const float *other) {
  const unfused_way *w = g->way;
  const hu_unfused *q = &w->steps;
  float *z = q->length ? part : sum;
  if (q->kind == HU_UNFUSED_NEUMAIER && !w->kernels->join(&q->sum, rows, cols, z, other)) return 0;
  return !q->length || w->kernels->join(&q->joined, rows, cols, sum, part);
}

static int holds_special(size_t rows, size_t cols, const float *z) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      if (!(z[i * HU_GEMM32_NR + j] - z[i * HU_GEMM32_NR + j] == 0)) return 1;
    }
  }
  return 0;
}

/* A tile that no variant could finish holds a NaN in every place from then on. */
static void run_tile(const hu_gemm_call *g, size_t rows, size_t cols, size_t k0, size_t kc, const float *a,
                     const float *b, float *sum) {
  float *part = sum + PLANE, *other = sum + 2 * PLANE;
  const size_t length = ((const unfused_way *)g->way)->steps.length;
  if (k0 == 0 && !g->c.data) fill(sum, 0);
  if (k0 == 0 && g->sc.special && holds_special(rows, cols, sum)) fill(sum, 0x7FC00000u);
  if (sum[0] != sum[0]) return;
  for (size_t k = 0, count; k < kc; k += count) {
    size_t at = length ? (k0 + k) % length : k0 + k;
    count = length ? hui_least(length - at, kc - k) : kc;
    if (at == 0) {
      fill(part, 0);
      fill(other, 0);
    }
    int ends = (length && at + count == length) || k0 + k + count == g->k;
    if (!run_steps(g, rows, cols, count, a + k * HU_GEMM_MR, b + k * HU_GEMM32_NR, length ? part : sum, other) ||
        (ends && !end_part(g, rows, cols, sum, part, other))) {
      fill(sum, 0x7FC00000u);
      return;
    }
  }
}

static void run_tiles(const hu_gemm_call *g, size_t rows, size_t cols, size_t k0, size_t kc, const float *a,
                      const float *b, float *acc) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      run_tile(g, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), k0, kc, a + i * HU_GEMM32_KC,
               b + j * HU_GEMM32_KC, acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) run_tiles(g, rows, cols, k0, kc, a, b, acc)
#include "emu/gemm/float_block32.h"

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  unfused_way w;
  if (!choose(&w, g, level)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, STEPS_ROWS, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_unfused = {"unfused", run};
