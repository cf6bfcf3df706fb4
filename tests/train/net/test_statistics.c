/* SPDX-License-Identifier: MIT */
/* Batch norms with statistics of the whole batch: their numbers computed by hand from the rows of all shards, and the
 * same run for any number of processes, which are threads here. */
#define _GNU_SOURCE /* barriers of threads */
#include "halfulp/sum.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/processes.h"
#include "train/net/net.h"

#define BATCH "parallel.statistics", "batch"
#define IMAGES "data.set", "gratings", "data.count", "200", "data.test", "70", "data.size", "8"

/* ---- any number of processes ---- */

static void test_same_for_any(void **state) {
  static const int sizes[] = {2, 3, 8, 16, 0}, some[] = {2, 3, 0};
  (void)state;
  (void)same_for(sizes, PAIRS(IMAGES, BATCH, "model.net", "conv(channels=4/8)", "parallel.shards", "16", "run.batch",
                              "32", "optimizer.momentum", "0.9"));
  (void)same_for(some,
                 PAIRS(IMAGES, BATCH, "model.net", "conv(channels=4/8)", "parallel.shards", "6", "run.batch", "36",
                       "parallel.reduce", "ring(bfloat16)", "precision.system", "fp8_tensor", "loss.scale", "largest"));
  (void)same_for(
      some, PAIRS(IMAGES, BATCH, "model.net", "conv(channels=4)", "parallel.shards", "4", "run.batch", "32",
                  "precision.values", "bfloat16,sra:8", "precision.parameters", "bfloat16,sra:8", "run.threads", "3"));
  (void)same_for(some, PAIRS(IMAGES, BATCH, "model.net", "conv(channels=4)", "parallel.shards", "3", "run.batch", "48",
                             "assignment.kind", "demote", "assignment.promote", "0.0001"));
}

/* The weights depend on the key where there is a batch norm, and nowhere else. */
static void test_only_batch_norms(void **state) {
  static const int none[] = {0};
  (void)state;
  for (int shards = 1; shards <= 4; shards *= 4) {
    const char *count = shards == 1 ? "1" : "4";
    uint64_t z[2][2];
    for (int batch = 0; batch < 2; batch++) {
      const char *statistics = batch ? "batch" : "shard";
      z[0][batch] = same_for(none, PAIRS("model.net", "mlp(layers=2,units=32)", "parallel.shards", count,
                                         "parallel.statistics", statistics));
      z[1][batch] = same_for(none, PAIRS(IMAGES, "run.batch", "32", "model.net", "conv(channels=4)", "parallel.shards",
                                         count, "parallel.statistics", statistics));
    }
    assert_true(z[0][0] == z[0][1]);
    assert_true(z[1][0] != z[1][1]);
  }
}

/* ---- by hand ---- */

enum {
  SHARDS = 4,
  ROWS = 8 * 64,
  COLS = 4,
  X = 1,
  Z = 2
}; /* values: what the convolution gives, what the norm gives */

typedef struct t_seen {
  float x[ROWS][COLS], z[ROWS][COLS], dx[ROWS][COLS], dz[ROWS][COLS], gain[COLS], offset[COLS], before[2][COLS],
      after[2][COLS];
} t_seen;

static size_t tensor_named(const hu_trainer *trainer, const char *name) {
  size_t i = 0;
  while (strcmp(hu_trainer_tensor_at(trainer, i).name, name) != 0) i++;
  return i;
}

static void copy_value(hu_trainer *trainer, int i, float (*v)[COLS], float (*dv)[COLS]) {
  hu_net_tensor x = hu_net_value(hu_trainer_net(trainer), i);
  assert_int_equal(x.rows, ROWS);
  assert_int_equal(x.cols, COLS);
  memcpy(v, x.numbers, sizeof(float[ROWS][COLS]));
  memcpy(dv, x.gradients, sizeof(float[ROWS][COLS]));
}

/* One more step, in which gains and offsets are no longer 1 and 0. */
static void look(t_seat *seat, hu_trainer *trainer) {
  t_seen *z = seat->seen_by_look;
  z += seat->ranks.rank;
  size_t running = tensor_named(trainer, "batch_norm1.running");
  assert_int_equal(hu_trainer_read(trainer, running, z->before[0]), HU_OK);
  assert_int_equal(hu_trainer_read(trainer, tensor_named(trainer, "batch_norm1.gain"), z->gain), HU_OK);
  assert_int_equal(hu_trainer_read(trainer, tensor_named(trainer, "batch_norm1.offset"), z->offset), HU_OK);
  assert_int_equal(hu_trainer_step(trainer, NULL), HU_OK);
  assert_int_equal(hu_trainer_read(trainer, running, z->after[0]), HU_OK);
  copy_value(trainer, X, z->x, z->dx);
  copy_value(trainer, Z, z->z, z->dz);
}

/* What is summed of row i. */
typedef struct means {
  float mean, variance, inverse, plain, with;
} means;

