/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/records.h - values of a truncation by buckets of patterns: a record says what the elements of a bucket
 * become. emu/s2fp8/loops.c includes it, for the levels whose registers hold no tables.
 *
 * Why the values are those of a search. Let `first` be the least bound. Bucket 0 has the patterns below `first`, and
 * bucket j the patterns from first + (j - 1) 2^shift on, up to the next bucket. A table is served if no bucket has two
 * bounds behind its first pattern. Then the elements of a bucket whose first pattern reaches c bounds have code c or
 * c + 1, and they have c + 1 where they reach bound[c + 1]. So a record has this bound and the two values. It is right
 * for a bucket without such a bound as well, since no element there reaches bound[c + 1]. The largest element has the
 * code top_code, and no element is beyond it, so that the last record's bound is the pattern behind that element.
 *
 * Why the counts are right. They ask for elements below a pattern: `first`, which is where codes other than 0 begin,
 * the first normal number and the first one that is not tiny. The last one asks for elements equal to the largest. */
#ifndef HALFULP_EMU_S2FP8_RECORDS_H
#define HALFULP_EMU_S2FP8_RECORDS_H

#include "emu/s2fp8/lanes.h"

/* TOGETHER: records that are written at once, as most tables have no code with more buckets. */
enum { RECORDS = 1024, TOGETHER = 6 };

/* A bound, the values below and from it; of 2^RECORD_SHIFT bytes, which a processor writes as one. */
typedef uint32_t record __attribute__((vector_size(16)));
enum { BOUND = 0, BELOW = 1, FROM = 2, RECORD_SHIFT = 4 };

typedef struct records {
  _Alignas(64) record of[RECORDS + TOGETHER];
  uint32_t start, shift;                                      /* the bucket of a is (max(a, start) - start) >> shift */
  uint32_t first, normal, tiny, top, codes, keeps_zeros_sign; /* codes: that of the largest element */
} records;

HU_FN void put_records(record *from, const record *to, record r) {
  for (uint32_t k = 0; k < TOGETHER; k++) from[k] = r;
  for (from += TOGETHER; HU_UNLIKELY(from < to); from++) *from = r;
}

/* end[c]: the first bucket whose first pattern reaches bound[c + 1]. 1: some bucket has two bounds within it. */
static uint32_t find_ends(const records *t, const uint32_t *bound, uint32_t end[HU_S2_CODES]) {
  const uint32_t start = t->start, shift = t->shift, low = ((uint32_t)1 << t->shift) - 1;
  uint32_t inside[HU_S2_CODES], crowded = 0;
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    const uint32_t d = bound[c + 1] - start;
    inside[c] = (d & low) != 0;
    end[c] = (d >> shift) + inside[c];
  }
  for (uint32_t c = 1; c < t->codes; c++) crowded |= inside[c] & (uint32_t)(end[c] == end[c - 1]);
  return crowded;
}

/* Less than `most` of them. 0: not for such a table. */
static int fill_records(records *t, const hu_s2_table *table, uint32_t most) {
  const uint32_t *bound = table->bound[0], *value = table->value, span = t->top - t->first;
  uint32_t end[HU_S2_CODES], shift = 0;
  record *next = t->of;
  while (span >> shift >= most - 1) shift++;
  t->shift = shift;
  t->start = t->first - ((uint32_t)1 << shift);
  if (find_ends(t, bound, end)) return 0;
  for (uint32_t c = 0; c < t->codes; c++) {
    const record r = {bound[c + 1], value[c], value[c + 1], 0};
    put_records(next, t->of + end[c], r);
    next = t->of + end[c];
  }
  const record last = {t->top + 1, value[t->codes], value[t->codes], 0};
  put_records(next, t->of + (span >> shift) + 2, last);
  return 1;
}

/* 0: not for such a table. */
static int make_records(records *t, const hu_s2_table *table, const hu_s2_near *near) {
  t->first = table->bound[0][1];
  t->normal = near->normal;
  t->tiny = table->tiny[0];
  t->top = near->top;
  t->codes = near->top_code;
  t->keeps_zeros_sign = near->negzero ? 0x80000000 : 0;
  return fill_records(t, table, RECORDS / 2) || fill_records(t, table, RECORDS);
}

/* One by one. */
HU_FN void pass_each(const records *t, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  const uint32_t start = t->start, shift = t->shift, keeps = t->keeps_zeros_sign;
  hu_s2_passed c = {0, 0, 0, 0};
  for (size_t i = 0; i < n; i++) {
    const uint32_t u = x[i], a = u & 0x7FFFFFFF;
    const record *r = &t->of[((a > start ? a : start) - start) >> shift];
    const uint32_t value = a < (*r)[BOUND] ? (*r)[BELOW] : (*r)[FROM];
    z[i] = value | (u & (value ? 0x80000000 : keeps));
    c.none += a < t->first;
    c.low += a < t->normal;
    c.tiny += a < t->tiny;
    c.tops += a == t->top;
  }
  counts->none += c.none;
  counts->low += c.low;
  counts->tiny += c.tiny;
  counts->tops += c.tops;
}

#endif
