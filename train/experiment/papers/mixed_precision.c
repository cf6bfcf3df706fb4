/* SPDX-License-Identifier: MIT */
/* Micikevicius et al., Mixed Precision Training: master weights, the scale of the loss. */
#include <math.h>

#include "train/experiment/experiment.h"

#define LOSS_OF(i) hui_lab_row(lab, i)->loss
#define ACCURACY_OF(i) hui_lab_row(lab, i)->accuracy

/* ---- master weights ---- */

static const hu_trial master_trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), 0},
    {"binary16, binary32 master weights", HU_PAIRS("precision.system", "fp16", "loss.scale", "static(1024)"), 0},
    {"binary16, no master weights",
     HU_PAIRS("precision.system", "fp16", "loss.scale", "static(1024)", "optimizer.state", "binary16",
              "optimizer.weights", "binary16"),
     0}};

/* Returns the bytes of a trial, counted from its tensors and their formats. */
static hu_trainer_memory memory_of(hu_lab *lab, size_t trial) {
  hu_trainer_memory memory = {0, 0, 0, 0};
  hu_trainer *trainer;
  hu_status status = hui_lab_begin(lab, master_trials[trial].name, master_trials[trial].pairs, &trainer);
  if (status == HU_OK) memory = hu_trainer_memory_of(trainer);
  hu_trainer_free(trainer);
  if (lab->status == HU_OK) lab->status = status;
  return memory;
}

/* The paper's section 3.1: weights and a binary32 copy of them are half as much again. All the rest is half, except the
 * loss, which stays in binary32. */
static void judge_memory(hu_lab *lab) {
  hu_trainer_memory exact = memory_of(lab, 0), half = memory_of(lab, 1);
  double weights = half.weights / exact.weights, values = half.values / exact.values;
  double gradients = half.gradients / exact.gradients;
  hui_lab_claim(lab, weights == 1.5 && values <= 0.51 && gradients <= 0.51,
                "memory beside binary32's: weights with their binary32 copy %.2f times, values %.2f, gradients %.2f",
                weights, values, gradients);
}

static void judge_master(hu_lab *lab) {
  hui_lab_claim(lab, hui_lab_near(lab, 1, 0, 0.005),
                "with master weights the loss, %.4f, is within 0.5 %% of binary32's, %.4f", LOSS_OF(1), LOSS_OF(0));
  hui_lab_claim(lab, LOSS_OF(2) >= 1.3 * LOSS_OF(0), "without, it is at least 1.3 times binary32's: %.4f, %.2f times",
                LOSS_OF(2), LOSS_OF(2) / LOSS_OF(0));
  hui_lab_claim(lab, hui_lab_row(lab, 2)->lost > 0.5, "without, more than half of the updates are lost: %.3f",
                hui_lab_row(lab, 2)->lost);
  judge_memory(lab);
}

const hu_plan hu_plan_master_weights = {
    .shown = {.name = "fp16-master-weights",
              .source = "Micikevicius et al., Mixed Precision Training (ICLR 2018)",
              .figure = "section 3.1, figure 2a",
              .shows = "binary16 weights lose small updates; a binary32 master copy does not",
              .expected = "the curve with master weights lies on binary32's, the one without stays above it",
              .seconds = 1,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "mlp(layers=1,units=64)", "optimizer.rate", "0.003", "run.batch", "32", "run.epochs",
                      "150"),
    .trials = master_trials,
    .count = sizeof master_trials / sizeof *master_trials,
    .watch = HU_WATCH_LOSS,
    .steps = 220,
    .judge = judge_master};

/* ---- the scale of the loss ---- */

/* Share of nonzero gradients of a run whose magnitude is at most 2^below, the largest that binary16 rounds to zero. */
static double share_below(const hu_lab *lab, const char *run, int below) {
  const hu_experiment_series *series = hui_lab_find(lab, "exponents", run);
  double z = 0;
  for (size_t i = 0; series && i < series->count; i++) {
    if (series->x[i] < below) z += series->y[i];
  }
  return series ? z / (1 - series->zeros) : (double)NAN;
}

/* Share of zeros among the gradients of parameters in the first step. */
static double zeros_at_first(const hu_lab *lab, const char *run) {
  const hu_experiment_series *series = hui_lab_find(lab, "zero-gradients", run);
  return series && series->count ? series->y[0] : (double)NAN;
}

/* Adam with so small an eps is indifferent to a factor on the loss. */
#define ADAM(rate) "optimizer.kind", "adamw", "optimizer.rate", rate, "optimizer.eps", "1e-12"
#define FP16(scale) HU_PAIRS("precision.system", "fp16", "loss.scale", scale)
/* Chosen before the first step, with binades left free: gradients grow while a net learns. */
#define CHOSEN(margin) HU_PAIRS("precision.system", "fp16", "loss.scale", "largest", "loss.margin", margin)

