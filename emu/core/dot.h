/* SPDX-License-Identifier: MIT */
/* emu/core/dot.h - what hu_dot does after a sum: the last rounding, its events, NaN that no operand brought in; and
 * sums of integers. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_DOT_H
#define HALFULP_EMU_CORE_DOT_H

#include "emu/core/accum.h"
#include "halfulp/array.h"

/* An operand of dot product i: from at + i step on, elements stride apart; bytes. */
typedef struct hu_walk {
  const uint8_t *at; /* NULL: absent */
  ptrdiff_t step, stride;
  uint8_t kind, size; /* HU_TYPE_, bytes of an element */
} hu_walk;

/* A call of hu_dot, checked. Plain data: goes to a kernel by value. */
typedef struct hu_dot_plan {
  hu_accum_plan model;
  hu_source c_source;
  hu_walk a, b, c, sa, sb;
  uint64_t n;
  uint8_t *z;
  ptrdiff_t z_step; /* bytes */
  hu_spec spec;     /* of the result */
  uint8_t kind;     /* HU_TYPE_ of the result */
  uint8_t size;     /* its bytes */
  uint64_t key, counter;
} hu_dot_plan;

/* Elements of `size` bytes; a view without data has none. */
HU_FN hu_walk hui_walk_of(const hu_view *view, size_t size) {
  hu_walk walk;
  walk.at = (const uint8_t *)view->data;
  walk.step = (ptrdiff_t)((size_t)view->row * size);
  walk.stride = (ptrdiff_t)((size_t)view->stride * size);
  walk.kind = (uint8_t)view->type.kind;
  walk.size = (uint8_t)size;
  return walk;
}

HU_FN hu_line hui_walk_line(const hu_walk *walk, uint64_t i) {
  hu_line z;
  z.at = walk->at ? walk->at + (ptrdiff_t)i * walk->step : walk->at;
  z.step = walk->stride;
  return z;
}

/* ---- results in binary64 ---- */

/* Rounded to 53 digits with the exponent unbounded, is |x| still below 2^-1022? */
HU_FN int32_t hui_tiny64(hu_num x) {
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
  uint64_t sig = x.sig << lead;
  int32_t all_ones = sig >> 11 == 0x1FFFFFFFFFFFFFu;
  return k < -1023 || (k == -1023 && !(all_ones && hui_against_half(sig, x.sticky, 11) >= 0));
}

HU_FN uint32_t hui_events64(hu_num x, uint64_t code) {
  hu_num z = hui_unpack64(code);
  if (x.kind == HU_KIND_NAN) return HU_EVENT_NAN_IN;
  if (x.kind == HU_KIND_INF) return HU_EVENT_INF_IN;
  if (x.kind == HU_KIND_ZERO) return 0;
  if (z.kind == HU_KIND_INF) return HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (z.kind == HU_KIND_ZERO) return HU_EVENT_TO_ZERO | HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW;
  int32_t same =
      !x.sticky && hui_exponent(x) == hui_exponent(z) && x.sig << hui_clz64(x.sig) == z.sig << hui_clz64(z.sig);
  uint32_t set = hui_exponent(z) < -1022 ? HU_EVENT_SUBNORMAL : 0;
  if (!same) set |= HU_EVENT_INEXACT | (hui_tiny64(x) ? HU_EVENT_UNDERFLOW : 0);
  return set;
}

/* ---- the last rounding ---- */

HU_FN int32_t hui_dot_nan_given(const hu_dot_plan *plan, const hu_lines *in, hu_num c) {
  const hu_accum *accum = &plan->model.model;
  uint64_t every = accum->scaled ? accum->promote : accum->block.every,
           scales = every ? (plan->n + every - 1) / every : 0;
  return c.kind == HU_KIND_NAN || hui_line_has_nan(&plan->model.a, &in->a, plan->n) ||
         hui_line_has_nan(&plan->model.b, &in->b, plan->n) || hui_line_has_nan(&plan->model.sa, &in->sa, scales) ||
         hui_line_has_nan(&plan->model.sb, &in->sb, scales);
}

/* Is a product of dot product i, as the model reads its operands, infinity times zero? */
HU_FN int32_t hui_dot_infinity_times_zero(const hu_dot_plan *plan, const hu_lines *in) {
  for (uint64_t k = 0; in->a.at && in->b.at && k < plan->n; k++)
    if (hui_infinity_times_zero(hui_read_a(&plan->model, in, k), hui_read_b(&plan->model, in, k))) return 1;
  return 0;
}

HU_FN void hui_dot_store(const hu_dot_plan *plan, uint64_t i, uint64_t code) {
  uint8_t *z = plan->z + (ptrdiff_t)i * plan->z_step;
  uint16_t h = (uint16_t)code;
  uint32_t w = (uint32_t)code;
  if (plan->size == 1) *z = (uint8_t)code;
  if (plan->size == 2) memcpy(z, &h, 2);
  if (plan->size == 4) memcpy(z, &w, 4);
  if (plan->size == 8) memcpy(z, &code, 8);
}

