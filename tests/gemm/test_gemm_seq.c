/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(F) in lanes: at every kernel level and thread count the bytes and events of the element-by-element
 * integers (all levels off), for accumulators and operands of many formats; spot checks against hu_dot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/models.h"

static const char *const sums[] = {"bfloat16",   "binary16",    "float8_e5m2",     "float8_e4m3fn", "fp(6,9,0)",
                                   "fp(8,11,0)", "fp(8,3,0)",   "float8_e4m3fnuz", "binary8p4se",   "fp(4,3,0):finite",
                                   "fp(5,1,0)",  "fp(8,7,-40)", "fp(8,7,20)",      "fp(6,5,30)",    "fp(7,11,-50)"};
enum { SUMS = sizeof sums / sizeof sums[0] };

/* The model of number q, for the problem. */
static int with_model(t_problem *problem, char *model, size_t q) {
  snprintf(model, MODEL_TEXT, "seq(%s)", sums[q]);
  problem_set_model(problem, model);
  return 1;
}

static int many(t_problem *problem, t_random *random, unsigned i, char *model) {
  const char *sum = sums[i % SUMS];
  hu_format format = named_format(sum);
  int moderate = problem_draw_any(problem, random, format, (problem_sizes){30, 40, 40, 400, 23});
  snprintf(model, MODEL_TEXT, "seq(%s%s)", sum, t_below(random, 4) ? "" : ",rne,sat=finite");
  problem_set_model(problem, model);
  if (moderate) problem_refill(problem, random, format, 0);
  return 1;
}

/* The second product 2^d times the first one, for all d about what the lanes take and leave. */
enum { LEAST_JUMP = 8, JUMP_END = 34, JUMPS = (JUMP_END - LEAST_JUMP) * 4 };
static int jumps(t_problem *problem, t_random *random, unsigned i, char *model) {
  size_t q = i / JUMPS;
  int d = LEAST_JUMP + (int)i % JUMPS / 4, at = (int)i % 4;
  if (t_part(100) < 100 && (d + (int)q) % 4 != at) return 0;
  hu_limits limits = hu_limits_of(named_format(sums[q]));
  hu_format format = named_format(t_below(random, 2) ? sums[q] : "fp(8,3,0)");
  int first = at == 0 ? limits.emin - 4 : at == 1 ? limits.emin + 4 : at == 2 ? -d / 2 : -d, half = first / 2;
  problem_draw(problem, random, 16, 96, 2, format, format, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t side = 0; side < 2; side++) {
    plain *x = side ? &problem->b : &problem->a;
    hu_mode mode = t_mode(HU_RTZ);
    hu_limits lx = hu_limits_of(format);
    mode.saturate = HU_SAT_FINITE;
    for (size_t e = 0; e < x->rows * x->columns; e++) {
      double v = 1 + t_below(random, lx.max_code) % 256 / 256.;
      v *= power_of_two(side ? half : e % 2 ? first + d - half : first - half);
      x->code[e] = hu_encode64(format, mode, v, 0, NULL) | (t_below(random, 2) ? lx.sign_mask : 0);
      if (lx.has_nan && x->code[e] == lx.nan_code) x->code[e] = 0;
    }
    plain_store_again(x, 0, 0, 0);
  }
  return with_model(problem, model, q);
}

/* Digits of a format: 2^m is its least normal code. */
static int digits_of(hu_limits limits) {
  int digits = 1;
  while (digits < 12 && limits.min_normal_code >> digits) digits++;
  return digits;
}

/* One product, 2^d times C: often half a step from F's grid, so that all of C decides. */
enum { LEAST_FROM_C = 10, JUMPS_FROM_C = JUMP_END - LEAST_FROM_C };
static int jumps_from_c(t_problem *problem, t_random *random, unsigned i, char *model) {
  size_t q = i / JUMPS_FROM_C;
  int d = LEAST_FROM_C + (int)i % JUMPS_FROM_C;
  hu_format format = named_format(sums[q]), x = named_format(t_below(random, 2) ? "fp(8,3,0)" : "fp(8,5,0)");
  hu_limits limits = hu_limits_of(format);
  int digits = digits_of(limits), top = limits.emax < 60 ? limits.emax - 2 : d / 2;
  problem_draw(problem, random, 16, 96, 1, x, x, &format, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t e = 0; e < 16; e++) plain_set(&problem->a, e, 1 + power_of_two(-(int)t_below(random, 6)));
  for (size_t e = 0; e < 96; e++)
    plain_set(&problem->b, e,
              power_of_two(top) * (e % 2 ? 1 + power_of_two(-(int)t_below(random, 6)) : 1 + power_of_two(-digits)));
  for (size_t e = 0; e < 16 * 96; e++) {
    plain_set(&problem->c, e, power_of_two(top - d) * (1 + power_of_two(-(int)t_below(random, 4))));
    if (t_below(random, 2)) problem->c.code[e] |= limits.sign_mask;
  }
  problem_store_again(problem);
  return with_model(problem, model, q);
}

