/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) in every mode but ties to even in lanes: at every kernel level and thread count the bytes and
 * events of the element-by-element integers, random words included; spot checks against hu_dot. */
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
                                   "fp(8,12,0)", "fp(8,3,0)",   "float8_e4m3fnuz", "binary8p4se",   "fp(4,3,0):finite",
                                   "fp(5,1,0)",  "fp(8,7,-40)", "fp(8,7,20)",      "fp(6,5,30)",    "fp(7,17,-50)",
                                   "binary32",   "fp(8,22,0)",  "fp(8,20,0)"};
static const char *const operands[] = {"bfloat16", "binary16",  "float8_e5m2",   "float8_e4m3fn",   "fp(6,9,0)",
                                       "binary32", "fp(8,3,0)", "float4_e2m1fn", "float8_e4m3fnuz", "fp(3,4,40)"};
static const char *const modes[] = {"rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto", "sra", "srb", "src"};

enum { SUMS = sizeof sums / sizeof sums[0], OPERANDS = sizeof operands / sizeof operands[0], MODES = 10 };

/* Mode number i with any number of random bits, often the most that lanes serve; fused, or not, perhaps with another
 * format for products. */
static void write_model(char text[80], unsigned i, const char *f, t_random *r) {
  static const char *const ends[] = {"", "", ",sat=finite", ",sat=propagate", ",sat=none"};
  const char *end = ends[t_below(r, 5)], *mode = modes[i % MODES];
  char model[48], digits[8] = "";
  int d = 23 - (int)named_format(f).m, bits = t_below(r, 3) ? d - (int)t_below(r, 4) + 1 : 1 + (int)t_below(r, 32);
  if (i % MODES >= 7) snprintf(digits, sizeof digits, ":%d", bits < 1 ? 1 : bits);
  snprintf(model, sizeof model, t_below(r, 2) ? "seq(%s" : "seq2(%s", f);
  if (t_below(r, 4) == 0) snprintf(model, sizeof model, "seq2(%s,%s", sums[t_below(r, SUMS)], f);
  snprintf(text, 80, "%s,%s%s%s)", model, mode, digits, end);
}

static void set_model(problem *p, const char *text) {
  if (hu_accum_parse(&p->accum, text, NULL) != HU_OK) fail_msg("no model: %s", text);
}

