/* SPDX-License-Identifier: MIT */
/* Compares formats on an array or a model: rounds its tensors into each of them, and prints a table of tensors by
 * formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/quantize/compare_table.h"

enum { NAME_MAX_SHOWN = 40 };

/* Makes one format's column: the common state with its target, and the preset's mode if it is one. */
static int prepare(compare_column *column, const compare_asked *asked, const char *text, const char *in) {
  column->asked = asked->common;
  if (cli_target_read(&column->asked.target, text) || cli_preset_mode(&column->asked.numeric, &column->asked.target))
    return CLI_BAD;
  column->asked.numeric.format_text = text;
  column->asked.numeric.format = column->asked.target.format;
  cli_job job = {0};
  if (column->asked.target.kind->check(&column->asked.target, &job)) return CLI_BAD;
  cli_target_name(column->name, &column->asked.target);
  column->results = (tensors_results){in, NULL, &column->asked, NULL, 0, 0};
  return CLI_OK;
}

static int measure(compare_column *column, const tensors_input *in) {
  char doing[64];
  snprintf(doing, sizeof doing, "compare %.40s", column->name);
  if (tensors_choose(&column->results, in) || tensors_measure(&column->results, in, doing)) return CLI_BAD;
  column->total = tensors_total(&column->results);
  return CLI_OK;
}

/* ---- text ---- */

typedef void (*cell)(char text[32], const tensors_result *result);

static void sqnr_cell(char text[32], const tensors_result *result) {
  if (isfinite(result->errors.sqnr))
    snprintf(text, 32, "%.2f", result->errors.sqnr);
  else
    snprintf(text, 32, "%s", result->errors.changed ? cli_no_sqnr(&result->errors) : "exact");
}
static void bits_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%s", ROUNDED(result->bits, 4));
}
static void error_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%.4g", result->errors.max_abs);
}
static void zeros_cell(char text[32], const tensors_result *result) { snprintf(text, 32, "%zu", result->errors.zeros); }
static void to_zero_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%llu", (unsigned long long)result->events.to_zero);
}
static void overflow_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%llu", (unsigned long long)result->events.overflow);
}

static void twice_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%llu", (unsigned long long)result->twice);
}
static int any_rounds_before(const compare_table *table) {
  int any = 0;
  for (int k = 0; k < table->count; k++) any |= table->columns[k].asked.target.rounds_before;
  return any;
}

static void share_cell(char text[32], const tensors_result *result, double part) {
  snprintf(text, 32, "%.2f", 100 * cli_causes_share(&result->causes, part));
}
static void scales_cell(char text[32], const tensors_result *result) {
  share_cell(text, result, result->causes.scale_noise);
}
static void dead_cell(char text[32], const tensors_result *result) {
  share_cell(text, result, result->causes.dead_noise);
}
static void saturated_cell(char text[32], const tensors_result *result) {
  share_cell(text, result, result->causes.saturated_noise);
}
static void grid_cell(char text[32], const tensors_result *result) {
  share_cell(text, result, result->causes.grid_noise);
}
static void bias_cell(char text[32], const tensors_result *result) {
  snprintf(text, 32, "%s", result->causes.count ? ROUNDED(cli_causes_bias(&result->causes), 4) : "-");
}

/* Shortens a long name to its end, which is where names of tensors differ. */
static const char *short_name(char text[ST_NAME_MAX], const char *name) {
  size_t n = strlen(st_printable(text, name)), from = n > NAME_MAX_SHOWN ? n - NAME_MAX_SHOWN : 0;
  while (from && ((unsigned char)text[from] & 0xC0) == 0x80) from++;
  return text + from;
}

static int width_of(const compare_column *column) {
  int n = (int)strlen(column->name);
  return n < 10 ? 10 : n;
}

static void print_total(const compare_table *table, int names, const char *name, cell make) {
  printf("  %-*s", names, name);
  for (int k = 0; k < table->count; k++) {
    char text[32];
    make(text, &table->columns[k].total);
    printf("  %*s", width_of(&table->columns[k]), text);
  }
  putchar('\n');
}

static int names_width(const tensors_results *results) {
  char text[ST_NAME_MAX];
  int width = (int)strlen("overflow of elements");
  for (size_t i = 0; i < results->count; i++) {
    int n = results->list[i].done ? (int)strlen(short_name(text, results->list[i].tensor->name)) : 0;
    if (n > width) width = n;
  }
  return width;
}

