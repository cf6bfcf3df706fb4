/* SPDX-License-Identifier: MIT */
/* Scaled tensors with a second level for each row: the whole matrix is checked, then every row is a call of its own. */
#include "halfulp/scaled.h"

#include "emu/base/exec.h"
#include "emu/base/matrix_extent.h"
#include "emu/core/bits.h"
#include "emu/scaled/call.h"
#include "emu/scaled/check.h"

/* ---- checks ---- */

static hu_status check_levels(const hu_scaling *scaling) {
  if (!scaling) return HU_E_NULL;
  hu_status status = hu_scaling_check(scaling, NULL);
  if (status != HU_OK) return status;
  return scaling->tensor && scaling->rows == 1 ? HU_OK : HU_E_SCALING;
}

static hu_status check_amax(size_t rows, const float *amax) {
  for (size_t i = 0; amax && i < rows; i++) {
    uint32_t bits = hui_bits_of_float(amax[i]);
    if (bits >= 0x7F800000 && bits != 0x80000000) return HU_E_SCALING;
  }
  return HU_OK;
}

/* Checks that the row scales lie beside codes, scales, values and stats, none of which is empty. */
static hu_status check_apart(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                             const hu_scaling *scaling, const hu_scaled_stats *stats) {
  const float *tensor = z->tensor;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, scaling);
  hu_matrix_extent list[5];
  memset(list, 0, sizeof list);
  hu_status status = hui_matrix_extent_of(&list[0], tensor, 1, rows, rows, sizeof *tensor, sizeof *tensor);
  if (status == HU_OK)
    status = hui_matrix_extent_of(&list[1], z->codes, rows, cols, z->ld, sizes.code_bytes, sizes.code_bytes);
  if (status == HU_OK)
    status = hui_matrix_extent_of(&list[2], z->scales, sizes.block_rows, sizes.block_cols, z->lds, sizes.scale_bytes,
                                  sizes.scale_bytes);
  if (status == HU_OK) status = hui_matrix_extent_of(&list[3], x, rows, cols, ldx, sizeof *x, sizeof *x);
  if (status == HU_OK && stats)
    status = hui_matrix_extent_of(&list[4], stats, sizes.block_rows, sizes.block_cols, sizes.block_cols, sizeof *stats,
                                  _Alignof(hu_scaled_stats));
  for (int i = 1; i < 5 && status == HU_OK; i++) {
    if ((i < 4 || stats) && hui_matrix_extents_overlap(&list[0], &list[i])) status = HU_E_OVERLAP;
  }
  return status;
}

/* ---- rows ---- */

/* Returns row i of the codes and scales, with its second level. */
static hu_scaled row_of(const hu_scaled *z, const hu_scaled_shape *shape, size_t i) {
  hu_scaled row = *z;
  row.codes = (uint8_t *)z->codes + i * z->ld * shape->code_size;
  row.scales = (uint8_t *)z->scales + i * z->lds * shape->scale_size;
  row.tensor = z->tensor + i;
  return row;
}

/* Makes row i. */
static hu_status make_row(const hu_scaled_call *call, const hu_type *type, const hu_scaled_shape *shape, size_t i) {
  hu_scaled_call one = *call;
  hu_exec own = {.threads = 1};
  hu_scaled row;
  if (call->exec) own = *call->exec;
  own.stream.counter += (uint64_t)i * call->cols;
  one.exec = &own;
  one.rows = 1;
  one.x += i * call->ldx;
  if (call->amax) one.amax += i;
  if (call->stats) one.stats += i * shape->block_cols;
  if (call->codes) {
    row = row_of(call->codes, shape, i);
    one.codes = &row;
  } else {
    one.z += i * call->ldz;
  }
  return hui_scaled_make(&one, type);
}

hu_status hui_scaled_rows_make(hu_scaled_call *call, const hu_type *type) {
  const size_t rows = call->rows, cols = call->cols;
  const float *x = (const float *)(const void *)call->x;
  if (hui_is_elsewhere(call->exec)) return HU_E_DEVICE;
  hu_status status = check_levels(type->scaling);
  if (status == HU_OK)
    status = hui_scaled_made_check(rows, cols, call->codes, (float *)(void *)call->z, call->ldz, x, call->ldx,
                                   type->scaling, call->mode, call->amax, call->stats);
  if (status == HU_OK) status = check_amax(rows, call->amax);
  if (status == HU_OK && rows && cols && call->codes)
    status = check_apart(rows, cols, call->codes, x, call->ldx, type->scaling, call->stats);
  if (status != HU_OK) return status;
  hu_scaled_shape shape = hui_scaled_shape_of(rows, cols, type->scaling);
  for (size_t i = 0; i < rows && status == HU_OK && (cols || call->codes); i++)
    status = make_row(call, type, &shape, i);
  return status;
}

hu_status hui_scaled_rows_decode(hu_scaled_call *call, const hu_type *type) {
  const size_t rows = call->rows, cols = call->cols, ldz = call->ldz;
  float *z = (float *)(void *)call->z;
  if (hui_is_elsewhere(call->exec)) return HU_E_DEVICE;
  hu_status status = check_levels(type->scaling);
  if (status == HU_OK) status = hui_scaled_decode_check(rows, cols, z, ldz, call->codes, type->scaling);
  if (status == HU_OK && rows && cols) status = check_apart(rows, cols, call->codes, z, ldz, type->scaling, NULL);
  if (status == HU_OK)
    status = hui_scaled_codes_check(rows, cols, call->codes, type->scaling, hui_exec_threads(call->exec));
  if (status != HU_OK || cols == 0) return status;
  hu_scaled_shape shape = hui_scaled_shape_of(rows, cols, type->scaling);
  for (size_t i = 0; i < rows; i++) {
    hu_scaled row = row_of(call->codes, &shape, i);
    hui_scaled_decode_run(1, cols, z + i * ldz, ldz, &row, type->scaling, call->exec);
  }
  return HU_OK;
}
