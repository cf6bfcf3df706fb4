/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/kind.h - checks and unfolds kinds of shifted and squeezed tensors; the CPU and the CUDA calls share it. */
#ifndef HALFULP_EMU_S2FP8_KIND_H
#define HALFULP_EMU_S2FP8_KIND_H

#include "halfulp/s2fp8.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hu_s2; /* emu/core/s2fp8.h */

/* Kind, mode, and a scale that may be NULL. */
hu_status hui_s2_check(const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode);
/* The map of a kind, scale and mode that have been checked. */
void hui_s2_make(struct hu_s2 *map, const hu_s2fp8 *kind, int64_t mu, int64_t m, hu_mode mode);

#ifdef __cplusplus
}
#endif
#endif
