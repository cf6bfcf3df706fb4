/* SPDX-License-Identifier: MIT */
/* emu/base/codes.h - asks whether codes that a call is about to read have no bits above their width. */
#ifndef HALFULP_EMU_BASE_CODES_H
#define HALFULP_EMU_BASE_CODES_H

#include <stddef.h>

#include "emu/core/round.h"
#include "halfulp/view.h"

/* Codes as a call reads them: element (i, j) is at i pitch + j step. Where they lie has been checked. */
typedef struct hu_code_area {
  const void *data;
  size_t rows, cols;
  ptrdiff_t pitch, step; /* elements, any */
  size_t size;           /* bytes of a code */
  uint32_t width;        /* bits of a code */
  int is_signed;         /* 1: an integer whose upper bits may repeat its sign */
} hu_code_area;

/* Is a pattern of the storage a code: without bits above the width, or an integer that repeats its sign there? Counted
 * from the least integer on, the negative ones and the 2^width patterns without such bits are the first. The storage
 * is wider than the codes. */
HU_FN int hui_code_fits(const hu_code_area *area, uint32_t pattern) {
  uint32_t half = area->is_signed ? (uint32_t)1 << (area->width - 1) : 0,
           all = ~(uint32_t)0 >> (32 - 8 * (uint32_t)area->size);
  return ((pattern + half) & all) < ((uint32_t)1 << area->width) + half;
}

/* Are there codes, and can one be none? */
static inline int hui_codes_have_room(const hu_code_area *area) {
  return area->rows && area->cols && area->width < 8 * (uint32_t)area->size;
}

/* Gives the type that calls on codes read: binary32 as codes of its format, others as they are. */
static inline hu_type hui_codes_type(const hu_type *type) {
  return type->kind == HU_TYPE_BINARY32 && !type->reserved ? hu_type_codes(hui_format_binary32()) : *type;
}

#ifdef __cplusplus
extern "C" {
#endif

/* The same codes, each once, in rows that are as much one piece as they can be; pitch 0 where there is one row. */
hu_code_area hui_code_area_in_order(hu_code_area area);
/* HU_OK; HU_E_CODE: one has a bit above its width. Where the width fills the storage nothing is read. */
hu_status hui_code_area_check(const hu_code_area *area, uint32_t threads);

#ifdef __cplusplus
}
#endif

/* The same for one code of format, given by value. */
static inline hu_status hui_code_check(uint32_t code, hu_format format) {
  uint32_t width = (uint32_t)format.sign + format.e + format.m;
  return width < 32 && code >> width ? HU_E_CODE : HU_OK;
}

/* n codes of format, `stride` apart; rows of codes of format, `ld` apart. */
static inline hu_code_area hui_code_array_of(size_t n, const void *x, ptrdiff_t stride, hu_format format) {
  hu_code_area all = {x, 1, n, 0, stride, hui_code_bytes(format), (uint32_t)format.sign + format.e + format.m, 0};
  return all;
}
static inline hu_code_area hui_code_rows_of(size_t rows, size_t cols, const void *x, size_t ld, hu_format format) {
  hu_code_area all = {
      x, rows, cols, (ptrdiff_t)ld, 1, hui_code_bytes(format), (uint32_t)format.sign + format.e + format.m, 0};
  return all;
}

static inline hu_status hui_code_array_check(size_t n, const void *x, ptrdiff_t stride, hu_format format,
                                             uint32_t threads) {
  hu_code_area all = hui_code_array_of(n, x, stride, format);
  return hui_code_area_check(&all, threads);
}
static inline hu_status hui_code_rows_check(size_t rows, size_t cols, const void *x, size_t ld, hu_format format,
                                            uint32_t threads) {
  hu_code_area all = hui_code_rows_of(rows, cols, x, ld, format);
  return hui_code_area_check(&all, threads);
}

#endif
