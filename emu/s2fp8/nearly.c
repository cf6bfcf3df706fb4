/* SPDX-License-Identifier: MIT */
/* A tensor by its own statistics, without them where they do not matter: one array, or one that is given in parts. */
#include <string.h>

#include "emu/array/streams.h"
#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/s2fp8/lanes.h"
#include "emu/s2fp8/parts.h"
#include "emu/s2fp8/run.h"
#include "emu/s2fp8/table_binary64.h"
#include "emu/simd/level.h"

enum {
  PART_MIN = 1 << 14, /* elements that make a thread of their own worth while */
  STRETCH = 1 << 13   /* of parts: a buffer on the stack, enough to pay for a table's records */
};

typedef struct nearly {
  size_t n, part;
  uint32_t *z; /* one array */
  const uint32_t *x;
  const hu_s2fp8_parts *of; /* or parts */
  hu_s2_ranges ranges;
  const hu_s2 *map;
  const hu_exec *exec;
  const hu_s2_lanes *lanes;
  const hu_s2_bytes *bytes;  /* NULL: none */
  const hu_streams *streams; /* NULL: from the first element to the last */
  const hu_s2_table *table;
  hu_s2_near near;
  hu_s2_rough rough[HU_THREADS_MAX];
  hu_s2_passed counts[HU_THREADS_MAX];
  int passed[HU_THREADS_MAX];
} nearly;

static void rough_add(hu_s2_rough *z, const hu_s2_rough *x) {
  z->sig *= x->sig;
  z->exponent += x->exponent + (z->sig >= 2);
  if (z->sig >= 2) z->sig *= 0.5;
  z->count += x->count;
  if (x->top > z->top) z->top = x->top;
  z->odd |= x->odd;
}

static void rough(const nearly *call, size_t n, const uint32_t *x, hu_s2_rough *z) {
  (call->bytes ? call->bytes->rough : call->lanes->rough)(n, x, z);
}

static int pass(const nearly *call, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  if (call->bytes && call->bytes->pass(call->table, &call->near, n, z, x, counts)) return 1;
  return call->lanes->pass(call->table, &call->near, n, z, x, counts);
}

/* Adds these elements, unless something odd was among those before. */
static void rough_more(const nearly *call, size_t n, const uint32_t *x, hu_s2_rough *sum) {
  hu_s2_rough piece;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < n && !sum->odd; i += HU_S2_ROUGH) {
    rough(call, hui_least(n - i, HU_S2_ROUGH), x + i, &piece);
    rough_add(sum, &piece);
  }
  hui_float_env_leave(saved);
}

static const hu_s2_rough nothing = {1, 0, 0, 0, 0};

static void rough_part(void *context, size_t part) {
  nearly *call = context;
  size_t first = part * call->part;
  call->rough[part] = nothing;
  rough_more(call, hui_least(call->part, call->n - first), call->x + first, &call->rough[part]);
}

typedef struct pass_walking {
  const nearly *call;
  hu_s2_passed counts;
  int passed;
} pass_walking;

static void walk_pass(void *context, size_t first, size_t n, uint32_t *z) {
  pass_walking *walking = context;
  walking->passed = pass(walking->call, n, z, walking->call->x + first, &walking->counts);
}

static void pass_part(void *context, size_t part) {
  nearly *call = context;
  size_t first = part * call->part, n = hui_least(call->part, call->n - first);
  pass_walking walking = {call, {0, 0, 0, 0}, 0};
  walk_pass(&walking, first, call->streams ? 0 : n, call->z + first);
  if (call->streams && walking.passed) {
    hu_streams_part streams = {call->x, call->z, walk_pass, &walking};
    call->streams->walk(&streams, first, n);
  }
  call->passed[part] = walking.passed;
  call->counts[part] = walking.counts;
}

/* Are all numbers but zeros of this magnitude? */
static int is_one_magnitude(size_t n, const uint32_t *x, uint32_t top) {
  uint32_t others = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF;
    others |= (uint32_t)(a != 0) & (uint32_t)(a != top);
  }
  return !others;
}

