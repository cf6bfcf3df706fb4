/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/arith.cuh - arrays of codes in device memory: what arith.cu and function.cu have in common. */
#ifndef HALFULP_GPU_ARITH_CUH
#define HALFULP_GPU_ARITH_CUH

#include "emu/core/arith.h"
#include "gpu/base/codes.cuh"
#include "gpu/base/core_op.cuh"
#include "halfulp/operation.h"

typedef struct hu_device_arith {
  hu_device_codes x[3];
  uint8_t *z;
  ptrdiff_t incz;
  uint32_t zsize;
  hu_spec spec;
  size_t n;
  uint32_t stochastic;
  hu_stream stream;
  hu_events *events;
} hu_device_arith;

HU_DEVICE void hui_device_store_code(const hu_device_arith &call, size_t i, uint32_t code) {
  hui_device_put_code(call.z, call.incz, call.zsize, i, code);
}

/* Starts an elementary function of the arrays of a call, in function.cu. */
hu_status hui_function_launch(const hu_device_arith &call, int32_t op, void *stream);

#endif
