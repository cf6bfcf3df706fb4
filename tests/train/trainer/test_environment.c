/* SPDX-License-Identifier: MIT */
/* Calls on arrays, records and data sets in the caller's floating-point environments (environment.h).
 *
 *   test_environment DATA        an absolute path */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/train.h"
#include "tests/support/cmocka.h"
#include "tests/support/levels.h"
#include "tests/support/support.h"
#include "tests/train/trainer/environment.h"

static const char *folder;
static float buffer[4][COUNT];

static void copy(float *z, const float *x) { memcpy(z, x, COUNT * sizeof *z); }

/* ---- calls on arrays and records ---- */

static void optimizer(t_digest *digest, const hu_optimizer *optimizer, const float *w, const float *g) {
  hu_optimizer_time now = {0, 1, 1};
  hu_update_counts counts = {0, 0};
  const int v = optimizer->kind != HU_SGD, m = optimizer->kind != HU_ADAGRAD;
  const char *why = NULL;
  hu_stream words = {5, 6};
  copy(buffer[0], w);
  memset(buffer[1], 0, sizeof buffer[1]);
  memset(buffer[2], 0, sizeof buffer[2]);
  memset(buffer[3], 0, sizeof buffer[3]);
  add_word(digest, (uint64_t)hu_optimizer_check(optimizer, &why));
  hu_optimizer_arrays x = {buffer[0], g, m ? buffer[1] : NULL, v ? buffer[2] : NULL,
                           optimizer->update == HU_UPDATE_KAHAN ? buffer[3] : NULL};
  for (int i = 0; i < 3; i++) {
    hu_optimizer_tick(&now, optimizer);
    add_word(digest, (uint64_t)hu_optimizer_step(COUNT, &x, optimizer, &now, words, &counts));
  }
  ADD(digest, buffer);
  ADD(digest, now.power1);
  ADD(digest, now.power2);
  ADD(digest, counts);
}

static void job_optimizers(t_digest *digest) {
  const hu_mode stochastic = t_stochastic(HU_SRA, 8);
  hu_optimizer o = hu_optimizer_sgd(hu_binary32());
  o.rate = 0.3;
  o.decay = 0.01;
  optimizer(digest, &o, normal, normal);
  optimizer(digest, &o, small, small);
  o.fused = 1;
  optimizer(digest, &o, small, normal);
  o.nesterov = 1;
  optimizer(digest, &o, normal, small);
  o = hu_optimizer_adagrad(hu_binary32());
  o.eps = 0x1p-140;
  optimizer(digest, &o, normal, small);
  optimizer(digest, &o, small, normal);
  o = hu_optimizer_sgd(hu_bfloat16());
  o.weight = hu_binary32();
  o.mode = stochastic;
  optimizer(digest, &o, normal, small);
  o = hu_optimizer_adamw(hu_binary32());
  o.decay = 0.01;
  optimizer(digest, &o, normal, small);
  optimizer(digest, &o, normal, wild);
  o = hu_optimizer_adamw(hu_bfloat16());
  o.beta2 = 0.99;
  o.update = HU_UPDATE_KAHAN;
  optimizer(digest, &o, normal, normal);
  o.eps = (double)NAN; /* a number that is none, compared with what is allowed */
  add_word(digest, (uint64_t)hu_optimizer_check(&o, NULL));
}

static void loss_scale(t_digest *digest, const char *text) {
  hu_loss_rule rule;
  char again[HU_LOSS_RULE_TEXT_MAX] = "";
  hu_status status = hu_loss_rule_parse(&rule, text, NULL);
  add_word(digest, (uint64_t)status);
  if (status != HU_OK) return;
  const float biggest[] = {0x1.8p-9f, 0x1.23p-4f, 0x1p-140f, 0x1.99p3f, 0};
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  for (size_t i = 0; i < 40; i++) {
    hu_gradient_found found = {biggest[i % 5], i % 7 == 3};
    add_word(digest, (uint64_t)hu_loss_scale_update(&scale, &rule, found));
    ADD(digest, scale);
  }
  add_word(digest, hu_loss_rule_text(again, sizeof again, &rule));
  add_text(digest, again);
}

