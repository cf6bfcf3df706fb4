/* SPDX-License-Identifier: MIT */
/* Times steps and decides what of a table is run within a budget: see budget.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/sweep/pairs.h"
#include "cli/base/progress.h"
#include "cli/experiment/budget.h"
#include "halfulp/status.h"

const double budget_parts[BUDGET_WIDTHS] = {1, 0.5, 0.25};

/* ---- times ---- */

/* Counts the steps of the run at the paper's size. */
static int count_steps(const budget *work, const budget_run *run, budget_row *row) {
  hu_trainer *trainer = budget_begin(work, &run->cell, &(budget_size){.part = 1});
  if (!trainer) return CLI_BAD;
  row->full_steps = hu_trainer_steps(trainer);
  row->an_epoch = hu_trainer_steps_an_epoch(trainer);
  row->batch = strtoull(hu_trainer_get(trainer, "run.batch"), NULL, 10);
  hu_trainer_free(trainer);
  return CLI_OK;
}

static double seconds_now(const budget *work) {
  return work->how->given.engine ? progress_seconds() : progress_processor_seconds();
}

/* Returns how many threads of a run work at a time. */
static double threads_at_work(const budget *work, const hu_trainer *trainer) {
  double threads = strtod(hu_trainer_get(trainer, "run.threads"), NULL), most = (double)sysconf(_SC_NPROCESSORS_ONLN);
  if (work->how->given.engine || most < 1) return 1;
  return threads > 0 && threads < most ? threads : most;
}

/* Measures the seconds of a step: of a part of the batch, by what that is of the whole. The first step is left out: its
 * memory is new. */
static int time_steps(budget *work, budget_run *run, size_t width) {
  enum { MOST = 4, PART = 8 };
  double clock = progress_seconds(), start = seconds_now(work), sum = 0;
  hu_trainer *trainer = budget_begin(work, &run->cell, &(budget_size){.part = budget_parts[width], .divide = PART});
  if (!trainer) return CLI_BAD;
  run->begin[width] = seconds_now(work) - start;
  int n = 0;
  hu_status status = HU_OK;
  for (; n < MOST && status == HU_OK && !hu_trainer_done(trainer) && (n < 2 || sum < 0.5); n++) {
    start = seconds_now(work);
    status = hu_trainer_step(trainer, NULL);
    if (n == 1) sum = 0;
    sum += seconds_now(work) - start;
  }
  double whole = (double)work->row[run->row].batch / strtod(hu_trainer_get(trainer, "run.batch"), NULL);
  run->step[width] = whole * sum / (n > 1 ? n - 1 : 1) / threads_at_work(work, trainer);
  hu_trainer_free(trainer);
  work->last = progress_seconds() - clock;
  return status == HU_OK ? CLI_OK : cli_fail_status("timing a step", status);
}

/* Returns 1 if what takes so many seconds more ends behind this row's part of the time for timing, which is a quarter
 * of the budget. */
static int is_late(const budget *work, const budget_row *row, double more) {
  double part = (double)(row - work->row + 1) / (double)work->rows;
  return progress_seconds() - work->started + more > work->how->seconds / 4 * part;
}

static budget_run *first_run(const budget *work, const budget_row *row, size_t *count) {
  size_t first = 0, i = (size_t)(row - work->row);
  while (work->run[first].row != i) first++;
  for (*count = 0; first + *count < work->runs && work->run[first + *count].row == i;) ++*count;
  return &work->run[first];
}

/* ---- what fits ---- */

/* Counts what the evaluation of a run takes, in steps. */
static double steps_to_see(const budget *work, const table_cell *cell, uint64_t batch) {
  enum { STAND_IN = 500 };
  double test = work->how->given.stand_in ? STAND_IN : (double)cell->row->data->test;
  return ceil(test / (double)batch) * table_seeing(cell->row);
}

/* Returns the seconds of a run, with one step more, and of nothing but what each run needs. */
static double run_seconds(const budget *work, const budget_run *run, size_t width, double steps) {
  const budget_row *row = &work->row[run->row];
  double seen = steps_to_see(work, &run->cell, row->batch);
  if (work->table->best) seen *= fmax(1, ceil(steps / (double)row->an_epoch));
  return run->begin[width] + (steps + seen) * run->step[width];
}

