/* SPDX-License-Identifier: MIT */
/* Wang et al., chunk-based accumulation, and the sums of matrix units, in every layer of a net. */
#include "train/experiment/experiment.h"

/* Gradients of weights are sums over all pixels of a batch, thousands of products long. As in the paper the first and
 * the last layer are spared FP8, except in one run. */
#define FP8(accum, exempt)                                                                                             \
  HU_PAIRS("precision.system", "wang2018", "loss.scale", "static(1000)", "precision.accum", accum, "precision.exempt", \
           exempt)
#define FP16(accum) HU_PAIRS("precision.system", "fp16", "loss.scale", "static(1024)", "precision.accum", accum)
#define CHUNKS_OF_64 "chunk(64,fp(6,9,0),fp(6,9,0))"
static const hu_trial trials[] = {{"binary32", HU_PAIRS("precision.system", "binary32"), 0},
                                  {"FP8, sums in binary32", FP8("fp32", "both"), 0},
                                  {"FP8, sums in fp(6,9,0), chunks of 64", FP8(CHUNKS_OF_64, "both"), 0},
                                  {"FP8, sums in fp(6,9,0), one by one", FP8("seq(fp(6,9,0))", "both"), 0},
                                  {"FP8, chunks of 64, all layers", FP8(CHUNKS_OF_64, "none"), 0},
                                  {"binary16, sums in binary32", FP16("fp32"), 0},
                                  {"binary16, Ampere's sums in binary32", FP16("nv.ampere.f16.f32"), 0},
                                  {"binary16, Volta's sums in binary16", FP16("nv.volta.f16.f16"), 0},
                                  {"binary16, sums in binary16, one by one", FP16("seq(binary16)"), 0}};
enum { EXACT, WIDE, CHUNKS, ONE_BY_ONE, ALL_LAYERS, HALF, AMPERE, VOLTA, HALF_SUMS };

static void judge(hu_lab *lab) {
  const hu_experiment_row *row = lab->report.row;
  hui_lab_claim(lab, hui_lab_near(lab, CHUNKS, WIDE, 0.05),
                "FP8: sums in fp(6,9,0) in chunks of 64: loss %.4f, within 5 %% of that of sums in binary32, %.4f",
                row[CHUNKS].loss, row[WIDE].loss);
  hui_lab_claim(
      lab, row[ONE_BY_ONE].accuracy >= row[WIDE].accuracy - 0.03,
      "one by one: at this scale accuracy %.3f is not more than 3 points below that of sums in binary32, %.3f",
      row[ONE_BY_ONE].accuracy, row[WIDE].accuracy);
  hui_lab_claim(lab, row[ALL_LAYERS].loss > row[CHUNKS].loss, "all layers in FP8, none spared: worse, %.4f",
                row[ALL_LAYERS].loss);
  hui_lab_claim(lab, hui_lab_near(lab, AMPERE, HALF, 0.01),
                "binary16: Ampere's matrix unit, sums in binary32: %.4f, within 1 %% of plain binary32 sums, %.4f",
                row[AMPERE].loss, row[HALF].loss);
  double narrow = row[VOLTA].accuracy < row[HALF_SUMS].accuracy ? row[VOLTA].accuracy : row[HALF_SUMS].accuracy;
  hui_lab_claim(lab, narrow >= row[HALF].accuracy - 0.03,
                "sums in binary16, Volta's or one by one: accuracy at least %.3f, not more than 3 points below %.3f",
                narrow, row[HALF].accuracy);
}

const hu_plan hu_plan_accumulation = {
    .shown = {.name = "accumulation",
              .source = "Wang et al., Training Deep Neural Networks with 8-bit Floating Point Numbers (2018)",
              .figure = "chunk-based accumulation; sums of matrix units as in docs/accumulators.md",
              .shows = "long sums in a narrow format lose small products, unless they are taken in chunks",
              .expected =
                  "chunks and matrix units as binary32 sums; so few terms do not show what sums one by one lose",
              .seconds = 45},
    .pairs = HU_PAIRS("data.set", "gratings", "data.count", "1600", "model.net", "conv(channels=8/8)", "optimizer.rate",
                      "0.1", "optimizer.momentum", "0.9", "run.batch", "100", "run.epochs", "8"),
    .trials = trials,
    .count = sizeof trials / sizeof *trials,
    .watch = HU_WATCH_LOSS,
    .steps = 4,
    .judge = judge};
