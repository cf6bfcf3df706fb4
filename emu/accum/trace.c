/* SPDX-License-Identifier: MIT */
/* hu_dot_trace: hu_dot with a visitor. emu/core/accum_trace.h passes the steps on; the last one is added here. */
#include "emu/accum/check.h"
#include "emu/accum/sum.h"
#include "emu/base/exec.h"
#include "emu/core/dot.h"

static hu_tracing tracing_of(const hu_accum_plan *plan, hu_trace_visit *visit, void *context) {
  const hu_accum *accum = &plan->model;
  hu_tracing tracing;
  memset(&tracing, 0, sizeof tracing);
  tracing.visit = visit;
  tracing.context = context;
  tracing.grid[0] = &plan->sum;
  tracing.type[0] = hu_type_codes(accum->kind == HU_ACCUM_FP32 ? hui_format_binary32() : accum->sum);
  tracing.grid[1] = &plan->product;
  tracing.type[1] = hu_type_codes(accum->product);
  tracing.grid[2] = &plan->plain;
  tracing.type[2] = hu_type_codes(hui_accum_result(accum));
  tracing.grid[3] = &plan->join;
  tracing.type[3] = hu_type_codes(accum->product);
  tracing.grid[4] = &plan->via;
  tracing.type[4] = hu_type_codes(accum->block.via);
  hui_trace_next(&tracing);
  return tracing;
}

/* The number that was stored. */
static hu_num stored(const hu_dot_plan *plan, const void *z) {
  uint64_t bits;
  if (plan->kind == HU_TYPE_INT32) return hui_num_of_s32(hui_load_code((const uint8_t *)z, 4));
  if (plan->kind != HU_TYPE_BINARY64) return hui_unpack(&plan->spec, hui_load_code((const uint8_t *)z, plan->size));
  memcpy(&bits, z, 8);
  return hui_unpack64(bits);
}

static void last(hu_tracing *trace, hu_type type, hu_num sum, hu_num z, uint32_t events, uint32_t random) {
  hui_trace_next(trace);
  trace->step.kind = HU_TRACE_LAST;
  trace->step.type = type;
  hui_trace_result(trace, sum, z, events, random);
}

hu_status hu_dot_trace(const hu_product *x, const hu_how *how, hu_trace_visit *visit, void *context) {
  const hu_how defaults = {{0}, NULL, NULL};
  hu_dot_plan plan;
  if (!how) how = &defaults;
  if (hui_is_elsewhere(how->exec)) return HU_E_DEVICE;
  if (!visit) return HU_E_NULL;
  hu_status status = hui_dot_plan_one(&plan, x, how->mode, how->exec);
  if (status != HU_OK) return status;
  hu_tracing trace = tracing_of(&plan.model, visit, context);
  hu_draw draw = hui_draw_of(plan.key, plan.counter, x->watch);
  hu_num sum;
  uint32_t set, random = 0;
  draw.trace = &trace;
  if (x->accum->kind == HU_ACCUM_INT32) {
    set = hui_dot_integers(&plan, 0, &draw);
    sum = stored(&plan, plan.z);
  } else {
    hu_lines in;
    hu_num c = hui_dot_lines(&plan, 0, &in);
    sum = hui_model_sum(&plan.model, &in, plan.n, c, &draw);
    if (plan.spec.round >= HU_SRA) random = hui_stream_at(plan.key, plan.counter) >> (32 - plan.spec.bits);
    set = hui_dot_finish(&plan, 0, &in, c, sum, random);
  }
  last(&trace, hui_codes_type(&x->d.type), sum, stored(&plan, plan.z), set, random);
  if (how->events) hu_events_count(how->events, set);
  return HU_OK;
}
