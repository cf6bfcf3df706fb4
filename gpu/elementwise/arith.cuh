/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/arith.cuh - arrays of codes in device memory: what arith.cu and function.cu have in common. */
#ifndef HALFULP_GPU_ARITH_CUH
#define HALFULP_GPU_ARITH_CUH

#include "emu/base/exec.h"
#include "emu/core/arith.h"
#include "gpu/base/check.h"
#include "gpu/base/codes.cuh"
#include "gpu/base/core_op.cuh"
#include "gpu/base/look.h"
#include "halfulp/device.h"

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

/* ---- arguments ---- */

typedef struct hu_array_of_codes {
  const void *data;
  ptrdiff_t stride;
  hu_format format;
} hu_array_of_codes;

static inline hu_array_of_codes hui_codes_at(const void *data, ptrdiff_t stride, hu_format format) {
  hu_array_of_codes x;
  x.data = data;
  x.stride = stride;
  x.format = format;
  return x;
}

/* Checks in the order of the CPU's calls, and looks at operands. bytes: 1 if results are bytes in any format. */
static inline hu_status hui_arith_prepare(hu_device_arith *call, size_t n, void *z, hu_array_of_codes result, int bytes,
                                          const hu_array_of_codes *x, int operands, hu_mode mode, const hu_exec *exec,
                                          hu_events *events, void *stream) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  memset(call, 0, sizeof *call);
  hu_status status = hui_check_rounding(result.format, rne, 0);
  for (int k = 0; k < operands && status == HU_OK; k++) status = hui_check_rounding(x[k].format, rne, 0);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  call->zsize = bytes ? 1 : hui_code_bytes(result.format);
  for (int k = 0; k < operands && status == HU_OK; k++) {
    call->x[k].data = (const uint8_t *)x[k].data;
    call->x[k].stride = x[k].stride;
    call->x[k].size = hui_code_bytes(x[k].format);
    call->x[k].spec = hui_spec_of(x[k].format, rne);
    status = hui_check_arrays(n, z, call->zsize, result.stride, x[k].data, call->x[k].size, x[k].stride);
  }
  if (status == HU_OK) status = hui_check_events(events);
  call->z = (uint8_t *)z;
  call->incz = result.stride;
  call->spec = hui_spec_of(result.format, mode);
  call->n = n;
  call->stochastic = mode.round >= HU_SRA;
  call->stream = hui_exec_stream(exec);
  call->events = events;
  for (int k = 0; k < operands && status == HU_OK; k++)
    hui_look_at(hui_code_array_of(n, x[k].data, x[k].stride, x[k].format), stream);
  return status;
}

#endif
