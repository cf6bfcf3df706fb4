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

/* 0: not for such a search. */
static int make_stretches(stretches *t, const hu_s2_search *s, const hu_s2_tree *tree) {
  const uint32_t *bound = s->table.bound[0];
  if (!tree->symmetric || tree->exact_count > HU_S2_FEW || !s->spec.sign_mask) return 0;
  if (s->most[0] > FURTHER || s->first[0] >> s->shift[0] == 0) return 0;
  t->search = s;
  t->tree = tree;
  t->first = (int32_t)s->first[0];
  t->start = (int32_t)(s->first[0] - ((uint32_t)1 << s->shift[0]));
  t->normal = (int32_t)bound[s->spec.m ? (uint32_t)1 << s->spec.m : 1];
  t->tiny = (int32_t)s->table.tiny[0];
  t->limit = (int32_t)s->limit;
  t->shift = s->shift[0];
  t->sign_shift = 31 - (uint32_t)__builtin_ctz(s->spec.sign_mask);
  t->keeps_zeros_sign = s->spec.negzero ? 0x80000000 : 0;
  t->base[0] = 0;
  memcpy(t->base + 1, s->base[0], HU_S2_BUCKETS);
  return 1;
}

/* Magnitudes, their buckets and their signs; counts. 1: an element is beyond the limit, and nothing is counted. */
HU_FN int look_at_stretch(const stretches *t, const uint32_t *x, int32_t *a, int32_t *bucket, uint32_t *minus,
                          below *b) {
  const int32_t start = t->start, first = t->first, normal = t->normal, tiny = t->tiny, limit = t->limit;
  const uint32_t shift = t->shift, keeps = t->keeps_zeros_sign;
  uint32_t beyond = 0, zeros = 0, firsts = 0, normals = 0, tinies = 0;
  for (size_t i = 0; i < STRETCH; i++) {
    const uint32_t u = x[i];
    const int32_t v = (int32_t)(u & 0x7FFFFFFF), from = v > start ? v : start;
    a[i] = v;
    bucket[i] = (int32_t)((uint32_t)(from - start) >> shift);
    minus[i] = u & (v < first ? keeps : 0x80000000);
    beyond |= (uint32_t)(v >= limit);
    zeros += (uint32_t)(v == 0);
    firsts += (uint32_t)(v < first);
    normals += (uint32_t)(v < normal);
    tinies += (uint32_t)(v < tiny);
  }
  if (beyond) return 1;
  b->zero += zeros;
  b->first += firsts;
  b->normal += normals;
  b->tiny += tinies;
  b->all += STRETCH;
  for (uint32_t k = 0; k < t->tree->exact_count; k++) {
    const int32_t exact = (int32_t)t->tree->exact[k];
    uint32_t equal = 0;
    for (size_t i = 0; i < STRETCH; i++) equal += (uint32_t)(a[i] == exact);
    b->exact += equal;
    b->exact_tiny += exact < tiny ? equal : 0;
  }
  return 0;
}

HU_FN uint32_t code_in_bucket(const uint32_t *bound, const uint8_t *base, int32_t a, int32_t bucket, uint32_t most) {
  uint32_t c = base[bucket];
  for (uint32_t k = 0; k < most; k++) c += (uint32_t)a >= bound[c + 1];
  return c;
}

HU_FN void stretch_of_codes(const stretches *t, uint8_t *z, const int32_t *a, const int32_t *bucket,
                            const uint32_t *minus, uint32_t most) {
  const uint32_t *bound = t->search->table.bound[0], sign_shift = t->sign_shift;
  const uint8_t *base = t->base;
  uint8_t code[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) code[i] = (uint8_t)code_in_bucket(bound, base, a[i], bucket[i], most);
  for (size_t i = 0; i < STRETCH; i++) z[i] = (uint8_t)(code[i] | minus[i] >> sign_shift);
}

HU_FN void stretch_of_values(const stretches *t, uint32_t *z, const int32_t *a, const int32_t *bucket,
                             const uint32_t *minus, uint32_t most) {
  const uint32_t *bound = t->search->table.bound[0], *values = t->search->table.value;
  const uint8_t *base = t->base;
  uint32_t value[STRETCH];
  for (size_t i = 0; i < STRETCH; i++) value[i] = values[code_in_bucket(bound, base, a[i], bucket[i], most)];
  for (size_t i = 0; i < STRETCH; i++) z[i] = value[i] | minus[i];
}

static void end_stretches(const below *b, hu_events *events) {
  hu_events e = {0};
  e.to_zero = b->first - b->zero;
  e.subnormal = b->normal - b->first;
  e.underflow = b->tiny - b->zero - b->exact_tiny;
  e.inexact = b->all - b->zero - b->exact;
  hu_events_add(events, &e);
}

#endif