/* Such a tensor comes back unchanged and nothing happens to it. */
static void copy(size_t n, uint32_t *z, const uint32_t *x, int negzero) {
  if (negzero && z != x) memmove(z, x, n * sizeof *z);
  for (size_t i = 0; !negzero && i < n; i++) z[i] = x[i] & 0x7FFFFFFF ? x[i] : 0;
}

static void end_pass(const nearly *call, size_t parts, const hu_s2_rough *total, hu_events *events) {
  hu_events own = {0};
  uint64_t zeros = call->n - total->count;
  hu_s2_passed all = {0, 0, 0, 0};
  for (size_t i = 0; i < parts; i++) {
    all.none += call->counts[i].none;
    all.low += call->counts[i].low;
    all.tiny += call->counts[i].tiny;
    all.tops += call->counts[i].tops;
  }
  own.to_zero = all.none - zeros;
  own.subnormal = all.low - all.none;
  own.underflow = all.tiny - zeros;
  own.inexact = total->count - all.tops;
  if (events) hu_events_add(events, &own);
}

/* The table by the statistics after all. Where something but the largest element comes out exact, that must be counted,
 * and such tensors are not for a pass; nor are those whose bounds are subnormal. */
enum { NO_TABLE = 0, TABLE = 1, TABLE_FOR_A_PASS = 2 };
static int by_statistics(hu_s2_table *table, const nearly *call, const hu_s2 *map, const hu_exec *exec) {
  hu_s2fp8_sums sums = {0};
  hu_s2 own = *map;
  int64_t m;
  uint32_t others = 0;
  if (call->n < HU_S2_QUICK_MIN) return NO_TABLE;
  hui_s2_sum_run(call->n, (const float *)(const void *)call->x, 1, &sums, exec);
  hui_s2_moments(&own.mu, &m, sums.high, sums.low, sums.count, sums.top, map->target);
  own.gap = m - own.mu;
  if (!hui_s2_scale_fits(own.mu, m) || !hui_s2_may_be_quick(&own)) return NO_TABLE;
  hui_s2_fill_table(table, &own, call->lanes);
  for (uint32_t i = 0; i < HU_S2_CODES; i++) others += i != call->near.top_code && table->exact[i] != HU_S2_NEVER;
  int exact = others || table->exact[call->near.top_code] != sums.top;
  return exact || table->bound[0][1] < 0x800000 ? TABLE : TABLE_FOR_A_PASS;
}

/* Begins a call; 0: not this map at this level. */
static int begin(nearly *call, size_t n, const hu_s2 *map, const hu_exec *exec) {
  const hu_spec *spec = &map->spec;
  call->lanes = hui_level_for(exec)->s2fp8;
  if (!call->lanes || spec->round != HU_RNE || spec->m > 4 || !hui_s2_may_table(spec)) return 0;
  call->bytes = hui_level_for(exec)->s2fp8_bytes;
  call->n = n;
  call->map = map;
  call->exec = exec;
  call->rough[0] = nothing; /* n = 0 has no part */
  return 1;
}

/* The product of all parts, and the table where that decides it: TABLE_FOR_A_PASS or NO_TABLE. */
static int end_rough(nearly *call, size_t parts, hu_s2_rough *total, hu_s2_table *table) {
  const hu_spec *spec = &call->map->spec;
  *total = call->rough[0];
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 1; i < parts; i++) rough_add(total, &call->rough[i]);
  int found = !total->odd && total->count && call->lanes->near(table, call->map, total);
  hui_float_env_leave(saved);
  call->table = table;
  call->near.first_normal = (uint32_t)1 << spec->m;
  call->near.top_code = (uint32_t)(call->map->target - spec->emin + 1) << spec->m;
  return found ? TABLE_FOR_A_PASS : NO_TABLE;
}

/* What the pass by the table reads; 0: it is not for a pass. */
static int begin_pass(nearly *call, uint32_t top) {
  const hu_spec *spec = &call->map->spec;
  call->near.top = top;
  call->near.normal = call->table->bound[0][(uint32_t)1 << spec->m];
  call->near.negzero = spec->negzero;
  return call->table->tiny[0] >= call->table->bound[0][1];
}

