/* SPDX-License-Identifier: MIT */
/* Records curves by step and by epoch, exponents of gradients and statistics of tensors while a trial runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/s2fp8.h"
#include "train/experiment/experiment.h"

/* ---- curves ---- */

typedef struct curve_axes {
  unsigned watch;
  const char *name, *title, *x, *y;
  int axis; /* of y */
} curve_axes;

enum { BY_LOSS, BY_TRAINING, BY_TEST, BY_ACCURACY, BY_SCALE, BY_LARGEST, BY_ZEROS, CURVES };
static const curve_axes curves[CURVES] = {
    {HU_WATCH_LOSS, "loss", "Loss of the batches", "step", "loss", HU_AXIS_LOG10},
    {HU_WATCH_TRAINING, "training-loss", "Loss over the training set", "epoch", "loss", HU_AXIS_LOG10},
    {HU_WATCH_TEST, "test-loss", "Loss over the test set", "epoch", "loss", HU_AXIS_LOG10},
    {HU_WATCH_ACCURACY, "accuracy", "Accuracy on the test set", "epoch", "share of right answers", HU_AXIS_PLAIN},
    {HU_WATCH_SCALE, "loss-scale", "Scale of the loss", "step", "scale", HU_AXIS_LOG2},
    {HU_WATCH_LARGEST, "largest", "Largest gradient of a parameter, unscaled", "step", "magnitude", HU_AXIS_LOG2},
    {HU_WATCH_ZEROS, "zero-gradients", "Gradients of parameters that are zero", "step", "share", HU_AXIS_PLAIN}};

static void open_curve(hu_watcher *watcher, int i) {
  const curve_axes *curve = &curves[i];
  watcher->figure[i] = watcher->series[i] = -1;
  if (!(watcher->watch & curve->watch)) return;
  watcher->figure[i] = hui_lab_figure(watcher->lab, curve->name, curve->title, curve->x, curve->y, HU_FIGURE_LINES);
  hui_lab_axes(watcher->lab, watcher->figure[i], HU_AXIS_PLAIN, curve->axis);
  watcher->series[i] = hui_lab_series(watcher->lab, watcher->figure[i], watcher->trial->name);
}

static void put(hu_watcher *watcher, int i, double x, double y) {
  hui_lab_point(watcher->lab, watcher->figure[i], watcher->series[i], x, y);
}

/* ---- statistics of tensors, those of S2FP8 ---- */

static const char of_gradient[] = ".gradient";

/* The text without ".gradient" at its end; 1: it had that. */
static int without_gradient(const char *text, char z[HU_PARAMETER_NAME_MAX]) {
  size_t length = strlen(text), cut = sizeof of_gradient - 1;
  int gradient = length > cut && strcmp(text + length - cut, of_gradient) == 0;
  snprintf(z, HU_PARAMETER_NAME_MAX, "%.*s", (int)(gradient ? length - cut : length), text);
  return gradient;
}

/* Finds "conv" and "weight" of "stage3.block3.conv2.weight": the layer's kind (no scope, no number) and the part. */
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
typedef struct watched_tensor {
  char name[HU_PARAMETER_NAME_MAX + sizeof of_gradient];
  const float *numbers; /* NULL: there is none */
  size_t n;
} watched_tensor;

/* Finds a parameter by its name (parameter_for), a value by its number, or the gradient of either. */
static watched_tensor find_watched(const hu_net *net, const char *text) {
  char name[HU_PARAMETER_NAME_MAX];
  watched_tensor watched = {"", NULL, 0};
  int gradient = without_gradient(text, name), value = *name >= '0' && *name <= '9';
  int i = value ? atoi(name) : parameter_for(net, name);
  if (i < 0 || (value && i >= hu_net_values(net))) return watched;
  hu_net_tensor tensor = value ? hu_net_value(net, i) : hu_net_parameter(net, i);
  snprintf(watched.name, sizeof watched.name, "%s%s", value ? name : hu_net_parameter_name(net, i),
           gradient ? of_gradient : "");
  watched.numbers = gradient ? tensor.gradients : tensor.numbers;
  watched.n = tensor.rows * tensor.cols;
  return watched;
}

