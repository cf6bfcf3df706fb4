/* SPDX-License-Identifier: MIT */
/* emu/core/accum_exact.h - adds products without rounding, in a two's complement integer as wide as the formats
 * require. Part of emu/core/accum.h. */
#ifndef HALFULP_EMU_CORE_ACCUM_EXACT_H
#define HALFULP_EMU_CORE_ACCUM_EXACT_H

#include "emu/core/accum_step.h"

/* Products of binary64 numbers, 2^-2148 to 2^2048, a count of 2^64 and a sign. */
#define HU_SUM_LIMBS 72

typedef struct hu_total {
  uint64_t limb[HU_SUM_LIMBS];
  int32_t limbs, low;       /* weight of the lowest digit: 2^low */
  uint8_t nan, plus, minus; /* a NaN, infinities of each sign among the terms */
  uint8_t plus_zero, minus_zero, nonzero;
} hu_total;

HU_FN void hu_total_start(hu_total *s, int32_t low, int32_t limbs) {
  for (int32_t i = 0; i < limbs; i++) s->limb[i] = 0;
  s->limbs = limbs;
  s->low = low;
  s->nan = s->plus = s->minus = 0;
  s->plus_zero = s->minus_zero = s->nonzero = 0;
}

/* Adds digits << at, at >= 0 and inside. */
HU_FN void hu_total_digits(hu_total *s, uint64_t digits, int32_t at, uint32_t sign) {
  int32_t i = at / 64, up = at % 64;
  uint64_t part = digits << up, above = up ? digits >> (64 - up) : 0, carry = 0;
  for (int32_t l = i; l < s->limbs && (l < i + 2 || carry); l++) {
    uint64_t add = l == i ? part : l == i + 1 ? above : 0, old = s->limb[l];
    s->limb[l] = sign ? old - add - carry : old + add + carry;
    carry = sign ? old < add || (carry && old == add) : s->limb[l] < old || (carry && s->limb[l] == old);
  }
}

/* x in digits of 2^low and more. Those below are zeros: of a factor whose leading digit was moved to the top. */
HU_FN hu_long hu_long_from(hu_long x, int32_t low) {
  int32_t n = low - x.exp;
  if (n <= 0) return x;
  x.lo = n < 64 ? x.lo >> n | x.hi << 1 << (63 - n) : hu_shift_right(x.hi, n - 64);
  x.hi = hu_shift_right(x.hi, n);
  x.exp = low;
  return x;
}

HU_STEP void hu_total_add(hu_total *s, hu_long x) {
  if (x.kind == HU_KIND_NAN) s->nan = 1;
  if (x.kind == HU_KIND_INF && x.sign) s->minus = 1;
  if (x.kind == HU_KIND_INF && !x.sign) s->plus = 1;
  if (x.kind == HU_KIND_ZERO && x.sign) s->minus_zero = 1;
  if (x.kind == HU_KIND_ZERO && !x.sign) s->plus_zero = 1;
  if (x.kind != HU_KIND_FINITE) return;
  s->nonzero = 1;
  x = hu_long_from(x, s->low);
  if (x.lo) hu_total_digits(s, x.lo, x.exp - s->low, x.sign);
  if (x.hi) hu_total_digits(s, x.hi, x.exp + 64 - s->low, x.sign);
}

/* The sum's leading digits; +0 where it is zero. The integer is used up. */
HU_STEP hu_num hu_total_value(hu_total *s) {
  if (s->nan || (s->plus && s->minus)) return hu_num_special(HU_KIND_NAN, 0);
  if (s->plus || s->minus) return hu_num_special(HU_KIND_INF, s->minus);
  uint32_t sign = (uint32_t)(s->limb[s->limbs - 1] >> 63);
  uint64_t carry = sign, rest = 0;
  for (int32_t l = 0; sign && l < s->limbs; l++) {
    s->limb[l] = ~s->limb[l] + carry;
    carry = carry && s->limb[l] == 0;
  }
  int32_t top = s->limbs;
  while (top && s->limb[top - 1] == 0) top--;
  if (top == 0) return hu_num_special(HU_KIND_ZERO, 0);
  hu_long lead = hu_long_special(HU_KIND_FINITE, sign);
  lead.hi = s->limb[top - 1];
  lead.lo = top > 1 ? s->limb[top - 2] : 0;
  lead.exp = s->low + 64 * (top - 2);
  for (int32_t l = 0; l + 2 < top; l++) rest |= s->limb[l];
  return hu_long_lead(lead, rest != 0);
}

/* A zero sum of the model `exact`: docs/numerics.md section 8. */
HU_FN hu_num hu_total_zero(const hu_total *s, uint32_t down) {
  uint32_t all_minus = s->minus_zero && !s->plus_zero && !s->nonzero;
  uint32_t all_plus = s->plus_zero && !s->minus_zero && !s->nonzero;
  return hu_num_special(HU_KIND_ZERO, all_minus || (down && !all_plus));
}

#endif
