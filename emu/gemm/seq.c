/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F), ties to even, in binary32 lanes (seq.h); elements that the lanes leave go to integers. */
#include "emu/gemm/seq.h"

#include "emu/core/bits.h"
#include "emu/gemm/call.h"

/* What the way keeps of a call. */
typedef struct seq_way {
  const hu_seq_kernels *kernels;
  hu_seq seq;
  int first; /* HU_SEQ_: how tiles begin */
} seq_way;

/* ---- the choice ---- */

/* Operands few enough in digits for sums to nearest? */
static int digits_fit(const hu_gemm_call *g, const hu_spec *f) {
  return f->m + 1 + g->a.spec.m + 1 + g->b.spec.m + 1 <= 24 && hui_on_grid_of(&g->c, f);
}

/* Where products and C lie: multiples of 2^low, products below 2^high. */
typedef struct reach {
  int32_t low, high;
} reach;

static reach reach_of(hu_gemm_call *g) {
  reach r = {1000, -1000};
  hui_gemm_look(g);
  if (g->sa.any && g->sb.any) {
    r.low = g->sa.low + g->sb.low;
    r.high = g->sa.high + g->sb.high;
  }
  if (g->sc.any && g->sc.low < r.low) r.low = g->sc.low;
  return r;
}

/* 2^limit: from below it a piece of K, of at most 80 products less than 2^high, cannot bring a sum to 2^top, though
 * each rounding may add 2^-P of the sum. P >= 9: (1 + 2^-9)^80 < 1.2, times less than 2^(top-1) + 2^(top-2) together.
 * Else the factor is less than 2^(116 / 2^P + 1), times less than 2^limit twice. -1000: there is none. */
static int32_t limit_of(const hu_spec *f, int32_t top, int32_t high) {
  int32_t digits = f->m + 1, limit = digits >= 9 ? top - 1 : top - 2 - (116 >> digits);
  int fits = HU_GEMM32_KC <= 80 && high + 7 <= (digits >= 9 ? top - 2 : limit);
  return fits && limit > f->emin && limit >= -126 ? limit : -1000;
}

/* Rounding to odd is quick under AVX-512: there testing for ties pays only where products have so many digits that ties
 * are rare. */
static int variant_of(const hu_gemm_call *g, const hu_spec *f, int limited, reach r, int quick_odd) {
  int32_t step = f->emin - f->m, least = r.low > step ? r.low : step, far = f->m <= 10 ? 24 : 12;
  int quick = quick_odd && g->a.spec.m + g->b.spec.m + 2 <= 26;
  if (digits_fit(g, f)) {
    if (r.high <= least + far && r.low >= step && limited) return HU_SEQ_BARE;
    if (r.low >= f->emin && limited && r.high - far > f->emin && r.high - far < 127) return HU_SEQ_LEAST;
    if (r.low >= f->emin && f->emax >= 105 + f->m) return HU_SEQ_NEAR;
    if (r.high <= least + far && step >= -120) return HU_SEQ_FLOOR;
  }
  if (quick) return limited ? HU_SEQ_PLAIN : HU_SEQ_ODD;
  if (!limited) return HU_SEQ_TIES_TOP;
  return r.low >= f->emin ? HU_SEQ_TIES : HU_SEQ_TIES_LOW;
}

/* 1 if the lanes serve the model. */
static int choose(seq_way *w, hu_gemm_call *g, const hu_level *level) {
  const hu_accum *x = g->accum;
  w->kernels = level->seq;
  if (!w->kernels || !hui_gemm_is_bare(g) || x->kind != HU_ACCUM_SEQ || x->promote || x->slices ||
      x->mode.round != HU_RNE || g->k == 0)
    return 0;
  if (!g->a.carried || !g->b.carried || (g->c.data && !g->c.carried)) return 0;
  hu_spec f = hui_spec_of(x->sum, x->mode);
  int32_t emax = f.emax;
  if (!hui_lanes_round_into(&f, 11) || !hui_odd_is_enough(&f)) return 0;
  reach r = reach_of(g);
  int32_t top = emax < 105 + f.m ? emax : 105 + f.m, limit = limit_of(&f, top, r.high);
  memset(&w->seq, 0, sizeof w->seq);
  w->seq.scale = 1.5f * hui_float_of_bits(hui_power_bits(23 - f.m));
  w->seq.limit = limit > -1000 ? hui_power_bits(limit) : 0;
  w->seq.floor = hui_power_bits(f.emin);
  w->seq.top = hui_power_bits(top);
  w->seq.jump = (uint32_t)(f.m <= 10 ? 24 : 13) << 23;
  w->seq.sign = f.negzero ? 0x80000000u : 0;
  w->seq.up = (uint32_t)(23 - f.m) << 23;
  w->seq.shift = (uint32_t)f.m + 9;
  w->seq.minus = g->c.data && f.negzero;
  w->first = variant_of(g, &f, w->seq.limit != 0, r, w->kernels->quick_odd);
  w->seq.least = w->first == HU_SEQ_LEAST ? hui_power_bits(r.high - (f.m <= 10 ? 24 : 12)) : 0;
  return 1;
}

/* ---- blocks ---- */

static int given_up(const float *acc) {
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) {
    if (acc[i] == acc[i]) return 0;
  }
  return 1;
}

/* The variant to try next; 0: none. */
static int variant_after(int variant, int quick_odd) {
  if (variant == HU_SEQ_LEAST) return HU_SEQ_LEAST_OR_0;
  if (variant == HU_SEQ_ODD) return 0;
  return quick_odd || variant == HU_SEQ_TIES_TOP ? HU_SEQ_ODD : HU_SEQ_TIES_TOP;
}

/* A tile that no variant could finish holds a NaN in every place from then on. */
static void run_tile(const hu_gemm_call *g, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                     float *acc, int fresh) {
  if (!fresh && given_up(acc)) return;
  const seq_way *w = g->way;
  int variant = w->first;
  do {
    if (w->kernels->tile(&w->seq, variant, rows, cols, kc, a, b, acc, fresh)) return;
    variant = variant_after(variant, w->kernels->quick_odd);
  } while (variant);
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) acc[i] = hui_float_of_bits(0x7FC00000u);
}

/* Each tile asks for its share of the next piece's lines, 2,720 among 192 tiles. */
static void run_tiles(const hu_gemm_call *g, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                      float *acc, int fresh, hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      for (size_t t = 0; t < 15; t++) hui_fetch_line(ahead);
      run_tile(g, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), kc, a + i * HU_GEMM32_KC,
               b + j * HU_GEMM32_KC, acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR, fresh);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) run_tiles(g, rows, cols, kc, a, b, acc, fresh, ahead)
#include "emu/gemm/float_block32.h"

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  seq_way w;
  if (!choose(&w, g, level)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_seq = {"seq", run};
