/* SPDX-License-Identifier: MIT */
/* Networks, whole runs, experiments and threads in the caller's floating-point environments (environment.h).
 *
 *   test_environment_runs DATA */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train.h"
#include "tests/support/cmocka.h"
#include "tests/train/trainer/environment.h"

static const char *folder;
enum { BATCH = 6, PIXELS = 9 };
static uint32_t classes[BATCH * PIXELS]; /* of the small net */

static int prepare(void **state) {
  (void)state;
  make_numbers();
  for (uint32_t i = 0; i < BATCH * PIXELS; i++) classes[i] = i % 3;
  return 0;
}

/* ---- networks ---- */

static void job_model_build(t_digest *digest) {
  hu_model m = hu_model_default(HU_MODEL_CONV);
  hu_model_sizes sizes = {.height = 9, .width = 9, .channels = 2, .outputs = 5};
  hu_model_ends ends;
  m.width = 0.35;
  hu_net *net = hu_net_new(3, 1);
  add_word(digest, (uint64_t)hu_model_build(net, &m, &sizes, &ends, NULL));
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor x = hu_net_parameter(net, i);
    add_word(digest, x.rows * 1000 + x.cols);
  }
  hu_net_free(net);
}

static void job_net_building(t_digest *digest) {
  hu_net *net = hu_net_new(BATCH, 1);
  int x = hu_net_input(net, 1, 5);
  const double numbers[] = {0, 1e-320, (double)NAN};
  for (size_t i = 0; i < 3; i++) {
    hu_net *other = hu_net_new(BATCH, 1);
    int y = hu_net_relu(other, hu_net_input(other, 1, 5));
    add_word(digest, (uint64_t)hu_net_dropout(other, y, numbers[i]));
    hu_net_free(other);
  }
  for (size_t i = 0; i < 9; i++) {
    hu_net *other = hu_net_new(BATCH, 1);
    int y = hu_net_relu(other, hu_net_input(other, 1, 5));
    double weight = numbers[i % 3];
    add_word(digest, (uint64_t)(i < 3   ? hu_net_cross_entropy(other, y, weight)
                                : i < 6 ? hu_net_squared_error(other, y, weight)
                                        : hu_net_absolute_error(other, y, weight)));
    hu_net_free(other);
  }
  (void)hu_net_linear(net, x, 3, 0);
  const float deviation[] = {0x1p-140f, -0x1p-140f, NAN};
  for (size_t i = 0; i < 3; i++) add_word(digest, (uint64_t)hu_net_start_normal(net, 0, deviation[i]));
  add_word(digest, (uint64_t)hu_net_initialize(net, 3));
  add_word(digest, hu_net_digest(net));
  hu_net_free(net);
}

/* Image, convolution, batch norm, attention, dropout: three steps in bfloat16 and fp(4,3,4). */
typedef struct small_net {
  hu_net *net;
  int in, loss;
} small_net;

static small_net make_net(uint32_t threads) {
  hu_rounding narrow, stochastic;
  small_net z;
  assert_int_equal(hu_rounding_parse(&narrow, "fp(4,3,4):finite", NULL), HU_OK);
  assert_int_equal(hu_rounding_parse(&stochastic, "bfloat16,sra:6", NULL), HU_OK);
  z.net = hu_net_new(BATCH, threads);
  z.in = hu_net_image(z.net, 6, 6, 2);
  int y = hu_net_gelu(z.net, hu_net_batch_norm(z.net, hu_net_conv(z.net, z.in, 5, 3, 1, 1, 1)));
  y = hu_net_dropout(z.net, hu_net_max_pool(z.net, y, 2, 2), 0.3);
  y = hu_net_attention(z.net, hu_net_linear(z.net, y, 12, 1), 2, 1);
  y = hu_net_attention_across(z.net, y, hu_net_linear(z.net, y, 8, 1), 2, -1);
  z.loss = hu_net_cross_entropy(z.net, hu_net_linear(z.net, y, 3, 1), 0.7);
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.x = rounding.w = rounding.dz = rounding.w_back = rounding.x_back = rounding.dz_w = narrow;
  rounding.hadamard = 16;
  for (int i = 0; i < z.loss; i++) {
    hu_status status = hu_net_round_product(z.net, i, &rounding);
    assert_true(status == HU_OK || status == HU_E_SHAPE);
    if (i % 2) assert_int_equal(hu_net_round_value(z.net, i, &stochastic, &stochastic), HU_OK);
  }
  return z;
}

