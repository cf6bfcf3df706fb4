/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq2, chunk, kahan, neumaier and promotions of them in lanes: at every kernel level and thread count
 * the bytes and events of the element-by-element integers; spot checks against hu_dot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"

static const char *const formats[] = {"bfloat16",    "binary16",         "float8_e5m2", "float8_e4m3fn",
                                      "fp(6,9,0)",   "fp(8,10,0)",       "fp(8,3,0)",   "float8_e4m3fnuz",
                                      "binary8p4se", "fp(4,3,0):finite", "fp(5,1,0)",   "fp(8,7,-40)",
                                      "fp(8,7,20)",  "fp(6,5,30)",       "fp(7,10,-50)"};
enum { FORMATS = sizeof formats / sizeof formats[0] };
enum { MODELS = 11, REPEAT = HU_EXHAUSTIVE ? 4 : 1 };

/* Is problem number i one of the part that HU_TEST_COUNT asks for? It has every model and every format. */
static int is_asked(unsigned i) { return t_part(100) == 100 || (i / FORMATS + i % FORMATS) % 3 == 0; }

/* Model number i of a format; other: any format. */
static void write_model(char *text, unsigned i, const char *f, const char *other, t_random *random) {
  static const char *const ends[] = {"", "", ",rne,sat=finite", ",rne,sat=propagate"};
  static const int lengths[] = {1, 2, 3, 7, 16, 32, 64, 79, 80, 81, 128, 200, 1000};
  const char *end = ends[t_below(random, 4)];
  int length = lengths[t_below(random, sizeof lengths / sizeof lengths[0])];
  switch (i % MODELS) {
    case 0: snprintf(text, MODEL_TEXT, "seq2(%s%s)", f, end); break;
    case 1: snprintf(text, MODEL_TEXT, "seq2(%s,%s%s)", other, f, end); break;
    case 2: snprintf(text, MODEL_TEXT, "chunk(%d,%s,%s%s)", length, f, other, end); break;
    case 3: snprintf(text, MODEL_TEXT, "chunk(%d,%s,%s%s)", length, other, f, end); break;
    case 4: snprintf(text, MODEL_TEXT, "chunk(%d,%s,binary32%s)", length, f, end); break;
    case 5: snprintf(text, MODEL_TEXT, "kahan(%s%s)", f, end); break;
    case 6: snprintf(text, MODEL_TEXT, "neumaier(%s%s)", f, end); break;
    case 7: snprintf(text, MODEL_TEXT, "promote(%d,seq2(%s,%s%s),binary32)", length, other, f, end); break;
    case 8: snprintf(text, MODEL_TEXT, "promote(%d,kahan(%s%s),%s)", length, f, end, other); break;
    case 9: snprintf(text, MODEL_TEXT, "promote(%d,neumaier(%s%s),binary32)", length, f, end); break;
    default: snprintf(text, MODEL_TEXT, "promote(%d,seq2(%s%s),%s)", length, other, end, f); break;
  }
}

static int many(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = formats[i % FORMATS];
  hu_format format = named_format(name);
  if (!is_asked(i)) return 0;
  int moderate = problem_draw_any(problem, random, format, (problem_sizes){30, 40, 40, 400, 23});
  write_model(model, i / FORMATS, name, formats[t_below(random, 3) ? i % FORMATS : t_below(random, FORMATS)], random);
  problem_set_model(problem, model);
  if (moderate) problem_refill(problem, random, format, 1);
  return 1;
}

/* C = s (1 + r 2^-m), products +-2^-j (1 + d 2^-m) of s for all j up to where nothing is left of them, so that sums lie
 * on ties, just beside them and far from them: what two roundings could get wrong. */
