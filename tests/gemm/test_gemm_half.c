/* SPDX-License-Identifier: MIT */
/* hu_gemm under seq(binary16), and under models whose products and sums are each rounded into binary16, by the
 * processor's operations on it: bytes and events of the element-by-element integers (all levels off), and of the lanes
 * (HU_LEVEL_FP16 off) where there are many elements. Where the processor has no such instructions, the lanes are
 * compared alone; gemm_half_modelled has them in plain C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/accum.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"

#include "tests/gemm/extension.h"
#include "tests/gemm/models.h"

#ifdef TEST_MODELLED
#include "tests/gemm/modelled/halves.h"
#endif

#ifndef TEST_ROUNDS
#define TEST_ROUNDS 400
#endif

static const char *const models[] = {"seq(binary16)", "seq(binary16,rtz)", "seq(binary16,rtp)", "seq(binary16,rtn)"};
/* Each kind in several modes. */
static const char *const unfused[] = {"seq2(binary16,binary16)",
                                      "kahan(binary16,rtz)",
                                      "chunk(5,binary16,binary16,rtp)",
                                      "neumaier(binary16,rtn)",
                                      "kahan(binary16)",
                                      "pairwise(binary16,rtz)",
                                      "neumaier(binary16,rtp)",
                                      "chunk(3,binary16,binary16,rtn)",
                                      "neumaier(binary16)",
                                      "strided(binary16,rtz)",
                                      "kahan(binary16,rtp)",
                                      "seq2(binary16,binary16,rtn)",
                                      "chunk(7,binary16,binary16)",
                                      "splitk(3,kahan(binary16,rtz))",
                                      "pairwise(binary16,rtp)",
                                      "kahan(binary16,rtn)",
                                      "pairwise(binary16)",
                                      "neumaier(binary16,rtz)",
                                      "strided(binary16,rtp)",
                                      "splitk(2,pairwise(binary16,rtn))",
                                      "strided(binary16)",
                                      "splitk(4,chunk(2,binary16,binary16,rtz))"};
/* Those that binary16 holds, and others. */
static const char *const operands[] = {"binary16", "binary16", "float8_e5m2", "float8_e4m3fn", "fp(4,7,0)",
                                       "uint8",    "bfloat16", "fp(5,10,1)",  "fp(5,11,0)",    "fp(5,9,-1)"};
enum {
  MODELS = 4,
  UNFUSED = sizeof unfused / sizeof *unfused,
  HELD = 6,
  OPERANDS = sizeof operands / sizeof *operands
};

/* Of both lists in turn. */
static const char *model_at(unsigned i) { return i % 2 ? unfused[i / 2 % UNFUSED] : models[i / 2 % MODELS]; }

static void same_as_integers(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  problem_same_with(problem, model, UINT32_MAX, runs);
}

static void same_as_lanes(const t_problem *problem, unsigned i, const char *model, unsigned long *runs) {
  (void)i;
  problem_same_with(problem, model, HU_LEVEL_FP16, runs);
}

static int draw(t_problem *problem, t_random *random, char *text, const char *model, size_t m, size_t n, size_t k,
                uint32_t some) {
  static const char *const results[] = {"binary16", "binary32", "bfloat16", "float8_e4m3fn"};
  hu_format fa = named_format(operands[t_below(random, some)]), fb = named_format(operands[t_below(random, some)]),
            fc = named_format(operands[t_below(random, some)]);
  problem_draw(problem, random, m, n, k, fa, fb, t_below(random, 2) ? &fc : NULL,
               named_format(results[t_below(random, 4)]), HU_ACCUM_EXACT);
  problem_set_model(problem, strcpy(text, model));
  problem->accum = hu_accum_any(problem->accum);
  return 1;
}

/* Codes of all kinds, infinities and NaN among them. */
static int random_problems(t_problem *problem, t_random *random, unsigned i, char *model) {
  return draw(problem, random, model, model_at(i), 1 + t_below(random, 30), 1 + t_below(random, 110),
              t_below(random, t_below(random, 4) ? 20 : 300), OPERANDS);
}

