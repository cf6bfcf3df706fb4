/* SPDX-License-Identifier: MIT */
/* cli/vectors/vectors.h - test vectors in Berkeley TestFloat's text form: one case a line, the operands, the result and
 * the exception flags in hexadecimal digits, one blank between. Codes have (width + 3) / 4 digits, integers width / 4,
 * relations one (0 or 1), flags two:
 *   01 inexact   02 underflow   04 overflow   08 infinite (division by zero)   10 invalid
 * Dot products (dot.c) have rows where others have operands. Two things are asked for: a field of random words,
 * 8 digits each, behind the operands; lines without blanks, which $readmemh takes as one number each. */
#ifndef HALFULP_CLI_VECTORS_VECTORS_H
#define HALFULP_CLI_VECTORS_VECTORS_H

#include <stdio.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/vectors/dot_line.h"
#include "halfulp/arith.h"
#include "halfulp/operation.h"

/* ---- what an operand or a result is (types.c) ---- */

enum { VECTORS_CODE, VECTORS_INTEGER, VECTORS_BINARY64, VECTORS_TRUTH };
typedef struct vectors_type {
  int kind;
  hu_format format;   /* VECTORS_CODE */
  hu_integer integer; /* VECTORS_INTEGER */
} vectors_type;

/* Reads a format, "binary64", or an integer type: i8 i16 i32 i64 ui8 ui16 ui32 ui64. CLI_BAD after an error line. */
int vectors_read_type(vectors_type *type, const char *text);
int vectors_same_type(const vectors_type *a, const vectors_type *b);
unsigned vectors_width(const vectors_type *type); /* bits */
unsigned vectors_digits(const vectors_type *type);
uint64_t vectors_last(const vectors_type *type); /* the largest pattern */
int vectors_is_nan(const vectors_type *type, uint64_t x);
/* Returns 1 for a NaN whose quiet bit is clear, in formats with NaNs of IEEE 754 (hu_is_signalling), and binary64. */
int vectors_is_signalling(const vectors_type *type, uint64_t x);
uint64_t vectors_canonical_nan(const vectors_type *type);
/* Returns the number as binary64; of integers beyond 2^53 a near one. */
double vectors_value(const vectors_type *type, uint64_t x);
/* Returns a pattern near a number, cut toward zero or away from it, within the type. */
uint64_t vectors_near(const vectors_type *type, double x, int away);
/* The pattern as people read it: 0.015625, -inf, nan, 17. */
enum { VECTORS_VALUE_MAX = 40 };
const char *vectors_value_text(char text[VECTORS_VALUE_MAX], const vectors_type *type, uint64_t x);

/* ---- operations (vectors.c) ---- */

enum { VECTORS_OPERATION, VECTORS_CONVERT, VECTORS_RELATION };

typedef struct vectors_operation {
  const char *name;
  const char *testfloat; /* TestFloat's name of it behind "f16_", NULL if it has none */
  int kind, operands;
  int op;         /* HU_OP_ of halfulp/operation.h, one that rounds; VECTORS_RELATION: -1 */
  int relations;  /* VECTORS_RELATION: bit 0 less, bit 1 equal */
  int signalling; /* VECTORS_RELATION: unordered is invalid */
} vectors_operation;

enum { VECTORS_OPERANDS = 3 };
typedef struct vectors {
  vectors_operation op;
  vectors_type x[VECTORS_OPERANDS], z;
  hu_mode mode;
  hu_stream stream;   /* case i draws word i in stochastic modes */
  int quiet_integral; /* round_to_integral without the flag inexact */
  int words;          /* a field of the random word behind the operands, its low N bits R: not the stream's */
  int joined;         /* lines without blanks */
} vectors;

typedef struct vectors_case {
  uint64_t x[VECTORS_OPERANDS], z;
  uint32_t word, flags;
} vectors_case;

