/* SPDX-License-Identifier: MIT */
/* One sum: terms in any order, merged with others, rounded once. emu/core/exact_digits.h has the digits. */
#include "emu/core/bits.h"
#include "emu/core/exact_digits.h"
#include "halfulp/sum.h"

static hu_num number_of(hu_format format, uint32_t code) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  if (hu_format_check(format, NULL) != HU_OK) return hui_num_special(HU_KIND_NAN, 0);
  hu_spec spec = hui_spec_of(format, rne);
  return hui_unpack(&spec, code);
}

static void add(hu_sum *sum, hu_long x) { sum->terms |= hui_digits_add_term(sum->word, HU_SUM_WORDS, HU_SUM_LOW, x); }

static void add_product(hu_sum *sum, hu_num a, hu_num b) {
  if (hui_infinity_times_zero(a, b)) {
    sum->terms |= HU_SUM_INVALID;
  } else {
    add(sum, hui_long_product(a, b));
  }
}

void hu_sum_add(hu_sum *sum, hu_format format, uint32_t code) { add(sum, hui_long_of(number_of(format, code))); }

void hu_sum_add32(hu_sum *sum, float x) { add(sum, hui_long_of(hui_unpack32(hui_bits_of_float(x)))); }

void hu_sum_add64(hu_sum *sum, double x) { add(sum, hui_long_of(hui_unpack64(hui_bits_of_double(x)))); }

void hu_sum_add_product(hu_sum *sum, hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  add_product(sum, number_of(fa, a), number_of(fb, b));
}

void hu_sum_add_product64(hu_sum *sum, double a, double b) {
  add_product(sum, hui_unpack64(hui_bits_of_double(a)), hui_unpack64(hui_bits_of_double(b)));
}

void hu_sum_merge(hu_sum *sum, const hu_sum *x) {
  sum->terms |= x->terms;
  hui_digits_merge(sum->word, HU_SUM_WORDS, x->word);
}

uint32_t hu_sum_round(const hu_sum *sum, hu_format format, hu_mode mode, uint32_t random, uint32_t *events) {
  uint32_t set = HU_EVENT_INVALID, code = 0;
  if (hu_format_check(format, NULL) == HU_OK && hu_mode_check(mode) == HU_OK) {
    hu_spec spec = hui_spec_of(format, mode);
    code = hui_digits_round(&spec, sum->word, HU_SUM_WORDS, HU_SUM_LOW, sum->terms, random, &set);
  }
  if (events) *events = set;
  return code;
}

double hu_sum_round64(const hu_sum *sum) {
  hu_num x = hui_digits_value(sum->word, HU_SUM_WORDS, HU_SUM_LOW, sum->terms);
  if (x.kind == HU_KIND_ZERO) x = hui_digits_zero(sum->terms, 0);
  return hui_double_of_bits(hui_round64(x));
}
