/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq.c - see seq.h; the conditions are those that seq.cu states. */
#include "gpu/gemm/seq.h"

#include <string.h>

#include "emu/core/round.h"

/* Returns 2^exponent, |exponent| <= 126. */
static float power_of_two(int32_t exponent) {
  uint32_t bits = (uint32_t)(exponent + 127) << 23;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

int hui_seq_plan(hu_seq_args *seq, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum) {
  if (accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices || accum->mode.round != HU_RNE) return 0;
  if (!hu_format_fits_binary32(fa) || !hu_format_fits_binary32(fb)) return 0;
  if (fc && !hu_format_fits_binary32(*fc)) return 0;
  hu_spec spec = hui_spec_of(accum->sum, accum->mode);
  int32_t emax = spec.emax, m = spec.m;
  if (!hui_spec_is_plain(&spec) || m < 1 || m > 11) return 0;
  if (emax <= spec.emin) return 0;
  seq->shift = later(105 + m - emax, later(m - 147 - spec.emin, -126 - spec.emin));
  if (seq->shift < -240 || seq->shift > 240 || spec.emin + seq->shift > 120) return 0;
  int32_t half = seq->shift / 2;
  seq->up_a = power_of_two(half);
  seq->down_a = power_of_two(-half);
  seq->up_b = power_of_two(seq->shift - half);
  seq->down_b = power_of_two(half - seq->shift);
  seq->scale = 1.5f * power_of_two(23 - m);
  seq->floor = (uint32_t)(spec.emin + seq->shift + 127) << 23;
  seq->sign = spec.negzero ? 0x80000000u : 0;
  return 1;
}
