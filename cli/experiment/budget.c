/* SPDX-License-Identifier: MIT */
/* The tables of a paper: lists them, or runs one within a budget. See budget.h. */
#include "cli/experiment/budget.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/progress.h"

/* ---- what is asked for ---- */

/* Write the names that there are, as "a, b, c": of papers; of a paper's tables; of a table's rows. */
static void put_name(char *text, size_t size, const char *name) {
  size_t n = strlen(text);
  snprintf(text + n, size - n, "%s%s", n ? ", " : "", name);
}

static int no_paper(const char *paper) {
  char names[400] = "";
  for (size_t i = 0; i < table_count(); i++) {
    if (!i || strcmp(table_at(i)->paper, table_at(i - 1)->paper) != 0)
      put_name(names, sizeof names, table_at(i)->paper);
  }
  return cli_fail(NULL, "--paper: there is no '%s'; papers are %s", paper, names);
}

static int no_table(const budget_how *how) {
  char names[400] = "";
  for (size_t i = 0; i < table_count(); i++) {
    if (strcmp(table_at(i)->paper, how->paper) == 0) put_name(names, sizeof names, table_at(i)->name);
  }
  return cli_fail(NULL, "--table: %s has no '%s'; it has %s", how->paper, how->table, names);
}

static int no_row(const budget_how *how, const paper_table *table) {
  char names[800] = "";
  for (size_t i = 0; i < table->rows; i++) put_name(names, sizeof names, table->row[i].slug);
  return cli_fail(NULL, "--row: %s of %s has no '%s'; it has %s", table->place, how->paper, how->row,
                  *names ? names : "none");
}

static int has_paper(const char *paper) {
  for (size_t i = 0; i < table_count(); i++) {
    if (strcmp(table_at(i)->paper, paper) == 0) return 1;
  }
  return 0;
}

static const paper_table *find_table(const budget_how *how) {
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *table = table_at(i);
    if (how->table && strcmp(table->paper, how->paper) == 0 && strcmp(table->name, how->table) == 0) return table;
  }
  return NULL;
}

static int has_row(const budget_how *how, const paper_table *table) {
  for (size_t i = 0; how->row && i < table->rows; i++) {
    if (strcmp(table->row[i].slug, how->row) == 0) return 1;
  }
  return !how->row;
}

static int check(const budget_how *how) {
  const paper_table *table = find_table(how);
  if (!has_paper(how->paper)) return no_paper(how->paper);
  if (how->table && !table) return no_table(how);
  if (!table && how->row) return cli_fail(NULL, "experiment: --row requires --table");
  if (!table && how->seconds > 0) return cli_fail(NULL, "experiment: --budget requires --table");
  if (table && !has_row(how, table)) return no_row(how, table);
  if (!(how->seconds > 0) && (how->given.stand_in || how->given.out || how->overwrite || how->given.data))
    return cli_fail(NULL, "experiment: --data, --output, --overwrite and --stand-in of a table require --budget");
  return CLI_OK;
}

int budget_write_configs(const char *folder, const budget_how *how) {
  return has_paper(how->paper) ? table_write_configs(folder, how->paper) : no_paper(how->paper);
}

static void list(const budget_how *how) {
  int first = 1;
  if (how->given.json) {
    budget_print_list_json(how);
    return;
  }
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *table = table_at(i);
    if (strcmp(table->paper, how->paper) != 0 || (how->table && strcmp(table->name, how->table) != 0)) continue;
    if (!first) putchar('\n');
    budget_print_list(table, how);
    first = 0;
  }
}

/* ---- a budget ---- */

static void add_cell(budget *work, table_cell cell) {
  for (size_t seed = 0; seed < work->how->seeds; seed++) {
    budget_run *run = &work->run[work->runs++];
    run->cell = cell;
    run->row = work->rows;
    run->full_seconds = (double)NAN;
    if (work->how->seeds > 1) snprintf(run->seed, sizeof run->seed, "%zu", seed);
    for (size_t width = 0; width < BUDGET_WIDTHS; width++) run->step[width] = run->begin[width] = (double)NAN;
  }
}

static int allocate(budget *work) {
  const paper_table *table = work->table;
  work->row = calloc(table->rows + 1, sizeof *work->row);
  work->run = calloc(table->rows * table->columns * work->how->seeds + 1, sizeof *work->run);
  if (!work->row || !work->run) return cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < table->rows; i++) {
    if (work->how->row && strcmp(work->how->row, table->row[i].slug) != 0) continue;
    work->row[work->rows] = (budget_row){.row = &table->row[i], .part = 1};
    for (size_t k = 0; k < table->columns; k++) {
      if (table_has(table, &table->row[i], k)) add_cell(work, (table_cell){table, &table->row[i], &table->column[k]});
    }
    work->rows++;
  }
  return work->rows ? CLI_OK
                    : cli_fail(NULL, "%s of %s: %s: %s", table->place, table->paper, table->left_out[0].what,
                               table->left_out[0].why);
}

static int open_folder(budget *work) {
  int n = work->how->given.out ? asprintf(&work->folder, "%s", work->how->given.out)
                               : asprintf(&work->folder, "%s-%s.table", work->table->paper, work->table->name);
  if (n < 0) return cli_fail(NULL, "out of memory");
  if (mkdir(work->folder, 0777) != 0 && errno != EEXIST) return cli_fail(work->folder, "%s", strerror(errno));
  int status = cli_folder_lock(&work->lock, work->folder, "experiment");
  if (status == CLI_OK) (void)cli_folder_clean(work->lock);
  return status;
}

static void print_stop(const budget *work, int stopped) {
  size_t done = 0, all = 0;
  for (size_t i = 0; i < work->runs; i++) {
    done += work->run[i].done != 0;
    all += work->row[work->run[i].row].steps != 0;
  }
  cli_note("stopped by %s with %zu of %zu runs done; the same command continues", strsignal(stopped), done, all);
}

static int show_all(const budget *work) {
  char *path = NULL;
  int status = budget_write_csv(work);
  if (status == CLI_OK && asprintf(&path, "%s/table.json", work->folder) < 0) status = cli_fail(NULL, "out of memory");
  if (status == CLI_OK) status = cli_own_text(path, budget_print_json, work);
  free(path);
  if (status != CLI_OK) return status;
  if (work->how->given.json) {
    budget_print_json(stdout, work);
  } else {
    budget_print(stdout, work);
  }
  return CLI_OK;
}

static int run(budget *work, int *stopped) {
  int status = allocate(work);
  if (status == CLI_OK) status = budget_find_data(work);
  if (status == CLI_OK) status = open_folder(work);
  if (status == CLI_OK) status = budget_plan(work);
  if (status == CLI_OK) status = budget_do(work, stopped);
  if (status == CLI_OK && *stopped) print_stop(work, *stopped);
  return status == CLI_OK && !*stopped ? show_all(work) : status;
}

int budget_command(const budget_how *how) {
  budget work = {.how = how, .lock = -1, .started = progress_seconds(), .smallest = (double)NAN};
  int status = check(how), stopped = 0;
  if (status != CLI_OK) return status;
  if (!(how->seconds > 0)) {
    list(how);
    return CLI_OK;
  }
  work.table = find_table(how);
  status = run(&work, &stopped);
  if (work.lock >= 0) close(work.lock);
  free(work.folder);
  free(work.row);
  free(work.run);
  if (stopped) raise(stopped); /* takes its default effect */
  return status == CLI_OK && isfinite(work.smallest) ? CLI_DIFFERENT : status;
}
