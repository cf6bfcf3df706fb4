/* SPDX-License-Identifier: MIT */
/* Prints lines of a state's text, or counts their characters, and finds lines in such a text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/trainer/trainer.h"

void hui_print(hu_paper *paper, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int buffer = paper->text && paper->used < paper->size;
  int n = vsnprintf(buffer ? paper->text + paper->used : NULL, buffer ? paper->size - paper->used : 0, format, list);
  va_end(list);
  paper->used += n > 0 ? (size_t)n : 0;
}

int hui_state_line(const char *text, const char *name, char z[HU_LINE_MAX]) {
  size_t n = strlen(name);
  for (const char *line = text; *line;) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    if (length > n && strncmp(line, name, n) == 0 && line[n] == '=' && length - n - 1 < HU_LINE_MAX) {
      memcpy(z, line + n + 1, length - n - 1);
      z[length - n - 1] = 0;
      return 1;
    }
    if (!end) return 0;
    line = end + 1;
  }
  return 0;
}

int hui_state_count(const char *text, const char *name, uint64_t *z) {
  char value[HU_LINE_MAX], *end;
  if (!hui_state_line(text, name, value) || *value < '0' || *value > '9') return 0;
  *z = strtoull(value, &end, 10);
  return *end == 0;
}
