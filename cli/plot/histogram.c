/* SPDX-License-Identifier: MIT */
/* Counts numbers by their size: see plot.h. */
#include <math.h>
#include <stdlib.h>

#include "cli/plot/plot.h"

/* Returns the bin of a number; bins start at 2^-1076. */
static int bin_of(double magnitude) {
  int exponent;
  double fraction = frexp(magnitude, &exponent);
  int part = (int)(BINS_PER_BINADE * (log2(fraction) + 1));
  return (exponent - 1 + 1076) * BINS_PER_BINADE + (part < BINS_PER_BINADE ? part : BINS_PER_BINADE - 1);
}

void plot_add(histogram *data, double x, int class) {
  int exponent;
  data->count++;
  if (isnan(x))
    data->nans++;
  else if (isinf(x))
    data->infinities++;
  else if (x == 0)
    data->zeros++;
  else {
    data->classes[class]++;
    data->bins[bin_of(fabs(x))][class]++;
    frexp(x, &exponent);
    if (exponent - 1 < data->low) data->low = exponent - 1;
    if (exponent > data->high) data->high = exponent;
  }
}

static uint64_t bin_total(const histogram *data, int bin) {
  uint64_t sum = 0;
  for (int c = 0; c < CLASSES; c++) sum += data->bins[bin][c];
  return sum;
}

uint64_t plot_group_sum(const histogram *data, int first, int group, int class) {
  uint64_t sum = 0;
  for (int b = first; b < first + group && b < BINS_MAX; b++)
    sum += class < 0 ? bin_total(data, b) : data->bins[b][class];
  return sum;
}

uint64_t plot_tallest(const histogram *data, int group) {
  uint64_t tallest = 0;
  for (int b = 0; b < BINS_MAX; b += group)
    if (plot_group_sum(data, b, group, -1) > tallest) tallest = plot_group_sum(data, b, group, -1);
  return tallest;
}

void plot_histogram_free(histogram *data) {
  free(data->codes);
  data->codes = NULL;
}
