/* SPDX-License-Identifier: MIT */
/* files/npy.h - NumPy's .npy format, versions 1.0, 2.0 and 3.0: arrays of any shape of float16, 32 and 64, of int8 and
 * uint8 to int64 and uint64, and of bool.
 *
 * The reader is a pure function over bytes: it never reads outside them, and accepts a file only if it can interpret
 * every byte. */
#ifndef HALFULP_FILES_NPY_H
#define HALFULP_FILES_NPY_H

#include <stddef.h>
#include <stdint.h>

enum { NPY_DIMS_MAX = 64, NPY_ERROR_MAX = 160, NPY_HEADER_MAX = 1 << 16 };

typedef struct npy_info {
  char kind;    /* 'f', 'i' (signed), 'u' (unsigned) or 'b' (bool: a byte, 0 or 1) */
  uint8_t size; /* bytes of an element: 1, 2, 4 or 8 */
  uint8_t big;  /* 1: big endian (never set for one byte) */
  uint8_t fortran;
  uint8_t whole; /* of npy_parse_codes: 1: int8, int16 or int32, which may be values, too */
  uint32_t dims;
  size_t shape[NPY_DIMS_MAX];
  size_t count;  /* product of shape; 1 for a 0-dimensional array */
  size_t offset; /* of the data in the file */
  const char
      *named; /* of npy_parse_codes: a type of ml_dtypes that stands by its name in place of a dtype; else NULL */
} npy_info;

/* Returns 1 and *info, or 0 and a sentence in error. */
int npy_parse(npy_info *info, const uint8_t *bytes, size_t size, char error[NPY_ERROR_MAX]);

/* The same for a file of codes. Of NumPy's arrays of the types of ml_dtypes it has the bytes, but not the type: their
 * dtypes are V1, V2 and f1, or in files of other writers a name ("bfloat16"). All are kind 'u' here, and so are int8,
 * int16 and int32, which hold the bits of codes where these are codes. */
int npy_parse_codes(npy_info *info, const uint8_t *bytes, size_t size, char error[NPY_ERROR_MAX]);

/* Writes the header (magic included, padded to a multiple of 64) of a little-endian file; returns its length, at most
 * NPY_HEADER_ROOM. */
enum { NPY_HEADER_ROOM = 64 * 24 + 256 };
size_t npy_header(char *header, const npy_info *info);

/* Return "float32", "uint8", "bool"; "(3, 4)" in text. */
const char *npy_dtype(const npy_info *info);
enum { NPY_SHAPE_MAX = 64 * 22 + 4 };
const char *npy_shape(char text[NPY_SHAPE_MAX], const npy_info *info);

#endif
