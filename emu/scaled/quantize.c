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

static void run_group(const hu_scaled_work *work, size_t down, size_t across, hu_scaled_group *group,
                      hu_events *counts) {
  size_t side = work->shape.side_cols;
  group->row = down * work->shape.side_rows;
  group->last = hui_least(group->row + work->shape.side_rows, work->call.rows);
  group->col = across * side;
  group->count = hui_least(work->across, work->shape.block_cols - across);
  group->n = hui_least(group->count * side, work->call.cols - group->col);
  group->stats = work->call.stats ? work->call.stats + down * work->shape.block_cols + across : NULL;
  hui_scaled_scales(work, group, counts);
  for (size_t k = 0, next; k < group->count; k = next) {
    for (next = k + 1; next < group->count && group->way[next] == group->way[k];) next++;
    if (group->way[k] != HU_DONE) hui_scaled_elements(work, group, k, next, counts);
  }
}

/* Rounds piece `number` of the rows, all of its blocks together. */
static void run_rows(const hu_scaled_work *work, size_t number, hu_scaled_group *group, hu_events *counts) {
  group->row = number * work->together;
  group->last = hui_least(group->row + work->together, work->call.rows);
  group->col = 0;
  group->n = work->call.cols;
  group->count = (group->last - group->row) * work->shape.block_cols;
  group->stats = NULL;
  hui_scaled_scales(work, group, counts);
  hui_scaled_rows(work, group, counts);
}

/* Asks for what is behind four groups of a page each from item i on, in the order of emu/array/streams.h. */
static void ask_groups(const hu_scaled_work *work, size_t i) {
  size_t col = (i + 4) * HU_STREAMS_PAGE;
  int pages = work->call.rows == 1 && work->across * work->shape.side_cols == HU_STREAMS_PAGE;
  if (pages && i % 4 == 0 && col + HU_STREAMS_BLOCK <= work->call.cols) work->streams->ask(hui_scaled_x(work, 0, col));
}

static void groups_part(void *context, size_t part) {
  const hu_scaled_work *work = context;
  hu_events counts = {0};
  hu_scaled_group group;
  hui_scaled_group_start(&group);
  size_t first = part * work->part, last = hui_least(first + work->part, work->items);
  for (size_t i = first; i < last; i++) {
    if (work->streams) ask_groups(work, i);
    if (work->together) {
      run_rows(work, i, &group, &counts);
    } else {
      run_group(work, i / work->groups, i % work->groups * work->across, &group, &counts);
    }
  }
  work->counts[part] = counts;
}

/* ---- in spans, where one scale covers everything ---- */

static size_t spans_in_row(const hu_scaled_work *work) { return (work->call.cols - 1) / SPAN + 1; }

static hu_scaled_span span_at(const hu_scaled_work *work, size_t i) {
  size_t col = i % spans_in_row(work) * SPAN;
  hu_scaled_span span = {i / spans_in_row(work), col, hui_least(SPAN, work->call.cols - col)};
  return span;
}

/* Asks for the span behind number i. */
static void ask_span(const hu_scaled_work *work, size_t i) {
  if (i + 1 >= work->items) return;
  hu_scaled_span span = span_at(work, i + 1);
  if (span.n == HU_STREAMS_BLOCK) work->streams->ask(hui_scaled_x(work, span.row, span.col));
}

static void tops_part(void *context, size_t part) {
  const hu_scaled_work *work = context;
  uint32_t top = 0;
  uint64_t special = 0;
  size_t first = part * work->part, last = hui_least(first + work->part, work->items);
  for (size_t i = first; i < last; i++) {
    hu_scaled_span span = span_at(work, i);
    const uint32_t *x = hui_scaled_x(work, span.row, span.col);
    uint32_t own = 0;
    if (work->streams) ask_span(work, i);
    hui_scaled_look(work, span.n, span.n, x, &own);
    if (own >= 0x7F800000) own = hui_scaled_limited_top(work, span.n, x, 0, &special);
    top = own > top ? own : top;
  }
  work->tops[part] = top;
  work->counts[part].nan_in = special;
}

