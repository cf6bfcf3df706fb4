/* SPDX-License-Identifier: MIT */
/* cli/question/vectors.h - the questions that are put to a black box: operands of dot products, and its answers. */
#ifndef HALFULP_CLI_QUESTION_VECTORS_H
#define HALFULP_CLI_QUESTION_VECTORS_H

#include <stdio.h>

#include "halfulp/accum.h"

/* What every question has in common. C has the elements of D. */
typedef struct id_shape {
  hu_type a, b, result;
  hu_format scale; /* of the scales of A and of B; all zero: the box takes no scales */
  uint32_t every;  /* products that share a scale; 0: no scales */
  uint32_t n;      /* products of a dot product */
  uint8_t low[2];  /* lowest digits of A and of B that are 0 in every question: 13 for TF32 in patterns of binary32 */
  int without_c;   /* 1: the box takes no C, which is +0 in every question */
  int sums;        /* 1: the box adds numbers: B is 1 in every question */
} id_shape;

enum { ID_A, ID_B, ID_C, ID_SA, ID_SB, ID_D, ID_COLUMNS };

/* Rows of questions, one array for each operand, and the answers in column ID_D. */
typedef struct id_vectors {
  const id_shape *shape;
  size_t count, capacity;
  void *column[ID_COLUMNS];
} id_vectors;

/* Returns what the patterns of a column are. */
hu_type id_column_element(const id_shape *shape, int column);
/* Return how many patterns a column has in a row, and the bytes of one; 0 of both for scales that are not there. */
size_t id_column_length(const id_shape *shape, int column);
size_t id_column_size(const id_shape *shape, int column);

void id_vectors_start(id_vectors *questions, const id_shape *shape);
void id_vectors_free(id_vectors *questions);
/* Adds rows of zeros at the end; returns the number of the first, or SIZE_MAX where memory ends. */
size_t id_vectors_grow(id_vectors *questions, size_t count);
/* Copies row `from` of `other`, answer included, as row `to` of `questions`. */
void id_vectors_copy(id_vectors *questions, size_t to, const id_vectors *other, size_t from);
void id_vectors_swap(id_vectors *questions, size_t i, size_t j);
uint64_t id_get(const id_vectors *questions, int column, size_t row, size_t k);
void id_put(id_vectors *questions, int column, size_t row, size_t k, uint64_t pattern);
/* Prints the operands of a row as `halfulp mma` reads them: "A B C [SCALES_A SCALES_B]". */
void id_vectors_print(FILE *out, const id_vectors *questions, size_t row);
/* Counts the products of a row that are not zero. */
size_t id_terms(const id_vectors *questions, size_t row);

/* Computes what the model gives for rows first ... first + count - 1, into z in elements of D. */
hu_status id_compute(const hu_accum *model, const id_vectors *questions, size_t first, size_t count, void *z);
/* Computes the same with another last rounding into D, a mode HU_RNE ... HU_RTO. */
hu_status id_compute_rounded(const hu_accum *model, const id_vectors *questions, size_t first, size_t count,
                             uint8_t mode, void *z);
/* Returns 1 for the same answer: the same pattern, or both NaN. */
int id_same(const id_shape *shape, uint64_t x, uint64_t y);
int id_is_nan(const id_shape *shape, uint64_t x);
/* Returns the first row from `first` on whose answer the model does not give, `past` where it gives all of them. */
size_t id_first_difference(const hu_accum *model, const id_vectors *questions, size_t first, size_t past);
/* Counts the rows that the model gives. */
size_t id_score(const hu_accum *model, const id_vectors *questions);

/* Returns the value of a pattern of this element. */
double id_value(hu_type element, uint64_t pattern);

#endif
