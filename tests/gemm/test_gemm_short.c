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
static void same_as(const t_problem *p, uint32_t off, unsigned long *runs) {
  static const uint32_t best[] = {HU_LEVEL_AMX_INT8, HU_LEVEL_VNNI, HU_LEVEL_AVX_VNNI};
  uint32_t without[4] = {0};
  size_t n = 1;
  for (size_t i = 0; i < 3; i++) {
    if (!(hu_levels() & best[i])) continue;
    without[n] = without[n - 1] | best[i];
    n++;
  }
  problem_same_without(p, "exact", without, n, off, runs);
#ifdef TEST_MODELLED
  assert_int_equal(model_tiles_in_use(), 0);
#endif
}

static void same_as_integers(const t_problem *p, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  (void)model;
  same_as(p, UINT32_MAX, runs);
}

static void same_as_binary64(const t_problem *p, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  (void)model;
  same_as(p, SHORT_LEVELS, runs);
}

/* Now and then as integers. */
static void same_as_either(const t_problem *p, unsigned i, const char *model, unsigned long *runs) {
  (void)model;
  same_as(p, i % 20 ? SHORT_LEVELS : UINT32_MAX, runs);
}

static void same_as_both(const t_problem *p, unsigned i, const char *model, unsigned long *runs) {
  (void)model;
  same_as(p, SHORT_LEVELS, runs);
  if (i % 6 == 3) same_as(p, UINT32_MAX, runs);
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

static hu_format format_at(t_random *r) { return named_format(formats[t_below(r, FORMATS)]); }

/* Every magnitude at most `most` ulps of zero's binade above 0 ... or the largest; some zeros of either sign. */
static void refill(plain *x, t_random *r, uint32_t most, int largest) {
  hu_limits l = hu_limits_of(x->format);
  if (most > l.max_code) most = l.max_code;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    uint32_t code = largest && t_below(r, 8) ? most : t_below(r, most + 1);
    x->code[i] = code | (l.sign_mask && t_below(r, 2) && (code || x->format.negzero) ? l.sign_mask : 0);
  }
  plain_keep_layout(x, t_below(r, 3));
}

static void draw(t_problem *p, t_random *r, size_t m, size_t n, size_t k) {
  static const char *const results[] = {"binary32", "binary32", "bfloat16", "binary16", "float8_e4m3fn", "uint8"};
  static const char *const addends[] = {"binary32", "bfloat16", "float8_e5m2", "float4_e2m1fn", "fp(11,20,0)"};
  hu_format fc = named_format(addends[t_below(r, 5)]);
  problem_draw(p, r, m, n, k, format_at(r), format_at(r), t_below(r, 2) ? &fc : NULL,
               named_format(results[t_below(r, 6)]), HU_ACCUM_EXACT);
  if (t_below(r, 3) == 0) p->mode = t_mode(HU_RTN);
}

static int exactly(char *model) {
  strcpy(model, "exact");
  return 1;
}

/* Codes of all kinds. */
static int random_problems(t_problem *p, t_random *r, unsigned i, char *model) {
  (void)i;
  draw(p, r, 1 + t_below(r, 9), 1 + t_below(r, 60), t_below(r, 4) ? 128 + t_below(r, 30) : t_below(r, 400));
  return exactly(model);
}

/* Values in a range that halves hold in formats that are wider; with a special one now and then; the largest alone, so
 * that sums come near their bounds. */
static int ranges(t_problem *p, t_random *r, unsigned i, char *model) {
  (void)i;
  int largest = (int)t_below(r, 2);
  draw(p, r, 64 + t_below(r, 20), 64 + t_below(r, 70), 128 + t_below(r, t_below(r, 3) ? 9 : 700));
  refill(&p->a, r, 1 + t_below(r, t_below(r, 3) ? 90 : 254), largest);
  refill(&p->b, r, 1 + t_below(r, t_below(r, 3) ? 90 : 254), largest);
  if (t_below(r, 8) == 0) plain_spoil(t_below(r, 2) ? &p->a : &p->b, r);
  if (p->has_c && t_below(r, 8) == 0) plain_spoil(&p->c, r);
  return exactly(model);
}

/* Every code is 0, of one sign where the format has two. */
static void refill_zeros(plain *x, t_random *r) {
  uint32_t code = x->format.negzero && t_below(r, 2) ? hu_limits_of(x->format).sign_mask : 0;
  for (size_t i = 0; i < x->rows * x->columns; i++) x->code[i] = code;
  plain_keep_layout(x, t_below(r, 3));
}

