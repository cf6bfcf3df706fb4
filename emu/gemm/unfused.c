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

/* Makes the grid of spec; 0 if lanes cannot round to it. */
static int grid_of(hu_unfused_grid *z, const hu_spec *spec) {
  if (!hui_lanes_round_into(spec, 10)) return 0;
  z->scale = 1.5f * hui_float_of_bits(hui_power_bits(23 - spec->m));
  z->floor = hui_power_bits(spec->emin);
  z->top = hui_power_bits(spec->emax < 105 + spec->m ? spec->emax : 105 + spec->m);
  z->sign = spec->negzero ? 0x80000000u : 0;
  return 1;
}

/* The format that parts are joined in: binary32 is not rounded to, and takes any part. */
static int joined_of(hu_unfused_grid *z, hu_format format, const hu_spec *spec, int32_t part_digits) {
  memset(z, 0, sizeof *z);
  if (hu_format_equal(format, hui_format_binary32())) return 1;
  return grid_of(z, spec) && part_digits <= spec->m;
}

static int kind_of(const hu_accum *accum) {
  if (accum->promote && (accum->kind == HU_ACCUM_CHUNK || accum->scaled)) return -1;
  if (accum->kind == HU_ACCUM_SEQ2 || accum->kind == HU_ACCUM_CHUNK) return HU_UNFUSED_SEQ2;
  if (accum->kind == HU_ACCUM_KAHAN) return HU_UNFUSED_KAHAN;
  return accum->kind == HU_ACCUM_NEUMAIER ? HU_UNFUSED_NEUMAIER : -1;
}

/* Finds the formats of products and of sums; chunk: those inside a chunk. */
static void formats_of(const hu_accum *accum, hu_format *product, hu_format *sum) {
  *sum = accum->kind == HU_ACCUM_CHUNK ? accum->product : accum->sum;
  *product = accum->kind == HU_ACCUM_KAHAN || accum->kind == HU_ACCUM_NEUMAIER ? accum->sum : accum->product;
}

/* What the data have to say: whether products are exact, and how to begin. */
static int look(hu_unfused *steps, hu_gemm_call *call, const hu_spec *products, const hu_spec *sums) {
  hui_gemm_look(call);
  int some = call->sa.any && call->sb.any;
  int32_t low = some ? call->sa.low + call->sb.low : 0, high = some ? call->sa.high + call->sb.high : -1000;
  if (low < -149) return 0;
  if (call->sc.any && call->sc.low < low) low = call->sc.low;
  int32_t top = sums->emax < 105 + sums->m ? sums->emax : 105 + sums->m;
  if (steps->kind != HU_UNFUSED_SEQ2) top--;
  steps->top = hui_power_bits(top);
  steps->variant = HU_UNFUSED_FULL;
  if (high > products->emax || high > top || high > 104 + products->m ||
      products->emin - products->m < sums->emin - sums->m)
    return 1;
  steps->variant =
      low >= products->emin && low >= sums->emin && sums->emax >= 105 + sums->m ? HU_UNFUSED_BARE : HU_UNFUSED_LIGHT;
  return 1;
}

/* 1 if the lanes serve the model. */
static int choose(unfused_way *way, hu_gemm_call *call, const hu_level *level) {
  const hu_accum *accum = call->accum;
  hu_unfused *steps = &way->steps;
  hu_format product, sum, joined = accum->promote ? accum->promoted : accum->sum;
  way->kernels = level->unfused;
  if (!way->kernels || !hui_gemm_is_bare(call)) return 0;
  memset(steps, 0, sizeof *steps);
  steps->kind = kind_of(accum);
  if (steps->kind < 0 || accum->slices || accum->mode.round != HU_RNE || call->k == 0) return 0;
  if (!call->a.carried || !call->b.carried || (call->c.data && !call->c.carried)) return 0;
  if (call->a.spec.m + call->b.spec.m + 2 > 24) return 0;
  formats_of(accum, &product, &sum);
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  hu_spec products = hui_spec_of(product, accum->mode), sums = hui_spec_of(sum, accum->mode);
  hu_spec parts = hui_spec_of(joined, accum->promote ? rne : accum->mode);
  if (!grid_of(&steps->product, &products) || !grid_of(&steps->sum, &sums) || products.m > sums.m) return 0;
  steps->length = accum->promote ? accum->promote : accum->kind == HU_ACCUM_CHUNK ? accum->length : 0;
  if (steps->length && !joined_of(&steps->joined, joined, &parts, sums.m)) return 0;
  if (steps->length ? steps->joined.scale > 0 && !hui_on_grid_of(&call->c, &parts) : !hui_on_grid_of(&call->c, &sums))
    return 0;
  steps->minus = call->c.data != NULL && !steps->length;
  return look(steps, call, &products, &sums);
}

