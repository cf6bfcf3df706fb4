/* SPDX-License-Identifier: MIT */
/* gpu/scaled/rows.cuh - what the kernels of blocks along rows share: four neighbours of a block rounded to nearest, or
 * with R added; their events, counted in bytes; and elements that are left to emu/core/scaled.h.
 *
 * Elements are limited to the largest number before they are rounded, so that codes need no limit. An element takes
 * some nine instructions in hui_row_rounded and two for its sign and its byte. Of events, inexact takes two; small and
 * overflowing elements are counted only where four joined codes or the block's largest element show that a vector of
 * four has one. A small one is at most the code of 2^emin, and one that overflows is at least hu_row_constants.over. */
#ifndef HALFULP_GPU_ROWS_CUH
#define HALFULP_GPU_ROWS_CUH

#include "gpu/scaled/scaled.cuh"

#define HU_SPECIAL_BLOCK 0x80000000u

/* Counts in bytes, one for each of a lane's four elements, at most 4 for a strip. */
typedef struct hu_row_counts {
  uint32_t inexact, underflow, to_zero, subnormal, overflow, strips;
} hu_row_counts;

HU_DEVICE uint32_t hui_bytes_sum(uint32_t x) {
  x = (x & 0x00FF00FF) + ((x >> 8) & 0x00FF00FF);
  return (x + (x >> 16)) & 0xFFFF;
}

HU_DEVICE void hui_row_counts_clear(hu_row_counts *row_counts) {
  row_counts->inexact = row_counts->underflow = row_counts->to_zero = row_counts->subnormal = row_counts->overflow =
      row_counts->strips = 0;
}

/* The counts of a block of threads, in shared memory. One instruction adds to 32 bits; with 64, threads would wait for
 * each other in a loop. 2^32 elements would be 16 GiB for each block of the grid. */
typedef struct hu_row_sums {
  unsigned int of[HU_EVENT_KINDS];
} hu_row_sums;

/* Adds each thread's own counts, since after calls the lanes of a warp need not be together (gpu/base/events.cuh). */
HU_DEVICE void hui_row_counts_add_up(hu_row_counts *row_counts, hu_row_sums *sums) {
  uint32_t counts[6];
  counts[0] = counts[1] = hui_bytes_sum(row_counts->overflow);
  counts[2] = hui_bytes_sum(row_counts->underflow);
  counts[3] = hui_bytes_sum(row_counts->to_zero);
  counts[4] = hui_bytes_sum(row_counts->subnormal);
  counts[5] = hui_bytes_sum(row_counts->inexact);
#pragma unroll
  for (int i = 0; i < 6; i++)
    if (counts[i]) atomicAdd(&sums->of[i], counts[i]);
  hui_row_counts_clear(row_counts);
}

/* Adds the counts of all threads of the block to *events. Every thread of the block must call it. */
HU_DEVICE void hui_row_counts_flush(hu_row_counts *row_counts, hu_events *events, hu_row_sums *sums) {
  hui_row_counts_add_up(row_counts, sums);
  __syncthreads();
  if (threadIdx.x < HU_EVENT_KINDS && sums->of[threadIdx.x])
    atomicAdd((unsigned long long *)events + threadIdx.x, (unsigned long long)sums->of[threadIdx.x]);
}

/* ---- the four elements of a lane ---- */

/* What rounds elements, in registers, since parameters are fetched again after every call of a function. */
typedef struct hu_row_constants {
  uint32_t low, up;     /* the pattern of 2^emin; from an element's field to that of its anchor */
  uint32_t top, over;   /* of the largest number; of the least that is rounded beyond it */
  uint32_t not_tiny;    /* of the least number that is not tiny */
  int32_t d0;           /* digits of the fraction that the format does not have */
  uint32_t spare, keep; /* 32 less the digits of R; R's digits among d0 */
  uint32_t first;       /* the code of 2^emin */
  uint32_t sign_shift;  /* of signs in the highest bit of a byte */
  uint32_t twos;        /* of codes in two's complement: twice the sign's mask; else 0 */
  uint32_t negzero, divides, counted;
} hu_row_constants;

