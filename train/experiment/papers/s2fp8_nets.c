/* SPDX-License-Identifier: MIT */
/* Cambier et al., Shifted and Squeezed 8-bit Floating Point: a convolutional net, a transformer. */
#include <math.h>

#include "train/experiment/shifted.h"

/* What both tables have. */
enum { EXACT, FP8, FP8_100, FP8_1000, S2FP8, SHIFTED_FP8, TRIALS };
static const hu_trial trials[TRIALS] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"FP8 E5M2", HU_PAIRS("precision.system", "fp8_e5m2"), 0},
    {"FP8 E5M2, loss scale 100", HU_PAIRS("precision.system", "fp8_e5m2", "loss.scale", "static(100)"), 0},
    {"FP8 E5M2, loss scale 1000", HU_PAIRS("precision.system", "fp8_e5m2", "loss.scale", "static(1000)"), 0},
    {"S2FP8", HU_PAIRS("precision.system", "s2fp8"), HU_WATCH_STATISTICS},
    SHIFT};

static void judge_s2fp8(hu_lab *lab) {
  const hu_experiment_row *exact = hui_lab_row(lab, EXACT), *row = hui_lab_row(lab, S2FP8);
  hui_lab_claim(lab, fabs(row->test_loss - exact->test_loss) <= 0.05 * exact->test_loss,
                "S2FP8, no loss scale: test loss %.4f, within 5 %% of binary32's %.4f", row->test_loss,
                exact->test_loss);
  hui_lab_claim(lab, fabs(row->accuracy - exact->accuracy) <= 0.015,
                "S2FP8: accuracy %.3f, within 1.5 points of binary32's %.3f", row->accuracy, exact->accuracy);
}

/* Returns the row of the best loss scale. */
static const hu_experiment_row *scaled(const hu_lab *lab) {
  const hu_experiment_row *a = hui_lab_row(lab, FP8_100), *b = hui_lab_row(lab, FP8_1000);
  return !(a->test_loss <= b->test_loss) ? b : a;
}

static void judge_order(hu_lab *lab) {
  const hu_experiment_row *best = scaled(lab), *row = hui_lab_row(lab, S2FP8);
  hui_lab_claim(lab, row->test_loss < best->test_loss && !(hui_lab_row(lab, FP8)->test_loss <= best->test_loss),
                "order of test losses: S2FP8 %.4f, FP8 with its best loss scale %.4f, FP8 %.4f", row->test_loss,
                best->test_loss, hui_lab_row(lab, FP8)->test_loss);
  double exact = hui_lab_row(lab, EXACT)->test_loss, shifted = hui_lab_row(lab, SHIFTED_FP8)->test_loss;
  hui_lab_claim(lab, fabs(row->test_loss - exact) < fabs(shifted - exact),
                "the squeeze matters: a shift alone is farther from binary32's test loss: %.4f", shifted);
}

static void judge_conv(hu_lab *lab) {
  judge_s2fp8(lab);
  hui_lab_claim(lab, !(hui_lab_row(lab, FP8)->accuracy > hui_lab_row(lab, EXACT)->accuracy - 0.15),
                "FP8 E5M2 without a loss scale: accuracy at least 15 points lower: %.3f",
                hui_lab_row(lab, FP8)->accuracy);
  judge_order(lab);
}

static void judge_transformer(hu_lab *lab) {
  judge_s2fp8(lab);
  hui_lab_claim(lab, !(hui_lab_row(lab, FP8)->test_loss < hui_lab_row(lab, EXACT)->test_loss + 0.5),
                "FP8 E5M2 without a loss scale: test loss at least 0.5 higher: %.3f and %.3f",
                hui_lab_row(lab, FP8)->test_loss, hui_lab_row(lab, EXACT)->test_loss);
  judge_order(lab);
}

static const char *const conv_tensors[] = {"conv2.weight", "conv2.weight.gradient", NULL};
const hu_plan hu_plan_s2fp8_conv = {
    .shown = {.name = "s2fp8-conv",
              .source = "Cambier et al., Shifted and Squeezed 8-bit Floating Point (ICLR 2020)",
              .figure = "table 1, figure 5",
              .shows = "a convolutional net with batch norm fails in FP8 for its own small gradients, and trains in "
                       "S2FP8 as in binary32",
              .expected = "S2FP8 on binary32's curve, FP8 with a loss scale a little above, FP8 far above",
              .seconds = 18},
    .pairs = HU_PAIRS("data.set", "gratings", "model.net", "conv", "run.batch", "128", "run.epochs", "6",
                      "optimizer.rate", "0.1", "optimizer.momentum", "0.9", "optimizer.decay", "1e-4",
                      "optimizer.schedule", "drop(0.667,0.1)"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 3,
    .tensors = conv_tensors,
    .judge = judge_conv};

static const char *const attention_tensors[] = {"block1.linear1.weight", "block1.linear1.weight.gradient", NULL};
const hu_plan hu_plan_s2fp8_transformer = {
    .shown =
        {.name = "s2fp8-transformer",
         .source = "Cambier et al., Shifted and Squeezed 8-bit Floating Point (ICLR 2020)",
         .figure = "table 3, figure 5",
         .shows =
             "a transformer whose loss is a mean over 4096 tokens diverges in FP8, and trains in S2FP8 as in binary32",
         .expected = "S2FP8 on binary32's curve, FP8 with a loss scale a little above, FP8 rising",
         .seconds = 17},
    .pairs = HU_PAIRS("data.set", "text", "model.net", "transformer", "run.batch", "128", "run.steps", "150",
                      "optimizer.kind", "adamw", "optimizer.rate", "3e-3", "optimizer.beta2", "0.99", "optimizer.eps",
                      "1e-12"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 5,
    .tensors = attention_tensors,
    .judge = judge_transformer};
