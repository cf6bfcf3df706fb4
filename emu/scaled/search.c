/* SPDX-License-Identifier: MIT */
/* hu_scaled_search of halfulp/importance.h: tries powers of two as the scale of each block. The values under each are
 * made as hu_scaled_apply makes them, by the paths of emu/scaled/work.h where blocks have finite elements; blocks that
 * are large, and stochastic modes, whose words go by an element's place in the matrix, take the core for the trials. */
#include "halfulp/importance.h"

#include <math.h>

#include "emu/base/float_env.h"
#include "emu/base/matrix_extent.h"
#include "emu/base/threads.h"
#include "emu/scaled/check.h"
#include "emu/scaled/work.h"

enum { TRIAL = 4096 }; /* elements of a block whose values are kept while scales are tried */

typedef struct search {
  hu_scaled_work work;
  hu_scaler least; /* the same under rule rceil: the least scale that a magnitude does not saturate under */
  const float *weights;
  size_t ld; /* from a row of weights to the next */
} search;

/* What one thread tries scales with. */
typedef struct trials {
  const search *asked;
  hu_scaled_work work; /* a call whose result are the values of one block, as a matrix of its own */
  hu_scaled_group group;
  uint32_t values[TRIAL];
} trials;

/* Where a block lies, and its magnitudes, as patterns. */
typedef struct magnitudes {
  hu_scaled_place place;
  uint32_t amax;           /* as section 2 of docs/scaled.md has it */
  uint64_t special;        /* elements that are not finite */
  uint32_t smallest, most; /* of elements that count and are not 0; most 0: there are none */
} magnitudes;

static float weight_of(const search *asked, size_t row, size_t col) { return asked->weights[row * asked->ld + col]; }
static int counts_for(float weight) { return (hui_bits_of_float(weight) & 0x7FFFFFFF) != 0; }

static magnitudes look(const search *asked, hu_scaled_place place) {
  magnitudes block = {place, 0, 0, UINT32_MAX, 0};
  for (size_t i = place.row; i < place.last; i++) {
    const uint32_t *x = hui_scaled_x(&asked->work, i, place.col);
    block.amax = hui_scaled_limited_top(&asked->work, place.n, x, block.amax, &block.special);
    for (size_t j = 0; j < place.n; j++) {
      uint32_t a = x[j] & 0x7FFFFFFF;
      if (!a || !counts_for(weight_of(asked, i, place.col + j))) continue;
      if (a < block.smallest) block.smallest = a;
      if (a > block.most) block.most = a;
    }
  }
  return block;
}

/* Adds what an element adds to the error. */
static double add_error(double sum, float weight, float value, float x) {
  double apart = (double)value - (double)x;
  return sum + (double)weight * (apart * apart);
}

/* Sets the one block of a group; returns its path. */
static int set_group(hu_scaled_group *group, const hu_scaled_work *work, const hu_scaled_place *place,
                     const hu_shared *shared, uint32_t top) {
  int way = hui_scaled_way(work, shared, top, &group->by[0], &group->back[0]);
  group->row = place->row;
  group->last = place->last;
  group->col = place->col;
  group->n = place->n;
  group->count = 1;
  group->stats = NULL;
  group->way[0] = (uint8_t)way;
  return way;
}

/* Computes the values of a block under a scale, row by row; 0: the core is to compute them. */
static int try_lanes(trials *own, const magnitudes *block, const hu_shared *shared) {
  const hu_scaled_place *place = &block->place;
  hu_scaled_work *work = &own->work;
  hu_scaled_place alone = {0, place->last - place->row, 0, place->n};
  hu_events ignored = {0};
  if (work->scaler.element.bits || place->n > TRIAL / alone.last) return 0;
  if (set_group(&own->group, work, &alone, shared, block->amax) == HU_BY_CORE) return 0;
  work->call.x = hui_scaled_x(&own->asked->work, place->row, place->col);
  work->call.ldz = place->n;
  hui_scaled_elements(work, &own->group, 0, 1, &ignored);
  return 1;
}

static uint32_t value_of(const hu_scaled_work *work, const hu_shared *shared, size_t row, size_t col) {
  const hu_stream stream = hui_exec_stream(work->call.exec);
  const uint32_t bits = work->scaler.element.bits;
  uint64_t word = stream.counter + (uint64_t)row * work->call.cols + col;
  uint32_t random = bits ? hui_stream_at(stream.key, word) >> (32 - bits) : 0, ignored;
  uint32_t code = hui_scaled_element(&work->scaler, shared, *hui_scaled_x(work, row, col), random, &ignored);
  return hui_scaled_value(&work->scaler, shared, code);
}

