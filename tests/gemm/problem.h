/* SPDX-License-Identifier: MIT */
/* tests/gemm/problem.h - one product to compute: operands as plain codes and as the stored matrices of hu_gemm, with
 * padding. */
#ifndef HALFULP_TESTS_GEMM_PROBLEM_H
#define HALFULP_TESTS_GEMM_PROBLEM_H

#include "halfulp/gemm.h"
#include "tests/support/support.h"

/* What the codes of an operand are drawn from. */
enum { DRAW_ANY, DRAW_FINITE, DRAW_NARROW, DRAW_TINY, DRAW_HUGE, DRAW_ZEROS, DRAW_KINDS };

typedef struct plain {
  size_t rows, columns;
  hu_format format;
  uint32_t *code; /* row-major, no padding */
  void *stored;   /* as the product reads it */
  size_t bytes;   /* of stored, padding included */
  hu_view operand;
} plain;

typedef struct t_problem {
  size_t m, n, k;
  plain a, b, c, sa, sb;
  int has_c, scaled; /* scaled: with sa and sb */
  hu_accum accum;
  hu_mode mode;
  hu_stream stream;
  hu_format format; /* of D */
  uint8_t kind;     /* of D: HU_TYPE_CODES or HU_TYPE_VALUES32 */
  size_t ld;
} t_problem;

/* What came out: D's bytes, padding included, and the counts. */
typedef struct t_outcome {
  hu_status status;
  uint8_t *d;
  size_t bytes;
  hu_events events;
} t_outcome;

/* An operand: random storage (values only if the format fits binary32), transposition, padding. */
void plain_draw(plain *x, t_random *random, size_t rows, size_t columns, hu_format format, int kind);
void plain_store(plain *x, int values, int transposed, size_t padding);
/* Once its codes have changed: the same, or in the layout that it has. */
void plain_store_again(plain *x, int values, int transposed, size_t padding);
void plain_keep_layout(plain *x, size_t padding);
void plain_free(plain *x);

/* m, n, k and formats given, everything else at random. */
void problem_draw(t_problem *problem, t_random *random, size_t m, size_t n, size_t k, hu_format fa, hu_format fb,
                  const hu_format *fc, hu_format fd, uint32_t kind_of_sum);
void problem_free(t_problem *problem);

/* Runs hu_gemm into a fresh D filled with the pattern. */
t_outcome problem_run(const t_problem *problem, uint32_t threads, uint32_t levels_off);
/* The same with C's place as D's; requires C plain, of D's format and storage. */
int problem_can_run_in_place(const t_problem *problem);
t_outcome problem_run_in_place(const t_problem *problem, uint32_t threads, uint32_t levels_off);
int outcome_same(const t_outcome *x, const t_outcome *y);
/* Element (i, j) of D as bits; is every byte outside the elements still the pattern? */
uint32_t outcome_element(const t_problem *problem, const t_outcome *outcome, size_t i, size_t j);
int outcome_padding_untouched(const t_problem *problem, const t_outcome *outcome);
#define PROBLEM_TEXT 1024
const char *problem_text(char text[PROBLEM_TEXT], const t_problem *problem);

#endif
