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

#include "tests/gemm/models.h"

static const char *const sums[] = {"bfloat16",   "binary16",    "float8_e5m2",     "float8_e4m3fn", "fp(6,9,0)",
                                   "fp(8,11,0)", "fp(8,3,0)",   "float8_e4m3fnuz", "binary8p4se",   "fp(4,3,0):finite",
                                   "fp(5,1,0)",  "fp(8,7,-40)", "fp(8,7,20)",      "fp(6,5,30)",    "fp(7,11,-50)"};
static const char *const operands[] = {"bfloat16", "binary16",  "float8_e5m2",   "float8_e4m3fn",   "fp(6,9,0)",
                                       "binary32", "fp(8,3,0)", "float4_e2m1fn", "float8_e4m3fnuz", "fp(3,4,40)"};

enum { SUMS = sizeof sums / sizeof sums[0], OPERANDS = sizeof operands / sizeof operands[0] };

static void draw(problem *p, t_random *r, const char *sum, char model[64]) {
  hu_format fa = named_format(operands[t_below(r, OPERANDS)]), fb = named_format(operands[t_below(r, OPERANDS)]);
  hu_format f = named_format(sum), fc = t_below(r, 2) ? f : named_format(operands[t_below(r, OPERANDS)]);
  if (t_below(r, 2)) fa = fb = f;
  int has_c = (int)t_below(r, 2), moderate = t_below(r, 4) != 0;
  size_t m = 1 + t_below(r, 30), n = 1 + t_below(r, t_below(r, 4) ? 40 : 120), k = t_below(r, t_below(r, 3) ? 40 : 400);
  problem_draw(p, r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(r, 2) ? f : fc, HU_ACCUM_EXACT);
  snprintf(model, 64, "seq(%s%s)", sum, t_below(r, 4) ? "" : ",rne,sat=finite");
  assert_int_equal(hu_accum_parse(&p->accum, model, NULL), HU_OK);
  if (!moderate || k == 0) return;
  hu_limits l = hu_limits_of(f);
  int low = t_below(r, 3) ? 0 : t_below(r, 2) ? l.emin / 2 - 4 : l.emax / 2 - 6;
  uint32_t width = t_below(r, 2) ? t_below(r, 8) : t_below(r, 24);
  plain_refill(&p->a, r, low - (int)width / 2, width);
  plain_refill(&p->b, r, low - (int)width / 2, width);
  if (has_c) plain_refill(&p->c, r, 2 * low - (int)width / 2, width);
  if (t_below(r, 8) == 0) plain_spoil(t_below(r, 2) ? &p->a : &p->b, r);
}

static void many(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq", 41)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < t_runs(100 * SUMS); i++) {
    problem p;
    char model[64];
    draw(&p, &r, sums[i % SUMS], model);
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
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
    hu_limits l = hu_limits_of(named_format(sums[q]));
    for (int d = 8; d < 34; d++) {
      for (int at = 0; at < 4; at++) {
        if (t_part(100) < 100 && (d + (int)q) % 4 != at) continue;
        problem p;
        char model[64];
        hu_format f = named_format(t_below(&r, 2) ? sums[q] : "fp(8,3,0)");
        int first = at == 0 ? l.emin - 4 : at == 1 ? l.emin + 4 : at == 2 ? -d / 2 : -d, half = first / 2;
        problem_draw(&p, &r, 16, 96, 2, f, f, NULL, named_format("binary32"), HU_ACCUM_EXACT);
        for (size_t i = 0; i < 2; i++) {
          plain *x = i ? &p.b : &p.a;
          hu_mode mode = t_mode(HU_RTZ);
          hu_limits lx = hu_limits_of(f);
          mode.saturate = HU_SAT_FINITE;
          for (size_t e = 0; e < x->rows * x->columns; e++) {
            double v = 1 + t_below(&r, lx.max_code) % 256 / 256.;
            int exponent = i ? half : e % 2 ? first + d - half : first - half;
            for (; exponent > 0; exponent--) v *= 2;
            for (; exponent < 0; exponent++) v /= 2;
            x->code[e] = hu_encode64(f, mode, v, 0, NULL) | (t_below(&r, 2) ? lx.sign_mask : 0);
            if (lx.has_nan && x->code[e] == lx.nan_code) x->code[e] = 0;
          }
          plain_store_again(x, 0, 0, 0);
        }
        snprintf(model, sizeof model, "seq(%s)", sums[q]);
        assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
        problem_same_at_levels(&p, model, &runs);
        problem_free(&p);
      }
    }
  }
  print_message("gemm seq jumps: %lu runs agree\n", runs);
}

