/* SPDX-License-Identifier: MIT */
/* Zamirai et al., Revisiting BFloat16 Training, section 3: ten-dimensional least squares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/experiment/experiment.h"

/* ---- which rounding matters ---- */

/* Inputs and the output of the linear layer; all gradients. The weights are those of the update. */
#define PASSES \
  "precision.values", "bfloat16", "precision.gradients", "bfloat16", "precision.parameter_gradients", "bfloat16"
#define WEIGHTS "optimizer.state", "bfloat16", "optimizer.weights", "bfloat16"
#define SEEDED(seed) "data.seed", seed, "run.seed", seed
#define OF_SEED(seed)                                                                                               \
  {"binary32, seed " seed, HU_PAIRS(SEEDED(seed)), 0},                                                              \
      {"weight update to nearest, seed " seed, HU_PAIRS(SEEDED(seed), "optimizer.weights", "bfloat16"), 0},         \
      {"forward and backward to nearest, seed " seed, HU_PAIRS(SEEDED(seed), PASSES), 0},                           \
      {"all to nearest, seed " seed, HU_PAIRS(SEEDED(seed), PASSES, WEIGHTS), 0},                                   \
      {"all, stochastic update, seed " seed, HU_PAIRS(SEEDED(seed), PASSES, WEIGHTS, "optimizer.update", "sra:16"), \
       0},                                                                                                          \
  {                                                                                                                 \
    "all, Kahan update, seed " seed, HU_PAIRS(SEEDED(seed), PASSES, WEIGHTS, "optimizer.update", "kahan"), 0        \
  }
enum { EXACT, UPDATE, BOTH, NEAREST, STOCHASTIC, KAHAN, KINDS, SEEDS = 3, TAIL = 4 };
static const hu_trial trials[KINDS * SEEDS] = {OF_SEED("0"), OF_SEED("1"), OF_SEED("2")};

/* Returns the mean loss of the last 2000 steps. */
static double tail(const hu_lab *lab, int kind, int seed) {
  const hu_experiment_series *series = hui_lab_find(lab, "loss", hui_lab_row(lab, (size_t)(seed * KINDS + kind))->name);
  double sum = 0;
  if (!series || series->count < TAIL) return (double)NAN;
  for (size_t i = series->count - TAIL; i < series->count; i++) sum += series->y[i];
  return sum / TAIL;
}

/* Least and largest ratio to binary32's loss over the seeds; NaN where one is NaN. */
static void ratios(const hu_lab *lab, int kind, double *least, double *largest) {
  *least = INFINITY;
  *largest = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    double r = tail(lab, kind, seed) / tail(lab, EXACT, seed);
    if (!(r >= *least)) *least = r;
    if (!(r <= *largest)) *largest = r;
    if (isnan(r)) return;
  }
}

/* The figure shows one seed: the curves of the others are taken out of it again. */
static void keep_first_seed(hu_lab *lab) {
  for (size_t i = 0; i < lab->report.figures; i++) {
    hu_experiment_figure *figure = &lab->report.figure[i];
    while (figure->count > KINDS) {
      figure->count--;
      free(figure->series[figure->count].x);
      free(figure->series[figure->count].y);
    }
  }
}

#define SEED_COLUMNS \
  (const char *const[]) { "seed 0", "seed 1", "seed 2", "mean", "deviation", NULL }

static void show_seeds(hu_lab *lab) {
  static const char seed_of_name[] = ", seed 0";
  int table = hui_lab_table(lab, "Mean loss of the last 2000 steps, by seeds", SEED_COLUMNS);
  for (int kind = 0; kind < KINDS; kind++) {
    const char *name = hui_lab_row(lab, (size_t)kind)->name;
    char text[HU_EXPERIMENT_NAME_MAX];
    double loss[SEEDS];
    snprintf(text, sizeof text, "%.*s", (int)(strlen(name) - (sizeof seed_of_name - 1)), name);
    for (int seed = 0; seed < SEEDS; seed++) loss[seed] = tail(lab, kind, seed);
    hui_lab_seeds_row(lab, table, text, loss, SEEDS);
  }
}

static void judge(hu_lab *lab) {
  double least, largest;
  int ordered = 1;
  show_seeds(lab);
  ratios(lab, UPDATE, &least, &largest);
  hui_lab_claim(lab, least >= 5,
                "only the weight update to nearest: loss at least 5 times binary32's: %.1f to %.1f times", least,
                largest);
  ratios(lab, BOTH, &least, &largest);
  hui_lab_claim(lab, largest <= 2.5, "only forward and backward: at most 2.5 times: %.3f to %.3f times", least,
                largest);
  ratios(lab, KAHAN, &least, &largest);
  hui_lab_claim(lab, largest <= 3.5, "all with Kahan summation: at most 3.5 times: %.2f to %.2f times", least, largest);
  for (int s = 0; s < SEEDS; s++) {
    ordered &= tail(lab, KAHAN, s) < tail(lab, STOCHASTIC, s) && tail(lab, STOCHASTIC, s) < tail(lab, NEAREST, s);
  }
  hui_lab_claim(lab, ordered, "for each seed: Kahan < stochastic < nearest");
  keep_first_seed(lab);
}

