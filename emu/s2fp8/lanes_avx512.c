/* SPDX-License-Identifier: MIT */
/* AVX-512 F, BW, DQ, VL: sixteen lanes. Logarithms in two times eight; codes by a tree of seven comparisons whose
 * bounds are permuted out of registers. */
#include <immintrin.h>

#include "emu/s2fp8/lanes_common.h"
#include "emu/s2fp8/table_from_product_avx512.h"

/* ---- sums ---- */

typedef struct tables {
  __m512d factors[2], parts[2];
  __m512i wholes[2];
} tables;

static tables load_tables(void) {
  static const double factors[16] = {HU_S2_FACTORS}, wholes[16] = {HU_S2_WHOLES}, parts[16] = {HU_S2_PARTS};
  tables lookup;
  for (int k = 0; k < 2; k++) {
    lookup.factors[k] = _mm512_loadu_pd(factors + 8 * k);
    lookup.parts[k] = _mm512_loadu_pd(parts + 8 * k);
    lookup.wholes[k] = _mm512_cvtpd_epi64(_mm512_loadu_pd(wholes + 8 * k));
  }
  return lookup;
}

/* Adds the units of the lanes among `use` that are known; returns the others of them. The magic number's digits are in
 * the sum once a lane. */
HU_FN __mmask8 add_logs(const tables *lookup, __m512i index, __m256 m, __mmask8 use, __m512i *sum) {
  const __m512d one = _mm512_set1_pd(1), magic = _mm512_set1_pd(S2_MAGIC), sure = _mm512_set1_pd(S2_SURE);
  __m512d factor = _mm512_permutex2var_pd(lookup->factors[0], index, lookup->factors[1]);
  __m512d r = _mm512_fmsub_pd(_mm512_cvtps_pd(m), factor, one);
#define FIRST(c) __m512d p = _mm512_set1_pd(c);
#define STEP(c) p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(c));
  HU_S2_POLYNOMIAL(FIRST, STEP)
#undef FIRST
#undef STEP
  __m512d s = _mm512_fmadd_pd(r, p, _mm512_permutex2var_pd(lookup->parts[0], index, lookup->parts[1]));
  __m512d rounded = _mm512_add_pd(s, magic), off = _mm512_sub_pd(s, _mm512_sub_pd(rounded, magic));
  __mmask8 known = _mm512_mask_cmp_pd_mask(use, _mm512_abs_pd(off), sure, _CMP_LE_OQ);
  __m512i whole = _mm512_permutex2var_epi64(lookup->wholes[0], index, lookup->wholes[1]);
  __m512i units = _mm512_add_epi64(_mm512_castpd_si512(rounded), whole);
  *sum = _mm512_mask_add_epi64(*sum, known, *sum, units);
  return use & (__mmask8)~known;
}

static HU_NOINLINE void sum_left(uint32_t mask, const uint32_t *x, hu_s2_part *z) {
  for (; mask; mask &= mask - 1) sum_one(x[__builtin_ctz(mask)], z);
}

static void sum(size_t n, const uint32_t *x, hu_s2_part *z) {
  const tables lookup = load_tables();
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF), low = _mm512_set1_epi32(0x800000);
  const __m512i span = _mm512_set1_epi32(0x7F000000), frac = _mm512_set1_epi32(0x7FFFFF);
  const __m512i one = _mm512_set1_epi32(0x3F800000);
  __m512i top = _mm512_setzero_si512(), exponents = top, units = top;
  uint64_t count = 0;
  memset(z, 0, sizeof *z);
  for (; n >= 16; n -= 16, x += 16) {
    __m512i a = _mm512_and_si512(_mm512_loadu_si512(x), magnitude);
    __mmask16 normal = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(a, low), span);
    __m512i index = _mm512_srli_epi32(a, 19);
    __m512 m = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(a, frac, one, 0xEA));
    __mmask8 left0 = add_logs(&lookup, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(index)), _mm512_castps512_ps256(m),
                              (__mmask8)normal, &units);
    __mmask8 left1 = add_logs(&lookup, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(index, 1)),
                              _mm512_extractf32x8_ps(m, 1), (__mmask8)(normal >> 8), &units);
    uint32_t left = (uint32_t)left0 | (uint32_t)left1 << 8, mine = normal & ~left;
    left |= (uint32_t)(__mmask16)~normal & _mm512_test_epi32_mask(a, a);
    exponents = _mm512_mask_add_epi32(exponents, (__mmask16)mine, exponents, _mm512_srli_epi32(a, 23));
    top = _mm512_mask_max_epu32(top, normal, top, a);
    count += (uint64_t)__builtin_popcount(mine);
    if (HU_UNLIKELY(left)) sum_left(left, x, z);
  }
  for (; n; n--, x++) sum_one(*x, z);
  uint32_t largest = _mm512_reduce_max_epu32(top);
  int64_t whole = _mm512_reduce_add_epi32(exponents) - 127 * (int64_t)count;
  z->sum += (int64_t)((uint64_t)_mm512_reduce_add_epi64(units) - count * S2_MAGIC_BITS) +
            whole * ((int64_t)1 << HU_S2_DIGITS);
  z->count += count;
  if (largest > z->top) z->top = largest;
}

