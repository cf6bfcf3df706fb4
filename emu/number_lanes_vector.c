/* SPDX-License-Identifier: MIT */
/* The baseline level. */
#include "emu/number_lanes_body.h"

const hu_number_lanes *hu_number_lanes_vector(void) { return &lanes; }
