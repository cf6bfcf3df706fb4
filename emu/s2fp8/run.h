/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/run.h - passes over the elements of a shifted and squeezed tensor: what the calls of emu/s2fp8/s2fp8.c
 * share. */
#ifndef HALFULP_EMU_S2FP8_RUN_H
#define HALFULP_EMU_S2FP8_RUN_H

#include "emu/core/s2fp8.h"
#include "emu/core/s2fp8_table.h"
#include "emu/s2fp8/kind.h"
#include "halfulp/s2fp8.h"

static inline hu_s2 hui_s2_of(const hu_s2fp8 *kind, int64_t mu, int64_t m, hu_mode mode) {
  hu_s2 map;
  hui_s2_make(&map, kind, mu, m, mode);
  return map;
}

enum {
  HU_S2_QUICK_MIN = 16,      /* elements that make a table worth while where binary64 makes it */
  HU_S2_BYPASS_MIN = 1 << 22 /* values from here on are written around the caches */
};

struct hu_s2_lanes;
/* Adds the sums of two tensors to those of one. */
void hui_s2_add_sums(hu_s2fp8_sums *z, const hu_s2fp8_sums *x);
/* Adds to sums. Arguments have been checked, in all of these. */
void hui_s2_sum_run(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, const hu_exec *exec);
/* The table of a map that hui_s2_may_table accepts. */
void hui_s2_fill_table(hu_s2_table *z, const hu_s2 *map, const struct hu_s2_lanes *lanes);
/* z: codes of `size` bytes, or values (size 0). known: the map's table; NULL: one is made where it is worth while. */
void hui_s2_run(size_t n, void *z, ptrdiff_t incz, size_t size, const float *x, ptrdiff_t incx, const hu_s2 *map,
                const hu_s2_table *known, const hu_exec *exec, hu_events *events);
/* Values of contiguous elements by statistics of their own (map without mu and gap), events; 1: done. 0: not for these,
 * and nothing is written. */
int hui_s2_truncate(size_t n, float *z, const float *x, const hu_s2 *map, const hu_exec *exec, hu_events *events);
/* The same of elements that are given in parts; 0: not for these, and none has been taken. */
int hui_s2_truncate_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec, hu_events *events);
/* Adds to sums what all parts hold. */
void hui_s2_sum_parts(size_t n, const hu_s2fp8_parts *of, hu_s2fp8_sums *sums, const hu_exec *exec);
/* hui_s2_run of all parts, which are taken as values. */
void hui_s2_run_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec, hu_events *events);
void hui_s2_undo(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, size_t size, const hu_s2 *map,
                 const hu_exec *exec);

#endif