/* Returns the error of a block under a scale; where a sum reaches `most`, that or more. */
static double error_of(trials *own, const magnitudes *block, const hu_shared *shared, double most) {
  const search *asked = own->asked;
  const hu_scaled_place *place = &block->place;
  int there = try_lanes(own, block, shared);
  double sum = 0;
  for (size_t i = place->row; i < place->last; i++) {
    const uint32_t *x = hui_scaled_x(&asked->work, i, place->col), *values = own->values + (i - place->row) * place->n;
    for (size_t j = 0; j < place->n; j++) {
      float weight = weight_of(asked, i, place->col + j);
      if (!counts_for(weight)) continue;
      uint32_t value = there ? values[j] : value_of(&asked->work, shared, i, place->col + j);
      sum = add_error(sum, weight, hui_float_of_bits(value), hui_float_of_bits(x[j]));
    }
    if (!(sum < most)) return most;
  }
  return sum;
}

/* Returns the best scale for a block of finite elements of which some count: of equal ones the smallest. */
static hu_shared best_of(trials *own, const magnitudes *block) {
  const hu_scaler *scaler = &own->asked->work.scaler, *least_of = &own->asked->least;
  int32_t first = hui_scale_exponent(least_of, hui_unpack32(block->smallest)) - 1,
          last = hui_scale_exponent(least_of, hui_unpack32(block->most));
  if (first < scaler->low) first = scaler->low;
  hu_shared best = hui_shared_power(scaler, first);
  double least = error_of(own, block, &best, HUGE_VAL);
  for (int32_t e = first + 1; e <= last; e++) {
    hu_shared shared = hui_shared_power(scaler, e);
    double error = error_of(own, block, &shared, least);
    if (!(error < least)) continue;
    best = shared;
    least = error;
  }
  return best;
}

/* Returns the scale of a block; not inlined, for its sums must stay in the environment that make_block sets. */
__attribute__((noinline)) static hu_shared scale_of(trials *own, const magnitudes *block) {
  const hu_scaler *scaler = &own->asked->work.scaler;
  if (!block->special && block->most) return best_of(own, block);
  return hui_shared_of(scaler, block->amax, block->special && scaler->special == HU_SPECIAL_NAN);
}

/* Rounds the elements of a block under its scale. */
static void round_block(trials *own, const magnitudes *block, const hu_shared *shared, hu_events *counts) {
  const hu_scaled_work *work = &own->asked->work;
  const hu_scaled_place *place = &block->place;
  if (!block->special && set_group(&own->group, work, place, shared, block->amax) != HU_BY_CORE) {
    hui_scaled_elements(work, &own->group, 0, 1, counts);
    return;
  }
  for (size_t i = place->row; i < place->last; i++)
    hui_scaled_core(work, (hu_scaled_span){i, place->col, place->n}, shared, counts);
}

/* Makes block number k, counted row by row. */
static void make_block(trials *own, size_t k, hu_events *counts) {
  const hu_scaled_work *work = &own->asked->work;
  const hu_scaled_shape *shape = &work->shape;
  size_t down = k / shape->block_cols, across = k % shape->block_cols, row = down * shape->side_rows,
         col = across * shape->side_cols;
  hu_scaled_place place = {row, hui_least(row + shape->side_rows, shape->rows), col,
                           hui_least(shape->side_cols, shape->cols - col)};
  magnitudes block = look(own->asked, place);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  hu_shared shared = scale_of(own, &block);
  hui_float_env_leave(saved);
  hu_events events = {0};
  if (work->call.codes) hui_store_code(hui_scaled_scale(work, down, across), shape->scale_size, shared.code);
  round_block(own, &block, &shared, &events);
  hu_events_add(counts, &events);
  if (!work->call.stats) return;
  work->call.stats[k] = (hu_scaled_stats){.amax = hui_float_of_bits(block.amax),
                                          .scale = shared.code,
                                          .special = block.special,
                                          .saturated = events.saturated,
                                          .to_zero = events.to_zero};
}

static void run_part(void *context, size_t part) {
  const search *asked = context;
  size_t first = part * asked->work.part, last = hui_least(first + asked->work.part, asked->work.items);
  hu_events counts = {0};
  trials own;
  own.asked = asked;
  own.work = asked->work;
  own.work.call.codes = NULL;
  own.work.call.stats = NULL;
  own.work.call.z = own.values;
  hui_scaled_choose_lanes(&own.work);
  own.work.streams = NULL;
  hui_scaled_group_start(&own.group);
  for (size_t k = first; k < last; k++) make_block(&own, k, &counts);
  asked->work.counts[part] = counts;
}

static void run(search *asked) {
  hu_scaled_work *work = &asked->work;
  hu_events counts[HU_THREADS_MAX];
  uint32_t threads = hui_exec_threads(work->call.exec);
  work->counts = counts;
  hui_scaled_choose_lanes(work);
  work->streams = NULL;
  work->shape = hui_scaled_shape_of(work->call.rows, work->call.cols, &work->call.scaling);
  work->items = work->shape.block_rows * work->shape.block_cols;
  work->part = (work->items - 1) / threads + 1;
  size_t parts = (work->items - 1) / work->part + 1;
  hui_parallel(threads, parts, run_part, asked);
  for (size_t i = 0; work->call.events && i < parts; i++) hu_events_add(work->call.events, &counts[i]);
}

