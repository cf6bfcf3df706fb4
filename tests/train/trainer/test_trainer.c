/* SPDX-License-Identifier: MIT */
/* Runs by keys: what is refused and named, the same bits for any threads and after a stop, learning. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

/* ---- beginning ---- */

static void not_begun(const char *const *pairs, const char *part) {
  hu_trainer *trainer = with(pairs);
  *why = 0;
  hu_status status = hu_trainer_begin(trainer, folder, why);
  if (status == HU_OK || !strstr(why, part)) fail_msg("%s, '%s', not '%s'", hu_status_text(status), why, part);
  assert_null(hu_trainer_net(trainer));
  assert_int_not_equal(hu_trainer_step(trainer, NULL), HU_OK);
  hu_trainer_free(trainer);
}

static void test_not_begun(void **state) {
  (void)state;
  not_begun(PAIRS("data.path", "nowhere"), "nowhere");
  not_begun(PAIRS("run.batch", "4000"), "run.batch");
  not_begun(PAIRS("loss.kind", "squared_error"), "loss.kind");
  not_begun(PAIRS("data.set", "teacher", "loss.kind", "cross_entropy"), "loss.kind");
  not_begun(PAIRS("loss.kind", "logistic"), "loss.kind: logistic is for labels of two classes");
  not_begun(PAIRS("data.set", "teacher", "loss.kind", "logistic"), "loss.kind: logistic is for labels of two classes");
  not_begun(PAIRS("data.set", "teacher", "loss.smoothing", "0.1"), "loss.smoothing");
  not_begun(PAIRS("model.net", "transformer"), "model.net");
  not_begun(PAIRS("data.set", "text"), "model.net");
  not_begun(PAIRS("optimizer.kind", "adamw", "optimizer.state", "bfloat16"), "beta2");
  not_begun(PAIRS("optimizer.kind", "adamw", "optimizer.nesterov", "yes"), "optimizer: nesterov");
  not_begun(PAIRS("optimizer.kind", "adamw", "optimizer.round_momentum", "sra:8"), "optimizer: mode_momentum");
  not_begun(
      PAIRS("optimizer.kind", "muon", "optimizer.product", "bfloat16", "optimizer.accum", "nv.hopper.e4m3.f32.wgmma"),
      "optimizer: accum: does not take operands in the format `product`");
  not_begun(PAIRS("optimizer.kind", "muon", "optimizer.adamw", "linear9.weight"), "optimizer.adamw: nothing is called");
  not_begun(PAIRS("optimizer.adamw", "linear1.weight"), "optimizer.adamw: of optimizer.kind = muon alone");
  not_begun(PAIRS("optimizer.kind", "muon", "gradient.larc", "scale"), "gradient.larc: requires one rate");
  not_begun(PAIRS("optimizer.stored_v", "mxfp8_e4m3"), "optimizer: stored_v: this optimizer has no such moment");
  not_begun(PAIRS("optimizer.momentum", "0.9", "optimizer.stored_m", "mxfp8_e4m3,turned"), "optimizer: stored_m");
  not_begun(PAIRS("optimizer.kind", "adagrad", "optimizer.nesterov", "yes"), "optimizer: nesterov");
  not_begun(PAIRS("optimizer.kind", "adagrad", "optimizer.fused", "yes"), "optimizer: fused");
  not_begun(PAIRS("optimizer.kind", "adagrad", "optimizer.coupled", "yes"), "optimizer: coupled");
  not_begun(PAIRS("optimizer.kahan", "nothing.weight"), "nothing.weight");
  not_begun(PAIRS("optimizer.rates", "*.gain:2"),
            "optimizer.rates: nothing is called '*.gain'; parameters are linear1");
  not_begun(PAIRS("optimizer.decays", "*.bias"), "optimizer.decays: '*.bias' is not PATTERN:FACTOR");
  not_begun(PAIRS("optimizer.decays", "*.bias:-1"), "'*.bias:-1' is not PATTERN:FACTOR, a factor from 0");
  not_begun(PAIRS("gradient.clipped", "linear1.*"), "gradient.clipped: gradient.clip is 0");
  not_begun(PAIRS("optimizer.rates", "*:2", "gradient.larc", "clip"), "gradient.larc: requires one rate");
  not_begun(PAIRS("optimizer.rates", "*:1e-6", "optimizer.rate", "1e-3", "optimizer.state", "binary16"),
            "optimizer.rates, decays, with the optimizer's other keys: rate");
  not_begun(PAIRS("run.device", "cuda"), "run.device");
  not_begun(PAIRS("data.augment", "yes"), "data.augment");
  not_begun(PAIRS("optimizer.fused", "yes", "optimizer.kahan", "linear1.weight"), "optimizer.kahan");
  not_begun(PAIRS("gradient.larc", "clip", "optimizer.rate", "0"), "gradient.larc");
  not_begun(PAIRS("precision.layers", "linear1,linear9"), "linear9");
  not_begun(PAIRS("gradient.penalty", "l2", "gradient.lambda", "1e39"), "gradient.lambda");
  not_begun(PAIRS("data.set", "cifar10"), "data_batch_1.bin");
  not_begun(PAIRS("data.set", "npy"), "data.path");
}

