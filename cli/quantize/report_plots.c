/* SPDX-License-Identifier: MIT */
/* The drawings of the report: see report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/page.h"
#include "cli/draw/rounded.h"
#include "cli/quantize/report.h"

static exponent_counts counts_of(const tensors_exponents *exponents) {
  return (exponent_counts){exponents->counts, exponents->low + TENSORS_LOWEST, exponents->count, exponents->zeros};
}

void report_range(int *low, int *high, const tensors_result *result) {
  exponent_counts before = counts_of(&result->before), after = counts_of(&result->after);
  rounded_range(low, high, &before, &after);
}

void report_exponents(FILE *out, const tensors_result *total) {
  exponent_counts before = counts_of(&total->before), after = counts_of(&total->after);
  rounded_exponents(out, "exponents", &before, &after);
}

void report_sparkline(FILE *out, const tensors_result *result, int low, int high, size_t id) {
  exponent_counts before = counts_of(&result->before), after = counts_of(&result->after);
  char name[32];
  snprintf(name, sizeof name, "s%zu", id);
  rounded_sparkline(out, name, &before, &after, low, high);
}

/* Returns the ratio of a tensor. Without one it is below all where something changed, above all where nothing did. */
static rounded_ratio ratio_of(const tensors_result *result) {
  const cli_errors *errors = &result->errors;
  double place = isfinite(errors->sqnr) ? errors->sqnr : errors->changed ? -HUGE_VAL : HUGE_VAL;
  return (rounded_ratio){result->tensor->name, cli_no_sqnr(errors), place};
}

static int by_ratio(const void *x, const void *y) {
  const rounded_ratio *a = x, *b = y;
  if (a->decibels != b->decibels) return a->decibels < b->decibels ? -1 : 1;
  return strcmp(a->name, b->name);
}

void report_sqnr(FILE *out, const tensors_results *results) {
  size_t n = 0;
  rounded_ratio *list = malloc((results->count + 1) * sizeof *list);
  if (!list) return;
  for (size_t i = 0; i < results->count; i++)
    if (results->list[i].done && results->list[i].tensor->count) list[n++] = ratio_of(&results->list[i]);
  qsort(list, n, sizeof *list, by_ratio);
  rounded_ratios(out, "sqnr", "Signal to quantization noise of each tensor",
                 "One bar a tensor, the lowest first, in decibels.", "tensors", list, n);
  free(list);
}

void report_blocks(FILE *out, const char *id, const char *title, const cli_causes *causes) {
  enum { WIDTH = 920, ROW = 22, NAMES = 150 };
  svg image;
  uint64_t most = 1;
  if (!causes->count) return;
  for (int i = 0; i < CLI_CAUSES_BINS; i++)
    if (causes->bins[i] > most) most = causes->bins[i];
  fprintf(out, "<h2>%s</h2>\n", title);
  page_begin_drawing(&image, out, id, WIDTH, CLI_CAUSES_BINS * ROW + 8, title,
                     "One bar for each range of the ratio of signal to noise, as long as it has blocks.");
  for (int i = 0; i < CLI_CAUSES_BINS; i++) {
    char name[CLI_CAUSES_BIN_TEXT], text[32];
    double width = (WIDTH - NAMES - 160) * (double)causes->bins[i] / (double)most, y = 4 + (double)i * ROW;
    svg_text(&image, NAMES - 10, y + 14, 12, SVG_END, "var(--ink)", "", cli_causes_bin(name, i));
    svg_rect(&image, NAMES, y + 2, width > 1 ? width : 1, 16, "var(--after)");
    snprintf(text, sizeof text, "%llu", (unsigned long long)causes->bins[i]);
    svg_text(&image, NAMES + (width > 1 ? width : 1) + 8, y + 14, 12, SVG_START, "var(--ink)", "", text);
  }
  page_end_drawing(&image);
}
