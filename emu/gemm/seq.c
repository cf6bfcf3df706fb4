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

/* Checks whether operands have few enough digits for sums to nearest. */
static int digits_fit(const hu_gemm_call *call, const hu_spec *spec) {
  return spec->m + 1 + call->a.spec.m + 1 + call->b.spec.m + 1 <= 24 && hui_on_grid_of(&call->c, spec);
}

/* Where products and C lie: multiples of 2^low, products below 2^high. */
typedef struct reach {
  int32_t low, high;
} reach;

static reach reach_of(hu_gemm_call *call) {
  reach found = {1000, -1000};
  hui_gemm_look(call);
  if (call->sa.any && call->sb.any) {
    found.low = call->sa.low + call->sb.low;
    found.high = call->sa.high + call->sb.high;
  }
  if (call->sc.any && call->sc.low < found.low) found.low = call->sc.low;
  return found;
}

/* 2^limit: from below it a piece of K, of at most 80 products less than 2^high, cannot bring a sum to 2^top, though
 * each rounding may add 2^-P of the sum. P >= 9: (1 + 2^-9)^80 < 1.2, times less than 2^(top-1) + 2^(top-2) together.
 * Else the factor is less than 2^(116 / 2^P + 1), times less than 2^limit twice. -1000: there is none. */
static int32_t limit_of(const hu_spec *spec, int32_t top, int32_t high) {
  int32_t digits = spec->m + 1, limit = digits >= 9 ? top - 1 : top - 2 - (116 >> digits);
  int fits = HU_GEMM32_KC <= 80 && high + 7 <= (digits >= 9 ? top - 2 : limit);
  return fits && limit > spec->emin && limit >= -126 ? limit : -1000;
}

/* Rounding to odd is quick under AVX-512: there testing for ties pays only where products have so many digits that ties
 * are rare. */
static int variant_of(const hu_gemm_call *call, const hu_spec *spec, int limited, reach found, int quick_odd) {
  int32_t step = spec->emin - spec->m, least = found.low > step ? found.low : step, far = spec->m <= 10 ? 24 : 12;
  int quick = quick_odd && call->a.spec.m + call->b.spec.m + 2 <= 26;
  if (digits_fit(call, spec)) {
    if (found.high <= least + far && found.low >= step && limited) return HU_SEQ_BARE;
    if (found.low >= spec->emin && limited && found.high - far > spec->emin && found.high - far < 127)
      return HU_SEQ_LEAST;
    if (found.low >= spec->emin && spec->emax >= 105 + spec->m) return HU_SEQ_NEAR;
    if (found.high <= least + far && step >= -120) return HU_SEQ_FLOOR;
  }
  if (quick) return limited ? HU_SEQ_PLAIN : HU_SEQ_ODD;
  if (!limited) return HU_SEQ_TIES_TOP;
  return found.low >= spec->emin ? HU_SEQ_TIES : HU_SEQ_TIES_LOW;
}

/* 1 if the lanes serve the model. */
static int choose(seq_way *way, hu_gemm_call *call, const hu_level *level) {
  const hu_accum *accum = call->accum;
  way->kernels = level->seq;
  if (!way->kernels || !hui_gemm_is_bare(call) || accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices ||
      accum->mode.round != HU_RNE || call->k == 0)
    return 0;
  if (!call->a.carried || !call->b.carried || (call->c.data && !call->c.carried)) return 0;
  hu_spec spec = hui_spec_of(accum->sum, accum->mode);
  int32_t emax = spec.emax;
  if (!hui_lanes_round_into(&spec, 11) || !hui_odd_is_enough(&spec)) return 0;
  reach found = reach_of(call);
  int32_t top = emax < 105 + spec.m ? emax : 105 + spec.m, limit = limit_of(&spec, top, found.high);
  memset(&way->seq, 0, sizeof way->seq);
  way->seq.scale = 1.5f * hui_float_of_bits(hui_power_bits(23 - spec.m));
  way->seq.limit = limit > -1000 ? hui_power_bits(limit) : 0;
  way->seq.floor = hui_power_bits(spec.emin);
  way->seq.top = hui_power_bits(top);
  way->seq.jump = (uint32_t)(spec.m <= 10 ? 24 : 13) << 23;
  way->seq.sign = spec.negzero ? 0x80000000u : 0;
  way->seq.up = (uint32_t)(23 - spec.m) << 23;
  way->seq.shift = (uint32_t)spec.m + 9;
  way->seq.minus = call->c.data && spec.negzero;
  way->first = variant_of(call, &spec, way->seq.limit != 0, found, way->kernels->quick_odd);
  way->seq.least = way->first == HU_SEQ_LEAST ? hui_power_bits(found.high - (spec.m <= 10 ? 24 : 12)) : 0;
  return 1;
}

/* ---- blocks ---- */

static int given_up(const float *acc) {
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) {
    if (acc[i] == acc[i]) return 0;
  }
  return 1;
}

/* Returns the variant to try next; 0: none. */
static int variant_after(int variant, int quick_odd) {
  if (variant == HU_SEQ_LEAST) return HU_SEQ_LEAST_OR_0;
  if (variant == HU_SEQ_ODD) return 0;
  return quick_odd || variant == HU_SEQ_TIES_TOP ? HU_SEQ_ODD : HU_SEQ_TIES_TOP;
}

/* A tile that no variant could finish holds a NaN in every place from then on. */
static void run_tile(const hu_gemm_call *call, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                     float *acc, int fresh) {
  if (!fresh && given_up(acc)) return;
  const seq_way *way = call->way;
  int variant = way->first;
  do {
    if (way->kernels->tile(&way->seq, variant, rows, cols, kc, a, b, acc, fresh)) return;
    variant = variant_after(variant, way->kernels->quick_odd);
  } while (variant);
  for (size_t i = 0; i < HU_GEMM_MR * HU_GEMM32_NR; i++) acc[i] = hui_float_of_bits(0x7FC00000u);
}

/* Runs the tiles: each one asks for its share of the next piece's lines, 2,720 among 192 tiles. */
static void run_tiles(const hu_gemm_call *call, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                      float *acc, int fresh, hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      for (size_t k = 0; k < 15; k++) hui_fetch_line(ahead);
      run_tile(call, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), kc, a + i * HU_GEMM32_KC,
               b + j * HU_GEMM32_KC, acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR, fresh);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) \
  run_tiles(call, rows, cols, kc, a, b, acc, fresh, ahead)
#include "emu/gemm/float_block32.h"

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  seq_way way;
  if (!choose(&way, call, level)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_seq = {"seq", run};
