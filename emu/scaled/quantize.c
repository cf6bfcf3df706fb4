/* SPDX-License-Identifier: MIT */
/* hu_scaled_encode and hu_scaled_quantize after their checks: chooses kernels and distributes groups of blocks over
 * threads. A single block that covers the matrix is handled separately. */
#include "emu/base/exec.h"
#include "emu/scaled/call.h"

#include "emu/base/threads.h"
#include "emu/scaled/work.h"
#include "emu/simd/level.h"

enum {
  PART_MIN = 1 << 14, /* elements that make a part of their own worth while */
  SPAN = 4096         /* elements of a row that threads take at a time where blocks do not matter */
};

/* ---- groups ---- */

static void run_group(const hu_scaled_work *g, size_t p, size_t q, hu_scaled_group *w, hu_events *counts) {
  size_t side = g->s.side_cols;
  w->row = p * g->s.side_rows;
  w->last = hui_least(w->row + g->s.side_rows, g->c.rows);
  w->col = q * side;
  w->count = hui_least(g->across, g->s.block_cols - q);
  w->n = hui_least(w->count * side, g->c.cols - w->col);
  w->stats = g->c.stats ? g->c.stats + p * g->s.block_cols + q : NULL;
  hui_scaled_scales(g, w, counts);
  for (size_t k = 0, next; k < w->count; k = next) {
    for (next = k + 1; next < w->count && w->way[next] == w->way[k];) next++;
    if (w->way[k] != HU_DONE) hui_scaled_elements(g, w, k, next, counts);
  }
}

/* Rows from p times so many on, together. */
static void run_rows(const hu_scaled_work *g, size_t p, hu_scaled_group *w, hu_events *counts) {
  w->row = p * g->together;
  w->last = hui_least(w->row + g->together, g->c.rows);
  w->col = 0;
  w->n = g->c.cols;
  w->count = (w->last - w->row) * g->s.block_cols;
  w->stats = NULL;
  hui_scaled_scales(g, w, counts);
  hui_scaled_rows(g, w, counts);
}

/* Four groups of a page each from item i on: what is behind them is asked for, in the order of emu/array/streams.h. */
static void ask_groups(const hu_scaled_work *g, size_t i) {
  size_t col = (i + 4) * HU_STREAMS_PAGE;
  int pages = g->c.rows == 1 && g->across * g->s.side_cols == HU_STREAMS_PAGE;
  if (pages && i % 4 == 0 && col + HU_STREAMS_BLOCK <= g->c.cols) g->streams->ask(hui_scaled_x(g, 0, col));
}

static void groups_part(void *context, size_t part) {
  const hu_scaled_work *g = context;
  hu_events counts = {0};
  hu_scaled_group w;
  hui_scaled_group_start(&w);
  size_t first = part * g->part, last = hui_least(first + g->part, g->items);
  for (size_t i = first; i < last; i++) {
    if (g->streams) ask_groups(g, i);
    if (g->together) {
      run_rows(g, i, &w, &counts);
    } else {
      run_group(g, i / g->groups, i % g->groups * g->across, &w, &counts);
    }
  }
  g->counts[part] = counts;
}

/* ---- in spans, where one scale covers everything ---- */

static size_t spans_in_row(const hu_scaled_work *g) { return (g->c.cols - 1) / SPAN + 1; }

static hu_scaled_span span_at(const hu_scaled_work *g, size_t i) {
  size_t col = i % spans_in_row(g) * SPAN;
  hu_scaled_span s = {i / spans_in_row(g), col, hui_least(SPAN, g->c.cols - col)};
  return s;
}

/* The span behind number i. */
static void ask_span(const hu_scaled_work *g, size_t i) {
  if (i + 1 >= g->items) return;
  hu_scaled_span s = span_at(g, i + 1);
  if (s.n == HU_STREAMS_BLOCK) g->streams->ask(hui_scaled_x(g, s.row, s.col));
}

