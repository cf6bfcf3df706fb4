/* SPDX-License-Identifier: MIT */
/* emu/arith/wide.h - operations on binary32 operands in binary64 lanes, rounded to odd twice: there and into binary32.
 * One table a level.
 *
 * What makes a lane's result good for any later rounding of up to 22 digits: it is the exact result, or an odd
 * number of 24 digits (fewer below 2^-126) with the exact result strictly between the same two neighbours of one
 * digit less. */
#ifndef HALFULP_EMU_ARITH_WIDE_H
#define HALFULP_EMU_ARITH_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/core/port.h"
#include "emu/simd/of_level.h"

enum { HU_WIDE_LANES = 8 }; /* arrays hold a multiple of this many elements */

/* z[i] = the operation on the binary32 patterns a[i], b[i] (fma: and c[i]) as a binary32 pattern, for i < n at
 * least; left[i] = 0. Lanes that this kernel does not handle (a NaN or an infinity, a division by 0, the square root of
 * a negative number, a result of 2^127 or more) get z[i] = +0 and left[i] all ones; the caller computes them with the
 * core. Returns 1 if there were some, perhaps behind n. down: an exact zero sum is negative as in the mode toward
 * negative. Ties to even, subnormals kept, traps masked in the CPU's settings (emu/base/float_env.h). */
typedef struct hu_wide_arith {
  int (*add)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, uint32_t down);
  int (*sub)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, uint32_t down);
  int (*mul)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b);
  int (*div)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b);
  int (*sqrt)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a); /* NULL: not here */
  int (*fma)(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, const uint32_t *c,
             uint32_t down);
} hu_wide_arith;
extern const hu_wide_arith HU_OF_LEVEL(hu_wide);

#endif
