/* SPDX-License-Identifier: MIT */
/* AVX2: eight lanes. */
#include <immintrin.h>

#include "emu/port.h"

#define HU_W 8
typedef uint32_t hu_lane __attribute__((vector_size(32)));
typedef int32_t hu_ilane __attribute__((vector_size(32)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane)_mm256_set1_epi32((int32_t)(x)))
#if defined(__clang__) || !defined(__GNUC__)
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v) __extension__({ hu_lane held = (v); __asm__("" : "+x"(held)); held; })
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps((__m256i)m)); }
static inline int hu_lane_any(hu_lane m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
static inline uint32_t hu_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hu_all_within(hu_lane v, hu_lane s) {
  __m256i within = _mm256_cmpeq_epi32(_mm256_min_epu32((__m256i)v, (__m256i)s), (__m256i)v);
  return mask_bits((hu_lane)within) == 0xFF;
}

static inline int hu_all_within4(const hu_lane v[4], hu_lane s) {
  return hu_all_within(v[0], s) & hu_all_within(v[1], s) & hu_all_within(v[2], s) & hu_all_within(v[3], s);
}

/* Lanes counted in lanes: those that fail the test leave one behind. */
typedef hu_lane hu_count;
static inline hu_count hu_count_none(void) { return HU_ALL(0); }
static inline hu_count hu_count_test(hu_count c, hu_lane v, hu_lane m) { return c - (hu_lane)((v & m) == HU_ALL(0)); }
static inline uint64_t hu_count_sum(hu_count c) {
  uint64_t sum = 0;
  for (int i = 0; i < HU_W; i++) sum += c[i];
  return sum;
}
static inline uint64_t hu_count_total(hu_count c, uint64_t k) { return HU_W * k - hu_count_sum(c); }
typedef hu_lane hu_mask;
static inline hu_mask hu_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)a < (hu_ilane)b); }
static inline hu_mask hu_mask_test(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)(a & b) > (hu_ilane)HU_ALL(0)); }
static inline int hu_mask_any(hu_mask m) { return hu_lane_any(m); }
static inline hu_mask hu_mask_and(hu_mask a, hu_mask b) { return a & b; }
static inline hu_mask hu_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hu_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hu_mask_sel(hu_mask m, hu_lane yes, hu_lane no) { return (hu_lane)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, (__m256i)m); }
static inline hu_lane hu_mask_keep(hu_mask m, hu_lane v) { return m & v; }
static inline hu_count hu_count_mask(hu_count c, hu_mask m) { return c - m; }

static inline hu_lane hu_mask_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm256_max_epi32((__m256i)a, (__m256i)b); }
static inline hu_lane hu_lane_minus(hu_lane a, hu_lane b) {
  return (hu_lane)_mm256_castps_si256(_mm256_sub_ps(_mm256_castsi256_ps((__m256i)a),
                                               _mm256_castsi256_ps((__m256i)b)));
}
static inline hu_lane hu_lane_float(hu_lane v) { return (hu_lane)_mm256_castps_si256(_mm256_cvtepi32_ps((__m256i)v)); }

static inline hu_lane hu_lane_down(hu_lane v, hu_lane k) {
  hu_lane x = (hu_lane)_mm256_srlv_epi32((__m256i)v, (__m256i)k), back = (hu_lane)_mm256_sllv_epi32((__m256i)x, (__m256i)k);
  return x | ((hu_lane)(back != v) & 1);
}

static inline void hu_store8(uint8_t *z, hu_lane v) {
  const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1,
                                        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)v, pick);
  _mm_storel_epi64((__m128i *)(void *)z, _mm_unpacklo_epi32(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1)));
}
static inline void hu_store16(uint16_t *z, hu_lane v) {
  const __m256i pick = _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, 12, 13,
                                        -1, -1, -1, -1, -1, -1, -1, -1);
  __m256i b = _mm256_shuffle_epi8((__m256i)v, pick);
  _mm_storeu_si128((__m128i *)(void *)z, _mm256_castsi256_si128(_mm256_permute4x64_epi64(b, 0x08)));
}
static inline hu_lane hu_load8(const uint8_t *x) {
  return (hu_lane)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)x));
}
static inline hu_lane hu_load16(const uint16_t *x) {
  return (hu_lane)_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline void hu_bypass(uint32_t *z, hu_lane v) { _mm256_stream_si256((__m256i *)(void *)z, (__m256i)v); }
static inline void hu_fence(void) { _mm_sfence(); }

#include "emu/stream.h"

/* High and low halves of the products of eight lanes by m. */
static inline void products(__m256i a, __m256i m, __m256i *high, __m256i *low) {
  __m256i even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
  *high = _mm256_blend_epi32(_mm256_shuffle_epi32(even, 0xB1), odd, 0xAA);
  *low = _mm256_blend_epi32(even, _mm256_shuffle_epi32(odd, 0xB1), 0xAA);
}

typedef struct hu_schedule {
  __m256i k0[HU_PHILOX_ROUNDS], k1[HU_PHILOX_ROUNDS];
} hu_schedule;

static inline hu_schedule hu_schedule_of(uint64_t key) {
  hu_schedule s;
  for (uint32_t r = 0; r < HU_PHILOX_ROUNDS; r++) {
    s.k0[r] = _mm256_set1_epi32((int32_t)((uint32_t)key + r * HU_PHILOX_W0));
    s.k1[r] = _mm256_set1_epi32((int32_t)((uint32_t)(key >> 32) + r * HU_PHILOX_W1));
  }
  return s;
}

/* Lane (half l, place p) computes block 2p + l, so that four unpacks leave the words in order. */
static inline void hu_words(hu_lane z[4], const hu_schedule *key, uint64_t block) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7), top = _mm256_set1_epi32((int32_t)0x80000000);
  __m256i base = _mm256_set1_epi32((int32_t)(uint32_t)block), c0 = _mm256_add_epi32(base, order);
  __m256i carry = _mm256_cmpgt_epi32(_mm256_xor_si256(base, top), _mm256_xor_si256(c0, top));
  __m256i c1 = _mm256_sub_epi32(_mm256_set1_epi32((int32_t)(uint32_t)(block >> 32)), carry);
  __m256i c2 = _mm256_setzero_si256(), c3 = c2, h0, l0, h1, l1;
  const __m256i m0 = _mm256_set1_epi32((int32_t)HU_PHILOX_M0), m1 = _mm256_set1_epi32((int32_t)HU_PHILOX_M1);
  c1 = _mm256_and_si256(c1, _mm256_set1_epi32(0x3FFFFFFF));
  HU_UNROLL for (int r = 0; r < HU_PHILOX_ROUNDS; r++) {
    products(c0, m0, &h0, &l0);
    products(c2, m1, &h1, &l1);
    c0 = _mm256_xor_si256(_mm256_xor_si256(h1, c1), key->k0[r]);
    c2 = _mm256_xor_si256(_mm256_xor_si256(h0, c3), key->k1[r]);
    c1 = l1;
    c3 = l0;
  }
  __m256i a = _mm256_unpacklo_epi32(c0, c1), b = _mm256_unpackhi_epi32(c0, c1);
  __m256i c = _mm256_unpacklo_epi32(c2, c3), d = _mm256_unpackhi_epi32(c2, c3);
  z[0] = (hu_lane)_mm256_unpacklo_epi64(a, c);
  z[1] = (hu_lane)_mm256_unpackhi_epi64(a, c);
  z[2] = (hu_lane)_mm256_unpacklo_epi64(b, d);
  z[3] = (hu_lane)_mm256_unpackhi_epi64(b, d);
}

#include "emu/lanes.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_avx2(void) { return &table; }
