/* SPDX-License-Identifier: MIT */
/* Tokens, positions, steps of time, states from pass to pass. */
#include <stdio.h>
#include <stdlib.h>

#include "train/environment.h"
#include "train/net/net.h"

/* ---- tokens ---- */

/* 1 if all are tokens, or if that is not known yet: where the flag is in a memory that is not the host's, the end of
 * the pass reads it with the loss. Until then a wrong one counts as token 0. */
static int are_tokens(hu_net *net, const hu_value *x, size_t vocabulary) {
  uint32_t wrong = 0;
  uint32_t *flag = &net->outcome->flag;
  if (!net->has_tokens) hui_do_put(net, flag, &wrong, sizeof wrong);
  net->has_tokens = 1;
  hu_task task = hui_task_of(1, x->rows, NULL, x->v, NULL);
  task.tokens.vocabulary = vocabulary;
  task.tokens.flag = flag;
  hui_do(net, HU_RUN_TOKENS, &task);
  return !net->engine->on_host || !*flag;
}

static hu_status embedding_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  if (!are_tokens(net, x, parameter->rows)) return HU_E_SHAPE;
  hu_task task = hui_task_of(z->rows, z->cols, z->v, x->v, parameter->theta);
  task.tokens.vocabulary = parameter->rows;
  hui_do(net, HU_RUN_GATHER, &task);
  return hui_done(net);
}

static hu_status embedding_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  hui_give_postponed(net, op->theta[0]);
  float *sum = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hui_do_fill(net, parameter->rows * parameter->cols, sum, 0);
  hu_task task = hui_task_of(1, parameter->cols, sum, x->v, z->dv);
  task.tokens.rows = z->rows;
  hui_do(net, HU_RUN_SCATTER, &task);
  hui_give_parameter(net, op->theta[0], sum);
  return hui_done(net);
}

static const hu_operator_kind embedding = {
    .name = "embedding", .forward = embedding_forward, .backward = embedding_backward, .anywhere = 1};

int hu_net_embedding(hu_net *net, int x, size_t vocabulary, size_t cols) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  if (value.cols != 1 || value.made) return hui_refuse(net, HU_E_SHAPE, "embedding: not an input of one column");
  if (vocabulary == 0 || vocabulary > (1u << 24)) return hui_refuse(net, HU_E_SHAPE, "embedding: vocabulary");
  int z = hui_new_value(net, value.rows, cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &embedding, x, -1, z, 0);
  if (!op) return -1;
  net->value[x].tokens = 1;
  op->theta[0] = hui_new_parameter(net, vocabulary, cols, 0, cols);
  hui_name_parameters(net, "embedding", op->theta[0], "weight");
  return net->status == HU_OK ? z : -1;
}

/* ---- lengths ---- */

int hui_are_lengths(hu_net *net, int lengths, const char *layer) {
  if (lengths < 0) return net->status == HU_OK;
  if (!hui_usable(net, lengths)) return 0;
  hu_value value = net->value[lengths];
  char said[128];
  if (value.made || value.rows != net->batch || value.cols != 1) {
    snprintf(said, sizeof said, "%s: lengths are not an input of one number a sample", layer);
    hui_refuse(net, HU_E_SHAPE, said);
  }
  if (net->status == HU_OK) net->value[lengths].tokens = 1;
  return net->status == HU_OK;
}

/* ---- positions ---- */

static hu_status position_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  size_t one = z->rows / net->batch * z->cols;
  hu_task task = hui_task_of(net->batch, one, z->v, net->value[op->in[0]].v, net->parameter[op->theta[0]].theta);
  hui_do(net, HU_RUN_ADD_ROW, &task);
  return hui_done(net);
}

static hu_status position_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *sum = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hui_do_columns(net, HU_RUN_COLUMNS, net->batch, z->rows / net->batch * z->cols, sum, z->dv, NULL, NULL);
  hui_give_parameter(net, op->theta[0], sum);
  if (hui_needs_gradient(net, op->in[0])) hui_give(net, op->in[0], z->dv);
  return hui_done(net);
}

static const hu_operator_kind position = {
    .name = "position", .forward = position_forward, .backward = position_backward, .anywhere = 1};

