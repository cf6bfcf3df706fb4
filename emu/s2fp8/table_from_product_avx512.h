/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/table_from_product_avx512.h - products of significands, and codes by keys of 16 bits: thirty-two lanes. */
#ifndef HALFULP_EMU_S2FP8_TABLE_FROM_PRODUCT_AVX512_H
#define HALFULP_EMU_S2FP8_TABLE_FROM_PRODUCT_AVX512_H

#include <immintrin.h>

#include "emu/s2fp8/table_from_product.h"

/* ---- the product ---- */

typedef struct products {
  __m512i top, exponents;
  __m512d product[2];
  __mmask16 odd;
  uint64_t count;
} products;

HU_FN void multiply_in(products *running, __m512i a) {
  const __m512i low = _mm512_set1_epi32(0x800000), span = _mm512_set1_epi32(0x7F000000);
  const __m512i frac = _mm512_set1_epi32(0x7FFFFF), one = _mm512_set1_epi32(0x3F800000);
  __mmask16 normal = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(a, low), span);
  __m512 m = _mm512_castsi512_ps(_mm512_mask_ternarylogic_epi32(one, normal, frac, a, 0xF8)); /* one | (frac & a) */
  running->odd |= normal ^ _mm512_test_epi32_mask(a, a);
  running->count += (uint64_t)__builtin_popcount(normal);
  running->top = _mm512_max_epu32(running->top, a);
  running->exponents = _mm512_add_epi32(running->exponents, _mm512_srli_epi32(a, 23));
  running->product[0] = _mm512_mul_pd(running->product[0], _mm512_cvtps_pd(_mm512_castps512_ps256(m)));
  running->product[1] = _mm512_mul_pd(running->product[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(m, 1)));
}

static void rough(size_t n, const uint32_t *x, hu_s2_rough *z) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
  double product[8];
  products running;
  running.top = running.exponents = _mm512_setzero_si512();
  running.product[0] = running.product[1] = _mm512_set1_pd(1);
  running.odd = 0;
  running.count = 0;
  for (; n >= 16; n -= 16, x += 16) multiply_in(&running, _mm512_and_si512(_mm512_loadu_si512(x), magnitude));
  if (n) multiply_in(&running, _mm512_and_si512(_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), x), magnitude));
  __m512d two[2], both;
  int64_t exponents = _mm512_reduce_add_epi32(running.exponents) - 127 * (int64_t)running.count;
  for (int k = 0; k < 2; k++) {
    two[k] = _mm512_getmant_pd(running.product[k], _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    exponents += (int64_t)_mm512_reduce_add_pd(_mm512_getexp_pd(running.product[k]));
  }
  both = _mm512_mul_pd(two[0], two[1]);
  _mm512_storeu_pd(product, both);
  hui_s2_rough_ends(z, 8, product, exponents);
  z->count = running.count;
  z->top = _mm512_reduce_max_epu32(running.top);
  z->odd = running.odd;
}

/* ---- keys ---- */

/* Keys of 16 bits: 0 below the first bound, else (a - start) >> shift, start a step below it. So only where keys are
 * equal an element is not known to lie above or below. Bounds' keys by leaf are the tree of comparisons, too, of three
 * a level and of one at the last: behind the decisions before, `at`, those of a level are at + 4^level (1, 2, 3). */
typedef struct keys {
  __m512i start, low, tiny, top;
  __m128i shift;
  __m512i level[3][3], key[4], value[4], over[4]; /* value, over: lower and upper half */
} keys;

/* Leaves: the pairs of a code's first six digits turned over, the first pair lowest, and the last digit the highest. */
#define REVERSED(i) (((i)&3) << 5 | ((i)&12) << 1 | ((i)&48) >> 3 | (i) >> 6)
#define REVERSED4(i) REVERSED((i)), REVERSED((i + 1)), REVERSED((i + 2)), REVERSED((i + 3))
#define REVERSED16(i) REVERSED4((i)), REVERSED4((i + 4)), REVERSED4((i + 8)), REVERSED4((i + 12))
#define REVERSED64(i) REVERSED16((i)), REVERSED16((i + 16)), REVERSED16((i + 32)), REVERSED16((i + 48))
static const uint16_t code_of_leaf[HU_S2_CODES] = {REVERSED64(0), REVERSED64(64)};

/* z[leaf] = x[code] */
HU_FN void by_leaf(__m512i *z, const __m512i *x) {
  for (int k = 0; k < 4; k++) {
    __m512i at = _mm512_loadu_si512(code_of_leaf + 32 * k);
    __mmask32 up = _mm512_test_epi16_mask(at, _mm512_set1_epi16(64));
    __m512i low = _mm512_permutex2var_epi16(x[0], at, x[1]), high = _mm512_permutex2var_epi16(x[2], at, x[3]);
    z[k] = _mm512_mask_blend_epi16(up, low, high);
  }
}

