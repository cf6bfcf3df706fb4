/* SPDX-License-Identifier: MIT */
/* Kernels as loops, compiled once a level. */
#include "train/engine/loops.h"

#include "train/engine/depthwise.h"
#include "train/engine/kernels_sequences.h"
#include "train/engine/product_tile.h"
#include "train/engine/sum_tile.h"

#define HU_LOOP(NAME, name, by)                                                             \
  static void run_##name(const hu_task *task, size_t r0, size_t r1, size_t j0, size_t j1) { \
    const hu_task own = *task;                                                              \
    for (size_t r = r0; r < r1; r++) hui_at_##name(&own, r, j0, j1);                        \
  }
HU_KERNELS(HU_LOOP)

#define HU_LOOP_OF(NAME, name, by) run_##name,
const hu_loops HU_OF_LEVEL(hu_loops) = {HU_LEVEL_BIT, {HU_KERNELS(HU_LOOP_OF)}, HU_PRODUCT_LOOP, HU_TILE_LOOP,
                                        HU_PACK_LOOP, HU_DEPTHWISE_LOOPS,       HU_SUM_LOOPS};
