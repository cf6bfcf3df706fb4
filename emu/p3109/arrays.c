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
  hu_format fz, f[HU_P3109_OPERANDS_MAX];
  hu_p3109_projection projection;
  hu_p3109_target target;
  hu_spec spec[HU_P3109_OPERANDS_MAX];
  const hu_p3109_array *in;
  uint8_t *z;
  size_t z_size, n, part;
  hu_stream stream;
} array_call;

static uint32_t code_at(const array_call *c, unsigned operand, size_t i) {
  const hu_p3109_array *a = &c->in[operand];
  size_t size = c->spec[operand].code_bytes;
  return hui_load_code((const uint8_t *)a->x + (ptrdiff_t)((size_t)a->stride * i * size), size);
}

static uint32_t result_at(const array_call *c, size_t i) {
  uint32_t random = hu_stream_word(c->stream, i), code[HU_P3109_OPERANDS_MAX];
  hu_num x[HU_P3109_OPERANDS_MAX];
  for (unsigned k = 0; k < c->operation.operands; k++) code[k] = code_at(c, k, i);
  if (c->operation.gives != HU_P3109_NUMBER) return hu_p3109_compute(c->op, c->fz, c->projection, c->f, code, random);
  for (unsigned k = 0; k < c->operation.operands; k++) x[k] = hui_p3109_value_of(&c->spec[k], code[k]);
  return hui_p3109_projected(&c->target, hui_p3109_exact(c->op, x), random);
}

static void run_part(void *context, size_t part) {
  const array_call *c = context;
  size_t first = part * c->part, past = c->n - first < c->part ? c->n : first + c->part;
  for (size_t i = first; i < past; i++) hui_store_code(c->z + i * c->z_size, c->z_size, result_at(c, i));
}

static hu_status check(const array_call *c) {
  if (!c->operation.name || c->n > PTRDIFF_MAX / 4) return HU_E_SHAPE;
  if (!c->in || (c->n && !c->z)) return HU_E_NULL;
  for (unsigned k = 0; k < c->operation.operands; k++) {
    if (c->n && !c->in[k].x) return HU_E_NULL;
    if (hu_format_check(c->in[k].format, NULL) != HU_OK) return HU_E_FORMAT;
  }
  if (c->operation.gives != HU_P3109_NUMBER) return HU_OK;
  if (hu_format_check(c->fz, NULL) != HU_OK) return HU_E_FORMAT;
  return hu_p3109_projection_check(c->projection);
}

hu_status hu_p3109_compute_n(int op, size_t n, void *z, hu_format fz, hu_p3109_projection projection,
                             const hu_p3109_array *in, const hu_exec *exec) {
  const hu_mode rne = {0};
  array_call c = {.op = op, .operation = hu_p3109_at(op), .fz = fz, .projection = projection, .in = in, .z = z, .n = n};
  hu_status s = check(&c);
  for (unsigned k = 0; k < c.operation.operands && s == HU_OK; k++)
    s = hui_code_array_check(n, in[k].x, in[k].stride, in[k].format, hui_exec_threads(exec));
  if (s != HU_OK || n == 0) return s;
  for (unsigned k = 0; k < c.operation.operands; k++) {
    c.f[k] = in[k].format;
    c.spec[k] = hui_spec_of(in[k].format, rne);
  }
  if (c.operation.gives == HU_P3109_NUMBER) c.target = hui_p3109_target_of(fz, projection);
  c.z_size = c.operation.gives == HU_P3109_NUMBER      ? c.target.spec.code_bytes
             : c.operation.gives == HU_P3109_NEIGHBOUR ? c.spec[0].code_bytes
                                                       : 1;
  c.stream = hui_exec_stream(exec);
  c.part = hui_part_size(n, hui_exec_threads(exec), PART);
  hui_parallel(hui_exec_threads(exec), hui_parts(n, c.part), run_part, &c);
  return HU_OK;
}
