/* SPDX-License-Identifier: MIT */
/* Gradients that travel in few bits, at 2 to 64 ranks, and what error feedback (Seide et al. 2014, Karimireddy et al.
 * 2019) gives back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/experiment/experiment.h"

#define BASE "model.net", "mlp(layers=1,units=32)", "run.batch", "64", "run.epochs", "10", "optimizer.rate", "0.1"
#define BF16 "ring(bfloat16)"
#define BF16_WIRE "ring(binary32,wire=bfloat16)"
#define MXFP8 "ring(binary32,wire=mxfp8_e4m3)"
#define E5M2 "ring(binary32,wire=float8_e5m2)"
#define JOINED(model, kind) "parallel.reduce", model, "parallel.feedback", kind
/* The same run in exact arithmetic: gradients are 2^12 times smaller, and the rate is as many times larger. */
#define SMALL "loss.power", "12", "optimizer.rate", "409.6"

/* ---- what is compared ---- */

enum {
  EXACT,
  SUMS,
  WIRE,
  SCALED,
  SCALED_OWN,
  SCALED_SUM,
  PLAIN,
  PLAIN_OWN,
  PLAIN_SUM,
  TINY,
  TINY_OWN,
  TINY_SUM,
  METHODS
};
enum { COUNTS = 6 };
static const char *const counts[COUNTS + 1] = {"2", "4", "8", "16", "32", "64", NULL};

#define TRIAL(name, ranks, ...) \
  { name ", " ranks " ranks", HU_PAIRS("parallel.shards", ranks, __VA_ARGS__), 0 }
#define OF_RANKS(n)                                                                                         \
  TRIAL("exact", n, JOINED("exact", "none")), TRIAL("bfloat16 sums", n, JOINED(BF16, "none")),              \
      TRIAL("bfloat16 wire", n, JOINED(BF16_WIRE, "none")), TRIAL("MXFP8 wire", n, JOINED(MXFP8, "none")),  \
      TRIAL("MXFP8 wire, own", n, JOINED(MXFP8, "own")), TRIAL("MXFP8 wire, sum", n, JOINED(MXFP8, "sum")), \
      TRIAL("E5M2 wire", n, JOINED(E5M2, "none")), TRIAL("E5M2 wire, own", n, JOINED(E5M2, "own")),         \
      TRIAL("E5M2 wire, sum", n, JOINED(E5M2, "sum")),                                                      \
      TRIAL("E5M2 wire, small gradients", n, JOINED(E5M2, "none"), SMALL),                                  \
      TRIAL("E5M2 wire, small gradients, own", n, JOINED(E5M2, "own"), SMALL),                              \
      TRIAL("E5M2 wire, small gradients, sum", n, JOINED(E5M2, "sum"), SMALL)
static const hu_trial trials[METHODS * COUNTS] = {OF_RANKS("2"),  OF_RANKS("4"),  OF_RANKS("8"),
                                                  OF_RANKS("16"), OF_RANKS("32"), OF_RANKS("64")};

static const hu_experiment_row *row_of(const hu_lab *lab, size_t method, size_t count) {
  return hui_lab_row(lab, count * METHODS + method);
}

/* Writes a run's name without its last part, the ranks or the seed. */
static void name_of_method(const hu_lab *lab, size_t row, char z[HU_EXPERIMENT_NAME_MAX]) {
  const char *name = hui_lab_row(lab, row)->name;
  size_t n = (size_t)(strrchr(name, ',') - name);
  memcpy(z, name, n);
  z[n] = 0;
}

/* ---- the gradients alone ---- */

enum { PARTS = 5, BATCHES = 4, PARAMETERS_MAX = 4096 };
enum { ERROR_EXACT, ERROR_SUMS, ERROR_WIRE, ERROR_SCALED, ERROR_PLAIN };
typedef struct part {
  const char *name, *model;
} part;
static const part parts[PARTS] = {{"exact", "exact"},
                                  {"bfloat16 sums", BF16},
                                  {"bfloat16 wire", BF16_WIRE},
                                  {"MXFP8 wire", MXFP8},
                                  {"E5M2 wire", E5M2}};

