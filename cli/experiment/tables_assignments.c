/* SPDX-License-Identifier: MIT */
/* The figures of Lee et al., Training with Mixed-Precision Floating-Point Assignments: see tables.h. */
#include "cli/experiment/tables.h"

#define SOURCE "Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023)"
/* Makes a column's keys. The scale grows after an epoch: 390 steps of 128 among 50000. */
#define LOW(kind, promote) \
  "assignment.kind", kind, "assignment.promote", promote, "loss.scale", "gradscaler(growth_interval=390)"
#define OURS(ratio) TABLE_PAIRS(LOW("demote", "0.01"), "assignment.ratio", ratio)
#define OURS_IN(ratio, order) TABLE_PAIRS(LOW("demote", "0.01"), "assignment.ratio", ratio, "assignment.order", order)
#define RECIPE                                                                                               \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "200", "optimizer.rate", "0.1", "optimizer.momentum", "0.9", \
              "optimizer.decay", "5e-4", "optimizer.schedule", "cosine")
#define CHOSEN \
  "The paper draws these cells and prints no figures. The drawings have 11 ratios; `halfulp sweep` makes all of them."

#define SQUEEZENET "squeezenet(width=%s)"
#define SHUFFLENET "shufflenet2(width=%s)"
#define MOBILENET "mobilenet2(width=%s)"
#define RESNET18 "resnet4(stages=2/2/2/2,width=%s)"

/* ---- figure 4 ---- */

static const table_column columns4[] = {
    {"32-bit", "fp32", TABLE_PAIRS("precision.system", "binary32")},
    {"unif", "unif", TABLE_PAIRS(LOW("uniform", "1"))},
    {"op", "op", TABLE_PAIRS(LOW("operator", "1"))},
    {"op'", "op-prime", TABLE_PAIRS(LOW("operator'", "1"))},
    {"ours, r = 0.2", "ours-0.2", OURS("0.2")},
    {"ours, r = 0.4", "ours-0.4", OURS("0.4")},
    {"ours, r = 0.7", "ours-0.7", OURS("0.7")},
    {"ours, r = 1", "ours-1", OURS("1")},
};
/* Makes a row: a network on a data set, and what the paper prints. */
#define ROW(network, where, id, path, text, factor, set, ...)                                                       \
  {                                                                                                                 \
    .name = network where, .slug = id path, .net = text, .width = factor, .data = set, .folder = "assignments/" id, \
    .figure = __VA_ARGS__                                                                                           \
  }
#define ON_10(network, id, text, ...) ROW(network, " on CIFAR-10", id, "-cifar10", text, 1, &table_cifar10, __VA_ARGS__)
#define ON_100(network, id, text, ...) \
  ROW(network, " on CIFAR-100", id, "-cifar100", text, 1, &table_cifar100, __VA_ARGS__)
#define QUARTER_ON_100(network, id, text, ...) \
  ROW(network, " of width 0.25 on CIFAR-100", id, "-0.25-cifar100", text, 0.25, &table_cifar100, __VA_ARGS__)