static float rounded(const hu_sum *sum) {
  const hu_mode rne = {0};
  uint32_t u = hu_sum_round(sum, hu_binary32(), rne, 0, NULL);
  float z;
  memcpy(&z, &u, sizeof z);
  return z;
}

static float centred(float x, const means *m) { return x - m->mean; }
static float normal(float x, const means *m) { return centred(x, m) * m->inverse; }

static means means_of(const t_seen *all, int j) {
  const float rows = SHARDS * ROWS;
  hu_sum sum[4];
  means m = {0, 0, 0, 0, 0};
  memset(sum, 0, sizeof sum);
  for (int k = 0; k < SHARDS; k++) {
    for (int i = 0; i < ROWS; i++) hu_sum_add32(&sum[0], all[k].x[i][j]);
  }
  m.mean = rounded(&sum[0]) / rows;
  for (int k = 0; k < SHARDS; k++) {
    for (int i = 0; i < ROWS; i++) {
      float c = centred(all[k].x[i][j], &m);
      hu_sum_add32(&sum[1], c * c);
    }
  }
  m.variance = rounded(&sum[1]) / rows;
  m.inverse = 1 / sqrtf(m.variance + 1e-5f);
  for (int k = 0; k < SHARDS; k++) {
    for (int i = 0; i < ROWS; i++) {
      float u = all[k].dz[i][j] * all[k].gain[j];
      hu_sum_add32(&sum[2], u);
      hu_sum_add32(&sum[3], u * normal(all[k].x[i][j], &m));
    }
  }
  m.plain = rounded(&sum[2]) / rows;
  m.with = rounded(&sum[3]) / rows;
  return m;
}

static void test_by_hand(void **state) {
  static t_seen all[SHARDS];
  t_seat like, seats[SHARDS];
  (void)state;
  memset(&like, 0, sizeof like);
  like.pairs = PAIRS(IMAGES, BATCH, "model.net", "conv(channels=4)", "parallel.shards", "4", "run.batch", "32",
                     "run.epochs", "3");
  like.look = look;
  like.seen_by_look = all;
  train_like(&like, SHARDS, seats);
  for (int j = 0; j < COLS; j++) {
    means m = means_of(all, j);
    assert_true(m.variance > 0 && m.plain != 0 && m.with != 0);
    for (int k = 0; k < SHARDS; k++) {
      const t_seen *seen = &all[k];
      assert_true(seen->after[0][j] == 0.9f * seen->before[0][j] + 0.1f * m.mean);
      assert_true(seen->after[1][j] == 0.9f * seen->before[1][j] + 0.1f * m.variance);
      for (int i = 0; i < ROWS; i++) {
        float h = normal(seen->x[i][j], &m), u = seen->dz[i][j] * seen->gain[j];
        assert_true(seen->z[i][j] == seen->gain[j] * h + seen->offset[j]);
        assert_true(seen->dx[i][j] == ((u - m.plain) - h * m.with) * m.inverse);
      }
    }
  }
  for (int k = 0; k < SHARDS; k++) free(seats[k].state);
}

/* ---- what is not finite, and what cancels ---- */

enum { TERMS = 4, MOST_COLS = 700 };

/* As if three processes had the same rows. */
static hu_status three(void *context, size_t n, double *x) {
  (void)context;
  for (size_t i = 0; i < n; i++) {
    assert_true(x[i] >= 0 && x[i] == floor(x[i]));
    x[i] *= 3;
  }
  return HU_OK;
}

/* Column j has the terms times (-1)^j, rows apart. */
static void sum_is(const float *terms, float expected, const hu_whole *whole, size_t rows, size_t cols) {
  hu_exact_columns c;
  hu_net *net = hu_net_new(rows, 1);
  int x = hu_net_input(net, 1, cols);
  float *in = calloc(rows * cols, sizeof *in);
  assert_non_null(in);
  for (size_t j = 0; j < cols; j++) {
    for (size_t i = 0; i < TERMS; i++) in[i * (rows - 1) / (TERMS - 1) * cols + j] = j % 2 ? -terms[i] : terms[i];
  }
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hui_exact_columns_open(&c, cols), HU_OK);
  hu_task task = hui_task_of(rows, cols, NULL, net->value[x].v, NULL);
  assert_int_equal(hui_exact_columns_add(&c, net, HU_RUN_COLUMNS, task), HU_OK);
  assert_int_equal(hui_exact_columns_round(&c, whole), HU_OK);
  for (size_t j = 0; j < cols; j++) {
    float z = j % 2 ? -expected : expected;
    if (expected != expected ? c.z[j] == c.z[j] : c.z[j] != z)
      fail_msg("column %zu: %a, not %a", j, (double)c.z[j], (double)z);
    if (expected == 0) assert_false(signbit(c.z[j]));
  }
  hui_exact_columns_close(&c);
  hu_net_free(net);
  free(in);
}

