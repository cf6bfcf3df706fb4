/* SPDX-License-Identifier: MIT */
/* files/timing.h - seconds, and the best of several runs of two things in turn; for bench/ and `halfulp bench`. */
#ifndef HALFULP_FILES_TIMING_H
#define HALFULP_FILES_TIMING_H

#include <time.h>

/* What bench_now reads; CLOCK_PROCESS_CPUTIME_ID leaves out what other programs take, and is good for one thread. */
static clockid_t bench_clock = CLOCK_MONOTONIC;

static inline double bench_now(void) {
  struct timespec now;
  clock_gettime(bench_clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct bench_pair {
  double subject, reference; /* best seconds of one call */
} bench_pair;

/* Runs subject and reference in turn `rounds` times, each `repeat` calls long, and keeps the best of each: what another
 * program takes away from this machine hits both alike, and the best is the run it hit least. */
static inline bench_pair bench_against(void (*subject)(void *), void (*reference)(void *), void *context, int rounds,
                                       int repeat) {
  bench_pair best = {1e30, 1e30};
  for (int i = 0; i < rounds; i++) {
    double t0 = bench_now();
    for (int k = 0; k < repeat; k++) reference(context);
    double t1 = bench_now();
    for (int k = 0; k < repeat; k++) subject(context);
    double t2 = bench_now();
    if ((t1 - t0) / repeat < best.reference) best.reference = (t1 - t0) / repeat;
    if ((t2 - t1) / repeat < best.subject) best.subject = (t2 - t1) / repeat;
  }
  return best;
}

/* Does the same for `seconds`, for a round at least. */
static inline bench_pair bench_for(void (*subject)(void *), void (*reference)(void *), void *context, double seconds) {
  double end = bench_now() + seconds;
  bench_pair best = bench_against(subject, reference, context, 1, 1);
  while (bench_now() < end) {
    bench_pair one = bench_against(subject, reference, context, 1, 1);
    if (one.subject < best.subject) best.subject = one.subject;
    if (one.reference < best.reference) best.reference = one.reference;
  }
  return best;
}

#endif