static double row_seconds(const budget *work, const budget_row *row, size_t width, double steps) {
  size_t n;
  const budget_run *run = first_run(work, row, &n);
  double z = 0;
  for (size_t i = 0; i < n; i++) z += run_seconds(work, &run[i], width, steps);
  return z;
}

/* Returns how many steps of each run fit, at most all. */
static uint64_t fitting(const budget *work, const budget_row *row, size_t width, double share) {
  double none = row_seconds(work, row, width, 0), one = row_seconds(work, row, width, 1) - none;
  double z = floor((share - none) / one);
  return !(z > 0) ? 0 : z >= (double)row->full_steps ? row->full_steps : (uint64_t)z;
}

static void keep(const budget *work, budget_row *row, size_t width, uint64_t steps) {
  row->part = budget_parts[width];
  row->steps = steps;
  row->seconds = row_seconds(work, row, width, (double)steps);
}

/* Takes as many whole epochs as fit; returns 1 if one does. */
static int try_epochs(const budget *work, budget_row *row, size_t width, double share) {
  uint64_t steps = fitting(work, row, width, share);
  if (steps < row->full_steps) steps -= steps % row->an_epoch;
  if (steps) keep(work, row, width, steps);
  return steps != 0;
}

/* Times the first run of a row from the narrowest width on, as long as there is time. Twice the width has four times
 * the work, and takes so much where it was not timed. */
static int time_widths(budget *work, const budget_row *row, budget_run *run, size_t widths) {
  enum { WORK = 4 };
  int status = time_steps(work, run, widths - 1);
  for (size_t k = widths - 1; k-- > 0 && status == CLI_OK;) {
    run->begin[k] = run->begin[k + 1];
    run->step[k] = WORK * run->step[k + 1];
    if (!is_late(work, row, WORK * work->last)) status = time_steps(work, run, k);
  }
  return status;
}

/* Finds the largest width at which a tenth of the epochs fits, if all runs of the row take what the first one does;
 * else the narrowest one. */
static int find_width(budget *work, const budget_row *row, double share, size_t *width) {
  size_t n, widths = table_has_width(row->row) ? BUDGET_WIDTHS : 1;
  budget_run *run = first_run(work, row, &n);
  int status = time_widths(work, row, run, widths);
  double least = ceil((double)row->full_steps / (double)row->an_epoch / 10) * (double)row->an_epoch;
  *width = 0;
  while (*width + 1 < widths && !((double)n * run_seconds(work, run, *width, least) <= share)) ++*width;
  return status;
}

/* Times the other runs at that width; those for which there is no time take what the first one does. */
static int time_others(budget *work, const budget_row *row, size_t width) {
  size_t n;
  budget_run *run = first_run(work, row, &n);
  int status = CLI_OK;
  for (size_t i = 1; i < n && status == CLI_OK; i++) {
    int another_seed = run[i].cell.column == run[i - 1].cell.column; /* which takes as long */
    const budget_run *like = &run[another_seed ? i - 1 : 0];
    run[i].step[width] = like->step[width];
    run[i].begin[width] = like->begin[width];
    if (!another_seed && !is_late(work, row, work->last)) status = time_steps(work, &run[i], width);
  }
  for (size_t i = 0; i < n && status == CLI_OK; i++)
    run[i].full_seconds =
        run_seconds(work, &run[0], 0, (double)row->full_steps) * run[i].step[width] / run[0].step[width];
  return status;
}

/* Takes as many epochs as fit into this share, or steps; or says why there are none. */
static void fit_row(const budget *work, budget_row *row, double share) {
  char need[TABLE_TIME_MAX], have[TABLE_TIME_MAX];
  row->left[0] = 0;
  if (try_epochs(work, row, row->width, share)) return;
  uint64_t steps = fitting(work, row, row->width, share);
  if (steps >= BUDGET_STEPS_LEAST) {
    keep(work, row, row->width, steps);
    return;
  }
  snprintf(row->left, sizeof row->left, "%d steps of each run take %s, and its share of the budget is %s",
           BUDGET_STEPS_LEAST, table_time(need, row_seconds(work, row, row->width, BUDGET_STEPS_LEAST)),
           table_time(have, fmax(share, 0)));
}

