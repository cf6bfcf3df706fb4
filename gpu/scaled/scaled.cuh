/* SPDX-License-Identifier: MIT */
/* gpu/scaled/scaled.cuh - scaled tensors on a device: the scale of a block, and its elements.
 *
 * emu/core/scaled.h defines what is computed. Shorter methods for blocks of finite elements:
 *
 *   scales   of powers of two: amax + carry, in the binary32 pattern, has the exponent that the rule needs (carry takes
 *            what is at or above the rule's boundary over into the exponent field). Ratios: the steps are binary32
 *            operations, one IEEE 754 operation each; the last rounding is nearest's or that of emu/simd/round.h.
 *   nearest  (ties to even, gradual subnormals, saturating) |x| + anchor, the anchor 2^(23 - m) times the larger of
 *            the powers of two below |x| and at the bottom of the format, rounds x as the middle functions of
 *            emu/simd/round.h explain. Under a scale 2^e the bottom of the format is moved by e instead of x: the grid
 *            of the element times 2^e is one of binary32 numbers, so that sum and difference are exact as they are
 *            there, and the difference is the value. With steps y = x by or x / by is the binary32 number that is
 *            rounded.
 *   lanes    every other mode and format that emu/simd/round.h takes: x 2^-e by its exponent field, as
 *            emu/scaled/quantize.c proves, or y; values times the scale, one product, which is the one rounding that
 *            decoding has.
 *
 * emu/core/scaled.h computes everything else, element by element. */
#ifndef HALFULP_GPU_SCALED_CUH
#define HALFULP_GPU_SCALED_CUH

#include "emu/core/four_six.h"
#include "gpu/base/calls.h"
#include "gpu/base/lanes.cuh"
#include "gpu/base/map.cuh"

/* The amax of a large block or of the tensor, without infinities and NaN, which are counted. */
typedef struct hu_top {
  unsigned int amax, unused;
  unsigned long long special;
} hu_top;

typedef struct hu_scaled_args {
  size_t rows, cols, side_rows, side_cols, block_rows, block_cols;
  const uint32_t *x;
  size_t ldx;
  uint32_t *z; /* values; NULL: codes */
  size_t ldz;
  uint8_t *codes;
  size_t ld;
  uint8_t *scales;
  size_t lds;
  uint32_t *tensor;
  const uint32_t *amax; /* given, or NULL */
  hu_top *whole, *tops; /* of the tensor; of the blocks; or NULL */
  hu_scaled_stats *stats;
  hu_events *events;
  hu_stream stream;
  uint32_t code_size, scale_size, stochastic;
  uint32_t low;                             /* the pattern of 2^emin */
  uint32_t scale_low, scale_top;            /* the same and M of the scale format */
  uint32_t top;                             /* of M */
  uint32_t not_tiny;                        /* of the least number that is not tiny */
  uint32_t carry, blank;                    /* rules of powers of two; the scale's code of a block of zeros */
  int32_t short_low, short_high, short_top; /* shorter methods: limits of e, and of a largest element's field */
  uint8_t lanes;                            /* 1 if shorter methods serve at all */
  uint8_t nearest, ratios;                  /* 1 if nearest rounds elements; if scales are ratios made in binary32 */
  uint8_t added;                            /* 1 if R is added below the last digit and no events are counted */
  uint8_t scale_is_binary32;                /* 1 if the scale format is binary32, into which lanes do not round */
  uint8_t scale_nearest;                    /* 1 if nearest serves the scale format */
  uint8_t span_log;             /* log2 of the lanes, four elements each, that a block has in quantize_rows.cu */
  uint8_t x_vectors, z_vectors; /* four neighbours from a multiple of four on are aligned */
  hu_scaler scaler;
  hu_four_six four_six;
  hu_lane_constants constants, scale_constants;
} hu_scaled_args;

/* A scaler with its second level, and its numbers in binary32; in shared memory. */
typedef struct hu_scaled_tensor {
  hu_scaler scaler;
  hu_four_six four_six;
  float top, scale, code, part; /* M; the second-level scale; its encode scale; that times 1 / M */
} hu_scaled_tensor;

