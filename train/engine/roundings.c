/* SPDX-License-Identifier: MIT */
/* Rounds tensors on the CPU. Where each number is rounded by itself, threads of the crew take parts of the
 * tensor and do all of a rounding's passes over their part. Where a rounding has scales or statistics, the library's
 * calls divide the work, and the crew runs their parts. */
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "train/engine/cpu.h"

/* Numbers below which threads cost more than they save; numbers that all passes of a rounding see before the next ones,
 * so that they stay in the cache. */
enum { ROUNDED_MIN = 1 << 15, ROUNDED_PIECE = 1 << 15 };

/* ---- numbers that stay as they are, except for NaN, of which there is one ---- */

enum { LOOK = 1024 };

typedef struct keep_call {
  const hu_loops *loops;
  float *x;
  size_t n, part;
} keep_call;

/* Reads alone, unless there is a NaN. Magnitudes are compared as whole numbers, in lanes. */
static void keep_part(void *context, size_t part) {
  const keep_call *call = context;
  size_t from = part * call->part, end = call->n - from < call->part ? call->n : from + call->part;
  for (size_t at = from; at < end; at += LOOK) {
    float *x = call->x + at;
    size_t n = end - at < LOOK ? end - at : LOOK;
    int32_t nan = 0, u;
    for (size_t i = 0; i < n; i++) {
      memcpy(&u, &x[i], sizeof u);
      nan |= (u & 0x7FFFFFFF) > 0x7F800000;
    }
    if (!nan) continue;
    hu_task task = hui_task_of(1, n, x, x, NULL);
    call->loops->kernel[HU_RUN_KEEP](&task, 0, 1, 0, n);
  }
}

static hu_status keep(const hu_cpu *cpu, size_t n, float *z, const float *x) {
  if (z != x) {
    hu_task task = hui_task_of(1, n, z, x, NULL);
    return hui_cpu_loop((void *)(uintptr_t)cpu, HU_RUN_KEEP, &task);
  }
  keep_call call = {cpu->loops, z, n, !cpu->crew || n < HU_CPU_NUMBERS_MIN ? n + !n : hui_cpu_part_size(cpu, n, LOOK)};
  hui_cpu_run(cpu, (n + call.part - 1) / call.part, keep_part, &call);
  return HU_OK;
}

/* ---- roundings ---- */

typedef struct round_call {
  const hu_rounding *rounding;
  float *z;
  const float *x;
  size_t n, part;
  hu_exec exec;
  hu_rounding_counts counts[HU_THREADS_MAX];
  hu_status status[HU_THREADS_MAX];
} round_call;

static void round_some(void *context, size_t part) {
  round_call *call = context;
  size_t from = part * call->part, end = call->n - from < call->part ? call->n : from + call->part;
  hu_status status = HU_OK;
  memset(&call->counts[part], 0, sizeof call->counts[part]);
  for (size_t at = from; at < end && status == HU_OK; at += ROUNDED_PIECE) {
    size_t n = end - at < ROUNDED_PIECE ? end - at : ROUNDED_PIECE;
    hu_exec exec = call->exec;
    exec.stream.counter += at;
    status = hu_rounding_apply(1, n, call->z + at, call->x + at, call->rounding, &exec, &call->counts[part]);
  }
  call->status[part] = status;
}

static void add_counts(hu_rounding_counts *sum, const hu_rounding_counts *counts) {
  sum->elements += counts->elements;
  sum->over += counts->over;
  hu_events_add(&sum->events, &counts->events);
}

/* Numbers one at a time, number i with word i of the stream, by the crew. */
static hu_status round_each(const hu_cpu *cpu, size_t n, float *z, const float *x, const hu_rounding *rounding,
                            hu_stream words, hu_rounding_counts *counts) {
  round_call call;
  call.rounding = rounding;
  call.z = z;
  call.x = x;
  call.n = n;
  call.part = hui_cpu_part_size(cpu, n, 1024);
  call.exec = hui_cpu_exec(cpu, 0, 1, words);
  size_t parts = (n + call.part - 1) / call.part;
  hui_cpu_run(cpu, parts, round_some, &call);
  for (size_t i = 0; i < parts; i++) {
    if (call.status[i] != HU_OK) return call.status[i];
    if (counts) add_counts(counts, &call.counts[i]);
  }
  return HU_OK;
}

/* All numbers that a rounding sees at once, by calls of the library to which the crew is lent. */
static hu_status round_together(const hu_cpu *cpu, size_t rows, size_t cols, float *z, const float *x,
                                const hu_rounding *rounding, hu_stream words, hu_rounding_counts *counts) {
  hu_exec exec = hui_cpu_exec(cpu, rows * cols, ROUNDED_MIN, words);
  const hu_helpers *before = hui_cpu_lend(cpu);
  hu_status status = hu_rounding_apply(rows, cols, z, x, rounding, &exec, counts);
  hui_cpu_take_back(before);
  return status;
}

hu_status hui_cpu_round(void *self, size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                        hu_stream words, hu_rounding_counts *counts) {
  const hu_cpu *cpu = self;
  int alone = rounding->kind == HU_ROUND_FORMAT || rounding->kind == HU_ROUND_NUMBER;
  if (rounding->kind != HU_ROUND_KEEP) {
    return alone && rows * cols >= ROUNDED_MIN ? round_each(cpu, rows * cols, z, x, rounding, words, counts)
                                               : round_together(cpu, rows, cols, z, x, rounding, words, counts);
  }
  if (counts) counts->elements += rows * cols;
  return keep(self, rows * cols, z, x);
}

hu_status hui_cpu_quantize(void *self, size_t n, float *x, hu_format format, hu_mode mode, hu_stream words) {
  /* Every number is one of the format. */
  if (hu_format_equal(format, hu_binary32()) && !mode.saturate && !mode.tiny && !mode.nan) return keep(self, n, x, x);
  hu_exec exec = hui_cpu_exec(self, n, HU_CPU_NUMBERS_MIN, words);
  const hu_helpers *before = hui_cpu_lend(self);
  hu_status status = hu_quantize_n(n, x, 1, x, 1, format, mode, &exec, NULL);
  hui_cpu_take_back(before);
  return status;
}
