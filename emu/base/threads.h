/* SPDX-License-Identifier: MIT */
/* emu/base/threads.h - runs parts of a call in threads that are started for the call and joined before it returns, or
 * in threads that its caller keeps. */
#ifndef HALFULP_EMU_BASE_THREADS_H
#define HALFULP_EMU_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/helpers.h"

/* Runs run(context, 0) ... run(context, parts - 1), each once, on up to `threads` threads (the calling one included).
 * Parts must be independent: which thread runs which, and in what order, is not determined. Where a thread cannot be
 * started the others do its work. */
void hui_parallel(uint32_t threads, size_t parts, void (*run)(void *context, size_t part), void *context);

#endif
