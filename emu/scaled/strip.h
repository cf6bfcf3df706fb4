/* SPDX-License-Identifier: MIT */
/* emu/scaled/strip.h - elements under shared scales in one go: scaled, rounded, stored as codes or scaled back, a strip
 * of a row or of some rows at a time, and codes to values likewise. Each level has one table, so that the caller needs
 * no instruction set.
 *
 * Rounding is the middle way of emu/simd/round.h by sums, for every finite element, in one stretch without branches:
 *   - Under a scale 2^e the element is not divided: the grid is multiplied. Anchor, bottom and max of the grid times
 *     2^e have e 2^23 more in their patterns, and the sums round x itself, subnormal or not, to the element's value
 *     times 2^e. hui_scaled_grid_of has the bounds of e and x between which all of them are normal numbers.
 *   - Under a scale that binary32 steps divide by, the quotient is rounded, limited first to 2^(emax + 1), which is
 *     above max and on the grid; its value goes back by a product.
 *   - What rounds to more than max overflows, and becomes max (hui_scaled_grid_of refuses modes under which it becomes
 *     anything else).
 *   - Fixed-point formats (e = 0) have one binade, that of 2^emin, below which everything is; the same sums.
 *   - Elements in lanes behind the end of a row are zeros, which raise nothing. */
#ifndef HALFULP_EMU_SCALED_STRIP_H
#define HALFULP_EMU_SCALED_STRIP_H

#include "emu/core/lane_constants.h"
#include "emu/core/scaled.h"
#include "emu/simd/of_level.h"

enum { HU_STRIP_ROWS = 1 << 16 }; /* at most, which 32 bits of a lane count */
enum { HU_STRIP = 1024 }; /* elements of a strip at most: all that belongs to it stays in the first-level cache */

/* The element format under the mode, for lanes. */
typedef struct hu_scaled_grid {
  hu_lane_constants constants;
  uint32_t max, limit;        /* patterns of max and of 2^(emax + 1) */
  uint32_t max_code, highest; /* highest: elements from this pattern on are not for HU_SHIFT */
  int32_t least, most;        /* e of HU_SHIFT */
  int32_t twos;               /* codes stored in two's complement */
} hu_scaled_grid;

/* The scale is 2^e, by = e 2^23; x is multiplied by `by` or divided by it, and its value times `back`: the last two
 * only in modes whose sums are rounded to nearest. */
enum { HU_SIDE_MIN = 16, HU_SIDE_EACH = -1 };
enum { HU_SHIFT = 0, HU_TIMES = 1, HU_OVER = 2 };

typedef struct hu_scaled_strip {
  size_t n; /* up to HU_STRIP */
  const uint32_t *x;
  void *z;                   /* values, or codes of 1 or 2 bytes */
  const uint32_t *by, *back; /* amounts of HU_SHIFT, else floats; back not read for codes */
  int32_t side;              /* by, back are of element i: [i]; or [i >> side], 2^side at least HU_SIDE_MIN */
  uint32_t *marks;           /* NULL, or one per element, up to whole vectors: 1: saturated, 2^16: now zero */
  size_t rows, ldx, ldz;     /* values under HU_SHIFT in a deterministic mode, without marks: of so many rows; else 1 */
  size_t ldby;               /* from a row's amounts to those of the next; 0: the same */
  uint64_t key, word;        /* random words: element i draws number word + i */
} hu_scaled_strip;

/* Scales that are powers of two. Of blocks with largest magnitudes top: A = max(top, amin), code = that of 2^e,
 * by = e 2^23, e = floor(log2 A'), A' = A with `more` added to its pattern, less emax and within low ... high. bad[i]
 * != 0: the lanes cannot handle block i (an element at or above `highest`, a subnormal A, or e outside least ... most),
 * and the caller takes the core for it. A = 0: blank_code. */
typedef struct hu_scaled_powers {
  uint32_t amin, more, highest, blank_code;
  int32_t emax, low, high, least, most;
  int32_t first_code, first, m; /* the code of 2^e is first_code + (e - first) 2^m */
} hu_scaled_powers;

typedef struct hu_scaled_strips {
  /* x in z; to: 0: values, 1, 2: codes of so many bytes. Finite x. Events are added. */
  void (*round)(const hu_scaled_grid *grid, int way, int to, const hu_scaled_strip *strip, hu_events *events);
  /* z = values of n codes of `size` bytes, each times its scale: by = -e 2^23 for HU_SHIFT (values normal), else what a
   * finite or special value is multiplied by, to nearest. */
  void (*decode)(const hu_scaled_grid *grid, int way, int size, size_t n, uint32_t *z, const void *codes,
                 const uint32_t *by);
  /* Makes n scales; arrays hold n rounded up to 16. Returns 1 if a block is bad. */
  int (*powers)(const hu_scaled_powers *rule, size_t n, const uint32_t *top, uint32_t *codes, uint32_t *by,
                uint32_t *bad);
} hu_scaled_strips;
extern const hu_scaled_strips HU_OF_LEVEL(hu_scaled_strips);

/* Makes the grid; 0 if strips cannot round elements so. */
static inline int hui_scaled_grid_of(hu_scaled_grid *grid, const hu_scaler *scaler) {
  const hu_spec *spec = &scaler->element;
  hu_lane_constants *lanes = &grid->constants;
  if (!hui_lane_constants_of(lanes, spec) || lanes->m == 0 || lanes->d0 < 2 || lanes->is_unsigned) return 0;
  if (!hui_lanes_are_even(lanes)) return 0;
  if (lanes->low < 32 + lanes->m) return 0; /* 2^32 / Q of the stochastic modes; all else is normal, too */
  if (scaler->emax + 1 + 127 + lanes->d0 > 253 || (spec->sign_mask << 1) - 1 > 0xFFFF) return 0;
  if (lanes->code.overflow != spec->max_code || lanes->code.neg_overflow != (spec->max_code | spec->sign_mask))
    return 0;
  grid->max = hui_pack32(scaler->top);
  grid->limit = (uint32_t)(scaler->emax + 1 + 127) << 23;
  grid->max_code = spec->max_code;
  grid->highest = (uint32_t)(254 - lanes->d0) << 23;
  grid->least = 32 + lanes->m - lanes->low;
  grid->most = 126 - lanes->d0 - (spec->emin > scaler->emax ? spec->emin : scaler->emax);
  grid->twos = scaler->coding == HU_CODING_TWOS;
  return (lanes->events.overflow & lanes->events.neg_overflow & HU_EVENT_SATURATED) != 0;
}

#endif
