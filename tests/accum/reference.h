/* SPDX-License-Identifier: MIT */
/* tests/accum/reference.h - the accumulation models again, on big numbers (MPFR with room for every digit), written
 * from docs/numerics.md section 11 alone. Roundings are those of the oracle; nothing of the emulator takes part. */
#ifndef HALFULP_TESTS_REFERENCE_H
#define HALFULP_TESTS_REFERENCE_H

#include "tests/accum/dots.h"

/* What hu_dot must return, and its events. */
uint64_t reference_dot(const dot *x, uint32_t *events);
/* Likewise, and what its additions did. */
uint64_t reference_watched(const dot *x, uint32_t *events, hu_watch *watch);

#endif
