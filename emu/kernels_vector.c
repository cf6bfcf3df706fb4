/* SPDX-License-Identifier: MIT */
/* The baseline level: compiler vectors of four lanes (SSE2, NEON, or whatever the compiler makes of them). */
#include "emu/port.h"

#if defined(__GNUC__) || defined(__clang__)

#if HU_X86
#include <emmintrin.h>
#endif

#define HU_W 4
typedef uint32_t hu_lane __attribute__((vector_size(16)));
typedef int32_t hu_ilane __attribute__((vector_size(16)));
typedef float lane_floats __attribute__((vector_size(16)));

#define HU_MASK(c) ((hu_lane)(c))
#define HU_ALL(x) ((hu_lane){(uint32_t)(x), (uint32_t)(x), (uint32_t)(x), (uint32_t)(x)})
#if defined(__clang__) || !HU_X86
#define HU_HOLD(v) (v)
#else
#define HU_HOLD(v) __extension__({ hu_lane held = (v); __asm__("" : "+x"(held)); held; })
#endif
#define HU_LANE_FN static inline __attribute__((always_inline, unused))

/* Masks are all ones or all zeros in every lane. */
static inline uint32_t mask_bits(hu_lane m) {
#if HU_X86
  return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps((__m128i)m));
#else
  m &= (hu_lane){1, 2, 4, 8};
  return m[0] | m[1] | m[2] | m[3];
#endif
}

static inline int hu_lane_any(hu_lane m) { return mask_bits(m) != 0; }
static inline uint32_t hu_lane_count(hu_lane m) {
  /* bit counts of 0..15, four bits each: popcnt is not in the baseline instruction set */
  return (uint32_t)(0x4332322132212110u >> (4 * mask_bits(m))) & 15;
}
static inline int hu_all_within(hu_lane v, hu_lane s) { return mask_bits((hu_lane)(v <= s)) == 15; }

static inline int hu_all_within4(const hu_lane v[4], hu_lane s) {
  return hu_all_within(v[0], s) & hu_all_within(v[1], s) & hu_all_within(v[2], s) & hu_all_within(v[3], s);
}

/* Lanes counted in lanes: those that fail the test leave one behind. */
typedef hu_lane hu_count;
static inline hu_count hu_count_none(void) { return HU_ALL(0); }
static inline hu_count hu_count_test(hu_count c, hu_lane v, hu_lane m) { return c - (hu_lane)((v & m) == HU_ALL(0)); }
static inline uint64_t hu_count_sum(hu_count c) { return (uint64_t)c[0] + c[1] + c[2] + c[3]; }
static inline uint64_t hu_count_total(hu_count c, uint64_t k) { return 4 * k - hu_count_sum(c); }
typedef hu_lane hu_mask;
static inline hu_mask hu_mask_lt(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)a < (hu_ilane)b); }
static inline hu_mask hu_mask_test(hu_lane a, hu_lane b) { return (hu_lane)((hu_ilane)(a & b) > (hu_ilane)HU_ALL(0)); }
static inline int hu_mask_any(hu_mask m) { return hu_lane_any(m); }
static inline hu_mask hu_mask_and(hu_mask a, hu_mask b) { return a & b; }
static inline hu_mask hu_mask_or(hu_mask a, hu_mask b) { return a | b; }
static inline hu_mask hu_mask_andnot(hu_mask a, hu_mask b) { return a & ~b; }
static inline hu_lane hu_mask_sel(hu_mask m, hu_lane yes, hu_lane no) { return (m & yes) | (~m & no); }
static inline hu_lane hu_mask_keep(hu_mask m, hu_lane v) { return m & v; }
static inline hu_count hu_count_mask(hu_count c, hu_mask m) { return c - m; }

