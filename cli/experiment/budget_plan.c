/* SPDX-License-Identifier: MIT */
/* Times steps and decides what of a table is run within a budget: see budget.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/sweep/pairs.h"
#include "cli/base/progress.h"
#include "cli/experiment/budget.h"
#include "halfulp/version.h"

const double budget_parts[BUDGET_WIDTHS] = {1, 0.5, 0.25};

/* ---- times ---- */

/* Counts the steps of the run at the paper's size. */
static int count_steps(const budget *b, const budget_run *run, budget_row *row) {
  hu_trainer *trainer = budget_begin(b, &run->cell, &(budget_size){.part = 1});
  if (!trainer) return CLI_BAD;
  row->full_steps = hu_trainer_steps(trainer);
  row->an_epoch = hu_trainer_steps_an_epoch(trainer);
  hu_trainer_free(trainer);
  return CLI_OK;
}

/* Measures the seconds of a step: of an eighth of the batch, times 8. The first step is left out: its memory is new. */
static int time_steps(const budget *b, budget_run *run, size_t width) {
  enum { MOST = 4, PART = 8 };
  double start = progress_seconds(), sum = 0;
  hu_trainer *trainer = budget_begin(b, &run->cell, &(budget_size){.part = budget_parts[width], .divide = PART});
  if (!trainer) return CLI_BAD;
  run->begin[width] = progress_seconds() - start;
  int n = 0;
  hu_status status = HU_OK;
  for (; n < MOST && status == HU_OK && !hu_trainer_done(trainer) && (n < 2 || sum < 0.5); n++) {
    start = progress_seconds();
    status = hu_trainer_step(trainer, NULL);
    if (n == 1) sum = 0;
    sum += progress_seconds() - start;
  }
  run->step[width] = PART * sum / (n > 1 ? n - 1 : 1);
  hu_trainer_free(trainer);
  return status == HU_OK ? CLI_OK : cli_fail_status("timing a step", status);
}

/* Returns 1 if this row's part of the time for timing, which is a quarter of the budget, is gone. */
static int is_late(const budget *b, const budget_row *row) {
  double part = (double)(row - b->row + 1) / (double)b->rows;
  return progress_seconds() - b->started > b->how->seconds / 4 * part;
}

static budget_run *first_run(const budget *b, const budget_row *row, size_t *count) {
  size_t first = 0, i = (size_t)(row - b->row);
  while (b->run[first].row != i) first++;
  for (*count = 0; first + *count < b->runs && b->run[first + *count].row == i;) ++*count;
  return &b->run[first];
}

/* ---- what fits ---- */

static double steps_to_see(const budget *b, const table_cell *x) {
  enum { STAND_IN = 500, BATCH = 128 };
  double test = b->how->stand_in ? STAND_IN : (double)x->row->data->test;
  return ceil(test / BATCH) * table_seeing(x->row);
}

/* Returns the seconds of a run, with one step more, and of nothing but what each run needs. */
static double run_seconds(const budget *b, const budget_run *run, size_t width, double steps) {
  return run->begin[width] + (steps + steps_to_see(b, &run->cell)) * run->step[width];
}

static double row_seconds(const budget *b, const budget_row *row, size_t width, double steps) {
  size_t n;
  const budget_run *run = first_run(b, row, &n);
  double z = 0;
  for (size_t i = 0; i < n; i++) z += run_seconds(b, &run[i], width, steps);
  return z;
}

/* Returns how many steps of each run fit, at most all. */
static uint64_t fitting(const budget *b, const budget_row *row, size_t width, double share) {
  double none = row_seconds(b, row, width, 0), one = row_seconds(b, row, width, 1) - none;
  double z = floor((share - none) / one);
  return !(z > 0) ? 0 : z >= (double)row->full_steps ? row->full_steps : (uint64_t)z;
}

static void keep(const budget *b, budget_row *row, size_t width, uint64_t steps) {
  row->part = budget_parts[width];
  row->steps = steps;
  row->seconds = row_seconds(b, row, width, (double)steps);
}

