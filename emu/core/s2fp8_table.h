/* SPDX-License-Identifier: MIT */
/* emu/core/s2fp8_table.h - a tensor's codes as a search: the magnitudes from which on an element has each code.
 *
 * The code's magnitude grows with |x|, so for every code c from 1 to one beyond the largest finite one there is a least
 * binary32 pattern bound[c] that gets it or a higher one, and the code of an element is the number of bounds that its
 * pattern reaches. Each bound is found by comparing y with the number b where the rounding changes over: y > b where
 * target (L - mu) > gap log2 b. Integers only; C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_S2FP8_TABLE_H
#define HALFULP_EMU_CORE_S2FP8_TABLE_H

#include "emu/core/modes.h"
#include "emu/core/s2fp8.h"

enum { HU_S2_CODES = 128, HU_S2_NEVER = 0x7F800000 };

/* Bounds depend on the sign in the modes toward positive and negative. */
typedef struct hu_s2_table {
  uint32_t bound[2][HU_S2_CODES + 1]; /* [sign][c], bound[.][0] = 0; one beyond the largest finite code: overflow */
  uint32_t tiny[2];                   /* below it y is tiny */
  uint32_t exact[HU_S2_CODES];        /* the pattern whose y is code c's number itself, or HU_S2_NEVER */
  uint32_t value[2 * HU_S2_CODES];    /* by code: binary32 patterns */
} hu_s2_table;

/* May codes of this format in this mode be found so? */
HU_FN uint32_t hui_s2_may_table(const hu_spec *spec) {
  return hui_spec_is_plain(spec) && spec->mag_mask < HU_S2_CODES && spec->round < HU_SRA;
}

/* The number of magnitude code c, as if codes above the largest finite one were numbers, too: c = 0 is 0. */
HU_FN hu_num hui_s2_number(const hu_spec *spec, uint32_t c) {
  uint32_t field = c >> spec->m, frac = c & (((uint32_t)1 << spec->m) - 1);
  if (field == 0) return hui_num_finite(0, frac, spec->emin - spec->m);
  return hui_num_finite(0, frac | (uint32_t)1 << spec->m, spec->emin - spec->m + (int32_t)field - 1);
}

/* For the question whether y(a) > b, or y(a) >= b if b->equal, where y(a) is what the pattern a is squeezed to. width
 * and part are those of hui_s2_width: gap log2 b. */
typedef struct hu_s2_limit {
  hu_s2_power b;
  int64_t width;
  uint64_t part;
  uint32_t equal;
} hu_s2_limit;

/* The same by all digits of y; limit = s 2^j with s > 1 is never equal to it. */
HU_OUTLINE uint32_t hui_s2_above_digits(const hu_s2 *tensor, const hu_s2_limit *limit, int64_t n) {
  uint64_t rest;
  int64_t whole = hui_s2_floor(n, tensor->gap, &rest);
  int32_t lead = hui_clz64(limit->b.odd), k = limit->b.j + 63 - lead;
  if (whole != k) return whole > k;
  if (rest == 0) return 0;
  return hui_s2_y_digits(rest, (uint64_t)tensor->gap).sig >= limit->b.odd << lead;
}

HU_FN uint32_t hui_s2_above(const hu_s2 *tensor, const hu_s2_limit *limit, uint32_t a) {
  int64_t n = tensor->target * (hui_s2_log2(a) - tensor->mu);
  if (n < limit->width) return 0;
  if (n == limit->width) return limit->b.odd == 1 && limit->equal;
  uint32_t near = n == limit->width + 1 && limit->part + (uint64_t)tensor->gap + 1 < limit->part && limit->b.odd != 1;
  return near ? hui_s2_above_digits(tensor, limit, n) : 1;
}

/* The least pattern from 1 on that is above the limit, or HU_S2_NEVER. The first guess is 2^(mu + width / target) cut
 * off; it is a pattern or two off at most. */
HU_OUTLINE uint32_t hui_s2_least(const hu_s2 *tensor, const hu_s2_limit *limit) {
  uint64_t rest;
  int64_t units = tensor->mu + hui_s2_floor(limit->width, tensor->target, &rest), whole = units >> HU_S2_DIGITS;
  uint64_t sig = hui_s2_exp2((uint64_t)units << 24);
  uint32_t a = 1;
  if (whole >= 128) {
    a = HU_S2_NEVER - 1;
  } else if (whole >= -126) {
    a = (uint32_t)(whole + 126) * 0x800000u + (uint32_t)(sig >> 40);
  } else if (whole >= -149) {
    a = (uint32_t)(sig >> (40 - 126 - whole));
  }
  if (a >= HU_S2_NEVER) a = HU_S2_NEVER - 1;
  while (a > 1 && hui_s2_above(tensor, limit, a - 1)) a--;
  while (a < HU_S2_NEVER && !hui_s2_above(tensor, limit, a)) a++;
  return a;
}

