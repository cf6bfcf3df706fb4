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
typedef struct walk {
  hu_step step;
  const hu_collective_call *call;
  uint64_t first, count; /* participants: of a group those from number `first` on; else groups */
  uint32_t group;        /* participants of a group; 0: these are participants themselves */
  int quick;             /* 1: exact sums may be binary64 numbers (quick.h) */
} walk;

static hu_partial solve(const walk *w, hu_collective_room *z);

/* ---- leaves ---- */

/* The first participant of number i. */
static uint64_t participant(const walk *w, uint64_t i) { return w->group ? i * w->group : w->first + i; }

/* What number i of the base begins with: a participant's own numbers, or the sum of a group, which may lie in z. */
static hu_partial leaf(const walk *w, uint64_t i, hu_collective_room *z) {
  const hu_collective_call *c = w->call;
  if (!w->group) {
    hu_partial own = {c->x[w->first + i] + (w->step.first - c->offset) * c->size, c->format};
    return own;
  }
  walk inner = *w;
  inner.step.base = &c->model->base;
  inner.step.rounding = 0;
  inner.group = 0;
  inner.first = i * w->group;
  inner.count = c->ranks - inner.first < w->group ? c->ranks - inner.first : w->group;
  return solve(&inner, z);
}

/* p and what arrives of q, the sum of number i, joined into z, where p may lie. */
static hu_partial join(const walk *w, hu_partial p, hu_partial q, uint64_t i, int both, hu_collective_room *z) {
  hu_collective_room there, here, sum;
  uint64_t b = participant(w, i);
  q = hui_step_send(&w->step, q, b, HU_STEP_WIRE, &there);
  if (both) p = hui_step_send(&w->step, p, b, HU_STEP_OTHER_WIRE, &here);
  if (p.data != z->word || hu_format_equal(p.format, w->step.base->sum)) return hui_step_join(&w->step, p, q, b, z);
  hu_partial joined = hui_step_join(&w->step, p, q, b, &sum);
  memcpy(z, &sum, sizeof sum);
  joined.data = z->word;
  return joined;
}

/* ---- trees ---- */

/* Numbers l to h - 1, halves first. */
static hu_partial pairwise(const walk *w, uint64_t l, uint64_t h, hu_collective_room *z) {
  hu_collective_room right;
  if (h - l == 1) return leaf(w, l, z);
  uint64_t m = l + (h - l + 1) / 2;
  hu_partial p = pairwise(w, l, m, z), q = pairwise(w, m, h, &right);
  return join(w, p, q, m, 0, z);
}

/* The sum that number i has when all that lie less than `span` behind it have gone into it. */
static hu_partial tree(const walk *w, uint64_t i, uint64_t span, hu_collective_room *z) {
  hu_collective_room right;
  if (span == 1) return leaf(w, i, z);
  uint64_t half = span / 2;
  hu_partial p = tree(w, i, half, z);
  if (i + half >= w->count) return p;
  hu_partial q = tree(w, i + half, half, &right);
  return join(w, p, q, i + half, 0, z);
}

/* Doubling over the largest power of two: `extra` of its numbers first take in a neighbour. */
static uint64_t doubling_number(uint64_t i, uint64_t extra) { return i < extra ? 2 * i : extra + i; }

static hu_partial doubling(const walk *w, uint64_t i, uint64_t span, uint64_t extra, hu_collective_room *z) {
  hu_collective_room right;
  uint64_t number = doubling_number(i, extra), half = span / 2;
  if (span == 1) {
    hu_partial p = leaf(w, number, z);
    if (i >= extra) return p;
    hu_partial q = leaf(w, number + 1, &right);
    return join(w, p, q, number + 1, 0, z);
  }
  hu_partial p = doubling(w, i, half, extra, z), q = doubling(w, i + half, half, extra, &right);
  return join(w, p, q, doubling_number(i + half, extra), 1, z);
}

/* The piece lies in one chunk, whose number is where it begins. */
static hu_partial ring(const walk *w, hu_collective_room *z) {
  hu_collective_room own, other;
  uint64_t chunk = hui_chunk_of(w->step.first, w->call->n, w->count), at = chunk;
  hu_partial sum = leaf(w, chunk, &other);
  for (uint64_t t = 1; t < w->count; t++) {
    uint64_t next = (chunk + t) % w->count;
    hu_partial p = leaf(w, next, &own);
    /* The sum moves between two places, so that a result never overlaps what it is made of. */
    sum = join(w, p, sum, at, 0, sum.data == z->word ? &other : z);
    at = next;
  }
  if (sum.data != z->word) { /* the other place ends with this function */
    memcpy(z, sum.data, w->step.n * sizeof *z->word);
    sum.data = z->word;
  }
  return sum;
}

/* ---- exact ---- */

