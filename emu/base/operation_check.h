/* SPDX-License-Identifier: MIT */
/* emu/base/operation_check.h - do the types of views suit an operation? For hu_apply and for the device. */
#ifndef HALFULP_EMU_BASE_OPERATION_CHECK_H
#define HALFULP_EMU_BASE_OPERATION_CHECK_H

#include "halfulp/view.h"

static inline int hui_is_type(hu_type type, int kind) { return type.kind == kind && !type.reserved; }

/* Sets the operation's record and says whether it takes types of these kinds: HU_OK, HU_E_SHAPE (no such operation),
 * HU_E_NULL (no views), HU_E_FORMAT. Whether a format is one says who unfolds it. */
static inline hu_status hui_check_types(hu_operation *operation, int op, hu_output z, const hu_view *x) {
  *operation = hu_operation_at((size_t)op);
  if (!operation->name) return HU_E_SHAPE;
  if (!x) return HU_E_NULL;
  if (!hui_is_type(z.type, operation->result == HU_RESULT_INT8 ? HU_TYPE_INT8 : HU_TYPE_CODES)) return HU_E_FORMAT;
  for (int k = 0; k < operation->operands; k++)
    if (!hui_is_type(x[k].type, HU_TYPE_CODES)) return HU_E_FORMAT;
  if (operation->result == HU_RESULT_SAME && !hu_format_equal(z.type.format, x[0].type.format)) return HU_E_FORMAT;
  return HU_OK;
}

#endif
