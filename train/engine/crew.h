/* SPDX-License-Identifier: MIT */
/* train/engine/crew.h - threads that wait for work, so that a step of a small network does not start any. */
#ifndef HALFULP_TRAIN_ENGINE_CREW_H
#define HALFULP_TRAIN_ENGINE_CREW_H

#include <stddef.h>
#include <stdint.h>

typedef struct hu_crew hu_crew;

/* For `threads` with the calling one; NULL: one, or none could be started. */
hu_crew *hui_crew_new(uint32_t threads);
void hui_crew_free(hu_crew *crew);
/* Calls work(context, part) for every part below `parts`, each once, in any order, and returns when all are done. NULL:
 * in this thread. One caller at a time. */
void hui_crew_run(hu_crew *crew, size_t parts, void (*work)(void *context, size_t part), void *context);

#endif
