/* SPDX-License-Identifier: MIT */
/* tests/gemm/models.c - see models.h. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"
#include "tests/support/levels.h"

hu_format named_format(const char *name) {
  hu_format format;
  assert_int_equal(hu_format_parse(&format, name, NULL), HU_OK);
  return format;
}

hu_accum named_model(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

void plain_refill(plain *x, t_random *random, int centre, uint32_t width) {
  hu_limits limits = hu_limits_of(x->format);
  hu_mode mode = t_mode(HU_RTZ);
  uint32_t coarse = t_below(random, 3), zeros = t_below(random, 4) ? 0 : 3;
  mode.saturate = HU_SAT_FINITE;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v =
        1 + (double)(t_next32(random) >> (coarse ? 32 - 3 * coarse : 0)) * (coarse ? 1. / (1 << 3 * coarse) : 0x1p-32);
    int e = centre + (int)t_below(random, width + 1);
    for (; e > 0; e--) v *= 2;
    for (; e < 0; e++) v /= 2;
    if (zeros && t_below(random, zeros) == 0) v = 0;
    x->code[i] = hu_encode64(x->format, mode, v, 0, NULL);
    if (t_below(random, 2)) x->code[i] |= limits.sign_mask;
    if (limits.nan_code == x->code[i] && limits.has_nan) x->code[i] = 0; /* there is no -0 */
    if (limits.sign_mask && i && t_below(random, 8) == 0) x->code[i] = x->code[t_below(random, (uint32_t)i)];
  }
  plain_keep_layout(x, t_below(random, 3));
}

void plain_spoil(plain *x, t_random *random) {
  hu_limits limits = hu_limits_of(x->format);
  size_t at = t_below(random, (uint32_t)(x->rows * x->columns));
  if (limits.inf_code != HU_NO_CODE && t_below(random, 2)) {
    x->code[at] = limits.inf_code;
  } else if (limits.has_nan) {
    x->code[at] = limits.nan_code;
  }
  plain_keep_layout(x, 0);
}

/* The levels that extend AVX-512 have kernels for some sums alone (test_gemm_pairs.c, test_gemm_short.c). For others
 * they run AVX-512's. One problem in eight shows that, and so does each one of `exact`, which is among their own. */
static int level_is_asked(uint32_t bit, const char *model, unsigned long runs) {
  const uint32_t extensions = HU_LEVEL_BF16 | HU_LEVEL_VNNI | HU_LEVEL_AMX_BF16 | HU_LEVEL_AMX_INT8 | HU_LEVEL_FP16;
  return (bit & extensions) == 0 || strncmp(model, "exact", 5) == 0 || runs / 4 % 8 == 0;
}

void problem_same_at_levels(const t_problem *problem, const char *model, unsigned long *runs) {
  char text[PROBLEM_TEXT];
  t_outcome first = problem_run(problem, 1, UINT32_MAX);
  if (first.status != HU_OK)
    fail_msg("%s under %s: %s", problem_text(text, problem), model, hu_status_name(first.status));
  const unsigned long before = *runs;
  for (size_t i = 0; i < t_levels(); i++) {
    if (!level_is_asked(t_level_bit(i), model, before)) continue;
    t_outcome outcome = problem_run(problem, (uint32_t)i + 1, t_levels_off(i));
    for (size_t e = 0; e < problem->m * problem->n; e++) {
      uint32_t got = outcome_element(problem, &outcome, e / problem->n, e % problem->n),
               expected = outcome_element(problem, &first, e / problem->n, e % problem->n);
      if (got != expected)
        fail_msg("%s under %s, levels off %u: element %zu, %zu: %x, not %x", problem_text(text, problem), model,
                 t_levels_off(i), e / problem->n, e % problem->n, got, expected);
    }
    if (!outcome_same(&first, &outcome))
      fail_msg("%s under %s: events or padding differ", problem_text(text, problem), model);
    free(outcome.d);
    ++*runs;
  }
  if (problem_can_run_in_place(problem)) {
    t_outcome outcome = problem_run_in_place(problem, 2, 0);
    assert_true(outcome_same(&first, &outcome));
    free(outcome.d);
  }
  free(first.d);
}

