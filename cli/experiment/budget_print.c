/* SPDX-License-Identifier: MIT */
/* What is printed of a table and of its runs: see budget.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/experiment/budget.h"
#include "cli/experiment/csv.h"

/* ---- for reading ---- */

static size_t widest(const paper_table *table, int columns) {
  size_t z = 6, n = columns ? table->columns : table->rows;
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(columns ? table->column[i].name : table->row[i].name);
    if (length > z) z = length;
  }
  return z;
}

/* Returns the paper's figure where the run is the table's own: not cut, not changed by --set, not on other data. */
static const char *figure_beside(const budget *work, const budget_run *run) {
  const budget_row *row = &work->row[run->row];
  const char *const *pair = work->how->given.pairs;
  while (pair && pair[0] && strcmp(pair[0], "run.threads") == 0) pair += 2;
  int own = !work->how->given.stand_in && !(pair && pair[0]) && row->part == 1 && row->steps == row->full_steps;
  return own ? table_cell_figure(&run->cell) : "";
}

static void print_names(FILE *out, const table_cell *cell, const char *text) {
  char figure[40];
  snprintf(figure, sizeof figure, "%s%s", *text ? text : "-", *text ? table_unit(cell->row) : "");
  fprintf(out, "%-*s  %-*s  %-15s", (int)widest(cell->table, 0), cell->row->name, (int)widest(cell->table, 1),
          cell->column->name, figure);
}

static void print_head(FILE *out, const paper_table *table) {
  fprintf(out, "%s, %s: %s\n%s\n", table->paper, table->place, table->title, table->source);
  if (table->chosen) fprintf(out, "%s\n", table->chosen);
  if (table->differs) fprintf(out, "NOT THE PAPER'S, which therefore has no figures here: %s\n", table->differs);
}

static void print_chosen(FILE *out, const table_row *row) {
  if (row->chosen) fprintf(out, "%s: %s\n", row->name, row->chosen);
  if (row->differs) fprintf(out, "%s IS NOT THE PAPER'S: %s\n", row->name, row->differs);
}

static void print_left_out(FILE *out, const paper_table *table) {
  for (size_t i = 0; i < table->left_outs; i++)
    fprintf(out, "not here: %s: %s\n", table->left_out[i].what, table->left_out[i].why);
}

static int is_row(const budget_how *how, const table_row *row) { return !how->row || strcmp(how->row, row->slug) == 0; }

void budget_print_list(const paper_table *table, const budget_how *how) {
  char time[TABLE_TIME_MAX];
  print_head(stdout, table);
  if (table->columns)
    printf("%-*s  %-*s  %-15s%12s  %s\n", (int)widest(table, 0), "row", (int)widest(table, 1), "column", "paper",
           "steps", "full size, one thread");
  for (size_t k = 0; k < table->rows * table->columns; k++) {
    const table_cell cell = {table, &table->row[k / table->columns], &table->column[k % table->columns]};
    if (!table_has(table, cell.row, k % table->columns) || !is_row(how, cell.row)) continue;
    table_size size = table_full_size(&cell);
    print_names(stdout, &cell, table_cell_figure(&cell));
    printf("%12.0f  %s\n", size.steps, isfinite(size.seconds) ? table_time(time, size.seconds) : "not measured");
  }
  for (size_t i = 0; i < table->rows; i++) {
    if (is_row(how, &table->row[i])) print_chosen(stdout, &table->row[i]);
  }
  print_left_out(stdout, table);
}

static void print_cut(FILE *out, const budget *work, const budget_run *run) {
  const budget_row *row = &work->row[run->row];
  const budget_cell cell = budget_cell_of(work, run);
  char time[TABLE_TIME_MAX];
  fprintf(out, "  %-9s", isfinite(run->full_seconds) ? table_time(time, run->full_seconds) : "-");
  if (*row->left) {
    fprintf(out, "  left out: %s", row->left);
    return;
  }
  if (row->part < 1) fprintf(out, "  width x %s,", DECIMAL(row->part));
  if (row->steps == row->full_steps) {
    fputs("  all steps", out);
  } else if (row->steps % row->an_epoch == 0) {
    fprintf(out, "  %llu of %llu epochs", (unsigned long long)(row->steps / row->an_epoch),
            (unsigned long long)(row->full_steps / row->an_epoch));
  } else {
    fprintf(out, "  %llu of %llu steps", (unsigned long long)row->steps, (unsigned long long)row->full_steps);
  }
  fprintf(out, ", %s", cell.done ? table_time(time, cell.seconds) : "not run");
}

