/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/scaled/problem.h - a scaled tensor's buffers on both sides, and each call made on the CPU and on the
 * device, whole buffers compared. */
#ifndef HALFULP_TESTS_SCALED_PROBLEM_H
#define HALFULP_TESTS_SCALED_PROBLEM_H

#include "tests/cuda_host/twin.h"

enum { X = 0, Z, CODES, SCALES, TENSOR, AMAX, STATS, EVENTS, WORK, BUFFERS };

typedef struct t_problem {
  hu_scaling d;
  hu_mode mode;
  hu_exec exec;
  size_t rows, cols, ldx, ldz, ld, lds;
  size_t skip; /* elements before the first of x, z and codes */
  int given, stats, events;
  t_twin t[BUFFERS];
} t_problem;

static inline hu_scaling parsed(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

static inline t_problem problem_new(t_random *random, hu_scaling scaling, hu_mode mode, size_t rows, size_t cols,
                                    int apart) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
  t_problem problem;
  memset(&problem, 0, sizeof problem);
  problem.d = scaling;
  problem.mode = mode;
  problem.exec.stream.key = t_next64(random);
  problem.exec.stream.counter = t_next64(random);
  problem.rows = rows;
  problem.cols = cols;
  problem.ldx = cols + (apart ? t_below(random, 4) * (1 + t_below(random, 4)) : 0);
  problem.ldz = cols + (apart ? t_below(random, 4) * (1 + t_below(random, 4)) : 0);
  problem.ld = cols + (apart ? t_below(random, 4) * (1 + t_below(random, 4)) : 0);
  problem.lds = n.block_cols + (apart ? t_below(random, 3) : 0);
  problem.skip = apart ? t_below(random, 3) * 2 : 0;
  problem.stats = t_below(random, 3) == 0;
  problem.events = t_below(random, 4) != 0;
  size_t bytes[BUFFERS] = {(problem.skip + rows * problem.ldx + 4) * 4,
                           (problem.skip + rows * problem.ldz + 4) * 4,
                           (problem.skip + rows * problem.ld + 4) * n.code_bytes,
                           (n.block_rows * problem.lds + 4) * n.scale_bytes,
                           8,
                           8,
                           n.block_rows * n.block_cols * sizeof(hu_scaled_stats),
                           sizeof(hu_events),
                           hu_scaled_work_size(rows, cols, &scaling, twin_at(NULL, NULL, NULL))};
  for (int i = 0; i < BUFFERS; i++) problem.t[i] = twin_new(bytes[i]);
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++) ((uint64_t *)(void *)problem.t[EVENTS].host)[i] = t_next32(random);
  memset(problem.t[STATS].host, 0, problem.t[STATS].bytes);
  return problem;
}

static inline void problem_free(t_problem *problem) {
  for (int i = 0; i < BUFFERS; i++) twin_free(&problem->t[i]);
}

static inline void set_x(t_problem *problem, const float *x) {
  float *to = (float *)(void *)problem->t[X].host + problem->skip;
  for (size_t i = 0; i < problem->rows; i++)
    memcpy(to + i * problem->ldx, x + i * problem->cols, problem->cols * sizeof *x);
}

/* The pointers of a call, on the host or on the device. */
typedef struct t_places {
  hu_scaled codes;
  float *x, *z, *amax;
  hu_scaled_stats *stats;
  hu_events *events;
  void *work;
} t_places;

static inline t_places places_of(const t_problem *problem, int device) {
  uint8_t *at[BUFFERS];
  t_places places;
  size_t code_bytes = hu_scaled_sizes_of(1, 1, &problem->d).code_bytes;
  for (int i = 0; i < BUFFERS; i++) at[i] = device ? problem->t[i].device : problem->t[i].host;
  places.codes.codes = at[CODES] + problem->skip * code_bytes;
  places.codes.ld = problem->ld;
  places.codes.scales = at[SCALES];
  places.codes.lds = problem->lds;
  places.codes.tensor = problem->d.tensor ? (float *)(void *)at[TENSOR] : NULL;
  places.x = (float *)(void *)at[X] + problem->skip;
  places.z = (float *)(void *)at[Z] + problem->skip;
  places.amax = problem->given ? (float *)(void *)at[AMAX] : NULL;
  places.stats = problem->stats ? (hu_scaled_stats *)(void *)at[STATS] : NULL;
  places.events = problem->events ? (hu_events *)(void *)at[EVENTS] : NULL;
  places.work = problem->t[WORK].bytes ? at[WORK] : NULL;
  return places;
}

