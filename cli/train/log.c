/* SPDX-License-Identifier: MIT */
/* What a training run writes down as it goes: log.csv and log.jsonl, evaluations.csv, exponents.csv. See train.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/train/ranks.h"
#include "cli/train/tensors.h"
#include "cli/train/train.h"

static const char *const log_names[LOG_COLUMNS] = {
    "step",
    "epoch",
    "loss",
    "rate",
    "scale",
    "largest_gradient",
    "taken",
    "skipped",
    "moved",
    "lost",
    "forward_elements",
    "forward_over",
    "forward_inexact",
    "forward_overflow",
    "forward_saturated",
    "forward_underflow",
    "forward_to_zero",
    "forward_nan_in",
    "backward_elements",
    "backward_over",
    "backward_inexact",
    "backward_overflow",
    "backward_saturated",
    "backward_underflow",
    "backward_to_zero",
    "backward_nan_in",
    "low",
    "promoted",
};

static const char *const over_names[OVER_COLUMNS] = {"step",     "share_1",  "share_2",  "share_3",
                                                     "share_4",  "share_5",  "tensor_1", "tensor_2",
                                                     "tensor_3", "tensor_4", "tensor_5"};

/* Begins the tables of single tensors; the second one only where there are some. */
static int start_tensors(train_run *run) {
  char *over = train_path(run, "overflows.csv"), *path = run->follows ? train_path(run, "followed.csv") : NULL;
  table_start(&run->over, over_names, OVER_COLUMNS, over, NULL);
  table_start(&run->followed, (const char *const *)run->follow_names, 1 + FOLLOW_COLUMNS * run->follows, path, NULL);
  if (!over || (run->follows && !path) || train_history_start(run) != CLI_OK) return CLI_BAD;
  return train_tensors_list(run);
}

static int start(train_run *run) {
  char *log = train_path(run, "log.csv"), *json = train_path(run, "log.jsonl"),
       *seen = train_path(run, "evaluations.csv");
  table_start(&run->log, log_names, LOG_COLUMNS, log, json);
  table_start(&run->seen, run->seen_names, train_seen_names(run, run->seen_names), seen, NULL);
  return log && json && seen ? start_tensors(run) : CLI_BAD;
}

int train_log_begin(train_run *run) {
  int status = start(run);
  if (status == CLI_OK) status = table_create(&run->log);
  if (status == CLI_OK) status = table_create(&run->over);
  if (status == CLI_OK && run->follows) status = table_create(&run->followed);
  if (status == CLI_OK && run->follow_every) status = table_create(&run->history);
  return status == CLI_OK ? table_create(&run->seen) : status;
}

/* Continues a table. A checkpoint knows how many rows there were: nothing of a log that lost some is written again. */
static int resume_table(table *data, double at, uint64_t rows) {
  int status = table_read_back(data, at);
  if (status != CLI_OK) return status;
  if (data->rows >= rows) return CLI_OK;
  return cli_fail(data->csv, "has %zu rows up to the checkpoint's step %.0f, where there were %llu", data->rows, at,
                  (unsigned long long)rows);
}

/* Forgets the end of the run, which continues behind it. */
static void forget_end(train_totals *totals) {
  totals->samples -= totals->end_samples;
  totals->seen -= totals->end_seen;
  totals->end_samples = totals->end_seen = 0;
  memset(totals->end_gradients, 0, sizeof totals->end_gradients);
  memset(totals->end_weight_gradients, 0, sizeof totals->end_weight_gradients);
}

int train_log_resume(train_run *run, uint64_t at) {
  train_totals *totals = &run->totals;
  int more = !hu_trainer_done(run->trainer), status = start(run);
  double log_to = (double)at - (more && totals->end_samples ? 1 : 0),
         seen_to = (double)at - (more && totals->end_seen ? 1 : 0);
  if (more) forget_end(totals);
  if (status == CLI_OK) status = resume_table(&run->log, log_to, totals->samples);
  if (status == CLI_OK) status = resume_table(&run->over, log_to, totals->samples);
  if (status == CLI_OK && run->follows) status = resume_table(&run->followed, log_to, totals->samples);
  if (status == CLI_OK && run->follow_every)
    status = resume_table(&run->history, log_to, run->follows * (uint64_t)(log_to / (double)run->follow_every));
  if (status == CLI_OK) status = resume_table(&run->seen, seen_to, totals->seen);
  if (status == CLI_OK) status = table_rewrite(&run->log);
  if (status == CLI_OK) status = table_rewrite(&run->over);
  if (status == CLI_OK && run->follows) status = table_rewrite(&run->followed);
  if (status == CLI_OK && run->follow_every) status = table_rewrite(&run->history);
  return status == CLI_OK ? table_rewrite(&run->seen) : status;
}

int train_log_sync(const train_run *run) {
  int status = table_sync(&run->log);
  if (status == CLI_OK) status = table_sync(&run->over);
  if (status == CLI_OK && run->follows) status = table_sync(&run->followed);
  if (status == CLI_OK && run->follow_every) status = table_sync(&run->history);
  return status == CLI_OK ? table_sync(&run->seen) : status;
}