int hui_s2_truncate(size_t n, float *z, const float *x, const hu_s2 *map, const hu_exec *exec, hu_events *events) {
  hu_s2_table table;
  hu_s2_rough total;
  nearly call;
  if (!begin(&call, n, map, exec)) return 0;
  uint32_t threads = hui_exec_threads(exec);
  call.part = hui_part_size(n, threads, PART_MIN);
  call.z = (uint32_t *)(void *)z;
  call.x = (const uint32_t *)(const void *)x;
  call.streams = n >= HU_S2_BYPASS_MIN && z != x ? hui_streams_for(exec) : NULL;
  size_t parts = hui_parts(n, call.part);
  hui_parallel(threads, parts, rough_part, &call);
  int found = end_rough(&call, parts, &total, &table);
  if (total.odd) return 0;
  if (!found && is_one_magnitude(n, call.x, total.top)) {
    copy(n, call.z, call.x, (int)map->spec.negzero);
    return 1;
  }
  if (!found) found = by_statistics(&table, &call, map, exec);
  if (!found) return 0;
  /* Tables of bytes are quicker through the caches than the others around them. */
  int around = n >= HU_S2_BYPASS_MIN && z != x && !call.bytes && !call.streams && call.lanes->bypasses;
  call.passed[0] = 0;
  if (found == TABLE_FOR_A_PASS && begin_pass(&call, total.top) && !around)
    hui_parallel(threads, parts, pass_part, &call);
  if (call.passed[0]) { /* all parts and blocks or none, since they have one table */
    end_pass(&call, parts, &total, events);
  } else {
    hui_s2_run(n, z, 1, 0, x, 1, map, &table, exec, events);
  }
  return 1;
}

/* ---- the same of parts, each of which is given twice ---- */

static void rough_given(void *context, size_t range) {
  nearly *call = context;
  hu_s2_rough *sum = &call->rough[range];
  size_t end = hui_s2_range_end(&call->ranges, range), k;
  *sum = nothing;
  for (size_t first = range * call->ranges.size; first < end && !sum->odd; first += k) {
    k = hui_least(call->of->part, end - first);
    rough_more(call, k, (const uint32_t *)(const void *)call->of->give(call->of->context, range, first, k), sum);
  }
}

/* Numbers of a part, rounded and taken. */
static void pass_some(const nearly *call, size_t range, size_t first, size_t n, const float *x, hu_s2_passed *counts) {
  uint32_t z[STRETCH];
  for (size_t i = 0, k; i < n; i += k) {
    k = hui_least(STRETCH, n - i);
    (void)pass(call, k, z, (const uint32_t *)(const void *)x + i, counts);
    call->of->take(call->of->context, range, first + i, k, (const float *)(const void *)z);
  }
}

static void pass_given(void *context, size_t range) {
  nearly *call = context;
  hu_s2_passed counts = {0, 0, 0, 0};
  size_t end = hui_s2_range_end(&call->ranges, range), k;
  for (size_t first = range * call->ranges.size; first < end; first += k) {
    k = hui_least(call->of->part, end - first);
    pass_some(call, range, first, k, call->of->give(call->of->context, range, first, k), &counts);
  }
  call->counts[range] = counts;
}

int hui_s2_truncate_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec,
                          hu_events *events) {
  hu_s2_passed none = {0, 0, 0, 0};
  hu_s2_table table;
  hu_s2_rough total;
  nearly call;
  if (!begin(&call, n, map, exec)) return 0;
  call.of = of;
  call.ranges = hui_s2_ranges_of(n, of, exec);
  hui_parallel(hui_exec_threads(exec), call.ranges.count, rough_given, &call);
  if (!end_rough(&call, call.ranges.count, &total, &table) || !begin_pass(&call, total.top)) return 0;
  if (!pass(&call, 0, NULL, NULL, &none)) return 0; /* whether a table serves a pass does not depend on the numbers */
  hui_parallel(hui_exec_threads(exec), call.ranges.count, pass_given, &call);
  end_pass(&call, call.ranges.count, &total, events);
  return 1;
}
