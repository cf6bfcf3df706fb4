/* SPDX-License-Identifier: MIT */
/* cli/bench - the list of cases, and how one is measured. */
#include <stdlib.h>

#include "cli/bench/bench.h"
#include "files/timing.h"

enum { RUNS = 3 };

const speed_case *speed_case_at(size_t i) {
  static const speed_case *const lists[] = {speed_arrays, speed_products, speed_steps};
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    for (const speed_case *c = lists[k]; c->name; c++) {
      if (i-- == 0) return c;
    }
  }
  return NULL;
}

/* Four uniform numbers: near enough, and quick. */
float speed_normal(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t r = *state ^ *state >> 29;
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += (float)(r >> (16 * k) & 0xFFFF) - 32767.5f;
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

static void keep(speed_result *z, const speed_case *c, bench_pair t, int first) {
  double ratio = t.subject / t.reference;
  double figure = c->unit[0] == 'G' ? c->count / t.subject : (c->unit[0] == 'n' ? 1e9 : 1e6) * t.subject / c->count;
  int better = c->unit[0] == 'G' ? figure > z->figure : figure < z->figure;
  if (first || better) z->figure = figure;
  if (first || ratio < z->best) z->best = ratio;
  if (first || ratio > z->worst) z->worst = ratio;
}

hu_status speed_measure(speed_result *z, const speed_case *c, const speed_room *room, unsigned threads,
                        double seconds) {
  speed_job *job = NULL;
  const double end = bench_now() + seconds;
  hu_status s = c->prepare(&job, c, room, threads);
  if (s == HU_OK) { /* once before the clock runs: pages are touched, threads started */
    c->reference_call(job);
    c->subject(job);
    s = c->status(job);
  }
  for (int i = 0; i < RUNS && s == HU_OK; i++) {
    keep(z, c, bench_for(c->subject, c->reference_call, job, (end - bench_now()) / (RUNS - i)), i == 0);
    s = c->status(job);
  }
  c->close(job);
  return s;
}
