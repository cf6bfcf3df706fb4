/* SPDX-License-Identifier: MIT */
/* hu_gemm under trees, compensated sums, chunks, parts and slices in every mode, in lanes: at every kernel level and
 * thread count the bytes and events of the element-by-element integers, random words included; spot checks against
 * hu_dot. */
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

static const char *const sums[] = {"bfloat16",    "binary16",    "float8_e5m2",      "float8_e4m3fn",
                                   "fp(6,9,0)",   "fp(8,12,0)",  "float8_e4m3fnuz",  "fp(8,3,0)",
                                   "fp(8,7,-40)", "binary8p4se", "fp(8,7,20)",       "fp(6,5,30)",
                                   "fp(5,1,0)",   "binary32",    "fp(4,3,0):finite", "fp(7,17,-50)"};
static const char *const operands[] = {"bfloat16",  "binary16", "float8_e5m2",   "float8_e4m3fn",   "fp(6,9,0)",
                                       "fp(8,3,0)", "binary32", "float4_e2m1fn", "float8_e4m3fnuz", "fp(3,4,40)"};
static const char *const modes[] = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto", "sra", "srb", "src"};
static const char *const presets[] = {"nv.hopper.f16.f32", "amd.cdna3.bf16.k4", "nv.hopper.e4m3.f32.wgmma",
                                      "intel.vdpbf16ps"};

enum { SUMS = sizeof sums / sizeof sums[0], OPERANDS = sizeof operands / sizeof operands[0], MODES = 11 };
enum { MODELS = 15, REPEAT = HU_EXHAUSTIVE ? 4 : 1 };

/* A mode with any number of random bits, often the most that lanes serve, and a policy. */
static void write_mode(char text[40], const char *mode, const char *f, t_random *r) {
  static const char *const ends[] = {"", "", ",sat=finite", ",sat=propagate", ",sat=none"};
  int d = 23 - (int)named_format(f).m, bits = t_below(r, 3) ? d - (int)t_below(r, 4) + 1 : 1 + (int)t_below(r, 32);
  const char *end = ends[t_below(r, 5)];
  if (mode[0] == 's') {
    snprintf(text, 40, "%s:%d%s", mode, bits < 1 ? 1 : bits > 32 ? 32 : bits, end);
  } else {
    snprintf(text, 40, "%s%s", mode, end);
  }
}

/* Model number i of a format and a mode; other: any format. */
static void write_model(char text[200], unsigned i, const char *f, const char *other, const char *mode, t_random *r) {
  static const int lengths[] = {1, 2, 3, 7, 16, 32, 63, 64, 65, 128, 200, 1000};
  static const char *const trees[] = {"pairwise", "strided", "kahan", "neumaier", "seq", "seq2"};
  const int n = lengths[t_below(r, 12)], s = 1 + (int)t_below(r, t_below(r, 4) ? 5 : 60);
  const char *tree = trees[t_below(r, 6)], *compensated = trees[2 + t_below(r, 2)];
  char m[40];
  write_mode(m, mode, f, r);
  switch (i % MODELS) {
    case 0: snprintf(text, 200, "pairwise(%s,%s)", f, m); break;
    case 1: snprintf(text, 200, "strided(%s,%s)", f, m); break;
    case 2: snprintf(text, 200, "kahan(%s,%s)", f, m); break;
    case 3: snprintf(text, 200, "neumaier(%s,%s)", f, m); break;
    case 4: snprintf(text, 200, "chunk(%d,%s,%s,%s)", n, f, other, m); break;
    case 5: snprintf(text, 200, "chunk(%d,%s,%s,%s)", n, other, f, m); break;
    case 6: snprintf(text, 200, "promote(%d,seq(%s,%s),binary32)", n, f, m); break;
    case 7: snprintf(text, 200, "promote(%d,seq2(%s,%s,%s),%s)", n, other, f, m, other); break;
    case 8: snprintf(text, 200, "promote(%d,%s(%s,%s),%s)", n, compensated, f, m, other); break;
    case 9: snprintf(text, 200, "promote(%d,%s(%s,%s),binary32)", n, trees[t_below(r, 2)], f, m); break;
    case 10: snprintf(text, 200, "promote(%d,fp32,%s)", n, f); break;
    case 11: snprintf(text, 200, "splitk(%d,%s(%s,%s))", s, tree, f, m); break;
    case 12: snprintf(text, 200, "splitk(%d,promote(%d,%s(%s,%s),%s))", s, n, tree, f, m, other); break;
    case 13: snprintf(text, 200, "splitk(%d,chunk(%d,%s,%s,%s))", s, n, other, f, m); break;
    default: snprintf(text, 200, t_below(r, 3) ? "splitk(%d,any(%s))" : "splitk(%d,fp32)", s, presets[t_below(r, 4)]);
  }
}