/* Row i, column j: an odd multiple of F's step and a product (1 + 2^-i) (1 - 2^-i) or (1 + 2^-i) of half the step (of a
 * quarter, below a power of two), of either sign: just beside a tie or on it. */
static int near_ties(t_problem *problem, t_random *random, unsigned number, char *model) {
  size_t q = number / (MODEL_OPERANDS * MODEL_OPERANDS), o = number % (MODEL_OPERANDS * MODEL_OPERANDS);
  if (t_part(100) < 100 && (o / MODEL_OPERANDS + o + q) % 4 != 0) return 0;
  hu_limits limits = hu_limits_of(named_format(sums[q]));
  int digits = digits_of(limits), base = limits.emin > 0 ? limits.emin + 2 : limits.emax < 2 ? limits.emax - 2 : 0;
  problem_draw(problem, random, 24, 48, 2, named_format(model_operands[o % MODEL_OPERANDS]),
               named_format(model_operands[o / MODEL_OPERANDS]), NULL, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t i = 0; i < 24; i++) {
    double start = power_of_two(base) * (i % 3 ? 1 + power_of_two(1 - digits) * (double)(i % 3) : 1);
    plain_set(&problem->a, 2 * i, start);
    plain_set(&problem->a, 2 * i + 1,
              (1 + power_of_two(-(int)(i % 12) - 1)) * power_of_two(base - digits - (int)t_below(random, 2)));
    if (i > 11) problem->a.code[2 * i + 1] |= hu_limits_of(problem->a.format).sign_mask;
  }
  for (size_t j = 0; j < 48; j++) {
    plain_set(&problem->b, j, 1);
    plain_set(&problem->b, 48 + j,
              j % 13 ? j < 26 ? 1 - power_of_two(-(int)(j % 13)) : 1 + power_of_two(-(int)(j % 13)) : 1);
  }
  plain_store_again(&problem->a, 0, 0, 0);
  plain_store_again(&problem->b, 0, 0, 0);
  return with_model(problem, model, q);
}

/* C about F's largest number and products some binades below: sums overflow, and what was finite comes back. */
enum { BELOW_TOP = 12 };
static int near_top(t_problem *problem, t_random *random, unsigned i, char *model) {
  size_t q = i / BELOW_TOP;
  int below = 4 + (int)i % BELOW_TOP;
  if (t_part(100) < 100 && (below + (int)q) % 3 != 0) return 0;
  hu_format format = named_format(sums[q]);
  int e = hu_limits_of(format).emax - below;
  hu_format x = below % 2 ? format : named_format("fp(8,3,0)"); /* few digits, so that more ways are open */
  problem_draw(problem, random, 20, 60, 1 + t_below(random, 100), x, x, &format, named_format("binary32"),
               HU_ACCUM_EXACT);
  plain_refill(&problem->a, random, e / 2, 0);
  plain_refill(&problem->b, random, e - e / 2, 0);
  for (size_t c = 0; c < problem->m * problem->n; c++)
    problem->c.code[c] = hu_limits_of(format).max_code - t_below(random, 3);
  plain_store_again(&problem->c, 0, 0, 0);
  return with_model(problem, model, q);
}

/* Larger than a block in each direction in turn. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{300, 3, 20}, {3, 400, 20}, {2, 3, 2000}, {70, 60, 170}};
  problem_draw_block(problem, random, shapes[i / SUMS], named_format(sums[i % SUMS]), i % SUMS % 2);
  return with_model(problem, model, i % SUMS);
}

int main(void) {
  const model_test tests[] = {{"gemm seq", 41, t_runs(100 * SUMS), many, 1, NULL},
                              {"gemm seq jumps", 43, SUMS * JUMPS, jumps, 0, NULL},
                              {"gemm seq jumps from C", 46, SUMS * JUMPS_FROM_C, jumps_from_c, 0, NULL},
                              {"gemm seq ties", 44, SUMS * MODEL_OPERANDS * MODEL_OPERANDS, near_ties, 0, NULL},
                              {"gemm seq top", 45, SUMS * BELOW_TOP, near_top, 0, NULL},
                              {"gemm seq blocks", 42, 4 * SUMS, beyond_blocks, 0, NULL}};
  return model_tests_run(tests, sizeof tests / sizeof tests[0]);
}
