/* SPDX-License-Identifier: MIT */
/* tests/oracle/steps.c - see steps.h. */
#include "tests/oracle/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"

typedef struct t_list {
  uint32_t *at;
  size_t n, buffer;
} t_list;

static void *checked(void *p) {
  if (p == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return p;
}

static void push(t_list *list, uint32_t start) {
  if (list->n == list->buffer) {
    list->buffer = list->buffer ? 2 * list->buffer : 1024;
    list->at = checked(realloc(list->at, list->buffer * sizeof *list->at));
  }
  list->at[list->n++] = start;
}

static float from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The first finite magnitude >= (or >) t; STEPS_INFINITY if there is none. By bisection over the ordered patterns. */
static uint32_t first_at(double t, int beyond) {
  uint32_t low = 0, high = STEPS_INFINITY;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    double x = (double)from_bits(middle);
    if (beyond ? x > t : x >= t)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void threshold(t_list *list, double t) {
  if (!(t > 0)) return;
  push(list, first_at(t, 0));
  push(list, first_at(t, 1));
}

static double value(hu_format format, uint32_t code) {
  double v;
  if (hu_oracle_decode64(&v, format, code) != HU_OK) {
    fprintf(stderr, "not a format\n");
    exit(1);
  }
  return v;
}

static int by_start(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Grid points of a format, flushed ones included: the decoded codes, then the lowest binade by its formula. */
static size_t grid(hu_format format, double *g) {
  hu_limits limits = hu_limits_of(format);
  size_t n = 0;
  double edge = ldexp(1, limits.emin), unit = ldexp(edge, -(int)format.m);
  g[n++] = 0;
  if (format.subnormal ==
      HU_SUBNORMAL_FLUSH) { /* below the last flushed points every result is zero: two of them are enough */
    if (format.m > 0) g[n++] = edge - unit;
    g[n++] = edge;
  }
  for (uint32_t c = 0; c <= limits.max_code; c++) {
    double v = value(format, c);
    if (v > g[n - 1]) g[n++] = v;
  }
  /* The grid point after max: at the same distance as the one below it, or further if max starts a binade. */
  double last_unit = ldexp(1, (format.e == 0 || limits.emax < limits.emin ? limits.emin : limits.emax) - (int)format.m);
  g[n] = g[n - 1] + last_unit;
  return n + 1;
}

t_steps steps_make(hu_format format) {
  hu_limits limits = hu_limits_of(format);
  double *g = checked(malloc(((size_t)limits.max_code + 8) * sizeof *g));
  size_t n = grid(format, g);
  double edge = ldexp(1, limits.emin), near = edge - ldexp(1, limits.emin - 1 - (int)format.m);
  t_list starts = {NULL, 0, 0};
  push(&starts, 0);
  push(&starts, 1);
  for (size_t i = 0; i < n; i++) {
    threshold(&starts, g[i]);
    if (i + 1 < n) threshold(&starts, g[i] + (g[i + 1] - g[i]) / 2);
  }
  threshold(&starts, edge);
  threshold(&starts, near);
  threshold(&starts, near + (edge - near) / 2);
  push(&starts, STEPS_INFINITY);
  push(&starts, STEPS_INFINITY + 1);
  free(g);
  qsort(starts.at, starts.n, sizeof *starts.at, by_start);
  t_steps steps = {starts.at, 0};
  for (size_t i = 0; i < starts.n; i++)
    if (i == 0 || starts.at[i] != starts.at[i - 1]) steps.start[steps.count++] = starts.at[i];
  push(&starts, 0); /* make room for the end */
  steps.start = starts.at;
  steps.start[steps.count] = (uint32_t)STEPS_END;
  return steps;
}

void steps_free(t_steps *steps) {
  free(steps->start);
  steps->start = NULL;
  steps->count = 0;
}
