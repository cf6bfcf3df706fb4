/* SPDX-License-Identifier: MIT */
/* emu/base/operation_check.h - do the types of views suit an operation? For hu_apply and for the device. */
#ifndef HALFULP_EMU_BASE_OPERATION_CHECK_H
#define HALFULP_EMU_BASE_OPERATION_CHECK_H

#include "halfulp/view.h"

/* Is it this kind, and no number system's? */
static inline int hui_is_type(const hu_type *type, int kind) {
  return type->kind == kind && !type->reserved && (!type->number || kind != HU_TYPE_CODES);
}

/* Sets the operation's record and says whether it takes types of these kinds: HU_OK, HU_E_SHAPE (no such operation),
 * HU_E_NULL (z or x NULL), HU_E_FORMAT. Whether a format is one says who unfolds it. */
static inline hu_status hui_check_types(hu_operation *operation, int op, const hu_output *z, const hu_view *x) {
  *operation = hu_operation_at((size_t)op);
  if (!operation->name) return HU_E_SHAPE;
  if (!z || !x) return HU_E_NULL;
  if (!hui_is_type(&z->type, operation->result == HU_RESULT_INT8 ? HU_TYPE_INT8 : HU_TYPE_CODES)) return HU_E_FORMAT;
  for (int k = 0; k < operation->operands; k++)
    if (!hui_is_type(&x[k].type, HU_TYPE_CODES)) return HU_E_FORMAT;
  if (operation->result == HU_RESULT_SAME && !hu_format_equal(z->type.format, x[0].type.format)) return HU_E_FORMAT;
  return HU_OK;
}

/* ---- HU_OP_CONVERT ---- */

/* Bytes of the float or double that an element is; 0: it is a code. */
static inline size_t hui_carrier_bytes(const hu_type *type) {
  if (type->kind == HU_TYPE_CODES) return 0;
  return type->kind == HU_TYPE_VALUES64 || type->kind == HU_TYPE_BINARY64 ? 8 : 4;
}

/* Any numbers of binary32 or binary64: as results they are the values of codes, whatever these are. */
static inline int hui_is_plain(const hu_type *type) {
  return type->kind == HU_TYPE_BINARY32 || type->kind == HU_TYPE_BINARY64;
}

/* The number system that codes or values are of; NULL: a format's. */
static inline const struct hu_number *hui_number_of(const hu_type *type) {
  return hui_is_plain(type) ? NULL : type->number;
}

/* HU_OK or HU_E_FORMAT: does HU_OP_CONVERT take types of these kinds? */
static inline hu_status hui_check_conversion(const hu_type *z, const hu_type *x) {
  int codes = x->kind == HU_TYPE_CODES;
  int rounded = z->kind == HU_TYPE_CODES || z->kind == HU_TYPE_VALUES32 || z->kind == HU_TYPE_VALUES64;
  if (z->reserved || x->reserved) return HU_E_FORMAT;
  return (rounded && (codes || hui_is_plain(x))) || (hui_is_plain(z) && codes) ? HU_OK : HU_E_FORMAT;
}

#endif