/* How the elements of a block are made. */
enum { HU_ELEMENT_WAY_CORE = 0, HU_ELEMENT_WAY_SHORT = 1 };
typedef struct hu_element_way {
  uint32_t kind;  /* HU_ELEMENT_WAY_ */
  uint32_t code;  /* of the scale, where the way is short */
  uint32_t low;   /* powers of two: the pattern of 2^(emin + e) */
  float by, back; /* steps: x by or x / by; values are the element's times this */
} hu_element_way;

HU_DEVICE uint32_t hui_code_get(const uint8_t *codes, uint32_t size, size_t i) {
  if (size == 1) return codes[i];
  if (size == 2) return ((const uint16_t *)(const void *)codes)[i];
  return ((const uint32_t *)(const void *)codes)[i];
}

HU_DEVICE void hui_code_put(uint8_t *codes, uint32_t size, size_t i, uint32_t code) {
  if (size == 1) {
    codes[i] = (uint8_t)code;
  } else if (size == 2) {
    ((uint16_t *)(void *)codes)[i] = (uint16_t)code;
  } else {
    ((uint32_t *)(void *)codes)[i] = code;
  }
}

/* ---- the second level ---- */

/* Reads a given amax; an infinity or a NaN counts as the largest number. */
HU_DEVICE uint32_t hui_given_amax(const uint32_t *amax) {
  uint32_t bits = *amax & 0x7FFFFFFF;
  return bits < 0x7F800000 ? bits : HU_LARGEST32;
}

HU_DEVICE float hui_float_of(hu_num x) { return __uint_as_float(hui_pack32(x)); }

HU_DEVICE float hui_bounded(float y) { return fminf(y, __uint_as_float(HU_LARGEST32)); } /* y >= 0 */

/* Makes the tensor's numbers. Every thread of the block must call it. */
HU_DEVICE void hui_scaled_begin(const hu_scaled_args &args, hu_scaled_tensor *tensor) {
  if (threadIdx.x == 0) {
    tensor->scaler = args.scaler;
    tensor->four_six = args.four_six;
    if (args.scaler.two) {
      uint32_t amax = args.amax ? hui_given_amax(args.amax) : args.whole ? args.whole->amax : 0;
      if (args.four_six.on)
        hui_four_six_tensor(&tensor->four_six, &tensor->scaler, amax);
      else
        hui_scaler_tensor(&tensor->scaler, amax);
      if (args.tensor && blockIdx.x == 0) *args.tensor = hui_pack32(tensor->scaler.tensor);
    }
    if (args.ratios) {
      tensor->top = __uint_as_float(args.top);
      tensor->scale = args.scaler.two ? hui_float_of(tensor->scaler.tensor) : 1.0f;
      tensor->code = args.scaler.two ? hui_float_of(tensor->scaler.tensor_code) : 1.0f;
      tensor->part = hui_bounded(__fmul_rn(tensor->code, hui_bounded(__fdiv_rn(1.0f, tensor->top))));
    }
  }
  __syncthreads();
}

/* ---- the scale of a block ---- */

/* Rounds |y| to nearest, ties to even; returns a code, perhaps beyond the largest, and *value. low: hu_element_way. */
HU_DEVICE uint32_t hui_nearest(uint32_t low, int32_t d0, uint32_t y, float *value) {
  int32_t up = (int32_t)(y & 0x7F800000) - (int32_t)low;
  uint32_t above = up > 0 ? (uint32_t)up : 0, anchor = above + (low + ((uint32_t)d0 << 23));
  float sum = __fadd_rn(fabsf(__uint_as_float(y)), __uint_as_float(anchor));
  *value = __fsub_rn(sum, __uint_as_float(anchor));
  return __float_as_uint(sum) - anchor + (above >> d0);
}

/* Returns the code in the high half, the value's bits in the low half. */
static __device__ __noinline__ uint64_t hui_scale_rounded(const hu_lane_constants &lanes, uint32_t y) {
  hu_lanes_result rounded = hui_lanes_round(&lanes, y, 0);
  return (uint64_t)rounded.code << 32 | rounded.value;
}