static int near_ties(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = formats[i % FORMATS];
  hu_format format = named_format(name);
  hu_limits limits = hu_limits_of(format);
  if (!is_asked(i)) return 0;
  int digits = 0, places[] = {0, limits.emin + 1, limits.emax - 2}, base = places[t_below(random, 3)];
  while (digits < 12 && limits.min_normal_code >> (digits + 1)) digits++; /* 2^m is the least normal code */
  if (base > limits.emax - 2 || base < limits.emin) base = limits.emax - 2;
  size_t k = 1 + t_below(random, 4);
  problem_draw(problem, random, 30, 48, k, format, format, &format, format, HU_ACCUM_EXACT);
  for (size_t e = 0; e < 30 * k; e++) plain_set(&problem->a, e, power_of_two(base - (int)(e / k)));
  for (size_t e = 0; e < 48 * k; e++) {
    plain_set(&problem->b, e,
              1 + power_of_two(-digits) * (double)t_below(random, t_below(random, 2) ? 4 : 1u << digits));
    if (t_below(random, 2)) problem->b.code[e] |= limits.sign_mask;
  }
  for (size_t e = 0; e < 30 * 48; e++) {
    double far = power_of_two(-digits) * (double)t_below(random, 1u << digits);
    plain_set(&problem->c, e, power_of_two(base) * (1 + (t_below(random, 3) ? far : 0)));
  }
  problem_store_again(problem);
  write_model(model, i / FORMATS, name, formats[t_below(random, FORMATS)], random);
  problem_set_model(problem, model);
  return 1;
}

/* C about the largest number and products some binades below: sums overflow, and what was finite comes back. */
static int near_top(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = formats[i % FORMATS];
  hu_format format = named_format(name);
  if (!is_asked(i)) return 0;
  int e = hu_limits_of(format).emax - 4 - (int)t_below(random, 12);
  hu_format x = t_below(random, 2) ? format : named_format("fp(8,3,0)");
  problem_draw(problem, random, 20, 60, 1 + t_below(random, 100), x, x, t_below(random, 3) ? &format : NULL,
               named_format("binary32"), HU_ACCUM_EXACT);
  plain_refill(&problem->a, random, e / 2, t_below(random, 2));
  plain_refill(&problem->b, random, e - e / 2, t_below(random, 2));
  if (problem->has_c) {
    for (size_t q = 0; q < problem->m * problem->n; q++)
      problem->c.code[q] = hu_limits_of(format).max_code - t_below(random, 3);
    plain_store_again(&problem->c, 0, 0, 0);
  }
  write_model(model, i / FORMATS, name, formats[i % FORMATS], random);
  problem_set_model(problem, model);
  return 1;
}

static int zeros(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *name = formats[i % FORMATS];
  if (!is_asked(i)) return 0;
  problem_draw_zeros(problem, random, named_format(name), 12, 90);
  problem->mode = t_mode(HU_RNE);
  write_model(model, i / FORMATS, name, formats[t_below(random, FORMATS)], random);
  problem_set_model(problem, model);
  return 1;
}

/* Larger than a block in each direction in turn. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{150, 3, 20}, {3, 400, 20}, {2, 3, 1000}, {70, 60, 170}};
  const char *name = formats[i % 5];
  if (t_part(100) < 100 && i / 4 % 3 != 0) return 0; /* each model once */
  problem_draw_block(problem, random, shapes[i % 4], named_format(name), i % 2);
  write_model(model, i / 4, name, name, random);
  problem_set_model(problem, model);
  return 1;
}

int main(void) {
  enum { ALL = REPEAT * MODELS * FORMATS };
  const model_test tests[] = {{"gemm steps", 51, ALL, many, 1, NULL},
                              {"gemm steps ties", 52, ALL, near_ties, 0, NULL},
                              {"gemm steps top", 53, ALL, near_top, 0, NULL},
                              {"gemm steps zeros", 54, ALL, zeros, 0, NULL},
                              {"gemm steps blocks", 55, 4 * MODELS * 3, beyond_blocks, 0, NULL}};
  return model_tests_run(tests, sizeof tests / sizeof tests[0]);
}
