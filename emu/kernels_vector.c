/* SPDX-License-Identifier: MIT */
/* The baseline level: four lanes. */
#include "emu/port.h"

#if defined(__GNUC__) || defined(__clang__)

#include "emu/lanes_vector.h"

#include "emu/kernels_body.h"

const hu_kernels *hu_kernels_vector(void) { return &table; }

#else

#include "emu/kernels.h"

const hu_kernels *hu_kernels_vector(void) { return NULL; }

#endif
