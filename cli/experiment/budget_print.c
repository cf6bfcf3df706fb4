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

static size_t widest(const paper_table *t, int columns) {
  size_t z = 6, n = columns ? t->columns : t->rows;
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(columns ? t->column[i].name : t->row[i].name);
    if (length > z) z = length;
  }
  return z;
}

static void print_names(FILE *out, const table_cell *x) {
  char figure[40];
  const char *text = table_cell_figure(x);
  snprintf(figure, sizeof figure, "%s%s", *text ? text : "drawn", *text ? table_unit(x->row) : "");
  fprintf(out, "%-*s  %-*s  %-15s", (int)widest(x->table, 0), x->row->name, (int)widest(x->table, 1), x->column->name,
          figure);
}

static void print_head(FILE *out, const paper_table *t) {
  fprintf(out, "%s, %s: %s\n%s\n", t->paper, t->place, t->title, t->source);
  if (t->chosen) fprintf(out, "%s\n", t->chosen);
  if (t->other_data) fprintf(out, "OTHER DATA: %s.\n", t->other_data);
}

static void print_chosen(FILE *out, const table_row *row) {
  if (row->chosen) fprintf(out, "%s: %s\n", row->name, row->chosen);
}

static void print_left_out(FILE *out, const paper_table *t) {
  for (size_t i = 0; i < t->left_outs; i++) fprintf(out, "not here: %s: %s\n", t->left_out[i].what, t->left_out[i].why);
}

static int is_row(const budget_how *how, const table_row *row) { return !how->row || strcmp(how->row, row->slug) == 0; }

void budget_print_list(const paper_table *t, const budget_how *how) {
  char time[TABLE_TIME_MAX];
  print_head(stdout, t);
  if (t->columns)
    printf("%-*s  %-*s  %-15s%12s  %s\n", (int)widest(t, 0), "row", (int)widest(t, 1), "column", "paper", "steps",
           "full size, one thread");
  for (size_t k = 0; k < t->rows * t->columns; k++) {
    const table_cell x = {t, &t->row[k / t->columns], &t->column[k % t->columns]};
    if (!table_has(t, x.row, k % t->columns) || !is_row(how, x.row)) continue;
    table_size z = table_full_size(&x);
    print_names(stdout, &x);
    printf("%12.0f  %s\n", z.steps, isfinite(z.seconds) ? table_time(time, z.seconds) : "not measured");
  }
  for (size_t i = 0; i < t->rows; i++) {
    if (is_row(how, &t->row[i])) print_chosen(stdout, &t->row[i]);
  }
  print_left_out(stdout, t);
}

static void print_cut(FILE *out, const budget *b, const budget_run *r) {
  const budget_row *row = &b->row[r->row];
  char time[TABLE_TIME_MAX];
  fprintf(out, "  %-9s", isfinite(r->full_seconds) ? table_time(time, r->full_seconds) : "-");
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
  fprintf(out, ", %s", r->done ? table_time(time, r->seconds) : "not run");
}

/* Prints each data set once. */
static void print_data(FILE *out, const budget *b) {
  for (size_t i = 0; b->how->stand_in && i < b->rows; i++) {
    const table_data *d = b->row[i].row->data;
    size_t k = 0;
    while (b->row[k].row->data != d) k++;
    if (k < i) continue;
    fprintf(out,
            "THE DATA ARE NOT THE PAPER'S: %s. The paper's figures are of %s; ours are not to be compared with them.\n",
            d->stand_in_is, d->name);
  }
}

static int is_cut(const budget *b) {
  for (size_t i = 0; i < b->rows; i++) {
    if (*b->row[i].left || b->row[i].part < 1 || b->row[i].steps != b->row[i].full_steps) return 1;
  }
  return 0;
}