/* What failed to begin can be mended and begun again. */
static void test_begun_again(void **state) {
  (void)state;
  uint64_t whole = 0;
  for (int failed = 0; failed < 2; failed++) {
    hu_trainer *trainer = with(PAIRS("model.net", "mlp(layers=1,units=16)", "optimizer.momentum", "0.9"));
    if (failed) {
      set(trainer, "optimizer.kahan", "nothing.weight");
      assert_int_not_equal(hu_trainer_begin(trainer, folder, why), HU_OK);
      set(trainer, "optimizer.kahan", "");
    }
    begin(trainer);
    assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_SHAPE);
    assert_int_equal(hu_trainer_tensor_count(trainer), 8);
    steps(trainer, 3);
    if (failed) assert_int_equal(hu_trainer_digest(trainer), whole);
    whole = hu_trainer_digest(trainer);
    hu_trainer_free(trainer);
  }
}

/* ---- the same bits ---- */

static const char *const *const runs[] = {
    PAIRS("model.net", "mlp(layers=1,units=16)"),
    PAIRS("precision.system", "s2fp8", "optimizer.kind", "adamw", "optimizer.rate", "1e-3"),
    PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16",
          "optimizer.update", "sra:16", "optimizer.momentum", "0.9", "optimizer.kahan", "linear1.weight"),
    PAIRS("precision.system", "fp16", "loss.scale", "backoff(scale_max=2^18,step_window=5)", "optimizer.rate", "0.01"),
    PAIRS("gradient.clip", "0.5", "gradient.penalty", "l2_half", "gradient.lambda", "1e-3", "gradient.larc", "clip",
          "precision.system", "fp16", "loss.scale", "static(1024)"),
    PAIRS("precision.system", "nvfp4", "optimizer.schedule", "cosine", "run.epochs", "2"),
    PAIRS("optimizer.rate", "2", "optimizer.schedule", "plateau(0.5,window=2,last=1)"),
    PAIRS("data.set", "gratings", "data.count", "256", "data.test", "64", "model.net", "conv(channels=4/4)",
          "run.batch", "32"),
    PAIRS("data.set", "text", "model.net", "transformer(units=16,hidden=32)", "run.batch", "4", "run.steps", "20",
          "optimizer.kind", "adamw"),
    PAIRS("assignment.kind", "demote", "assignment.ratio", "1", "data.raw", "yes", "optimizer.rate", "0.01",
          "optimizer.momentum", "0.9", "loss.scale", "gradscaler(growth_interval=4)", "assignment.promote", "0.001"),
    PAIRS("data.set", "ratings", "model.net", "ncf", "precision.system", "s2fp8", "data.implicit", "yes"),
    PAIRS("precision.system", "fp16", "loss.scale", "largest", "optimizer.schedule", "drop(0.5,0.1)"),
    PAIRS("optimizer.nesterov", "yes", "optimizer.momentum", "0.9", "optimizer.state", "bfloat16", "optimizer.weights",
          "bfloat16", "optimizer.update", "sra:16", "optimizer.kahan", "linear1.weight", "optimizer.rate", "0.01"),
    PAIRS("data.set", "gratings", "data.count", "256", "data.test", "64", "model.net", "conv(channels=4/4)",
          "run.batch", "16", "run.accumulate", "3", "precision.values", "bfloat16,sra:8", "run.epochs", "4"),
    PAIRS("optimizer.kind", "adagrad", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16",
          "optimizer.kahan", "linear1.weight", "optimizer.update", "sra:16", "optimizer.decay", "0.01"),
    PAIRS("optimizer.kind", "adamw", "optimizer.rate", "1e-3", "optimizer.stored_m", "mxfp8_e4m3", "optimizer.stored_v",
          "scaled(binary16;scale=binary32;block=*x*;rule=ratio)", "model.net", "mlp(units=300)"),
    PAIRS("optimizer.momentum", "0.9", "optimizer.stored_m",
          "scaled(float8_e4m3fn;scale=binary32;block=1x256;rule=ratio),sra:8", "model.net", "mlp(units=300)"),
    PAIRS("optimizer.kind", "muon", "optimizer.rate", "0.02", "optimizer.momentum", "0.95", "optimizer.nesterov", "yes",
          "optimizer.product", "bfloat16", "optimizer.adamw", "linear3.weight", "optimizer.schedule", "cosine",
          "optimizer.kahan", "linear1.weight", "optimizer.warmup", "3", "run.epochs", "3"),
    PAIRS("data.set", "text", "model.net", "transformer(units=16,hidden=32)", "run.batch", "4", "run.steps", "20",
          "optimizer.kind", "muon", "optimizer.rate", "0.02", "optimizer.state", "bfloat16", "optimizer.beta2", "0.95",
          "optimizer.product", "bfloat16", "optimizer.accum", "seq(bfloat16)", "optimizer.stored_v", "mxfp8_e5m2"),
    PAIRS("model.net", "mlp(units=40,dropout=0.5)", "run.batch", "16", "run.accumulate", "2", "parallel.shards", "2"),
    PAIRS("data.set", "text", "model.net", "transformer(units=16,hidden=32,dropout=0.1)", "run.batch", "4", "run.steps",
          "20", "precision.system", "bfloat16"),
    PAIRS("precision.system", "fp8", "loss.scale", "exponential(start=16,every=2,scale_max=2^30)", "run.accumulate",
          "2", "run.batch", "16"),
    PAIRS("data.set", "text", "model.net", "lstm(units=8)", "run.batch", "2", "run.accumulate", "2", "run.steps", "20"),
    PAIRS("model.net", "mlp(layers=1,units=300)", "precision.system", "wang2018", "optimizer.state", "fp(6,9,0)",
          "optimizer.weights", "fp(6,9,0)", "optimizer.update", "sra:16", "optimizer.round_decay", "sra:16",
          "optimizer.round_momentum", "sra:16", "optimizer.momentum", "0.9", "optimizer.decay", "1e-4", "loss.scale",
          "static(1024)"),
    PAIRS("precision.system", "nvfp4", "precision.until", "5", "precision.after", "forward", "run.batch", "32"),
    PAIRS("precision.system", "fp4_all_the_way", "precision.until", "9", "precision.after", "backward"),
    PAIRS("precision.system", "tetrajet", "precision.exempt", "first", "run.batch", "32"),
    PAIRS("precision.system", "tetrajet", "precision.w_average", "0.9", "optimizer.momentum", "0.9", "run.batch", "48"),
    PAIRS("data.set", "gratings", "data.count", "64", "data.test", "16", "model.net", "conv(channels=4/8)", "run.batch",
          "16", "precision.system", "tetrajet", "precision.w_average", "0.5", "run.epochs", "4", "precision.until",
          "14"),
    PAIRS("precision.system", "quartet", "precision.quartet", "stochastic", "run.batch", "40", "precision.until", "9"),
    PAIRS("precision.system", "tetrajet", "optimizer.kind", "adamw", "optimizer.rate", "0.01", "run.batch", "256",
          "optimizer.ramping", "2", "optimizer.ramping_ratio", "1", "optimizer.ramping_steps", "5", "run.epochs", "4"),
    PAIRS("data.set", "gratings", "data.count", "64", "data.test", "16", "model.net", "conv(channels=4/8)", "run.batch",
          "16", "precision.system", "mxfp6", "precision.twice", "yes", "run.epochs", "4"),
    PAIRS("precision.system", "fp8_delayed", "precision.history", "3", "loss.scale",
          "exponential(start=2^20,every=2,scale_max=2^60)", "optimizer.momentum", "0.9"),
    PAIRS("data.set", "text", "model.net", "transformer(units=16,hidden=32)", "run.batch", "4", "run.steps", "20",
          "precision.system", "fp8_delayed", "precision.attention", "yes", "precision.history_takes", "most_recent",
          "precision.history_margin", "1", "parallel.shards", "2"),
};
enum { RUNS = sizeof runs / sizeof *runs, STEPS = 12, STOP = 7 };

