/* SPDX-License-Identifier: MIT */
/* tests/golden/golden_file.h - reading golden files (README.md here) and the answer that a conversion line stands for.
 * Whatever is not as the README says ends the test as failed: a file that is not there, a line that does not parse, a
 * wrong count. */
#ifndef HALFULP_TESTS_GOLDEN_FILE_H
#define HALFULP_TESTS_GOLDEN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/accum.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

/* A whole file; free() it. n without the NUL that is added, NULL: not asked for. */
char *golden_read(const char *directory, const char *name, size_t *n);

/* What follows the word "format" on its line. */
typedef struct golden_card {
  char name[64];
  hu_format f;
  uint32_t max_code, inf_code, nan_code;
} golden_card;
golden_card golden_card_parse(const char *line);

/* The lines of a text, one after the other: comments are left out, and formats are kept as cards. */
enum { GOLDEN_CARDS = 32, GOLDEN_TERMS = 64 };
typedef struct golden_lines {
  const char *name;
  char *next;
  golden_card cards[GOLDEN_CARDS];
  size_t card_count, count;
  unsigned long stated; /* the number of lines, by the head */
} golden_lines;
/* content is written to: line ends become NULs. */
void golden_open(golden_lines *lines, const char *name, char *content);
/* NULL: behind the last line. */
const char *golden_next(golden_lines *lines);

typedef struct golden_operand {
  double x;
  int wide; /* binary64 */
  uint32_t below;
  char where, tiny;
} golden_operand;

typedef struct golden_file {
  golden_card card;
  golden_operand *lines;
  size_t n;
} golden_file;
/* Conversions, all of a text; free() the lines. */
golden_file golden_conversions_of(const char *name, char *content);

/* A line of sums under the formats before it. */
typedef struct golden_sum {
  hu_accum accum;
  hu_mode mode;
  hu_format fa, fb, fc, fz; /* without C fc is fa */
  int has_c;
  size_t n;
  uint32_t a[GOLDEN_TERMS], b[GOLDEN_TERMS], c, code, events;
} golden_sum;
golden_sum golden_sum_parse(const golden_lines *lines, const char *line);

/* Code and events of one line in a deterministic mode, worked out from BELOW, WHERE, TINY and the sign alone. */
typedef struct golden_answer {
  uint32_t code, events;
} golden_answer;
golden_answer golden_decide(const golden_card *card, const golden_operand *line, hu_mode mode);

#endif
