/* SPDX-License-Identifier: MIT */
/* tests/oracle/steps.h - the binary32 line of one sign cut into pieces on which every deterministic answer is constant.
 *
 * In a deterministic mode docs/numerics.md compares |x| with finitely many numbers, the thresholds, and with nothing
 * else:
 *
 *   - the grid points up to the first one beyond max (sections 2 and 3: f, "nu > 0", |r| > max, flushing),
 *   - the midpoints of neighbouring grid points (nu against 1/2),
 *   - the tininess limit (before rounding), and the neighbour below 2^emin on the grid that goes on without a smallest
 *     exponent, 2^emin - 2^(emin-1-m), and the midpoint of these two (after rounding).
 *
 * So code and events depend on |x| only through its position among the thresholds: equal to one, or between two. A
 * piece is the set of all finite binary32 magnitudes with one position; infinity and the NaNs are a piece each. The
 * oracle must give one code and one event set at both ends of every piece, and its codes must be monotone along the
 * line, so a threshold missing from this list would show. */
#ifndef HALFULP_TESTS_STEPS_H
#define HALFULP_TESTS_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/format.h"

#define STEPS_INFINITY UINT32_C(0x7F800000)
#define STEPS_END (UINT64_C(1) << 31) /* one past the last binary32 magnitude */

/* Piece i holds the magnitude bit patterns start[i] .. start[i + 1] - 1; start[count] = STEPS_END. */
typedef struct t_steps {
  uint32_t *start;
  size_t count;
} t_steps;

t_steps steps_make(hu_format format);
void steps_free(t_steps *steps);

#endif