HU_DEVICE void hui_element_way_power(const hu_scaled_args &args, uint32_t top, uint32_t amax, hu_element_way *way) {
  const hu_spec *scale = &args.scaler.scale;
  int32_t exponent = (int32_t)((amax + args.carry) >> 23) - 127 - args.scaler.emax, field = (int32_t)(top >> 23);
  exponent = exponent < args.scaler.low ? args.scaler.low : exponent > args.scaler.high ? args.scaler.high : exponent;
  if (amax < 0x800000 || exponent < args.short_low || exponent > args.short_high ||
      (args.nearest ? field : field - exponent) > args.short_top)
    return;
  way->code = (uint32_t)(exponent - scale->emin + (scale->zero == HU_ZERO_FIELD)) << scale->m;
  way->low = args.low + ((uint32_t)exponent << 23);
  way->kind = HU_ELEMENT_WAY_SHORT;
}

/* Does the steps of hui_scale_ratio, then makes s, d, and what elements are divided by or multiplied by. Any: also for
 * scale formats that neither are binary32 nor served by hui_nearest, which takes a call. */
template <bool Any>
HU_DEVICE void hui_element_way_ratio(const hu_scaled_args &args, const hu_scaled_tensor &tensor, uint32_t top,
                                     uint32_t amax, hu_element_way *way) {
  float y = __uint_as_float(amax), least = __uint_as_float(1);
  uint32_t steps = args.scaler.steps;
  if (steps == HU_STEPS_ENCODE && !args.scaler.two) {
    way->by = fmaxf(hui_bounded(__fdiv_rn(tensor.top, y)), least);
    y = fmaxf(hui_bounded(__fdiv_rn(1.0f, way->by)), least);
  } else if (steps == HU_STEPS_ENCODE) {
    y = hui_bounded(__fmul_rn(y, tensor.part));
  } else {
    y = hui_bounded(__fdiv_rn(y, tensor.top));
    if (args.scaler.two && steps != HU_STEPS_MULTIPLY) y = hui_bounded(__fdiv_rn(y, tensor.scale));
    if (args.scaler.two && steps == HU_STEPS_MULTIPLY) y = hui_bounded(__fmul_rn(y, tensor.code));
  }
  way->code = __float_as_uint(y);
  if (args.scale_nearest) {
    uint32_t most = way->code < args.scale_top ? way->code : args.scale_top;
    way->code = hui_nearest(args.scale_low, args.scale_constants.d0, most, &y);
  } else if (Any && !args.scale_is_binary32) {
    uint64_t z = hui_scale_rounded(args.scale_constants, way->code);
    way->code = (uint32_t)(z >> 32);
    y = __uint_as_float((uint32_t)z);
  }
  way->back = hui_bounded(__fmul_rn(y, tensor.scale));
  if (steps == HU_STEPS_DIVIDE) way->by = way->back;
  if (steps == HU_STEPS_RECIPROCAL && args.scaler.two) {
    way->by = hui_bounded(__fdiv_rn(tensor.code, y));
  } else if (steps != HU_STEPS_DIVIDE && (steps != HU_STEPS_ENCODE || args.scaler.two)) {
    way->by = hui_bounded(__fdiv_rn(1.0f, way->back));
  }
  float largest =
      steps == HU_STEPS_DIVIDE ? __fdiv_rn(__uint_as_float(top), way->by) : __fmul_rn(__uint_as_float(top), way->by);
  int fits = !args.nearest || (int32_t)(__float_as_uint(largest) >> 23) + args.constants.d0 <= 253;
  if (way->back > 0 && fits) way->kind = HU_ELEMENT_WAY_SHORT;
}

/* Returns the way of a block whose largest magnitude pattern is `top` (infinity where it has infinities or NaN) and
 * whose scale is made from amax. HU_ELEMENT_WAY_CORE leaves its scale to emu/core/scaled.h, too. */
