/* SPDX-License-Identifier: MIT */
/* Connectionist temporal classification: sums over all ways to spread labels over steps, in logarithms, step by step.
 * docs/training/losses.md defines each operation. */
#include <stdlib.h>

#include "train/environment.h"
#include "train/loss/loss.h"

/* ---- what is kept ---- */

typedef struct ctc_tables {
  size_t samples, steps, cols, states;
  float *logs, *shares;  /* of the columns in each step */
  float *counts, *total; /* of each sample: its labels; the logarithm of its probability */
  float *alpha;          /* step after step, samples x states */
  float *beta[2];        /* of the step in hand, and of the one behind it */
  float *terms, *top;    /* three exponents of each state, and what was taken off them */
} ctc_tables;

static size_t most_states(size_t steps) { return 2 * steps + 1; }

static size_t numbers_of(size_t samples, size_t steps, size_t cols) {
  return samples * (2 * steps * cols + 2 + most_states(steps) * (steps + 6));
}

static ctc_tables tables_of(const hu_net *net, const hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  ctc_tables z = {.samples = net->batch, .steps = x->rows / net->batch, .cols = x->cols};
  z.states = most_states(net->longest);
  const size_t all = x->rows * x->cols, each = z.samples * z.states;
  z.logs = op->kept;
  z.shares = z.logs + all;
  z.counts = z.shares + all;
  z.total = z.counts + z.samples;
  z.alpha = z.total + z.samples;
  z.beta[0] = z.alpha + z.steps * each;
  z.beta[1] = z.beta[0] + each;
  z.terms = z.beta[1] + each;
  z.top = z.terms + 3 * each;
  return z;
}

/* ---- passes ---- */

/* Returns the task of the kernels over the states of all samples. */
static hu_task states_task(const hu_net *net, const hu_operator *op, const ctc_tables *tables, size_t step) {
  hu_task task = hui_task_of(tables->samples, tables->states, NULL, NULL, NULL);
  task.ctc.labels = net->labels;
  task.ctc.lengths = op->in[1] < 0 ? NULL : net->value[op->in[1]].v;
  task.ctc.counts = tables->counts;
  task.ctc.logs = tables->logs;
  task.ctc.steps = tables->steps;
  task.ctc.cols = tables->cols;
  task.ctc.blank = op->loss.blank;
  task.ctc.step = step;
  return task;
}

/* Adds up each state's ways in one of the directions (HU_CTC_): z = the logarithm of the sum of the exponentials of up
 * to three numbers, and what the step itself has. */
static void add_ways(hu_net *net, const ctc_tables *tables, hu_task task, int way, float *z, const float *from) {
  const size_t n = task.rows * task.cols;
  task.ctc.way = way;
  task.z = tables->terms;
  task.ctc.top = tables->top;
  task.a = from;
  hui_do(net, HU_RUN_CTC_WAYS, &task);
  hui_do_function(net, HU_OP_EXP, 3 * n, tables->terms, tables->terms);
  hui_do_each(net, HU_RUN_ADD, n, tables->terms, tables->terms, tables->terms + n, 0);
  hui_do_each(net, HU_RUN_ADD, n, tables->terms, tables->terms, tables->terms + 2 * n, 0);
  hui_do_function(net, HU_OP_LOG, n, tables->terms, tables->terms);
  task.z = z;
  task.a = tables->terms;
  hui_do(net, HU_RUN_CTC_STATES, &task);
}

/* Computes shares and their logarithms. */
static void take_logs(hu_net *net, const hu_operator *op, const ctc_tables *tables) {
  const hu_value *x = &net->value[op->in[0]];
  float *sums = net->work[1];
  hu_task task = hui_task_of(x->rows, x->cols, tables->logs, x->v, NULL);
  hui_do(net, HU_RUN_LESS_TOP, &task);
  hui_do_function(net, HU_OP_EXP, x->rows * x->cols, tables->shares, tables->logs);
  task = hui_task_of(x->rows, x->cols, tables->shares, NULL, NULL);
  task.softmax.sums = sums;
  hui_do(net, HU_RUN_SHARES, &task);
  hui_do_function(net, HU_OP_LOG, x->rows, sums, sums);
  task = hui_task_of(x->rows, x->cols, tables->logs, tables->logs, sums);
  hui_do(net, HU_RUN_LESS_EACH, &task);
}

