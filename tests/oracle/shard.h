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
  t_shard shard = {0, 1};
  if (text != NULL &&
      (sscanf(text, "%u/%u", &shard.index, &shard.count) != 2 || shard.count == 0 || shard.index >= shard.count)) {
    fprintf(stderr, "'%s' is not a shard I/N with I < N\n", text);
    exit(2);
  }
  return shard;
}

static inline int shard_has(t_shard shard, size_t item) { return item % shard.count == shard.index; }

#endif