template <bool Any = true>
HU_DEVICE hu_element_way hui_element_way_of(const hu_scaled_args &args, const hu_scaled_tensor &tensor, uint32_t top,
                                            uint32_t amax) {
  hu_element_way way;
  way.kind = HU_ELEMENT_WAY_CORE;
  way.code = 0;
  way.low = args.low;
  way.by = way.back = 1;
  if (!args.lanes || top >= 0x7F800000) return way;
  if (amax < args.scaler.amin) amax = args.scaler.amin;
  if (amax == 0) {
    way.code = args.blank;
    if (top == 0) way.kind = HU_ELEMENT_WAY_SHORT; /* zeros, under any scale */
  } else if (args.scaler.rule != HU_SCALE_RATIO) {
    hui_element_way_power(args, top, amax, &way);
  } else if (args.ratios) {
    hui_element_way_ratio<Any>(args, tensor, top, amax, &way);
  }
  return way;
}

/* ---- elements ---- */

/* Returns the binary32 number that steps round. */
HU_DEVICE uint32_t hui_quotient_of(const hu_scaled_args &args, uint32_t x, float by) {
  float y = fabsf(__uint_as_float(x));
  y = args.scaler.steps == HU_STEPS_DIVIDE ? __fdiv_rn(y, by) : __fmul_rn(y, by);
  return __float_as_uint(hui_bounded(y)) | (x & 0x80000000);
}

/* Packs a code or a value into the low half, its events into the high half. */
HU_DEVICE uint64_t hui_element_result(uint32_t events, uint32_t result) { return (uint64_t)events << 32 | result; }

HU_DEVICE uint64_t hui_nearest_element(const hu_scaled_args &args, const hu_element_way &way, uint32_t x) {
  int powers = args.scaler.steps == HU_STEPS_EXACT;
  uint32_t y = powers ? x : hui_quotient_of(args, x, way.by), magnitude = y & 0x7FFFFFFF, sign = y & 0x80000000,
           shift = way.low - args.low;
  const hu_spec *element = &args.scaler.element;
  float value;
  uint32_t code = hui_nearest(way.low, args.constants.d0, y, &value), events = 0;
  if (code > element->max_code) {
    events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT;
    code = element->max_code;
    value = __uint_as_float(args.top + shift);
  } else {
    if (value != __uint_as_float(magnitude)) {
      events = HU_EVENT_INEXACT | (magnitude < args.not_tiny + shift ? HU_EVENT_UNDERFLOW : 0);
      if (code == 0) events |= HU_EVENT_TO_ZERO;
    }
    if (code != 0 && code < (1u << element->m)) events |= HU_EVENT_SUBNORMAL;
  }
  if (code == 0 && !element->negzero) sign = 0;
  if (args.z) {
    value = __uint_as_float(__float_as_uint(value) | sign);
    return hui_element_result(events, __float_as_uint(powers ? value : __fmul_rn(value, way.back)));
  }
  if (sign) code |= element->sign_mask;
  return hui_element_result(events, args.scaler.coding == HU_CODING_TWOS ? hui_twos_of(element, code) : code);
}

/* Returns x 2^-e; what is or would be subnormal becomes 2^-126 (emu/scaled/quantize.c). */
HU_DEVICE uint32_t hui_shifted(uint32_t x, uint32_t less) {
  int32_t m = (int32_t)(x & 0x7FFFFFFF), y = m - (int32_t)less;
  return (x & 0x80000000) | (m == 0 ? 0 : y > 0x800000 ? (uint32_t)y : 0x800000);
}

static __device__ __noinline__ uint64_t hui_lanes_element(const hu_scaled_args &args, hu_element_way way, uint32_t x,
                                                          uint32_t word) {
  int powers = args.scaler.steps == HU_STEPS_EXACT;
  uint32_t less = way.low - args.low;
  hu_lanes_result rounded =
      hui_lanes_round(&args.constants, powers ? hui_shifted(x, less) : hui_quotient_of(args, x, way.by), word);
  uint32_t events = hui_lanes_events(rounded), code = rounded.code;
  if (args.z) {
    float back = powers ? __uint_as_float(0x3F800000 + less) : way.back;
    float value = __fmul_rn(__uint_as_float(rounded.value), back); /* a device's own NaN is another */
    return hui_element_result(events, value != value ? 0x7FC00000 : __float_as_uint(value));
  }
  return hui_element_result(events,
                            args.scaler.coding == HU_CODING_TWOS ? hui_twos_of(&args.scaler.element, code) : code);
}

