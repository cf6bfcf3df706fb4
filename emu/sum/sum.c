/* SPDX-License-Identifier: MIT */
/* One sum: terms in any order, merged with others, rounded once. emu/core/exact_digits.h has the digits. */
#include "emu/core/bits.h"
#include "emu/core/exact_digits.h"
#include "halfulp/sum.h"

static void add(hu_sum *sum, hu_long x) { sum->terms |= hui_digits_add_term(sum->word, HU_SUM_WORDS, HU_SUM_LOW, x); }

/* As an integer: a conversion to binary64 would obey the caller's control register. */
void hu_sum_add32(hu_sum *sum, float x) { add(sum, hui_long_of(hui_unpack32(hui_bits_of_float(x)))); }

void hu_sum_add64(hu_sum *sum, double x) { add(sum, hui_long_of(hui_unpack64(hui_bits_of_double(x)))); }

void hu_sum_add_product64(hu_sum *sum, double a, double b) {
  hu_num x = hui_unpack64(hui_bits_of_double(a)), y = hui_unpack64(hui_bits_of_double(b));
  if (hui_infinity_times_zero(x, y)) {
    sum->terms |= HU_SUM_INVALID;
  } else {
    add(sum, hui_long_product(x, y));
  }
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
