/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq2, chunk, kahan, neumaier and promotions of them in lanes: at every kernel level and thread count
 * the bytes and events of the element-by-element integers; spot checks against hu_dot. */
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

static const char *const formats[] = {"bfloat16",    "binary16",         "float8_e5m2", "float8_e4m3fn",
                                      "fp(6,9,0)",   "fp(8,10,0)",       "fp(8,3,0)",   "float8_e4m3fnuz",
                                      "binary8p4se", "fp(4,3,0):finite", "fp(5,1,0)",   "fp(8,7,-40)",
                                      "fp(8,7,20)",  "fp(6,5,30)",       "fp(7,10,-50)"};
static const char *const operands[] = {"bfloat16", "binary16",  "float8_e5m2",   "float8_e4m3fn",   "fp(6,9,0)",
                                       "binary32", "fp(8,3,0)", "float4_e2m1fn", "float8_e4m3fnuz", "fp(3,4,40)"};

enum { FORMATS = sizeof formats / sizeof formats[0], OPERANDS = sizeof operands / sizeof operands[0] };
enum { MODELS = 11, REPEAT = HU_EXHAUSTIVE ? 4 : 1 };

/* Is problem number i one of the part that HU_TEST_COUNT asks for? It has every model and every format. */
static int is_asked(unsigned i) { return t_part(100) == 100 || (i / FORMATS + i % FORMATS) % 3 == 0; }

/* Model number i of a format; other: any format. */
static void write_model(char text[160], unsigned i, const char *f, const char *other, t_random *r) {
  static const char *const ends[] = {"", "", ",rne,sat=finite", ",rne,sat=propagate"};
  static const int lengths[] = {1, 2, 3, 7, 16, 32, 64, 79, 80, 81, 128, 200, 1000};
  const char *end = ends[t_below(r, 4)];
  int length = lengths[t_below(r, sizeof lengths / sizeof lengths[0])];
  switch (i % MODELS) {
    case 0: snprintf(text, 160, "seq2(%s%s)", f, end); break;
    case 1: snprintf(text, 160, "seq2(%s,%s%s)", other, f, end); break;
    case 2: snprintf(text, 160, "chunk(%d,%s,%s%s)", length, f, other, end); break;
    case 3: snprintf(text, 160, "chunk(%d,%s,%s%s)", length, other, f, end); break;
    case 4: snprintf(text, 160, "chunk(%d,%s,binary32%s)", length, f, end); break;
    case 5: snprintf(text, 160, "kahan(%s%s)", f, end); break;
    case 6: snprintf(text, 160, "neumaier(%s%s)", f, end); break;
    case 7: snprintf(text, 160, "promote(%d,seq2(%s,%s%s),binary32)", length, other, f, end); break;
    case 8: snprintf(text, 160, "promote(%d,kahan(%s%s),%s)", length, f, end, other); break;
    case 9: snprintf(text, 160, "promote(%d,neumaier(%s%s),binary32)", length, f, end); break;
    default: snprintf(text, 160, "promote(%d,seq2(%s%s),%s)", length, other, end, f); break;
  }
}

static void set_model(problem *p, const char *text) {
  if (hu_accum_parse(&p->accum, text, NULL) != HU_OK) fail_msg("no model: %s", text);
}

static void draw(problem *p, t_random *r, unsigned i, char model[160]) {
  const char *name = formats[i % FORMATS];
  hu_format fa = named_format(operands[t_below(r, OPERANDS)]), fb = named_format(operands[t_below(r, OPERANDS)]);
  hu_format f = named_format(name), fc = t_below(r, 2) ? f : named_format(operands[t_below(r, OPERANDS)]);
  if (t_below(r, 2)) fa = fb = f;
  int has_c = (int)t_below(r, 2), moderate = t_below(r, 4) != 0;
  size_t m = 1 + t_below(r, 30), n = 1 + t_below(r, t_below(r, 4) ? 40 : 120), k = t_below(r, t_below(r, 3) ? 40 : 400);
  problem_draw(p, r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(r, 2) ? f : fc, HU_ACCUM_EXACT);
  write_model(model, i / FORMATS, name, formats[t_below(r, 3) ? i % FORMATS : t_below(r, FORMATS)], r);
  set_model(p, model);
  if (!moderate || k == 0) return;
  hu_limits l = hu_limits_of(f);
  int low = t_below(r, 3) ? 0 : t_below(r, 2) ? l.emin / 2 - 4 : l.emax / 2 - 6;
  uint32_t width = t_below(r, 2) ? t_below(r, 8) : t_below(r, 24);
  plain_refill(&p->a, r, low - (int)width / 2, width);
  plain_refill(&p->b, r, low - (int)width / 2, width);
  if (has_c) plain_refill(&p->c, r, 2 * low - (int)width / 2, width);
  if (t_below(r, 8) == 0) plain_spoil(t_below(r, 2) ? &p->a : &p->b, r);
  if (has_c && t_below(r, 16) == 0) plain_spoil(&p->c, r);
}