/* Sets the operands of dot product i; returns its C. */
HU_FN hu_num hui_dot_lines(const hu_dot_plan *plan, uint64_t i, hu_lines *in) {
  in->a = hui_walk_line(&plan->a, i);
  in->b = hui_walk_line(&plan->b, i);
  in->sa = hui_walk_line(&plan->sa, i);
  in->sb = hui_walk_line(&plan->sb, i);
  if (!plan->c.at) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_source_read(&plan->c_source, hui_walk_line(&plan->c, i).at);
}

/* The total of dot product i rounded and stored; its events. `random`: R where that is stochastic. */
HU_FN uint32_t hui_dot_finish(const hu_dot_plan *plan, uint64_t i, const hu_lines *in, hu_num c, hu_num total,
                              uint32_t random) {
  uint32_t set;
  uint64_t code;
  if (plan->kind == HU_TYPE_BINARY64) {
    code = hui_round64(total);
    set = hui_events64(total, code);
  } else {
    code = hui_round(&plan->spec, total, random, &set);
  }
  hui_dot_store(plan, i, code);
  if (total.kind == HU_KIND_NAN && !hui_dot_nan_given(plan, in, c)) {
    set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  } else if (total.kind == HU_KIND_NAN && plan->spec.nan_fma && hui_dot_infinity_times_zero(plan, in)) {
    set |= HU_EVENT_INVALID;
  }
  return set;
}

/* Dot product i; its events. watch: NULL, or where its additions are counted. */
HU_STEP uint32_t hui_dot_sum(const hu_dot_plan *plan, uint64_t i, hu_watch *watch) {
  hu_lines in;
  hu_draw draw = hui_draw_of(plan->key, plan->counter + i, watch);
  hu_num c = hui_dot_lines(plan, i, &in), total = hui_accum_sum(&plan->model, &in, plan->n, c, &draw);
  uint32_t random =
      plan->spec.round >= HU_SRA ? hui_stream_at(plan->key, plan->counter + i) >> (32 - plan->spec.bits) : 0;
  return hui_dot_finish(plan, i, &in, c, total, random);
}

/* ---- integers ---- */

HU_FN int32_t hui_read_integer(const uint8_t *p, uint8_t kind) {
  switch (kind) {
    case HU_TYPE_INT8: return (int32_t)(*p ^ 0x80) - 0x80;
    case HU_TYPE_UINT8: return *p;
    case HU_TYPE_INT4: return (int32_t)((*p & 15) ^ 8) - 8;
    default: return *p & 15;
  }
}

HU_FN hu_num hui_num_of_s32(uint32_t x) {
  return hui_num_of_integer((int64_t)(x ^ 0x80000000u) - (int64_t)0x80000000u, 0);
}

/* Shows that products k to past - 1, whose total is `total`, were added to c and gave z. */
HU_FN void hui_trace_integers(uint64_t k, uint64_t past, uint32_t c, int64_t total, uint32_t z, uint32_t events,
                              hu_draw *draw) {
  hu_num x = hui_num_of_s32(c), y = hui_num_of_integer(total, 0);
  hui_trace_products(draw->trace, k, past);
  hui_trace_operands(draw->trace, HU_TRACE_ADD, x, y, hui_num_special(HU_KIND_ZERO, 0));
  draw->trace->step.type.kind = HU_TYPE_INT32;
  hui_trace_result(draw->trace, hui_long_add(hui_long_of(x), hui_long_of(y), 0), hui_num_of_s32(z), events, 0);
}

/* Adds the total of an instruction, of products k to past - 1, to c. draw: NULL on a device. */
HU_FN uint32_t hui_join_integer(uint64_t k, uint64_t past, uint32_t c, int64_t total, uint32_t length, uint32_t *events,
                                hu_draw *draw) {
  uint32_t beyond = 0, saturated = 0;
  if (draw && hui_watched(draw) && total) {
    (void)hui_int_join(c, total, 1, &beyond);
    draw->watch->additions++;
    draw->watch->overflows += beyond != 0;
  }
  uint32_t z = hui_int_join(c, total, length != 0, &saturated);
  if (draw && hui_is_traced(draw) && k < past) hui_trace_integers(k, past, c, total, z, saturated, draw);
  *events |= saturated;
  return z;
}

/* Dot product i of integers; its events. draw: what goes along, NULL on a device. */
HU_FN uint32_t hui_dot_integers(const hu_dot_plan *plan, uint64_t i, hu_draw *draw) {
  hu_line a = hui_walk_line(&plan->a, i), b = hui_walk_line(&plan->b, i);
  uint32_t c = plan->c.at ? hui_load_code(hui_walk_line(&plan->c, i).at, 4) : 0, set = 0,
           length = plan->model.model.length;
  int64_t total = 0;
  uint64_t first = 0;
  for (uint64_t k = 0; k < plan->n; k++) {
    total += (int64_t)hui_read_integer(a.at + (ptrdiff_t)k * a.step, plan->a.kind) *
             hui_read_integer(b.at + (ptrdiff_t)k * b.step, plan->b.kind);
    if (length && (k + 1) % length) continue;
    c = hui_join_integer(first, k + 1, c, total, length, &set, draw);
    first = k + 1;
    total = 0;
  }
  hui_dot_store(plan, i, hui_join_integer(first, plan->n, c, total, length, &set, draw));
  return set;
}

#endif
