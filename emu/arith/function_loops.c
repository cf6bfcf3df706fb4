/* SPDX-License-Identifier: MIT */
/* function_lanes.h as loops over function_quick.h, which compilers turn into lanes; compiled once a level. */
#include "emu/arith/function_lanes.h"
#include "emu/arith/function_large.h"
#include "emu/arith/function_power.h"
#include "emu/arith/function_quick.h"
#include "emu/simd/of_level.h"

/* What stands for everything too small for formats that reach binary32's exponents at most. */
#define LANES_TINY 0x0170000000000001u
#define LANES_LARGE 0x47E0000000000000u /* 2^127: from here on the next step would be lost */
#define LANES_SIGN 0x8000000000000000u

/* Masks, not conditions, where results are stored: compilers see lanes in them more often. */
#define LANES(name, value, far, far_bits)                                                                        \
  static int lanes_##name(size_t n, uint64_t *restrict z, uint64_t *restrict left, const uint32_t *restrict u) { \
    uint64_t any = 0;                                                                                            \
    for (size_t i = 0; i < n; i++) {                                                                             \
      float f;                                                                                                   \
      memcpy(&f, u + i, sizeof f);                                                                               \
      double x = f;                                                                                              \
      hu_quick_result q = value;                                                                                 \
      q = hui_quick_or(q, x < (far), far_bits);                                                                  \
      uint64_t known = q.known & ((u[i] & 0x7FFFFFFF) - 0x7F800000) >> 31;                                       \
      known &= ((q.bits & ~LANES_SIGN) - LANES_LARGE) >> 63;                                                     \
      z[i] = q.bits & (0 - known);                                                                               \
      left[i] = known ^ 1;                                                                                       \
      any |= known ^ 1;                                                                                          \
    }                                                                                                            \
    return any != 0;                                                                                             \
  }

LANES(exp, hui_quick_exp(x), -200, LANES_TINY)
LANES(exp2, hui_quick_exp2(x), -200, LANES_TINY)
LANES(sigmoid, hui_quick_sigmoid(x), -200, LANES_TINY)
LANES(gelu, hui_quick_gelu(x), -20, LANES_TINY | LANES_SIGN)
#define LANES_NOWHERE -0x1p1000
LANES(expm1, hui_quick_expm1(x), LANES_NOWHERE, 0)
LANES(log, hui_quick_log(x, 0), LANES_NOWHERE, 0)
LANES(log2, hui_quick_log(x, 1), LANES_NOWHERE, 0)
LANES(log1p, hui_quick_log1p(x), LANES_NOWHERE, 0)
LANES(tanh, hui_quick_tanh(x), LANES_NOWHERE, 0)
LANES(erf, hui_quick_erf(x), LANES_NOWHERE, 0)
LANES(reciprocal, hui_quick_reciprocal(x), LANES_NOWHERE, 0)
LANES(small_sin, hui_quick_sin(x, 0), LANES_NOWHERE, 0)
LANES(small_cos, hui_quick_sin(x, 1), LANES_NOWHERE, 0)
/* The CPU's own root, not a call of libm's: what is left without it goes to emu/arith/function_call.h. */
#if defined(__NO_MATH_ERRNO__) && (HU_X86 || defined(__aarch64__))
LANES(rsqrt, hui_quick_decided(1 / __builtin_sqrt(x), x > 0), LANES_NOWHERE, 0)
#else
#define lanes_rsqrt NULL
#endif

/* Over what these left: large angles, whose table is looked at only in pieces that have some. */
HU_FN int large_angles(size_t n, uint64_t *restrict z, uint64_t *restrict left, const uint32_t *restrict u,
                       uint64_t cosine) {
  uint64_t any = 0, large = 0;
  for (size_t i = 0; i < n; i++) large |= hui_is_large(u[i]);
  if (!large) return 1;
  for (size_t i = 0; i < n; i++) {
    hu_quick_result q = hui_quick_large_sin(u[i], cosine);
    z[i] |= q.bits & (0 - q.known); /* 0 where something is left */
    left[i] &= ~q.known;
    any |= left[i];
  }
  return any != 0;
}

static int lanes_sin(size_t n, uint64_t *z, uint64_t *left, const uint32_t *u) {
  return lanes_small_sin(n, z, left, u) && large_angles(n, z, left, u, 0);
}

static int lanes_cos(size_t n, uint64_t *z, uint64_t *left, const uint32_t *u) {
  return lanes_small_cos(n, z, left, u) && large_angles(n, z, left, u, 1);
}

static int lanes_pow(size_t n, uint64_t *restrict z, uint64_t *restrict left, const uint32_t *restrict u,
                     const uint32_t *restrict v) {
  uint64_t any = 0;
  for (size_t i = 0; i < n; i++) {
    float x, y;
    memcpy(&x, u + i, sizeof x);
    memcpy(&y, v + i, sizeof y);
    hu_quick_result q = hui_quick_power(x, y, LANES_TINY);
    uint64_t known = q.known & ((q.bits & ~LANES_SIGN) - LANES_LARGE) >> 63;
    z[i] = q.bits & (0 - known);
    left[i] = known ^ 1;
    any |= known ^ 1;
  }
  return any != 0;
}

/* The patterns have a last digit that is 1 wherever digits of the result follow it: one rounding. */
static int nearest32(size_t n, uint32_t *restrict z, uint32_t *restrict left, const uint64_t *restrict wide,
                     const uint64_t *restrict wide_left, uint64_t *inexact) {
  uint64_t any = 0, count = 0;
  for (size_t i = 0; i < n; i++) {
    double d = hui_double64(wide[i]);
    float f = (float)d;
    int64_t size = (int64_t)(wide[i] & ~LANES_SIGN);
    uint64_t is_left = wide_left[i] | ((uint64_t)(size != 0) & (uint64_t)(size < 0x3810000000000000));
    memcpy(z + i, &f, sizeof f);
    left[i] = 0 - (uint32_t)is_left;
    count += (uint64_t)((double)f != d) & (is_left ^ 1);
    any |= is_left;
  }
  *inexact += count;
  return any != 0;
}

const hu_function_kernels HU_OF_LEVEL(hu_function_kernels) = {
    {lanes_exp, lanes_exp2, lanes_expm1, lanes_log, lanes_log2, lanes_log1p, lanes_tanh, lanes_sigmoid, lanes_erf,
     lanes_gelu, lanes_rsqrt, lanes_reciprocal, lanes_sin, lanes_cos},
    lanes_pow,
    nearest32};
