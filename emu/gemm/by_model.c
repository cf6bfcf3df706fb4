/* SPDX-License-Identifier: MIT */
/* hu_gemm under any model: every element by emu/core/accum.h, in the order that docs/numerics.md section 11 states. */
#include "emu/accum/sum.h"
#include "emu/gemm/call.h"

enum { BLOCK = 64 };

static hu_source source_of(const hu_matrix *x) {
  return hui_source_of(x->format, x->values ? HU_STORED_VALUES : HU_STORED_CODES, (uint8_t)x->size);
}

/* Returns row i of A, or column i of B; `along`: k runs along the stored row. */
static hu_line line_of(const hu_matrix *x, size_t i, int along) {
  hu_line z;
  z.at = (const uint8_t *)x->data + i * (along ? x->ld : 1) * x->size;
  z.step = (ptrdiff_t)((along ? 1 : x->ld) * x->size);
  return z;
}

static void model_block(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, hu_events *events,
                        hu_watch *watch) {
  hu_accum_plan plan;
  hu_lines in;
  plan.a = source_of(&call->a);
  plan.b = source_of(&call->b);
  plan.sa = call->scale_a.data ? source_of(&call->scale_a) : plan.a;
  plan.sb = call->scale_b.data ? source_of(&call->scale_b) : plan.b;
  hu_source c = call->c.data ? source_of(&call->c) : plan.a;
  hui_plan_model(&plan, call->accum, call->k, &c);
  memset(&in, 0, sizeof in);
  for (size_t i = i0; i < i0 + rows; i++) {
    in.a = line_of(&call->a, i, !call->a.transposed);
    if (call->scale_a.data) in.sa = line_of(&call->scale_a, i, !call->scale_a.transposed);
    for (size_t j = j0; j < j0 + cols; j++) {
      in.b = line_of(&call->b, j, call->b.transposed);
      if (call->scale_b.data) in.sb = line_of(&call->scale_b, j, call->scale_b.transposed);
      hu_draw draw = hui_draw_of(call->stream.key, call->stream.counter + (uint64_t)i * call->n + j, watch);
      hu_num start = hui_num_special(HU_KIND_ZERO, 0);
      if (call->c.data) {
        const uint8_t *at = line_of(&call->c, call->c.transposed ? j : i, 1).at;
        start = hui_source_read(&c, at + (call->c.transposed ? i : j) * call->c.size);
      }
      hui_gemm_finish(call, i, j, hui_model_sum(&plan, &in, call->k, start, &draw), events);
    }
  }
}

void hui_gemm_model_block(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, hu_events *events) {
  model_block(call, i0, j0, rows, cols, events, NULL);
}

/* A part's watch has the number of its events. */
static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  model_block(call, i0, j0, rows, cols, events, call->watches ? call->watches + (events - call->events) : NULL);
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  (void)level;
  hui_gemm_set_blocks(call, BLOCK, 1, BLOCK, 1);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_by_model = {"by_model", run};
