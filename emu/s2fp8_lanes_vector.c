/* SPDX-License-Identifier: MIT */
/* The baseline level. */
#include "emu/s2fp8_lanes_loops.h"

const hu_s2_lanes *hu_s2_lanes_vector(void) { return &lanes; }
