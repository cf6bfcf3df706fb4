/* SPDX-License-Identifier: MIT */
/* The files of an experiment: see experiment.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/draw/curves.h"
#include "cli/draw/page.h"
#include "cli/experiment/csv.h"
#include "cli/experiment/experiment.h"
#include "halfulp/status.h"
#include "halfulp/train/trainer.h"

/* ---- drawings ---- */

static enum curve_axis axis_of(uint8_t axis) {
  return axis == HU_AXIS_LOG2 ? CURVE_LOG2 : axis == HU_AXIS_LOG10 ? CURVE_LOG10 : CURVE_LINEAR;
}

static size_t curves_of(curve list[CURVES_MAX], const hu_experiment_figure *figure) {
  size_t n = figure->count < CURVES_MAX ? figure->count : CURVES_MAX;
  for (size_t i = 0; i < n; i++) {
    const hu_experiment_series *series = &figure->series[i];
    list[i] = (curve){series->name, series->x, series->y, series->count, 1, series->count <= 20};
  }
  return n;
}

static chart chart_of(const hu_experiment_figure *figure, const curve *list, size_t n) {
  const chart drawn = {.id = figure->name,
                       .title = figure->title,
                       .text = figure->title,
                       .axis = axis_of(figure->y_axis),
                       .curves = list,
                       .count = n,
                       .x_name = figure->x,
                       .y_name = figure->y,
                       .x_axis = axis_of(figure->x_axis),
                       .left_out = figure->count - n};
  return drawn;
}

static const exponent_mark marks[] = {{-24, "binary16: smallest"}, {-14, "smallest normal"}};

/* Makes counts of shares again, of 2^50 elements. */
static size_t sets_of(exponents list[EXPONENT_SETS_MAX], uint64_t counts[EXPONENT_SETS_MAX][HU_EXPONENTS],
                      const hu_experiment_figure *figure) {
  size_t n = figure->count < EXPONENT_SETS_MAX ? figure->count : EXPONENT_SETS_MAX;
  memset(counts, 0, EXPONENT_SETS_MAX * sizeof *counts);
  for (size_t i = 0; i < n; i++) {
    const hu_experiment_series *series = &figure->series[i];
    counts[i][0] = (uint64_t)ldexp(series->zeros, 50);
    for (size_t k = 0; k < series->count; k++) counts[i][(int)series->x[k] + 150] = (uint64_t)ldexp(series->y[k], 50);
    list[i] = (exponents){series->name, counts[i]};
  }
  return n;
}

/* Writes the title, and how many sets of columns are not in the drawing. */
static const char *bars_title(char text[256], const hu_experiment_figure *figure, size_t drawn) {
  if (figure->count == drawn) return figure->title;
  snprintf(text, 256, "%s (%zu more not drawn)", figure->title, figure->count - drawn);
  return text;
}

static void draw_figure(FILE *out, const hu_experiment_figure *figure) {
  fputs("<h2>", out);
  svg_escaped(out, figure->title);
  fputs("</h2>\n", out);
  if (figure->kind == HU_FIGURE_BARS) {
    exponents list[EXPONENT_SETS_MAX];
    uint64_t counts[EXPONENT_SETS_MAX][HU_EXPONENTS];
    size_t n = sets_of(list, counts, figure);
    exponents_draw(out, figure->name, figure->title, figure->title, list, n, marks, 2);
    if (figure->count > n) fprintf(out, "<p>%zu more not drawn.</p>\n", figure->count - n);
  } else {
    curve list[CURVES_MAX];
    chart drawn = chart_of(figure, list, curves_of(list, figure));
    chart_draw(out, &drawn);
  }
}

static int write_figure(const char *path, const hu_experiment_figure *figure) {
  if (figure->kind == HU_FIGURE_BARS) {
    exponents list[EXPONENT_SETS_MAX];
    uint64_t counts[EXPONENT_SETS_MAX][HU_EXPONENTS];
    size_t n = sets_of(list, counts, figure);
    char title[256];
    return exponents_write(path, bars_title(title, figure, n), list, n, marks, 2);
  }
  curve list[CURVES_MAX];
  chart drawn = chart_of(figure, list, curves_of(list, figure));
  return chart_write(path, &drawn);
}

/* ---- the page ---- */

static void text_cell(FILE *out, const char *text) {
  fputs("<td>", out);
  svg_escaped(out, text);
  fputs("</td>", out);
}

static void number_cell(FILE *out, double x, const char *format) {
  if (isnan(x)) {
    fputs("<td>\xe2\x80\x93</td>", out);
    return;
  }
  char text[64];
  snprintf(text, sizeof text, format, x);
  text_cell(out, text);
}

