/* SPDX-License-Identifier: MIT */
/* See operand.h. */
#include "cli/question/operand.h"

#include <math.h>
#include <string.h>

#include "cli/question/vectors.h"
#include "halfulp/scalar.h"

static id_operand of_integer(hu_element e) {
  id_operand o = {.element = e, .integer = 1};
  unsigned width = hu_element_width(e);
  o.has_sign = e.kind == HU_ELEMENT_S8 || e.kind == HU_ELEMENT_S4 || e.kind == HU_ELEMENT_S32;
  o.emax = (int)width - 1 - o.has_sign;
  o.digits = o.emax;
  o.max = ((uint64_t)2 << o.emax) - 1;
  o.sign = o.has_sign ? o.max + 1 : 0;
  return o;
}

id_operand id_operand_of(hu_element e) {
  id_operand o = {.element = e};
  if (e.kind == HU_ELEMENT_BINARY64) {
    id_operand b = {
        e, 1, -1022, 1023, 52, (uint64_t)1 << 63, 0x7FEFFFFFFFFFFFFFu, 0x7FF0000000000000u, 0x7FF8000000000000u, 0};
    return b;
  }
  if (e.kind != HU_ELEMENT_CODE) return of_integer(e);
  hu_limits l = hu_limits_of(e.format);
  o.has_sign = e.format.sign;
  o.emin = l.emin;
  o.emax = l.emax;
  o.digits = e.format.m;
  o.sign = l.sign_mask;
  o.max = l.max_code;
  o.infinity = e.format.inf != HU_INF_NONE ? l.inf_code : 0;
  o.nan = l.has_nan ? l.nan_code : 0;
  return o;
}

/* Draws `digits` low bits that matter to roundings. */
static uint64_t draw_fraction(int digits, id_random *r) {
  uint64_t all = ((uint64_t)1 << digits) - 1, any = id_random_next(r);
  if (digits == 0) return 0;
  switch (id_random_below(r, 8)) {
    case 0: return 0;
    case 1: return all;
    case 2: return (uint64_t)1 << any % (unsigned)digits;
    case 3: return all & ~(((uint64_t)1 << any % (unsigned)digits) - 1);
    case 4: return all ^ (uint64_t)1 << any % (unsigned)digits;
    default: return any >> 3 & all;
  }
}

static uint64_t pattern_of(const id_operand *o, int exponent, uint64_t fraction) {
  if (o->integer) {
    if (exponent < 0) return 0;
    if (exponent > o->emax) return o->max;
    uint64_t x = (uint64_t)1 << exponent;
    return x | (fraction & (x - 1));
  }
  if (exponent > o->emax) return o->max;
  uint64_t x = (uint64_t)1 << o->digits | fraction;
  if (exponent < o->emin) {
    int down = o->emin - exponent;
    x = down > o->digits ? 0 : x >> down;
    return x > o->max ? o->max : x;
  }
  /* Field 0 is that of subnormals, or the normal numbers begin there. */
  int below = o->element.kind == HU_ELEMENT_CODE && o->element.format.zero != HU_ZERO_FIELD ? 0 : 1;
  x = (uint64_t)(exponent - o->emin + below) << o->digits | fraction;
  return x > o->max ? o->max : x;
}

uint64_t id_operand_draw(const id_operand *o, int exponent, id_random *r) {
  uint64_t x = pattern_of(o, exponent, draw_fraction(o->integer ? (exponent > 0 ? exponent : 0) : o->digits, r));
  return id_random_chance(r, 50) ? id_operand_negated(o, x) : x;
}

uint64_t id_operand_power(const id_operand *o, int exponent) { return pattern_of(o, exponent, 0); }

uint64_t id_operand_negated(const id_operand *o, uint64_t x) {
  if (!o->has_sign) return x;
  if (o->integer) return (0 - x) & (o->sign | (o->sign - 1));
  if ((x & ~o->sign) == 0 && o->element.kind == HU_ELEMENT_CODE && !o->element.format.negzero) return x;
  return x ^ o->sign;
}

uint64_t id_operand_special(const id_operand *o, id_random *r) {
  uint64_t x = 0;
  switch (id_random_below(r, 6)) {
    case 0: x = o->infinity; break;
    case 1: x = o->nan; break;
    case 2: x = o->max; break;
    case 3: x = o->integer ? o->sign : 1; break;
    default: break;
  }
  if (x == o->nan && x != 0) return x;
  return id_random_chance(r, 50) ? id_operand_negated(o, x) : x;
}

uint64_t id_operand_nearest(const id_operand *o, double x) {
  hu_mode mode = {.saturate = HU_SAT_FINITE};
  uint64_t z;
  if (o->element.kind == HU_ELEMENT_CODE) return hu_encode64(o->element.format, mode, x, 0, NULL);
  if (o->integer) {
    double most = (double)o->max, least = o->has_sign ? -most - 1 : 0;
    x = x > most ? most : x < least ? least : x;
    return (uint64_t)(int64_t)rint(x) & (o->sign | o->max);
  }
  memcpy(&z, &x, sizeof z);
  return z;
}