/* ", "-separated names of the parameters, as many as there is space for. */
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

static hu_status refuse_net(hu_lab *lab, hu_trainer *trainer, const char *tensor) {
  char there[HU_DATA_WHY_MAX / 2];
  list_parameters(hu_trainer_net(trainer), there, sizeof there);
  snprintf(lab->why, HU_DATA_WHY_MAX, "model.net = %.60s has no layer of the kind of '%.40s', which %s watches: %s",
           hu_trainer_get(trainer, "model.net"), tensor, lab->plan->shown.name, there);
  return HU_E_NAME;
}

hu_status hui_watch_check(hu_lab *lab, hu_trainer *trainer) {
  for (const char *const *x = lab->plan->tensors; x && *x; x++) {
    if (!find_watched(hu_trainer_net(trainer), *x).numbers) return refuse_net(lab, trainer, *x);
  }
  return HU_OK;
}

/* Puts two series into a figure of a row and a tensor; there are two figures. */
static void put_pair(hu_watcher *watcher, const char *tensor, int which, double x, double first, double second) {
  static const char *const names[2][2] = {{"mean of log2, mu", "largest log2, m"}, {"alpha", "beta"}};
  static const char *const words[2] = {"logarithms", "shift-squeeze"};
  char name[HU_EXPERIMENT_NAME_MAX], title[2 * HU_EXPERIMENT_NAME_MAX];
  size_t buffer = sizeof name - sizeof "shift-squeeze-", length = strlen(tensor);
  const char *end =
      tensor + (length > buffer ? length - buffer : 0); /* the end of a long name shows that it is a gradient */
  size_t n = (size_t)snprintf(name, sizeof name, "%s-%s", words[which], end);
  for (size_t i = 0; i < n && i < sizeof name; i++) {
    if (name[i] == '.' || name[i] == '_') name[i] = '-';
  }
  snprintf(title, sizeof title, "%.30s: %.60s", watcher->trial->name, tensor);
  int f = hui_lab_figure(watcher->lab, name, title, "step", which ? "alpha, beta" : "log2", HU_FIGURE_LINES);
  for (int k = 0; k < 2 && f >= 0 && watcher->lab->report.figure[f].count < 2; k++)
    hui_lab_series(watcher->lab, f, names[which][k]);
  hui_lab_point(watcher->lab, f, 0, x, first);
  hui_lab_point(watcher->lab, f, 1, x, second);
}

static hu_status put_statistics(hu_watcher *watcher, const hu_net *net, const char *tensor, double x) {
  hu_s2fp8 kind;
  hu_s2fp8_sums sums;
  hu_s2fp8_scale scale;
  watched_tensor watched = find_watched(net, tensor);
  if (!watched.numbers) return HU_E_NAME; /* hui_watch_check has refused such a net */
  memset(&sums, 0, sizeof sums);
  hu_status status = hu_s2fp8_parse(&kind, "s2fp8", NULL);
  if (status == HU_OK) status = hu_s2fp8_sum_n(watched.n, watched.numbers, 1, &sums, NULL);
  if (status == HU_OK) status = hu_s2fp8_scale_of(&scale, &sums, &kind, NULL);
  if (status != HU_OK) return status;
  put_pair(watcher, watched.name, 0, x, (double)scale.mu * HU_S2FP8_UNIT, (double)scale.m * HU_S2FP8_UNIT);
  put_pair(watcher, watched.name, 1, x, (double)scale.alpha, (double)scale.beta);
  return watcher->lab->status;
}

/* ---- exponents ---- */

/* Gradients of what operators made: not of inputs, not of the loss, which is the last value. */
static void count_exponents(hu_watcher *watcher, const hu_net *net) {
  int last = hu_net_values(net) - 1;
  for (int i = 0; i < last; i++) {
    hu_net_tensor tensor = hu_net_value(net, i);
    if (tensor.gradients && tensor.backward.elements)
      hu_exponents_of(tensor.rows * tensor.cols, tensor.gradients, watcher->exponents);
  }
}