static void job_loss_scales(t_digest *digest) {
  loss_scale(digest, "none");
  loss_scale(digest, "static(0.1)");
  loss_scale(digest, "backoff(scale_max=1000.1,step_factor=1.7,step_window=3,start=333.3)");
  loss_scale(digest, "logmax(scale_max=2^40,beta1=0.9,overflow_std_dev=1.1)");
  loss_scale(digest, "logmax(scale_min=1e-30,scale_max=2^100,literal)");
  loss_scale(digest, "logmax(overflow_std_dev=1e-320)"); /* equal to a usual number where subnormals are none */
  loss_scale(digest, "gradscaler(init_scale=1e-37,growth_factor=1.3,backoff_factor=0.011,growth_interval=2)");
  loss_scale(digest, "gradscaler(init_scale=0)");
  loss_scale(digest, "exponential(start=1e-37,factor=1.3,every=3,scale_max=2e-37)");
}

static void job_loss_rules(t_digest *digest) {
  hu_loss_rule rule;
  memset(&rule, 0, sizeof rule);
  rule.kind = HU_LOSS_STATIC;
  const float first[] = {0x1p-140f, 0x1p-126f, NAN, 1};
  for (size_t i = 0; i < 4; i++) {
    rule.start = first[i];
    add_word(digest, (uint64_t)hu_loss_rule_check(&rule, NULL));
  }
}

static void job_unscale(t_digest *digest) {
  const float scales[] = {3, 0x1.8p100f, 0x1p-149f};
  for (size_t i = 0; i < 3; i++) {
    hu_gradient_found found = {0, 0};
    copy(buffer[0], i ? small : normal);
    hu_gradient_unscale_n(COUNT, buffer[0], scales[i], &found);
    ADD(digest, buffer[0]);
    ADD(digest, found.amax); /* the record has bytes that belong to no field */
    add_word(digest, found.bad);
  }
}

static void job_scale_of_gmax(t_digest *digest) {
  const float big[] = {0x1p-149f, 0x1.8p-130f, 1, NAN};
  for (size_t i = 0; i < 4; i++) {
    float scale = hu_loss_scale_of_gmax(big[i], 65504, 1);
    ADD(digest, scale);
  }
}

static void job_penalties(t_digest *digest) {
  const double lambda[] = {1e-5, 1e-320, (double)NAN, -1e-320};
  for (size_t i = 0; i < 4; i++) {
    hu_penalty penalty = {HU_PENALTY_L2, lambda[i]};
    add_word(digest, (uint64_t)hu_penalty_check(&penalty, NULL));
    hu_gradient_rules rules = hu_gradient_rules_none();
    rules.clip = lambda[i];
    rules.larc = HU_LARC_CLIP;
    add_word(digest, (uint64_t)hu_gradient_rules_check(&rules, NULL));
  }
}

static void job_gradients(t_digest *digest) {
  hu_gradient_rules rules = hu_gradient_rules_none();
  rules.clip = 0.7;
  rules.larc = HU_LARC_CLIP;
  for (int i = 0; i < 4; i++) {
    hu_gradient_found found = {0, 0};
    hu_gradient_norms norms;
    rules.literal = (uint8_t)(i / 2);
    copy(buffer[0], i % 2 ? small : normal);
    copy(buffer[1], i == 3 ? wild : normal);
    hu_gradient_tensor x[] = {{COUNT, buffer[0], normal, {HU_PENALTY_L2, 0.1}, 0},
                              {COUNT, buffer[1], small, {HU_PENALTY_L1, 1e-40}, 0}};
    add_word(digest, (uint64_t)hu_gradient_prepare(2, x, &rules, 3, 0.1, &found, &norms));
    ADD(digest, buffer[0]);
    ADD(digest, buffer[1]);
    ADD(digest, found.amax); /* the record has bytes that belong to no field */
    add_word(digest, found.bad);
    ADD(digest, norms.norm);
    add_word(digest, norms.smaller);
  }
}

