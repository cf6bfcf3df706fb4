/* SPDX-License-Identifier: MIT */
/* See progress.h. */
#include "cli/base/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double progress_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

double progress_processor_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static int columns(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2) return 80; /* it does not say */
  return size.ws_col;
}

void progress_start(progress *bar, const char *what, uint64_t total) {
  double seconds = progress_seconds();
  *bar = (progress){what, total, seconds, seconds, !cli_quiet() && isatty(STDERR_FILENO), 0, NULL, 0};
}

/* Writes "12 s left  "; from some minutes and hours on in these. */
static void put_left(char text[32], double seconds) {
  if (seconds < 120)
    snprintf(text, 32, "%.0f s left  ", seconds);
  else if (seconds < 7200)
    snprintf(text, 32, "%.0f min left  ", seconds / 60);
  else
    snprintf(text, 32, "%.0f h left  ", fmin(seconds / 3600, 1e9));
}

/* Returns how much of a note fits, in whole parts; at least something of the first one. */
static int fitting(const char *note, size_t width) {
  size_t n = strlen(note);
  while (n > width) {
    const char *cut = NULL;
    for (const char *at = strstr(note, "  "); at && at < note + n; at = strstr(at + 2, "  ")) cut = at;
    if (!cut) return (int)width;
    n = (size_t)(cut - note);
  }
  return (int)n;
}

void progress_at(progress *shown, uint64_t done) {
  enum { WIDTH = 40, NARROW = 8, WIDE = 60, TIGHT = 40 };
  char bar[WIDTH + 4] = "", text[400], left[32] = "";
  if (!shown->terminal || !shown->total) return;
  double seconds = progress_seconds();
  if (seconds - shown->start < 0.5 || seconds - shown->drawn < 0.1) return;
  shown->drawn = seconds;
  shown->shown = 1;
  int columns_left = columns() - 1, width = !shown->note ? WIDTH : columns_left < WIDE ? NARROW / 2 : NARROW;
  double part = (double)done / (double)shown->total, before = (double)shown->first / (double)shown->total;
  if (columns_left >= TIGHT) {
    memset(bar, '.', (size_t)width + 2);
    memset(bar + 1, '#', (size_t)(part * width));
    bar[0] = '[';
    bar[width + 1] = ']';
    bar[width + 2] = ' ';
    if (part - before > 0.02) put_left(left, (seconds - shown->start) * (1 - part) / (part - before));
  }
  int n = snprintf(text, sizeof text, "%s %s%3d%% %s", shown->what, bar, (int)(part * 100), left);
  if (shown->note && n < columns_left) {
    snprintf(text + n, sizeof text - (size_t)n, "%.*s", fitting(shown->note, (size_t)(columns_left - n)), shown->note);
  }
  fprintf(stderr, "\r%.*s\033[K", columns_left, text);
  fflush(stderr);
}

int progress_due(double *last) {
  double now = progress_seconds();
  int due = *last > 0 && now - *last >= 10;
  if (due || *last <= 0) *last = now;
  return due;
}

void progress_end(progress *bar) {
  if (bar->shown) fprintf(stderr, "\r\033[K");
}
