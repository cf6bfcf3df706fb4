/* SPDX-License-Identifier: MIT */
/* cli/audit/quantizers.h - two rules of quantizers against each other, and a program that follows one of them. */
#ifndef HALFULP_CLI_AUDIT_QUANTIZERS_H
#define HALFULP_CLI_AUDIT_QUANTIZERS_H

#include "cli/audit/audit.h"

/* Returns 1 if a text names a rule of blocks with scales: "nvfp4", "scaled(...)", "te.nvfp4", "mxfp4 -r rnz". */
int audit_is_rule(const char *text);

/* Draws blocks: lengths, numbers with few digits and with many, ties, zeros, and rarely infinities and NaN. */
typedef struct audit_drawing {
  hu_stream stream;
  uint64_t word;
  size_t longest; /* elements of a block, at most */
} audit_drawing;
void audit_draw(audit_block *z, audit_drawing *drawing);

/* Finds a block on which two rules differ, and prints it; else prints that they never differ, with the proof, or how
 * many blocks were drawn, at most `tries`, without a difference. Returns 0: no difference was found, 1: here is one, or
 * 2 after an error line. */
int audit_distinguish(char *const text[2], uint64_t tries, uint64_t seed, int json);

/* A box is a program that reads lines: the binary32 patterns of a block, 8 hexadecimal digits each, without a blank
 * between them; where the format has a second level, a blank and the pattern of the tensor's amax. It answers each with
 * a line: the code of the scale, a blank, and the codes of the elements without blanks, in hexadecimal digits of their
 * widths. */
/* Answers as the box, on standard input and output. */
int audit_answer(const char *rule);
/* Finds the rules of a box by `questions` drawn blocks, and prints them. format: a rule of the same elements, scales
 * and blocks. Returns 0: one was found, 1: none, or 2 after an error line. */
int audit_identify(const char *format, char *const *command, uint64_t questions, uint64_t seed, uint64_t seconds,
                   int json);

#endif