HU_DEVICE hu_row_constants hui_row_constants_of(const hu_scaled_args &args) {
  hu_row_constants constants;
  const hu_spec *element = &args.scaler.element;
  uint32_t bits = args.constants.bits, d0 = (uint32_t)args.constants.d0;
  constants.low = args.low;
  constants.up = d0 << 23;
  constants.top = args.top;
  constants.over = args.top + (1u << (d0 - 1)) + (element->max_code & 1 ? 0 : 1); /* a tie is rounded to an even code */
  constants.not_tiny = args.not_tiny;
  constants.d0 = args.constants.d0;
  constants.spare = 32 - bits;
  constants.keep = bits < d0 ? (1u << d0) - (1u << (d0 - bits)) : 0xFFFFFFFFu;
  constants.first = 1u << args.constants.m;
  constants.sign_shift = (uint32_t)args.constants.sign_shift % 8;
  constants.twos = args.scaler.coding == HU_CODING_TWOS ? element->sign_mask << 1 : 0;
  constants.negzero = element->negzero;
  constants.divides = args.scaler.steps == HU_STEPS_DIVIDE;
  constants.counted = args.events != NULL;
  return constants;
}

/* Rounds the magnitude y, at most the largest number, to nearest, ties to even, as hui_nearest does. Returns a word
 * whose lowest byte is the code, since the 23 lower digits of the anchor, which hui_nearest subtracts, are zeros. */
HU_DEVICE uint32_t hui_row_rounded(const hu_row_constants &constants, uint32_t low, float y, float *value) {
  int32_t up = (int32_t)(__float_as_uint(y) & 0x7F800000) - (int32_t)low;
  uint32_t above = up > 0 ? (uint32_t)up : 0;
  float anchor = __uint_as_float(above + (low + constants.up)), sum = __fadd_rn(y, anchor);
  *value = __fsub_rn(sum, anchor);
  return __float_as_uint(sum) + (above >> constants.d0);
}

/* Does so for four elements with R added. Where none is subnormal, R's digits are added to the pattern: those below its
 * last digit are added to zeros, and the largest number, whose fraction is zero, does not change. */
