/* SPDX-License-Identifier: MIT */
/* The figures of Lee et al., Training with Mixed-Precision Floating-Point Assignments: see tables.h. */
#include "cli/experiment/tables.h"

#define SOURCE "Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023)"
/* The scale grows after an epoch: 390 steps of 128 among 50000. */
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
#define DRAWN8 \
  { "", "", "", "", "", "", "", "" }
#define THREE(name, slug, net)                                                                                        \
  {name " on CIFAR-10", slug "-cifar10", net, 1, &table_cifar10, NULL, "assignments/" slug, DRAWN8, NULL},            \
      {name " on CIFAR-100", slug "-cifar100", net, 1, &table_cifar100, NULL, "assignments/" slug, DRAWN8, NULL}, {   \
    name " of width 0.25 on CIFAR-100", slug "-0.25-cifar100", net, 0.25, &table_cifar100, NULL, "assignments/" slug, \
        DRAWN8, NULL                                                                                                  \
  }
static const table_row rows4[] = {
    THREE("SqueezeNet", "squeezenet", SQUEEZENET), THREE("ShuffleNet-v2", "shufflenet2", SHUFFLENET),
    THREE("MobileNet-v2", "mobilenet2", MOBILENET), THREE("ResNet-18", "resnet18", RESNET18)};
static const table_left_out left4[] = {{"widths 0.5 and 0.1 (figure 10)", "--set model.net=... makes them"}};
const paper_table table_assignments_4 = {"assignments",
                                         "figure4",
                                         SOURCE,
                                         "figure 4",
                                         "how much accuracy each precision assignment costs",
                                         CHOSEN,
                                         NULL,
                                         RECIPE,
                                         columns4,
                                         TABLE_COUNT(columns4),
                                         rows4,
                                         TABLE_COUNT(rows4),
                                         left4,
                                         TABLE_COUNT(left4)};

/* ---- figure 5 ---- */

static const table_column columns5[] = {
    {"increasing, r = 0.4", "inc-0.4", OURS_IN("0.4", "smallest")},
    {"random, r = 0.4", "rand-0.4", OURS_IN("0.4", "random")},
    {"increasing, r = 0.7", "inc-0.7", OURS_IN("0.7", "smallest")},
    {"random, r = 0.7", "rand-0.7", OURS_IN("0.7", "random")},
};
#define DRAWN4 \
  { "", "", "", "" }
#define ONE5(name, slug, net) \
  { name " on CIFAR-100", slug "-cifar100", net, 1, &table_cifar100, NULL, "assignments/" slug, DRAWN4, NULL }
static const table_row rows5[] = {
    ONE5("SqueezeNet", "squeezenet", SQUEEZENET), ONE5("ShuffleNet-v2", "shufflenet2", SHUFFLENET),
    ONE5("MobileNet-v2", "mobilenet2", MOBILENET), ONE5("ResNet-18", "resnet18", RESNET18)};
static const table_left_out left5[] = {{"the decreasing order", "it is that of figure 4"}};
const paper_table table_assignments_5 = {"assignments",
                                         "figure5",
                                         SOURCE,
                                         "figures 5 and 16",
                                         "the order in which groups of tensors are demoted",
                                         CHOSEN,
                                         NULL,
                                         RECIPE,
                                         columns5,
                                         TABLE_COUNT(columns5),
                                         rows5,
                                         TABLE_COUNT(rows5),
                                         left5,
                                         TABLE_COUNT(left5)};

/* ---- figures 6 and 17 ---- */

static const table_column columns6[] = {
    {"promotion, r = 1", "promo-1", OURS("1")},
    {"no promotion, r = 1", "no-promo-1", TABLE_PAIRS(LOW("demote", "1"), "assignment.ratio", "1")}};
#define DRAWN2 \
  { "", "" }
#define ONE6(name, slug, net) \
  { name " on CIFAR-10", slug "-cifar10", net, 1, &table_cifar10, NULL, "assignments/" slug, DRAWN2, NULL }
static const table_row rows6[] = {
    ONE6("SqueezeNet", "squeezenet", SQUEEZENET), ONE6("ShuffleNet-v2", "shufflenet2", SHUFFLENET),
    ONE6("MobileNet-v2", "mobilenet2", MOBILENET), ONE6("ResNet-18", "resnet18", RESNET18)};
static const table_left_out left6[] = {{"ShuffleNet-v2 on ImageNet (figures 3, 6 and 7)",
                                        "there is no loader of ILSVRC12; figure 17 has the same on CIFAR-10"}};
const paper_table table_assignments_6 = {"assignments",
                                         "figure6",
                                         SOURCE,
                                         "figures 6 and 17",
                                         "promotion of tensors that overflow",
                                         CHOSEN,
                                         NULL,
                                         RECIPE,
                                         columns6,
                                         TABLE_COUNT(columns6),
                                         rows6,
                                         TABLE_COUNT(rows6),
                                         left6,
                                         TABLE_COUNT(left6)};
