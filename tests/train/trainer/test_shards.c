/* SPDX-License-Identifier: MIT */
/* Shards of a batch: the joined gradients against those of the shards one by one, and the same run for any number of
 * processes, which are threads here. */
#define _GNU_SOURCE /* barriers of threads */
#include "tests/support/cmocka.h"
#include "tests/train/trainer/processes.h"

static void same_for_any(const char *const *pairs) {
  static const int sizes[] = {2, 3, 4, 0};
  (void)same_for(sizes, pairs);
}

#define NET "model.net", "mlp(layers=2,units=32)"

static void test_same_for_any(void **state) {
  (void)state;
  same_for_any(PAIRS(NET, "parallel.shards", "4"));
  same_for_any(PAIRS(NET, "parallel.shards", "8", "parallel.reduce", "ring(bfloat16)", "precision.system", "fp16",
                     "loss.scale", "backoff", "optimizer.momentum", "0.9"));
  same_for_any(PAIRS(NET, "parallel.shards", "5", "run.batch", "60", "parallel.reduce", "tree(bfloat16,sra:16)",
                     "precision.values", "bfloat16,sra:8", "precision.parameters", "bfloat16,sra:8"));
  same_for_any(PAIRS(NET, "parallel.shards", "4", "loss.scale", "largest", "precision.gradients", "float8_e5m2",
                     "precision.parameter_gradients", "float8_e5m2"));
  same_for_any(PAIRS(NET, "parallel.shards", "4", "precision.system", "s2fp8"));
  same_for_any(PAIRS(NET, "parallel.shards", "4", "precision.system", "fp8_delayed", "precision.history", "2"));
  same_for_any(PAIRS(NET, "parallel.shards", "6", "run.batch", "48", "assignment.kind", "demote", "assignment.promote",
                     "0.0001"));
  same_for_any(PAIRS("data.set", "gratings", "data.count", "200", "data.test", "70", "model.net", "conv(channels=4/8)",
                     "parallel.shards", "4", "run.batch", "32"));
  same_for_any(PAIRS("data.set", "gratings", "data.count", "200", "data.test", "5", "model.net",
                     "mlp(layers=1,units=8)", "parallel.shards", "4", "run.batch", "32"));
  same_for_any(PAIRS("data.set", "text", "data.window", "8", "model.net", "transformer(layers=1,units=16,heads=2)",
                     "parallel.shards", "4", "run.batch", "16"));
  same_for_any(PAIRS("data.set", "least_squares", "model.net", "linear", "parallel.shards", "4", "parallel.reduce",
                     "hierarchical(2,exact,doubling(binary32))", "optimizer.rate", "0.01"));
}

/* ---- the joined gradients ---- */

/* A run of batches of B / S at rate 0 sees the shards of the first batch of B one after another: its order is the same.
 * Its loss has the factor 1 / S. */
static void joined_as(const char *model, const char *shards, const char *batch, const char *power, size_t count) {
  enum { ROOM = 8192 };
  static float own[SHARDS_MAX][ROOM], expected[ROOM], got[ROOM];
  const void *x[SHARDS_MAX];
  double loss = 0;
  hu_trainer_report report;
  hu_collective c;
  hu_mode rne;
  size_t n = 0, where;
  memset(&rne, 0, sizeof rne);
  hu_trainer *trainer = with(PAIRS(NET, "optimizer.rate", "0", "run.batch", batch, "loss.power", power));
  begin(trainer);
  for (size_t k = 0; k < count; k++) {
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    n = gradients_of(trainer, own[k]);
    x[k] = own[k];
    loss += report.loss / (double)count;
  }
  assert_true(n > 3000 && n < ROOM);
  hu_trainer_free(trainer);
  assert_int_equal(hu_collective_parse(&c, model, &where), HU_OK);
  assert_int_equal(hu_collective_reduce(count, n, expected, hu_binary32(), x, &c, NULL), HU_OK);
  trainer =
      with(PAIRS(NET, "optimizer.rate", "0", "run.batch", "64", "parallel.shards", shards, "parallel.reduce", model));
  begin(trainer);
  assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  assert_int_equal(gradients_of(trainer, got), n);
  assert_memory_equal(got, expected, n * sizeof *got);
  assert_true(report.loss == loss);
  hu_trainer_free(trainer);
}

static void test_joined(void **state) {
  (void)state;
  const char *const models[] = {"exact",
                                "ring(bfloat16)",
                                "tree(binary16)",
                                "doubling(binary32)",
                                "pairwise(float8_e5m2,wire=float8_e4m3fn)",
                                "ring(bfloat16,wire=mxfp8_e4m3)",
                                "direct(bfloat16,wire=mxfp8_e4m3)",
                                "switch(binary16,rtz)"};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    joined_as(models[i], "2", "32", "1", 2);
    joined_as(models[i], "8", "8", "3", 8);
  }
}

