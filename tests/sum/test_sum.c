/* SPDX-License-Identifier: MIT */
/* hu_sum: one rounding of the exact sum, for terms in any order, in any groups, through bytes, in arrays. */
#include <gmp.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "halfulp/collective.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/sum.h"
#include "tests/support/cmocka.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { TERMS = 12, PARTS = 3 };

static hu_format binary64_like(void) {
  hu_format format = {1, 11, 20, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_IEEE, HU_NAN_IEEE, 1, HU_OVERFLOW_INF,
                      0, 0};
  return format;
}

static uint32_t random_code(t_random *random, hu_format format) {
  unsigned width = hu_limits_of(format).width;
  return t_next32(random) & (width == 32 ? UINT32_MAX : ((uint32_t)1 << width) - 1);
}

/* Terms of one sum: products, and one value. */
typedef struct t_terms {
  hu_format fa, fb, fc;
  size_t n;
  uint32_t a[TERMS], b[TERMS], c;
} t_terms;

static t_terms random_terms(t_random *random) {
  t_terms terms;
  terms.fa = t_below(random, 8) ? t_random_format(random, 3, 16) : binary64_like();
  terms.fb = t_below(random, 4) ? t_random_format(random, 3, 32) : terms.fa;
  terms.fc = t_below(random, 2) ? terms.fa : t_random_format(random, 3, 32);
  terms.n = t_below(random, TERMS + 1);
  for (size_t i = 0; i < terms.n; i++) {
    terms.a[i] = random_code(random, terms.fa);
    terms.b[i] = random_code(random, terms.fb);
    if (i && t_below(random, 4) == 0) { /* what cancels an earlier product, where formats have signs */
      terms.a[i] = terms.a[i - 1] ^ (terms.fa.sign ? (uint32_t)1 << (hu_limits_of(terms.fa).width - 1) : 0);
      terms.b[i] = terms.b[i - 1];
    }
  }
  terms.c = random_code(random, terms.fc);
  return terms;
}

