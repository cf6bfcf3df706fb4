/* SPDX-License-Identifier: MIT */
/* The losses, and the labels and targets that they are compared with. */
#include <float.h>

#include "train/environment.h"
#include "train/loss/loss.h"

/* Returns weight times a factor / R, rounded to binary32 at the end. */
static float share_times(const hu_net *net, const hu_operator *op, double factor) {
  double rows = (double)net->value[op->in[0]].rows;
  int labels = op->kind->loss == HU_COMPARES_LABELS || (op->kind->loss & HU_COMPARES_LABELS && net->labelled);
  if (labels && net->counted > 0) rows = net->counted;
  return (float)(op->loss.weight * factor / (net->weighed > 0 ? net->weighed : rows));
}

static float share(const hu_net *net, const hu_operator *op) { return share_times(net, op, 1); }

/* Multiplies the terms of each row, or its gradients, by its weight. */
static void weigh(hu_net *net, size_t rows, size_t cols, float *x) {
  if (!net->weights) return;
  hu_task task = hui_task_of(rows, cols, x, x, net->weights);
  hui_do(net, HU_RUN_WEIGH, &task);
}

hu_status hui_set_loss(hu_net *net, hu_operator *op, size_t n, const float *terms, float p) {
  float *own = net->value[op->out].v;
  hu_task task = hui_task_of(1, n, own, terms, NULL);
  task.p = p;
  hui_do(net, HU_RUN_SUM_ROWS, &task);
  int first = op == &net->op[hui_first_loss(net)];
  hui_do_each(net, first ? HU_RUN_COPY : HU_RUN_ACCUMULATE, 1, &net->outcome->loss, own, NULL, 0);
  for (int i = 0; i < net->operators && first && net->training; i++) {
    if (net->op[i].kind->aside)
      hui_do_each(net, HU_RUN_ACCUMULATE, 1, &net->outcome->loss, net->value[net->op[i].out].v, NULL, 0);
  }
  return hui_done(net);
}

/* The same for terms of rows, which may weigh differently. */
static hu_status set_loss(hu_net *net, hu_operator *op, size_t cols, float *terms, float p) {
  const size_t rows = net->value[op->in[0]].rows;
  weigh(net, rows, cols, terms);
  return hui_set_loss(net, op, rows * cols, terms, p);
}

/* Returns the value that a loss looks at in this pass: in training that of sampled classes, where there is one. */
static int looked_at(const hu_net *net, const hu_operator *op) {
  return net->training && op->in[1] >= 0 ? op->in[1] : op->in[0];
}

/* Returns the operator that samples for it; NULL: none. */
static const hu_operator *sampler_of(const hu_net *net, const hu_operator *op) {
  return net->training && op->in[1] >= 0 ? &net->op[hu_net_value_operator(net, op->in[1])] : NULL;
}

/* Returns the task of a kernel that looks at labels, or at targets where they were set last. */
static hu_task answers_task(const hu_net *net, const hu_operator *op, float *z, const float *a) {
  const hu_value *x = &net->value[looked_at(net, op)];
  const hu_operator *sampler = sampler_of(net, op);
  hu_task task = hui_task_of(x->rows, x->cols, z, a, net->targets);
  task.loss.labels = net->labelled || !(op->kind->loss & HU_COMPARES_TARGETS) ? net->labels : NULL;
  if (sampler) task.loss.labels = hui_sampled_columns(net, sampler);
  task.loss.label = op->loss.label;
  task.loss.other = op->loss.other;
  task.loss.less = op->loss.less;
  task.loss.bound = op->loss.bound;
  return task;
}

/* A kernel that makes the gradient of what was kept. */
static hu_status give_kept(hu_net *net, hu_operator *op, int kernel) {
  const int of = looked_at(net, op);
  const hu_value *x = &net->value[of];
  float *dx = hui_gift(net, of, net->work[0]);
  hu_task task = answers_task(net, op, dx, op->kept);
  task.p = share_times(net, op, op->loss.factor);
  task.loss.gradient = net->value[op->out].dv;
  hui_do(net, kernel, &task);
  weigh(net, x->rows, x->cols, dx);
  hui_give(net, of, dx);
  return hui_done(net);
}

