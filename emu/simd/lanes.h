/* SPDX-License-Identifier: MIT */
/* emu/simd/lanes.h - includes the vectors of the level that is being compiled (of_level.h). HU_LANES_HERE is 0 where
 * the compiler has none, or where emu/base/float_env.h cannot set the CPU's rounding direction, on which the
 * sums of emu/simd/round.h rely: the kernel is then left out, and its table is NULL. */
#ifndef HALFULP_EMU_SIMD_LANES_H
#define HALFULP_EMU_SIMD_LANES_H

#include "emu/base/float_env.h"
#include "emu/simd/of_level.h"

#if HU_LEVEL_ID == 3
#include "emu/simd/neon.h"
#define HU_LANES_HERE 1
#elif HU_LEVEL_ID == 2
#include "emu/simd/avx512.h"
#define HU_LANES_HERE 1
#elif HU_LEVEL_ID == 1
#include "emu/simd/avx2.h"
#define HU_LANES_HERE 1
#elif HU_FLOAT_ENV && (defined(__GNUC__) || defined(__clang__))
#include "emu/simd/vector.h"
#define HU_LANES_HERE 1
#else
#define HU_LANES_HERE 0
#endif

#endif