static void put_counts(double *z, const hu_rounding_counts *counts) {
  z[LOG_ELEMENTS] = (double)counts->elements;
  z[LOG_OVER] = (double)counts->over;
  z[LOG_INEXACT] = (double)counts->events.inexact;
  z[LOG_OVERFLOW] = (double)counts->events.overflow;
  z[LOG_SATURATED] = (double)counts->events.saturated;
  z[LOG_UNDERFLOW] = (double)counts->events.underflow;
  z[LOG_TO_ZERO] = (double)counts->events.to_zero;
  z[LOG_NAN_IN] = (double)counts->events.nan_in;
}

int train_log_step(train_run *run, const hu_trainer_report *report) {
  double row[LOG_COLUMNS];
  row[LOG_STEP] = (double)report->step;
  row[LOG_EPOCH] = (double)report->epoch;
  row[LOG_LOSS] = report->loss;
  row[LOG_RATE] = report->rate;
  row[LOG_SCALE] = (double)report->scale;
  row[LOG_LARGEST] = (double)report->largest;
  row[LOG_TAKEN] = report->taken;
  row[LOG_SKIPPED] = (double)report->skipped;
  row[LOG_MOVED] = (double)report->updates.moved;
  row[LOG_LOST] = (double)report->updates.lost;
  put_counts(row + LOG_FORWARD, &report->forward);
  put_counts(row + LOG_BACKWARD, &report->backward);
  row[LOG_LOW] = report->low;
  row[LOG_PROMOTED] = (double)report->promoted;
  int status = table_add(&run->log, row);
  return status == CLI_OK ? train_tensors_step(run, row[LOG_STEP]) : status;
}

int train_log_evaluation(train_run *run, int at_end) {
  hu_trainer_seen training, test, again;
  const unsigned how = train_again(run);
  uint64_t at = hu_trainer_at(run->trainer);
  hu_status status = hu_trainer_evaluate(run->trainer, HU_ON_TRAINING, &training);
  if (status == HU_OK) status = hu_trainer_evaluate(run->trainer, HU_ON_TEST, &test);
  if (status == HU_OK && how) status = hu_trainer_evaluate_as(run->trainer, HU_ON_TEST, how, &again);
  if (status != HU_OK) return train_fail(run->config, status);
  double row[SEEN_MOST];
  row[SEEN_STEP] = (double)at;
  row[SEEN_EPOCHS] = (double)at / (double)hu_trainer_steps_an_epoch(run->trainer);
  train_seen_row(run, row, &training, &test, how ? &again : NULL);
  run->totals.seen++;
  run->totals.end_seen = at_end;
  return train_speaks() ? table_add(&run->seen, row) : CLI_OK;
}

const double *train_last_seen(const train_run *run) {
  return run->seen.rows ? run->seen.cells + (run->seen.rows - 1) * run->seen.columns : NULL;
}

/* Counts gradients of what operators made: inputs have none, nor has the loss, which is the last value. */
void train_sample_gradients(train_run *run, int at_end) {
  uint64_t *z = at_end ? run->totals.end_gradients : run->totals.gradients;
  hu_net *net = hu_trainer_net(run->trainer);
  for (int i = 0; i < hu_net_values(net) - 1; i++) {
    hu_net_tensor tensor = hu_net_value(net, i);
    if (tensor.gradients && tensor.backward.elements) hu_exponents_of(tensor.rows * tensor.cols, tensor.gradients, z);
  }
  uint64_t *weights = at_end ? run->totals.end_weight_gradients : run->totals.weight_gradients;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    if (tensor.gradients) hu_exponents_of(tensor.rows * tensor.cols, tensor.gradients, weights);
  }
  run->totals.samples++;
  run->totals.end_samples = at_end;
}

void train_gradients(const train_run *run, uint64_t z[HU_EXPONENTS]) {
  for (int i = 0; i < HU_EXPONENTS; i++) z[i] = run->totals.gradients[i] + run->totals.end_gradients[i];
}

void train_weight_gradients(const train_run *run, uint64_t z[HU_EXPONENTS]) {
  for (int i = 0; i < HU_EXPONENTS; i++) z[i] = run->totals.weight_gradients[i] + run->totals.end_weight_gradients[i];
}

void train_weights(const train_run *run, uint64_t z[HU_EXPONENTS]) {
  hu_net *net = hu_trainer_net(run->trainer);
  for (int i = 0; i < HU_EXPONENTS; i++) z[i] = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    if (tensor.numbers) hu_exponents_of(tensor.rows * tensor.cols, tensor.numbers, z);
  }
}

/* Prints "zero", -149 ... 127, "not_finite": all of them, so that files can be joined line by line. */
static void print_exponents(FILE *out, const void *what) {
  const train_run *run = what;
  uint64_t weights[HU_EXPONENTS], gradients[HU_EXPONENTS], of_weights[HU_EXPONENTS];
  train_weights(run, weights);
  train_gradients(run, gradients);
  train_weight_gradients(run, of_weights);
  fputs("exponent,gradients,weights,weight_gradients\n", out);
  for (int i = 0; i < HU_EXPONENTS; i++) {
    if (i == 0)
      fputs("zero", out);
    else if (i == HU_EXPONENTS - 1)
      fputs("not_finite", out);
    else
      fprintf(out, "%d", i - 150);
    fprintf(out, ",%llu,%llu,%llu\n", (unsigned long long)gradients[i], (unsigned long long)weights[i],
            (unsigned long long)of_weights[i]);
  }
}

int train_log_exponents(const train_run *run) {
  char *path = train_path(run, "exponents.csv");
  int status = path ? cli_own_text(path, print_exponents, run) : CLI_BAD;
  free(path);
  return status;
}