static uint64_t digest_of(const char *const *pairs, const char *threads) {
  hu_trainer *trainer = with(pairs);
  set(trainer, "run.threads", threads);
  begin(trainer);
  steps(trainer, STEPS);
  uint64_t z = hu_trainer_digest(trainer);
  hu_trainer_free(trainer);
  return z;
}

static void test_threads(void **state) {
  (void)state;
  for (size_t i = 0; i < RUNS; i++) {
    uint64_t one = digest_of(runs[i], "1");
    if (digest_of(runs[i], "3") != one) fail_msg("run %zu differs between 1 and 3 threads", i);
  }
}

/* The tensors and the text of a trainer, carried over to another one. */
static void carry(hu_trainer *to, const hu_trainer *from) {
  size_t n = hu_trainer_state(from, NULL, 0);
  char *text = malloc(n + 1);
  assert_non_null(text);
  assert_int_equal(hu_trainer_state(from, text, n + 1), n);
  assert_int_equal(strlen(text), n);
  assert_int_equal(hu_trainer_tensor_count(to), hu_trainer_tensor_count(from));
  for (size_t i = 0; i < hu_trainer_tensor_count(from); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(from, i);
    for (size_t j = 0; j < i; j++) assert_string_not_equal(hu_trainer_tensor_at(from, j).name, x.name);
  }
  carry_tensors(to, from);
  *why = 0;
  if (hu_trainer_resume(to, text, why) != HU_OK) fail_msg("%s", why);
  free(text);
}

