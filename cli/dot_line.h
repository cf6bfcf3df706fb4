/* SPDX-License-Identifier: MIT */
/* cli/dot_line.h - one dot product as a line of text: A B C [SCALES_A SCALES_B], each the patterns of its elements in
 * hex, a fixed number of digits each, element 0 first; C may be "-" (absent, +0). */
#ifndef HALFULP_CLI_DOT_LINE_H
#define HALFULP_CLI_DOT_LINE_H

#include "cli/cli.h"
#include "cli/io.h"
#include "halfulp/accum.h"

/* What the lines of a file have in common. */
typedef struct cli_dot {
  hu_accum accum;
  hu_mode mode; /* of the last rounding */
  hu_element a, b, d, scale;
  size_t depth; /* n is a multiple of it */
} cli_dot;

/* The model of this text, with the elements and the depth of a unit where it names one; *named says whether. */
int cli_dot_model(cli_dot *dot, const char *what, const char *text, int *named);
/* D's pattern of the fields in `text` (taken apart). `lines` says where they come from, for the error line. */
int cli_dot_line(uint64_t *d, const cli_dot *dot, char *text, const cli_lines *lines, const hu_exec *exec);

#endif
