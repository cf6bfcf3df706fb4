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

static inline void hui_put(hu_writer *w, const char *s) {
  for (; *s; s++, w->length++) {
    if (w->length + 1 < w->size) w->text[w->length] = *s;
  }
}

static inline void hui_put_number(hu_writer *w, int n) {
  char digits[16];
  char *s = digits + sizeof digits;
  unsigned u = n < 0 ? 0u - (unsigned)n : (unsigned)n;
  *--s = 0;
  do {
    *--s = (char)('0' + u % 10);
    u /= 10;
  } while (u > 0);
  if (n < 0) *--s = '-';
  hui_put(w, s);
}

/* Puts the final 0; returns the length needed without it. */
static inline size_t hui_put_end(hu_writer *w) {
  if (w->size > 0) w->text[w->length < w->size ? w->length : w->size - 1] = 0;
  return w->length;
}

#endif
