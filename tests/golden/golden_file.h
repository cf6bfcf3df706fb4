/* SPDX-License-Identifier: MIT */
/* tests/golden/golden_file.h - reading golden files (README.md here) and the answer that a conversion line stands for.
 * Whatever is not as the README says ends the test as failed: a file that is not there, a line that does not parse, a
 * wrong count. */
#ifndef HALFULP_TESTS_GOLDEN_FILE_H
#define HALFULP_TESTS_GOLDEN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"

/* A whole file; free() it. n without the NUL that is added. */
char *golden_read(const char *directory, const char *name, size_t *n);

/* What follows the word "format" on its line. */
typedef struct golden_card {
  char name[64];
  hu_format f;
  uint32_t max_code, inf_code, nan_code;
} golden_card;
golden_card golden_card_parse(const char *line);

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
golden_file golden_conversion_file(const char *directory, const char *name);

/* Code and events of one line in a deterministic mode, worked out from BELOW, WHERE, TINY and the sign alone. */
typedef struct golden_answer {
  uint32_t code, events;
} golden_answer;
golden_answer golden_decide(const golden_card *card, const golden_operand *line, hu_mode mode);

#endif
