/* SPDX-License-Identifier: MIT */
/* Distances between words: see spelling.h. */
#include "files/spelling.h"

#include <string.h>

enum { LENGTH_MAX = 64 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Computes Damerau and Levenshtein's distance, without changes within a swapped pair. */
size_t spelling_distance(const char *x, const char *y) {
  size_t row[3][LENGTH_MAX + 1], n = strlen(x), m = strlen(y);
  if (n > LENGTH_MAX || m > LENGTH_MAX) return n + m;
  for (size_t j = 0; j <= m; j++) row[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *now = row[i % 3], *before = row[(i + 2) % 3];
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (x[i - 1] != y[j - 1]));
      if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
        now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

static const char *digit_in(const char *x) { return x + strcspn(x, "0123456789"); }

/* Returns 1 if both have as many digits, but others: fp4 is not a misspelt fp8, nor fp32 fp16. */
static int other_number(const char *x, const char *y) {
  int differ = 0;
  for (x = digit_in(x), y = digit_in(y); *x && *y; x = digit_in(x + 1), y = digit_in(y + 1)) differ |= *x != *y;
  return differ && !*x && !*y;
}

const char *spelling_nearest(const char *x, const char *const *words) {
  const char *best = NULL;
  size_t fewest = 3;
  for (; *words; words++) {
    size_t distance = spelling_distance(x, *words);
    if (distance >= fewest || 3 * distance > strlen(x) || other_number(x, *words)) continue;
    fewest = distance;
    best = *words;
  }
  return best;
}
