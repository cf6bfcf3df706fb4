/* SPDX-License-Identifier: MIT */
/* train/engine/cpu.h - the processor as an engine, for callers without a network. */
#ifndef HALFULP_TRAIN_ENGINE_CPU_H
#define HALFULP_TRAIN_ENGINE_CPU_H

#include "train/engine/crew.h"
#include "train/engine/engine.h"
#include "train/engine/loops.h"

/* Products below which threads cost more than they save. */
enum { HU_CPU_PRODUCTS_MIN = 1 << 20 };

/* The `self` of hu_engine_cpu. */
typedef struct hu_cpu {
  uint32_t threads;
  hu_crew *crew;
  const hu_loops *loops;
  uint32_t levels_off; /* of the library's calls, and of the loops */
  float *rooms;        /* HU_PRODUCT_ROOM numbers for each thread, whose pages are there once it writes them; or NULL */
} hu_cpu;

/* HU_LEVEL_ bits (array.h) that what is opened from here on does not use; 0. For tests: no bits depend on it. */
extern uint32_t hu_cpu_levels_off;

/* One thread. */
hu_cpu hu_cpu_alone(void);
/* work(context, part) for all parts, beside each other; in this thread if there is only one. */
void hu_cpu_run(const hu_cpu *cpu, size_t parts, void (*work)(void *context, size_t part), void *context);
/* hu_engine.sum_products: sum_products.c. */
int hu_cpu_sum_products(void *self, size_t count, const hu_products *p, int begun);
/* hu_engine.convolve: convolve.c. */
int hu_cpu_convolve(void *self, int what, const hu_convolution *c);

#endif
