/* SPDX-License-Identifier: MIT */
/* AVX-512 F, BW, DQ, VL: sixteen lanes. */
#include <immintrin.h>

#include "emu/port.h"

#define HU_W 16
typedef uint32_t hu_lane __attribute__((vector_size(64)));
typedef int32_t hu_ilane __attribute__((vector_size(64)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane)_mm512_set1_epi32((int32_t)(x)))
#if defined(__clang__) || !defined(__GNUC__)
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v) __extension__({ hu_lane held = (v); __asm__("" : "+v"(held)); held; })
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

static inline uint32_t mask_bits(hu_lane m) { return _mm512_movepi32_mask((__m512i)m); }
static inline int hu_lane_any(hu_lane m) { return mask_bits(m) != 0; }
static inline uint32_t hu_lane_count(hu_lane m) { return (uint32_t)__builtin_popcount(mask_bits(m)); }
static inline int hu_all_within(hu_lane v, hu_lane s) {
  return _mm512_cmple_epu32_mask((__m512i)v, (__m512i)s) == 0xFFFF;
}

static inline int hu_all_within4(const hu_lane v[4], hu_lane s) {
  __mmask16 a = _mm512_cmpgt_epu32_mask((__m512i)v[0], (__m512i)s), b = _mm512_cmpgt_epu32_mask((__m512i)v[1], (__m512i)s);
  __mmask16 c = _mm512_cmpgt_epu32_mask((__m512i)v[2], (__m512i)s), d = _mm512_cmpgt_epu32_mask((__m512i)v[3], (__m512i)s);
  return _kortestz_mask16_u8(_kor_mask16(a, b), _kor_mask16(c, d));
}

typedef uint64_t hu_count;
static inline hu_count hu_count_none(void) { return 0; }
static inline hu_count hu_count_test(hu_count c, hu_lane v, hu_lane m) {
  return c + (uint64_t)__builtin_popcount(_mm512_test_epi32_mask((__m512i)v, (__m512i)m));
}
static inline uint64_t hu_count_sum(hu_count c) { return c; }
static inline uint64_t hu_count_total(hu_count c, uint64_t k) {
  (void)k;
  return c;
}
typedef __mmask16 hu_mask;
static inline hu_mask hu_mask_lt(hu_lane a, hu_lane b) { return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b); }
static inline hu_mask hu_mask_test(hu_lane a, hu_lane b) { return _mm512_test_epi32_mask((__m512i)a, (__m512i)b); }
static inline int hu_mask_any(hu_mask m) { return !_kortestz_mask16_u8(m, m); }
static inline hu_mask hu_mask_and(hu_mask a, hu_mask b) { return _kand_mask16(a, b); }
static inline hu_mask hu_mask_or(hu_mask a, hu_mask b) { return _kor_mask16(a, b); }
static inline hu_mask hu_mask_andnot(hu_mask a, hu_mask b) { return _kandn_mask16(b, a); }
static inline hu_lane hu_mask_sel(hu_mask m, hu_lane yes, hu_lane no) {
  return (hu_lane)_mm512_mask_blend_epi32(m, (__m512i)no, (__m512i)yes);
}
static inline hu_lane hu_mask_keep(hu_mask m, hu_lane v) { return (hu_lane)_mm512_maskz_mov_epi32(m, (__m512i)v); }
static inline hu_count hu_count_mask(hu_count c, hu_mask m) { return c + (uint64_t)__builtin_popcount(m); }

static inline hu_lane hu_mask_larger(hu_lane a, hu_lane b) { return (hu_lane)_mm512_max_epi32((__m512i)a, (__m512i)b); }
static inline hu_lane hu_lane_minus(hu_lane a, hu_lane b) {
  return (hu_lane)_mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps((__m512i)a),
                                               _mm512_castsi512_ps((__m512i)b)));
}
static inline hu_lane hu_lane_float(hu_lane v) { return (hu_lane)_mm512_castps_si512(_mm512_cvtepi32_ps((__m512i)v)); }