/* Gradients of the first weights over some batches, one after another. */
typedef struct batch_gradients {
  size_t n;
  float x[BATCHES * PARAMETERS_MAX];
} batch_gradients;

static hu_status add_gradients(const hu_trainer *trainer, batch_gradients *gradients) {
  const hu_net *net = hu_trainer_net(trainer);
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    size_t n = tensor.rows * tensor.cols;
    if (gradients->n + n > sizeof gradients->x / sizeof *gradients->x) return HU_E_SHAPE;
    memcpy(gradients->x + gradients->n, tensor.gradients, n * sizeof *gradients->x);
    gradients->n += n;
  }
  return HU_OK;
}

static hu_status look(hu_lab *lab, const char *ranks, const char *model, batch_gradients *gradients) {
  hu_trainer *trainer;
  hu_status status = hui_lab_begin(
      lab, "", HU_PAIRS("parallel.shards", ranks, "parallel.reduce", model, "optimizer.rate", "0"), &trainer);
  gradients->n = 0;
  for (int i = 0; i < BATCHES && status == HU_OK; i++) {
    status = hu_trainer_step(trainer, NULL);
    if (status == HU_OK) status = add_gradients(trainer, gradients);
  }
  hu_trainer_free(trainer);
  return status;
}

/* Adds the errors with the seed of the lab to sums and to sums of squares. */
static hu_status measure(hu_lab *lab, batch_gradients *whole, batch_gradients *gradients, double sums[PARTS][COUNTS],
                         double squares[PARTS][COUNTS]) {
  hu_status status = look(lab, "1", "exact", whole);
  for (size_t i = 0; i < PARTS; i++) {
    for (size_t c = 0; c < COUNTS && status == HU_OK; c++) {
      status = look(lab, counts[c], parts[i].model, gradients);
      if (status != HU_OK) return status;
      double error = hui_relative_error(whole->n, gradients->x, whole->x);
      sums[i][c] += error;
      squares[i][c] += error * error;
    }
  }
  return status;
}

/* Sums over n seeds become means; squares become deviations, n - 1. */
static void close_sums(size_t n, double sums[PARTS][COUNTS], double squares[PARTS][COUNTS]) {
  for (size_t i = 0; i < PARTS; i++) {
    for (size_t c = 0; c < COUNTS; c++) {
      sums[i][c] /= (double)n;
      double rest = squares[i][c] - (double)n * sums[i][c] * sums[i][c];
      squares[i][c] = sqrt(fmax(rest, 0) / (double)(n > 1 ? n - 1 : 1));
    }
  }
}

static void show_errors(hu_lab *lab, double errors[PARTS][COUNTS], double deviations[PARTS][COUNTS]) {
  int figure =
      hui_lab_figure(lab, "errors", "Error of the joined gradients", "ranks", "relative error", HU_FIGURE_LINES);
  int table = hui_lab_table(lab, "Error of the joined gradients, relative to those of whole batches, by ranks", counts);
  int spread = hui_lab_seeds(lab) > 1 ? hui_lab_table(lab, "Its standard deviation over the seeds", counts) : -1;
  hui_lab_axes(lab, figure, HU_AXIS_LOG2, HU_AXIS_LOG10);
  for (size_t i = 0; i < PARTS; i++) {
    int series = hui_lab_series(lab, figure, parts[i].name);
    for (size_t c = 0; c < COUNTS; c++) hui_lab_point(lab, figure, series, (double)(2 << c), errors[i][c]);
    hui_lab_table_row(lab, table, parts[i].name, errors[i]);
    hui_lab_table_row(lab, spread, parts[i].name, deviations[i]);
  }
}

static double largest(const double x[COUNTS]) {
  double z = x[0];
  for (size_t c = 1; c < COUNTS; c++) z = fmax(z, x[c]);
  return z;
}

static int rises(const double x[COUNTS]) {
  int z = 1;
  for (size_t c = 1; c < COUNTS; c++) z &= x[c] > x[c - 1];
  return z;
}

