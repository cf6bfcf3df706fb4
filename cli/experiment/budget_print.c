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

static void print_names(FILE *out, const table_cell *cell) {
  char figure[40];
  const char *text = table_cell_figure(cell);
  snprintf(figure, sizeof figure, "%s%s", *text ? text : "drawn", *text ? table_unit(cell->row) : "");
  fprintf(out, "%-*s  %-*s  %-15s", (int)widest(cell->table, 0), cell->row->name, (int)widest(cell->table, 1),
          cell->column->name, figure);
}

static void print_head(FILE *out, const paper_table *table) {
  fprintf(out, "%s, %s: %s\n%s\n", table->paper, table->place, table->title, table->source);
  if (table->chosen) fprintf(out, "%s\n", table->chosen);
  if (table->other_data) fprintf(out, "OTHER DATA: %s.\n", table->other_data);
}

static void print_chosen(FILE *out, const table_row *row) {
  if (row->chosen) fprintf(out, "%s: %s\n", row->name, row->chosen);
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
    print_names(stdout, &cell);
    printf("%12.0f  %s\n", size.steps, isfinite(size.seconds) ? table_time(time, size.seconds) : "not measured");
  }
  for (size_t i = 0; i < table->rows; i++) {
    if (is_row(how, &table->row[i])) print_chosen(stdout, &table->row[i]);
  }
  print_left_out(stdout, table);
}

static void print_cut(FILE *out, const budget *work, const budget_run *run) {
  const budget_row *row = &work->row[run->row];
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
  fprintf(out, ", %s", run->done ? table_time(time, run->seconds) : "not run");
}

/* Prints each data set once. */
static void print_data(FILE *out, const budget *work) {
  for (size_t i = 0; work->how->stand_in && i < work->rows; i++) {
    const table_data *data = work->row[i].row->data;
    size_t k = 0;
    while (work->row[k].row->data != data) k++;
    if (k < i) continue;
    fprintf(out,
            "THE DATA ARE NOT THE PAPER'S: %s. The paper's figures are of %s; ours are not to be compared with them.\n",
            data->stand_in_is, data->name);
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
            "A run that is cut says little about the paper's figure.\n",
            table_time(time, work->how->seconds));
  fprintf(out, "%-*s  %-*s  %-15s%-22s  %-9s  %s\n", (int)widest(table, 0), "row", (int)widest(table, 1), "column",
          "paper", "ours", "full size", "run");
  for (size_t i = 0; i < work->runs; i++) {
    const budget_run *run = &work->run[i];
    char ours[64] = "-";
    if (run->done) snprintf(ours, sizeof ours, "%s (%s)", ROUNDED(run->figure, 4), run->measure);
    print_names(out, &run->cell);
    fprintf(out, "%-22s", ours);
    print_cut(out, work, run);
    fputc('\n', out);
  }
  for (size_t i = 0; i < work->rows; i++) print_chosen(out, work->row[i].row);
  print_left_out(out, table);
}

/* ---- JSON ---- */

static void text_field(FILE *out, const char *name, const char *text) {
  fprintf(out, ", \"%s\": ", name);
  if (text) {
    cli_json_string(out, text);
  } else {
    fputs("null", out);
  }
}

static void number_field(FILE *out, const char *name, double x) {
  fprintf(out, ", \"%s\": ", name);
  cli_json_known(out, x);
}

static void count_field(FILE *out, const char *name, int known, uint64_t n) {
  fprintf(out, known ? ", \"%s\": %llu" : ", \"%s\": null", name, (unsigned long long)n);
}

static void json_table(FILE *out, const paper_table *table, int stand_in, double seconds, double took) {
  fputs("{\"paper\": ", out);
  cli_json_string(out, table->paper);
  text_field(out, "table", table->name);
  text_field(out, "source", table->source);
  text_field(out, "title", table->title);
  text_field(out, "chosen", table->chosen);
  text_field(out, "other_data", table->other_data);
  fprintf(out, ", \"stand_in\": %s", stand_in ? "true" : "false");
  number_field(out, "budget", seconds);
  number_field(out, "took", took);
}