static __device__ __noinline__ uint64_t hui_core_element(const hu_scaler *scaler, const hu_shared *shared, uint32_t x,
                                                         uint32_t word, int value) {
  uint32_t events, code = hui_scaled_element(scaler, shared, x, word >> ((32u - scaler->element.bits) & 31u), &events);
  return hui_element_result(events, value ? hui_scaled_value(scaler, shared, code) : code);
}

/* Makes the shared scale by emu/core/scaled.h. special: 1 if there are infinities or NaN. */
static __device__ __noinline__ void hui_core_shared(const hu_scaler *scaler, uint32_t amax, int special,
                                                    hu_shared *shared) {
  *shared = hui_shared_of(scaler, amax, special && scaler->special == HU_SPECIAL_NAN);
}

/* Returns the larger magnitude; NaN is larger than everything. */
HU_DEVICE uint32_t hui_larger_magnitude(uint32_t most, uint32_t x) {
#if defined(__CUDA_ARCH__)
  float z;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(fabsf(__uint_as_float(x))), "f"(__uint_as_float(most)));
  return __float_as_uint(z);
#else
  x &= 0x7FFFFFFF;
  return x > most ? x : most;
#endif
}

/* Returns a magnitude as amax counts it. */
HU_DEVICE uint32_t hui_limited(const hu_scaled_args &args, uint32_t x) {
  uint32_t m = x & 0x7FFFFFFF;
  if (m < 0x7F800000) return m;
  return m == 0x7F800000 && args.scaler.special == HU_SPECIAL_SATURATE ? HU_LARGEST32 : 0;
}

/* ---- a call's arguments ---- */

/* Makes one row of contiguous rows of whole blocks, or of one block. */
static inline void hui_scaled_flatten(hu_scaled_args *args) {
  int one = args->block_rows == 1 && args->block_cols == 1;
  if (!one && (args->side_rows != 1 || args->cols % args->side_cols)) return;
  if ((args->x && args->ldx != args->cols) || (args->z && args->ldz != args->cols)) return;
  if (args->codes && (args->ld != args->cols || (!one && args->lds != args->block_cols))) return;
  args->cols *= args->rows;
  if (one)
    args->side_cols = args->cols;
  else
    args->block_cols *= args->rows;
  args->rows = args->side_rows = args->block_rows = 1;
}

static inline int hui_scaled_vectors(const void *data, size_t ld, size_t rows, size_t size) {
  return (uintptr_t)data % (4 * size) == 0 && (rows == 1 || ld % 4 == 0);
}

/* ---- the kernels, by file ---- */

/* Returns 1 if hui_scaled_eights_launch takes the call. */
int hui_scaled_eights_serves(const hu_scaled_args *args);
hu_status hui_scaled_eights_launch(const hu_scaled_args *args, void *stream);
/* Returns 1 if hui_scaled_rows_launch takes the call. */
int hui_scaled_rows_serves(const hu_scaled_args *args);
hu_status hui_scaled_rows_launch(const hu_scaled_args *args, void *stream);
/* Returns 1 if hui_scaled_tiles_launch takes the call; the second says whether args->tops has to be found before. */
int hui_scaled_tiles_serves(const hu_scaled_args *args);
int hui_scaled_tiles_look(const hu_scaled_args *args);
hu_status hui_scaled_tiles_launch(const hu_scaled_args *args, void *stream);
/* Sets all of *args except the pointers of one call, for encoding and decoding. */
void hui_scaled_args_of(hu_scaled_args *args, size_t rows, size_t cols, const hu_scaling *scaling, hu_mode mode);

#endif