static hu_status run_errors(hu_lab *lab) {
  double e[PARTS][COUNTS] = {{0}}, deviations[PARTS][COUNTS] = {{0}};
  batch_gradients *both = calloc(2, sizeof *both);
  hu_status status = both ? HU_OK : HU_E_MEMORY;
  for (size_t seed = 0; seed < hui_lab_seeds(lab) && status == HU_OK; seed++) {
    lab->seed = seed;
    status = measure(lab, &both[0], &both[1], e, deviations);
  }
  lab->seed = 0;
  free(both);
  if (status != HU_OK) return status;
  close_sums(hui_lab_seeds(lab), e, deviations);
  show_errors(lab, e, deviations);
  hui_lab_claim(lab, largest(e[ERROR_EXACT]) < 1e-6, "exact: the error is that of binary32 at all ranks, at most %.1e",
                largest(e[ERROR_EXACT]));
  hui_lab_claim(lab, rises(e[ERROR_SUMS]) && e[ERROR_SUMS][COUNTS - 1] >= 2 * e[ERROR_SUMS][0],
                "bfloat16 sums: the error grows with each doubling of the ranks: %.1e at 2, %.1e at 64",
                e[ERROR_SUMS][0], e[ERROR_SUMS][COUNTS - 1]);
  hui_lab_claim(lab, rises(e[ERROR_SCALED]) && rises(e[ERROR_PLAIN]),
                "so do those of 8-bit wires: MXFP8 %.1e and %.1e, E5M2 %.1e and %.1e", e[ERROR_SCALED][0],
                e[ERROR_SCALED][COUNTS - 1], e[ERROR_PLAIN][0], e[ERROR_PLAIN][COUNTS - 1]);
  return HU_OK;
}

/* ---- training ---- */

static void show(hu_lab *lab) {
  int figure = hui_lab_figure(lab, "loss", "Loss at the end", "ranks", "loss", HU_FIGURE_LINES);
  int losses = hui_lab_table(lab, "Loss at the end, by ranks", counts);
  int accuracies = hui_lab_table(lab, "Accuracy, by ranks", counts);
  hui_lab_axes(lab, figure, HU_AXIS_LOG2, HU_AXIS_LOG10);
  for (size_t w = 0; w < METHODS; w++) {
    char name[HU_EXPERIMENT_NAME_MAX];
    double loss[COUNTS], accuracy[COUNTS];
    name_of_method(lab, w, name);
    int series = hui_lab_series(lab, figure, name);
    for (size_t c = 0; c < COUNTS; c++) {
      loss[c] = row_of(lab, w, c)->loss;
      accuracy[c] = row_of(lab, w, c)->accuracy;
      hui_lab_point(lab, figure, series, (double)(2 << c), loss[c]);
    }
    hui_lab_table_row(lab, losses, name, loss);
    hui_lab_table_row(lab, accuracies, name, accuracy);
  }
}

/* loss / that of `exact` at the same ranks - 1; the largest magnitude of it, NaN where one is. */
static double above(const hu_lab *lab, size_t method, size_t count) {
  return row_of(lab, method, count)->loss / row_of(lab, EXACT, count)->loss - 1;
}

static double farthest(const hu_lab *lab, size_t method) {
  double z = 0;
  for (size_t c = 0; c < COUNTS; c++) {
    double d = fabs(above(lab, method, c));
    if (!(d <= z)) z = d;
    if (isnan(d)) break;
  }
  return z;
}

/* The least share of what `way` loses against exact that `mended` does not lose. */
static double given_back(const hu_lab *lab, size_t method, size_t mended) {
  double z = 1;
  for (size_t c = 0; c < COUNTS; c++) {
    double share = 1 - above(lab, mended, c) / above(lab, method, c);
    if (!(share >= z)) z = share;
    if (isnan(share)) break;
  }
  return z;
}

