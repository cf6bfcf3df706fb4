/* SPDX-License-Identifier: MIT */
/* Prints the name of this processor's best level. Meson runs it for -Dlevels=native; it is no part of the library. */
#include <stdio.h>

#include "emu/simd/of_level.h"

int main(void) {
#define PRINT(name)      \
  if (HU_RUNS_##name) {  \
    printf("%s", #name); \
    return 0;            \
  }
  HU_EACH_LEVEL(PRINT)
}
