/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/core/port.h"

#if defined(__GNUC__) || defined(__clang__)

#include "emu/simd/vector.h"

#include "emu/simd/convert_lanes_body.h"

const hu_kernels *hu_kernels_vector(void) { return &table; }

#else

#include "emu/simd/convert.h"

const hu_kernels *hu_kernels_vector(void) { return NULL; }

#endif
