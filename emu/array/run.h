/* SPDX-License-Identifier: MIT */
/* emu/array/run.h - runs one array conversion between any two kinds of ends; the calls of array.c share it. */
#ifndef HALFULP_EMU_ARRAY_RUN_H
#define HALFULP_EMU_ARRAY_RUN_H

#include "emu/format/view.h"
#include "halfulp/array.h"

/* z[i] = x[i] rounded into z's format. Views are unfolded, that of values that are read apart: z's under the mode. */
void hui_array_run(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec, hu_events *events);

/* z[i] = the value of code x[i], in z's binary32, which holds the grid, or binary64: no rounding. */
void hui_array_decode(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec);

#endif
