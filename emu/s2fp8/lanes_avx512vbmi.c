/* SPDX-License-Identifier: MIT */
/* AVX-512 VBMI: codes of a truncation by tables of bytes, sixty-four lanes.
 *
 * A key has 16 digits: 0 below the first bound, else the pattern less a step below that bound, shifted. By its upper
 * eight digits, a bucket, tables say how many bounds lie in the buckets before and where in it two bounds are, so that
 * a code takes a look-up and two comparisons. What events ask for follows from the code, too: the first pattern that is
 * not tiny and the largest element are bounds as those between codes, and what begins at a bound is called a place.
 * Only where an element's key is a bound's the pattern itself is looked at. */
#include <immintrin.h>

#include "emu/s2fp8/lanes.h"

enum { PLACES = 128, NEVER = 255 };

typedef struct tables {
  __m512i start;
  __m128i shift;
  __m512i base[4], one[4], two[4]; /* by bucket: places begun before it; lower digits of bounds in it, or NEVER */
  __m512i value[4][2];             /* by place, a byte each */
  __m512i tiny, last;              /* the last place of what is tiny, that of the largest element */
} tables;

/* The same by place; the first normal number's place, the last one. */
typedef struct spots {
  uint32_t bound[PLACES], value[PLACES], normal, last;
} spots;

/* ---- the product of significands ---- */

typedef struct product {
  __m512 top;
  __m512i exponents;
  __m512d part[4];
  __mmask16 odd;
  uint64_t zeros;
} product;

/* A zero's significand is 1 and its exponent none. */
HU_FN void multiply_in(product *running, const __m512i bits[4]) {
  const __m512i field = _mm512_set1_epi16(23 | 55 << 8); /* where exponents begin in two neighbours */
  const __m512i one = _mm512_castpd_si512(_mm512_set1_pd(1)), frac = _mm512_set1_epi64(0x000FFFFFE0000000);
  __m512i exponent = _mm512_setzero_si512();
  for (int k = 0; k < 4; k++) {
    const __m512 x = _mm512_castsi512_ps(bits[k]);
    const __m512i even = _mm512_slli_epi64(bits[k], 29), odd = _mm512_srli_epi64(bits[k], 3);
    exponent = _mm512_mask_multishift_epi64_epi8(exponent, 0x0303030303030303ull << 2 * k, field, bits[k]);
    running->top = _mm512_range_ps(running->top, x, 0x0B);         /* the larger magnitude */
    running->odd |= _mm512_fpclass_ps_mask(x, 0x81 | 0x18 | 0x20); /* NaN, infinite, subnormal */
    running->part[k] =
        _mm512_mul_pd(running->part[k], _mm512_castsi512_pd(_mm512_ternarylogic_epi64(one, frac, even, 0xF8)));
    running->part[k] =
        _mm512_mul_pd(running->part[k], _mm512_castsi512_pd(_mm512_ternarylogic_epi64(one, frac, odd, 0xF8)));
  }
  running->exponents = _mm512_add_epi64(running->exponents, _mm512_sad_epu8(exponent, _mm512_setzero_si512()));
  running->zeros += (uint64_t)__builtin_popcountll(_mm512_testn_epi8_mask(exponent, exponent));
}

