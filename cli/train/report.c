/* SPDX-License-Identifier: MIT */
/* report.html of a training run: curves, exponents, the keys that were set. See train.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/draw/curves.h"
#include "cli/draw/page.h"
#include "cli/train/tensors.h"
#include "cli/train/train.h"
#include "halfulp/status.h"

/* ---- curves ---- */

static curve of_table(const table *data, const char *name, int column, int dots) {
  const curve none = {name, NULL, NULL, 0, 0, 0};
  if (!data->rows) return none;
  const curve z = {name, data->cells, data->cells + column, data->rows, data->columns, dots};
  return z;
}

static void draw(FILE *out, const char *id, const char *title, const char *text, enum curve_axis axis,
                 const curve *curves, size_t count) {
  const chart figure = {id, title, text, axis, curves, count, NULL, NULL, CURVE_LINEAR, 0};
  if (!chart_has_points(&figure)) return;
  fprintf(out, "<h2>%s</h2>\n", title);
  chart_draw(out, &figure);
  fprintf(out, "<p class=\"soft\">%s</p>\n", text);
}

/* Returns over how many powers of ten the positive numbers of a column go. */
static double decades(const table *data, int column) {
  double low = HUGE_VAL, high = 0;
  for (size_t i = 0; i < data->rows; i++) {
    double y = data->cells[i * data->columns + (size_t)column];
    if (!isfinite(y) || y <= 0) continue;
    low = fmin(low, y);
    high = fmax(high, y);
  }
  return high > 0 ? log10(high / low) : 0;
}

static void losses(FILE *out, const train_run *run) {
  const curve list[] = {of_table(&run->log, "of a step", LOG_LOSS, 0),
                        of_table(&run->seen, "training set", SEEN_TRAINING_LOSS, 1),
                        of_table(&run->seen, "test set", SEEN_TEST_LOSS, 1)};
  enum curve_axis axis = decades(&run->log, LOG_LOSS) > 1.5 ? CURVE_LOG10 : CURVE_LINEAR;
  draw(out, "loss", "Loss", "Of the batch of a step, before it; and of all examples, in evaluation.", axis, list, 3);
}

static void accuracies(FILE *out, const train_run *run) {
  const curve right[] = {of_table(&run->seen, "training set", SEEN_TRAINING_ACCURACY, 1),
                         of_table(&run->seen, "test set", SEEN_TEST_ACCURACY, 1)};
  const curve squares[] = {of_table(&run->seen, "training set", SEEN_TRAINING_R2, 1),
                           of_table(&run->seen, "test set", SEEN_TEST_R2, 1)};
  draw(out, "accuracy", "Accuracy", "Examples that are classified correctly, as a share of all.", CURVE_LINEAR, right,
       2);
  draw(out, "r2", "R\xc2\xb2", "1 less the sum of the squared errors over that of the squared deviations.",
       CURVE_LINEAR, squares, 2);
}

static void scales(FILE *out, const train_run *run) {
  const curve scale[] = {of_table(&run->log, "loss scale", LOG_SCALE, 0)};
  const curve largest[] = {of_table(&run->log, "largest gradient", LOG_LARGEST, 0)};
  if (strcmp(hu_trainer_get(run->trainer, "loss.scale"), "none") != 0)
    draw(out, "scale", "Loss scale", "The factor on the loss in each step.", CURVE_LOG2, scale, 1);
  draw(out, "gradient", "Gradient magnitude",
       "The largest finite magnitude among the gradients of parameters, the loss scale taken out.", CURVE_LOG2, largest,
       1);
}

/* Shares of a step's elements, a row of the log each: 4 columns for either direction. */
enum { SHARE_STEP, SHARE_FORWARD, SHARE_BACKWARD = SHARE_FORWARD + 4, SHARE_LOST = SHARE_BACKWARD + 4, SHARES };

static double share(double part, double of) { return of > 0 ? part / of : (double)NAN; }

static void put_shares(double *z, const double *counts) {
  static const int which[] = {LOG_OVERFLOW, LOG_UNDERFLOW, LOG_TO_ZERO, LOG_INEXACT};
  for (int i = 0; i < 4; i++) z[i] = share(counts[which[i]], counts[LOG_ELEMENTS]);
}