static void use_net(t_digest *digest, const small_net *z) {
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule;
  hu_net_gradient_rules with;
  memset(&with, 0, sizeof with);
  with.rules = hu_gradient_rules_none();
  with.rules.clip = 0.5;
  const char *why = "";
  if (hu_net_status(z->net, &why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_loss_rule_parse(&rule, "static(100)", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  assert_int_equal(hu_net_initialize(z->net, 3), HU_OK);
  add_word(digest, hu_net_digest(z->net));
  for (int step = 0; step < 3; step++) {
    hu_update_counts counts = {0, 0};
    float loss;
    assert_int_equal(hu_net_feed(z->net, z->in, step == 2 ? small : normal + 7 * step), HU_OK);
    assert_int_equal(hu_net_labels(z->net, classes), HU_OK);
    assert_int_equal(hu_net_forward(z->net, 1, &loss), HU_OK);
    ADD(digest, loss);
    assert_int_equal(hu_net_backward(z->net, scale.scale), HU_OK);
    assert_int_equal(hu_net_update_with(z->net, &optimizer, &rule, &scale, &with, &counts, NULL), HU_OK);
    ADD(digest, counts);
    ADD(digest, with.norms.norm);
    add_word(digest, hu_net_digest(z->net));
  }
  /* Numbers that are 0 where subnormals are none. */
  const double tiny[] = {1e-320, 0};
  for (int i = 0; i < 2; i++) {
    optimizer = hu_optimizer_sgd(hu_binary32());
    with.rules.clip = tiny[i];
    optimizer.momentum = tiny[!i];
    assert_int_equal(hu_net_forward(z->net, 1, NULL), HU_OK);
    assert_int_equal(hu_net_backward(z->net, scale.scale), HU_OK);
    add_word(digest, (uint64_t)hu_net_update_with(z->net, &optimizer, &rule, &scale, &with, NULL, NULL));
    add_word(digest, hu_net_digest(z->net));
  }
}

static void job_net(t_digest *digest) {
  small_net z = make_net(1);
  use_net(digest, &z);
  hu_net_free(z.net);
}

/* ---- runs ---- */

#define PAIRS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

static hu_trainer *begun(const char *const *common, const char *const *pairs) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_trainer *trainer = hu_trainer_new();
  for (; common && *common; common += 2)
    if (hu_trainer_set(trainer, common[0], common[1], why) != HU_OK) fail_msg("%s", why);
  for (; *pairs; pairs += 2)
    if (hu_trainer_set(trainer, pairs[0], pairs[1], why) != HU_OK) fail_msg("%s", why);
  if (hu_trainer_begin(trainer, folder, why) != HU_OK) fail_msg("%s", why);
  return trainer;
}

static void add_report(t_digest *digest, const hu_trainer_report *report) {
  const double numbers[] = {report->loss, report->rate, report->norm, report->low};
  ADD(digest, numbers);
  ADD(digest, report->scale);
  ADD(digest, report->largest);
  ADD(digest, report->updates);
  ADD(digest, report->forward);
  ADD(digest, report->backward);
}

static void add_steps(t_digest *digest, hu_trainer *trainer, size_t n) {
  for (size_t i = 0; i < n && !hu_trainer_done(trainer); i++) {
    hu_trainer_report report;
    assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
    add_report(digest, &report);
  }
}

static void add_end(t_digest *digest, hu_trainer *trainer) {
  static char state[1 << 16];
  for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
    hu_trainer_seen seen;
    assert_int_equal(hu_trainer_evaluate(trainer, on, &seen), HU_OK);
    ADD(digest, seen.loss);
    ADD(digest, seen.accuracy);
    if (seen.accuracy != seen.accuracy) ADD(digest, seen.r2);
  }
  hu_trainer_memory memory = hu_trainer_memory_of(trainer);
  ADD(digest, memory);
  assert_true(hu_trainer_state(trainer, state, sizeof state) < sizeof state);
  add_text(digest, state);
  add_word(digest, hu_trainer_digest(trainer));
}

/* Begun, stopped after half of its steps, gone on with, looked at: all in one environment. */
static void whole_run(t_digest *digest, const char *const *pairs) {
  static char state[1 << 16], why[HU_DATA_WHY_MAX];
  static float numbers[20000];
  const char *const common[] = {
      "data.set", "gratings",  "data.count", "16",        "data.test",          "8", "data.size", "6", "run.batch",
      "8",        "run.steps", "4",          "model.net", "conv(channels=2/3)", NULL};
  hu_trainer *trainer = begun(common, pairs), *again = begun(common, pairs);
  add_steps(digest, trainer, 2);
  assert_true(hu_trainer_state(trainer, state, sizeof state) < sizeof state);
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor x = hu_trainer_tensor_at(trainer, i);
    assert_true(x.rows * x.cols <= sizeof numbers / sizeof *numbers);
    assert_int_equal(hu_trainer_read(trainer, i, numbers), HU_OK);
    assert_int_equal(hu_trainer_write(again, i, numbers), HU_OK);
  }
  if (hu_trainer_resume(again, state, why) != HU_OK) fail_msg("%s", why);
  add_steps(digest, again, 100);
  add_end(digest, again);
  hu_trainer_free(trainer);
  hu_trainer_free(again);
}

