/* SPDX-License-Identifier: MIT */
/* emu/simd/of_level.h - which level a kernel is compiled for. A kernel is one source, STEM_lanes.c or STEM_loops.c; the
 * build compiles it once per level, with the instructions of the level and its number as HU_LEVEL_ID. Without a number
 * it is 0: the compiler's own vectors, on every processor.
 *
 * A level defines HU_OF_LEVEL (the name of what it has), HU_LEVEL_NAME and HU_LEVEL_BIT (those of halfulp/view.h),
 * HU_LEVEL_BYTES (of its vectors), HU_LEVEL_REGISTERS (how many of them it has) and HU_LEVEL_FMA (1: it has fused
 * multiply-adds, which products in lanes require). */
#ifndef HALFULP_EMU_SIMD_OF_LEVEL_H
#define HALFULP_EMU_SIMD_OF_LEVEL_H

#include "emu/core/port.h"

#ifndef HU_LEVEL_ID
#define HU_LEVEL_ID 0
#endif

#if HU_LEVEL_ID == 3
#define HU_OF_LEVEL(name) name##_neon
#define HU_LEVEL_NAME "neon"
#define HU_LEVEL_BIT HU_LEVEL_NEON
#define HU_LEVEL_BYTES 16
#define HU_LEVEL_REGISTERS 32
#define HU_LEVEL_FMA 1
#elif HU_LEVEL_ID == 2
#define HU_OF_LEVEL(name) name##_avx512
#define HU_LEVEL_NAME "avx512"
#define HU_LEVEL_BIT HU_LEVEL_AVX512
#define HU_LEVEL_BYTES 64
#define HU_LEVEL_REGISTERS 32
#define HU_LEVEL_FMA 1
#elif HU_LEVEL_ID == 1
#define HU_OF_LEVEL(name) name##_avx2
#define HU_LEVEL_NAME "avx2"
#define HU_LEVEL_BIT HU_LEVEL_AVX2
#define HU_LEVEL_BYTES 32
#define HU_LEVEL_REGISTERS 16
#define HU_LEVEL_FMA 1
#else
#define HU_OF_LEVEL(name) name##_vector
#define HU_LEVEL_NAME "vector"
#define HU_LEVEL_BIT HU_LEVEL_VECTOR
#define HU_LEVEL_BYTES 16
#define HU_LEVEL_REGISTERS 16
#define HU_LEVEL_FMA 0
#endif

/* HU_RUNS_ and the suffix of a level's names: whether the CPU runs it. */
#define HU_RUNS_vector 1
#define HU_RUNS_neon 1
#define HU_RUNS_avx2                                                                                    \
  (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") && \
   __builtin_cpu_supports("popcnt"))
#define HU_RUNS_avx512                                                                        \
  (HU_RUNS_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && \
   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))

/* The levels that this build has, the best first: X(the suffix of their names). */
#if HU_X86_LEVELS
#define HU_EACH_LEVEL(X) X(avx512) X(avx2) X(vector)
#elif HU_ARM_LEVELS
#define HU_EACH_LEVEL(X) X(neon) X(vector)
#else
#define HU_EACH_LEVEL(X) X(vector)
#endif

#endif
