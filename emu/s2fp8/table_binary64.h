/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/table_binary64.h - builds the table of emu/core/s2fp8_table.h (ties to even) in binary64 and recomputes in
 * integers the entries that lie closer to a rounding boundary than the error bound. This is worth it because most
 * tensors of a network are so small that building the table in integers would take longer than using it.
 *
 * A bound is the least pattern a with L(a) > mu + g log2 b, where b is the number at which the rounding changes over
 * and g = gap / target; L(a) is within 2^-41 of log2 a. So it is the pattern above 2^E, E = mu + g log2 b, unless 2^E
 * lies within 2^-41 of itself of a pattern; and the value of a code is 2^E rounded, E = mu + g log2 of its number. E is
 * off by less than 2^-43: products up to 136 by three roundings, g up to 8 times the 2^-50 of a logarithm, a sum up to
 * 264 by one. Entries nearer to a pattern (to the middle between two) than that, and entries outside of binary32's
 * normal numbers, are computed by emu/core/s2fp8_table.h. */
#ifndef HALFULP_EMU_S2FP8_TABLE_BINARY64_H
#define HALFULP_EMU_S2FP8_TABLE_BINARY64_H

#include "emu/s2fp8/lanes.h"

/* Limits below codes 1 to max + 1, then the numbers of codes, then where results begin to be tiny. */
enum { HU_S2_LIMITS = 0, HU_S2_NUMBERS = HU_S2_CODES, HU_S2_TINY = 2 * HU_S2_CODES, HU_S2_ENDS = HU_S2_TINY + 8 };

typedef struct hu_s2_ends {
  double mu, ratio; /* g above */
  double exponent[HU_S2_ENDS];
  uint64_t z[HU_S2_ENDS]; /* 2^exponent */
  uint8_t left[HU_S2_ENDS];
} hu_s2_ends;

/* Returns log2 of 1 ... 63, to nearest. */
static inline double hui_s2_small_log2(uint32_t sig) {
  static const double log2_of[64] = {0,
                                     0,
                                     1,
                                     0x1.95c01a39fbd68p+0,
                                     2,
                                     0x1.2934f0979a371p+1,
                                     0x1.4ae00d1cfdeb4p+1,
                                     0x1.675767f54042dp+1,
                                     3,
                                     0x1.95c01a39fbd68p+1,
                                     0x1.a934f0979a371p+1,
                                     0x1.bacea7c065d42p+1,
                                     0x1.cae00d1cfdeb4p+1,
                                     0x1.d9a802391e233p+1,
                                     0x1.e75767f54042dp+1,
                                     0x1.f414fdb498226p+1,
                                     4,
                                     0x1.0598fdbeb244cp+2,
                                     0x1.0ae00d1cfdeb4p+2,
                                     0x1.0fde0b5c81340p+2,
                                     0x1.149a784bcd1b9p+2,
                                     0x1.191bba891f171p+2,
                                     0x1.1d6753e032ea1p+2,
                                     0x1.21820a01ac755p+2,
                                     0x1.2570068e7ef5ap+2,
                                     0x1.2934f0979a371p+2,
                                     0x1.2cd4011c8f119p+2,
                                     0x1.305013ab7ce0ep+2,
                                     0x1.33abb3faa0216p+2,
                                     0x1.36e9291eaa65bp+2,
                                     0x1.3a0a7eda4c113p+2,
                                     0x1.3d118d66c4d4ep+2,
                                     5,
                                     0x1.42d75a6eb1dfbp+2,
                                     0x1.4598fdbeb244cp+2,
                                     0x1.48462c466d3cfp+2,
                                     0x1.4ae00d1cfdeb4p+2,
                                     0x1.4d67af16da765p+2,
                                     0x1.4fde0b5c81340p+2,
                                     0x1.524407ab0e074p+2,
                                     0x1.549a784bcd1b9p+2,
                                     0x1.56e221cd9d0cep+2,
                                     0x1.591bba891f171p+2,
                                     0x1.5b47ebf73882ap+2,
                                     0x1.5d6753e032ea1p+2,
                                     0x1.5f7a8568cb06dp+2,
                                     0x1.61820a01ac755p+2,
                                     0x1.637e623d2ba02p+2,
                                     0x1.6570068e7ef5ap+2,
                                     0x1.675767f54042dp+2,
                                     0x1.6934f0979a371p+2,
                                     0x1.6b09044d313a6p+2,
                                     0x1.6cd4011c8f119p+2,
                                     0x1.6e963fac9c0eap+2,
                                     0x1.705013ab7ce0ep+2,
                                     0x1.7201cc2c0005ap+2,
                                     0x1.73abb3faa0216p+2,
                                     0x1.754e11eb0029ap+2,
                                     0x1.76e9291eaa65bp+2,
                                     0x1.787d3945c340bp+2,
                                     0x1.7a0a7eda4c113p+2,
                                     0x1.7b9133567feaep+2,
                                     0x1.7d118d66c4d4ep+2,
                                     0x1.7e8bc1179e0cbp+2};
  return log2_of[sig & 63];
}

/* Computes E of the number sig 2^exp. */
static inline void hui_s2_end(hu_s2_ends *ends, uint32_t i, uint32_t sig, int32_t exp) {
  double exponent = ends->ratio * (hui_s2_small_log2(sig) + exp);
  ends->left[i] = sig > 63 || !(exponent < 136 && exponent > -136);
  ends->exponent[i] = ends->left[i] ? 0 : ends->mu + exponent;
}

