/* SPDX-License-Identifier: MIT */
/* Collects what an experiment's report is made of: rows, claims, figures and tables, which grow as they come. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/experiment/experiment.h"

/* Makes space for one more of count things, doubled at powers of two; NULL, and the lab's status says so: no memory. */
static void *grown(hu_lab *lab, void *list, size_t count, size_t size) {
  if (lab->status != HU_OK) return NULL;
  if (count & (count - 1)) return list; /* there is buffer up to the next power of two */
  void *z = realloc(list, (count ? 2 * count : 1) * size);
  if (!z) lab->status = HU_E_MEMORY;
  return z;
}

static void name_it(char *z, size_t size, const char *text) { snprintf(z, size, "%s", text); }

/* ---- rows and claims ---- */

hu_experiment_row *hui_lab_add_row(hu_lab *lab, const char *name) {
  hu_experiment_report *report = &lab->report;
  hu_experiment_row *list = grown(lab, report->row, report->rows, sizeof *list);
  if (!list) return NULL;
  report->row = list;
  hu_experiment_row *row = &list[report->rows++];
  memset(row, 0, sizeof *row);
  name_it(row->name, sizeof row->name, name);
  row->loss = row->test_loss = row->accuracy = row->r2 = (double)NAN;
  row->lost = row->scale = row->low = (double)NAN;
  row->seeds = 1;
  row->loss_deviation = row->test_loss_deviation = row->accuracy_deviation = row->r2_deviation = (double)NAN;
  return row;
}

const hu_experiment_row *hui_lab_row(const hu_lab *lab, size_t i) { return &lab->report.row[i]; }

void hui_lab_claim(hu_lab *lab, int holds, const char *format, ...) {
  hu_experiment_report *report = &lab->report;
  va_list list;
  hu_experiment_claim *claims = grown(lab, report->claim, report->claims, sizeof *claims);
  if (!claims) return;
  report->claim = claims;
  hu_experiment_claim *claim = &claims[report->claims++];
  va_start(list, format);
  vsnprintf(claim->text, sizeof claim->text, format, list);
  va_end(list);
  claim->holds = holds != 0;
  report->held += holds != 0;
}

int hui_lab_near(const hu_lab *lab, size_t a, size_t b, double share) {
  double x = hui_lab_row(lab, a)->loss, y = hui_lab_row(lab, b)->loss;
  return fabs(x - y) <= share * y;
}

double hui_lab_least_accuracy(const hu_lab *lab, size_t first, size_t end) {
  double least = 1;
  for (size_t i = first; i < end; i++) {
    double x = hui_lab_row(lab, i)->accuracy;
    if (!(x >= least)) least = x;
    if (isnan(x)) break;
  }
  return least;
}

double hui_relative_error(size_t n, const float *z, const float *exact) {
  double errors = 0, sums = 0;
  for (size_t i = 0; i < n; i++) {
    double error = (double)z[i] - (double)exact[i];
    errors += error * error;
    sums += (double)exact[i] * (double)exact[i];
  }
  return sqrt(errors / sums);
}

/* ---- figures ---- */

int hui_lab_figure(hu_lab *lab, const char *name, const char *title, const char *x, const char *y, int kind) {
  hu_experiment_report *report = &lab->report;
  for (size_t i = 0; i < report->figures; i++) {
    if (strcmp(report->figure[i].name, name) == 0) return (int)i;
  }
  hu_experiment_figure *list = grown(lab, report->figure, report->figures, sizeof *list);
  if (!list) return -1;
  report->figure = list;
  hu_experiment_figure *figure = &list[report->figures];
  memset(figure, 0, sizeof *figure);
  name_it(figure->name, sizeof figure->name, name);
  name_it(figure->title, sizeof figure->title, title);
  name_it(figure->x, sizeof figure->x, x);
  name_it(figure->y, sizeof figure->y, y);
  figure->kind = (uint8_t)kind;
  return (int)report->figures++;
}

void hui_lab_axes(hu_lab *lab, int figure, int x_axis, int y_axis) {
  if (figure < 0) return;
  lab->report.figure[figure].x_axis = (uint8_t)x_axis;
  lab->report.figure[figure].y_axis = (uint8_t)y_axis;
}

int hui_lab_series(hu_lab *lab, int figure, const char *name) {
  if (figure < 0) return -1;
  hu_experiment_figure *added = &lab->report.figure[figure];
  hu_experiment_series *list = grown(lab, added->series, added->count, sizeof *list);
  if (!list) return -1;
  added->series = list;
  hu_experiment_series *series = &list[added->count];
  memset(series, 0, sizeof *series);
  name_it(series->name, sizeof series->name, name);
  return (int)added->count++;
}