static void job_squares(t_digest *digest) {
  const double sums[] = {hu_gradient_squares_n(COUNT, normal), hu_gradient_squares_n(COUNT, small)};
  ADD(digest, sums);
}

static void job_gather(t_digest *digest) {
  copy(buffer[0], small);
  hu_gradient_gather_n(COUNT, buffer[0], small, 3);
  hu_gradient_gather_n(COUNT, buffer[0], normal, 7);
  ADD(digest, buffer[0]);
}

static void job_roundings(t_digest *digest) {
  static const char *const texts[] = {"keep",
                                      "bfloat16",
                                      "float8_e5m2,sra:8",
                                      "fp(5,2,0):finite,over=inf",
                                      "mxfp4",
                                      "nvfp4",
                                      "s2fp8",
                                      "posit8",
                                      "fp(4,3,4):finite,nan=keep",
                                      "fp8_tensor"};
  const float *const from[] = {normal, small, wild};
  for (size_t i = 0; i < 3 * sizeof texts / sizeof *texts; i++) {
    hu_rounding rounding;
    uint64_t first = 0;
    if (hu_rounding_parse(&rounding, texts[i / 3], NULL) != HU_OK) fail_msg("%s", texts[i / 3]);
    for (size_t k = 0; k < t_levels(); k++) {
      hu_exec exec;
      hu_rounding_counts counts;
      t_digest one = {1};
      memset(&exec, 0, sizeof exec);
      memset(&counts, 0, sizeof counts);
      exec.levels_off = t_levels_off(k);
      hu_status status = hu_rounding_apply(15, 100, buffer[0], from[i % 3], &rounding, &exec, &counts);
      add_word(&one, (uint64_t)status);
      if (status == HU_OK) ADD(&one, buffer[0]);
      ADD(&one, counts);
      if (k == 0) first = one.h;
      if (one.h != first) fail_msg("%s: not the same on all levels", texts[i / 3]);
    }
    add_word(digest, first);
  }
}

static void job_exponents(t_digest *digest) {
  uint64_t z[HU_EXPONENTS] = {0};
  hu_exponents_of(COUNT, normal, z);
  hu_exponents_of(COUNT, small, z);
  hu_exponents_of(COUNT, wild, z);
  ADD(digest, z);
}

/* ---- data ---- */

static void job_random_numbers(t_digest *digest) {
  const hu_stream stream = {7, 9};
  hu_uniform_n(COUNT, buffer[0], 0.1f, 0.7f, stream);
  hu_uniform_n(COUNT, buffer[1], 0, 0x1p-130f, stream);
  ADD(digest, buffer[0]);
  ADD(digest, buffer[1]);
  hu_normal_n(COUNT, buffer[0], 0.3f, stream);
  hu_normal_n(COUNT, buffer[1], 0x1p-130f, stream);
  ADD(digest, buffer[0]);
  ADD(digest, buffer[1]);
}

static void job_first_weights(t_digest *digest) {
  const hu_stream stream = {7, 9};
  hu_init_normal(COUNT, buffer[0], 2, 7, stream);
  hu_init_uniform(COUNT, buffer[1], 7, stream);
  ADD(digest, buffer[0]);
  ADD(digest, buffer[1]);
}

static void add_data(t_digest *digest, hu_status status, hu_data *x) {
  add_word(digest, (uint64_t)status);
  if (status != HU_OK) return;
  add_bytes(digest, x->x, x->count * hu_data_features(x) * sizeof *x->x);
  if (x->y) add_bytes(digest, x->y, x->count * x->targets * sizeof *x->y);
  if (x->labels) add_bytes(digest, x->labels, x->count * sizeof *x->labels);
  hu_data_free(x);
}

