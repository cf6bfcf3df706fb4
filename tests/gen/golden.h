/* SPDX-License-Identifier: MIT */
/* tests/gen/golden.h - the golden files as texts in memory. generate.c writes them, a test compares them with the
 * committed ones. Links the oracle only; tests/golden/README.md describes the format. */
#ifndef HALFULP_TESTS_GOLDEN_H
#define HALFULP_TESTS_GOLDEN_H

#include <stddef.h>

#include "halfulp/format.h"

/* A text that grows. at is NUL-terminated once something was added; free it with text_free. */
typedef struct t_text {
  char *at;
  size_t n, buffer;
} t_text;
void text_add(t_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(t_text *text);

/* Text i of golden_count: its name, the kind of its lines, and what is in it, added to t: all lines, or, if there is a
 * file of tests/golden, the lines that are stored. GOLDEN_DIGESTS has NAME LINES DIGEST of all lines of each text. */
enum { GOLDEN_CONVERSIONS, GOLDEN_STOCHASTIC, GOLDEN_SUMS, GOLDEN_DIGESTS };
size_t golden_count(void);
const char *golden_name(size_t i);
int golden_kind(size_t i);
int golden_stored(size_t i);
void golden_make(size_t i, int stored, t_text *text);

/* ---- Between the generator's own files. */

typedef struct golden_format {
  const char *name; /* as in the catalogue where it has one, else a name for these files only */
  hu_format format;
  int exchanged; /* a format that people exchange: some of its lines are stored */
} golden_format;
size_t golden_format_count(void);
golden_format golden_format_at(size_t i);
/* By name; ends the program if there is none, which is an error in the generator. */
golden_format golden_format_named(const char *name);

/* "NAME sign=1 e=4 ... max=7e inf=- nan=7f min=1": every axis, and the codes that a reader of the file needs. */
void golden_format_line(t_text *text, golden_format format);
/* The largest finite code. */
uint32_t golden_max_code(hu_format format);

/* All lines, or those that are stored. */
void golden_conversions(t_text *text, size_t format_index, int stored);
void golden_stochastic(t_text *text, int stored);
void golden_sums(t_text *text, int stored);

#endif
