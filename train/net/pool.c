/* SPDX-License-Identifier: MIT */
/* Pools over windows of pixels. */
#include <stdio.h>

#include "train/net/net.h"

/* Makes a task between the image x and the windows of z. */
static hu_task windows(const hu_net *net, const hu_operator *op, const hu_value *over, float *to, const float *from) {
  const hu_value *z = &net->value[op->out];
  hu_task task = hui_task_of(over->rows, over->cols, to, from, NULL);
  task.windows.sizes = op->pool.windows;
  task.windows.zeros = op->pool.zeros;
  task.work = z->rows * z->cols * op->pool.windows.high * op->pool.windows.wide;
  return task;
}

/* ---- the largest; `kept` holds which pixel of the window it was ---- */

static hu_status max_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  hu_task task = windows(net, op, z, z->v, net->value[op->in[0]].v);
  task.windows.places = op->kept;
  hui_do(net, HU_RUN_MAX_POOL, &task);
  return hui_done(net);
}

static hu_status max_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = windows(net, op, &net->value[op->in[0]], dx, net->value[op->out].dv);
  task.windows.places = op->kept;
  hui_do(net, HU_RUN_MAX_POOL_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind max_pool = {
    .name = "max_pool", .forward = max_forward, .backward = max_backward, .anywhere = 1};

/* ---- the mean: pixels added in their order, times 1 / their number ---- */

static hu_status mean_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  hu_task task = windows(net, op, z, z->v, net->value[op->in[0]].v);
  hui_do(net, HU_RUN_MEAN_POOL, &task);
  return hui_done(net);
}

static hu_status mean_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = windows(net, op, &net->value[op->in[0]], dx, net->value[op->out].dv);
  hui_do(net, HU_RUN_MEAN_POOL_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind mean_pool = {
    .name = "average_pool", .forward = mean_forward, .backward = mean_backward, .anywhere = 1};

/* ---- building ---- */

static int add_pool(hu_net *net, const hu_operator_kind *kind, int x, const hu_net_windows *over, int ceil, int zeros) {
  if (!hui_usable(net, x)) return -1;
  if (!over) return hui_refuse(net, HU_E_NULL, "pool: no windows");
  hu_value value = net->value[x];
  hu_window_sizes sizes;
  char sentence[96];
  const char *wrong = hui_windows_over(&sizes, &value, over, ceil);
  if (!wrong && (sizes.apart_down > 1 || sizes.apart_across > 1)) wrong = "dilation";
  if (!wrong && ((unsigned)ceil > 1 || (unsigned)zeros > 1)) wrong = "ceil or zeros: neither 0 nor 1";
  /* The place in a window is kept as a float. */
  if (!wrong && kind == &max_pool && (sizes.high > 4096 || sizes.wide > 4096)) wrong = "the window is too large";
  if (wrong) {
    snprintf(sentence, sizeof sentence, "pool: %s", wrong);
    return hui_refuse(net, HU_E_SHAPE, sentence);
  }
  const size_t rows = net->batch * sizes.down * sizes.across;
  int z = hui_new_value(net, rows, value.cols, sizes.down, sizes.across);
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, kind == &max_pool ? rows * value.cols : 0);
  if (!op) return -1;
  op->pool.windows = sizes;
  op->pool.zeros = zeros;
  return z;
}

int hu_net_max_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  const hu_net_windows over = hu_net_windows_of(kernel, stride, 0);
  return add_pool(net, &max_pool, x, &over, 0, 0);
}

int hu_net_average_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  const hu_net_windows over = hu_net_windows_of(kernel, stride, 0);
  return add_pool(net, &mean_pool, x, &over, 0, 0);
}

int hu_net_max_pool_windows(hu_net *net, int x, const hu_net_windows *over, int ceil) {
  return add_pool(net, &max_pool, x, over, ceil, 0);
}

int hu_net_average_pool_windows(hu_net *net, int x, const hu_net_windows *over, int ceil, int zeros) {
  return add_pool(net, &mean_pool, x, over, ceil, zeros);
}

int hu_net_global_average(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  const hu_value *value = &net->value[x];
  hu_net_windows over = hu_net_windows_of(value->height, 1, 0);
  over.kernel[1] = value->width;
  return add_pool(net, &mean_pool, x, &over, 0, 0);
}
