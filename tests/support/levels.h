/* SPDX-License-Identifier: MIT */
/* tests/support/levels.h - the kernel levels of this machine, for tests and benchmarks to walk: number 0 is the best
 * one, the last number is the core without vectors. A new level needs no line in a test. */
#ifndef HALFULP_TESTS_SUPPORT_LEVELS_H
#define HALFULP_TESTS_SUPPORT_LEVELS_H

#include <stddef.h>

#include "halfulp/array.h"

/* The HU_LEVEL_ bit of a number; 0 of the core and of every number behind it. */
static inline uint32_t t_level_bit(size_t i) {
  uint32_t left = hu_levels();
  for (uint32_t bit = (uint32_t)1 << 31; bit; bit >>= 1) {
    if ((left & bit) && i-- == 0) return bit;
  }
  return 0;
}

/* How many numbers there are, with the core's. */
static inline size_t t_levels(void) {
  size_t n = 1;
  while (t_level_bit(n - 1)) n++;
  return n;
}

/* hu_exec.levels_off that leaves level number i the best. */
static inline uint32_t t_levels_off(size_t i) {
  uint32_t bit = t_level_bit(i);
  return i == 0 ? 0 : bit ? ~(2 * bit - 1) : UINT32_MAX;
}

static inline const char *t_level_name(size_t i) { return t_level_bit(i) ? hu_level_name(t_level_bit(i)) : "core"; }

#endif
