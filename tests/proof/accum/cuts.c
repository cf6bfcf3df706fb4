/* SPDX-License-Identifier: MIT */
/* The cut of a term (emu/core/accum_block.h) against docs/numerics.md section 11.5, as a function that returns 0,
 * whatever it is given: cut(x, q) is x without its part below 2^q, toward zero, toward negative, to the nearest
 * multiple, ties to even, or to the one of the two beside it that is odd. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define inline __attribute__((always_inline)) inline
#define noinline always_inline
#include "emu/core/accum_block.h"

/* (-1)^sign sig in units of which 2^down make one of the result's; up to 2^50 units and 2^12 above. */
#define ARGUMENTS uint64_t sig, uint8_t sign, int32_t down

__extension__ typedef __int128 wide;

/* Is q the multiple? In halves of a unit of sig, so that nothing is lost. */
static inline int is_cut(int rule, wide x, wide unit, wide q) {
  wide rest = x - q * unit;
  if (rule == HU_BLOCK_CUT_FLOOR) return rest >= 0 && rest < unit;
  if (rule == HU_BLOCK_CUT_TRUNC) return x >= 0 ? rest >= 0 && rest < unit : rest <= 0 && -rest < unit;
  if (rule == HU_BLOCK_CUT_ODD) return rest == 0 || (rest < unit && -rest < unit && q % 2 != 0);
  wide twice = rest < 0 ? -2 * rest : 2 * rest;
  return twice < unit || (twice == unit && q % 2 == 0);
}

static inline int wrong_cut(int rule, uint64_t sig, uint8_t sign, int32_t down) {
  if (sign > 1 || sig >> 50 || down < -12 || down > 60) return 0;
  wide x = sign ? -(wide)sig : (wide)sig;
  int64_t q = hui_cut((uint8_t)rule, sign, sig, down);
  if (down <= 0) return (wide)q != x * ((wide)1 << -down);
  return !is_cut(rule, x, (wide)1 << down, q);
}

int cut_trunc(ARGUMENTS) { return wrong_cut(HU_BLOCK_CUT_TRUNC, sig, sign, down); }
int cut_floor(ARGUMENTS) { return wrong_cut(HU_BLOCK_CUT_FLOOR, sig, sign, down); }
int cut_nearest(ARGUMENTS) { return wrong_cut(HU_BLOCK_CUT_NEAREST, sig, sign, down); }
int cut_odd(ARGUMENTS) { return wrong_cut(HU_BLOCK_CUT_ODD, sig, sign, down); }

/* Further down nothing is left but what the direction asks for. */
int cut_far(ARGUMENTS) {
  if (sign > 1 || sig >> 50 || sig == 0 || down <= 60) return 0;
  return hui_cut(HU_BLOCK_CUT_TRUNC, sign, sig, down) != 0 ||
         hui_cut(HU_BLOCK_CUT_FLOOR, sign, sig, down) != -(int64_t)sign ||
         hui_cut(HU_BLOCK_CUT_NEAREST, sign, sig, down) != 0 ||
         hui_cut(HU_BLOCK_CUT_ODD, sign, sig, down) != (sign ? -1 : 1);
}
