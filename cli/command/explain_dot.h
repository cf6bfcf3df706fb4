/* SPDX-License-Identifier: MIT */
/* cli/command/explain_dot.h - `halfulp explain dot`: one dot product, step by step. */
#ifndef HALFULP_CLI_COMMAND_EXPLAIN_DOT_H
#define HALFULP_CLI_COMMAND_EXPLAIN_DOT_H

#include "cli/base/cli.h"
#include "cli/vectors/dot_line.h"

/* What the options say; texts NULL where they are absent. */
typedef struct explain_dot {
  const char *model, *fa, *fb, *fd;
  int codes; /* operands are patterns in hex as `halfulp mma` reads them; else numbers, separated by commas */
} explain_dot;

/* Explains A B [C [SCALES_A SCALES_B]]. Returns an exit code. */
int cli_explain_dot(const explain_dot *options, const cli_numeric *numeric, char **operand, int count);
/* Prints the steps of the sum that the words of a line name (dot_line.h), and its result. Its last `filled` products
 * are zeros that only fill the row up. Returns an exit code. */
int cli_explain_dot_line(const cli_dot *dot, char *const *word, int count, const cli_lines *lines, const hu_exec *exec,
                         size_t filled, int json);

#endif