static void judge_usual(hu_lab *lab) {
  const size_t last = COUNTS - 1;
  double loss[COUNTS];
  for (size_t c = 0; c < COUNTS; c++) loss[c] = row_of(lab, SCALED, c)->loss;
  hui_lab_claim(
      lab, farthest(lab, SUMS) <= 0.005 && farthest(lab, WIRE) <= 0.005,
      "bfloat16, sums or wire: losses within 0.5 %% of exact's at all ranks: at most %.2f %% and %.2f %% away",
      100 * farthest(lab, SUMS), 100 * farthest(lab, WIRE));
  hui_lab_claim(lab, rises(loss) && above(lab, SCALED, last) >= 0.02,
                "MXFP8 wire: the loss rises with each doubling of the ranks, to %.1f %% above exact's at 64",
                100 * above(lab, SCALED, last));
  hui_lab_claim(lab, above(lab, SCALED_OWN, last) >= above(lab, SCALED, last) / 2,
                "own messages are not what a ring loses: with their feedback it is still %.1f %% at 64 ranks",
                100 * above(lab, SCALED_OWN, last));
  hui_lab_claim(lab, farthest(lab, SCALED_SUM) <= 0.005 && farthest(lab, PLAIN_SUM) <= 0.005,
                "feedback of sums: within 0.5 %% of exact's at all ranks: MXFP8 %.2f %%, E5M2 %.2f %% away at most",
                100 * farthest(lab, SCALED_SUM), 100 * farthest(lab, PLAIN_SUM));
}

static void judge_small(hu_lab *lab) {
  double least = INFINITY;
  for (size_t c = 0; c < COUNTS && !isnan(least); c++) {
    double r = above(lab, TINY, c) + 1;
    if (!(r >= least)) least = r;
  }
  hui_lab_claim(lab, least >= 3,
                "small gradients on an E5M2 wire without feedback: the loss is at least 3 times exact's: %.1f times",
                least);
  hui_lab_claim(lab, given_back(lab, TINY, TINY_OWN) >= 0.9,
                "feedback of own messages gives back at least 90 %% of that at all ranks: %.1f %%",
                100 * given_back(lab, TINY, TINY_OWN));
  hui_lab_claim(lab, farthest(lab, TINY_SUM) <= 0.03,
                "feedback of sums: within 3 %% of exact's loss at all ranks: at most %.1f %% away",
                100 * farthest(lab, TINY_SUM));
}

static void judge(hu_lab *lab) {
  show(lab);
  judge_usual(lab);
  judge_small(lab);
}

const hu_plan hu_plan_all_reduce = {
    .shown = {.name = "gradients-all-reduce",
              .source = "Seide et al., 1-Bit Stochastic Gradient Descent (2014); "
                        "Karimireddy et al., Error Feedback Fixes SignSGD (2019)",
              .figure = "the cost of a ring in few bits at 2 to 64 ranks, and what feedback gives back",
              .shows = "what the roundings of an all-reduce lose grows with the ranks, and comes back if it is kept "
                       "for the next step",
              .expected = "bfloat16 trains as exact sums do; 8-bit wires do so with feedback of sums, small gradients "
                          "with any feedback",
              .seconds = 45},
    .pairs = HU_PAIRS(BASE),
    .trials = trials,
    .count = METHODS * COUNTS,
    .run = run_errors,
    .judge = judge};

/* ---- 8 ranks, three seeds ---- */

enum {
  E_EXACT,
  E_SCALED,
  E_SCALED_OWN,
  E_SCALED_SUM,
  E_SCALED_TINY,
  E_TINY,
  E_TINY_OWN,
  E_TINY_SUM,
  E_METHODS,
  SEEDS = 3
};

#define SEED(name, seed, ...) \
  { name ", seed " seed, HU_PAIRS("run.seed", seed, __VA_ARGS__), 0 }
#define OF_SEED(n)                                                                                        \
  SEED("exact", n, JOINED("exact", "none")), SEED("MXFP8 wire", n, JOINED(MXFP8, "none")),                \
      SEED("MXFP8 wire, own", n, JOINED(MXFP8, "own")), SEED("MXFP8 wire, sum", n, JOINED(MXFP8, "sum")), \
      SEED("MXFP8 wire, small gradients, own", n, JOINED(MXFP8, "own"), SMALL),                           \
      SEED("E5M2 wire, small gradients", n, JOINED(E5M2, "none"), SMALL),                                 \
      SEED("E5M2 wire, small gradients, own", n, JOINED(E5M2, "own"), SMALL),                             \
      SEED("E5M2 wire, small gradients, sum", n, JOINED(E5M2, "sum"), SMALL)
