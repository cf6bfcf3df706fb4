/* SPDX-License-Identifier: MIT */
/* The trials of a plan with several seeds: what its rows were like on the mean, and how much they differed. */
#include <math.h>
#include <string.h>

#include "train/experiment/experiment.h"

/* Sums of a number and of the squares of its distance from the first seed's, which lose no digits as squares of large
 * numbers would. */
typedef struct spread {
  double first, sum, squares;
} spread;

enum { LOSS, TEST_LOSS, ACCURACY, R2, LOST, LOW, NUMBERS };

static double *number_of(hu_experiment_row *row, int which) {
  double *const all[NUMBERS] = {&row->loss, &row->test_loss, &row->accuracy, &row->r2, &row->lost, &row->low};
  return all[which];
}

static double *deviation_of(hu_experiment_row *row, int which) {
  double *const all[NUMBERS] = {
      &row->loss_deviation, &row->test_loss_deviation, &row->accuracy_deviation, &row->r2_deviation, NULL, NULL};
  return all[which];
}

static void add(spread z[NUMBERS], hu_experiment_row *row) {
  for (int i = 0; i < NUMBERS; i++) {
    double far = *number_of(row, i) - z[i].first;
    z[i].sum += far;
    z[i].squares += far * far;
  }
}

static void close_row(hu_experiment_row *row, const spread z[NUMBERS], size_t seeds) {
  double n = (double)seeds;
  row->seeds = seeds;
  for (int i = 0; i < NUMBERS; i++) {
    double *deviation = deviation_of(row, i), rest = z[i].squares - z[i].sum * z[i].sum / n;
    *number_of(row, i) = z[i].first + z[i].sum / n;
    if (deviation) *deviation = sqrt(rest > 0 || isnan(rest) ? rest / (n - 1) : 0);
  }
}

void hu_lab_seeds_row(hu_lab *lab, int table, const char *name, const double *x, size_t n) {
  enum { MOST = 8 };
  double cells[MOST + 2], sum = 0, squares = 0;
  if (n > MOST) n = MOST;
  for (size_t i = 0; i < n; i++) {
    cells[i] = x[i];
    sum += x[i] / (double)n;
  }
  for (size_t i = 0; i < n; i++) squares += (x[i] - sum) * (x[i] - sum);
  cells[n] = sum;
  cells[n + 1] = sqrt(squares / (double)(n - 1));
  hu_lab_table_row(lab, table, name, cells);
}

/* A trial with the seeds from 1 on; its row of the first seed becomes that of all. */
static hu_status try_again(hu_lab *lab, size_t i) {
  spread z[NUMBERS];
  memset(z, 0, sizeof z);
  for (int k = 0; k < NUMBERS; k++) z[k].first = *number_of(&lab->report.row[i], k);
  hu_status s = HU_OK;
  for (size_t seed = 1; seed < hu_lab_seeds(lab) && s == HU_OK; seed++) {
    hu_lab one = *lab;
    memset(&one.report, 0, sizeof one.report);
    one.seed = seed;
    s = hu_lab_try(&one, &lab->plan->trials[i], NULL);
    if (s == HU_OK) add(z, &one.report.row[0]);
    lab->told = one.told;
    lab->caller = one.caller;
    hu_experiment_report_free(&one.report);
  }
  if (s == HU_OK) close_row(&lab->report.row[i], z, hu_lab_seeds(lab));
  return s;
}

hu_status hu_lab_other_seeds(hu_lab *lab) {
  hu_status s = HU_OK;
  for (size_t i = 0; i < lab->plan->count && s == HU_OK; i++) s = try_again(lab, i);
  return s;
}