/* ---- blocks ---- */

/* A block has STEPS_ROWS rows: below them its panels hold parts and what compensated sums carry. */
enum { STEPS_ROWS = HU_GEMM32_MB / 4, PLANE = STEPS_ROWS * HU_GEMM32_NR, TILE = HU_GEMM_MR * HU_GEMM32_NR };

static void fill(float *z, uint32_t bits) {
  for (size_t i = 0; i < TILE; i++) z[i] = hui_float_of_bits(bits);
}

/* Runs up to kc steps, all of one part. */
static int run_steps(const hu_gemm_call *call, size_t rows, size_t cols, size_t kc, const float *a, const float *b,
                     float *sum, float *other) {
  const unfused_way *way = call->way;
  const hu_unfused *steps = &way->steps;
  if (way->kernels->tile(steps, steps->variant, rows, cols, kc, a, b, sum, other)) return 1;
  return steps->variant != HU_UNFUSED_FULL &&
         way->kernels->tile(steps, HU_UNFUSED_FULL, rows, cols, kc, a, b, sum, other);
}

/* Ends a part, or K. */
static int end_part(const hu_gemm_call *call, size_t rows, size_t cols, float *sum, float *part, const float *other) {
  const unfused_way *way = call->way;
  const hu_unfused *steps = &way->steps;
  float *z = steps->length ? part : sum;
  if (steps->kind == HU_UNFUSED_NEUMAIER && !way->kernels->join(&steps->sum, rows, cols, z, other)) return 0;
  return !steps->length || way->kernels->join(&steps->joined, rows, cols, sum, part);
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
static void run_tile(const hu_gemm_call *call, size_t rows, size_t cols, size_t k0, size_t kc, const float *a,
                     const float *b, float *sum) {
  float *part = sum + PLANE, *other = sum + 2 * PLANE;
  const size_t length = ((const unfused_way *)call->way)->steps.length;
  if (k0 == 0 && !call->c.data) fill(sum, 0);
  if (k0 == 0 && call->sc.special && holds_special(rows, cols, sum)) fill(sum, 0x7FC00000u);
  if (sum[0] != sum[0]) return;
  for (size_t k = 0, count; k < kc; k += count) {
    size_t at = length ? (k0 + k) % length : k0 + k;
    count = length ? hui_least(length - at, kc - k) : kc;
    if (at == 0) {
      fill(part, 0);
      fill(other, 0);
    }
    int ends = (length && at + count == length) || k0 + k + count == call->k;
    if (!run_steps(call, rows, cols, count, a + k * HU_GEMM_MR, b + k * HU_GEMM32_NR, length ? part : sum, other) ||
        (ends && !end_part(call, rows, cols, sum, part, other))) {
      fill(sum, 0x7FC00000u);
      return;
    }
  }
}

static void run_tiles(const hu_gemm_call *call, size_t rows, size_t cols, size_t k0, size_t kc, const float *a,
                      const float *b, float *acc) {
  for (size_t j = 0; j < cols; j += HU_GEMM32_NR) {
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      run_tile(call, hui_least(rows - i, HU_GEMM_MR), hui_least(cols - j, HU_GEMM32_NR), k0, kc, a + i * HU_GEMM32_KC,
               b + j * HU_GEMM32_KC, acc + j * HU_GEMM32_MB + i * HU_GEMM32_NR);
    }
  }
}

#define HU_FINISH hui_gemm_finish_open
#define HU_TILE_KERNEL(padded, cols, kc, a, b, acc, fresh, ahead) run_tiles(call, rows, cols, k0, kc, a, b, acc)
#include "emu/gemm/float_block32.h"

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  unfused_way way;
  if (!choose(&way, call, level)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, STEPS_ROWS, HU_GEMM_MR, HU_NB, HU_NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_unfused = {"unfused", run};
