/* SPDX-License-Identifier: MIT */
/* When binary32 or binary64 sums are exact, and the binary64 way.
 *
 * The argument. Let every product be a multiple of 2^(qa+qb), every c of 2^qc, q = min(qa + qb, qc), and let the
 * absolute values of all terms of an element add up to at most 2^p 2^q, p the precision of the carrier (53, 24). Then
 * every product and every partial sum of every subset of the terms is an integer multiple of 2^q of at most 2^p units:
 * with 2^q not below the carrier's smallest subnormal number it is a number of the carrier, so no multiplication,
 * addition or fused step rounds, in whatever order, and none overflows (2^(p+q) is at most its largest power of two:
 * checked). Infinities and NaN travel by IEEE 754's own rules, which do not depend on the order either: finite sums
 * stay finite, so a sum is NaN if a term is or if infinities of both signs meet. A zero sum is -0 only if all terms are
 * -0, as c or +0 comes first and ties to even gives x - x = +0. */
#include "emu/gemm_call.h"

/* Largest magnitude of a format as sig 2^exp, the exponent of its lowest place in *low. */
static hu_num largest(hu_format f, int32_t *low) {
  hu_mode rne = {0};
  hu_spec s = hu_spec_of(f, rne);
  *low = s.emin - s.m;
  return hu_unpack(&s, s.max_code);
}

/* sig 2^exp in units of 2^q, 2^63 or more as 2^63. */
static uint64_t units(uint64_t sig, int32_t exp, int32_t q) {
  int32_t up = exp - q;
  if (sig == 0) return 0;
  return up > hu_clz64(sig) - 1 ? (uint64_t)1 << 63 : sig << up;
}

int hu_gemm_sums_fit(size_t k, hu_format fa, hu_format fb, const hu_format *fc, int32_t digits, int32_t lowest) {
  int32_t qa, qb, qc = INT32_MAX;
  uint64_t limit = (uint64_t)1 << digits, sum = 0;
  if (hu_format_check(fa, NULL) != HU_OK || hu_format_check(fb, NULL) != HU_OK) return 0;
  if (fc && hu_format_check(*fc, NULL) != HU_OK) return 0;
  hu_num a = largest(fa, &qa), b = largest(fb, &qb), c = hu_num_special(HU_KIND_ZERO, 0);
  if (fc) c = largest(*fc, &qc);
  int32_t q = qa + qb < qc ? qa + qb : qc;
  if (q < lowest || q > 2 - lowest - 2 * digits) return 0;
  if (k) {
    uint64_t product = units(a.sig * b.sig, a.exp + b.exp, q); /* at most 62 digits */
    if (product > limit / k) return 0;
    sum = product * k;
  }
  return sum + units(c.sig, c.exp, q) <= limit;
}

int hu_gemm_exact64(size_t k, hu_format fa, hu_format fb, const hu_format *fc) {
  return hu_gemm_sums_fit(k, fa, fb, fc, 53, -1074);
}

/* The same for the values that are there. All terms of one sum together stay below 2^(top + 1). */
int hu_gemm_spans_fit64(const hu_gemm_call *g) {
  int32_t low = INT32_MAX, top = INT32_MIN;
  if (g->sa.any && g->sb.any && g->k) {
    low = g->sa.low + g->sb.low;
    top = g->sa.high + g->sb.high + (g->k > 1 ? 64 - hu_clz64((uint64_t)g->k - 1) : 0);
  }
  if (g->sc.any) {
    low = g->sc.low < low ? g->sc.low : low;
    top = g->sc.high > top ? g->sc.high : top;
  }
  if (low == INT32_MAX) return 1;
  return low >= -1074 && top + 1 - low <= 53 && top + 1 <= 1023;
}

#define HU_REAL double
#define HU_READ hu_gemm_read64
#define HU_COPY g->kernels->widen
#define HU_SPREAD g->kernels->spread64
#define HU_TURN g->kernels->turn64
#define HU_FINISH hu_gemm_finish64
#define HU_KERNEL g->kernels->sum64
#define HU_NR HU_GEMM64_NR
#define HU_MB HU_GEMM64_MB
#define HU_NB HU_GEMM64_NB
#define HU_KC HU_GEMM64_KC
#include "emu/gemm_body.h"

void hu_gemm_use_binary64(hu_gemm_call *g) {
  g->block = run_block;
  hu_gemm_set_blocks(g, HU_MB, HU_GEMM_MR, HU_NB, HU_NR);
}