static inline hu_lane hu_mask_larger(hu_lane a, hu_lane b) {
  hu_lane first = (hu_lane)((hu_ilane)a > (hu_ilane)b);
  return (first & a) | (~first & b);
}
static inline hu_lane hu_lane_minus(hu_lane a, hu_lane b) { return (hu_lane)((lane_floats)a - (lane_floats)b); }
static inline hu_lane hu_lane_float(hu_lane v) {
  return (hu_lane)__builtin_convertvector((hu_ilane)v, lane_floats);
}

#if HU_X86
/* v >> k as a product, for there is no shift by lanes: 2 v 2^(30-k), its digits from 2^31 on. The power of two (2^0 for k > 30) is an
 * exact float, so that no flag is raised. */
static inline hu_lane hu_lane_down(hu_lane v, hu_lane k) {
  __m128i exponent = _mm_add_epi32(_mm_subs_epu16(_mm_set1_epi32(30), (__m128i)k), _mm_set1_epi32(127));
  __m128i b = _mm_cvttps_epi32(_mm_castsi128_ps(_mm_slli_epi32(exponent, 23))), a = (__m128i)(v + v);
  __m128i even = _mm_mul_epu32(a, b), odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
  /* Doubled, each 64-bit product has the result in its upper and the lost digits in its lower half. */
  __m128 e = _mm_castsi128_ps(_mm_add_epi64(even, even)), o = _mm_castsi128_ps(_mm_add_epi64(odd, odd));
  hu_lane x = (hu_lane)_mm_shuffle_epi32(_mm_castps_si128(_mm_shuffle_ps(e, o, 0xDD)), 0xD8);
  hu_lane lost = (hu_lane)_mm_shuffle_epi32(_mm_castps_si128(_mm_shuffle_ps(e, o, 0x88)), 0xD8);
  return x | ((hu_lane)(lost != HU_ALL(0)) & 1);
}
#else
static inline hu_lane hu_lane_down(hu_lane v, hu_lane k) {
  hu_lane far = (hu_lane)((hu_ilane)k > 30);
  k = (far & 30) | (~far & k & 31);
  hu_lane x = v >> k;
  return x | ((hu_lane)((x << k) != v) & 1);
}
#endif

static inline void hu_store8(uint8_t *z, hu_lane v) {
  uint32_t w = (v[0] & 255) | (v[1] & 255) << 8 | (v[2] & 255) << 16 | v[3] << 24;
  memcpy(z, &w, sizeof w);
}
static inline void hu_store16(uint16_t *z, hu_lane v) {
  uint64_t w = (v[0] & 0xFFFF) | (v[1] << 16) | (uint64_t)((v[2] & 0xFFFF) | (v[3] << 16)) << 32;
  memcpy(z, &w, sizeof w);
}
static inline hu_lane hu_load8(const uint8_t *x) { return (hu_lane){x[0], x[1], x[2], x[3]}; }
static inline hu_lane hu_load16(const uint16_t *x) { return (hu_lane){x[0], x[1], x[2], x[3]}; }

#if HU_X86
static inline void hu_bypass(uint32_t *z, hu_lane v) { _mm_stream_si128((__m128i *)(void *)z, (__m128i)v); }
static inline void hu_fence(void) { _mm_sfence(); }
#else
static inline void hu_bypass(uint32_t *z, hu_lane v) { memcpy(z, &v, sizeof v); }
static inline void hu_fence(void) {}
#endif

#include "emu/stream.h"

/* Four blocks; block j is vector j. Each scalar product is 32 x 32 to 64 bits. */
typedef uint64_t hu_schedule;
static inline hu_schedule hu_schedule_of(uint64_t key) { return key; }

static inline void hu_words(hu_lane z[4], const hu_schedule *key, uint64_t block) {
  for (uint32_t j = 0; j < 4; j++) {
    hu_philox p = hu_stream_block(*key, (block + j) & 0x3FFFFFFFFFFFFFFFu);
    memcpy(&z[j], p.w, sizeof z[j]);
  }
}

#include "emu/lanes.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_vector(void) { return &table; }

#else

#include "emu/kernels.h"

const hu_kernels *hu_kernels_vector(void) { return NULL; }

#endif
