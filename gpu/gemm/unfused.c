/* SPDX-License-Identifier: MIT */
/* gpu/gemm/unfused.c - see unfused.h; the conditions are those that unfused.cu states. */
#include "gpu/gemm/unfused.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"

/* Returns the upper half of the pattern of 2^exponent, |exponent| <= 1022. */
static uint32_t power_high(int32_t exponent) { return (uint32_t)(exponent + 1023) << 20; }

/* Returns 1 if binary64 rounds into the format by an anchor. */
static int grid_of(hu_unfused_grid *grid, const hu_spec *spec) {
  if (!hui_spec_is_plain(spec) || spec->m < 1 || spec->m > 25) return 0;
  if (spec->emin < -300 || spec->emax > 300 || spec->emax <= spec->emin) return 0;
  grid->scale = 1.5 * hui_double_of_bits((uint64_t)power_high(52 - spec->m) << 32);
  grid->floor = power_high(spec->emin);
  grid->top = power_high(spec->emax);
  grid->sign = spec->negzero ? 0x80000000u : 0;
  return 1;
}

static int kind_of(const hu_accum *model) {
  switch (model->kind) {
    case HU_ACCUM_SEQ2:
    case HU_ACCUM_CHUNK: return HU_UNFUSED_SEQ2;
    case HU_ACCUM_KAHAN: return HU_UNFUSED_KAHAN;
    case HU_ACCUM_NEUMAIER: return HU_UNFUSED_NEUMAIER;
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: return HU_UNFUSED_TREE;
    default: return -1;
  }
}

/* Returns 1 if digits of the coarse format's finite numbers are among the fine one's, whose range may be smaller. */
static int digits_of(const hu_spec *coarse, const hu_spec *fine) {
  return coarse->m <= fine->m && coarse->emin - coarse->m >= fine->emin - fine->m;
}

int hui_unfused_plan(hu_unfused_args *unfused, uint64_t k, hu_format fa, hu_format fb, const hu_format *fc,
                     const hu_accum *accum) {
  const hu_accum *model = accum;
  const hu_format single = hui_format_binary32();
  int kind = kind_of(model), chunk = model->kind == HU_ACCUM_CHUNK;
  if (kind < 0 || model->slices || model->scaled || (chunk && model->promote) || model->mode.round != HU_RNE) return 0;
  if (!hu_format_fits_binary32(fa) || !hu_format_fits_binary32(fb)) return 0;
  if (fc && !hu_format_fits_binary32(*fc)) return 0;
  hu_format sum = chunk ? model->product : model->sum, product = kind == HU_UNFUSED_SEQ2 ? model->product : model->sum;
  hu_format joined = model->promote ? model->promoted : model->sum;
  hu_spec product_spec = hui_spec_of(product, model->mode), sum_spec = hui_spec_of(sum, model->mode);
  hu_spec joined_spec = hui_spec_of(joined, model->promote ? hui_plain_mode() : model->mode);
  memset(unfused, 0, sizeof *unfused);
  if (!grid_of(&unfused->product, &product_spec) || !grid_of(&unfused->sum, &sum_spec) ||
      !grid_of(&unfused->joined, &joined_spec))
    return 0;
  unfused->kind = (uint32_t)kind;
  unfused->strided = model->kind == HU_ACCUM_STRIDED;
  unfused->length = model->promote ? model->promote : chunk ? model->length : 0;
  if (kind == HU_UNFUSED_TREE &&
      (unfused->length && unfused->length < k ? unfused->length : k) > (uint64_t)1 << HU_UNFUSED_LEVELS)
    return 0;
  unfused->single = hu_format_equal(product, single) && hu_format_equal(sum, single) &&
                    hu_format_equal(joined, single) && model->mode.saturate <= HU_SAT_NONE;
  if (unfused->single) return 1;
  if (product_spec.m > sum_spec.m || (unfused->length && sum_spec.m > joined_spec.m)) return 0;
  if (!fc) return 1;
  hu_spec spec_c = hui_spec_of(*fc, hui_plain_mode());
  return digits_of(&spec_c, unfused->length ? &joined_spec : &sum_spec);
}
