/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/port.h"

#if defined(__GNUC__) || defined(__clang__)

#include "emu/lanes_vector.h"

#include "emu/scaled_strip_body.h"

const hu_scaled_strips *hu_scaled_strips_vector(void) { return &table; }

#else

#include "emu/scaled_strip.h"

const hu_scaled_strips *hu_scaled_strips_vector(void) { return NULL; }

#endif
