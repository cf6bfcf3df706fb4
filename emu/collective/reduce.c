/* SPDX-License-Identifier: MIT */
/* hu_collective_reduce: what all participants hold after an all-reduce, a piece of the buffer at a time. Every base is
 * a tree of joins over its participants, which is walked depth first, so that few partial sums are held at once. */
#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/collective/quick.h"
#include "emu/collective/step.h"
#include "emu/core/round.h"

enum {
  RANKS_MAX = 1 << 24,
  SUM_WORDS = 36 /* of an exact sum of values of any format: 2^-1074 to 2^1024, 2^63 terms, a sign */
};

/* A base over its participants, for one piece. */
typedef struct base_walk {
  hu_step step;
  const hu_collective_call *call;
  uint64_t first, count; /* participants: of a group those from number `first` on; else groups */
  uint32_t group;        /* participants of a group; 0: these are participants themselves */
  int quick;             /* 1: exact sums may be binary64 numbers (quick.h) */
} base_walk;

static hu_partial solve(const base_walk *walk, hu_collective_buffer *z);

/* ---- leaves ---- */

/* Returns the first participant of number i. */
static uint64_t participant(const base_walk *walk, uint64_t i) {
  return walk->group ? i * walk->group : walk->first + i;
}

/* Returns what number i of the base begins with: a participant's numbers, or the sum of a group, which may lie in z. */
static hu_partial leaf(const base_walk *walk, uint64_t i, hu_collective_buffer *z) {
  const hu_collective_call *call = walk->call;
  if (!walk->group) {
    hu_partial own = {call->x[walk->first + i] + (walk->step.first - call->offset) * call->size, call->format};
    return own;
  }
  base_walk inner = *walk;
  inner.step.base = &call->model->base;
  inner.step.rounding = 0;
  inner.group = 0;
  inner.first = i * walk->group;
  inner.count = call->ranks - inner.first < walk->group ? call->ranks - inner.first : walk->group;
  return solve(&inner, z);
}

/* Joins x with what arrives of y, the sum of number i, into z, where x may lie. */
static hu_partial join(const base_walk *walk, hu_partial x, hu_partial y, uint64_t i, int both,
                       hu_collective_buffer *z) {
  hu_collective_buffer there, here, sum;
  uint64_t b = participant(walk, i);
  y = hui_step_send(&walk->step, y, b, HU_STEP_WIRE, &there);
  if (both) x = hui_step_send(&walk->step, x, b, HU_STEP_OTHER_WIRE, &here);
  if (x.data != z->word || hu_format_equal(x.format, walk->step.base->sum))
    return hui_step_join(&walk->step, x, y, b, z);
  hu_partial joined = hui_step_join(&walk->step, x, y, b, &sum);
  memcpy(z, &sum, sizeof sum);
  joined.data = z->word;
  return joined;
}

/* ---- trees ---- */

/* Sums numbers first to past - 1, halves first. */
static hu_partial pairwise(const base_walk *walk, uint64_t first, uint64_t past, hu_collective_buffer *z) {
  hu_collective_buffer right;
  if (past - first == 1) return leaf(walk, first, z);
  uint64_t m = first + (past - first + 1) / 2;
  hu_partial x = pairwise(walk, first, m, z), y = pairwise(walk, m, past, &right);
  return join(walk, x, y, m, 0, z);
}

/* Returns the sum of number i and all those that lie less than `span` behind it. */
static hu_partial tree(const base_walk *walk, uint64_t i, uint64_t span, hu_collective_buffer *z) {
  hu_collective_buffer right;
  if (span == 1) return leaf(walk, i, z);
  uint64_t half = span / 2;
  hu_partial x = tree(walk, i, half, z);
  if (i + half >= walk->count) return x;
  hu_partial y = tree(walk, i + half, half, &right);
  return join(walk, x, y, i + half, 0, z);
}

/* Returns the place of number i of doubling: over a power of two, `extra` numbers first take in a neighbour. */
static uint64_t doubling_number(uint64_t i, uint64_t extra) { return i < extra ? 2 * i : extra + i; }

static hu_partial doubling(const base_walk *walk, uint64_t i, uint64_t span, uint64_t extra, hu_collective_buffer *z) {
  hu_collective_buffer right;
  uint64_t number = doubling_number(i, extra), half = span / 2;
  if (span == 1) {
    hu_partial x = leaf(walk, number, z);
    if (i >= extra) return x;
    hu_partial y = leaf(walk, number + 1, &right);
    return join(walk, x, y, number + 1, 0, z);
  }
  hu_partial x = doubling(walk, i, half, extra, z), y = doubling(walk, i + half, half, extra, &right);
  return join(walk, x, y, doubling_number(i + half, extra), 1, z);
}

