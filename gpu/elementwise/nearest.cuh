/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/nearest.cuh - the operation of map.cuh for ties to even, and for `sra` (R added below the last
 * digit), in formats with gradual subnormals and zeros of both signs: every finite element in one way, also where the
 * result is subnormal or beyond the largest number.
 *
 * It rounds as the middle functions of emu/simd/round.h do (its head has the proof). HU_WAY_PATTERN, where binary32's
 * own subnormals are the format's: the addend in the pattern. HU_WAY_ANCHOR: |x| + anchor - anchor. HU_WAY_STOCHASTIC:
 * the same toward zero; what that loses, as 32 digits, and R's decide on one step more. Elements beyond the largest
 * number are first lowered to `beyond`, a finite pattern that overflows however it is rounded, so that the sum stays
 * finite. The code of an overflow is the largest one or the next, so that a minimum makes it.
 *
 * Small and overflowing elements have their events counted apart, four at a time, where a vector has one.
 *
 * Bound, from the machine code for compute capability 9.0, all branches of the loop included: codes of 8 bits take 512
 * instructions for 16 elements without events, 32 each, of which 20 on the integer pipe, of which a multiprocessor
 * starts 64 in a clock, 3.2 elements; memory moves 16 bytes, 3.2 elements of 5 bytes. Values take 422 for 16, 26 each
 * (15 on the integer pipe), 4.3 elements; memory allows 2 of 8 bytes. With events the loops have 995 and 877, of which
 * the 34 that docs/device.md counts for an element are run where none is small or overflows. R takes 860 for 8, of
 * which 49 are run, 2.6 elements: there issue slots are the bound. */
#ifndef HALFULP_GPU_NEAREST_CUH
#define HALFULP_GPU_NEAREST_CUH

#include "gpu/base/lanes.cuh"
#include "gpu/base/map.cuh"

enum { HU_WAY_NONE = 0, HU_WAY_PATTERN = 1, HU_WAY_ANCHOR = 2, HU_WAY_STOCHASTIC = 3 };

/* Where r, a result, is not the magnitude a: *inexact += 1, and *tiny += 1 if probe < bound. Two comparisons, and two
 * additions under them. */
HU_DEVICE void hui_nearest_count(uint32_t *inexact, uint32_t *tiny, uint32_t r, uint32_t a, uint32_t probe,
                                 uint32_t bound) {
#if defined(__CUDA_ARCH__)
  asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, %3;\n\t@p add.u32 %0, %0, 1;\n\t@p setp.lt.u32 p, %4, %5;\n\t"
      "@p add.u32 %1, %1, 1;\n\t}"
      : "+r"(*inexact), "+r"(*tiny)
      : "r"(r), "r"(a), "r"(probe), "r"(bound));
#else
  *inexact += r != a;
  *tiny += r != a && probe < bound;
#endif
}

/* A hu_lane_constants as this operation needs it. */
typedef struct hu_nearest_constants {
  uint32_t bottom;      /* the pattern of 2^emin */
  uint32_t hi;          /* of the largest number */
  uint32_t limit;       /* magnitudes from here on are not taken */
  uint32_t beyond;      /* larger ones are lowered to this */
  uint32_t up;          /* field of 2^E to that of the anchor */
  uint32_t half, mask;  /* half a step less one; the fraction */
  uint32_t not_tiny;    /* smaller ones are tiny */
  uint32_t value, code; /* of an overflow, without the sign */
  uint32_t spare;       /* 32 less the digits of R */
  uint32_t keep;        /* R's digits that tininess after rounding looks at; 0: before */
  uint32_t digits;      /* R's digits among the fraction's */
  uint32_t first;       /* the code of 2^emin */
  uint32_t beyond_code; /* in each byte 127 less the largest number's code */
  uint32_t d0, sign_shift, saturates;
} hu_nearest_constants;

