/* SPDX-License-Identifier: MIT */
/* Tensors with shared scales: microscaling formats, NVFP4, DeepSeek-V3's, one scale per tensor, HFP8. */
#include <math.h>

#include "train/experiment/experiment.h"

/* Blocks along the reduction of each product, and nothing else of NVIDIA's recipe. */
#define PLAIN_NVFP4                                                                                               \
  HU_PAIRS("precision.system", "binary32", "precision.x", "nvfp4", "precision.w", "nvfp4,turned", "precision.dz", \
           "nvfp4", "precision.w_back", "nvfp4", "precision.x_back", "nvfp4,turned", "precision.dz_w", "nvfp4,turned")
static const hu_trial trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"FP8, per-tensor scaling", HU_PAIRS("precision.system", "fp8_tensor"), 0},
    {"DeepSeek-V3, 1x128 and 128x128", HU_PAIRS("precision.system", "dsv3"), 0},
    {"MXFP8 E4M3", HU_PAIRS("precision.system", "mxfp8"), 0},
    {"MXFP6 E3M2", HU_PAIRS("precision.system", "mxfp6"), 0},
    {"MXFP4", HU_PAIRS("precision.system", "mxfp4"), 0},
    {"NVFP4, blocks alone", PLAIN_NVFP4, 0},
    {"NVFP4, whole recipe", HU_PAIRS("precision.system", "nvfp4"), 0},
    {"HFP8, loss scale 1000", HU_PAIRS("precision.system", "hfp8", "loss.scale", "static(1000)"), 0}};
enum { TRIALS = sizeof trials / sizeof *trials, EIGHT_BITS = 3, FIRST_FOUR = 5, LAST_FOUR = 7 };

/* The largest distance of losses from binary32's, relative; NaN where one is NaN. */
static double farthest(const hu_lab *lab, size_t first, size_t last) {
  double far = 0;
  for (size_t i = first; i <= last; i++) {
    double d = fabs(hui_lab_row(lab, i)->loss / hui_lab_row(lab, 0)->loss - 1);
    if (!(d <= far)) far = d;
    if (isnan(d)) break;
  }
  return far;
}

static void judge(hu_lab *lab) {
  double worst = hui_lab_least_accuracy(lab, 1, TRIALS), exact = hui_lab_row(lab, 0)->loss;
  double far = farthest(lab, 1, EIGHT_BITS), four = farthest(lab, FIRST_FOUR, LAST_FOUR);
  hui_lab_claim(lab, far <= 0.1, "8 bits with scales: losses within 10 %% of binary32's %.4f: at most %.1f %% away",
                exact, 100 * far);
  hui_lab_claim(lab, four <= 0.3, "4 bits: losses within 30 %%: at most %.1f %% away", 100 * four);
  hui_lab_claim(lab, worst >= hui_lab_row(lab, 0)->accuracy - 0.03,
                "all formats: accuracy at least %.3f, within 3 points of binary32's %.3f", worst,
                hui_lab_row(lab, 0)->accuracy);
}

const hu_plan hu_plan_blocks = {
    .shown = {.name = "block-formats",
              .source = "Rouhani et al., Microscaling Data Formats (2023); NVIDIA, NVFP4 (2025); DeepSeek-V3 (2024); "
                        "Sun et al. (2019)",
              .figure = "tables of training losses",
              .shows = "tensors with shared scales train in 8, 6 and 4 bits",
              .expected = "8 bits on binary32's curve, 4 bits a little above it",
              .seconds = 1,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=128)", "optimizer.kind", "adamw", "optimizer.rate", "1e-3",
                      "optimizer.eps", "1e-12", "run.batch", "64", "run.epochs", "10", "precision.exempt", "last"),
    .trials = trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 11,
    .judge = judge};
