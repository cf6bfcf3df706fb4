/* SPDX-License-Identifier: MIT */
/* Writes the HTML report on a .safetensors file: one file that loads nothing else, readable in light and dark and
 * without its script. */
#include "cli/quantize/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/draw/page.h"
#include "cli/draw/svg.h"
#include "halfulp/status.h"

static void number_cell(FILE *out, double x) { fprintf(out, "<td data-v=\"%s\">%s</td>", DECIMAL(x), ROUNDED(x, 4)); }
static void count_cell(FILE *out, uint64_t n) {
  fprintf(out, "<td data-v=\"%llu\">%llu</td>", (unsigned long long)n, (unsigned long long)n);
}

static void sqnr_cell(FILE *out, const cli_errors *errors) {
  if (isfinite(errors->sqnr))
    fprintf(out, "<td data-v=\"%.17g\">%.2f</td>", errors->sqnr, errors->sqnr);
  else
    fprintf(out, "<td data-v=\"%s\">%s</td>", errors->changed ? "-1e9" : "1e9", cli_no_sqnr(errors));
}

/* Writes a cell with a name; a long one may be broken behind its dots. */
static void name_cell(FILE *out, const char *name) {
  fputs("<td data-v=\"", out);
  svg_escaped(out, name);
  fputs("\">", out);
  for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1) {
    char part[256];
    size_t n = (size_t)(dot - name) + 1;
    if (n >= sizeof part) break;
    memcpy(part, name, n);
    part[n] = 0;
    svg_escaped(out, part);
    fputs("<wbr>", out);
  }
  svg_escaped(out, name);
  fputs("</td>", out);
}

static void shape_cells(FILE *out, const st_tensor *tensor) {
  char shape[ST_SHAPE_MAX];
  const char *dtype = st_dtype_name(tensor->dtype);
  st_shape(shape, tensor->dims, tensor->shape);
  fprintf(out, "<td data-v=\"%s\">%s</td><td data-v=\"%s\">%s</td><td data-v=\"%zu\">%zu</td>", dtype, dtype, shape,
          shape, tensor->count, tensor->count);
}

/* Counts the elements that the errors are not over. */
static size_t left_out(const tensors_result *result) { return result->errors.count - result->errors.finite; }

/* Writes the figures. total: some columns are there only if they are not all 0. */
static void figures(FILE *out, const tensors_result *result, const tensors_result *total) {
  number_cell(out, result->amax);
  number_cell(out, result->errors.max_abs);
  number_cell(out, result->errors.rms);
  sqnr_cell(out, &result->errors);
  if (left_out(total)) count_cell(out, left_out(result));
  count_cell(out, result->events.saturated);
  count_cell(out, result->events.to_zero);
  if (total->again) count_cell(out, result->again);
  number_cell(out, result->bits);
  count_cell(out, result->blocks.count);
}

static void tensors(FILE *out, const tensors_results *results, const tensors_result *total) {
  int low, high;
  report_range(&low, &high, total);
  if (low > high) low = high = 0;
  fputs(
      "<h2 id=\"tensors\">Tensors rounded</h2>\n<div class=\"wide\"><table class=\"sort\" aria-labelledby=\"tensors\">"
      "<thead><tr><th scope=\"col\">tensor</th><th scope=\"col\">dtype</th><th scope=\"col\">shape</th>"
      "<th scope=\"col\">elements</th><th scope=\"col\">amax</th><th scope=\"col\">max error</th>"
      "<th scope=\"col\">rms error</th><th scope=\"col\">SQNR, dB</th>",
      out);
  if (left_out(total)) fputs("<th scope=\"col\">left out</th>", out);
  fputs("<th scope=\"col\">saturated</th><th scope=\"col\">to zero</th>", out);
  if (total->again) fputs("<th scope=\"col\">rounded again</th>", out);
  fputs(
      "<th scope=\"col\">bits per element</th><th scope=\"col\">blocks</th><th scope=\"col\" data-fixed>exponents</th>"
      "</tr></thead>\n<tbody>\n",
      out);
  for (size_t i = 0; i < results->count; i++) {
    const tensors_result *result = &results->list[i];
    if (!result->done) continue;
    fputs("<tr>", out);
    name_cell(out, result->tensor->name);
    shape_cells(out, result->tensor);
    figures(out, result, total);
    fputs("<td>", out);
    report_sparkline(out, result, low, high, i);
    fputs("</td></tr>\n", out);
  }
  fputs("</tbody>\n<tfoot><tr><th scope=\"row\">all</th><td></td><td></td>", out);
  count_cell(out, total->errors.count);
  figures(out, total, total);
  fputs("<td></td></tr></tfoot></table></div>\n", out);
}

