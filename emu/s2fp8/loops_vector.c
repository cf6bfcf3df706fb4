/* SPDX-License-Identifier: MIT */
/* The baseline level. */
#include "emu/s2fp8/loops_body.h"

const hu_s2_lanes *hu_s2_lanes_vector(void) { return &lanes; }
