/* SPDX-License-Identifier: MIT */
/* emu/base/codes.h - asks whether codes that a call is about to read have no bits above their width. */
#ifndef HALFULP_EMU_BASE_CODES_H
#define HALFULP_EMU_BASE_CODES_H

#include <stddef.h>

#include "emu/core/round.h"
#include "halfulp/status.h"

/* Codes as a call reads them: element (i, j) is at i pitch + j step. Where they lie has been checked. */
typedef struct hu_code_area {
  const void *data;
  size_t rows, cols;
  ptrdiff_t pitch, step; /* elements, any */
  size_t size;           /* bytes of a code */
  uint32_t width;        /* bits of a code */
  int is_signed;         /* 1: an integer whose upper bits may repeat its sign */
} hu_code_area;

/* HU_OK; HU_E_CODE: one has a bit above its width. Where the width fills the storage nothing is read. */
hu_status hu_code_area_check(const hu_code_area *x, uint32_t threads);

/* The same for one code of f, given by value. */
static inline hu_status hu_code_check(uint32_t code, hu_format f) {
  uint32_t width = (uint32_t)f.sign + f.e + f.m;
  return width < 32 && code >> width ? HU_E_CODE : HU_OK;
}

/* The same for n codes of f, `stride` apart. */
static inline hu_status hu_code_array_check(size_t n, const void *x, ptrdiff_t stride, hu_format f, uint32_t threads) {
  hu_code_area all = {x, 1, n, 0, stride, hu_code_bytes(f), (uint32_t)f.sign + f.e + f.m, 0};
  return hu_code_area_check(&all, threads);
}

/* The same for rows of codes of f, `ld` apart. */
static inline hu_status hu_code_rows_check(size_t rows, size_t cols, const void *x, size_t ld, hu_format f,
                                           uint32_t threads) {
  hu_code_area all = {x, rows, cols, (ptrdiff_t)ld, 1, hu_code_bytes(f), (uint32_t)f.sign + f.e + f.m, 0};
  return hu_code_area_check(&all, threads);
}

#endif
