/* SPDX-License-Identifier: MIT */
/* emu/core/modes.h - the table of the rounding modes, and what follows from a mode. What a mode does with one magnitude
 * is hui_round_up of round.h, and what lanes add for it hui_addend_of of lane_constants.h; all else asks here. */
#ifndef HALFULP_EMU_CORE_MODES_H
#define HALFULP_EMU_CORE_MODES_H

#include "emu/core/round.h"

/* How a value must be rounded first, so that the mode, on the digits that are left, gives what it gives of the value
 * itself: in a direction with one digit more than the mode's grid (and its random digits), or to odd with two more. */
enum { HU_FIRST_ODD = 0, HU_FIRST_ZERO = 1, HU_FIRST_UP = 2, HU_FIRST_DOWN = 3 };

/* X(mode, name in texts, first rounding, in words, name in IEEE P3109, name in IEEE 754-2019), in the order of the
 * modes' numbers; "": the standard has no such mode. The name of a stochastic mode is followed by ":N". */
#define HU_EACH_DETERMINISTIC_MODE(X)                                                                      \
  X(HU_RNE, rne, HU_FIRST_ODD, "to nearest, ties to even", "NearestTiesToEven", "roundTiesToEven")         \
  X(HU_RNA, rna, HU_FIRST_ZERO, "to nearest, ties away from zero", "NearestTiesToAway", "roundTiesToAway") \
  X(HU_RNZ, rnz, HU_FIRST_ODD, "to nearest, ties toward zero", "", "roundTiesTowardZero")                  \
  X(HU_RTZ, rtz, HU_FIRST_ZERO, "toward zero", "TowardZero", "roundTowardZero")                            \
  X(HU_RTP, rtp, HU_FIRST_UP, "toward positive", "TowardPositive", "roundTowardPositive")                  \
  X(HU_RTN, rtn, HU_FIRST_DOWN, "toward negative", "TowardNegative", "roundTowardNegative")                \
  X(HU_RAZ, raz, HU_FIRST_ODD, "away from zero", "", "")                                                   \
  X(HU_RTO, rto, HU_FIRST_ODD, "to odd", "ToOdd", "")
#define HU_EACH_STOCHASTIC_MODE(X)                                                                       \
  X(HU_SRA, sra, HU_FIRST_ZERO, "stochastic, N random bits added, the rest cut", "StochasticA", "")      \
  X(HU_SRB, srb, HU_FIRST_ZERO, "stochastic, half of the last random bit added, too", "StochasticB", "") \
  X(HU_SRC, src, HU_FIRST_ODD, "stochastic, the discarded part rounded to N bits first", "StochasticC", "")
#define HU_EACH_MODE(X) HU_EACH_DETERMINISTIC_MODE(X) HU_EACH_STOCHASTIC_MODE(X)

/* Returns the HU_FIRST_ of a mode; with a constant mode, a constant. */
HU_FN uint32_t hui_first_rounding(uint32_t round) {
  switch (round) {
#define HU_CASE(mode, name, first, words, p3109, ieee) \
  case mode: return first;
    HU_EACH_MODE(HU_CASE)
#undef HU_CASE
    default: return HU_FIRST_ODD;
  }
}

/* Does a deterministic mode take the upper of two neighbouring magnitudes for one between them? half: whether that is
 * nearer to the lower one, in the middle or nearer to the upper one, -1, 0, 1; odd: the parity of the lower one. No, of
 * a stochastic mode. */
HU_FN uint32_t hui_takes_upper(const hu_spec *spec, int32_t half, uint32_t odd, uint32_t sign) {
  return spec->round < HU_SRA && hui_round_up(spec, (uint64_t)(2 + half), 0, 2, odd, sign, 0) != 0;
}

/* Does it take the nearer one, whatever it does in the middle? */
HU_FN uint32_t hui_is_to_nearest(const hu_spec *spec) {
  return hui_takes_upper(spec, 1, 0, 0) && !hui_takes_upper(spec, -1, 0, 0);
}

/* Does the mode take the lower magnitude for every number of this sign that lies between two? */
HU_FN uint32_t hui_is_inward(const hu_spec *spec, uint32_t sign) {
  return spec->round < HU_SRA && !hui_takes_upper(spec, 1, 0, sign);
}

/* Does the mode round x and -x to different magnitudes? */
HU_FN uint32_t hui_looks_at_sign(const hu_spec *spec) { return hui_is_inward(spec, 0) != hui_is_inward(spec, 1); }

#endif