/* Sets the operation of a name. Returns 1, or 0 if there is no such operation. */
int vectors_find(vectors_operation *found, const char *name);
/* Writes the names of all operations but relations, or of relations, each behind a space. Returns their length. */
size_t vectors_names(char *text, size_t size, int relations);
/* Reads "f32_mulAdd", "f16_to_f32", "i32_to_f16" with f16, bf16, f32, and in conversions f64, i32, ui32, i64, ui64:
 * sets op and types. Returns 1, or 0 for another name. */
int vectors_find_testfloat(vectors *test, const char *function);
/* Returns CLI_OK if the operation takes and gives these types; else prints an error line. */
int vectors_check(const vectors *test);

/* Computes result and flags of the operands of case number i. */
void vectors_solve(const vectors *test, uint64_t i, vectors_case *instance);
/* Returns 1 for fma of zero and infinity with a NaN. IEEE 754 7.2 c leaves open whether that is invalid. */
int vectors_is_nan_fma(const vectors *test, const uint64_t *x);
/* Returns the word that case i draws from the stream. */
uint32_t vectors_word(const vectors *test, uint64_t i);
/* Returns the flags of a set of events: hu_events_flags, for counts. */
uint32_t vectors_flags_of(const hu_events *events);

/* ---- lines (text.c) ---- */

/* Returns how many fields of an operation's line stand before the result: operands, and the random word. */
int vectors_given(const vectors *test);
/* Print operands alone; the word, a result and flags; the whole line with its end. */
void vectors_print_operands(const vectors *test, const vectors_case *instance);
void vectors_print_result(const vectors *test, const char *word, uint64_t z, uint32_t flags);
void vectors_print(const vectors *test, const vectors_case *instance);

/* A line as it was read. */
typedef struct vectors_line {
  vectors_case c;
  int fields;               /* how many there were */
  int unknown;              /* result or flags have digits X or Z, as four-state simulators print them */
  char result[40];          /* such a result and its flags as they stand */
  char wrong[CLI_NAME_MAX]; /* what cannot be read */
} vectors_line;
/* Reads a line. Returns 1, or 0 and `wrong`. */
int vectors_read(const vectors *test, char *line, vectors_line *read);
/* Separates a line without blanks into its fields of these numbers of digits, blanks between; NULL: out of memory, or
 * the line has another length. To be freed. */
char *vectors_spread(const char *line, const size_t *digits, int fields);
/* Returns 1 for digits of which at least one is X or Z, the others hexadecimal. */
int vectors_has_unknown(const char *text);
/* "inexact, underflow", "no flags". */
enum { VECTORS_FLAGS_MAX = 64 };
const char *vectors_flag_words(char text[VECTORS_FLAGS_MAX], uint32_t flags);

/* ---- operands (operands.c, border.c) ---- */

/* Patterns at the edges of a type into list; how many, VECTORS_EDGES_MAX at most. Types of up to 6 bits (8 at level 2)
 * have all. */
enum { VECTORS_EDGES_MAX = 1 << 14 };
size_t vectors_edges(uint64_t *list, const vectors_type *type, int level);

/* Operands of case i of `level` (1 or 2) into c->x; 0 when there are no more. One operand of up to 16 bits has all its
 * codes, once each. Else: edges of the operands against each other; results about the smallest normal and below it
 * (`border`); random operands, edges among them, and summands that cancel. */
typedef struct vectors_source {
  const vectors *test;
  uint64_t *edges[VECTORS_OPERANDS];
  size_t edge_count[VECTORS_OPERANDS];
  uint64_t combinations, edge_cases, border, count;
  int every_code; /* of one operand */
} vectors_source;
int vectors_source_open(vectors_source *source, const vectors *test, int level);
int vectors_source_case(const vectors_source *source, uint64_t i, vectors_case *instance);
void vectors_source_close(vectors_source *source);

/* Returns 1 if the operation has operands with results at the border of tininess that rounding decides. */
int vectors_has_border(const vectors *test);
/* Makes such operands from four random words. */
void vectors_border_case(const vectors *test, const uint32_t word[4], uint64_t *x);