static void job_generators(t_digest *digest) {
  hu_data x;
  hu_format grid = hu_bfloat16();
  hu_least_squares lines = hu_least_squares_default();
  lines.count = 60;
  lines.noise = 0x1p-130f;
  add_data(digest, hu_data_least_squares(&x, NULL, &lines, 3), &x);
  lines.unit = 1;
  lines.grid = &grid;
  add_data(digest, hu_data_least_squares(&x, NULL, &lines, 3), &x);
  lines.noise = NAN;
  add_data(digest, hu_data_least_squares(&x, NULL, &lines, 3), &x);
}

static void job_gratings(t_digest *digest) {
  hu_data x;
  add_data(digest, hu_data_gratings(&x, 5, 12, 9, 7, 3), &x);
}

static void job_teacher(t_digest *digest) {
  hu_data x;
  hu_teacher a = hu_teacher_default();
  a.count = 60;
  add_data(digest, hu_data_teacher(&x, &a, 3), &x);
  a.deviation = 0x1p-140f;
  add_data(digest, hu_data_teacher(&x, &a, 3), &x);
}

static void job_ratings(t_digest *digest) {
  hu_data x;
  hu_ratings a = hu_ratings_default();
  a.count = 200;
  add_data(digest, hu_data_ratings(&x, 5, &a, 3), &x);
  a.noise = 0x1p-140f;
  a.labels = 1;
  add_data(digest, hu_data_ratings(&x, 5, &a, 3), &x);
}

static void job_normalise(t_digest *digest) {
  static hu_data x;
  const float mean[] = {0.1f, 0.2f, 0x1p-127f}, deviation[] = {0.3f, 3, 0x1p-127f}, wrong[] = {1, NAN, 1};
  hu_data made = {COUNT / 3, 1, 1, 3, buffer[0], 0, NULL, 0, NULL};
  x = made;
  copy(buffer[0], small);
  add_word(digest, (uint64_t)hu_data_normalise(&x, mean, deviation));
  add_word(digest, (uint64_t)hu_data_normalise(&x, mean, wrong));
  ADD(digest, buffer[0]);
}

/* A file of these bytes in the folder that the test runs in. */
static const char *file_of(const char *name, const void *bytes, size_t n) {
  FILE *file = fopen(name, "wb");
  if (!file || fwrite(bytes, 1, n, file) != n || fclose(file)) fail_msg("cannot write %s", name);
  return name;
}

/* Ten digits of subnormal pixels, which are divided by 16. */
static void write_dark_digits(void) {
  enum { PIXELS_OF_ALL = 640, HEAD = 128 };
  static uint8_t images[HEAD + 4 * PIXELS_OF_ALL], labels_of[HEAD + 10];
  static const char *const heads[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (10, 64), }",
                                      "{'descr': '|u1', 'fortran_order': False, 'shape': (10,), }"};
  uint8_t *const files[] = {images, labels_of};
  for (size_t i = 0; i < 2; i++) {
    memset(files[i], ' ', HEAD);
    memcpy(files[i], "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(files[i] + 10, heads[i], strlen(heads[i]));
    files[i][HEAD - 1] = '\n';
  }
  for (size_t i = 0; i < 4 * PIXELS_OF_ALL; i++) images[HEAD + i] = (uint8_t)(i % 4 == 3 ? 0 : 17 * i % 64);
  (void)file_of("digits_images.npy", images, sizeof images);
  (void)file_of("digits_labels.npy", labels_of, sizeof labels_of);
}

static void job_clicks(t_digest *digest) {
  static const char line[] =
      "1\t0\t1\t-2\t\t1000000\t6\t7\t8\t9\t10\t11\t12\t987654321987654321\t68fd1e64\t\tff\t1\t2\t3\t4\t5\t6\t7"
      "\t8\t9\ta\tb\tc\td\te\tf\t10\t11\t12\t13\t14\t15\t16\t17\n";
  hu_data x;
  hu_clicks a = hu_clicks_default();
  a.count = 200;
  add_data(digest, hu_data_clicks(&x, 5, &a, 3), &x);
  a.noise = 0x1p-140f;
  add_data(digest, hu_data_clicks(&x, 5, &a, 3), &x);
  add_data(digest, hu_data_load_criteo(&x, file_of("day", line, sizeof line - 1), 50, NULL), &x);
  remove("day");
}

