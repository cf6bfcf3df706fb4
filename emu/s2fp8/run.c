/* SPDX-License-Identifier: MIT */
/* Passes over a shifted and squeezed tensor: elements in parts that threads take, contiguous pieces through
 * emu/s2fp8/lanes.h where there is a table for them, else one by one through emu/core/s2fp8.h. Sums are integers and
 * codes depend on nothing but their element, so the result does not depend on parts, threads and levels. */
#include "emu/s2fp8/run.h"

#include "emu/array/streams.h"
#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/s2fp8/lanes.h"
#include "emu/s2fp8/table_binary64.h"
#include "emu/simd/level.h"

enum {
  PIECE = 1024,       /* elements of a buffered piece */
  PART_MIN = 1 << 14, /* elements that make a thread of their own worth while */
  TABLE_MIN = 512     /* elements that make a table worth while where binary64 does not make it */
};

/* ---- sums ---- */

typedef struct summing {
  size_t n, part;
  const float *x;
  ptrdiff_t inc;
  const hu_s2_lanes *lanes;
  hu_s2fp8_sums *parts;
} summing;

void hui_s2_add_sums(hu_s2fp8_sums *z, const hu_s2fp8_sums *x) {
  uint64_t low = z->low + x->low;
  z->high = (int64_t)((uint64_t)z->high + (uint64_t)x->high + (low < x->low));
  z->low = low;
  z->count += x->count;
  z->special += x->special;
  if (x->top > z->top) z->top = x->top;
}

static void add_part(hu_s2fp8_sums *z, const hu_s2_part *part) {
  hu_s2fp8_sums x = {(uint64_t)part->sum, part->sum < 0 ? -1 : 0, part->count, part->special, part->top, 0};
  hui_s2_add_sums(z, &x);
}

static void sum_core(size_t n, const uint32_t *x, hu_s2_part *z) {
  memset(z, 0, sizeof *z);
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF;
    if (a >= 0x7F800000) z->special++;
    if (a == 0 || a >= 0x7F800000) continue;
    z->sum += hui_s2_log2(a);
    z->count++;
    if (a > z->top) z->top = a;
  }
}

static void sum_part(void *context, size_t part) {
  const summing *call = context;
  hu_s2fp8_sums sums = {0};
  size_t first = part * call->part, end = first + hui_least(call->part, call->n - first);
  uint32_t buffer[PIECE];
  while (first < end) {
    size_t k = hui_least(end - first, call->inc == 1 ? HU_S2_PIECE : PIECE);
    const float *x = call->x + (ptrdiff_t)first * call->inc;
    const uint32_t *bits = (const uint32_t *)(const void *)x;
    hu_s2_part piece;
    if (call->inc != 1) {
      for (size_t i = 0; i < k; i++) buffer[i] = hui_bits_of_float(x[(ptrdiff_t)i * call->inc]);
      bits = buffer;
    }
    if (call->lanes) {
      hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
      call->lanes->sum(k, bits, &piece);
      hui_float_env_leave(saved);
    } else {
      sum_core(k, bits, &piece);
    }
    add_part(&sums, &piece);
    first += k;
  }
  call->parts[part] = sums;
}

void hui_s2_sum_run(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, const hu_exec *exec) {
  hu_s2fp8_sums parts[HU_THREADS_MAX];
  uint32_t threads = hui_exec_threads(exec);
  summing call = {n, hui_part_size(n, threads, PART_MIN), x, incx, hui_level_for(exec)->s2fp8, parts};
  size_t count = hui_parts(n, call.part);
  hui_parallel(threads, count, sum_part, &call);
  for (size_t i = 0; i < count; i++) hui_s2_add_sums(sums, &parts[i]);
}

/* ---- a table for a call ---- */

/* Returns seven digits, the last one first. */
static uint32_t reversed_digits(uint32_t x) {
  x = (x & 0x07) << 4 | (x & 0x08) | (x & 0x70) >> 4;
  return (x & 0x11) << 2 | (x & 0x2A) | (x & 0x44) >> 2;
}

/* The tree's bounds are those of codes 64, then 32 and 96, then 16, 80, 48, 112: the digits of what was decided are the
 * highest of the code, the first decision the highest of all. */
static void make_tree(hu_s2_tree *tree, const hu_s2_search *search) {
  for (uint32_t level = 0; level < 7; level++) {
    for (uint32_t path = 0; path < (uint32_t)1 << level; path++) {
      uint32_t c = (uint32_t)64 >> level | reversed_digits(path);
      tree->bound[((uint32_t)1 << level) - 1 + path] =
          c <= search->spec.max_code ? search->table.bound[0][c] : 0xFFFFFFFF;
    }
  }
  for (uint32_t path = 0; path < HU_S2_CODES; path++) {
    uint32_t c = reversed_digits(path);
    tree->leaf_code[path] = c;
    tree->leaf_value[path] = search->table.value[c];
  }
}

