/* SPDX-License-Identifier: MIT */
/* Clicks: Criteo's format number by number and what is refused of it; made ones against their definition; runs.
 * Argument: the folder with the shipped data. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"
#include "train/data/file.h"

enum { ALL = 39 };
#define TEN "a\tb\tc\td\te\tf\t10\t11\t12\t13\t"
#define LINE "1\t0\t1\t-2\t\t1000000\t6\t7\t8\t9\t10\t11\t12\t13\t68fd1e64\t\tFFFFFFFF\t" TEN TEN "1\t2\t3\n"

static hu_bytes bytes(const char *text) { return (hu_bytes){"day", (const uint8_t *)text, strlen(text)}; }

static void test_lines(void **state) {
  (void)state;
  const hu_bytes file =
      bytes(LINE "0\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\r\n");
  hu_data data;
  if (hui_criteo_read(&data, &file, 1000, why) != HU_OK) fail_msg("%s", why);
  assert_true(data.count == 2 && data.classes == 2 && data.labels[0] == 1 && data.labels[1] == 0 &&
              hu_data_features(&data) == ALL);
  const double integers[13] = {0, 1, 0, 0, 1000000, 6, 7, 8, 9, 10, 11, 12, 13};
  for (size_t i = 0; i < 13; i++) assert_true(fabs((double)data.x[i] - log(1 + integers[i])) < 1e-6);
  assert_int_equal(t_bits32(data.x[0]), 0);
  assert_true(data.x[13] == (float)(1 + 0x68fd1e64u % 999) && data.x[14] == 1000 &&
              data.x[15] == (float)(2001 + 0xFFFFFFFFu % 999));
  assert_true(data.x[16] == 3000 + 11 && data.x[22] == 9000 + 17 && data.x[38] == 25000 + 4);
  for (size_t i = 0; i < 13; i++) assert_int_equal(t_bits32(data.x[ALL + i]), 0);
  for (size_t f = 0; f < 26; f++) assert_true(data.x[ALL + 13 + f] == (float)(1000 * f));
  hu_data_free(&data);
}

static void refused(const char *text, const char *sentence) {
  const hu_bytes file = bytes(text);
  hu_data data;
  t_fill_pattern(&data, sizeof data);
  *why = 0;
  assert_int_equal(hui_criteo_read(&data, &file, 100, why), HU_E_DATA);
  assert_string_equal(why, sentence);
  assert_true(t_is_pattern(&data, sizeof data));
}

static void test_refused(void **state) {
  (void)state;
  refused("", "day: size: the file is empty");
  refused("\x1F\x8B\x08", "day: content: compressed by gzip; unpack it first");
  refused("\n", "day: line 1: fields between tabs: 1, not 40");
  refused(LINE "1\t2\t3\n", "day: line 2: fields between tabs: 3, not 40");
  refused(LINE LINE "2" LINE, "day: label of line 3: neither 0 nor 1");
  char text[] = LINE, longer[sizeof text + 32];
  text[2] = 'x';
  refused(text, "day: integer 1 of line 1: not a whole number of up to 18 digits");
  strcpy(text, LINE);
  strchr(text, 'F')[0] = 'g';
  refused(text, "day: category 3 of line 1: not up to 8 hexadecimal digits");
  snprintf(longer, sizeof longer, "1\t1234567890123456789%s", &(LINE)[3]);
  refused(longer, "day: integer 1 of line 1: not a whole number of up to 18 digits");
  hu_data data;
  assert_int_equal(hu_data_load_criteo(&data, "/nonexistent", 100, why), HU_E_FILE);
  assert_int_equal(hu_data_load_criteo(&data, "/nonexistent", 1, why), HU_E_SHAPE);
  assert_int_equal(hu_data_load_criteo(&data, "/nonexistent", 645278, why), HU_E_SHAPE);
  assert_int_equal(hu_data_load_criteo(NULL, "/nonexistent", 100, why), HU_E_NULL);
}

/* Labels are what the definition says, with weights drawn here; a test set is a later part of the same sequence. */
static void test_made(void **state) {
  (void)state;
  const hu_clicks what = {200, 3, 4, 10, 2, 0.25f};
  const hu_stream truth = hu_stream_of_use(5, HU_USE_TRUTH), noise = hu_stream_of_use(5, HU_USE_NOISE);
  float dense[3], row[40], hidden[80];
  hu_data data, later;
  hu_init_normal(3, dense, 1, 3, hu_stream_child(truth, 0));
  hu_init_normal(40, row, 1, 4, hu_stream_child(truth, 1));
  hu_init_normal(80, hidden, 1, 2, hu_stream_child(truth, 2));
  assert_int_equal(hu_data_clicks(&data, 7, &what, 5), HU_OK);
  size_t ones = 0;
  for (size_t i = 0; i < data.count; i++) {
    const float *x = data.x + 7 * i;
    float e;
    hu_normal_n(1, &e, 0.25f, hu_stream_child(noise, 7 + i));
    double z = (double)e;
    for (int k = 0; k < 3; k++) z += (double)x[k] * (double)dense[k];
    for (int f = 0; f < 4; f++) {
      size_t token = (size_t)x[3 + f];
      assert_true(token >= (size_t)f * 10 && token < (size_t)f * 10 + 10);
      z += (double)row[token];
      for (int g = f + 1; g < 4; g++) {
        for (int k = 0; k < 2; k++) z += (double)hidden[2 * token + k] * (double)hidden[2 * (size_t)x[3 + g] + k];
      }
    }
    if (fabs(z) > 1e-9) assert_int_equal(data.labels[i], z > 0);
    ones += data.labels[i];
  }
  assert_true(ones > 50 && ones < 150);
  hu_clicks part = what;
  part.count = 50;
  assert_int_equal(hu_data_clicks(&later, 107, &part, 5), HU_OK);
  assert_memory_equal(later.x, data.x + 700, 50 * 7 * sizeof *data.x);
  assert_memory_equal(later.labels, data.labels + 100, 50 * sizeof *data.labels);
  hu_data_free(&data);
  hu_data_free(&later);
  part.rows = (1 << 24) / 4 + 1;
  assert_int_equal(hu_data_clicks(&data, 0, &part, 5), HU_E_SHAPE);
  part = what;
  part.noise = NAN;
  assert_int_equal(hu_data_clicks(&data, 0, &part, 5), HU_E_SHAPE);
  assert_int_equal(hu_data_clicks(NULL, 0, &what, 5), HU_E_NULL);
}

