/* SPDX-License-Identifier: MIT */
/* hu_gemm under intel.vdpbf16ps and intel.tdpbf16ps by the instructions: bytes and events of the element-by-element
 * integers (all levels off), and of the lanes (HU_LEVEL_BF16, HU_LEVEL_AMX_BF16 off) where there are many elements.
 * Where the processor has no such instruction, the lanes are compared alone; gemm_pairs_modelled has them in plain
 * C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/extension.h"
#include "tests/gemm/models.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/tiles.h"
#endif

#ifndef TEST_ROUNDS
#define TEST_ROUNDS 400
#endif

typedef struct t_unit {
  const char *model;
  uint32_t level;
} t_unit;
static const t_unit units[] = {{"intel.vdpbf16ps", HU_LEVEL_BF16}, {"intel.tdpbf16ps", HU_LEVEL_AMX_BF16}};
enum { UNITS = 2 };

/* With these levels off; no tile is left in a thread. */
static void same_as(const t_problem *problem, const char *model, uint32_t off, unsigned long *runs) {
  problem_same_with(problem, model, off, runs);
#ifdef TEST_MODELLED
  assert_int_equal(model_tiles_in_use(), 0);
#endif
}

static void same_as_integers(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  same_as(problem, model, UINT32_MAX, runs);
}

/* Of four problems of each unit in turn. */
static const t_unit *unit_of(unsigned i) { return &units[i / 4 % UNITS]; }

static void same_as_lanes(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  same_as(problem, model, unit_of(i)->level, runs);
}

static void same_as_both(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  same_as(problem, model, ~(uint32_t)HU_LEVEL_VECTOR, runs);
  same_as_lanes(problem, i, model, runs);
}

/* Numbers of exponents low ... low + width, of few digits or all, with zeros and negatives of earlier ones. */
static void refill(plain *x, t_random *random, int low, uint32_t width) {
  hu_limits limits = hu_limits_of(x->format);
  hu_mode mode = t_mode(HU_RTZ);
  uint32_t digits = t_below(random, 3) ? 7 : t_below(random, 4), zeros = t_below(random, 3) ? 0 : 5;
  mode.saturate = HU_SAT_FINITE;
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v = (1 + t_below(random, 1u << digits) * power_of_two(-(int)digits)) *
               power_of_two(low + (int)t_below(random, width));
    if (zeros && t_below(random, zeros) == 0) v = 0;
    x->code[i] = hu_encode64(x->format, mode, v, 0, NULL) | (t_below(random, 2) ? limits.sign_mask : 0);
    if (i && t_below(random, 4) == 0) x->code[i] = x->code[t_below(random, (uint32_t)i)] ^ limits.sign_mask;
  }
  plain_keep_layout(x, t_below(random, 3));
}

/* A binary32 number about 2^e, of all digits. */
static void refill_c(plain *x, t_random *random, int e) {
  for (size_t i = 0; i < x->rows * x->columns; i++) {
    double v = (1 + t_next32(random) * 0x1p-32) * power_of_two(e + (int)t_below(random, 4) - 2);
    x->code[i] = hu_encode64(x->format, t_mode(HU_RTZ), t_below(random, 2) ? v : -v, 0, NULL);
    if (t_below(random, 9) == 0) x->code[i] &= hu_limits_of(x->format).sign_mask;
  }
  plain_keep_layout(x, t_below(random, 3));
}

static int draw(t_problem *problem, t_random *random, char *text, const char *model, size_t m, size_t n, size_t k) {
  static const char *const results[] = {"binary32", "binary32", "bfloat16", "binary16", "float8_e4m3fn"};
  static const char *const addends[] = {"binary32", "binary32", "bfloat16", "float8_e5m2"};
  hu_format format = named_format("bfloat16"), fc = named_format(addends[t_below(random, 4)]);
  problem_draw(problem, random, m, n, k, format, format, t_below(random, 3) ? &fc : NULL,
               named_format(results[t_below(random, 5)]), HU_ACCUM_EXACT);
  problem_set_model(problem, strcpy(text, model));
  problem->accum = hu_accum_any(problem->accum);
  return 1;
}

/* Codes of all kinds, infinities and NaN among them. */
static int random_problems(t_problem *problem, t_random *random, unsigned i, char *model) {
  return draw(problem, random, model, units[i % UNITS].model, 1 + t_below(random, 40), 1 + t_below(random, 110),
              t_below(random, t_below(random, 4) ? 20 : 400));
}

/* Products, C and sums about 2^-126, where zeros are made; at the upper end; far apart; cancelling. */
static int ends(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const int at[][3] = {{-63, -64, -126}, {-100, -30, -128}, {-126, 0, -126}, {-40, -70, -103},
                              {63, 63, 127},    {-60, 10, -26},    {0, 0, 0},       {-66, -66, -126}};
  const int *e = at[i % 8];
  draw(problem, random, model, units[i / 8 % UNITS].model, 1 + t_below(random, 20), 1 + t_below(random, 70),
       1 + t_below(random, t_below(random, 3) ? 5 : 60));
  refill(&problem->a, random, e[0] - 2, 1 + t_below(random, 8));
  refill(&problem->b, random, e[1] - 2, 1 + t_below(random, 8));
  if (problem->has_c) refill_c(&problem->c, random, e[2]);
  if (t_below(random, 4) == 0) plain_spoil(t_below(random, 2) ? &problem->a : &problem->b, random);
  return 1;
}

