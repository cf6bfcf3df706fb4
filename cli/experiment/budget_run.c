/* SPDX-License-Identifier: MIT */
/* The runs of a table, one file of results each, and what an interrupt does: see budget.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/experiment/budget.h"
#include "cli/sweep/pairs.h"
#include "cli/train/interrupt.h"

/* ---- the runs of a cell ---- */

budget_cell budget_cell_of(const budget *work, const budget_run *first) {
  budget_cell z = {.deviation = (double)NAN};
  double squares = 0;
  for (size_t i = 0; i < work->how->seeds; i++) {
    if (!first[i].done) continue;
    z.done++;
    z.figure += first[i].figure;
    z.best += first[i].best;
    z.test_loss += first[i].test_loss;
    z.seconds += first[i].seconds;
  }
  double n = z.done ? (double)z.done : (double)NAN;
  z.figure /= n;
  z.best /= n;
  z.test_loss /= n;
  for (size_t i = 0; i < work->how->seeds; i++)
    squares += first[i].done ? (first[i].figure - z.figure) * (first[i].figure - z.figure) : 0;
  if (z.done > 1) z.deviation = sqrt(squares / (n - 1));
  return z;
}

/* ---- a result's file ---- */

static char *result_path(const budget *work, const budget_run *run) {
  char name[TABLE_NAME_MAX], *path = NULL;
  if (asprintf(&path, "%s/%s.json", work->folder, budget_run_name(name, run)) >= 0) return path;
  cli_fail(NULL, "out of memory");
  return NULL;
}

static void print_result(FILE *out, const void *what) {
  const budget_run *run = what;
  char name[TABLE_NAME_MAX];
  cli_json(out, "{\n  'name': ?,\n  'row': ?,\n  'column': ?,\n", JSON(budget_run_name(name, run)),
           JSON(run->cell.row->name), JSON(run->cell.column->name));
  cli_json(out, "  'figure': ?,\n  'best': ?,\n  'measure': ?,\n  'test_loss': ?,\n  'seconds': ?,\n",
           cli_known(run->figure), cli_known(run->best), JSON(run->measure), cli_known(run->test_loss),
           cli_known(run->seconds));
  cli_json(out, "  'steps': ?,\n  'skipped': ?,\n", JSON(run->steps), JSON(run->skipped));
  fprintf(out, "  \"digest\": \"%016llx\"\n}\n", (unsigned long long)run->digest);
}

/* Reads the result of a run: one whose file is there is done. */
static int read_result(const budget *work, budget_run *run) {
  char *path = result_path(work, run);
  cli_pairs pairs;
  if (!path) return CLI_BAD;
  int status = cli_own_check(path);
  if (status == CLI_OK && !work->fresh && cli_pairs_read(&pairs, path)) {
    const char *measure = cli_pairs_get(&pairs, "measure");
    run->done =
        measure && cli_pairs_number(&pairs, "figure", &run->figure) && cli_pairs_number(&pairs, "best", &run->best) &&
        cli_pairs_number(&pairs, "test_loss", &run->test_loss) && cli_pairs_number(&pairs, "seconds", &run->seconds) &&
        cli_pairs_whole(&pairs, "steps", 10, &run->steps) && cli_pairs_whole(&pairs, "skipped", 10, &run->skipped) &&
        cli_pairs_whole(&pairs, "digest", 16, &run->digest) && run->steps == work->row[run->row].steps;
    if (run->done) snprintf(run->measure, sizeof run->measure, "%s", measure);
    cli_pairs_free(&pairs);
  }
  free(path);
  return status;
}

static int write_result(const budget *work, const budget_run *run) {
  char *path = result_path(work, run);
  int status = path ? cli_own_text(path, print_result, run) : CLI_BAD;
  free(path);
  return status;
}

/* ---- a run ---- */

/* Takes the figure that the paper has; what the data do not have is another figure, which is named. */
static void take_figure(budget_run *run, const hu_trainer_seen *seen) {
  const int paper = run->cell.row->data->figure;
  const struct {
    const char *measure;
    double figure;
    int here;
  } all[] = {{"BLEU", seen->bleu, isfinite(seen->bleu)},
             {"perplexity", seen->perplexity, paper == TABLE_PERPLEXITY && !isnan(seen->perplexity)},
             {"HR@10", seen->hit, isfinite(seen->hit)},
             {"AUC, %", 100 * seen->auc, paper == TABLE_AUC && isfinite(seen->auc)},
             {"AUC", seen->auc, isfinite(seen->auc)},
             {"accuracy, %", 100 * seen->accuracy, !isnan(seen->accuracy)},
             {"R2", seen->r2, 1}};
  size_t i = 0;
  while (!all[i].here) i++;
  run->figure = all[i].figure;
  snprintf(run->measure, sizeof run->measure, "%s", all[i].measure);
  run->test_loss = seen->loss;
}

