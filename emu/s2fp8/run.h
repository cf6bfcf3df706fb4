/* SPDX-License-Identifier: MIT */
/* emu/s2fp8/run.h - passes over the elements of a shifted and squeezed tensor: what the calls of emu/s2fp8/s2fp8.c
 * share. */
#ifndef HALFULP_EMU_S2FP8_RUN_H
#define HALFULP_EMU_S2FP8_RUN_H

#include "emu/core/s2fp8.h"
#include "emu/s2fp8/kind.h"
#include "halfulp/s2fp8.h"

static inline hu_s2 hu_s2_of(const hu_s2fp8 *kind, int64_t mu, int64_t m, hu_mode mode) {
  hu_s2 t;
  hu_s2_make(&t, kind, mu, m, mode);
  return t;
}

/* Adds to sums. Arguments have been checked, in all of these. */
void hu_s2_sum_run(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, const hu_exec *exec);
/* z: codes of `size` bytes, or values (size 0). */
void hu_s2_run(size_t n, void *z, ptrdiff_t incz, size_t size, const float *x, ptrdiff_t incx, const hu_s2 *map,
               const hu_exec *exec, hu_events *events);
/* Values of contiguous elements by statistics of their own (map without mu and gap), events; 1: done. 0: not for these,
 * and nothing is written. */
int hu_s2_truncate(size_t n, float *z, const float *x, const hu_s2 *map, const hu_exec *exec, hu_events *events);
void hu_s2_undo(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, size_t size, const hu_s2 *map,
                const hu_exec *exec);

#endif
