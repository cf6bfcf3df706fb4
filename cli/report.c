/* SPDX-License-Identifier: MIT */
/* The HTML report on a model: one file, nothing outside it, readable in light and dark and without its script. */
#include "cli/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/svg.h"
#include "halfulp/version.h"

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--paper:#ffffff;--card:#f4f6f9;--ink:#1b2430;--soft:#566173;--rule:#d5dbe4;"
    "--before:#8793a6;--after:#1f6fb8}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#12161c;--card:#1b222c;--ink:#e6ebf2;--soft:#a3afc0;"
    "--rule:#364253;--before:#76839a;--after:#5fb0f5}}\n"
    "body{margin:0 auto;max-width:1360px;padding:24px;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,'DejaVu Sans',Verdana,sans-serif}\n"
    "h1{font-size:1.5em;line-height:1.25;margin:0 0 .2em;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em 0 "
    ".6em}\n"
    ".soft{color:var(--soft)}code{overflow-wrap:anywhere}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px;margin:1.4em 0}\n"
    "dl div{background:var(--card);border-radius:8px;padding:10px 14px}dt{color:var(--soft);font-size:.85em}\n"
    "dd{margin:0;font-size:1.15em;font-variant-numeric:tabular-nums}\n"
    "svg{display:block;width:100%;height:auto;font-family:inherit}td svg{width:120px;height:24px}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.86em;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:5px 7px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:13em}\n"
    "thead th{white-space:normal;position:sticky;top:0;background:var(--paper);vertical-align:bottom}tfoot td,tfoot "
    "th{font-weight:600}\n"
    "thead button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;cursor:pointer;"
    "text-align:inherit}\n"
    "th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' "
    "\\2193'}\n"
    "tbody tr:hover{background:var(--card)}\n"
    "</style>\n";

/* Sorting by a click on a column's head, on the number or the text that a cell has in data-v. */
static const char script[] =
    "<script>\n"
    "document.querySelectorAll('table.sort').forEach(function(table){\n"
    "  table.querySelectorAll('thead th').forEach(function(head,column){\n"
    "    if(head.hasAttribute('data-fixed'))return;\n"
    "    var button=document.createElement('button');button.type='button';button.textContent=head.textContent;\n"
    "    head.textContent='';head.appendChild(button);\n"
    "    button.addEventListener('click',function(){\n"
    "      var up=head.getAttribute('aria-sort')==='descending',body=table.tBodies[0];\n"
    "      var key=function(row){var v=row.cells[column].getAttribute('data-v'),n=Number(v);return "
    "v===''||isNaN(n)?v:n};\n"
    "      Array.from(body.rows).sort(function(a,b){var x=key(a),y=key(b);var d=typeof x==='number'&&typeof "
    "y==='number'"
    "?x-y:String(x).localeCompare(String(y));return up?d:-d}).forEach(function(row){body.appendChild(row)});\n"
    "      table.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort')});\n"
    "      head.setAttribute('aria-sort',up?'ascending':'descending');\n"
    "    });\n"
    "  });\n"
    "});\n"
    "</script>\n";

static void card(FILE *out, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void card(FILE *out, const char *what, const char *format, ...) {
  va_list args;
  fprintf(out, "<div><dt>%s</dt><dd>", what);
  va_start(args, format);
  vfprintf(out, format, args);
  va_end(args);
  fputs("</dd></div>\n", out);
}

static void number_cell(FILE *out, double x) { fprintf(out, "<td data-v=\"%.17g\">%.4g</td>", x, x); }
static void count_cell(FILE *out, uint64_t n) {
  fprintf(out, "<td data-v=\"%llu\">%llu</td>", (unsigned long long)n, (unsigned long long)n);
}

static void sqnr_cell(FILE *out, const cli_errors *e) {
  if (isfinite(e->sqnr))
    fprintf(out, "<td data-v=\"%.17g\">%.2f</td>", e->sqnr, e->sqnr);
  else
    fprintf(out, "<td data-v=\"%s\">%s</td>", e->changed ? "-1e9" : "1e9", cli_no_sqnr(e));
}

/* A long name may be broken behind its dots. */
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

static void shape_cells(FILE *out, const st_tensor *t) {
  char shape[ST_SHAPE_MAX];
  const char *dtype = st_dtype_name(t->dtype);
  st_shape(shape, t->dims, t->shape);
  fprintf(out, "<td data-v=\"%s\">%s</td><td data-v=\"%s\">%s</td><td data-v=\"%zu\">%zu</td>", dtype, dtype, shape,
          shape, t->count, t->count);
}

/* Elements that the errors are not over. */
static size_t left_out(const model_result *x) { return x->errors.count - x->errors.finite; }

/* total: some columns are there only if they are not all 0. */
static void figures(FILE *out, const model_result *x, const model_result *total) {
  number_cell(out, x->amax);
  number_cell(out, x->errors.max_abs);
  number_cell(out, x->errors.rms);
  sqnr_cell(out, &x->errors);
  if (left_out(total)) count_cell(out, left_out(x));
  count_cell(out, x->events.saturated);
  count_cell(out, x->events.to_zero);
  if (total->again) count_cell(out, x->again);
  number_cell(out, x->bits);
  count_cell(out, x->blocks.count);
}

static void tensors(FILE *out, const model_results *r, const model_result *total) {
  int low, high;
  report_range(&low, &high, total);
  if (low > high) low = high = -MODEL_LOWEST;
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
      "<th scope=\"col\">bits an element</th><th scope=\"col\">blocks</th><th scope=\"col\" data-fixed>exponents</th>"
      "</tr></thead>\n<tbody>\n",
      out);
  for (size_t i = 0; i < r->count; i++) {
    const model_result *x = &r->list[i];
    if (!x->done) continue;
    fputs("<tr>", out);
    name_cell(out, x->tensor->name);
    shape_cells(out, x->tensor);
    figures(out, x, total);
    fputs("<td>", out);
    report_sparkline(out, x, low, high, i);
    fputs("</td></tr>\n", out);
  }
  fputs("</tbody>\n<tfoot><tr><th scope=\"row\">all</th><td></td><td></td>", out);
  count_cell(out, total->errors.count);
  figures(out, total, total);
  fputs("<td></td></tr></tfoot></table></div>\n", out);
}

