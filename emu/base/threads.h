/* SPDX-License-Identifier: MIT */
/* emu/base/threads.h - runs parts of a call in threads that are started for the call and joined before it returns, or
 * in threads that its caller keeps. */
#ifndef HALFULP_EMU_BASE_THREADS_H
#define HALFULP_EMU_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

/* A static variable that each thread has for itself. */
#if defined(HALFULP_NO_THREADS)
#define HU_OWN_OF_THREAD static
#else
#define HU_OWN_OF_THREAD static _Thread_local
#endif

/* Runs run(context, 0) ... run(context, parts - 1), each once, on up to `threads` threads (the calling one included).
 * Parts must be independent: which thread runs which, and in what order, is not determined. Where a thread cannot be
 * started the others do its work. */
void hu_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context);

/* Threads that wait for work. run calls part(context, 0) ... part(context, parts - 1), each once, and returns when all
 * are done. */
typedef struct hu_helpers {
  void (*run)(void *self, size_t parts, void (*part)(void *context, size_t part), void *context);
  void *self;
} hu_helpers;

/* From here on the helpers, which must stay where they are, run what hu_parallel divides among several threads when the
 * calling thread calls it; NULL: threads are started for it. What was set before is returned. Exported for the library
 * of training alone. */
HU_API const hu_helpers *hu_parallel_by(const hu_helpers *helpers);

#endif
