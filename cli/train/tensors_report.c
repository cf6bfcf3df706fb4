/* SPDX-License-Identifier: MIT */
/* What the report has of single tensors: see tensors.h. */
#include <math.h>
#include <stdio.h>

#include "cli/draw/curves.h"
#include "cli/draw/page.h"
#include "cli/train/tensors.h"

static void draw(FILE *out, const char *id, const char *title, const char *text, enum curve_axis axis,
                 const curve *curves, size_t count) {
  const chart figure = {id, title, text, axis, curves, count, NULL, NULL, CURVE_LINEAR, 0};
  if (!chart_has_points(&figure)) return;
  fputs("<h2>", out);
  svg_escaped(out, title);
  fputs("</h2>\n", out);
  chart_draw(out, &figure);
  fputs("<p class=\"soft\">", out);
  svg_escaped(out, text);
  fputs("</p>\n", out);
}

static void overflows(FILE *out, const train_run *run) {
  static const char *const names[] = {"largest", "second", "third", "fourth", "fifth"};
  curve list[TRAIN_OVERFLOWS];
  const table *data = &run->over;
  for (size_t i = 0; i < TRAIN_OVERFLOWS; i++)
    list[i] = (curve){names[i], data->cells, data->cells + OVER_SHARE + i, data->rows, OVER_COLUMNS, 0};
  draw(out, "top-overflows", "Overflows of single tensors",
       "The five largest shares of elements above the largest number of their format, among the forward roundings of "
       "values and parameters. overflows.csv has the tensors.",
       CURVE_LOG10, list, data->rows ? TRAIN_OVERFLOWS : 0);
}

static curve of_followed(const train_run *run, size_t i, int column, const char *name) {
  const table *data = &run->followed;
  return (curve){name,       data->cells,   data->cells + 1 + FOLLOW_COLUMNS * i + (size_t)column,
                 data->rows, data->columns, 0};
}

static const exponent_mark marks[] = {{-16, "E5M2: smallest"}, {15, "largest"}};

/* Draws the exponents of a tensor in the first, the middle and the last row of its history. */
static void draw_history(FILE *out, const train_run *run, size_t i) {
  uint64_t counts[EXPONENT_SETS_MAX][HU_EXPONENTS];
  char names[EXPONENT_SETS_MAX][32], id[40], title[HU_PARAMETER_NAME_MAX + 80];
  exponents sets[EXPONENT_SETS_MAX];
  const size_t rows = run->history.rows / run->follows, count = rows < EXPONENT_SETS_MAX ? rows : EXPONENT_SETS_MAX;
  for (size_t k = 0; k < count; k++) {
    const size_t at = count > 1 ? k * (rows - 1) / (count - 1) : 0;
    const double *row = run->history.cells + (at * run->follows + i) * HISTORY_COLUMNS;
    for (size_t bin = 0; bin < HU_EXPONENTS; bin++) counts[k][bin] = (uint64_t)row[HISTORY_BINS + bin];
    snprintf(names[k], sizeof names[k], "step %.0f", row[HISTORY_STEP]);
    sets[k] = (exponents){names[k], counts[k]};
  }
  fputs("<h2>", out);
  snprintf(title, sizeof title, "%s: exponents over the run", run->follow[i].name);
  svg_escaped(out, title);
  fputs("</h2>\n", out);
  snprintf(id, sizeof id, "history-%zu", i);
  exponents_draw(out, id, title, "followed-history.csv has all of them.", sets, count, marks, 2);
}

static void one(FILE *out, const train_run *run, size_t i) {
  const followed *tensor = &run->follow[i];
  char id[40], title[HU_PARAMETER_NAME_MAX + 80];
  const curve logs[] = {of_followed(run, i, FOLLOW_MU, "mean of log2, mu"),
                        of_followed(run, i, FOLLOW_M, "largest log2, m")};
  const curve shifts[] = {of_followed(run, i, FOLLOW_ALPHA, "alpha"), of_followed(run, i, FOLLOW_BETA, "beta")};
  const curve shares[] = {of_followed(run, i, FOLLOW_ZEROS, "zeros"), of_followed(run, i, FOLLOW_OVER, "overflows")};
  snprintf(id, sizeof id, "logs-%zu", i);
  snprintf(title, sizeof title, "%s: mean and largest logarithm", tensor->name);
  draw(out, id, title, "Of the magnitudes that are not zero.", CURVE_LINEAR, logs, 2);
  snprintf(id, sizeof id, "shifts-%zu", i);
  snprintf(title, sizeof title, "%s: alpha and beta", tensor->name);
  draw(out, id, title, "What S2FP8 would take: log2 |Y| = alpha log2 |X| + beta has the mean 0 and the maximum 15.",
       CURVE_LINEAR, shifts, 2);
  snprintf(id, sizeof id, "shares-%zu", i);
  snprintf(title, sizeof title, "%s: zeros and overflows", tensor->name);
  draw(out, id, title, "Shares of its elements, as it was rounded.", CURVE_LOG10, shares, 2);
  if (run->history.rows) draw_history(out, run, i);
  if (!tensor->seen) return;
  const exponents sets[] = {{"X, as it is", tensor->exponents[0]}, {"Y, shifted and squeezed", tensor->exponents[1]}};
  fputs("<h2>", out);
  snprintf(title, sizeof title, "%s: exponents before and after the squeeze", tensor->name);
  svg_escaped(out, title);
  fputs("</h2>\n", out);
  snprintf(id, sizeof id, "followed-%zu", i);
  exponents_draw(out, id, title, "In the last step of the log.", sets, 2, marks, 2);
}

void train_tensors_report(FILE *out, const train_run *run) {
  overflows(out, run);
  for (size_t i = 0; i < run->follows && run->followed.rows; i++) one(out, run, i);
}