void hui_lab_point(hu_lab *lab, int figure, int series, double x, double y) {
  if (figure < 0 || series < 0) return;
  hu_experiment_series *curve = &lab->report.figure[figure].series[series];
  double *list = grown(lab, curve->x, curve->count, sizeof *list);
  if (!list) return;
  curve->x = list;
  list = grown(lab, curve->y, curve->count, sizeof *list);
  if (!list) return;
  curve->y = list;
  curve->x[curve->count] = x;
  curve->y[curve->count++] = y;
}

void hui_lab_histogram(hu_lab *lab, int figure, int series, const uint64_t z[HU_EXPONENTS]) {
  uint64_t all = 0;
  int first = HU_EXPONENTS, last = 0;
  if (figure < 0 || series < 0) return;
  for (int i = 0; i < HU_EXPONENTS - 1; i++) { /* without what is not finite */
    all += z[i];
    if (!z[i] || i == 0) continue;
    if (i < first) first = i;
    last = i;
  }
  if (!all) return;
  for (int i = first; i <= last; i++) hui_lab_point(lab, figure, series, i - 150, (double)z[i] / (double)all);
  lab->report.figure[figure].series[series].zeros = (double)z[0] / (double)all;
}

const hu_experiment_series *hui_lab_find(const hu_lab *lab, const char *figure, const char *series) {
  const hu_experiment_report *report = &lab->report;
  for (size_t i = 0; i < report->figures; i++) {
    const hu_experiment_figure *found = &report->figure[i];
    for (size_t k = 0; k < found->count && strcmp(found->name, figure) == 0; k++) {
      if (strcmp(found->series[k].name, series) == 0) return &found->series[k];
    }
  }
  return NULL;
}

/* ---- tables ---- */

int hui_lab_table(hu_lab *lab, const char *title, const char *const *cols) {
  hu_experiment_report *report = &lab->report;
  hu_experiment_table *list = grown(lab, report->table, report->tables, sizeof *list);
  if (!list) return -1;
  report->table = list;
  hu_experiment_table *table = &list[report->tables++];
  memset(table, 0, sizeof *table);
  name_it(table->title, sizeof table->title, title);
  size_t n = 0;
  while (cols[n]) n++;
  table->col_name = calloc(n + 1, sizeof *table->col_name);
  if (!table->col_name) {
    lab->status = HU_E_MEMORY;
    return -1;
  }
  table->cols = n;
  for (size_t j = 0; j < n; j++) name_it(table->col_name[j], sizeof table->col_name[j], cols[j]);
  return (int)report->tables - 1;
}

void hui_lab_table_row(hu_lab *lab, int table, const char *name, const double *cells) {
  if (table < 0) return;
  hu_experiment_table *last = &lab->report.table[table];
  char(*names)[HU_EXPERIMENT_NAME_MAX] = grown(lab, last->row_name, last->rows, sizeof *names);
  if (!names) return;
  last->row_name = names;
  double *all = grown(lab, last->cell, last->rows, last->cols * sizeof *all);
  if (!all) return;
  last->cell = all;
  name_it(names[last->rows], sizeof names[last->rows], name);
  memcpy(&all[last->rows * last->cols], cells, last->cols * sizeof *all);
  last->rows++;
}

/* ---- the end ---- */

void hu_experiment_report_free(hu_experiment_report *report) {
  if (!report) return;
  for (size_t i = 0; i < report->rows; i++) free(report->row[i].keys);
  for (size_t i = 0; i < report->figures; i++) {
    hu_experiment_figure *figure = &report->figure[i];
    for (size_t k = 0; k < figure->count; k++) {
      free(figure->series[k].x);
      free(figure->series[k].y);
    }
    free(figure->series);
  }
  for (size_t i = 0; i < report->tables; i++) {
    free(report->table[i].row_name);
    free(report->table[i].col_name);
    free(report->table[i].cell);
  }
  free(report->row);
  free(report->claim);
  free(report->figure);
  free(report->table);
  memset(report, 0, sizeof *report);
}

hu_status hui_lab_notify(hu_lab *lab) {
  const hu_experiment_options *how = lab->how;
  const hu_plan *plan = lab->plan;
  size_t done = ++lab->reported, all = (plan->count + plan->own) * hui_lab_seeds(lab);
  if (!how->progress) return HU_OK;
  hui_text_env_leave(lab->caller);
  int on = how->progress(how->context, done, all, &lab->report.row[lab->report.rows - 1]);
  lab->caller = hui_text_env_enter();
  if (on) return HU_OK;
  snprintf(lab->why, HU_DATA_WHY_MAX, "stopped after %zu of %zu runs", done, all);
  return HU_E_TRAIN;
}