static void print_table(const compare_table *table) {
  char name[ST_NAME_MAX], in[CLI_SHOWN_MAX];
  const tensors_results *first = &table->columns[0].results;
  int names = names_width(first);
  printf("%s: %zu of %zu tensors, %zu elements\n  %-*s", cli_shown(in, table->in), first->done, first->count,
         table->columns[0].total.errors.count, names, "SQNR, dB");
  for (int k = 0; k < table->count; k++) printf("  %*s", width_of(&table->columns[k]), table->columns[k].name);
  putchar('\n');
  for (size_t i = 0; i < first->count; i++) {
    if (!first->list[i].done) continue;
    printf("  %-*s", names, short_name(name, first->list[i].tensor->name));
    for (int k = 0; k < table->count; k++) {
      char text[32];
      sqnr_cell(text, &table->columns[k].results.list[i]);
      printf("  %*s", width_of(&table->columns[k]), text);
    }
    putchar('\n');
  }
  if (first->done > 1) print_total(table, names, "all", sqnr_cell);
  printf("\n");
  print_total(table, names, "bits per element", bits_cell);
  print_total(table, names, "largest error", error_cell);
  print_total(table, names, "zeros", zeros_cell);
  print_total(table, names, "  that were not 0", to_zero_cell);
  print_total(table, names, "overflow of elements", overflow_cell);
  if (any_rounds_before(table)) print_total(table, names, "not as rounded once", twice_cell);
  print_total(table, names, "% of noise: scales", scales_cell);
  print_total(table, names, "  dead zone", dead_cell);
  print_total(table, names, "  saturation", saturated_cell);
  print_total(table, names, "  grid", grid_cell);
  print_total(table, names, "bias of the mean", bias_cell);
  tensors_print_left(stdout, first);
}

/* ---- JSON ---- */

static void json_figures(const tensors_result *result, const cli_target *target) {
  if (target->rounds_before) cli_json(stdout, "'rounded_twice': ?, ", JSON(result->twice));
  cli_json(stdout, "'bits_per_element': ?, 'events': ?, 'errors': ?, 'causes': ?", JSON(result->bits),
           JSON(&result->events), cli_errors_value(&result->errors), cli_causes_value(&result->causes));
}

static void json_column(const compare_column *column) {
  char mode[CLI_NAME_MAX];
  int first = 1;
  cli_json(stdout, "{'format': ?, 'mode': ?, ", JSON(column->name),
           JSON(cli_mode_name(mode, column->asked.numeric.mode)));
  json_figures(&column->total, &column->asked.target);
  fputs(", \"tensors\": [", stdout);
  for (size_t i = 0; i < column->results.count; i++) {
    const tensors_result *result = &column->results.list[i];
    if (!result->done) continue;
    cli_json(stdout, "?{'name': ?, ", cli_comma(first), JSON(result->tensor->name));
    json_figures(result, &column->asked.target);
    putchar('}');
    first = 0;
  }
  fputs("]}", stdout);
}

static void json_table(const compare_table *table) {
  cli_json(stdout, "{'file': ?, 'formats': [", JSON(table->in));
  for (int k = 0; k < table->count; k++) {
    if (k) fputs(", ", stdout);
    json_column(&table->columns[k]);
  }
  fputs("]}\n", stdout);
}

/* ---- the command ---- */

static int check_report(const compare_asked *asked, const char *in) {
  const char *report = asked->common.report;
  if (!report) return CLI_OK;
  if (tensors_spare_operand(report, in)) return CLI_BAD;
  if (!strcmp(report, "-") && asked->common.numeric.json)
    return cli_fail(NULL, "--report - and --json both write to standard output");
  return cli_file_try(report);
}

static int compare(compare_table *table, const tensors_input *in) {
  if (tensors_spare_read(in, table->asked->common.report)) return CLI_BAD;
  for (int k = 0; k < table->count; k++)
    if (measure(&table->columns[k], in)) return CLI_BAD;
  const char *report = table->asked->common.report;
  int code = report ? compare_report(report, table) : CLI_OK;
  if (code == CLI_OK && table->asked->common.numeric.json) json_table(table);
  if (code == CLI_OK && !table->asked->common.numeric.json && !(report && !strcmp(report, "-"))) print_table(table);
  return code;
}

int cli_compare_file(const compare_asked *asked, const char *path) {
  tensors_input in;
  if (check_report(asked, path)) return CLI_BAD;
  compare_table table = {path, asked, calloc((size_t)asked->count, sizeof *table.columns), asked->count};
  if (!table.columns) return cli_fail(NULL, "out of memory");
  int code = CLI_OK;
  for (int k = 0; k < table.count && code == CLI_OK; k++)
    code = prepare(&table.columns[k], asked, asked->formats[k], path);
  if (code == CLI_OK) code = tensors_open(&in, path, cli_layout(&asked->common));
  if (code == CLI_OK) {
    table.in = in.name;
    code = compare(&table, &in);
    for (int k = 0; k < table.count; k++) {
      tensors_results_free(&table.columns[k].results);
      tensors_result_free(&table.columns[k].total);
    }
    tensors_close(&in);
  }
  free(table.columns);
  return code;
}
