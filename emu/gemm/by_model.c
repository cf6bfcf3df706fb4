/* SPDX-License-Identifier: MIT */
/* hu_gemm under any model: every element by emu/core/accum.h, in the order that docs/numerics.md section 11 states. */
#include "emu/accum/sum.h"
#include "emu/gemm/call.h"

enum { BLOCK = 64 };

static hu_source source_of(const hu_matrix *x) {
  return hui_source_of(x->format, x->values ? HU_STORED_VALUES : HU_STORED_CODES, (uint8_t)x->size);
}

/* Row i of A, or column i of B: where k runs along the stored row if `along`. */
static hu_line line_of(const hu_matrix *x, size_t i, int along) {
  hu_line z;
  z.at = (const uint8_t *)x->data + i * (along ? x->ld : 1) * x->size;
  z.step = (ptrdiff_t)((along ? 1 : x->ld) * x->size);
  return z;
}

static void model_block(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, hu_events *events,
                        hu_watch *watch) {
  hu_accum_plan p;
  hu_lines in;
  p.a = source_of(&g->a);
  p.b = source_of(&g->b);
  p.sa = g->scale_a.data ? source_of(&g->scale_a) : p.a;
  p.sb = g->scale_b.data ? source_of(&g->scale_b) : p.b;
  hu_source c = g->c.data ? source_of(&g->c) : p.a;
  hui_plan_model(&p, g->accum, g->k, &c);
  memset(&in, 0, sizeof in);
  for (size_t i = i0; i < i0 + rows; i++) {
    in.a = line_of(&g->a, i, !g->a.transposed);
    if (g->scale_a.data) in.sa = line_of(&g->scale_a, i, !g->scale_a.transposed);
    for (size_t j = j0; j < j0 + cols; j++) {
      in.b = line_of(&g->b, j, g->b.transposed);
      if (g->scale_b.data) in.sb = line_of(&g->scale_b, j, g->scale_b.transposed);
      hu_draw d = hui_draw_of(g->stream.key, g->stream.counter + (uint64_t)i * g->n + j, watch);
      hu_num start = hui_num_special(HU_KIND_ZERO, 0);
      if (g->c.data) {
        const uint8_t *at = line_of(&g->c, g->c.transposed ? j : i, 1).at;
        start = hui_source_read(&c, at + (g->c.transposed ? i : j) * g->c.size);
      }
      hui_gemm_finish(g, i, j, hui_model_sum(&p, &in, g->k, start, &d), events);
    }
  }
}

void hui_gemm_model_block(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, hu_events *events) {
  model_block(g, i0, j0, rows, cols, events, NULL);
}

/* A part's watch has the number of its events. */
static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  size_t rows = hui_least(g->m - i0, g->block_rows), cols = hui_least(g->n - j0, g->block_cols);
  model_block(g, i0, j0, rows, cols, events, g->watches ? g->watches + (events - g->events) : NULL);
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  (void)level;
  hui_gemm_set_blocks(g, BLOCK, 1, BLOCK, 1);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_by_model = {"by_model", run};
