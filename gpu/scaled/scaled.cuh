/* SPDX-License-Identifier: MIT */
/* gpu/scaled/scaled.cuh - scaled tensors on a device: the scale of a block, and its elements.
 *
 * emu/core/scaled.h says what is computed. Its shorter ways here, for blocks of finite elements:
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
 * Everything else goes through emu/core/scaled.h, element by element. */
#ifndef HALFULP_GPU_SCALED_CUH
#define HALFULP_GPU_SCALED_CUH

#include "emu/core/four_six.h"
#include "gpu/base/lanes.cuh"
#include "gpu/base/map.cuh"
#include "halfulp/device_scaled.h"

/* The amax of a large block or of the tensor, collected by many: without infinities and NaN, which are counted. */
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
  int32_t short_low, short_high, short_top; /* e, and the field of a block's largest element, that short ways take */
  uint8_t lanes;                            /* the shorter ways may be taken at all */
  uint8_t nearest, ratios;                  /* ... with nearest for lanes; for scales that are ratios */
  uint8_t added;                            /* R added below the last digit: nearest's way with R, without events */
  uint8_t scale_is_binary32;                /* which lanes do not take */
  uint8_t scale_nearest;                    /* nearest serves the scale format */
  uint8_t span_log;             /* log2 of the lanes, four elements each, that a block has in quantize_rows.cu */
  uint8_t x_vectors, z_vectors; /* fours of elements from multiples of four on lie aligned */
  hu_scaler scaler;
  hu_four_six four_six;
  hu_lane_constants constants, scale_constants;
} hu_scaled_args;

/* A scaler with its second level, and the same as binary32 numbers; in shared memory. */
typedef struct hu_scaled_tensor {
  hu_scaler scaler;
  hu_four_six four_six;
  float top, t, code, part; /* M; t; its encode scale; that times 1 / M */
} hu_scaled_tensor;

/* How the elements of a block go. */
enum { HU_ELEMENT_WAY_CORE = 0, HU_ELEMENT_WAY_SHORT = 1 };
typedef struct hu_element_way {
  uint32_t kind;  /* HU_WAY_ */
  uint32_t code;  /* of the scale, where the way is short */
  uint32_t low;   /* powers of two: the pattern of 2^(emin + e) */
  float by, back; /* steps: x by or x / by; values are the element's times this */
} hu_element_way;

HU_DEVICE uint32_t hui_code_get(const uint8_t *p, uint32_t size, size_t i) {
  if (size == 1) return p[i];
  if (size == 2) return ((const uint16_t *)(const void *)p)[i];
  return ((const uint32_t *)(const void *)p)[i];
}

HU_DEVICE void hui_code_put(uint8_t *p, uint32_t size, size_t i, uint32_t code) {
  if (size == 1) {
    p[i] = (uint8_t)code;
  } else if (size == 2) {
    ((uint16_t *)(void *)p)[i] = (uint16_t)code;
  } else {
    ((uint32_t *)(void *)p)[i] = code;
  }
}

/* ---- the second level ---- */

/* What is not a number that a call may be given counts as the largest one. */
HU_DEVICE uint32_t hui_given_amax(const uint32_t *amax) {
  uint32_t u = *amax & 0x7FFFFFFF;
  return u < 0x7F800000 ? u : HU_LARGEST32;
}

HU_DEVICE float hui_float_of(hu_num x) { return __uint_as_float(hui_pack32(x)); }

HU_DEVICE float hui_bounded(float y) { return fminf(y, __uint_as_float(HU_LARGEST32)); } /* y >= 0 */

/* Every thread of the block must come here. */
HU_DEVICE void hui_scaled_begin(const hu_scaled_args &a, hu_scaled_tensor *t) {
  if (threadIdx.x == 0) {
    t->scaler = a.scaler;
    t->four_six = a.four_six;
    if (a.scaler.two) {
      uint32_t amax = a.amax ? hui_given_amax(a.amax) : a.whole ? a.whole->amax : 0;
      if (a.four_six.on)
        hui_four_six_tensor(&t->four_six, &t->scaler, amax);
      else
        hui_scaler_tensor(&t->scaler, amax);
      if (a.tensor && blockIdx.x == 0) *a.tensor = hui_pack32(t->scaler.tensor);
    }
    if (a.ratios) {
      t->top = __uint_as_float(a.top);
      t->t = a.scaler.two ? hui_float_of(t->scaler.tensor) : 1.0f;
      t->code = a.scaler.two ? hui_float_of(t->scaler.tensor_code) : 1.0f;
      t->part = hui_bounded(__fmul_rn(t->code, hui_bounded(__fdiv_rn(1.0f, t->top))));
    }
  }
  __syncthreads();
}