static const hu_trial scale_trials[] = {{"binary32", HU_PAIRS("precision.system", "binary32"), HU_WATCH_EXPONENTS},
                                        {"binary16, scale 1", FP16("none"), HU_WATCH_EXPONENTS},
                                        {"binary16, scale 2^8", FP16("static(2^8)"), 0},
                                        {"binary16, scale 2^15", FP16("static(2^15)"), HU_WATCH_EXPONENTS},
                                        {"binary16, scale from the largest gradient", CHOSEN("3"), 0}};

static void judge_scale(hu_lab *lab) {
  double low = share_below(lab, "binary32", -25), zero = zeros_at_first(lab, "binary16, scale 1");
  hui_lab_claim(lab, ACCURACY_OF(1) < 0.5 && LOSS_OF(1) > 2,
                "scale 1: gradients vanish; accuracy below 0.5 (%.3f), loss above 2 (%.3f)", ACCURACY_OF(1),
                LOSS_OF(1));
  hui_lab_claim(lab, hui_lab_near(lab, 2, 0, 0.05) && hui_lab_near(lab, 3, 0, 0.05),
                "static scales: losses, %.4f and %.4f, within 5 %% of binary32's, %.4f", LOSS_OF(2), LOSS_OF(3),
                LOSS_OF(0));
  hui_lab_claim(lab, hui_lab_near(lab, 4, 0, 0.05) && hui_lab_row(lab, 4)->skipped == 0,
                "the scale chosen from the largest gradient, 2^%d: loss %.4f, within 5 %%, and no step skipped",
                ilogb(hui_lab_row(lab, 4)->scale), LOSS_OF(4));
  hui_lab_claim(lab, low > 0.25, "%.1f %% of binary32's nonzero gradients of values are below 2^-25, zero in binary16",
                100 * low);
  hui_lab_claim(lab, zero > 0.5, "scale 1: %.1f %% of the gradients of parameters are zero in the first step",
                100 * zero);
}

const hu_plan hu_plan_loss_scale = {.shown = {.name = "fp16-loss-scale",
                                              .source = "Micikevicius et al., Mixed Precision Training (ICLR 2018)",
                                              .figure = "section 3.2, figure 3",
                                              .shows = "small gradients vanish in binary16 unless the loss is scaled",
                                              .expected = "without a scale training fails; with one, whichever, it is "
                                                          "binary32's; the histogram has a long tail below 2^-24",
                                              .seconds = 1,
                                              .quick = 1},
                                    .pairs = HU_PAIRS("model.net", "mlp(layers=2,units=64)", ADAM("1e-3"), "run.batch",
                                                      "64", "run.epochs", "15", "loss.power", "17"),
                                    .trials = scale_trials,
                                    .count = sizeof scale_trials / sizeof *scale_trials,
                                    .watch = HU_WATCH_LOSS | HU_WATCH_ZEROS,
                                    .steps = 11,
                                    .judge = judge_scale};

/* ---- the same for a convolutional net, where the mean over pixels makes gradients small ---- */

static const hu_trial conv_trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), HU_WATCH_EXPONENTS},
    {"binary16, scale 1", FP16("none"), HU_WATCH_EXPONENTS},
    {"binary16, scale 2^3", FP16("static(2^3)"), 0},
    {"binary16, scale 2^8", FP16("static(2^8)"), 0},
    {"binary16, scale 2^14", FP16("static(2^14)"), HU_WATCH_EXPONENTS},
    {"binary16, scale from the largest gradient", CHOSEN("3"), 0},
    {"binary32, plain loss, SGD",
     HU_PAIRS("precision.system", "binary32", "loss.power", "0", "optimizer.kind", "sgd", "optimizer.rate", "0.1",
              "optimizer.momentum", "0.9"),
     0},
    {"binary16, plain loss, SGD, scale 1024",
     HU_PAIRS("precision.system", "fp16", "loss.power", "0", "loss.scale", "static(1024)", "optimizer.kind", "sgd",
              "optimizer.rate", "0.1", "optimizer.momentum", "0.9"),
     0}};

static void judge_conv(hu_lab *lab) {
  double zero = zeros_at_first(lab, "binary16, scale 1"), scaled = zeros_at_first(lab, "binary16, scale 2^14");
  hui_lab_claim(lab, zero > 0.8 && scaled < 0.1,
                "scale 1: %.1f %% of the gradients of parameters are zero in the first step; scale 2^14: %.1f %%",
                100 * zero, 100 * scaled);
  hui_lab_claim(lab, ACCURACY_OF(1) < 0.6 && LOSS_OF(1) > 5 * LOSS_OF(0),
                "scale 1: accuracy %.3f, below 0.6; loss %.3f, more than 5 times binary32's, %.4f", ACCURACY_OF(1),
                LOSS_OF(1), LOSS_OF(0));
  hui_lab_claim(lab, LOSS_OF(2) > LOSS_OF(3), "scale 2^3 is not enough: loss %.4f, with 2^8 %.4f", LOSS_OF(2),
                LOSS_OF(3));
  hui_lab_claim(lab, hui_lab_near(lab, 4, 0, 0.1) && ACCURACY_OF(4) >= ACCURACY_OF(0) - 0.01,
                "scale 2^14: loss %.4f, within 10 %% of binary32's; accuracy %.3f, within a point of its %.3f",
                LOSS_OF(4), ACCURACY_OF(4), ACCURACY_OF(0));
  hui_lab_claim(lab, ACCURACY_OF(5) >= ACCURACY_OF(0) - 0.01 && hui_lab_row(lab, 5)->skipped == 0,
                "scale from the largest gradient, 2^%d: accuracy %.3f, no step skipped",
                ilogb(hui_lab_row(lab, 5)->scale), ACCURACY_OF(5));
  hui_lab_claim(lab, hui_lab_near(lab, 7, 6, 0.02),
                "plain loss, SGD: %.4f with scale 1024, within 2 %% of binary32's %.4f", LOSS_OF(7), LOSS_OF(6));
}