static void test_resume(void **state) {
  (void)state;
  for (size_t i = 0; i < RUNS; i++) {
    hu_trainer_seen whole, stopped;
    hu_trainer *a = with(runs[i]), *b = with(runs[i]), *c = with(runs[i]);
    begin(a), begin(b), begin(c);
    steps(a, STEPS);
    steps(b, STOP);
    carry(c, b);
    assert_int_equal(hu_trainer_at(c), STOP);
    steps(c, STEPS - STOP);
    if (hu_trainer_digest(a) != hu_trainer_digest(c)) fail_msg("run %zu differs after a stop", i);
    assert_int_equal(hu_trainer_evaluate(a, HU_ON_TEST, &whole), HU_OK);
    assert_int_equal(hu_trainer_evaluate(c, HU_ON_TEST, &stopped), HU_OK);
    assert_true(memcmp(&whole.loss, &stopped.loss, sizeof whole.loss) == 0);
    assert_int_equal(hu_trainer_evaluate(b, HU_ON_TEST, &stopped), HU_OK);
    assert_true(whole.loss != stopped.loss); /* the steps between matter */
    hu_trainer_free(a), hu_trainer_free(b), hu_trainer_free(c);
  }
}

static void test_resume_refused(void **state) {
  (void)state;
  hu_trainer *a = with(runs[0]), *b = with(PAIRS("model.net", "mlp(layers=1,units=16)", "optimizer.rate", "0.2"));
  begin(a), begin(b);
  char text[8192];
  assert_true(hu_trainer_state(a, text, sizeof text) < sizeof text);
  assert_int_equal(hu_trainer_resume(b, text, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "optimizer.rate"));
  text[40] = 0;
  assert_int_not_equal(hu_trainer_resume(a, text, why), HU_OK);
  assert_int_not_equal(hu_trainer_resume(a, "", why), HU_OK);
  assert_int_equal(hu_trainer_at(a), 0);
  assert_int_equal(hu_trainer_write(a, hu_trainer_tensor_count(a), NULL), HU_E_NULL);
  hu_trainer_free(a), hu_trainer_free(b);
}

