/* SPDX-License-Identifier: MIT */
/* halfulp/device_scaled.h - the CUDA twins of scaled.h and of what stands on it: same arguments, same bits.
 *
 * Everything said in device.h holds: data, scales, amax, stats and events are device pointers, records are on the host,
 * calls enqueue and return, never allocate, never synchronise. */
#ifndef HALFULP_DEVICE_SCALED_H
#define HALFULP_DEVICE_SCALED_H

#include "halfulp/device.h"
#include "halfulp/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scaled.h ---- */

/* ---- s2fp8.h ---- */

/* ---- hadamard.h ---- */

/* ---- scaled_gemm.h ---- */

#ifdef __cplusplus
}
#endif
#endif
