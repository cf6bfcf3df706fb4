/* SPDX-License-Identifier: MIT */
/* tests/array/codes.h - calls that read codes, each given one code that is none (test_codes.c).
 *
 * A call in a table takes its operands from `codes` and the like and its results from `result`, in any number; the test
 * calls it again and again, each time with another operand, place and excess bits wrong, or with none. */
#ifndef HALFULP_TESTS_ARRAY_CODES_H
#define HALFULP_TESTS_ARRAY_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/halfulp.h"

enum { EMPTY_M = 1, EMPTY_N = 2 };
/* Where the wrong code is. */
enum { PLACE_FIRST, PLACE_MIDDLE, PLACE_LAST, PLACE_SECOND_ROW, PLACES };

typedef struct t_world {
  const char *text; /* of a format, number system, scaling or model: what the table gives */
  hu_format format; /* the text's, where it is a format */
  ptrdiff_t inc;    /* of arrays */
  int transposed;   /* of matrices */
  int empty;        /* products (gemm): EMPTY_M (no rows of D), EMPTY_N (no columns): no code is read */
  hu_exec exec;
  /* What is wrong: operand number `wrong` (-1: none) has `code` at `place`. */
  int wrong, place;
  uint32_t code;
  /* What the call asked for. */
  int operands, is_signed[16];
  uint32_t width[16], storage[16]; /* bits */
  int results;
  uint8_t *result[16];
  size_t bytes[16];
} t_world;

typedef struct world_call {
  const char *name;
  hu_status (*call)(t_world *world);
  const char *const *texts; /* NULL at the end */
  int operands;             /* that the call reads codes from */
} world_call;

/* Codes of format, element (i, j) at i ld + j inc from the pointer that is returned; what lies between
 * has all bits set. */
const void *codes(t_world *world, hu_format format, size_t rows, size_t cols, size_t ld, ptrdiff_t inc);
/* The same of any width, of integers that may repeat their sign. */
const void *codes_of_width(t_world *world, uint32_t width, int is_signed, size_t rows, size_t cols, size_t ld,
                           ptrdiff_t inc);
/* One code, given by value. */
uint32_t code_by_value(t_world *world, hu_format format);
/* What the call writes. */
void *result(t_world *world, size_t bytes);
/* The record of a text, which is one. */
hu_format format_named(const char *text);

extern const world_call array_calls[], tensor_calls[]; /* up to an entry without a name */

#endif
