/* SPDX-License-Identifier: MIT */
/* The blocks of D: how large they are, and which thread computes which. */
#include "emu/base/threads.h"
#include "emu/gemm/call.h"

/* As many equal blocks as the largest size needs; smaller ones while that leaves threads without work. */
void hui_gemm_set_blocks(hu_gemm_call *call, size_t rows, size_t row_step, size_t cols, size_t column_step) {
  size_t down = (call->m + rows - 1) / rows, across = (call->n + cols - 1) / cols;
  while (down * across < 2 * (size_t)call->threads && call->threads > 1) {
    size_t high = (call->m + down - 1) / down, wide = (call->n + across - 1) / across;
    if (high <= row_step && wide <= column_step) break;
    if (high >= wide || wide <= column_step) {
      down *= 2;
    } else {
      across *= 2;
    }
  }
  call->block_rows = hui_up_to((call->m + down - 1) / down, row_step);
  call->block_cols = hui_up_to((call->n + across - 1) / across, column_step);
  call->across = (call->n + call->block_cols - 1) / call->block_cols;
}

typedef struct block_work {
  hu_gemm_call *call;
  hu_gemm_block *block;
  size_t blocks, parts;
} block_work;

static void run_part(void *context, size_t part) {
  block_work *work = context;
  hu_float_env saved = hui_gemm_enter(work->parts);
  for (size_t i = part; i < work->blocks; i += work->parts) {
    work->block(work->call, i / work->call->across * work->call->block_rows,
                i % work->call->across * work->call->block_cols, &work->call->events[part]);
  }
  hui_gemm_leave(work->parts, saved);
}

void hui_gemm_run(hu_gemm_call *call, hu_gemm_block *block, hu_events *events) {
  block_work work;
  work.call = call;
  work.block = block;
  work.blocks = (call->m + call->block_rows - 1) / call->block_rows * call->across;
  /* A thread's next block is its neighbour's: one part a thread keeps the order along the rows where there is one
   * thread. */
  work.parts = hui_least(work.blocks, call->threads);
  memset(call->events, 0, work.parts * sizeof call->events[0]);
  hui_parallel(call->threads, work.parts, run_part, &work);
  for (size_t i = 0; events && i < work.parts; i++) hu_events_add(events, &call->events[i]);
}
