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

static void rough(const nearly *c, size_t n, const uint32_t *x, hu_s2_rough *z) {
  (c->bytes ? c->bytes->rough : c->lanes->rough)(n, x, z);
}

static int pass(const nearly *c, size_t n, uint32_t *z, const uint32_t *x, hu_s2_passed *counts) {
  if (c->bytes && c->bytes->pass(c->table, &c->near, n, z, x, counts)) return 1;
  return c->lanes->pass(c->table, &c->near, n, z, x, counts);
}

/* Adds these elements, unless something odd was among those before. */
static void rough_more(const nearly *c, size_t n, const uint32_t *x, hu_s2_rough *sum) {
  hu_s2_rough piece;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < n && !sum->odd; i += HU_S2_ROUGH) {
    rough(c, hui_least(n - i, HU_S2_ROUGH), x + i, &piece);
    rough_add(sum, &piece);
  }
  hui_float_env_leave(saved);
}

static const hu_s2_rough nothing = {1, 0, 0, 0, 0};

static void rough_part(void *context, size_t part) {
  nearly *c = context;
  size_t first = part * c->part;
  c->rough[part] = nothing;
  rough_more(c, hui_least(c->part, c->n - first), c->x + first, &c->rough[part]);
}

typedef struct pass_walking {
  const nearly *c;
  hu_s2_passed counts;
  int passed;
} pass_walking;

static void walk_pass(void *context, size_t first, size_t n, uint32_t *z) {
  pass_walking *w = context;
  w->passed = pass(w->c, n, z, w->c->x + first, &w->counts);
}

static void pass_part(void *context, size_t part) {
  nearly *c = context;
  size_t first = part * c->part, n = hui_least(c->part, c->n - first);
  pass_walking w = {c, {0, 0, 0, 0}, 0};
  walk_pass(&w, first, c->streams ? 0 : n, c->z + first);
  if (c->streams && w.passed) {
    hu_streams_part p = {c->x, c->z, walk_pass, &w};
    c->streams->walk(&p, first, n);
  }
  c->passed[part] = w.passed;
  c->counts[part] = w.counts;
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

static void end_pass(const nearly *c, size_t parts, const hu_s2_rough *r, hu_events *events) {
  hu_events e = {0};
  uint64_t zeros = c->n - r->count;
  hu_s2_passed all = {0, 0, 0, 0};
  for (size_t i = 0; i < parts; i++) {
    all.none += c->counts[i].none;
    all.low += c->counts[i].low;
    all.tiny += c->counts[i].tiny;
    all.tops += c->counts[i].tops;
  }
  e.to_zero = all.none - zeros;
  e.subnormal = all.low - all.none;
  e.underflow = all.tiny - zeros;
  e.inexact = r->count - all.tops;
  if (events) hu_events_add(events, &e);
}

/* The table by the statistics after all. Where something but the largest element comes out exact, that must be counted,
 * and such tensors are not for a pass; nor are those whose bounds are subnormal. */
enum { NO_TABLE = 0, TABLE = 1, TABLE_FOR_A_PASS = 2 };
static int by_statistics(hu_s2_table *table, const nearly *c, const hu_s2 *map, const hu_exec *exec) {
  hu_s2fp8_sums sums = {0};
  hu_s2 own = *map;
  int64_t m;
  uint32_t others = 0;
  if (c->n < HU_S2_QUICK_MIN) return NO_TABLE;
  hui_s2_sum_run(c->n, (const float *)(const void *)c->x, 1, &sums, exec);
  hui_s2_moments(&own.mu, &m, sums.high, sums.low, sums.count, sums.top, map->target);
  own.gap = m - own.mu;
  if (!hui_s2_scale_fits(own.mu, m) || !hui_s2_may_be_quick(&own)) return NO_TABLE;
  hui_s2_fill_table(table, &own, c->lanes);
  for (uint32_t i = 0; i < HU_S2_CODES; i++) others += i != c->near.top_code && table->exact[i] != HU_S2_NEVER;
  int exact = others || table->exact[c->near.top_code] != sums.top;
  return exact || table->bound[0][1] < 0x800000 ? TABLE : TABLE_FOR_A_PASS;
}

/* 0: not this map at this level. */
static int begin(nearly *c, size_t n, const hu_s2 *map, const hu_exec *exec) {
  const hu_spec *s = &map->spec;
  c->lanes = hui_level_for(exec)->s2fp8;
  if (!c->lanes || s->round != HU_RNE || s->m > 4 || !hui_s2_may_table(s)) return 0;
  c->bytes = hui_level_for(exec)->s2fp8_bytes;
  c->n = n;
  c->map = map;
  c->exec = exec;
  c->rough[0] = nothing; /* n = 0 has no part */
  return 1;
}

/* The product of all parts, and the table where that decides it: TABLE_FOR_A_PASS or NO_TABLE. */
static int end_rough(nearly *c, size_t parts, hu_s2_rough *r, hu_s2_table *table) {
  const hu_spec *s = &c->map->spec;
  *r = c->rough[0];
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 1; i < parts; i++) rough_add(r, &c->rough[i]);
  int found = !r->odd && r->count && c->lanes->near(table, c->map, r);
  hui_float_env_leave(saved);
  c->table = table;
  c->near.first_normal = (uint32_t)1 << s->m;
  c->near.top_code = (uint32_t)(c->map->target - s->emin + 1) << s->m;
  return found ? TABLE_FOR_A_PASS : NO_TABLE;
}

