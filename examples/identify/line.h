/* SPDX-License-Identifier: MIT */
/* line.h - what the programs of this folder share: lines A B C of hex come in, D goes out. A and B have 16-bit
 * elements, C and D are binary32. */
#ifndef LINE_H
#define LINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_PRODUCTS = 4096, LINE_ROOM = 4 * 2 * LINE_PRODUCTS + 64 };

/* n elements of four digits each; 0: not hex. */
static int line_elements(uint16_t *z, const char *text, size_t n) {
  for (size_t k = 0; k < n; k++) {
    char piece[5] = {text[4 * k], text[4 * k + 1], text[4 * k + 2], text[4 * k + 3], 0}, *end;
    z[k] = (uint16_t)strtoul(piece, &end, 16);
    if (*end) return 0;
  }
  return 1;
}

/* Answers every line by `dot`, whose n is a multiple of `step`; returns the exit code. */
static int line_answer(uint32_t (*dot)(size_t n, const uint16_t *a, const uint16_t *b, uint32_t c), size_t step) {
  static char line[LINE_ROOM];
  static uint16_t a[LINE_PRODUCTS], b[LINE_PRODUCTS];
  while (fgets(line, sizeof line, stdin)) {
    char *first = strtok(line, " \n"), *second = strtok(NULL, " \n"), *third = strtok(NULL, " \n"), *end = line;
    size_t n = first ? strlen(first) / 4 : 0;
    uint32_t c = third ? (uint32_t)strtoul(third, &end, 16) : 0;
    if (!third || *end || n > LINE_PRODUCTS || n % step || strlen(second) != 4 * n || !line_elements(a, first, n) ||
        !line_elements(b, second, n)) {
      fprintf(stderr, "a line is A B C in hex, with a multiple of %zu products\n", step);
      return 2;
    }
    printf("%08x\n", (unsigned)dot(n, a, b, c));
    fflush(stdout); /* whoever asks waits for it */
  }
  return 0;
}

#endif
