/* SPDX-License-Identifier: MIT */
/* Cambier et al., Shifted and Squeezed 8-bit Floating Point. */
#include <math.h>

#include "train/experiment/shifted.h"

static const hu_trial trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"bfloat16",
     HU_PAIRS("precision.system", "binary32", "precision.x", "bfloat16", "precision.w", "bfloat16", "precision.dz",
              "bfloat16", "precision.w_back", "bfloat16", "precision.x_back", "bfloat16", "precision.dz_w", "bfloat16",
              "precision.z_out", "bfloat16", "precision.dx_out", "bfloat16", "precision.dw_out", "bfloat16"),
     0},
    {"FP8 E5M2", HU_PAIRS("precision.system", "fp8_e5m2"), 0},
    {"FP8 E5M2, loss scale 25600", HU_PAIRS("precision.system", "fp8_e5m2", "loss.scale", "static(25600)"), 0},
    {"S2FP8", HU_PAIRS("precision.system", "s2fp8"), HU_WATCH_STATISTICS},
    SHIFT};
static const char *const tensors[] = {"linear1.weight", "linear1.weight.gradient", NULL};

static void judge(hu_lab *lab) {
  const hu_experiment_row *exact = hui_lab_row(lab, 0), *s2fp8 = hui_lab_row(lab, 4);
  hui_lab_claim(lab, s2fp8->loss <= 1.05 * exact->loss,
                "S2FP8, no loss scale: loss %.4f, at most 5 %% above binary32's %.4f", s2fp8->loss, exact->loss);
  hui_lab_claim(lab, fabs(s2fp8->accuracy - exact->accuracy) <= 0.015,
                "S2FP8: accuracy %.3f, within 1.5 points of binary32's %.3f", s2fp8->accuracy, exact->accuracy);
  hui_lab_claim(lab, !(hui_lab_row(lab, 2)->accuracy >= 0.5),
                "FP8 E5M2 without a loss scale fails: accuracy below 0.5: %.3f", hui_lab_row(lab, 2)->accuracy);
  hui_lab_claim(lab, hui_lab_row(lab, 3)->loss < 1, "with a tuned loss scale FP8 E5M2 trains: loss %.4f",
                hui_lab_row(lab, 3)->loss);
  hui_lab_claim(lab, fabs(s2fp8->loss - exact->loss) < fabs(hui_lab_row(lab, 5)->loss - exact->loss),
                "the squeeze matters: a shift alone is farther from binary32's loss: %.4f", hui_lab_row(lab, 5)->loss);
}

const hu_plan hu_plan_s2fp8 = {
    .shown = {.name = "s2fp8",
              .source = "Cambier et al., Shifted and Squeezed 8-bit Floating Point (ICLR 2020)",
              .figure = "tables 1 to 3, figure 5",
              .shows = "8-bit training fails without a loss scale; shifted and squeezed it needs none",
              .expected = "S2FP8 as binary32; FP8 fails, and with the best loss scale trains, a little worse",
              .seconds = 3,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=64)", "optimizer.kind", "adamw", "optimizer.rate", "1e-3",
                      "optimizer.eps", "1e-12", "run.batch", "64", "run.epochs", "15", "loss.power", "8"),
    .trials = trials,
    .count = sizeof trials / sizeof *trials,
    .watch = HU_WATCH_LOSS,
    .steps = 11,
    .tensors = tensors,
    .judge = judge};
