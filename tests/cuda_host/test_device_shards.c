/* SPDX-License-Identifier: MIT */
/* Runs on the device, alone and, where their batch is cut into shards, beside a process on the CPU: what the CPU alone
 * has, with statistics of shards and of whole batches, and with rules for gradients.
 *
 *   test_device_shards FOLDER_OF_DATA */
#define _GNU_SOURCE /* barriers of threads */
#include "tests/cuda_host/twin.h"

#include "halfulp/collective.h"
#include "halfulp/train/net.h"
#include "tests/train/trainer/processes.h"
#include "train/engine/engine.h"

static const hu_engine *device;

/* On the device, then (processes: 2) on both. */
static void same_on_device(int processes, const char *const *pairs) {
  t_seat cpu, like, seats[2];
  memset(&like, 0, sizeof like);
  like.pairs = pairs;
  train_like(&like, 1, &cpu);
  like.engine = device;
  for (int size = 1; size <= processes; size++) {
    train_like(&like, size, seats);
    for (int r = 0; r < size; r++) {
      same_seats(&cpu, &seats[r]);
      free(seats[r].state);
    }
  }
  free(cpu.state);
}

#define IMAGES "data.set", "gratings", "data.count", "64", "data.test", "20", "data.size", "4", "run.batch", "16"

static void test_shards(void **state) {
  (void)state;
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.shards", "4"));
  same_on_device(
      1, PAIRS("model.net", "mlp(layers=2,units=16)", "parallel.shards", "3", "run.batch", "12", "parallel.reduce",
               "tree(bfloat16,sra:16)", "precision.system", "fp16", "loss.scale", "backoff"));
}

/* Sums over shards with infinities and NaN among their terms, which a step takes where nothing looks. */
static void test_infinite(void **state) {
  (void)state;
  same_on_device(1, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.shards", "4", "loss.scale",
                          "static(2^127,unchecked)", "optimizer.rate", "1"));
  same_on_device(1, PAIRS(IMAGES, "model.net", "mlp(layers=1,units=8)", "parallel.shards", "2", "loss.scale",
                          "static(2^127)", "loss.power", "60"));
}

/* The engine's sums of rows of any numbers, more of them than it makes at a time: those of the collective model. */
static void test_rows(void **state) {
  (void)state;
  enum { ROWS = 3, NUMBERS = (1 << 18) + 77, ALL = ROWS * NUMBERS };
  float *x = malloc(ALL * sizeof *x), *got = malloc(NUMBERS * sizeof *got),
        *expected = malloc(NUMBERS * sizeof *expected);
  t_random numbers = {t_seed("device-rows", 1)};
  hu_collective exact;
  hu_mode rne;
  void *self;
  assert_true(x && got && expected);
  memset(&exact, 0, sizeof exact);
  memset(&rne, 0, sizeof rne);
  for (size_t i = 0; i < ALL; i++) x[i] = t_float(t_next32(&numbers) & (i % 8 ? 0xFFFFFFFF : 0x87800000));
  const void *const row[ROWS] = {x, x + NUMBERS, x + (size_t)2 * NUMBERS};
  assert_int_equal(hu_collective_reduce(ROWS, NUMBERS, expected, hu_binary32(), row, &exact, NULL), HU_OK);
  assert_int_equal(device->open(&self, 1), HU_OK);
  float *there = device->allocate(self, ALL * sizeof *x), *sums = device->allocate(self, NUMBERS * sizeof *x);
  assert_true(there && sums);
  assert_int_equal(device->put(self, there, x, ALL * sizeof *x), HU_OK);
  assert_int_equal(device->sum_rows(self, ROWS, NUMBERS, sums, there), HU_OK);
  assert_int_equal(device->get(self, got, sums, NUMBERS * sizeof *got), HU_OK);
  assert_memory_equal(got, expected, NUMBERS * sizeof *got);
  device->release(self, there);
  device->release(self, sums);
  device->close(self);
  free(x);
  free(got);
  free(expected);
}

/* Scales of earlier steps: what the device finds largest is what the CPU does. */
static void test_delayed(void **state) {
  (void)state;
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.shards", "2", "precision.system",
                          "fp8_delayed", "precision.history", "2"));
  same_on_device(1, PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "12", "precision.system", "fp8_delayed",
                          "precision.history_takes", "most_recent", "precision.history_margin", "1"));
}

