/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/scaled.h: check everything, then run. The checks serve the CUDA calls, too
 * (emu/scaled/check.h). */
#include "halfulp/scaled.h"

#include "emu/array/pack.h"
#include "emu/base/codes.h"
#include "emu/base/exec.h"
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

/* Codes, scales and tensor scale into three entries of the list; none where nothing is stored. */
static hu_status cover_scaled(hu_matrix_extent list[3], const hu_scaled_call *c) {
  hu_scaled_sizes n = hu_scaled_sizes_of(c->rows, c->cols, &c->scaling);
  const hu_scaled *z = c->codes;
  hu_status s = hui_matrix_extent_of(&list[0], z->codes, c->rows, c->cols, z->ld, n.code_bytes, n.code_bytes);
  if (s == HU_OK) {
    s = hui_matrix_extent_of(&list[1], z->scales, n.block_rows, n.block_cols, z->lds, n.scale_bytes, n.scale_bytes);
  }
  memset(&list[2], 0, sizeof list[2]);
  if (s != HU_OK || !c->scaling.tensor) return s;
  return hui_matrix_extent_of(&list[2], z->tensor, 1, 1, 1, sizeof(float), sizeof(float));
}

static hu_status check_amax(const hu_scaled_call *c) {
  if (!c->amax) return HU_OK;
  if (!c->scaling.tensor && (c->scaling.rows || c->scaling.cols)) return HU_E_SCALING;
  return (uintptr_t)c->amax % sizeof(float) ? HU_E_ALIGN : HU_OK;
}

/* The number itself, which lies on the host in the CPU's calls alone. */
static hu_status check_amax_value(const float *amax) {
  uint32_t u = amax ? hui_bits_of_float(*amax) : 0;
  return u < 0x7F800000 || u == 0x80000000 ? HU_OK : HU_E_SCALING;
}

static hu_status check_stats(hu_matrix_extent *a, const hu_scaled_call *c) {
  memset(a, 0, sizeof *a);
  if (!c->stats) return HU_OK;
  hu_scaled_sizes n = hu_scaled_sizes_of(c->rows, c->cols, &c->scaling);
  return hui_matrix_extent_of(a, c->stats, n.block_rows, n.block_cols, n.block_cols, sizeof *c->stats,
                              _Alignof(hu_scaled_stats));
}

static hu_status check_scaling(const hu_scaling *scaling, hu_mode mode) {
  if (!scaling) return HU_E_NULL;
  hu_status s = hu_scaling_check(scaling, NULL);
  if (s != HU_OK) return s;
  return hu_mode_check(mode);
}

static hu_status check_empty(const hu_scaled_call *c) {
  if (!c->scaling.tensor || !c->codes) return HU_OK;
  if (!c->codes->tensor) return HU_E_NULL;
  return (uintptr_t)c->codes->tensor % sizeof(float) ? HU_E_ALIGN : HU_OK;
}

/* Lists everything written, and x at last. */
static hu_status check_made(const hu_scaled_call *c) {
  hu_matrix_extent list[6];
  memset(list, 0, sizeof list);
  hu_status s = check_amax(c);
  if (s != HU_OK) return s;
  if (c->rows == 0 || c->cols == 0) return check_empty(c);
  if (c->codes) s = cover_scaled(list, c);
  if (s == HU_OK && c->z) s = hui_matrix_extent_of(&list[3], c->z, c->rows, c->cols, c->ldz, 4, 4);
  if (s == HU_OK) s = check_stats(&list[4], c);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[5], c->x, c->rows, c->cols, c->ldx, 4, 4);
  if (s != HU_OK) return s;
  int in_place = c->z == c->x && c->ldz == c->ldx;
  if (in_place) memset(&list[3], 0, sizeof list[3]);
  return all_apart(list, 6) ? HU_OK : HU_E_OVERLAP;
}

/* What a call that makes a scaled tensor takes; what it gives is still to be set. */
static hu_scaled_call call_of(size_t rows, size_t cols, const float *x, size_t ldx, const hu_scaling *scaling,
                              hu_mode mode, const float *amax) {
  return (hu_scaled_call){.rows = rows,
                          .cols = cols,
                          .scaling = *scaling,
                          .mode = mode,
                          .x = (const uint32_t *)(const void *)x,
                          .ldx = ldx,
                          .amax = amax};
}

hu_status hui_scaled_made_check(size_t rows, size_t cols, const hu_scaled *codes, const float *z, size_t ldz,
                                const float *x, size_t ldx, const hu_scaling *scaling, hu_mode mode, const float *amax,
                                const hu_scaled_stats *stats) {
  hu_status s = check_scaling(scaling, mode);
  if (s != HU_OK) return s;
  if (!codes && !z && rows && cols) return HU_E_NULL;
  hu_scaled_call c = call_of(rows, cols, x, ldx, scaling, mode, amax);
  c.z = (uint32_t *)(uintptr_t)z;
  c.ldz = ldz;
  c.codes = codes;
  c.stats = (hu_scaled_stats *)(uintptr_t)stats;
  return check_made(&c);
}

