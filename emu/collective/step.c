/* SPDX-License-Identifier: MIT */
/* One step of a base model: what arrives where a sum is sent, and the rounded sum of two. */
#include "emu/collective/step.h"

#include <string.h>

#include "emu/base/exec.h"
#include "emu/core/round.h"
#include "halfulp/view.h"

/* ---- random words ---- */

#define GOLDEN 0x9E3779B97F4A7C15u /* 2^64 over the golden ratio: keys of roundings lie far apart */

hu_exec hui_step_words(const hu_step *step, uint64_t b, int which) {
  uint64_t number = step->rounding + HU_STEP_ROUNDINGS * b + (uint64_t)which;
  hu_exec exec = {0, 0, {step->stream.key + (number + 1) * GOLDEN, step->stream.counter + step->first}, {0}};
  return exec;
}

/* ---- steps ---- */

/* The calls below cannot fail: hu_collective_reduce has checked formats and modes, and pieces are aligned. */
static void must(hu_status status) { (void)status; }

static hu_mode wire_mode(const hu_step *step) {
  hu_mode mode = step->base->mode;
  mode.saturate = HU_SAT_DEFAULT;
  return mode;
}

static hu_partial send_format(const hu_step *step, hu_partial x, const hu_exec *exec, hu_collective_buffer *z) {
  hu_partial arrived = {z->word, step->base->wire};
  must(hu_convert_n(step->n, z->word, 1, step->base->wire, x.data, 1, x.format, wire_mode(step), exec, step->events));
  return arrived;
}

static hu_partial send_scaled(const hu_step *step, hu_partial x, const hu_exec *exec, hu_collective_buffer *z) {
  hu_partial arrived = {z->word, hui_format_binary32()};
  float *values = (float *)z->word;
  must(hu_decode_n(step->n, values, 1, x.data, 1, x.format, NULL));
  must(hu_scaled_quantize(1, step->n, values, step->n, values, step->n, &step->base->scaling, wire_mode(step), NULL,
                          NULL, exec, step->events));
  return arrived;
}

hu_partial hui_step_send(const hu_step *step, hu_partial x, uint64_t b, int which, hu_collective_buffer *z) {
  hu_exec exec = hui_step_words(step, b, which);
  if (step->base->wired == HU_COLLECTIVE_WIRE_FORMAT) return send_format(step, x, &exec, z);
  return step->base->wired == HU_COLLECTIVE_WIRE_SCALED ? send_scaled(step, x, &exec, z) : x;
}

hu_partial hui_step_join(const hu_step *step, hu_partial x, hu_partial y, uint64_t b, hu_collective_buffer *z) {
  hu_exec exec = hui_step_words(step, b, HU_STEP_SUM);
  hu_partial sum = {z->word, step->base->sum};
  must(hu_add_n(step->n, z->word, 1, step->base->sum, x.data, 1, x.format, y.data, 1, y.format, step->base->mode, &exec,
                step->events));
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

/* Returns the end of i's chunk, where the base cuts the buffer for `count` participants. */
static size_t chunk_end(const hu_collective_base *base, size_t i, size_t n, size_t count) {
  if ((base->kind != HU_COLLECTIVE_RING && base->kind != HU_COLLECTIVE_DIRECT) || count < 2) return n;
  return hui_chunk_first(hui_chunk_of(i, n, count) + 1, n, count);
}

size_t hui_piece_end(const hu_collective_call *call, size_t first) {
  const hu_collective *model = call->model;
  size_t inner = model->group && model->group < call->ranks ? model->group : call->ranks;
  size_t end = hui_least(call->n, first - first % HU_COLLECTIVE_PIECE + HU_COLLECTIVE_PIECE);
  end = hui_least(end, chunk_end(&model->base, first, call->n, inner));
  end = hui_least(end, chunk_end(&model->base, first, call->n, call->ranks % inner));
  return model->group ? hui_least(end, chunk_end(&model->outer, first, call->n, (call->ranks - 1) / inner + 1)) : end;
}

void hui_piece_finish(const hu_collective_call *call, size_t first, size_t n, hu_partial x, hu_events *events) {
  uint8_t *z = call->z + (first - call->offset) * call->size;
  hu_exec exec = {0, 0, {call->stream.key, call->stream.counter + first}, {0}};
  hu_mode exact;
  memset(&exact, 0, sizeof exact);
  int there = hu_format_equal(x.format, call->format); /* a copy */
  must(hu_convert_n(n, z, 1, call->format, x.data, 1, x.format, there ? exact : call->mode, &exec,
                    there ? NULL : events));
}
