/* SPDX-License-Identifier: MIT */
/* Writes the HTML report of a comparison: figures and a drawing of the formats, and the table of tensors by formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/draw/page.h"
#include "cli/quantize/compare_table.h"
#include "halfulp/status.h"

static double place_of(const tensors_result *result) {
  return isfinite(result->errors.sqnr) ? result->errors.sqnr : result->errors.changed ? -1e9 : 1e9;
}

static int by_sqnr(const void *x, const void *y) {
  const compare_column *a = *(const compare_column *const *)x, *b = *(const compare_column *const *)y;
  double first = place_of(&a->total), second = place_of(&b->total);
  if (first != second) return first > second ? -1 : 1;
  return a->total.bits < b->total.bits ? -1 : a->total.bits > b->total.bits;
}

/* Returns the columns, the best ratio first; NULL: no memory. To be freed. */
static const compare_column *const *sorted(const compare_table *table) {
  const compare_column **list = malloc((size_t)table->count * sizeof *list);
  if (!list) return NULL;
  for (int k = 0; k < table->count; k++) list[k] = &table->columns[k];
  qsort(list, (size_t)table->count, sizeof *list, by_sqnr);
  return (const compare_column *const *)list;
}

static void sqnr_text(char text[48], const tensors_result *result) {
  if (isfinite(result->errors.sqnr))
    snprintf(text, 48, "%.2f", result->errors.sqnr);
  else
    snprintf(text, 48, "%s", result->errors.changed ? cli_no_sqnr(&result->errors) : "exact");
}

static void draw_formats(FILE *out, const compare_table *table) {
  enum { WIDTH = 920, NAMES = 300, ROW = 24 };
  svg image;
  double top = 1;
  const compare_column *const *list = sorted(table);
  if (!list) return;
  for (int k = 0; k < table->count; k++)
    if (isfinite(list[k]->total.errors.sqnr) && list[k]->total.errors.sqnr > top) top = list[k]->total.errors.sqnr;
  page_begin_drawing(&image, out, "formats", WIDTH, table->count * ROW + 8,
                     "Signal to quantization noise of each format",
                     "One bar per format, the best first, in decibels, with its bits per element.");
  for (int k = 0; k < table->count; k++) {
    const tensors_result *result = &list[k]->total;
    double place = place_of(result), share = place <= 0 ? 0 : isfinite(result->errors.sqnr) ? place / top : 1;
    double width = (WIDTH - NAMES - 230) * share, y = 4 + (double)k * ROW;
    char name[64], figure[48], text[128];
    snprintf(name, sizeof name, "%.44s", list[k]->name);
    sqnr_text(figure, result);
    snprintf(text, sizeof text, "%s%s, %s bits per element", figure, isfinite(result->errors.sqnr) ? " dB" : "",
             ROUNDED(result->bits, 4));
    svg_text(&image, NAMES - 10, y + 14, 13, SVG_END, "var(--ink)", "", name);
    svg_rect(&image, NAMES, y + 2, width > 1 ? width : 1, 16, "var(--after)");
    svg_text(&image, NAMES + (width > 1 ? width : 1) + 8, y + 14, 12, SVG_START, "var(--ink)", "", text);
  }
  page_end_drawing(&image);
  free((void *)(uintptr_t)list);
}

static void sqnr_cell(FILE *out, const tensors_result *result) {
  char text[48];
  sqnr_text(text, result);
  fprintf(out, "<td data-v=\"%.17g\">%s</td>", place_of(result), text);
}

static void heads(FILE *out, const compare_table *table, const char *first) {
  fprintf(out, "<thead><tr><th scope=\"col\">%s</th>", first);
  for (int k = 0; k < table->count; k++) {
    fputs("<th scope=\"col\">", out);
    svg_escaped(out, table->columns[k].name);
    fputs("</th>", out);
  }
  fputs("</tr></thead>\n<tbody>\n", out);
}