const hu_plan hu_plan_conv_scale = {
    .shown = {.name = "fp16-conv",
              .source = "Micikevicius et al., Mixed Precision Training (ICLR 2018)",
              .figure = "sections 3.2 and 4.1, table 1",
              .shows = "a convolutional net trains in binary16 as in binary32, if the loss is scaled",
              .expected =
                  "without a scale gradients of convolutions are zero and nothing is learnt; with one the losses agree",
              .seconds = 15},
    .pairs = HU_PAIRS("data.set", "gratings", "model.net", "conv(channels=8/16/16)", ADAM("0.01"), "run.batch", "128",
                      "run.epochs", "5", "loss.power", "11"),
    .trials = conv_trials,
    .count = sizeof conv_trials / sizeof *conv_trials,
    .watch = HU_WATCH_LOSS | HU_WATCH_ZEROS,
    .steps = 3,
    .judge = judge_conv};

/* ---- and for a recurrent one ---- */

static const hu_trial gru_trials[] = {
    {"binary32", HU_PAIRS("precision.system", "binary32"), HU_WATCH_EXPONENTS},
    {"binary16, scale 1", FP16("none"), HU_WATCH_EXPONENTS},
    {"binary16, scale 2^10", FP16("static(2^10)"), HU_WATCH_EXPONENTS},
    {"binary16, scale from the largest gradient", CHOSEN("4"), 0},
    {"binary32, plain loss", HU_PAIRS("precision.system", "binary32", "loss.power", "0"), 0},
    {"binary16, plain loss, scale 1024",
     HU_PAIRS("precision.system", "fp16", "loss.power", "0", "loss.scale", "static(1024)"), 0}};

static void judge_gru(hu_lab *lab) {
  double zero = zeros_at_first(lab, "binary16, scale 1"), scaled = zeros_at_first(lab, "binary16, scale 2^10");
  hui_lab_claim(lab, zero > 0.5 && scaled < 0.1,
                "scale 1: %.1f %% of the gradients of parameters are zero in the first step; scale 2^10: %.1f %%",
                100 * zero, 100 * scaled);
  hui_lab_claim(lab, ACCURACY_OF(1) < 0.5 && LOSS_OF(1) > 2, "scale 1: accuracy %.3f, below 0.5; loss %.3f, above 2",
                ACCURACY_OF(1), LOSS_OF(1));
  hui_lab_claim(lab, hui_lab_near(lab, 2, 0, 0.02) && hui_lab_near(lab, 3, 0, 0.02),
                "scaled: losses %.4f (2^10) and %.4f (2^%d), within 2 %% of binary32's %.4f", LOSS_OF(2), LOSS_OF(3),
                ilogb(hui_lab_row(lab, 3)->scale), LOSS_OF(0));
  hui_lab_claim(lab, hui_lab_near(lab, 5, 4, 0.01) && fabs(ACCURACY_OF(5) - ACCURACY_OF(4)) <= 0.01,
                "plain loss: %.4f with scale 1024, within 1 %% of binary32's %.4f; accuracies %.3f and %.3f",
                LOSS_OF(5), LOSS_OF(4), ACCURACY_OF(5), ACCURACY_OF(4));
}

const hu_plan hu_plan_gru_scale = {
    .shown = {.name = "fp16-gru",
              .source = "Micikevicius et al., Mixed Precision Training (ICLR 2018)",
              .figure = "sections 3.2, 4.3 and 4.5",
              .shows = "a recurrent net trains in binary16 as in binary32, if the loss is scaled",
              .expected = "without a scale nothing is learnt; with one the losses agree",
              .seconds = 2,
              .quick = 1},
    .pairs = HU_PAIRS("model.net", "gru", ADAM("1e-3"), "run.batch", "64", "run.epochs", "15", "loss.power", "16"),
    .trials = gru_trials,
    .count = sizeof gru_trials / sizeof *gru_trials,
    .watch = HU_WATCH_LOSS | HU_WATCH_ZEROS,
    .steps = 11,
    .judge = judge_gru};