/* Looking changes nothing. */
static void test_evaluate(void **state) {
  (void)state;
  hu_trainer *a = with(runs[2]), *b = with(runs[2]);
  hu_trainer_seen seen, again;
  begin(a), begin(b);
  for (int i = 0; i < 4; i++) {
    steps(a, 2), steps(b, 2);
    assert_int_equal(hu_trainer_evaluate(b, HU_ON_TRAINING, &seen), HU_OK);
    assert_int_equal(hu_trainer_evaluate(b, HU_ON_TEST, &again), HU_OK);
    assert_true(isnan(seen.r2) && seen.accuracy >= 0 && seen.accuracy <= 1);
  }
  assert_int_equal(hu_trainer_digest(a), hu_trainer_digest(b));
  hu_trainer_free(a), hu_trainer_free(b);
}

/* Each addition of an update has its own key. */
static void test_rounded_additions(void **state) {
  (void)state;
  static const char *const modes[4][2] = {{"rne", "rne"}, {"sra:16", "rne"}, {"rne", "sra:16"}, {"sra:16", "sra:16"}};
  uint64_t digest[4];
  for (int i = 0; i < 4; i++) {
    digest[i] = digest_after(3, PAIRS("model.net", "mlp(layers=1,units=16)", "optimizer.state", "bfloat16",
                                      "optimizer.momentum", "0.9", "optimizer.decay", "0.01", "optimizer.round_decay",
                                      modes[i][0], "optimizer.round_momentum", modes[i][1]));
    for (int k = 0; k < i; k++) assert_true(digest[i] != digest[k]);
  }
}

/* ---- precision.layers, precision.exempt ---- */

