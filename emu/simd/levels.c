/* SPDX-License-Identifier: MIT */
/* Which kernels this build has and this processor can run. */
#include "emu/simd/convert.h"

#if HU_X86_LEVELS
static int has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}

static int has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static int has_vbmi(void) { return has_avx512() && __builtin_cpu_supports("avx512vbmi"); }
#endif

uint32_t hu_levels(void) {
  uint32_t levels = hu_kernels_vector() ? HU_LEVEL_VECTOR : 0;
#if HU_X86_LEVELS
  if (has_avx2()) levels |= HU_LEVEL_AVX2;
  if (has_avx512()) levels |= HU_LEVEL_AVX512;
  if (has_vbmi()) levels |= HU_LEVEL_VBMI;
#endif
  return levels;
}

/* VBMI adds to AVX-512 and goes with it. */
uint32_t hu_levels_for(const hu_exec *exec) {
  uint32_t off = exec ? exec->levels_off : 0;
  return hu_levels() & ~(off | (off & HU_LEVEL_AVX512 ? HU_LEVEL_VBMI : 0));
}

const hu_kernels *hu_kernels_for(uint32_t levels) {
#if HU_X86_LEVELS
  if (levels & HU_LEVEL_AVX512) return hu_kernels_avx512();
  if (levels & HU_LEVEL_AVX2) return hu_kernels_avx2();
#endif
  if (levels & HU_LEVEL_VECTOR) return hu_kernels_vector();
  return NULL;
}