/* Writes a mean, and its deviation where there are several seeds. */
static void mean_cell(FILE *out, const hu_experiment_row *row, double x, double deviation) {
  char text[64];
  if (row->seeds <= 1 || isnan(x)) {
    number_cell(out, x, "%.4f");
    return;
  }
  snprintf(text, sizeof text, "%.4f \xc2\xb1 %.4f", x, deviation);
  text_cell(out, text);
}

static void head(FILE *out, const char *text) {
  fputs("<th scope=\"col\">", out);
  svg_escaped(out, text);
  fputs("</th>", out);
}

static void page_rows(FILE *out, const hu_experiment_report *report) {
  int accuracy = experiment_has(report, experiment_accuracy), r2 = experiment_has(report, experiment_r2);
  int low = experiment_has(report, experiment_low);
  if (!report->rows) return;
  fputs("<h2>Runs</h2>\n<div class=\"wide\"><table><thead><tr>", out);
  head(out, "run");
  head(out, "loss");
  head(out, "test loss");
  if (accuracy) head(out, "accuracy");
  if (r2) head(out, "R2");
  head(out, "steps");
  head(out, "skipped");
  head(out, "lost");
  if (low) head(out, "low");
  if (low) head(out, "promoted");
  head(out, "weights");
  fputs("</tr></thead><tbody>\n", out);
  for (size_t i = 0; i < report->rows; i++) {
    const hu_experiment_row *row = &report->row[i];
    fputs("<tr>", out);
    text_cell(out, row->name);
    mean_cell(out, row, row->loss, row->loss_deviation);
    mean_cell(out, row, row->test_loss, row->test_loss_deviation);
    if (accuracy) mean_cell(out, row, row->accuracy, row->accuracy_deviation);
    if (r2) mean_cell(out, row, row->r2, row->r2_deviation);
    number_cell(out, (double)row->steps, "%.0f");
    number_cell(out, (double)row->skipped, "%.0f");
    number_cell(out, row->lost, "%.3f");
    if (low) number_cell(out, row->low, "%.3f");
    if (low) number_cell(out, (double)row->promoted, "%.0f");
    fprintf(out, "<td><code>%016llx</code></td></tr>\n", (unsigned long long)row->digest);
  }
  fputs(
      "</tbody></table></div>\n<p class=\"soft\">Loss: mean over the training set at the end, without the factor on "
      "the loss. Lost: share of the weight updates that left the weight as it was. Weights: digest of their bits, "
      "the same on every machine.",
      out);
  if (report->row[0].seeds > 1)
    fprintf(out,
            " Means and standard deviations of %zu seeds; steps, skipped, promoted and weights are those of the first "
            "seed, and so are the drawings.",
            report->row[0].seeds);
  fputs("</p>\n", out);
}