int hu_net_position(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  int z = hui_new_value(net, value.rows, value.cols, value.height, value.width);
  hu_operator *op = hui_new_operator(net, &position, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = hui_new_parameter(net, value.rows / net->batch, value.cols, 0, 0);
  hui_name_parameters(net, "position", op->theta[0], "weight");
  return net->status == HU_OK ? z : -1;
}

/* ---- parts: row `step` of each sample, or columns from ... from + cols - 1 ---- */

/* Returns the distance in x from one row of the part to the next. */
static size_t part_step(const hu_value *x, const hu_value *z) { return x->rows / z->rows * x->cols; }

static size_t part_start(const hu_value *x, const hu_operator *op) { return op->part.step * x->cols + op->part.from; }

static hu_status part_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hui_do_copy(net, z->rows, z->cols, z->v, z->cols, x->v + part_start(x, op), part_step(x, z));
  return hui_done(net);
}

/* What a part gives to x is its dz, and +0 at all other numbers. Adding +0 changes nothing but -0, which becomes +0. A
 * sum is -0 only where both of its terms are. So it is enough to know where dv of x may hold -0 (x->minus), and each
 * step of a long sequence touches its own row, not all of them. */
static int number_of(const hu_net *net, const hu_operator *op) { return (int)(op - net->op); }

/* 1: the numbers of both parts of one value are the same; 1: none is in both. */
static int same_part(const hu_net *net, const hu_operator *a, const hu_operator *b) {
  const hu_value *y = &net->value[a->out], *z = &net->value[b->out];
  return y->rows == z->rows && y->cols == z->cols && a->part.step == b->part.step && a->part.from == b->part.from;
}

static int apart(const hu_net *net, const hu_operator *a, const hu_operator *b) {
  const hu_value *y = &net->value[a->out], *z = &net->value[b->out];
  int rows = y->rows == z->rows && a->part.step != b->part.step;
  return rows || a->part.from + y->cols <= b->part.from || b->part.from + z->cols <= a->part.from;
}

/* Add +0 to dv: to the numbers of a part; to all numbers except those. */
static void add_zero(hu_net *net, hu_value *x, const hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *buffer = net->work[0], *at = x->dv + part_start(x, op);
  hui_do_copy(net, z->rows, z->cols, buffer, z->cols, at, part_step(x, z));
  hui_do_each(net, HU_RUN_PLUS, z->rows * z->cols, buffer, buffer, NULL, 0);
  hui_do_copy(net, z->rows, z->cols, at, part_step(x, z), buffer, z->cols);
}

static void add_zero_elsewhere(hu_net *net, hu_value *x, const hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *buffer = net->work[0], *at = x->dv + part_start(x, op);
  hui_do_copy(net, z->rows, z->cols, buffer, z->cols, at, part_step(x, z));
  hui_do_each(net, HU_RUN_PLUS, x->rows * x->cols, x->dv, x->dv, NULL, 0);
  hui_do_copy(net, z->rows, z->cols, at, part_step(x, z), buffer, z->cols);
}

/* Makes +0 of every -0 outside of the part, and says where there may be others afterwards. */
static void settle_zeros(hu_net *net, hu_value *x, const hu_operator *op) {
  const hu_operator *other = x->minus >= HU_MINUS_PART ? &net->op[x->minus - HU_MINUS_PART] : NULL;
  if (x->minus == HU_MINUS_NONE || (other && same_part(net, op, other))) return;
  if (other && apart(net, op, other)) {
    add_zero(net, x, other);
    x->minus = HU_MINUS_NONE;
    return;
  }
  add_zero_elsewhere(net, x, op);
  x->minus = HU_MINUS_PART + number_of(net, op);
}

static hu_status part_backward(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]];
  const hu_value *z = &net->value[op->out];
  if (!hui_needs_gradient(net, op->in[0])) return HU_OK;
  if (!x->gradient) {
    hui_do_fill(net, x->rows * x->cols, x->dv, 0);
    hui_do_copy(net, z->rows, z->cols, x->dv + part_start(x, op), part_step(x, z), z->dv, z->cols);
    hui_give(net, op->in[0], x->dv);
    x->minus = HU_MINUS_PART + number_of(net, op);
    return hui_done(net);
  }
  settle_zeros(net, x, op);
  if (x->by_reader) hui_round_gift(net, op->in[0], z->rows, z->cols, net->work[HU_BUFFERS - 1], z->dv);
  x->given++;
  const float *gift = x->by_reader ? net->work[HU_BUFFERS - 1] : z->dv;
  hu_task task = hui_task_of(z->rows, z->cols, x->dv + part_start(x, op), gift, NULL);
  task.ldz = part_step(x, z);
  hui_do(net, HU_RUN_ACCUMULATE, &task);
  return hui_done(net);
}