typedef struct shown {
  progress bar;
  char note[200];
  uint64_t before; /* steps of the runs that are done */
} shown;

static void show(shown *view, const budget_run *run, const hu_trainer_report *report, uint64_t of) {
  snprintf(view->note, sizeof view->note, "%s, %s  step %llu/%llu  loss %s", run->cell.row->name,
           run->cell.column->name, (unsigned long long)report->step, (unsigned long long)of, ROUNDED(report->loss, 4));
  progress_at(&view->bar, view->before + report->step);
}

/* Evaluates where an epoch has ended, if the table has best epochs. */
static hu_status see_epoch(const budget *work, budget_run *run, hu_trainer *trainer) {
  hu_trainer_seen seen;
  if (!work->table->best || hu_trainer_at(trainer) % work->row[run->row].an_epoch) return HU_OK;
  hu_status status = hu_trainer_evaluate(trainer, HU_ON_TEST, &seen);
  if (status == HU_OK) {
    take_figure(run, &seen);
    run->best = fmax(run->best, run->figure);
  }
  return status;
}

/* Makes a run. *ended: 1 where no signal came in between. */
static int do_run(const budget *work, budget_run *run, shown *view, int *ended) {
  const budget_row *row = &work->row[run->row];
  double start = progress_seconds();
  const budget_size size = {.part = row->part,
                            .seed = run->seed,
                            .steps = row->steps == row->full_steps ? 0 : row->steps,
                            .an_epoch = row->an_epoch};
  hu_trainer_report report = {0};
  hu_trainer_seen seen;
  hu_trainer *trainer = budget_begin(work, &run->cell, &size);
  hu_status status = HU_OK;
  if (!trainer) return CLI_BAD;
  run->best = (double)NAN;
  while (status == HU_OK && !interrupt_signal() && !hu_trainer_done(trainer)) {
    status = hu_trainer_step(trainer, &report);
    if (status == HU_OK) show(view, run, &report, row->steps);
    if (status == HU_OK) status = see_epoch(work, run, trainer);
  }
  *ended = !interrupt_signal();
  if (status == HU_OK && *ended) status = hu_trainer_evaluate(trainer, HU_ON_TEST, &seen);
  if (status == HU_OK && *ended) {
    take_figure(run, &seen);
    if (work->table->best) run->best = fmax(run->best, run->figure);
    run->steps = report.step;
    run->skipped = report.skipped;
    run->digest = hu_trainer_digest(trainer);
    run->seconds = progress_seconds() - start;
    run->done = 1;
  }
  hu_trainer_free(trainer);
  if (status != HU_OK) return cli_fail_status(run->cell.row->name, status);
  return *ended ? write_result(work, run) : CLI_OK;
}

static uint64_t steps_of(const budget *work, int done) {
  uint64_t n = 0;
  for (size_t i = 0; i < work->runs; i++) n += work->run[i].done || !done ? work->row[work->run[i].row].steps : 0;
  return n;
}

int budget_do(budget *work, int *stopped) {
  interrupt before;
  shown view = {.before = 0};
  int status = CLI_OK, ended = 1;
  for (size_t i = 0; i < work->runs && status == CLI_OK; i++) status = read_result(work, &work->run[i]);
  view.before = steps_of(work, 1);
  interrupt_begin(&before);
  progress_start(&view.bar, work->table->place, steps_of(work, 0));
  view.bar.note = view.note;
  view.bar.first = view.before;
  for (size_t i = 0; i < work->runs && status == CLI_OK && ended; i++) {
    budget_run *run = &work->run[i];
    if (run->done || !work->row[run->row].steps) continue;
    status = budget_write_config(work, run);
    if (status == CLI_OK) status = do_run(work, run, &view, &ended);
    view.before += work->row[run->row].steps;
  }
  progress_end(&view.bar);
  *stopped = ended ? 0 : interrupt_signal();
  interrupt_end(&before);
  return status;
}
