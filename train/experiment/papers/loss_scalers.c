/* SPDX-License-Identifier: MIT */
/* OpenSeq2Seq's automatic scaling of the loss, and torch's. */
#include <math.h>

#include "train/experiment/experiment.h"

enum { WARM = 100 }; /* steps that a scale has to find its place */

#define FP16(scale) HU_PAIRS("precision.system", "fp16", "loss.scale", scale)
static const hu_trial trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"backoff, window 50, from 2^24", FP16("backoff(scale_max=2^24,step_window=50)"), 0},
    {"backoff, as published", FP16("backoff"), 0},
    {"gradscaler, interval 50", FP16("gradscaler(growth_interval=50)"), 0},
    {"backoff, window 50, from 2^40", FP16("backoff(scale_max=2^40,step_window=50)"), 0},
    {"logmax, limit 2^40", FP16("logmax(scale_max=2^40)"), 0},
    {"logmax, limit 2^40, plain loss",
     HU_PAIRS("precision.system", "fp16", "loss.scale", "logmax(scale_max=2^40)", "loss.power", "0"), 0}};
enum { TRIALS = sizeof trials / sizeof *trials };

/* The least and the largest scale times largest gradient, of steps that were taken, after the first ones; the least is
 * above the largest where there are none, both are NaN where one is. */
static void range_of(const hu_lab *lab, size_t row, double *low, double *high) {
  const char *name = hui_lab_row(lab, row)->name;
  const hu_experiment_series *series = hui_lab_find(lab, "loss-scale", name),
                             *curve = hui_lab_find(lab, "largest", name);
  *low = INFINITY;
  *high = 0;
  for (size_t i = WARM; series && curve && i < series->count && i < curve->count; i++) {
    double x = series->y[i] * curve->y[i];
    if (curve->y[i] == 0 || x >= 65520) continue; /* a step that is skipped */
    if (!(x >= *low)) *low = x;
    if (!(x <= *high)) *high = x;
    if (isnan(x)) return;
  }
}

static void judge(hu_lab *lab) {
  double worst = hui_lab_least_accuracy(lab, 1, TRIALS), low, high;
  uint64_t skipped = 0;
  hui_lab_claim(lab, worst >= hui_lab_row(lab, 0)->accuracy - 0.01,
                "all automatic scales: accuracy at least %.3f, within a point of binary32's %.3f", worst,
                hui_lab_row(lab, 0)->accuracy);
  for (size_t i = 1; i < 4; i++) skipped += hui_lab_row(lab, i)->skipped;
  hui_lab_claim(lab, skipped == 0, "backoff from 2^24 and 2^14 and gradscaler skip no step");
  skipped = hui_lab_row(lab, 4)->skipped;
  hui_lab_claim(lab, skipped > 0 && 10 * skipped < hui_lab_row(lab, 4)->steps,
                "from 2^40: some steps are skipped, fewer than 10 %%: %llu of %llu", (unsigned long long)skipped,
                (unsigned long long)hui_lab_row(lab, 4)->steps);
  range_of(lab, 4, &low, &high);
  hui_lab_claim(lab, low > 512 && low <= high && high < 65520,
                "from 2^40, after %d steps: scale times largest gradient is between 2^9 and 65520: %.0f to %.0f", WARM,
                low, high);
  range_of(lab, 6, &low, &high);
  hui_lab_claim(
      lab, 50 * hui_lab_row(lab, 6)->skipped <= hui_lab_row(lab, 6)->steps && low > 512 && low <= high && high < 65520,
      "logmax, plain loss: %llu steps skipped; scale times largest gradient %.0f to %.0f; the last scale 2^%.2f",
      (unsigned long long)hui_lab_row(lab, 6)->skipped, low, high, log2(hui_lab_row(lab, 6)->scale));
}

const hu_plan hu_plan_scalers = {
    .shown = {.name = "automatic-loss-scale",
              .source = "OpenSeq2Seq, Mixed precision training; torch.amp.GradScaler",
              .figure = "page, section automatic loss scaling",
              .shows = "a scale that follows the gradients needs no tuning and costs few steps",
              .expected = "accuracies of binary32; the scale settles where the largest gradient is just below "
                          "binary16's largest number",
              .seconds = 1,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=64)", "optimizer.kind", "adamw", "optimizer.rate", "1e-3",
                      "optimizer.eps", "1e-12", "run.batch", "64", "run.epochs", "15", "loss.power", "14"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_SCALE | HU_WATCH_LARGEST,
    .steps = 1,
    .judge = judge};
