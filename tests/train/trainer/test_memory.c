/* SPDX-License-Identifier: MIT */
/* What a call allocates is freed by the call that is said to free it: the linker sends the library's allocations
 * through the functions below (--wrap), which count what has not been freed yet.
 *
 *   test_memory DATA */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train.h"
#include "tests/support/cmocka.h"

static const char *folder;
static _Atomic long held; /* blocks */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

void *__wrap_malloc(size_t n) {
  void *z = __real_malloc(n);
  held += z != NULL;
  return z;
}
void *__wrap_calloc(size_t n, size_t size) {
  void *z = __real_calloc(n, size);
  held += z != NULL;
  return z;
}
void *__wrap_realloc(void *p, size_t n) {
  int is_new = p == NULL;
  void *z = __real_realloc(p, n);
  held += is_new && z;
  return z;
}
void __wrap_free(void *p) {
  held -= p != NULL;
  __real_free(p);
}

/* ---- experiments: rows, claims, curves, histograms, tables ---- */

static void experiment(const char *name, int tables, int figures) {
  static const char *const pairs[] = {"run.steps", "2", NULL};
  const hu_experiment_options how = {folder, pairs, NULL, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX] = "";
  if (hu_experiment_run(&report, name, &how, why) != HU_OK) fail_msg("%s: %s", name, why);
  assert_true(report.claims > 0 && (!tables || report.tables > 0) &&
              (!figures || (report.figures > 0 && report.figure[0].count > 0)));
  hu_experiment_report_free(&report);
}

static int stop(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  (void)context, (void)of, (void)row;
  return done < 2;
}

static void experiments(void) {
  static const char *const pairs[] = {"run.steps", "2", NULL};
  const hu_experiment_options how = {folder, pairs, stop, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  experiment("fp16-loss-scale", 0, 1);
  experiment("s2fp8", 0, 1);
  experiment("least-squares", 0, 1);
  experiment("long-reduction", 1, 1);
  experiment("error-feedback", 1, 0);
  assert_int_equal(hu_experiment_run(&report, "fp16-loss-scale", &how, NULL), HU_E_TRAIN); /* nothing is left of it */
}

/* ---- runs ---- */

static void run(const char *const *pairs, int begins) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_trainer *trainer = hu_trainer_new();
  assert_non_null(trainer);
  for (; *pairs; pairs += 2)
    if (hu_trainer_set(trainer, pairs[0], pairs[1], why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_trainer_begin(trainer, folder, why) == HU_OK, begins);
  for (int i = 0; begins && i < 2; i++) assert_int_equal(hu_trainer_step(trainer, NULL), HU_OK);
  hu_trainer_free(trainer);
}

#define RUN(begins, ...) run((const char *const[]){__VA_ARGS__, NULL}, begins)

static void runs(void) {
  RUN(1, "data.set", "gratings", "model.net", "conv(channels=3/4)", "precision.system", "nvfp4", "run.threads", "3");
  RUN(1, "data.set", "text", "model.net", "transformer(units=8,hidden=8)", "run.batch", "2", "optimizer.kind", "adamw");
  RUN(1, "assignment.kind", "demote", "gradient.penalty", "l2", "gradient.clip", "1", "loss.scale", "largest");
  RUN(1, "data.set", "ratings", "model.net", "ncf", "optimizer.update", "kahan");
  RUN(1, "parallel.shards", "4", "parallel.reduce", "ring(bfloat16)", "parallel.feedback", "own");
  RUN(1, "parallel.shards", "4", "parallel.reduce", "ring(bfloat16)", "parallel.feedback", "sum");
  RUN(1, "data.set", "words", "data.path", "xz_file_format.txt", "data.vocabulary", "50", "model.net", "lstm(units=8)",
      "run.batch", "2");
  RUN(1, "precision.system", "tetrajet", "optimizer.kind", "adamw", "optimizer.ramping", "4");
  RUN(0, "precision.system", "tetrajet", "optimizer.ramping", "4");
  RUN(0, "data.set", "words", "data.path", "xz_file_format.txt", "run.batch", "4096");
  RUN(0, "data.set", "movielens", "data.path", "xz_file_format.txt", "model.net", "ncf");
  RUN(0, "data.set", "gratings", "loss.kind", "squared_error");
  RUN(0, "data.path", "nowhere");
  RUN(0, "precision.layers", "nothing");
}

static void test_all_is_freed(void **state) {
  (void)state;
  static void (*const what[])(void) = {experiments, runs};
  for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
    what[i](); /* what the C library keeps for itself, it has now */
    long before = held;
    what[i]();
    assert_int_equal(held, before);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_freed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