void budget_print(FILE *out, const budget *b) {
  const paper_table *t = b->table;
  char time[TABLE_TIME_MAX];
  print_head(out, t);
  print_data(out, b);
  if (is_cut(b))
    fprintf(out,
            "Cut to %s, in this order: epochs to a tenth, width to a half and a quarter, epochs to one, steps, rows. "
            "A run that is cut says little about the paper's figure.\n",
            table_time(time, b->how->seconds));
  fprintf(out, "%-*s  %-*s  %-15s%-22s  %-9s  %s\n", (int)widest(t, 0), "row", (int)widest(t, 1), "column", "paper",
          "ours", "full size", "run");
  for (size_t i = 0; i < b->runs; i++) {
    const budget_run *r = &b->run[i];
    char ours[64] = "-";
    if (r->done) snprintf(ours, sizeof ours, "%s (%s)", ROUNDED(r->figure, 4), r->measure);
    print_names(out, &r->cell);
    fprintf(out, "%-22s", ours);
    print_cut(out, b, r);
    fputc('\n', out);
  }
  for (size_t i = 0; i < b->rows; i++) print_chosen(out, b->row[i].row);
  print_left_out(out, t);
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

static void json_table(FILE *out, const paper_table *t, int stand_in, double seconds, double took) {
  fputs("{\"paper\": ", out);
  cli_json_string(out, t->paper);
  text_field(out, "table", t->name);
  text_field(out, "source", t->source);
  text_field(out, "title", t->title);
  text_field(out, "chosen", t->chosen);
  text_field(out, "other_data", t->other_data);
  fprintf(out, ", \"stand_in\": %s", stand_in ? "true" : "false");
  number_field(out, "budget", seconds);
  number_field(out, "took", took);
}

static void json_left_out(FILE *out, const paper_table *t) {
  fputs("],\n \"left_out\": [", out);
  for (size_t i = 0; i < t->left_outs; i++) {
    fprintf(out, "%s{\"what\": ", i ? ", " : "");
    cli_json_string(out, t->left_out[i].what);
    text_field(out, "why", t->left_out[i].why);
    fputc('}', out);
  }
  fputs("]}", out);
}

static void json_cell(FILE *out, const table_cell *x, int first) {
  char name[TABLE_NAME_MAX];
  fprintf(out, "%s\n  {\"name\": ", first ? "" : ",");
  cli_json_string(out, table_cell_name(name, x));
  text_field(out, "row", x->row->name);
  text_field(out, "column", x->column->name);
  text_field(out, "paper_figure", *table_cell_figure(x) ? table_cell_figure(x) : NULL);
  text_field(out, "paper_measure", table_measure(x->row));
  text_field(out, "row_chosen", x->row->chosen);
}

static void json_listed(FILE *out, const paper_table *t, const budget_how *how) {
  int first = 1;
  json_table(out, t, 0, (double)NAN, (double)NAN);
  fputs(",\n \"runs\": [", out);
  for (size_t k = 0; k < t->rows * t->columns; k++) {
    const table_cell x = {t, &t->row[k / t->columns], &t->column[k % t->columns]};
    if (!table_has(t, x.row, k % t->columns) || !is_row(how, x.row)) continue;
    table_size z = table_full_size(&x);
    json_cell(out, &x, first);
    number_field(out, "full_steps", z.steps);
    number_field(out, "full_seconds", z.seconds);
    fputc('}', out);
    first = 0;
  }
  json_left_out(out, t);
}

void budget_print_list_json(const budget_how *how) {
  int first = 1;
  fputc('[', stdout);
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *t = table_at(i);
    if (strcmp(t->paper, how->paper) != 0 || (how->table && strcmp(t->name, how->table) != 0)) continue;
    if (!first) printf(",\n");
    json_listed(stdout, t, how);
    first = 0;
  }
  printf("]\n");
}

static void json_run(FILE *out, const budget *b, const budget_run *r, int first) {
  const budget_row *row = &b->row[r->row];
  int cut = row->steps != 0;
  char digest[24];
  json_cell(out, &r->cell, first);
  count_field(out, "full_steps", row->full_steps != 0, row->full_steps);
  number_field(out, "full_seconds", r->full_seconds);
  text_field(out, "left_out", *row->left ? row->left : NULL);
  number_field(out, "width", cut ? row->part : (double)NAN);
  count_field(out, "steps", cut, row->steps);
  number_field(out, "epochs", cut ? (double)row->steps / (double)row->an_epoch : (double)NAN);
  number_field(out, "figure", r->done ? r->figure : (double)NAN);
  text_field(out, "measure", r->done ? r->measure : NULL);
  number_field(out, "test_loss", r->done ? r->test_loss : (double)NAN);
  number_field(out, "seconds", r->done ? r->seconds : (double)NAN);
  count_field(out, "skipped", r->done, r->skipped);
  snprintf(digest, sizeof digest, "%016llx", (unsigned long long)r->digest);
  text_field(out, "digest", r->done ? digest : NULL);
  fputc('}', out);
}

void budget_print_json(FILE *out, const void *what) {
  const budget *b = what;
  json_table(out, b->table, b->how->stand_in, b->how->seconds, progress_seconds() - b->started);
  fputs(",\n \"runs\": [", out);
  for (size_t i = 0; i < b->runs; i++) json_run(out, b, &b->run[i], i == 0);
  json_left_out(out, b->table);
  fputc('\n', out);
}

/* ---- table.csv ---- */

static void print_csv(FILE *out, const void *what) {
  const budget *b = what;
  fputs("row,column,paper,ours,measure,width,steps,full_steps,seconds,full_seconds,digest\n", out);
  for (size_t i = 0; i < b->runs; i++) {
    const budget_run *r = &b->run[i];
    const budget_row *row = &b->row[r->row];
    csv_text(out, r->cell.row->name);
    fputc(',', out);
    csv_text(out, r->cell.column->name);
    fputc(',', out);
    csv_text(out, table_cell_figure(&r->cell));
    csv_number(out, r->done ? r->figure : (double)NAN);
    fputc(',', out);
    csv_text(out, r->measure);
    csv_number(out, row->steps ? row->part : (double)NAN);
    fprintf(out, ",%llu,%llu", (unsigned long long)row->steps, (unsigned long long)row->full_steps);
    csv_number(out, r->done ? r->seconds : (double)NAN);
    csv_number(out, r->full_seconds);
    if (r->done) {
      fprintf(out, ",%016llx\n", (unsigned long long)r->digest);
    } else {
      fputs(",\n", out);
    }
  }
}

int budget_write_csv(const budget *b) {
  char *path = NULL;
  if (asprintf(&path, "%s/table.csv", b->folder) < 0) return cli_fail(NULL, "out of memory");
  int status = cli_own_text(path, print_csv, b);
  free(path);
  return status;
}