/* ---- the scale of a block ---- */

/* |y| rounded to nearest, ties to even: a code that may be beyond the largest, and the value. low: hu_element_way. */
HU_DEVICE uint32_t hui_nearest(uint32_t low, int32_t d0, uint32_t y, float *value) {
  int32_t up = (int32_t)(y & 0x7F800000) - (int32_t)low;
  uint32_t above = up > 0 ? (uint32_t)up : 0, anchor = above + (low + ((uint32_t)d0 << 23));
  float sum = __fadd_rn(fabsf(__uint_as_float(y)), __uint_as_float(anchor));
  *value = __fsub_rn(sum, __uint_as_float(anchor));
  return __float_as_uint(sum) - anchor + (above >> d0);
}

/* The code above, the value's bits below. */
static __device__ __noinline__ uint64_t hui_scale_rounded(const hu_lane_constants &t, uint32_t y) {
  hu_lanes_result r = hui_lanes_round(&t, y, 0);
  return (uint64_t)r.code << 32 | r.value;
}

HU_DEVICE void hui_element_way_power(const hu_scaled_args &a, uint32_t top, uint32_t amax, hu_element_way *w) {
  const hu_spec *s = &a.scaler.scale;
  int32_t e = (int32_t)((amax + a.carry) >> 23) - 127 - a.scaler.emax, field = (int32_t)(top >> 23);
  e = e < a.scaler.low ? a.scaler.low : e > a.scaler.high ? a.scaler.high : e;
  if (amax < 0x800000 || e < a.short_low || e > a.short_high || (a.nearest ? field : field - e) > a.short_top) return;
  w->code = (uint32_t)(e - s->emin + (s->zero == HU_ZERO_FIELD)) << s->m;
  w->low = a.low + ((uint32_t)e << 23);
  w->kind = HU_ELEMENT_WAY_SHORT;
}

/* The steps of hui_scale_ratio, then s, d, and what elements are divided by or multiplied with. Any: also for scale
 * formats that neither are binary32 nor are rounded to by hui_nearest, which takes a call. */
template <bool Any>
HU_DEVICE void hui_element_way_ratio(const hu_scaled_args &a, const hu_scaled_tensor &t, uint32_t top, uint32_t amax,
                                     hu_element_way *w) {
  float y = __uint_as_float(amax), least = __uint_as_float(1);
  uint32_t steps = a.scaler.steps;
  if (steps == HU_STEPS_ENCODE && !a.scaler.two) {
    w->by = fmaxf(hui_bounded(__fdiv_rn(t.top, y)), least);
    y = fmaxf(hui_bounded(__fdiv_rn(1.0f, w->by)), least);
  } else if (steps == HU_STEPS_ENCODE) {
    y = hui_bounded(__fmul_rn(y, t.part));
  } else {
    y = hui_bounded(__fdiv_rn(y, t.top));
    if (a.scaler.two && steps != HU_STEPS_MULTIPLY) y = hui_bounded(__fdiv_rn(y, t.t));
    if (a.scaler.two && steps == HU_STEPS_MULTIPLY) y = hui_bounded(__fmul_rn(y, t.code));
  }
  w->code = __float_as_uint(y);
  if (a.scale_nearest) {
    uint32_t most = w->code < a.scale_top ? w->code : a.scale_top;
    w->code = hui_nearest(a.scale_low, a.scale_constants.d0, most, &y);
  } else if (Any && !a.scale_is_binary32) {
    uint64_t z = hui_scale_rounded(a.scale_constants, w->code);
    w->code = (uint32_t)(z >> 32);
    y = __uint_as_float((uint32_t)z);
  }
  w->back = hui_bounded(__fmul_rn(y, t.t));
  if (steps == HU_STEPS_DIVIDE) w->by = w->back;
  if (steps == HU_STEPS_RECIPROCAL && a.scaler.two) {
    w->by = hui_bounded(__fdiv_rn(t.code, y));
  } else if (steps != HU_STEPS_DIVIDE && (steps != HU_STEPS_ENCODE || a.scaler.two)) {
    w->by = hui_bounded(__fdiv_rn(1.0f, w->back));
  }
  float largest =
      steps == HU_STEPS_DIVIDE ? __fdiv_rn(__uint_as_float(top), w->by) : __fmul_rn(__uint_as_float(top), w->by);
  int fits = !a.nearest || (int32_t)(__float_as_uint(largest) >> 23) + a.constants.d0 <= 253;
  if (w->back > 0 && fits) w->kind = HU_ELEMENT_WAY_SHORT;
}

