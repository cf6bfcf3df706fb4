/* SPDX-License-Identifier: MIT */
/* line.h - what the programs of this folder share: lines A B C of hex come in, D goes out. A and B have elements of
 * 16 or 8 bits, C and D have 32. */
#ifndef LINE_H
#define LINE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_PRODUCTS = 4096, LINE_ROOM = 4 * 2 * LINE_PRODUCTS + 64 };

/* D of n products. The elements of a and b stand side by side, as an instruction loads them. */
typedef uint32_t line_dot(size_t n, const void *a, const void *b, uint32_t c);

/* n elements of `size` bytes, two digits for each byte; 0: not hex. */
static int line_elements(void *z, const char *text, size_t n, size_t size) {
  for (size_t k = 0; k < n; k++) {
    char piece[5] = {0}, *end;
    memcpy(piece, text + 2 * size * k, 2 * size);
    unsigned long x = strtoul(piece, &end, 16);
    if (*end) return 0;
    if (size == 1)
      ((uint8_t *)z)[k] = (uint8_t)x;
    else
      ((uint16_t *)z)[k] = (uint16_t)x;
  }
  return 1;
}

/* Answers every line by `dot`, with elements of `size` bytes and a multiple of `step` products. Returns the exit
 * code. */
static int line_answer(line_dot *dot, size_t size, size_t step) {
  static char line[LINE_ROOM];
  static uint16_t a[LINE_PRODUCTS], b[LINE_PRODUCTS];
  while (fgets(line, sizeof line, stdin)) {
    char *first = strtok(line, " \n"), *second = strtok(NULL, " \n"), *third = strtok(NULL, " \n"), *end = line;
    size_t n = first ? strlen(first) / (2 * size) : 0;
    uint32_t c = third ? (uint32_t)strtoul(third, &end, 16) : 0;
    if (!third || *end || n > LINE_PRODUCTS || n % step || strlen(first) != 2 * size * n ||
        strlen(second) != 2 * size * n || !line_elements(a, first, n, size) || !line_elements(b, second, n, size)) {
      fprintf(stderr, "a line is A B C in hex, with a multiple of %zu products\n", step);
      return 2;
    }
    printf("%08x\n", (unsigned)dot(n, a, b, c));
    fflush(stdout); /* whoever asks waits for it */
  }
  return 0;
}

#endif