/* Moves a sum to z from a place that ends with the caller. */
static hu_partial moved(const base_walk *walk, hu_partial sum, hu_collective_buffer *z) {
  if (sum.data != z->word) memcpy(z, sum.data, walk->step.n * sizeof *z->word);
  sum.data = z->word;
  return sum;
}

/* The piece lies in one chunk, whose number is where it begins. */
static hu_partial ring(const base_walk *walk, hu_collective_buffer *z) {
  hu_collective_buffer own, other;
  uint64_t chunk = hui_chunk_of(walk->step.first, walk->call->n, walk->count), at = chunk;
  hu_partial sum = leaf(walk, chunk, &other);
  for (uint64_t turn = 1; turn < walk->count; turn++) {
    uint64_t next = (chunk + turn) % walk->count;
    hu_partial x = leaf(walk, next, &own);
    /* The sum moves between two places, so that a result never overlaps what it is made of. */
    sum = join(walk, x, sum, at, 0, sum.data == z->word ? &other : z);
    at = next;
  }
  return moved(walk, sum, z);
}

/* What arrives of number i of the base at the owner of a chunk, or in a switch. */
static hu_partial arrived(const base_walk *walk, uint64_t i, hu_collective_buffer *held, hu_collective_buffer *there) {
  return hui_step_send(&walk->step, leaf(walk, i, held), participant(walk, i), HU_STEP_WIRE, there);
}

static hu_partial direct(const base_walk *walk, hu_collective_buffer *z) {
  hu_collective_buffer held, there, first, other;
  hu_partial sum = arrived(walk, 0, &first, &other);
  for (uint64_t i = 1; i < walk->count; i++) {
    hu_partial x = arrived(walk, i, &held, &there);
    /* The sum moves between two places, as that of a ring. */
    sum = hui_step_join(&walk->step, sum, x, participant(walk, i), sum.data == z->word ? &other : z);
  }
  return moved(walk, sum, z);
}

/* ---- exact, switch ---- */

/* Covers all numbers that the base adds. */
static hu_sum_range sums_range(const base_walk *walk) {
  hu_sum_range z = hu_sum_range_of(walk->call->format);
  const hu_collective_base *inner = &walk->call->model->base, *own = walk->step.base;
  if (own->wired == HU_COLLECTIVE_WIRE_FORMAT) return hu_sum_range_of(own->wire);
  if (own->wired == HU_COLLECTIVE_WIRE_SCALED) return hu_sum_range_of(hui_format_binary32());
  if (!walk->group) return z;
  if (inner->kind != HU_COLLECTIVE_EXACT) z = hu_sum_range_of_both(z, hu_sum_range_of(inner->sum));
  if (inner->wired == HU_COLLECTIVE_WIRE_FORMAT) z = hu_sum_range_of_both(z, hu_sum_range_of(inner->wire));
  if (inner->wired == HU_COLLECTIVE_WIRE_SCALED) z = hu_sum_range_of_both(z, hu_sum_range_of(hui_format_binary32()));
  return z;
}

/* Formats, ranges and pieces are checked: the calls cannot fail. */
static void must(hu_status status) { (void)status; }

/* Checks for binary32 numbers of participants, rounded to nearest even. */
static int is_quick(const base_walk *walk) {
  static const hu_mode nearest;
  const hu_collective_call *call = walk->call;
  return walk->quick && !walk->group && hu_format_equal(call->format, hui_format_binary32()) &&
         memcmp(&call->mode, &nearest, sizeof nearest) == 0 && hui_quick_sums_possible();
}

/* Number i of the piece, as the sum of any terms is made. */
static float one_exact(const base_walk *walk, size_t i) {
  hu_sum sum = {{0}, 0, 0};
  uint32_t events, code;
  float z;
  for (uint64_t k = 0; k < walk->count; k++) hu_sum_add32(&sum, ((const float *)leaf(walk, k, NULL).data)[i]);
  code = hu_sum_round(&sum, walk->call->format, walk->call->mode, 0, &events);
  hu_events_count(walk->step.events, events);
  memcpy(&z, &code, sizeof z);
  return z;
}