/* All products are zeros of one sign, or of both, and C is. */
static int zeros(t_problem *p, t_random *r, unsigned i, char *model) {
  hu_format fc = named_format(i % 3 ? "bfloat16" : "float4_e2m1fn");
  problem_draw(p, r, 1 + t_below(r, 9), 1 + t_below(r, 30), 128 + t_below(r, 6), named_format(formats[t_below(r, 4)]),
               named_format(formats[t_below(r, 4)]), i % 4 ? &fc : NULL, named_format("binary32"), HU_ACCUM_EXACT);
  if (i % 5 == 0) p->mode = t_mode(HU_RTN);
  refill_zeros(&p->a, r);
  if (i % 2) refill_zeros(&p->b, r);
  if (i % 2 == 0) refill(&p->b, r, 1, 0);
  if (p->has_c) refill(&p->c, r, 0, 0);
  return exactly(model);
}

/* Operands that hold nothing but infinities, or NaN, and zeros. */
static int specials(t_problem *p, t_random *r, unsigned i, char *model) {
  hu_format f = named_format(i % 4 ? "float8_e5m2" : "float8_e4m3fnuz");
  hu_limits l = hu_limits_of(f);
  problem_draw(p, r, 65, 70, 129, f, f, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  plain *x = i % 2 ? &p->a : &p->b;
  for (size_t e = 0; e < x->rows * x->columns; e++) {
    x->code[e] = t_below(r, 3) == 0 ? 0 : i % 4 == 1 ? l.inf_code : l.nan_code;
  }
  plain_keep_layout(x, 0);
  refill(i % 2 ? &p->b : &p->a, r, 9, 0);
  return exactly(model);
}

/* Larger than a block in each direction in turn; sums of so many products that they are carried on: of bytes, of halves
 * whose largest products fill 32 bits after 2 pieces, and in the midst of one. */
static int beyond_blocks(t_problem *p, t_random *r, unsigned i, char *model) {
  static const size_t shapes[][3] = {{270, 300, 130}, {5, 610, 333},   {530, 7, 260},
                                     {3, 4, 70001},   {100, 50, 1100}, {98, 290, 530}};
  static const char *const pairs[][2] = {{"float4_e2m1fn", "fp(1,6,-6):finite"},
                                         {"float8_e4m3fn", "float8_e4m3fn"},
                                         {"float6_e3m2fn", "uint8"},
                                         {"fp(1,7,-7):unsigned,finite", "fp(1,6,-6):finite"}};
  int q = i / 6;
  if (t_part(100) < 100 && (i + q) % 2) return 0; /* each shape and each pair of formats, not together */
  hu_format fc = named_format("bfloat16");
  problem_draw(p, r, shapes[i % 6][0], shapes[i % 6][1], shapes[i % 6][2], named_format(pairs[q][0]),
               named_format(pairs[q][1]), i % 5 == 0 ? &fc : NULL, named_format("binary32"), HU_ACCUM_EXACT);
  refill(&p->a, r, q == 1 ? 90 - 4 * (uint32_t)i / 6 : 255, 1);
  refill(&p->b, r, q == 1 ? 84 : 255, 1);
  if (p->has_c) refill(&p->c, r, 0x4380, 0);
  return exactly(model);
}

/* Every magnitude of halves: one product each, and sums of the most that one may take before it is carried on. */
static int bounds(t_problem *p, t_random *r, unsigned i, char *model) {
  uint32_t a = 60 + i;
  if (t_part(100) < 100 && i % 3) return 0;
  hu_format f = named_format("float8_e4m3fn");
  problem_draw(p, r, 64, 67, 128 + t_below(r, 500), f, f, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t e = 0; e < p->m * p->k; e++) p->a.code[e] = a | (a % 2 ? 0x80 : 0);
  for (size_t e = 0; e < p->k * p->n; e++) p->b.code[e] = 60 + (a * 7 + 11) % 60;
  p->a.code[0] = p->b.code[0] = 1; /* the last place */
  plain_keep_layout(&p->a, 0);
  plain_keep_layout(&p->b, 0);
  return exactly(model);
}

/* All bytes are the largest of their format, of one sign each: sums in 16 bits come as near to their end as they
 * may. */
static int byte_bounds(t_problem *p, t_random *r, unsigned i, char *model) {
  static const char *const of[] = {"float4_e2m1fn", "fp(1,3,-3):finite", "fp(1,4,-4):finite", "fp(1,5,-5):finite",
                                   "uint4"};
  hu_format fa = named_format(of[i / 5 % 5]), fb = named_format(of[i % 5]);
  problem_draw(p, r, 9, 30, 300, fa, fb, NULL, named_format("binary32"), HU_ACCUM_EXACT);
  for (size_t e = 0; e < p->m * p->k; e++) p->a.code[e] = hu_limits_of(fa).max_code;
  for (size_t e = 0; e < p->k * p->n; e++) {
    p->b.code[e] = hu_limits_of(fb).max_code | (i / 25 ? hu_limits_of(fb).sign_mask : 0);
  }
  plain_keep_layout(&p->a, 0);
  plain_keep_layout(&p->b, 0);
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
