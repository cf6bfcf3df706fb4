/* SPDX-License-Identifier: MIT */
/* See progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(progress *p, const char *what, uint64_t total) {
  double t = now();
  *p = (progress){what, total, t, t, isatty(STDERR_FILENO), 0};
}

void progress_at(progress *p, uint64_t done) {
  enum { WIDTH = 40 };
  char bar[WIDTH + 1];
  if (!p->terminal || !p->total) return;
  double t = now();
  if (t - p->start < 0.5 || t - p->drawn < 0.1) return;
  p->drawn = t;
  p->shown = 1;
  double part = (double)done / (double)p->total;
  int filled = (int)(part * WIDTH);
  for (int i = 0; i < WIDTH; i++) bar[i] = i < filled ? '#' : '.';
  bar[WIDTH] = 0;
  fprintf(stderr, "\r%s [%s] %3d%% ", p->what, bar, (int)(part * 100));
  if (part > 0.02) fprintf(stderr, "%.0f s left  ", (t - p->start) * (1 - part) / part);
  fflush(stderr);
}

void progress_end(progress *p) {
  if (p->shown) fprintf(stderr, "\r%79s\r", "");
}
