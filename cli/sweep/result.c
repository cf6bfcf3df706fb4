/* SPDX-License-Identifier: MIT */
/* The result of a run, as the last column of the ledger has it: see cli/sweep/pairs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/sweep/sweep.h"

static const char *const numbers[] = {"low_mean",    "low_end",      "bytes_weights",
                                      "bytes_state", "bytes_values", "bytes_gradients"};
static const char *const counts[] = {"steps", "skipped", "promoted"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, COUNTS = sizeof counts / sizeof *counts };

static void list_numbers(double *place[NUMBERS], sweep_result *result) {
  double *const all[NUMBERS] = {&result->low,      &result->low_end,  &result->bytes[0],
                                &result->bytes[1], &result->bytes[2], &result->bytes[3]};
  memcpy(place, all, sizeof all);
}

static void list_counts(uint64_t *place[COUNTS], sweep_result *result) {
  uint64_t *const all[COUNTS] = {&result->steps, &result->skipped, &result->promoted};
  memcpy(place, all, sizeof all);
}

/* Writes "accuracy_test", or "accuracy_training". */
static const char *figure_name(char text[40], int measure, int on) {
  snprintf(text, 40, "%s_%s", sweep_measures[measure].name, on == HU_ON_TEST ? "test" : "training");
  return text;
}

/* ---- writing ---- */

static void print_number(FILE *out, const char *name, double x) {
  fprintf(out, "\"%s\": ", name);
  cli_json_known(out, x);
  fputs(", ", out);
}

static void print_keys(FILE *out, const hu_trainer *trainer) {
  const char *before = "";
  fputs("\"keys\": {", out);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    if (!key.weights) continue;
    fprintf(out, "%s\"%s\": ", before, key.name);
    cli_json_string(out, hu_trainer_get(trainer, key.name));
    before = ", ";
  }
  fputs("}", out);
}

char *sweep_result_text(const sweep_setup *sweep, const sweep_run *run) {
  char *text = NULL;
  size_t size = 0;
  sweep_result result = run->result;
  double *number[NUMBERS];
  uint64_t *whole[COUNTS];
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  list_numbers(number, &result);
  list_counts(whole, &result);
  fputs("{", out);
  sweep_json_text(out, "key", sweep->key);
  sweep_json_text(out, "value", run->value);
  fprintf(out, "\"seed\": %llu, ", (unsigned long long)run->seed);
  sweep_json_text(out, "measure", result.classes ? "accuracy" : "R^2");
  for (int i = 0; i < COUNTS; i++) fprintf(out, "\"%s\": %llu, ", counts[i], (unsigned long long)*whole[i]);
  for (int i = 0; i < SWEEP_MEASURES; i++) {
    char name[40];
    for (int on = 0; on < 2; on++) print_number(out, figure_name(name, i, on), result.figure[i][on]);
  }
  for (int i = 0; i < NUMBERS; i++) print_number(out, numbers[i], *number[i]);
  print_keys(out, run->trainer);
  fputs("}", out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

/* ---- reading ---- */

int sweep_result_read(sweep_result *result, const job_entry *entry) {
  cli_pairs pairs;
  double *number[NUMBERS];
  uint64_t *whole[COUNTS];
  list_numbers(number, result);
  list_counts(whole, result);
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return 0;
  const char *measure = cli_pairs_get(&pairs, "measure");
  int good = measure != NULL;
  result->classes = measure && strcmp(measure, "accuracy") == 0;
  result->digest = strtoull(entry->field[JOB_DIGEST], NULL, 16);
  result->seconds = strtod(entry->field[JOB_SECONDS], NULL);
  for (int i = 0; good && i < COUNTS; i++) good = cli_pairs_whole(&pairs, counts[i], 10, whole[i]);
  for (int i = 0; i < 2 * SWEEP_MEASURES; i++) {
    char name[40];
    good = good && cli_pairs_number(&pairs, figure_name(name, i / 2, i % 2), &result->figure[i / 2][i % 2]);
  }
  for (int i = 0; good && i < NUMBERS; i++) good = cli_pairs_number(&pairs, numbers[i], number[i]);
  cli_pairs_free(&pairs);
  return good;
}