/* Takes as many whole epochs as fit; returns 1 if one does. */
static int try_epochs(const budget *b, budget_row *row, size_t width, double share) {
  uint64_t steps = fitting(b, row, width, share);
  if (steps < row->full_steps) steps -= steps % row->an_epoch;
  if (steps) keep(b, row, width, steps);
  return steps != 0;
}

/* Finds the largest width at which a tenth of the epochs fits, if all runs of the row take what the first one does;
 * else the narrowest one, which is timed at once where there is little time. */
static int find_width(const budget *b, const budget_row *row, double share, size_t *width) {
  size_t n, widths = table_has_width(row->row) ? BUDGET_WIDTHS : 1;
  budget_run *run = first_run(b, row, &n);
  for (size_t k = 0; k < widths; k++) {
    if (k && is_late(b, row)) k = widths - 1;
    int status = time_steps(b, run, k);
    if (status != CLI_OK) return status;
    *width = k;
    double least = ceil((double)row->full_steps / (double)row->an_epoch / 10) * (double)row->an_epoch;
    if ((double)n * run_seconds(b, run, k, least) <= share) return CLI_OK;
  }
  return CLI_OK;
}

/* Times the other runs at that width; those for which there is no time take what the first one does. */
static int time_others(const budget *b, const budget_row *row, size_t width) {
  size_t n;
  budget_run *run = first_run(b, row, &n);
  int status = CLI_OK;
  for (size_t i = 1; i < n && status == CLI_OK; i++) {
    run[i].step[width] = run[0].step[width];
    run[i].begin[width] = run[0].begin[width];
    if (!is_late(b, row)) status = time_steps(b, &run[i], width);
  }
  for (size_t i = 0; i < n && status == CLI_OK; i++)
    run[i].full_seconds = run_seconds(b, &run[0], 0, (double)row->full_steps) * run[i].step[width] / run[0].step[width];
  return status;
}

/* Takes as many epochs as fit into this share, or steps; or says why there are none. */
static void fit_row(const budget *b, budget_row *row, double share) {
  char need[TABLE_TIME_MAX], have[TABLE_TIME_MAX];
  row->left[0] = 0;
  if (try_epochs(b, row, row->width, share)) return;
  uint64_t steps = fitting(b, row, row->width, share);
  if (steps >= BUDGET_STEPS_LEAST) {
    keep(b, row, row->width, steps);
    return;
  }
  snprintf(row->left, sizeof row->left, "%d steps of each run take %s, and its share of the budget is %s",
           BUDGET_STEPS_LEAST, table_time(need, row_seconds(b, row, row->width, BUDGET_STEPS_LEAST)),
           table_time(have, fmax(share, 0)));
}

static int cut_row(const budget *b, budget_row *row, double share) {
  size_t n;
  int status = count_steps(b, first_run(b, row, &n), row);
  if (status == CLI_OK) status = find_width(b, row, share, &row->width);
  if (status == CLI_OK) status = time_others(b, row, row->width);
  if (status == CLI_OK) fit_row(b, row, share);
  return status;
}

/* Gives each row an equal share of what is left by those before it. Then rows that are left out, from the first one on,
 * have all that is left in the end. */
static int cut_rows(budget *b) {
  double planned = 0;
  progress bar;
  int status = CLI_OK;
  progress_start(&bar, "timing steps", b->rows);
  for (size_t i = 0; i < b->rows && status == CLI_OK; i++) {
    progress_at(&bar, i);
    double left = b->how->seconds - (progress_seconds() - b->started) - planned;
    status = cut_row(b, &b->row[i], left / (double)(b->rows - i));
    planned += b->row[i].seconds;
  }
  for (size_t i = 0; i < b->rows && status == CLI_OK; i++) {
    budget_row *row = &b->row[i];
    char said[BUDGET_LEFT_MAX]; /* of its share: this stands where the rest is too little, too */
    memcpy(said, row->left, sizeof said);
    if (!*said) continue;
    fit_row(b, row, b->how->seconds - (progress_seconds() - b->started) - planned);
    if (*row->left) memcpy(row->left, said, sizeof said);
    planned += row->seconds;
  }
  progress_end(&bar);
  return status;
}