static void events(FILE *out, const hu_events *e) {
  const struct {
    const char *name, *what;
    uint64_t count;
  } rows[] = {{"overflow", "beyond the largest number", e->overflow},
              {"saturated", "became the largest number", e->saturated},
              {"underflow", "tiny and inexact", e->underflow},
              {"to_zero", "not zero, became zero", e->to_zero},
              {"subnormal", "became a subnormal number", e->subnormal},
              {"inexact", "changed", e->inexact},
              {"invalid", "the format has nothing for it", e->invalid},
              {"nan_in", "was NaN", e->nan_in},
              {"inf_in", "was an infinity", e->inf_in}};
  fputs(
      "<h2 id=\"events\">Events of the elements' roundings</h2>\n<table aria-labelledby=\"events\"><thead><tr>"
      "<th scope=\"col\">event</th><th scope=\"col\">elements</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    fprintf(out, "<tr><td>%s <span class=\"soft\">%s</span></td><td>%llu</td></tr>\n", rows[i].name, rows[i].what,
            (unsigned long long)rows[i].count);
  fputs("</tbody></table>\n", out);
}

static void copied(FILE *out, const model_results *r) {
  if (r->done == r->count) return;
  fprintf(
      out,
      "<h2 id=\"copied\">Tensors copied</h2>\n<details><summary>%zu tensors, not touched</summary>\n"
      "<table class=\"sort\" aria-labelledby=\"copied\"><thead><tr><th scope=\"col\">tensor</th>"
      "<th scope=\"col\">dtype</th><th scope=\"col\">shape</th><th scope=\"col\">elements</th></tr></thead><tbody>\n",
      r->count - r->done);
  for (size_t i = 0; i < r->count; i++) {
    if (r->list[i].done) continue;
    fputs("<tr>", out);
    name_cell(out, r->list[i].tensor->name);
    shape_cells(out, r->list[i].tensor);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></details>\n", out);
}

static void summary(FILE *out, const model_results *r, const model_result *total) {
  char name[CLI_TARGET_MAX], text[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  const cli_target *t = &r->asked->target;
  cli_target_name(name, t);
  t->kind->text(text, t);
  fputs("<h1>", out);
  svg_escaped(out, r->in);
  fputs(" to ", out);
  svg_escaped(out, name);
  fprintf(out, "</h1>\n<p class=\"soft\">%s, written to ", r->asked->codes ? "Codes and scales" : "Values");
  svg_escaped(out, r->out);
  fputs("; format <code>", out);
  svg_escaped(out, text);
  fprintf(out, "</code>, rounded %s. halfulp %s.</p>\n<dl>\n", cli_mode_name(mode, r->asked->numeric.mode),
          HU_VERSION_STRING);
  card(out, "tensors rounded", "%zu of %zu", r->done, r->count);
  card(out, "elements", "%zu", total->errors.count);
  card(out, "bits an element", "%.4g", total->bits);
  if (isfinite(total->errors.sqnr))
    card(out, "SQNR", "%.2f dB", total->errors.sqnr);
  else
    card(out, "SQNR", "%s", cli_no_sqnr(&total->errors));
  if (left_out(total)) card(out, "left out of the errors", "%zu", left_out(total));
  card(out, "largest error", "%.6g", total->errors.max_abs);
  card(out, "saturated", "%llu", (unsigned long long)total->events.saturated);
  card(out, "to zero", "%llu", (unsigned long long)total->events.to_zero);
  fputs("</dl>\n", out);
}

static void notes(FILE *out, const model_result *total) {
  fputs(
      "<h2>Words</h2>\n<p>Errors are of what the file holds against what it held, over the elements finite in both; "
      "SQNR is ten times the decimal logarithm of the sum of the squares before over the sum of the squared errors. "
      "Saturated and to zero count elements. Bits an element are those of packed codes and scales.",
      out);
  if (left_out(total)) fputs(" Left out: elements that are not finite before or after.", out);
  if (total->again)
    fputs(" Rounded again: values that the tensor's own dtype lacks, brought into it with ties to even.", out);
  fputs("</p>\n", out);
}

static void page(FILE *out, const void *what) {
  const model_results *r = what;
  model_result total = model_total(r);
  char name[CLI_TARGET_MAX];
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
      out);
  svg_escaped(out, r->in);
  fputs(" to ", out);
  svg_escaped(out, cli_target_name(name, &r->asked->target));
  fprintf(out, "</title>\n%s</head>\n<body>\n<main>\n", style);
  summary(out, r, &total);
  fputs("<h2>Exponents before and after</h2>\n", out);
  report_exponents(out, &total);
  fputs("<h2>SQNR by tensor</h2>\n", out);
  report_sqnr(out, r);
  tensors(out, r, &total);
  events(out, &total.events);
  copied(out, r);
  notes(out, &total);
  fprintf(out, "</main>\n%s</body>\n</html>\n", script);
}

int model_report(const char *path, const model_results *r) { return cli_text_write(path, page, r); }
