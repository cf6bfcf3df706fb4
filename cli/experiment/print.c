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

static void text_field(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  cli_json_string(stdout, text);
}

static void number_field(const char *name, double x) {
  printf(", \"%s\": ", name);
  cli_json_known(stdout, x);
}

static void print_entry(const hu_experiment *experiment) {
  printf("{\"id\": ");
  cli_json_string(stdout, experiment->name);
  text_field("source", experiment->source);
  text_field("figure", experiment->figure);
  text_field("shows", experiment->shows);
  text_field("expected", experiment->expected);
  printf(", \"seconds\": %u, \"runs\": %zu, \"quick\": %s, \"seeded\": %s", experiment->seconds, experiment->runs,
         experiment->quick ? "true" : "false", experiment->seeded ? "true" : "false");
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
  printf("{\"name\": ");
  cli_json_string(stdout, row->name);
  number_field("loss", row->loss);
  number_field("test_loss", row->test_loss);
  number_field("accuracy", row->accuracy);
  number_field("r2", row->r2);
  number_field("lost", row->lost);
  number_field("scale", row->scale);
  number_field("low", row->low);
  printf(", \"seeds\": %zu", row->seeds);
  number_field("loss_deviation", row->loss_deviation);
  number_field("test_loss_deviation", row->test_loss_deviation);
  number_field("accuracy_deviation", row->accuracy_deviation);
  number_field("r2_deviation", row->r2_deviation);
  printf(", \"steps\": %llu, \"skipped\": %llu, \"promoted\": %zu, \"digest\": \"%016llx\"",
         (unsigned long long)row->steps, (unsigned long long)row->skipped, row->promoted,
         (unsigned long long)row->digest);
  if (row->keys) text_field("keys", row->keys);
  putchar('}');
}

static void json_numbers(const char *name, const double *x, size_t n) {
  printf(", \"%s\": [", name);
  for (size_t i = 0; i < n; i++) {
    if (i) printf(", ");
    cli_json_known(stdout, x[i]);
  }
  putchar(']');
}

static void json_figure(const hu_experiment_figure *figure) {
  printf("{\"name\": ");
  cli_json_string(stdout, figure->name);
  text_field("title", figure->title);
  text_field("x", figure->x);
  text_field("y", figure->y);
  printf(", \"series\": [");
  for (size_t i = 0; i < figure->count; i++) {
    const hu_experiment_series *series = &figure->series[i];
    printf("%s\n    {\"name\": ", i ? "," : "");
    cli_json_string(stdout, series->name);
    if (figure->kind == HU_FIGURE_BARS) number_field("zeros", series->zeros);
    json_numbers("x", series->x, series->count);
    json_numbers("y", series->y, series->count);
    putchar('}');
  }
  printf("]}");
}

static void json_table(const hu_experiment_table *table) {
  printf("{\"title\": ");
  cli_json_string(stdout, table->title);
  printf(", \"columns\": [");
  for (size_t j = 0; j < table->cols; j++) {
    if (j) printf(", ");
    cli_json_string(stdout, table->col_name[j]);
  }
  printf("], \"rows\": [");
  for (size_t i = 0; i < table->rows; i++) {
    printf("%s{\"name\": ", i ? ", " : "");
    cli_json_string(stdout, table->row_name[i]);
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
  printf("{\"holds\": %s", claim->holds ? "true" : "false");
  text_field("claim", claim->text);
  putchar('}');
}

void experiment_print_json(const experiment_result *result) {
  const hu_experiment_report *report = result->report;
  print_entry(&result->what);
  number_field("took", result->seconds);
  LIST("rows", report->rows, json_row(&report->row[i]));
  LIST("claims", report->claims, json_claim(&report->claim[i]));
  LIST("tables", report->tables, json_table(&report->table[i]));
  LIST("figures", report->figures, json_figure(&report->figure[i]));
  putchar('}');
}