/* Where a rounding under this sign goes over from `low` to its neighbour `high` above; odd: of the lower one's code. */
HU_OUTLINE hu_s2_limit hui_s2_limit_of(const hu_s2 *tensor, hu_num low, hu_num high, uint32_t odd, uint32_t sign) {
  hu_s2_limit limit;
  hu_num at = high;
  limit.equal = 1;
  if (hui_is_to_nearest(&tensor->spec)) { /* half-way */
    int32_t exp = low.kind == HU_KIND_ZERO ? high.exp : low.exp;
    at = hui_num_finite(0, low.sig + (high.sig << (high.exp - exp)), exp - 1);
    limit.equal = (uint8_t)hui_takes_upper(&tensor->spec, 0, odd, sign);
  } else if (hui_takes_upper(&tensor->spec, -1, odd, sign)) {
    at = low;
    limit.equal = 0;
  }
  limit.b.odd = 0;
  limit.b.j = 0;
  limit.width = 0;
  limit.part = 0;
  if (at.kind == HU_KIND_ZERO) return limit; /* every element is above 0 */
  limit.b = hui_s2_power_of(at);
  limit.width = hui_s2_width(tensor, limit.b, &limit.part);
  return limit;
}

HU_FN uint32_t hui_s2_least_of(const hu_s2 *tensor, hu_s2_limit limit) {
  return limit.b.odd ? hui_s2_least(tensor, &limit) : 1;
}

HU_FN uint32_t hui_s2_bound(const hu_s2 *tensor, uint32_t c, uint32_t sign) {
  uint32_t odd = tensor->spec.m ? (c - 1) & 1 : c > 1 && ((c - 1) & 1);
  if (c == 0) return 0;
  if (c > tensor->spec.max_code + 1) return HU_S2_NEVER;
  return hui_s2_least_of(
      tensor, hui_s2_limit_of(tensor, hui_s2_number(&tensor->spec, c - 1), hui_s2_number(&tensor->spec, c), odd, sign));
}

/* Tiny after rounding: what the mode takes to less than the smallest normal number with m + 1 digits and the exponent
 * unbounded; before: what is less than it. */
HU_FN uint32_t hui_s2_tiny(const hu_s2 *tensor, uint32_t sign) {
  const hu_spec *spec = &tensor->spec;
  hu_num high = hui_num_finite(0, 1, spec->emin),
         low = hui_num_finite(0, ((uint64_t)2 << spec->m) - 1, spec->emin - 1 - spec->m);
  uint32_t odd = spec->m ? 1 : (uint32_t)(spec->emin - 1 + spec->bias) & 1;
  hu_s2_limit limit = hui_s2_limit_of(tensor, low, high, odd, sign);
  if (spec->tiny == HU_TINY_BEFORE) {
    limit.b = hui_s2_power_of(high);
    limit.equal = 1;
    limit.width = hui_s2_width(tensor, limit.b, &limit.part);
  }
  return hui_s2_least_of(tensor, limit);
}

/* The pattern whose y is the number of code c. Only powers of two have one. */
HU_FN uint32_t hui_s2_exact(const hu_s2 *tensor, uint32_t c) {
  hu_s2_limit limit;
  if (c == 0 || c > tensor->spec.max_code) return HU_S2_NEVER;
  limit.b = hui_s2_power_of(hui_s2_number(&tensor->spec, c));
  if (limit.b.odd != 1) return HU_S2_NEVER;
  limit.equal = 1;
  limit.width = hui_s2_width(tensor, limit.b, &limit.part);
  uint32_t a = hui_s2_least(tensor, &limit);
  return a < HU_S2_NEVER && tensor->target * (hui_s2_log2(a) - tensor->mu) == limit.width ? a : (uint32_t)HU_S2_NEVER;
}

/* Entry i of every array of a table, 0 <= i < 2 HU_S2_CODES. */
HU_FN void hui_s2_fill_entry(hu_s2_table *table, const hu_s2 *tensor, uint32_t i) {
  if (i <= HU_S2_CODES) {
    table->bound[0][i] = hui_s2_bound(tensor, i, 0);
    table->bound[1][i] =
        tensor->spec.round == HU_RTP || tensor->spec.round == HU_RTN ? hui_s2_bound(tensor, i, 1) : table->bound[0][i];
  }
  if (i < HU_S2_CODES) table->exact[i] = hui_s2_exact(tensor, i);
  if (i < 2) table->tiny[i] = hui_s2_tiny(tensor, i);
  table->value[i] = hui_s2_decoded(tensor, i);
}

/* ---- an element by its table ---- */

/* Events of a finite element other than 0 that has the code of magnitude c, not beyond the largest. */
HU_FN uint32_t hui_s2_events_of(const hu_s2_table *table, const hu_spec *spec, uint32_t a, uint32_t sign, uint32_t c) {
  uint32_t events = a == table->exact[c] ? 0 : HU_EVENT_INEXACT | (a < table->tiny[sign] ? HU_EVENT_UNDERFLOW : 0);
  if (c == 0) events |= HU_EVENT_TO_ZERO;
  if (c > 0 && c >> spec->m == 0) events |= HU_EVENT_SUBNORMAL;
  return events;
}

/* What all elements beyond the range get, and infinities and NaN: by hui_s2_element, once a call. */
typedef struct hu_s2_edges {
  uint32_t over[2], inf[2], nan;
  uint32_t over_events[2], inf_events[2], nan_events;
} hu_s2_edges;