/* ---- codes ---- */

/* One by one: ends, and what the tree does not serve. */
static void quantize_some(const hu_s2_search *search, size_t n, uint32_t *z, const uint32_t *x, tally *counts) {
  for (size_t i = 0; i < n; i++) {
    uint32_t events;
    z[i] = search->table.value[hui_s2_found(search, x[i], &events)];
    tally_add(counts, events);
  }
}

static void encode_some(const hu_s2_search *search, size_t n, uint8_t *z, const uint32_t *x, tally *counts) {
  for (size_t i = 0; i < n; i++) {
    uint32_t events;
    z[i] = (uint8_t)hui_s2_found(search, x[i], &events);
    tally_add(counts, events);
  }
}

typedef struct wide_tree {
  __m512i first, second[2], third, fourth, fifth, sixth[2], seventh[4], leaf[8];
  __m512i exact[HU_S2_FEW];
} wide_tree;

HU_FN wide_tree load_tree(const hu_s2_tree *tree, const uint32_t *leaf) {
  wide_tree wide;
  wide.first = _mm512_set1_epi32((int32_t)tree->bound[0]);
  for (int k = 0; k < 2; k++) wide.second[k] = _mm512_set1_epi32((int32_t)tree->bound[1 + k]);
  wide.third = _mm512_maskz_loadu_epi32(0xF, tree->bound + 3);
  wide.fourth = _mm512_maskz_loadu_epi32(0xFF, tree->bound + 7);
  wide.fifth = _mm512_loadu_si512(tree->bound + 15);
  for (int k = 0; k < 2; k++) wide.sixth[k] = _mm512_loadu_si512(tree->bound + 31 + 16 * k);
  for (int k = 0; k < 4; k++) wide.seventh[k] = _mm512_loadu_si512(tree->bound + 63 + 16 * k);
  for (int k = 0; k < 8; k++) wide.leaf[k] = _mm512_loadu_si512(leaf + 16 * k);
  for (uint32_t k = 0; k < HU_S2_FEW; k++) {
    wide.exact[k] = _mm512_set1_epi32((int32_t)(k < tree->exact_count ? tree->exact[k] : HU_S2_NEVER));
  }
  return wide;
}

/* at |= bit where a reaches the bound. */
#define DECIDE(bound, bit) \
  at = _mm512_mask_or_epi32(at, _mm512_cmpge_epu32_mask(a, (bound)), at, _mm512_set1_epi32(bit))

HU_FN __m512i looked_up(const wide_tree *wide, __m512i a) {
  __mmask16 up = _mm512_cmpge_epu32_mask(a, wide->first);
  __m512i at = _mm512_maskz_set1_epi32(up, 1);
  DECIDE(_mm512_mask_blend_epi32(up, wide->second[0], wide->second[1]), 2);
  DECIDE(_mm512_permutexvar_epi32(at, wide->third), 4);
  DECIDE(_mm512_permutexvar_epi32(at, wide->fourth), 8);
  DECIDE(_mm512_permutexvar_epi32(at, wide->fifth), 16);
  DECIDE(_mm512_permutex2var_epi32(wide->sixth[0], at, wide->sixth[1]), 32);
  __mmask16 half = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
  __m512i low = _mm512_permutex2var_epi32(wide->seventh[0], at, wide->seventh[1]);
  __m512i high = _mm512_permutex2var_epi32(wide->seventh[2], at, wide->seventh[3]);
  DECIDE(_mm512_mask_blend_epi32(half, low, high), 64);
  __mmask16 last = _mm512_test_epi32_mask(at, _mm512_set1_epi32(64));
  __m512i q0 = _mm512_permutex2var_epi32(wide->leaf[0], at, wide->leaf[1]);
  __m512i q1 = _mm512_permutex2var_epi32(wide->leaf[2], at, wide->leaf[3]);
  __m512i q2 = _mm512_permutex2var_epi32(wide->leaf[4], at, wide->leaf[5]);
  __m512i q3 = _mm512_permutex2var_epi32(wide->leaf[6], at, wide->leaf[7]);
  return _mm512_mask_blend_epi32(last, _mm512_mask_blend_epi32(half, q0, q1), _mm512_mask_blend_epi32(half, q2, q3));
}

enum { TO_VALUE = 0, TO_CODE = 1 };

/* Lanes counted: below each of these numbers, and exact. */
typedef struct below {
  uint64_t one, least, normal, tiny, exact, exact_tiny;
} below;

HU_FN uint64_t lanes_of(__mmask16 m) { return (uint64_t)__builtin_popcount(m); }

