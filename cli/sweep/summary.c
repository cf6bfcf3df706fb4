/* SPDX-License-Identifier: MIT */
/* Computes means over the seeds and the value that is recommended: see sweep.h, docs/training/sweep.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/sweep/sweep.h"

const sweep_measure sweep_measures[SWEEP_MEASURES] = {[SWEEP_ACCURACY] = {"accuracy", 100, 0},
                                                      [SWEEP_LOSS] = {"loss", 100, 1},
                                                      [SWEEP_PERPLEXITY] = {"perplexity", 1, 1},
                                                      [SWEEP_AUC] = {"auc", 100, 0},
                                                      [SWEEP_HIT_RATE] = {"hit_rate_10", 100, 0},
                                                      [SWEEP_NDCG] = {"ndcg_10", 100, 0},
                                                      [SWEEP_BLEU] = {"bleu", 1, 0}};

/* ---- a row ---- */

static double bytes_of(const sweep_run *run) {
  return run->result.bytes[0] + run->result.bytes[1] + run->result.bytes[2] + run->result.bytes[3];
}

/* Runs add up in the order of their seeds, whatever order they ended in. */
static void add_run(sweep_row *z, const sweep_run *run, int measure) {
  const sweep_result *x = &run->result;
  const double *figure = x->figure[measure];
  z->mean += figure[HU_ON_TEST];
  z->training += figure[HU_ON_TRAINING];
  for (int i = 0; i < 2; i++) z->loss[i] += x->figure[SWEEP_LOSS][i];
  z->low += x->low;
  z->low_end += x->low_end;
  z->stored += bytes_of(run);
  z->skipped += (double)x->skipped;
  z->promoted += (double)x->promoted;
  z->lowest = fmin(z->done ? z->lowest : INFINITY, figure[HU_ON_TEST]);
  z->highest = fmax(z->done ? z->highest : -INFINITY, figure[HU_ON_TEST]);
  z->done++;
}

static void fill_row(sweep_row *z, const sweep_run *run, const sweep_setup *sweep) {
  *z = (sweep_row){.value = run->value, .run = run};
  for (size_t i = 0; i < sweep->seeds; i++) {
    if (run[i].state == SWEEP_DONE) add_run(z, &run[i], sweep->measure);
  }
  double *const sums[] = {&z->mean,    &z->training, &z->loss[0], &z->loss[1], &z->low,
                          &z->low_end, &z->stored,   &z->skipped, &z->promoted};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] = z->done ? *sums[i] / (double)z->done : NAN;
  if (!z->done) z->lowest = z->highest = NAN;
}

/* ---- the recommendation ---- */

int sweep_has_low(const sweep_summary *z) {
  for (size_t i = 1; i < z->rows; i++) {
    if (z->row[i].low > 0) return 1;
  }
  return 0;
}

int sweep_has_stored(const sweep_summary *z) {
  for (size_t i = 1; i < z->rows; i++) {
    if (fabs(z->row[i].stored - 1) > 1e-9) return 1;
  }
  return 0;
}

static int is_complete(const sweep_summary *z, const sweep_row *row) { return row->done == z->sweep->seeds; }

static const sweep_measure *measure_of(const sweep_summary *z) { return &sweep_measures[z->sweep->measure]; }

/* Points by which it is below the baseline. */
static double points_below(const sweep_summary *z, const sweep_row *row) {
  return measure_of(z)->points * (z->row[0].mean - row->mean);
}

/* Accuracies are counts of examples over their number: sums of them have errors far below this. */
static int is_accepted(const sweep_summary *z, const sweep_row *row) {
  double below = points_below(z, row);
  return (measure_of(z)->falls ? -below : below) <= z->sweep->loss + 1e-9;
}

/* Is a at least as good as b? */
static int is_as_good(const sweep_summary *z, const sweep_row *a, const sweep_row *b) {
  return measure_of(z)->falls ? a->mean <= b->mean : a->mean >= b->mean;
}

/* Fewer bytes; of the same, more low elements, then the better one, then the later one in the list. Bytes that the key
 * does not change say nothing about its values. */
static int is_better(const sweep_summary *z, const sweep_row *a, const sweep_row *b) {
  if (!b) return 1;
  if (z->by_stored && a->stored != b->stored) return a->stored < b->stored;
  if (z->by_stored && a->low != b->low) return a->low > b->low;
  return is_as_good(z, a, b);
}

/* Can a key change which bytes are stored? With others they differ by promotions at most. */
static int changes_bytes(void *unused, const char *key) {
  static const char *const sections[] = {"assignment", "data.", "model.", "precision."};
  static const char *const keys[] = {"run.batch",         "optimizer.kind",   "optimizer.momentum", "optimizer.state",
                                     "optimizer.weights", "optimizer.update", "optimizer.kahan"};
  (void)unused;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    if (strncmp(key, sections[i], strlen(sections[i])) == 0) return 1;
  }
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(key, keys[i]) == 0) return 1;
  }
  return 0;
}

/* Do complete values differ in what they store? */
static int stored_differs(const sweep_summary *z) {
  const sweep_row *first = NULL;
  for (size_t i = 1; i < z->rows; i++) {
    const sweep_row *row = &z->row[i];
    if (!is_complete(z, row)) continue;
    if (first && fabs(row->stored - first->stored) > 1e-9) return 1;
    if (!first) first = row;
  }
  return 0;
}

