/* SPDX-License-Identifier: MIT */
#include "tests/scaled/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << 16 };

static size_t numbers(const char *line, uint32_t *z, int base) {
  size_t n = 0;
  char *end;
  for (;; n++, line = end) {
    unsigned long u = strtoul(line, &end, base);
    if (end == line || n == GOLDEN_NUMBERS) return n;
    z[n] = (uint32_t)u;
  }
}

int golden_replay(const char *path, int (*holds)(const t_golden *)) {
  static t_golden golden;
  static char line[LINE];
  static uint32_t words[GOLDEN_NUMBERS];
  FILE *file = fopen(path, "r");
  int cases = 0;
  if (!file) return -1;
  for (unsigned at = 1; fgets(line, LINE, file); at++) {
    char *rest = line + strcspn(line, " ");
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "scaling ", 8) == 0) {
      if (hu_scaling_parse(&golden.scaling, line + 8, NULL) != HU_OK) break;
    } else if (strncmp(line, "shape ", 6) == 0) {
      if (numbers(rest, words, 10) != 2) break;
      golden.rows = words[0];
      golden.cols = words[1];
      if (golden.rows * golden.cols > GOLDEN_NUMBERS) break;
      golden.has_tensor = 0;
    } else if (strncmp(line, "x ", 2) == 0) {
      if (numbers(rest, words, 16) != golden.rows * golden.cols) break;
      memcpy(golden.x, words, golden.rows * golden.cols * sizeof *words);
    } else if (strncmp(line, "tensor ", 7) == 0) {
      if (numbers(rest, &golden.tensor, 16) != 1) break;
      golden.has_tensor = 1;
    } else if (strncmp(line, "scales ", 7) == 0) {
      numbers(rest, golden.scales, 16);
    } else if (strncmp(line, "codes ", 6) == 0) {
      if (numbers(rest, golden.codes, 16) != golden.rows * golden.cols || !holds(&golden)) {
        printf("%s:%u: does not hold\n", path, at);
        break;
      }
      cases++;
    } else if (line[0] != '#' && line[0] != 0) {
      break;
    }
  }
  int whole = feof(file);
  fclose(file);
  return whole ? cases : -1;
}