/* Larger than a block in each direction in turn, and pieces of K that end in the middle of a pair or of a tile. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{270, 300, 9}, {5, 610, 331}, {530, 7, 160}, {3, 4, 1001}};
  draw(problem, random, model, unit_of(i)->model, shapes[i % 4][0], shapes[i % 4][1], shapes[i % 4][2]);
  refill(&problem->a, random, -6, 12);
  refill(&problem->b, random, -6, 12);
  return 1;
}

/* Single steps in great number against the lanes: sums that are tiny, ties, cancelled to the last digit. */
static int steps(t_problem *problem, t_random *random, unsigned i, char *model) {
  hu_format format = named_format("bfloat16"), fc = named_format("binary32");
  int e = i % 2 ? -63 : -20 + (int)t_below(random, 40), spread = 1 + (int)t_below(random, 30);
  problem_draw(problem, random, 256, 288, 1 + (size_t)i % 3, format, format, &fc, fc, HU_ACCUM_EXACT);
  problem_set_model(problem, strcpy(model, unit_of(i)->model));
  refill(&problem->a, random, e, (uint32_t)spread);
  refill(&problem->b, random, e - (i % 4 == 1 ? spread : 0), (uint32_t)spread);
  refill_c(&problem->c, random, 2 * e + (int)t_below(random, 24) - 12);
  return 1;
}

/* A NaN whose digits lie below those of bfloat16, in binary32 patterns. */
static int nan_digits(t_problem *problem, t_random *random, unsigned i, char *model) {
  const uint32_t low = 0x7F800001u | (uint32_t)i % 2 << 31;
  draw(problem, random, model, units[i / 8].model, 9, 50, 7);
  plain *x = i / 2 % 2 ? &problem->a : &problem->b;
  plain_store_again(x, 1, i / 4 % 2, 0);
  memcpy((uint8_t *)x->stored + 4 * t_below(random, (uint32_t)(x->rows * x->columns)), &low, 4);
  return 1;
}

/* Models one key apart from them. */
static const char *const texts[] = {"block(chain,l=2,daz=sign,ftz=tiny)",
                                    "block(chain,l=4,order=down,daz=sign,ftz=tiny)",
                                    "block(chain,l=2,order=down,daz=plus,ftz=tiny)",
                                    "block(chain,l=2,order=down,ftz=tiny)",
                                    "block(chain,l=2,order=down,daz=sign)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=after)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=before)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=tiny,in=4)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=tiny,out=bfloat16)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=tiny,sat=finite)",
                                    "block(chain,l=2,order=down,daz=sign,ftz=after,round=rtz)",
                                    "block(lanes,l=2,daz=sign,ftz=tiny)",
                                    "promote(6,block(chain,l=2,order=down,daz=sign,ftz=tiny),binary32)",
                                    "splitk(3,block(chain,l=2,order=down,daz=sign,ftz=tiny))",
                                    "any(intel.vdpbf16ps)",
                                    "block(lanes,l=16,daz=sign,ftz=tiny)",
                                    "block(lanes,l=34,daz=sign,ftz=tiny)",
                                    "block(lanes,l=32,daz=plus,ftz=tiny)",
                                    "block(lanes,l=32,ftz=tiny)",
                                    "block(lanes,l=32,daz=sign)",
                                    "block(lanes,l=32,daz=sign,ftz=after)",
                                    "block(lanes,l=32,daz=sign,ftz=tiny,in=4)",
                                    "block(lanes,l=32,daz=sign,ftz=tiny,out=bfloat16)",
                                    "block(lanes,l=32,daz=sign,ftz=after,round=rtz)",
                                    "block(chain,l=32,daz=sign,ftz=tiny)",
                                    "promote(34,block(lanes,l=32,daz=sign,ftz=tiny),binary32)",
                                    "splitk(3,block(lanes,l=32,daz=sign,ftz=tiny))",
                                    "any(intel.tdpbf16ps)"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* Operands of other formats, too. */
static int neighbours(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const char *const operands[] = {"bfloat16", "bfloat16", "fp(8,7,0):finite", "float8_e5m2", "fp(6,9,0)"};
  uint32_t some = i / TEXTS % 2 ? 3 : 5;
  hu_format fa = named_format(operands[t_below(random, some)]), fb = named_format(operands[t_below(random, some)]),
            fc = named_format("binary32");
  problem_draw(problem, random, 9, 40, t_below(random, t_below(random, 2) ? 20 : 80), fa, fb,
               t_below(random, 2) ? &fc : NULL, fc, HU_ACCUM_EXACT);
  if (t_below(random, 2)) {
    refill(&problem->a, random, hu_limits_of(fa).emin - 1, 3);
    refill(&problem->b, random, -2, 3);
    if (problem->has_c) refill_c(&problem->c, random, hu_limits_of(fa).emin);
  }
  problem_set_model(problem, strcpy(model, texts[i % TEXTS]));
  return 1;
}

EXTENSION_RAN(model_tiles_set_up, 100)

int main(void) {
  const model_test tests[] = {{"gemm pairs", 71, TEST_ROUNDS, random_problems, 0, same_as_integers},
                              {"gemm pairs ends", 72, TEST_ROUNDS, ends, 0, same_as_integers},
                              {"gemm pairs beyond blocks", 73, 24, beyond_blocks, 0, same_as_both},
                              {"gemm pairs steps", 74, TEST_ROUNDS / 10, steps, 0, same_as_lanes},
                              {"gemm pairs NaN", 75, 8 * UNITS, nan_digits, 0, same_as_integers},
                              {"gemm pairs neighbours", 76, 16 * TEXTS, neighbours, 0, same_as_integers}};
  for (int i = 0; i < UNITS; i++) {
    print_message("gemm pairs: %s: the instruction is %s\n", units[i].model,
                  hu_levels() & units[i].level ? "there" : "not there");
  }
  return model_tests_run(tests, sizeof tests / sizeof *tests) + extension_ran();
}