static void short_rows(FILE *out, const tensors_results *results) {
  size_t count = 0;
  for (size_t i = 0; i < results->count; i++) count += results->list[i].shape.block != 0;
  if (!count) return;
  fputs(
      "<h2 id=\"short\">Rows shorter than a block</h2>\n<p>A block does not go beyond its row, so that each of these "
      "rows takes a scale of its own. <code>--rows out</code> puts all weights of an output channel into one row, as "
      "convolutions of <code>halfulp.torch</code> have them.</p>\n<div class=\"wide\"><table class=\"sort\" "
      "aria-labelledby=\"short\"><thead><tr><th scope=\"col\">tensor</th><th scope=\"col\">row</th>"
      "<th scope=\"col\">block</th><th scope=\"col\">bits per element</th><th scope=\"col\">row, --rows out</th>"
      "<th scope=\"col\">bits per element</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < results->count; i++) {
    const cli_row_shape *shape = &results->list[i].shape;
    if (!shape->block) continue;
    fputs("<tr>", out);
    name_cell(out, results->list[i].tensor->name);
    count_cell(out, shape->cols);
    count_cell(out, shape->block);
    number_cell(out, shape->bits);
    if (shape->out_cols) {
      count_cell(out, shape->out_cols);
      number_cell(out, shape->out_bits);
    } else {
      fputs("<td data-v=\"0\">-</td><td data-v=\"0\">-</td>", out);
    }
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void events(FILE *out, const hu_events *events) {
  const struct {
    const char *name, *what;
    uint64_t count;
  } rows[] = {{"overflow", "beyond the largest number", events->overflow},
              {"saturated", "became the largest number", events->saturated},
              {"underflow", "tiny and inexact", events->underflow},
              {"to_zero", "not zero, became zero", events->to_zero},
              {"subnormal", "became a subnormal number", events->subnormal},
              {"inexact", "changed", events->inexact},
              {"invalid", "the format has nothing for it", events->invalid},
              {"nan_in", "was NaN", events->nan_in},
              {"inf_in", "was an infinity", events->inf_in}};
  fputs(
      "<h2 id=\"events\">Events of the elements' roundings</h2>\n<table aria-labelledby=\"events\"><thead><tr>"
      "<th scope=\"col\">event</th><th scope=\"col\">elements</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    fprintf(out, "<tr><td>%s <span class=\"soft\">%s</span></td><td>%llu</td></tr>\n", rows[i].name, rows[i].what,
            (unsigned long long)rows[i].count);
  fputs("</tbody></table>\n", out);
}

static void copied(FILE *out, const tensors_results *results) {
  if (results->done == results->count) return;
  fprintf(
      out,
      "<h2 id=\"copied\">Tensors copied</h2>\n<details><summary>%zu tensors, not touched</summary>\n"
      "<table class=\"sort\" aria-labelledby=\"copied\"><thead><tr><th scope=\"col\">tensor</th>"
      "<th scope=\"col\">dtype</th><th scope=\"col\">shape</th><th scope=\"col\">elements</th></tr></thead><tbody>\n",
      results->count - results->done);
  for (size_t i = 0; i < results->count; i++) {
    if (results->list[i].done) continue;
    fputs("<tr>", out);
    name_cell(out, results->list[i].tensor->name);
    shape_cells(out, results->list[i].tensor);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></details>\n", out);
}

static void causes(FILE *out, const cli_causes *z) {
  if (!z->count) return;
  page_card(out, "of the noise: scales", "%.2f %%", 100 * cli_causes_share(z, z->scale_noise));
  page_card(out, "dead zone", "%.2f %%", 100 * cli_causes_share(z, z->dead_noise));
  page_card(out, "saturation", "%.2f %%", 100 * cli_causes_share(z, z->saturated_noise));
  page_card(out, "grid", "%.2f %%", 100 * cli_causes_share(z, z->grid_noise));
  page_card(out, "bias of the mean", "%s", ROUNDED(cli_causes_bias(z), 4));
}

static void summary(FILE *out, const tensors_results *results, const tensors_result *total) {
  char name[CLI_TARGET_MAX], text[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  const cli_target *target = &results->asked->target;
  cli_target_name(name, target);
  target->kind->text(text, target);
  fputs("<h1>", out);
  svg_escaped(out, results->in);
  fputs(" to ", out);
  svg_escaped(out, name);
  fprintf(out, "</h1>\n<p class=\"soft\">%s, written to ", results->asked->codes ? "Codes and scales" : "Values");
  svg_escaped(out, results->out);
  fputs("; format <code>", out);
  svg_escaped(out, text);
  fprintf(out, "</code>, rounded %s. halfulp %s.</p>\n<dl>\n", cli_mode_name(mode, results->asked->numeric.mode),
          HU_VERSION_STRING);
  page_card(out, "tensors rounded", "%zu of %zu", results->done, results->count);
  page_card(out, "elements", "%zu", total->errors.count);
  page_card(out, "bits per element", "%s", ROUNDED(total->bits, 4));
  if (isfinite(total->errors.sqnr))
    page_card(out, "SQNR", "%.2f dB", total->errors.sqnr);
  else
    page_card(out, "SQNR", "%s", cli_no_sqnr(&total->errors));
  if (left_out(total)) page_card(out, "left out of the errors", "%zu", left_out(total));
  page_card(out, "largest error", "%s", ROUNDED(total->errors.max_abs, 6));
  page_card(out, "saturated", "%llu", (unsigned long long)total->events.saturated);
  page_card(out, "to zero", "%llu", (unsigned long long)total->events.to_zero);
  causes(out, &total->causes);
  fputs("</dl>\n", out);
}

static void notes(FILE *out, const tensors_result *total) {
  fputs(
      "<h2>Words</h2>\n<p>Errors compare each tensor before and after, over the elements that are finite in both; "
      "SQNR is ten times the decimal logarithm of the sum of the squares before over the sum of the squared errors. "
      "Saturated and to zero count elements. Bits per element are those of packed codes and scales. Of the noise, the "
      "part of scales is what a better factor for each block would take away; the rest belongs to elements that became "
      "0 (dead zone), that lie beyond the largest value of their block (saturation), and to all others (grid).",
      out);
  if (left_out(total)) fputs(" Left out: elements that are not finite before or after.", out);
  if (total->again)
    fputs(" Rounded again: values that the tensor's own dtype lacks, brought into it with ties to even.", out);
  fputs("</p>\n", out);
}

static void page(FILE *out, const void *what) {
  const tensors_results *results = what;
  tensors_result total = tensors_total(results);
  char name[CLI_TARGET_MAX];
  char *title = NULL;
  if (asprintf(&title, "%s to %s", results->in, cli_target_name(name, &results->asked->target)) < 0) title = NULL;
  page_open(out, title ? title : results->in);
  free(title);
  summary(out, results, &total);
  fputs("<h2>Exponents before and after</h2>\n", out);
  report_exponents(out, &total);
  fputs("<h2>SQNR by tensor</h2>\n", out);
  report_sqnr(out, results);
  report_blocks(out, "blocks", "Blocks by their SQNR", &total.causes);
  tensors(out, results, &total);
  short_rows(out, results);
  events(out, &total.events);
  copied(out, results);
  notes(out, &total);
  tensors_result_free(&total);
  page_close(out, page_sorting);
}

int tensors_report(const char *path, const tensors_results *results) { return cli_text_write(path, page, results); }