static hu_sum_range sums_range(const walk *w) {
  hu_sum_range z = hu_sum_range_of(w->call->format);
  const hu_collective_base *inner = &w->call->model->base;
  if (!w->group) return z;
  if (inner->kind != HU_COLLECTIVE_EXACT) z = hu_sum_range_of_both(z, hu_sum_range_of(inner->sum));
  if (inner->wired == HU_COLLECTIVE_WIRE_FORMAT) z = hu_sum_range_of_both(z, hu_sum_range_of(inner->wire));
  if (inner->wired == HU_COLLECTIVE_WIRE_SCALED) z = hu_sum_range_of_both(z, hu_sum_range_of(hui_format_binary32()));
  return z;
}

/* Formats, ranges and pieces are checked: the calls cannot fail. */
static void must(hu_status s) { (void)s; }

/* binary32 numbers of participants, rounded to nearest even. */
static int is_quick(const walk *w) {
  static const hu_mode nearest;
  const hu_collective_call *c = w->call;
  return w->quick && !w->group && hu_format_equal(c->format, hui_format_binary32()) &&
         memcmp(&c->mode, &nearest, sizeof nearest) == 0 && hui_quick_sums_possible();
}

/* Number i of the piece, as the sum of any terms is made. */
static float one_exact(const walk *w, size_t i) {
  hu_sum sum = {{0}, 0, 0};
  uint32_t events, code;
  float z;
  for (uint64_t k = 0; k < w->count; k++) hu_sum_add32(&sum, ((const float *)leaf(w, k, NULL).data)[i]);
  code = hu_sum_round(&sum, w->call->format, w->call->mode, 0, &events);
  hu_events_count(w->step.events, events);
  memcpy(&z, &code, sizeof z);
  return z;
}

static void exact_quickly(const walk *w, float *z) {
  hu_quick_sums sums;
  hui_quick_sums_begin(&sums, w->step.n, leaf(w, 0, NULL).data);
  for (uint64_t k = 1; k < w->count; k++) hui_quick_sums_add(&sums, w->step.n, leaf(w, k, NULL).data);
  uint64_t inexact = hui_quick_sums_round(&sums, w->step.n, z);
  w->step.events->inexact += inexact;
  for (size_t i = 0; i < w->step.n; i++) {
    if (sums.lost[i] != 0) z[i] = one_exact(w, i);
  }
}

static hu_partial exact(const walk *w, hu_collective_room *z) {
  const hu_collective_call *c = w->call;
  uint64_t sums[HU_COLLECTIVE_PIECE * (1 + SUM_WORDS)];
  hu_sum_range range = sums_range(w);
  hu_exec exec = {0, 0, {c->stream.key, c->stream.counter + w->step.first}};
  hu_partial result = {z->word, c->format};
  if (is_quick(w)) {
    exact_quickly(w, (float *)(void *)z->word);
    return result;
  }
  memset(sums, 0, w->step.n * (1 + range.words) * sizeof *sums);
  for (uint64_t i = 0; i < w->count; i++) {
    hu_partial x = leaf(w, i, z);
    must(hu_sum_add_n(w->step.n, sums, range, x.data, 1, x.format, NULL));
  }
  must(hu_sum_round_n(w->step.n, z->word, 1, c->format, sums, range, c->mode, &exec, w->step.events));
  return result;
}

/* ---- a base ---- */

static uint64_t power_below(uint64_t count) {
  uint64_t p = 1;
  while (p <= count / 2) p *= 2;
  return p;
}

/* What all participants of the base hold in the end. Doubling sends it only to those that it took in first. */
static hu_partial everywhere(const walk *w, hu_partial sum, hu_collective_room *z) {
  hu_collective_room sent;
  if (w->step.base->kind == HU_COLLECTIVE_DOUBLING && power_below(w->count) == w->count) return sum;
  hu_partial x = hui_step_send(&w->step, sum, participant(w, 0), HU_STEP_LAST_WIRE, &sent);
  if (x.data != sent.word) return x;
  memcpy(z, &sent, sizeof sent);
  x.data = z->word;
  return x;
}

static hu_partial solve(const walk *w, hu_collective_room *z) {
  uint64_t p = power_below(w->count);
  hu_partial sum;
  if (w->step.base->kind == HU_COLLECTIVE_EXACT) return exact(w, z);
  if (w->count == 1) return leaf(w, 0, z);
  switch (w->step.base->kind) {
    case HU_COLLECTIVE_PAIRWISE: sum = pairwise(w, 0, w->count, z); break;
    case HU_COLLECTIVE_TREE: sum = tree(w, 0, p == w->count ? p : 2 * p, z); break;
    case HU_COLLECTIVE_DOUBLING: sum = doubling(w, 0, p, w->count - p, z); break;
    default: sum = ring(w, z); break;
  }
  return everywhere(w, sum, z);
}

/* ---- the call ---- */