/* Checks whether a span has elements that are not finite. */
static int is_special(const hu_scaled_work *work, const hu_scaled_span *span) {
  uint32_t top = 0;
  if (work->one_special) hui_scaled_look(work, span->n, span->n, hui_scaled_x(work, span->row, span->col), &top);
  return top >= 0x7F800000;
}

/* Rounds a span as a group of one block. */
static void run_span(const hu_scaled_work *work, const hu_scaled_span *span, hu_scaled_group *group,
                     hu_events *counts) {
  if (group->way[0] == HU_BY_CORE || is_special(work, span)) {
    hui_scaled_core(work, *span, &work->one, counts);
    return;
  }
  group->row = span->row;
  group->last = span->row + 1;
  group->col = span->col;
  group->n = span->n;
  hui_scaled_elements(work, group, 0, 1, counts);
}

static void one_part(void *context, size_t part) {
  const hu_scaled_work *work = context;
  hu_events counts = {0};
  hu_scaled_group group;
  hui_scaled_group_start(&group);
  group.count = 1;
  group.stats = NULL;
  group.way[0] = (uint8_t)hui_scaled_way(work, &work->one, work->one_top, &group.by[0], &group.back[0]);
  size_t first = part * work->part, last = hui_least(first + work->part, work->items);
  for (size_t i = first; i < last; i++) {
    hu_scaled_span span = span_at(work, i);
    if (work->streams) ask_span(work, i);
    run_span(work, &span, &group, &counts);
  }
  work->counts[part] = counts;
}

/* ---- a call ---- */

/* Runs `items` of about `size` elements each; returns the number of parts. */
static size_t in_parts(hu_scaled_work *work, size_t items, size_t size, void (*run_part)(void *, size_t)) {
  uint32_t threads = hui_exec_threads(work->call.exec);
  size_t least = size >= PART_MIN ? 1 : PART_MIN / size;
  work->items = items;
  work->part = (items - 1) / threads + 1;
  if (work->part < least) work->part = least;
  size_t parts = (items - 1) / work->part + 1;
  hui_parallel(threads, parts, run_part, work);
  return parts;
}

static void add_counts(const hu_scaled_work *work, size_t parts) {
  for (size_t i = 0; work->call.events && i < parts; i++) hu_events_add(work->call.events, &work->counts[i]);
}

/* Finds amax of the matrix, and counts its special elements. */
static uint32_t whole_amax(hu_scaled_work *work, uint64_t *special) {
  size_t parts = in_parts(work, work->call.rows * spans_in_row(work), hui_least(SPAN, work->call.cols), tops_part);
  uint32_t top = 0;
  *special = 0;
  for (size_t i = 0; i < parts; i++) {
    if (work->tops[i] > top) top = work->tops[i];
    *special += work->counts[i].nan_in;
  }
  return top;
}

static void run_one(hu_scaled_work *work) {
  uint64_t special;
  uint32_t own = whole_amax(work, &special);
  uint32_t amax = work->call.amax && !work->scaler.two ? hui_bits_of_float(*work->call.amax) & 0x7FFFFFFF : own;
  work->one = hui_shared_of(&work->scaler, amax, special && work->scaler.special == HU_SPECIAL_NAN);
  work->one_top = own;
  work->one_special = special != 0;
  if (work->call.codes) hui_store_code(hui_scaled_scale(work, 0, 0), work->shape.scale_size, work->one.code);
  size_t parts = in_parts(work, work->call.rows * spans_in_row(work), hui_least(SPAN, work->call.cols), one_part);
  add_counts(work, parts);
  if (!work->call.stats) return;
  memset(work->call.stats, 0, sizeof *work->call.stats);
  work->call.stats->amax = hui_float_of_bits(own);
  work->call.stats->scale = work->one.code;
  work->call.stats->special = special;
  for (size_t i = 0; i < parts; i++) {
    work->call.stats->saturated += work->counts[i].saturated;
    work->call.stats->to_zero += work->counts[i].to_zero;
  }
}

