/* SPDX-License-Identifier: MIT */
/* The steps of a training run, its log and checkpoints in between, and what an interrupt does. See train.h. */
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/train/interrupt.h"
#include "cli/train/ranks.h"
#include "cli/train/train.h"

/* ---- a step ---- */

static void show(train_run *run) {
  const hu_trainer_report *report = &run->last;
  uint64_t steps = hu_trainer_steps(run->trainer);
  int n = snprintf(run->note, sizeof run->note, "step %llu/%llu  epoch %llu/%llu  loss %s",
                   (unsigned long long)report->step, (unsigned long long)steps, (unsigned long long)report->epoch + 1,
                   (unsigned long long)hu_trainer_epoch_of(run->trainer, steps - 1) + 1, ROUNDED(report->loss, 4));
  int scaled = strcmp(hu_trainer_get(run->trainer, "loss.scale"), "none") != 0;
  if (scaled)
    n += snprintf(run->note + n, sizeof run->note - (size_t)n, "  scale %s", ROUNDED((double)report->scale, 6));
  snprintf(run->note + n, sizeof run->note - (size_t)n, "  skipped %llu  overflows %llu  underflows %llu",
           (unsigned long long)report->skipped, (unsigned long long)run->totals.overflow,
           (unsigned long long)run->totals.underflow);
  progress_at(&run->bar, report->step);
}

static void add(train_totals *totals, const hu_trainer_report *report) {
  totals->updates.moved += report->updates.moved;
  totals->updates.lost += report->updates.lost;
  totals->low += report->low;
  totals->overflow += report->forward.events.overflow + report->backward.events.overflow;
  totals->underflow += report->forward.events.underflow + report->backward.events.underflow;
}

static int is_epochs_end(const train_run *run, uint64_t at, uint64_t every) {
  uint64_t epoch = hu_trainer_epoch_of(run->trainer, at), before = hu_trainer_epoch_of(run->trainer, at - 1);
  return every && epoch != before && epoch % every == 0;
}

static int checkpoint_is_due(const train_run *run, uint64_t at) {
  if (hu_trainer_done(run->trainer)) return 1;
  if (run->checkpoint_asked) return run->checkpoint && at % run->checkpoint == 0;
  return is_epochs_end(run, at, 1);
}

static int worse(int a, int b) { return a > b ? a : b; }

/* Collects what a checkpoint needs of the other processes; all of them call it. */
static int collect(const train_run *run) {
  hu_status status = hu_trainer_collect(run->trainer);
  return status == HU_OK ? CLI_OK : train_fail(run->config, status);
}

/* Does all that belongs to one step, so that log and checkpoint agree wherever the run ends. Evaluations are made by
 * all processes, the rest by the first one. */
static int do_step(train_run *run) {
  hu_status error = hu_trainer_step(run->trainer, &run->last);
  if (error != HU_OK) return train_fail(run->config, error);
  uint64_t at = run->last.step;
  int done = hu_trainer_done(run->trainer), status = CLI_OK, is_row = at % run->every == 0;
  int is_seen = is_epochs_end(run, at, run->evaluate), is_due = checkpoint_is_due(run, at);
  add(&run->totals, &run->last);
  if (train_speaks() && (done || is_row)) {
    train_sample_gradients(run, !is_row);
    status = train_log_step(run, &run->last);
  }
  if (done || is_seen) status = worse(status, train_log_evaluation(run, !is_seen));
  if (is_due) status = worse(status, collect(run));
  if (train_speaks() && status == CLI_OK && is_due) status = train_checkpoint(run);
  return status;
}

/* Does a step. A signal that one process got, or what it could not do, holds for all of them from the same step on. */
static int do_step_together(train_run *run, int *stop) {
  int status = do_step(run), both[2] = {interrupt_signal(), status};
  train_largest_two(both);
  *stop = both[0];
  return both[1];
}

int train_steps(train_run *run, int *stopped) {
  interrupt before;
  int status = CLI_OK, stop = 0;
  interrupt_begin(&before);
  if (train_speaks()) progress_start(&run->bar, "train", hu_trainer_steps(run->trainer));
  run->bar.note = run->note;
  run->bar.first = hu_trainer_at(run->trainer);
  while (status == CLI_OK && !stop && !hu_trainer_done(run->trainer)) {
    status = do_step_together(run, &stop);
    if (status == CLI_OK && train_speaks()) show(run);
  }
  if (train_speaks()) progress_end(&run->bar);
  *stopped = hu_trainer_done(run->trainer) ? 0 : stop;
  if (status == CLI_OK && *stopped) status = collect(run);
  /* A run without steps has been evaluated, too, and can be continued. */
  if (status == CLI_OK && hu_trainer_done(run->trainer) && !train_largest(run->seen.rows > 0))
    status = train_log_evaluation(run, 1);
  if (status == CLI_OK && train_speaks() && (*stopped || !hu_trainer_steps(run->trainer)))
    status = train_checkpoint(run);
  interrupt_end(&before);
  return status;
}
