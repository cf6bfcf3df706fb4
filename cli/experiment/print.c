/* SPDX-License-Identifier: MIT */
/* What an experiment prints: see experiment.h. */
#include "cli/experiment/experiment.h"

#include <math.h>
#include <stdio.h>

#include "cli/base/cli.h"

double experiment_r2(const hu_experiment_row *row) { return row->r2; }
double experiment_accuracy(const hu_experiment_row *row) { return row->accuracy; }
double experiment_low(const hu_experiment_row *row) { return row->low > 0 || row->promoted ? row->low : (double)NAN; }

int experiment_has(const hu_experiment_report *report, double (*number)(const hu_experiment_row *row)) {
  for (size_t i = 0; i < report->rows; i++) {
    if (!isnan(number(&report->row[i]))) return 1;
  }
  return 0;
}

/* ---- for reading ---- */

static void cell(int width, int digits, double x) {
  if (isnan(x)) {
    printf(" %*s", width, "-");
  } else {
    printf(" %*.*f", width, digits, x);
  }
}

static int name_width(const hu_experiment_report *report) {
  size_t z = 24;
  for (size_t i = 0; i < report->rows; i++) {
    size_t n = 0;
    while (report->row[i].name[n]) n++;
    if (n > z) z = n;
  }
  return (int)z;
}

/* Prints a mean's deviation beside it, where there are several seeds. */
static void deviation(const hu_experiment_row *row, double x) {
  if (row->seeds > 1) cell(7, 4, x);
}

static void heading(const hu_experiment_report *report, int width, const char *text) {
  printf(" %*s", width, text);
  if (report->row[0].seeds > 1) printf(" %7s", "+-");
}

static void print_rows(const hu_experiment_report *report) {
  int accuracy = experiment_has(report, experiment_accuracy), r2 = experiment_has(report, experiment_r2);
  int low = experiment_has(report, experiment_low), width = name_width(report);
  if (!report->rows) return;
  printf("%-*s", width, "run");
  heading(report, 10, "loss");
  heading(report, 10, "test loss");
  if (accuracy) heading(report, 8, "accuracy");
  if (r2) heading(report, 8, "R2");
  printf(" %7s %7s", "skipped", "lost");
  if (low) printf(" %7s %8s", "low", "promoted");
  printf("  %-16s\n", "weights");
  for (size_t i = 0; i < report->rows; i++) {
    const hu_experiment_row *row = &report->row[i];
    printf("%-*s", width, row->name);
    cell(10, 4, row->loss);
    deviation(row, row->loss_deviation);
    cell(10, 4, row->test_loss);
    deviation(row, row->test_loss_deviation);
    if (accuracy) cell(8, 4, row->accuracy);
    if (accuracy) deviation(row, row->accuracy_deviation);
    if (r2) cell(8, 4, row->r2);
    if (r2) deviation(row, row->r2_deviation);
    printf(" %7llu", (unsigned long long)row->skipped);
    cell(7, 3, row->lost);
    if (low) cell(7, 3, row->low);
    if (low) printf(" %8zu", row->promoted);
    printf("  %016llx\n", (unsigned long long)row->digest);
  }
  if (report->row[0].seeds > 1)
    printf("\nmeans and standard deviations of %zu seeds; skipped%s and weights are those of the first seed\n",
           report->row[0].seeds, low ? ", promoted" : "");
}

static void print_table(const hu_experiment_table *table) {
  printf("\n%s\n%-32s", table->title, "");
  for (size_t j = 0; j < table->cols; j++) printf(" %18s", table->col_name[j]);
  putchar('\n');
  for (size_t i = 0; i < table->rows; i++) {
    printf("%-32s", table->row_name[i]);
    for (size_t j = 0; j < table->cols; j++) printf(" %18.6g", table->cell[i * table->cols + j]);
    putchar('\n');
  }
}

void experiment_print(const experiment_result *result) {
  const hu_experiment_report *report = result->report;
  printf("%s\n%s, %s\n\n", result->what.shows, result->what.source, result->what.figure);
  print_rows(report);
  for (size_t i = 0; i < report->tables; i++) print_table(&report->table[i]);
  putchar('\n');
  for (size_t i = 0; i < report->claims; i++)
    printf("%s: %s\n", report->claim[i].holds ? "holds" : "FAILS", report->claim[i].text);
}

/* ---- for machines ---- */