static void rough(size_t n, const uint32_t *x, hu_s2_rough *z) {
  product running;
  __m512i bits[4];
  const size_t all = n;
  running.top = _mm512_setzero_ps();
  running.exponents = _mm512_setzero_si512();
  for (int k = 0; k < 4; k++) running.part[k] = _mm512_set1_pd(1);
  running.odd = 0;
  running.zeros = 0;
  for (; n >= 64; n -= 64, x += 64) {
    for (int k = 0; k < 4; k++) bits[k] = _mm512_loadu_si512(x + 16 * k);
    multiply_in(&running, bits);
  }
  if (n) {
    const uint64_t use = ((uint64_t)1 << n) - 1;
    for (int k = 0; k < 4; k++) bits[k] = _mm512_maskz_loadu_epi32((__mmask16)(use >> 16 * k), x + 16 * k);
    multiply_in(&running, bits);
    running.zeros -= 64 - n;
  }
  z->count = all - running.zeros;
  __m512d sig = _mm512_set1_pd(1), exponent = _mm512_setzero_pd();
  for (int k = 0; k < 4; k++) {
    sig = _mm512_mul_pd(sig, _mm512_getmant_pd(running.part[k], _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src));
    exponent = _mm512_add_pd(exponent, _mm512_getexp_pd(running.part[k]));
  }
  const double one = _mm512_reduce_mul_pd(sig);
  hui_s2_rough_ends(
      z, 1, &one,
      (int64_t)_mm512_reduce_add_pd(exponent) + _mm512_reduce_add_epi64(running.exponents) - 127 * (int64_t)z->count);
  z->top = _mm512_reduce_max_epu32(_mm512_castps_si512(running.top));
  z->odd = running.odd;
}

/* ---- places ---- */

/* z[p] = x[p] up to p = n, `between` behind it, then x[p - 1], and from `end` on `top`. */
HU_FN void insert(__m512i z[8], const uint32_t *x, uint32_t n, uint32_t between, uint32_t end, uint32_t top) {
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i before = _mm512_setzero_si512();
  for (int i = 0; i < 8; i++) {
    const __m512i place = _mm512_add_epi32(first, _mm512_set1_epi32(16 * i)), here = _mm512_loadu_si512(x + 16 * i);
    const __mmask16 behind = _mm512_cmpgt_epi32_mask(place, _mm512_set1_epi32((int32_t)n));
    z[i] = _mm512_mask_alignr_epi32(here, behind, here, before, 15);
    z[i] = _mm512_mask_set1_epi32(z[i], _mm512_cmpeq_epi32_mask(place, _mm512_set1_epi32((int32_t)n + 1)),
                                  (int32_t)between);
    z[i] = _mm512_mask_set1_epi32(z[i], _mm512_cmpge_epi32_mask(place, _mm512_set1_epi32((int32_t)end)), (int32_t)top);
    before = here;
  }
}

/* The upper and the lower eight digits of keys; 255 as 254, which leaves a number for NEVER. */
HU_FN void key_bytes(const __m512i key[4], __m512i *bucket, __m512i *digits) {
  __m512i upper = _mm512_setzero_si512(), lower = upper;
  for (int k = 3; k >= 0; k--) {
    const __m512i x = _mm512_zextsi128_si512(_mm512_cvtepi32_epi8(_mm512_srli_epi32(key[k], 8)));
    const __m512i y = _mm512_zextsi128_si512(_mm512_cvtepi32_epi8(key[k]));
    upper = _mm512_inserti32x4(_mm512_shuffle_i32x4(upper, upper, 0x90), _mm512_castsi512_si128(x), 0);
    lower = _mm512_inserti32x4(_mm512_shuffle_i32x4(lower, lower, 0x90), _mm512_castsi512_si128(y), 0);
  }
  *bucket = upper;
  *digits = _mm512_min_epu8(lower, _mm512_set1_epi8((char)(NEVER - 1)));
}

