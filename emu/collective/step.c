/* SPDX-License-Identifier: MIT */
/* One step of a base model: what arrives where a sum is sent, and the rounded sum of two. */
#include "emu/collective/step.h"

#include <string.h>

#include "emu/base/exec.h"
#include "emu/core/round.h"
#include "halfulp/arith_n.h"

/* ---- random words ---- */

#define GOLDEN 0x9E3779B97F4A7C15u /* 2^64 over the golden ratio: keys of roundings lie far apart */

static hu_exec words_of(const hu_step *s, uint64_t b, int which) {
  uint64_t r = s->rounding + HU_STEP_ROUNDINGS * b + (uint64_t)which;
  hu_exec exec = {0, 0, {s->stream.key + (r + 1) * GOLDEN, s->stream.counter + s->first}};
  return exec;
}

/* ---- steps ---- */

/* The calls below cannot fail: hu_collective_reduce has checked formats and modes, and pieces are aligned. */
static void must(hu_status s) { (void)s; }

static hu_mode wire_mode(const hu_step *s) {
  hu_mode mode = s->base->mode;
  mode.saturate = HU_SAT_DEFAULT;
  return mode;
}

static hu_partial send_format(const hu_step *s, hu_partial x, const hu_exec *exec, hu_collective_room *z) {
  hu_partial arrived = {z->word, s->base->wire};
  must(hu_convert_n(s->n, z->word, 1, s->base->wire, x.data, 1, x.format, wire_mode(s), exec, s->events));
  return arrived;
}

static hu_partial send_scaled(const hu_step *s, hu_partial x, const hu_exec *exec, hu_collective_room *z) {
  hu_partial arrived = {z->word, hui_format_binary32()};
  float *values = (float *)z->word;
  must(hu_decode_n(s->n, values, 1, x.data, 1, x.format, NULL));
  must(hu_scaled_quantize(1, s->n, values, s->n, values, s->n, &s->base->scaling, wire_mode(s), NULL, NULL, exec,
                          s->events));
  return arrived;
}

hu_partial hui_step_send(const hu_step *s, hu_partial x, uint64_t b, int which, hu_collective_room *z) {
  hu_exec exec = words_of(s, b, which);
  if (s->base->wired == HU_COLLECTIVE_WIRE_FORMAT) return send_format(s, x, &exec, z);
  return s->base->wired == HU_COLLECTIVE_WIRE_SCALED ? send_scaled(s, x, &exec, z) : x;
}

hu_partial hui_step_join(const hu_step *s, hu_partial p, hu_partial q, uint64_t b, hu_collective_room *z) {
  hu_exec exec = words_of(s, b, HU_STEP_SUM);
  hu_partial sum = {z->word, s->base->sum};
  must(hu_add_n(s->n, z->word, 1, s->base->sum, p.data, 1, p.format, q.data, 1, q.format, s->base->mode, &exec,
                s->events));
  return sum;
}

/* ---- pieces ---- */

size_t hui_chunk_of(size_t i, size_t n, size_t count) {
  size_t length = n / count, longer = n % count;
  if (i < longer * (length + 1)) return i / (length + 1);
  return longer + (i - longer * (length + 1)) / length;
}

size_t hui_chunk_first(size_t chunk, size_t n, size_t count) {
  return chunk * (n / count) + hui_least(chunk, n % count);
}

/* The end of i's chunk, where the base is a ring of `count` participants. */
static size_t ring_end(const hu_collective_base *base, size_t i, size_t n, size_t count) {
  if (base->kind != HU_COLLECTIVE_RING || count < 2) return n;
  return hui_chunk_first(hui_chunk_of(i, n, count) + 1, n, count);
}

size_t hui_piece_end(const hu_collective_call *c, size_t first) {
  const hu_collective *m = c->model;
  size_t inner = m->group && m->group < c->ranks ? m->group : c->ranks;
  size_t end = hui_least(c->n, first - first % HU_COLLECTIVE_PIECE + HU_COLLECTIVE_PIECE);
  end = hui_least(end, ring_end(&m->base, first, c->n, inner));
  end = hui_least(end, ring_end(&m->base, first, c->n, c->ranks % inner));
  return m->group ? hui_least(end, ring_end(&m->outer, first, c->n, (c->ranks - 1) / inner + 1)) : end;
}

void hui_piece_finish(const hu_collective_call *c, size_t first, size_t n, hu_partial x, hu_events *events) {
  uint8_t *z = c->z + (first - c->offset) * c->size;
  hu_exec exec = {0, 0, {c->stream.key, c->stream.counter + first}};
  hu_mode exact;
  memset(&exact, 0, sizeof exact);
  int there = hu_format_equal(x.format, c->format); /* a copy */
  must(hu_convert_n(n, z, 1, c->format, x.data, 1, x.format, there ? exact : c->mode, &exec, there ? NULL : events));
}
