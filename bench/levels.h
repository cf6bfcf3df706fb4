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

/* Returns the first level that is more than an extension for products. */
static inline size_t bench_first(void) {
  size_t i = 0;
  while (t_level_bit(i) > HU_LEVEL_NEON) i++;
  return i;
}

/* Does level number i change arithmetic over arrays? Of the extensions for products, FP16 does. */
static inline int bench_changes_arith(size_t i) { return i >= bench_first() || t_level_bit(i) == HU_LEVEL_FP16; }

/* Is level number i one of those that --level (NULL: all) asks for? The extension VBMI changes S2FP8 alone, and is left
 * out elsewhere. */
static inline int bench_takes(const char *only, size_t i) {
  const char *name = t_level_name(i);
  return only ? !strcmp(only, name) : i >= bench_first() && strcmp(name, "vbmi") != 0;
}

/* Reads the order of addresses that --order names, "linear" or "streams"; ends the program at any other word, and where
 * no level of this machine has streams (HU_LEVEL_STREAMS, which programs with streams_dep have on every CPU). */
static inline int bench_streams_of(const char *order) {
  int streams = !strcmp(order, "streams");
  if (!streams && strcmp(order, "linear") != 0) {
    fprintf(stderr, "--order %s: linear or streams\n", order);
    exit(2);
  }
  if (streams && !(hu_levels() & HU_LEVEL_STREAMS)) {
    fprintf(stderr, "--order streams: no level of this machine has it\n");
    exit(2);
  }
  return streams;
}

/* Returns hu_exec.levels_off for level number i in that order. */
static inline uint32_t bench_off(size_t i, int streams) {
  uint32_t bit = HU_LEVEL_STREAMS;
  return streams ? t_levels_off(i) & ~bit : t_levels_off(i) | bit;
}

/* Runs a job, whose hu_exec this is, without the order of --order streams. */
static inline void bench_linear(hu_exec *exec, void (*run)(void *job), void *job) {
  uint32_t off = exec->levels_off;
  exec->levels_off = off | HU_LEVEL_STREAMS;
  run(job);
  exec->levels_off = off;
}

/* Returns hu_exec.levels_off for the level of this name; ends the program where this machine does not have it. */
static inline uint32_t bench_levels_off(const char *name) {
  for (size_t i = 0; i < t_levels(); i++) {
    if (!strcmp(name, t_level_name(i))) return t_levels_off(i);
  }
  fprintf(stderr, "no level \"%s\" on this machine\n", name);
  exit(2);
}

#endif
