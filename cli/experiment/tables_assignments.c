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

/* Of all rows, then of those of a network. */
#define DIFFERS                                                                                                        \
  "The authors' code rounds the gradient that each reader gives to a value, here their sum is; a shortcut's "          \
  "parameters are in the group of what makes its input, here in the one before; an epoch keeps its last 80 images as " \
  "a 391st batch."
#define SQUEEZENET_DIFFERS                                                                                            \
  "The authors' SqueezeNet has a bias in every convolution, here only the last one has; ReLU behind the outputs put " \
  "side by side, not before; and 256 + 256 outputs of the last fire at every width."
#define SHUFFLENET_DIFFERS "The authors' first weights are PyTorch's."
#define NARROW_SHUFFLENET_DIFFERS "The authors' stages have 56, 112 and 224 channels at width 0.25. " SHUFFLENET_DIFFERS
#define MOBILENET_DIFFERS                                                                                         \
  "The authors' MobileNet-v2 has ReLU, here ReLU6, with which other tensors overflow; an expansion in the first " \
  "block, "                                                                                                       \
  "too; and a convolution as shortcut where only the channels change. Its first weights go by fan_out."
#define RESNET18_DIFFERS "The authors' first weights go by fan_out, here by fan_in."

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
#define ROW(network, where, id, path, text, other, factor, set, ...)                                                \
  {                                                                                                                 \
    .name = network where, .slug = id path, .net = text, .width = factor, .data = set, .folder = "assignments/" id, \
    .figure = __VA_ARGS__, .differs = other                                                                         \
  }
#define ON_10(network, id, text, other, ...) \
  ROW(network, " on CIFAR-10", id, "-cifar10", text, other, 1, &table_cifar10, __VA_ARGS__)
#define ON_100(network, id, text, other, ...) \
  ROW(network, " on CIFAR-100", id, "-cifar100", text, other, 1, &table_cifar100, __VA_ARGS__)
#define QUARTER_ON_100(network, id, text, other, ...) \
  ROW(network, " of width 0.25 on CIFAR-100", id, "-0.25-cifar100", text, other, 0.25, &table_cifar100, __VA_ARGS__)
static const table_row rows4[] = {
    ON_10("SqueezeNet", "squeezenet", SQUEEZENET, SQUEEZENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_100("SqueezeNet", "squeezenet", SQUEEZENET, SQUEEZENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("SqueezeNet", "squeezenet", SQUEEZENET, SQUEEZENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_10("ShuffleNet-v2", "shufflenet2", SHUFFLENET, SHUFFLENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, SHUFFLENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, NARROW_SHUFFLENET_DIFFERS,
                   {"", "", "", "", "", "", "", ""}),
    ON_10("MobileNet-v2", "mobilenet2", MOBILENET, MOBILENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_100("MobileNet-v2", "mobilenet2", MOBILENET, MOBILENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("MobileNet-v2", "mobilenet2", MOBILENET, MOBILENET_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_10("ResNet-18", "resnet18", RESNET18, RESNET18_DIFFERS, {"", "", "", "", "", "", "", ""}),
    ON_100("ResNet-18", "resnet18", RESNET18, RESNET18_DIFFERS, {"", "", "", "", "", "", "", ""}),
    QUARTER_ON_100("ResNet-18", "resnet18", RESNET18, RESNET18_DIFFERS, {"", "", "", "", "", "", "", ""})};
static const table_left_out left4[] = {{"widths 0.5 and 0.1 (figure 10)", "--set model.net=... makes them"}};
const paper_table table_assignments_4 = {.paper = "assignments",
                                         .name = "figure4",
                                         .source = SOURCE,
                                         .place = "figure 4",
                                         .title = "how much accuracy each precision assignment costs",
                                         .chosen = CHOSEN,
                                         .differs = DIFFERS,
                                         .pairs = RECIPE,
                                         .best = 1,
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
static const table_row rows5[] = {
    ON_100("SqueezeNet", "squeezenet", SQUEEZENET, SQUEEZENET_DIFFERS, {"", "", "", ""}),
    ON_100("ShuffleNet-v2", "shufflenet2", SHUFFLENET, SHUFFLENET_DIFFERS, {"", "", "", ""}),
    ON_100("MobileNet-v2", "mobilenet2", MOBILENET, MOBILENET_DIFFERS, {"", "", "", ""}),
    ON_100("ResNet-18", "resnet18", RESNET18, RESNET18_DIFFERS, {"", "", "", ""})};
static const table_left_out left5[] = {{"the decreasing order", "it is that of figure 4"}};
const paper_table table_assignments_5 = {.paper = "assignments",
                                         .name = "figure5",
                                         .source = SOURCE,
                                         .place = "figures 5 and 16",
                                         .title = "the order in which groups of tensors are demoted",
                                         .chosen = CHOSEN,
                                         .differs = DIFFERS,
                                         .pairs = RECIPE,
                                         .best = 1,
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
static const table_row rows6[] = {ON_10("SqueezeNet", "squeezenet", SQUEEZENET, SQUEEZENET_DIFFERS, {"", ""}),
                                  ON_10("ShuffleNet-v2", "shufflenet2", SHUFFLENET, SHUFFLENET_DIFFERS, {"", ""}),
                                  ON_10("MobileNet-v2", "mobilenet2", MOBILENET, MOBILENET_DIFFERS, {"", ""}),
                                  ON_10("ResNet-18", "resnet18", RESNET18, RESNET18_DIFFERS, {"", ""})};
static const table_left_out left6[] = {{"ShuffleNet-v2 on ImageNet (figures 3, 6 and 7)",
                                        "there is no loader of ILSVRC12; figure 17 has the same on CIFAR-10"}};
const paper_table table_assignments_6 = {.paper = "assignments",
                                         .name = "figure6",
                                         .source = SOURCE,
                                         .place = "figures 6 and 17",
                                         .title = "promotion of tensors that overflow",
                                         .chosen = CHOSEN,
                                         .differs = DIFFERS,
                                         .pairs = RECIPE,
                                         .best = 1,
                                         .column = columns6,
                                         .columns = TABLE_COUNT(columns6),
                                         .row = rows6,
                                         .rows = TABLE_COUNT(rows6),
                                         .left_out = left6,
                                         .left_outs = TABLE_COUNT(left6)};
