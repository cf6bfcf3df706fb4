/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/core/port.h"

#if defined(__GNUC__) || defined(__clang__)

#include "emu/simd/vector.h"

#include "emu/scaled/strip_lanes_body.h"

const hu_scaled_strips *hu_scaled_strips_vector(void) { return &table; }

#else

#include "emu/scaled/strip.h"

const hu_scaled_strips *hu_scaled_strips_vector(void) { return NULL; }

#endif