const hu_plan hu_plan_least_squares = {
    .shown = {.name = "least-squares",
              .source = "Zamirai et al., Revisiting BFloat16 Training (2021)",
              .figure = "section 3, figure 2",
              .shows = "rounding the weight update to nearest stalls training; rounding everything else hardly matters",
              .expected =
                  "curves to nearest level off far above the noise of 0.125, stochastic and Kahan updates near it",
              .seconds = 2,
              .quick = 1},
    .pairs = HU_PAIRS("data.set", "least_squares", "data.count", "1000", "data.test", "200", "model.net",
                      "linear(nobias)", "run.batch", "1", "run.steps", "20000", "optimizer.rate", "0.01"),
    .trials = trials,
    .count = sizeof trials / sizeof *trials,
    .watch = HU_WATCH_LOSS,
    .epochs = 1000,
    .steps = 500,
    .judge = judge};

/* ---- memory against accuracy: which tensors have Kahan terms ---- */

enum { HALF = 5, PARTS = 2, STEPS = 20000, LAST = 2000, CHOICES = 3, SETS = 3 };

/* w = (w1, w2), five coordinates each: y = x1 w1 + x2 w2. */
typedef struct halved_net {
  hu_net *net;
  int input[PARTS], loss;
  hu_data data;
} halved_net;

/* In rows: first of one seed, in the order of memory. */
static const char *const runs[SETS * CHOICES + 1] = {"weights 1.0x, seed 0", "weights 1.5x, seed 0",
                                                     "weights 2.0x, seed 0", "weights 1.0x, seed 1",
                                                     "weights 1.5x, seed 1", "weights 2.0x, seed 1",
                                                     "weights 1.0x, seed 2", "weights 1.5x, seed 2",
                                                     "weights 2.0x, seed 2", NULL};

/* Reads how the update of a weight ends: a rounding mode or kahan, as in the key optimizer.update of a trainer. */
static hu_status set_update(halved_net *halves, int weight, const char *text) {
  hu_mode mode = {0};
  int kahan = strcmp(text, "kahan") == 0;
  hu_status status = kahan ? HU_OK : hu_mode_round_parse(&mode, text);
  if (status != HU_OK) return status;
  return hu_net_update_parameter(halves->net, weight, kahan ? HU_UPDATE_KAHAN : HU_UPDATE_ROUND, mode);
}

/* The weights before number with_kahan have Kahan terms; `set`, if not NULL, is how all updates end. */
static hu_status build(halved_net *halves, size_t with_kahan, const char *set) {
  const hu_mode rne = {0};
  hu_rounding rounding = hu_rounding_format(hu_bfloat16(), rne), keep = hu_rounding_keep();
  halves->net = hu_net_new(1, 1);
  if (!halves->net) return HU_E_MEMORY;
  for (int i = 0; i < PARTS; i++) halves->input[i] = hu_net_input(halves->net, 1, HALF);
  int a = hu_net_linear(halves->net, halves->input[0], 1, 0), b = hu_net_linear(halves->net, halves->input[1], 1, 0);
  int y = hu_net_add(halves->net, a, b);
  halves->loss = hu_net_squared_error(halves->net, y, 1);
  hu_status status = hu_net_status(halves->net, NULL);
  for (int i = 0; i < halves->loss && status == HU_OK; i++)
    status = hu_net_round_value(halves->net, i, &rounding, &rounding);
  for (int i = 0; i < PARTS && status == HU_OK; i++) {
    status = hu_net_round_parameter(halves->net, i, &keep, &rounding);
    if (status == HU_OK) status = set_update(halves, i, set ? set : (size_t)i < with_kahan ? "kahan" : "sra:16");
  }
  return status;
}

/* First weights are 0, as in the paper: what hu_net_initialize draws is taken back. */
static hu_status from_zero(hu_net *net, uint64_t seed) {
  hu_status status = hu_net_initialize(net, seed);
  for (int i = 0; i < PARTS && status == HU_OK; i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) tensor.numbers[k] = 0;
  }
  return status;
}

static hu_status one_step(halved_net *halves, const uint32_t *index, const hu_optimizer *optimizer,
                          const hu_loss_rule *rule, hu_loss_scale *scale, hu_update_counts *counts, float *loss) {
  float x[PARTS * HALF], y;
  hu_data_gather(&halves->data, 1, index, x, NULL, &y);
  hu_status status = HU_OK;
  for (int i = 0; i < PARTS && status == HU_OK; i++) status = hu_net_feed(halves->net, halves->input[i], x + i * HALF);
  if (status == HU_OK) status = hu_net_targets(halves->net, &y);
  if (status == HU_OK) status = hu_net_forward(halves->net, 1, loss);
  if (status == HU_OK) status = hu_net_backward(halves->net, 1);
  return status == HU_OK ? hu_net_update(halves->net, optimizer, rule, scale, counts, NULL) : status;
}

