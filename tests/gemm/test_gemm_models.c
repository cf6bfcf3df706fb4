/* SPDX-License-Identifier: MIT */
/* hu_gemm under trees, compensated sums, chunks, parts and slices in every mode, in lanes: at every kernel level and
 * thread count the bytes and events of the element-by-element integers, random words included; spot checks against
 * hu_dot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"

static const char *const sums[] = {"bfloat16",    "binary16",    "float8_e5m2",      "float8_e4m3fn",
                                   "fp(6,9,0)",   "fp(8,12,0)",  "float8_e4m3fnuz",  "fp(8,3,0)",
                                   "fp(8,7,-40)", "binary8p4se", "fp(8,7,20)",       "fp(6,5,30)",
                                   "fp(5,1,0)",   "binary32",    "fp(4,3,0):finite", "fp(7,17,-50)"};
static const char *const presets[] = {"nv.hopper.f16.f32", "amd.cdna3.bf16.k4", "nv.hopper.e4m3.f32.wgmma",
                                      "intel.vdpbf16ps"};

enum { SUMS = sizeof sums / sizeof sums[0], MODES = HU_ROUND_COUNT };
enum { MODELS = 15, REPEAT = HU_EXHAUSTIVE ? 4 : 1 };

static const char *mode_name(unsigned i) { return hu_mode_round_words(i % MODES).name; }

/* A mode with any number of random bits, often the most that lanes serve, and a policy. */
static void write_mode(char text[40], const char *mode, const char *f, t_random *random) {
  static const char *const ends[] = {"", "", ",sat=finite", ",sat=propagate", ",sat=none"};
  int d = 23 - (int)named_format(f).m,
      bits = t_below(random, 3) ? d - (int)t_below(random, 4) + 1 : 1 + (int)t_below(random, 32);
  const char *end = ends[t_below(random, 5)];
  if (mode[0] == 's') {
    snprintf(text, 40, "%s:%d%s", mode, bits < 1 ? 1 : bits > 32 ? 32 : bits, end);
  } else {
    snprintf(text, 40, "%s%s", mode, end);
  }
}

/* Model number i of a format and a mode; other: any format. */
static void write_model(char *text, unsigned i, const char *f, const char *other, const char *mode, t_random *random) {
  static const int lengths[] = {1, 2, 3, 7, 16, 32, 63, 64, 65, 128, 200, 1000};
  static const char *const trees[] = {"pairwise", "strided", "kahan", "neumaier", "seq", "seq2"};
  const int n = lengths[t_below(random, 12)], s = 1 + (int)t_below(random, t_below(random, 4) ? 5 : 60);
  const char *tree = trees[t_below(random, 6)], *compensated = trees[2 + t_below(random, 2)];
  char m[40];
  write_mode(m, mode, f, random);
  switch (i % MODELS) {
    case 0: snprintf(text, MODEL_TEXT, "pairwise(%s,%s)", f, m); break;
    case 1: snprintf(text, MODEL_TEXT, "strided(%s,%s)", f, m); break;
    case 2: snprintf(text, MODEL_TEXT, "kahan(%s,%s)", f, m); break;
    case 3: snprintf(text, MODEL_TEXT, "neumaier(%s,%s)", f, m); break;
    case 4: snprintf(text, MODEL_TEXT, "chunk(%d,%s,%s,%s)", n, f, other, m); break;
    case 5: snprintf(text, MODEL_TEXT, "chunk(%d,%s,%s,%s)", n, other, f, m); break;
    case 6: snprintf(text, MODEL_TEXT, "promote(%d,seq(%s,%s),binary32)", n, f, m); break;
    case 7: snprintf(text, MODEL_TEXT, "promote(%d,seq2(%s,%s,%s),%s)", n, other, f, m, other); break;
    case 8: snprintf(text, MODEL_TEXT, "promote(%d,%s(%s,%s),%s)", n, compensated, f, m, other); break;
    case 9: snprintf(text, MODEL_TEXT, "promote(%d,%s(%s,%s),binary32)", n, trees[t_below(random, 2)], f, m); break;
    case 10: snprintf(text, MODEL_TEXT, "promote(%d,fp32,%s)", n, f); break;
    case 11: snprintf(text, MODEL_TEXT, "splitk(%d,%s(%s,%s))", s, tree, f, m); break;
    case 12: snprintf(text, MODEL_TEXT, "splitk(%d,promote(%d,%s(%s,%s),%s))", s, n, tree, f, m, other); break;
    case 13: snprintf(text, MODEL_TEXT, "splitk(%d,chunk(%d,%s,%s,%s))", s, n, other, f, m); break;
    default:
      snprintf(text, MODEL_TEXT, t_below(random, 3) ? "splitk(%d,any(%s))" : "splitk(%d,fp32)", s,
               presets[t_below(random, 4)]);
  }
}

static int beyond_binary32(const t_problem *problem) {
  return !hu_format_fits_binary32(problem->a.format) || !hu_format_fits_binary32(problem->b.format) ||
         (problem->has_c && !hu_format_fits_binary32(problem->c.format));
}

/* Of number i, format and mode. fp32 takes no operands beyond binary32, and units no C beyond it. */
static int with_model(t_problem *problem, char *text, unsigned i, const char *f, const char *other, const char *mode,
                      t_random *random) {
  write_model(text, i, f, other, mode, random);
  problem_set_model(problem, text);
  if (problem->accum.kind == HU_ACCUM_FP32 && beyond_binary32(problem)) {
    problem->accum.kind = HU_ACCUM_SEQ;
    problem->accum.sum = named_format("binary32");
  }
  if (problem->accum.kind == HU_ACCUM_BLOCK && problem->has_c && !hu_format_fits_binary32(problem->c.format))
    problem->has_c = 0;
  return 1;
}

