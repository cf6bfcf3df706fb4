/* SPDX-License-Identifier: MIT */
/* emu/scaled_gemm/tiles.h - a product of scaled tensors cut into tiles of D; each tile is computed by one thread. */
#ifndef HALFULP_EMU_SCALED_GEMM_TILES_H
#define HALFULP_EMU_SCALED_GEMM_TILES_H

#include "emu/core/round.h"
#include "emu/scaled_gemm/join.h"
#include "emu/scaled_gemm/plan.h"

typedef struct hu_tiles hu_tiles;
typedef struct hu_tile {
  size_t i, j, rows, cols;
  uint8_t *work; /* the thread's space */
  hu_events *events;
} hu_tile;

struct hu_tiles {
  const hu_scaled_plan *plan;
  hu_scaled_sums sums;
  hu_exec exec;                   /* of calls for a tile: one thread */
  hu_spec spec;                   /* of a plain D */
  const hu_scaled_join *join;     /* lanes; NULL: none */
  int c_carried;                  /* C is absent, or binary32 holds it */
  int how;                        /* HU_BLOCK_JOIN_ of the lanes */
  float step_a[256], step_b[256]; /* d by code, where scales are bytes */
  size_t tile_rows, tile_cols, across, tiles, parts;
  int (*run)(hu_tiles *tiles, const hu_tile *tile); /* 0: a call has refused */
  hu_events events[HU_THREADS_MAX];
  uint8_t wrong[HU_THREADS_MAX];
};

/* Makes the tiles (tiles.c). */
void hui_tiles_make(hu_tiles *tiles, const hu_scaled_plan *plan, const hu_exec *exec);
/* Runs tiles of at most `most` elements through tiles->run. */
hu_status hui_tiles_run(hu_tiles *tiles, size_t most, hu_events *events);
/* Returns row `line` of A, or column `line` of B (rows: 0). */
hu_line hui_tile_line(const hu_view *x, size_t line, int rows);
/* Reads rows x cols of C as binary32, where c_carried. */
int hui_tile_read_c(const hu_tiles *tiles, const hu_tile *tile, float *to);
hu_num hui_tile_c(const hu_tiles *tiles, size_t i, size_t j);
/* sum = the epilogue of sum; buffer: as large. */
int hui_tile_epilogue(const hu_tiles *tiles, const hu_tile *tile, float *sum, float *buffer);
/* Rounds sums, contiguous, into D or y; or one sum at a time. */
int hui_tile_finish(const hu_tiles *tiles, const hu_tile *tile, const float *sum);
void hui_tile_store(const hu_tiles *tiles, const hu_tile *tile, size_t i, size_t j, hu_num sum, hu_num c);

/* Runs the method `parts` (parts.c). */
hu_status hui_scaled_run_parts(const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events);

#endif
