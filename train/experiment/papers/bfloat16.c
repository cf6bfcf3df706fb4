/* SPDX-License-Identifier: MIT */
/* Zamirai et al., Revisiting BFloat16 Training. */
#include "train/experiment/experiment.h"

#define ALL16(update)                                                                                      \
  HU_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16", \
           "optimizer.update", update)
static const hu_trial trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"bfloat16, binary32 weights", HU_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16"), 0},
    {"bfloat16, to nearest", ALL16("rne"), 0},
    {"bfloat16, stochastic", ALL16("sra:16"), 0},
    {"bfloat16, Kahan", ALL16("kahan"), 0}};

static void judge(hu_lab *lab) {
  const hu_experiment_row *with = hui_lab_row(lab, 1), *nearest = hui_lab_row(lab, 2);
  hui_lab_claim(lab, nearest->loss >= 3 * with->loss,
                "to nearest: at least 3 times the loss with binary32 weights: %.4f and %.4f", nearest->loss,
                with->loss);
  hui_lab_claim(lab, hui_lab_near(lab, 3, 1, 0.05), "stochastic: within 5 %% of the loss with binary32 weights: %.4f",
                hui_lab_row(lab, 3)->loss);
  hui_lab_claim(lab, hui_lab_near(lab, 4, 1, 0.05), "Kahan: within 5 %% of it: %.4f", hui_lab_row(lab, 4)->loss);
  hui_lab_claim(lab, nearest->lost > 0.5, "to nearest: more than half of the updates are lost: %.3f", nearest->lost);
}

const hu_plan hu_plan_updates = {
    .shown =
        {.name = "bfloat16-updates",
         .source = "Zamirai et al., Revisiting BFloat16 Training (2021)",
         .figure = "tables 1 and 2",
         .shows =
             "all-bfloat16 training stalls with updates to nearest; stochastic rounding or Kahan summation repairs it",
         .expected = "the curve to nearest stalls; the others lie on binary32's",
         .seconds = 2,
         .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=64)", "optimizer.rate", "0.001", "optimizer.momentum", "0.9",
                      "run.batch", "32", "run.epochs", "60"),
    .trials = trials,
    .count = sizeof trials / sizeof *trials,
    .watch = HU_WATCH_LOSS,
    .steps = 88,
    .judge = judge};
