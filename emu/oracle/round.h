/* SPDX-License-Identifier: MIT */
/* emu/oracle/round.h - the one rounding of docs/numerics.md sections 2 to 5, by comparison with the table of values. */
#ifndef HALFULP_ORACLE_ROUND_H
#define HALFULP_ORACLE_ROUND_H

#include "emu/oracle/exact.h"
#include "emu/oracle/table.h"
#include "halfulp/mode.h"

/* Where |x| > 0 lies on the rounding grid. */
typedef enum where {
  WHERE_GRID,      /* lower <= |x| < upper */
  WHERE_BELOW_ALL, /* below the smallest value of a format without zero; lower and upper are 0 */
  WHERE_BEYOND     /* at or above the first grid point beyond max; lower and upper are not used */
} where;
typedef struct bracket {
  where where;
  uint64_t lower, upper; /* grid indices */
} bracket;
bracket round_bracket(const table *values, const exact *x);

/* Is the upper of two neighbours taken? 0 <= nu < 1 is the place of |x| between them; odd: of the lower one. */
int round_takes_upper(hu_mode mode, int negative, const exact *nu, int odd, uint32_t random);
/* Returns HU_OK or HU_E_MODE. */
hu_status round_check_mode(hu_mode mode);
/* Rounds x (any kind of number) once, to a code and its events. */
void round_exact(const table *values, hu_mode mode, const exact *x, uint32_t random, uint32_t *code, uint32_t *events);

#endif