static void many(void **state) {
  (void)state;
  t_random r = {t_seed("gemm modes", 61)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 6 * MODES * SUMS; i++) {
    problem p;
    char model[80];
    const char *name = sums[i % SUMS];
    hu_format fa = named_format(operands[t_below(&r, OPERANDS)]), fb = named_format(operands[t_below(&r, OPERANDS)]);
    hu_format f = named_format(name), fc = t_below(&r, 2) ? f : named_format(operands[t_below(&r, OPERANDS)]);
    if (t_below(&r, 2)) fa = fb = f;
    int has_c = (int)t_below(&r, 2), moderate = t_below(&r, 4) != 0;
    size_t m = 1 + t_below(&r, 20), n = 1 + t_below(&r, t_below(&r, 4) ? 40 : 120);
    size_t k = t_below(&r, t_below(&r, 3) ? 30 : 200);
    problem_draw(&p, &r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(&r, 2) ? f : fc, HU_ACCUM_EXACT);
    write_model(model, i / SUMS, name, &r);
    set_model(&p, model);
    if (moderate && k) {
      hu_limits l = hu_limits_of(f);
      int low = t_below(&r, 3) ? 0 : t_below(&r, 2) ? l.emin / 2 - 4 : l.emax / 2 - 6;
      uint32_t width = t_below(&r, 2) ? t_below(&r, 8) : t_below(&r, 24);
      plain_refill(&p.a, &r, low - (int)width / 2, width);
      plain_refill(&p.b, &r, low - (int)width / 2, width);
      if (has_c) plain_refill(&p.c, &r, 2 * low - (int)width / 2, width);
      if (t_below(&r, 8) == 0) plain_spoil(t_below(&r, 2) ? &p.a : &p.b, &r);
    }
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm modes: %lu runs agree\n", runs);
}

/* C a number of F, one or two products so small that they decide a last digit by being there, or half a step, or just
 * beside it, of either sign; C also at both ends of the range. */
static void beside_the_grid(void **state) {
  (void)state;
  t_random r = {t_seed("gemm modes grid", 62)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 6 * MODES * SUMS; i++) {
    problem p;
    char model[80];
    const char *name = sums[i % SUMS];
    hu_format f = named_format(name), x = named_format(t_below(&r, 2) ? "binary32" : "fp(8,11,0)");
    hu_limits l = hu_limits_of(f);
    int m = f.m, places[] = {0, l.emin, l.emin - m, l.emax}, base = places[t_below(&r, 4)];
    if (base < l.emin - m || base > l.emax) base = l.emax;
    size_t k = 1 + t_below(&r, 2);
    problem_draw(&p, &r, 12, 48, k, x, x, &f, t_below(&r, 2) ? f : x, HU_ACCUM_EXACT);
    for (size_t e = 0; e < 12 * k; e++) {
      int down = t_below(&r, 2) ? (int)(e / k) : (int)t_below(&r, 30);
      plain_set(&p.a, e, power_of_two(base - m < -140 ? -100 : base - m) * power_of_two(-down));
    }
    for (size_t e = 0; e < 48 * k; e++) {
      plain_set(&p.b, e,
                e % 3 == 0   ? 1
                : e % 3 == 1 ? 1 + power_of_two(-(int)(e % 23))
                             : 2 - power_of_two(-(int)(e % 23)));
      if (t_below(&r, 2)) p.b.code[e] |= hu_limits_of(x).sign_mask;
    }
    for (size_t e = 0; e < 12 * 48; e++) {
      plain_set(&p.c, e,
                power_of_two(base) * (1 + (t_below(&r, 2) ? power_of_two(-m) * (double)t_below(&r, 1u << m) : 0)));
      if (t_below(&r, 4) == 0) p.c.code[e] = l.max_code;
      if (t_below(&r, 2)) p.c.code[e] |= l.sign_mask;
      if (l.has_nan && p.c.code[e] == l.nan_code) p.c.code[e] = 0;
    }
    plain *all[] = {&p.a, &p.b, &p.c};
    for (size_t q = 0; q < 3; q++) {
      plain_store_again(all[q], 0, 0, 0);
    }
    write_model(model, i / SUMS, name, &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm modes beside the grid: %lu runs agree\n", runs);
}

/* Counters about 2^32 and 2^64: the words of neighbours come from blocks of different upper halves. */
static void counters(void **state) {
  (void)state;
  t_random r = {t_seed("gemm modes counters", 63)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 60; i++) {
    problem p;
    char model[80];
    hu_format f = named_format(sums[i % 2]);
    problem_draw(&p, &r, 1 + t_below(&r, 20), 1 + t_below(&r, 70), 1 + t_below(&r, 100), f, f, NULL, f, HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, -2, 4);
    plain_refill(&p.b, &r, -2, 4);
    p.stream.counter = (i % 3 ? UINT64_C(1) << 32 : 0) - t_below(&r, 300);
    snprintf(model, sizeof model, i % 4 < 2 ? "seq(%s,%s:%d)" : "seq2(%s,%s:%d)", sums[i % 2], modes[7 + i / 2 % 3],
             8 + (int)t_below(&r, 4));
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm modes, counters: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{300, 3, 10}, {3, 400, 10}, {2, 3, 900}, {40, 60, 170}};
  t_random r = {t_seed("gemm modes blocks", 64)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 4 * MODES; i++) {
    problem p;
    char model[80];
    const size_t *s = shapes[i % 4];
    hu_format f = named_format(sums[i % 5]);
    problem_draw(&p, &r, s[0], s[1], s[2], f, f, i % 2 ? &f : NULL, f, HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, -3, 3);
    plain_refill(&p.b, &r, -3, 3);
    write_model(model, i / 4, sums[i % 5], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm modes beyond blocks: %lu runs agree\n", runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(beside_the_grid),
                                     cmocka_unit_test(counters), cmocka_unit_test(beyond_blocks)};
  return cmocka_run_group_tests_name("gemm modes", tests, NULL, NULL);
}