static const hu_operator_kind part = {
    .name = "part", .forward = part_forward, .backward = part_backward, .anywhere = 1};

int hui_add_part(hu_net *net, int x, size_t rows, size_t step, size_t from, size_t cols) {
  if (x < 0) return -1;
  int z = hui_new_value(net, rows, cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &part, x, -1, z, 0);
  if (!op) return -1;
  op->part.step = step;
  op->part.from = from;
  return z;
}

int hu_net_columns(hu_net *net, int x, size_t from, size_t cols) {
  if (!hui_usable(net, x)) return -1;
  hu_value value = net->value[x];
  if (cols == 0 || from >= value.cols || cols > value.cols - from) {
    return hui_refuse(net, HU_E_SHAPE, "columns: not all there");
  }
  int z = hui_add_part(net, x, value.rows, 0, from, cols);
  if (z >= 0) {
    net->value[z].height = value.height;
    net->value[z].width = value.width;
  }
  return z;
}

/* ---- steps side by side again ---- */

static hu_status stack_forward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  size_t steps = op->list.count;
  for (size_t t = 0; t < steps; t++) {
    const float *x = net->value[op->list.value[t]].v;
    hui_do_copy(net, z->rows / steps, z->cols, z->v + t * z->cols, steps * z->cols, x, z->cols);
  }
  return hui_done(net);
}

static hu_status stack_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  size_t steps = op->list.count;
  for (size_t t = steps; t-- > 0;) {
    float *dx = hui_gift(net, op->list.value[t], net->work[0]);
    hui_do_copy(net, z->rows / steps, z->cols, dx, z->cols, z->dv + t * z->cols, steps * z->cols);
    hui_give(net, op->list.value[t], dx);
  }
  return hui_done(net);
}

static const hu_operator_kind stack = {
    .name = "stack", .forward = stack_forward, .backward = stack_backward, .anywhere = 1};

int hui_add_stack(hu_net *net, size_t steps, int *list) {
  hu_value value = net->value[list[0]];
  int z = hui_new_value(net, value.rows * steps, value.cols, 0, 0);
  hu_operator *op = hui_new_operator(net, &stack, list[0], -1, z, 0);
  if (!op) return -1;
  op->list.count = steps;
  op->list.value = list;
  return z;
}

/* ---- states that the next pass begins with ---- */

void hui_carry(hu_net *net, int first, int last) {
  hu_carried *carried = &net->carried;
  int(*all)[2] = realloc(carried->value, (carried->count + 1) * sizeof *all);
  if (!all) {
    hui_refuse(net, HU_E_MEMORY, "recurrent: no memory for states");
    return;
  }
  carried->value = all;
  all[carried->count][0] = first;
  all[carried->count++][1] = last;
}

void hui_carry_states(hu_net *net) {
  const hu_carried *carried = &net->carried;
  for (size_t i = 0; i < carried->count && carried->there; i++) {
    const hu_value *first = &net->value[carried->value[i][0]], *last = &net->value[carried->value[i][1]];
    hui_do_each(net, HU_RUN_COPY, first->rows * first->cols, first->v, last->v, NULL, 0);
  }
  net->carried.there = 1;
}

static HU_NOINLINE hu_status forget_states(hu_net *net) {
  if (net->status != HU_OK) return net->status;
  net->training = 0;
  net->carried.there = 0;
  net->fault = HU_OK;
  for (size_t i = 0; i < net->carried.count; i++) {
    const hu_value *first = &net->value[net->carried.value[i][0]];
    hui_do_fill(net, first->rows * first->cols, first->v, 0);
  }
  return hui_done(net);
}

hu_status hu_net_forget_states(hu_net *net) {
  if (!net) return HU_E_NULL;
  HU_ENV_RETURN(hu_status, forget_states(net));
}