static void print_entry(const hu_experiment *experiment) {
  cli_json(stdout, "{'id': ?, 'source': ?, 'figure': ?, 'shows': ?, 'expected': ?, ", JSON(experiment->name),
           JSON(experiment->source), JSON(experiment->figure), JSON(experiment->shows), JSON(experiment->expected));
  cli_json(stdout, "'seconds': ?, 'runs': ?, 'quick': ?, 'seeded': ?", JSON(experiment->seconds),
           JSON(experiment->runs), cli_truth(experiment->quick), cli_truth(experiment->seeded));
}

void experiment_list_json(void) {
  putchar('[');
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment experiment = hu_experiment_at(i);
    printf("%s\n  ", i ? "," : "");
    print_entry(&experiment);
    putchar('}');
  }
  printf("\n]\n");
}

static void json_row(const hu_experiment_row *row) {
  cli_json(stdout, "{'name': ?, 'loss': ?, 'test_loss': ?, 'accuracy': ?, 'r2': ?, 'lost': ?, 'scale': ?, 'low': ?, ",
           JSON(row->name), cli_known(row->loss), cli_known(row->test_loss), cli_known(row->accuracy),
           cli_known(row->r2), cli_known(row->lost), cli_known(row->scale), cli_known(row->low));
  cli_json(stdout, "'seeds': ?, 'loss_deviation': ?, 'test_loss_deviation': ?, 'accuracy_deviation': ?, ",
           JSON(row->seeds), cli_known(row->loss_deviation), cli_known(row->test_loss_deviation),
           cli_known(row->accuracy_deviation));
  cli_json(stdout, "'r2_deviation': ?, 'steps': ?, 'skipped': ?, 'promoted': ?, ", cli_known(row->r2_deviation),
           JSON(row->steps), JSON(row->skipped), JSON(row->promoted));
  printf("\"digest\": \"%016llx\"", (unsigned long long)row->digest);
  if (row->keys) cli_json(stdout, ", 'keys': ?", JSON(row->keys));
  putchar('}');
}

static void json_numbers(const char *name, const double *x, size_t n) {
  cli_json(stdout, ", ?: [", JSON(name));
  for (size_t i = 0; i < n; i++) cli_json(stdout, "??", cli_comma(i == 0), cli_known(x[i]));
  putchar(']');
}

static void json_figure(const hu_experiment_figure *figure) {
  cli_json(stdout, "{'name': ?, 'title': ?, 'x': ?, 'y': ?, 'series': [", JSON(figure->name), JSON(figure->title),
           JSON(figure->x), JSON(figure->y));
  for (size_t i = 0; i < figure->count; i++) {
    const hu_experiment_series *series = &figure->series[i];
    cli_json(stdout, "?\n    {'name': ?", cli_plain(i ? "," : ""), JSON(series->name));
    if (figure->kind == HU_FIGURE_BARS) cli_json(stdout, ", 'zeros': ?", cli_known(series->zeros));
    json_numbers("x", series->x, series->count);
    json_numbers("y", series->y, series->count);
    putchar('}');
  }
  printf("]}");
}

static void json_table(const hu_experiment_table *table) {
  cli_json(stdout, "{'title': ?, 'columns': [", JSON(table->title));
  for (size_t j = 0; j < table->cols; j++) cli_json(stdout, "??", cli_comma(j == 0), JSON(table->col_name[j]));
  printf("], \"rows\": [");
  for (size_t i = 0; i < table->rows; i++) {
    cli_json(stdout, "?{'name': ?", cli_comma(i == 0), JSON(table->row_name[i]));
    json_numbers("cells", &table->cell[i * table->cols], table->cols);
    putchar('}');
  }
  printf("]}");
}

/* Prints "what": [items]. */
#define LIST(what, count, item)            \
  do {                                     \
    printf(",\n \"" what "\": [");         \
    for (size_t i = 0; i < (count); i++) { \
      printf("%s\n  ", i ? "," : "");      \
      item;                                \
    }                                      \
    putchar(']');                          \
  } while (0)

static void json_claim(const hu_experiment_claim *claim) {
  cli_json(stdout, "{'holds': ?, 'claim': ?}", cli_truth(claim->holds), JSON(claim->text));
}

void experiment_print_json(const experiment_result *result) {
  const hu_experiment_report *report = result->report;
  print_entry(&result->what);
  cli_json(stdout, ", 'took': ?", cli_known(result->seconds));
  LIST("rows", report->rows, json_row(&report->row[i]));
  LIST("claims", report->claims, json_claim(&report->claim[i]));
  LIST("tables", report->tables, json_table(&report->table[i]));
  LIST("figures", report->figures, json_figure(&report->figure[i]));
  putchar('}');
}