hu_status hu_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x, size_t ldx,
                           const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                           const hu_exec *exec, hu_events *events) {
  hu_status s = hui_scaled_made_check(rows, cols, z, NULL, 0, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = z ? check_amax_value(amax) : HU_E_NULL;
  if (s != HU_OK) return s;
  hu_scaled_call c = call_of(rows, cols, x, ldx, scaling, mode, amax);
  c.codes = z;
  c.stats = stats;
  c.exec = exec;
  c.events = events;
  hui_scaled_run(&c);
  return HU_OK;
}

hu_status hu_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                             const hu_scaling *scaling, hu_mode mode, const float *amax, hu_scaled_stats *stats,
                             const hu_exec *exec, hu_events *events) {
  hu_status s = hui_scaled_made_check(rows, cols, NULL, z, ldz, x, ldx, scaling, mode, amax, stats);
  if (s == HU_OK) s = check_amax_value(amax);
  if (s != HU_OK) return s;
  hu_scaled_call c = call_of(rows, cols, x, ldx, scaling, mode, amax);
  c.z = (uint32_t *)(void *)z;
  c.ldz = ldz;
  c.stats = stats;
  c.exec = exec;
  c.events = events;
  hui_scaled_run(&c);
  return HU_OK;
}

hu_status hui_scaled_decode_check(size_t rows, size_t cols, const float *z, size_t ldz, const hu_scaled *x,
                                  const hu_scaling *scaling) {
  hu_mode rne = {0};
  hu_matrix_extent list[4];
  hu_status s = check_scaling(scaling, rne);
  if (s != HU_OK) return s;
  if (!x) return HU_E_NULL;
  if (rows == 0 || cols == 0) return HU_OK;
  hu_scaled_call c = {.rows = rows, .cols = cols, .scaling = *scaling, .mode = rne, .codes = x};
  s = cover_scaled(list, &c);
  if (s == HU_OK) s = hui_matrix_extent_of(&list[3], z, rows, cols, ldz, 4, 4);
  for (size_t i = 0; i < 3 && s == HU_OK; i++) {
    if (hui_matrix_extents_overlap(&list[i], &list[3])) s = HU_E_OVERLAP;
  }
  return s;
}

/* Elements in two's complement are integers. */
hu_code_area hui_scaled_elements_of(size_t rows, size_t cols, const void *codes, size_t ld, const hu_scaling *d) {
  hu_code_area x = hui_code_rows_of(rows, cols, codes, ld, d->element);
  x.is_signed = d->coding == HU_CODING_TWOS;
  return x;
}

hu_code_area hui_scaled_scales_of(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *d) {
  size_t down = rows && cols ? hui_blocks_along(rows, d->rows) : 0, across = down ? hui_blocks_along(cols, d->cols) : 0;
  return hui_code_rows_of(down, across, x->scales, x->lds, d->scale);
}

hu_status hui_scaled_codes_check(size_t rows, size_t cols, const hu_scaled *x, const hu_scaling *d, uint32_t threads) {
  hu_code_area elements = hui_scaled_elements_of(rows, cols, x->codes, x->ld, d);
  hu_code_area scales = hui_scaled_scales_of(rows, cols, x, d);
  hu_status s = hui_code_area_check(&elements, threads);
  return s == HU_OK ? hui_code_area_check(&scales, threads) : s;
}

void hui_scaled_decode_run(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                           const hu_scaling *scaling, const hu_exec *exec) {
  hu_mode rne = {0};
  hu_scaled_call c = {.rows = rows,
                      .cols = cols,
                      .scaling = *scaling,
                      .mode = rne,
                      .z = (uint32_t *)(void *)z,
                      .ldz = ldz,
                      .codes = x,
                      .exec = exec};
  hui_scaled_undo(&c);
}

hu_status hu_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz, const hu_scaled *x,
                           const hu_scaling *scaling, const hu_exec *exec) {
  hu_status s = hui_scaled_decode_check(rows, cols, z, ldz, x, scaling);
  if (s == HU_OK) s = hui_scaled_codes_check(rows, cols, x, scaling, hui_exec_threads(exec));
  if (s == HU_OK) hui_scaled_decode_run(rows, cols, z, ldz, x, scaling, exec);
  return s;
}

/* ---- the packed layout ---- */

hu_status hui_scaled_pack_check(hu_scaled_sizes *n, size_t rows, size_t cols, const uint8_t *wide, size_t ld,
                                const uint8_t *dense, const hu_scaling *d) {
  hu_matrix_extent a, b;
  if (!d) return HU_E_NULL;
  hu_status s = hu_scaling_check(d, NULL);
  if (s != HU_OK) return s;
  if (1u + d->element.e + d->element.m > 8) return HU_E_SHAPE;
  *n = hu_scaled_sizes_of(rows, cols, d);
  if (rows == 0 || cols == 0) return HU_OK;
  s = hui_matrix_extent_of(&a, wide, rows, cols, ld, 1, 1);
  if (s == HU_OK)
    s = n->packed > PTRDIFF_MAX ? HU_E_SHAPE : hui_matrix_extent_of(&b, dense, 1, n->packed, n->packed, 1, 1);
  if (s != HU_OK) return s;
  return hui_matrix_extents_overlap(&a, &b) ? HU_E_OVERLAP : HU_OK;
}

hu_status hu_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld, const hu_scaling *scaling) {
  hu_scaled_sizes n;
  hu_status s = hui_scaled_pack_check(&n, rows, cols, x, ld, z, scaling);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  hu_code_area codes = hui_scaled_elements_of(rows, cols, x, ld, scaling);
  s = hui_code_area_check(&codes, 1);
  if (s != HU_OK) return s;
  memset(z, 0, n.packed);
  for (size_t i = 0; i < rows; i++) hui_pack_run(cols, z + i * n.packed_row, x + i * ld, codes.width);
  return HU_OK;
}

hu_status hu_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                           const hu_scaling *scaling) {
  hu_scaled_sizes n;
  hu_status s = hui_scaled_pack_check(&n, rows, cols, z, ld, x, scaling);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  unsigned width = 1u + scaling->element.e + scaling->element.m;
  for (size_t i = 0; i < rows && s == HU_OK; i++) s = hu_unpack_n(cols, z + i * ld, x + i * n.packed_row, width);
  return s;
}