/* One product, 2^d times C: often half a step from F's grid, so that all of C decides. */
static void jumps_from_c(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq jumps from C", 46)};
  unsigned long runs = 0;
  for (size_t q = 0; q < SUMS; q++) {
    hu_format f = named_format(sums[q]), x = named_format(t_below(&r, 2) ? "fp(8,3,0)" : "fp(8,5,0)");
    hu_limits l = hu_limits_of(f);
    int digits = 1;
    while (digits < 12 && l.min_normal_code >> digits) digits++; /* 2^m is the least normal code */
    for (int d = 10; d < 34; d++) {
      problem p;
      char model[64];
      int top = l.emax < 60 ? l.emax - 2 : d / 2;
      problem_draw(&p, &r, 16, 96, 1, x, x, &f, named_format("binary32"), HU_ACCUM_EXACT);
      for (size_t i = 0; i < 16; i++) plain_set(&p.a, i, 1 + power_of_two(-(int)t_below(&r, 6)));
      for (size_t j = 0; j < 96; j++)
        plain_set(&p.b, j,
                  power_of_two(top) * (j % 2 ? 1 + power_of_two(-(int)t_below(&r, 6)) : 1 + power_of_two(-digits)));
      for (size_t e = 0; e < 16 * 96; e++) {
        plain_set(&p.c, e, power_of_two(top - d) * (1 + power_of_two(-(int)t_below(&r, 4))));
        if (t_below(&r, 2)) p.c.code[e] |= l.sign_mask;
      }
      plain_store_again(&p.a, 0, 0, 0);
      plain_store_again(&p.b, 0, 0, 0);
      plain_store_again(&p.c, 0, 0, 0);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      problem_same_at_levels(&p, model, &runs);
      problem_free(&p);
    }
  }
  print_message("gemm seq jumps from C: %lu runs agree\n", runs);
}

/* Row i, column j: an odd multiple of F's step and a product (1 + 2^-i) (1 - 2^-i) or (1 + 2^-i) of half the step (of a
 * quarter, below a power of two), of either sign: just beside a tie or on it. */
static void near_ties(void **state) {
  (void)state;
  t_random r = {t_seed("gemm seq ties", 44)};
  unsigned long runs = 0;
  for (size_t q = 0; q < SUMS; q++) {
    for (size_t o = 0; o < OPERANDS * OPERANDS; o++) {
      if (t_part(100) < 100 && (o / OPERANDS + o + q) % 4 != 0) continue;
      problem p;
      char model[64];
      hu_limits l = hu_limits_of(named_format(sums[q]));
      int digits = 1, base = l.emin > 0 ? l.emin + 2 : l.emax < 2 ? l.emax - 2 : 0;
      while (digits < 12 && l.min_normal_code >> digits) digits++; /* 2^m is the least normal code */
      problem_draw(&p, &r, 24, 48, 2, named_format(operands[o % OPERANDS]), named_format(operands[o / OPERANDS]), NULL,
                   named_format("binary32"), HU_ACCUM_EXACT);
      for (size_t i = 0; i < 24; i++) {
        double start = power_of_two(base) * (i % 3 ? 1 + power_of_two(1 - digits) * (double)(i % 3) : 1);
        plain_set(&p.a, 2 * i, start);
        plain_set(&p.a, 2 * i + 1,
                  (1 + power_of_two(-(int)(i % 12) - 1)) * power_of_two(base - digits - (int)t_below(&r, 2)));
        if (i > 11) p.a.code[2 * i + 1] |= hu_limits_of(p.a.format).sign_mask;
      }
      for (size_t j = 0; j < 48; j++) {
        plain_set(&p.b, j, 1);
        plain_set(&p.b, 48 + j,
                  j % 13 ? j < 26 ? 1 - power_of_two(-(int)(j % 13)) : 1 + power_of_two(-(int)(j % 13)) : 1);
      }
      plain_store_again(&p.a, 0, 0, 0);
      plain_store_again(&p.b, 0, 0, 0);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      problem_same_at_levels(&p, model, &runs);
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
    hu_format f = named_format(sums[q]);
    for (int below = 4; below < 16; below++) {
      if (t_part(100) < 100 && (below + (int)q) % 3 != 0) continue;
      problem p;
      char model[64];
      int e = hu_limits_of(f).emax - below;
      hu_format x = below % 2 ? f : named_format("fp(8,3,0)"); /* few digits, so that more ways are open */
      problem_draw(&p, &r, 20, 60, 1 + t_below(&r, 100), x, x, &f, named_format("binary32"), HU_ACCUM_EXACT);
      plain_refill(&p.a, &r, e / 2, 0);
      plain_refill(&p.b, &r, e - e / 2, 0);
      for (size_t i = 0; i < p.m * p.n; i++) p.c.code[i] = hu_limits_of(f).max_code - t_below(&r, 3);
      plain_store_again(&p.c, 0, 0, 0);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      problem_same_at_levels(&p, model, &runs);
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
      hu_format f = named_format(sums[q]);
      problem_draw(&p, &r, shapes[s][0], shapes[s][1], shapes[s][2], f, f, q % 2 ? &f : NULL, f, HU_ACCUM_EXACT);
      plain_refill(&p.a, &r, -3, 3);
      plain_refill(&p.b, &r, -3, 3);
      snprintf(model, sizeof model, "seq(%s)", sums[q]);
      assert_int_equal(hu_accum_parse(&p.accum, model, NULL), HU_OK);
      problem_same_at_levels(&p, model, &runs);
      problem_free(&p);
    }
  }
  print_message("gemm seq beyond blocks: %lu runs agree\n", runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many),         cmocka_unit_test(jumps),
                                     cmocka_unit_test(jumps_from_c), cmocka_unit_test(near_ties),
                                     cmocka_unit_test(near_top),     cmocka_unit_test(beyond_blocks)};
  return cmocka_run_group_tests_name("gemm seq", tests, NULL, NULL);
}
