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
  hu_status s = hu_scaling_check(scaling, NULL);
  if (s != HU_OK) return s;
  return scaling->tensor && scaling->rows == 1 ? HU_OK : HU_E_SCALING;
}

static hu_status check_amax(size_t rows, const float *amax) {
  for (size_t i = 0; amax && i < rows; i++) {
    uint32_t u = hui_bits_of_float(amax[i]);
    if (u >= 0x7F800000 && u != 0x80000000) return HU_E_SCALING;
  }
  return HU_OK;
}

/* t beside the codes, the scales, the values and the stats, none of which is empty. */
static hu_status check_apart(size_t rows, size_t cols, const hu_scaled *z, const float *t, const float *x, size_t ldx,
                             const hu_scaling *d, const hu_scaled_stats *stats) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, d);
  hu_matrix_extent list[5];
  memset(list, 0, sizeof list);
  hu_status s = hui_matrix_extent_of(&list[0], t, 1, rows, rows, sizeof *t, sizeof *t);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[1], z->codes, rows, cols, z->ld, n.code_bytes, n.code_bytes);
  if (s == HU_OK)
    s = hui_matrix_extent_of(&list[2], z->scales, n.block_rows, n.block_cols, z->lds, n.scale_bytes, n.scale_bytes);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[3], x, rows, cols, ldx, sizeof *x, sizeof *x);
  if (s == HU_OK && stats)
    s = hui_matrix_extent_of(&list[4], stats, n.block_rows, n.block_cols, n.block_cols, sizeof *stats,
                             _Alignof(hu_scaled_stats));
  for (int i = 1; i < 5 && s == HU_OK; i++) {
    if ((i < 4 || stats) && hui_matrix_extents_overlap(&list[0], &list[i])) s = HU_E_OVERLAP;
  }
  return s;
}

/* ---- rows ---- */

typedef struct row_call {
  size_t cols, blocks; /* blocks across */
  hu_scaled_sizes n;
  hu_exec exec;
} row_call;

static row_call call_of(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *exec) {
  row_call c;
  memset(&c, 0, sizeof c);
  c.cols = cols;
  c.n = hu_scaled_sizes_of(rows, cols, scaling);
  c.blocks = c.n.block_cols;
  if (exec)
    c.exec = *exec;
  else
    c.exec.threads = 1;
  return c;
}

/* Row i of the codes and scales. */
static hu_scaled row_of(const row_call *c, const hu_scaled *z, float *t, size_t i) {
  hu_scaled row = *z;
  row.codes = (uint8_t *)z->codes + i * z->ld * c->n.code_bytes;
  row.scales = (uint8_t *)z->scales + i * z->lds * c->n.scale_bytes;
  row.tensor = t + i;
  return row;
}

static hu_exec exec_of(const row_call *c, const hu_exec *exec, size_t i) {
  hu_exec own = c->exec;
  if (exec)
    own.stream.counter += (uint64_t)i * c->cols;
  else
    own.stream.counter = (uint64_t)i * c->cols;
  return own;
}

hu_status hu_scaled_rows_encode(size_t rows, size_t cols, const hu_scaled *z, float *t, const float *x, size_t ldx,
                                const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                const hu_exec *exec, hu_events *events) {
  hu_status s = check_levels(scaling);
  if (s == HU_OK && !z) s = HU_E_NULL;
  if (s != HU_OK) return s;
  hu_scaled whole = *z;
  whole.tensor = t;
  s = hui_scaled_made_check(rows, cols, &whole, NULL, 0, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = check_amax(rows, amax);
  if (s == HU_OK && rows && cols) s = check_apart(rows, cols, z, t, x, ldx, scaling, stats);
  if (s != HU_OK) return s;
  row_call c = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows && s == HU_OK; i++) {
    hu_scaled row = row_of(&c, z, t, i);
    hu_exec own = exec_of(&c, exec, i);
    s = hu_scaled_encode(1, cols, &row, x + i * ldx, ldx, scaling, mode, amax ? amax + i : NULL,
                         stats ? stats + i * c.blocks : NULL, &own, events);
  }
  return s;
}

hu_status hu_scaled_rows_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x, const float *t,
                                const hu_scaling *scaling, const hu_exec *exec) {
  hu_status s = check_levels(scaling);
  if (s == HU_OK && !x) s = HU_E_NULL;
  if (s != HU_OK) return s;
  hu_scaled whole = *x;
  whole.tensor = (float *)(uintptr_t)t; /* which is only read */
  s = hui_scaled_decode_check(rows, cols, z, ldz, &whole, scaling);
  if (s == HU_OK && rows && cols) s = check_apart(rows, cols, x, t, z, ldz, scaling, NULL);
  if (s == HU_OK) s = hui_scaled_codes_check(rows, cols, x, scaling, hui_exec_threads(exec));
  if (s != HU_OK || cols == 0) return s;
  row_call c = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows; i++) {
    hu_scaled row = row_of(&c, &whole, whole.tensor, i);
    hui_scaled_decode_run(1, cols, z + i * ldz, ldz, &row, scaling, exec);
  }
  return HU_OK;
}

hu_status hu_scaled_rows_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                                  const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                                  const hu_exec *exec, hu_events *events) {
  hu_status s = check_levels(scaling);
  if (s == HU_OK) s = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = check_amax(rows, amax);
  if (s != HU_OK) return s;
  row_call c = call_of(rows, cols, scaling, exec);
  for (size_t i = 0; i < rows && s == HU_OK && cols; i++) {
    hu_exec own = exec_of(&c, exec, i);
    s = hu_scaled_quantize(1, cols, z + i * ldz, ldz, x + i * ldx, ldx, scaling, mode, amax ? amax + i : NULL,
                           stats ? stats + i * c.blocks : NULL, &own, events);
  }
  return s;
}
