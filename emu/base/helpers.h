/* SPDX-License-Identifier: MIT */
/* emu/base/helpers.h - threads that a caller keeps for what the library divides (emu/base/threads.h). */
#ifndef HALFULP_EMU_BASE_HELPERS_H
#define HALFULP_EMU_BASE_HELPERS_H

#include <stddef.h>

#include "halfulp/status.h"

/* Threads that wait for work. run calls part(context, 0) ... part(context, parts - 1), each once, and returns when all
 * are done. */
typedef struct hu_helpers {
  void (*run)(void *self, size_t parts, void (*part)(void *context, size_t part), void *context);
  void *self;
} hu_helpers;

/* From here on the helpers, which must stay where they are, run what hui_parallel divides among several threads when
 * the calling thread calls it; NULL: threads are started for it. What was set before is returned. Exported for the
 * library of training alone, and there only where HU_LENDS_THREADS is defined, as in this project's own builds: it
 * needs a variable for each thread, and a program that embeds the sources gets none. */
HU_API const hu_helpers *hui_parallel_by(const hu_helpers *helpers);

#endif
