/* SPDX-License-Identifier: MIT */
/* The HTML report of a sweep: see sweep.h, cli/draw/page.h. */
#include <math.h>
#include <string.h>

#include "cli/draw/page.h"
#include "cli/draw/svg.h"
#include "cli/sweep/sweep.h"
#include "halfulp/status.h"

/* ---- cells ---- */

static void text_cell(FILE *out, const char *text) {
  fputs("<td data-v=\"", out);
  svg_escaped(out, text);
  fputs("\">", out);
  svg_escaped(out, text);
  fputs("</td>", out);
}

static void number_cell(FILE *out, int places, double x) {
  if (isfinite(x) && places > 1 && fabs(x) >= 1e4) { /* R^2 may be any number */
    fprintf(out, "<td data-v=\"%.17g\">%.3g</td>", x, x);
  } else if (isfinite(x)) {
    fprintf(out, "<td data-v=\"%.17g\">%.*f</td>", x, places, x);
  } else {
    fputs("<td data-v=\"\">-</td>", out);
  }
}

static void count_cell(FILE *out, uint64_t n) {
  fprintf(out, "<td data-v=\"%llu\">%llu</td>", (unsigned long long)n, (unsigned long long)n);
}

static void head(FILE *out, const char *id, const char *title, const char *const *columns) {
  fprintf(out, "<h2 id=\"%s\">%s</h2>\n<div class=\"wide\"><table class=\"sort\" aria-labelledby=\"%s\"><thead><tr>",
          id, title, id);
  for (; *columns; columns++) {
    fputs("<th scope=\"col\">", out);
    svg_escaped(out, *columns);
    fputs("</th>", out);
  }
  fputs("</tr></thead>\n<tbody>\n", out);
}

static const char foot[] = "</tbody></table></div>\n";

/* ---- values ---- */

static void values(FILE *out, const sweep_summary *z) {
  const sweep_setup *sweep = z->sweep;
  const char *const columns[] = {sweep->key,    "seeds",         z->measure,  "lowest",   "highest",
                                 "on training", "training loss", "low, mean", "low, end", "stored, of binary32's",
                                 "skipped",     "promoted",      NULL};
  head(out, "values", "Values", columns);
  for (size_t i = 0; i < z->rows; i++) {
    const sweep_row *row = &z->row[i];
    const struct {
      int places;
      double x;
    } cells[] = {{4, row->mean}, {4, row->lowest},  {4, row->highest}, {4, row->training}, {4, row->loss[0]},
                 {4, row->low},  {4, row->low_end}, {4, row->stored},  {1, row->skipped},  {1, row->promoted}};
    fputs("<tr>", out);
    text_cell(out, row->value ? sweep_shown(row->value) : "(binary32)");
    count_cell(out, row->done);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) number_cell(out, cells[k].places, cells[k].x);
    fputs("</tr>\n", out);
  }
  fputs(foot, out);
}

/* ---- values that are one and the same run ---- */

/* 1: with every seed both have the same weights. */
static int same_weights(const sweep_summary *z, const sweep_row *a, const sweep_row *b) {
  if (a->done != z->sweep->seeds || b->done != z->sweep->seeds) return 0;
  for (size_t i = 0; i < z->sweep->seeds; i++) {
    if (a->run[i].result.digest != b->run[i].result.digest) return 0;
  }
  return 1;
}

static void twins(FILE *out, const sweep_summary *z) {
  int any = 0;
  for (size_t i = 0; i < z->rows; i++) {
    size_t count = 0, first = 0;
    while (first < i && !same_weights(z, &z->row[first], &z->row[i])) first++;
    if (first < i) continue;
    for (size_t k = i + 1; k < z->rows; k++) {
      if (!same_weights(z, &z->row[i], &z->row[k])) continue;
      if (!count++) {
        fputs(any ? "; " : "<p>The same weights, bit for bit, with every seed: ", out);
        svg_escaped(out, z->row[i].value ? sweep_shown(z->row[i].value) : "(binary32)");
      }
      fputs(", ", out);
      svg_escaped(out, sweep_shown(z->row[k].value));
      any = 1;
    }
  }
  if (any) fputs(".</p>\n", out);
}

/* ---- runs ---- */

static void done_run(FILE *out, const sweep_result *x, int measure) {
  char digest[24];
  snprintf(digest, sizeof digest, "%016llx", (unsigned long long)x->digest);
  number_cell(out, 4, x->figure[measure][HU_ON_TEST]);
  number_cell(out, 4, x->figure[measure][HU_ON_TRAINING]);
  number_cell(out, 4, x->figure[SWEEP_LOSS][HU_ON_TRAINING]);
  number_cell(out, 4, x->low);
  number_cell(out, 4, x->low_end);
  for (int i = 0; i < 4; i++) number_cell(out, 1, x->bytes[i] / 1024);
  count_cell(out, x->skipped);
  count_cell(out, x->promoted);
  number_cell(out, 1, x->seconds);
  text_cell(out, digest);
}

