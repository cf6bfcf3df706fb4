/* SPDX-License-Identifier: MIT */
/* emu/format/reader.h - reads a text from left to right: marks, words, numbers, formats, rounding modes. A call returns
 * 1, and the reader stands behind what was read; or 0, and `at` is the part that is wrong. */
#ifndef HALFULP_EMU_FORMAT_READER_H
#define HALFULP_EMU_FORMAT_READER_H

#include "halfulp/format.h"
#include "halfulp/mode.h"

typedef struct hu_reader {
  const char *text;
  size_t at;       /* the next character; on failure, the wrong part */
  hu_status wrong; /* why */
} hu_reader;

/* Notes a failure; returns 0. */
int hui_reader_failed(hu_reader *reader, size_t at, hu_status wrong);
/* The character c must stand here; or may: then 0 is no failure. */
int hui_reader_mark(hu_reader *reader, char c);
int hui_reader_passed(hu_reader *reader, char c);
/* This word, up to a comma, a closing parenthesis or the end; this name, also up to an opening one. 0 is no failure. */
int hui_reader_word(hu_reader *reader, const char *word);
int hui_reader_passed_name(hu_reader *reader, const char *word);
/* Decimal from low to high, no leading zero, a minus where low is negative; 1 to 2^31 - 1. */
int hui_reader_number(hu_reader *reader, int64_t low, int64_t high, int64_t *z);
int hui_reader_length(hu_reader *reader, uint32_t *z);
/* The longest piece up to a comma, a parenthesis or the end that `read` takes, since suffixes of formats have commas of
 * their own; or a format. `read` sets *z only where it takes the piece, else *wrong to the place in it. */
typedef hu_status (*hu_piece_reader)(void *z, const char *piece, size_t *wrong);
int hui_reader_longest(hu_reader *reader, void *z, hu_piece_reader read);
int hui_reader_format(hu_reader *reader, hu_format *format);
/* A word up to the next comma or parenthesis, by a reader of hu_mode's texts. */
typedef hu_status (*hu_mode_reader)(hu_mode *mode, const char *text);
int hui_reader_mode_word(hu_reader *reader, hu_mode *mode, hu_mode_reader parse);
/* [","MODE][",sat="POLICY] ")" */
int hui_reader_rounding(hu_reader *reader, hu_mode *mode);

#endif
