/* SPDX-License-Identifier: MIT */
/* tests/cuda_host/scaled/problem.h - a scaled tensor's buffers on both sides, and each call made on the CPU and on the
 * device, whole buffers compared. */
#ifndef HALFULP_TESTS_SCALED_PROBLEM_H
#define HALFULP_TESTS_SCALED_PROBLEM_H

#include "tests/cuda_host/twin.h"

#include "halfulp/device_scaled.h"

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
  hu_scaling d;
  assert_int_equal(hu_scaling_parse(&d, text, NULL), HU_OK);
  return d;
}

static inline t_problem problem_new(t_random *r, hu_scaling d, hu_mode mode, size_t rows, size_t cols, int apart) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &d);
  t_problem p;
  memset(&p, 0, sizeof p);
  p.d = d;
  p.mode = mode;
  p.exec.stream.key = t_next64(r);
  p.exec.stream.counter = t_next64(r);
  p.rows = rows;
  p.cols = cols;
  p.ldx = cols + (apart ? t_below(r, 4) * (1 + t_below(r, 4)) : 0);
  p.ldz = cols + (apart ? t_below(r, 4) * (1 + t_below(r, 4)) : 0);
  p.ld = cols + (apart ? t_below(r, 4) * (1 + t_below(r, 4)) : 0);
  p.lds = n.block_cols + (apart ? t_below(r, 3) : 0);
  p.skip = apart ? t_below(r, 3) * 2 : 0;
  p.stats = t_below(r, 3) == 0;
  p.events = t_below(r, 4) != 0;
  size_t bytes[BUFFERS] = {(p.skip + rows * p.ldx + 4) * 4,
                           (p.skip + rows * p.ldz + 4) * 4,
                           (p.skip + rows * p.ld + 4) * n.code_bytes,
                           (n.block_rows * p.lds + 4) * n.scale_bytes,
                           8,
                           8,
                           n.block_rows * n.block_cols * sizeof(hu_scaled_stats),
                           sizeof(hu_events),
                           hu_device_scaled_work(rows, cols, &d)};
  for (int i = 0; i < BUFFERS; i++) p.t[i] = twin_new(bytes[i]);
  for (size_t i = 0; i < sizeof(hu_events) / 8; i++) ((uint64_t *)(void *)p.t[EVENTS].host)[i] = t_next32(r);
  memset(p.t[STATS].host, 0, p.t[STATS].bytes);
  return p;
}

static inline void problem_free(t_problem *p) {
  for (int i = 0; i < BUFFERS; i++) twin_free(&p->t[i]);
}

static inline void set_x(t_problem *p, const float *x) {
  float *to = (float *)(void *)p->t[X].host + p->skip;
  for (size_t i = 0; i < p->rows; i++) memcpy(to + i * p->ldx, x + i * p->cols, p->cols * sizeof *x);
}

/* The pointers of a call, on the host or on the device. */
typedef struct t_places {
  hu_scaled codes;
  float *x, *z, *amax;
  hu_scaled_stats *stats;
  hu_events *events;
  void *work;
} t_places;

static inline t_places places_of(const t_problem *p, int device) {
  uint8_t *at[BUFFERS];
  t_places q;
  size_t code_bytes = hu_scaled_sizes_of(1, 1, &p->d).code_bytes;
  for (int i = 0; i < BUFFERS; i++) at[i] = device ? p->t[i].device : p->t[i].host;
  q.codes.codes = at[CODES] + p->skip * code_bytes;
  q.codes.ld = p->ld;
  q.codes.scales = at[SCALES];
  q.codes.lds = p->lds;
  q.codes.tensor = p->d.tensor ? (float *)(void *)at[TENSOR] : NULL;
  q.x = (float *)(void *)at[X] + p->skip;
  q.z = (float *)(void *)at[Z] + p->skip;
  q.amax = p->given ? (float *)(void *)at[AMAX] : NULL;
  q.stats = p->stats ? (hu_scaled_stats *)(void *)at[STATS] : NULL;
  q.events = p->events ? (hu_events *)(void *)at[EVENTS] : NULL;
  q.work = p->t[WORK].bytes ? at[WORK] : NULL;
  return q;
}

