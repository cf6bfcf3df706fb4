/* SPDX-License-Identifier: MIT */
/* tests/oracle/shard.h - "I/N" on the command line: this run does the items i with i mod N = I. */
#ifndef HALFULP_TESTS_SHARD_H
#define HALFULP_TESTS_SHARD_H

#include <stdio.h>
#include <stdlib.h>

typedef struct shard {
  unsigned index, count;
} shard;

static inline shard shard_parse(const char *text) {
  shard s = {0, 1};
  if (text != NULL && (sscanf(text, "%u/%u", &s.index, &s.count) != 2 || s.count == 0 || s.index >= s.count)) {
    fprintf(stderr, "'%s' is not a shard I/N with I < N\n", text);
    exit(2);
  }
  return s;
}

static inline int shard_has(shard s, size_t item) { return item % s.count == s.index; }

#endif
