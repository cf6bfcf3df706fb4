/* SPDX-License-Identifier: MIT */
/* tests/oracle/shard.h - "I/N" on the command line: this run does the items i with i mod N = I. */
#ifndef HALFULP_TESTS_SHARD_H
#define HALFULP_TESTS_SHARD_H

#include <stdio.h>
#include <stdlib.h>

typedef struct t_shard {
  unsigned index, count;
} t_shard;

static inline t_shard shard_parse(const char *text) {
  t_shard s = {0, 1};
  if (text != NULL && (sscanf(text, "%u/%u", &s.index, &s.count) != 2 || s.count == 0 || s.index >= s.count)) {
    fprintf(stderr, "'%s' is not a shard I/N with I < N\n", text);
    exit(2);
  }
  return s;
}

static inline int shard_has(t_shard s, size_t item) { return item % s.count == s.index; }

#endif
