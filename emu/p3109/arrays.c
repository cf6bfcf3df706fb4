/* SPDX-License-Identifier: MIT */
/* hu_p3109_compute_n: formats unfolded once a call, elements distributed over threads. */
#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/core/arith.h"
#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/p3109/exact.h"

enum { PART = 1024 };

typedef struct array_call {
  int op;
  hu_p3109_operation operation;
  hu_format fz, formats[HU_P3109_OPERANDS_MAX];
  hu_p3109_projection projection;
  hu_p3109_target target;
  hu_spec spec[HU_P3109_OPERANDS_MAX];
  const hu_p3109_array *in;
  uint8_t *z;
  size_t z_size, n, part;
  hu_stream stream;
} array_call;

static uint32_t code_at(const array_call *call, unsigned operand, size_t i) {
  const hu_p3109_array *a = &call->in[operand];
  size_t size = call->spec[operand].code_bytes;
  return hui_load_code((const uint8_t *)a->x + (ptrdiff_t)((size_t)a->stride * i * size), size);
}

static uint32_t result_at(const array_call *call, size_t i) {
  uint32_t random = hu_stream_word(call->stream, i), code[HU_P3109_OPERANDS_MAX];
  hu_num x[HU_P3109_OPERANDS_MAX];
  for (unsigned k = 0; k < call->operation.operands; k++) code[k] = code_at(call, k, i);
  if (call->operation.gives != HU_P3109_NUMBER)
    return hu_p3109_compute(call->op, call->fz, call->projection, call->formats, code, random);
  for (unsigned k = 0; k < call->operation.operands; k++) x[k] = hui_p3109_value_of(&call->spec[k], code[k]);
  return hui_p3109_projected(&call->target, hui_p3109_exact_by(call->target.rules, call->op, x), random);
}

static void run_part(void *context, size_t part) {
  const array_call *call = context;
  size_t first = part * call->part, past = call->n - first < call->part ? call->n : first + call->part;
  for (size_t i = first; i < past; i++) hui_store_code(call->z + i * call->z_size, call->z_size, result_at(call, i));
}

static hu_status check(const array_call *call) {
  if (!call->operation.name || call->n > PTRDIFF_MAX / 4) return HU_E_SHAPE;
  if (!call->in || (call->n && !call->z)) return HU_E_NULL;
  for (unsigned k = 0; k < call->operation.operands; k++) {
    if (call->n && !call->in[k].x) return HU_E_NULL;
    if (hu_format_check(call->in[k].format, NULL) != HU_OK) return HU_E_FORMAT;
  }
  if (call->operation.gives != HU_P3109_NUMBER) return HU_OK;
  if (hu_format_check(call->fz, NULL) != HU_OK) return HU_E_FORMAT;
  return hu_p3109_projection_check(call->projection);
}

hu_status hu_p3109_compute_n(int op, size_t n, void *z, hu_format fz, hu_p3109_projection projection,
                             const hu_p3109_array *in, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  const hu_mode rne = {0};
  array_call call = {
      .op = op, .operation = hu_p3109_at(op), .fz = fz, .projection = projection, .in = in, .z = z, .n = n};
  hu_status status = check(&call);
  for (unsigned k = 0; k < call.operation.operands && status == HU_OK; k++)
    status = hui_code_array_check(n, in[k].x, in[k].stride, in[k].format, hui_exec_threads(exec));
  if (status != HU_OK || n == 0) return status;
  for (unsigned k = 0; k < call.operation.operands; k++) {
    call.formats[k] = in[k].format;
    call.spec[k] = hui_spec_of(in[k].format, rne);
  }
  if (call.operation.gives == HU_P3109_NUMBER) call.target = hui_p3109_target_of(fz, projection);
  call.z_size = call.operation.gives == HU_P3109_NUMBER      ? call.target.spec.code_bytes
                : call.operation.gives == HU_P3109_NEIGHBOUR ? call.spec[0].code_bytes
                                                             : 1;
  call.stream = hui_exec_stream(exec);
  call.part = hui_part_size(n, hui_exec_threads(exec), PART);
  hui_parallel(hui_exec_threads(exec), hui_parts(n, call.part), run_part, &call);
  return HU_OK;
}
