/* SPDX-License-Identifier: MIT */
/* The ways of hu_scaled_apply, and the packed layout: check everything, then run. The checks serve the CUDA calls, too
 * (emu/scaled/check.h). */
#include "halfulp/scaled.h"

#include "emu/array/pack.h"
#include "emu/base/codes.h"
#include "emu/base/device_calls.h"
#include "emu/base/matrix_extent.h"
#include "emu/core/bits.h"
#include "emu/simd/convert.h"
#include "emu/scaled/call.h"
#include "emu/scaled/check.h"

/* ---- what is where ---- */

static int all_apart(const hu_matrix_extent *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) {
      if (hui_matrix_extents_overlap(&list[i], &list[k])) return 0;
    }
  }
  return 1;
}

/* Writes codes, scales and tensor scale into three entries of the list; none where nothing is stored. */
static hu_status cover_scaled(hu_matrix_extent list[3], const hu_scaled_call *call) {
  hu_scaled_shape shape = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  const hu_scaled *z = call->codes;
  hu_status status =
      hui_matrix_extent_of(&list[0], z->codes, call->rows, call->cols, z->ld, shape.code_size, shape.code_size);
  if (status == HU_OK) {
    status = hui_matrix_extent_of(&list[1], z->scales, shape.block_rows, shape.block_cols, z->lds, shape.scale_size,
                                  shape.scale_size);
  }
  memset(&list[2], 0, sizeof list[2]);
  if (status != HU_OK || !call->scaling.tensor) return status;
  return hui_matrix_extent_of(&list[2], z->tensor, 1, 1, 1, sizeof(float), sizeof(float));
}

static hu_status check_amax(const hu_scaled_call *call) {
  if (!call->amax) return HU_OK;
  if (!call->scaling.tensor && (call->scaling.rows || call->scaling.cols)) return HU_E_SCALING;
  return (uintptr_t)call->amax % sizeof(float) ? HU_E_ALIGN : HU_OK;
}

/* Checks the number itself, which lies on the host in the CPU's calls alone. */
static hu_status check_amax_value(const float *amax) {
  uint32_t bits = amax ? hui_bits_of_float(*amax) : 0;
  return bits < 0x7F800000 || bits == 0x80000000 ? HU_OK : HU_E_SCALING;
}

static hu_status check_stats(hu_matrix_extent *a, const hu_scaled_call *call) {
  memset(a, 0, sizeof *a);
  if (!call->stats) return HU_OK;
  hu_scaled_shape shape = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  return hui_matrix_extent_of(a, call->stats, shape.block_rows, shape.block_cols, shape.block_cols, sizeof *call->stats,
                              _Alignof(hu_scaled_stats));
}

static hu_status check_scaling(hu_scaler *scaler, const hu_scaling *scaling, hu_mode mode) {
  hu_status status = hui_scaling_unfold(scaler, scaling, mode, NULL);
  return status == HU_OK ? hu_mode_check(mode) : status;
}

static hu_status check_empty(const hu_scaled_call *call) {
  if (!call->scaling.tensor || !call->codes) return HU_OK;
  if (!call->codes->tensor) return HU_E_NULL;
  return (uintptr_t)call->codes->tensor % sizeof(float) ? HU_E_ALIGN : HU_OK;
}

/* Lists everything written, and then x. */
static hu_status check_made(const hu_scaled_call *call) {
  hu_matrix_extent list[6];
  memset(list, 0, sizeof list);
  hu_status status = check_amax(call);
  if (status != HU_OK) return status;
  if (call->rows == 0 || call->cols == 0) return check_empty(call);
  if (call->codes) status = cover_scaled(list, call);
  if (status == HU_OK && call->z)
    status = hui_matrix_extent_of(&list[3], call->z, call->rows, call->cols, call->ldz, 4, 4);
  if (status == HU_OK) status = check_stats(&list[4], call);
  if (status == HU_OK) status = hui_matrix_extent_of(&list[5], call->x, call->rows, call->cols, call->ldx, 4, 4);
  if (status != HU_OK) return status;
  int in_place = call->z == call->x && call->ldz == call->ldx;
  if (in_place) memset(&list[3], 0, sizeof list[3]);
  return all_apart(list, 6) ? HU_OK : HU_E_OVERLAP;
}