/* ---- cross entropy; `kept` holds the probabilities ---- */

/* Writes -infinity in the columns of labels of other rows to a copy, and returns that; without samples x itself. */
static const float *of_own_row(hu_net *net, const hu_operator *op) {
  const hu_operator *sampler = sampler_of(net, op);
  const float *x = net->value[looked_at(net, op)].v;
  if (!sampler) return x;
  hu_task task = answers_task(net, op, op->kept, x);
  task.loss.cols = sampler->sampled.samples;
  hui_do(net, HU_RUN_OWN_COLUMNS, &task);
  return op->kept;
}

static hu_status entropy_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[looked_at(net, op)];
  float *less = net->work[0], *sums = net->work[1];
  hu_task task = hui_task_of(x->rows, x->cols, less, of_own_row(net, op), NULL);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, op->kept, less);
  task = hui_task_of(x->rows, x->cols, op->kept, NULL, NULL);
  task.softmax.sums = sums;
  hui_do(net, HU_RUN_SHARES, &task);
  hui_do_function(net, HU_OP_LOG, x->rows, sums, sums);
  if (op->loss.smoothed) {
    task = answers_task(net, op, sums, sums);
    task.loss.terms = less;
    hui_do(net, HU_RUN_SMOOTH, &task);
  } else {
    task = answers_task(net, op, sums, sums);
    task.rows = 1;
    task.cols = task.ldz = task.lda = x->rows;
    task.b = less;
    task.loss.cols = x->cols;
    hui_do(net, HU_RUN_ENTROPY, &task);
  }
  return set_loss(net, op, 1, sums, share(net, op));
}

/* dx = (p less what the target has there) (dv weight / R) */
static hu_status entropy_backward(hu_net *net, hu_operator *op) {
  return give_kept(net, op, op->loss.smoothed ? HU_RUN_SMOOTH_BACK : HU_RUN_ENTROPY_BACK);
}

static const hu_operator_kind entropy = {.name = "cross_entropy",
                                         .forward = entropy_forward,
                                         .backward = entropy_backward,
                                         .loss = HU_COMPARES_LABELS,
                                         .anywhere = 1};

/* ---- squared error; `kept` holds x - target ---- */

static hu_status error_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(1, x->rows * x->cols, op->kept, x->v, net->targets);
  task.loss.terms = net->work[0];
  hui_do(net, HU_RUN_DISTANCE, &task);
  return set_loss(net, op, x->cols, task.loss.terms, 0.5f * share(net, op));
}

static hu_status error_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_DISTANCE_BACK); }

static const hu_operator_kind error = {.name = "squared_error",
                                       .forward = error_forward,
                                       .backward = error_backward,
                                       .loss = HU_COMPARES_TARGETS,
                                       .anywhere = 1};

/* ---- absolute error; `kept` holds x - target ---- */

static hu_status absolute_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(1, x->rows * x->cols, op->kept, x->v, net->targets);
  task.loss.terms = net->work[0];
  hui_do(net, HU_RUN_ABSOLUTE, &task);
  return set_loss(net, op, x->cols, task.loss.terms, share(net, op));
}

static hu_status absolute_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_ABSOLUTE_BACK); }

static const hu_operator_kind absolute = {.name = "absolute_error",
                                          .forward = absolute_forward,
                                          .backward = absolute_backward,
                                          .loss = HU_COMPARES_TARGETS,
                                          .anywhere = 1};

/* ---- smooth absolute error; `kept` holds x - target ---- */

static hu_status huber_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(1, x->rows * x->cols, op->kept, x->v, net->targets);
  task.p = op->loss.bound;
  task.loss.terms = net->work[0];
  hui_do(net, HU_RUN_HUBER, &task);
  return set_loss(net, op, x->cols, task.loss.terms, share(net, op));
}

static hu_status huber_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_HUBER_BACK); }

