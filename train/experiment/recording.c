/* SPDX-License-Identifier: MIT */
/* Records curves by step and by epoch, exponents of gradients and statistics of tensors while a trial runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/s2fp8.h"
#include "train/experiment/experiment.h"

/* ---- curves ---- */

typedef struct curve {
  unsigned watch;
  const char *name, *title, *x, *y;
  int axis; /* of y */
} curve;

enum { BY_LOSS, BY_TRAINING, BY_TEST, BY_ACCURACY, BY_SCALE, BY_LARGEST, BY_ZEROS, CURVES };
static const curve curves[CURVES] = {
    {HU_WATCH_LOSS, "loss", "Loss of the batches", "step", "loss", HU_AXIS_LOG10},
    {HU_WATCH_TRAINING, "training-loss", "Loss over the training set", "epoch", "loss", HU_AXIS_LOG10},
    {HU_WATCH_TEST, "test-loss", "Loss over the test set", "epoch", "loss", HU_AXIS_LOG10},
    {HU_WATCH_ACCURACY, "accuracy", "Accuracy on the test set", "epoch", "share of right answers", HU_AXIS_PLAIN},
    {HU_WATCH_SCALE, "loss-scale", "Scale of the loss", "step", "scale", HU_AXIS_LOG2},
    {HU_WATCH_LARGEST, "largest", "Largest gradient of a parameter, unscaled", "step", "magnitude", HU_AXIS_LOG2},
    {HU_WATCH_ZEROS, "zero-gradients", "Gradients of parameters that are zero", "step", "share", HU_AXIS_PLAIN}};

static void open_curve(hu_watcher *w, int i) {
  const curve *c = &curves[i];
  w->figure[i] = w->series[i] = -1;
  if (!(w->watch & c->watch)) return;
  w->figure[i] = hu_lab_figure(w->lab, c->name, c->title, c->x, c->y, HU_FIGURE_LINES);
  hu_lab_axes(w->lab, w->figure[i], HU_AXIS_PLAIN, c->axis);
  w->series[i] = hu_lab_series(w->lab, w->figure[i], w->trial->name);
}

static void put(hu_watcher *w, int i, double x, double y) { hu_lab_point(w->lab, w->figure[i], w->series[i], x, y); }

/* ---- statistics of tensors, those of S2FP8 ---- */

static const char of_gradient[] = ".gradient";

/* The text without ".gradient" at its end; 1: it had that. */
static int without_gradient(const char *text, char z[HU_PARAMETER_NAME_MAX]) {
  size_t length = strlen(text), cut = sizeof of_gradient - 1;
  int gradient = length > cut && strcmp(text + length - cut, of_gradient) == 0;
  snprintf(z, HU_PARAMETER_NAME_MAX, "%.*s", (int)(gradient ? length - cut : length), text);
  return gradient;
}

/* "conv" and "weight" of "stage3.block3.conv2.weight": the layer's kind (no scope, no number) and the part. */
static void kind_of(const char *name, char kind[HU_PARAMETER_NAME_MAX], const char **part) {
  const char *dot = strrchr(name, '.'), *from = name;
  *part = dot ? dot + 1 : "";
  for (const char *p = name; dot && p < dot; p++) {
    if (*p == '.') from = p + 1;
  }
  snprintf(kind, HU_PARAMETER_NAME_MAX, "%.*s", dot ? (int)(dot - from) : HU_PARAMETER_NAME_MAX - 1, from);
  kind[strcspn(kind, "0123456789")] = 0;
}

/* The parameter of that name; in a net that has none, the last one of the same kind of layer and the same part. */
static int parameter_for(const hu_net *net, const char *name) {
  char kind[HU_PARAMETER_NAME_MAX], other[HU_PARAMETER_NAME_MAX];
  const char *part, *others;
  int i = hu_net_parameter_named(net, name);
  if (i >= 0) return i;
  kind_of(name, kind, &part);
  for (i = hu_net_parameters(net); i-- > 0;) {
    kind_of(hu_net_parameter_name(net, i), other, &others);
    if (strcmp(kind, other) == 0 && strcmp(part, others) == 0) return i;
  }
  return -1;
}

/* A tensor of a net, under the name that it has there. */
typedef struct watched {
  char name[HU_PARAMETER_NAME_MAX + sizeof of_gradient];
  const float *numbers; /* NULL: there is none */
  size_t n;
} watched;