/* Sums among the subnormal numbers, at the upper end, of numbers far apart, and cancelling. */
static int ends(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const int at[][3] = {{-12, -12, -24}, {-8, -7, -15}, {-14, 0, -14}, {7, 8, 15},
                              {7, 7, 14},      {-10, 4, -6},  {0, 0, 0},     {-4, -3, 3}};
  const int *e = at[t_below(random, 8)];
  draw(problem, random, model, model_at(i), 1 + t_below(random, 20), 1 + t_below(random, 70),
       1 + t_below(random, t_below(random, 3) ? 5 : 60), 2);
  plain_refill(&problem->a, random, e[0] - 2, 1 + t_below(random, 5));
  plain_refill(&problem->b, random, e[1] - 2, 1 + t_below(random, 5));
  if (problem->has_c) plain_refill(&problem->c, random, e[2] - 2, 1 + t_below(random, 4));
  if (t_below(random, 6) == 0) plain_spoil(t_below(random, 2) ? &problem->a : &problem->b, random);
  return 1;
}

/* Larger than a block in each direction in turn, and pieces of K; all layouts. */
static int beyond_blocks(t_problem *problem, t_random *random, unsigned i, char *model) {
  static const size_t shapes[][3] = {{270, 100, 9}, {5, 610, 83}, {40, 580, 3}, {3, 4, 401}};
  const size_t *shape = shapes[i % 4];
  draw(problem, random, model, i < 4 * MODELS ? models[i / 4] : unfused[i % UNFUSED], shape[0], shape[1], shape[2],
       HELD);
  plain_refill(&problem->a, random, -6, 7);
  plain_refill(&problem->b, random, -6, 7);
  return 1;
}

/* Models one key apart from it. */
static const char *const texts[] = {"seq(binary16,rna)",
                                    "seq(binary16,rto)",
                                    "seq(binary16,rne,sat=finite)",
                                    "seq(binary16,sra:8)",
                                    "seq(fp(5,9,0))",
                                    "seq(fp(5,10,1))",
                                    "seq(fp(5,10,0):finite)",
                                    "seq2(binary16,binary32)",
                                    "seq2(fp(5,9,0),binary16)",
                                    "pairwise(binary16,rnz)",
                                    "chunk(4,bfloat16,binary16)",
                                    "seq(bfloat16)",
                                    "promote(6,seq(binary16),binary32)",
                                    "splitk(3,seq(binary16))",
                                    "promote(6,kahan(binary16),binary32)",
                                    "kahan(binary16,sra:8)",
                                    "neumaier(binary16,rne,sat=finite)"};
enum { TEXTS = sizeof texts / sizeof *texts };

static int neighbours(t_problem *problem, t_random *random, unsigned i, char *model) {
  draw(problem, random, model, "seq(binary16)", 9, 40, t_below(random, 30), HELD);
  if (t_below(random, 2)) {
    plain_refill(&problem->a, random, 4, 4);
    plain_refill(&problem->b, random, 4, 4);
  }
  problem_set_model(problem, strcpy(model, texts[i % TEXTS]));
  return 1;
}

#ifdef TEST_MODELLED
static long least_of_both(void) {
  return model_halves_added() < model_halves_operated() ? model_halves_added() : model_halves_operated();
}
#endif
EXTENSION_RAN(least_of_both, 500000)

int main(void) {
  const model_test tests[] = {{"gemm half", 171, TEST_ROUNDS, random_problems, 0, same_as_integers},
                              {"gemm half ends", 172, TEST_ROUNDS, ends, 0, same_as_integers},
                              {"gemm half beyond blocks", 173, 4 * (MODELS + 4), beyond_blocks, 0, same_as_lanes},
                              {"gemm half neighbours", 174, 8 * TEXTS, neighbours, 0, same_as_integers}};
  print_message("gemm half: binary16: the instructions are %s\n", hu_levels() & HU_LEVEL_FP16 ? "there" : "not there");
  return model_tests_run(tests, sizeof tests / sizeof *tests) + extension_ran();
}
