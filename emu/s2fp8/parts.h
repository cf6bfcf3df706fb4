/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/parts.h - a tensor that is given in parts, in ranges of whole parts that threads take. */
#ifndef HALFULP_EMU_S2FP8_PARTS_H
#define HALFULP_EMU_S2FP8_PARTS_H

#include "emu/base/exec.h"
#include "halfulp/s2fp8.h"

typedef struct hu_s2_ranges {
  size_t n, size, count; /* elements of all, of a range (the last one has the rest); ranges, at most HU_THREADS_MAX */
} hu_s2_ranges;

static inline hu_s2_ranges hui_s2_ranges_of(size_t n, const hu_s2fp8_parts *of, const hu_exec *exec) {
  size_t parts = hui_parts(n, of->part), each = hui_parts(parts, hui_exec_threads(exec));
  size_t size = each * of->part;
  hu_s2_ranges ranges = {n, size, hui_parts(n, size)};
  return ranges;
}

static inline size_t hui_s2_range_end(const hu_s2_ranges *ranges, size_t range) {
  return range + 1 < ranges->count ? (range + 1) * ranges->size : ranges->n;
}

#endif