/* A parameter by its name (parameter_for), a value by its number, or the gradient of either. */
static watched find_watched(const hu_net *net, const char *text) {
  char name[HU_PARAMETER_NAME_MAX];
  watched z = {"", NULL, 0};
  int gradient = without_gradient(text, name), value = *name >= '0' && *name <= '9';
  int i = value ? atoi(name) : parameter_for(net, name);
  if (i < 0 || (value && i >= hu_net_values(net))) return z;
  hu_net_tensor x = value ? hu_net_value(net, i) : hu_net_parameter(net, i);
  snprintf(z.name, sizeof z.name, "%s%s", value ? name : hu_net_parameter_name(net, i), gradient ? of_gradient : "");
  z.numbers = gradient ? x.gradients : x.numbers;
  z.n = x.rows * x.cols;
  return z;
}

/* ", "-separated names of the parameters, as many as there is room for. */
static void list_parameters(const hu_net *net, char *text, size_t size) {
  size_t used = 0;
  *text = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    const char *name = hu_net_parameter_name(net, i);
    if (used + strlen(name) + sizeof ", ..." > size) {
      snprintf(text + used, size - used, "%s...", i ? ", " : "");
      return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", name);
  }
}

static hu_status refuse_net(hu_lab *lab, hu_trainer *t, const char *tensor) {
  char there[HU_DATA_WHY_MAX / 2];
  list_parameters(hu_trainer_net(t), there, sizeof there);
  snprintf(lab->why, HU_DATA_WHY_MAX, "model.net = %.60s has no layer of the kind of '%.40s', which %s watches: %s",
           hu_trainer_get(t, "model.net"), tensor, lab->plan->shown.name, there);
  return HU_E_NAME;
}

hu_status hu_watch_check(hu_lab *lab, hu_trainer *t) {
  for (const char *const *x = lab->plan->tensors; x && *x; x++) {
    if (!find_watched(hu_trainer_net(t), *x).numbers) return refuse_net(lab, t, *x);
  }
  return HU_OK;
}

/* Two series in a figure of a row and a tensor; two figures. */
static void put_pair(hu_watcher *w, const char *tensor, int which, double x, double first, double second) {
  static const char *const names[2][2] = {{"mean of log2, mu", "largest log2, m"}, {"alpha", "beta"}};
  static const char *const words[2] = {"logarithms", "shift-squeeze"};
  char name[HU_EXPERIMENT_NAME_MAX], title[2 * HU_EXPERIMENT_NAME_MAX];
  size_t room = sizeof name - sizeof "shift-squeeze-", length = strlen(tensor);
  const char *end = tensor + (length > room ? length - room : 0); /* the end of a long name tells a gradient */
  size_t n = (size_t)snprintf(name, sizeof name, "%s-%s", words[which], end);
  for (size_t i = 0; i < n && i < sizeof name; i++) {
    if (name[i] == '.' || name[i] == '_') name[i] = '-';
  }
  snprintf(title, sizeof title, "%.30s: %.60s", w->trial->name, tensor);
  int f = hu_lab_figure(w->lab, name, title, "step", which ? "alpha, beta" : "log2", HU_FIGURE_LINES);
  for (int k = 0; k < 2 && f >= 0 && w->lab->report.figure[f].count < 2; k++) hu_lab_series(w->lab, f, names[which][k]);
  hu_lab_point(w->lab, f, 0, x, first);
  hu_lab_point(w->lab, f, 1, x, second);
}

static hu_status put_statistics(hu_watcher *w, const hu_net *net, const char *tensor, double x) {
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  watched z = find_watched(net, tensor);
  if (!z.numbers) return HU_E_NAME; /* hu_watch_check has refused such a net */
  memset(&sums, 0, sizeof sums);
  hu_status s = hu_s2fp8_parse(&kind, "s2fp8", NULL);
  if (s == HU_OK) s = hu_s2fp8_sum_n(z.n, z.numbers, 1, &sums, NULL);
  if (s == HU_OK) s = hu_s2fp8_scale_of(&scale, &sums, &kind);
  if (s != HU_OK) return s;
  put_pair(w, z.name, 0, x, (double)scale.mu * HU_S2FP8_UNIT, (double)scale.m * HU_S2FP8_UNIT);
  put_pair(w, z.name, 1, x, (double)scale.alpha, (double)scale.beta);
  return w->lab->status;
}

