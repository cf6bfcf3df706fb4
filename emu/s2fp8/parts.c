/* SPDX-License-Identifier: MIT */
/* Passes over a shifted and squeezed tensor that is given in parts, by its exact statistics. */
#include "emu/s2fp8/parts.h"

#include <string.h>

#include "emu/base/threads.h"
#include "emu/core/stream.h"
#include "emu/s2fp8/run.h"
#include "emu/simd/level.h"

enum { SOME = 1 << 10 }; /* numbers that are taken at once, those of a buffer on the stack */

typedef struct given {
  const hu_s2fp8_parts *of;
  hu_s2_ranges ranges;
  const hu_s2 *map;
  const hu_s2_table *table; /* NULL: elements are computed without a table */
  const hu_exec *exec;
  hu_s2fp8_sums *sums; /* one a range, as are events */
  hu_events *events;
} given;

static void given_of(given *call, size_t n, const hu_s2fp8_parts *of, const hu_exec *exec) {
  memset(call, 0, sizeof *call);
  call->of = of;
  call->ranges = hui_s2_ranges_of(n, of, exec);
  call->exec = exec;
}

static void sum_range(void *context, size_t range) {
  given *call = context;
  const hu_exec alone = hui_exec_levels(call->exec);
  size_t end = hui_s2_range_end(&call->ranges, range), k;
  for (size_t first = range * call->ranges.size; first < end; first += k) {
    k = hui_least(call->of->part, end - first);
    hui_s2_sum_run(k, call->of->give(call->of->context, range, first, k), 1, &call->sums[range], &alone);
  }
}

void hui_s2_sum_parts(size_t n, const hu_s2fp8_parts *of, hu_s2fp8_sums *sums, const hu_exec *exec) {
  hu_s2fp8_sums of_range[HU_THREADS_MAX];
  given call;
  given_of(&call, n, of, exec);
  call.sums = of_range;
  memset(of_range, 0, call.ranges.count * sizeof *of_range);
  hui_parallel(hui_exec_threads(exec), call.ranges.count, sum_range, &call);
  for (size_t i = 0; i < call.ranges.count; i++) hui_s2_add_sums(sums, &of_range[i]);
}

/* Numbers of a part, rounded and taken. */
static void run_some(given *call, size_t range, size_t first, size_t n, const float *x) {
  float z[SOME];
  hu_exec alone = hui_exec_levels(call->exec);
  alone.stream = hui_exec_stream(call->exec);
  alone.stream.counter += first;
  for (size_t i = 0, k; i < n; i += k, alone.stream.counter += k) {
    k = hui_least(SOME, n - i);
    hui_s2_run(k, z, 1, 0, x + i, 1, call->map, call->table, &alone, &call->events[range]);
    call->of->take(call->of->context, range, first + i, k, z);
  }
}

static void run_range(void *context, size_t range) {
  given *call = context;
  size_t end = hui_s2_range_end(&call->ranges, range), k;
  for (size_t first = range * call->ranges.size; first < end; first += k) {
    k = hui_least(call->of->part, end - first);
    run_some(call, range, first, k, call->of->give(call->of->context, range, first, k));
  }
}

void hui_s2_run_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec, hu_events *events) {
  hu_events of_range[HU_THREADS_MAX];
  const struct hu_s2_lanes *lanes = hui_level_for(exec)->s2fp8;
  hu_s2_table table;
  given call;
  given_of(&call, n, of, exec);
  call.map = map;
  if (lanes && hui_s2_may_table(&map->spec)) {
    hui_s2_fill_table(&table, map, lanes);
    call.table = &table;
  }
  call.events = of_range;
  memset(of_range, 0, call.ranges.count * sizeof *of_range);
  hui_parallel(hui_exec_threads(exec), call.ranges.count, run_range, &call);
  for (size_t i = 0; events && i < call.ranges.count; i++) hu_events_add(events, &of_range[i]);
}