static const hu_operator_kind huber = {.name = "smooth_l1",
                                       .forward = huber_forward,
                                       .backward = huber_backward,
                                       .loss = HU_COMPARES_TARGETS,
                                       .anywhere = 1};

/* ---- logistic loss; `kept` holds the sigmoids ---- */

static hu_status logistic_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *logs = net->work[0];
  size_t n = x->rows * x->cols;
  hui_do_function(net, HU_OP_SIGMOID, n, op->kept, x->v);
  hui_do_each(net, HU_RUN_MINUS_SIZE, n, logs, x->v, NULL, 0);
  hui_do_function(net, HU_OP_EXP, n, logs, logs);
  hui_do_function(net, HU_OP_LOG1P, n, logs, logs);
  hu_task task = answers_task(net, op, logs, x->v);
  task.loss.terms = net->work[1];
  hui_do(net, HU_RUN_LOGISTIC, &task);
  return set_loss(net, op, x->cols, task.loss.terms, share(net, op));
}

static hu_status logistic_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_LOGISTIC_BACK); }

static const hu_operator_kind logistic = {.name = "logistic",
                                          .forward = logistic_forward,
                                          .backward = logistic_backward,
                                          .loss = HU_COMPARES_LABELS | HU_COMPARES_TARGETS,
                                          .anywhere = 1};

/* ---- building ---- */

/* Returns the first loss that looks at labels or targets (HU_COMPARES_), of those that there are. */
static const hu_operator *loss_of(const hu_net *net, int what) {
  for (int i = hui_first_loss(net); i < net->operators; i++) {
    if (net->op[i].kind->loss & what) return &net->op[i];
  }
  return NULL;
}

/* What losses look at has the same rows, and of those with targets the same columns. Sequences are compared alone. */
static int goes_with_others(const hu_net *net, const hu_operator_kind *kind, const hu_value *x) {
  const hu_operator *any = loss_of(net, HU_COMPARES_LABELS | HU_COMPARES_TARGETS | HU_COMPARES_SEQUENCES);
  if (any && (any->kind->loss | kind->loss) & HU_COMPARES_SEQUENCES) return 0;
  const hu_operator *other = loss_of(net, HU_COMPARES_TARGETS);
  if (any && net->value[any->in[0]].rows != x->rows) return 0;
  return !(kind->loss & HU_COMPARES_TARGETS) || !other || net->value[other->in[0]].cols == x->cols;
}

/* Allocates what is compared with. Targets have the columns of a loss that looks at them. */
static int has_answers(hu_net *net, const hu_operator_kind *kind, const hu_value *x) {
  if (!net->labels) net->labels = net->engine->allocate(net->self, x->rows * sizeof *net->labels);
  if (kind->loss & HU_COMPARES_TARGETS && net->targets) {
    net->engine->release(net->self, net->targets);
    net->targets = NULL;
  }
  if (!net->targets) net->targets = net->engine->allocate(net->self, x->rows * x->cols * sizeof *net->targets);
  return net->labels && net->targets;
}

int hui_add_loss(hu_net *net, const hu_operator_kind *kind, int x, const hu_loss_how *how, size_t kept) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  if (!(how->weight > 0 && how->weight < 1e30))
    return hui_refuse(net, HU_E_TRAIN, "loss: the weight is not positive and finite");
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "loss: of an input");
  if (value.loss_factor != 0 && kind->loss != HU_COMPARES_LABELS)
    return hui_refuse(net, HU_E_TRAIN, "loss: the output's factor of gradients is for cross entropy alone");
  if (!goes_with_others(net, kind, &value))
    return hui_refuse(net, HU_E_SHAPE, "loss: other rows, or other columns of targets, than the loss before it");
  if (!has_answers(net, kind, &value)) return hui_refuse(net, HU_E_MEMORY, "loss: no memory for labels");
  int z = hui_new_value(net, 1, 1, 0, 0);
  hu_operator *op = hui_new_operator(net, kind, x, value.sampled ? value.sampled - 1 : -1, z, kept);
  if (!op) return -1;
  op->loss = *how;
  op->loss.factor = value.loss_factor != 0 ? value.loss_factor * hui_net_samples(net) : 1;
  return z;
}

