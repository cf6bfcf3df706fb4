/* SPDX-License-Identifier: MIT */
/* emu/array/run.h - runs one array conversion between any two kinds of ends; the calls of array.c share it. */
#ifndef HALFULP_EMU_ARRAY_RUN_H
#define HALFULP_EMU_ARRAY_RUN_H

#include "emu/core/round.h"
#include "halfulp/array.h"

/* What the elements of an array are. */
enum { HU_ARRAY_END_BINARY32 = 0, HU_ARRAY_END_BINARY64 = 1, HU_ARRAY_END_CODES = 2 };

typedef struct hu_array_end {
  int kind;
  size_t size;      /* bytes of an element */
  ptrdiff_t stride; /* elements */
  hu_format format; /* of the codes; of the grid, for values */
} hu_array_end;

/* z[i] = x[i] rounded into fz's format. Arguments have been checked. */
void hui_array_run(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, hu_mode mode,
                   const hu_exec *exec, hu_events *events);

/* z[i] = the value of code x[i] in ez's binary32 (which holds the grid) or binary64: no rounding. */
void hui_array_decode(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, const hu_exec *exec);

#endif