static void choose(sweep_summary *z) {
  z->by_stored = sweep_each_key(z->sweep, changes_bytes, NULL) && stored_differs(z);
  for (size_t i = 1; i < z->rows; i++) {
    const sweep_row *row = &z->row[i];
    if (!is_complete(z, row) || !isfinite(row->mean)) continue;
    if (!z->nearest || !is_as_good(z, z->nearest, row)) z->nearest = row;
    if (is_complete(z, &z->row[0]) && is_accepted(z, row) && is_better(z, row, z->best)) z->best = row;
  }
}

/* Writes "0.30 points below", "0.10 points above". */
static const char *distance_text(char text[48], double below) {
  snprintf(text, 48, fabs(below) < 1e4 ? "%.2f points %s" : "%.3g points %s", fabs(below),
           below < 0 ? "above" : "below");
  return text;
}

/* Means of R^2 may be any number. */
static const char *mean_text(char text[48], double x) {
  snprintf(text, 48, fabs(x) < 1e4 ? "%.4f" : "%.3g", x);
  return text;
}

/* Writes "which stores 55.0 % of binary32's bytes, with 75.5 % of all elements low", or why else. */
static const char *reason_text(char text[96], const sweep_summary *z, const sweep_row *row) {
  int n = z->by_stored ? snprintf(text, 96, "which stores %.1f %% of binary32's bytes", 100 * row->stored)
                       : snprintf(text, 96, "the %s of the values", z->sweep->measure ? "best" : "most accurate");
  if (sweep_has_low(z)) snprintf(text + n, 96 - (size_t)n, ", with %.1f %% of all elements low", 100 * row->low);
  return text;
}

static int say_best(const sweep_summary *z, char *text, size_t size) {
  const sweep_row *row = z->best;
  char far[48], reason[96], mean[48], base[48];
  return snprintf(text, size, "Recommended: %s = %s, %s. Its %s%s %s is %s binary32's %s; accepted: %g %s.",
                  z->sweep->key, sweep_shown(row->value), reason_text(reason, z, row),
                  z->sweep->seeds == 1 ? "" : "mean ", z->measure, mean_text(mean, row->mean),
                  distance_text(far, points_below(z, row)), mean_text(base, z->row[0].mean), z->sweep->loss,
                  measure_of(z)->falls ? "above" : "below");
}

/* Nothing to compare, or nothing to compare with. An R^2 of results that are not finite is not a number. */
static const char *why_none(const sweep_summary *z) {
  int whole = 0;
  for (size_t i = 1; i < z->rows; i++) whole = whole || is_complete(z, &z->row[i]);
  if (!z->nearest && !whole) return "no value has a result for every seed";
  if (!z->nearest && z->sweep->measure) return "these data have no such figure, or every value's mean is not a number";
  if (!z->nearest) return "every value's mean is not a number";
  return is_complete(z, &z->row[0]) ? "binary32's mean is not a number" : "binary32 has no result for every seed";
}

static int say_none(const sweep_summary *z, char *text, size_t size) {
  const sweep_row *row = z->nearest, *base = &z->row[0];
  char far[48], mean[48];
  if (!row || !is_complete(z, base) || !isfinite(base->mean))
    return snprintf(text, size, "No recommendation: %s.", why_none(z));
  return snprintf(text, size,
                  "None recommended: no value's mean %s is at most %g points %s binary32's %s. The nearest, "
                  "%s = %s, is %s.",
                  z->measure, z->sweep->loss, measure_of(z)->falls ? "above" : "below", mean_text(mean, z->row[0].mean),
                  z->sweep->key, sweep_shown(row->value), distance_text(far, points_below(z, row)));
}

/* A loss below what seeds alone make cannot be distinguished from noise. */
static void say_noise(const sweep_summary *z, char *text, size_t size) {
  const sweep_row *b = &z->row[0];
  double range = measure_of(z)->points * (b->highest - b->lowest);
  if (!z->best || !(range > z->sweep->loss)) {
    if (z->best && z->sweep->seeds == 1) snprintf(text, size, " One seed says nothing about the noise.");
    return;
  }
  snprintf(text, size, " Seeds of binary32 alone differ by %.2f points: more than the accepted loss.", range);
}

int sweep_summarize(sweep_summary *z, const sweep_setup *sweep) {
  *z = (sweep_summary){.sweep = sweep, .measure = sweep_measures[sweep->measure].name, .rows = sweep->values + 1};
  z->row = calloc(z->rows, sizeof *z->row);
  if (!z->row) return cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < z->rows; i++) fill_row(&z->row[i], &sweep->run[i * sweep->seeds], sweep);
  for (size_t i = 0; i < sweep->runs; i++) {
    if (sweep->run[i].state == SWEEP_DONE && !sweep->run[i].result.classes && sweep->measure == SWEEP_ACCURACY)
      z->measure = "R^2";
  }
  double whole = z->row[0].stored;
  for (size_t i = 0; i < z->rows; i++) z->row[i].stored /= whole;
  choose(z);
  if (z->best) {
    say_best(z, z->text, sizeof z->text);
  } else {
    say_none(z, z->text, sizeof z->text);
  }
  size_t n = cli_whole_text(z->text, strlen(z->text));
  z->text[n] = 0;
  say_noise(z, z->text + n, sizeof z->text - n);
  z->text[cli_whole_text(z->text, strlen(z->text))] = 0;
  return CLI_OK;
}

void sweep_summary_free(sweep_summary *z) { free(z->row); }