/* Splits 128 values into bytes: the lowest ones, the second ones, ... */
HU_FN void by_bytes(__m512i z[4][2], const __m512i value[8]) {
  const __m512i fours =
      _mm512_set_epi64(0x7c7874706c686460, 0x5c5854504c484440, 0x3c3834302c282420, 0x1c1814100c080400,
                       0x7c7874706c686460, 0x5c5854504c484440, 0x3c3834302c282420, 0x1c1814100c080400);
  const __m512i low = _mm512_add_epi8(fours, _mm512_set_epi64(0x0101010101010101, 0x0101010101010101,
                                                              0x0101010101010101, 0x0101010101010101, 0, 0, 0, 0));
  const __m512i high = _mm512_add_epi8(low, _mm512_set1_epi8(2));
  for (int i = 0; i < 2; i++) {
    __m512i lower[2], upper[2];
    for (int k = 0; k < 2; k++) {
      const __m512i x = value[4 * i + 2 * k], y = value[4 * i + 2 * k + 1];
      lower[k] = _mm512_permutex2var_epi8(x, low, y);
      upper[k] = _mm512_permutex2var_epi8(x, high, y);
    }
    z[0][i] = _mm512_shuffle_i64x2(lower[0], lower[1], 0x44);
    z[1][i] = _mm512_shuffle_i64x2(lower[0], lower[1], 0xEE);
    z[2][i] = _mm512_shuffle_i64x2(upper[0], upper[1], 0x44);
    z[3][i] = _mm512_shuffle_i64x2(upper[0], upper[1], 0xEE);
  }
}

/* ---- buckets ---- */

HU_FN __m512i lanes_64(void) {
  return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                          0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
}

/* Counts the places from 1 on that begin in lesser buckets than these. */
HU_FN __m512i places_before(const __m512i bucket[2], __m512i here) {
  __m512i n = _mm512_setzero_si512();
  for (int step = PLACES / 2; step > 0; step /= 2) {
    const __m512i place = _mm512_add_epi8(n, _mm512_set1_epi8((char)step));
    const __mmask64 less = _mm512_cmplt_epu8_mask(_mm512_permutex2var_epi8(bucket[0], place, bucket[1]), here);
    n = _mm512_mask_mov_epi8(n, less, place);
  }
  return n;
}

/* Fills the tables from the places' buckets and lower digits; 0: more than two bounds in one bucket. */
static int fill_buckets(tables *lookup, const __m512i bucket[2], const __m512i digits[2]) {
  const __m512i never = _mm512_set1_epi8(-1);
  __mmask64 crowded = 0;
  for (int k = 0; k < 4; k++) {
    const __m512i here = _mm512_add_epi8(lanes_64(), _mm512_set1_epi8((char)(64 * k)));
    __m512i *to[2] = {&lookup->one[k], &lookup->two[k]}, place = lookup->base[k] = places_before(bucket, here);
    for (int i = 0; i < 3; i++) {
      place = _mm512_sub_epi8(place, never);
      const __mmask64 within = _mm512_mask_cmpeq_epi8_mask(_mm512_cmple_epu8_mask(place, lookup->last), here,
                                                           _mm512_permutex2var_epi8(bucket[0], place, bucket[1]));
      if (i < 2) *to[i] = _mm512_mask_mov_epi8(never, within, _mm512_permutex2var_epi8(digits[0], place, digits[1]));
      if (i == 2) crowded |= within;
    }
  }
  return !crowded;
}

/* Makes the tables; 0: not for such a table. */
static int make_tables(tables *lookup, spots *spot, const hu_s2_table *from, const hu_s2_near *near) {
  const uint32_t first = from->bound[0][1], last = near->top_code + 2, normal = near->first_normal;
  __m512i bound[8], value[8], bucket[2], digits[2];
  if (last >= PLACES || near->top_code <= normal) return 0;
  const uint32_t span = near->top - first;
  uint32_t shift = span >> 16 ? (uint32_t)(16 - __builtin_clz(span)) : 0;
  if (span >> shift > 0xFFF0) shift++;
  const uint32_t start = first - ((uint32_t)1 << shift);
  lookup->start = _mm512_set1_epi32((int32_t)start);
  lookup->shift = _mm_cvtsi32_si128((int32_t)shift);
  lookup->tiny = _mm512_set1_epi8((char)normal);
  lookup->last = _mm512_set1_epi8((char)last);
  spot->normal = normal;
  spot->last = last;
  insert(bound, from->bound[0], normal, from->tiny[0], last, near->top);
  insert(value, from->value, normal, from->value[normal], last, near->top);
  for (int i = 0; i < 8; i++) {
    _mm512_storeu_si512(spot->bound + 16 * i, bound[i]);
    _mm512_storeu_si512(spot->value + 16 * i, value[i]);
    bound[i] = _mm512_srl_epi32(_mm512_sub_epi32(bound[i], lookup->start), lookup->shift);
  }
  for (int k = 0; k < 2; k++) key_bytes(bound + 4 * k, &bucket[k], &digits[k]);
  by_bytes(lookup->value, value);
  return fill_buckets(lookup, bucket, digits);
}

