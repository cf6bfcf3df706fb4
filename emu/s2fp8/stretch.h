/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/stretch.h - codes of many elements by the buckets of a search, a stretch at a time. emu/s2fp8/loops.c
 * includes it, and takes its own loop for the elements and the searches that this one does not serve.
 *
 * Why the codes are those of hui_s2_found. A search is served if both signs have the same bounds (hu_s2_tree says so).
 * Let `first` be the least bound. Buckets begin a step before it here: the bucket of a is 0 for a < first, else one
 * more than that of hui_s2_found. Bucket 0 reaches no bound, and its one further bound is `first`, which a < first does
 * not reach: code 0. In the other buckets the same bounds are compared. The comparison with the largest code can be
 * left out, for an element below the limit does not reach the bound behind that code, which is the limit.
 *
 * Why the events are. An element other than 0 has code 0 if it is below `first`, the code of a subnormal number if it
 * is below the bound of the first normal one, and is tiny below the table's `tiny`. It is exact if it is one of the
 * patterns that the tree lists, where it lists them all. So each event is a number of elements below a pattern, or
 * equal to one, and these are counted in lanes.
 *
 * What is left for each element are three loads: of the bucket's code, of the next bound and of the value. */
#ifndef HALFULP_EMU_S2FP8_STRETCH_H
#define HALFULP_EMU_S2FP8_STRETCH_H

#include "emu/s2fp8/lanes_common.h"

enum { STRETCH = 64, FURTHER = 2 /* bounds within a bucket, at most */ };

typedef struct stretches {
  const hu_s2_search *search;
  const hu_s2_tree *tree;
  int32_t start, first, normal, tiny, limit; /* patterns */
  uint32_t shift, sign_shift, keeps_zeros_sign;
  uint8_t base[HU_S2_BUCKETS + 1];
} stretches;

/* Elements counted: zeros, below each of these patterns, exact ones, and exact ones that are tiny. */
typedef struct below {
  uint64_t zero, first, normal, tiny, exact, exact_tiny, all;
} below;

/* Makes the stretches; 0: not for such a search. */
static int make_stretches(stretches *stretch, const hu_s2_search *search, const hu_s2_tree *tree) {
  const uint32_t *bound = search->table.bound[0];
  if (!tree->symmetric || tree->exact_count > HU_S2_FEW || !search->spec.sign_mask) return 0;
  if (search->most[0] > FURTHER || search->first[0] >> search->shift[0] == 0) return 0;
  stretch->search = search;
  stretch->tree = tree;
  stretch->first = (int32_t)search->first[0];
  stretch->start = (int32_t)(search->first[0] - ((uint32_t)1 << search->shift[0]));
  stretch->normal = (int32_t)bound[search->spec.m ? (uint32_t)1 << search->spec.m : 1];
  stretch->tiny = (int32_t)search->table.tiny[0];
  stretch->limit = (int32_t)search->limit;
  stretch->shift = search->shift[0];
  stretch->sign_shift = 31 - (uint32_t)__builtin_ctz(search->spec.sign_mask);
  stretch->keeps_zeros_sign = search->spec.negzero ? 0x80000000 : 0;
  stretch->base[0] = 0;
  memcpy(stretch->base + 1, search->base[0], HU_S2_BUCKETS);
  return 1;
}

/* Finds magnitudes, their buckets and signs; counts. 1: an element is beyond the limit, and nothing is counted. */
HU_FN int look_at_stretch(const stretches *stretch, const uint32_t *x, int32_t *a, int32_t *bucket, uint32_t *minus,
                          below *counts) {
  const int32_t start = stretch->start, first = stretch->first, normal = stretch->normal, tiny = stretch->tiny,
                limit = stretch->limit;
  const uint32_t shift = stretch->shift, keeps = stretch->keeps_zeros_sign;
  uint32_t beyond = 0, zeros = 0, firsts = 0, normals = 0, tinies = 0;
  for (size_t i = 0; i < STRETCH; i++) {
    const uint32_t bits = x[i];
    const int32_t size = (int32_t)(bits & 0x7FFFFFFF), from = size > start ? size : start;
    a[i] = size;
    bucket[i] = (int32_t)((uint32_t)(from - start) >> shift);
    minus[i] = bits & (size < first ? keeps : 0x80000000);
    beyond |= (uint32_t)(size >= limit);
    zeros += (uint32_t)(size == 0);
    firsts += (uint32_t)(size < first);
    normals += (uint32_t)(size < normal);
    tinies += (uint32_t)(size < tiny);
  }
  if (beyond) return 1;
  counts->zero += zeros;
  counts->first += firsts;
  counts->normal += normals;
  counts->tiny += tinies;
  counts->all += STRETCH;
  for (uint32_t k = 0; k < stretch->tree->exact_count; k++) {
    const int32_t exact = (int32_t)stretch->tree->exact[k];
    uint32_t equal = 0;
    for (size_t i = 0; i < STRETCH; i++) equal += (uint32_t)(a[i] == exact);
    counts->exact += equal;
    counts->exact_tiny += exact < tiny ? equal : 0;
  }
  return 0;
}

HU_FN uint32_t code_in_bucket(const uint32_t *bound, const uint8_t *base, int32_t a, int32_t bucket, uint32_t most) {
  uint32_t c = base[bucket];
  for (uint32_t k = 0; k < most; k++) c += (uint32_t)a >= bound[c + 1];
  return c;
}

HU_FN void stretch_of_codes(const stretches *stretch, uint8_t *z, const int32_t *a, const int32_t *bucket,
                            const uint32_t *minus, uint32_t most) {
  const uint32_t *bound = stretch->search->table.bound[0], sign_shift = stretch->sign_shift;
  const uint8_t *base = stretch->base;
  uint8_t code[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) code[i] = (uint8_t)code_in_bucket(bound, base, a[i], bucket[i], most);
  for (size_t i = 0; i < STRETCH; i++) z[i] = (uint8_t)(code[i] | minus[i] >> sign_shift);
}

HU_FN void stretch_of_values(const stretches *stretch, uint32_t *z, const int32_t *a, const int32_t *bucket,
                             const uint32_t *minus, uint32_t most) {
  const uint32_t *bound = stretch->search->table.bound[0], *values = stretch->search->table.value;
  const uint8_t *base = stretch->base;
  uint32_t value[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) value[i] = values[code_in_bucket(bound, base, a[i], bucket[i], most)];
  for (size_t i = 0; i < STRETCH; i++) z[i] = value[i] | minus[i];
}

static void end_stretches(const below *counts, hu_events *events) {
  hu_events own = {0};
  own.to_zero = counts->first - counts->zero;
  own.subnormal = counts->normal - counts->first;
  own.underflow = counts->tiny - counts->zero - counts->exact_tiny;
  own.inexact = counts->all - counts->zero - counts->exact;
  hu_events_add(events, &own);
}

#endif
