/* SPDX-License-Identifier: MIT */
/* cli/vectors.h - test vectors in Berkeley TestFloat's text form: one case a line, the operands, the result and the
 * exception flags in hexadecimal digits, one blank between. Codes have (width + 3) / 4 digits, relations one (0 or 1),
 * flags two:
 *   01 inexact   02 underflow   04 overflow   08 infinite (division by zero)   10 invalid
 * Dot products (vectors_dot.c) have rows where others have operands. Two things are asked for: a field of random words,
 * 8 digits each, behind the operands; lines without blanks, which $readmemh takes as one number each. */
#ifndef HALFULP_CLI_VECTORS_H
#define HALFULP_CLI_VECTORS_H

#include "cli/cli.h"
#include "cli/dot_line.h"
#include "cli/io.h"
#include "halfulp/arith.h"
#include "halfulp/function.h"

typedef uint32_t (*vectors_one)(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random,
                                uint32_t *events);
typedef uint32_t (*vectors_two)(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                                uint32_t random, uint32_t *events);

enum { VECTORS_ONE, VECTORS_TWO, VECTORS_FMA, VECTORS_INTEGRAL, VECTORS_CONVERT, VECTORS_RELATION };

typedef struct vectors_operation {
  const char *name;
  const char *testfloat; /* TestFloat's name of it behind "f16_", NULL if it has none */
  int kind, operands;
  vectors_one one; /* VECTORS_ONE */
  vectors_two two; /* VECTORS_TWO */
  int relations;   /* VECTORS_RELATION: bit 0 less, bit 1 equal */
  int signalling;  /* VECTORS_RELATION: unordered is invalid */
} vectors_operation;

typedef struct vectors {
  const vectors_operation *op;
  hu_format from, to;
  hu_mode mode;
  hu_stream stream;   /* case i draws word i in stochastic modes */
  int quiet_integral; /* round_to_integral without the flag inexact */
  int words;          /* a field of the random word behind the operands, its low N bits R: not the stream's */
  int joined;         /* lines without blanks */
} vectors;

typedef struct vectors_case {
  uint32_t x[3], word, z, flags;
} vectors_case;

/* NULL if there is no such operation. */
const vectors_operation *vectors_find(const char *name);
/* "f32_mulAdd", "f16_to_f32" with f16, bf16, f32: sets op, from, to. 1, or 0 if it is none of these. */
int vectors_find_testfloat(vectors *v, const char *function);

/* Result and flags of the operands of case number i. */
void vectors_solve(const vectors *v, uint64_t i, vectors_case *c);
/* Is a result right where `want` was solved? Any NaN is as good as another; 0 x inf + NaN may be invalid or not. */
int vectors_right(const vectors *v, const vectors_case *want, uint32_t z, uint32_t flags);
/* Operands alone; the word, a result and flags; the whole line with its end. */
void vectors_print_operands(const vectors *v, const vectors_case *c);
void vectors_print_result(const vectors *v, const char *word, uint32_t z, uint32_t flags);
void vectors_print(const vectors *v, const vectors_case *c);
/* Reads up to six fields of a line; returns how many there were, or -1 if one is no such number or there are more. */
int vectors_read(const vectors *v, char *line, vectors_case *c);

/* The word that case i draws from the stream. */
uint32_t vectors_word(const vectors *v, uint64_t i);
/* Fields of an operation's line before the result: operands, and the random word. */
int vectors_given(const vectors *v);
/* The flags of a set of events. */
uint32_t vectors_flags(uint32_t events);
/* A line without blanks into its fields of these numbers of digits, blanks between; NULL: out of memory, or the line
 * has another length. To be freed. */
char *vectors_spread(const char *line, const size_t *digits, int fields);

/* Operands of case i of `level` (1 or 2) into c->x; 0 when there are no more. Room for the edge codes is made at the
 * start. */
typedef struct vectors_source {
  const vectors *v;
  uint32_t *edges;
  size_t edge_count;
  uint64_t count, pairs;
} vectors_source;
int vectors_source_open(vectors_source *s, const vectors *v, int level);
int vectors_source_case(const vectors_source *s, uint64_t i, vectors_case *c);
void vectors_source_close(vectors_source *s);

/* ---- dot products ---- */

typedef struct vectors_dot {
  cli_dot dot;
  size_t n; /* elements of a row */
  hu_stream stream;
  uint64_t first; /* differences to print */
  int joined, no_flags;
} vectors_dot;
/* All cases of a level; lines judged: a, b of "a cases, b differ". 0 or an exit code. */
int vectors_dot_generate(const vectors_dot *v, int level);
int vectors_dot_judge(const vectors_dot *v, cli_lines *lines, uint64_t *cases, uint64_t *wrong);

#endif
