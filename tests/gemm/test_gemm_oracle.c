/* SPDX-License-Identifier: MIT */
/* hu_gemm against the oracle: every model, random formats and storages, all sizes from 0 up to a few tiles, special
 * values, cancellation, every mode. Each element's bits, the counts of events, untouched padding, also in place. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/problem.h"
#include "tests/support/levels.h"

static const uint32_t counts[] = {1, 2, 3, 5};

typedef struct t_expected {
  uint32_t *bits;
  hu_events events;
} t_expected;

static uint32_t as_stored(const t_problem *problem, uint32_t code) {
  return problem->kind == HU_TYPE_VALUES32 ? t_bits32(hu_decode(problem->format, code)) : code;
}

static void expect(t_expected *expected, const t_problem *problem) {
  uint32_t *column = malloc((problem->k + 1) * sizeof *column), code, events;
  assert_non_null(column);
  memset(expected, 0, sizeof *expected);
  expected->bits = malloc((problem->m * problem->n + 1) * sizeof *expected->bits);
  assert_non_null(expected->bits);
  for (size_t j = 0; j < problem->n; j++) {
    for (size_t k = 0; k < problem->k; k++) column[k] = problem->b.code[k * problem->n + j];
    for (size_t i = 0; i < problem->m; i++) {
      uint32_t random =
          problem->mode.bits ? hu_stream_word(problem->stream, i * problem->n + j) >> (32 - problem->mode.bits) : 0;
      hu_oracle_code c = {problem->c.format, problem->has_c ? problem->c.code[i * problem->n + j] : 0};
      hu_oracle_terms terms = {
          problem->k, problem->a.format,         problem->a.code + i * problem->k, problem->b.format,
          column,     problem->has_c ? &c : NULL};
      char text[PROBLEM_TEXT];
      hu_status status = (problem->accum.kind == HU_ACCUM_EXACT ? hu_oracle_dot : hu_oracle_dot_fp32)(
          &code, &events, problem->format, problem->mode, random, &terms);
      if (status != HU_OK) fail_msg("%s: the oracle says %s", problem_text(text, problem), hu_status_name(status));
      expected->bits[i * problem->n + j] = as_stored(problem, code);
      hu_events_count(&expected->events, events);
    }
  }
  free(column);
}

static void compare(const t_problem *problem, const t_expected *expected, t_outcome *outcome, const char *how) {
  char text[PROBLEM_TEXT];
  if (outcome->status != HU_OK)
    fail_msg("%s (%s): %s", problem_text(text, problem), how, hu_status_name(outcome->status));
  for (size_t i = 0; i < problem->m * problem->n; i++) {
    uint32_t got = outcome_element(problem, outcome, i / problem->n, i % problem->n);
    if (got != expected->bits[i]) {
      fail_msg("%s (%s): element %zu, %zu is %08X, not %08X", problem_text(text, problem), how, i / problem->n,
               i % problem->n, got, expected->bits[i]);
    }
  }
  if (!t_same_events(&outcome->events, &expected->events)) {
    const hu_events *x = &outcome->events, *y = &expected->events;
    fail_msg(
        "%s (%s): events %d/%d over %d/%d sat %d/%d under %d/%d zero %d/%d sub %d/%d inexact %d/%d invalid %d/%d nan "
        "%d/%d inf",
        problem_text(text, problem), how, (int)x->overflow, (int)y->overflow, (int)x->saturated, (int)y->saturated,
        (int)x->underflow, (int)y->underflow, (int)x->to_zero, (int)y->to_zero, (int)x->subnormal, (int)y->subnormal,
        (int)x->inexact, (int)y->inexact, (int)x->invalid, (int)y->invalid, (int)x->nan_in, (int)y->nan_in,
        (int)x->inf_in, (int)y->inf_in);
  }
  if (!outcome_padding_untouched(problem, outcome))
    fail_msg("%s (%s): padding written", problem_text(text, problem), how);
  free(outcome->d);
}

static void check_problem(const t_problem *problem, t_random *random, unsigned long *in_place) {
  t_expected expected;
  expect(&expected, problem);
  for (size_t i = 0; i < t_levels(); i++) {
    t_outcome outcome = problem_run(problem, 1, t_levels_off(i));
    compare(problem, &expected, &outcome, "one thread");
  }
  uint32_t threads = counts[t_below(random, 4)], mask = t_levels_off(t_below(random, (uint32_t)t_levels()));
  t_outcome outcome = problem_run(problem, threads, mask);
  compare(problem, &expected, &outcome, "threads");
  if (problem_can_run_in_place(problem)) {
    outcome = problem_run_in_place(problem, threads, mask);
    compare(problem, &expected, &outcome, "in place");
    ++*in_place;
  }
  free(expected.bits);
}

/* 32 random bits leave no bracket of binary64 sums that tells the result: the sums are formed in integers. */
static void in_integers(t_problem *problem) {
  memset(&problem->mode, 0, sizeof problem->mode);
  problem->mode.round = HU_SRA;
  problem->mode.bits = 32;
}