/* Adds a loss that keeps a number for each number of x. */
static int add_loss(hu_net *net, const hu_operator_kind *kind, int x, const hu_loss_how *how) {
  if (!hui_usable(net, x)) return -1;
  return hui_add_loss(net, kind, x, how, net->value[x].rows * net->value[x].cols);
}

static HU_NOINLINE int add_plain(hu_net *net, const hu_operator_kind *kind, int x, double weight) {
  hu_loss_how how = {.weight = weight};
  return add_loss(net, kind, x, &how);
}

int hu_net_cross_entropy(hu_net *net, int x, double weight) { HU_ENV_RETURN(int, add_plain(net, &entropy, x, weight)); }
int hu_net_squared_error(hu_net *net, int x, double weight) { HU_ENV_RETURN(int, add_plain(net, &error, x, weight)); }
int hu_net_absolute_error(hu_net *net, int x, double weight) {
  HU_ENV_RETURN(int, add_plain(net, &absolute, x, weight));
}
int hu_net_logistic(hu_net *net, int x, double weight) { HU_ENV_RETURN(int, add_plain(net, &logistic, x, weight)); }

static HU_NOINLINE int add_huber(hu_net *net, int x, double weight, double bound) {
  hu_loss_how how = {.weight = weight, .bound = (float)bound};
  if (!(bound >= 0 && bound < 1e30)) return hui_refuse(net, HU_E_TRAIN, "smooth_l1: beta is negative or not finite");
  return add_loss(net, &huber, x, &how);
}

int hu_net_smooth_l1(hu_net *net, int x, double weight, double beta) {
  HU_ENV_RETURN(int, net ? add_huber(net, x, weight, beta) : -1);
}

/* Returns the least that a row of so many columns can lose: the entropy of its target. */
static float least(hu_net *net, float label, float other, size_t cols) {
  float logs[2] = {label, other};
  hui_do_put(net, net->work[0], logs, sizeof logs);
  hui_do_function(net, HU_OP_LOG, 2, net->work[0], net->work[0]);
  hui_do_get(net, logs, net->work[0], sizeof logs);
  double own = label > 0 ? (double)label * (double)logs[0] : 0, one = other > 0 ? (double)other * (double)logs[1] : 0;
  return (float)-(own + (double)(cols - 1) * one);
}

static HU_NOINLINE int add_smoothed(hu_net *net, int x, double weight, double amount, unsigned how) {
  if (!hui_usable(net, x)) return -1;
  size_t cols = net->value[x].cols;
  int others = (how & HU_SMOOTHING_OTHERS) != 0;
  if (!(amount >= 0 && amount < 1)) return hui_refuse(net, HU_E_TRAIN, "smoothing: not from 0 to below 1");
  if (how > (HU_SMOOTHING_OTHERS | HU_SMOOTHING_LESS_MINIMUM)) return hui_refuse(net, HU_E_TRAIN, "smoothing: unknown");
  if (cols < 2) return hui_refuse(net, HU_E_SHAPE, "smoothing: of one column");
  if (net->value[x].sampled) return hui_refuse(net, HU_E_SHAPE, "smoothing: over sampled classes");
  double other = amount / (double)(others ? cols - 1 : cols), label = 1 - amount;
  float own = (float)(others ? label : label + other), one = (float)other;
  hu_loss_how made = {.weight = weight, .smoothed = 1, .other = one};
  made.label = own;
  if (how & HU_SMOOTHING_LESS_MINIMUM) made.less = least(net, own, one, cols);
  return add_loss(net, &entropy, x, &made);
}

int hu_net_cross_entropy_smoothed(hu_net *net, int x, double weight, double smoothing, unsigned how) {
  HU_ENV_RETURN(int, add_smoothed(net, x, weight, smoothing, how));
}

/* ---- what they are compared with ---- */

