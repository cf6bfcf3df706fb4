/* SPDX-License-Identifier: MIT */
/* hu_gemm's exact sums of short integers by the instructions for them: bytes and events of the element-by-element
 * integers (all levels off), and of binary64 (SHORT_LEVELS off) where there are many elements. gemm_short_modelled has
 * the instructions in plain C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/extension.h"
#include "tests/gemm/models.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/immintrin.h"
#endif

#ifndef TEST_ROUNDS
#define TEST_ROUNDS 400
#endif

/* All kernels of short integers. */
#define SHORT_LEVELS (HU_LEVEL_VNNI | HU_LEVEL_AVX_VNNI | HU_LEVEL_MADD)

/* With all instructions; then without those that are there, the best first. */
static void same_as(const t_problem *problem, uint32_t off, unsigned long *runs) {
  static const uint32_t best[] = {HU_LEVEL_AMX_INT8, HU_LEVEL_VNNI, HU_LEVEL_AVX_VNNI};
  uint32_t without[4] = {0};
  size_t n = 1;
  for (size_t i = 0; i < 3; i++) {
    if (!(hu_levels() & best[i])) continue;
    without[n] = without[n - 1] | best[i];
    n++;
  }
  problem_same_without(problem, "exact", without, n, off, runs);
#ifdef TEST_MODELLED
  assert_int_equal(model_tiles_in_use(), 0);
#endif
}

static void same_as_integers(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  (void)model;
  same_as(problem, UINT32_MAX, runs);
}

static void same_as_binary64(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  (void)model;
  same_as(problem, SHORT_LEVELS, runs);
}

/* Now and then as integers. */
static void same_as_either(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)model;
  same_as(problem, i % 20 ? SHORT_LEVELS : UINT32_MAX, runs);
}

static void same_as_both(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)model;
  same_as(problem, SHORT_LEVELS, runs);
  if (i % 6 == 3) same_as(problem, UINT32_MAX, runs);
}

/* Those whose products are taken whatever they hold, by their values, and never. */
static const char *const formats[] = {"float4_e2m1fn",
                                      "float6_e2m3fn",
                                      "float6_e3m2fn",
                                      "fp(1,6,-6):finite",
                                      "fp(1,7,-7):finite",
                                      "uint8",
                                      "uint4",
                                      "float8_e4m3fn",
                                      "float8_e5m2",
                                      "float4_e3m0",
                                      "float8_e4m3fnuz",
                                      "binary8p3se",
                                      "bfloat16",
                                      "binary8p5se",
                                      "fp(2,5,-90)",
                                      "uint1",
                                      "fp(1,7,-7):unsigned,finite",
                                      "float8_e3m4",
                                      "fp(4,3,60):finite"};
enum { FORMATS = sizeof formats / sizeof *formats };

static hu_format format_at(t_random *random) { return named_format(formats[t_below(random, FORMATS)]); }

/* Every magnitude at most `most` ulps of zero's binade above 0 ... or the largest; some zeros of either sign. */
static void refill(plain *x, t_random *random, uint32_t most, int largest) {
  hu_limits limits = hu_limits_of(x->format);
  if (most > limits.max_code) most = limits.max_code;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    uint32_t code = largest && t_below(random, 8) ? most : t_below(random, most + 1);
    x->code[i] = code | (limits.sign_mask && t_below(random, 2) && (code || x->format.negzero) ? limits.sign_mask : 0);
  }
  plain_keep_layout(x, t_below(random, 3));
}

static void draw(t_problem *problem, t_random *random, size_t m, size_t n, size_t k) {
  static const char *const results[] = {"binary32", "binary32", "bfloat16", "binary16", "float8_e4m3fn", "uint8"};
  static const char *const addends[] = {"binary32", "bfloat16", "float8_e5m2", "float4_e2m1fn", "fp(11,20,0)"};
  hu_format fc = named_format(addends[t_below(random, 5)]);
  problem_draw(problem, random, m, n, k, format_at(random), format_at(random), t_below(random, 2) ? &fc : NULL,
               named_format(results[t_below(random, 6)]), HU_ACCUM_EXACT);
  if (t_below(random, 3) == 0) problem->mode = t_mode(HU_RTN);
}

