/* SPDX-License-Identifier: MIT */
/* tests/accum/reference.h - the accumulation models again, on big numbers (MPFR with room for every digit), written
 * from docs/numerics.md section 11 alone. Roundings are those of the oracle; nothing of the emulator takes part. */
#ifndef HALFULP_TESTS_REFERENCE_H
#define HALFULP_TESTS_REFERENCE_H

#include "halfulp/accum.h"
#include "tests/accum/dots.h"

/* What hu_dot must return, and its events. */
uint64_t reference_dot(const t_dot *x, uint32_t *events);
/* Likewise, and what its additions did. */
uint64_t reference_watched(const t_dot *x, uint32_t *events, hu_watch *watch);

/* A rounding inside the sum: exact became z. In order. */
typedef void reference_visit(void *context, hu_traced exact, hu_traced z);

/* A piece of a longer sum. */
typedef struct reference_ends {
  uint64_t roundings;      /* the number of its first rounding; then, of the next one */
  const hu_format *result; /* what the sum is rounded into; NULL: C's format */
  int nan, nan_given;      /* the sum is NaN; an operand is */
  reference_visit *visit;  /* NULL: roundings are not passed on */
  void *context;
} reference_ends;
/* Not for models of integers. events: a NaN sum's are nan_in, whoever made it. */
uint64_t reference_between(const t_dot *x, reference_ends *ends, uint32_t *events, hu_watch *watch);

#endif