static inline hu_lane hu_lane_down(hu_lane v, hu_lane k) {
  __m512i x = _mm512_srlv_epi32((__m512i)v, (__m512i)k);
  __mmask16 lost = _mm512_cmpneq_epi32_mask(_mm512_sllv_epi32(x, (__m512i)k), (__m512i)v);
  return (hu_lane)_mm512_mask_or_epi32(x, lost, x, _mm512_set1_epi32(1));
}

static inline void hu_store8(uint8_t *z, hu_lane v) {
  _mm_storeu_si128((__m128i *)(void *)z, _mm512_cvtepi32_epi8((__m512i)v));
}
static inline void hu_store16(uint16_t *z, hu_lane v) {
  _mm256_storeu_si256((__m256i *)(void *)z, _mm512_cvtepi32_epi16((__m512i)v));
}
static inline hu_lane hu_load8(const uint8_t *x) {
  return (hu_lane)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
static inline hu_lane hu_load16(const uint16_t *x) {
  return (hu_lane)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
static inline void hu_bypass(uint32_t *z, hu_lane v) { _mm512_stream_si512((__m512i *)(void *)z, (__m512i)v); }
static inline void hu_fence(void) { _mm_sfence(); }

#include "emu/stream.h"

/* High and low halves of the products of sixteen lanes by m. */
static inline void products(__m512i a, __m512i m, __m512i *high, __m512i *low) {
  __m512i even = _mm512_mul_epu32(a, m), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), m);
  *high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, (_MM_PERM_ENUM)0xB1);
  *low = _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, (_MM_PERM_ENUM)0xB1);
}

typedef struct hu_schedule {
  __m512i k0[HU_PHILOX_ROUNDS], k1[HU_PHILOX_ROUNDS];
} hu_schedule;

static inline hu_schedule hu_schedule_of(uint64_t key) {
  hu_schedule s;
  for (uint32_t r = 0; r < HU_PHILOX_ROUNDS; r++) {
    s.k0[r] = _mm512_set1_epi32((int32_t)((uint32_t)key + r * HU_PHILOX_W0));
    s.k1[r] = _mm512_set1_epi32((int32_t)((uint32_t)(key >> 32) + r * HU_PHILOX_W1));
  }
  return s;
}

/* Lane (quarter l, place p) computes block 4p + l, so that four unpacks leave the words in order. */
static inline void hu_words(hu_lane z[4], const hu_schedule *key, uint64_t block) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i base = _mm512_set1_epi32((int32_t)(uint32_t)block), c0 = _mm512_add_epi32(base, order);
  __mmask16 carry = _mm512_cmplt_epu32_mask(c0, base);
  __m512i c1 = _mm512_set1_epi32((int32_t)(uint32_t)(block >> 32));
  __m512i c2 = _mm512_setzero_si512(), c3 = c2, h0, l0, h1, l1;
  const __m512i m0 = _mm512_set1_epi32((int32_t)HU_PHILOX_M0), m1 = _mm512_set1_epi32((int32_t)HU_PHILOX_M1);
  c1 = _mm512_mask_add_epi32(c1, carry, c1, _mm512_set1_epi32(1));
  c1 = _mm512_and_si512(c1, _mm512_set1_epi32(0x3FFFFFFF));
  HU_UNROLL for (int r = 0; r < HU_PHILOX_ROUNDS; r++) {
    products(c0, m0, &h0, &l0);
    products(c2, m1, &h1, &l1);
    c0 = _mm512_ternarylogic_epi32(h1, c1, key->k0[r], 0x96);
    c2 = _mm512_ternarylogic_epi32(h0, c3, key->k1[r], 0x96);
    c1 = l1;
    c3 = l0;
  }
  __m512i a = _mm512_unpacklo_epi32(c0, c1), b = _mm512_unpackhi_epi32(c0, c1);
  __m512i c = _mm512_unpacklo_epi32(c2, c3), d = _mm512_unpackhi_epi32(c2, c3);
  z[0] = (hu_lane)_mm512_unpacklo_epi64(a, c);
  z[1] = (hu_lane)_mm512_unpackhi_epi64(a, c);
  z[2] = (hu_lane)_mm512_unpacklo_epi64(b, d);
  z[3] = (hu_lane)_mm512_unpackhi_epi64(b, d);
}

#include "emu/lanes.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_avx512(void) { return &table; }