static int cut_row(budget *work, budget_row *row, double share) {
  size_t n;
  int status = count_steps(work, first_run(work, row, &n), row);
  if (status == CLI_OK) status = find_width(work, row, share, &row->width);
  if (status == CLI_OK) status = time_others(work, row, row->width);
  if (status == CLI_OK) fit_row(work, row, share);
  return status;
}

/* Returns the budget for which the least costly row would be run, where none is: a quarter of it, or what was taken
 * now, goes for timing, and a quarter more is for what times differ by. NaN where a row is. */
static double smallest_budget(const budget *work) {
  double z = INFINITY, spent = progress_seconds() - work->started;
  for (size_t i = 0; i < work->rows; i++) {
    const budget_row *row = &work->row[i];
    double least = row_seconds(work, row, row->width, BUDGET_STEPS_LEAST);
    if (row->steps) return (double)NAN;
    z = fmin(z, fmax(least / 0.75, least + spent));
  }
  return ceil(1.25 * z);
}

/* Gives each row an equal share of what is left by those before it. Then rows that are left out, from the first one on,
 * have all that is left in the end. */
static int cut_rows(budget *work) {
  double planned = 0;
  progress bar;
  int status = CLI_OK;
  progress_start(&bar, "timing steps", work->rows);
  for (size_t i = 0; i < work->rows && status == CLI_OK; i++) {
    progress_at(&bar, i);
    double left = work->how->seconds - (progress_seconds() - work->started) - planned;
    status = cut_row(work, &work->row[i], left / (double)(work->rows - i));
    planned += work->row[i].seconds;
  }
  for (size_t i = 0; i < work->rows && status == CLI_OK; i++) {
    budget_row *row = &work->row[i];
    char said[BUDGET_LEFT_MAX]; /* of its share: this stands where the rest is too little, too */
    memcpy(said, row->left, sizeof said);
    if (!*said) continue;
    fit_row(work, row, work->how->seconds - (progress_seconds() - work->started) - planned);
    if (*row->left) memcpy(row->left, said, sizeof said);
    planned += row->seconds;
  }
  if (status == CLI_OK) work->smallest = smallest_budget(work);
  progress_end(&bar);
  return status;
}

/* ---- the plan's file ---- */

static char *plan_path(const budget *work) {
  char *path = NULL;
  if (asprintf(&path, "%s/plan.json", work->folder) >= 0) return path;
  cli_fail(NULL, "out of memory");
  return NULL;
}

/* Writes what the plan depends on, as one text; to be freed. */
static char *settings(const budget *work) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fprintf(out, "halfulp %s, --paper %s --table %s --row %s --budget %s s --seeds %zu%s", HU_VERSION_STRING,
          work->table->paper, work->table->name, work->how->row ? work->how->row : "(all)", DECIMAL(work->how->seconds),
          work->how->seeds, work->how->given.stand_in ? " --stand-in" : "");
  for (const char *const *pair = work->how->given.pairs; pair && pair[0]; pair += 2) {
    if (strcmp(pair[0], "run.threads") != 0) fprintf(out, " --set %s=%s", pair[0], pair[1]);
  }
  return fclose(out) == 0 ? text : NULL;
}

static void put_number(FILE *out, const char *name, const char *what, double x) {
  cli_json(out, "  '?.?': ?,\n", cli_plain(name), cli_plain(what), cli_known(x));
}

static void print_plan(FILE *out, const void *what) {
  const budget *work = what;
  char name[TABLE_NAME_MAX], *text = settings(work);
  fputs("{\n", out);
  for (size_t i = 0; i < work->rows; i++) {
    const budget_row *row = &work->row[i];
    put_number(out, row->row->slug, "part", row->part);
    put_number(out, row->row->slug, "steps", (double)row->steps);
    put_number(out, row->row->slug, "full_steps", (double)row->full_steps);
    put_number(out, row->row->slug, "an_epoch", (double)row->an_epoch);
    put_number(out, row->row->slug, "seconds", row->seconds);
    cli_json(out, "  '?.left': ?,\n", cli_plain(row->row->slug), JSON(row->left));
  }
  for (size_t i = 0; i < work->runs; i++)
    put_number(out, budget_run_name(name, &work->run[i]), "full_seconds", work->run[i].full_seconds);
  cli_json(out, "  'settings': ?\n}\n", JSON(text ? text : ""));
  free(text);
}