/* HU_WAY_. */
static inline int hui_nearest_of(hu_nearest_constants *k, const hu_lane_constants *t) {
  int random = t->round == HU_SRA;
  memset(k, 0, sizeof *k);
  if ((t->round != HU_RNE && !random) || !t->way.middle || !t->negzero || t->subnormal != HU_SUBNORMAL_GRADUAL)
    return HU_WAY_NONE;
  k->bottom = (uint32_t)t->low << 23;
  k->hi = t->max_pattern;
  k->up = (uint32_t)t->d0 << 23;
  k->mask = ((uint32_t)1 << t->d0) - 1;
  k->half = k->mask >> 1;
  k->not_tiny = t->not_tiny;
  k->value = t->value.overflow & 0x7FFFFFFF;
  k->code = t->code.overflow & ~t->sign_code;
  k->spare = 32u - t->bits;
  k->keep = random && t->tiny == HU_TINY_AFTER ? t->stochastic.keep : 0;
  k->digits = t->bits < (uint32_t)t->d0 ? k->mask & ~(((uint32_t)1 << ((uint32_t)t->d0 - t->bits)) - 1) : k->mask;
  k->first = (uint32_t)1 << t->m;
  k->beyond_code = (127 - t->max_code) * 0x01010101u;
  k->d0 = (uint32_t)t->d0;
  k->sign_shift = (uint32_t)t->sign_shift;
  k->saturates = (t->events.overflow & HU_EVENT_SATURATED) != 0;
  /* Overflows of both signs must be alike but for the sign; else they go another way, as do infinities and NaN. */
  int alike = t->beyond && t->value.neg_overflow == (t->value.overflow | 0x80000000u) &&
              t->code.neg_overflow == (t->code.overflow | t->sign_code) &&
              t->events.overflow == t->events.neg_overflow && k->code - t->max_code <= 1;
  if (!alike) k->code = t->max_code + 1;
  k->limit = alike ? 0x7F800000u : t->max_pattern + 1;
  k->beyond = alike ? t->beyond : t->max_pattern;
  return random ? (int)HU_WAY_STOCHASTIC : (int)t->way.middle;
}

template <class Out, bool Value, int Way, bool Counted>
struct hu_nearest_op {
  static const int unroll = Way == HU_WAY_STOCHASTIC ? 2 : 4;
  static const uint32_t stochastic = Way == HU_WAY_STOCHASTIC;
  static const bool bytes = !Value && sizeof(Out) == 1; /* codes of one byte, joined four at a time */
  hu_nearest_constants k;
  hu_lane_constants t; /* for the elements that are left */
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(uint32_t x, uint32_t word, hu_counts *c) const {
    uint64_t z = hui_lanes_called<Value>(t, x, word);
    if (Counted) hui_counts_add(c, (uint32_t)(z >> 32));
    return (Out)(uint32_t)z;
  }

  /* The magnitude a <= beyond rounded, below 2^31 also where it overflows; and its code, or a word that ends in it. */
  __device__ __forceinline__ uint32_t rounded(uint32_t a, uint32_t word, uint32_t *code) const {
    if (Way == HU_WAY_PATTERN) {
      uint32_t r = (a + k.half + (a >> k.d0 & 1)) & ~k.mask;
      *code = r >> k.d0;
      return r;
    }
    float value;
    if (Way == HU_WAY_STOCHASTIC) {
      *code = hui_nearest_added(k.bottom, (int32_t)k.d0, k.spare, a, word, &value);
      return __float_as_uint(value);
    }
    uint32_t field = hui_mask_larger(a & 0x7F800000, k.bottom), anchor = field + k.up;
    float base = __uint_as_float(anchor), sum = __fadd_rn(__uint_as_float(a), base);
    /* The lower 23 digits of the anchor are zeros: a code of one byte needs no difference. */
    *code = __float_as_uint(sum) - (bytes ? 0 : anchor) + ((field - k.bottom) >> k.d0);
    return __float_as_uint(__fsub_rn(sum, base));
  }

  /* Four magnitudes from 2^emin on with R added: in the pattern, whose last digits are zeros where R has more. */
  __device__ __forceinline__ void added(const uint32_t a[4], const uint32_t words[4], uint32_t r[4],
                                        uint32_t code[4]) const {
    uint32_t first = k.first - (k.bottom >> k.d0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sum = a[i] + (words[i] >> (32 - k.d0) & k.digits);
      code[i] = (sum >> k.d0) + first;
      r[i] = sum & ~k.mask;
    }
  }