static void reduce_piece(const hu_collective_call *c, int quick, size_t first, size_t n, hu_events *events) {
  hu_collective_room z;
  walk w = {{&c->model->base, first, n, 0, c->stream, events}, c, 0, c->ranks, 0, quick};
  if (c->model->group) {
    w.step.base = &c->model->outer;
    w.step.rounding = (uint64_t)HU_STEP_ROUNDINGS * c->ranks;
    w.group = c->model->group;
    w.count = (c->ranks - 1) / w.group + 1;
  }
  hui_piece_finish(c, first, n, solve(&w, &z), events);
}

typedef struct run {
  hu_collective_call call;
  int quick;
  size_t past, part; /* elements of the buffer; of a part, a multiple of HU_COLLECTIVE_PIECE */
  hu_events counts[HU_THREADS_MAX];
} run;

static void run_part(void *context, size_t part) {
  run *r = context;
  size_t first = r->call.offset + part * r->part, past = hui_least(r->past, first + r->part);
  for (size_t end; first < past; first = end) {
    end = hui_piece_end(&r->call, first);
    reduce_piece(&r->call, r->quick, first, end - first, &r->counts[part]);
  }
}

/* Scales travel with binary32 numbers. */
static int fits_wire(const hu_collective_base *b, hu_format f) {
  return b->wired != HU_COLLECTIVE_WIRE_SCALED || hu_format_fits_binary32(f);
}

static hu_status check_formats(hu_format f, const hu_collective *model, hu_mode mode) {
  hu_status s = hu_collective_check(model);
  if (s == HU_OK) s = hu_format_check(f, NULL);
  if (s == HU_OK) s = hu_mode_check(mode);
  if (s != HU_OK) return s;
  if (!fits_wire(&model->base, f)) return HU_E_CARRIER;
  if (!model->group) return HU_OK;
  int inner = model->base.kind == HU_COLLECTIVE_EXACT ||
              (fits_wire(&model->outer, model->base.sum) &&
               (model->base.wired != HU_COLLECTIVE_WIRE_FORMAT || fits_wire(&model->outer, model->base.wire)));
  return inner && fits_wire(&model->outer, f) ? HU_OK : HU_E_CARRIER;
}

static hu_status check_places(size_t ranks, size_t n, void *z, hu_format f, const void *const *x) {
  size_t size = hui_code_bytes(f);
  hu_strided az = {z, size, 1};
  if (ranks == 0 || ranks > RANKS_MAX) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (!x) return HU_E_NULL;
  for (size_t r = 0; r < ranks; r++) {
    hu_strided ax = {x[r], size, 1};
    hu_status s = hui_check_pair(n, &az, &ax);
    if (s != HU_OK) return s;
  }
  return HU_OK;
}

static hu_status check_codes(size_t ranks, size_t n, hu_format f, const void *const *x, const hu_exec *exec) {
  hu_status s = HU_OK;
  for (size_t r = 0; n && r < ranks && s == HU_OK; r++) s = hui_code_array_check(n, x[r], 1, f, hui_exec_threads(exec));
  return s;
}

static int is_part(size_t n, size_t first, size_t count) {
  if (first % HU_COLLECTIVE_PIECE || first > n || count > n - first) return 0;
  return first + count == n || count % HU_COLLECTIVE_PIECE == 0;
}

hu_status hu_collective_reduce_part(size_t ranks, size_t n, size_t first, size_t count, void *z, hu_format f,
                                    const void *const *x, const hu_collective *model, hu_mode mode, const hu_exec *exec,
                                    hu_events *events) {
  run r;
  hu_status s = check_formats(f, model, mode);
  if (s == HU_OK && !is_part(n, first, count)) s = HU_E_SHAPE;
  if (s == HU_OK) s = check_places(ranks, count, z, f, x);
  if (s == HU_OK) s = check_codes(ranks, count, f, x, exec);
  if (s != HU_OK || count == 0) return s;
  uint32_t threads = hui_exec_threads(exec);
  hu_collective_call c = {ranks, n,     first, (const uint8_t *const *)x, z, hui_code_bytes(f),
                          f,     model, mode,  hui_exec_stream(exec)};
  r.call = c;
  r.quick = !(exec && ~exec->levels_off == 0);
  r.past = first + count;
  r.part = (count / threads / HU_COLLECTIVE_PIECE + 1) * HU_COLLECTIVE_PIECE;
  size_t parts = hui_parts(count, r.part);
  memset(r.counts, 0, parts * sizeof r.counts[0]);
  hui_parallel(threads, parts, run_part, &r);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &r.counts[i]);
  return HU_OK;
}

hu_status hu_collective_reduce(size_t ranks, size_t n, void *z, hu_format f, const void *const *x,
                               const hu_collective *model, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_collective_reduce_part(ranks, n, 0, n, z, f, x, model, mode, exec, events);
}