static inline void put_all(const t_problem *p) {
  for (int i = 0; i < BUFFERS; i++) twin_put(&p->t[i]);
}

static const char *const names[] = {"x",    "values",     "codes",  "scales",          "tensor scale",
                                    "amax", "statistics", "events", "the work's place"};

static inline void check(t_problem *p, const char *call, hu_status cpu, hu_status device) {
  char text[HU_SCALING_TEXT_MAX], m[T_MODE_TEXT];
  const char *wrong = cpu != HU_OK || device != HU_OK ? "status" : NULL;
  for (int i = 0; i < WORK && !wrong; i++) {
    size_t at = twin_differs(&p->t[i]);
    if (at != p->t[i].bytes) {
      wrong = names[i];
      print_message("byte %zu of %zu\n", at, p->t[i].bytes);
    }
  }
  if (!wrong) return;
  hu_scaling_text(text, sizeof text, &p->d);
  fail_msg("%s: %s: %s, %s, %zu x %zu, ld %zu %zu %zu %zu, skip %zu, given %d, stats %d, events %d: cpu %d, device %d",
           call, wrong, text, t_mode_text(m, p->mode), p->rows, p->cols, p->ldx, p->ldz, p->ld, p->lds, p->skip,
           p->given, p->stats, p->events, cpu, device);
}

static inline void encode(t_problem *p) {
  t_places h = places_of(p, 0), g = places_of(p, 1);
  put_all(p);
  hu_status cpu =
      hu_scaled_encode(p->rows, p->cols, &h.codes, h.x, p->ldx, &p->d, p->mode, h.amax, h.stats, &p->exec, h.events);
  hu_status device = hu_device_scaled_encode(p->rows, p->cols, &g.codes, g.x, p->ldx, &p->d, p->mode, g.amax, g.stats,
                                             &p->exec, g.events, g.work, twin_stream());
  check(p, "encode", cpu, device);
}

static inline void quantize(t_problem *p, int in_place) {
  t_places h = places_of(p, 0), g = places_of(p, 1);
  size_t ldz = in_place ? p->ldx : p->ldz;
  put_all(p);
  hu_status cpu = hu_scaled_quantize(p->rows, p->cols, in_place ? h.x : h.z, ldz, h.x, p->ldx, &p->d, p->mode, h.amax,
                                     h.stats, &p->exec, h.events);
  hu_status device = hu_device_scaled_quantize(p->rows, p->cols, in_place ? g.x : g.z, ldz, g.x, p->ldx, &p->d, p->mode,
                                               g.amax, g.stats, &p->exec, g.events, g.work, twin_stream());
  check(p, in_place ? "quantize in place" : "quantize", cpu, device);
}

static inline void decode(t_problem *p, const char *what) {
  t_places h = places_of(p, 0), g = places_of(p, 1);
  put_all(p);
  hu_status cpu = hu_scaled_decode(p->rows, p->cols, h.z, p->ldz, &h.codes, &p->d, &p->exec);
  hu_status device = hu_device_scaled_decode(p->rows, p->cols, g.z, p->ldz, &g.codes, &p->d, &p->exec, twin_stream());
  check(p, what, cpu, device);
}

/* Magnitudes over some binades, a few zeros, and specials if asked for. */
static inline void ordinary(t_random *r, size_t n, float *x, int specials) {
  for (size_t i = 0; i < n; i++) {
    x[i] = t_float((uint32_t)t_between(r, 112, 130) << 23 | (t_next32(r) & 0x807FFFFF));
    if (t_below(r, 30) == 0) x[i] = t_float(t_next32(r) & 0x80000000);
    if (specials && t_below(r, 500) == 0) x[i] = t_float(0x7F800000 | (t_below(r, 2) ? t_next32(r) & 0x80000000 : 1));
  }
}

#endif