static void exact_quickly(const base_walk *walk, float *z) {
  hu_quick_sums sums;
  hui_quick_sums_begin(&sums, walk->step.n, leaf(walk, 0, NULL).data);
  for (uint64_t k = 1; k < walk->count; k++) hui_quick_sums_add(&sums, walk->step.n, leaf(walk, k, NULL).data);
  uint64_t inexact = hui_quick_sums_round(&sums, walk->step.n, z);
  walk->step.events->inexact += inexact;
  for (size_t i = 0; i < walk->step.n; i++) {
    if (sums.lost[i] != 0) z[i] = one_exact(walk, i);
  }
}

/* Adds what arrives of all numbers of the base, and rounds each sum once. */
static hu_partial sum_once(const base_walk *walk, hu_format format, hu_mode mode, const hu_exec *exec,
                           hu_collective_buffer *z) {
  hu_collective_buffer there;
  uint64_t sums[HU_COLLECTIVE_PIECE * (1 + SUM_WORDS)];
  hu_sum_range range = sums_range(walk);
  hu_partial result = {z->word, format};
  memset(sums, 0, walk->step.n * (1 + range.words) * sizeof *sums);
  for (uint64_t i = 0; i < walk->count; i++) {
    hu_partial x = arrived(walk, i, z, &there);
    must(hu_sum_add_n(walk->step.n, sums, range, hu_codes(x.data, 1, x.format), NULL));
  }
  hu_how how = {mode, exec, walk->step.events};
  must(hu_sum_round_n(walk->step.n, hu_codes_out(z->word, 1, format), sums, range, &how));
  return result;
}

static hu_partial exact(const base_walk *walk, hu_collective_buffer *z) {
  const hu_collective_call *call = walk->call;
  hu_exec exec = {0, 0, {call->stream.key, call->stream.counter + walk->step.first}, {0}};
  hu_partial result = {z->word, call->format};
  if (!is_quick(walk)) return sum_once(walk, call->format, call->mode, &exec, z);
  exact_quickly(walk, (float *)(void *)z->word);
  return result;
}

static hu_partial in_switch(const base_walk *walk, hu_collective_buffer *z) {
  hu_exec exec = hui_step_words(&walk->step, participant(walk, 0), HU_STEP_SUM);
  return sum_once(walk, walk->step.base->sum, walk->step.base->mode, &exec, z);
}

/* ---- a base ---- */

static uint64_t power_below(uint64_t count) {
  uint64_t power = 1;
  while (power <= count / 2) power *= 2;
  return power;
}

/* Returns what all participants of the base hold in the end. Doubling sends it only to those that it took in first. */
static hu_partial everywhere(const base_walk *walk, hu_partial sum, hu_collective_buffer *z) {
  hu_collective_buffer sent;
  if (walk->step.base->kind == HU_COLLECTIVE_DOUBLING && power_below(walk->count) == walk->count) return sum;
  hu_partial x = hui_step_send(&walk->step, sum, participant(walk, 0), HU_STEP_LAST_WIRE, &sent);
  if (x.data != sent.word) return x;
  memcpy(z, &sent, sizeof sent);
  x.data = z->word;
  return x;
}

static hu_partial solve(const base_walk *walk, hu_collective_buffer *z) {
  uint64_t power = power_below(walk->count);
  hu_partial sum;
  if (walk->step.base->kind == HU_COLLECTIVE_EXACT) return exact(walk, z);
  if (walk->count == 1) return leaf(walk, 0, z);
  switch (walk->step.base->kind) {
    case HU_COLLECTIVE_PAIRWISE: sum = pairwise(walk, 0, walk->count, z); break;
    case HU_COLLECTIVE_TREE: sum = tree(walk, 0, power == walk->count ? power : 2 * power, z); break;
    case HU_COLLECTIVE_DOUBLING: sum = doubling(walk, 0, power, walk->count - power, z); break;
    case HU_COLLECTIVE_DIRECT: sum = direct(walk, z); break;
    case HU_COLLECTIVE_SWITCH: sum = in_switch(walk, z); break;
    default: sum = ring(walk, z); break;
  }
  return everywhere(walk, sum, z);
}

/* ---- the call ---- */

static void reduce_piece(const hu_collective_call *call, int quick, size_t first, size_t n, hu_events *events) {
  hu_collective_buffer z;
  base_walk walk = {{&call->model->base, first, n, 0, call->stream, events}, call, 0, call->ranks, 0, quick};
  if (call->model->group) {
    walk.step.base = &call->model->outer;
    walk.step.rounding = (uint64_t)HU_STEP_ROUNDINGS * call->ranks;
    walk.group = call->model->group;
    walk.count = (call->ranks - 1) / walk.group + 1;
  }
  hui_piece_finish(call, first, n, solve(&walk, &z), events);
}