static void job_run_plain(t_digest *digest) { whole_run(digest, PAIRS("optimizer.rate", "0.1")); }
static void job_run_subnormal(t_digest *digest) {
  whole_run(digest, PAIRS("optimizer.rate", "1e-39", "optimizer.momentum", "0.9"));
}
static void job_run_fp16(t_digest *digest) {
  whole_run(digest, PAIRS("precision.system", "fp16", "loss.scale", "gradscaler(init_scale=2^30,backoff_factor=0.3)",
                          "optimizer.schedule", "cosine"));
}
static void job_run_bfloat16(t_digest *digest) {
  whole_run(digest,
            PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16",
                  "optimizer.update", "kahan", "optimizer.kind", "adamw", "optimizer.beta2", "0.99"));
}
static void job_run_s2fp8(t_digest *digest) {
  whole_run(digest, PAIRS("precision.system", "s2fp8", "loss.power", "9", "gradient.clip", "0.3"));
}
static void job_run_nvfp4(t_digest *digest) {
  whole_run(digest, PAIRS("precision.system", "nvfp4", "loss.scale", "largest", "gradient.penalty", "l2"));
}
static void job_run_chunks(t_digest *digest) {
  whole_run(digest, PAIRS("precision.system", "wang2018", "loss.scale", "static(1000)", "gradient.larc", "clip"));
}
static void job_run_accumulated(t_digest *digest) {
  whole_run(digest, PAIRS("run.batch", "5", "run.accumulate", "3", "model.net", "mlp(layers=1,units=9,dropout=0.3)",
                          "loss.scale", "exponential(start=0.3,factor=1.7,every=2)", "optimizer.nesterov", "yes",
                          "optimizer.momentum", "0.7"));
}
static void job_run_assignment(t_digest *digest) {
  whole_run(digest, PAIRS("assignment.kind", "demote", "assignment.promote", "0.0001", "assignment.low_forward",
                          "fp(3,2,0):finite,sat=finite", "loss.scale", "logmax"));
}
static void job_run_regression(t_digest *digest) {
  whole_run(digest, PAIRS("data.set", "teacher", "model.net", "mlp(layers=1,units=7,activation=tanh)", "data.deviation",
                          "3.3"));
}
static void job_run_text(t_digest *digest) {
  whole_run(digest, PAIRS("data.set", "text", "model.net", "transformer(units=8,hidden=8)", "run.batch", "2",
                          "data.window", "8", "optimizer.schedule", "drop(0.5,0.1)"));
}
/* A loss scale that is subnormal from the second step on: in the state's text, too. */
static void job_run_tiny_scale(t_digest *digest) {
  whole_run(digest, PAIRS("precision.system", "fp16", "run.batch", "2", "loss.scale",
                          "gradscaler(init_scale=2^20,backoff_factor=1e-44)"));
}

/* ---- experiments ---- */

static int go_on(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  (void)context, (void)done, (void)of, (void)row;
  return 1;
}

static void experiment(t_digest *digest, const char *name) {
  const char *const pairs[] = {"run.steps", "2", NULL};
  const hu_experiment_options how = {folder, pairs, go_on, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX] = "";
  if (hu_experiment_run(&report, name, &how, why) != HU_OK) fail_msg("%s: %s", name, why);
  for (size_t i = 0; i < report.rows; i++) {
    add_word(digest, report.row[i].digest);
    ADD(digest, report.row[i].loss);
    ADD(digest, report.row[i].lost);
    if (report.row[i].keys) add_text(digest, report.row[i].keys);
  }
  for (size_t i = 0; i < report.claims; i++) add_text(digest, report.claim[i].text);
  for (size_t i = 0; i < report.figures; i++) {
    for (size_t k = 0; k < report.figure[i].count; k++) {
      const hu_experiment_series *series = &report.figure[i].series[k];
      add_bytes(digest, series->y, series->count * sizeof *series->y);
    }
  }
  hu_experiment_report_free(&report);
}

