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

/* A bound, the values below and from it; of 2^RECORD_SHIFT bytes, which a CPU writes as one. */
typedef uint32_t record __attribute__((vector_size(16)));
enum { BOUND = 0, BELOW = 1, FROM = 2, RECORD_SHIFT = 4 };

typedef struct record_list {
  _Alignas(64) record of[RECORDS + TOGETHER];
  uint32_t start, shift;                                      /* the bucket of a is (max(a, start) - start) >> shift */
  uint32_t first, normal, tiny, top, codes, keeps_zeros_sign; /* codes: that of the largest element */
} record_list;

HU_FN void put_records(record *from, const record *to, record entry) {
  for (uint32_t k = 0; k < TOGETHER; k++) from[k] = entry;
  for (from += TOGETHER; HU_UNLIKELY(from < to); from++) *from = entry;
}

/* end[c]: the first bucket whose first pattern reaches bound[c + 1]. 1: some bucket has two bounds within it. */
static uint32_t find_ends(const record_list *records, const uint32_t *bound, uint32_t end[HU_S2_CODES]) {
  const uint32_t start = records->start, shift = records->shift, low = ((uint32_t)1 << records->shift) - 1;
  uint32_t inside[HU_S2_CODES], crowded = 0;
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    const uint32_t distance = bound[c + 1] - start;
    inside[c] = (distance & low) != 0;
    end[c] = (distance >> shift) + inside[c];
  }
  for (uint32_t c = 1; c < records->codes; c++) crowded |= inside[c] & (uint32_t)(end[c] == end[c - 1]);
  return crowded;
}

/* Fills less than `most` records; 0: not for such a table. */
static int fill_records(record_list *records, const hu_s2_table *table, uint32_t most) {
  const uint32_t *bound = table->bound[0], *value = table->value, span = records->top - records->first;
  uint32_t end[HU_S2_CODES], shift = 0;
  record *next = records->of;
  while (span >> shift >= most - 1) shift++;
  records->shift = shift;
  records->start = records->first - ((uint32_t)1 << shift);
  if (find_ends(records, bound, end)) return 0;
  for (uint32_t c = 0; c < records->codes; c++) {
    const record entry = {bound[c + 1], value[c], value[c + 1], 0};
    put_records(next, records->of + end[c], entry);
    next = records->of + end[c];
  }
  const record last = {records->top + 1, value[records->codes], value[records->codes], 0};
  put_records(next, records->of + (span >> shift) + 2, last);
  return 1;
}

/* Makes the records; 0: not for such a table. */
static int make_records(record_list *records, const hu_s2_table *table, const hu_s2_near *near) {
  records->first = table->bound[0][1];
  records->normal = near->normal;
  records->tiny = table->tiny[0];
  records->top = near->top;
  records->codes = near->top_code;
  records->keeps_zeros_sign = near->negzero ? 0x80000000 : 0;
  return fill_records(records, table, RECORDS / 2) || fill_records(records, table, RECORDS);
}

/* Passes elements one by one. */
HU_FN void pass_each(const record_list *records, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  const uint32_t start = records->start, shift = records->shift, keeps = records->keeps_zeros_sign;
  hu_s2_passed own = {0, 0, 0, 0};
  for (size_t i = 0; i < n; i++) {
    const uint32_t bits = x[i], a = bits & 0x7FFFFFFF;
    const record *entry = &records->of[((a > start ? a : start) - start) >> shift];
    const uint32_t value = a < (*entry)[BOUND] ? (*entry)[BELOW] : (*entry)[FROM];
    z[i] = value | (bits & (value ? 0x80000000 : keeps));
    own.none += a < records->first;
    own.low += a < records->normal;
    own.tiny += a < records->tiny;
    own.tops += a == records->top;
  }
  counts->none += own.none;
  counts->low += own.low;
  counts->tiny += own.tiny;
  counts->tops += own.tops;
}

#endif