static void json_left_out(FILE *out, const paper_table *table) {
  fputs("],\n \"left_out\": [", out);
  for (size_t i = 0; i < table->left_outs; i++) {
    fprintf(out, "%s{\"what\": ", i ? ", " : "");
    cli_json_string(out, table->left_out[i].what);
    text_field(out, "why", table->left_out[i].why);
    fputc('}', out);
  }
  fputs("]}", out);
}

static void json_cell(FILE *out, const table_cell *cell, int first) {
  char name[TABLE_NAME_MAX];
  fprintf(out, "%s\n  {\"name\": ", first ? "" : ",");
  cli_json_string(out, table_cell_name(name, cell));
  text_field(out, "row", cell->row->name);
  text_field(out, "column", cell->column->name);
  text_field(out, "paper_figure", *table_cell_figure(cell) ? table_cell_figure(cell) : NULL);
  text_field(out, "paper_measure", table_measure(cell->row));
  text_field(out, "row_chosen", cell->row->chosen);
}

static void json_listed(FILE *out, const paper_table *table, const budget_how *how) {
  int first = 1;
  json_table(out, table, 0, (double)NAN, (double)NAN);
  fputs(",\n \"runs\": [", out);
  for (size_t k = 0; k < table->rows * table->columns; k++) {
    const table_cell cell = {table, &table->row[k / table->columns], &table->column[k % table->columns]};
    if (!table_has(table, cell.row, k % table->columns) || !is_row(how, cell.row)) continue;
    table_size size = table_full_size(&cell);
    json_cell(out, &cell, first);
    number_field(out, "full_steps", size.steps);
    number_field(out, "full_seconds", size.seconds);
    fputc('}', out);
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
  int cut = row->steps != 0;
  char digest[24];
  json_cell(out, &run->cell, first);
  count_field(out, "full_steps", row->full_steps != 0, row->full_steps);
  number_field(out, "full_seconds", run->full_seconds);
  text_field(out, "left_out", *row->left ? row->left : NULL);
  number_field(out, "width", cut ? row->part : (double)NAN);
  count_field(out, "steps", cut, row->steps);
  number_field(out, "epochs", cut ? (double)row->steps / (double)row->an_epoch : (double)NAN);
  number_field(out, "figure", run->done ? run->figure : (double)NAN);
  text_field(out, "measure", run->done ? run->measure : NULL);
  number_field(out, "test_loss", run->done ? run->test_loss : (double)NAN);
  number_field(out, "seconds", run->done ? run->seconds : (double)NAN);
  count_field(out, "skipped", run->done, run->skipped);
  snprintf(digest, sizeof digest, "%016llx", (unsigned long long)run->digest);
  text_field(out, "digest", run->done ? digest : NULL);
  fputc('}', out);
}

void budget_print_json(FILE *out, const void *what) {
  const budget *work = what;
  json_table(out, work->table, work->how->stand_in, work->how->seconds, progress_seconds() - work->started);
  fputs(",\n \"runs\": [", out);
  for (size_t i = 0; i < work->runs; i++) json_run(out, work, &work->run[i], i == 0);
  json_left_out(out, work->table);
  fputc('\n', out);
}

/* ---- table.csv ---- */

static void print_csv(FILE *out, const void *what) {
  const budget *work = what;
  fputs("row,column,paper,ours,measure,width,steps,full_steps,seconds,full_seconds,digest\n", out);
  for (size_t i = 0; i < work->runs; i++) {
    const budget_run *run = &work->run[i];
    const budget_row *row = &work->row[run->row];
    csv_text(out, run->cell.row->name);
    fputc(',', out);
    csv_text(out, run->cell.column->name);
    fputc(',', out);
    csv_text(out, table_cell_figure(&run->cell));
    csv_number(out, run->done ? run->figure : (double)NAN);
    fputc(',', out);
    csv_text(out, run->measure);
    csv_number(out, row->steps ? row->part : (double)NAN);
    fprintf(out, ",%llu,%llu", (unsigned long long)row->steps, (unsigned long long)row->full_steps);
    csv_number(out, run->done ? run->seconds : (double)NAN);
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
