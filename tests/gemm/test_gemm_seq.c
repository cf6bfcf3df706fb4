/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) in lanes: at every kernel level and thread count the bytes and events of the element-by-element
 * integers (all levels off), for accumulators and operands of many formats; spot checks against hu_dot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"

#include "tests/gemm/problem.h"

static const uint32_t masks[] = {0, HU_LEVEL_AVX512, HU_LEVEL_AVX512 | HU_LEVEL_AVX2};

static const char *const sums[] = {"bfloat16",   "binary16",    "float8_e5m2",     "float8_e4m3fn", "fp(6,9,0)",
                                   "fp(8,11,0)", "fp(8,3,0)",   "float8_e4m3fnuz", "binary8p4se",   "fp(4,3,0):finite",
                                   "fp(5,1,0)",  "fp(8,7,-40)", "fp(8,7,20)",      "fp(6,5,30)",    "fp(7,11,-50)"};
static const char *const operands[] = {"bfloat16", "binary16",  "float8_e5m2",   "float8_e4m3fn",   "fp(6,9,0)",
                                       "binary32", "fp(8,3,0)", "float4_e2m1fn", "float8_e4m3fnuz", "fp(3,4,40)"};

enum { SUMS = sizeof sums / sizeof sums[0], OPERANDS = sizeof operands / sizeof operands[0] };

static hu_format format_of(const char *name) {
  hu_format f;
  assert_int_equal(hu_format_parse(&f, name, NULL), HU_OK);
  return f;
}

/* Finite numbers of exponents about `centre`, `width` of them; some have few digits (ties), some are zero. */
static void refill(plain *x, t_random *r, int centre, uint32_t width) {
  hu_limits l = hu_format_limits(x->format);
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
  int values = x->operand.storage == HU_VALUES, transposed = x->operand.transposed;
  free(x->stored);
  plain_store(x, r, values, transposed, t_below(r, 3));
}

/* An infinity or a NaN among many numbers. */
static void spoil(plain *x, t_random *r) {
  hu_limits l = hu_format_limits(x->format);
  size_t at = t_below(r, (uint32_t)(x->rows * x->columns));
  if (l.inf_code != HU_NO_CODE && t_below(r, 2)) {
    x->code[at] = l.inf_code;
  } else if (l.has_nan) {
    x->code[at] = l.nan_code;
  }
  int values = x->operand.storage == HU_VALUES, transposed = x->operand.transposed;
  free(x->stored);
  plain_store(x, r, values, transposed, 0);
}