/* ---- the pass ---- */

/* Lane 16 q + 4 s + r of bytes is element 16 s + 4 q + r: what packing four registers does to their lanes. */
typedef struct closely {
  uint32_t bits[64];
  uint8_t place[64];
} closely;

HU_FN void count(hu_s2_passed *own, const spots *spot, uint32_t place, uint64_t times) {
  own->none += place == 0 ? times : 0;
  own->low += place < spot->normal ? times : 0;
  own->tiny += place <= spot->normal ? times : 0;
  own->tops += place == spot->last ? times : 0;
}

/* Corrects elements whose keys are bounds': the bound that was taken for reached may not be. */
static HU_NOINLINE void look_closely(const spots *spot, const closely *stored, uint64_t mask, uint32_t *z,
                                     hu_s2_passed *counts) {
  for (; mask; mask &= mask - 1) {
    const uint32_t lane = (uint32_t)__builtin_ctzll(mask);
    const uint32_t i = (lane & 12) << 2 | lane >> 4 << 2 | (lane & 3), a = stored->bits[i] & 0x7FFFFFFF;
    uint32_t place = stored->place[lane];
    if (a >= spot->bound[place]) continue;
    count(counts, spot, place, (uint64_t)0 - 1);
    while (a < spot->bound[place]) place--;
    count(counts, spot, place, 1);
    z[i] = spot->value[place] | (stored->bits[i] & 0x80000000);
  }
}

HU_FN __m512i by_bucket(const __m512i table[4], __mmask64 upper, __m512i bucket) {
  return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(table[0], bucket, table[1]),
                                _mm512_permutex2var_epi8(table[2], bucket, table[3]));
}

/* Finds the places of sixty-four elements; lanes to look at closely are returned. */
HU_FN __mmask64 places(const tables *lookup, const __m512i bits[4], __m512i *place) {
  const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF), digits = _mm512_set1_epi16(0xFF);
  __m512i a[4];
  for (int k = 0; k < 4; k++) {
    a[k] = _mm512_sra_epi32(_mm512_sub_epi32(_mm512_and_si512(bits[k], magnitude), lookup->start), lookup->shift);
  }
  const __m512i low = _mm512_packus_epi32(a[0], a[1]), high = _mm512_packus_epi32(a[2], a[3]);
  const __m512i bucket = _mm512_packus_epi16(_mm512_srli_epi16(low, 8), _mm512_srli_epi16(high, 8));
  const __m512i rest = _mm512_min_epu8(
      _mm512_packus_epi16(_mm512_and_si512(low, digits), _mm512_and_si512(high, digits)), _mm512_set1_epi8((char)254));
  const __mmask64 upper = _mm512_movepi8_mask(bucket);
  const __m512i one = by_bucket(lookup->one, upper, bucket), two = by_bucket(lookup->two, upper, bucket);
  __m512i at = by_bucket(lookup->base, upper, bucket);
  at = _mm512_mask_sub_epi8(at, _mm512_cmpge_epu8_mask(rest, one), at, _mm512_set1_epi8(-1));
  *place = _mm512_mask_sub_epi8(at, _mm512_cmpge_epu8_mask(rest, two), at, _mm512_set1_epi8(-1));
  return _mm512_cmpeq_epi8_mask(rest, one) | _mm512_cmpeq_epi8_mask(rest, two);
}