hu_status hui_scaled_made_check(size_t rows, size_t cols, const hu_scaled *codes, const float *z, size_t ldz,
                                const float *x, size_t ldx, const hu_scaling *scaling, hu_mode mode, const float *amax,
                                const hu_scaled_stats *stats) {
  hu_scaler scaler;
  hu_status status = check_scaling(&scaler, scaling, mode);
  if (status != HU_OK) return status;
  if (!codes && !z && rows && cols) return HU_E_NULL;
  hu_scaled_call call = {.rows = rows,
                         .cols = cols,
                         .scaling = *scaling,
                         .x = (const uint32_t *)(const void *)x,
                         .ldx = ldx,
                         .z = (uint32_t *)(uintptr_t)z,
                         .ldz = ldz,
                         .codes = codes,
                         .amax = amax,
                         .stats = (hu_scaled_stats *)(uintptr_t)stats};
  return check_made(&call);
}

size_t hu_scaled_work_size(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *exec) {
  return hui_is_elsewhere(exec) ? HUI_BYTES_THERE(exec, scaled_work, (rows, cols, scaling, exec)) : 0;
}

static hu_status make_there(const hu_scaled_call *call, const hu_scaling *scaling) {
  const float *x = (const float *)(const void *)call->x;
  if (call->codes)
    return HUI_THERE(call->exec, scaled_encode,
                     (call->rows, call->cols, call->codes, x, call->ldx, scaling, call->mode, call->amax, call->stats,
                      call->exec, call->events));
  return HUI_THERE(call->exec, scaled_quantize,
                   (call->rows, call->cols, (float *)(void *)call->z, call->ldz, x, call->ldx, scaling, call->mode,
                    call->amax, call->stats, call->exec, call->events));
}

hu_status hui_scaled_make(hu_scaled_call *call, const hu_type *type) {
  if (hui_is_elsewhere(call->exec)) return make_there(call, type->scaling);
  hu_scaler scaler;
  hu_status status = check_scaling(&scaler, type->scaling, call->mode);
  if (status != HU_OK) return status;
  if (!call->codes && !call->z && call->rows && call->cols) return HU_E_NULL;
  call->scaling = *type->scaling;
  status = check_made(call);
  if (status == HU_OK) status = check_amax_value(call->amax);
  if (status == HU_OK) hui_scaled_run(call, &scaler);
  return status;
}

hu_status hui_scaled_decode_check(size_t rows, size_t cols, const float *z, size_t ldz, const hu_scaled *x,
                                  const hu_scaling *scaling) {
  hu_mode rne = {0};
  hu_matrix_extent list[4];
  hu_scaler scaler;
  hu_status status = check_scaling(&scaler, scaling, rne);
  if (status != HU_OK) return status;
  if (!x) return HU_E_NULL;
  if (rows == 0 || cols == 0) return HU_OK;
  hu_scaled_call call = {.rows = rows, .cols = cols, .scaling = *scaling, .mode = rne, .codes = x};
  status = cover_scaled(list, &call);
  if (status == HU_OK) status = hui_matrix_extent_of(&list[3], z, rows, cols, ldz, 4, 4);
  for (size_t i = 0; i < 3 && status == HU_OK; i++) {
    if (hui_matrix_extents_overlap(&list[i], &list[3])) status = HU_E_OVERLAP;
  }
  return status;
}

/* Elements in two's complement are integers. */
hu_code_area hui_scaled_elements_of(size_t rows, size_t cols, const void *codes, size_t ld, const hu_scaling *scaling) {
  hu_code_area x = hui_code_rows_of(rows, cols, codes, ld, scaling->element);
  x.is_signed = scaling->coding == HU_CODING_TWOS;
  return x;
}

hu_code_area hui_scaled_scales_of(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *scaling) {
  size_t down = rows && cols ? hui_blocks_along(rows, scaling->rows) : 0,
         across = down ? hui_blocks_along(cols, scaling->cols) : 0;
  return hui_code_rows_of(down, across, x->scales, x->lds, scaling->scale);
}