static int many(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[t_below(random, SUMS)];
  hu_format format = named_format(name);
  int moderate = problem_draw_any(problem, random, format, (problem_sizes){24, 30, 30, 200, 11});
  with_model(problem, model, i, name, sums[t_below(random, SUMS)], mode_name(i / MODELS), random);
  if (moderate) problem_refill(problem, random, format, 1);
  return 1;
}

/* C a number of F, a few products so small that they decide a last digit by being there, or half a step, or just beside
 * it, of either sign, so that sums cancel, too; about 1, both ends of the range, and among subnormal numbers. */
static int beside_the_grid(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[i % SUMS];
  hu_format format = named_format(name), x = named_format("fp(8,11,0)");
  hu_limits limits = hu_limits_of(format);
  int m = format.m, places[] = {0, limits.emin, limits.emin - m, limits.emin - m / 2, limits.emax},
      base = places[t_below(random, 5)];
  if (base < limits.emin - m || base > limits.emax) base = limits.emax;
  size_t k = 1 + t_below(random, 5);
  problem_draw(problem, random, 12, 40, k, x, x, &format, t_below(random, 2) ? format : x, HU_ACCUM_EXACT);
  for (size_t e = 0; e < 12 * k; e++) {
    int down = t_below(random, 2) ? (int)(e / k) : (int)t_below(random, 30);
    plain_set(&problem->a, e,
              power_of_two(base - m < -120 ? -100 : base - m) * power_of_two(t_below(random, 3) ? 2 : -down));
  }
  for (size_t e = 0; e < 40 * k; e++) {
    double some = power_of_two(-(int)(e % 12));
    plain_set(&problem->b, e, e % 3 == 0 ? 1 : e % 3 == 1 ? 1 + some : 2 - some);
    if (t_below(random, 2)) problem->b.code[e] |= hu_limits_of(x).sign_mask;
  }
  for (size_t e = 0; e < 12 * 40; e++) {
    double rest = t_below(random, 2) ? power_of_two(-m) * (double)t_below(random, 1u << m) : 0;
    plain_set(&problem->c, e, power_of_two(base) * (1 + rest));
    if (t_below(random, 8) == 0) problem->c.code[e] = limits.max_code;
    if (t_below(random, 2)) problem->c.code[e] |= limits.sign_mask;
    if (limits.has_nan && problem->c.code[e] == limits.nan_code) problem->c.code[e] = 0;
  }
  problem_store_again(problem);
  return with_model(problem, model, i / SUMS, name, sums[t_below(random, SUMS)], mode_name(t_below(random, MODES)),
                    random);
}

/* One product that is a number of F, and C of 24 digits about half a step of F there: what is rounded to binary32
 * first, to nearest, becomes a tie. */
static int long_addends(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[t_below(random, 5)];
  hu_format format = named_format(name), x = named_format("fp(8,11,0)"), fc = named_format("binary32");
  int m = format.m, base = (int)t_below(random, 5);
  size_t k = 1 + t_below(random, 3);
  problem_draw(problem, random, 8, 40, k, x, x, &fc, format, HU_ACCUM_EXACT);
  for (size_t e = 0; e < 8 * k; e++) plain_set(&problem->a, e, e % k ? 0 : power_of_two(base));
  for (size_t e = 0; e < 40 * k; e++)
    plain_set(&problem->b, e, 1 + power_of_two(-m) * (double)t_below(random, 1u << m));
  for (size_t e = 0; e < 8 * 40; e++) {
    plain_set(&problem->c, e, power_of_two(base - m - 1) * (1 + power_of_two(-23) * (double)t_below(random, 3)));
    if (t_below(random, 2)) problem->c.code[e] |= 0x80000000u;
  }
  problem_store_again(problem);
  return with_model(problem, model, i, name, name, mode_name(t_below(random, 2) ? 0 : t_below(random, MODES)), random);
}

static int zeros(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[t_below(random, SUMS)];
  hu_format format = named_format(name).m <= 11 ? named_format(name) : named_format("bfloat16");
  problem_draw_zeros(problem, random, format, 9, 40);
  return with_model(problem, model, i, name, sums[t_below(random, SUMS)], mode_name(i / MODELS), random);
}

static int counters(t_problem *problem, t_random *random, unsigned i, char *model) {
  problem_draw_counters(problem, random, i, named_format(sums[i % 2]), 110, 50);
  return with_model(problem, model, i, sums[i % 2], sums[i / 2 % 2], mode_name(HU_SRA + i / 2 % 3), random);
}

/* Larger than a block in each direction in turn. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{150, 3, 10}, {3, 320, 10}, {2, 3, 700}, {20, 100, 70}};
  problem_draw_block(problem, random, shapes[i % 4], named_format(sums[i % 5]), i % 2);
  return with_model(problem, model, i / 4, sums[i % 5], sums[i % 5], mode_name(t_below(random, MODES)), random);
}

int main(void) {
  enum { ALL = REPEAT * MODELS * MODES };
  const model_test tests[] = {{"gemm models", 71, 2 * ALL, many, 1, NULL},
                              {"gemm models grid", 72, ALL, beside_the_grid, 0, NULL},
                              {"gemm models long addends", 76, ALL, long_addends, 0, NULL},
                              {"gemm models zeros", 73, ALL, zeros, 0, NULL},
                              {"gemm models counters", 74, 2 * MODELS, counters, 1, NULL},
                              {"gemm models blocks", 75, 4 * MODELS, beyond_blocks, 0, NULL}};
  return model_tests_run(tests, sizeof tests / sizeof tests[0]);
}
