/* SPDX-License-Identifier: MIT */
/* hu_apply of halfulp/view.h: checks everything and unfolds each format once, then runs emu/arith/run.c; conversions of
 * arrays have their own. Or it hands over to a device. */
#include "emu/arith/run.h"
#include "emu/array/run.h"
#include "emu/base/device_calls.h"
#include "emu/base/operation_check.h"
#include "emu/number/call.h"

static hu_status check_arrays(const hu_arith_call *call) {
  hu_strided z = hui_view_memory(&call->result);
  hu_covered sz, sx[3];
  if (z.stride == 0) return HU_E_SHAPE;
  if (call->n == 0) return HU_OK;
  hu_status status = hui_cover(&sz, call->n, &z);
  for (int k = 0; k < call->operands && status == HU_OK; k++) {
    hu_strided x = hui_view_memory(&call->x[k]);
    status = hui_cover(&sx[k], call->n, &x);
  }
  for (int k = 0; k < call->operands && status == HU_OK; k++) {
    hu_strided x = hui_view_memory(&call->x[k]);
    if (!hui_may_share(&z, &sz, &x, &sx[k])) status = HU_E_OVERLAP;
  }
  return status;
}

/* Fills in the specs of the formats: that of the result under the mode, and those of the operands. */
static hu_status unfold(hu_arith_call *call) {
  hu_status status = hui_view_unfold(&call->result, call->mode);
  for (int k = 0; k < call->operands && status == HU_OK; k++) status = hui_view_unfold_source(&call->x[k]);
  return status;
}

/* Describes the arrays. Numbers of a byte have the format of an operand: it only has to be one. */
static void describe(hu_arith_call *call, const hu_operation *operation, const hu_output *z, const hu_view *x) {
  int is_byte = operation->result == HU_RESULT_INT8;
  call->z = z->data;
  call->operands = operation->operands;
  hui_view_codes(&call->result, z->data, z->stride, is_byte ? &x[0].type.format : &z->type.format);
  if (is_byte) call->result.size = 1;
  for (int k = 0; k < call->operands; k++) hui_view_codes(&call->x[k], x[k].data, x[k].stride, &x[k].type.format);
}

/* Every operation but HU_OP_CONVERT. */
static hu_status operate(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  hu_operation operation;
  hu_arith_call call;
  hu_mode rne = {0};
  hu_status status = hui_check_types(&operation, op, z, x);
  if (status != HU_OK) return status;
  call.op = op;
  call.n = n;
  call.mode = operation.rounds ? how->mode : rne;
  describe(&call, &operation, z, x);
  status = unfold(&call);
  if (status == HU_OK) status = hu_mode_check(call.mode);
  if (status == HU_OK) status = check_arrays(&call);
  for (int k = 0; k < call.operands && status == HU_OK; k++)
    status = hui_view_check_codes(n, &call.x[k], hui_exec_threads(how->exec));
  if (status == HU_OK && n) hui_arith_run(&call, how->exec, operation.rounds ? how->events : NULL);
  return status;
}

static hu_status convert(size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  if (!z || !x) return HU_E_NULL;
  hu_status status = hui_check_conversion(&z->type, &x->type);
  if (status != HU_OK) return status;
  if (hui_number_of(&z->type) || hui_number_of(&x->type)) return hui_number_convert(n, z, x, how);
  return hui_array_convert(n, z, x, how);
}

hu_status hu_apply(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!how) how = &defaults;
  if (hui_is_elsewhere(how->exec)) return HUI_THERE(how->exec, apply, (op, n, z, x, how));
  return op == HU_OP_CONVERT ? convert(n, z, x, how) : operate(op, n, z, x, how);
}