hu_status hui_scaled_codes_check(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *scaling,
                                 uint32_t threads) {
  hu_code_area elements = hui_scaled_elements_of(rows, cols, x->codes, x->ld, scaling);
  hu_code_area scales = hui_scaled_scales_of(rows, cols, x, scaling);
  hu_status status = hui_code_area_check(&elements, threads);
  return status == HU_OK ? hui_code_area_check(&scales, threads) : status;
}

void hui_scaled_decode_run(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                           const hu_scaling *scaling, const hu_exec *exec) {
  hu_mode rne = {0};
  hu_scaled_call call = {.rows = rows,
                         .cols = cols,
                         .scaling = *scaling,
                         .mode = rne,
                         .z = (uint32_t *)(void *)z,
                         .ldz = ldz,
                         .codes = x,
                         .exec = exec};
  hui_scaled_undo(&call);
}

hu_status hui_scaled_decode(hu_scaled_call *call, const hu_type *type) {
  float *z = (float *)(void *)call->z;
  const size_t rows = call->rows, cols = call->cols;
  if (hui_is_elsewhere(call->exec))
    return HUI_THERE(call->exec, scaled_decode, (rows, cols, z, call->ldz, call->codes, type->scaling, call->exec));
  hu_status status = hui_scaled_decode_check(rows, cols, z, call->ldz, call->codes, type->scaling);
  if (status == HU_OK)
    status = hui_scaled_codes_check(rows, cols, call->codes, type->scaling, hui_exec_threads(call->exec));
  if (status == HU_OK) hui_scaled_decode_run(rows, cols, z, call->ldz, call->codes, type->scaling, call->exec);
  return status;
}

/* ---- the packed layout ---- */

hu_status hui_scaled_pack_check(hu_scaled_sizes *sizes, size_t rows, size_t cols, const uint8_t *wide, size_t ld,
                                const uint8_t *dense, const hu_scaling *scaling) {
  hu_matrix_extent a, b;
  if (!scaling) return HU_E_NULL;
  hu_status status = hu_scaling_check(scaling, NULL);
  if (status != HU_OK) return status;
  if (1u + scaling->element.e + scaling->element.m > 8) return HU_E_SHAPE;
  *sizes = hu_scaled_sizes_of(rows, cols, scaling);
  if (rows == 0 || cols == 0) return HU_OK;
  status = hui_matrix_extent_of(&a, wide, rows, cols, ld, 1, 1);
  if (status == HU_OK)
    status = sizes->packed > PTRDIFF_MAX ? HU_E_SHAPE
                                         : hui_matrix_extent_of(&b, dense, 1, sizes->packed, sizes->packed, 1, 1);
  if (status != HU_OK) return status;
  return hui_matrix_extents_overlap(&a, &b) ? HU_E_OVERLAP : HU_OK;
}

hu_status hu_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld, const hu_scaling *scaling,
                         const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, scaled_pack, (rows, cols, z, x, ld, scaling, exec));
  hu_scaled_sizes sizes;
  hu_status status = hui_scaled_pack_check(&sizes, rows, cols, x, ld, z, scaling);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  hu_code_area codes = hui_scaled_elements_of(rows, cols, x, ld, scaling);
  status = hui_code_area_check(&codes, 1);
  if (status != HU_OK) return status;
  memset(z, 0, sizes.packed);
  for (size_t i = 0; i < rows; i++) hui_pack_run(cols, z + i * sizes.packed_row, x + i * ld, codes.width);
  return HU_OK;
}

hu_status hu_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x, const hu_scaling *scaling,
                           const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, scaled_unpack, (rows, cols, z, ld, x, scaling, exec));
  hu_scaled_sizes sizes;
  hu_status status = hui_scaled_pack_check(&sizes, rows, cols, z, ld, x, scaling);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  unsigned width = 1u + scaling->element.e + scaling->element.m;
  for (size_t i = 0; i < rows && status == HU_OK; i++)
    status = hu_unpack_n(cols, z + i * ld, x + i * sizes.packed_row, width, NULL);
  return status;
}
