/* SPDX-License-Identifier: MIT */
/* emu/scaled/check.h - checks the arguments of calls on scaled tensors; the CPU and the CUDA calls share it. */
#ifndef HALFULP_EMU_SCALED_CHECK_H
#define HALFULP_EMU_SCALED_CHECK_H

#include "emu/base/codes.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the arguments of hu_scaled_encode (z NULL) and hu_scaled_quantize (codes NULL). Two things are left to the
 * caller: the number that amax points at, and codes that are NULL where the tensor is empty. */
hu_status hui_scaled_made_check(size_t rows, size_t cols, const hu_scaled *codes, const float *z, size_t ldz,
                                const float *x, size_t ldx, const hu_scaling *scaling, hu_mode mode, const float *amax,
                                const hu_scaled_stats *stats);
hu_status hui_scaled_decode_check(size_t rows, size_t cols, const float *z, size_t ldz, const hu_scaled *x,
                                  const hu_scaling *scaling);
/* Return the elements, and the scales, as areas of codes. */
hu_code_area hui_scaled_elements_of(size_t rows, size_t cols, const void *codes, size_t ld, const hu_scaling *scaling);
hu_code_area hui_scaled_scales_of(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *scaling);
/* HU_OK, or HU_E_CODE: an element or a scale of a tensor that can be read here has bits above its width. */
hu_status hui_scaled_codes_check(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *scaling,
                                 uint32_t threads);
/* hu_scaled_pack and unpack; *n is set where the description is valid. */
hu_status hui_scaled_pack_check(hu_scaled_sizes *n, size_t rows, size_t cols, const uint8_t *wide, size_t ld,
                                const uint8_t *dense, const hu_scaling *scaling);

#ifdef __cplusplus
}
#endif
#endif