static hu_format any_format(t_random *random) {
  if (t_below(random, 2)) return t_random_format(random, 1, t_below(random, 2) ? 8 : 32);
  return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
}

static hu_format carried_format(t_random *random) {
  for (;;) {
    hu_format format = any_format(random);
    if (hu_format_fits_binary32(format)) return format;
  }
}

static void run_random(const char *name, uint64_t seed, uint32_t kind, int cases, uint32_t size, uint32_t depth) {
  t_random random = {t_seed(name, seed)};
  unsigned long elements = 0, with_c = 0, in_place = 0;
  for (int i = 0; i < cases; i++) {
    t_problem problem;
    hu_format fa = kind == HU_ACCUM_FP32 ? carried_format(&random) : any_format(&random);
    hu_format fb = kind == HU_ACCUM_FP32 ? carried_format(&random) : any_format(&random);
    hu_format fd = any_format(&random), fc = t_below(&random, 3) == 0 ? fd : any_format(&random);
    if (kind == HU_ACCUM_FP32 && !hu_format_fits_binary32(fc)) fc = carried_format(&random);
    int c = t_below(&random, 3) != 0;
    size_t m = t_below(&random, size), n = t_below(&random, size), k = t_below(&random, depth);
    problem_draw(&problem, &random, m, n, k, fa, fb, c ? &fc : NULL, fd, kind);
    check_problem(&problem, &random, &in_place);
    elements += problem.m * problem.n;
    with_c += (unsigned long)c;
    problem_free(&problem);
  }
  assert_true(in_place > 0 && with_c > 0 && elements > 0);
  print_message("%s: %d products (%lu with C, %lu in place too), %lu elements, each through 4 levels and threads\n",
                name, cases, with_c, in_place, elements);
}

static void exact_random(void **state) {
  (void)state;
  run_random("gemm exact", 11, HU_ACCUM_EXACT, 1500, 7, 18);
}

static void fp32_random(void **state) {
  (void)state;
  run_random("gemm fp32", 12, HU_ACCUM_FP32, 1500, 7, 18);
}