static void tensors(FILE *out, const compare_table *table) {
  char shown[ST_NAME_MAX];
  const tensors_results *first = &table->columns[0].results;
  fputs(
      "<h2 id=\"tensors\">SQNR by tensor, dB</h2>\n<div class=\"wide\"><table class=\"sort\" "
      "aria-labelledby=\"tensors\">",
      out);
  heads(out, table, "tensor");
  for (size_t i = 0; i < first->count; i++) {
    if (!first->list[i].done) continue;
    fputs("<tr><td data-v=\"", out);
    svg_escaped(out, first->list[i].tensor->name);
    fputs("\">", out);
    svg_escaped(out, st_printable(shown, first->list[i].tensor->name));
    fputs("</td>", out);
    for (int k = 0; k < table->count; k++) sqnr_cell(out, &table->columns[k].results.list[i]);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

/* Writes the parts of the noise, and the bias; dashes where errors are not known by their causes. */
static void cause_cells(FILE *out, const cli_causes *z) {
  const double parts[] = {z->scale_noise, z->dead_noise, z->saturated_noise, z->grid_noise};
  for (int i = 0; i < 5 && !z->count; i++) fputs("<td data-v=\"-1\">-</td>", out);
  if (!z->count) return;
  for (int i = 0; i < 4; i++)
    fprintf(out, "<td data-v=\"%.9g\">%.2f %%</td>", cli_causes_share(z, parts[i]),
            100 * cli_causes_share(z, parts[i]));
  fprintf(out, "<td data-v=\"%.9g\">%s</td>", cli_causes_bias(z), ROUNDED(cli_causes_bias(z), 4));
}

static void figures(FILE *out, const compare_table *table) {
  fputs(
      "<h2 id=\"figures\">All tensors</h2>\n<div class=\"wide\"><table class=\"sort\" aria-labelledby=\"figures\">"
      "<thead><tr><th scope=\"col\">format</th><th scope=\"col\">SQNR, dB</th><th scope=\"col\">bits per element</th>"
      "<th scope=\"col\">largest error</th><th scope=\"col\">rms error</th><th scope=\"col\">zeros</th>"
      "<th scope=\"col\">not 0 before</th><th scope=\"col\">overflow of elements</th><th scope=\"col\">noise: "
      "scales</th>"
      "<th scope=\"col\">dead zone</th><th scope=\"col\">saturation</th><th scope=\"col\">grid</th>"
      "<th scope=\"col\">bias of the mean</th></tr></thead>\n<tbody>\n",
      out);
  for (int k = 0; k < table->count; k++) {
    const tensors_result *result = &table->columns[k].total;
    fputs("<tr><td>", out);
    svg_escaped(out, table->columns[k].name);
    fputs("</td>", out);
    sqnr_cell(out, result);
    fprintf(out, "<td data-v=\"%s\">%s</td>", DECIMAL(result->bits), ROUNDED(result->bits, 4));
    fprintf(out, "<td data-v=\"%s\">%s</td>", DECIMAL(result->errors.max_abs), ROUNDED(result->errors.max_abs, 4));
    fprintf(out, "<td data-v=\"%s\">%s</td>", DECIMAL(result->errors.rms), ROUNDED(result->errors.rms, 4));
    fprintf(out, "<td data-v=\"%zu\">%zu</td><td data-v=\"%llu\">%llu</td><td data-v=\"%llu\">%llu</td>",
            result->errors.zeros, result->errors.zeros, (unsigned long long)result->events.to_zero,
            (unsigned long long)result->events.to_zero, (unsigned long long)result->events.overflow,
            (unsigned long long)result->events.overflow);
    cause_cells(out, &result->causes);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void page(FILE *out, const void *what) {
  const compare_table *table = what;
  const tensors_results *first = &table->columns[0].results;
  char mode[CLI_NAME_MAX];
  page_open(out, table->in);
  fputs("<h1>", out);
  svg_escaped(out, table->in);
  fprintf(out, ": %d formats</h1>\n<p class=\"soft\">Rounded %s, presets by their own rules. halfulp %s.</p>\n<dl>\n",
          table->count, cli_mode_name(mode, table->asked->common.numeric.mode), HU_VERSION_STRING);
  page_card(out, "tensors rounded", "%zu of %zu", first->done, first->count);
  page_card(out, "elements", "%zu", table->columns[0].total.errors.count);
  fputs("</dl>\n<h2>Formats</h2>\n", out);
  draw_formats(out, table);
  figures(out, table);
  tensors(out, table);
  fputs(
      "<h2>Words</h2>\n<p>SQNR is ten times the decimal logarithm of the sum of the squares before over the sum of the "
      "squared errors, over the elements that are finite before and after. Bits per element count packed codes and "
      "scales. Of the noise, the part of scales is what a better factor for each block would take away; the rest "
      "belongs "
      "to elements that became 0 (dead zone), that lie beyond the largest value of their block (saturation), and to "
      "all "
      "others (grid).</p>\n",
      out);
  page_close(out, page_sorting);
}

int compare_report(const char *path, const compare_table *table) { return cli_text_write(path, page, table); }