static void job_experiments(t_digest *digest) {
  experiment(digest, "fp16-loss-scale");
  experiment(digest, "s2fp8");
  experiment(digest, "least-squares");
  experiment(digest, "automatic-loss-scale");
}

static void test_jobs(void **state) {
  (void)state;
  static const job jobs[] = {JOB(model_build, 0),    JOB(net_building, 0),    JOB(net, 1),
                             JOB(run_plain, 1),      JOB(run_subnormal, 1),   JOB(run_fp16, 1),
                             JOB(run_bfloat16, 1),   JOB(run_s2fp8, 1),       JOB(run_nvfp4, 1),
                             JOB(run_chunks, 1),     JOB(run_accumulated, 1), JOB(run_assignment, 1),
                             JOB(run_regression, 0), JOB(run_text, 1),        JOB(run_tiny_scale, 0),
                             JOB(experiments, 0)};
  assert_int_equal(run_jobs(jobs, sizeof jobs / sizeof *jobs), 0);
}

/* ---- threads ---- */

enum { WIDE = 256, LARGE = 256 };
static float batch[LARGE * WIDE];

static hu_net *large_net(uint32_t threads, int *in) {
  hu_net *net = hu_net_new(LARGE, threads);
  *in = hu_net_input(net, 1, WIDE);
  int y = hu_net_gelu(net, hu_net_batch_norm(net, hu_net_linear(net, *in, WIDE, 1)));
  (void)hu_net_squared_error(net, hu_net_linear(net, y, WIDE, 1), 1);
  assert_int_equal(hu_net_initialize(net, 3), HU_OK);
  return net;
}

static void large_step(t_digest *digest, hu_net *net, int in) {
  hu_optimizer optimizer = hu_optimizer_adamw(hu_binary32());
  hu_loss_rule rule;
  assert_int_equal(hu_loss_rule_parse(&rule, "none", NULL), HU_OK);
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  assert_int_equal(hu_net_feed(net, in, batch), HU_OK);
  assert_int_equal(hu_net_targets(net, batch), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  assert_int_equal(hu_net_update(net, &optimizer, &rule, &scale, NULL, NULL), HU_OK);
  add_word(digest, hu_net_digest(net));
}

/* A net whose threads begin in one environment, and that is stepped in the next one and in its first one. */
static void test_threads(void **state) {
  (void)state;
  t_digest one = {0}, digest;
  int in;
  for (size_t i = 0; i < LARGE * WIDE; i++) batch[i] = normal[i % COUNT];
  hu_net *net = large_net(1, &in);
  for (int i = 0; i < 3; i++) large_step(&one, net, in);
  hu_net_free(net);
  for (int which = 0; which < ENVIRONMENTS; which++) {
    fenv_t mine;
    fegetenv(&mine);
    enter_environment(which);
    net = large_net(3, &in);
    fesetenv(&mine);
    digest.h = 0;
    enter_environment((which + 1) % ENVIRONMENTS);
    large_step(&digest, net, in);
    fesetenv(&mine);
    large_step(&digest, net, in);
    large_step(&digest, net, in);
    hu_net_free(net);
    if (digest.h != one.h) fail_msg("threads begun in: %s", environment_names[which]);
  }
}

/* A callback has the caller's environment, and what it does to it stays. */
static int seen_direction;
static int look(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  (void)context, (void)of, (void)row;
  seen_direction = fegetround();
  if (done == 1) fesetround(FE_DOWNWARD);
  return done < 2;
}

static void test_callback(void **state) {
  (void)state;
  const char *const pairs[] = {"run.steps", "1", NULL};
  const hu_experiment_options how = {folder, pairs, look, NULL, NULL, 0, NULL};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX];
  fesetround(FE_UPWARD);
  hu_status status = hu_experiment_run(&report, "s2fp8", &how, why);
  int after = fegetround();
  fesetround(FE_TONEAREST);
  assert_int_equal(status, HU_E_TRAIN);
  assert_int_equal(seen_direction, FE_DOWNWARD);
  assert_int_equal(after, FE_DOWNWARD);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_callback)};
  return cmocka_run_group_tests(tests, prepare, NULL);
}
