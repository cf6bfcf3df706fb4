/* SPDX-License-Identifier: MIT */
/* emu/array/few.h - a few numbers of binary32 rounded into a format, where kernels would take longer to be prepared
 * than to run. The bits are theirs. */
#ifndef HALFULP_EMU_ARRAY_FEW_H
#define HALFULP_EMU_ARRAY_FEW_H

#include "emu/format/view.h"

enum { HU_FEW = 64 };

/* z[i] = x[i] rounded into z's format, for 1 <= n <= HU_FEW; events may be NULL. Views as in run.h. Returns 0 where it
 * does not serve: x and the events are as they were then, and z where it is x, or has codes or a stride. */
int hui_few_run(size_t n, const hu_array_view *z, const hu_array_view *x, hu_events *events);

#endif
