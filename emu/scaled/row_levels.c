/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/scaled_rows.h: the whole matrix is checked, then every row is a call of its own. */
#include "halfulp/scaled_rows.h"

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
static hu_status check_apart(size_t rows, size_t cols, const hu_scaled *z, const float *tensor, const float *x,
                             size_t ldx, const hu_scaling *scaling, const hu_scaled_stats *stats) {
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

typedef struct row_call {
  size_t cols, blocks; /* blocks across */
  hu_scaled_sizes n;
  hu_exec exec;
} row_call;

static row_call call_of(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *exec) {
  row_call call;
  memset(&call, 0, sizeof call);
  call.cols = cols;
  call.n = hu_scaled_sizes_of(rows, cols, scaling);
  call.blocks = call.n.block_cols;
  if (exec)
    call.exec = *exec;
  else
    call.exec.threads = 1;
  return call;
}

/* Returns row i of the codes and scales. */
static hu_scaled row_of(const row_call *call, const hu_scaled *z, float *tensor, size_t i) {
  hu_scaled row = *z;
  row.codes = (uint8_t *)z->codes + i * z->ld * call->n.code_bytes;
  row.scales = (uint8_t *)z->scales + i * z->lds * call->n.scale_bytes;
  row.tensor = tensor + i;
  return row;
}

static hu_exec exec_of(const row_call *call, const hu_exec *exec, size_t i) {
  hu_exec own = call->exec;
  if (exec)
    own.stream.counter += (uint64_t)i * call->cols;
  else
    own.stream.counter = (uint64_t)i * call->cols;
  return own;
}

hu_status hu_scaled_rows_encode(size_t rows, size_t cols, const hu_scaled *z, float *tensor, const float *x, size_t ldx,
                                const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                const hu_exec *exec, hu_events *events) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  hu_status status = check_levels(scaling);
  if (status == HU_OK && !z) status = HU_E_NULL;
  if (status != HU_OK) return status;
  hu_scaled whole = *z;
  whole.tensor = tensor;
  status = hui_scaled_made_check(rows, cols, &whole, NULL, 0, x, ldx, scaling, mode, amax, stats);
  if (status == HU_OK) status = check_amax(rows, amax);
  if (status == HU_OK && rows && cols) status = check_apart(rows, cols, z, tensor, x, ldx, scaling, stats);
  if (status != HU_OK) return status;
  row_call call = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows && status == HU_OK; i++) {
    hu_scaled row = row_of(&call, z, tensor, i);
    hu_exec own = exec_of(&call, exec, i);
    status = hu_scaled_encode(1, cols, &row, x + i * ldx, ldx, scaling, mode, amax ? amax + i : NULL,
                              stats ? stats + i * call.blocks : NULL, &own, events);
  }
  return status;
}

hu_status hu_scaled_rows_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x, const float *tensor,
                                const hu_scaling *scaling, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  hu_status status = check_levels(scaling);
  if (status == HU_OK && !x) status = HU_E_NULL;
  if (status != HU_OK) return status;
  hu_scaled whole = *x;
  whole.tensor = (float *)(uintptr_t)tensor; /* which is only read */
  status = hui_scaled_decode_check(rows, cols, z, ldz, &whole, scaling);
  if (status == HU_OK && rows && cols) status = check_apart(rows, cols, x, tensor, z, ldz, scaling, NULL);
  if (status == HU_OK) status = hui_scaled_codes_check(rows, cols, x, scaling, hui_exec_threads(exec));
  if (status != HU_OK || cols == 0) return status;
  row_call call = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows; i++) {
    hu_scaled row = row_of(&call, &whole, whole.tensor, i);
    hui_scaled_decode_run(1, cols, z + i * ldz, ldz, &row, scaling, exec);
  }
  return HU_OK;
}

hu_status hu_scaled_rows_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                  const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                  const hu_exec *exec, hu_events *events) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  hu_status status = check_levels(scaling);
  if (status == HU_OK) status = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, scaling, mode, amax, stats);
  if (status == HU_OK) status = check_amax(rows, amax);
  if (status != HU_OK) return status;
  row_call call = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows && status == HU_OK && cols; i++) {
    hu_exec own = exec_of(&call, exec, i);
    status = hu_scaled_quantize(1, cols, z + i * ldz, ldz, x + i * ldx, ldx, scaling, mode, amax ? amax + i : NULL,
                                stats ? stats + i * call.blocks : NULL, &own, events);
  }
  return status;
}
