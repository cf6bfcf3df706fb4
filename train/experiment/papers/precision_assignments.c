/* SPDX-License-Identifier: MIT */
/* Lee et al., Training with Mixed-Precision Floating-Point Assignments. */
#include "train/experiment/experiment.h"

enum { EXACT, HIGH, UNIFORM, UNPROMOTED, PROMOTED, HALF, OPERATOR, OPERATOR_PRIME, TRIALS };
#define ASSIGNED(interval, ...) HU_PAIRS("loss.scale", "gradscaler(growth_interval=" interval ")", __VA_ARGS__)
#define OF_INTERVAL(n)                                                                                             \
  {                                                                                                                \
    {"binary32", HU_PAIRS("assignment.kind", "none"), 0}, {"all high", ASSIGNED(n, "assignment.kind", "high"), 0}, \
        {"uniform", ASSIGNED(n, "assignment.kind", "uniform", "assignment.promote", "1"), 0},                      \
        {"theirs, r = 1, no promotion",                                                                            \
         ASSIGNED(n, "assignment.kind", "demote", "assignment.ratio", "1", "assignment.promote", "1"), 0},         \
        {"theirs, r = 1", ASSIGNED(n, "assignment.kind", "demote", "assignment.ratio", "1"), 0},                   \
        {"theirs, r = 0.5", ASSIGNED(n, "assignment.kind", "demote", "assignment.ratio", "0.5"), 0},               \
        {"operator", ASSIGNED(n, "assignment.kind", "operator", "assignment.promote", "1"), 0}, {                  \
      "operator'", ASSIGNED(n, "assignment.kind", "operator'", "assignment.promote", "1"), 0                       \
    }                                                                                                              \
  }

/* ---- targets beyond the low format: overflow and promotion ---- */

static const hu_trial large_trials[TRIALS] = OF_INTERVAL("40");

static void judge_large(hu_lab *lab) {
  const hu_experiment_row *exact = hui_lab_row(lab, EXACT), *uniform = hui_lab_row(lab, UNIFORM),
                          *theirs = hui_lab_row(lab, PROMOTED);
  hui_lab_claim(lab, uniform->r2 < 0.8, "uniform: outputs stick at 30, training fails: test R2 %.3f, below 0.8",
                uniform->r2);
  hui_lab_claim(lab, uniform->digest == hui_lab_row(lab, UNPROMOTED)->digest,
                "demotion to r = 1 without promotion is the uniform assignment, bit for bit");
  hui_lab_claim(lab, theirs->promoted > 0 && theirs->r2 >= exact->r2 - 0.02,
                "with promotion (%zu tensors): test R2 %.3f, within 0.02 of binary32's %.3f", theirs->promoted,
                theirs->r2, exact->r2);
  hui_lab_claim(lab, theirs->low >= 0.97 * uniform->low,
                "promotion costs less than 3 %% of the low elements: %.3f and %.3f", theirs->low, uniform->low);
  hui_lab_claim(
      lab,
      hui_lab_row(lab, OPERATOR)->r2 >= exact->r2 - 0.02 && hui_lab_row(lab, OPERATOR_PRIME)->r2 >= exact->r2 - 0.02,
      "operator and operator' train (R2 %.3f, %.3f), with fewer low elements: %.3f, %.3f",
      hui_lab_row(lab, OPERATOR)->r2, hui_lab_row(lab, OPERATOR_PRIME)->r2, hui_lab_row(lab, OPERATOR)->low,
      hui_lab_row(lab, OPERATOR_PRIME)->low);
}

#define SOURCE "Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023)"
const hu_plan hu_plan_promotion = {
    .shown =
        {.name = "assignment-promotion",
         .source = SOURCE,
         .figure = "section 3.2, figure 6",
         .shows =
             "forward tensors that overflow ruin training in low precision; promoting them repairs it at little memory",
         .expected = "uniform fails, all others are as binary32",
         .seconds = 1,
         .quick = 1},
    .pairs = HU_PAIRS("data.set", "teacher", "data.features", "8", "model.net", "mlp(layers=2,units=32)",
                      "optimizer.rate", "3e-4", "optimizer.momentum", "0.9", "run.batch", "50", "run.epochs", "40"),
    .trials = large_trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS | HU_WATCH_SCALE,
    .steps = 40,
    .judge = judge_large};

/* ---- ratio and accuracy ---- */

static const hu_trial digits_trials[TRIALS] = OF_INTERVAL("22");

static void judge_digits(hu_lab *lab) {
  double least = hui_lab_least_accuracy(lab, 0, TRIALS);
  hui_lab_claim(lab, least >= hui_lab_row(lab, EXACT)->accuracy - 0.01,
                "all assignments: accuracy at least %.3f, within a point of binary32's %.3f", least,
                hui_lab_row(lab, EXACT)->accuracy);
  hui_lab_claim(lab,
                hui_lab_row(lab, PROMOTED)->low > hui_lab_row(lab, OPERATOR_PRIME)->low &&
                    hui_lab_row(lab, OPERATOR_PRIME)->low > hui_lab_row(lab, OPERATOR)->low,
                "share of low elements: theirs %.3f, operator' %.3f, operator %.3f", hui_lab_row(lab, PROMOTED)->low,
                hui_lab_row(lab, OPERATOR_PRIME)->low, hui_lab_row(lab, OPERATOR)->low);
}

const hu_plan hu_plan_assignments = {
    .shown = {.name = "assignment-ratio",
              .source = SOURCE,
              .figure = "section 5, figure 4",
              .shows = "assignments chosen by size of groups reach more low elements than those chosen by operator, at "
                       "the same accuracy",
              .expected = "shares of low elements differ, accuracies do not",
              .seconds = 1,
              .quick = 1},
    .pairs = HU_PAIRS("data.raw", "yes", "model.net", "mlp(layers=4,units=64)", "optimizer.rate", "0.01",
                      "optimizer.momentum", "0.9", "optimizer.decay", "5e-4", "optimizer.schedule", "cosine",
                      "run.batch", "64", "run.epochs", "20"),
    .trials = digits_trials,
    .count = TRIALS,
    .watch = HU_WATCH_LOSS,
    .steps = 22,
    .judge = judge_digits};