static int beyond_binary32(const problem *p) {
  return !hu_format_fits_binary32(p->a.format) || !hu_format_fits_binary32(p->b.format) ||
         (p->has_c && !hu_format_fits_binary32(p->c.format));
}

/* fp32 takes no operands beyond binary32, and units no C beyond it. */
static void set_model(problem *p, const char *text) {
  if (hu_accum_parse(&p->accum, text, NULL) != HU_OK) fail_msg("no model: %s", text);
  if (p->accum.kind == HU_ACCUM_FP32 && beyond_binary32(p)) {
    p->accum.kind = HU_ACCUM_SEQ;
    p->accum.sum = named_format("binary32");
  }
  if (p->accum.kind == HU_ACCUM_BLOCK && p->has_c && !hu_format_fits_binary32(p->c.format)) p->has_c = 0;
}

static void draw(problem *p, t_random *r, unsigned i, const char *mode, char model[200]) {
  const char *name = sums[t_below(r, SUMS)];
  hu_format fa = named_format(operands[t_below(r, OPERANDS)]), fb = named_format(operands[t_below(r, OPERANDS)]);
  hu_format f = named_format(name), fc = t_below(r, 2) ? f : named_format(operands[t_below(r, OPERANDS)]);
  if (t_below(r, 2) && f.m <= 11) fa = fb = f;
  int has_c = (int)t_below(r, 2), moderate = t_below(r, 4) != 0;
  size_t m = 1 + t_below(r, 24), n = 1 + t_below(r, t_below(r, 4) ? 30 : 120), k = t_below(r, t_below(r, 3) ? 30 : 200);
  problem_draw(p, r, m, n, k, fa, fb, has_c ? &fc : NULL, t_below(r, 2) ? f : fc, HU_ACCUM_EXACT);
  write_model(model, i, name, sums[t_below(r, SUMS)], mode, r);
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
  t_random r = {t_seed("gemm models", 71)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 2 * REPEAT * MODELS * MODES; i++) {
    problem p;
    char model[200];
    draw(&p, &r, i, modes[i / MODELS % MODES], model);
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm models: %lu runs agree\n", runs);
}

/* C a number of F, a few products so small that they decide a last digit by being there, or half a step, or just beside
 * it, of either sign, so that sums cancel, too; about 1, both ends of the range, and among subnormal numbers. */
static void beside_the_grid(void **state) {
  (void)state;
  t_random r = {t_seed("gemm models grid", 72)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * MODES; i++) {
    problem p;
    char model[200];
    const char *name = sums[i % SUMS];
    hu_format f = named_format(name), x = named_format("fp(8,11,0)");
    hu_limits l = hu_limits_of(f);
    int m = f.m, places[] = {0, l.emin, l.emin - m, l.emin - m / 2, l.emax}, base = places[t_below(&r, 5)];
    if (base < l.emin - m || base > l.emax) base = l.emax;
    size_t k = 1 + t_below(&r, 5);
    problem_draw(&p, &r, 12, 40, k, x, x, &f, t_below(&r, 2) ? f : x, HU_ACCUM_EXACT);
    for (size_t e = 0; e < 12 * k; e++) {
      int down = t_below(&r, 2) ? (int)(e / k) : (int)t_below(&r, 30);
      plain_set(&p.a, e, power_of_two(base - m < -120 ? -100 : base - m) * power_of_two(t_below(&r, 3) ? 2 : -down));
    }
    for (size_t e = 0; e < 40 * k; e++) {
      double some = power_of_two(-(int)(e % 12));
      plain_set(&p.b, e, e % 3 == 0 ? 1 : e % 3 == 1 ? 1 + some : 2 - some);
      if (t_below(&r, 2)) p.b.code[e] |= hu_limits_of(x).sign_mask;
    }
    for (size_t e = 0; e < 12 * 40; e++) {
      double rest = t_below(&r, 2) ? power_of_two(-m) * (double)t_below(&r, 1u << m) : 0;
      plain_set(&p.c, e, power_of_two(base) * (1 + rest));
      if (t_below(&r, 8) == 0) p.c.code[e] = l.max_code;
      if (t_below(&r, 2)) p.c.code[e] |= l.sign_mask;
      if (l.has_nan && p.c.code[e] == l.nan_code) p.c.code[e] = 0;
    }
    plain *all[] = {&p.a, &p.b, &p.c};
    for (size_t q = 0; q < 3; q++) plain_store_again(all[q], 0, 0, 0);
    write_model(model, i / SUMS, name, sums[t_below(&r, SUMS)], modes[t_below(&r, MODES)], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm models beside the grid: %lu runs agree\n", runs);
}

/* One product that is a number of F, and C of 24 digits about half a step of F there: what is rounded to binary32
 * first, to nearest, becomes a tie. */
static void long_addends(void **state) {
  (void)state;
  t_random r = {t_seed("gemm models long addends", 76)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * MODES; i++) {
    problem p;
    char model[200];
    const char *name = sums[t_below(&r, 5)];
    hu_format f = named_format(name), x = named_format("fp(8,11,0)"), fc = named_format("binary32");
    int m = f.m, base = (int)t_below(&r, 5);
    size_t k = 1 + t_below(&r, 3);
    problem_draw(&p, &r, 8, 40, k, x, x, &fc, f, HU_ACCUM_EXACT);
    for (size_t e = 0; e < 8 * k; e++) plain_set(&p.a, e, e % k ? 0 : power_of_two(base));
    for (size_t e = 0; e < 40 * k; e++) plain_set(&p.b, e, 1 + power_of_two(-m) * (double)t_below(&r, 1u << m));
    for (size_t e = 0; e < 8 * 40; e++) {
      plain_set(&p.c, e, power_of_two(base - m - 1) * (1 + power_of_two(-23) * (double)t_below(&r, 3)));
      if (t_below(&r, 2)) p.c.code[e] |= 0x80000000u;
    }
    plain *all[] = {&p.a, &p.b, &p.c};
    for (size_t q = 0; q < 3; q++) plain_store_again(all[q], 0, 0, 0);
    write_model(model, i, name, name, modes[t_below(&r, 2) ? 0 : t_below(&r, MODES)], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm models, long addends: %lu runs agree\n", runs);
}

/* Zeros of both signs, and sums that cancel. */
static void zeros(void **state) {
  (void)state;
  t_random r = {t_seed("gemm models zeros", 73)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < REPEAT * MODELS * MODES; i++) {
    problem p;
    char model[200];
    const char *name = sums[t_below(&r, SUMS)];
    hu_format f = named_format(name).m <= 11 ? named_format(name) : named_format("bfloat16");
    hu_format fc = t_below(&r, 2) ? f : named_format("bfloat16");
    hu_limits l = hu_limits_of(f);
    uint32_t one = (l.max_code / 2) & ~7u, minus = f.negzero ? l.sign_mask : 0;
    problem_draw(&p, &r, 1 + t_below(&r, 9), 1 + t_below(&r, 60), 1 + t_below(&r, 40), f, f, &fc,
                 named_format("binary32"), HU_ACCUM_EXACT);
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
    write_model(model, i, name, sums[t_below(&r, SUMS)], modes[i / MODELS % MODES], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm models with zeros: %lu runs agree\n", runs);
}

/* Counters about 2^32 and 2^64: the words of neighbours come from blocks of different upper halves. */
static void counters(void **state) {
  (void)state;
  t_random r = {t_seed("gemm models counters", 74)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 2 * MODELS; i++) {
    problem p;
    char model[200];
    hu_format f = named_format(sums[i % 2]);
    problem_draw(&p, &r, 1 + t_below(&r, 20), 1 + t_below(&r, 110), 1 + t_below(&r, 50), f, f, NULL, f, HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, -2, 4);
    plain_refill(&p.b, &r, -2, 4);
    p.stream.counter = (i % 3 ? UINT64_C(1) << 32 : 0) - t_below(&r, 300);
    write_model(model, i, sums[i % 2], sums[i / 2 % 2], modes[8 + i / 2 % 3], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_spot(&p, &r);
    problem_free(&p);
  }
  print_message("gemm models, counters: %lu runs agree\n", runs);
}

/* Larger than a block in each direction in turn. */
static void beyond_blocks(void **state) {
  (void)state;
  static const size_t shapes[][3] = {{150, 3, 10}, {3, 320, 10}, {2, 3, 700}, {20, 100, 70}};
  t_random r = {t_seed("gemm models blocks", 75)};
  unsigned long runs = 0;
  for (unsigned i = 0; i < 4 * MODELS; i++) {
    problem p;
    char model[200];
    const size_t *s = shapes[i % 4];
    hu_format f = named_format(sums[i % 5]);
    problem_draw(&p, &r, s[0], s[1], s[2], f, f, i % 2 ? &f : NULL, f, HU_ACCUM_EXACT);
    plain_refill(&p.a, &r, -3, 3);
    plain_refill(&p.b, &r, -3, 3);
    write_model(model, i / 4, sums[i % 5], sums[i % 5], modes[t_below(&r, MODES)], &r);
    set_model(&p, model);
    problem_same_at_levels(&p, model, &runs);
    problem_free(&p);
  }
  print_message("gemm models beyond blocks: %lu runs agree\n", runs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many),         cmocka_unit_test(beside_the_grid),
                                     cmocka_unit_test(long_addends), cmocka_unit_test(zeros),
                                     cmocka_unit_test(counters),     cmocka_unit_test(beyond_blocks)};
  return cmocka_run_group_tests_name("gemm models", tests, NULL, NULL);
}
