/* SPDX-License-Identifier: MIT */
/* What an experiment reads off its rows and its numbers: the least accuracy of some rows, where a NaN is the least of
 * all, the relative error of a vector, and statistics of the tensors of the runs that ask for them alone. */
#include <math.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "train/experiment/experiment.h"

static const char *data; /* the folder */

/* The least of rows `first` to `end` - 1 of these. */
static double least(const double *accuracy, size_t n, size_t first, size_t end) {
  hu_experiment_row rows[8];
  hu_lab lab;
  memset(rows, 0, sizeof rows);
  memset(&lab, 0, sizeof lab);
  for (size_t i = 0; i < n; i++) rows[i].accuracy = accuracy[i];
  lab.report.row = rows;
  lab.report.rows = n;
  return hui_lab_least_accuracy(&lab, first, end);
}

static void least_accuracy(void **state) {
  (void)state;
  const double down[] = {0.9, 0.8, 0.7, 0.6}, up[] = {0.1, 0.9, 0.5}, lost[] = {0.9, NAN, 0.5};
  assert_true(least(down, 4, 0, 4) == 0.6);
  assert_true(least(down, 4, 0, 3) == 0.7);
  assert_true(least(up, 3, 1, 3) == 0.5);
  assert_true(least(up, 3, 0, 3) == 0.1);
  assert_true(isnan(least(lost, 3, 0, 3)));
  assert_true(least(lost, 3, 2, 3) == 0.5);
  assert_true(least(down, 4, 2, 2) == 1);
}

static void relative_error(void **state) {
  (void)state;
  const float exact[] = {3, -4, 0, 12}, z[] = {3, -1, 4, 0}, with_nan[] = {3, NAN, 0, 12};
  assert_true(hui_relative_error(4, z, exact) == 1); /* 0 + 9 + 16 + 144 of 169 */
  assert_true(hui_relative_error(3, z, exact) == 1); /* 25 of 25 */
  assert_true(hui_relative_error(2, z, exact) == 0.6);
  assert_true(hui_relative_error(4, exact, exact) == 0);
  assert_true(isnan(hui_relative_error(4, with_nan, exact)));
}

/* One step of each run of `s2fp8`, of which one run has S2FP8 and so two figures of each of two tensors. */
static void statistics(void **state) {
  const char *const pairs[] = {"run.steps", "1", NULL};
  const hu_experiment_options how = {.data = data, .pairs = pairs};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX];
  size_t found = 0;
  (void)state;
  assert_int_equal(hu_experiment_run(&report, "s2fp8", &how, why), HU_OK);
  for (size_t i = 0; i < report.figures; i++) {
    const hu_experiment_figure *figure = &report.figure[i];
    if (!strstr(figure->name, "linear1-weight")) continue;
    found++;
    assert_int_equal(figure->count, 2);
    for (size_t j = 0; j < 2; j++) assert_int_equal(figure->series[j].count, 1);
  }
  assert_int_equal(found, 4);
  hu_experiment_report_free(&report);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(least_accuracy), cmocka_unit_test(relative_error),
                                     cmocka_unit_test(statistics)};
  data = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