static inline int hui_s2_may_be_quick(const hu_s2 *map) {
  int64_t unit = (int64_t)1 << HU_S2_DIGITS;
  return map->spec.round == HU_RNE && map->gap <= 8 * map->target * unit && map->mu <= 128 * unit &&
         map->mu >= -128 * unit;
}

static inline void hui_s2_make_ends(hu_s2_ends *ends, const hu_s2 *map) {
  const hu_spec *spec = &map->spec;
  memset(ends, 0, sizeof *ends);
  ends->mu = (double)map->mu * 0x1p-40;
  ends->ratio = (double)map->gap * 0x1p-40 / (double)map->target;
  for (uint32_t c = 0; c <= spec->max_code; c++) {
    uint32_t field = c >> spec->m, frac = c & (((uint32_t)1 << spec->m) - 1),
             sig = field ? frac | (uint32_t)1 << spec->m : frac;
    int32_t exp = spec->emin - spec->m + (field ? (int32_t)field - 1 : 0);
    hui_s2_end(ends, HU_S2_LIMITS + c, 2 * sig + 1, exp - 1); /* half-way to the next code */
    if (c) hui_s2_end(ends, HU_S2_NUMBERS + c, sig, exp);
  }
  if (spec->tiny == HU_TINY_BEFORE) {
    hui_s2_end(ends, HU_S2_TINY, 1, spec->emin);
  } else {
    hui_s2_end(ends, HU_S2_TINY, ((uint32_t)4 << spec->m) - 1, spec->emin - spec->m - 2);
  }
}

/* What a binary64 pattern of a positive number has beyond the digits of a binary32 pattern, and that pattern. */
enum { HU_S2_BEYOND = 29 };
static inline uint32_t hui_s2_beyond(uint64_t z) { return (uint32_t)z & (((uint32_t)1 << HU_S2_BEYOND) - 1); }
static inline uint32_t hui_s2_narrow(uint64_t z) {
  return (uint32_t)(z >> HU_S2_BEYOND) - (uint32_t)((uint64_t)(1023 - 127) << (52 - HU_S2_BEYOND));
}
static inline int hui_s2_is_normal(uint64_t z) {
  return z >= (uint64_t)(1023 - 126) << 52 && z < (uint64_t)(1023 + 128) << 52;
}

/* The least pattern above the end; 0: not known. 2^-41 and 2^-43 of 2^E are less than 2^13 of its last digits. */
static inline uint32_t hui_s2_quick_least(const hu_s2_ends *ends, uint32_t i) {
  uint32_t rest = hui_s2_beyond(ends->z[i]), margin = (uint32_t)1 << 14;
  int known =
      !ends->left[i] && hui_s2_is_normal(ends->z[i]) && rest - margin < ((uint32_t)1 << HU_S2_BEYOND) - 2 * margin;
  return known ? hui_s2_narrow(ends->z[i]) + 1 : 0;
}

/* Returns the value there; 0: not known. */
static inline uint32_t hui_s2_quick_value(const hu_s2_ends *ends, uint32_t i) {
  uint32_t half = (uint32_t)1 << (HU_S2_BEYOND - 1), margin = (uint32_t)1 << 11;
  int known =
      !ends->left[i] && hui_s2_is_normal(ends->z[i]) && hui_s2_beyond(ends->z[i]) - (half - margin) > 2 * margin;
  return known ? hui_s2_narrow(ends->z[i] + half) : 0;
}

/* Does hui_s2_fill_entry for all entries. */
static inline void hui_s2_fill_quickly(hu_s2_table *z, const hu_s2 *map, const hu_s2_lanes *lanes) {
  hu_s2_ends ends;
  const hu_spec *spec = &map->spec;
  hui_s2_make_ends(&ends, map);
  lanes->powers(HU_S2_ENDS, ends.z, ends.exponent);
  z->bound[0][0] = z->bound[1][0] = 0;
  for (uint32_t c = 1; c <= HU_S2_CODES; c++) {
    uint32_t a = c <= spec->max_code + 1 ? hui_s2_quick_least(&ends, HU_S2_LIMITS + c - 1) : HU_S2_NEVER;
    z->bound[0][c] = z->bound[1][c] = a ? a : hui_s2_bound(map, c, 0);
  }
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    uint32_t finite = c && c <= spec->max_code, a = finite ? hui_s2_quick_value(&ends, HU_S2_NUMBERS + c) : 0;
    z->value[c] = a ? a : hui_s2_decoded(map, c);
    uint32_t minus = c | spec->sign_mask;
    if (c <= spec->mag_mask) z->value[minus] = finite ? z->value[c] | 0x80000000u : hui_s2_decoded(map, minus);
    /* A number whose 2^E is no pattern has none. */
    z->exact[c] =
        finite && !hui_s2_quick_least(&ends, HU_S2_NUMBERS + c) ? hui_s2_exact(map, c) : (uint32_t)HU_S2_NEVER;
  }
  uint32_t tiny = hui_s2_quick_least(&ends, HU_S2_TINY);
  z->tiny[0] = z->tiny[1] = tiny ? tiny : hui_s2_tiny(map, 0);
}

#endif