/* Sizes beyond one tile, panel and piece in each direction. */
static void larger(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{13, 33, 5},   {25, 17, 129}, {1, 65, 97},   {67, 1, 113},
                                     {14, 18, 200}, {2, 3, 331},   {100, 30, 75}, {30, 20, 1100}};
  static const char *const pairs[][3] = {{"binary32", "binary32", "binary32"},
                                         {"bfloat16", "bfloat16", "bfloat16"},
                                         {"binary16", "float8_e5m2", "binary16"},
                                         {"float8_e4m3fn", "float8_e4m3fn", "bfloat16"},
                                         {"float4_e2m1fn", "float6_e2m3fn", "binary32"}};
  t_random random = {t_seed("gemm larger", 13)};
  unsigned long elements = 0, in_place = 0;
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    for (size_t q = 0; q < sizeof pairs / sizeof pairs[0]; q++) {
      for (uint32_t kind = HU_ACCUM_EXACT; kind <= HU_ACCUM_FP32; kind++) {
        t_problem problem;
        hu_format format[3];
        for (int i = 0; i < 3; i++) assert_int_equal(hu_format_parse(&format[i], pairs[q][i], NULL), HU_OK);
        problem_draw(&problem, &random, shapes[s][0], shapes[s][1], shapes[s][2], format[0], format[1], &format[2],
                     format[2], kind);
        check_problem(&problem, &random, &in_place);
        elements += problem.m * problem.n;
        if (kind == HU_ACCUM_EXACT) {
          in_integers(&problem);
          check_problem(&problem, &random, &in_place);
          elements += problem.m * problem.n;
        }
        problem_free(&problem);
      }
    }
  }
  print_message("gemm larger: %lu elements\n", elements);
}

/* Formats at the ends of binary64, where products reach from 2^-2148 to 2^2047. */
static void extremes(void **state) {
  (void)state;
  t_random random = {t_seed("gemm extremes", 14)};
  unsigned long elements = 0, in_place = 0;
  hu_format wide[4] = {hu_format_ieee(11, 20, 0), hu_format_finite(11, 12, 20), hu_format_ieee(1, 30, 0),
                       hu_format_ieee(2, 29, 500)};
  hu_format out[3] = {hu_format_ieee(11, 20, 0), hu_format_ieee(8, 23, 0), hu_format_ieee(5, 26, 0)};
  for (int i = 0; i < 4; i++) assert_int_equal(hu_format_check(wide[i], NULL), HU_OK);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      for (int c = 0; c < 5; c++) {
        t_problem problem;
        hu_format to = out[t_below(&random, 3)];
        problem_draw(&problem, &random, 3, 5, 40, wide[i], wide[j], c ? &wide[c - 1] : NULL, to, HU_ACCUM_EXACT);
        check_problem(&problem, &random, &in_place);
        elements += problem.m * problem.n;
        problem_free(&problem);
      }
    }
  }
  print_message("gemm extremes: %lu elements\n", elements);
}

/* Many pieces of K with the largest products of one sign, then of both: carries between bins. */
static void long_sums(void **state) {
  (void)state;
  t_random random = {t_seed("gemm long sums", 16)};
  unsigned long in_place = 0, elements = 0;
  static const char *const names[][2] = {{"binary32", "binary32"},     {"bfloat16", "bfloat16"},
                                         {"fp(1,30,0)", "fp(1,30,0)"}, {"fp(1,30,0)", "binary32"},
                                         {"binary32", "fp(1,30,0)"},   {"fp(7,24,0)", "fp(7,24,0)"},
                                         {"fp(11,20,0)", "bfloat16"},  {"fp(11,20,0)", "fp(11,20,0)"}};
  for (size_t q = 0; q < sizeof names / sizeof names[0]; q++) {
    for (int way = 0; way < 20; way++) { /* from 4 on, all positions of the products in the bins, of one sign */
      t_problem problem;
      hu_format fa, fb, d = hu_format_ieee(11, 20, 0);
      int both = way < 4 && way & 1;
      assert_int_equal(hu_format_parse(&fa, names[q][0], NULL), HU_OK);
      assert_int_equal(hu_format_parse(&fb, names[q][1], NULL), HU_OK);
      hu_limits la = hu_limits_of(fa), lb = hu_limits_of(fb);
      problem_draw(&problem, &random, 1, 2, 20000, fa, fb, &fa, d, HU_ACCUM_EXACT);
      uint32_t xa = la.max_code, xb = lb.max_code;
      if (way >= 4 && fa.e > 2) xa -= (uint32_t)(way & 3) << fa.m;
      if (way >= 4 && fb.e > 2) xb -= (uint32_t)((way >> 2) - 1) << fb.m;
      for (size_t k = 0; k < problem.k; k++) {
        problem.a.code[k] = k % 7 == 6 ? la.min_code : xa;
        for (size_t j = 0; j < 2; j++)
          problem.b.code[2 * k + j] = (k % 5 == 4 ? lb.min_code : xb) | (both && k % 2 ? lb.sign_mask : 0);
      }
      plain_store_again(&problem.a, 0, q & 1, 0);
      plain_store_again(&problem.b, 0, both, 3);
      if (way & 2 || way >= 4) in_integers(&problem);
      check_problem(&problem, &random, &in_place);
      elements += 2;
      problem_free(&problem);
    }
  }
  print_message("gemm long sums: %lu elements of 20000 products\n", elements);
}