static hu_status ctc_forward(hu_net *net, hu_operator *op) {
  const ctc_tables tables = tables_of(net, op);
  const size_t each = tables.samples * tables.states;
  take_logs(net, op, &tables);
  hu_task task = states_task(net, op, &tables, 0);
  task.cols = 1;
  task.z = tables.counts;
  hui_do(net, HU_RUN_CTC_COUNTS, &task);
  for (size_t t = 0; t < tables.steps; t++)
    add_ways(net, &tables, states_task(net, op, &tables, t), HU_CTC_FORWARD, tables.alpha + t * each,
             t ? tables.alpha + (t - 1) * each : NULL);
  task = states_task(net, op, &tables, 0);
  task.cols = 1;
  task.ctc.states = tables.states;
  add_ways(net, &tables, task, HU_CTC_END, tables.total, tables.alpha);
  float *terms = net->work[0];
  task.z = terms;
  task.a = tables.total;
  task.ctc.how = op->loss.how;
  hui_do(net, HU_RUN_CTC_TERMS, &task);
  return hui_set_loss(net, op, tables.samples, terms, (float)(op->loss.weight / (double)net->batch));
}

/* Gives step t its gradients, from the ways that lead through each state. */
static void give_step(hu_net *net, const hu_operator *op, const ctc_tables *tables, size_t t, float *dx) {
  const size_t each = tables->samples * tables->states;
  hu_task task = states_task(net, op, tables, t);
  task.z = tables->terms;
  task.a = tables->alpha + t * each;
  task.b = tables->beta[t % 2];
  task.ctc.total = tables->total;
  hui_do(net, HU_RUN_CTC_THROUGH, &task);
  hui_do_function(net, HU_OP_EXP, each, tables->terms, tables->terms);
  task.a = tables->terms;
  task.b = tables->shares;
  task.z = dx;
  task.p = (float)(op->loss.weight / (double)net->batch);
  task.ctc.gradient = net->value[op->out].dv;
  task.ctc.how = op->loss.how;
  task.work = tables->samples * (tables->states + tables->cols);
  hui_do(net, HU_RUN_CTC_BACK, &task);
}

static hu_status ctc_backward(hu_net *net, hu_operator *op) {
  const ctc_tables tables = tables_of(net, op);
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  for (size_t t = tables.steps; t-- > 0;) {
    add_ways(net, &tables, states_task(net, op, &tables, t), HU_CTC_BACKWARD, tables.beta[t % 2],
             tables.beta[(t + 1) % 2]);
    give_step(net, op, &tables, t, dx);
  }
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind ctc = {
    .name = "ctc", .forward = ctc_forward, .backward = ctc_backward, .loss = HU_COMPARES_SEQUENCES, .anywhere = 1};

/* ---- building ---- */

static HU_NOINLINE int add_ctc(hu_net *net, int x, double weight, uint32_t blank, int lengths, unsigned how) {
  if (!hui_usable(net, x) || !hui_are_lengths(net, lengths, "ctc")) return -1;
  const hu_value value = net->value[x];
  if (blank >= value.cols) return hui_refuse(net, HU_E_SHAPE, "ctc: the blank is not a column");
  if (how > (HU_CTC_BY_LENGTH | HU_CTC_ZERO_INFINITE)) return hui_refuse(net, HU_E_TRAIN, "ctc: unknown switches");
  const hu_loss_how made = {.weight = weight, .blank = blank, .how = how};
  int z = hui_add_loss(net, &ctc, x, &made, numbers_of(net->batch, value.rows / net->batch, value.cols));
  if (z >= 0) net->op[net->operators - 1].in[1] = lengths;
  return z;
}

int hu_net_ctc(hu_net *net, int x, double weight, uint32_t blank, int lengths, unsigned how) {
  HU_ENV_RETURN(int, add_ctc(net, x, weight, blank, lengths, how));
}