/* The way of a block whose largest magnitude pattern is `top` (infinity where there are specials) and whose scale comes
 * from amax; HU_ELEMENT_WAY_CORE: it is not a short one, and its scale is left to emu/core/scaled.h. */
template <bool Any = true>
HU_DEVICE hu_element_way hui_element_way_of(const hu_scaled_args &a, const hu_scaled_tensor &t, uint32_t top,
                                            uint32_t amax) {
  hu_element_way w;
  w.kind = HU_ELEMENT_WAY_CORE;
  w.code = 0;
  w.low = a.low;
  w.by = w.back = 1;
  if (!a.lanes || top >= 0x7F800000) return w;
  if (amax < a.scaler.amin) amax = a.scaler.amin;
  if (amax == 0) {
    w.code = a.blank;
    if (top == 0) w.kind = HU_ELEMENT_WAY_SHORT; /* zeros, under whatever scale */
  } else if (a.scaler.rule != HU_SCALE_RATIO) {
    hui_element_way_power(a, top, amax, &w);
  } else if (a.ratios) {
    hui_element_way_ratio<Any>(a, t, top, amax, &w);
  }
  return w;
}

/* ---- elements ---- */

/* The binary32 number that steps round. */
HU_DEVICE uint32_t hui_quotient_of(const hu_scaled_args &a, uint32_t x, float by) {
  float y = fabsf(__uint_as_float(x));
  y = a.scaler.steps == HU_STEPS_DIVIDE ? __fdiv_rn(y, by) : __fmul_rn(y, by);
  return __float_as_uint(hui_bounded(y)) | (x & 0x80000000);
}

/* Codes and values: the result below, the events above. */
HU_DEVICE uint64_t hui_element_result(uint32_t events, uint32_t result) { return (uint64_t)events << 32 | result; }

HU_DEVICE uint64_t hui_nearest_element(const hu_scaled_args &a, const hu_element_way &w, uint32_t x) {
  int powers = a.scaler.steps == HU_STEPS_EXACT;
  uint32_t y = powers ? x : hui_quotient_of(a, x, w.by), magnitude = y & 0x7FFFFFFF, sign = y & 0x80000000,
           shift = w.low - a.low;
  const hu_spec *f = &a.scaler.element;
  float value;
  uint32_t code = hui_nearest(w.low, a.constants.d0, y, &value), events = 0;
  if (code > f->max_code) {
    events = HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT;
    code = f->max_code;
    value = __uint_as_float(a.top + shift);
  } else {
    if (value != __uint_as_float(magnitude)) {
      events = HU_EVENT_INEXACT | (magnitude < a.not_tiny + shift ? HU_EVENT_UNDERFLOW : 0);
      if (code == 0) events |= HU_EVENT_TO_ZERO;
    }
    if (code != 0 && code < (1u << f->m)) events |= HU_EVENT_SUBNORMAL;
  }
  if (code == 0 && !f->negzero) sign = 0;
  if (a.z) {
    value = __uint_as_float(__float_as_uint(value) | sign);
    return hui_element_result(events, __float_as_uint(powers ? value : __fmul_rn(value, w.back)));
  }
  if (sign) code |= f->sign_mask;
  return hui_element_result(events, a.scaler.coding == HU_CODING_TWOS ? hui_twos_of(f, code) : code);
}

/* x 2^-e; what is or would be subnormal becomes 2^-126 (emu/scaled/quantize.c). */
HU_DEVICE uint32_t hui_shifted(uint32_t x, uint32_t less) {
  int32_t m = (int32_t)(x & 0x7FFFFFFF), y = m - (int32_t)less;
  return (x & 0x80000000) | (m == 0 ? 0 : y > 0x800000 ? (uint32_t)y : 0x800000);
}

