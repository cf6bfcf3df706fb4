/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/wide_bins.h - elements as integers at their places, for wide sums. */
#ifndef HALFULP_EMU_GEMM_TILES_WIDE_BINS_H
#define HALFULP_EMU_GEMM_TILES_WIDE_BINS_H

#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "emu/gemm/tiles/kernels.h"

/* Splits a finite x of m + 1 digits that is not zero: |x| = *sig 2^*exp, the last place no lower than lowest, *sig <
 * 2^(m + 1). */
static inline void hui_digits_at(int32_t m, int32_t lowest, uint64_t bits, uint64_t *sig, int32_t *exp) {
  int32_t field = (int32_t)(bits >> 52) & 0x7FF, last = field - 1075;
  uint64_t frac = bits & 0xFFFFFFFFFFFFFu;
  if (field == 0) { /* some formats have normal numbers down there */
    int32_t up = hui_clz64(frac) - 11;
    frac <<= up;
    last = -1074 - up;
  }
  *sig = frac | 0x10000000000000u;
  *exp = last + 52 - m;
  if (*exp < lowest) *exp = lowest;
  *sig >>= *exp - last;
}

/* *y 2^(low + W s) = x with *y < 2^(m + W) in magnitude, *at = 16 s; zeros for zeros, infinities and NaN. */
static inline void hui_bin_one(const hu_bin_rule *rule, double x, int64_t *y, uint16_t *at) {
  uint64_t bits = hui_bits_of_double(x), sig = 0;
  int32_t exp = rule->low;
  int64_t minus = (int64_t)bits >> 63;
  if ((bits << 1) != 0 && (bits << 1) < 0xFFE0000000000000u) hui_digits_at(rule->m, rule->lowest, bits, &sig, &exp);
  sig <<= (exp - rule->low) & ((1 << rule->shift) - 1);
  *y = ((int64_t)sig ^ minus) - minus;
  *at = (uint16_t)((exp - rule->low) >> rule->shift << 4);
}

/* Does so with each element; spread: *at + the column. */
static inline void hui_bin_all(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y,
                               uint16_t *at) {
  for (size_t i = 0; i < n; i++) {
    hui_bin_one(rule, x[i], &y[i], &at[i]);
    if (spread) at[i] = (uint16_t)(at[i] + i % HU_WIDE_COLS);
  }
}

#endif