/* Operands rounded twice, the second time stochastically. */
static void test_twice(void **state) {
  (void)state;
  same_on_device(1, PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "12", "precision.system", "tetrajet"));
  same_on_device(1, PAIRS(IMAGES, "model.net", "conv(channels=4)", "precision.system", "tetrajet", "precision.x",
                          "bfloat16,sra:4", "precision.x_back", "keep"));
  same_on_device(2, PAIRS("model.net", "mlp(layers=1,units=40)", "run.batch", "32", "precision.system", "tetrajet",
                          "precision.w_average", "0.75", "parallel.shards", "2"));
  same_on_device(1, PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "400", "precision.system", "tetrajet",
                          "optimizer.kind", "adamw", "optimizer.ramping", "2", "optimizer.ramping_ratio", "0.5",
                          "optimizer.ramping_steps", "2"));
}

/* Quartet's layers: transforms with ragged ends, scales of blocks, masks. */
static void test_quartet(void **state) {
  (void)state;
  same_on_device(1, PAIRS("model.net", "mlp(layers=2,units=40)", "run.batch", "36", "precision.system", "quartet"));
  same_on_device(2, PAIRS("model.net", "mlp(layers=1,units=70)", "run.batch", "80", "precision.system", "quartet",
                          "precision.quartet", "stochastic", "parallel.shards", "2"));
}

/* Gradients of several batches are added up by the engine, of each shard alone; random words and weights' roundings are
 * those of the CPU. */
static void test_accumulated(void **state) {
  (void)state;
  same_on_device(1, PAIRS(IMAGES, "model.net", "conv(channels=4)", "run.accumulate", "2", "precision.values",
                          "bfloat16,sra:8", "optimizer.nesterov", "yes", "optimizer.momentum", "0.5"));
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "run.accumulate", "2", "parallel.shards", "2",
                          "precision.parameters", "bfloat16,sra:8"));
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "run.accumulate", "2", "parallel.shards", "4",
                          "parallel.reduce", "ring(bfloat16)", "parallel.feedback", "sum"));
  same_on_device(1, PAIRS(IMAGES, "model.net", "mlp(layers=1,units=8)", "parallel.shards", "4", "parallel.reduce",
                          "ring(binary32,wire=float8_e5m2)", "parallel.feedback", "own"));
}

/* Penalties, norms and layer-wise rates. */
static void test_rules(void **state) {
  (void)state;
  same_on_device(1, PAIRS(IMAGES, "model.net", "conv(channels=4)", "gradient.clip", "0.01", "gradient.penalty", "l1",
                          "gradient.lambda", "0.001", "gradient.larc", "scale", "gradient.eta", "0.5"));
  same_on_device(
      1, PAIRS(IMAGES, "model.net", "mlp(layers=1,units=40)", "gradient.penalty", "l2_half", "gradient.literal", "yes",
               "precision.system", "fp16", "loss.scale", "backoff", "gradient.larc", "clip", "gradient.eta", "0.01"));
}

static void test_batches(void **state) {
  (void)state;
  same_on_device(
      1, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.statistics", "batch", "parallel.shards", "1"));
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4/6)", "parallel.statistics", "batch", "parallel.shards",
                          "4", "optimizer.momentum", "0.9"));
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.statistics", "batch", "parallel.shards",
                          "2", "precision.system", "s2fp8"));
  same_on_device(2, PAIRS(IMAGES, "model.net", "conv(channels=4)", "parallel.statistics", "batch", "parallel.shards",
                          "2", "precision.values", "bfloat16,sra:8", "precision.parameters", "bfloat16,sra:8"));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shards),      cmocka_unit_test(test_infinite), cmocka_unit_test(test_rows),
      cmocka_unit_test(test_delayed),     cmocka_unit_test(test_twice),    cmocka_unit_test(test_quartet),
      cmocka_unit_test(test_accumulated), cmocka_unit_test(test_rules),    cmocka_unit_test(test_batches)};
  if (argc < 2) return 2;
  folder = argv[1];
  int skip = twin_skip("training on the device");
  if (skip) return skip;
  if (hu_engine_device(&device) != HU_OK) return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