typedef struct reduction {
  hu_collective_call call;
  int quick;
  size_t past, part; /* elements of the buffer; of a part, a multiple of HU_COLLECTIVE_PIECE */
  hu_events counts[HU_THREADS_MAX];
} reduction;

static void run_part(void *context, size_t part) {
  reduction *work = context;
  size_t first = work->call.offset + part * work->part, past = hui_least(work->past, first + work->part);
  for (size_t end; first < past; first = end) {
    end = hui_piece_end(&work->call, first);
    reduce_piece(&work->call, work->quick, first, end - first, &work->counts[part]);
  }
}

/* Scales travel with binary32 numbers. */
static int fits_wire(const hu_collective_base *base, hu_format format) {
  return base->wired != HU_COLLECTIVE_WIRE_SCALED || hu_format_fits_binary32(format);
}

static hu_status check_formats(hu_format format, const hu_collective *model, hu_mode mode) {
  hu_status status = hu_collective_check(model);
  if (status == HU_OK) status = hu_format_check(format, NULL);
  if (status == HU_OK) status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  if (!fits_wire(&model->base, format)) return HU_E_CARRIER;
  if (!model->group) return HU_OK;
  int inner = model->base.kind == HU_COLLECTIVE_EXACT ||
              (fits_wire(&model->outer, model->base.sum) &&
               (model->base.wired != HU_COLLECTIVE_WIRE_FORMAT || fits_wire(&model->outer, model->base.wire)));
  return inner && fits_wire(&model->outer, format) ? HU_OK : HU_E_CARRIER;
}

static hu_status check_places(size_t ranks, size_t n, void *z, hu_format format, const void *const *x) {
  size_t size = hui_code_bytes(format);
  hu_strided az = {z, size, 1};
  if (ranks == 0 || ranks > RANKS_MAX) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (!x) return HU_E_NULL;
  for (size_t rank = 0; rank < ranks; rank++) {
    hu_strided ax = {x[rank], size, 1};
    hu_status status = hui_check_pair(n, &az, &ax);
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

static hu_status check_codes(size_t ranks, size_t n, hu_format format, const void *const *x, const hu_exec *exec) {
  hu_status status = HU_OK;
  for (size_t rank = 0; n && rank < ranks && status == HU_OK; rank++)
    status = hui_code_array_check(n, x[rank], 1, format, hui_exec_threads(exec));
  return status;
}

static int is_part(size_t n, size_t first, size_t count) {
  if (first % HU_COLLECTIVE_PIECE || first > n || count > n - first) return 0;
  return first + count == n || count % HU_COLLECTIVE_PIECE == 0;
}

hu_status hu_collective_reduce_part(size_t ranks, size_t n, size_t first, size_t count, void *z, hu_format format,
                                    const void *const *x, const hu_collective *model, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  if (!how) how = &defaults;
  if (hui_is_elsewhere(how->exec)) return HU_E_DEVICE;
  reduction work;
  hu_status status = check_formats(format, model, how->mode);
  if (status == HU_OK && !is_part(n, first, count)) status = HU_E_SHAPE;
  if (status == HU_OK) status = check_places(ranks, count, z, format, x);
  if (status == HU_OK) status = check_codes(ranks, count, format, x, how->exec);
  if (status != HU_OK || count == 0) return status;
  uint32_t threads = hui_exec_threads(how->exec);
  hu_collective_call call = {ranks,  n,     first,     (const uint8_t *const *)x, z, hui_code_bytes(format),
                             format, model, how->mode, hui_exec_stream(how->exec)};
  work.call = call;
  work.quick = !(how->exec && ~how->exec->levels_off == 0);
  work.past = first + count;
  work.part = (count / threads / HU_COLLECTIVE_PIECE + 1) * HU_COLLECTIVE_PIECE;
  size_t parts = hui_parts(count, work.part);
  memset(work.counts, 0, parts * sizeof work.counts[0]);
  hui_parallel(threads, parts, run_part, &work);
  for (size_t i = 0; how->events && i < parts; i++) hu_events_add(how->events, &work.counts[i]);
  return HU_OK;
}

hu_status hu_collective_reduce(size_t ranks, size_t n, void *z, hu_format format, const void *const *x,
                               const hu_collective *model, const hu_how *how) {
  return hu_collective_reduce_part(ranks, n, 0, n, z, format, x, model, how);
}