/* ---- runs ---- */

static void test_learns(void **state) {
  (void)state;
  hu_trainer *trainer =
      with(PAIRS("data.set", "clicks", "data.count", "8000", "data.vocabulary", "12", "data.categories", "4",
                 "data.features", "4", "model.net", "dlrm(units=8,bottom=16,top=16)", "run.batch", "64",
                 "optimizer.kind", "adamw", "optimizer.rate", "0.005", "run.epochs", "12"));
  hu_trainer_seen before, after;
  begin(trainer);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &before), HU_OK);
  while (!hu_trainer_done(trainer)) steps(trainer, 1);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &after), HU_OK);
  print_message("loss %.3f to %.3f, accuracy %.3f, AUC %.3f to %.3f\n", before.loss, after.loss, after.accuracy,
                before.auc, after.auc);
  assert_true(before.auc < 0.7 && after.auc > 0.9 && after.accuracy > 0.8 && isnan(after.hit));
  hu_trainer_free(trainer);
}

static void test_file(void **state) {
  (void)state;
  char dir[] = "/tmp/halfulp-clicks-XXXXXX", path[64];
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/day", dir);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  for (int i = 0; i < 25; i++) fputs(LINE, out);
  fclose(out);
  folder = dir;
#define CRITEO "data.set", "criteo", "data.path", "day", "model.net", "dlrm(units=4,bottom=8,top=8)", "run.batch", "4"
  hu_trainer *trainer = with(PAIRS(CRITEO, "data.vocabulary", "100"));
  hu_trainer_seen seen;
  begin(trainer);
  assert_int_equal(hu_trainer_steps_an_epoch(trainer), 18 / 4);
  steps(trainer, 2);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_true(isnan(seen.auc) && seen.loss > 0); /* all labels are 1 */
  hu_trainer_free(trainer);
  trainer = with(PAIRS(CRITEO, "data.vocabulary", "100", "data.test_file", "day"));
  begin(trainer);
  assert_int_equal(hu_trainer_steps_an_epoch(trainer), 25 / 4);
  hu_trainer_free(trainer);
  trainer = with(PAIRS(CRITEO));
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "data.vocabulary: 0, and criteo"));
  hu_trainer_free(trainer);
  trainer = with(PAIRS(CRITEO, "data.vocabulary", "100", "data.path", ""));
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_TRAIN);
  assert_non_null(strstr(why, "data.path"));
  hu_trainer_free(trainer);
  unlink(path);
  rmdir(dir);
}

int main(int argc, char **argv) {
  if (argc < 2) return 1;
  folder = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_made), cmocka_unit_test(test_learns),
                                     cmocka_unit_test(test_file)};
  return cmocka_run_group_tests_name("clicks", tests, NULL, NULL);
}
