/* SPDX-License-Identifier: MIT */
/* The figures of Lee et al., Training with Mixed-Precision Floating-Point Assignments: see tables.h. */
#include "cli/experiment/tables.h"

#define SOURCE "Lee et al., Training with Mixed-Precision Floating-Point Assignments (TMLR 2023)"
#define RECIPE                                                                                               \
  TABLE_PAIRS("run.batch", "128", "run.epochs", "200", "optimizer.rate", "0.1", "optimizer.momentum", "0.9", \
              "optimizer.decay", "5e-4", "optimizer.schedule", "cosine", "assignment.reading", "published",  \
              "run.rest", "keep", "run.again", "binary32")
#define CHOSEN                                                                                                    \
  "The paper draws these cells and prints no figures. The networks, their groups and gradients are those of the " \
  "authors' code, wonyeol/mixed-prec-train; it has no run where the groups that reach r have more than r + 0.1 "  \
  "of all elements. Runs are evaluated twice, under the assignment, which the table shows, and in binary32."
#define DIFFERS                                                                                                \
  "The code rounds ties away from zero, here they go to even; it divides channels by smaller deviations than " \
  "those of the set; softmax and loss are two operators there, each rounded."

/* ---- columns ---- */

/* Makes a column's keys. The scale grows after an epoch: 391 steps, the last one of 80 images. */
#define LOW(kind, promote) \
  "assignment.kind", kind, "assignment.promote", promote, "loss.scale", "gradscaler(growth_interval=391)"
#define FIXED(name, id, kind, promote) \
  { name, id, TABLE_PAIRS(LOW(kind, promote)) }
#define OURS(name, id, r, most, promote)                                                         \
  {                                                                                              \
    name ", r = " r, id "-" r,                                                                   \
        TABLE_PAIRS(LOW("demote", promote), "assignment.ratio", r, "assignment.ratio_max", most) \
  }
/* Makes columns of r from 0.1 to 1. */
#define RATIOS(name, id, promote)                                                                                      \
  OURS(name, id, "0.1", "0.2", promote), OURS(name, id, "0.2", "0.3", promote), OURS(name, id, "0.3", "0.4", promote), \
      OURS(name, id, "0.4", "0.5", promote), OURS(name, id, "0.5", "0.6", promote),                                    \
      OURS(name, id, "0.6", "0.7", promote), OURS(name, id, "0.7", "0.8", promote),                                    \
      OURS(name, id, "0.8", "0.9", promote), OURS(name, id, "0.9", "1", promote), OURS(name, id, "1", "1", promote)

static const table_column tradeoffs[] = {{"32-bit", "fp32", TABLE_PAIRS("precision.system", "binary32")},
                                         FIXED("unif", "unif", "uniform", "1"),
                                         FIXED("op", "op", "operator", "1"),
                                         FIXED("op'", "op-prime", "operator'", "1"),
                                         FIXED("op, promotion", "op-promo", "operator", "0.01"),
                                         FIXED("op', promotion", "op-prime-promo", "operator'", "0.01"),
                                         OURS("ours", "ours", "0", "0", "0.01"),
                                         RATIOS("ours", "ours", "0.01")};
/* Without the promotion of tensors, of which r = 1 is unif. */
static const table_column without_promotion[] = {RATIOS("no promotion", "no-promo", "1")};

#define ORDERED(word, id, order, r) \
  { word ", r = " r, id "-" r, TABLE_PAIRS(LOW("demote", "0.01"), "assignment.ratio", r, "assignment.order", order) }
#define ORDERS(r) ORDERED("increasing", "inc", "smallest", r), ORDERED("random", "rand", "random", r)
static const table_column orders[] = {ORDERS("0.1"), ORDERS("0.2"), ORDERS("0.3"), ORDERS("0.4"), ORDERS("0.5"),
                                      ORDERS("0.6"), ORDERS("0.7"), ORDERS("0.8"), ORDERS("0.9")};

/* ---- rows ---- */

#define ROW(network, id, text, where, path, factor, set, none)                                      \
  {                                                                                                 \
    .name = network where, .slug = id path, .net = text "(width=%s)", .width = factor, .data = set, \
    .folder = "assignments/" id, .without = none                                                    \
  }
