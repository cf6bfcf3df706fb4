/* SPDX-License-Identifier: MIT */
/* An audit as a page that stands alone: see report.h. */
#include <math.h>
#include <stdlib.h>

#include "cli/audit/report.h"
#include "cli/base/numbers.h"
#include "cli/draw/page.h"
#include "cli/quantize/report.h"

static void split_row(FILE *out, const audit_pair *pair, int k) {
  const cli_causes *z = &pair->causes[k];
  char shown[ST_NAME_MAX];
  const double shares[] = {z->scale_noise, z->dead_noise, z->saturated_noise, z->grid_noise};
  if (!z->count) return;
  double sqnr = z->noise > 0 ? 10 * log10(z->signal / z->noise) : HUGE_VAL;
  fputs("<tr><td>", out);
  svg_escaped(out, st_printable(shown, pair->name));
  fprintf(out, "</td><td>%s</td>", k ? "B" : "A");
  fprintf(out, isfinite(sqnr) ? "<td data-v=\"%.9g\">%.2f</td>" : "<td data-v=\"%g\">exact</td>",
          isfinite(sqnr) ? sqnr : 1e9, sqnr);
  for (int i = 0; i < 4; i++)
    fprintf(out, "<td data-v=\"%.9g\">%.2f %%</td>", cli_causes_share(z, shares[i]),
            100 * cli_causes_share(z, shares[i]));
  fprintf(out, "<td data-v=\"%.9g\">%s</td></tr>\n", cli_causes_bias(z), ROUNDED(cli_causes_bias(z), 4));
}

static void block(FILE *out, const audit_pair *pair) {
  static const char *const names[2] = {"A", "B"};
  char *text = NULL, shown[ST_NAME_MAX];
  size_t size = 0;
  if (!pair->shown.there || pair->verdict != AUDIT_PARTED) return;
  FILE *to = open_memstream(&text, &size);
  if (!to) return;
  audit_print_block(to, "", &pair->shown, pair->x, names);
  fclose(to);
  fputs("<h3>", out);
  svg_escaped(out, st_printable(shown, pair->name));
  fputs("</h3>\n", out);
  page_pre(out, text);
  free(text);
}

/* Writes a table of the tensors that are equal, or of the others. */
static void verdicts(FILE *out, const audit_result *result, int equal) {
  char shown[ST_NAME_MAX], text[AUDIT_SENTENCE];
  fputs(
      "<div class=\"wide\"><table class=\"words sort\" aria-labelledby=\"tensors\"><thead><tr>"
      "<th scope=\"col\">tensor</th><th scope=\"col\">verdict</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
      out);
  for (size_t i = 0; i < result->count; i++) {
    const audit_pair *pair = &result->pairs[i];
    if ((pair->verdict == AUDIT_EQUAL) != equal) continue;
    fputs("<tr>", out);
    page_cell(out, "tensor", st_printable(shown, pair->name));
    page_cell(out, "verdict", audit_verdicts[pair->verdict]);
    page_cell(out, "why", audit_sentence(text, pair));
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void body(FILE *out, const audit_result *result) {
  uint64_t equal = result->verdicts[AUDIT_EQUAL];
  fputs("<h1>Audit</h1>\n<dl class=\"cards\">", out);
  page_card(out, "tensors", "%zu", result->count);
  for (int i = 0; i < AUDIT_VERDICTS; i++)
    if (result->verdicts[i]) page_card(out, audit_verdicts[i], "%llu", (unsigned long long)result->verdicts[i]);
  fputs("</dl>\n<h2 id=\"tensors\">Tensors</h2>\n", out);
  if (equal < result->count) verdicts(out, result, 0);
  if (equal) {
    fprintf(out, "<details><summary>%llu equal</summary>\n", (unsigned long long)equal);
    verdicts(out, result, 1);
    fputs("</details>\n", out);
  }
  for (size_t i = 0; i < result->count; i++) block(out, &result->pairs[i]);
  fputs(
      "<h2 id=\"errors\">The error, split</h2>\n<div class=\"wide\"><table class=\"sort\" aria-labelledby=\"errors\">"
      "<thead><tr><th scope=\"col\">tensor</th><th scope=\"col\">side</th><th scope=\"col\">SQNR, dB</th>"
      "<th scope=\"col\">scales</th><th scope=\"col\">dead zone</th><th scope=\"col\">saturation</th>"
      "<th scope=\"col\">grid</th><th scope=\"col\">bias of the mean</th></tr></thead>\n<tbody>\n",
      out);
  for (size_t i = 0; i < result->count; i++)
    for (int k = 0; k < 2; k++) split_row(out, &result->pairs[i], k);
  fputs("</tbody></table></div>\n", out);
  for (int k = 0; k < 2; k++) {
    cli_causes total = {.count = 0};
    for (size_t i = 0; i < result->count; i++) cli_causes_add(&total, &result->pairs[i].causes[k]);
    report_blocks(out, k ? "blocks-b" : "blocks-a", k ? "Blocks of B by their SQNR" : "Blocks of A by their SQNR",
                  &total);
  }
}

static void print_page(FILE *out, const void *what) {
  const audit_result *result = what;
  page_open(out, "halfulp audit");
  body(out, result);
  page_close(out, page_sorting);
}

int audit_page(const char *path, const audit_result *result) { return cli_text_write(path, print_page, result); }
