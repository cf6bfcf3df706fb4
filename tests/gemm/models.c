/* SPDX-License-Identifier: MIT */
/* tests/gemm/models.c - see models.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"

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

void problem_same_at_levels(const problem *p, const char *model, unsigned long *runs) {
  char text[PROBLEM_TEXT];
  outcome first = problem_run(p, 1, UINT32_MAX);
  if (first.status != HU_OK) fail_msg("%s under %s: %s", problem_text(text, p), model, hu_status_name(first.status));
  const unsigned long before = *runs;
  for (size_t i = 0; i < t_levels(); i++) {
    if (!level_is_asked(t_level_bit(i), model, before)) continue;
    outcome o = problem_run(p, (uint32_t)i + 1, t_levels_off(i));
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
    outcome o = problem_run_in_place(p, 2, 0);
    assert_true(outcome_same(&first, &o));
    free(o.d);
  }
  free(first.d);
}

void problem_spot(const problem *p, t_random *r) {
  if (p->storage != HU_STORAGE_CODES || p->a.operand.storage != HU_STORAGE_CODES ||
      p->b.operand.storage != HU_STORAGE_CODES || p->k == 0)
    return;
  if (p->has_c && p->c.operand.storage != HU_STORAGE_CODES) return;
  outcome o = problem_run(p, 1, 0);
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