/* What the first loss looks at; NULL: there is none. */
static const hu_value *compared(const hu_net *net) {
  int first = hui_first_loss(net);
  return first < net->operators ? &net->value[net->op[first].in[0]] : NULL;
}

/* HU_OK, or why there is nothing to compare with. */
static hu_status ready(const hu_net *net) {
  return net->status != HU_OK ? net->status : compared(net) ? HU_OK : HU_E_TRAIN;
}

/* Returns how many labels each loss of labels can have; UINT32_MAX if none looks at them. */
static size_t most_labels(const hu_net *net) {
  size_t most = UINT32_MAX;
  for (int i = hui_first_loss(net); i < net->operators; i++) {
    size_t cols = net->value[net->op[i].in[0]].cols;
    if (net->op[i].kind == &logistic) cols = cols == 1 ? 2 : 0;
    if (net->op[i].kind->loss & HU_COMPARES_LABELS && cols < most) most = cols;
  }
  return most;
}

hu_status hu_net_labels(hu_net *net, const uint32_t *labels) {
  if (!net || !labels) return HU_E_NULL;
  hu_status status = ready(net);
  if (status != HU_OK) return status;
  const hu_operator *sequences = loss_of(net, HU_COMPARES_SEQUENCES);
  if (sequences) {
    status = hui_check_sequences(net, sequences, labels);
    return status == HU_OK ? hui_net_labels_among(net, labels, 0) : status;
  }
  size_t counted = 0, most = most_labels(net), rows = compared(net)->rows;
  for (size_t i = 0; i < rows; i++) {
    int none = labels[i] == HU_LABEL_NONE;
    if (!none && labels[i] >= most) return HU_E_SHAPE;
    counted += !none;
  }
  return counted ? hui_net_labels_among(net, labels, (double)counted) : HU_E_SHAPE;
}

hu_status hui_net_labels_among(hu_net *net, const uint32_t *labels, double counted) {
  hu_status status = ready(net);
  if (status != HU_OK) return status;
  net->counted = counted;
  net->labelled = 1;
  return net->engine->put(net->self, net->labels, labels, compared(net)->rows * sizeof *labels);
}

hu_status hui_net_judge(hu_net *net, int value, size_t rows, hu_answers *answers) {
  const hu_value *x = &net->value[value];
  return net->engine->judge(net->self, rows, x->cols, x->v, net->labels, answers);
}

hu_status hu_net_targets(hu_net *net, const float *targets) {
  if (!net || !targets) return HU_E_NULL;
  hu_status status = ready(net);
  if (status != HU_OK) return status;
  net->labelled = 0;
  const hu_operator *op = loss_of(net, HU_COMPARES_TARGETS);
  const hu_value *x = op ? &net->value[op->in[0]] : compared(net);
  return net->engine->put(net->self, net->targets, targets, x->rows * x->cols * sizeof *targets);
}

static HU_NOINLINE hu_status set_weights(hu_net *net, const float *weights) {
  hu_status status = ready(net);
  if (status != HU_OK) return status;
  if (weights && loss_of(net, HU_COMPARES_SEQUENCES)) return HU_E_TRAIN;
  size_t rows = compared(net)->rows;
  double sum = 0;
  for (size_t i = 0; weights && i < rows; i++) {
    if (!(weights[i] >= 0 && weights[i] <= FLT_MAX)) return HU_E_TRAIN;
    sum += (double)weights[i];
  }
  if (weights && !(sum > 0)) return HU_E_SHAPE;
  net->weighed = sum;
  if (!weights) {
    if (net->weights) net->engine->release(net->self, net->weights);
    net->weights = NULL;
    return HU_OK;
  }
  if (!net->weights) net->weights = net->engine->allocate(net->self, rows * sizeof *weights);
  if (!net->weights) return HU_E_MEMORY;
  return net->engine->put(net->self, net->weights, weights, rows * sizeof *weights);
}

hu_status hu_net_row_weights(hu_net *net, const float *weights) {
  if (!net) return HU_E_NULL;
  HU_ENV_RETURN(hu_status, set_weights(net, weights));
}
