/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/port.h"

#if defined(__GNUC__) || defined(__clang__)
#include "emu/lanes_vector.h"
#endif

#define HU_LANES hu_scaled_lanes_vector
#include "emu/scaled_lanes_body.h"