/* All terms, in random order, into sums that are merged in random order; through bytes now and then. */
static hu_sum summed(const t_terms *terms, t_random *random) {
  hu_sum part[PARTS], z = {{0}, 0, 0};
  size_t order[TERMS + 1];
  memset(part, 0, sizeof part);
  for (size_t i = 0; i <= terms->n; i++) order[i] = i;
  for (size_t i = terms->n; i > 0; i--) {
    size_t j = t_below(random, (uint32_t)i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (size_t i = 0; i <= terms->n; i++) {
    hu_sum *sum = &part[t_below(random, PARTS)];
    size_t k = order[i];
    if (k == terms->n) {
      hu_sum_add(sum, terms->fc, terms->c);
    } else if (t_below(random, 2)) {
      hu_sum_add_product(sum, terms->fa, terms->a[k], terms->fb, terms->b[k]);
    } else {
      hu_sum_add_product(sum, terms->fb, terms->b[k], terms->fa, terms->a[k]);
    }
  }
  for (size_t i = 0; i < PARTS; i++) {
    uint8_t bytes[HU_SUM_BYTES_MAX];
    size_t n = hu_sum_write(bytes, sizeof bytes, &part[i]);
    hu_sum back;
    assert_true(n <= sizeof bytes);
    assert_int_equal(hu_sum_read(&back, bytes, n), HU_OK);
    assert_memory_equal(&back, &part[i], sizeof back);
    hu_sum_merge(&z, &back);
  }
  return z;
}

static void test_oracle(void **state) {
  t_random numbers = {t_seed("sum", 1)};
  unsigned runs = t_runs(200000), specials = 0, zeros = 0;
  (void)state;
  for (unsigned i = 0; i < runs; i++) {
    t_terms terms = random_terms(&numbers);
    hu_format fz = t_random_format(&numbers, 2, 32);
    hu_mode mode = t_random_mode(&numbers);
    uint32_t random = mode.bits ? t_next32(&numbers) >> (32 - mode.bits) : 0, expected, expected_events, events;
    hu_sum sum = summed(&terms, &numbers), again = summed(&terms, &numbers);
    assert_memory_equal(&sum, &again, sizeof sum);
    hu_oracle_code c = {terms.fc, terms.c};
    hu_oracle_terms all = {terms.n, terms.fa, terms.a, terms.fb, terms.b, &c};
    assert_int_equal(hu_oracle_dot(&expected, &expected_events, fz, mode, random, &all), HU_OK);
    uint32_t got = hu_sum_round(&sum, fz, mode, random, &events);
    if (got != expected || events != expected_events) {
      char text[T_FORMAT_TEXT], seen[T_EVENTS_TEXT], hoped[T_EVENTS_TEXT];
      fail_msg("case %u: %zu products into %s: 0x%x %s, not 0x%x %s", i, terms.n, t_format_text(text, fz), got,
               t_events_text(seen, events), expected, t_events_text(hoped, expected_events));
    }
    specials += (sum.terms & ~(uint32_t)(HU_SUM_NUMBER | HU_SUM_PLUS_ZERO | HU_SUM_MINUS_ZERO)) != 0;
    zeros += hu_sum_round64(&sum) == 0;
  }
  printf("%u sums equal to the oracle's, %u with special terms, %u zeros\n", runs, specials, zeros);
  if (t_part(100) == 100) assert_true(specials > runs / 100 && zeros > runs / 200);
}

/* binary64 numbers and products against fractions. */
static void test_binary64(void **state) {
  t_random random = {t_seed("sum64", 2)};
  unsigned runs = t_runs(20000);
  mpq_t sum, x, y;
  mpfr_t whole;
  (void)state;
  mpq_inits(sum, x, y, NULL);
  mpfr_init2(whole, 5000);
  for (unsigned i = 0; i < runs; i++) {
    hu_sum s = {{0}, 0, 0};
    mpq_set_ui(sum, 0, 1);
    unsigned narrow = t_below(&random, 2);
    for (unsigned k = t_below(&random, TERMS); k; k--) {
      double a = t_double(t_next64(&random) & ~(narrow ? (uint64_t)0x0F0 << 52 : 0)), b = t_double(t_next64(&random));
      if (a - a != 0 || b - b != 0) continue;
      mpq_set_d(x, a);
      mpq_set_d(y, b);
      if (t_below(&random, 2)) {
        hu_sum_add64(&s, a);
      } else {
        hu_sum_add_product64(&s, a, b);
        mpq_mul(x, x, y);
      }
      mpq_add(sum, sum, x);
      hu_sum_add32(&s, 0.5f);
      mpq_set_ui(x, 1, 2);
      mpq_add(sum, sum, x);
    }
    assert_int_equal(mpfr_set_q(whole, sum, MPFR_RNDN), 0);
    assert_true(t_same64(hu_sum_round64(&s), mpfr_get_d(whole, MPFR_RNDN)));
  }
  mpq_clears(sum, x, y, NULL);
  mpfr_clear(whole);
}

static void test_zeros(void **state) {
  hu_format format = binary64_like();
  hu_mode down = t_mode(HU_RTN), rne = t_mode(HU_RNE);
  hu_sum sum = {{0}, 0, 0};
  uint32_t minus_zero = (uint32_t)1 << 31, one = (uint32_t)0x3FF << 20, events;
  (void)state;
  assert_int_equal(hu_sum_round(&sum, format, down, 0, &events), 0); /* empty */
  assert_int_equal(events, 0);
  hu_sum_add(&sum, format, minus_zero);
  assert_int_equal(hu_sum_round(&sum, format, rne, 0, NULL), minus_zero);
  hu_sum_add(&sum, format, 0);
  assert_int_equal(hu_sum_round(&sum, format, rne, 0, NULL), 0);
  assert_int_equal(hu_sum_round(&sum, format, down, 0, NULL), minus_zero);
  memset(&sum, 0, sizeof sum);
  hu_sum_add(&sum, format, 0);
  assert_int_equal(hu_sum_round(&sum, format, down, 0, NULL), 0);
  hu_sum_add(&sum, format, one);
  hu_sum_add(&sum, format, one | minus_zero);
  assert_int_equal(hu_sum_round(&sum, format, down, 0, NULL), minus_zero);
  format.e = 99;
  assert_int_equal(hu_sum_round(&sum, format, down, 0, &events), 0);
  assert_int_equal(events, HU_EVENT_INVALID);
  hu_sum_add(&sum, format, 0);
  assert_true(sum.terms & HU_SUM_NAN);
}

/* Bytes that hu_sum_write does not write. */
static void test_bytes(void **state) {
  t_random random = {t_seed("sum bytes", 3)};
  unsigned refused = 0, taken = 0;
  (void)state;
  for (unsigned i = 0; i < t_part(20000); i++) {
    uint8_t bytes[HU_SUM_BYTES_MAX + 8], again[HU_SUM_BYTES_MAX];
    hu_sum sum = {{0}, 0, 0}, back, before;
    for (unsigned k = t_below(&random, 4); k; k--) hu_sum_add64(&sum, t_double(t_next64(&random)));
    size_t n = hu_sum_write(bytes, sizeof bytes, &sum);
    assert_int_equal(hu_sum_write(bytes, n - 1, &sum), n);
    bytes[t_below(&random, n < 16 ? (uint32_t)n : 16)] ^= (uint8_t)(1u << t_below(&random, 8));
    if (t_below(&random, 4) == 0) n += t_below(&random, 8);
    t_fill_pattern(&before, sizeof before);
    back = before;
    if (hu_sum_read(&back, bytes, n) == HU_OK) { /* another sum, whose only text this is */
      assert_int_equal(hu_sum_write(again, sizeof again, &back), n);
      assert_memory_equal(again, bytes, n);
      taken++;
    } else {
      assert_memory_equal(&back, &before, sizeof back);
      refused++;
    }
  }
  assert_true(refused > taken / 2 && taken > 0);
}

/* Arrays: each sum what the calls for one give, for any threads and strides. */
static void test_arrays(void **state) {
  enum { N = 1500, ROUNDS = 3 };
  t_random numbers = {t_seed("sum arrays", 4)};
  (void)state;
  for (unsigned i = 0; i < t_part(60); i++) {
    hu_format fa = t_random_format(&numbers, 2, 32), fb = t_random_format(&numbers, 2, 16),
              fz = t_random_format(&numbers, 2, 32);
    if (i % 3 == 0) fa = hu_binary32(); /* which has a way of its own */
    hu_sum_range range = hu_sum_range_of_both(hu_sum_range_of(fa), hu_sum_range_of_product(fa, fb));
    hu_mode mode = t_random_mode(&numbers);
    hu_exec exec = {1 + t_below(&numbers, 4), i % 2 ? UINT32_MAX : 0, {t_next64(&numbers), t_next64(&numbers)}, {0}};
    size_t words = 1 + range.words, sa = hu_limits_of(fa).storage / 8, sb = hu_limits_of(fb).storage / 8;
    uint64_t *sums = calloc(N, 8 * words), *other = calloc(N, 8 * words);
    uint32_t *a = calloc(2 * N, 4), *b = calloc(N, 4), *z = calloc(N, 4);
    hu_sum *one = calloc(N, sizeof *one);
    hu_events events = {0}, expected = {0};
    for (int k = 0; k < ROUNDS; k++) {
      for (size_t j = 0; j < N; j++) {
        t_put(a, sa, 2 * (ptrdiff_t)j, random_code(&numbers, fa));
        t_put(b, sb, (ptrdiff_t)j, random_code(&numbers, fb));
        hu_sum_add_product(&one[j], fa, t_get(a, sa, 2 * (ptrdiff_t)j), fb, t_get(b, sb, (ptrdiff_t)j));
        hu_sum_add(&one[j], fa, t_get(a, sa, 2 * (ptrdiff_t)j));
      }
      assert_int_equal(hu_sum_add_n(N, k == 1 ? other : sums, range, hu_codes(a, 2, fa), &exec), HU_OK);
      assert_int_equal(
          hu_sum_add_product_n(N, k == 1 ? other : sums, range, hu_codes(a, 2, fa), hu_codes(b, 1, fb), &exec), HU_OK);
    }
    assert_int_equal(hu_sum_merge_n(N, sums, range, other, &exec), HU_OK);
    assert_int_equal(hu_sum_round_n(N, hu_codes_out(z, 1, fz), sums, range, &(hu_how){mode, &exec, &events}), HU_OK);
    hu_sum whole = {{0}, 0, 0}, alone = {{0}, 0, 0};
    assert_int_equal(hu_sum_add_all(&whole, N, hu_codes(a, 2, fa), NULL), HU_OK);
    assert_int_equal(hu_sum_add_dot(&whole, N, hu_codes(a, 2, fa), hu_codes(b, 1, fb), NULL), HU_OK);
    for (size_t j = 0; j < N; j++) {
      hu_sum_add(&alone, fa, t_get(a, sa, 2 * (ptrdiff_t)j));
      hu_sum_add_product(&alone, fa, t_get(a, sa, 2 * (ptrdiff_t)j), fb, t_get(b, sb, (ptrdiff_t)j));
    }
    assert_memory_equal(&whole, &alone, sizeof whole);
    for (size_t j = 0; j < N; j++) {
      uint32_t set, random = mode.bits ? hu_stream_word(exec.stream, j) >> (32 - mode.bits) : 0;
      uint32_t code = hu_sum_round(&one[j], fz, mode, random, &set);
      assert_int_equal(t_get(z, hu_limits_of(fz).storage / 8, (ptrdiff_t)j), code);
      hu_events_count(&expected, set);
    }
    assert_true(t_same_events(&events, &expected));
    free(sums);
    free(other);
    free(a);
    free(b);
    free(z);
    free(one);
  }
}

/* binary32 numbers in the narrowest range: signs, carries through all words, zeros, what is not finite; with the way of
 * its own and without it. */
static void test_binary32(void **state) {
  enum { N = 4000 };
  t_random random = {t_seed("sum binary32", 5)};
  const hu_sum_range range = hu_sum_range_of(hu_binary32());
  const hu_exec core = {1, UINT32_MAX, {0, 0}, {0}};
  uint64_t *sums = calloc(2 * N, 8 * (1 + (size_t)range.words)), *other = sums + N * (1 + range.words);
  static uint32_t x[N], back[N], z[N];
  hu_sum *one = calloc(N, sizeof *one);
  (void)state;
  for (int k = 0; k < 60; k++) {
    for (size_t j = 0; j < N; j++) {
      uint32_t any = t_next32(&random), near = 0x3F800000 + (any & 0x80FFFFFF), last = x[j];
      x[j] = k % 5 == 0 ? any : k % 5 == 1 ? last ^ 0x80000000 : k % 5 == 2 ? any & 0x80000FFF : near;
      if (k > 3 && (x[j] & 0x7F800000) == 0x7F800000) x[j] = j % 7 ? 0x80000000 : x[j] & 0xFF7FFFFF;
    }
    for (size_t j = 0; j < N; j++) back[j] = x[N - 1 - j];
    assert_int_equal(hu_sum_add_n(N, sums, range, hu_codes(x, 1, hu_binary32()), NULL), HU_OK);
    assert_int_equal(hu_sum_add_n(N, other, range, hu_codes(back + N - 1, -1, hu_binary32()), &core), HU_OK);
    for (size_t j = 0; j < N; j++) hu_sum_add(&one[j], hu_binary32(), x[j]);
    assert_memory_equal(sums, other, N * 8 * (1 + (size_t)range.words));
  }
  assert_int_equal(hu_sum_round_n(N, hu_codes_out(z, 1, hu_binary32()), sums, range, NULL), HU_OK);
  for (size_t j = 0; j < N; j++) {
    hu_mode rne = {0};
    assert_int_equal(z[j], hu_sum_round(&one[j], hu_binary32(), rne, 0, NULL));
  }
  free(sums);
  free(one);
}

static void test_errors(void **state) {
  uint64_t sums[64] = {0};
  uint32_t x[8] = {0};
  hu_format format = binary64_like(), wrong = format,
            small = {1, 4, 3, 0, 0, HU_INF_NONE, HU_NAN_ONES, 1, HU_OVERFLOW_NAN, 0, 0};
  hu_mode none = {.round = 99};
  hu_sum_range wide = hu_sum_range_of(format), narrow = hu_sum_range_of(small), zero = {0, 0}, beyond = {0, 100};
  (void)state;
  wrong.e = 99;
  assert_int_equal(hu_sum_range_of(wrong).words, 0);
  assert_int_equal(hu_sum_range_of_product(format, wrong).words, 0);
  assert_true(wide.words > narrow.words);
  assert_int_equal(hu_sum_add_n(1, sums, wide, hu_codes(x, 1, wrong), NULL), HU_E_FORMAT);
  assert_int_equal(hu_sum_add_n(1, sums, narrow, hu_codes(x, 1, format), NULL), HU_E_SHAPE);
  assert_int_equal(hu_sum_add_n(1, sums, zero, hu_codes(x, 1, small), NULL), HU_E_SHAPE);
  assert_int_equal(hu_sum_add_n(1, sums, beyond, hu_codes(x, 1, small), NULL), HU_E_SHAPE);
  assert_int_equal(hu_sum_add_product_n(1, sums, narrow, hu_codes(x, 1, small), hu_codes(x, 1, small), NULL),
                   HU_E_SHAPE);
  assert_int_equal(hu_sum_add_n(1, NULL, narrow, hu_codes(x, 1, small), NULL), HU_E_NULL);
  assert_int_equal(hu_sum_add_n(1, sums, narrow, hu_codes(NULL, 1, small), NULL), HU_E_NULL);
  assert_int_equal(hu_sum_add_n(4, sums, narrow, hu_codes(sums, 1, small), NULL), HU_E_OVERLAP);
  assert_int_equal(hu_sum_merge_n(2, sums, narrow, sums + 1, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_sum_merge_n(2, sums, narrow, sums, NULL), HU_OK);
  assert_int_equal(hu_sum_round_n(2, hu_codes_out(sums, 1, small), sums, narrow, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_sum_round_n(2, hu_codes_out(x, 0, small), sums, narrow, NULL), HU_E_SHAPE);
  assert_int_equal(hu_sum_round_n(2, hu_codes_out(x, 1, small), sums, narrow, &(hu_how){none, NULL, NULL}), HU_E_MODE);
  assert_int_equal(hu_sum_round_n(2, hu_codes_out(x, 1, wrong), sums, narrow, NULL), HU_E_FORMAT);
  assert_int_equal(hu_sum_add_all(NULL, 1, hu_codes(x, 1, small), NULL), HU_E_NULL);
  assert_int_equal(hu_sum_add_all((hu_sum *)sums, 1, hu_codes(NULL, 1, small), NULL), HU_E_NULL);
  assert_int_equal(hu_sum_add_all((hu_sum *)sums, 1, hu_codes(x, 1, wrong), NULL), HU_E_FORMAT);
  assert_int_equal(hu_sum_add_dot((hu_sum *)sums, 1, hu_codes(x, 1, small), hu_codes(NULL, 1, small), NULL), HU_E_NULL);
  assert_int_equal(hu_sum_add_dot((hu_sum *)sums, 1, hu_codes(x, 1, small), hu_codes(x, 1, wrong), NULL), HU_E_FORMAT);
  assert_int_equal(hu_sum_add_n(0, NULL, narrow, hu_codes(NULL, 1, small), NULL), HU_OK);
  assert_int_equal(hu_sum_read((hu_sum *)sums, NULL, 1), HU_E_NULL);
}

/* The caller's flushing of subnormals changes nothing: numbers are taken as integers, by all-reduces, too. */
static void test_settings(void **state) {
#if defined(__x86_64__)
  static const uint32_t x[3] = {0x200, 0x80000100, 0x00800000};
  const void *ranks[3] = {&x[0], &x[1], &x[2]};
  unsigned before = _mm_getcsr();
  hu_sum sum = {{0}, 0, 0};
  hu_collective exact;
  uint32_t reduced = 0;
  (void)state;
  assert_int_equal(hu_collective_parse(&exact, "exact", NULL), HU_OK);
  _mm_setcsr(before | 0x8040);
  hu_sum_add32(&sum, t_float(x[0]));
  hu_sum_add(&sum, hu_binary32(), x[1]);
  hu_sum_add64(&sum, 0.0);
  hu_sum_add32(&sum, t_float(x[2]));
  uint32_t z = hu_sum_round(&sum, hu_binary32(), (hu_mode){0}, 0, NULL);
  hu_status status = hu_collective_reduce(3, 1, &reduced, hu_binary32(), ranks, &exact, NULL);
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  assert_int_equal(z, 0x00800100);
  assert_int_equal(status, HU_OK);
  assert_int_equal(reduced, z);
  assert_int_equal(after, before | 0x8040);
#else
  (void)state;
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_oracle), cmocka_unit_test(test_binary64),
                                     cmocka_unit_test(test_zeros),  cmocka_unit_test(test_bytes),
                                     cmocka_unit_test(test_arrays), cmocka_unit_test(test_binary32),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_settings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
