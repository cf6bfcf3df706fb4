/* SPDX-License-Identifier: MIT */
/* emu/base/text.h - writes text that may not fit its buffer: all of it is counted, and what fits is kept. */
#ifndef HALFULP_EMU_BASE_TEXT_H
#define HALFULP_EMU_BASE_TEXT_H

#include <stddef.h>

typedef struct hu_writer {
  char *text;
  size_t size;
  size_t length;
} hu_writer;

static inline void hui_put(hu_writer *writer, const char *text) {
  for (; *text; text++, writer->length++) {
    if (writer->length + 1 < writer->size) writer->text[writer->length] = *text;
  }
}

static inline void hui_put_number(hu_writer *writer, int n) {
  char digits[16];
  char *text = digits + sizeof digits;
  unsigned number = n < 0 ? 0u - (unsigned)n : (unsigned)n;
  *--text = 0;
  do {
    *--text = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  if (n < 0) *--text = '-';
  hui_put(writer, text);
}

/* Puts the final 0; returns the length needed without it. */
static inline size_t hui_put_end(hu_writer *writer) {
  if (writer->size > 0) writer->text[writer->length < writer->size ? writer->length : writer->size - 1] = 0;
  return writer->length;
}

#endif