static void page_table(FILE *out, const hu_experiment_table *table) {
  fputs("<h2>", out);
  svg_escaped(out, table->title);
  fputs("</h2>\n<div class=\"wide\"><table><thead><tr><th></th>", out);
  for (size_t j = 0; j < table->cols; j++) head(out, table->col_name[j]);
  fputs("</tr></thead><tbody>\n", out);
  for (size_t i = 0; i < table->rows; i++) {
    fputs("<tr>", out);
    text_cell(out, table->row_name[i]);
    for (size_t j = 0; j < table->cols; j++) {
      double x = table->cell[i * table->cols + j];
      text_cell(out, isnan(x) ? "\xe2\x80\x93" : ROUNDED(x, 6));
    }
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void page_claims(FILE *out, const hu_experiment_report *report) {
  fputs("<h2>Claims</h2>\n<ul>\n", out);
  for (size_t i = 0; i < report->claims; i++) {
    fprintf(out, "<li><strong>%s</strong> ", report->claim[i].holds ? "\xe2\x9c\x93 holds:" : "\xe2\x9c\x97 fails:");
    svg_escaped(out, report->claim[i].text);
    fputs("</li>\n", out);
  }
  fputs("</ul>\n", out);
}

static void page_keys(FILE *out, const hu_experiment_report *report) {
  int any = 0;
  for (size_t i = 0; i < report->rows; i++) any |= report->row[i].keys != NULL;
  if (!any) return;
  fputs("<h2>Keys of each run that are not at their defaults</h2>\n", out);
  for (size_t i = 0; i < report->rows; i++) {
    if (!report->row[i].keys) continue;
    fputs("<details><summary>", out);
    svg_escaped(out, report->row[i].name);
    fputs("</summary>", out);
    page_pre(out, report->row[i].keys);
    fputs("</details>\n", out);
  }
}

static void page(FILE *out, const void *what) {
  const experiment_result *result = what;
  const hu_experiment_report *report = result->report;
  page_open(out, result->what.name);
  fputs("<h1>", out);
  svg_escaped(out, result->what.shows);
  fputs("</h1>\n<p class=\"soft\">", out);
  svg_escaped(out, result->what.source);
  fputs(", ", out);
  svg_escaped(out, result->what.figure);
  fprintf(out, ". <code>halfulp experiment %s</code>, halfulp %s.</p>\n<dl>\n", result->what.name, HU_VERSION_STRING);
  page_card(out, "claims that hold", "%zu of %zu", report->held, report->claims);
  page_card(out, "runs", "%zu", report->rows);
  page_card(out, "seconds", "%.1f", result->seconds);
  fputs("</dl>\n<p>Expected: ", out);
  svg_escaped(out, result->what.expected);
  fputs(".</p>\n", out);
  page_claims(out, report);
  page_rows(out, report);
  for (size_t i = 0; i < report->tables; i++) page_table(out, &report->table[i]);
  for (size_t i = 0; i < report->figures; i++) draw_figure(out, &report->figure[i]);
  page_keys(out, report);
  page_close(out, "");
}

/* ---- numbers ---- */

static void rows_csv(FILE *out, const void *what) {
  const hu_experiment_report *report = ((const experiment_result *)what)->report;
  fputs(
      "run,loss,test_loss,accuracy,r2,steps,skipped,lost,scale,low,promoted,digest,seeds,loss_deviation,"
      "test_loss_deviation,accuracy_deviation,r2_deviation\n",
      out);
  for (size_t i = 0; i < report->rows; i++) {
    const hu_experiment_row *row = &report->row[i];
    csv_text(out, row->name);
    csv_number(out, row->loss);
    csv_number(out, row->test_loss);
    csv_number(out, row->accuracy);
    csv_number(out, row->r2);
    fprintf(out, ",%llu,%llu", (unsigned long long)row->steps, (unsigned long long)row->skipped);
    csv_number(out, row->lost);
    csv_number(out, row->scale);
    csv_number(out, row->low);
    fprintf(out, ",%zu,%016llx,%zu", row->promoted, (unsigned long long)row->digest, row->seeds);
    csv_number(out, row->loss_deviation);
    csv_number(out, row->test_loss_deviation);
    csv_number(out, row->accuracy_deviation);
    csv_number(out, row->r2_deviation);
    fputc('\n', out);
  }
}

static void series_csv(FILE *out, const void *what) {
  const hu_experiment_report *report = ((const experiment_result *)what)->report;
  fputs("figure,series,x,y\n", out);
  for (size_t i = 0; i < report->figures; i++) {
    const hu_experiment_figure *figure = &report->figure[i];
    for (size_t k = 0; k < figure->count; k++) {
      const hu_experiment_series *series = &figure->series[k];
      for (size_t j = 0; j < series->count; j++) {
        csv_text(out, figure->name);
        fputc(',', out);
        csv_text(out, series->name);
        csv_number(out, series->x[j]);
        csv_number(out, series->y[j]);
        fputc('\n', out);
      }
      if (figure->kind != HU_FIGURE_BARS) continue;
      csv_text(out, figure->name); /* zeros have the exponent -inf */
      fputc(',', out);
      csv_text(out, series->name);
      fprintf(out, ",-inf");
      csv_number(out, series->zeros);
      fputc('\n', out);
    }
  }
}

/* ---- all of them ---- */

static int in_folder(char *path, size_t size, const char *folder, const char *name, const char *end) {
  int n = snprintf(path, size, "%s/%s%s", folder, name, end);
  return n > 0 && (size_t)n < size ? CLI_OK : cli_fail(folder, "too long a name");
}

int experiment_write(const char *folder, const experiment_result *result) {
  static const struct {
    const char *name;
    void (*print)(FILE *out, const void *what);
  } files[] = {{"report.html", page}, {"rows.csv", rows_csv}, {"series.csv", series_csv}};
  char path[4096];
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_fail(folder, "%s", strerror(errno));
  int status = CLI_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files && status == CLI_OK; i++) {
    status = in_folder(path, sizeof path, folder, files[i].name, "");
    if (status == CLI_OK) status = cli_own_text(path, files[i].print, result);
  }
  for (size_t i = 0; i < result->report->figures && status == CLI_OK; i++) {
    status = in_folder(path, sizeof path, folder, result->report->figure[i].name, ".svg");
    if (status == CLI_OK) status = cli_own_check(path);
    if (status == CLI_OK) status = write_figure(path, &result->report->figure[i]);
  }
  return status;
}
