/* SPDX-License-Identifier: MIT */
/* tests/gemm/models.h - products under models that lanes serve: the lanes against the integers (all levels off),
 * operands to try them with, and tables of such tests. Failures are cmocka's. */
#ifndef HALFULP_TESTS_GEMM_MODELS_H
#define HALFULP_TESTS_GEMM_MODELS_H

#include "tests/gemm/problem.h"

hu_format named_format(const char *name);
hu_accum named_model(const char *text);
double power_of_two(int e);
/* Code number `at`: v, which the format should have. */
void plain_set(plain *x, size_t at, double v);
/* Finite numbers of exponents about `centre`, `width` of them; some have few digits (ties), some are zero. */
void plain_refill(plain *x, t_random *random, int centre, uint32_t width);
/* An infinity or a NaN among many numbers. */
void plain_spoil(plain *x, t_random *random);
/* Bytes and events are those of the integers at every level and thread count, and in place; adds to *runs. model: for
 * the message. */
void problem_same_at_levels(const t_problem *problem, const char *model, unsigned long *runs);
/* A random element of the best level against hu_dot, where all is stored as codes. */
void problem_spot(const t_problem *problem, t_random *random);

/* ---- Tests that are a table: problems drawn one after the other from a seed, each compared. ---- */

/* Operands of many formats, for accumulators of others. */
enum { MODEL_OPERANDS = 10 };
extern const char *const model_operands[MODEL_OPERANDS];

/* Makes problem number i and writes the text of its model. 0: it is not one of those that are asked for, and nothing is
 * made. */
enum { MODEL_TEXT = 200 };
typedef int draw_problem(t_problem *problem, t_random *random, unsigned i, char *model);

typedef struct model_test {
  const char *name; /* of the seed, too */
  uint64_t seed;
  unsigned count;
  draw_problem *draw;
  int spot; /* each by problem_spot, too */
  /* How problem number i is compared; NULL: problem_same_at_levels. Adds to *runs. */
  void (*same)(const t_problem *problem, unsigned i, const char *model, unsigned long *runs);
} model_test;
/* Each as a group of cmocka; how many failed. */
int model_tests_run(const model_test *tests, size_t n);

/* The accumulation model of a text, which must be one. */
void problem_set_model(t_problem *problem, const char *model);
/* A, B and C stored again, their codes having changed. */
void problem_store_again(t_problem *problem);

typedef struct problem_sizes {
  uint32_t rows, columns, terms, most_terms; /* three in four have at most `columns`, two in three at most `terms` */
  uint8_t digits;                            /* formats of more are no operands */
} problem_sizes;
/* Operands of any formats, or of `format`, and C, which may be left out. Are their numbers to be of one size? */
int problem_draw_any(t_problem *problem, t_random *random, hu_format format, problem_sizes sizes);
/* Numbers that sums of the format are made of: about 1, or far up or down; now and then an infinity or a NaN, in C
 * where that is asked for. */
void problem_refill(t_problem *problem, t_random *random, hu_format format, int spoil_c);
/* Zeros of both signs, among them rows and columns of nothing else, and sums that cancel. */
void problem_draw_zeros(t_problem *problem, t_random *random, hu_format format, uint32_t rows, uint32_t terms);
/* Counters about 2^32 and 2^64: the words of neighbours come from blocks of different upper halves. */
void problem_draw_counters(t_problem *problem, t_random *random, unsigned i, hu_format format, uint32_t columns,
                           uint32_t terms);
/* Of that many rows, columns and terms: larger than a block of the kernels. */
void problem_draw_block(t_problem *problem, t_random *random, const size_t shape[3], hu_format format, int has_c);

#endif