HU_FN __m512i lower_halves(__m512i x, __m512i y) {
  __m256i low = _mm512_cvtepi32_epi16(x), high = _mm512_cvtepi32_epi16(y);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

HU_FN uint32_t key_of(uint32_t a, uint32_t start, uint32_t shift) { return a < start ? 0 : (a - start) >> shift; }

HU_FN void make_keys(keys *lookup, const hu_s2_table *table, const hu_s2_near *near) {
  uint32_t first = table->bound[0][1], shift = 0;
  while (((near->top - first) >> shift) > 0xFFF0) shift++;
  const uint32_t start = first - ((uint32_t)1 << shift);
  const __m512i from = _mm512_set1_epi32((int32_t)start), span = _mm512_set1_epi32((int32_t)(near->top - start));
  __m512i bounds[4], low[4], high[4];
  uint16_t stored[2 * 32 + 32] = {0};
  lookup->start = from;
  lookup->shift = _mm_cvtsi32_si128((int32_t)shift);
  lookup->low = _mm512_set1_epi16((int16_t)key_of(near->normal, start, shift));
  lookup->tiny = _mm512_set1_epi16((int16_t)key_of(table->tiny[0], start, shift));
  lookup->top = _mm512_set1_epi16((int16_t)key_of(near->top, start, shift));
  for (int i = 0; i < 4; i++) {
    __m512i half[2], value[2];
    for (int j = 0; j < 2; j++) {
      __m512i distance = _mm512_sub_epi32(_mm512_loadu_si512(table->bound[0] + 32 * i + 16 * j), from);
      half[j] = _mm512_srl_epi32(distance, lookup->shift);
      half[j] = _mm512_mask_set1_epi32(half[j], _mm512_cmpgt_epu32_mask(distance, span), 0xFFFF);
      value[j] = _mm512_loadu_si512(table->value + 32 * i + 16 * j);
    }
    bounds[i] = lower_halves(half[0], half[1]);
    low[i] = lower_halves(value[0], value[1]);
    high[i] = lower_halves(_mm512_srli_epi32(value[0], 16), _mm512_srli_epi32(value[1], 16));
  }
  by_leaf(lookup->key, bounds);
  by_leaf(lookup->value, low);
  by_leaf(lookup->over, high);
  for (int i = 0; i < 2; i++) _mm512_storeu_si512(stored + 32 * i, lookup->key[i]);
  for (int j = 1; j < 4; j++) {
    lookup->level[0][j - 1] = _mm512_set1_epi16((int16_t)stored[j]);
    lookup->level[1][j - 1] = _mm512_loadu_si512(stored + 4 * j);
    lookup->level[2][j - 1] = _mm512_loadu_si512(stored + 16 * j);
  }
}

/* ---- the pass ---- */

/* What is looked at closely: lanes whose key is a bound's, or that of the largest element or the first that is not
 * tiny. Lane 8 q + r has element 4 q + r for r < 4, else 16 + 4 q + r - 4. */
typedef struct closely {
  uint32_t bits[32];
  uint16_t leaf[32], key[32];
} closely;

static HU_NOINLINE void look_closely(const hu_s2_table *table, const hu_s2_near *near, const keys *lookup, __m512i u0,
                                     __m512i u1, __m512i key, __m512i leaf, uint32_t mask, uint32_t *z,
                                     hu_s2_passed *counts) {
  closely stored;
  const uint16_t tiny = (uint16_t)_mm_extract_epi16(_mm512_castsi512_si128(lookup->tiny), 0);
  const uint16_t low = (uint16_t)_mm_extract_epi16(_mm512_castsi512_si128(lookup->low), 0);
  _mm512_storeu_si512(stored.bits, u0);
  _mm512_storeu_si512(stored.bits + 16, u1);
  _mm512_storeu_si512(stored.leaf, leaf);
  _mm512_storeu_si512(stored.key, key);
  for (; mask; mask &= mask - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(mask), i = (lane >> 3) * 4 + (lane & 3) + ((lane & 4) << 2);
    uint32_t a = stored.bits[i] & 0x7FFFFFFF, code = code_of_leaf[stored.leaf[lane]];
    while (a < table->bound[0][code]) code--;
    z[i] = table->value[code] | (stored.bits[i] & 0x80000000);
    counts->tops += a == near->top;
    counts->tiny += stored.key[lane] == tiny && a < table->tiny[0];
    counts->low += stored.key[lane] == low && a < near->normal;
  }
}

/* at += bit where the key reaches the bound. */
#define CLIMB(bound, bit) \
  at = _mm512_mask_add_epi16(at, _mm512_cmpge_epu16_mask(key, (bound)), at, _mm512_set1_epi16(bit))
#define CLIMB_THRICE(bounds, bit)                                     \
  {                                                                   \
    const __m512i first = _mm512_permutexvar_epi16(at, (bounds)[0]);  \
    const __m512i second = _mm512_permutexvar_epi16(at, (bounds)[1]); \
    const __m512i third = _mm512_permutexvar_epi16(at, (bounds)[2]);  \
    CLIMB(first, bit);                                                \
    CLIMB(second, bit);                                               \
    CLIMB(third, bit);                                                \
  }
#define OF_LEAF(x)                                                             \
  _mm512_mask_blend_epi16(last, _mm512_permutex2var_epi16((x)[0], at, (x)[1]), \
                          _mm512_permutex2var_epi16((x)[2], at, (x)[3]))

/* z0, z1: values of u0, u1 except for the lanes that are returned. */
HU_FN uint32_t pass_32(const keys *lookup, __m512i u0, __m512i u1, __m512i *z0, __m512i *z1, __m512i *key_,
                       __m512i *leaf, hu_s2_passed *counts) {
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  __m512i a0 = _mm512_max_epu32(_mm512_andnot_si512(sign, u0), lookup->start);
  __m512i a1 = _mm512_max_epu32(_mm512_andnot_si512(sign, u1), lookup->start);
  a0 = _mm512_srl_epi32(_mm512_sub_epi32(a0, lookup->start), lookup->shift);
  a1 = _mm512_srl_epi32(_mm512_sub_epi32(a1, lookup->start), lookup->shift);
  const __m512i key = _mm512_packus_epi32(a0, a1);
  __m512i at = _mm512_maskz_set1_epi16(_mm512_cmpge_epu16_mask(key, lookup->level[0][0]), 1);
  CLIMB(lookup->level[0][1], 1);
  CLIMB(lookup->level[0][2], 1);
  CLIMB_THRICE(lookup->level[1], 4);
  CLIMB_THRICE(lookup->level[2], 16);
  CLIMB(_mm512_permutex2var_epi16(lookup->key[2], at, lookup->key[3]), 64);
  const __mmask32 last = _mm512_test_epi16_mask(at, _mm512_set1_epi16(64));
  const __mmask32 equal = _mm512_cmpeq_epi16_mask(key, OF_LEAF(lookup->key)) |
                          _mm512_cmpeq_epi16_mask(key, lookup->tiny) | _mm512_cmpeq_epi16_mask(key, lookup->top);
  const __m512i low = OF_LEAF(lookup->value), high = OF_LEAF(lookup->over);
  counts->none += (uint64_t)__builtin_popcount(_mm512_testn_epi16_mask(key, key));
  counts->low += (uint64_t)__builtin_popcount(_mm512_cmplt_epu16_mask(key, lookup->low));
  counts->tiny += (uint64_t)__builtin_popcount(_mm512_cmplt_epu16_mask(key, lookup->tiny));
  *z0 = _mm512_ternarylogic_epi32(_mm512_unpacklo_epi16(low, high), u0, sign, 0xF8); /* v | (u & sign) */
  *z1 = _mm512_ternarylogic_epi32(_mm512_unpackhi_epi16(low, high), u1, sign, 0xF8);
  *key_ = key;
  *leaf = at;
  return equal;
}

static int pass(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *z, const uint32_t *x,
                hu_s2_passed *counts) {
  keys lookup;
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  hu_s2_passed own = {0, 0, 0, 0}, close = {0, 0, 0, 0};
  make_keys(&lookup, table, near);
  const uint32_t skip = (uint32_t)(0 - n) & 31; /* lanes behind the end: as zeros, which are taken back */
  for (size_t i = 0; i < n; i += 32) {
    const uint32_t use = n - i < 32 ? ((uint32_t)1 << (n - i)) - 1 : 0xFFFFFFFF;
    const __mmask16 use0 = (__mmask16)use, use1 = (__mmask16)(use >> 16);
    __m512i u0 = _mm512_maskz_loadu_epi32(use0, x + i), u1 = _mm512_maskz_loadu_epi32(use1, x + i + 16);
    __m512i z0, z1, key, leaf;
    const uint32_t equal = pass_32(&lookup, u0, u1, &z0, &z1, &key, &leaf, &own);
    if (!near->negzero) { /* no sign without a magnitude */
      z0 = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(z0, _mm512_andnot_si512(sign, z0)), z0);
      z1 = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(z1, _mm512_andnot_si512(sign, z1)), z1);
    }
    _mm512_mask_storeu_epi32(z + i, use0, z0);
    _mm512_mask_storeu_epi32(z + i + 16, use1, z1);
    if (HU_UNLIKELY(equal)) look_closely(table, near, &lookup, u0, u1, key, leaf, equal, z + i, &close);
  }
  counts->none += own.none - skip;
  counts->low += own.low + close.low - skip;
  counts->tiny += own.tiny + close.tiny - skip;
  counts->tops += close.tops;
  return 1;
}

#endif
