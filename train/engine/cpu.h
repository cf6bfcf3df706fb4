/* SPDX-License-Identifier: MIT */
/* train/engine/cpu.h - the CPU as an engine, for callers without a network. */
#ifndef HALFULP_TRAIN_ENGINE_CPU_H
#define HALFULP_TRAIN_ENGINE_CPU_H

#include "emu/base/helpers.h"
#include "train/engine/crew.h"
#include "train/engine/engine.h"
#include "train/engine/loops.h"

/* Work below which threads cost more than they save: products, numbers looked at. */
enum { HU_CPU_PRODUCTS_MIN = 1 << 20, HU_CPU_NUMBERS_MIN = 1 << 16 };

/* The `self` of hui_engine_cpu. */
typedef struct hu_cpu {
  uint32_t threads;
  hu_crew *crew;
  hu_helpers helpers; /* the crew, for calls of the library */
  const hu_loops *loops;
  uint32_t levels_off; /* of the library's calls, and of the loops */
  float *buffers; /* HU_PRODUCT_BUFFER numbers for each thread, whose pages are there once it writes them; or NULL */
  float *panels;  /* of a call in hand, kept for the next one */
  size_t panels_size;
} hu_cpu;

/* HU_LEVEL_ bits (view.h) that what is opened from here on does not use; 0. For tests: no bits depend on it. */
extern uint32_t hu_cpu_levels_off;

/* Returns an engine of one thread. */
hu_cpu hui_cpu_alone(void);
/* work(context, part) for all parts, beside each other; in this thread if there is only one. */
void hui_cpu_run(const hu_cpu *cpu, size_t parts, void (*work)(void *context, size_t part), void *context);
/* Calls of the library that this thread makes take the crew's threads, which wait already, in place of new ones, until
 * hui_cpu_take_back gets what this returns. No work of hui_cpu_run may lend. */
static inline const hu_helpers *hui_cpu_lend(const hu_cpu *cpu) {
  return hui_parallel_by(cpu->crew ? &cpu->helpers : NULL);
}
static inline void hui_cpu_take_back(const hu_helpers *before) { (void)hui_parallel_by(before); }
/* Numbers of a part, in whole pieces, for at most as many parts as there are threads. */
static inline size_t hui_cpu_part_size(const hu_cpu *cpu, size_t n, size_t piece) {
  size_t threads = cpu->threads < HU_THREADS_MAX ? cpu->threads : HU_THREADS_MAX;
  return (n / threads / piece + 1) * piece;
}
/* Threads for a call of the library: one where the work is less than `least`. */
static inline hu_exec hui_cpu_exec(const hu_cpu *cpu, size_t work, size_t least, hu_stream words) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.threads = work < least ? 1 : cpu->threads;
  exec.levels_off = cpu->levels_off;
  exec.stream = words;
  return exec;
}
/* Implements hu_engine.run: kernels.c. */
hu_status hui_cpu_loop(void *self, int kernel, const hu_task *task);
/* Implement hu_engine.round and hu_engine.quantize: roundings.c. */
hu_status hui_cpu_round(void *self, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                        hu_stream words, hu_rounding_counts *counts);
hu_status hui_cpu_quantize(void *self, size_t n, float *x, hu_format format, hu_mode mode, hu_stream words);
/* Implements hu_engine.sum_products: sum_products.c. */
int hui_cpu_sum_products(void *self, size_t count, const hu_products *products, int begun);
/* Implements hu_engine.pack: panels.c. */
size_t hui_cpu_pack(void *self, const hu_matrices *b, size_t k, size_t n, float *z);
/* hu_engine.add_rounded: rounded_products.c. */
hu_status hui_cpu_add_rounded(void *self, const hu_rounded_product *product, int *done);
/* Implements hu_engine.convolve: convolve.c. */
int hui_cpu_convolve(void *self, int what, const hu_convolution *convolution);

#endif
