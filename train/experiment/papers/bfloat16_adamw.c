/* SPDX-License-Identifier: MIT */
/* Zamirai et al., Revisiting BFloat16 Training: AdamW, on a perceptron and on a transformer. */
#include "train/experiment/experiment.h"

enum { EXACT, WIDE, NEAREST, STOCHASTIC, KAHAN, TRIALS };
#define ALL16(update)                                                                                      \
  HU_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16", \
           "optimizer.update", update)
static const hu_trial trials[TRIALS] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"bfloat16, binary32 weights", HU_PAIRS("precision.system", "bfloat16", "optimizer.state", "bfloat16"), 0},
    {"bfloat16, to nearest", ALL16("rne"), 0},
    {"bfloat16, stochastic", ALL16("sra:16"), 0},
    {"bfloat16, Kahan", ALL16("kahan"), 0}};

/* Adam's second moments are in bfloat16 in all rows but the first: rows are compared with the second one. */
static void judge_remedies(hu_lab *lab) {
  hui_lab_claim(lab, hui_lab_near(lab, STOCHASTIC, WIDE, 0.03),
                "stochastic: within 3 %% of the loss with binary32 weights: %.4f and %.4f",
                hui_lab_row(lab, STOCHASTIC)->loss, hui_lab_row(lab, WIDE)->loss);
  hui_lab_claim(lab, hui_lab_near(lab, KAHAN, WIDE, 0.03), "Kahan: within 3 %% of it: %.4f",
                hui_lab_row(lab, KAHAN)->loss);
}

static void judge_perceptron(hu_lab *lab) {
  hui_lab_claim(lab, hui_lab_row(lab, NEAREST)->loss >= 3 * hui_lab_row(lab, WIDE)->loss,
                "to nearest: at least 3 times the loss with binary32 weights: %.4f and %.4f",
                hui_lab_row(lab, NEAREST)->loss, hui_lab_row(lab, WIDE)->loss);
  judge_remedies(lab);
}

static void judge_transformer(hu_lab *lab) {
  hui_lab_claim(lab, hui_lab_row(lab, NEAREST)->loss >= 0.05 + hui_lab_row(lab, WIDE)->loss,
                "to nearest: at least 0.05 above the loss with binary32 weights: %.4f and %.4f",
                hui_lab_row(lab, NEAREST)->loss, hui_lab_row(lab, WIDE)->loss);
  judge_remedies(lab);
}

const hu_plan hu_plan_adamw = {
    .shown = {.name = "bfloat16-adamw",
              .source = "Zamirai et al., Revisiting BFloat16 Training (2021)",
              .figure = "tables 1 and 2, figures 3 and 5",
              .shows = "with AdamW, too, only the last rounding of the weight update matters",
              .expected = "the curve to nearest stalls; the others lie on each other",
              .seconds = 2,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=64)", "optimizer.kind", "adamw", "optimizer.rate", "1e-4",
                      "optimizer.beta2", "0.997", "run.batch", "32", "run.epochs", "60"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 88,
    .judge = judge_perceptron};

const hu_plan hu_plan_adamw_transformer = {
    .shown = {.name = "bfloat16-transformer",
              .source = "Zamirai et al., Revisiting BFloat16 Training (2021)",
              .figure = "tables 1 and 2, figures 3 and 5",
              .shows = "a transformer loses accuracy in standard bfloat16 and regains it with either remedy",
              .expected = "the curve to nearest stays above the others",
              .seconds = 4},
    .pairs = HU_PAIRS("data.set", "text", "model.net", "transformer", "run.batch", "16", "run.steps", "400",
                      "optimizer.kind", "adamw", "optimizer.rate", "1e-3", "optimizer.beta2", "0.99", "optimizer.eps",
                      "1e-8"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 10,
    .judge = judge_transformer};