static void many(void **state) {
  (void)state;
  t_random r = {t_seed("gemm steps", 51)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * FORMATS; i++) {
    problem p;
    char model[160];
    if (!is_asked(i)) continue;
    draw(&p, &r, i, model);
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm steps: %lu runs agree\n", runs);
}

/* C = s (1 + r 2^-m), products +-2^-j (1 + d 2^-m) of s for all j up to where nothing is left of them, so that sums lie
 * on ties, just beside them and far from them: what two roundings could get wrong. */
static void near_ties(void **state) {
  (void)state;
  t_random r = {t_seed("gemm steps ties", 52)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * FORMATS; i++) {
    problem p;
    char model[160];
    if (!is_asked(i)) continue;
    const char *name = formats[i % FORMATS];
    hu_format f = named_format(name);
    hu_limits l = hu_limits_of(f);
    int digits = 0, places[] = {0, l.emin + 1, l.emax - 2}, base = places[t_below(&r, 3)];
    while (digits < 12 && l.min_normal_code >> (digits + 1)) digits++; /* 2^m is the least normal code */
    if (base > l.emax - 2 || base < l.emin) base = l.emax - 2;
    size_t k = 1 + t_below(&r, 4);
    problem_draw(&p, &r, 30, 48, k, f, f, &f, f, HU_ACCUM_EXACT);
    for (size_t e = 0; e < 30 * k; e++) plain_set(&p.a, e, power_of_two(base - (int)(e / k)));
    for (size_t e = 0; e < 48 * k; e++) {
      plain_set(&p.b, e, 1 + power_of_two(-digits) * (double)t_below(&r, t_below(&r, 2) ? 4 : 1u << digits));
      if (t_below(&r, 2)) p.b.code[e] |= l.sign_mask;
    }
    for (size_t e = 0; e < 30 * 48; e++) {
      double far = power_of_two(-digits) * (double)t_below(&r, 1u << digits);
      plain_set(&p.c, e, power_of_two(base) * (1 + (t_below(&r, 3) ? far : 0)));
    }
    plain_store_again(&p.a, 0, 0, 0);
    plain_store_again(&p.b, 0, 0, 0);
    plain_store_again(&p.c, 0, 0, 0);
    write_model(model, i / FORMATS, name, formats[t_below(&r, FORMATS)], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm steps near ties: %lu runs agree\n", runs);
}

/* C about the largest number and products some binades below: sums overflow, and what was finite comes back. */
static void near_top(void **state) {
  (void)state;
  t_random r = {t_seed("gemm steps top", 53)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * FORMATS; i++) {
    problem p;
    char model[160];
    if (!is_asked(i)) continue;
    const char *name = formats[i % FORMATS];
    hu_format f = named_format(name);
    int e = hu_limits_of(f).emax - 4 - (int)t_below(&r, 12);
    hu_format x = t_below(&r, 2) ? f : named_format("fp(8,3,0)");
    problem_draw(&p, &r, 20, 60, 1 + t_below(&r, 100), x, x, t_below(&r, 3) ? &f : NULL, named_format("binary32"),
                 HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, e / 2, t_below(&r, 2));
    plain_refill(&p.b, &r, e - e / 2, t_below(&r, 2));
    if (p.has_c) {
      for (size_t q = 0; q < p.m * p.n; q++) p.c.code[q] = hu_limits_of(f).max_code - t_below(&r, 3);
      plain_store_again(&p.c, 0, 0, 0);
    }
    write_model(model, i / FORMATS, name, formats[i % FORMATS], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm steps near the top: %lu runs agree\n", runs);
}

/* Zeros of both signs, among them rows and columns of nothing else, and sums that cancel. */
static void zeros(void **state) {
  (void)state;
  t_random r = {t_seed("gemm steps zeros", 54)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * FORMATS; i++) {
    problem p;
    char model[160];
    if (!is_asked(i)) continue;
    const char *name = formats[i % FORMATS];
    hu_format f = named_format(name), fd = named_format("binary32"), fc = t_below(&r, 2) ? f : named_format("bfloat16");
    hu_limits l = hu_limits_of(f);
    uint32_t one = (l.max_code / 2) & ~7u, minus = f.negzero ? l.sign_mask : 0;
    problem_draw(&p, &r, 1 + t_below(&r, 12), 1 + t_below(&r, 60), 1 + t_below(&r, 90), f, f, &fc, fd, HU_ACCUM_EXACT);
    p.mode = t_mode(HU_RNE);
    for (size_t q = 0; q < 3; q++) {
      plain *x = q == 0 ? &p.a : q == 1 ? &p.b : &p.c;
      for (size_t e = 0; e < x->rows * x->columns; e++) {
        uint32_t zero = t_below(&r, 2) ? minus : 0;
        if (q < 2) x->code[e] = t_below(&r, 3) ? zero : one | (t_below(&r, 2) ? l.sign_mask : 0);
        if (q < 2 && (e % x->columns == 0 || e / x->columns == 0)) x->code[e] = zero;
        if (q == 2) x->code[e] = hu_encode64(fc, t_mode(HU_RNE), zero ? -0.0 : 0.0, 0, NULL);
      }
      plain_store_again(x, 0, 0, 0);
    }
    if (t_below(&r, 3) == 0) p.has_c = 0;
    write_model(model, i / FORMATS, name, formats[t_below(&r, FORMATS)], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm steps with zeros: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{150, 3, 20}, {3, 400, 20}, {2, 3, 1000}, {70, 60, 170}};
  t_random r = {t_seed("gemm steps blocks", 55)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 4 * MODELS * 3; i++) {
    problem p;
    char model[160];
    if (t_part(100) < 100 && i / 4 % 3 != 0) continue; /* each model once */
    const size_t *s = shapes[i % 4];
    hu_format f = named_format(formats[i % 5]);
    problem_draw(&p, &r, s[0], s[1], s[2], f, f, i % 2 ? &f : NULL, f, HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, -3, 3);
    plain_refill(&p.b, &r, -3, 3);
    write_model(model, i / 4, formats[i % 5], formats[i % 5], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm steps beyond blocks: %lu runs agree\n", runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(near_ties), cmocka_unit_test(near_top),
                                     cmocka_unit_test(zeros), cmocka_unit_test(beyond_blocks)};
  return cmocka_run_group_tests_name("gemm steps", tests, NULL, NULL);
}
