/* SPDX-License-Identifier: MIT */
/* emu/array/run.h - one array conversion between any two kinds of ends. */
#ifndef HALFULP_EMU_ARRAY_RUN_H
#define HALFULP_EMU_ARRAY_RUN_H

#include "emu/format/view.h"
#include "halfulp/array.h"

/* HU_OP_CONVERT of hu_apply, whose types have been checked (hui_check_conversion) and name no number system. */
hu_status hui_array_convert(size_t n, const hu_output *z, const hu_view *x, const hu_how *how);

/* z[i] = x[i] rounded into z's format. Views are unfolded, that of values that are read apart: z's under the mode. */
void hui_array_run(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec, hu_events *events);

/* z[i] = the value of code x[i], in z's binary32, which holds the grid, or binary64: no rounding. */
void hui_array_decode(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec);

#endif