/* Prints each data set once. */
static void print_data(FILE *out, const budget *work) {
  for (size_t i = 0; work->how->given.stand_in && i < work->rows; i++) {
    const table_data *data = work->row[i].row->data;
    size_t k = 0;
    while (work->row[k].row->data != data) k++;
    if (k < i) continue;
    fprintf(out, "THE DATA ARE NOT THE PAPER'S: %s in place of %s.\n", data->stand_in_is, data->name);
  }
}

/* Writes "91.2 +- 0.3, best 91.6 (accuracy, %)": mean and deviation of the seeds, mean of their best epochs. */
static void say_ours(char *text, size_t size, const budget *work, const budget_run *run) {
  const budget_cell cell = budget_cell_of(work, run);
  char deviation[40] = "", best[40] = "";
  if (isfinite(cell.deviation)) snprintf(deviation, sizeof deviation, " +- %s", ROUNDED(cell.deviation, 2));
  if (isfinite(cell.best)) snprintf(best, sizeof best, ", best %s", ROUNDED(cell.best, 4));
  if (!cell.done) {
    snprintf(text, size, "-");
  } else {
    snprintf(text, size, "%s%s%s (%s)", ROUNDED(cell.figure, 4), deviation, best, run->measure);
  }
}

static int is_cut(const budget *work) {
  for (size_t i = 0; i < work->rows; i++) {
    if (*work->row[i].left || work->row[i].part < 1 || work->row[i].steps != work->row[i].full_steps) return 1;
  }
  return 0;
}

void budget_print(FILE *out, const budget *work) {
  const paper_table *table = work->table;
  char time[TABLE_TIME_MAX];
  print_head(out, table);
  print_data(out, work);
  if (is_cut(work))
    fprintf(out,
            "Cut to %s, in this order: epochs to a tenth, width to a half and a quarter, epochs to one, steps, rows. "
            "A run that is cut has no figure of the paper beside it.\n",
            table_time(time, work->how->seconds));
  if (isfinite(work->smallest))
    fprintf(out, "Nothing was run: with --budget %.0fs something would be.\n", work->smallest);
  fprintf(out, "%-*s  %-*s  %-15s%-22s  %-9s  %s\n", (int)widest(table, 0), "row", (int)widest(table, 1), "column",
          "paper", "ours", "full size", "run");
  for (size_t i = 0; i < work->runs; i += work->how->seeds) {
    const budget_run *run = &work->run[i];
    char ours[120];
    say_ours(ours, sizeof ours, work, run);
    print_names(out, &run->cell, figure_beside(work, run));
    fprintf(out, "%-22s", ours);
    print_cut(out, work, run);
    fputc('\n', out);
  }
  for (size_t i = 0; i < work->rows; i++) print_chosen(out, work->row[i].row);
  print_left_out(out, table);
}

/* ---- JSON ---- */

/* A number that there is where `known` says so. */
static cli_value if_known(int known, double x) { return cli_known(known ? x : (double)NAN); }

static void json_table(FILE *out, const paper_table *table, int stand_in, double seconds, double took) {
  cli_json(out, "{'paper': ?, 'table': ?, 'source': ?, 'title': ?, 'chosen': ?, 'differs': ?, ", JSON(table->paper),
           JSON(table->name), JSON(table->source), JSON(table->title), JSON(table->chosen), JSON(table->differs));
  cli_json(out, "'stand_in': ?, 'budget': ?, 'took': ?", cli_truth(stand_in), cli_known(seconds), cli_known(took));
}

static void json_left_out(FILE *out, const paper_table *table) {
  fputs("],\n \"left_out\": [", out);
  for (size_t i = 0; i < table->left_outs; i++) {
    cli_json(out, "?{'what': ?, 'why': ?}", cli_comma(i == 0), JSON(table->left_out[i].what),
             JSON(table->left_out[i].why));
  }
  fputs("]}", out);
}

static void json_cell(FILE *out, const table_cell *cell, const char *figure, int first) {
  char name[TABLE_NAME_MAX];
  cli_json(out,
           "?\n  {'name': ?, 'row': ?, 'column': ?, 'paper_figure': ?, 'paper_measure': ?, 'row_chosen': ?, "
           "'row_differs': ?",
           cli_plain(first ? "" : ","), JSON(table_cell_name(name, cell)), JSON(cell->row->name),
           JSON(cell->column->name), JSON(*figure ? figure : NULL), JSON(table_measure(cell->row)),
           JSON(cell->row->chosen), JSON(cell->row->differs));
}