/* A batch norm of two shards: running statistics are the mean of what each shard alone would have left. */
static void test_running(void **state) {
  (void)state;
  float one[2][64], both[64];
  const char *const set_of[] = {"data.set",  "gratings",         "data.count",     "64", "data.test", "8",
                                "model.net", "conv(channels=4)", "optimizer.rate", "0"};
  size_t n = 0;
  for (int k = 0; k < 3; k++) {
    hu_trainer *trainer = hu_trainer_new();
    for (size_t i = 0; i < sizeof set_of / sizeof *set_of; i += 2) set(trainer, set_of[i], set_of[i + 1]);
    set(trainer, "run.batch", k < 2 ? "16" : "32");
    set(trainer, "parallel.shards", k < 2 ? "1" : "2");
    begin(trainer);
    for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
      hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
      if (strcmp(x.name, "batch_norm1.running") != 0) continue;
      n = x.rows * x.cols;
      assert_true(n <= 64);
      float start[64];
      assert_int_equal(hu_trainer_read(trainer, i, start), HU_OK);
      for (int step = 0; step <= (k == 1); step++) {
        assert_int_equal(hu_trainer_write(trainer, i, start), HU_OK); /* each shard begins with what there was */
        steps(trainer, 1);
      }
      assert_int_equal(hu_trainer_read(trainer, i, k < 2 ? one[k] : both), HU_OK);
    }
    hu_trainer_free(trainer);
  }
  assert_true(n > 0);
  for (size_t i = 0; i < n; i++) assert_true(both[i] == (float)((double)one[0][i] + (double)one[1][i]) / 2);
}

/* ---- errors ---- */

static void test_refused(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS(NET, "parallel.shards", "3"));
  hu_trainer_ranks ranks = {0, 8, NULL, join, sum};
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "run.batch: 64 is no multiple of parallel.shards, 3"));
  set(trainer, "parallel.shards", "4");
  assert_int_equal(hu_trainer_set_ranks(trainer, &ranks), HU_OK);
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "parallel.shards: 4, and there are 8 processes"));
  ranks.rank = 8;
  assert_int_equal(hu_trainer_set_ranks(trainer, &ranks), HU_E_SHAPE);
  ranks.rank = 0;
  ranks.sum = NULL;
  assert_int_equal(hu_trainer_set_ranks(trainer, &ranks), HU_E_NULL);
  assert_int_equal(hu_trainer_set_ranks(trainer, NULL), HU_E_NULL);
  assert_int_equal(hu_trainer_set(trainer, "parallel.reduce", "ring(bfloat16", why), HU_E_TEXT);
  assert_non_null(strstr(why, "parallel.reduce"));
  assert_int_equal(hu_trainer_set(trainer, "parallel.reduce", "star(bfloat16)", why), HU_E_NAME);
  hu_trainer_free(trainer);
}

static hu_status fails(void *context, size_t n, float *z, size_t own, const void *const *x, const hu_collective *model,
                       const hu_exec *exec) {
  (void)context, (void)n, (void)z, (void)own, (void)x, (void)model, (void)exec;
  return HU_E_DEVICE;
}

static hu_status alone(void *context, size_t n, double *x) {
  (void)context, (void)n, (void)x;
  return HU_OK;
}

/* What the processes' calls return comes back. */
static void test_failing(void **state) {
  (void)state;
  const hu_trainer_ranks ranks = {1, 2, NULL, fails, alone};
  step_fails(&ranks, PAIRS(NET, "parallel.shards", "4"));
}

/* A state of a version that had no shards is that of a run without them. */
static void test_earlier_state(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS(NET));
  begin(trainer);
  steps(trainer, 2);
  char *text = state_of(trainer), *z = text;
  for (char *line = text; *line;) { /* without the lines of [parallel] */
    size_t n = strcspn(line, "\n") + 1;
    char *next = line + n;
    if (strncmp(line, "parallel.", 9) != 0) {
      memmove(z, line, n);
      z += n;
    }
    line = next;
  }
  *z = 0;
  assert_int_equal(hu_trainer_resume(trainer, text, why), HU_OK);
  hu_trainer_free(trainer);
  trainer = with(PAIRS(NET, "parallel.shards", "4"));
  begin(trainer);
  assert_int_equal(hu_trainer_resume(trainer, text, why), HU_E_TEXT);
  hu_trainer_free(trainer);
  free(text);
}

int main(int argc, char **argv) {
  folder = argc > 1 ? argv[1] : "data";
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joined),  cmocka_unit_test(test_running), cmocka_unit_test(test_same_for_any),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_failing), cmocka_unit_test(test_earlier_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