void hui_s2_fill_table(hu_s2_table *z, const hu_s2 *map, const hu_s2_lanes *lanes) {
  if (hui_s2_may_be_quick(map)) {
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    hui_s2_fill_quickly(z, map, lanes);
    hui_float_env_leave(saved);
  } else {
    for (uint32_t i = 0; i < 2 * HU_S2_CODES; i++) hui_s2_fill_entry(z, map, i);
  }
}

/* Fills hui_s2_bucket of a sign: those up to the one that holds bound c, or begins with it, reach c - 1 bounds. */
static void fill_buckets(hu_s2_search *search, uint32_t sign) {
  const uint32_t *bound = search->table.bound[sign], max = search->spec.max_code, shift = search->shift[sign];
  uint32_t next = 0, last = HU_S2_BUCKETS, within = 0, c;
  for (c = 2; c <= max; c++) {
    uint32_t distance = bound[c] - search->first[sign], j = distance >> shift,
             inside = (distance & (((uint32_t)1 << shift) - 1)) != 0;
    if (j >= HU_S2_BUCKETS) break;
    if (j + inside > next) memset(search->base[sign] + next, (int)(c - 1), j + inside - next);
    if (j + inside > next) next = j + inside;
    if (!inside) continue;
    within = j == last ? within + 1 : 1;
    last = j;
    if (within > search->most[sign]) search->most[sign] = within;
  }
  memset(search->base[sign] + next, (int)(c - 1), HU_S2_BUCKETS - next);
}

/* known: its table; NULL: to be made. */
static void make_search(hu_s2_search *search, hu_s2_tree *tree, const hu_s2 *map, const hu_s2_lanes *lanes,
                        const hu_s2_table *known) {
  memset(search, 0, sizeof *search);
  memset(tree, 0, sizeof *tree);
  if (known) {
    search->table = *known;
  } else {
    hui_s2_fill_table(&search->table, map, lanes);
  }
  hui_s2_search_start(search, map);
  fill_buckets(search, 0);
  size_t bounds = map->spec.max_code + 2; /* those behind are not filled */
  if (memcmp(search->table.bound[0], search->table.bound[1], bounds * sizeof search->table.bound[0][0]) == 0) {
    memcpy(search->base[1], search->base[0], sizeof search->base[0]);
    search->most[1] = search->most[0];
  } else {
    fill_buckets(search, 1);
  }
  tree->symmetric = !hui_looks_at_sign(&map->spec);
  for (uint32_t c = 0; c < HU_S2_CODES; c++) {
    if (search->table.exact[c] == HU_S2_NEVER) continue;
    if (tree->exact_count < HU_S2_FEW) tree->exact[tree->exact_count] = search->table.exact[c];
    tree->exact_count++;
  }
  make_tree(tree, search);
}

/* ---- codes and values ---- */

typedef struct making {
  size_t n, part, size;
  uint8_t *z;
  const uint32_t *x;
  ptrdiff_t incz, incx;
  const hu_s2 *map;
  const hu_s2_search *search;
  const hu_s2_tree *tree;
  const hu_s2_lanes *lanes; /* NULL: one by one */
  hu_stream stream;
  int bypass;
  const hu_streams *streams; /* NULL: from the first element to the last */
  hu_events *counts;         /* one per part */
} making;

static size_t out_size(const making *call) { return call->size ? call->size : 4; }
static uint8_t *z_at(const making *call, size_t i) {
  return call->z + (ptrdiff_t)i * call->incz * (ptrdiff_t)out_size(call);
}

static void make_core(const making *call, size_t first, size_t n, hu_events *counts) {
  uint32_t bits = call->map->spec.bits;
  for (size_t i = first; i < first + n; i++) {
    uint32_t events, random = 0;
    if (bits) random = hui_stream_at(call->stream.key, call->stream.counter + i) >> (32 - bits);
    uint32_t code = hui_s2_element(call->map, call->x[(ptrdiff_t)i * call->incx], random, &events);
    hui_store_code(z_at(call, i), out_size(call), call->size ? code : hui_s2_decoded(call->map, code));
    hu_events_count(counts, events);
  }
}

static void make_lanes(const making *call, size_t n, void *z, const uint32_t *x, hu_events *counts) {
  if (call->size) {
    call->lanes->encode(call->search, call->tree, n, z, x, counts);
  } else {
    call->lanes->quantize(call->search, call->tree, n, z, x, call->bypass, counts);
  }
}

typedef struct make_walking {
  const making *call;
  hu_events *counts;
} make_walking;

static void walk_lanes(void *context, size_t first, size_t n, uint32_t *z) {
  const make_walking *walking = context;
  make_lanes(walking->call, n, z ? (void *)z : z_at(walking->call, first), walking->call->x + first, walking->counts);
}