static void json_listed(FILE *out, const paper_table *table, const budget_how *how) {
  int first = 1;
  json_table(out, table, 0, (double)NAN, (double)NAN);
  fputs(",\n \"runs\": [", out);
  for (size_t k = 0; k < table->rows * table->columns; k++) {
    const table_cell cell = {table, &table->row[k / table->columns], &table->column[k % table->columns]};
    if (!table_has(table, cell.row, k % table->columns) || !is_row(how, cell.row)) continue;
    table_size size = table_full_size(&cell);
    json_cell(out, &cell, table_cell_figure(&cell), first);
    cli_json(out, ", 'full_steps': ?, 'full_seconds': ?}", cli_known(size.steps), cli_known(size.seconds));
    first = 0;
  }
  json_left_out(out, table);
}

void budget_print_list_json(const budget_how *how) {
  int first = 1;
  fputc('[', stdout);
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *table = table_at(i);
    if (strcmp(table->paper, how->paper) != 0 || (how->table && strcmp(table->name, how->table) != 0)) continue;
    if (!first) printf(",\n");
    json_listed(stdout, table, how);
    first = 0;
  }
  printf("]\n");
}

static void json_run(FILE *out, const budget *work, const budget_run *run, int first) {
  const budget_row *row = &work->row[run->row];
  const budget_cell cell = budget_cell_of(work, run);
  int cut = row->steps != 0;
  char digest[24];
  json_cell(out, &run->cell, figure_beside(work, run), first);
  snprintf(digest, sizeof digest, "%016llx", (unsigned long long)run->digest);
  cli_json(out, ", 'full_steps': ?, 'full_seconds': ?, 'left_out': ?, 'width': ?, 'steps': ?, 'epochs': ?, ",
           if_known(row->full_steps != 0, (double)row->full_steps), cli_known(run->full_seconds),
           JSON(*row->left ? row->left : NULL), if_known(cut, row->part), if_known(cut, (double)row->steps),
           if_known(cut, (double)row->steps / (double)row->an_epoch));
  cli_json(out, "'seeds': ?, 'figure': ?, 'deviation': ?, 'best': ?, 'measure': ?, 'test_loss': ?, ", JSON(cell.done),
           cli_known(cell.figure), cli_known(cell.deviation), cli_known(cell.best),
           JSON(run->done ? run->measure : NULL), cli_known(cell.test_loss));
  cli_json(out, "'seconds': ?, 'skipped': ?, 'digest': ?}", if_known(cell.done != 0, cell.seconds),
           if_known(run->done, (double)run->skipped), JSON(run->done ? digest : NULL));
}

void budget_print_json(FILE *out, const void *what) {
  const budget *work = what;
  json_table(out, work->table, work->how->given.stand_in, work->how->seconds, progress_seconds() - work->started);
  cli_json(out, ", 'smallest_budget': ?,\n 'runs': [", cli_known(work->smallest));
  for (size_t i = 0; i < work->runs; i += work->how->seeds) json_run(out, work, &work->run[i], i == 0);
  json_left_out(out, work->table);
  fputc('\n', out);
}

/* ---- table.csv ---- */

static void print_csv(FILE *out, const void *what) {
  const budget *work = what;
  fputs("row,column,paper,seeds,ours,deviation,best,measure,width,steps,full_steps,seconds,full_seconds,digest\n", out);
  for (size_t i = 0; i < work->runs; i += work->how->seeds) {
    const budget_run *run = &work->run[i];
    const budget_row *row = &work->row[run->row];
    const budget_cell cell = budget_cell_of(work, run);
    csv_text(out, run->cell.row->name);
    fputc(',', out);
    csv_text(out, run->cell.column->name);
    fputc(',', out);
    csv_text(out, figure_beside(work, run));
    fprintf(out, ",%zu", cell.done);
    csv_number(out, cell.figure);
    csv_number(out, cell.deviation);
    csv_number(out, cell.best);
    fputc(',', out);
    csv_text(out, run->measure);
    csv_number(out, row->steps ? row->part : (double)NAN);
    fprintf(out, ",%llu,%llu", (unsigned long long)row->steps, (unsigned long long)row->full_steps);
    csv_number(out, cell.done ? cell.seconds : (double)NAN);
    csv_number(out, run->full_seconds);
    if (run->done) {
      fprintf(out, ",%016llx\n", (unsigned long long)run->digest);
    } else {
      fputs(",\n", out);
    }
  }
}

int budget_write_csv(const budget *work) {
  char *path = NULL;
  if (asprintf(&path, "%s/table.csv", work->folder) < 0) return cli_fail(NULL, "out of memory");
  int status = cli_own_text(path, print_csv, work);
  free(path);
  return status;
}
