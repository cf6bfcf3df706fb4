/* SPDX-License-Identifier: MIT */
/* emu/core/accum_trace.h - what a dot product passes to hu_trace_visit (halfulp/accum.h): each function fills a part of
 * the step that comes next, or sends it. Host code alone traces; device code is compiled without. */
#ifndef HALFULP_EMU_CORE_ACCUM_TRACE_H
#define HALFULP_EMU_CORE_ACCUM_TRACE_H

#include "emu/core/round.h"
#include "halfulp/accum.h"

enum { HU_TRACE_GRIDS = 5 };
typedef struct hu_tracing {
  hu_trace_visit *visit;
  void *context;
  const void *grid[HU_TRACE_GRIDS]; /* the grids of the plan, and what they round to */
  hu_type type[HU_TRACE_GRIDS];
  hu_trace_step step; /* the next one, as far as it is known */
} hu_tracing;

HU_FN hu_traced hui_traced_of(hu_num x) {
  hu_traced traced;
  memset(&traced, 0, sizeof traced);
  traced.kind = x.kind;
  traced.sign = x.sign;
  if (x.kind != HU_KIND_FINITE) return traced;
  traced.significand = x.sig;
  traced.exponent = x.exp;
  traced.more = x.sticky;
  return traced;
}

/* n 2^exp; a zero is +0. */
HU_FN hu_num hui_num_of_integer(int64_t n, int32_t exp) {
  if (n == 0) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_num_finite(n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, exp);
}

HU_FN void hui_trace_next(hu_tracing *tracing) {
  memset(&tracing->step, 0, sizeof tracing->step);
  tracing->step.k = HU_TRACE_NO_PRODUCT;
}

HU_FN void hui_trace_send(hu_tracing *tracing, uint32_t kind) {
  tracing->step.kind = (uint8_t)kind;
  if (tracing->visit) tracing->visit(tracing->context, &tracing->step);
  hui_trace_next(tracing);
}

HU_FN void hui_trace_products(hu_tracing *tracing, uint64_t k, uint64_t past) {
  tracing->step.k = k;
  tracing->step.past = past;
}

HU_FN void hui_trace_begin(hu_tracing *tracing, uint32_t kind, uint64_t k, uint64_t past) {
  hui_trace_next(tracing);
  hui_trace_products(tracing, k, past);
  hui_trace_send(tracing, kind);
}

/* Notes the operation whose rounding comes next. */
HU_FN void hui_trace_operands(hu_tracing *tracing, uint32_t kind, hu_num x, hu_num y, hu_num c) {
  tracing->step.kind = (uint8_t)kind;
  tracing->step.x = hui_traced_of(x);
  tracing->step.y = hui_traced_of(y);
  tracing->step.c = hui_traced_of(c);
}

HU_FN void hui_trace_type(hu_tracing *tracing, const void *grid) {
  for (int32_t i = 0; i < HU_TRACE_GRIDS; i++) {
    if (tracing->grid[i] != grid) continue;
    tracing->step.type = tracing->type[i];
    return;
  }
}

/* exact became z. Without operands that is a rounding of what came before. */
HU_FN void hui_trace_result(hu_tracing *tracing, hu_num exact, hu_num z, uint32_t events, uint32_t random) {
  tracing->step.exact = hui_traced_of(exact);
  tracing->step.z = hui_traced_of(z);
  tracing->step.events = events;
  tracing->step.random = random;
  hui_trace_send(tracing, tracing->step.kind ? tracing->step.kind : (uint32_t)HU_TRACE_ROUND);
}

/* A term cut to `kept`, or whole; ALIGN and CUT: what top and unit are. */
HU_FN void hui_trace_cut(hu_tracing *tracing, uint32_t kind, hu_num exact, hu_num z, int32_t top, int32_t unit) {
  tracing->step.exact = hui_traced_of(exact);
  tracing->step.z = hui_traced_of(z);
  tracing->step.top = top;
  tracing->step.unit = unit;
  hui_trace_send(tracing, kind);
}

#endif