#define ON_10(network, id, text, none) ROW(network, id, text, " on CIFAR-10", "-cifar10", 1, &table_cifar10, none)
#define ON_100(network, id, text, none) ROW(network, id, text, " on CIFAR-100", "-cifar100", 1, &table_cifar100, none)
#define NARROW(network, id, text, width, factor, none) \
  ROW(network, id, text, " of width " width " on CIFAR-100", "-" width "-cifar100", factor, &table_cifar100, none)
/* Makes the rows of a network, of which the first three columns that are left out are the same. */
#define WIDTHS(network, id, text, none, narrowest)                                                              \
  ON_10(network, id, text, none), ON_100(network, id, text, none), NARROW(network, id, text, "0.5", 0.5, none), \
      NARROW(network, id, text, "0.25", 0.25, none), NARROW(network, id, text, "0.1", 0.1, narrowest)
#define SQUEEZENET "SqueezeNet", "squeezenet", "lee_squeezenet"
#define SHUFFLENET "ShuffleNet-v2", "shufflenet2", "lee_shufflenet2"
#define MOBILENET "MobileNet-v2", "mobilenet2", "lee_mobilenet2"
#define RESNET18 "ResNet-18", "resnet18", "lee_resnet18"
#define APPLY(macro, ...) macro(__VA_ARGS__)

static const table_row rows4[] = {APPLY(WIDTHS, SQUEEZENET, "ours-0.1", "ours-0.1"),
                                  APPLY(WIDTHS, SHUFFLENET, NULL, "ours-0.1"), APPLY(WIDTHS, MOBILENET, NULL, NULL),
                                  APPLY(WIDTHS, RESNET18, NULL, "ours-0.5")};
static const table_row rows5[] = {APPLY(ON_100, SQUEEZENET, NULL), APPLY(ON_100, SHUFFLENET, NULL),
                                  APPLY(ON_100, MOBILENET, NULL), APPLY(ON_100, RESNET18, NULL)};
static const table_row rows6[] = {APPLY(ON_10, SQUEEZENET, "no-promo-0.1"), APPLY(ON_10, SHUFFLENET, NULL),
                                  APPLY(ON_10, MOBILENET, NULL), APPLY(ON_10, RESNET18, NULL)};

/* ---- figures ---- */

static const table_left_out left5[] = {{"the decreasing order", "it is that of figure 4"}};
static const table_left_out left6[] = {
    {"runs with promotion", "they are those of figure 4"},
    {"ShuffleNet-v2 on ImageNet (figures 3, 6 and 7)",
     "its network for large images has no name here; figure 17 has the same on CIFAR-10"}};
const paper_table table_assignments_4 = {.paper = "assignments",
                                         .name = "figure4",
                                         .source = SOURCE,
                                         .place = "figures 4 and 10 to 15",
                                         .title = "how much accuracy each precision assignment costs",
                                         .chosen = CHOSEN,
                                         .differs = DIFFERS,
                                         .pairs = RECIPE,
                                         .best = 1,
                                         .drawn = 1,
                                         .column = tradeoffs,
                                         .columns = TABLE_COUNT(tradeoffs),
                                         .row = rows4,
                                         .rows = TABLE_COUNT(rows4)};
const paper_table table_assignments_5 = {
    .paper = "assignments",
    .name = "figure5",
    .source = SOURCE,
    .place = "figures 5 and 16",
    .title = "the order in which groups of tensors are demoted",
    .chosen = CHOSEN
    " The code's random orders are drawn from the seeds 123, 456 and 789 of another generator; "
    "here each r has a run, whatever its groups have.",
    .differs = DIFFERS,
    .pairs = RECIPE,
    .best = 1,
    .drawn = 1,
    .column = orders,
    .columns = TABLE_COUNT(orders),
    .row = rows5,
    .rows = TABLE_COUNT(rows5),
    .left_out = left5,
    .left_outs = TABLE_COUNT(left5)};
const paper_table table_assignments_6 = {.paper = "assignments",
                                         .name = "figure6",
                                         .source = SOURCE,
                                         .place = "figures 6 and 17",
                                         .title = "demotion without promotion of tensors that overflow",
                                         .chosen = CHOSEN,
                                         .differs = DIFFERS,
                                         .pairs = RECIPE,
                                         .best = 1,
                                         .drawn = 1,
                                         .column = without_promotion,
                                         .columns = TABLE_COUNT(without_promotion),
                                         .row = rows6,
                                         .rows = TABLE_COUNT(rows6),
                                         .left_out = left6,
                                         .left_outs = TABLE_COUNT(left6)};