HU_FN void values(const tables *lookup, __m512i place, const __m512i bits[4], __m512i z[4]) {
  const __m512i sign = _mm512_set1_epi32(INT32_MIN);
  __m512i byte[4], half[4];
  for (int k = 0; k < 4; k++) byte[k] = _mm512_permutex2var_epi8(lookup->value[k][0], place, lookup->value[k][1]);
  half[0] = _mm512_unpacklo_epi8(byte[0], byte[1]);
  half[1] = _mm512_unpackhi_epi8(byte[0], byte[1]);
  half[2] = _mm512_unpacklo_epi8(byte[2], byte[3]);
  half[3] = _mm512_unpackhi_epi8(byte[2], byte[3]);
  z[0] = _mm512_unpacklo_epi16(half[0], half[2]);
  z[1] = _mm512_unpackhi_epi16(half[0], half[2]);
  z[2] = _mm512_unpacklo_epi16(half[1], half[3]);
  z[3] = _mm512_unpackhi_epi16(half[1], half[3]);
  for (int k = 0; k < 4; k++) z[k] = _mm512_ternarylogic_epi32(z[k], bits[k], sign, 0xF8); /* v | (bits & sign) */
}

/* Takes the sign from what has no magnitude. */
HU_FN __m512i unsigned_zeros(__m512i z) {
  return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(z, _mm512_set1_epi32(0x7FFFFFFF)), z);
}

/* use: the elements that are there. */
HU_FN void pass_64(const tables *lookup, const spots *spot, uint32_t negzero, uint64_t use, uint32_t *z,
                   const uint32_t *x, hu_s2_passed *own, hu_s2_passed *close) {
  __m512i bits[4], to[4], place;
  for (int k = 0; k < 4; k++) bits[k] = _mm512_maskz_loadu_epi32((__mmask16)(use >> 16 * k), x + 16 * k);
  const __mmask64 equal = places(lookup, bits, &place);
  values(lookup, place, bits, to);
  own->none += (uint64_t)__builtin_popcountll(_mm512_testn_epi8_mask(place, place));
  own->low += (uint64_t)__builtin_popcountll(_mm512_cmplt_epu8_mask(place, lookup->tiny));
  own->tiny += (uint64_t)__builtin_popcountll(_mm512_cmple_epu8_mask(place, lookup->tiny));
  own->tops += (uint64_t)__builtin_popcountll(_mm512_cmpeq_epi8_mask(place, lookup->last));
  for (int k = 0; !negzero && k < 4; k++) to[k] = unsigned_zeros(to[k]);
  for (int k = 0; k < 4; k++) _mm512_mask_storeu_epi32(z + 16 * k, (__mmask16)(use >> 16 * k), to[k]);
  if (HU_LIKELY(!equal)) return;
  closely stored;
  for (int k = 0; k < 4; k++) _mm512_storeu_si512(stored.bits + 16 * k, bits[k]);
  _mm512_storeu_si512(stored.place, place);
  look_closely(spot, &stored, equal, z, close);
}

static int pass(const hu_s2_table *table, const hu_s2_near *near, size_t n, uint32_t *z, const uint32_t *x,
                hu_s2_passed *counts) {
  tables lookup;
  spots spot;
  hu_s2_passed own = {0, 0, 0, 0}, close = {0, 0, 0, 0};
  size_t i = 0;
  if (!make_tables(&lookup, &spot, table, near)) return 0;
  const uint64_t skip = (0 - n) & 63; /* lanes behind the end: as zeros, which are taken back */
  for (; n - i >= 64; i += 64) pass_64(&lookup, &spot, near->negzero, UINT64_MAX, z + i, x + i, &own, &close);
  if (skip) pass_64(&lookup, &spot, near->negzero, ((uint64_t)1 << (n - i)) - 1, z + i, x + i, &own, &close);
  counts->none += own.none + close.none - skip;
  counts->low += own.low + close.low - skip;
  counts->tiny += own.tiny + close.tiny - skip;
  counts->tops += own.tops + close.tops;
  return 1;
}

const hu_s2_bytes hu_s2_bytes_vbmi = {rough, pass};
