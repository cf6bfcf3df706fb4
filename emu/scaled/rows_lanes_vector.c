/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/core/port.h"

#if defined(__GNUC__) || defined(__clang__)
#include "emu/simd/vector.h"
#endif

#define HU_LANES hu_scaled_lanes_vector
#include "emu/scaled/rows_lanes_body.h"
