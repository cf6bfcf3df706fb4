/* SPDX-License-Identifier: MIT */
/* The table of a level that the build leaves out (Meson's option `levels`). It has no loops: hu_levels does not have
 * the level either, so that no run takes the table. */
#include "train/engine/loops.h"

const hu_loops HU_OF_LEVEL(hu_loops) = {.level = HU_LEVEL_BIT};
