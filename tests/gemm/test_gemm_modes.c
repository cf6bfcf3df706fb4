/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) in every mode but ties to even in lanes: at every kernel level and thread count the bytes and
 * events of the element-by-element integers, random words included; spot checks against hu_dot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"

static const char *const sums[] = {"bfloat16",   "binary16",    "float8_e5m2",     "float8_e4m3fn", "fp(6,9,0)",
                                   "fp(8,12,0)", "fp(8,3,0)",   "float8_e4m3fnuz", "binary8p4se",   "fp(4,3,0):finite",
                                   "fp(5,1,0)",  "fp(8,7,-40)", "fp(8,7,20)",      "fp(6,5,30)",    "fp(7,17,-50)",
                                   "binary32",   "fp(8,22,0)",  "fp(8,20,0)"};

enum { SUMS = sizeof sums / sizeof sums[0], MODES = HU_ROUND_COUNT - 1 };

/* A model in mode number i, with any number of random bits, often the most that lanes serve; fused, or not, perhaps
 * with another format for products. */
static int with_model(t_problem *problem, char *text, unsigned i, const char *f, t_random *random) {
  static const char *const ends[] = {"", "", ",sat=finite", ",sat=propagate", ",sat=none"};
  const char *end = ends[t_below(random, 5)], *mode = hu_mode_round_words(1 + i % MODES).name;
  char model[48], digits[8] = "";
  int d = 23 - (int)named_format(f).m,
      bits = t_below(random, 3) ? d - (int)t_below(random, 4) + 1 : 1 + (int)t_below(random, 32);
  if (i % MODES >= HU_SRA - 1) snprintf(digits, sizeof digits, ":%d", bits < 1 ? 1 : bits);
  snprintf(model, sizeof model, t_below(random, 2) ? "seq(%s" : "seq2(%s", f);
  if (t_below(random, 4) == 0) snprintf(model, sizeof model, "seq2(%s,%s", sums[t_below(random, SUMS)], f);
  snprintf(text, MODEL_TEXT, "%s,%s%s%s)", model, mode, digits, end);
  problem_set_model(problem, text);
  return 1;
}

static int many(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[i % SUMS];
  hu_format format = named_format(name);
  int moderate = problem_draw_any(problem, random, format, (problem_sizes){20, 40, 30, 200, 23});
  with_model(problem, model, i / SUMS, name, random);
  if (moderate) problem_refill(problem, random, format, 0);
  return 1;
}

/* C a number of F, one or two products so small that they decide a last digit by being there, or half a step, or just
 * beside it, of either sign; C also at both ends of the range. */
static int beside_the_grid(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = sums[i % SUMS];
  hu_format format = named_format(name), x = named_format(t_below(random, 2) ? "binary32" : "fp(8,11,0)");
  hu_limits limits = hu_limits_of(format);
  int m = format.m, places[] = {0, limits.emin, limits.emin - m, limits.emax}, base = places[t_below(random, 4)];
  if (base < limits.emin - m || base > limits.emax) base = limits.emax;
  size_t k = 1 + t_below(random, 2);
  problem_draw(problem, random, 12, 48, k, x, x, &format, t_below(random, 2) ? format : x, HU_ACCUM_EXACT);
  for (size_t e = 0; e < 12 * k; e++) {
    int down = t_below(random, 2) ? (int)(e / k) : (int)t_below(random, 30);
    plain_set(&problem->a, e, power_of_two(base - m < -140 ? -100 : base - m) * power_of_two(-down));
  }
  for (size_t e = 0; e < 48 * k; e++) {
    double some = power_of_two(-(int)(e % 23));
    plain_set(&problem->b, e, e % 3 == 0 ? 1 : e % 3 == 1 ? 1 + some : 2 - some);
    if (t_below(random, 2)) problem->b.code[e] |= hu_limits_of(x).sign_mask;
  }
  for (size_t e = 0; e < 12 * 48; e++) {
    double rest = t_below(random, 2) ? power_of_two(-m) * (double)t_below(random, 1u << m) : 0;
    plain_set(&problem->c, e, power_of_two(base) * (1 + rest));
    if (t_below(random, 4) == 0) problem->c.code[e] = limits.max_code;
    if (t_below(random, 2)) problem->c.code[e] |= limits.sign_mask;
    if (limits.has_nan && problem->c.code[e] == limits.nan_code) problem->c.code[e] = 0;
  }
  problem_store_again(problem);
  return with_model(problem, model, i / SUMS, name, random);
}

static int counters(t_problem *problem, t_random *random, unsigned i, char *model) {
  problem_draw_counters(problem, random, i, named_format(sums[i % 2]), 70, 100);
  snprintf(model, MODEL_TEXT, i % 4 < 2 ? "seq(%s,%s:%d)" : "seq2(%s,%s:%d)", sums[i % 2],
           hu_mode_round_words(HU_SRA + i / 2 % 3).name, 8 + (int)t_below(random, 4));
  problem_set_model(problem, model);
  return 1;
}

/* Larger than a block in each direction in turn. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{300, 3, 10}, {3, 400, 10}, {2, 3, 900}, {40, 60, 170}};
  problem_draw_block(problem, random, shapes[i % 4], named_format(sums[i % 5]), i % 2);
  return with_model(problem, model, i / 4, sums[i % 5], random);
}

int main(void) {
  const model_test tests[] = {{"gemm modes", 61, 6 * MODES * SUMS, many, 1, NULL},
                              {"gemm modes grid", 62, 6 * MODES * SUMS, beside_the_grid, 0, NULL},
                              {"gemm modes counters", 63, 60, counters, 1, NULL},
                              {"gemm modes blocks", 64, 4 * MODES, beyond_blocks, 0, NULL}};
  return model_tests_run(tests, sizeof tests / sizeof tests[0]);
}
