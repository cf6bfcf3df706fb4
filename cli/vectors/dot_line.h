/* SPDX-License-Identifier: MIT */
/* cli/vectors/dot_line.h - one dot product as a line of text: A B C [SCALES_A SCALES_B] [WORDS], each the patterns of
 * its elements in hex, a fixed number of digits each, element 0 first; C may be "-" (absent, +0). */
#ifndef HALFULP_CLI_VECTORS_DOT_LINE_H
#define HALFULP_CLI_VECTORS_DOT_LINE_H

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "halfulp/accum.h"

/* What the lines of a file have in common. */
typedef struct cli_dot {
  hu_accum accum;
  hu_mode mode; /* of the last rounding */
  hu_type a, b, result, scale;
  size_t depth;  /* n is a multiple of it */
  int words;     /* 1: random words are a field, 8 digits each: one for every rounding inside a model that rounds
                   stochastically, then one for the last rounding if that does */
  int recorded;  /* 1: a recording of a unit, which ignores bits above an element's width; else these are an error */
  int registers; /* 1: elements of A and B in TF32 are binary32 patterns, as units hold them, whose low 13 bits are 0 */
  hu_trace_visit *visit; /* not NULL, without words: receives the steps of each line's sum, with `context` */
  void *context;
} cli_dot;

/* Reads a model, and the elements and the depth of a unit where it names one; *named says whether. */
int cli_dot_model(cli_dot *dot, const char *what, const char *text, int *named);
/* Checks, before the first line, that the model, of this text, takes elements A and B of these formats. Returns CLI_OK,
 * or prints an error line; a line may be without C. */
int cli_dot_taken(const cli_dot *dot, const char *text);
/* Takes a line apart: its words, `most` of them at the most; returns how many, most + 1 if there are more. */
int cli_split(char *line, char **word, int most);
/* How many words of a line are operands. */
enum { CLI_DOT_WORDS = 6 };
int cli_dot_operands(const cli_dot *dot);
/* Computes D's pattern of these words, and its events where they are not NULL. `lines` says where they come from, for
 * the error line. */
int cli_dot_line(uint64_t *result, hu_events *events, const cli_dot *dot, char *const *word, int count,
                 const cli_lines *lines, const hu_exec *exec);

/* Returns element i of an array of patterns of 1, 2, 4 or 8 bytes. */
uint64_t cli_get_pattern(const void *x, size_t i, size_t size);
void cli_put_pattern(void *z, size_t i, size_t size, uint64_t pattern);

/* A line of mma/probes.txt (tests/golden/README.md), word by word. */
enum {
  PROBE_ID,
  PROBE_MODEL,
  PROBE_FA,
  PROBE_FB,
  PROBE_FD,
  PROBE_A,
  PROBE_B,
  PROBE_C,
  PROBE_SA,
  PROBE_SB,
  PROBE_D,
  PROBE_WORDS
};

#endif
