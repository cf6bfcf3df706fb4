/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/nearest.cuh - the operation of map.cuh for ties to even, and for `sra` (R added below the last
 * digit), in formats with gradual subnormals and zeros of both signs: one computation for all finite elements, also
 * where the result is subnormal or beyond the largest number.
 *
 * It rounds as the middle functions of emu/simd/round.h do (its head has the proof). HU_WAY_PATTERN adds the addend to
 * the pattern, where the format's subnormals are binary32's. HU_WAY_ANCHOR computes |x| + anchor - anchor.
 * HU_WAY_STOCHASTIC does so toward zero; the 32 digits that are lost then, and R's, decide whether it is one step more.
 * Elements beyond the largest number are first lowered to `beyond`, a finite pattern that overflows however it is
 * rounded, so that the sum stays finite. The code of an overflow is the largest one or the next, so that one minimum
 * suffices.
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

/* Counts a result that is not the magnitude a: *inexact += 1, and *tiny += 1 if probe < bound. Two comparisons
 * suffice. */
HU_DEVICE void hui_nearest_count(uint32_t *inexact, uint32_t *tiny, uint32_t result, uint32_t a, uint32_t probe,
                                 uint32_t bound) {
#if defined(__CUDA_ARCH__)
  asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, %3;\n\t@p add.u32 %0, %0, 1;\n\t@p setp.lt.u32 p, %4, %5;\n\t"
      "@p add.u32 %1, %1, 1;\n\t}"
      : "+r"(*inexact), "+r"(*tiny)
      : "r"(result), "r"(a), "r"(probe), "r"(bound));
#else
  *inexact += result != a;
  *tiny += result != a && probe < bound;
#endif
}

/* Lane constants as this operation needs them. */
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

/* Fills the constants; returns a HU_WAY_. */
static inline int hui_nearest_of(hu_nearest_constants *constants, const hu_lane_constants *lanes) {
  int random = lanes->round == HU_SRA;
  memset(constants, 0, sizeof *constants);
  if ((lanes->round != HU_RNE && !random) || !lanes->way.middle || !lanes->negzero ||
      lanes->subnormal != HU_SUBNORMAL_GRADUAL)
    return HU_WAY_NONE;
  constants->bottom = (uint32_t)lanes->low << 23;
  constants->hi = lanes->max_pattern;
  constants->up = (uint32_t)lanes->d0 << 23;
  constants->mask = ((uint32_t)1 << lanes->d0) - 1;
  constants->half = constants->mask >> 1;
  constants->not_tiny = lanes->not_tiny;
  constants->value = lanes->value.overflow & 0x7FFFFFFF;
  constants->code = lanes->code.overflow & ~lanes->sign_code;
  constants->spare = 32u - lanes->bits;
  constants->keep = random && lanes->tiny == HU_TINY_AFTER ? lanes->stochastic.keep : 0;
  constants->digits = lanes->bits < (uint32_t)lanes->d0
                          ? constants->mask & ~(((uint32_t)1 << ((uint32_t)lanes->d0 - lanes->bits)) - 1)
                          : constants->mask;
  constants->first = (uint32_t)1 << lanes->m;
  constants->beyond_code = (127 - lanes->max_code) * 0x01010101u;
  constants->d0 = (uint32_t)lanes->d0;
  constants->sign_shift = (uint32_t)lanes->sign_shift;
  constants->saturates = (lanes->events.overflow & HU_EVENT_SATURATED) != 0;
  /* Overflows of both signs must be equal except for the sign; else slow() treats them, like infinities and NaN. */
  int alike = lanes->beyond && lanes->value.neg_overflow == (lanes->value.overflow | 0x80000000u) &&
              lanes->code.neg_overflow == (lanes->code.overflow | lanes->sign_code) &&
              lanes->events.overflow == lanes->events.neg_overflow && constants->code - lanes->max_code <= 1;
  if (!alike) constants->code = lanes->max_code + 1;
  constants->limit = alike ? 0x7F800000u : lanes->max_pattern + 1;
  constants->beyond = alike ? lanes->beyond : lanes->max_pattern;
  return random ? (int)HU_WAY_STOCHASTIC : (int)lanes->way.middle;
}

template <class Out, bool Value, int Way, bool Counted>
struct hu_nearest_op {
  static const int unroll = Way == HU_WAY_STOCHASTIC ? 2 : 4;
  static const uint32_t stochastic = Way == HU_WAY_STOCHASTIC;
  static const bool bytes = !Value && sizeof(Out) == 1; /* codes of one byte, joined four at a time */
  hu_nearest_constants constants;
  hu_lane_constants lanes; /* for the elements that are left */
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(uint32_t x, uint32_t word, hu_counts *counts) const {
    uint64_t z = hui_lanes_called<Value>(lanes, x, word);
    if (Counted) hui_counts_add(counts, (uint32_t)(z >> 32));
    return (Out)(uint32_t)z;
  }

