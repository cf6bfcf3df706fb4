/* SPDX-License-Identifier: MIT */
/* A cell of a ledger: run, continued, or verified from a checkpoint. See ledger.h. */
#include "cli/experiment/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/train/interrupt.h"

/* ---- what is asked for ---- */

static int check_name(const char *name) {
  if (*name && strlen(name) < LEDGER_NAME_MAX &&
      strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == strlen(name))
    return CLI_OK;
  return cli_fail(NULL, "--cell: '%s' is not a name of letters, digits, '.', '-' and '_', fewer than %d", name,
                  LEDGER_NAME_MAX);
}

/* Reads "2000..2100". */
static int read_range(const char *text, uint64_t *from, uint64_t *to) {
  char *end;
  errno = 0;
  *from = strtoull(text, &end, 10);
  int good = end != text && *text != '-' && strncmp(end, "..", 2) == 0 && end[2] >= '0' && end[2] <= '9';
  if (good) {
    *to = strtoull(end + 2, &end, 10);
    good = !*end && !errno && *from < *to;
  }
  return good ? CLI_OK
              : cli_fail(NULL, "--verify: '%s' is not FROM..TO, two numbers of steps, the first the smaller", text);
}

/* ---- checkpoints ---- */

/* Writes "OUT/step-2000", the folder of a checkpoint that is kept. */
static int kept_folder(char text[4096], const ledger_cell *cell, uint64_t step) {
  int n = snprintf(text, 4096, "%s/step-%" PRIu64, cell->run.out, step);
  return n > 0 && n < 4096 ? CLI_OK : cli_fail(cell->run.out, "too long a name");
}

/* Gives the checkpoint a second name, under which it stays. */
static int keep(const ledger_cell *cell, uint64_t step) {
  char folder[4096], from[4200], to[4200];
  if (kept_folder(folder, cell, step)) return CLI_BAD;
  snprintf(from, sizeof from, "%s/checkpoint.safetensors", cell->run.out);
  snprintf(to, sizeof to, "%s/checkpoint.safetensors", folder);
  if (mkdir(folder, 0777) && errno != EEXIST) return cli_fail(folder, "%s", strerror(errno));
  if (unlink(to) && errno != ENOENT) return cli_fail(to, "%s", strerror(errno));
  return link(from, to) ? cli_fail(to, "%s", strerror(errno)) : CLI_OK;
}

static int write_checkpoint(const ledger_cell *cell) {
  uint64_t step = hu_trainer_at(cell->run.trainer);
  if (!cell->run.out || step != ledger_line_of(cell, step)) return CLI_OK;
  int status = train_checkpoint(&cell->run);
  return status == CLI_OK && cell->how->keep ? keep(cell, step) : status;
}

/* Continues from the checkpoint of the folder, if it has one. */
static int resume_run(ledger_cell *cell) {
  uint64_t step, steps;
  if (mkdir(cell->run.out, 0777) && errno != EEXIST) return cli_fail(cell->run.out, "%s", strerror(errno));
  int status = cli_folder_lock(&cell->run.lock, cell->run.out, "experiment");
  if (status != CLI_OK) return status;
  (void)cli_folder_clean(cell->run.lock);
  return train_found(&cell->run, &step, &steps) == TRAIN_FOUND_NOTHING ? CLI_OK : train_resume(&cell->run);
}

/* Goes to the last checkpoint that was kept at or before a step; without one the run begins at its start. */
static int resume_kept(ledger_cell *cell, uint64_t from) {
  char folder[4096], path[4200];
  const char *out = cell->run.out;
  for (uint64_t step = from / LEDGER_LINE * LEDGER_LINE; out && step > 0; step -= LEDGER_LINE) {
    if (kept_folder(folder, cell, step)) return CLI_BAD;
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", folder);
    if (access(path, F_OK)) continue;
    cell->run.out = folder;
    int status = train_resume(&cell->run);
    cell->run.out = out;
    if (status == CLI_OK && hu_trainer_at(cell->run.trainer) != step)
      status = cli_fail(path, "is of step %" PRIu64, hu_trainer_at(cell->run.trainer));
    return status;
  }
  return CLI_OK;
}

/* ---- steps ---- */

typedef struct shown {
  progress bar;
  char note[160];
} shown;

static void show(shown *view, const ledger_cell *cell, uint64_t to) {
  const hu_trainer_report *report = &cell->run.last;
  snprintf(view->note, sizeof view->note, "%s  step %" PRIu64 "/%" PRIu64 "  loss %s", cell->how->cell, report->step,
           to, ROUNDED(report->loss, 4));
  progress_at(&view->bar, report->step);
}

