/* SPDX-License-Identifier: MIT */
/* gpu/gemm/seq.c - see seq.h; the conditions are those that seq.cu states. */
#include "gpu/gemm/seq.h"

#include <string.h>

#include "emu/core/round.h"

/* 2^e, |e| <= 126. */
static float power_of_two(int32_t e) {
  uint32_t u = (uint32_t)(e + 127) << 23;
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

int hui_seq_plan(hu_seq_args *q, hu_format fa, hu_format fb, const hu_format *fc, const hu_accum *accum) {
  if (accum->kind != HU_ACCUM_SEQ || accum->promote || accum->slices || accum->mode.round != HU_RNE) return 0;
  if (!hu_format_fits_binary32(fa) || !hu_format_fits_binary32(fb)) return 0;
  if (fc && !hu_format_fits_binary32(*fc)) return 0;
  hu_spec f = hui_spec_of(accum->sum, accum->mode);
  int32_t emax = f.emax, m = f.m;
  if (!hui_spec_is_plain(&f) || m < 1 || m > 11) return 0;
  if (emax <= f.emin) return 0;
  q->shift = later(105 + m - emax, later(m - 147 - f.emin, -126 - f.emin));
  if (q->shift < -240 || q->shift > 240 || f.emin + q->shift > 120) return 0;
  int32_t half = q->shift / 2;
  q->up_a = power_of_two(half);
  q->down_a = power_of_two(-half);
  q->up_b = power_of_two(q->shift - half);
  q->down_b = power_of_two(half - q->shift);
  q->scale = 1.5f * power_of_two(23 - m);
  q->floor = (uint32_t)(f.emin + q->shift + 127) << 23;
  q->sign = f.negzero ? 0x80000000u : 0;
  return 1;
}