/* Only what is chosen differs from binary32. */
static void test_layers(void **state) {
  (void)state;
  const char *const *plain = PAIRS("model.net", "mlp(layers=1,units=16)");
  uint64_t none = digest_of(plain, "1");
  uint64_t all = digest_of(PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2"), "1");
  uint64_t first = digest_of(
      PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2", "precision.layers", "linear1"), "1");
  uint64_t last = digest_of(
      PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2", "precision.exempt", "first"), "1");
  uint64_t second = digest_of(
      PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2", "precision.layers", "linear2"), "1");
  uint64_t both = digest_of(PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2",
                                  "precision.layers", "linear2,linear1"),
                            "1");
  assert_true(none != all && none != first && none != last && first != all && last != all && first != last);
  assert_true(second == last && both == all);
  assert_true(none == digest_of(PAIRS("model.net", "mlp(layers=1,units=16)", "precision.system", "fp8_e5m2",
                                      "precision.exempt", "both"),
                                "1"));
}

/* Numbers of users and items are names: no system rounds them. */
static void test_names(void **state) {
  (void)state;
  hu_trainer *trainer =
      with(PAIRS("data.set", "ratings", "data.users", "1000", "model.net", "ncf", "precision.system", "bfloat16"));
  begin(trainer);
  steps(trainer, 1);
  hu_net_tensor users = hu_net_value(hu_trainer_net(trainer), 0);
  int odd = 0;
  for (size_t i = 0; i < users.rows; i++) odd += users.numbers[i] > 512 && fmodf(users.numbers[i], 2) == 1;
  assert_true(odd > 5);
  hu_trainer_free(trainer);
}

/* A layer of cells is exempt with all of its steps: none of the products that read an input row rounds. */
static void test_exempt_cells(void **state) {
  (void)state;
  hu_trainer *trainer =
      with(PAIRS("model.net", "gru(units=8)", "precision.system", "s2fp8", "precision.exempt", "first"));
  begin(trainer);
  steps(trainer, 1);
  size_t plain = 0, rounded = 0;
  for (int i = 0; i < hu_net_values(hu_trainer_net(trainer)); i++) {
    hu_rounding_counts counts[2];
    if (!hu_net_product_counts(hu_trainer_net(trainer), i, counts)) continue;
    plain += counts[0].elements == 0;
    rounded += counts[0].elements != 0;
  }
  assert_int_equal(plain, 8);       /* of the rows of an image */
  assert_int_equal(rounded, 8 + 1); /* of the states, and the last layer */
  hu_trainer_free(trainer);
}

/* Penalties reach weights of one row. */
static void test_penalty_of_one_row(void **state) {
  (void)state;
  const char *const *plain = PAIRS("data.set", "least_squares", "data.features", "1", "model.net", "linear(nobias)",
                                   "run.batch", "10", "optimizer.rate", "1e-4");
  const char *const *with_penalty =
      PAIRS("data.set", "least_squares", "data.features", "1", "model.net", "linear(nobias)", "run.batch", "10",
            "optimizer.rate", "1e-4", "gradient.penalty", "l2", "gradient.lambda", "1");
  assert_true(digest_of(plain, "1") != digest_of(with_penalty, "1"));
}

/* A chosen scale is one that steps are taken with, whatever narrow format gradients go into. */
static void test_largest(void **state) {
  (void)state;
  hu_trainer_report report;
  hu_trainer *trainer =
      with(PAIRS("data.set", "teacher", "data.features", "8", "model.net", "mlp(layers=1,units=16)",
                 "precision.parameter_gradients", "float8_e4m3", "loss.scale", "largest", "optimizer.rate", "1e-5"));
  begin(trainer);
  for (int i = 0; i < 10; i++) assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  assert_true(report.skipped < 10);
  hu_trainer_free(trainer);
}

/* Roundings are counted wherever they are: of tensors, or of operands and results of products alone. */
static void test_counted(void **state) {
  (void)state;
  const char *const systems[] = {"fp16", "s2fp8", "mxfp4", "nvfp4", "wang2018"};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    hu_trainer_report report;
    hu_trainer *trainer = with(PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "32"));
    set(trainer, "precision.system", systems[i]);
    begin(trainer);
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    if (!report.forward.events.inexact || !report.backward.events.inexact)
      fail_msg("%s: nothing was inexact", systems[i]);
    if (strcmp(systems[i], "wang2018") == 0) { /* X and W of two layers more than in binary32, where all is kept */
      hu_trainer *plain = with(PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "32"));
      hu_trainer_report p;
      begin(plain);
      assert_int_equal(hu_trainer_step(plain, &p), HU_OK);
      assert_int_equal(p.forward.events.inexact, 0);
      assert_int_equal(report.forward.elements - p.forward.elements, 32 * 64 + 64 * 16 + 32 * 16 + 16 * 10);
      hu_trainer_free(plain);
    }
    hu_trainer_free(trainer);
  }
}

/* Bytes of a step's tensors: four a number, two of bfloat16. The input has no gradient; the loss's is never narrow. */
static void test_memory(void **state) {
  (void)state;
  const double parameters = 64 * 16 + 16 + 16 * 10 + 10, made = 32 * (16 + 16 + 10), values = 32 * 64 + made + 1;
  for (int narrow = 0; narrow < 2; narrow++) {
    hu_trainer *trainer =
        with(PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "32", "optimizer.momentum", "0.9"));
    if (narrow) set(trainer, "precision.gradients", "bfloat16");
    begin(trainer);
    hu_trainer_memory m = hu_trainer_memory_of(trainer);
    assert_true(m.weights == 4 * parameters && m.state == 4 * parameters && m.values == 4 * values);
    assert_true(m.gradients == 4 * (parameters + 1) + (narrow ? 2 : 4) * made);
    hu_trainer_memory stored = hu_trainer_stored_of(trainer);
    assert_memory_equal(&m, &stored, sizeof m);
    hu_trainer_free(trainer);
  }
}