static void tops_part(void *context, size_t part) {
  const hu_scaled_work *g = context;
  uint32_t top = 0;
  uint64_t special = 0;
  size_t first = part * g->part, last = hui_least(first + g->part, g->items);
  for (size_t i = first; i < last; i++) {
    hu_scaled_span s = span_at(g, i);
    const uint32_t *x = hui_scaled_x(g, s.row, s.col);
    uint32_t own = 0;
    if (g->streams) ask_span(g, i);
    hui_scaled_look(g, s.n, s.n, x, &own);
    if (own >= 0x7F800000) own = hui_scaled_limited_top(g, s.n, x, 0, &special);
    top = own > top ? own : top;
  }
  g->tops[part] = top;
  g->counts[part].nan_in = special;
}

/* Has a span elements that are not finite? */
static int is_special(const hu_scaled_work *g, const hu_scaled_span *s) {
  uint32_t top = 0;
  if (g->one_special) hui_scaled_look(g, s->n, s->n, hui_scaled_x(g, s->row, s->col), &top);
  return top >= 0x7F800000;
}

/* A span as a group of one block. */
static void run_span(const hu_scaled_work *g, const hu_scaled_span *s, hu_scaled_group *w, hu_events *counts) {
  if (w->way[0] == HU_BY_CORE || is_special(g, s)) {
    hui_scaled_core(g, *s, &g->one, counts);
    return;
  }
  w->row = s->row;
  w->last = s->row + 1;
  w->col = s->col;
  w->n = s->n;
  hui_scaled_elements(g, w, 0, 1, counts);
}

static void one_part(void *context, size_t part) {
  const hu_scaled_work *g = context;
  hu_events counts = {0};
  hu_scaled_group w;
  hui_scaled_group_start(&w);
  w.count = 1;
  w.stats = NULL;
  w.way[0] = (uint8_t)hui_scaled_way(g, &g->one, g->one_top, &w.by[0], &w.back[0]);
  size_t first = part * g->part, last = hui_least(first + g->part, g->items);
  for (size_t i = first; i < last; i++) {
    hu_scaled_span s = span_at(g, i);
    if (g->streams) ask_span(g, i);
    run_span(g, &s, &w, &counts);
  }
  g->counts[part] = counts;
}

/* ---- a call ---- */

/* Runs `items` of about `size` elements each; returns the number of parts. */
static size_t in_parts(hu_scaled_work *g, size_t items, size_t size, void (*run_part)(void *, size_t)) {
  uint32_t threads = hui_exec_threads(g->c.exec);
  size_t least = size >= PART_MIN ? 1 : PART_MIN / size;
  g->items = items;
  g->part = (items - 1) / threads + 1;
  if (g->part < least) g->part = least;
  size_t parts = (items - 1) / g->part + 1;
  hui_parallel(threads, parts, run_part, g);
  return parts;
}

static void add_counts(const hu_scaled_work *g, size_t parts) {
  for (size_t i = 0; g->c.events && i < parts; i++) hu_events_add(g->c.events, &g->counts[i]);
}

/* amax of the matrix, and its special elements counted. */
static uint32_t whole_amax(hu_scaled_work *g, uint64_t *special) {
  size_t parts = in_parts(g, g->c.rows * spans_in_row(g), hui_least(SPAN, g->c.cols), tops_part);
  uint32_t top = 0;
  *special = 0;
  for (size_t i = 0; i < parts; i++) {
    if (g->tops[i] > top) top = g->tops[i];
    *special += g->counts[i].nan_in;
  }
  return top;
}

static void run_one(hu_scaled_work *g) {
  uint64_t special;
  uint32_t own = whole_amax(g, &special);
  uint32_t amax = g->c.amax && !g->scaler.two ? hui_bits_of_float(*g->c.amax) & 0x7FFFFFFF : own;
  g->one = hui_shared_of(&g->scaler, amax, special && g->scaler.special == HU_SPECIAL_NAN);
  g->one_top = own;
  g->one_special = special != 0;
  if (g->c.codes) hui_store_code(hui_scaled_scale(g, 0, 0), g->s.scale_size, g->one.code);
  size_t parts = in_parts(g, g->c.rows * spans_in_row(g), hui_least(SPAN, g->c.cols), one_part);
  add_counts(g, parts);
  if (!g->c.stats) return;
  memset(g->c.stats, 0, sizeof *g->c.stats);
  g->c.stats->amax = hui_float_of_bits(own);
  g->c.stats->scale = g->one.code;
  g->c.stats->special = special;
  for (size_t i = 0; i < parts; i++) {
    g->c.stats->saturated += g->counts[i].saturated;
    g->c.stats->to_zero += g->counts[i].to_zero;
  }
}

