/* SPDX-License-Identifier: MIT */
/* emu/simd/processor.h - whether the processor that asks runs a level. */
#ifndef HALFULP_EMU_SIMD_PROCESSOR_H
#define HALFULP_EMU_SIMD_PROCESSOR_H

#include "emu/core/port.h"

#if HU_X86_LEVELS
static inline int hu_runs_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

static inline int hu_runs_avx512(void) {
  return hu_runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static inline int hu_runs_vbmi(void) { return hu_runs_avx512() && __builtin_cpu_supports("avx512vbmi"); }
#endif

#if HU_ARM_LEVELS
static inline int hu_runs_neon(void) { return 1; }
#endif
static inline int hu_runs_vector(void) { return 1; }

#endif