/* What the pass by the table reads; 0: it is not for a pass. */
static int begin_pass(nearly *c, uint32_t top) {
  const hu_spec *s = &c->map->spec;
  c->near.top = top;
  c->near.normal = c->table->bound[0][(uint32_t)1 << s->m];
  c->near.negzero = s->negzero;
  return c->table->tiny[0] >= c->table->bound[0][1];
}

int hui_s2_truncate(size_t n, float *z, const float *x, const hu_s2 *map, const hu_exec *exec, hu_events *events) {
  hu_s2_table table;
  hu_s2_rough r;
  nearly c;
  if (!begin(&c, n, map, exec)) return 0;
  uint32_t threads = hui_exec_threads(exec);
  c.part = hui_part_size(n, threads, PART_MIN);
  c.z = (uint32_t *)(void *)z;
  c.x = (const uint32_t *)(const void *)x;
  c.streams = n >= HU_S2_BYPASS_MIN && z != x ? hui_streams_for(exec) : NULL;
  size_t parts = hui_parts(n, c.part);
  hui_parallel(threads, parts, rough_part, &c);
  int found = end_rough(&c, parts, &r, &table);
  if (r.odd) return 0;
  if (!found && is_one_magnitude(n, c.x, r.top)) {
    copy(n, c.z, c.x, (int)map->spec.negzero);
    return 1;
  }
  if (!found) found = by_statistics(&table, &c, map, exec);
  if (!found) return 0;
  /* Tables of bytes are quicker through the caches than other ways around them. */
  int around = n >= HU_S2_BYPASS_MIN && z != x && !c.bytes && !c.streams && c.lanes->bypasses;
  c.passed[0] = 0;
  if (found == TABLE_FOR_A_PASS && begin_pass(&c, r.top) && !around) hui_parallel(threads, parts, pass_part, &c);
  if (c.passed[0]) { /* all parts and blocks or none, since they have one table */
    end_pass(&c, parts, &r, events);
  } else {
    hui_s2_run(n, z, 1, 0, x, 1, map, &table, exec, events);
  }
  return 1;
}

/* ---- the same of parts, each of which is given twice ---- */

static void rough_given(void *context, size_t range) {
  nearly *c = context;
  hu_s2_rough *sum = &c->rough[range];
  size_t end = hui_s2_range_end(&c->ranges, range), k;
  *sum = nothing;
  for (size_t first = range * c->ranges.size; first < end && !sum->odd; first += k) {
    k = hui_least(c->of->part, end - first);
    rough_more(c, k, (const uint32_t *)(const void *)c->of->give(c->of->context, range, first, k), sum);
  }
}

/* Numbers of a part, rounded and taken. */
static void pass_some(const nearly *c, size_t range, size_t first, size_t n, const float *x, hu_s2_passed *counts) {
  uint32_t z[STRETCH];
  for (size_t i = 0, k; i < n; i += k) {
    k = hui_least(STRETCH, n - i);
    (void)pass(c, k, z, (const uint32_t *)(const void *)x + i, counts);
    c->of->take(c->of->context, range, first + i, k, (const float *)(const void *)z);
  }
}

static void pass_given(void *context, size_t range) {
  nearly *c = context;
  hu_s2_passed counts = {0, 0, 0, 0};
  size_t end = hui_s2_range_end(&c->ranges, range), k;
  for (size_t first = range * c->ranges.size; first < end; first += k) {
    k = hui_least(c->of->part, end - first);
    pass_some(c, range, first, k, c->of->give(c->of->context, range, first, k), &counts);
  }
  c->counts[range] = counts;
}

int hui_s2_truncate_parts(size_t n, const hu_s2fp8_parts *of, const hu_s2 *map, const hu_exec *exec,
                          hu_events *events) {
  hu_s2_passed none = {0, 0, 0, 0};
  hu_s2_table table;
  hu_s2_rough r;
  nearly c;
  if (!begin(&c, n, map, exec)) return 0;
  c.of = of;
  c.ranges = hui_s2_ranges_of(n, of, exec);
  hui_parallel(hui_exec_threads(exec), c.ranges.count, rough_given, &c);
  if (!end_rough(&c, c.ranges.count, &r, &table) || !begin_pass(&c, r.top)) return 0;
  if (!pass(&c, 0, NULL, NULL, &none)) return 0; /* whether a table serves a pass does not depend on the numbers */
  hui_parallel(hui_exec_threads(exec), c.ranges.count, pass_given, &c);
  end_pass(&c, c.ranges.count, &r, events);
  return 1;
}
