/* SPDX-License-Identifier: MIT */
/* emu/core/dot.h - what hu_dot_n does after a sum: the last rounding, its events, NaN that no operand brought in; and
 * sums of integers. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_DOT_H
#define HALFULP_EMU_CORE_DOT_H

#include "emu/core/accum.h"
#include "halfulp/array.h"

/* An operand of dot product i: from at + i step on, elements stride apart; bytes. */
typedef struct hu_walk {
  const uint8_t *at; /* NULL: absent */
  ptrdiff_t step, stride;
  uint8_t kind, size; /* HU_ELEMENT_, bytes of an element */
} hu_walk;

/* A call of hu_dot_n, checked. Plain data: goes to a kernel by value. */
typedef struct hu_dot_plan {
  hu_accum_plan model;
  hu_source c_source;
  hu_walk a, b, c, sa, sb;
  uint64_t n;
  uint8_t *z;
  ptrdiff_t z_step; /* bytes */
  hu_spec spec;     /* of the result */
  uint8_t kind;     /* HU_ELEMENT_ of the result */
  uint8_t size;     /* its bytes */
  uint64_t key, counter;
} hu_dot_plan;

HU_FN hu_walk hui_walk_of(const hu_vector *v, size_t size) {
  hu_walk w;
  w.at = (const uint8_t *)v->data;
  w.step = v->data ? (ptrdiff_t)((size_t)v->step * size) : 0;
  w.stride = v->data ? (ptrdiff_t)((size_t)v->stride * size) : 0;
  w.kind = v->element.kind;
  w.size = (uint8_t)size;
  return w;
}