static int make_steps(ledger_cell *cell, uint64_t to, int *stopped) {
  interrupt before;
  shown view = {.note = ""};
  hu_trainer *trainer = cell->run.trainer;
  interrupt_begin(&before);
  cell->start = hu_trainer_at(trainer);
  cell->seconds = progress_seconds();
  progress_start(&view.bar, "steps", to);
  view.bar.note = view.note;
  view.bar.first = cell->start;
  int status = ledger_take(cell);
  while (status == CLI_OK && !interrupt_signal() && hu_trainer_at(trainer) < to) {
    hu_status error = hu_trainer_step(trainer, &cell->run.last);
    if (error != HU_OK) {
      status = cli_fail_status(cell->how->cell, error);
      break;
    }
    show(&view, cell, to);
    status = ledger_take(cell);
    if (status == CLI_OK && !cell->how->verify) status = write_checkpoint(cell);
  }
  progress_end(&view.bar);
  *stopped = hu_trainer_at(trainer) < to ? interrupt_signal() : 0;
  interrupt_end(&before);
  return status;
}

/* ---- what is said ---- */

static void say(const ledger_cell *cell, uint64_t to, int stopped) {
  const ledger_how *how = cell->how;
  char sha256[65] = "";
  hu_status status = hu_trainer_sha256(cell->run.trainer, -1, sha256);
  if (stopped) {
    cli_note("%s: stopped by %s after step %" PRIu64 " of %" PRIu64
             "; the same command continues from the last "
             "checkpoint",
             how->cell, strsignal(stopped), hu_trainer_at(cell->run.trainer), to);
  } else if (how->given.json) {
    cli_json(stdout, "{'cell': ?, 'from': ?, 'to': ?, 'same': ?, 'added': ?, 'sha256': ?}\n", JSON(how->cell),
             JSON(cell->start), JSON(to), JSON(cell->same), JSON(cell->added),
             JSON(status == HU_OK ? (const char *)sha256 : NULL));
  } else if (!cli_quiet()) {
    printf("%s: steps %" PRIu64 " to %" PRIu64 ", SHA-256 of the weights %s\n", how->cell, cell->start, to, sha256);
    printf("%s: %" PRIu64 " digest%s the same, %" PRIu64 " line%s added\n", how->path, cell->same,
           cell->same == 1 ? " is" : "s are", cell->added, cell->added == 1 ? "" : "s");
  }
}

/* Refuses a range without a digest behind its checkpoint. */
static int check_range(const ledger_cell *cell, uint64_t from, uint64_t to) {
  uint64_t all = hu_trainer_steps(cell->run.trainer);
  if (to > all) return cli_fail(NULL, "--verify: %s has %" PRIu64 " steps", cell->how->cell, all);
  if (from / LEDGER_MARK < to / LEDGER_MARK || to == all) return CLI_OK;
  return cli_fail(NULL, "--verify: no digest is between steps %" PRIu64 " and %" PRIu64 ": they are every %d steps",
                  from, to, LEDGER_MARK);
}

static int open_ledger(ledger_cell *cell) {
  const job_part all = {.list = 0, .what = "another cell"};
  return cell->how->verify ? job_ledger_look(&cell->ledger, cell->how->path)
                           : job_ledger_open(&cell->ledger, cell->how->path, &all, "experiment");
}

static int work(ledger_cell *cell, int *stopped) {
  uint64_t from = 0, to = 0;
  int status = check_name(cell->how->cell);
  if (status == CLI_OK && cell->how->verify) status = read_range(cell->how->verify, &from, &to);
  if (status == CLI_OK) status = open_ledger(cell);
  if (status == CLI_OK) status = ledger_begin(cell);
  if (status != CLI_OK) return status;
  if (cell->how->verify) {
    status = check_range(cell, from, to);
    if (status == CLI_OK) status = resume_kept(cell, from);
  } else {
    to = hu_trainer_steps(cell->run.trainer);
    if (cell->run.out) status = resume_run(cell);
  }
  if (status == CLI_OK) status = make_steps(cell, to, stopped);
  if (status == CLI_OK && cell->how->verify && !*stopped && cell->same == 0)
    status = cli_fail(cell->how->path, "has no digest of %s in this range", cell->how->cell);
  if (status == CLI_OK) say(cell, to, *stopped);
  return status;
}

int ledger_command(const ledger_how *how) {
  const table none = {.csv_file = -1, .json_file = -1};
  ledger_cell cell = {
      .how = how,
      .run = {.config = how->cell, .out = how->given.out, .lock = -1, .log = none, .seen = none, .over = none},
      .ledger = JOB_NO_LEDGER(JOB_FIELDS)};
  int stopped = 0, status = work(&cell, &stopped);
  if (cell.run.lock >= 0) close(cell.run.lock);
  if (status != CLI_OK && !cell.added && cell.ledger.out >= 0) job_ledger_discard(&cell.ledger);
  for (size_t i = 0; i < LEDGER_MARKS; i++) free(cell.mark[i]);
  job_ledger_free(&cell.ledger);
  hu_trainer_free(cell.run.trainer);
  if (status == CLI_OK && stopped) raise(stopped); /* takes its default effect */
  return status;
}