  /* Events of a vector with elements below 2^emin; r: a rounded; codes: of one byte, joined. */
  __device__ __forceinline__ void count_small(const uint32_t a[4], const uint32_t r[4], const uint32_t words[4],
                                              uint32_t codes, uint32_t least, hu_counts *c) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t probe = Way == HU_WAY_STOCHASTIC ? a[i] + ((words[i] >> (32 - k.d0)) & k.keep) : a[i];
      hui_nearest_count(&c->total[5], &c->total[2], r[i], a[i], probe, k.not_tiny);
      if (bytes) continue;
      hui_add_if_below<1>(&c->total[3], r[i], a[i] < 1 ? a[i] : 1);
      hui_add_if_below<1>(&c->total[4], r[i] - 1, k.bottom - 1);
    }
    if (!bytes) return;
    uint32_t some = (codes + 0x7F7F7F7F) & 0x80808080;
    uint32_t below = ~(codes + (0x80 - k.first) * 0x01010101u);
    c->total[4] += (uint32_t)__popc(some & below);
    c->total[3] += 4 - (uint32_t)__popc(some);
    if (least == 0) { /* zeros have not become zero */
#pragma unroll
      for (int i = 0; i < 4; i++) c->total[3] -= a[i] == 0;
    }
  }

  /* Those of a vector with elements beyond the largest number, which are inexact even where `beyond` is not. */
  __device__ __forceinline__ void count_large(const uint32_t a[4], const uint32_t r[4], hu_counts *c) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t over = r[i] > k.hi;
      c->total[0] += over;
      c->total[1] += over & k.saturates;
      c->total[5] += over && r[i] == a[i];
    }
  }

  __device__ __forceinline__ int quick(const uint32_t x[4], const uint32_t words[4], Out z[4], hu_counts *c) const {
    uint32_t a[4], r[4], code[4], most = 0, least = 0xFFFFFFFF;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a[i] = x[i] & 0x7FFFFFFF;
      most = a[i] > most ? a[i] : most;
      least = a[i] < least ? a[i] : least;
    }
    if (most >= k.limit) return 0;
    if (most > k.beyond) {
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = a[i] < k.beyond ? a[i] : k.beyond;
    }
    if (Way == HU_WAY_STOCHASTIC && least >= k.bottom) {
      added(a, words, r, code);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = rounded(a[i], words[i], &code[i]);
    }
    uint32_t codes = bytes ? hui_join_bytes(code, 0x0040) : 0;
    if (Counted && least < k.bottom) {
      count_small(a, r, words, codes, least, c);
    } else if (Counted) {
#pragma unroll
      for (int i = 0; i < 4; i++) /* inexact */
        hui_add_if_differ<1>(&c->total[5], __uint_as_float(r[i]), __uint_as_float(a[i]));
    }
    /* A code of one byte that is beyond the largest one's, at most 127, by one. */
    if (bytes ? ((codes + k.beyond_code) & 0x80808080) != 0 : most > k.hi) {
      if (Counted) count_large(a, r, c);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (r[i] > k.hi) r[i] = k.value;
        if (bytes) code[i] &= 0xFF;
        if (code[i] > k.code) code[i] = k.code;
      }
      if (bytes) codes = hui_join_bytes(code, 0x0040);
    }
    if constexpr (bytes) {
      codes |= (hui_join_bytes(x, 0x0073) & 0x80808080) >> (k.sign_shift - 24);
      memcpy(z, &codes, 4);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t sign = x[i] & 0x80000000u;
        z[i] = (Out)(Value ? r[i] | sign : code[i] | sign >> k.sign_shift);
      }
    }
    return 1;
  }

  __device__ __forceinline__ void slow(const uint32_t x[4], const uint32_t words[4], Out z[4], hu_counts *c) const {
    hui_one_by_one(*this, x, words, z, c);
  }
};

#endif