static void direction(FILE *out, const double *shares, size_t rows, int first, const char *id, const char *title,
                      const char *text) {
  static const char *const names[] = {"overflow", "underflow", "to zero", "inexact"};
  curve list[4];
  for (int i = 0; i < 4; i++) list[i] = (curve){names[i], shares, shares + first + i, rows, SHARES, 0};
  draw(out, id, title, text, CURVE_LOG10, list, 4);
}

static void events(FILE *out, const train_run *run) {
  size_t rows = run->log.rows;
  double *z = malloc((rows + 1) * SHARES * sizeof *z);
  if (!z) return;
  for (size_t i = 0; i < rows; i++) {
    const double *row = run->log.cells + i * LOG_COLUMNS;
    double *to = z + i * SHARES;
    to[SHARE_STEP] = row[LOG_STEP];
    put_shares(to + SHARE_FORWARD, row + LOG_FORWARD);
    put_shares(to + SHARE_BACKWARD, row + LOG_BACKWARD);
    to[SHARE_LOST] = share(row[LOG_LOST], row[LOG_MOVED]);
  }
  direction(out, z, rows, SHARE_FORWARD, "forward", "Events forward",
            "Shares of the values and parameters that were rounded in a step.");
  direction(out, z, rows, SHARE_BACKWARD, "backward", "Events backward",
            "Shares of the gradients that were rounded in a step.");
  const curve lost[] = {{"updates lost", z, z + SHARE_LOST, rows, SHARES, 0},
                        of_table(&run->log, "low elements", LOG_LOW, 0)};
  size_t both = strcmp(hu_trainer_get(run->trainer, "assignment.kind"), "none") != 0 ? 2 : 1;
  draw(out, "lost", both == 2 ? "Updates lost, and low elements" : "Updates lost",
       both == 2 ? "Weights with an update that is not zero and that stayed as they were; elements of low precision."
                 : "Share of the weights with an update that is not zero, that stayed as they were.",
       CURVE_LINEAR, lost, both);
  free(z);
}

static void exponent_columns(FILE *out, const train_run *run) {
  uint64_t weights[HU_EXPONENTS], gradients[HU_EXPONENTS], of_weights[HU_EXPONENTS];
  train_weights(run, weights);
  train_gradients(run, gradients);
  train_weight_gradients(run, of_weights);
  const exponents sets[] = {
      {"gradients of values, scaled", gradients}, {"weights", weights}, {"gradients of weights", of_weights}};
  static const exponent_mark marks[] = {{-24, "binary16: smallest"}, {-14, "smallest normal"}};
  fputs("<h2>Exponents of gradients and weights</h2>\n", out);
  exponents_draw(
      out, "exponents", "Exponents of gradients and weights",
      "Three columns for zero and for each power of two: shares of the gradients of values, of the weights, and of "
      "their gradients.",
      sets, 3, marks, 2);
  fprintf(out,
          "<p class=\"soft\">Gradients of all values in the %llu steps of the log, with the loss scale, as they were "
          "computed and rounded; gradients of weights as the optimizer sees them; weights at the end. What is not zero "
          "and below 2<sup>\xe2\x88\x92"
          "25</sup> is zero in binary16.</p>\n",
          (unsigned long long)run->totals.samples);
}

/* ---- words and tables ---- */

static void other_cards(FILE *out, const train_run *run, const double *seen) {
  const train_seen_kind *kind = train_seen_kind_of(run);
  char name[40];
  for (size_t i = 0; i < kind->count; i++) {
    if (isnan(seen[kind->figures[i].test])) continue;
    snprintf(name, sizeof name, "%s, test", kind->figures[i].said);
    page_card(out, name, "%s", ROUNDED(seen[kind->figures[i].test], 6));
  }
}