/* Rows of whole blocks, one after another, are one row. */
static void flatten(hu_scaled_work *work) {
  hu_scaled_call *call = &work->call;
  hu_scaled_shape *shape = &work->shape;
  if (shape->side_rows != 1 || call->cols % shape->side_cols || call->ldx != call->cols ||
      (call->z && call->ldz != call->cols))
    return;
  if (call->codes && (call->codes->ld != call->cols || call->codes->lds != shape->block_cols)) return;
  call->cols *= call->rows;
  shape->block_cols *= call->rows;
  call->rows = shape->block_rows = 1;
}

static int kernels_can(const hu_scaled_work *work) {
  const hu_spec *spec = &work->scaler.element;
  return !work->call.z || (spec->fits_binary32 && spec->emin - spec->m >= -126);
}

void hui_scaled_choose_lanes(hu_scaled_work *work) {
  const hu_level *level = hui_level_for(work->call.exec);
  work->kernels = level->convert;
  work->lanes = level->scaled_rows;
  int strips = hui_scaled_grid_of(&work->grid, &work->scaler),
      narrow = strips || hui_lane_constants_of(&work->constants, &work->scaler.element);
  if (strips) work->constants = work->grid.constants;
  if (work->kernels && (!work->lanes || !narrow || !kernels_can(work))) work->kernels = NULL;
  if (work->kernels && strips) work->strips = level->scaled_strips;
  if (work->kernels && work->call.rows * work->call.cols >= HU_STREAMS_LEAST)
    work->streams = hui_streams_for(work->call.exec);
}

/* Returns how many rows of blocks that have one row each go together: values under scales of powers of two, by strips,
 * without random words or statistics; as many as stay in the first-level cache. */
static size_t rows_together(const hu_scaled_work *work) {
  const size_t side = work->shape.side_cols;
  int by_strips = work->has_powers && work->call.z && !work->call.stats && work->grid.constants.round < HU_SRA;
  int sides = work->shape.block_cols == 1 || (side >= HU_SIDE_MIN && (side & (side - 1)) == 0);
  if (!by_strips || !sides || work->shape.side_rows != 1 || work->call.cols > HU_STRIP) return 0;
  size_t most = 4 * HU_STRIP / work->call.cols, blocks = HU_GROUP / work->shape.block_cols;
  return most < blocks ? most : blocks;
}

void hui_scaled_run(const hu_scaled_call *call, const hu_scaler *scaler) {
  hu_scaled_work work;
  hu_events counts[HU_THREADS_MAX];
  uint32_t tops[HU_THREADS_MAX];
  uint64_t special;
  memset(&work, 0, sizeof work);
  work.call = *call;
  work.counts = counts;
  work.tops = tops;
  work.scaler = *scaler;
  work.four_six = hui_four_six_of(&call->scaling, &work.scaler);
  int empty = call->rows == 0 || call->cols == 0;
  if (!empty) hui_scaled_choose_lanes(&work);
  if (work.scaler.two) {
    uint32_t amax = call->amax ? hui_bits_of_float(*call->amax) & 0x7FFFFFFF : empty ? 0 : whole_amax(&work, &special);
    if (work.four_six.on)
      hui_four_six_tensor(&work.four_six, &work.scaler, amax);
    else
      hui_scaler_tensor(&work.scaler, amax);
    if (call->codes) *call->codes->tensor = hui_float_of_num(work.scaler.tensor);
  }
  if (empty) return;
  work.shape = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  if (work.shape.block_rows == 1 && work.shape.block_cols == 1 && !work.four_six.on) {
    run_one(&work);
    return;
  }
  flatten(&work);
  hui_scaled_scales_plan(&work);
  work.across = work.shape.side_cols >= HU_STRIP ? 1 : HU_STRIP / work.shape.side_cols;
  work.groups = (work.shape.block_cols - 1) / work.across + 1;
  work.together = rows_together(&work);
  if (work.together) {
    size_t items = (work.call.rows - 1) / work.together + 1;
    add_counts(&work, in_parts(&work, items, work.together * work.call.cols, groups_part));
    return;
  }
  add_counts(&work, in_parts(&work, work.shape.block_rows * work.groups,
                             work.across * work.shape.side_rows * work.shape.side_cols, groups_part));
}
