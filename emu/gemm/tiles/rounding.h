/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/rounding.h - a format and a mode as constants of binary32 lanes, for models whose steps round in any
 * mode. emu/gemm/tiles/rounding_lanes.h rounds with them. */
#ifndef HALFULP_EMU_GEMM_TILES_ROUNDING_H
#define HALFULP_EMU_GEMM_TILES_ROUNDING_H

#include "emu/core/accum_step.h"

typedef struct hu_mode_grid {
  hu_grid grid;         /* the format and the mode */
  uint32_t floor, span; /* the pattern of 2^emin; what that of 2^emax is above it */
  uint32_t dropped;     /* digits below the last: 23 - m */
  uint32_t keep, half;  /* stochastic: digits of the addend that count; half of the last of them */
} hu_mode_grid;

#endif
