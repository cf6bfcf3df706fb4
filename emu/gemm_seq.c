/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F), ties to even, in binary32 lanes (gemm_seq.h); elements that the lanes leave go to integers. */
#include "emu/gemm_seq.h"

#include "emu/bits.h"
#include "emu/gemm_call.h"

static const hu_seq_kernels *kernels_for(uint32_t levels) {
#if HU_X86
  if (levels & HU_LEVEL_AVX512) return &hu_seq_avx512;
  if (levels & HU_LEVEL_AVX2) return &hu_seq_avx2;
#endif
  (void)levels;
  return NULL;
}

/* ---- the choice ---- */

static uint32_t power_of_two(int32_t e) { return (uint32_t)(e + 127) << 23; }

/* Does every value of x belong to F's grid, its upper end apart? */
static int on_grid_of(const hu_matrix *x, const hu_spec *f) {
  return !x->data || (x->spec.m <= f->m && x->spec.emin - x->spec.m >= f->emin - f->m);
}

/* Operands few enough in digits for sums to nearest? */
static int digits_fit(const hu_gemm_call *g, const hu_spec *f) {
  return f->m + 1 + g->a.spec.m + 1 + g->b.spec.m + 1 <= 24 && on_grid_of(&g->c, f);
}

static int may_be_near(const hu_gemm_call *g, const hu_spec *f, int32_t emax) {
  int low = !g->sa.any || !g->sb.any || g->sa.low + g->sb.low >= f->emin;
  return digits_fit(g, f) && emax >= 105 + f->m && low && (!g->sc.any || g->sc.low >= f->emin);
}

/* high: |a b| < 2^high. */
static int may_be_floor(const hu_gemm_call *g, const hu_spec *f, int32_t high) {
  return digits_fit(g, f) && f->emin - f->m >= -120 && high <= f->emin - f->m + 23;
}

/* From below 2^(emax-1) a piece's products, less than 2^(emax-2) together with 80 of them, do not reach 2^emax, though
 * each rounding may add 2^-P of the sum, P >= 9: (1 + 2^-9)^80 < 1.2. */
static int may_be_plain(const hu_spec *f, int32_t emax, int32_t high) {
  return f->m >= 8 && HU_GEMM32_KC <= 128 && high + 7 <= emax - 2;
}

/* 1 if the lanes serve the model. */
static int choose(hu_gemm_call *g, uint32_t levels) {
  const hu_accum *x = g->accum;
  const hu_seq_kernels *kernels = kernels_for(levels);
  if (!kernels || x->kind != HU_ACCUM_SEQ || x->promote || x->slices || x->mode.round != HU_RNE || g->k == 0) return 0;
  if (!g->a.carried || !g->b.carried || (g->c.data && !g->c.carried)) return 0;
  hu_spec f = hu_spec_of(x->sum, x->mode);
  int32_t emax = hu_format_limits(x->sum).emax;
  if (!f.sign_mask || f.zero != HU_ZERO_FIELD || f.subnormal != HU_SUBNORMAL_GRADUAL || f.m < 1 || f.m > 11) return 0;
  if (f.emin < -126 || emax <= f.emin || emax > 127 || !hu_odd_is_enough(&f)) return 0;
  g->sa = hu_gemm_span(&g->a);
  g->sb = hu_gemm_span(&g->b);
  g->sc = hu_gemm_span(&g->c);
  int32_t high = g->sa.any && g->sb.any ? g->sa.high + g->sb.high : -1000;
  g->seq_kernels = kernels;
  g->seq.scale = 1.5f * hu_float_of_bits(power_of_two(23 - f.m));
  g->seq.limit = hu_float_of_bits(power_of_two(emax - 1));
  g->seq.floor = power_of_two(f.emin);
  g->seq.top = power_of_two(emax);
  g->seq.jump = (uint32_t)(24 - f.m) << 23;
  g->seq.sign = f.negzero ? 0x80000000u : 0;
  g->seq_way = may_be_near(g, &f, emax)       ? HU_SEQ_NEAR
               : may_be_floor(g, &f, high)    ? HU_SEQ_FLOOR
               : may_be_plain(&f, emax, high) ? HU_SEQ_PLAIN
                                              : HU_SEQ_ODD;
  return 1;
}

/* ---- blocks ---- */

static int given_up(const float *acc) {
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) {
    if (acc[i] == acc[i]) return 0;
  }
  return 1;
}

/* A tile that no way could finish holds a NaN in every place from then on. */
static void run_tile(const hu_gemm_call *g, size_t rows, size_t columns, size_t kc, const float *a, const float *b,
                     float *acc, int fresh) {
  if (!fresh && given_up(acc)) return;
  if (g->seq_kernels->tile(&g->seq, g->seq_way, rows, columns, kc, a, b, acc, fresh)) return;
  if (g->seq_way != HU_SEQ_ODD && g->seq_kernels->tile(&g->seq, HU_SEQ_ODD, rows, columns, kc, a, b, acc, fresh))
    return;
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) acc[i] = hu_float_of_bits(0x7FC00000u);
}

/* Each tile asks for its share of the next piece's lines, 2,720 among 192 tiles. */
static void run_tiles(const hu_gemm_call *g, size_t rows, size_t columns, size_t kc, const float *a, const float *b,
                      float *acc, int fresh, hu_ahead *ahead) {
  for (size_t j = 0; j < columns; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      for (size_t t = 0; t < 15; t++) hu_fetch_line(ahead);
      run_tile(g, hu_least(rows - i, HU_GEMM_MR), hu_least(columns - j, HU_GEMM32_NR), kc, a + i * HU_GEMM32_KC,
               b + j * HU_GEMM32_KC, acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR, fresh);
    }
  }
}

void hu_gemm_finish_open(const hu_gemm_call *g, size_t i, size_t j0, size_t n, float *sum, hu_events *events) {
  for (size_t j = 0, past; j < n; j = past) {
    int open = sum[j] != sum[j];
    for (past = j + 1; past < n && (sum[past] != sum[past]) == open;) past++;
    if (open) {
      hu_gemm_model_block(g, i, j0 + j, 1, past - j, events);
    } else {
      hu_gemm_finish32(g, i, j0 + j, past - j, sum + j, events);
    }
  }
}

#define HU_REAL float
#define HU_READ hu_gemm_read32
#define HU_COPY g->kernels->copy
#define HU_SPREAD g->kernels->spread32
#define HU_TURN g->kernels->turn32
#define HU_FINISH hu_gemm_finish_open
#define HU_KERNEL(padded, columns, kc, a, b, acc, fresh, ahead) run_tiles(g, rows, columns, kc, a, b, acc, fresh, ahead)
#define HU_NR HU_GEMM32_NR
#define HU_MB HU_GEMM32_MB
#define HU_NB HU_GEMM32_NB
#define HU_KC HU_GEMM32_KC
#include "emu/gemm_body.h"

int hu_gemm_use_seq(hu_gemm_call *g, uint32_t levels) {
  if (!choose(g, levels)) return 0;
  g->block = run_block;
  hu_gemm_set_blocks(g, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  return 1;
}
