/* SPDX-License-Identifier: MIT */
/* emu/array/few.h - a few numbers of binary32 rounded into a format, where kernels would take longer to be prepared
 * than to run. The bits are theirs. */
#ifndef HALFULP_EMU_ARRAY_FEW_H
#define HALFULP_EMU_ARRAY_FEW_H

#include "emu/format/view.h"

enum { HU_FEW = 64 };

/* z[i] = x[i] rounded into z's format, for 1 <= n <= HU_FEW; events may be NULL. Views as in run.h. Returns 0, and has
 * written nothing, where it does not serve. */
int hui_few_run(size_t n, const hu_array_view *z, const hu_array_view *x, hu_events *events);

#endif
