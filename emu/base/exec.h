/* SPDX-License-Identifier: MIT */
/* emu/base/exec.h - what a call takes from its hu_exec, which may be NULL: place, threads, stream, the size of a
 * part. */
#ifndef HALFULP_EMU_BASE_EXEC_H
#define HALFULP_EMU_BASE_EXEC_H

#include <stddef.h>

#include "halfulp/array.h"

static inline size_t hui_least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns 1 if the call runs at another place than this CPU: pointers are of that place then, and a call either hands
 * over (device_calls.h) or returns HU_E_DEVICE. */
static inline int hui_is_elsewhere(const hu_exec *exec) { return exec && exec->where.device; }

/* Returns 1 ... HU_THREADS_MAX. */
static inline uint32_t hui_exec_threads(const hu_exec *exec) {
  uint32_t threads = exec && exec->threads > 1 ? exec->threads : 1;
  return threads > HU_THREADS_MAX ? HU_THREADS_MAX : threads;
}

/* Returns (0, 0) without an exec. */
static inline hu_stream hui_exec_stream(const hu_exec *exec) {
  hu_stream zero = {0, 0};
  return exec ? exec->stream : zero;
}

/* Returns an exec of the same levels for a call within the call: here, one thread, stream (0, 0). */
static inline hu_exec hui_exec_levels(const hu_exec *exec) {
  hu_exec alone = {0, exec ? exec->levels_off : 0, {0, 0}, {NULL, NULL, NULL}};
  return alone;
}

/* Elements of a part of n, at least `least` (a multiple of 64): hui_parts() are no more than threads. A part is a
 * multiple of 64 elements, so that neighbours never share a cache line of an aligned result. */
static inline size_t hui_part_size(size_t n, uint32_t threads, size_t least) {
  size_t part = (n / threads + 64) & ~(size_t)63;
  return part < least ? least : part;
}
static inline size_t hui_parts(size_t n, size_t part) { return n / part + (n % part != 0); }

#endif
