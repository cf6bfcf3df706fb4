/* SPDX-License-Identifier: MIT */
/* Prints the name of this processor's best level. Meson runs it for -Dlevels=native; it is no part of the library. */
#include <stdio.h>

#include "emu/simd/processor.h"

int main(void) {
  const char *best = "vector";
#if HU_X86_LEVELS
  best = hu_runs_avx512() ? "avx512" : hu_runs_avx2() ? "avx2" : best;
#endif
#if HU_ARM_LEVELS
  if (hu_runs_neon()) best = "neon";
#endif
  printf("%s", best);
  return 0;
}