/* ---- exponents ---- */

/* Gradients of what operators made: not of inputs, not of the loss, which is the last value. */
static void count_exponents(hu_watcher *w, const hu_net *net) {
  int last = hu_net_values(net) - 1;
  for (int i = 0; i < last; i++) {
    hu_net_tensor x = hu_net_value(net, i);
    if (x.gradients && x.backward.elements) hu_exponents_of(x.rows * x.cols, x.gradients, w->exponents);
  }
}

static double share_of_zeros(const hu_net *net) {
  double zeros = 0, all = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor x = hu_net_parameter(net, i);
    for (size_t k = 0; k < x.rows * x.cols; k++) zeros += x.gradients[k] == 0;
    all += (double)(x.rows * x.cols);
  }
  return zeros / all;
}

/* ---- a trial ---- */

hu_status hu_watch_begin(hu_watcher *w, hu_lab *lab, const hu_trial *trial) {
  memset(w, 0, sizeof *w);
  w->lab = lab;
  w->trial = trial;
  w->watch = trial->watch | lab->plan->watch;
  for (int i = 0; i < CURVES; i++) open_curve(w, i);
  if (!(w->watch & HU_WATCH_EXPONENTS)) return lab->status;
  w->exponents = calloc(HU_EXPONENTS, sizeof *w->exponents);
  return w->exponents ? lab->status : HU_E_MEMORY;
}

static hu_status evaluate(hu_watcher *w, hu_trainer *t, double epoch) {
  const unsigned on_test = HU_WATCH_TEST | HU_WATCH_ACCURACY;
  hu_trainer_seen seen;
  hu_status s = HU_OK;
  if (w->watch & HU_WATCH_TRAINING) {
    s = hu_trainer_evaluate(t, HU_ON_TRAINING, &seen);
    if (s == HU_OK) put(w, BY_TRAINING, epoch, seen.loss);
  }
  if (s != HU_OK || !(w->watch & on_test)) return s;
  s = hu_trainer_evaluate(t, HU_ON_TEST, &seen);
  if (s != HU_OK) return s;
  put(w, BY_TEST, epoch, seen.loss);
  put(w, BY_ACCURACY, epoch, isnan(seen.accuracy) ? seen.r2 : seen.accuracy);
  return HU_OK;
}

static hu_status read_step(hu_watcher *w, hu_trainer *t, const hu_trainer_report *r) {
  double x = (double)r->step;
  hu_status s = HU_OK;
  put(w, BY_LOSS, x, w->losses / (double)w->since);
  w->losses = 0;
  w->since = 0;
  put(w, BY_SCALE, x, (double)r->scale);
  put(w, BY_LARGEST, x, (double)r->largest);
  if (w->watch & HU_WATCH_ZEROS) put(w, BY_ZEROS, x, share_of_zeros(hu_trainer_net(t)));
  if (w->exponents) count_exponents(w, hu_trainer_net(t));
  const char *const *tensor = w->watch & HU_WATCH_STATISTICS ? w->lab->plan->tensors : NULL;
  for (; tensor && *tensor && s == HU_OK; tensor++) s = put_statistics(w, hu_trainer_net(t), *tensor, x);
  return s;
}

hu_status hu_watch_step(hu_watcher *w, hu_trainer *t, const hu_trainer_report *r) {
  const hu_plan *plan = w->lab->plan;
  uint64_t steps = plan->steps ? plan->steps : 1, epochs = plan->epochs ? plan->epochs : 1;
  uint64_t an_epoch = hu_trainer_steps_an_epoch(t);
  hu_status s = HU_OK;
  w->losses += r->loss;
  w->since++;
  if (r->step == 1 || r->step % steps == 0 || hu_trainer_done(t)) s = read_step(w, t, r);
  if (s == HU_OK && r->step % (an_epoch * epochs) == 0) s = evaluate(w, t, (double)r->step / (double)an_epoch);
  return s == HU_OK ? w->lab->status : s;
}

void hu_watch_end(hu_watcher *w) {
  if (w->exponents) {
    int f = hu_lab_figure(w->lab, "exponents", "Exponents of the gradients of values", "floor(log2 |g|)",
                          "share of the gradients", HU_FIGURE_BARS);
    hu_lab_histogram(w->lab, f, hu_lab_series(w->lab, f, w->trial->name), w->exponents);
  }
  free(w->exponents);
  w->exponents = NULL;
}