void problem_spot(const t_problem *problem, t_random *random) {
  if (problem->kind != HU_TYPE_CODES || problem->a.operand.type.kind != HU_TYPE_CODES ||
      problem->b.operand.type.kind != HU_TYPE_CODES || problem->k == 0)
    return;
  if (problem->has_c && problem->c.operand.type.kind != HU_TYPE_CODES) return;
  t_outcome outcome = problem_run(problem, 1, 0);
  size_t i = t_below(random, (uint32_t)problem->m), j = t_below(random, (uint32_t)problem->n);
  const hu_view *x[3] = {&problem->a.operand, &problem->b.operand, &problem->c.operand};
  uint32_t code = 0;
  hu_exec exec = {.stream = problem->stream};
  hu_view none = {0};
  hu_product in = hu_product_of_dot(problem->k, hu_codes_out(&code, 1, problem->format), none, none, &problem->accum);
  hu_view *view[3] = {&in.a, &in.b, &in.c};
  for (size_t q = 0; q < (problem->has_c ? 3u : 2u); q++) {
    size_t row = q == 1 ? 0 : i, column = q == 0 ? 0 : j;
    size_t at = row * (size_t)x[q]->row + column * (size_t)x[q]->stride;
    *view[q] = hu_codes((const uint8_t *)x[q]->data + at * hu_limits_of(x[q]->type.format).storage / 8,
                        q == 0 ? x[q]->stride : x[q]->row, x[q]->type.format);
  }
  exec.stream.counter += i * problem->n + j;
  hu_how how = {problem->mode, &exec, NULL};
  assert_int_equal(hu_dot(&in, &how), HU_OK);
  assert_int_equal(code, outcome_element(problem, &outcome, i, j));
  free(outcome.d);
}

double power_of_two(int e) {
  double v = 1;
  for (; e > 0; e--) v *= 2;
  for (; e < 0; e++) v /= 2;
  return v;
}

void plain_set(plain *x, size_t at, double v) { x->code[at] = hu_encode64(x->format, t_mode(HU_RTZ), v, 0, NULL); }

/* ---- tables ---- */

const char *const model_operands[MODEL_OPERANDS] = {"bfloat16",        "binary16",  "float8_e5m2", "float8_e4m3fn",
                                                    "fp(6,9,0)",       "binary32",  "fp(8,3,0)",   "float4_e2m1fn",
                                                    "float8_e4m3fnuz", "fp(3,4,40)"};

static void run_model_test(void **state) {
  const model_test *test = *state;
  t_random random = {t_seed(test->name, test->seed)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < test->count; i++) {
    t_problem problem;
    char model[MODEL_TEXT];
    if (!test->draw(&problem, &random, i, model)) continue;
    if (test->same)
      test->same(&problem, i, model, &runs);
    else
      problem_same_at_levels(&problem, model, &runs);
    if (test->spot) problem_spot(&problem, &random);
    problem_free(&problem);
  }
  print_message("%s: %lu runs agree\n", test->name, runs);
}

int model_tests_run(const model_test *tests, size_t n) {
  int failed = 0;
  for (size_t i = 0; i < n; i++) {
    const struct CMUnitTest group[] = {cmocka_unit_test_prestate(run_model_test, (void *)(uintptr_t)&tests[i])};
    failed += cmocka_run_group_tests_name(tests[i].name, group, NULL, NULL);
  }
  return failed;
}

void problem_set_model(t_problem *problem, const char *model) {
  if (hu_accum_parse(&problem->accum, model, NULL) != HU_OK) fail_msg("no model: %s", model);
}

void problem_store_again(t_problem *problem) {
  plain_store_again(&problem->a, 0, 0, 0);
  plain_store_again(&problem->b, 0, 0, 0);
  plain_store_again(&problem->c, 0, 0, 0);
}

