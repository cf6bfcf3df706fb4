/* SPDX-License-Identifier: MIT */
/* emu/simd/of_level.h - which level a kernel is compiled for. A kernel is one source, STEM_lanes.c or STEM_loops.c; the
 * build compiles it once a level, with the instructions of the level and its number as HU_LEVEL_ID. Without a number it
 * is 0: the compiler's own vectors, on every processor. */
#ifndef HALFULP_EMU_SIMD_OF_LEVEL_H
#define HALFULP_EMU_SIMD_OF_LEVEL_H

#ifndef HU_LEVEL_ID
#define HU_LEVEL_ID 0
#endif

/* The name of what a level has, and the bytes of its vectors. */
#if HU_LEVEL_ID == 2
#define HU_OF_LEVEL(name) name##_avx512
#define HU_LEVEL_BYTES 64
#elif HU_LEVEL_ID == 1
#define HU_OF_LEVEL(name) name##_avx2
#define HU_LEVEL_BYTES 32
#else
#define HU_OF_LEVEL(name) name##_vector
#define HU_LEVEL_BYTES 16
#endif

#endif