static int exactly(char *model) {
  strcpy(model, "exact");
  return 1;
}

/* Codes of all kinds. */
static int random_problems(t_problem *problem, t_random *random, unsigned i, char *model) {
  (void)i;
  draw(problem, random, 1 + t_below(random, 9), 1 + t_below(random, 60),
       t_below(random, 4) ? 128 + t_below(random, 30) : t_below(random, 400));
  return exactly(model);
}

/* Values in a range that halves hold in formats that are wider; with a special one now and then; the largest alone, so
 * that sums come near their bounds. */
static int ranges(t_problem *problem, t_random *random, unsigned i, char *model) {
  (void)i;
  int largest = (int)t_below(random, 2);
  draw(problem, random, 64 + t_below(random, 20), 64 + t_below(random, 70),
       128 + t_below(random, t_below(random, 3) ? 9 : 700));
  refill(&problem->a, random, 1 + t_below(random, t_below(random, 3) ? 90 : 254), largest);
  refill(&problem->b, random, 1 + t_below(random, t_below(random, 3) ? 90 : 254), largest);
  if (t_below(random, 8) == 0) plain_spoil(t_below(random, 2) ? &problem->a : &problem->b, random);
  if (problem->has_c && t_below(random, 8) == 0) plain_spoil(&problem->c, random);
  return exactly(model);
}

/* Every code is 0, of one sign where the format has two. */
static void refill_zeros(plain *x, t_random *random) {
  uint32_t code = x->format.negzero && t_below(random, 2) ? hu_limits_of(x->format).sign_mask : 0;
  for (size_t i = 0; i < x->rows * x->columns; i++) x->code[i] = code;
  plain_keep_layout(x, t_below(random, 3));
}

/* All products are zeros of one sign, or of both, and C is. */
static int zeros(t_problem *problem, t_random *random, unsigned i, char *model) {
  hu_format fc = named_format(i % 3 ? "bfloat16" : "float4_e2m1fn");
  problem_draw(problem, random, 1 + t_below(random, 9), 1 + t_below(random, 30), 128 + t_below(random, 6),
               named_format(formats[t_below(random, 4)]), named_format(formats[t_below(random, 4)]), i % 4 ? &fc : NULL,
               named_format("binary32"), HU_ACCUM_EXACT);
  if (i % 5 == 0) problem->mode = t_mode(HU_RTN);
  refill_zeros(&problem->a, random);
  if (i % 2) refill_zeros(&problem->b, random);
  if (i % 2 == 0) refill(&problem->b, random, 1, 0);
  if (problem->has_c) refill(&problem->c, random, 0, 0);
  return exactly(model);
}

/* Operands that hold nothing but infinities, or NaN, and zeros. */
static int specials(t_problem *problem, t_random *random, unsigned i, char *model) {
  hu_format format = named_format(i % 4 ? "float8_e5m2" : "float8_e4m3fnuz");
  hu_limits limits = hu_limits_of(format);
  problem_draw(problem, random, 65, 70, 129, format, format, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  plain *x = i % 2 ? &problem->a : &problem->b;
  for (size_t e = 0; e < x->rows * x->columns; e++) {
    x->code[e] = t_below(random, 3) == 0 ? 0 : i % 4 == 1 ? limits.inf_code : limits.nan_code;
  }
  plain_keep_layout(x, 0);
  refill(i % 2 ? &problem->b : &problem->a, random, 9, 0);
  return exactly(model);
}

/* Larger than a block in each direction in turn; sums of so many products that they are carried on: of bytes, of halves
 * whose largest products fill 32 bits after 2 pieces, and in the midst of one. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{270, 300, 130}, {5, 610, 333},   {530, 7, 260},
                                     {3, 4, 70001},   {100, 50, 1100}, {98, 290, 530}};
  static const char *const pairs[][2] = {{"float4_e2m1fn", "fp(1,6,-6):finite"},
                                         {"float8_e4m3fn", "float8_e4m3fn"},
                                         {"float6_e3m2fn", "uint8"},
                                         {"fp(1,7,-7):unsigned,finite", "fp(1,6,-6):finite"}};
  int q = i / 6;
  if (t_part(100) < 100 && (i + q) % 2) return 0; /* each shape and each pair of formats, not together */
  hu_format fc = named_format("bfloat16");
  problem_draw(problem, random, shapes[i % 6][0], shapes[i % 6][1], shapes[i % 6][2], named_format(pairs[q][0]),
               named_format(pairs[q][1]), i % 5 == 0 ? &fc : NULL, named_format("binary32"), HU_ACCUM_EXACT);
  refill(&problem->a, random, q == 1 ? 90 - 4 * (uint32_t)i / 6 : 255, 1);
  refill(&problem->b, random, q == 1 ? 84 : 255, 1);
  if (problem->has_c) refill(&problem->c, random, 0x4380, 0);
  return exactly(model);
}

