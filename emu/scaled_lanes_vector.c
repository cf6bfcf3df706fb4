/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#define HU_BYTES 16
#define HU_LANES hu_scaled_lanes_vector
#include "emu/scaled_lanes_body.h"
