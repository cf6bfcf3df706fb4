/* SPDX-License-Identifier: MIT */
/* tests/ptx/run.h - how a block runs its warps. */
#ifndef HALFULP_TESTS_PTX_RUN_H
#define HALFULP_TESTS_PTX_RUN_H

#include <stdio.h>

#include "tests/ptx/warp.h"

void warp_begin(Warp &w, Block &b, uint32_t number, uint32_t lanes);
/* Until all its lanes have ended or wait for other warps at a barrier. */
void warp_run(Warp &w);
/* Lanes wait, at the instruction that runs, for more lanes to come there. */
void wait_here(Warp &w, uint32_t lanes);

#endif