/* Every magnitude of halves: one product each, and sums of the most that one may take before it is carried on. */
static int bounds(t_problem *problem, t_random *random, unsigned i, char *model) {
  uint32_t a = 60 + i;
  if (t_part(100) < 100 && i % 3) return 0;
  hu_format format = named_format("float8_e4m3fn");
  problem_draw(problem, random, 64, 67, 128 + t_below(random, 500), format, format, NULL, named_format("binary32"),
               HU_ACCUM_EXACT);
  for (size_t e = 0; e < problem->m * problem->k; e++) problem->a.code[e] = a | (a % 2 ? 0x80 : 0);
  for (size_t e = 0; e < problem->k * problem->n; e++) problem->b.code[e] = 60 + (a * 7 + 11) % 60;
  problem->a.code[0] = problem->b.code[0] = 1; /* the last place */
  plain_keep_layout(&problem->a, 0);
  plain_keep_layout(&problem->b, 0);
  return exactly(model);
}

/* All bytes are the largest of their format, of one sign each: sums in 16 bits come as near to their end as they
 * may. */
static int byte_bounds(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const char *const of[] = {"float4_e2m1fn", "fp(1,3,-3):finite", "fp(1,4,-4):finite", "fp(1,5,-5):finite",
                                   "uint4"};
  hu_format fa = named_format(of[i / 5 % 5]), fb = named_format(of[i % 5]);
  problem_draw(problem, random, 9, 30, 300, fa, fb, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t e = 0; e < problem->m * problem->k; e++) problem->a.code[e] = hu_limits_of(fa).max_code;
  for (size_t e = 0; e < problem->k * problem->n; e++) {
    problem->b.code[e] = hu_limits_of(fb).max_code | (i / 25 ? hu_limits_of(fb).sign_mask : 0);
  }
  plain_keep_layout(&problem->a, 0);
  plain_keep_layout(&problem->b, 0);
  return exactly(model);
}

#ifdef TEST_MODELLED
/* The less of what tiles did and of what AVX-VNNI did. */
static long instructions(void) {
  long tiles = model_tiles_set_up(), sums = model_vex_sums() / 1000;
  return tiles < sums ? tiles : sums;
}
#endif
EXTENSION_RAN(instructions, 100)

static const char *there(uint32_t level) { return hu_levels() & level ? "there" : "not there"; }

int main(void) {
  const model_test tests[] = {{"gemm short", 81, TEST_ROUNDS, random_problems, 0, same_as_integers},
                              {"gemm short ranges", 82, TEST_ROUNDS / 5, ranges, 0, same_as_either},
                              {"gemm short zeros", 83, TEST_ROUNDS / 4, zeros, 0, same_as_integers},
                              {"gemm short specials", 86, TEST_ROUNDS / 10, specials, 0, same_as_binary64},
                              {"gemm short beyond blocks", 84, 24, beyond_blocks, 0, same_as_both},
                              {"gemm short bounds", 85, 60, bounds, 0, same_as_binary64},
                              {"gemm short byte bounds", 87, 50, byte_bounds, 0, same_as_integers}};
  print_message("gemm short: AVX512_VNNI is %s, AMX is %s, AVX-VNNI is %s\n", there(HU_LEVEL_VNNI),
                there(HU_LEVEL_AMX_INT8), there(HU_LEVEL_AVX_VNNI));
  return model_tests_run(tests, sizeof tests / sizeof *tests) + extension_ran();
}