HU_DEVICE void hui_row_added(const hu_row_constants &constants, uint32_t low, const uint32_t y[4],
                             const uint32_t words[4], uint32_t code[4], float value[4]) {
  uint32_t least = 0xFFFFFFFF;
#pragma unroll
  for (int i = 0; i < 4; i++) least = y[i] < least ? y[i] : least;
  if (least >= low) {
    uint32_t more = constants.first - (low >> constants.d0), mask = ~((1u << constants.d0) - 1);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sum = y[i] + (words[i] >> (32 - constants.d0) & constants.keep);
      code[i] = (sum >> constants.d0) + more;
      value[i] = __uint_as_float(sum & mask);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    code[i] = hui_nearest_added(low, constants.d0, constants.spare, y[i], words[i], &value[i]);
}

/* Counts the small ones of four elements whose codes are joined in a word, where one is at most the code of 2^emin.
 * inexact: bytes of 0 and 1. */
HU_DEVICE void hui_row_count_small(const hu_row_constants &constants, uint32_t shift, uint32_t codes, uint32_t inexact,
                                   const float y[4], hu_row_counts *row_counts) {
  if (((codes + (0x7F - constants.first) * 0x01010101u) & 0x80808080) == 0x80808080) return;
  uint32_t some = (codes + 0x7F7F7F7F) >> 7 & 0x01010101, small = 0;
  uint32_t normal = (codes + (0x80 - constants.first) * 0x01010101u) >> 7 & 0x01010101;
  uint32_t below = constants.not_tiny + shift;
  hui_add_if_below<0x1>(&small, __float_as_uint(y[0]), below);
  hui_add_if_below<0x100>(&small, __float_as_uint(y[1]), below);
  hui_add_if_below<0x10000>(&small, __float_as_uint(y[2]), below);
  hui_add_if_below<0x1000000>(&small, __float_as_uint(y[3]), below);
  row_counts->underflow += inexact & small;
  row_counts->to_zero += inexact & ~some;
  row_counts->subnormal += some & ~normal;
}

/* Counts the events of four magnitudes y and their values; no y is above `largest`. */
HU_DEVICE void hui_row_count(const hu_row_constants &constants, uint32_t shift, uint32_t largest, uint32_t codes,
                             const float y[4], const float value[4], hu_row_counts *row_counts) {
  uint32_t before = row_counts->inexact, over = constants.over + shift;
  hui_add_if_differ<0x1>(&row_counts->inexact, y[0], value[0]);
  hui_add_if_differ<0x100>(&row_counts->inexact, y[1], value[1]);
  hui_add_if_differ<0x10000>(&row_counts->inexact, y[2], value[2]);
  hui_add_if_differ<0x1000000>(&row_counts->inexact, y[3], value[3]);
  hui_row_count_small(constants, shift, codes, row_counts->inexact - before, y, row_counts);
  if (largest < over) return;
  uint32_t within = 0;
  hui_add_if_below<0x1>(&within, __float_as_uint(y[0]), over);
  hui_add_if_below<0x100>(&within, __float_as_uint(y[1]), over);
  hui_add_if_below<0x10000>(&within, __float_as_uint(y[2]), over);
  hui_add_if_below<0x1000000>(&within, __float_as_uint(y[3]), over);
  row_counts->overflow += 0x01010101 - within;
}

/* Returns whether hui_nearest_added may add R under this block's scale: sums and 2^32 over a step are finite. */
HU_DEVICE bool hui_row_may_add(const hu_scaled_args &args, const hu_element_way &way) {
  uint32_t largest = (args.top + (way.low - args.low)) >> 23;
  return args.added && way.kind == HU_ELEMENT_WAY_SHORT && (int32_t)(way.low >> 23) >= 32 + args.constants.m &&
         largest + (uint32_t)args.constants.d0 <= 252;
}

/* Joins the signs of four words to codes in bytes. */
HU_DEVICE uint32_t hui_row_join(const hu_row_constants &constants, uint32_t codes, const uint32_t signs[4]) {
  uint32_t top = hui_join_bytes(signs, 0x0073) & 0x80808080;
  if (!constants.negzero) top &= codes + 0x7F7F7F7F;
  return codes | top >> constants.sign_shift;
}

/* Rounds four neighbours of a block: under the scale 2^e, where `shift` is e in the exponent field (Powers), or x by,
 * or x / by; ties to even, or with R added and without events (Added). Their magnitudes are at most top. Returns codes
 * joined, or makes values of x, times `back`. */
template <bool Value, bool Powers, bool Added>
HU_DEVICE uint32_t hui_row_nearest(const hu_row_constants &constants, bool counted, uint32_t shift, float by,
                                   float back, uint32_t top, hu_four<uint32_t> *x, const uint32_t words[4],
                                   hu_row_counts *row_counts) {
  uint32_t low = constants.low + shift, code[4], limit = constants.top + shift;
  float y[4], value[4], largest = __uint_as_float(top);
  if (!Powers && constants.divides) {
#pragma unroll
    for (int i = 0; i < 4; i++) y[i] = hui_bounded(__fdiv_rn(fabsf(__uint_as_float(x->value[i])), by));
    largest = __uint_as_float(HU_LARGEST32);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      y[i] = fabsf(__uint_as_float(x->value[i]));
      if (!Powers) y[i] = __fmul_rn(y[i], by);
    }
    if (!Powers && !Added && counted) largest = __fmul_rn(largest, by);
  }
  if (Added) {
    uint32_t limited[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      limited[i] = Powers ? x->value[i] & 0x7FFFFFFF : __float_as_uint(y[i]);
      limited[i] = limited[i] < limit ? limited[i] : limit;
    }
    hui_row_added(constants, low, limited, words, code, value);
  } else {
#pragma unroll
    for (int i = 0; i < 4; i++)
      code[i] = hui_row_rounded(constants, low, fminf(y[i], __uint_as_float(limit)), &value[i]);
  }
  uint32_t codes = hui_join_bytes(code, 0x0040);
  if (!Added && counted) hui_row_count(constants, shift, __float_as_uint(largest), codes, y, value, row_counts);
  if (Value) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint32_t sign = value[i] != 0 || constants.negzero ? x->value[i] & 0x80000000 : 0;
      float result = __uint_as_float(__float_as_uint(value[i]) | sign);
      x->value[i] = __float_as_uint(Powers ? result : __fmul_rn(result, back));
    }
    return 0;
  }
  if (!constants.twos) return hui_row_join(constants, codes, x->value);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t c = code[i] & 0xFF;
    code[i] = (int32_t)x->value[i] < 0 && c ? constants.twos - c : c;
  }
  return hui_join_bytes(code, 0x0040);
}

