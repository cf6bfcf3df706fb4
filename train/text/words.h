/* SPDX-License-Identifier: MIT */
/* train/text/words.h - reads words and numbers in the texts that describe training systems. */
#ifndef HALFULP_TRAIN_TEXT_WORDS_H
#define HALFULP_TRAIN_TEXT_WORDS_H

#include <stddef.h>

/* 1 if the n characters at text are `name`, whatever the case of the letters A to Z. */
int hui_same_word(const char *text, size_t n, const char *name);

/* The n characters at text as a number: decimal as strtod reads it in the C locale (no blanks, no hexadecimal, no
 * words), or "2^" and a decimal integer. 1 if it is one and finite, whatever the program's locale. */
int hui_read_number(const char *text, size_t n, double *x);

/* x in the fewest digits that read back as x; returns text. */
#define HU_DECIMAL_TEXT_MAX 32
char *hui_write_number(char text[HU_DECIMAL_TEXT_MAX], double x);
/* Does the same for a binary32 number. */
char *hui_write_single(char text[HU_DECIMAL_TEXT_MAX], float x);

#endif
