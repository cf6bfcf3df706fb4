/* SPDX-License-Identifier: MIT */
/* gpu/base/look.h - enqueues a look at codes that the call's own kernel is about to read: one with bits above its width
 * is remembered in device memory until hu_device_synchronize asks. Where the width fills the storage nothing is
 * enqueued. Launches that fail are among those that hu_launched tells of. */
#ifndef HALFULP_GPU_BASE_LOOK_H
#define HALFULP_GPU_BASE_LOOK_H

#include "emu/base/codes.h"
#include "halfulp/gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the codes lie has been checked. */
void hu_look_at(hu_code_area x, void *stream);

/* hu_device_gemm (sa and sb NULL) and hu_device_gemm_scaled of operands that have been looked at: gemm.cu. */
hu_status hu_gemm_enqueue(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                          const hu_operand *c, const hu_operand *sa, const hu_operand *sb, const hu_accum *accum,
                          hu_mode mode, const hu_exec *exec, hu_events *events, void *stream);

#ifdef __cplusplus
}
#endif

#endif
