/* SPDX-License-Identifier: MIT */
/* The baseline level. */
#include "emu/number/loops_body.h"

const hu_number_lanes *hu_number_lanes_vector(void) { return &lanes; }