/* What the paper's system stores: a byte a number and two numbers a tensor for whatever products read or give. Two
 * results, which a ReLU and the loss read, stay 4 bytes, as biases and their gradients do. */
static void test_memory_of_systems(void **state) {
  (void)state;
  const double weights = 64 * 16 + 16 * 10, biases = 16 + 10, own = 8;
  hu_trainer *trainer =
      with(PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "32", "precision.system", "s2fp8"));
  begin(trainer);
  hu_trainer_memory m = hu_trainer_memory_of(trainer), stored = hu_trainer_stored_of(trainer);
  assert_true(m.weights == 4 * (weights + biases) + weights + 2 * own);
  assert_true(m.values == 32 * 64 + own + 4 * 32 * 16 + 32 * 16 + own + 4 * (32 * 10 + 1));
  assert_true(m.gradients == 32 * (16 + 16 + 10) + 3 * own + 4 + weights + 2 * own + 4 * biases);
  assert_true(stored.weights == 4 * (weights + biases) && stored.values == 4 * (32 * (64 + 16 + 16 + 10) + 1));
  assert_true(stored.gradients == 4 * (32 * (16 + 16 + 10) + 1 + weights + biases));
  assert_true(stored.state == m.state);
  hu_trainer_free(trainer);
  /* Results of convolutions, which a batch norm reads, are of the result's rounding; a transformer's attention counts
   * with the wider of its operands. */
  for (int narrow = 0; narrow < 2; narrow++) {
    hu_trainer *c = with(PAIRS("model.net", "conv", "run.batch", "32"));
    set(c, "precision.z_out", narrow ? "float8_e5m2" : "keep");
    begin(c);
    hu_trainer_memory seen = hu_trainer_memory_of(c);
    stored = hu_trainer_stored_of(c);
    assert_true(narrow ? seen.values < stored.values : seen.values == stored.values);
    assert_true(seen.weights == stored.weights && seen.gradients == stored.gradients);
    hu_trainer_free(c);
  }
}

/* Quartet's X and W: 4 bits and one of the mask, a byte for each block of 32 along the reduction; its dZ without masks,
 * blocks in both directions. */
static void test_memory_of_quartet(void **state) {
  (void)state;
  const double weights = 64 * 16 + 16 * 10, biases = 16 + 10;
  hu_trainer *trainer =
      with(PAIRS("model.net", "mlp(layers=1,units=16)", "run.batch", "32", "precision.system", "quartet"));
  begin(trainer);
  hu_trainer_memory m = hu_trainer_memory_of(trainer);
  assert_true(m.weights == 4 * (weights + biases) + (5 * 64 * 16 / 8 + 2 * 16) + (5 * 16 * 10 / 8 + 10));
  assert_true(m.values == (5 * 32 * 64 / 8 + 32 * 2) + 4 * 32 * 16 + (5 * 32 * 16 / 8 + 32) + 4 * (32 * 10 + 1));
  assert_true(m.gradients == (32 * 16 / 2 + 32) + 4 * 32 * 16 + (32 * 10 / 2 + 32) + 4 * (1 + weights + biases));
  hu_trainer_free(trainer);
}

/* Gains and offsets of batch norms stay in binary32 beside weights in binary16, if the key says so. */
static void test_norms_in_binary32(void **state) {
  (void)state;
  for (int stay = 0; stay < 2; stay++) {
    hu_trainer *trainer = with(PAIRS("model.net", "conv", "run.batch", "32", "precision.system", "fp16"));
    set(trainer, "precision.norms", stay ? "binary32" : "parameters");
    begin(trainer);
    hu_trainer_report report;
    for (int i = 0; i < 3; i++) assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    hu_net *net = hu_trainer_net(trainer);
    size_t gains = 0, weights = 0;
    for (int i = 0; i < hu_net_parameters(net); i++) {
      const char *name = hu_net_parameter_name(net, i);
      hu_net_tensor x = hu_net_parameter(net, i);
      int norm = strstr(name, "batch_norm") != NULL;
      for (size_t k = 0; k < x.rows * x.cols; k++) {
        int off_grid = hu_quantize(hu_binary16(), (hu_mode){0}, x.gradients[k], 0, NULL) != x.gradients[k];
        *(norm ? &gains : &weights) += (size_t)off_grid;
      }
    }
    assert_int_equal(weights, 0);
    assert_true(stay ? gains > 0 : gains == 0);
    hu_trainer_free(trainer);
  }
}