/* ---- sums next to where the rounding changes ---- */

enum { DEPTH = 90 };

static void put_terms(double *row, t_random *random, size_t n, const double *terms) {
  size_t at = 0; /* in order, zeros between them */
  for (size_t i = 0; i < n; i++) {
    at += t_below(random, (uint32_t)(DEPTH - at - (n - i) + 1) < 4 ? 1 : 4);
    row[at++] = terms[i];
  }
}

/* A row whose exact sum lies beside the sum that binary64 makes of it, on the other side of 1 + `step`, or on neither;
 * some have terms so far down that only their signs count. */
static void draw_row(double *row, t_random *random, int kind, double step) {
  const double u = 0x1p-52, far = 0x1p-100;
  double t[24] = {1, step, 0}, side = t_below(random, 2) ? 1 : -1;
  size_t n = 2;
  for (size_t k = 0; k < DEPTH; k++) row[k] = 0;
  switch (kind) {
    case 0: /* u beyond the step, then many quarters of u back: each is lost */
      t[n++] = side * u;
      for (int i = 0; i < 16; i++) t[n++] = -side * u / 4;
      break;
    case 1: t[n++] = side * far; break;
    case 2: break;
    case 3: /* all of it goes, but for the last term */
      t[n++] = -1;
      t[n++] = -step;
      t[n++] = side * far;
      break;
    case 4: t[0] = 2; break;
    case 5:
      t[0] = side * 0x1p60;
      t[2] = -t[0];
      n = 3;
      break;
    case 6: /* sums that differ from a step by about what binary64 cannot tell */
      for (int i = 0; i < 20; i++) t[n++] = side * u * (double)(1 + t_below(random, 7)) / 16;
      break;
    default: n = 0;
  }
  put_terms(row, random, n, t);
}

static void set_code(plain *x, size_t i, double value) {
  hu_mode mode;
  uint32_t events;
  memset(&mode, 0, sizeof mode);
  x->code[i] = hu_encode64(x->format, mode, value, 0, &events);
  assert_int_equal(events & HU_EVENT_INEXACT, 0);
}

static void restore(plain *x, t_random *random) {
  plain_store_again(x, (int)t_below(random, 2), (int)t_below(random, 2), t_below(random, 3));
}

/* A: a row of each kind and a last one that reaches far, so that no binary64 sum is proved exact; B: powers of two, the
 * same all the way down a column. */
static void draw_brackets(t_problem *problem, t_random *random) {
  double row[DEPTH];
  int last = (int)problem->m - 1;
  for (size_t i = 0; i < problem->m; i++) {
    int digits = problem->format.m + 1 +
                 (problem->mode.bits ? (int)t_below(random, problem->mode.bits + 1u) : (int)t_below(random, 2) - 1);
    draw_row(row, random, (int)i == last ? 7 : (int)t_below(random, 8), 1.0 / (double)((uint64_t)1 << digits));
    if ((int)i == last) row[3] = 0x1p120;
    if ((int)i == last) row[50] = 0x1p-120;
    for (size_t k = 0; k < DEPTH; k++) set_code(&problem->a, i * DEPTH + k, row[k]);
  }
  for (size_t j = 0; j < problem->n; j++) {
    int near_bottom = t_below(random, 2) != 0; /* around the least normal number of D */
    int scale = near_bottom ? 2 - problem->format.b - (1 << (problem->format.e - 1)) + (int)t_below(random, 4)
                            : (int)t_below(random, 5) - 2;
    if (scale < -140 || scale > 100) scale = 0;
    double power = 1, sign = t_below(random, 2) ? 1 : -1;
    for (int e = 0; e < scale; e++) power *= 2;
    for (int e = 0; e > scale; e--) power /= 2;
    for (size_t k = 0; k < DEPTH; k++) set_code(&problem->b, k * problem->n + j, sign * power);
  }
  restore(&problem->a, random);
  restore(&problem->b, random);
}

