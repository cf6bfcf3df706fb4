/* SPDX-License-Identifier: MIT */
/* hu_scaled_apply of halfulp/scaled.h: the types of the two matrices say what is done; the file of the scaled format
 * checks the rest and does it. */
#include "emu/scaled/call.h"

typedef hu_status step(hu_scaled_call *call, const hu_type *type);

/* What can be done with a scaled format: codes with scales, or values, are made; codes with scales are decoded. */
typedef struct way {
  uint8_t stored, values; /* HU_TYPE_ */
  step *make, *decode;
} way;

static const way ways[] = {
    {HU_TYPE_SCALED, HU_TYPE_SCALED_VALUES, hui_scaled_make, hui_scaled_decode},
    {HU_TYPE_SCALED_ROWS, HU_TYPE_SCALED_ROWS_VALUES, hui_scaled_rows_make, hui_scaled_rows_decode},
    {HU_TYPE_HIF4, HU_TYPE_HIF4_VALUES, hui_hif4_make, hui_hif4_decode},
};

static const way *way_of(const hu_type *type) {
  for (size_t i = 0; !type->reserved && i < sizeof ways / sizeof *ways; i++) {
    if (type->kind == ways[i].stored || type->kind == ways[i].values) return &ways[i];
  }
  return NULL;
}

/* Codes with scales lie as their record says, in the order of rows. */
static hu_status check_stored(const void *data, ptrdiff_t stride, ptrdiff_t row) {
  if (!data) return HU_E_NULL;
  return stride == 1 && row == 0 ? HU_OK : HU_E_SHAPE;
}

static hu_status write_values(hu_scaled_call *call, const hu_output *z) {
  if (z->stride != 1) return HU_E_SHAPE;
  call->z = z->data;
  call->ldz = (size_t)z->row;
  return HU_OK;
}

hu_status hui_scaled_ends(hu_scaled_call *call, const hu_output *z, const hu_view *x, const hu_scaled_extra *extra) {
  const way *found = way_of(&z->type);
  if (!found || x->type.kind != HU_TYPE_BINARY32 || x->type.reserved) return HU_E_FORMAT;
  if (x->stride != 1) return HU_E_SHAPE;
  call->x = x->data;
  call->ldx = (size_t)x->row;
  if (extra) {
    call->amax = extra->amax;
    call->stats = extra->stats;
  }
  if (z->type.kind == found->values) return write_values(call, z);
  call->codes = z->data;
  return check_stored(z->data, z->stride, z->row);
}

static hu_status make(hu_scaled_call *call, const hu_output *z, const hu_view *x, const hu_scaled_extra *extra) {
  hu_status status = hui_scaled_ends(call, z, x, extra);
  return status == HU_OK ? way_of(&z->type)->make(call, &z->type) : status;
}

static hu_status decode(hu_scaled_call *call, const hu_output *z, const hu_view *x) {
  const way *found = way_of(&x->type);
  if (!found || x->type.kind != found->stored || z->type.reserved) return HU_E_FORMAT;
  hu_status status = check_stored(x->data, x->stride, x->row);
  call->codes = x->data;
  if (status == HU_OK) status = write_values(call, z);
  return status == HU_OK ? found->decode(call, &x->type) : status;
}

hu_status hu_scaled_apply(size_t rows, size_t cols, const hu_output *z, const hu_view *x, const hu_scaled_extra *extra,
                          const hu_how *how) {
  hu_scaled_call call = {.rows = rows, .cols = cols};
  if (!z || !x) return HU_E_NULL;
  if (how) {
    call.mode = how->mode;
    call.exec = how->exec;
    call.events = how->events;
  }
  return z->type.kind == HU_TYPE_BINARY32 ? decode(&call, z, x) : make(&call, z, x, extra);
}
