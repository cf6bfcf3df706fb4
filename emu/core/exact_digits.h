/* SPDX-License-Identifier: MIT */
/* emu/core/exact_digits.h - adds numbers and products without rounding: a two's complement integer of `words` words,
 * the lowest first, in units of 2^low, and bits (HU_SUM_) that say which special terms there were.
 *
 * Accumulation models (accum_exact.h) and sums (halfulp/sum.h) have their digits here. Adding is commutative and
 * associative to the bit as long as no sum leaves the integer, for which callers provide. C11, C++17 and CUDA compile
 * the same text. */
#ifndef HALFULP_EMU_CORE_EXACT_DIGITS_H
#define HALFULP_EMU_CORE_EXACT_DIGITS_H

#include "emu/core/accum_step.h"
#include "halfulp/sum.h"

/* Adds digits << at, or subtracts them; 0 <= at < 64 words. */
HU_FN void hui_digits_add(uint64_t *word, int32_t words, uint64_t digits, int32_t at, uint32_t sign) {
  int32_t i = at / 64, up = at % 64;
  uint64_t part = digits << up, above = up ? digits >> (64 - up) : 0, carry = 0;
  for (int32_t limb = i; limb < words && (limb < i + 2 || carry); limb++) {
    uint64_t add = limb == i ? part : limb == i + 1 ? above : 0, old = word[limb];
    word[limb] = sign ? old - add - carry : old + add + carry;
    carry = sign ? old < add || (carry && old == add) : word[limb] < old || (carry && word[limb] == old);
  }
}

/* Adds all words of x. */
HU_FN void hui_digits_merge(uint64_t *word, int32_t words, const uint64_t *x) {
  uint64_t carry = 0;
  for (int32_t limb = 0; limb < words; limb++) {
    uint64_t add = x[limb], sum = word[limb] + add, with = sum + carry;
    carry = (uint64_t)(sum < add) | (uint64_t)(with < sum);
    word[limb] = with;
  }
}

/* x in digits of 2^low and more. Those below are zeros: of a factor whose leading digit was moved to the top. */
HU_FN hu_long hui_long_from(hu_long x, int32_t low) {
  int32_t n = low - x.exp;
  if (n <= 0) return x;
  x.lo = n < 64 ? x.lo >> n | x.hi << 1 << (63 - n) : hui_shift_right(x.hi, n - 64);
  x.hi = hui_shift_right(x.hi, n);
  x.exp = low;
  return x;
}

/* Returns the bit of hu_sum.terms that a term sets. */
HU_FN uint32_t hui_digits_term(hu_long x) {
  switch (x.kind) {
    case HU_KIND_NAN: return HU_SUM_NAN;
    case HU_KIND_INF: return x.sign ? HU_SUM_MINUS_INFINITY : HU_SUM_PLUS_INFINITY;
    case HU_KIND_ZERO: return x.sign ? HU_SUM_MINUS_ZERO : HU_SUM_PLUS_ZERO;
    default: return HU_SUM_NUMBER;
  }
}

/* Adds a term: its digits; returns its bit. */
HU_STEP uint32_t hui_digits_add_term(uint64_t *word, int32_t words, int32_t low, hu_long x) {
  uint32_t term = hui_digits_term(x);
  if (term != HU_SUM_NUMBER) return term;
  x = hui_long_from(x, low);
  if (x.lo) hui_digits_add(word, words, x.lo, x.exp - low, x.sign);
  if (x.hi) hui_digits_add(word, words, x.hi, x.exp + 64 - low, x.sign);
  return term;
}

/* Word limb of the magnitude; `first` is the lowest word that is not zero. */
HU_FN uint64_t hui_digits_magnitude(const uint64_t *word, int32_t limb, int32_t first, uint32_t sign) {
  if (!sign || limb < first) return word[limb];
  return limb == first ? (uint64_t)0 - word[limb] : ~word[limb];
}

/* The sum's leading digits, with sticky; +0 where it is zero. */
HU_STEP hu_num hui_digits_value(const uint64_t *word, int32_t words, int32_t low, uint32_t terms) {
  uint32_t infinities = terms & (HU_SUM_PLUS_INFINITY | HU_SUM_MINUS_INFINITY);
  int32_t both = infinities == (HU_SUM_PLUS_INFINITY | HU_SUM_MINUS_INFINITY), first = 0, top = words - 1;
  if ((terms & (HU_SUM_NAN | HU_SUM_INVALID)) || both) return hui_num_special(HU_KIND_NAN, 0);
  if (infinities) return hui_num_special(HU_KIND_INF, (infinities & HU_SUM_MINUS_INFINITY) != 0);
  while (first < words && word[first] == 0) first++;
  if (first == words) return hui_num_special(HU_KIND_ZERO, 0);
  uint32_t sign = (uint32_t)(word[words - 1] >> 63);
  while (hui_digits_magnitude(word, top, first, sign) == 0) top--;
  hu_long lead = hui_long_special(HU_KIND_FINITE, sign);
  lead.hi = hui_digits_magnitude(word, top, first, sign);
  lead.lo = top > 0 ? hui_digits_magnitude(word, top - 1, first, sign) : 0;
  lead.exp = low + 64 * (top - 1);
  return hui_long_lead(lead, first + 1 < top);
}

/* A zero sum of the model `exact`: docs/numerics.md section 8. The empty sum is +0. */
HU_FN hu_num hui_digits_zero(uint32_t terms, uint32_t down) {
  uint32_t all_minus = terms == HU_SUM_MINUS_ZERO, all_plus = terms == HU_SUM_PLUS_ZERO || terms == 0;
  return hui_num_special(HU_KIND_ZERO, all_minus || (down && !all_plus));
}

/* The code that a sum rounds to, and its events: a NaN sum without a NaN term is invalid. */
HU_STEP uint32_t hui_digits_round(const hu_spec *spec, const uint64_t *word, int32_t words, int32_t low, uint32_t terms,
                                  uint32_t random, uint32_t *events) {
  hu_num x = hui_digits_value(word, words, low, terms);
  if (x.kind == HU_KIND_ZERO) x = hui_digits_zero(terms, spec->round == HU_RTN);
  uint32_t code = hui_round(spec, x, random, events);
  if (x.kind != HU_KIND_NAN) return code;
  if (!(terms & HU_SUM_NAN)) {
    *events = (*events & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  } else if (spec->nan_fma && (terms & HU_SUM_INVALID)) {
    *events |= HU_EVENT_INVALID;
  }
  return code;
}

#endif
