/* SPDX-License-Identifier: MIT */
/* emu/gemm/steps/steps.h - grids of tiles/steps.h for the ways of this folder. */
#ifndef HALFULP_EMU_GEMM_STEPS_STEPS_H
#define HALFULP_EMU_GEMM_STEPS_STEPS_H

#include "emu/gemm/tiles/steps.h"

/* steps.c. 1 if lanes can round to the format in the mode; sums are not near. */
int hui_step_grid_of(hu_step_grid *z, hu_format format, hu_mode mode);

#endif