/* Rows that no order of binary32 additions gets right, whose sums pass the range of binary32, or with infinities. */
static void test_exact(void **state) {
  static const struct {
    float terms[TERMS], sum, of_three;
  } cases[] = {{{0x1p100f, 1, -0x1p100f, 3}, 4, 12},
               {{0x1p100f, 0x1p-149f, -0x1p100f, 0}, 0x1p-149f, 0x1.8p-148f},
               {{0x1.8p127f, 0x1.8p127f, -0x1.8p127f, -0x1.8p127f}, 0, 0},
               {{0x1.8p127f, 0x1.8p127f, -0x1.8p127f, -0x1p127f}, 0x1p126f, 0x1.8p127f},
               {{0x1.8p127f, 0x1.8p127f, 0, 1}, INFINITY, INFINITY},
               {{0x1p24f, 1, 0x1p-60f, 0}, 0x1.000002p24f, 0x1.800002p25f},
               {{-0.0f, -0.0f, -0.0f, -0.0f}, 0, 0},
               {{INFINITY, 1, 2, 3}, INFINITY, INFINITY},
               {{INFINITY, -INFINITY, 2, 3}, NAN, NAN},
               {{NAN, 1, 2, 3}, NAN, NAN}};
  static const size_t rows[] = {4, 130, 1000}, cols[] = {1, 3, 256, MOST_COLS};
  const hu_whole alone = {NULL, NULL}, some = {three, NULL};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t k = 0; k < 12; k++) {
      sum_is(cases[i].terms, cases[i].sum, &alone, rows[k % 3], cols[k / 3]);
      sum_is(cases[i].terms, cases[i].of_three, &some, rows[k % 3], cols[k / 3]);
    }
  }
}

/* ---- errors ---- */

static void test_refused(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS(BATCH));
  assert_int_equal(hu_trainer_set(trainer, "parallel.statistics", "batches", why), HU_E_TRAIN);
  assert_non_null(strstr(why, "parallel.statistics"));
  assert_non_null(strstr(why, "shard, batch"));
  assert_string_equal(hu_trainer_get(trainer, "parallel.statistics"), "batch");
  assert_int_equal(hu_trainer_set(trainer, "parallel.statistics", "", why), HU_E_TRAIN);
  begin(trainer);
  steps(trainer, 1);
  char *text = state_of(trainer);
  assert_non_null(strstr(text, "parallel.statistics=batch\n"));
  hu_trainer_free(trainer);
  trainer = with(PAIRS("parallel.statistics", "shard"));
  begin(trainer);
  assert_int_equal(hu_trainer_resume(trainer, text, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "parallel.statistics: here 'shard', and there 'batch'"));
  hu_trainer_free(trainer);
  free(text);
}

static hu_status joins(void *context, size_t n, float *z, size_t own, const void *const *x, const hu_collective *model,
                       const hu_exec *exec) {
  (void)context, (void)n, (void)z, (void)own, (void)x, (void)model, (void)exec;
  return HU_OK;
}

static hu_status fails(void *context, size_t n, double *x) {
  (void)context, (void)n, (void)x;
  return HU_E_DEVICE;
}

/* What the call of the processes returns in the middle of a pass comes back. */
static void test_failing(void **state) {
  (void)state;
  const hu_trainer_ranks ranks = {1, 2, NULL, joins, fails};
  step_fails(&ranks, PAIRS(IMAGES, BATCH, "run.batch", "32", "model.net", "conv(channels=4)", "parallel.shards", "4"));
}

/* A run that is stopped goes on with other processes. */
static void test_resumed(void **state) {
  (void)state;
  const char *const *pairs = PAIRS(IMAGES, BATCH, "run.batch", "32", "model.net", "conv(channels=4)", "parallel.shards",
                                   "4", "optimizer.momentum", "0.9");
  t_seat one, two[2];
  train_on(2, two, pairs);
  train_on(1, &one, pairs);
  hu_trainer *trainer = with(pairs);
  begin(trainer);
  steps(trainer, 3);
  char *text = state_of(trainer);
  hu_trainer *other = with(pairs);
  begin(other);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
    float *numbers = malloc(x.rows * x.cols * sizeof *numbers);
    assert_int_equal(hu_trainer_read(trainer, i, numbers), HU_OK);
    assert_int_equal(hu_trainer_write(other, i, numbers), HU_OK);
    free(numbers);
  }
  assert_int_equal(hu_trainer_resume(other, text, why), HU_OK);
  steps(other, STEPS - 3);
  assert_true(hu_trainer_digest(other) == one.digest && one.digest == two[1].digest);
  hu_trainer_free(trainer);
  hu_trainer_free(other);
  free(text);
  free(one.state);
  free(two[0].state);
  free(two[1].state);
}

int main(int argc, char **argv) {
  folder = argc > 1 ? argv[1] : "data";
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),   cmocka_unit_test(test_by_hand), cmocka_unit_test(test_same_for_any),
      cmocka_unit_test(test_refused), cmocka_unit_test(test_failing), cmocka_unit_test(test_only_batch_norms),
      cmocka_unit_test(test_resumed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
