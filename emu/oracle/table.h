/* SPDX-License-Identifier: MIT */
/* emu/oracle/table.h - a format as its table of values: which codes are what, and the value of each one.
 *
 * Everything is derived here from the descriptor's axes as docs/numerics.md section 1 words them; no other file of the
 * project takes part. A finite magnitude is significand * 2^exponent with integers, so it is exact. */
#ifndef HALFULP_ORACLE_TABLE_H
#define HALFULP_ORACLE_TABLE_H

#include <stdint.h>

#include "halfulp/format.h"

#define TABLE_NO_CODE UINT64_MAX

typedef struct table {
  hu_format format;
  unsigned width;
  uint32_t code_mask;      /* the `width` low bits */
  uint32_t sign_mask;      /* the sign bit, 0 if unsigned */
  uint32_t magnitude_mask; /* the bits below the sign */
  int bias, emin;
  uint64_t inf_code;           /* magnitude code of infinity, TABLE_NO_CODE if there is none */
  uint64_t nan_code;           /* canonical NaN, all bits, TABLE_NO_CODE if there is none */
  uint32_t min_code, max_code; /* smallest and largest positive finite magnitude codes */
  uint64_t max_index;          /* place of max_code on the rounding grid */
} table;

typedef enum code_class { CODE_FINITE, CODE_INFINITE, CODE_NAN } code_class;

typedef struct magnitude {
  uint32_t significand;
  int exponent;
} magnitude;

/* Returns HU_OK, or HU_E_FORMAT for a descriptor that means nothing (section 1, the list of conditions). */
hu_status table_make(table *values, hu_format format);

/* What a code is. For finite codes *value is its magnitude; *negative its sign (of zeros and infinities too). */
code_class table_read(const table *values, uint32_t code, int *negative, magnitude *value);

/* The grid that results are rounded on, before overflow and flushing: index 0 is zero (or the smallest value where
 * there is no zero), index i + 1 the next larger candidate, without end: codes continue above max as if the exponent
 * field were wider, and the subnormal numbers take part although the format may flush them. Where the grid lacks
 * subnormals (HU_SUBNORMAL_NONE with zero = field) the indices 1 .. 2^m - 1 are not used. */
magnitude table_grid(const table *values, uint64_t index);
/* Index of the grid point that follows. */
uint64_t table_grid_next(const table *values, uint64_t index);
/* 1 if the lower candidate with this index is odd (section 2, parity). */
int table_grid_odd(const table *values, uint64_t index);
/* The magnitude code of a grid point up to max; 0 where it is flushed or has no code. */
uint32_t table_grid_code(const table *values, uint64_t index);
/* The smallest normal value, and 2^emin where there is none (e = 0): results below it are tiny. */
magnitude table_tiny_limit(const table *values);
/* Checks whether this magnitude code stands for a subnormal number. */
int table_is_subnormal(const table *values, uint32_t code);
/* 1 if every finite value is exact in binary32. */
int table_fits_binary32(const table *values);

#endif