static void cards(FILE *out, const train_run *run) {
  const double *seen = train_last_seen(run);
  hu_trainer_memory memory = hu_trainer_memory_of(run->trainer);
  fputs("<dl>\n", out);
  page_card(out, "steps", "%llu of %llu", (unsigned long long)hu_trainer_at(run->trainer),
            (unsigned long long)hu_trainer_steps(run->trainer));
  page_card(out, "steps skipped", "%llu", (unsigned long long)train_skipped(run));
  if (seen) page_card(out, "loss, training", "%s", ROUNDED(seen[SEEN_TRAINING_LOSS], 6));
  if (seen) page_card(out, "loss, test", "%s", ROUNDED(seen[SEEN_TEST_LOSS], 6));
  if (seen && isfinite(seen[SEEN_TEST_ACCURACY])) page_card(out, "accuracy, test", "%.4f", seen[SEEN_TEST_ACCURACY]);
  if (seen && isfinite(seen[SEEN_TEST_R2])) page_card(out, "R\xc2\xb2, test", "%.4f", seen[SEEN_TEST_R2]);
  const double *again = seen ? train_seen_again(run, seen) : NULL;
  if (again && isfinite(again[SEEN_AGAIN_ACCURACY]))
    page_card(out, "accuracy, test again", "%.4f", again[SEEN_AGAIN_ACCURACY]);
  if (seen) other_cards(out, run, seen);
  page_card(out, "updates lost", "%.4f",
            run->totals.updates.moved ? (double)run->totals.updates.lost / (double)run->totals.updates.moved : 0);
  if (strcmp(hu_trainer_get(run->trainer, "assignment.kind"), "none") != 0)
    page_card(out, "low elements", "%.4f", train_mean_low(run));
  page_card(out, "memory of a step, bytes", "%s",
            ROUNDED(memory.weights + memory.state + memory.values + memory.gradients, 6));
  page_card(out, "digest of the weights", "<code>%016llx</code>", (unsigned long long)hu_trainer_digest(run->trainer));
  fputs("</dl>\n", out);
}

static void keys(FILE *out, const train_run *run) {
  fputs(
      "<h2 id=\"keys\">Keys that differ from their defaults</h2>\n<div class=\"wide\"><table class=\"words\" "
      "aria-labelledby=\"keys\"><thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th>"
      "<th scope=\"col\">default</th><th scope=\"col\">what it sets</th></tr></thead><tbody>\n",
      out);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(run->trainer, key.name);
    if (!strcmp(value, key.by_default)) continue;
    fprintf(out, "<tr><td>%s</td>", key.name);
    page_cell(out, "value", value);
    page_cell(out, "default", key.by_default);
    page_cell(out, "sets", key.what);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n<p class=\"soft\">All keys are in config.ini.</p>\n", out);
}

static void number_cell(FILE *out, double x) {
  if (isnan(x))
    fputs("<td></td>", out);
  else
    fprintf(out, "<td>%s</td>", ROUNDED(x, 6));
}

static void evaluations(FILE *out, const train_run *run) {
  fprintf(out,
          "<h2 id=\"seen\">Evaluations</h2>\n<details><summary>%zu of them</summary><div class=\"wide\">"
          "<table aria-labelledby=\"seen\"><thead><tr>",
          run->seen.rows);
  for (size_t i = 0; i < run->seen.columns; i++) fprintf(out, "<th scope=\"col\">%s</th>", run->seen.names[i]);
  fputs("</tr></thead><tbody>\n", out);
  for (size_t i = 0; i < run->seen.rows; i++) {
    fputs("<tr>", out);
    for (size_t j = 0; j < run->seen.columns; j++) number_cell(out, run->seen.cells[i * run->seen.columns + j]);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div></details>\n", out);
}

static void page(FILE *out, const void *what) {
  const train_run *run = what;
  const char *name = hu_trainer_get(run->trainer, "run.name");
  page_open(out, name);
  fputs("<h1>", out);
  svg_escaped(out, name);
  fputs("</h1>\n<p class=\"soft\"><code>", out);
  svg_escaped(out, hu_trainer_get(run->trainer, train_model_key(run)));
  fputs("</code> on ", out);
  svg_escaped(out, hu_trainer_get(run->trainer, "data.set"));
  fputs(", precision ", out);
  svg_escaped(out, hu_trainer_get(run->trainer, "precision.system"));
  if (strcmp(hu_trainer_get(run->trainer, "assignment.kind"), "none") != 0) {
    fputs(", assignment ", out);
    svg_escaped(out, hu_trainer_get(run->trainer, "assignment.kind"));
  }
  fprintf(out, ". halfulp %s.%s</p>\n", HU_VERSION_STRING,
          hu_trainer_done(run->trainer) ? "" : " The run was stopped, and can be gone on with.");
  cards(out, run);
  losses(out, run);
  accuracies(out, run);
  scales(out, run);
  events(out, run);
  exponent_columns(out, run);
  train_tensors_report(out, run);
  keys(out, run);
  evaluations(out, run);
  page_close(out, "");
}

int train_report(const train_run *run) {
  char *path = train_path(run, "report.html");
  int status = path ? cli_own_text(path, page, run) : CLI_BAD;
  free(path);
  return status;
}
