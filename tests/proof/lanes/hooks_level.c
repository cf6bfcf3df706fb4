/* SPDX-License-Identifier: MIT */
/* The hooks of one level, by its own header; compiled once a level. */
#include <string.h>

#include "emu/simd/lanes.h"

#define HOOKS_HERE HU_OF_LEVEL(hooks)
#define HOOKS_LEVEL HU_LEVEL_NAME
#ifndef HU_HOLD
#define HU_HOLD(v) (v)
#endif
#include "hooks_level.h"
