/* SPDX-License-Identifier: MIT */
/* The blocks of D: how large they are, and which thread computes which. */
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/gemm/call.h"

/* As many equal blocks as the largest size needs; smaller ones while that leaves threads without work. */
void hui_gemm_set_blocks(hu_gemm_call *g, size_t rows, size_t row_step, size_t cols, size_t column_step) {
  size_t down = (g->m + rows - 1) / rows, across = (g->n + cols - 1) / cols;
  while (down * across < 2 * (size_t)g->threads && g->threads > 1) {
    size_t high = (g->m + down - 1) / down, wide = (g->n + across - 1) / across;
    if (high <= row_step && wide <= column_step) break;
    if (high >= wide || wide <= column_step) {
      down *= 2;
    } else {
      across *= 2;
    }
  }
  g->block_rows = hui_up_to((g->m + down - 1) / down, row_step);
  g->block_cols = hui_up_to((g->n + across - 1) / across, column_step);
  g->across = (g->n + g->block_cols - 1) / g->block_cols;
}

typedef struct block_work {
  hu_gemm_call *g;
  hu_gemm_block *block;
  size_t blocks, parts;
} block_work;

static void run_part(void *context, size_t part) {
  block_work *w = context;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = part; i < w->blocks; i += w->parts) {
    w->block(w->g, i / w->g->across * w->g->block_rows, i % w->g->across * w->g->block_cols, &w->g->events[part]);
  }
  hui_float_env_leave(saved);
}

void hui_gemm_run(hu_gemm_call *g, hu_gemm_block *block, hu_events *events) {
  block_work w;
  w.g = g;
  w.block = block;
  w.blocks = (g->m + g->block_rows - 1) / g->block_rows * g->across;
  /* A thread's next block is its neighbour's: one part a thread keeps the order along the rows where there is one
   * thread. */
  w.parts = hui_least(w.blocks, g->threads);
  memset(g->events, 0, w.parts * sizeof g->events[0]);
  hui_parallel(g->threads, w.parts, run_part, &w);
  for (size_t i = 0; events && i < w.parts; i++) hu_events_add(events, &g->events[i]);
}