static const table_row rows4[] = {
    ON_10("SqueezeNet", "squeezenet", SQUEEZENET, {"", "", "", "", "", "", "", ""}),
    ON_100("SqueezeNet", "squeezenet", SQUEEZENET, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("SqueezeNet", "squeezenet", SQUEEZENET, {"", "", "", "", "", "", "", ""}),
    ON_10("ShuffleNet-v2", "shufflenet2", SHUFFLENET, {"", "", "", "", "", "", "", ""}),
    ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, {"", "", "", "", "", "", "", ""}),
    ON_10("MobileNet-v2", "mobilenet2", MOBILENET, {"", "", "", "", "", "", "", ""}),
    ON_100("MobileNet-v2", "mobilenet2", MOBILENET, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("MobileNet-v2", "mobilenet2", MOBILENET, {"", "", "", "", "", "", "", ""}),
    ON_10("ResNet-18", "resnet18", RESNET18, {"", "", "", "", "", "", "", ""}),
    ON_100("ResNet-18", "resnet18", RESNET18, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("ResNet-18", "resnet18", RESNET18, {"", "", "", "", "", "", "", ""})};
static const table_left_out left4[] = {{"widths 0.5 and 0.1 (figure 10)", "--set model.net=... makes them"}};
const paper_table table_assignments_4 = {.paper = "assignments",
                                         .name = "figure4",
                                         .source = SOURCE,
                                         .place = "figure 4",
                                         .title = "how much accuracy each precision assignment costs",
                                         .chosen = CHOSEN,
                                         .pairs = RECIPE,
                                         .column = columns4,
                                         .columns = TABLE_COUNT(columns4),
                                         .row = rows4,
                                         .rows = TABLE_COUNT(rows4),
                                         .left_out = left4,
                                         .left_outs = TABLE_COUNT(left4)};

/* ---- figure 5 ---- */

static const table_column columns5[] = {
    {"increasing, r = 0.4", "inc-0.4", OURS_IN("0.4", "smallest")},
    {"random, r = 0.4", "rand-0.4", OURS_IN("0.4", "random")},
    {"increasing, r = 0.7", "inc-0.7", OURS_IN("0.7", "smallest")},
    {"random, r = 0.7", "rand-0.7", OURS_IN("0.7", "random")},
};
static const table_row rows5[] = {ON_100("SqueezeNet", "squeezenet", SQUEEZENET, {"", "", "", ""}),
                                  ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, {"", "", "", ""}),
                                  ON_100("MobileNet-v2", "mobilenet2", MOBILENET, {"", "", "", ""}),
                                  ON_100("ResNet-18", "resnet18", RESNET18, {"", "", "", ""})};
static const table_left_out left5[] = {{"the decreasing order", "it is that of figure 4"}};
const paper_table table_assignments_5 = {.paper = "assignments",
                                         .name = "figure5",
                                         .source = SOURCE,
                                         .place = "figures 5 and 16",
                                         .title = "the order in which groups of tensors are demoted",
                                         .chosen = CHOSEN,
                                         .pairs = RECIPE,
                                         .column = columns5,
                                         .columns = TABLE_COUNT(columns5),
                                         .row = rows5,
                                         .rows = TABLE_COUNT(rows5),
                                         .left_out = left5,
                                         .left_outs = TABLE_COUNT(left5)};

/* ---- figures 6 and 17 ---- */

static const table_column columns6[] = {
    {"promotion, r = 1", "promo-1", OURS("1")},
    {"no promotion, r = 1", "no-promo-1", TABLE_PAIRS(LOW("demote", "1"), "assignment.ratio", "1")}};
static const table_row rows6[] = {ON_10("SqueezeNet", "squeezenet", SQUEEZENET, {"", ""}),
                                  ON_10("ShuffleNet-v2", "shufflenet2", SHUFFLENET, {"", ""}),
                                  ON_10("MobileNet-v2", "mobilenet2", MOBILENET, {"", ""}),
                                  ON_10("ResNet-18", "resnet18", RESNET18, {"", ""})};
static const table_left_out left6[] = {{"ShuffleNet-v2 on ImageNet (figures 3, 6 and 7)",
                                        "there is no loader of ILSVRC12; figure 17 has the same on CIFAR-10"}};
const paper_table table_assignments_6 = {.paper = "assignments",
                                         .name = "figure6",
                                         .source = SOURCE,
                                         .place = "figures 6 and 17",
                                         .title = "promotion of tensors that overflow",
                                         .chosen = CHOSEN,
                                         .pairs = RECIPE,
                                         .column = columns6,
                                         .columns = TABLE_COUNT(columns6),
                                         .row = rows6,
                                         .rows = TABLE_COUNT(rows6),
                                         .left_out = left6,
                                         .left_outs = TABLE_COUNT(left6)};