static double share_of_zeros(const hu_net *net) {
  double zeros = 0, all = 0;
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) zeros += tensor.gradients[k] == 0;
    all += (double)(tensor.rows * tensor.cols);
  }
  return zeros / all;
}

/* ---- a trial ---- */

hu_status hui_watch_begin(hu_watcher *watcher, hu_lab *lab, const hu_trial *trial) {
  memset(watcher, 0, sizeof *watcher);
  watcher->lab = lab;
  watcher->trial = trial;
  watcher->watch = trial->watch | lab->plan->watch;
  for (int i = 0; i < CURVES; i++) open_curve(watcher, i);
  if (!(watcher->watch & HU_WATCH_EXPONENTS)) return lab->status;
  watcher->exponents = calloc(HU_EXPONENTS, sizeof *watcher->exponents);
  return watcher->exponents ? lab->status : HU_E_MEMORY;
}

static hu_status evaluate(hu_watcher *watcher, hu_trainer *trainer, double epoch) {
  const unsigned on_test = HU_WATCH_TEST | HU_WATCH_ACCURACY;
  hu_trainer_seen seen;
  hu_status status = HU_OK;
  if (watcher->watch & HU_WATCH_TRAINING) {
    status = hu_trainer_evaluate(trainer, HU_ON_TRAINING, &seen);
    if (status == HU_OK) put(watcher, BY_TRAINING, epoch, seen.loss);
  }
  if (status != HU_OK || !(watcher->watch & on_test)) return status;
  status = hu_trainer_evaluate(trainer, HU_ON_TEST, &seen);
  if (status != HU_OK) return status;
  put(watcher, BY_TEST, epoch, seen.loss);
  put(watcher, BY_ACCURACY, epoch, isnan(seen.accuracy) ? seen.r2 : seen.accuracy);
  return HU_OK;
}

static hu_status read_step(hu_watcher *watcher, hu_trainer *trainer, const hu_trainer_report *report) {
  double x = (double)report->step;
  hu_status status = HU_OK;
  put(watcher, BY_LOSS, x, watcher->losses / (double)watcher->since);
  watcher->losses = 0;
  watcher->since = 0;
  put(watcher, BY_SCALE, x, (double)report->scale);
  put(watcher, BY_LARGEST, x, (double)report->largest);
  if (watcher->watch & HU_WATCH_ZEROS) put(watcher, BY_ZEROS, x, share_of_zeros(hu_trainer_net(trainer)));
  if (watcher->exponents) count_exponents(watcher, hu_trainer_net(trainer));
  const char *const *tensor = watcher->watch & HU_WATCH_STATISTICS ? watcher->lab->plan->tensors : NULL;
  for (; tensor && *tensor && status == HU_OK; tensor++)
    status = put_statistics(watcher, hu_trainer_net(trainer), *tensor, x);
  return status;
}

hu_status hui_watch_step(hu_watcher *watcher, hu_trainer *trainer, const hu_trainer_report *report) {
  const hu_plan *plan = watcher->lab->plan;
  uint64_t steps = plan->steps ? plan->steps : 1, epochs = plan->epochs ? plan->epochs : 1;
  uint64_t an_epoch = hu_trainer_steps_an_epoch(trainer);
  hu_status status = HU_OK;
  watcher->losses += report->loss;
  watcher->since++;
  if (report->step == 1 || report->step % steps == 0 || hu_trainer_done(trainer))
    status = read_step(watcher, trainer, report);
  if (status == HU_OK && report->step % (an_epoch * epochs) == 0)
    status = evaluate(watcher, trainer, (double)report->step / (double)an_epoch);
  return status == HU_OK ? watcher->lab->status : status;
}

void hui_watch_end(hu_watcher *watcher) {
  if (watcher->exponents) {
    int f = hui_lab_figure(watcher->lab, "exponents", "Exponents of the gradients of values", "floor(log2 |g|)",
                           "share of the gradients", HU_FIGURE_BARS);
    hui_lab_histogram(watcher->lab, f, hui_lab_series(watcher->lab, f, watcher->trial->name), watcher->exponents);
  }
  free(watcher->exponents);
  watcher->exponents = NULL;
}