static void all_the_same(const problem *p, const char *model, unsigned long *runs) {
  char text[PROBLEM_TEXT];
  outcome first = problem_run(p, 1, UINT32_MAX);
  if (first.status != HU_OK) fail_msg("%s: %s", problem_text(text, p), hu_status_name(first.status));
  for (size_t i = 0; i < 3; i++) {
    outcome o = problem_run(p, (uint32_t)i + 1, masks[i]);
    if (!outcome_same(&first, &o)) {
      size_t e = 0;
      while (e + 1 < p->m * p->n &&
             outcome_element(p, &first, e / p->n, e % p->n) == outcome_element(p, &o, e / p->n, e % p->n))
        e++;
      fail_msg("%s under %s, levels off %u: element %zu, %zu: %x, not %x", problem_text(text, p), model, masks[i],
               e / p->n, e % p->n, outcome_element(p, &o, e / p->n, e % p->n),
               outcome_element(p, &first, e / p->n, e % p->n));
    }
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

/* Element (i, j) of the best level against hu_dot. */
static void spot(const problem *p, t_random *r) {
  if (p->storage != HU_CODES || p->a.operand.storage != HU_CODES || p->b.operand.storage != HU_CODES || p->k == 0)
    return;
  if (p->has_c && p->c.operand.storage != HU_CODES) return;
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
    v[q]->data = (const uint8_t *)x[q]->data + (x[q]->transposed ? column * ld + row : row * ld + column) *
                                                   hu_format_limits(x[q]->format).storage / 8;
    v[q]->stride = (ptrdiff_t)((q == 0) != x[q]->transposed ? 1 : ld);
  }
  exec.stream = p->stream;
  exec.stream.counter += i * p->n + j;
  assert_int_equal(hu_dot_n(1, p->k, &code, 1, ez, &in, &p->accum, p->mode, &exec, NULL), HU_OK);
  assert_int_equal(code, outcome_element(p, &o, i, j));
  free(o.d);
}

static void draw(problem *p, t_random *r, const char *sum, char model[64]) {
  hu_format fa = format_of(operands[t_below(r, OPERANDS)]), fb = format_of(operands[t_below(r, OPERANDS)]);
  hu_format f = format_of(sum), fc = t_below(r, 2) ? f : format_of(operands[t_below(r, OPERANDS)]);
  if (t_below(r, 2)) fa = fb = f;
  int has_c = (int)t_below(r, 2), moderate = t_below(r, 4) != 0;
  size_t m = 1 + t_below(r, 30), n = 1 + t_below(r, t_below(r, 4) ? 40 : 120), k = t_below(r, t_below(r, 3) ? 40 : 400);
  problem_draw(p, r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(r, 2) ? f : fc, HU_ACCUM_EXACT);
  snprintf(model, 64, "seq(%s%s)", sum, t_below(r, 4) ? "" : ",rne,sat=finite");
  assert_int_equal(hu_accum_parse(&p->accum, model, NULL), HU_OK);
  if (!moderate || k == 0) return;
  hu_limits l = hu_format_limits(f);
  int low = t_below(r, 3) ? 0 : t_below(r, 2) ? l.emin / 2 - 4 : l.emax / 2 - 6;
  uint32_t width = t_below(r, 2) ? t_below(r, 8) : t_below(r, 24);
  refill(&p->a, r, low - (int)width / 2, width);
  refill(&p->b, r, low - (int)width / 2, width);
  if (has_c) refill(&p->c, r, 2 * low - (int)width / 2, width);
  if (t_below(r, 8) == 0) spoil(t_below(r, 2) ? &p->a : &p->b, r);
}

static void many(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq", 41)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 100 * SUMS; i++) {
    problem p;
    char model[64];
    draw(&p, &r, sums[i % SUMS], model);
    all_the_same(&p, model, &runs);
    spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm seq: %lu runs agree\n", runs);
}

/* The second product 2^d times the first one, for all d about what the lanes take and leave. */
static void jumps(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq jumps", 43)};
  unsigned long runs = 0;
  for (size_t q = 0; q < SUMS; q++) {
    hu_limits l = hu_format_limits(format_of(sums[q]));
    for (int d = 8; d < 34; d++) {
      for (int at = 0; at < 4; at++) {
        problem p;
        char model[64];
        hu_format f = format_of(t_below(&r, 2) ? sums[q] : "fp(8,3,0)");
        int first = at == 0 ? l.emin - 4 : at == 1 ? l.emin + 4 : at == 2 ? -d / 2 : -d, half = first / 2;
        problem_draw(&p, &r, 16, 96, 2, f, f, NULL, format_of("binary32"), HU_ACCUM_EXACT);
        for (size_t i = 0; i < 2; i++) {
          plain *x = i ? &p.b : &p.a;
          hu_mode mode = t_mode(HU_RTZ);
          hu_limits lx = hu_format_limits(f);
          mode.saturate = HU_SAT_FINITE;
          for (size_t e = 0; e < x->rows * x->columns; e++) {
            double v = 1 + t_below(&r, lx.max_code) % 256 / 256.;
            int exponent = i ? half : e % 2 ? first + d - half : first - half;
            for (; exponent > 0; exponent--) v *= 2;
            for (; exponent < 0; exponent++) v /= 2;
            x->code[e] = hu_encode64(f, mode, v, 0, NULL) | (t_below(&r, 2) ? lx.sign_mask : 0);
            if (lx.has_nan && x->code[e] == lx.nan_code) x->code[e] = 0;
          }
          free(x->stored);
          plain_store(x, &r, 0, 0, 0);
        }
        snprintf(model, sizeof model, "seq(%s)", sums[q]);
        assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
        all_the_same(&p, model, &runs);
        problem_free(&p);
      }
    }
  }
  print_message("gemm seq jumps: %lu runs agree\n", runs);
}

static double power(int e) {
  double v = 1;
  for (; e > 0; e--) v *= 2;
  for (; e < 0; e++) v /= 2;
  return v;
}

static void set(plain *x, size_t at, double v) { x->code[at] = hu_encode64(x->format, t_mode(HU_RTZ), v, 0, NULL); }

/* Row i, column j: an odd multiple of F's step and a product (1 + 2^-i) (1 - 2^-i) or (1 + 2^-i) of half the step (of a
 * quarter, below a power of two), of either sign: just beside a tie or on it. */
static void near_ties(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq ties", 44)};
  unsigned long runs = 0;
  for (size_t q = 0; q < SUMS; q++) {
    for (size_t o = 0; o < OPERANDS * OPERANDS; o++) {
      problem p;
      char model[64];
      hu_limits l = hu_format_limits(format_of(sums[q]));
      int digits = 1, base = l.emin > 0 ? l.emin + 2 : l.emax < 2 ? l.emax - 2 : 0;
      while (digits < 12 && l.min_normal_code >> digits) digits++; /* 2^m is the least normal code */
      problem_draw(&p, &r, 24, 48, 2, format_of(operands[o % OPERANDS]), format_of(operands[o / OPERANDS]), NULL,
                   format_of("binary32"), HU_ACCUM_EXACT);
      for (size_t i = 0; i < 24; i++) {
        double start = power(base) * (i % 3 ? 1 + power(1 - digits) * (double)(i % 3) : 1);
        set(&p.a, 2 * i, start);
        set(&p.a, 2 * i + 1, (1 + power(-(int)(i % 12) - 1)) * power(base - digits - (int)t_below(&r, 2)));
        if (i > 11) p.a.code[2 * i + 1] |= hu_format_limits(p.a.format).sign_mask;
      }
      for (size_t j = 0; j < 48; j++) {
        set(&p.b, j, 1);
        set(&p.b, 48 + j, j % 13 ? j < 26 ? 1 - power(-(int)(j % 13)) : 1 + power(-(int)(j % 13)) : 1);
      }
      free(p.a.stored);
      free(p.b.stored);
      plain_store(&p.a, &r, 0, 0, 0);
      plain_store(&p.b, &r, 0, 0, 0);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      all_the_same(&p, model, &runs);
      problem_free(&p);
    }
  }
  print_message("gemm seq near ties: %lu runs agree\n", runs);
}

/* C about F's largest number and products some binades below: sums overflow, and what was finite comes back. */
static void near_top(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq top", 45)};
  unsigned long runs = 0;
  for (size_t q = 0; q < SUMS; q++) {
    hu_format f = format_of(sums[q]);
    for (int below = 4; below < 16; below++) {
      problem p;
      char model[64];
      int e = hu_format_limits(f).emax - below;
      hu_format x = below % 2 ? f : format_of("fp(8,3,0)"); /* few digits, so that more ways are open */
      problem_draw(&p, &r, 20, 60, 1 + t_below(&r, 100), x, x, &f, format_of("binary32"), HU_ACCUM_EXACT);
      refill(&p.a, &r, e / 2, 0);
      refill(&p.b, &r, e - e / 2, 0);
      for (size_t i = 0; i < p.m * p.n; i++) p.c.code[i] = hu_format_limits(f).max_code - t_below(&r, 3);
      free(p.c.stored);
      plain_store(&p.c, &r, 0, 0, 0);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      all_the_same(&p, model, &runs);
      problem_free(&p);
    }
  }
  print_message("gemm seq near the top: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{300, 3, 20}, {3, 400, 20}, {2, 3, 2000}, {70, 60, 170}};
  t_random r = {t_seed("gemm seq blocks", 42)};
  unsigned long runs = 0;
  for (size_t s = 0; s < 4; s++) {
    for (size_t q = 0; q < SUMS; q++) {
      problem p;
      char model[64];
      hu_format f = format_of(sums[q]);
      problem_draw(&p, &r, shapes[s][0], shapes[s][1], shapes[s][2], f, f, q % 2 ? &f : NULL, f, HU_ACCUM_EXACT);
      refill(&p.a, &r, -3, 3);
      refill(&p.b, &r, -3, 3);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      all_the_same(&p, model, &runs);
      problem_free(&p);
    }
  }
  print_message("gemm seq beyond blocks: %lu runs agree\n", runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(jumps), cmocka_unit_test(near_ties),
                                     cmocka_unit_test(near_top), cmocka_unit_test(beyond_blocks)};
  return cmocka_run_group_tests_name("gemm seq", tests, NULL, NULL);
}