static void job_digits(t_digest *digest) {
  hu_data x;
  write_dark_digits();
  add_data(digest, hu_data_load_digits(&x, ".", 0, NULL), &x);
  remove("digits_images.npy");
  remove("digits_labels.npy");
  add_data(digest, hu_data_load_digits(&x, folder, 0, NULL), &x);
}

static void job_npy(t_digest *digest) {
  hu_data x;
  char path[4096];
  snprintf(path, sizeof path, "%s/digits_images.npy", folder);
  add_data(digest, hu_data_load_npy(&x, path, NULL, 0, 3.3f, NULL), &x);
  add_data(digest, hu_data_load_npy(&x, path, NULL, 0, 0x1p-140f, NULL), &x);
  add_data(digest, hu_data_load_npy(&x, path, NULL, 0, NAN, NULL), &x);
}

static void job_images(t_digest *digest) {
  enum { RECORD = 3073 };
  static uint8_t cifar[2 * RECORD], hundred[RECORD + 1], images[16 + 2 * 12], labels[8 + 2];
  static const uint8_t images_head[16] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4},
                       labels_head[8] = {0, 0, 8, 1, 0, 0, 0, 2};
  hu_data x;
  for (size_t i = 0; i < sizeof cifar; i++) cifar[i] = (uint8_t)(i % RECORD ? i : 3);
  for (size_t i = 2; i < sizeof hundred; i++) hundred[i] = (uint8_t)(3 * i);
  for (size_t i = 0; i < sizeof images; i++) images[i] = i < 16 ? images_head[i] : (uint8_t)(7 * i);
  for (size_t i = 0; i < sizeof labels; i++) labels[i] = i < 8 ? labels_head[i] : (uint8_t)(i % 5);
  const char *const paths[] = {file_of("environment.cifar10", cifar, sizeof cifar)};
  add_data(digest, hu_data_load_cifar10(&x, paths, 1, NULL), &x);
  const char *const others[] = {file_of("environment.cifar100", hundred, sizeof hundred)};
  add_data(digest, hu_data_load_cifar100(&x, others, 1, 0, NULL), &x);
  add_data(digest,
           hu_data_load_idx(&x, file_of("environment.images", images, sizeof images),
                            file_of("environment.labels", labels, sizeof labels), 10, 0, NULL),
           &x);
  remove(paths[0]);
  remove(others[0]);
  remove("environment.images");
  remove("environment.labels");
}

/* ---- texts ---- */

static void job_models(t_digest *digest) {
  static const char *const texts[] = {"resnet(width=0.3)",     "conv(channels=3/5,width=1.1)",
                                      "lstm(deviation=0.7)",   "transformer(deviation=1e-39)",
                                      "squeezenet(width=0.1)", "mlp(layers=1e0)",
                                      "ncf(deviation=0.1)",    "resnet(width=17)",
                                      "conv(width=0)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    hu_model m;
    char text[HU_MODEL_TEXT_MAX] = "";
    hu_status status = hu_model_parse(&m, texts[i], NULL);
    add_word(digest, (uint64_t)status);
    if (status != HU_OK) continue;
    ADD(digest, m.width);
    ADD(digest, m.deviation);
    add_word(digest, hu_model_text(text, sizeof text, &m));
    add_text(digest, text);
  }
}

static void job_model_check(t_digest *digest) {
  const double width[] = {1e-320, 0x1p-1022, 1, (double)NAN};
  for (size_t i = 0; i < 4; i++) {
    hu_model m = hu_model_default(HU_MODEL_RESNET);
    m.width = width[i];
    add_word(digest, (uint64_t)hu_model_check(&m, NULL, NULL));
  }
}