int problem_draw_any(t_problem *problem, t_random *random, hu_format format, problem_sizes sizes) {
  hu_format fa = named_format(model_operands[t_below(random, MODEL_OPERANDS)]),
            fb = named_format(model_operands[t_below(random, MODEL_OPERANDS)]);
  hu_format fc = t_below(random, 2) ? format : named_format(model_operands[t_below(random, MODEL_OPERANDS)]);
  if (t_below(random, 2) && format.m <= sizes.digits) fa = fb = format;
  int has_c = (int)t_below(random, 2), moderate = t_below(random, 4) != 0;
  size_t m = 1 + t_below(random, sizes.rows), n = 1 + t_below(random, t_below(random, 4) ? sizes.columns : 120);
  size_t k = t_below(random, t_below(random, 3) ? sizes.terms : sizes.most_terms);
  problem_draw(problem, random, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(random, 2) ? format : fc, HU_ACCUM_EXACT);
  return moderate && k != 0;
}

void problem_refill(t_problem *problem, t_random *random, hu_format format, int spoil_c) {
  hu_limits limits = hu_limits_of(format);
  int low = t_below(random, 3) ? 0 : t_below(random, 2) ? limits.emin / 2 - 4 : limits.emax / 2 - 6;
  uint32_t width = t_below(random, 2) ? t_below(random, 8) : t_below(random, 24);
  plain_refill(&problem->a, random, low - (int)width / 2, width);
  plain_refill(&problem->b, random, low - (int)width / 2, width);
  if (problem->has_c) plain_refill(&problem->c, random, 2 * low - (int)width / 2, width);
  if (t_below(random, 8) == 0) plain_spoil(t_below(random, 2) ? &problem->a : &problem->b, random);
  if (spoil_c && problem->has_c && t_below(random, 16) == 0) plain_spoil(&problem->c, random);
}

void problem_draw_zeros(t_problem *problem, t_random *random, hu_format format, uint32_t rows, uint32_t terms) {
  hu_format fc = t_below(random, 2) ? format : named_format("bfloat16");
  hu_limits limits = hu_limits_of(format);
  uint32_t one = (limits.max_code / 2) & ~7u, minus = format.negzero ? limits.sign_mask : 0;
  problem_draw(problem, random, 1 + t_below(random, rows), 1 + t_below(random, 60), 1 + t_below(random, terms), format,
               format, &fc, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t q = 0; q < 3; q++) {
    plain *x = q == 0 ? &problem->a : q == 1 ? &problem->b : &problem->c;
    for (size_t e = 0; e < x->rows * x->columns; e++) {
      uint32_t zero = t_below(random, 2) ? minus : 0;
      if (q < 2) x->code[e] = t_below(random, 3) ? zero : one | (t_below(random, 2) ? limits.sign_mask : 0);
      if (q < 2 && (e % x->columns == 0 || e / x->columns == 0)) x->code[e] = zero;
      if (q == 2) x->code[e] = hu_encode64(fc, t_mode(HU_RNE), zero ? -0.0 : 0.0, 0, NULL);
    }
  }
  problem_store_again(problem);
  if (t_below(random, 3) == 0) problem->has_c = 0;
}

void problem_draw_counters(t_problem *problem, t_random *random, unsigned i, hu_format format, uint32_t columns,
                           uint32_t terms) {
  problem_draw(problem, random, 1 + t_below(random, 20), 1 + t_below(random, columns), 1 + t_below(random, terms),
               format, format, NULL, format, HU_ACCUM_EXACT);
  plain_refill(&problem->a, random, -2, 4);
  plain_refill(&problem->b, random, -2, 4);
  problem->stream.counter = (i % 3 ? UINT64_C(1) << 32 : 0) - t_below(random, 300);
}

void problem_draw_block(t_problem *problem, t_random *random, const size_t shape[3], hu_format format, int has_c) {
  problem_draw(problem, random, shape[0], shape[1], shape[2], format, format, has_c ? &format : NULL, format,
               HU_ACCUM_EXACT);
  plain_refill(&problem->a, random, -3, 3);
  plain_refill(&problem->b, random, -3, 3);
}
