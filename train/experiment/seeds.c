/* SPDX-License-Identifier: MIT */
/* The trials of a plan with several seeds: what its rows were like on the mean, and how much they differed. */
#include <math.h>
#include <string.h>

#include "train/experiment/experiment.h"

/* Sums of a number and of the squares of its distance from the first seed's, which lose no digits as squares of large
 * numbers would. */
typedef struct seed_spread {
  double first, sum, squares;
} seed_spread;

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

static void add(seed_spread spread[NUMBERS], hu_experiment_row *row) {
  for (int i = 0; i < NUMBERS; i++) {
    double far = *number_of(row, i) - spread[i].first;
    spread[i].sum += far;
    spread[i].squares += far * far;
  }
}

static void close_row(hu_experiment_row *row, const seed_spread spread[NUMBERS], size_t seeds) {
  double n = (double)seeds;
  row->seeds = seeds;
  for (int i = 0; i < NUMBERS; i++) {
    double *deviation = deviation_of(row, i), rest = spread[i].squares - spread[i].sum * spread[i].sum / n;
    *number_of(row, i) = spread[i].first + spread[i].sum / n;
    if (deviation) *deviation = sqrt(rest > 0 || isnan(rest) ? rest / (n - 1) : 0);
  }
}

void hui_lab_seeds_row(hu_lab *lab, int table, const char *name, const double *x, size_t n) {
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
  hui_lab_table_row(lab, table, name, cells);
}

/* A trial with the seeds from 1 on; its row of the first seed becomes that of all. */
static hu_status try_again(hu_lab *lab, size_t i) {
  seed_spread spread[NUMBERS];
  memset(spread, 0, sizeof spread);
  for (int k = 0; k < NUMBERS; k++) spread[k].first = *number_of(&lab->report.row[i], k);
  hu_status status = HU_OK;
  for (size_t seed = 1; seed < hui_lab_seeds(lab) && status == HU_OK; seed++) {
    hu_lab one = *lab;
    memset(&one.report, 0, sizeof one.report);
    one.seed = seed;
    status = hui_lab_try(&one, &lab->plan->trials[i], NULL);
    if (status == HU_OK) add(spread, &one.report.row[0]);
    lab->reported = one.reported;
    lab->caller = one.caller;
    hu_experiment_report_free(&one.report);
  }
  if (status == HU_OK) close_row(&lab->report.row[i], spread, hui_lab_seeds(lab));
  return status;
}

hu_status hui_lab_other_seeds(hu_lab *lab) {
  hu_status status = HU_OK;
  for (size_t i = 0; i < lab->plan->count && status == HU_OK; i++) status = try_again(lab, i);
  return status;
}