/* ---- results judged (judge.c) ---- */

enum { VECTORS_NAN_ANY, VECTORS_NAN_QUIET, VECTORS_NAN_CANONICAL };
typedef struct vectors_rules {
  int nan_result;    /* which NaN is right: VECTORS_NAN_ */
  int fixed_nan_fma; /* mode.nan_fma holds; else 0 x inf + NaN may be invalid or not */
  int no_flags, json;
  uint64_t first; /* differences to print */
  /* NULL, or explains the first difference that is printed: as text below its line, with JSON as one value. `operands`:
   * the fields of the line before the result. */
  void (*explain)(const void *context, unsigned long line, const char *operands);
  const void *context; /* of explain */
} vectors_rules;

typedef struct vectors_verdict {
  uint64_t cases, wrong;
  uint64_t results, nans, flags, unknown; /* the kinds of what is wrong: one each */
  uint64_t first_given, first_right;      /* of line 1: the result given and the right one */
  int given_vary, right_vary;             /* 1: a later line has another one */
  FILE *out;                              /* differences: standard output, or text kept for JSON */
  char *text;
  size_t length;
  unsigned long first_line; /* of the first difference */
  char *first_operands;     /* with JSON, where it is to be explained; else NULL */
} vectors_verdict;

typedef struct vectors_answer {
  uint64_t z;
  uint32_t flags;
  const char *unknown; /* the text of both where there are digits X or Z, else NULL */
} vectors_answer;

/* Writes result and flags as fields of a JSON object. */
void vectors_json_answer(FILE *out, const vectors_type *type, vectors_answer answer);
/* Prints a case as an element of a JSON list, which the first one begins; the operands as in a line. */
void vectors_json_case(int first, const char *operands, const vectors_type *type, uint64_t z, uint32_t flags);
/* Begins. Returns CLI_OK, or says that memory is out. */
int vectors_judge_open(vectors_verdict *sum, const vectors_rules *rules);
/* Counts a case and prints it where it is wrong. `open`: it may be invalid or not. */
void vectors_judge(vectors_verdict *sum, const vectors_rules *rules, const vectors_type *type, unsigned long line,
                   const char *operands, vectors_answer right, vectors_answer given, int open);
/* Prints the totals; `id`: the operation. Returns CLI_OK, CLI_DIFFERENT; CLI_BAD if there was no case, `status` if it
 * is not CLI_OK. `missing`: cases that should have been there, 0 if none. */
int vectors_report(vectors_verdict *sum, const vectors_rules *rules, const char *id, const char *path, int status,
                   uint64_t missing);

/* ---- dot products ---- */

typedef struct vectors_dot {
  cli_dot dot;
  size_t n; /* elements of a row */
  hu_stream stream;
  int joined, json;
} vectors_dot;
typedef struct vectors_dot_source vectors_dot_source;
uint64_t vectors_dot_cases(int level);
/* Print all cases of a level; judge lines. `complete`: they must be those of the level, else 0. 0 or an exit code. */
int vectors_dot_generate(const vectors_dot *test, int level);
int vectors_dot_judge(const vectors_dot *test, const vectors_rules *rules, cli_lines *lines, int complete,
                      vectors_verdict *sum);
/* Opens a source on the heap; NULL after an error line. The operands of case i as the fields of a line, to be freed. */
vectors_dot_source *vectors_dot_open(const vectors_dot *test, int level);
char *vectors_dot_fields(vectors_dot_source *source, uint64_t i);
void vectors_dot_close(vectors_dot_source *source);
unsigned vectors_dot_digits(const vectors_dot *test, int operand);
size_t vectors_dot_scales(const vectors_dot *test);
/* Returns what the result is. */
vectors_type vectors_dot_result(const vectors_dot *test);
int vectors_dot_is_signalling(const hu_type *element, uint64_t x);

#endif