/* ---- rates ---- */

/* Three drops, as the paper on S2FP8 trains (Cambier et al. 2020), and a rate that rises over the first steps. */
static void test_schedule(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS("model.net", "linear", "run.batch", "256", "run.epochs", "10", "optimizer.rate",
                                   "0.5", "optimizer.schedule", "drop(0.4/0.6/0.9,0.25)", "optimizer.warmup", "8"));
  begin(trainer);
  uint64_t epoch = hu_trainer_steps_an_epoch(trainer);
  while (!hu_trainer_done(trainer)) {
    hu_trainer_report report;
    uint64_t step = hu_trainer_at(trainer), at = step / epoch;
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    double expected = 0.5 * (at >= 4 ? 0.25 : 1) * (at >= 6 ? 0.25 : 1) * (at >= 9 ? 0.25 : 1);
    if (step < 8) expected *= (double)(step + 1) / 8;
    assert_true(report.rate == expected);
  }
  hu_trainer_free(trainer);
}

/* ---- learning ---- */

static void test_learns(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS("run.epochs", "4", "optimizer.momentum", "0.9"));
  hu_trainer_report report;
  hu_trainer_seen seen;
  begin(trainer);
  assert_int_equal(hu_trainer_steps_an_epoch(trainer), 1438 / 64);
  assert_int_equal(hu_trainer_steps(trainer), 4 * (1438 / 64));
  while (!hu_trainer_done(trainer)) assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  assert_int_equal(report.step, hu_trainer_steps(trainer));
  assert_int_equal(report.epoch, 3);
  assert_true(report.largest > 0 && report.norm == 0);
  assert_true(report.taken && report.rate == 0.1 && report.scale == 1 && report.updates.moved > 1000 &&
              report.skipped == 0);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_true(seen.accuracy > 0.9);
  hu_trainer_free(trainer);
}

static void test_regression(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS("data.set", "teacher", "data.features", "8", "model.net", "mlp(layers=2,units=32)",
                                   "run.batch", "50", "optimizer.rate", "3e-4", "optimizer.momentum", "0.9"));
  hu_trainer_seen seen;
  begin(trainer);
  while (!hu_trainer_done(trainer)) assert_int_equal(hu_trainer_step(trainer, NULL), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_true(isnan(seen.accuracy) && seen.r2 > 0.8 && seen.r2 < 1);
  hu_trainer_free(trainer);
}

static void test_exponents(void **state) {
  (void)state;
  const float x[] = {0, -0.0f, 1, 1.5f, -1.99f, 2, 0x1p-149f, -0x1.8p-127f, 0x1.fp127f, INFINITY, NAN};
  uint64_t z[HU_EXPONENTS] = {0};
  hu_exponents_of(sizeof x / sizeof *x, x, z);
  assert_true(z[0] == 2 && z[150] == 3 && z[151] == 1 && z[1] == 1 && z[23] == 1 && z[277] == 1 && z[278] == 2);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_not_begun),
                                     cmocka_unit_test(test_begun_again),
                                     cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_resume),
                                     cmocka_unit_test(test_evaluate),
                                     cmocka_unit_test(test_rounded_additions),
                                     cmocka_unit_test(test_resume_refused),
                                     cmocka_unit_test(test_layers),
                                     cmocka_unit_test(test_counted),
                                     cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_memory_of_systems),
                                     cmocka_unit_test(test_memory_of_quartet),
                                     cmocka_unit_test(test_schedule),
                                     cmocka_unit_test(test_norms_in_binary32),
                                     cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_exempt_cells),
                                     cmocka_unit_test(test_penalty_of_one_row),
                                     cmocka_unit_test(test_largest),
                                     cmocka_unit_test(test_learns),
                                     cmocka_unit_test(test_regression),
                                     cmocka_unit_test(test_exponents)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests(tests, NULL, NULL);
}