HU_FN hu_line hui_walk_line(const hu_walk *w, uint64_t i) {
  hu_line z;
  z.at = w->at ? w->at + (ptrdiff_t)i * w->step : w->at;
  z.step = w->stride;
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

HU_FN int32_t hui_dot_nan_given(const hu_dot_plan *t, const hu_lines *in, hu_num c) {
  const hu_accum *x = &t->model.model;
  uint64_t every = x->scaled ? x->promote : x->block.every, scales = every ? (t->n + every - 1) / every : 0;
  return c.kind == HU_KIND_NAN || hui_line_has_nan(&t->model.a, &in->a, t->n) ||
         hui_line_has_nan(&t->model.b, &in->b, t->n) || hui_line_has_nan(&t->model.sa, &in->sa, scales) ||
         hui_line_has_nan(&t->model.sb, &in->sb, scales);
}

/* Is a product of dot product i, as the model reads its operands, infinity times zero? */
HU_FN int32_t hui_dot_infinity_times_zero(const hu_dot_plan *t, const hu_lines *in) {
  for (uint64_t k = 0; in->a.at && in->b.at && k < t->n; k++)
    if (hui_infinity_times_zero(hui_read_a(&t->model, in, k), hui_read_b(&t->model, in, k))) return 1;
  return 0;
}

HU_FN void hui_dot_store(const hu_dot_plan *t, uint64_t i, uint64_t code) {
  uint8_t *z = t->z + (ptrdiff_t)i * t->z_step;
  uint16_t h = (uint16_t)code;
  uint32_t w = (uint32_t)code;
  if (t->size == 1) *z = (uint8_t)code;
  if (t->size == 2) memcpy(z, &h, 2);
  if (t->size == 4) memcpy(z, &w, 4);
  if (t->size == 8) memcpy(z, &code, 8);
}

/* Sets the operands of dot product i; returns its C. */
HU_FN hu_num hui_dot_lines(const hu_dot_plan *t, uint64_t i, hu_lines *in) {
  in->a = hui_walk_line(&t->a, i);
  in->b = hui_walk_line(&t->b, i);
  in->sa = hui_walk_line(&t->sa, i);
  in->sb = hui_walk_line(&t->sb, i);
  if (!t->c.at) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_source_read(&t->c_source, hui_walk_line(&t->c, i).at);
}

/* The sum of dot product i rounded and stored; its events. `random`: R where that is stochastic. */
HU_FN uint32_t hui_dot_finish(const hu_dot_plan *t, uint64_t i, const hu_lines *in, hu_num c, hu_num sum,
                              uint32_t random) {
  uint32_t set;
  uint64_t code;
  if (t->kind == HU_ELEMENT_BINARY64) {
    code = hui_round64(sum);
    set = hui_events64(sum, code);
  } else {
    code = hui_round(&t->spec, sum, random, &set);
  }
  hui_dot_store(t, i, code);
  if (sum.kind == HU_KIND_NAN && !hui_dot_nan_given(t, in, c)) {
    set = (set & ~(uint32_t)HU_EVENT_NAN_IN) | HU_EVENT_INVALID;
  } else if (sum.kind == HU_KIND_NAN && t->spec.nan_fma && hui_dot_infinity_times_zero(t, in)) {
    set |= HU_EVENT_INVALID;
  }
  return set;
}

/* Dot product i; its events. watch: NULL, or where its additions are counted. */
HU_STEP uint32_t hui_dot_sum(const hu_dot_plan *t, uint64_t i, hu_watch *watch) {
  hu_lines in;
  hu_draw d = hui_draw_of(t->key, t->counter + i, watch);
  hu_num c = hui_dot_lines(t, i, &in), sum = hui_accum_sum(&t->model, &in, t->n, c, &d);
  uint32_t random = t->spec.round >= HU_SRA ? hui_stream_at(t->key, t->counter + i) >> (32 - t->spec.bits) : 0;
  return hui_dot_finish(t, i, &in, c, sum, random);
}

/* ---- integers ---- */

HU_FN int32_t hui_read_integer(const uint8_t *p, uint8_t kind) {
  switch (kind) {
    case HU_ELEMENT_S8: return (int32_t)(*p ^ 0x80) - 0x80;
    case HU_ELEMENT_U8: return *p;
    case HU_ELEMENT_S4: return (int32_t)((*p & 15) ^ 8) - 8;
    default: return *p & 15;
  }
}

HU_FN hu_num hui_num_of_s32(uint32_t x) {
  return hui_num_of_integer((int64_t)(x ^ 0x80000000u) - (int64_t)0x80000000u, 0);
}

/* Products k to past - 1, whose sum is s, went into c and made z. */
HU_FN void hui_trace_integers(uint64_t k, uint64_t past, uint32_t c, int64_t s, uint32_t z, uint32_t events,
                              hu_draw *d) {
  hu_num x = hui_num_of_s32(c), y = hui_num_of_integer(s, 0);
  hui_trace_products(d->trace, k, past);
  hui_trace_operands(d->trace, HU_TRACE_ADD, x, y, hui_num_special(HU_KIND_ZERO, 0));
  d->trace->step.element.kind = HU_ELEMENT_S32;
  hui_trace_result(d->trace, hui_long_add(hui_long_of(x), hui_long_of(y), 0), hui_num_of_s32(z), events, 0);
}

/* The sum s of an instruction, of products k to past - 1, goes into c. d: NULL on a device. */
HU_FN uint32_t hui_join_integer(uint64_t k, uint64_t past, uint32_t c, int64_t s, uint32_t length, uint32_t *events,
                                hu_draw *d) {
  uint32_t beyond = 0, saturated = 0;
  if (d && hui_watched(d) && s) {
    (void)hui_int_join(c, s, 1, &beyond);
    d->watch->additions++;
    d->watch->overflows += beyond != 0;
  }
  uint32_t z = hui_int_join(c, s, length != 0, &saturated);
  if (d && hui_is_traced(d) && k < past) hui_trace_integers(k, past, c, s, z, saturated, d);
  *events |= saturated;
  return z;
}

/* Dot product i of integers; its events. d: what goes along, NULL on a device. */
HU_FN uint32_t hui_dot_integers(const hu_dot_plan *t, uint64_t i, hu_draw *d) {
  hu_line a = hui_walk_line(&t->a, i), b = hui_walk_line(&t->b, i);
  uint32_t c = t->c.at ? hui_load_code(hui_walk_line(&t->c, i).at, 4) : 0, set = 0, length = t->model.model.length;
  int64_t s = 0;
  uint64_t first = 0;
  for (uint64_t k = 0; k < t->n; k++) {
    s += (int64_t)hui_read_integer(a.at + (ptrdiff_t)k * a.step, t->a.kind) *
         hui_read_integer(b.at + (ptrdiff_t)k * b.step, t->b.kind);
    if (length && (k + 1) % length) continue;
    c = hui_join_integer(first, k + 1, c, s, length, &set, d);
    first = k + 1;
    s = 0;
  }
  hui_dot_store(t, i, hui_join_integer(first, t->n, c, s, length, &set, d));
  return set;
}

#endif