/* ---- one element after another ---- */

/* A block's shared memory: sums of events, and a shared scale for each thread. */
typedef struct hu_row_memory {
  hu_scaled_tensor tensor;
  hu_row_sums sums;
  hu_shared shared[HU_THREADS];
} hu_row_memory;

/* Prepares a block's shared memory. Every thread of the block must call it. */
HU_DEVICE void hui_row_begin(const hu_scaled_args &args, hu_row_memory *memory, hu_row_counts *row_counts,
                             hu_counts *counts) {
  hui_row_counts_clear(row_counts);
  hui_counts_clear(counts);
  if (threadIdx.x < HU_EVENT_KINDS) memory->sums.of[threadIdx.x] = 0;
  hui_scaled_begin(args, &memory->tensor);
}

HU_DEVICE hu_shared *hui_row_core(hu_row_memory *memory, uint32_t top) {
  hu_shared *shared = &memory->shared[threadIdx.x];
  hui_core_shared(&memory->tensor.scaler, top & ~HU_SPECIAL_BLOCK, (top & HU_SPECIAL_BLOCK) != 0, shared);
  return shared;
}

/* Makes a lane's four elements by the core; top is their block's, with its mark. They are read again, so that the
 * common path need not keep them. */
template <bool Value>
static __device__ __noinline__ void hui_row_left(const hu_scaled_args &args, hu_row_memory *memory, uint32_t top,
                                                 size_t row, size_t col) {
  size_t end = col >= args.cols ? col : args.cols - col < 4 ? args.cols : col + 4;
  const hu_shared *shared = hui_row_core(memory, top);
  for (; col < end; col++) {
    uint64_t z = hui_core_element(&memory->tensor.scaler, shared, args.x[row * args.ldx + col], 0, Value);
    if (Value) {
      args.z[row * args.ldz + col] = (uint32_t)z;
    } else {
      args.codes[row * args.ld + col] = (uint8_t)z;
    }
    for (uint32_t left = args.events ? (uint32_t)(z >> 32) : 0; left; left &= left - 1)
      atomicAdd(&memory->sums.of[__ffs((int)left) - 1], 1u);
  }
}

/* Makes n elements from `number` on in any mode; returns the codes joined. */
template <bool Value>
HU_DEVICE uint32_t hui_row_singly(const hu_scaled_args &args, hu_row_memory *memory, const hu_element_way &way,
                                  uint32_t top, uint64_t number, int n, hu_four<uint32_t> *x, hu_counts *counts) {
  uint32_t words[4] = {0, 0, 0, 0}, joined = 0;
  if (args.stochastic) hui_words(args.stream, number, words);
  const hu_shared *shared = way.kind == HU_ELEMENT_WAY_CORE ? hui_row_core(memory, top) : NULL;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    uint32_t element = i == 0 ? x->value[0] : i == 1 ? x->value[1] : i == 2 ? x->value[2] : x->value[3];
    uint32_t word = i == 0 ? words[0] : i == 1 ? words[1] : i == 2 ? words[2] : words[3];
    uint64_t z = way.kind == HU_ELEMENT_WAY_CORE
                     ? hui_core_element(&memory->tensor.scaler, shared, element, word, Value)
                     : hui_lanes_element(args, way, element, word);
    if (args.events) hui_counts_add(counts, (uint32_t)(z >> 32));
    joined |= (uint32_t)z << (8 * i & 31);
#pragma unroll
    for (int j = 0; j < 4; j++) x->value[j] = i == j ? (uint32_t)z : x->value[j];
  }
  return joined;
}

#endif