static void runs(FILE *out, const sweep_summary *z) {
  const sweep_setup *sweep = z->sweep;
  const char *const columns[] = {sweep->key,    "seed",           z->measure,
                                 "on training", "training loss",  "low, mean",
                                 "low, end",    "weights, KiB",   "state, KiB",
                                 "values, KiB", "gradients, KiB", "skipped",
                                 "promoted",    "seconds",        "digest of the weights",
                                 NULL};
  head(out, "runs", "Runs", columns);
  for (size_t i = 0; i < sweep->runs; i++) {
    const sweep_run *run = &sweep->run[i];
    fputs("<tr>", out);
    text_cell(out, run->value ? run->value : "(binary32)");
    count_cell(out, run->seed);
    if (run->state == SWEEP_DONE) {
      done_run(out, &run->result, sweep->measure);
    } else {
      fputs("<td data-v=\"\" colspan=\"13\">", out);
      svg_escaped(out, run->why ? run->why : "not done");
      fputs("</td>", out);
    }
    fputs("</tr>\n", out);
  }
  fputs(foot, out);
}

/* ---- keys ---- */

/* Those that are not at their defaults, of a run with a value. */
static void keys(FILE *out, const sweep_summary *z) {
  const char *const columns[] = {"key", "value", NULL};
  const sweep_run *run = &z->sweep->run[z->sweep->seeds];
  head(out, "keys", "Keys that are not at their defaults", columns);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(run->trainer, k.name);
    if (strcmp(k.name, "run.seed") == 0 || strcmp(value, k.by_default) == 0) continue;
    fputs("<tr>", out);
    text_cell(out, k.name);
    text_cell(out, sweep_varies(z->sweep, k.name) ? "(varied)" : value);
    fputs("</tr>\n", out);
  }
  fputs(foot, out);
}

/* ---- the page ---- */

static void drawing(FILE *out, const sweep_summary *z, int by) {
  static const char *const beside[] = {" and low elements", " and stored bytes", ""};
  static const char *const ids[][2] = {{"low", "low-all"}, {"stored", "stored-all"}, {"value", "value-all"}};
  int far = sweep_has_far(z);
  fprintf(out, "<h2>%s%s</h2>\n", z->sweep->measure ? z->measure : "Accuracy", beside[by]);
  sweep_plot_part(out, ids[by][0], z, by, far);
  if (!far) return;
  fputs("<details><summary>Triangles are runs far below: all of them</summary>\n", out);
  sweep_plot_part(out, ids[by][1], z, by, 0);
  fputs("</details>\n", out);
}

static void drawings(FILE *out, const sweep_summary *z) {
  int low = sweep_has_low(z), stored = sweep_has_stored(z);
  if (low) drawing(out, z, SWEEP_BY_LOW);
  if (stored) drawing(out, z, SWEEP_BY_STORED);
  if (!low && !stored) drawing(out, z, SWEEP_BY_VALUE);
}

static void cards(FILE *out, const sweep_summary *z) {
  const sweep_setup *sweep = z->sweep;
  double seconds = 0;
  for (size_t i = 0; i < sweep->runs; i++)
    seconds += sweep->run[i].state == SWEEP_DONE ? sweep->run[i].result.seconds : 0;
  fputs("<dl>\n", out);
  page_card(out, "runs done", "%zu of %zu", sweep_count(sweep, SWEEP_DONE), sweep->runs);
  if (sweep_count(sweep, SWEEP_FAILED)) page_card(out, "failed", "%zu", sweep_count(sweep, SWEEP_FAILED));
  page_card(out, "values", "%zu", sweep->values);
  page_card(out, "seeds", "%zu", sweep->seeds);
  page_card(out, "accepted loss", sweep->loss == 1 ? "%g point" : "%g points", sweep->loss);
  page_card(out, "binary32",
            !isfinite(z->row[0].mean)    ? "-"
            : fabs(z->row[0].mean) < 1e4 ? "%.4f"
                                         : "%.3g",
            z->row[0].mean);
  page_card(out, "seconds of all runs", "%.1f", seconds);
  fputs("</dl>\n", out);
}

static void words(FILE *out, const sweep_summary *z) {
  const sweep_measure *measure = &sweep_measures[z->sweep->measure];
  fprintf(out,
          "<h2>Words</h2>\n<p>%s on the test set at the end of the run, with all its roundings; a point is %s. "
          "Recommended is, among the values whose mean over all seeds is not more than the accepted loss %s that of "
          "binary32, the one that stores the fewest bytes; where the key does not change these, the best one. ",
          z->sweep->measure ? measure->name : "Accuracy: share of right answers",
          measure->points == 1 ? "1" : "a hundredth", measure->falls ? "above" : "below");
  fputs(
      "Low: share of elements of all tensors of a step that are in the low format, as mean over the steps and at the "
      "end; promotions make it smaller. Stored: bytes of the tensors of a step as a "
      "system stores them that computes with the codes of operands and results (values, weights, the gradients of "
      "both, the state of the optimizer), mean over the steps, over those of binary32. Skipped: steps left out by the "
      "loss scale.</p>\n",
      out);
}

void sweep_print_page(FILE *out, const void *summary) {
  const sweep_summary *z = summary;
  char title[256];
  snprintf(title, sizeof title, "Sweep over %.100s", z->sweep->key);
  page_open(out, title);
  fputs("<h1>", out);
  svg_escaped(out, title);
  fputs("</h1>\n<p class=\"soft\">", out);
  svg_escaped(out, z->sweep->config);
  fprintf(out, ", binary32 as the baseline. halfulp %s.</p>\n<p><strong>", HU_VERSION_STRING);
  svg_escaped(out, z->text);
  fputs("</strong></p>\n", out);
  cards(out, z);
  drawings(out, z);
  twins(out, z);
  values(out, z);
  runs(out, z);
  keys(out, z);
  words(out, z);
  page_close(out, page_sorting);
}
