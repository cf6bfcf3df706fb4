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
  hu_format f;
  assert_int_equal(hu_format_parse(&f, name, NULL), HU_OK);
  return f;
}

hu_accum named_model(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

void plain_refill(plain *x, t_random *r, int centre, uint32_t width) {
  hu_limits l = hu_limits_of(x->format);
  hu_mode mode = t_mode(HU_RTZ);
  uint32_t coarse = t_below(r, 3), zeros = t_below(r, 4) ? 0 : 3;
  mode.saturate = HU_SAT_FINITE;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v =
        1 + (double)(t_next32(r) >> (coarse ? 32 - 3 * coarse : 0)) * (coarse ? 1. / (1 << 3 * coarse) : 0x1p-32);
    int e = centre + (int)t_below(r, width + 1);
    for (; e > 0; e--) v *= 2;
    for (; e < 0; e++) v /= 2;
    if (zeros && t_below(r, zeros) == 0) v = 0;
    x->code[i] = hu_encode64(x->format, mode, v, 0, NULL);
    if (t_below(r, 2)) x->code[i] |= l.sign_mask;
    if (l.nan_code == x->code[i] && l.has_nan) x->code[i] = 0; /* there is no -0 */
    if (l.sign_mask && i && t_below(r, 8) == 0) x->code[i] = x->code[t_below(r, (uint32_t)i)];
  }
  plain_keep_layout(x, t_below(r, 3));
}

void plain_spoil(plain *x, t_random *r) {
  hu_limits l = hu_limits_of(x->format);
  size_t at = t_below(r, (uint32_t)(x->rows * x->columns));
  if (l.inf_code != HU_NO_CODE && t_below(r, 2)) {
    x->code[at] = l.inf_code;
  } else if (l.has_nan) {
    x->code[at] = l.nan_code;
  }
  plain_keep_layout(x, 0);
}

/* The levels that extend AVX-512 have kernels for some sums alone (test_gemm_pairs.c, test_gemm_short.c). For others
 * they run AVX-512's. One problem in eight shows that, and so does each one of `exact`, which is among their own. */
static int level_is_asked(uint32_t bit, const char *model, unsigned long runs) {
  const uint32_t extensions = HU_LEVEL_BF16 | HU_LEVEL_VNNI | HU_LEVEL_AMX_BF16 | HU_LEVEL_AMX_INT8 | HU_LEVEL_FP16;
  return (bit & extensions) == 0 || strncmp(model, "exact", 5) == 0 || runs / 4 % 8 == 0;
}

void problem_same_at_levels(const t_problem *p, const char *model, unsigned long *runs) {
  char text[PROBLEM_TEXT];
  t_outcome first = problem_run(p, 1, UINT32_MAX);
  if (first.status != HU_OK) fail_msg("%s under %s: %s", problem_text(text, p), model, hu_status_name(first.status));
  const unsigned long before = *runs;
  for (size_t i = 0; i < t_levels(); i++) {
    if (!level_is_asked(t_level_bit(i), model, before)) continue;
    t_outcome o = problem_run(p, (uint32_t)i + 1, t_levels_off(i));
    for (size_t e = 0; e < p->m * p->n; e++) {
      uint32_t got = outcome_element(p, &o, e / p->n, e % p->n), want = outcome_element(p, &first, e / p->n, e % p->n);
      if (got != want)
        fail_msg("%s under %s, levels off %u: element %zu, %zu: %x, not %x", problem_text(text, p), model,
                 t_levels_off(i), e / p->n, e % p->n, got, want);
    }
    if (!outcome_same(&first, &o)) fail_msg("%s under %s: events or padding differ", problem_text(text, p), model);
    free(o.d);
    ++*runs;
  }
  if (problem_can_run_in_place(p)) {
    t_outcome o = problem_run_in_place(p, 2, 0);
    assert_true(outcome_same(&first, &o));
    free(o.d);
  }
  free(first.d);
}

