/* SPDX-License-Identifier: MIT */
/* tests/cross/inputs.h - binary32 patterns for comparisons with conversions that nobody here wrote: all of them in an
 * exhaustive build; else every 4093rd, and the neighbourhoods of all patterns with few digits, where grids and
 * midpoints are. */
#ifndef HALFULP_TESTS_CROSS_INPUTS_H
#define HALFULP_TESTS_CROSS_INPUTS_H

#include <stddef.h>
#include <stdint.h>

enum { CROSS_CHUNK = 1 << 16 };

typedef struct cross_inputs {
  uint64_t next;
  int exhaustive, stage;
} cross_inputs;

/* Fills up to CROSS_CHUNK patterns; 0 when there are no more. */
static inline size_t cross_fill(cross_inputs *in, uint32_t *x) {
  size_t n = 0;
  if (in->exhaustive) {
    for (; n < CROSS_CHUNK && in->next >> 32 == 0; n++) x[n] = (uint32_t)in->next++;
    return n;
  }
  if (in->stage == 0) {
    for (; n < CROSS_CHUNK && in->next >> 32 == 0; in->next += 4093) x[n++] = (uint32_t)in->next;
    if (n) return n;
    in->stage = 1;
    in->next = 0;
  }
  /* sign, exponent field and the six leading digits of the trailing significand, then -1, 0, +1 in the last place */
  for (; n < CROSS_CHUNK && in->next < (uint64_t)3 << 15; in->next++)
    x[n++] = ((uint32_t)(in->next / 3) << 17) + (uint32_t)(in->next % 3) - 1;
  return n;
}

#endif
