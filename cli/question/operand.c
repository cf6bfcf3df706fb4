/* SPDX-License-Identifier: MIT */
/* See operand.h. */
#include "cli/question/operand.h"

#include <math.h>
#include <string.h>

#include "cli/question/vectors.h"
#include "halfulp/scalar.h"

static id_operand of_integer(hu_type element) {
  id_operand operand = {.element = element, .integer = 1};
  unsigned width = hu_type_width(element);
  operand.has_sign = element.kind == HU_TYPE_INT8 || element.kind == HU_TYPE_INT4 || element.kind == HU_TYPE_INT32;
  operand.emax = (int)width - 1 - operand.has_sign;
  operand.digits = operand.emax;
  operand.max = ((uint64_t)2 << operand.emax) - 1;
  operand.sign = operand.has_sign ? operand.max + 1 : 0;
  return operand;
}

id_operand id_operand_of(hu_type element) {
  id_operand operand = {.element = element};
  if (element.kind == HU_TYPE_BINARY64) {
    id_operand b = {
        element, 1, -1022, 1023, 52, (uint64_t)1 << 63, 0x7FEFFFFFFFFFFFFFu, 0x7FF0000000000000u, 0x7FF8000000000000u,
        0,       1};
    return b;
  }
  if (element.kind != HU_TYPE_CODES) return of_integer(element);
  hu_limits limits = hu_limits_of(element.format);
  operand.has_sign = element.format.sign;
  operand.emin = limits.emin;
  operand.first = limits.emin + limits.bias;
  operand.emax = limits.emax;
  operand.digits = element.format.m;
  operand.sign = limits.sign_mask;
  operand.max = limits.max_code;
  operand.infinity = element.format.inf != HU_INF_NONE ? limits.inf_code : 0;
  operand.nan = limits.has_nan ? limits.nan_code : 0;
  return operand;
}

/* Draws `digits` low bits that matter to roundings. */
static uint64_t draw_fraction(int digits, id_random *random) {
  uint64_t all = ((uint64_t)1 << digits) - 1, any = id_random_next(random);
  if (digits == 0) return 0;
  switch (id_random_below(random, 8)) {
    case 0: return 0;
    case 1: return all;
    case 2: return (uint64_t)1 << any % (unsigned)digits;
    case 3: return all & ~(((uint64_t)1 << any % (unsigned)digits) - 1);
    case 4: return all ^ (uint64_t)1 << any % (unsigned)digits;
    default: return any >> 3 & all;
  }
}

static uint64_t pattern_of(const id_operand *operand, int exponent, uint64_t fraction) {
  if (operand->integer) {
    if (exponent < 0) return 0;
    if (exponent > operand->emax) return operand->max;
    uint64_t x = (uint64_t)1 << exponent;
    return x | (fraction & (x - 1));
  }
  if (exponent > operand->emax) return operand->max;
  uint64_t x = (uint64_t)1 << operand->digits | fraction;
  if (exponent < operand->emin) {
    int down = operand->emin - exponent;
    x = down > operand->digits ? 0 : x >> down;
    return x > operand->max ? operand->max : x;
  }
  x = (uint64_t)(exponent - operand->emin + operand->first) << operand->digits | fraction;
  return x > operand->max ? operand->max : x;
}

uint64_t id_operand_draw(const id_operand *operand, int exponent, id_random *random) {
  uint64_t x = pattern_of(operand, exponent,
                          draw_fraction(operand->integer ? (exponent > 0 ? exponent : 0) : operand->digits, random));
  return id_random_chance(random, 50) ? id_operand_negated(operand, x) : x;
}

uint64_t id_operand_power(const id_operand *operand, int exponent) { return pattern_of(operand, exponent, 0); }

uint64_t id_operand_negated(const id_operand *operand, uint64_t x) {
  if (!operand->has_sign) return x;
  if (operand->integer) return (0 - x) & (operand->sign | (operand->sign - 1));
  if ((x & ~operand->sign) == 0 && operand->element.kind == HU_TYPE_CODES && !operand->element.format.negzero) return x;
  return x ^ operand->sign;
}

/* Draws a NaN: the default one, or where there are infinities one with a single digit, which is read as infinity by a
 * unit that does not look at that digit. */
static uint64_t draw_nan(const id_operand *operand, id_random *random) {
  if (!operand->infinity || !operand->digits || id_random_chance(random, 50)) return operand->nan;
  return operand->infinity | (uint64_t)1 << id_random_below(random, (uint64_t)operand->digits);
}

uint64_t id_operand_special(const id_operand *operand, id_random *random) {
  uint64_t x = 0;
  switch (id_random_below(random, 6)) {
    case 0: x = operand->infinity; break;
    case 1:
      if (operand->nan) return draw_nan(operand, random);
      break;
    case 2: x = operand->max; break;
    case 3: x = operand->integer ? operand->sign : 1; break;
    default: break;
  }
  return id_random_chance(random, 50) ? id_operand_negated(operand, x) : x;
}

uint64_t id_operand_nearest(const id_operand *operand, double x) {
  hu_mode mode = {.saturate = HU_SAT_FINITE};
  uint64_t z;
  if (operand->element.kind == HU_TYPE_CODES) return hu_encode64(operand->element.format, mode, x, 0, NULL);
  if (operand->integer) {
    double most = (double)operand->max, least = operand->has_sign ? -most - 1 : 0;
    x = x > most ? most : x < least ? least : x;
    return (uint64_t)(int64_t)rint(x) & (operand->sign | operand->max);
  }
  memcpy(&z, &x, sizeof z);
  return z;
}
