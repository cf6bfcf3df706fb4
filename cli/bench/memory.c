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

hu_status speed_room_make(speed_room *room) {
  const size_t n = SPEED_ELEMENTS;
  uint64_t state = 1;
  room->x = malloc(n * sizeof *room->x);
  room->z = calloc(n, sizeof *room->z);
  room->codes = calloc(n, 1);
  room->scales = calloc(n / 16, 1); /* nvfp4 has the most of them */
  if (!room->x || !room->z || !room->codes || !room->scales) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) room->x[i] = speed_normal(&state);
  return HU_OK;
}

void speed_room_free(speed_room *room) {
  free(room->x);
  free(room->z);
  free(room->codes);
  free(room->scales);
}
