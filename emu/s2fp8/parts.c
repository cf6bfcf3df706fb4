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

static void given_of(given *c, size_t n, const hu_s2fp8_parts *of, const hu_exec *exec) {
  memset(c, 0, sizeof *c);
  c->of = of;
  c->ranges = hui_s2_ranges_of(n, of, exec);
  c->exec = exec;
}

static void sum_range(void *context, size_t range) {
  given *c = context;
  const hu_exec alone = hui_exec_levels(c->exec);
  size_t end = hui_s2_range_end(&c->ranges, range), k;
  for (size_t first = range * c->ranges.size; first < end; first += k) {
    k = hui_least(c->of->part, end - first);
    hui_s2_sum_run(k, c->of->give(c->of->context, range, first, k), 1, &c->sums[range], &alone);
  }
}

void hui_s2_sum_parts(size_t n, const hu_s2fp8_parts *of, hu_s2fp8_sums *sums, const hu_exec *exec) {
  hu_s2fp8_sums of_range[HU_THREADS_MAX];
  given c;
  given_of(&c, n, of, exec);
  c.sums = of_range;
  memset(of_range, 0, c.ranges.count * sizeof *of_range);
  hui_parallel(hui_exec_threads(exec), c.ranges.count, sum_range, &c);
  for (size_t i = 0; i < c.ranges.count; i++) hui_s2_add_sums(sums, &of_range[i]);
}

/* Numbers of a part, rounded and taken. */
static void run_some(given *c, size_t range, size_t first, size_t n, const float *x) {
  float z[SOME];
  hu_exec alone = hui_exec_levels(c->exec);
  alone.stream = hui_exec_stream(c->exec);
  alone.stream.counter += first;
  for (size_t i = 0, k; i < n; i += k, alone.stream.counter += k) {
    k = hui_least(SOME, n - i);
    hui_s2_run(k, z, 1, 0, x + i, 1, c->map, c->table, &alone, &c->events[range]);
    c->of->take(c->of->context, range, first + i, k, z);
  }
}

static void run_range(void *context, size_t range) {
  given *c = context;
  size_t end = hui_s2_range_end(&c->ranges, range), k;
  for (size_t first = range * c->ranges.size; first < end; first += k) {
    k = hui_least(c->of->part, end - first);
    run_some(c, range, first, k, c->of->give(c->of->context, range, first, k));
  }
}

void hui_s2_run_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec, hu_events *events) {
  hu_events of_range[HU_THREADS_MAX];
  const struct hu_s2_lanes *lanes = hui_level_for(exec)->s2fp8;
  hu_s2_table table;
  given c;
  given_of(&c, n, of, exec);
  c.map = map;
  if (lanes && hui_s2_may_table(&map->spec)) {
    hui_s2_fill_table(&table, map, lanes);
    c.table = &table;
  }
  c.events = of_range;
  memset(of_range, 0, c.ranges.count * sizeof *of_range);
  hui_parallel(hui_exec_threads(exec), c.ranges.count, run_range, &c);
  for (size_t i = 0; events && i < c.ranges.count; i++) hu_events_add(events, &of_range[i]);
}