/* ---- the plan's file ---- */

static char *plan_path(const budget *b) {
  char *path = NULL;
  if (asprintf(&path, "%s/plan.json", b->folder) >= 0) return path;
  cli_fail(NULL, "out of memory");
  return NULL;
}

/* Writes what the plan depends on, as one text; to be freed. */
static char *settings(const budget *b) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fprintf(out, "halfulp %s, --paper %s --table %s --row %s --budget %s s%s", HU_VERSION_STRING, b->table->paper,
          b->table->name, b->how->row ? b->how->row : "(all)", DECIMAL(b->how->seconds),
          b->how->stand_in ? " --stand-in" : "");
  for (const char *const *pair = b->how->pairs; pair && pair[0]; pair += 2) {
    if (strcmp(pair[0], "run.threads") != 0) fprintf(out, " --set %s=%s", pair[0], pair[1]);
  }
  return fclose(out) == 0 ? text : NULL;
}

static void put_number(FILE *out, const char *name, const char *what, double x) {
  fprintf(out, "  \"%s.%s\": ", name, what);
  cli_json_known(out, x);
  fputs(",\n", out);
}

static void print_plan(FILE *out, const void *what) {
  const budget *b = what;
  char name[TABLE_NAME_MAX], *text = settings(b);
  fputs("{\n", out);
  for (size_t i = 0; i < b->rows; i++) {
    const budget_row *row = &b->row[i];
    put_number(out, row->row->slug, "part", row->part);
    put_number(out, row->row->slug, "steps", (double)row->steps);
    put_number(out, row->row->slug, "full_steps", (double)row->full_steps);
    put_number(out, row->row->slug, "an_epoch", (double)row->an_epoch);
    put_number(out, row->row->slug, "seconds", row->seconds);
    fprintf(out, "  \"%s.left\": ", row->row->slug);
    cli_json_string(out, row->left);
    fputs(",\n", out);
  }
  for (size_t i = 0; i < b->runs; i++)
    put_number(out, table_cell_name(name, &b->run[i].cell), "full_seconds", b->run[i].full_seconds);
  fputs("  \"settings\": ", out);
  cli_json_string(out, text ? text : "");
  fputs("\n}\n", out);
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
static int read_plan(budget *b, const char *path) {
  cli_pairs pairs;
  char name[TABLE_NAME_MAX], *wanted = settings(b);
  if (!wanted || !cli_pairs_read(&pairs, path)) {
    free(wanted);
    return 0;
  }
  const char *was = cli_pairs_get(&pairs, "settings");
  int z = was && strcmp(was, wanted) == 0 ? 1 : -1, good = 1;
  if (z < 0) cli_fail(path, "is of another table or budget: %s; --overwrite begins again", was ? was : "(nothing)");
  for (size_t i = 0; i < b->rows && z > 0; i++) good = good && read_row(&pairs, &b->row[i]);
  for (size_t i = 0; i < b->runs && z > 0; i++)
    good = good && read_number(&pairs, table_cell_name(name, &b->run[i].cell), "full_seconds", &b->run[i].full_seconds);
  if (!good) z = (cli_fail(path, "is damaged; --overwrite begins again"), -1);
  cli_pairs_free(&pairs);
  free(wanted);
  return z;
}

int budget_plan(budget *b) {
  char *path = plan_path(b);
  if (!path) return CLI_BAD;
  int status = cli_own_check(path), found = 0;
  if (status == CLI_OK && !b->how->overwrite) found = read_plan(b, path);
  if (found < 0) status = CLI_BAD;
  b->fresh = !found;
  if (status == CLI_OK && !found) {
    status = cut_rows(b);
    if (status == CLI_OK) status = cli_own_text(path, print_plan, b);
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
