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

static void show(train_run *r) {
  const hu_trainer_report *x = &r->last;
  uint64_t steps = hu_trainer_steps(r->t), of = hu_trainer_steps_an_epoch(r->t);
  int n = snprintf(r->note, sizeof r->note, "step %llu/%llu  epoch %llu/%llu  loss %s", (unsigned long long)x->step,
                   (unsigned long long)steps, (unsigned long long)x->epoch + 1,
                   (unsigned long long)((steps + of - 1) / of), ROUNDED(x->loss, 4));
  int scaled = strcmp(hu_trainer_get(r->t, "loss.scale"), "none") != 0;
  if (scaled) n += snprintf(r->note + n, sizeof r->note - (size_t)n, "  scale %s", ROUNDED((double)x->scale, 6));
  snprintf(r->note + n, sizeof r->note - (size_t)n, "  skipped %llu  overflows %llu  underflows %llu",
           (unsigned long long)x->skipped, (unsigned long long)r->totals.overflow,
           (unsigned long long)r->totals.underflow);
  progress_at(&r->bar, x->step);
}

static void add(train_totals *z, const hu_trainer_report *x) {
  z->updates.moved += x->updates.moved;
  z->updates.lost += x->updates.lost;
  z->low += x->low;
  z->overflow += x->forward.events.overflow + x->backward.events.overflow;
  z->underflow += x->forward.events.underflow + x->backward.events.underflow;
}

static int is_epochs_end(const train_run *r, uint64_t at, uint64_t every) {
  uint64_t steps = hu_trainer_steps_an_epoch(r->t);
  return every && at % steps == 0 && at / steps % every == 0;
}

static int checkpoint_is_due(const train_run *r, uint64_t at) {
  if (hu_trainer_done(r->t)) return 1;
  if (r->checkpoint_asked) return r->checkpoint && at % r->checkpoint == 0;
  return is_epochs_end(r, at, 1);
}

static int worse(int a, int b) { return a > b ? a : b; }

/* Collects what a checkpoint needs of the other processes; all of them call it. */
static int collect(const train_run *r) {
  hu_status s = hu_trainer_collect(r->t);
  return s == HU_OK ? CLI_OK : train_fail(r->config, s);
}

/* Does all that belongs to one step, so that log and checkpoint agree wherever the run ends. Evaluations are made by
 * all processes, the rest by the first one. */
static int do_step(train_run *r) {
  hu_status s = hu_trainer_step(r->t, &r->last);
  if (s != HU_OK) return train_fail(r->config, s);
  uint64_t at = r->last.step;
  int done = hu_trainer_done(r->t), status = CLI_OK, is_row = at % r->every == 0;
  int is_seen = is_epochs_end(r, at, r->evaluate), is_due = checkpoint_is_due(r, at);
  add(&r->totals, &r->last);
  if (train_speaks() && (done || is_row)) {
    train_sample_gradients(r, !is_row);
    status = train_log_step(r, &r->last);
  }
  if (done || is_seen) status = worse(status, train_log_evaluation(r, !is_seen));
  if (is_due) status = worse(status, collect(r));
  if (train_speaks() && status == CLI_OK && is_due) status = train_checkpoint(r);
  return status;
}

/* Does a step. A signal that one process got, or what it could not do, holds for all of them from the same step on. */
static int do_step_together(train_run *r, int *stop) {
  int status = do_step(r), both[2] = {interrupt_told(), status};
  train_largest_two(both);
  *stop = both[0];
  return both[1];
}

int train_steps(train_run *r, int *stopped) {
  interrupt before;
  int status = CLI_OK, stop = 0;
  interrupt_begin(&before);
  if (train_speaks()) progress_start(&r->bar, "train", hu_trainer_steps(r->t));
  r->bar.note = r->note;
  r->bar.first = hu_trainer_at(r->t);
  while (status == CLI_OK && !stop && !hu_trainer_done(r->t)) {
    status = do_step_together(r, &stop);
    if (status == CLI_OK && train_speaks()) show(r);
  }
  if (train_speaks()) progress_end(&r->bar);
  *stopped = hu_trainer_done(r->t) ? 0 : stop;
  if (status == CLI_OK && *stopped) status = collect(r);
  /* A run without steps has been evaluated, too, and can be continued. */
  if (status == CLI_OK && hu_trainer_done(r->t) && !train_largest(r->seen.rows > 0))
    status = train_log_evaluation(r, 1);
  if (status == CLI_OK && train_speaks() && (*stopped || !hu_trainer_steps(r->t))) status = train_checkpoint(r);
  interrupt_end(&before);
  return status;
}
