/* SPDX-License-Identifier: MIT */
/* What programs make of a block of integers, which no scaled format says: see write.h, and docs/checkpoints.md for the
 * formulas. Every operation is the library's own, on binary32 patterns of numbers that the type holds, so that the
 * CPU's rounding direction plays no part. */
#include "layouts/write/write.h"

#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

static const hu_mode nearest = {0};

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

/* What a rule makes a block's scale and bias of. Numbers are binary32 patterns. */
typedef struct hui_group {
  hu_format type; /* of the program's arithmetic: the tensor's own, or binary32 */
  uint32_t amax, least, greatest;
} hui_group;

/* ---- compressed-tensors: in the tensor's type ---- */

/* A scale of 0 becomes the spacing of the type at 1. */
static hui_factor of_magnitude(const hui_group *group) {
  hu_format type = group->type;
  int digits = hu_format_equal(type, hu_bfloat16()) ? 7 : hu_format_equal(type, hu_binary16()) ? 10 : 23;
  uint32_t s = hui_quotient(type, group->amax, hui_pattern(7.5));
  return (hui_factor){s ? s : (uint32_t)(127 - digits) << 23, 0};
}

/* ---- MLX on a CPU ---- */

static uint32_t difference(uint32_t x, uint32_t y) {
  hu_format f = hu_binary32();
  return hu_sub(f, nearest, f, x, f, y, 0, NULL);
}

static uint32_t integral(uint32_t x) { return hu_round_to_integral(hu_binary32(), nearest, x, 0, NULL); }

/* The end that is farther from 0 is a multiple of the scale. */
static hui_factor of_range(const hui_group *group) {
  hu_format f = hu_binary32();
  uint32_t least = group->least, greatest = group->greatest;
  uint32_t tenth = hui_pattern(1e-7), width = hui_quotient(f, difference(greatest, least), hui_pattern(15));
  int low = (least & ~0x80000000u) > (greatest & ~0x80000000u);
  uint32_t scale = value_of(width) < value_of(tenth) ? tenth : width, edge = low ? least : greatest, bias = 0;
  if (!low) scale ^= 0x80000000u;
  uint32_t steps = integral(hui_quotient(f, edge, scale));
  if (steps & ~0x80000000u) {
    scale = hui_quotient(f, edge, steps);
    bias = edge;
  }
  return (hui_factor){scale, bias};
}

/* ---- a block ---- */

/* Returns a word that is in the order of the numbers. */
static uint32_t order_of(uint32_t x) { return x >> 31 ? ~x : x | 0x80000000; }

static hui_group look_at(hu_format type, size_t n, const uint32_t *x) {
  hui_group group = {type, 0, x[0], x[0]};
  for (size_t k = 0; k < n; k++) {
    uint32_t size = x[k] & 0x7FFFFFFF;
    if (size > group.amax) group.amax = size;
    if (order_of(x[k]) < order_of(group.least)) group.least = x[k];
    if (order_of(x[k]) > order_of(group.greatest)) group.greatest = x[k];
  }
  return group;
}

/* Rounds to the nearest integer, ties to even, whatever the CPU's rounding direction. */
static int nearest_integer(double x, int least, int most) {
  if (!(x > least)) return least;
  if (x >= most) return most;
  int z = (int)x;
  double rest = x - z;
  if (rest > 0.5 || (rest == 0.5 && (z & 1))) z++;
  if (rest < -0.5 || (rest == -0.5 && (z & 1))) z--;
  return z;
}

/* Gives (x - b) / s, each step rounded into binary32, and the quotient then into the type. */
static hu_status quotients(float *z, const hui_group *group, hui_factor factor, size_t n, const uint32_t *x,
                           int biases) {
  int ieee = hui_is_ieee();
  float bias = number(factor.bias), scale = number(factor.stored);
  for (size_t k = 0; k < n; k++) {
    if (ieee)
      z[k] = (biases ? number(x[k]) - bias : number(x[k])) / scale;
    else
      z[k] = number(hui_quotient(hu_binary32(), biases ? difference(x[k], factor.bias) : x[k], factor.stored));
  }
  if (hu_format_equal(group->type, hu_binary32())) return HU_OK;
  return hu_quantize_n(n, z, 1, z, 1, group->type, nearest, NULL, NULL);
}

hui_factor hui_integers_round(int biases, hu_format type, size_t n, const uint32_t *x, uint8_t *codes) {
  enum { SOME = 128 };
  hui_group group = look_at(type, n, x);
  hui_factor factor = biases ? of_range(&group) : of_magnitude(&group);
  float z[SOME];
  for (size_t first = 0; first < n; first += SOME) {
    size_t some = n - first < SOME ? n - first : SOME;
    if (quotients(z, &group, factor, some, x + first, biases) != HU_OK) break; /* its operands are always right */
    for (size_t k = 0; k < some; k++)
      codes[first + k] = (uint8_t)(biases ? nearest_integer(z[k], 0, 15) : nearest_integer(z[k], -8, 7) + 8);
  }
  return factor;
}
