/* SPDX-License-Identifier: MIT */
/* See progress.h. */
#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double progress_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int columns(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20) return 80;
  return size.ws_col;
}

void progress_start(progress *p, const char *what, uint64_t total) {
  double t = progress_seconds();
  *p = (progress){what, total, t, t, isatty(STDERR_FILENO), 0, NULL, 0};
}

void progress_at(progress *p, uint64_t done) {
  enum { WIDTH = 40, NARROW = 12 };
  char bar[WIDTH + 1], text[400];
  if (!p->terminal || !p->total) return;
  double t = progress_seconds();
  if (t - p->start < 0.5 || t - p->drawn < 0.1) return;
  p->drawn = t;
  p->shown = 1;
  int width = p->note ? NARROW : WIDTH;
  double part = (double)done / (double)p->total, before = (double)p->first / (double)p->total;
  int filled = (int)(part * width);
  for (int i = 0; i < width; i++) bar[i] = i < filled ? '#' : '.';
  bar[width] = 0;
  int n = snprintf(text, sizeof text, "%s [%s] %3d%% ", p->what, bar, (int)(part * 100));
  if (part - before > 0.02)
    n += snprintf(text + n, sizeof text - (size_t)n, "%.0f s left  ", (t - p->start) * (1 - part) / (part - before));
  if (p->note) snprintf(text + n, sizeof text - (size_t)n, "%s", p->note);
  fprintf(stderr, "\r%.*s\033[K", columns() - 1, text);
  fflush(stderr);
}

void progress_end(progress *p) {
  if (p->shown) fprintf(stderr, "\r\033[K");
}