/* ---- checks ---- */

static hu_status check_scaling(search *asked, const hu_scaling *scaling) {
  hu_scaled_call *call = &asked->work.call;
  hu_status status = hui_scaling_unfold(&asked->work.scaler, scaling, call->mode, NULL);
  if (status == HU_OK) status = hu_mode_check(call->mode);
  if (status == HU_OK && (scaling->rule > HU_SCALE_RCEIL || scaling->amin)) status = HU_E_SCALING;
  if (status != HU_OK) return status;
  call->scaling = *scaling;
  asked->least = asked->work.scaler;
  asked->least.rule = HU_SCALE_RCEIL;
  return hui_scaled_made_check(call->rows, call->cols, call->codes, (const float *)(const void *)call->z, call->ldz,
                               (const float *)(const void *)call->x, call->ldx, scaling, call->mode, NULL, call->stats);
}

/* Checks that weights lie apart from what is written. */
static hu_status check_place(const search *asked, size_t rows) {
  const hu_scaled_call *call = &asked->work.call;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(call->rows, call->cols, &call->scaling);
  const hu_scaled *codes = call->codes;
  hu_matrix_extent weights, list[4] = {{0, 0, 0, 0}};
  hu_status status =
      hui_matrix_extent_of(&weights, asked->weights, rows, call->cols, rows > 1 ? asked->ld : call->cols, 4, 4);
  if (status == HU_OK && codes)
    status = hui_matrix_extent_of(&list[0], codes->codes, call->rows, call->cols, codes->ld, sizes.code_bytes, 1);
  if (status == HU_OK && codes)
    status = hui_matrix_extent_of(&list[1], codes->scales, sizes.block_rows, sizes.block_cols, codes->lds,
                                  sizes.scale_bytes, 1);
  if (status == HU_OK && call->z)
    status = hui_matrix_extent_of(&list[2], call->z, call->rows, call->cols, call->ldz, 4, 4);
  if (status == HU_OK && call->stats)
    status = hui_matrix_extent_of(&list[3], call->stats, sizes.block_rows, sizes.block_cols, sizes.block_cols,
                                  sizeof *call->stats, 1);
  for (size_t i = 0; i < 4 && status == HU_OK; i++)
    if (hui_matrix_extents_overlap(&list[i], &weights)) status = HU_E_OVERLAP;
  return status;
}

static hu_status check_weights(const search *asked, size_t rows) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < asked->work.call.cols; j++) {
      uint32_t bits = hui_bits_of_float(weight_of(asked, i, j));
      if (bits >= 0x7F800000 && bits != 0x80000000) return HU_E_SCALING;
    }
  return HU_OK;
}

static hu_status check(search *asked, const hu_output *z, const hu_view *x, const hu_view *weights,
                       hu_scaled_stats *stats) {
  hu_scaled_call *call = &asked->work.call;
  hu_scaled_extra extra = {NULL, stats};
  if (z->type.kind != HU_TYPE_SCALED && z->type.kind != HU_TYPE_SCALED_VALUES) return HU_E_FORMAT;
  if (weights->type.kind != HU_TYPE_BINARY32 || weights->type.reserved) return HU_E_FORMAT;
  hu_status status = hui_scaled_ends(call, z, x, &extra);
  if (status == HU_OK && (weights->stride != 1 || weights->row < 0)) status = HU_E_SHAPE;
  if (status == HU_OK) status = check_scaling(asked, z->type.scaling);
  asked->weights = weights->data;
  asked->ld = (size_t)weights->row;
  size_t rows = asked->ld && call->rows ? call->rows : call->rows > 0;
  if (status == HU_OK) status = check_place(asked, rows);
  return status == HU_OK ? check_weights(asked, rows) : status;
}

hu_status hu_scaled_search(size_t rows, size_t cols, const hu_output *z, const hu_view *x, const hu_view *weights,
                           hu_scaled_stats *stats, const hu_how *how) {
  search asked;
  memset(&asked, 0, sizeof asked);
  asked.work.call.rows = rows;
  asked.work.call.cols = cols;
  if (!z || !x || !weights) return HU_E_NULL;
  if (how) {
    asked.work.call.mode = how->mode;
    asked.work.call.exec = how->exec;
    asked.work.call.events = how->events;
  }
  if (hui_is_elsewhere(asked.work.call.exec)) return HU_E_DEVICE;
  hu_status status = check(&asked, z, x, weights, stats);
  if (status == HU_OK && rows && cols) run(&asked);
  return status;
}
