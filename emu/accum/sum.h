/* SPDX-License-Identifier: MIT */
/* emu/accum/sum.h - hui_accum_sum of emu/core/accum.h as a function that is compiled once, in dot.c, for sources that
 * call it from one place. */
#ifndef HALFULP_EMU_ACCUM_SUM_H
#define HALFULP_EMU_ACCUM_SUM_H

#include "emu/core/accum_plan.h"

/* Returns the model's sum of n products and c. */
hu_num hui_model_sum(const hu_accum_plan *plan, const hu_lines *in, uint64_t n, hu_num c, hu_draw *draw);

#endif
