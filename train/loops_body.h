/* SPDX-License-Identifier: MIT */
/* train/loops_body.h - the text of every level's loops; whoever includes it names the table HU_LOOPS. */
#include "train/kernels_layers.h"
#include "train/loops.h"
#include "train/product_loop.h"

#define HU_LOOP(NAME, name, by)                                                          \
  static void run_##name(const hu_task *t, size_t r0, size_t r1, size_t j0, size_t j1) { \
    const hu_task own = *t;                                                              \
    for (size_t r = r0; r < r1; r++) hu_at_##name(&own, r, j0, j1);                      \
  }
HU_KERNELS(HU_LOOP)

#define HU_LOOP_OF(NAME, name, by) run_##name,
const hu_loops HU_LOOPS = {{HU_KERNELS(HU_LOOP_OF)}, HU_PRODUCT_LOOP, HU_TILE_LOOP};