HU_FN void run(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, void *z, const uint32_t *x, int to,
               int bypass, hu_events *events) {
  const wide_tree wide = load_tree(tree, to == TO_VALUE ? tree->leaf_value : tree->leaf_code);
  const uint32_t *bound = search->table.bound[0];
  const uint32_t normal = bound[search->spec.m ? (uint32_t)1 << search->spec.m : 1];
  const __m512i least_v = _mm512_set1_epi32((int32_t)bound[1]),
                tiny_v = _mm512_set1_epi32((int32_t)search->table.tiny[0]);
  const __m512i limit = _mm512_set1_epi32((int32_t)search->limit), normal_v = _mm512_set1_epi32((int32_t)normal);
  const __m512i sign = _mm512_set1_epi32(INT32_MIN), none = _mm512_setzero_si512();
  const uint32_t sign_shift = 31 - (uint32_t)__builtin_ctz(search->spec.sign_mask);
  const __mmask16 always = search->spec.negzero ? 0xFFFF : 0;
  below counts = {0};
  tally rest = {{0}};
  size_t i = 0, done = 0;
  for (; i + 16 <= n; i += 16) {
    __m512i bits = _mm512_loadu_si512(x + i), a = _mm512_andnot_si512(sign, bits);
    if (HU_UNLIKELY(_mm512_cmpge_epu32_mask(a, limit))) {
      if (to == TO_VALUE) quantize_some(search, 16, (uint32_t *)z + i, x + i, &rest);
      if (to == TO_CODE) encode_some(search, 16, (uint8_t *)z + i, x + i, &rest);
      continue;
    }
    __mmask16 least = _mm512_cmplt_epu32_mask(a, least_v), tiny = _mm512_cmplt_epu32_mask(a, tiny_v), exact = 0;
    __m512i minus = _mm512_maskz_and_epi32((__mmask16)(always | ~least), bits, sign), y = looked_up(&wide, a);
    for (uint32_t k = 0; k < HU_S2_FEW; k++) {
      if (k < tree->exact_count) exact |= _mm512_cmpeq_epu32_mask(a, wide.exact[k]);
    }
    counts.one += lanes_of(_mm512_cmpeq_epu32_mask(a, none));
    counts.least += lanes_of(least);
    counts.normal += lanes_of(_mm512_cmplt_epu32_mask(a, normal_v));
    counts.tiny += lanes_of(tiny);
    counts.exact += lanes_of(exact);
    counts.exact_tiny += lanes_of(exact & tiny);
    done += 16;
    if (to == TO_CODE) {
      y = _mm512_or_si512(y, _mm512_srli_epi32(minus, sign_shift));
      _mm_storeu_si128((__m128i *)(void *)((uint8_t *)z + i), _mm512_cvtepi32_epi8(y));
    } else if (bypass) {
      _mm512_stream_si512((void *)((uint32_t *)z + i), _mm512_or_si512(y, minus));
    } else {
      _mm512_storeu_si512((uint32_t *)z + i, _mm512_or_si512(y, minus));
    }
  }
  if (to == TO_VALUE) quantize_some(search, n - i, (uint32_t *)z + i, x + i, &rest);
  if (to == TO_CODE) encode_some(search, n - i, (uint8_t *)z + i, x + i, &rest);
  hu_events own = {0};
  own.to_zero = counts.least - counts.one;
  own.subnormal = counts.normal - counts.least;
  own.underflow = counts.tiny - counts.one - counts.exact_tiny;
  own.inexact = done - counts.one - counts.exact;
  hu_events_add(events, &own);
  tally_end(&rest, events);
}

static HU_NOINLINE void run_bypass(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint32_t *z,
                                   const uint32_t *x, hu_events *events) {
  run(search, tree, n, z, x, TO_VALUE, 1, events);
  _mm_sfence();
}

static HU_NOINLINE void run_value(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint32_t *z,
                                  const uint32_t *x, hu_events *events) {
  run(search, tree, n, z, x, TO_VALUE, 0, events);
}

static void quantize(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint32_t *z, const uint32_t *x,
                     int bypass, hu_events *events) {
  tally counts = {{0}};
  if (!tree->symmetric || tree->exact_count > HU_S2_FEW) {
    quantize_some(search, n, z, x, &counts);
    tally_end(&counts, events);
    return;
  }
  size_t head = (64 - (uintptr_t)z % 64) % 64 / 4;
  if (bypass && n > head) {
    quantize_some(search, head, z, x, &counts);
    tally_end(&counts, events);
    run_bypass(search, tree, n - head, z + head, x + head, events);
  } else {
    run_value(search, tree, n, z, x, events);
  }
}

static void encode(const hu_s2_search *search, const hu_s2_tree *tree, size_t n, uint8_t *z, const uint32_t *x,
                   hu_events *events) {
  tally counts = {{0}};
  if (tree->symmetric && tree->exact_count <= HU_S2_FEW) {
    run(search, tree, n, z, x, TO_CODE, 0, events);
    return;
  }
  encode_some(search, n, z, x, &counts);
  tally_end(&counts, events);
}

const hu_s2_lanes hu_s2_lanes_avx512 = {powers, sum, quantize, encode, rough, near, pass, 1};