void problem_spot(const t_problem *p, t_random *r) {
  if (p->storage != HU_STORAGE_CODES || p->a.operand.storage != HU_STORAGE_CODES ||
      p->b.operand.storage != HU_STORAGE_CODES || p->k == 0)
    return;
  if (p->has_c && p->c.operand.storage != HU_STORAGE_CODES) return;
  t_outcome o = problem_run(p, 1, 0);
  size_t i = t_below(r, (uint32_t)p->m), j = t_below(r, (uint32_t)p->n);
  const hu_operand *x[3] = {&p->a.operand, &p->b.operand, &p->c.operand};
  hu_dot_operands in;
  hu_element ez;
  hu_exec exec;
  uint32_t code = 0;
  memset(&in, 0, sizeof in);
  memset(&ez, 0, sizeof ez);
  memset(&exec, 0, sizeof exec);
  ez.format = p->format;
  hu_vector *v[3] = {&in.a, &in.b, &in.c};
  for (size_t q = 0; q < (p->has_c ? 3u : 2u); q++) {
    size_t row = q == 1 ? 0 : i, column = q == 0 ? 0 : j, ld = x[q]->ld;
    v[q]->element.format = x[q]->format;
    v[q]->data = (const uint8_t *)x[q]->data +
                 (x[q]->transposed ? column * ld + row : row * ld + column) * hu_limits_of(x[q]->format).storage / 8;
    v[q]->stride = (ptrdiff_t)((q == 0) != x[q]->transposed ? 1 : ld);
  }
  exec.stream = p->stream;
  exec.stream.counter += i * p->n + j;
  assert_int_equal(hu_dot_n(1, p->k, &code, 1, ez, &in, &p->accum, p->mode, &exec, NULL), HU_OK);
  assert_int_equal(code, outcome_element(p, &o, i, j));
  free(o.d);
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
  t_random r = {t_seed(test->name, test->seed)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < test->count; i++) {
    t_problem p;
    char model[MODEL_TEXT];
    if (!test->draw(&p, &r, i, model)) continue;
    if (test->same)
      test->same(&p, i, model, &runs);
    else
      problem_same_at_levels(&p, model, &runs);
    if (test->spot) problem_spot(&p, &r);
    problem_free(&p);
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

void problem_set_model(t_problem *p, const char *model) {
  if (hu_accum_parse(&p->accum, model, NULL) != HU_OK) fail_msg("no model: %s", model);
}

void problem_store_again(t_problem *p) {
  plain_store_again(&p->a, 0, 0, 0);
  plain_store_again(&p->b, 0, 0, 0);
  plain_store_again(&p->c, 0, 0, 0);
}

int problem_draw_any(t_problem *p, t_random *r, hu_format f, problem_sizes sizes) {
  hu_format fa = named_format(model_operands[t_below(r, MODEL_OPERANDS)]),
            fb = named_format(model_operands[t_below(r, MODEL_OPERANDS)]);
  hu_format fc = t_below(r, 2) ? f : named_format(model_operands[t_below(r, MODEL_OPERANDS)]);
  if (t_below(r, 2) && f.m <= sizes.digits) fa = fb = f;
  int has_c = (int)t_below(r, 2), moderate = t_below(r, 4) != 0;
  size_t m = 1 + t_below(r, sizes.rows), n = 1 + t_below(r, t_below(r, 4) ? sizes.columns : 120);
  size_t k = t_below(r, t_below(r, 3) ? sizes.terms : sizes.most_terms);
  problem_draw(p, r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(r, 2) ? f : fc, HU_ACCUM_EXACT);
  return moderate && k != 0;
}

void problem_refill(t_problem *p, t_random *r, hu_format f, int spoil_c) {
  hu_limits l = hu_limits_of(f);
  int low = t_below(r, 3) ? 0 : t_below(r, 2) ? l.emin / 2 - 4 : l.emax / 2 - 6;
  uint32_t width = t_below(r, 2) ? t_below(r, 8) : t_below(r, 24);
  plain_refill(&p->a, r, low - (int)width / 2, width);
  plain_refill(&p->b, r, low - (int)width / 2, width);
  if (p->has_c) plain_refill(&p->c, r, 2 * low - (int)width / 2, width);
  if (t_below(r, 8) == 0) plain_spoil(t_below(r, 2) ? &p->a : &p->b, r);
  if (spoil_c && p->has_c && t_below(r, 16) == 0) plain_spoil(&p->c, r);
}

void problem_draw_zeros(t_problem *p, t_random *r, hu_format f, uint32_t rows, uint32_t terms) {
  hu_format fc = t_below(r, 2) ? f : named_format("bfloat16");
  hu_limits l = hu_limits_of(f);
  uint32_t one = (l.max_code / 2) & ~7u, minus = f.negzero ? l.sign_mask : 0;
  problem_draw(p, r, 1 + t_below(r, rows), 1 + t_below(r, 60), 1 + t_below(r, terms), f, f, &fc,
               named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t q = 0; q < 3; q++) {
    plain *x = q == 0 ? &p->a : q == 1 ? &p->b : &p->c;
    for (size_t e = 0; e < x->rows * x->columns; e++) {
      uint32_t zero = t_below(r, 2) ? minus : 0;
      if (q < 2) x->code[e] = t_below(r, 3) ? zero : one | (t_below(r, 2) ? l.sign_mask : 0);
      if (q < 2 && (e % x->columns == 0 || e / x->columns == 0)) x->code[e] = zero;
      if (q == 2) x->code[e] = hu_encode64(fc, t_mode(HU_RNE), zero ? -0.0 : 0.0, 0, NULL);
    }
  }
  problem_store_again(p);
  if (t_below(r, 3) == 0) p->has_c = 0;
}

void problem_draw_counters(t_problem *p, t_random *r, unsigned i, hu_format f, uint32_t columns, uint32_t terms) {
  problem_draw(p, r, 1 + t_below(r, 20), 1 + t_below(r, columns), 1 + t_below(r, terms), f, f, NULL, f, HU_ACCUM_EXACT);
  plain_refill(&p->a, r, -2, 4);
  plain_refill(&p->b, r, -2, 4);
  p->stream.counter = (i % 3 ? UINT64_C(1) << 32 : 0) - t_below(r, 300);
}

void problem_draw_block(t_problem *p, t_random *r, const size_t shape[3], hu_format f, int has_c) {
  problem_draw(p, r, shape[0], shape[1], shape[2], f, f, has_c ? &f : NULL, f, HU_ACCUM_EXACT);
  plain_refill(&p->a, r, -3, 3);
  plain_refill(&p->b, r, -3, 3);
}
