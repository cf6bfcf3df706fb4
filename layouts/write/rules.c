/* SPDX-License-Identifier: MIT */
/* What programs make of a block: see write.h, and docs/checkpoints.md for the formulas. Every operation is the
 * library's own, on binary32 patterns of numbers that the type holds, so that the CPU's rounding direction plays no
 * part. */
#include "layouts/write/write.h"

#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "halfulp/scalar.h"

enum { ONE = 0x3F800000, INFINITE = 0x7F800000 };

static const hu_mode nearest = {0}, finite = {.saturate = HU_SAT_FINITE};

uint32_t hui_pattern(double x) { return hu_encode64(hu_binary32(), nearest, x, 0, NULL); }

static uint32_t widened(hu_format type, uint32_t code) {
  return hu_convert(hu_binary32(), nearest, type, code, 0, NULL);
}

static float number(uint32_t bits) {
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

static uint32_t pattern(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Rounds a result of binary32 into the type, as the programs do: they compute in binary32, whatever the type. Two
 * roundings differ from one at some subnormal numbers of bfloat16. */
static uint32_t narrowed(hu_format type, uint32_t bits) {
  if (hu_format_equal(type, hu_binary32())) return bits;
  return widened(type, hu_convert(type, nearest, hu_binary32(), bits, 0, NULL));
}

uint32_t hui_quotient(hu_format type, uint32_t x, uint32_t y) {
  hu_format f = hu_binary32();
  uint32_t z = hui_is_ieee() ? pattern(number(x) / number(y)) : hu_div(f, nearest, f, x, f, y, 0, NULL);
  return narrowed(type, z);
}

uint32_t hui_product(hu_format type, uint32_t x, uint32_t y) {
  hu_format f = hu_binary32();
  uint32_t z = hui_is_ieee() ? pattern(number(x) * number(y)) : hu_mul(f, nearest, f, x, f, y, 0, NULL);
  return narrowed(type, z);
}

static double value_of(uint32_t bits) { return hu_decode64(hu_binary32(), bits); }

/* PyTorch's number / tensor is the tensor's reciprocal times the number. */
static uint32_t number_over(hu_format type, double number, uint32_t x) {
  return hui_product(type, hui_pattern(number), hui_quotient(type, ONE, x));
}

/* Rounds into a format of scales and back; beyond its range it is the largest. */
static uint32_t rounded(hu_format format, uint32_t x) {
  return widened(format, hu_convert(format, finite, hu_binary32(), x, 0, NULL));
}

static uint32_t power(int exponent) { /* 2^-127 is subnormal */
  return exponent < -126 ? 1u << 22 : (uint32_t)(exponent + 127) << 23;
}

static hui_factor one_of(uint32_t scale) { return (hui_factor){scale, scale, 0}; }

/* ---- compressed-tensors: in the tensor's type ---- */

/* Returns the spacing of the type at 1. */
static uint32_t epsilon(hu_format type) {
  return hu_format_equal(type, hu_bfloat16())   ? power(-7)
         : hu_format_equal(type, hu_binary16()) ? power(-10)
                                                : power(-23);
}

static hui_factor ct(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t s = hui_quotient(calc->type, amax, calc->most);
  (void)least, (void)greatest;
  return one_of(s ? s : epsilon(calc->type));
}

static uint32_t ct_second(const hui_calc *calc) {
  uint32_t tiny = hu_format_equal(calc->type, hu_binary16()) ? power(-14) : power(-126);
  uint32_t s = number_over(calc->type, 2688, calc->top > tiny ? calc->top : tiny);
  return s == INFINITE ? ONE : s;
}

static hui_factor ct_nvfp4(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t part = hui_quotient(calc->type, amax, calc->most);
  uint32_t s = rounded(hu_float8_e4m3fn(), hui_product(hu_binary32(), calc->second, part));
  (void)least, (void)greatest;
  if (!s) s = power(-3);
  return (hui_factor){s, hui_quotient(hu_binary32(), s, calc->second), 0};
}

/* Returns the exponent of A + A's leading digit / 4, less the largest element's. */
static hui_factor ct_mx(const hui_calc *calc, uint32_t amax, int emax) {
  int half = hu_format_equal(calc->type, hu_binary16());
  uint32_t least = half ? 0x38400000 : 0; /* below 0.75 2^-14 a binary16 number has no exponent */
  if (half && amax < least) return one_of(ONE);
  int exponent = half && amax < power(-14) ? -14 : (int)((amax + (1u << 21)) >> 23) - 127;
  if (exponent == 128) return one_of(INFINITE);
  return one_of(power(exponent - emax));
}

static hui_factor ct_mxfp4(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  (void)least, (void)greatest;
  return ct_mx(calc, amax, 2);
}
static hui_factor ct_mxfp8(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  (void)least, (void)greatest;
  return ct_mx(calc, amax, 8);
}

const hui_quantizer hui_quantizer_ct = {.block = ct, .plus = 1},
                    hui_quantizer_ct_nvfp4 = {.second = ct_second, .block = ct_nvfp4, .wide = 1, .plus = 1},
                    hui_quantizer_ct_mxfp4 = {.block = ct_mxfp4, .plus = 1},
                    hui_quantizer_ct_mxfp8 = {.block = ct_mxfp8, .plus = 1};

/* ---- ModelOpt ---- */

static hui_factor modelopt_fp8(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t s = hui_quotient(hu_binary32(), amax, calc->most);
  (void)least, (void)greatest;
  return (hui_factor){s, s ? s : ONE, 0};
}

static uint32_t modelopt_second(const hui_calc *calc) {
  uint32_t t = hui_quotient(hu_binary32(), calc->top, hui_pattern(2688));
  return t ? t : ONE;
}

static hui_factor modelopt_nvfp4(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  hu_format f = hu_binary32();
  uint32_t s = hui_quotient(f, amax, hui_product(f, calc->most, calc->second));
  (void)least, (void)greatest;
  if (!s) s = ONE;
  s = rounded(hu_float8_e4m3fn(), s < power(-9) ? power(-9) : s);
  return (hui_factor){s, hui_product(f, s, calc->second), 0};
}

const hui_quantizer hui_quantizer_modelopt_fp8 = {.block = modelopt_fp8, .wide = 2},
                    hui_quantizer_modelopt_nvfp4 = {
                        .second = modelopt_second, .block = modelopt_nvfp4, .wide = 1, .plus = 1};

/* ---- transformers ---- */

static hui_factor hf(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t encode = amax ? number_over(calc->type, 448, amax) : ONE;
  (void)least, (void)greatest;
  return (hui_factor){hui_quotient(calc->type, ONE, encode), encode, 0};
}

const hui_quantizer hui_quantizer_hf = {.block = hf, .multiply = 1, .float32 = 1};

/* ---- triton_kernels: A / M rounded up to a power of two that is not subnormal ---- */

static hui_factor triton(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t s = (hui_quotient(calc->type, amax, calc->most) + 0x7FFFFF) & 0x7F800000;
  (void)least, (void)greatest;
  if (!s) return (hui_factor){power(-127), 0, 0};
  return (hui_factor){s, hui_quotient(calc->type, ONE, s), 0};
}

const hui_quantizer hui_quantizer_triton = {.block = triton, .multiply = 1, .float32 = 1};

/* ---- MLX on a CPU ---- */

static uint32_t difference(uint32_t x, uint32_t y) {
  hu_format f = hu_binary32();
  return hu_sub(f, nearest, f, x, f, y, 0, NULL);
}

static uint32_t integral(uint32_t x) { return hu_round_to_integral(hu_binary32(), nearest, x, 0, NULL); }

/* The end that is farther from 0 is a multiple of the scale. */
static hui_factor mlx_affine(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  hu_format f = hu_binary32();
  uint32_t tenth = hui_pattern(1e-7), width = hui_quotient(f, difference(greatest, least), hui_pattern(15));
  int low = (least & ~0x80000000u) > (greatest & ~0x80000000u);
  uint32_t scale = value_of(width) < value_of(tenth) ? tenth : width, edge = low ? least : greatest, bias = 0;
  (void)calc, (void)amax;
  if (!low) scale ^= 0x80000000u;
  uint32_t steps = integral(hui_quotient(f, edge, scale));
  if (steps & ~0x80000000u) {
    scale = hui_quotient(f, edge, steps);
    bias = edge;
  }
  return (hui_factor){scale, scale, bias};
}

/* The power of two above, by a logarithm that is rounded into binary32; 1 for a block of zeros. */
static hui_factor mlx_mx(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  hu_format f = hu_binary32();
  hu_mode up = {.round = HU_RTP};
  uint32_t part = hui_quotient(calc->type, amax, calc->most);
  (void)least, (void)greatest;
  if (!part) return one_of(ONE);
  uint32_t log2 = hu_log2(f, nearest, f, part, 0, NULL);
  double k = value_of(hu_round_to_integral(f, up, log2, 0, NULL));
  return one_of(power(k < -127 ? -127 : k > 127 ? 127 : (int)k));
}

/* Where the scale is 0, so are the elements. */
static hui_factor mlx_nvfp4(const hui_calc *calc, uint32_t amax, uint32_t least, uint32_t greatest) {
  uint32_t s = rounded(hu_float8_e4m3fn(), hui_quotient(calc->type, amax, calc->most));
  (void)least, (void)greatest;
  return (hui_factor){s, s ? s : INFINITE, 0};
}

const hui_quantizer hui_quantizer_mlx_affine = {.block = mlx_affine, .float32 = 1},
                    hui_quantizer_mlx_mxfp4 = {.block = mlx_mx, .round = HU_RNZ, .unsigned_zero = 1},
                    hui_quantizer_mlx_mxfp8 = {.block = mlx_mx},
                    hui_quantizer_mlx_nvfp4 = {.block = mlx_nvfp4, .round = HU_RNZ, .unsigned_zero = 1};