static int read_number(const cli_pairs *pairs, const char *name, const char *what, double *z) {
  char whole[TABLE_NAME_MAX + 16];
  snprintf(whole, sizeof whole, "%s.%s", name, what);
  return cli_pairs_number(pairs, whole, z);
}

static int read_row(const cli_pairs *pairs, budget_row *row) {
  const char *slug = row->row->slug;
  char whole[TABLE_NAME_MAX];
  double steps, full, epoch;
  int good = read_number(pairs, slug, "part", &row->part) && read_number(pairs, slug, "steps", &steps) &&
             read_number(pairs, slug, "full_steps", &full) && read_number(pairs, slug, "an_epoch", &epoch) &&
             read_number(pairs, slug, "seconds", &row->seconds);
  snprintf(whole, sizeof whole, "%s.left", slug);
  const char *left = cli_pairs_get(pairs, whole);
  if (!good || !left || !(steps >= 0 && steps <= 0x1p53 && full >= 0 && full <= 0x1p53 && epoch >= 0)) return 0;
  if (!(epoch <= 0x1p53) || (steps > 0 && epoch < 1)) return 0;
  row->steps = (uint64_t)steps;
  row->full_steps = (uint64_t)full;
  row->an_epoch = (uint64_t)epoch;
  snprintf(row->left, sizeof row->left, "%s", left);
  return 1;
}

/* Reads the folder's plan. Returns 1 if it is this one's, and takes it; 0 if there is none; -1 after an error line. */
static int read_plan(budget *work, const char *path) {
  cli_pairs pairs;
  char name[TABLE_NAME_MAX], *this_one = settings(work);
  if (!this_one || !cli_pairs_read(&pairs, path)) {
    free(this_one);
    return 0;
  }
  const char *was = cli_pairs_get(&pairs, "settings");
  int z = was && strcmp(was, this_one) == 0 ? 1 : -1, good = 1;
  if (z < 0) cli_fail(path, "is of another table or budget: %s; --overwrite begins again", was ? was : "(nothing)");
  for (size_t i = 0; i < work->rows && z > 0; i++) good = good && read_row(&pairs, &work->row[i]);
  for (size_t i = 0; i < work->runs && z > 0; i++)
    good =
        good && read_number(&pairs, budget_run_name(name, &work->run[i]), "full_seconds", &work->run[i].full_seconds);
  if (!good) z = (cli_fail(path, "is damaged; --overwrite begins again"), -1);
  cli_pairs_free(&pairs);
  free(this_one);
  return z;
}

int budget_plan(budget *work) {
  char *path = plan_path(work);
  if (!path) return CLI_BAD;
  int status = cli_own_check(path), found = 0;
  if (status == CLI_OK && !work->how->overwrite) found = read_plan(work, path);
  if (found < 0) status = CLI_BAD;
  work->fresh = !found;
  if (status == CLI_OK && !found) {
    status = cut_rows(work);
    if (status == CLI_OK && !isfinite(work->smallest)) status = cli_own_text(path, print_plan, work);
  }
  free(path);
  return status;
}

/* ---- times as text ---- */

int budget_read_time(double *seconds, const char *text) {
  static const struct {
    char unit;
    double seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  char *end;
  errno = 0;
  double x = strtod(text, &end);
  for (size_t i = 0; i < TABLE_COUNT(units); i++) {
    if (end == text || *end != units[i].unit || end[1] || !(x > 0) || !(x * units[i].seconds <= 1e9)) continue;
    *seconds = x * units[i].seconds;
    return CLI_OK;
  }
  return cli_fail(NULL, "--budget: '%s' is not a time such as 90s, 30m, 12h or 3d", text);
}