/* Rows of whole blocks, one after another, are one row. */
static void flatten(hu_scaled_work *g) {
  hu_scaled_call *c = &g->c;
  hu_scaled_shape *s = &g->s;
  if (s->side_rows != 1 || c->cols % s->side_cols || c->ldx != c->cols || (c->z && c->ldz != c->cols)) return;
  if (c->codes && (c->codes->ld != c->cols || c->codes->lds != s->block_cols)) return;
  c->cols *= c->rows;
  s->block_cols *= c->rows;
  c->rows = s->block_rows = 1;
}

static int kernels_can(const hu_scaled_work *g) {
  const hu_spec *f = &g->scaler.element;
  return !g->c.z || (f->fits_binary32 && f->emin - f->m >= -126);
}

/* Which lanes and kernels serve. */
static void choose(hu_scaled_work *g) {
  const hu_level *level = hui_level_for(g->c.exec);
  g->kernels = level->convert;
  g->lanes = level->scaled_rows;
  int strips = hui_scaled_grid_of(&g->grid, &g->scaler),
      narrow = strips || hui_lane_constants_of(&g->constants, &g->scaler.element);
  if (strips) g->constants = g->grid.constants;
  if (g->kernels && (!g->lanes || !narrow || !kernels_can(g))) g->kernels = NULL;
  if (g->kernels && strips) g->strips = level->scaled_strips;
  if (g->kernels && g->c.rows * g->c.cols >= HU_STREAMS_LEAST) g->streams = hui_streams_for(g->c.exec);
}

/* How many rows of blocks that have one row each go together: values under scales of powers of two, by strips, without
 * random words or statistics; as many as stay in the first-level cache. */
static size_t rows_together(const hu_scaled_work *g) {
  const size_t side = g->s.side_cols;
  int by_strips = g->has_powers && g->c.z && !g->c.stats && g->grid.constants.round < HU_SRA;
  int sides = g->s.block_cols == 1 || (side >= HU_SIDE_MIN && (side & (side - 1)) == 0);
  if (!by_strips || !sides || g->s.side_rows != 1 || g->c.cols > HU_STRIP) return 0;
  size_t most = 4 * HU_STRIP / g->c.cols, blocks = HU_GROUP / g->s.block_cols;
  return most < blocks ? most : blocks;
}

void hui_scaled_run(const hu_scaled_call *call) {
  hu_scaled_work g;
  hu_events counts[HU_THREADS_MAX];
  uint32_t tops[HU_THREADS_MAX];
  uint64_t special;
  memset(&g, 0, sizeof g);
  g.c = *call;
  g.counts = counts;
  g.tops = tops;
  g.scaler = hui_scaler_of(call->scaling, call->mode);
  g.four_six = hui_four_six_of(&call->scaling, &g.scaler);
  int empty = call->rows == 0 || call->cols == 0;
  if (!empty) choose(&g);
  if (g.scaler.two) {
    uint32_t amax = call->amax ? hui_bits_of_float(*call->amax) & 0x7FFFFFFF : empty ? 0 : whole_amax(&g, &special);
    if (g.four_six.on)
      hui_four_six_tensor(&g.four_six, &g.scaler, amax);
    else
      hui_scaler_tensor(&g.scaler, amax);
    if (call->codes) *call->codes->tensor = hui_float_of_num(g.scaler.tensor);
  }
  if (empty) return;
  g.s = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  if (g.s.block_rows == 1 && g.s.block_cols == 1 && !g.four_six.on) {
    run_one(&g);
    return;
  }
  flatten(&g);
  hui_scaled_scales_plan(&g);
  g.across = g.s.side_cols >= HU_STRIP ? 1 : HU_STRIP / g.s.side_cols;
  g.groups = (g.s.block_cols - 1) / g.across + 1;
  g.together = rows_together(&g);
  if (g.together) {
    size_t items = (g.c.rows - 1) / g.together + 1;
    add_counts(&g, in_parts(&g, items, g.together * g.c.cols, groups_part));
    return;
  }
  add_counts(&g, in_parts(&g, g.s.block_rows * g.groups, g.across * g.s.side_rows * g.s.side_cols, groups_part));
}
