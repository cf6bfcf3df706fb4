/* SPDX-License-Identifier: MIT */
/* bench/levels.h - the levels that a benchmark compares: those of this machine (tests/support/levels.h). */
#ifndef HALFULP_BENCH_LEVELS_H
#define HALFULP_BENCH_LEVELS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/gemm.h"
#include "tests/support/levels.h"

enum { BENCH_LEVELS = 33 }; /* the most that t_levels() returns */

/* The first level that is more than an extension for products. */
static inline size_t bench_first(void) {
  size_t i = 0;
  while (t_level_bit(i) > HU_LEVEL_NEON) i++;
  return i;
}

/* Does level number i change arithmetic over arrays? Of the extensions for products, FP16 does. */
static inline int bench_changes_arith(size_t i) { return i >= bench_first() || t_level_bit(i) == HU_LEVEL_FP16; }

/* Is level number i one of those that --level (NULL: all) asks for? The extension VBMI changes S2FP8 alone, and is left
 * out elsewhere. */
static inline int bench_wants(const char *only, size_t i) {
  const char *name = t_level_name(i);
  return only ? !strcmp(only, name) : i >= bench_first() && strcmp(name, "vbmi") != 0;
}

/* hu_exec.levels_off for the level of this name; ends the program where this machine has none. */
static inline uint32_t bench_levels_off(const char *name) {
  for (size_t i = 0; i < t_levels(); i++) {
    if (!strcmp(name, t_level_name(i))) return t_levels_off(i);
  }
  fprintf(stderr, "no level \"%s\" on this machine\n", name);
  exit(2);
}

#endif