static void brackets(void **state) {
  (void)state;
  t_random random = {t_seed("gemm brackets", 17)};
  unsigned long elements = 0, in_place = 0;
  static const char *const to[] = {"binary32", "bfloat16", "binary16", "float8_e4m3fn", "fp(6,9,0):nosub", "fp(5,0,0)"};
  for (int i = 0; i < 300; i++) {
    t_problem problem;
    hu_format d, format = hu_format_ieee(8, 23, 0);
    assert_int_equal(hu_format_parse(&d, to[i % 6], NULL), HU_OK);
    problem_draw(&problem, &random, 2 + t_below(&random, 8), 1 + t_below(&random, 9), DEPTH, format, format,
                 t_below(&random, 4) ? NULL : &format, d, HU_ACCUM_EXACT);
    if (problem.mode.bits > 12) problem.mode.bits = 12;
    draw_brackets(&problem, &random);
    check_problem(&problem, &random, &in_place);
    elements += problem.m * problem.n;
    problem_free(&problem);
  }
  print_message("gemm brackets: %lu elements\n", elements);
}

/* Terms of every zero, every mode: the sign of an exact zero sum. */
static void zero_signs(void **state) {
  (void)state;
  t_random random = {t_seed("gemm zero signs", 15)};
  unsigned long products = 0, in_place = 0;
  hu_format format[3] = {hu_format_ieee(4, 3, 0), hu_format_ieee(5, 10, 0), hu_format_ieee(8, 23, 0)};
  for (int bits = 0; bits < 1 << 7; bits++) {
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
      t_problem problem;
      hu_format fa = format[t_below(&random, 3)], fb = format[t_below(&random, 3)], fc = format[t_below(&random, 3)];
      hu_format fd = format[t_below(&random, 3)];
      problem_draw(&problem, &random, 1, 1, 2, fa, fb, bits & 64 ? &fc : NULL, fd, (uint32_t)(bits & 1));
      problem.mode = t_mode(round);
      uint32_t one = fa.e == 4 ? 0x38u : fa.e == 5 ? 0x3C00u : 0x3F800000u, sa = hu_limits_of(fa).sign_mask;
      uint32_t sb = hu_limits_of(fb).sign_mask;
      problem.a.code[0] = bits & 2 ? sa : 0;
      problem.a.code[1] = (bits & 4 ? sa : 0) | (t_below(&random, 2) ? one : 0);
      problem.b.code[0] = bits & 8 ? sb : 0;
      problem.b.code[1] = bits & 16 ? sb : 0;
      plain_store_again(&problem.a, 0, 0, 0);
      plain_store_again(&problem.b, 0, 0, 0);
      if (problem.has_c) {
        problem.c.code[0] = bits & 32 ? hu_limits_of(fc).sign_mask : 0;
        plain_store_again(&problem.c, 0, 0, 0);
      }
      check_problem(&problem, &random, &in_place);
      products++;
      problem_free(&problem);
    }
  }
  print_message("gemm zero signs: %lu products\n", products);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_random), cmocka_unit_test(fp32_random), cmocka_unit_test(larger),
      cmocka_unit_test(extremes),     cmocka_unit_test(long_sums),   cmocka_unit_test(zero_signs),
      cmocka_unit_test(brackets),
  };
  return cmocka_run_group_tests_name("gemm against the oracle", tests, NULL, NULL);
}
