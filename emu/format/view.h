/* SPDX-License-Identifier: MIT */
/* emu/format/view.h - an array as the inside of a call takes it: where it lies, what its elements are, and what follows
 * from their format. A call describes its arrays, unfolds each once, which refuses or fills in the spec, and then looks
 * at their memory (hui_check_pair); whatever runs afterwards takes views, and neither checks nor unfolds. */
#ifndef HALFULP_EMU_FORMAT_VIEW_H
#define HALFULP_EMU_FORMAT_VIEW_H

#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/format/unfold.h"

/* What the elements are. Values lie on the grid of a format, or are any numbers. */
enum { HU_VIEW_BINARY32 = 0, HU_VIEW_BINARY64 = 1, HU_VIEW_CODES = 2 };

typedef struct hu_array_view {
  const void *data;
  size_t size;      /* bytes of an element */
  ptrdiff_t stride; /* elements */
  int kind;
  hu_format format; /* of the codes; of the grid, for values that a call rounds */
  hu_spec spec;     /* the format unfolded, once hui_view_unfold has been asked */
} hu_array_view;

/* Describe an array, in place: a compiler copies the unset spec of a record that is returned about, which a small call
 * would notice. */
static inline void hui_view_grid(hu_array_view *view, int kind, const void *data, ptrdiff_t stride,
                                 const hu_format *format) {
  view->data = data;
  view->size = kind == HU_VIEW_CODES ? hui_code_bytes(*format) : kind == HU_VIEW_BINARY64 ? 8 : 4;
  view->stride = stride;
  view->kind = kind;
  view->format = *format;
}
static inline void hui_view_codes(hu_array_view *view, const void *data, ptrdiff_t stride, const hu_format *format) {
  hui_view_grid(view, HU_VIEW_CODES, data, stride, format);
}
static inline void hui_view_values(hu_array_view *view, int kind, const void *data, ptrdiff_t stride) {
  view->data = data;
  view->size = kind == HU_VIEW_BINARY64 ? 8 : 4;
  view->stride = stride;
  view->kind = kind;
}

/* HU_OK or HU_E_FORMAT. mode: of a result; of what is read, {0}. */
static inline hu_status hui_view_unfold(hu_array_view *view, hu_mode mode) {
  return hui_format_unfold(&view->spec, &view->format, mode);
}
static inline hu_status hui_view_unfold_source(hu_array_view *view) {
  hu_mode rne = {0};
  return hui_view_unfold(view, rne);
}

static inline hu_strided hui_view_memory(const hu_array_view *view) {
  hu_strided memory = {view->data, view->size, view->stride};
  return memory;
}
/* HU_E_CODE where one of n codes has bits above its width. */
static inline hu_status hui_view_check_codes(size_t n, const hu_array_view *view, uint32_t threads) {
  return hui_code_array_check(n, view->data, view->stride, view->format, threads);
}

#endif