static __device__ __noinline__ uint64_t hui_lanes_element(const hu_scaled_args &a, hu_element_way w, uint32_t x,
                                                          uint32_t word) {
  int powers = a.scaler.steps == HU_STEPS_EXACT;
  uint32_t less = w.low - a.low;
  hu_lanes_result r = hui_lanes_round(&a.constants, powers ? hui_shifted(x, less) : hui_quotient_of(a, x, w.by), word);
  uint32_t events = hui_lanes_events(r), code = r.code;
  if (a.z) {
    float back = powers ? __uint_as_float(0x3F800000 + less) : w.back;
    float value = __fmul_rn(__uint_as_float(r.value), back); /* a device's own NaN is another */
    return hui_element_result(events, value != value ? 0x7FC00000 : __float_as_uint(value));
  }
  return hui_element_result(events, a.scaler.coding == HU_CODING_TWOS ? hui_twos_of(&a.scaler.element, code) : code);
}

static __device__ __noinline__ uint64_t hui_core_element(const hu_scaler *s, const hu_shared *b, uint32_t x,
                                                         uint32_t word, int value) {
  uint32_t events, code = hui_scaled_element(s, b, x, word >> ((32u - s->element.bits) & 31u), &events);
  return hui_element_result(events, value ? hui_scaled_value(s, b, code) : code);
}

/* The shared scale by emu/core/scaled.h; amax as found, special: there are infinities or NaN. */
static __device__ __noinline__ void hui_core_shared(const hu_scaler *s, uint32_t amax, int special, hu_shared *b) {
  *b = hui_shared_of(s, amax, special && s->special == HU_SPECIAL_NAN);
}

/* The larger magnitude; NaN is larger than everything. */
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

/* A magnitude as amax sees it. */
HU_DEVICE uint32_t hui_limited(const hu_scaled_args &a, uint32_t x) {
  uint32_t m = x & 0x7FFFFFFF;
  if (m < 0x7F800000) return m;
  return m == 0x7F800000 && a.scaler.special == HU_SPECIAL_SATURATE ? HU_LARGEST32 : 0;
}

/* ---- a call's arguments ---- */

/* Rows of whole blocks, one after another, are one row; so are those of one block. */
static inline void hui_scaled_flatten(hu_scaled_args *a) {
  int one = a->block_rows == 1 && a->block_cols == 1;
  if (!one && (a->side_rows != 1 || a->cols % a->side_cols)) return;
  if ((a->x && a->ldx != a->cols) || (a->z && a->ldz != a->cols)) return;
  if (a->codes && (a->ld != a->cols || (!one && a->lds != a->block_cols))) return;
  a->cols *= a->rows;
  if (one)
    a->side_cols = a->cols;
  else
    a->block_cols *= a->rows;
  a->rows = a->side_rows = a->block_rows = 1;
}

static inline int hui_scaled_vectors(const void *p, size_t ld, size_t rows, size_t size) {
  return (uintptr_t)p % (4 * size) == 0 && (rows == 1 || ld % 4 == 0);
}

/* ---- the kernels, by file ---- */

/* 1 if hui_scaled_eights_launch takes the call. */
int hui_scaled_eights_serves(const hu_scaled_args *a);
hu_status hui_scaled_eights_launch(const hu_scaled_args *a, void *stream);
/* 1 if hui_scaled_rows_launch takes the call. */
int hui_scaled_rows_serves(const hu_scaled_args *a);
hu_status hui_scaled_rows_launch(const hu_scaled_args *a, void *stream);
/* 1 if hui_scaled_tiles_launch takes the call; whether a->tops has to be found before. */
int hui_scaled_tiles_serves(const hu_scaled_args *a);
int hui_scaled_tiles_look(const hu_scaled_args *a);
hu_status hui_scaled_tiles_launch(const hu_scaled_args *a, void *stream);
/* Everything of an args but the pointers of one call; shared by making and reading. */
void hui_scaled_args_of(hu_scaled_args *a, size_t rows, size_t cols, const hu_scaling *scaling, hu_mode mode);

#endif
