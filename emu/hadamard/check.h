/* SPDX-License-Identifier: MIT */
/* emu/hadamard/check.h - checks the arguments of the transforms, for the CPU and the CUDA calls alike. */
#ifndef HALFULP_EMU_HADAMARD_CHECK_H
#define HALFULP_EMU_HADAMARD_CHECK_H

#include "halfulp/hadamard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the errors of halfulp/hadamard.h. */
hu_status hui_hadamard_check(size_t rows, size_t cols, const void *z, size_t ldz, const void *x, size_t ldx,
                             const hu_hadamard *transform);

#ifdef __cplusplus
}
#endif
#endif