  /* Rounds the magnitude a <= beyond, to a pattern below 2^31; *code gets its code, or a word that ends in it. */
  __device__ __forceinline__ uint32_t rounded(uint32_t a, uint32_t word, uint32_t *code) const {
    if (Way == HU_WAY_PATTERN) {
      uint32_t value = (a + constants.half + (a >> constants.d0 & 1)) & ~constants.mask;
      *code = value >> constants.d0;
      return value;
    }
    float value;
    if (Way == HU_WAY_STOCHASTIC) {
      *code = hui_nearest_added(constants.bottom, (int32_t)constants.d0, constants.spare, a, word, &value);
      return __float_as_uint(value);
    }
    uint32_t field = hui_mask_larger(a & 0x7F800000, constants.bottom), anchor = field + constants.up;
    float base = __uint_as_float(anchor), sum = __fadd_rn(__uint_as_float(a), base);
    /* The lower 23 digits of the anchor are zeros: a code of one byte needs no difference. */
    *code = __float_as_uint(sum) - (bytes ? 0 : anchor) + ((field - constants.bottom) >> constants.d0);
    return __float_as_uint(__fsub_rn(sum, base));
  }

  /* Adds R to four magnitudes from 2^emin on, in the pattern, whose last digits are zeros where R has more. */
  __device__ __forceinline__ void added(const uint32_t a[4], const uint32_t words[4], uint32_t results[4],
                                        uint32_t code[4]) const {
    uint32_t first = constants.first - (constants.bottom >> constants.d0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sum = a[i] + (words[i] >> (32 - constants.d0) & constants.digits);
      code[i] = (sum >> constants.d0) + first;
      results[i] = sum & ~constants.mask;
    }
  }

  /* Counts the events of a vector with elements below 2^emin. results: a rounded; codes: of one byte, joined. */
  __device__ __forceinline__ void count_small(const uint32_t a[4], const uint32_t results[4], const uint32_t words[4],
                                              uint32_t codes, uint32_t least, hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t probe = Way == HU_WAY_STOCHASTIC ? a[i] + ((words[i] >> (32 - constants.d0)) & constants.keep) : a[i];
      hui_nearest_count(&counts->total[5], &counts->total[2], results[i], a[i], probe, constants.not_tiny);
      if (bytes) continue;
      hui_add_if_below<1>(&counts->total[3], results[i], a[i] < 1 ? a[i] : 1);
      hui_add_if_below<1>(&counts->total[4], results[i] - 1, constants.bottom - 1);
    }
    if (!bytes) return;
    uint32_t some = (codes + 0x7F7F7F7F) & 0x80808080;
    uint32_t below = ~(codes + (0x80 - constants.first) * 0x01010101u);
    counts->total[4] += (uint32_t)__popc(some & below);
    counts->total[3] += 4 - (uint32_t)__popc(some);
    if (least == 0) { /* zeros have not become zero */
#pragma unroll
      for (int i = 0; i < 4; i++) counts->total[3] -= a[i] == 0;
    }
  }

  /* Counts those of a vector with elements beyond the largest number, inexact even where `beyond` is exact. */
  __device__ __forceinline__ void count_large(const uint32_t a[4], const uint32_t results[4], hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t over = results[i] > constants.hi;
      counts->total[0] += over;
      counts->total[1] += over & constants.saturates;
      counts->total[5] += over && results[i] == a[i];
    }
  }

  __device__ __forceinline__ int quick(const uint32_t x[4], const uint32_t words[4], Out z[4],
                                       hu_counts *counts) const {
    uint32_t a[4], results[4], code[4], most = 0, least = 0xFFFFFFFF;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a[i] = x[i] & 0x7FFFFFFF;
      most = a[i] > most ? a[i] : most;
      least = a[i] < least ? a[i] : least;
    }
    if (most >= constants.limit) return 0;
    if (most > constants.beyond) {
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = a[i] < constants.beyond ? a[i] : constants.beyond;
    }
    if (Way == HU_WAY_STOCHASTIC && least >= constants.bottom) {
      added(a, words, results, code);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) results[i] = rounded(a[i], words[i], &code[i]);
    }
    uint32_t codes = bytes ? hui_join_bytes(code, 0x0040) : 0;
    if (Counted && least < constants.bottom) {
      count_small(a, results, words, codes, least, counts);
    } else if (Counted) {
#pragma unroll
      for (int i = 0; i < 4; i++) /* inexact */
        hui_add_if_differ<1>(&counts->total[5], __uint_as_float(results[i]), __uint_as_float(a[i]));
    }
    /* A code of one byte overflows where it is one more than the largest, which is at most 127. */
    if (bytes ? ((codes + constants.beyond_code) & 0x80808080) != 0 : most > constants.hi) {
      if (Counted) count_large(a, results, counts);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (results[i] > constants.hi) results[i] = constants.value;
        if (bytes) code[i] &= 0xFF;
        if (code[i] > constants.code) code[i] = constants.code;
      }
      if (bytes) codes = hui_join_bytes(code, 0x0040);
    }
    if constexpr (bytes) {
      codes |= (hui_join_bytes(x, 0x0073) & 0x80808080) >> (constants.sign_shift - 24);
      memcpy(z, &codes, 4);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        uint32_t sign = x[i] & 0x80000000u;
        z[i] = (Out)(Value ? results[i] | sign : code[i] | sign >> constants.sign_shift);
      }
    }
    return 1;
  }

  __device__ __forceinline__ void slow(const uint32_t x[4], const uint32_t words[4], Out z[4],
                                       hu_counts *counts) const {
    hui_one_by_one(*this, x, words, z, counts);
  }
};

#endif
