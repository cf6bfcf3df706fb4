/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#define HU_BYTES 16
#define HU_LANES hu_hadamard_lanes_vector
#include "emu/hadamard/lanes_body.h"