HU_OUTLINE hu_s2_edges hui_s2_edges_of(const hu_s2 *tensor) {
  hu_s2_edges edges;
  for (uint32_t sign = 0; sign < 2; sign++) {
    edges.over[sign] = hui_round(&tensor->spec, hui_beyond_all(sign), 0, &edges.over_events[sign]);
    edges.inf[sign] = hui_s2_element(tensor, sign << 31 | 0x7F800000, 0, &edges.inf_events[sign]);
  }
  edges.nan = hui_s2_element(tensor, 0x7FC00000, 0, &edges.nan_events);
  return edges;
}

/* An element that is zero, infinite, NaN or beyond the range; else 0 is returned. */
HU_FN uint32_t hui_s2_edge(const hu_s2_table *table, const hu_s2_edges *edges, const hu_spec *spec, uint32_t pattern,
                           uint32_t *code, uint32_t *events) {
  uint32_t a = pattern & 0x7FFFFFFF, sign = pattern >> 31;
  *events = 0;
  if (a == 0) {
    *code = hui_signed(spec, 0, sign);
  } else if (a > 0x7F800000) {
    *code = edges->nan;
    *events = edges->nan_events;
  } else if (a == 0x7F800000) {
    *code = edges->inf[sign];
    *events = edges->inf_events[sign];
  } else if (a >= table->bound[sign][spec->max_code + 1]) {
    *code = edges->over[sign];
    *events = edges->over_events[sign];
  } else {
    return 0;
  }
  return 1;
}

/* ---- a search made ready ---- */

/* Bucket j of a sign: patterns from first + j 2^shift on, up to the next; base: the bounds that its lowest pattern
 * reaches; most: further ones that another one may. */
enum { HU_S2_BUCKETS = 1024 };
typedef struct hu_s2_search {
  hu_s2_table table;
  hu_s2_edges edges;
  hu_spec spec;
  uint32_t limit; /* patterns from here on, and 0, are for hui_s2_edge */
  uint32_t first[2], shift[2], most[2];
  uint8_t base[2][HU_S2_BUCKETS];
} hu_s2_search;

/* Sets what comes before the buckets, the table being filled. */
HU_FN void hui_s2_search_start(hu_s2_search *search, const hu_s2 *tensor) {
  uint32_t over = tensor->spec.max_code + 1;
  search->spec = tensor->spec;
  search->edges = hui_s2_edges_of(tensor);
  search->limit = search->table.bound[0][over] < search->table.bound[1][over] ? search->table.bound[0][over]
                                                                              : search->table.bound[1][over];
  for (uint32_t sign = 0; sign < 2; sign++) {
    uint32_t first = search->table.bound[sign][1], end = search->table.bound[sign][over];
    search->first[sign] = first;
    search->shift[sign] = 0;
    search->most[sign] = 0;
    while (first < end && (end - first) >> search->shift[sign] >= HU_S2_BUCKETS) search->shift[sign]++;
  }
}

/* Returns how many bounds, up to that of the largest finite code, a pattern reaches. */
HU_FN uint32_t hui_s2_reached(const hu_s2_search *search, uint32_t sign, uint32_t a) {
  uint32_t low = 0, high = search->spec.max_code;
  while (low < high) {
    uint32_t c = low + (high - low + 1) / 2;
    if (a >= search->table.bound[sign][c]) {
      low = c;
    } else {
      high = c - 1;
    }
  }
  return low;
}

/* Makes a bucket; returns the bounds within it. */
HU_FN uint32_t hui_s2_bucket(hu_s2_search *search, uint32_t sign, uint32_t j) {
  uint64_t low = search->first[sign] + ((uint64_t)j << search->shift[sign]),
           high = low + (((uint64_t)1 << search->shift[sign]) - 1);
  uint32_t c = hui_s2_reached(search, sign, low < HU_S2_NEVER ? (uint32_t)low : (uint32_t)HU_S2_NEVER);
  search->base[sign][j] = (uint8_t)c;
  return hui_s2_reached(search, sign, high < HU_S2_NEVER ? (uint32_t)high : (uint32_t)HU_S2_NEVER) - c;
}

/* Returns the code of a binary32 pattern; sets *events. */
HU_FN uint32_t hui_s2_found(const hu_s2_search *search, uint32_t pattern, uint32_t *events) {
  uint32_t a = pattern & 0x7FFFFFFF, sign = pattern >> 31, code, c = 0;
  if (a - 1 >= search->limit - 1 && hui_s2_edge(&search->table, &search->edges, &search->spec, pattern, &code, events))
    return code;
  if (a >= search->first[sign]) {
    const uint32_t *bound = search->table.bound[sign];
    c = search->base[sign][(a - search->first[sign]) >> search->shift[sign]];
    for (uint32_t k = 0; k < search->most[sign]; k++) c += c < search->spec.max_code && a >= bound[c + 1];
  }
  *events = hui_s2_events_of(&search->table, &search->spec, a, sign, c);
  return hui_signed(&search->spec, c, sign);
}

#endif
