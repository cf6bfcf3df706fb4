/* SPDX-License-Identifier: MIT */
/* emu/base/matrix_view.h - views of matrices, as products take them: settled once, from then on of codes or of binary32
 * values of a format, in rows or, transposed, in columns that lie together. */
#ifndef HALFULP_EMU_BASE_MATRIX_VIEW_H
#define HALFULP_EMU_BASE_MATRIX_VIEW_H

#include "emu/base/matrix_extent.h"
#include "emu/core/round.h"
#include "halfulp/view.h"

/* Returns 1 if there is no matrix: the view is as a record that is all zero has it. */
static inline int hui_matrix_is_absent(const hu_view *x) { return !x->data && x->type.kind == HU_TYPE_NONE; }
/* Returns the matrix that is written as one to read. */
static inline hu_view hui_matrix_written(const hu_output *z) {
  hu_view x = {z->data, z->stride, z->type, z->row};
  return x;
}

/* Makes any numbers of binary32 its values. HU_E_FORMAT: neither codes of a format nor binary32 values. */
static inline hu_status hui_matrix_settle_type(hu_type *type) {
  if (type->reserved) return HU_E_FORMAT;
  if (type->kind == HU_TYPE_BINARY32) {
    type->kind = HU_TYPE_VALUES32;
    type->format = hui_format_binary32();
    type->number = NULL;
  }
  return (type->kind == HU_TYPE_CODES || type->kind == HU_TYPE_VALUES32) && !type->number ? HU_OK : HU_E_FORMAT;
}
/* Makes a single row whose elements lie a row apart one of elements that lie together. HU_E_SHAPE: neither is 1. */
static inline hu_status hui_matrix_settle_place(hu_view *x, size_t rows, size_t cols) {
  if (x->stride < 0 || x->row < 0 || (x->stride != 1 && x->row != 1)) return HU_E_SHAPE;
  if (x->stride == 1 && x->row == 1 && rows <= 1 && cols <= PTRDIFF_MAX) x->row = cols > 1 ? (ptrdiff_t)cols : 1;
  return HU_OK;
}

/* ---- of settled views ---- */

/* Returns 1 if columns lie together, ld apart. */
static inline int hui_matrix_is_transposed(const hu_view *x) { return x->stride != 1; }
static inline size_t hui_matrix_ld(const hu_view *x) { return (size_t)(x->stride == 1 ? x->row : x->stride); }
static inline int hui_matrix_is_codes(const hu_view *x) { return x->type.kind == HU_TYPE_CODES; }
/* Returns the bytes of an element. */
static inline size_t hui_matrix_size(const hu_view *x) {
  return hui_matrix_is_codes(x) ? hui_code_bytes(x->type.format) : 4;
}
/* Returns where element (i, j) of a view with data lies. */
static inline void *hui_matrix_at(const hu_view *x, size_t i, size_t j) {
  ptrdiff_t at = (ptrdiff_t)i * x->row + (ptrdiff_t)j * x->stride;
  return (uint8_t *)(uintptr_t)x->data + at * (ptrdiff_t)hui_matrix_size(x);
}
/* Returns the part of x from (i, j) on. */
static inline hu_view hui_matrix_from(const hu_view *x, size_t i, size_t j) {
  hu_view z = *x;
  if (x->data) z.data = hui_matrix_at(x, i, j);
  return z;
}
/* Returns HU_OK, or what is wrong, with the place of rows x cols elements settled and covered. */
static inline hu_status hui_matrix_cover(hu_matrix_extent *extent, hu_view *x, size_t rows, size_t cols) {
  hu_status status = hui_matrix_settle_place(x, rows, cols);
  if (status != HU_OK) return status;
  int transposed = hui_matrix_is_transposed(x);
  size_t size = hui_matrix_size(x);
  return hui_matrix_extent_of(extent, x->data, transposed ? cols : rows, transposed ? rows : cols, hui_matrix_ld(x),
                              size, size);
}
/* Does the same for a matrix that is written, in rows. */
static inline hu_status hui_matrix_cover_written(hu_matrix_extent *extent, hu_output *z, size_t rows, size_t cols) {
  hu_view x = hui_matrix_written(z);
  hu_status status = z->stride == 1 ? hui_matrix_cover(extent, &x, rows, cols) : HU_E_SHAPE;
  z->row = x.row;
  return status;
}
/* Returns 1 if D is C's own array. */
static inline int hui_matrix_is_same(const hu_output *d, const hu_view *c) {
  return d->data == c->data && c->stride == 1 && d->row == c->row && d->type.kind == c->type.kind &&
         hu_format_equal(d->type.format, c->type.format);
}

#endif
