/* SPDX-License-Identifier: MIT */
/* gpu/gemm/unfused.c - see unfused.h; the conditions are those that unfused.cu states. */
#include "gpu/gemm/unfused.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"

/* The upper half of the pattern of 2^e, |e| <= 1022. */
static uint32_t power_high(int32_t e) { return (uint32_t)(e + 1023) << 20; }

/* 1 if binary64 rounds into the format by an anchor. */
static int grid_of(hu_unfused_grid *z, const hu_spec *f) {
  if (!hui_spec_is_plain(f) || f->m < 1 || f->m > 25) return 0;
  if (f->emin < -300 || f->emax > 300 || f->emax <= f->emin) return 0;
  z->scale = 1.5 * hui_double_of_bits((uint64_t)power_high(52 - f->m) << 32);
  z->floor = power_high(f->emin);
  z->top = power_high(f->emax);
  z->sign = f->negzero ? 0x80000000u : 0;
  return 1;
}

static int kind_of(const hu_accum *x) {
  switch (x->kind) {
    case HU_ACCUM_SEQ2:
    case HU_ACCUM_CHUNK: return HU_UNFUSED_SEQ2;
    case HU_ACCUM_KAHAN: return HU_UNFUSED_KAHAN;
    case HU_ACCUM_NEUMAIER: return HU_UNFUSED_NEUMAIER;
    case HU_ACCUM_PAIRWISE:
    case HU_ACCUM_STRIDED: return HU_UNFUSED_TREE;
    default: return -1;
  }
}

/* Digits and places of F's finite numbers are among those of G, whose range may be the smaller one. */
static int digits_of(const hu_spec *f, const hu_spec *g) { return f->m <= g->m && f->emin - f->m >= g->emin - g->m; }

int hui_unfused_plan(hu_unfused_args *q, uint64_t k, hu_format fa, hu_format fb, const hu_format *fc,
                     const hu_accum *accum) {
  const hu_accum *x = accum;
  const hu_format single = hui_format_binary32();
  int kind = kind_of(x), chunk = x->kind == HU_ACCUM_CHUNK;
  if (kind < 0 || x->slices || x->scaled || (chunk && x->promote) || x->mode.round != HU_RNE) return 0;
  if (!hu_format_fits_binary32(fa) || !hu_format_fits_binary32(fb)) return 0;
  if (fc && !hu_format_fits_binary32(*fc)) return 0;
  hu_format sum = chunk ? x->product : x->sum, product = kind == HU_UNFUSED_SEQ2 ? x->product : x->sum;
  hu_format joined = x->promote ? x->promoted : x->sum;
  hu_spec p = hui_spec_of(product, x->mode), s = hui_spec_of(sum, x->mode);
  hu_spec j = hui_spec_of(joined, x->promote ? hui_plain_mode() : x->mode);
  memset(q, 0, sizeof *q);
  if (!grid_of(&q->product, &p) || !grid_of(&q->sum, &s) || !grid_of(&q->joined, &j)) return 0;
  q->kind = (uint32_t)kind;
  q->strided = x->kind == HU_ACCUM_STRIDED;
  q->length = x->promote ? x->promote : chunk ? x->length : 0;
  if (kind == HU_UNFUSED_TREE && (q->length && q->length < k ? q->length : k) > (uint64_t)1 << HU_UNFUSED_LEVELS)
    return 0;
  q->single = hu_format_equal(product, single) && hu_format_equal(sum, single) && hu_format_equal(joined, single) &&
              x->mode.saturate <= HU_SAT_NONE;
  if (q->single) return 1;
  if (p.m > s.m || (q->length && s.m > j.m)) return 0;
  if (!fc) return 1;
  hu_spec c = hui_spec_of(*fc, hui_plain_mode());
  return digits_of(&c, q->length ? &j : &s);
}
