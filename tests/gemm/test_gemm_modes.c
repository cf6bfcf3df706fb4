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
static const char *const modes[] = {"rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto", "sra", "srb", "src"};

enum { SUMS = sizeof sums / sizeof sums[0], MODES = 10 };

/* A model in mode number i, with any number of random bits, often the most that lanes serve; fused, or not, perhaps
 * with another format for products. */
static int with_model(t_problem *p, char *text, unsigned i, const char *f, t_random *r) {
  static const char *const ends[] = {"", "", ",sat=finite", ",sat=propagate", ",sat=none"};
  const char *end = ends[t_below(r, 5)], *mode = modes[i % MODES];
  char model[48], digits[8] = "";
  int d = 23 - (int)named_format(f).m, bits = t_below(r, 3) ? d - (int)t_below(r, 4) + 1 : 1 + (int)t_below(r, 32);
  if (i % MODES >= 7) snprintf(digits, sizeof digits, ":%d", bits < 1 ? 1 : bits);
  snprintf(model, sizeof model, t_below(r, 2) ? "seq(%s" : "seq2(%s", f);
  if (t_below(r, 4) == 0) snprintf(model, sizeof model, "seq2(%s,%s", sums[t_below(r, SUMS)], f);
  snprintf(text, MODEL_TEXT, "%s,%s%s%s)", model, mode, digits, end);
  problem_set_model(p, text);
  return 1;
}

static int many(t_problem *p, t_random *r, unsigned i, char *model) {
  const char *name = sums[i % SUMS];
  hu_format f = named_format(name);
  int moderate = problem_draw_any(p, r, f, (problem_sizes){20, 40, 30, 200, 23});
  with_model(p, model, i / SUMS, name, r);
  if (moderate) problem_refill(p, r, f, 0);
  return 1;
}

/* C a number of F, one or two products so small that they decide a last digit by being there, or half a step, or just
 * beside it, of either sign; C also at both ends of the range. */
static int beside_the_grid(t_problem *p, t_random *r, unsigned i, char *model) {
  const char *name = sums[i % SUMS];
  hu_format f = named_format(name), x = named_format(t_below(r, 2) ? "binary32" : "fp(8,11,0)");
  hu_limits l = hu_limits_of(f);
  int m = f.m, places[] = {0, l.emin, l.emin - m, l.emax}, base = places[t_below(r, 4)];
  if (base < l.emin - m || base > l.emax) base = l.emax;
  size_t k = 1 + t_below(r, 2);
  problem_draw(p, r, 12, 48, k, x, x, &f, t_below(r, 2) ? f : x, HU_ACCUM_EXACT);
  for (size_t e = 0; e < 12 * k; e++) {
    int down = t_below(r, 2) ? (int)(e / k) : (int)t_below(r, 30);
    plain_set(&p->a, e, power_of_two(base - m < -140 ? -100 : base - m) * power_of_two(-down));
  }
  for (size_t e = 0; e < 48 * k; e++) {
    double some = power_of_two(-(int)(e % 23));
    plain_set(&p->b, e, e % 3 == 0 ? 1 : e % 3 == 1 ? 1 + some : 2 - some);
    if (t_below(r, 2)) p->b.code[e] |= hu_limits_of(x).sign_mask;
  }
  for (size_t e = 0; e < 12 * 48; e++) {
    double rest = t_below(r, 2) ? power_of_two(-m) * (double)t_below(r, 1u << m) : 0;
    plain_set(&p->c, e, power_of_two(base) * (1 + rest));
    if (t_below(r, 4) == 0) p->c.code[e] = l.max_code;
    if (t_below(r, 2)) p->c.code[e] |= l.sign_mask;
    if (l.has_nan && p->c.code[e] == l.nan_code) p->c.code[e] = 0;
  }
  problem_store_again(p);
  return with_model(p, model, i / SUMS, name, r);
}

static int counters(t_problem *p, t_random *r, unsigned i, char *model) {
  problem_draw_counters(p, r, i, named_format(sums[i % 2]), 70, 100);
  snprintf(model, MODEL_TEXT, i % 4 < 2 ? "seq(%s,%s:%d)" : "seq2(%s,%s:%d)", sums[i % 2], modes[7 + i / 2 % 3],
           8 + (int)t_below(r, 4));
  problem_set_model(p, model);
  return 1;
}

/* Larger than a block in each direction in turn. */
static int beyond_blocks(t_problem *p, t_random *r, unsigned i, char *model) {
  static const size_t shapes[][3] = {{300, 3, 10}, {3, 400, 10}, {2, 3, 900}, {40, 60, 170}};
  problem_draw_block(p, r, shapes[i % 4], named_format(sums[i % 5]), i % 2);
  return with_model(p, model, i / 4, sums[i % 5], r);
}

int main(void) {
  const model_test tests[] = {{"gemm modes", 61, 6 * MODES * SUMS, many, 1, NULL},
                              {"gemm modes grid", 62, 6 * MODES * SUMS, beside_the_grid, 0, NULL},
                              {"gemm modes counters", 63, 60, counters, 1, NULL},
                              {"gemm modes blocks", 64, 4 * MODES, beyond_blocks, 0, NULL}};
  return model_tests_run(tests, sizeof tests / sizeof tests[0]);
}