static const hu_trial seeds[E_METHODS * SEEDS] = {OF_SEED("0"), OF_SEED("1"), OF_SEED("2")};

static double of_seed(const hu_lab *lab, size_t method, size_t seed) {
  return hui_lab_row(lab, seed * E_METHODS + method)->loss;
}

/* The least and the largest of loss / exact's loss over the seeds; NaN where one is. */
static void ratios(const hu_lab *lab, size_t method, double *least, double *most) {
  *least = INFINITY;
  *most = 0;
  for (size_t seed = 0; seed < SEEDS; seed++) {
    double r = of_seed(lab, method, seed) / of_seed(lab, E_EXACT, seed);
    if (!(r >= *least)) *least = r;
    if (!(r <= *most)) *most = r;
    if (isnan(r)) return;
  }
}

static void show_seeds(hu_lab *lab) {
  static const char *const cols[SEEDS + 3] = {"seed 0", "seed 1", "seed 2", "mean", "deviation", NULL};
  int table = hui_lab_table(lab, "Loss at the end, by seeds", cols);
  for (size_t w = 0; w < E_METHODS; w++) {
    char name[HU_EXPERIMENT_NAME_MAX];
    double loss[SEEDS];
    name_of_method(lab, w, name);
    for (size_t seed = 0; seed < SEEDS; seed++) loss[seed] = of_seed(lab, w, seed);
    hui_lab_seeds_row(lab, table, name, loss, SEEDS);
  }
}

static void judge_seeds(hu_lab *lab) {
  double low, high, least, most;
  int same = 1;
  show_seeds(lab);
  for (size_t seed = 0; seed < SEEDS; seed++) {
    const hu_experiment_row *row = hui_lab_row(lab, seed * E_METHODS);
    same &= row[E_SCALED_OWN].digest == row[E_SCALED_TINY].digest;
  }
  ratios(lab, E_SCALED, &low, &high);
  ratios(lab, E_SCALED_SUM, &least, &most);
  hui_lab_claim(lab, low >= 1.005 && least >= 0.995 && most <= 1.005,
                "MXFP8 wire: loss %.3f to %.3f times exact's; with feedback of sums within 0.5 %%: %.4f to %.4f times",
                low, high, least, most);
  ratios(lab, E_SCALED_OWN, &least, &most);
  hui_lab_claim(lab, least - 1 >= (high - 1) / 2, "with feedback of own messages it is %.3f to %.3f times", least,
                most);
  ratios(lab, E_TINY, &low, &high);
  hui_lab_claim(lab, low >= 3, "E5M2 wire, small gradients: at least 3 times exact's loss: %.1f to %.1f times", low,
                high);
  ratios(lab, E_TINY_OWN, &low, &high);
  ratios(lab, E_TINY_SUM, &least, &most);
  hui_lab_claim(lab, low >= 0.95 && high <= 1.05 && least >= 0.95 && most <= 1.05,
                "within 5 %% with feedback: own messages %.3f to %.3f times, sums %.3f to %.3f times", low, high, least,
                most);
  hui_lab_claim(lab, same, "scales follow small gradients, and so do residuals: MXFP8 ends with the same bits");
}

const hu_plan hu_plan_feedback = {
    .shown = {.name = "error-feedback",
              .source = "Seide et al., 1-Bit Stochastic Gradient Descent (2014); "
                        "Karimireddy et al., Error Feedback Fixes SignSGD (2019)",
              .figure = "8-bit wires at 8 ranks, three seeds",
              .shows =
                  "gradients below a wire's smallest number are not lost if each rank keeps what its message lacks",
              .expected = "an E5M2 wire does not train on small gradients, with feedback it does; MXFP8 with feedback "
                          "of sums is as exact",
              .seconds = 5,
              .quick = 1},
    .pairs = HU_PAIRS(BASE, "parallel.shards", "8"),
    .trials = seeds,
    .count = E_METHODS * SEEDS,
    .watch = HU_WATCH_LOSS,
    .steps = 22,
    .judge = judge_seeds};
