/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/lanes.h - contiguous elements of shifted and squeezed tensors: logarithms summed, codes looked up. Each
 * level has one table of them, through which emu/s2fp8/run.c calls them. */
#ifndef HALFULP_EMU_S2FP8_LANES_H
#define HALFULP_EMU_S2FP8_LANES_H

#include <stddef.h>

#include "emu/core/bits.h"
#include "emu/core/s2fp8_table.h"
#include "emu/simd/of_level.h"

/* Of at most HU_S2_PIECE elements. */
enum { HU_S2_PIECE = 1 << 14 };
typedef struct hu_s2_part {
  int64_t sum; /* of L, in units */
  uint64_t count, special;
  uint32_t top;
} hu_s2_part;

/* The search as a tree of comparisons, where both signs have the same bounds. Level k has its 2^k bounds at bound[2^k -
 * 1], by the decisions before, the first one in the lowest digit. leaf: where each branch ends. */
enum { HU_S2_FEW = 4 };
typedef struct hu_s2_tree {
  uint32_t symmetric;
  uint32_t bound[HU_S2_CODES], leaf_value[HU_S2_CODES], leaf_code[HU_S2_CODES];
  uint32_t exact_count, exact[HU_S2_FEW]; /* patterns of exact numbers; more than HU_S2_FEW: too many for that */
} hu_s2_tree;

/* Of at most HU_S2_ROUGH elements: the product of those that are normal is sig 2^exponent, 1 <= sig < 2, n roundings
 * off. odd: there are subnormal numbers, infinities or NaN. */
enum { HU_S2_ROUGH = 1 << 13 };
typedef struct hu_s2_rough {
  double sig;
  int64_t exponent;
  uint64_t count;
  uint32_t top, odd;
} hu_s2_rough;

/* Joins the products of some normal ones. */
static inline void hui_s2_rough_ends(hu_s2_rough *z, size_t lanes, const double *product, int64_t exponents) {
  z->sig = 1;
  z->exponent = exponents;
  for (size_t i = 0; i <= lanes; i++) {
    uint64_t bits = hui_bits_of_double(i < lanes ? product[i] : z->sig);
    double sig = hui_double_of_bits((bits & 0xFFFFFFFFFFFFFu) | (uint64_t)1023 << 52);
    z->exponent += (int64_t)(bits >> 52) - 1023;
    z->sig = i < lanes ? z->sig * sig : sig;
  }
}

/* Elements with code 0, with that of a zero or subnormal number, tiny, of the largest magnitude; zeros among them. */
typedef struct hu_s2_passed {
  uint64_t none, low, tiny, tops;
} hu_s2_passed;

/* Numbers of a table that the pass needs: pattern of the largest element, least one with a normal number. */
typedef struct hu_s2_near {
  uint32_t top, normal, negzero;
  uint32_t first_normal, top_code; /* codes */
} hu_s2_near;

typedef struct hu_s2_lanes {
  /* z[i] = the binary64 pattern of 2^exponent[i] within 2^-48 of itself, |exponent[i]| < 1000. The CPU's rounding
   * direction is to nearest (emu/base/float_env.h). */
  void (*powers)(size_t n, uint64_t *z, const double *exponent);
  /* *z = what x holds. The CPU's rounding direction is to nearest (emu/base/float_env.h). */
  void (*sum)(size_t n, const uint32_t *x, hu_s2_part *z);
  /* Values' patterns; codes of a byte. Events are added. bypass: write around the caches. */
  void (*quantize)(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint32_t *z, const uint32_t *x,
                   int bypass, hu_events *events);
  void (*encode)(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint8_t *z, const uint32_t *x,
                 hu_events *events);
  /* What follows is emu/s2fp8/table_from_product.h's; the direction is to nearest in the first two. */
  void (*rough)(size_t n, const uint32_t *x, hu_s2_rough *z);
  /* The table of a tensor with such a product; 0: that does not decide it. */
  int (*near)(hu_s2_table *z, const hu_s2 *map, const hu_s2_rough *x);
  /* Values' patterns of zeros and normal numbers up to z->exact of 2^target; adds; 1: done. 0: not by this table, and
   * nothing is done. */
  int (*pass)(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *z, const uint32_t *x,
              hu_s2_passed *counts);
  uint32_t bypasses; /* 1: quantize does what `bypass` asks for */
} hu_s2_lanes;
extern const hu_s2_lanes HU_OF_LEVEL(hu_s2_lanes);

/* Of a level that has tables of bytes in registers: rough and pass of hu_s2_lanes by them. pass returns 0, with nothing
 * done, where such a table does not fit. */
typedef struct hu_s2_bytes {
  void (*rough)(size_t n, const uint32_t *x, hu_s2_rough *z);
  int (*pass)(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *z, const uint32_t *x,
              hu_s2_passed *counts);
} hu_s2_bytes;
extern const hu_s2_bytes hu_s2_bytes_vbmi;

#endif