static inline void put_all(const t_problem *problem) {
  for (int i = 0; i < BUFFERS; i++) twin_put(&problem->t[i]);
}

static const char *const names[] = {"x",    "values",     "codes",  "scales",          "tensor scale",
                                    "amax", "statistics", "events", "the work's place"};

static inline void check(t_problem *problem, const char *call, hu_status cpu, hu_status device) {
  char text[HU_SCALING_TEXT_MAX], m[T_MODE_TEXT];
  const char *wrong = cpu != HU_OK || device != HU_OK ? "status" : NULL;
  for (int i = 0; i < WORK && !wrong; i++) {
    size_t at = twin_differs(&problem->t[i]);
    if (at != problem->t[i].bytes) {
      wrong = names[i];
      print_message("byte %zu of %zu\n", at, problem->t[i].bytes);
    }
  }
  if (!wrong) return;
  hu_scaling_text(text, sizeof text, &problem->d);
  fail_msg("%s: %s: %s, %s, %zu x %zu, ld %zu %zu %zu %zu, skip %zu, given %d, stats %d, events %d: cpu %d, device %d",
           call, wrong, text, t_mode_text(m, problem->mode), problem->rows, problem->cols, problem->ldx, problem->ldz,
           problem->ld, problem->lds, problem->skip, problem->given, problem->stats, problem->events, cpu, device);
}

static inline void encode(t_problem *problem) {
  t_places places = places_of(problem, 0), gaps = places_of(problem, 1);
  put_all(problem);
  hu_status cpu = hu_scaled_encode(problem->rows, problem->cols, &places.codes, places.x, problem->ldx, &problem->d,
                                   problem->mode, places.amax, places.stats, &problem->exec, places.events);
  hu_status device =
      hu_scaled_encode(problem->rows, problem->cols, &gaps.codes, gaps.x, problem->ldx, &problem->d, problem->mode,
                       gaps.amax, gaps.stats, twin_there_with(&problem->exec, gaps.work), gaps.events);
  check(problem, "encode", cpu, device);
}

static inline void quantize(t_problem *problem, int in_place) {
  t_places places = places_of(problem, 0), gaps = places_of(problem, 1);
  size_t ldz = in_place ? problem->ldx : problem->ldz;
  put_all(problem);
  hu_status cpu =
      hu_scaled_quantize(problem->rows, problem->cols, in_place ? places.x : places.z, ldz, places.x, problem->ldx,
                         &problem->d, problem->mode, places.amax, places.stats, &problem->exec, places.events);
  hu_status device = hu_scaled_quantize(problem->rows, problem->cols, in_place ? gaps.x : gaps.z, ldz, gaps.x,
                                        problem->ldx, &problem->d, problem->mode, gaps.amax, gaps.stats,
                                        twin_there_with(&problem->exec, gaps.work), gaps.events);
  check(problem, in_place ? "quantize in place" : "quantize", cpu, device);
}

static inline void decode(t_problem *problem, const char *what) {
  t_places places = places_of(problem, 0), gaps = places_of(problem, 1);
  put_all(problem);
  hu_status cpu = hu_scaled_decode(problem->rows, problem->cols, places.z, problem->ldz, &places.codes, &problem->d,
                                   &problem->exec);
  hu_status device = hu_scaled_decode(problem->rows, problem->cols, gaps.z, problem->ldz, &gaps.codes, &problem->d,
                                      twin_there(&problem->exec));
  check(problem, what, cpu, device);
}

/* Magnitudes over some binades, a few zeros, and specials if asked for. */
static inline void ordinary(t_random *random, size_t n, float *x, int specials) {
  for (size_t i = 0; i < n; i++) {
    x[i] = t_float((uint32_t)t_between(random, 112, 130) << 23 | (t_next32(random) & 0x807FFFFF));
    if (t_below(random, 30) == 0) x[i] = t_float(t_next32(random) & 0x80000000);
    if (specials && t_below(random, 500) == 0)
      x[i] = t_float(0x7F800000 | (t_below(random, 2) ? t_next32(random) & 0x80000000 : 1));
  }
}

#endif
