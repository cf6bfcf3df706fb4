/* SPDX-License-Identifier: MIT */
/* cli/bench - numbers to compute with, and arrays of them. */
#include <stdlib.h>

#include "cli/bench/bench.h"

/* Adds four uniform numbers, which is near enough to a normal one, and quick. */
float speed_normal(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t random = *state ^ *state >> 29;
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += (float)(random >> (16 * k) & 0xFFFF) - 32767.5f;
  return sum * (1 / 37837.0f); /* the deviation of the sum */
}

hu_status speed_memory_make(speed_memory *memory) {
  const size_t n = SPEED_ELEMENTS;
  uint64_t state = 1;
  memory->x = malloc(n * sizeof *memory->x);
  memory->z = calloc(n, sizeof *memory->z);
  memory->codes = calloc(n, 1);
  memory->scales = calloc(n / 16, 1); /* nvfp4 has the most of them */
  if (!memory->x || !memory->z || !memory->codes || !memory->scales) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) memory->x[i] = speed_normal(&state);
  return HU_OK;
}

void speed_memory_free(speed_memory *memory) {
  free(memory->x);
  free(memory->z);
  free(memory->codes);
  free(memory->scales);
}