/* Trains; the mean loss of the last steps is the row's. */
static hu_status train(halved_net *halves, uint64_t seed, hu_experiment_row *row) {
  hu_optimizer optimizer = hu_optimizer_sgd(hu_bfloat16());
  hu_loss_rule rule;
  hu_batches order;
  hu_batch_state start = {seed, 0, 0};
  hu_update_counts counts = {0, 0};
  optimizer.momentum = 0;
  hu_status status = hu_loss_rule_parse(&rule, "none", NULL);
  if (status == HU_OK) status = from_zero(halves->net, seed);
  if (status == HU_OK) status = hu_batches_open(&order, halves->data.count, 1, start);
  if (status != HU_OK) return status;
  hu_loss_scale scale = hu_loss_scale_start(&rule);
  row->loss = 0;
  for (size_t t = 0; t < STEPS && status == HU_OK; t++) {
    float loss;
    status = one_step(halves, hu_batches_next(&order), &optimizer, &rule, &scale, &counts, &loss);
    if (status == HU_OK && t >= STEPS - LAST) row->loss += (double)loss / LAST;
  }
  hu_batches_free(&order);
  row->steps = STEPS;
  row->lost = counts.moved ? (double)counts.lost / (double)counts.moved : 0;
  row->digest = hu_net_digest(halves->net);
  return status;
}

static hu_status run_mix(hu_lab *lab) {
  hu_least_squares what = hu_least_squares_default();
  hu_status status = hui_lab_own_runs(lab, runs);
  for (uint64_t seed = 0; seed < SETS && status == HU_OK; seed++) {
    for (size_t kahan = 0; kahan < CHOICES && status == HU_OK; kahan++) {
      halved_net halves;
      const char *name = runs[seed * CHOICES + kahan];
      hu_experiment_row *row = hui_lab_add_row(lab, name);
      if (!row) return lab->status;
      status = hu_data_least_squares(&halves.data, NULL, &what, seed);
      if (status != HU_OK) return status;
      status = build(&halves, kahan, hui_lab_value(lab, name, "optimizer.update", NULL));
      if (status == HU_OK) status = train(&halves, seed, row);
      hu_net_free(halves.net);
      hu_data_free(&halves.data);
      if (status == HU_OK) status = hui_lab_notify(lab);
    }
  }
  return status;
}

static void show_mix(hu_lab *lab) {
  int table = hui_lab_table(lab, "Mean loss of the last 2000 steps, by seeds", SEED_COLUMNS);
  for (size_t k = 0; k < CHOICES; k++) {
    char name[HU_EXPERIMENT_NAME_MAX];
    double loss[SETS];
    snprintf(name, sizeof name, "weights %.1fx", 1 + (double)k / PARTS);
    for (size_t seed = 0; seed < SETS; seed++) loss[seed] = hui_lab_row(lab, seed * CHOICES + k)->loss;
    hui_lab_seeds_row(lab, table, name, loss, SETS);
  }
}

static void judge_mix(hu_lab *lab) {
  int falls = 1,
      figure = hui_lab_figure(lab, "memory", "Loss against memory of the weights", "weights and Kahan terms, relative",
                              "mean loss of the last 2000 steps", HU_FIGURE_LINES);
  for (size_t seed = 0; seed < SETS; seed++) {
    char name[HU_EXPERIMENT_NAME_MAX];
    snprintf(name, sizeof name, "seed %d", (int)seed);
    int series = hui_lab_series(lab, figure, name);
    for (size_t k = 0; k < CHOICES; k++) {
      double loss = hui_lab_row(lab, seed * CHOICES + k)->loss;
      hui_lab_point(lab, figure, series, 1 + (double)k / PARTS, loss);
      falls &= k == 0 || loss < hui_lab_row(lab, seed * CHOICES + k - 1)->loss;
    }
  }
  show_mix(lab);
  hui_lab_claim(lab, falls, "for each seed: the more weights have Kahan terms, the lower the loss");
}

const hu_plan hu_plan_update_memory = {
    .shown = {.name = "update-memory",
              .source = "Zamirai et al., Revisiting BFloat16 Training (2021)",
              .figure = "section 4, figure 4",
              .shows = "Kahan terms for some tensors, stochastic rounding for the others: memory buys accuracy",
              .expected = "falling from weights of 1x (all stochastic) to 2x (all Kahan)",
              .seconds = 2,
              .quick = 1},
    .run = run_mix,
    .own = SETS * CHOICES,
    .judge = judge_mix};