static void make_in_streams(const making *call, size_t first, size_t n, hu_events *counts) {
  make_walking walking = {call, counts};
  hu_streams_part streams = {call->x, call->size ? NULL : (uint32_t *)(void *)call->z, walk_lanes, &walking};
  call->streams->walk(&streams, first, n);
}

static void make_part(void *context, size_t part) {
  const making *call = context;
  size_t first = part * call->part, end = first + hui_least(call->part, call->n - first);
  uint32_t in[PIECE], out[PIECE];
  hu_events counts = {0};
  if (!call->lanes) {
    make_core(call, first, end - first, &counts);
    first = end;
  } else if (call->streams) {
    make_in_streams(call, first, end - first, &counts);
    first = end;
  } else if (call->incx == 1 && call->incz == 1) {
    make_lanes(call, end - first, z_at(call, first), call->x + first, &counts);
    first = end;
  }
  while (first < end) {
    size_t k = hui_least(end - first, PIECE);
    for (size_t i = 0; i < k; i++) in[i] = call->x[(ptrdiff_t)(first + i) * call->incx];
    make_lanes(call, k, out, in, &counts);
    for (size_t i = 0; i < k; i++) memcpy(z_at(call, first + i), (uint8_t *)out + i * out_size(call), out_size(call));
    first += k;
  }
  call->counts[part] = counts;
}

void hui_s2_run(size_t n, void *z, ptrdiff_t incz, size_t size, const float *x, ptrdiff_t incx, const hu_s2 *map,
                const hu_s2_table *known, const hu_exec *exec, hu_events *events) {
  hu_events counts[HU_THREADS_MAX];
  hu_s2_search search;
  hu_s2_tree tree;
  uint32_t threads = hui_exec_threads(exec);
  making call;
  memset(&call, 0, sizeof call);
  call.n = n;
  call.part = hui_part_size(n, threads, PART_MIN);
  call.size = size;
  call.z = z;
  call.x = (const uint32_t *)(const void *)x;
  call.incz = incz;
  call.incx = incx;
  call.map = map;
  if (known || (n >= (hui_s2_may_be_quick(map) ? HU_S2_QUICK_MIN : TABLE_MIN) && hui_s2_may_table(&map->spec)))
    call.lanes = hui_level_for(exec)->s2fp8;
  if (call.lanes) {
    make_search(&search, &tree, map, call.lanes, known);
    call.search = &search;
    call.tree = &tree;
  }
  call.stream = hui_exec_stream(exec);
  call.bypass = (const void *)z != (const void *)x && incz == 1 && incx == 1 && n >= HU_S2_BYPASS_MIN;
  if (call.bypass && call.lanes) call.streams = hui_streams_for(exec);
  if (call.streams) call.bypass = 0; /* the walk writes around the caches */
  call.counts = counts;
  size_t parts = hui_parts(n, call.part);
  hui_parallel(threads, parts, make_part, &call);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}

/* ---- back ---- */

typedef struct undoing {
  size_t n, part, size;
  float *z;
  const uint8_t *x;
  ptrdiff_t incz, incx;
  const hu_s2 *map;
  const uint32_t *values; /* by code; NULL: each by itself */
  uint32_t mask;          /* digits of a code */
} undoing;

static void undo_part(void *context, size_t part) {
  const undoing *call = context;
  size_t first = part * call->part, end = first + hui_least(call->part, call->n - first);
  if (call->values && call->size == 1 && call->incx == 1 && call->incz == 1) {
    for (; first < end; first++) call->z[first] = hui_float_of_bits(call->values[call->x[first]]);
  }
  for (size_t i = first; i < end; i++) {
    uint32_t code = hui_load_code(call->x + (ptrdiff_t)i * call->incx * (ptrdiff_t)call->size, call->size) & call->mask;
    uint32_t value = call->values ? call->values[code] : hui_s2_decoded(call->map, code);
    call->z[(ptrdiff_t)i * call->incz] = hui_float_of_bits(value);
  }
}

void hui_s2_undo(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, size_t size, const hu_s2 *map,
                 const hu_exec *exec) {
  uint32_t values[2 * HU_S2_CODES], threads = hui_exec_threads(exec), mask = map->spec.mag_mask | map->spec.sign_mask;
  undoing call = {n, hui_part_size(n, threads, PART_MIN), size, z, x, incz, incx, map, NULL, mask};
  if (mask < 2 * HU_S2_CODES && n > mask && hui_level_for(exec)->bits) {
    for (uint32_t i = 0; i < 2 * HU_S2_CODES; i++) values[i] = hui_s2_decoded(map, i & mask);
    call.values = values;
  }
  hui_parallel(threads, hui_parts(n, call.part), undo_part, &call);
}
