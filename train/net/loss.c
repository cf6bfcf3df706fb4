/* SPDX-License-Identifier: MIT */
/* The losses, and the labels and targets that they are compared with. */
#include "train/environment.h"
#include "train/net/net.h"

/* Returns weight / R, rounded once to binary32. */
static float share(const hu_net *net, const hu_operator *op) {
  return (float)(op->loss_weight / (net->counted > 0 ? net->counted : (double)net->value[op->in[0]].rows));
}

/* Computes the loss, the sum of n numbers times p. */
static hu_status set_loss(hu_net *net, hu_operator *op, size_t n, const float *x, float p) {
  hu_task task = hui_task_of(1, n, &net->outcome->loss, x, NULL);
  task.p = p;
  hui_do(net, HU_RUN_SUM_ROWS, &task);
  hui_do_each(net, HU_RUN_COPY, 1, net->value[op->out].v, &net->outcome->loss, NULL, 0);
  return hui_done(net);
}

/* A kernel that makes the gradient of what was kept. */
static hu_status give_kept(hu_net *net, hu_operator *op, int kernel) {
  const hu_value *x = &net->value[op->in[0]];
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = hui_task_of(x->rows, x->cols, dx, op->kept, NULL);
  task.p = share(net, op);
  task.loss.labels = net->labels;
  task.loss.gradient = net->value[op->out].dv;
  hui_do(net, kernel, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

/* ---- cross entropy; `kept` holds the probabilities ---- */

static hu_status entropy_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  float *less = net->work[0], *sums = net->work[1];
  hu_task task = hui_task_of(x->rows, x->cols, less, x->v, NULL);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, op->kept, less);
  task = hui_task_of(x->rows, x->cols, op->kept, NULL, NULL);
  task.softmax.sums = sums;
  hui_do(net, HU_RUN_SHARES, &task);
  hui_do_function(net, HU_OP_LOG, x->rows, sums, sums);
  task = hui_task_of(1, x->rows, sums, sums, less);
  task.loss.cols = x->cols;
  task.loss.labels = net->labels;
  hui_do(net, HU_RUN_ENTROPY, &task);
  return set_loss(net, op, x->rows, sums, share(net, op));
}

/* dx = (p, or p - 1 at the label) (dv weight / R) */
static hu_status entropy_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_ENTROPY_BACK); }

static const hu_operator_kind entropy = {
    .name = "cross_entropy", .forward = entropy_forward, .backward = entropy_backward, .loss = 1, .anywhere = 1};

/* ---- squared error; `kept` holds x - target ---- */

static hu_status error_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(1, x->rows * x->cols, op->kept, x->v, net->targets);
  task.loss.terms = net->work[0];
  hui_do(net, HU_RUN_DISTANCE, &task);
  return set_loss(net, op, x->rows * x->cols, task.loss.terms, 0.5f * share(net, op));
}

static hu_status error_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_DISTANCE_BACK); }

static const hu_operator_kind error = {
    .name = "squared_error", .forward = error_forward, .backward = error_backward, .loss = 1, .anywhere = 1};

/* ---- absolute error; `kept` holds x - target ---- */

static hu_status absolute_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_task_of(1, x->rows * x->cols, op->kept, x->v, net->targets);
  task.loss.terms = net->work[0];
  hui_do(net, HU_RUN_ABSOLUTE, &task);
  return set_loss(net, op, x->rows * x->cols, task.loss.terms, share(net, op));
}

static hu_status absolute_backward(hu_net *net, hu_operator *op) { return give_kept(net, op, HU_RUN_ABSOLUTE_BACK); }

static const hu_operator_kind absolute = {
    .name = "absolute_error", .forward = absolute_forward, .backward = absolute_backward, .loss = 1, .anywhere = 1};

/* ---- building ---- */

static HU_NOINLINE int add_loss(hu_net *net, const hu_operator_kind *kind, int x, double weight) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  if (net->labels) return hui_refuse(net, HU_E_SHAPE, "loss: there is one already");
  if (!(weight > 0 && weight < 1e30)) return hui_refuse(net, HU_E_TRAIN, "loss: the weight is not positive and finite");
  if (!value.made) return hui_refuse(net, HU_E_SHAPE, "loss: of an input");
  int z = hui_new_value(net, 1, 1, 0, 0);
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, value.rows * value.cols);
  if (!op) return -1;
  op->loss_weight = weight;
  net->labels = net->engine->allocate(net->self, value.rows * sizeof *net->labels);
  net->targets = net->engine->allocate(net->self, value.rows * value.cols * sizeof *net->targets);
  if (!net->labels || !net->targets) return hui_refuse(net, HU_E_MEMORY, "loss: no memory for labels");
  return z;
}

int hu_net_cross_entropy(hu_net *net, int x, double weight) { HU_ENV_RETURN(int, add_loss(net, &entropy, x, weight)); }
int hu_net_squared_error(hu_net *net, int x, double weight) { HU_ENV_RETURN(int, add_loss(net, &error, x, weight)); }
int hu_net_absolute_error(hu_net *net, int x, double weight) {
  HU_ENV_RETURN(int, add_loss(net, &absolute, x, weight));
}

/* What the loss looks at; NULL: there is none. */
static const hu_value *compared(const hu_net *net) {
  if (!net->operators || !net->op[net->operators - 1].kind->loss) return NULL;
  return &net->value[net->op[net->operators - 1].in[0]];
}

hu_status hu_net_labels(hu_net *net, const uint32_t *labels) {
  if (!net || !labels) return HU_E_NULL;
  const hu_value *x = compared(net);
  if (net->status != HU_OK || !x) return net->status != HU_OK ? net->status : HU_E_TRAIN;
  size_t counted = 0;
  for (size_t i = 0; i < x->rows; i++) {
    int none = labels[i] == HU_LABEL_NONE;
    if (!none && labels[i] >= x->cols) return HU_E_SHAPE;
    counted += !none;
  }
  if (!counted) return HU_E_SHAPE;
  net->counted = net->op[net->operators - 1].kind == &entropy ? (double)counted : 0; /* others have targets */
  return net->engine->put(net->self, net->labels, labels, x->rows * sizeof *labels);
}

hu_status hui_net_labels_among(hu_net *net, const uint32_t *labels, double counted) {
  const hu_value *x = compared(net);
  if (net->status != HU_OK || !x) return net->status != HU_OK ? net->status : HU_E_TRAIN;
  net->counted = counted;
  return net->engine->put(net->self, net->labels, labels, x->rows * sizeof *labels);
}

hu_status hui_net_judge(hu_net *net, int value, size_t rows, hu_answers *answers) {
  const hu_value *x = &net->value[value];
  return net->engine->judge(net->self, rows, x->cols, x->v, net->labels, answers);
}

hu_status hu_net_targets(hu_net *net, const float *targets) {
  if (!net || !targets) return HU_E_NULL;
  const hu_value *x = compared(net);
  if (net->status != HU_OK || !x) return net->status != HU_OK ? net->status : HU_E_TRAIN;
  return net->engine->put(net->self, net->targets, targets, x->rows * x->cols * sizeof *targets);
}