/* Keys whose texts round: what they were read as shows in a run, and what is refused in the status. */
static void job_keys(t_digest *digest) {
  static const char *const numbers[] = {"0.1", "1e-320", "0.30000000000000004", "-1e-320", "1e-400"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    hu_trainer *trainer = hu_trainer_new();
    add_word(digest, (uint64_t)hu_trainer_set(trainer, "optimizer.rate", numbers[i], NULL));
    add_word(digest, (uint64_t)hu_trainer_set(trainer, "data.deviation", numbers[i], NULL));
    hu_trainer_free(trainer);
  }
}

/* ---- calls that compute with no number: they neither trap nor set a flag ---- */

static void job_records(t_digest *digest) {
  static const char *const texts[] = {"keep",         "bfloat16,sra:8", "fp(5,2,0):finite,over=inf",
                                      "nvfp4,turned", "s2fp8",          "posit8",
                                      "fp8_tensor",   "takum16",        "fp(5,2"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    hu_rounding rounding;
    add_word(digest, (uint64_t)hu_rounding_parse(&rounding, texts[i], NULL));
    if (i + 1 < sizeof texts / sizeof *texts) add_word(digest, hu_rounding_bits(15, 100, &rounding));
  }
  hu_optimizer optimizer = hu_optimizer_adamw(hu_bfloat16());
  hu_precision_rule rule;
  hu_ratio ratio;
  optimizer.beta2 = 0.99;
  add_word(digest, hu_optimizer_bytes(&optimizer));
  add_word(digest, (uint64_t)hu_precision_rule_parse(&rule, "demote(0.35,promote=1/3)", NULL));
  add_word(digest, (uint64_t)hu_ratio_parse(&ratio, "0.35"));
  add_word(digest, ratio.num);
}

static void job_order(t_digest *digest) {
  hu_batches b;
  hu_stream stream = {3, 4};
  const float edge[] = {0x1p-140f};
  const hu_augmentation varied = {5, 5, 1, 2, 1, edge};
  const hu_batch_state start = {1, 0, 0};
  add_word(digest, (uint64_t)hu_batches_open(&b, 20, 3, start));
  for (int i = 0; i < 9; i++) add_bytes(digest, hu_batches_next(&b), 3 * sizeof(uint32_t));
  hu_batches_free(&b);
  add_word(digest, hu_stream_below(&stream, 1000));
  add_word(digest, (uint64_t)hu_augment(3, buffer[0], wild, &varied, stream));
  add_bytes(digest, buffer[0], 75 * sizeof(float));
}

static void test_jobs(void **state) {
  (void)state;
  static const job jobs[] = {JOB(optimizers, 1),    JOB(loss_scales, 0), JOB(loss_rules, 0), JOB(unscale, 0),
                             JOB(scale_of_gmax, 0), JOB(penalties, 0),   JOB(gradients, 0),  JOB(squares, 0),
                             JOB(gather, 0),        JOB(roundings, 0),   JOB(exponents, 0),  JOB(random_numbers, 0),
                             JOB(first_weights, 0), JOB(generators, 0),  JOB(gratings, 0),   JOB(teacher, 0),
                             JOB(ratings, 0),       JOB(clicks, 0),      JOB(normalise, 0),  JOB(digits, 0),
                             JOB(npy, 0),           JOB(images, 0),      JOB(models, 0),     JOB(model_check, 0),
                             JOB(keys, 0),          JOB(records, 0),     JOB(order, 0)};
  make_numbers();
  assert_int_equal(run_jobs(jobs, sizeof jobs / sizeof *jobs), 0);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  char own[] = "/tmp/halfulp-environment-XXXXXX"; /* for the files that are loaded */
  if (!mkdtemp(own) || chdir(own)) return 2;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(own) ? 2 : failed;
}
