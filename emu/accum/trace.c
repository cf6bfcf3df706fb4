/* SPDX-License-Identifier: MIT */
/* hu_dot_trace: hu_dot with a visitor. emu/core/accum_trace.h passes the steps on; the last one is added here. */
#include "emu/accum/check.h"
#include "emu/accum/sum.h"
#include "emu/base/exec.h"
#include "emu/core/dot.h"

static hu_element element_of(hu_format f) {
  hu_element e;
  memset(&e, 0, sizeof e);
  e.format = f;
  return e;
}

static hu_tracing tracing_of(const hu_accum_plan *p, hu_trace_visit *visit, void *context) {
  const hu_accum *x = &p->model;
  hu_tracing t;
  memset(&t, 0, sizeof t);
  t.visit = visit;
  t.context = context;
  t.grid[0] = &p->sum;
  t.element[0] = element_of(x->kind == HU_ACCUM_FP32 ? hui_format_binary32() : x->sum);
  t.grid[1] = &p->product;
  t.element[1] = element_of(x->product);
  t.grid[2] = &p->plain;
  t.element[2] = element_of(hui_accum_result(x));
  t.grid[3] = &p->join;
  t.element[3] = element_of(x->product);
  hui_trace_next(&t);
  return t;
}

/* The number that was stored. */
static hu_num stored(const hu_dot_plan *t, const void *z) {
  uint64_t u;
  if (t->kind == HU_ELEMENT_S32) return hui_num_of_s32(hui_load_code((const uint8_t *)z, 4));
  if (t->kind != HU_ELEMENT_BINARY64) return hui_unpack(&t->spec, hui_load_code((const uint8_t *)z, t->size));
  memcpy(&u, z, 8);
  return hui_unpack64(u);
}

static void last(hu_tracing *trace, hu_element ez, hu_num sum, hu_num z, uint32_t events, uint32_t random) {
  hui_trace_next(trace);
  trace->step.kind = HU_TRACE_LAST;
  trace->step.element = ez;
  hui_trace_result(trace, sum, z, events, random);
}

hu_status hu_dot_trace(size_t n, void *z, hu_element ez, const hu_dot_operands *x, const hu_accum *accum, hu_mode mode,
                       const hu_exec *exec, hu_events *events, hu_trace_visit *visit, void *context) {
  hu_dot_plan t;
  if (!visit) return HU_E_NULL;
  hu_status s = hui_dot_plan_read(&t, 1, n, z, 1, ez, x, accum, mode, exec);
  if (s != HU_OK) return s;
  hu_tracing trace = tracing_of(&t.model, visit, context);
  hu_draw d = hui_draw_of(t.key, t.counter, NULL);
  hu_num sum;
  uint32_t set, random = 0;
  d.trace = &trace;
  if (accum->kind == HU_ACCUM_INT32) {
    set = hui_dot_integers(&t, 0, &d);
    sum = stored(&t, z);
  } else {
    hu_lines in;
    hu_num c = hui_dot_lines(&t, 0, &in);
    sum = hui_model_sum(&t.model, &in, t.n, c, &d);
    if (t.spec.round >= HU_SRA) random = hui_stream_at(t.key, t.counter) >> (32 - t.spec.bits);
    set = hui_dot_finish(&t, 0, &in, c, sum, random);
  }
  last(&trace, ez, sum, stored(&t, z), set, random);
  if (events) hu_events_count(events, set);
  return HU_OK;
}
