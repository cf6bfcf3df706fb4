/* SPDX-License-Identifier: MIT */
/* Pools over windows of pixels. */
#include "train/net/net.h"

/* Makes a task between the image x and the windows of z. */
static hu_task windows(const hu_net *net, const hu_operator *op, const hu_value *over, float *to, const float *from) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task task = hui_task_of(over->rows, over->cols, to, from, NULL);
  const hu_window_sizes sizes = {.high = op->pool.high,
                                 .wide = op->pool.wide,
                                 .stride = op->pool.stride,
                                 .height = x->height,
                                 .width = x->width,
                                 .down = z->height,
                                 .across = z->width};
  task.windows.sizes = sizes;
  task.work = z->rows * z->cols * op->pool.high * op->pool.wide;
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

static float part(const hu_operator *op) { return 1 / (float)(op->pool.high * op->pool.wide); }

static hu_status mean_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  hu_task task = windows(net, op, z, z->v, net->value[op->in[0]].v);
  task.p = part(op);
  hui_do(net, HU_RUN_MEAN_POOL, &task);
  return hui_done(net);
}

static hu_status mean_backward(hu_net *net, hu_operator *op) {
  float *dx = hui_gift(net, op->in[0], net->work[0]);
  hu_task task = windows(net, op, &net->value[op->in[0]], dx, net->value[op->out].dv);
  task.p = part(op);
  hui_do(net, HU_RUN_MEAN_POOL_BACK, &task);
  hui_give(net, op->in[0], dx);
  return hui_done(net);
}

static const hu_operator_kind mean_pool = {
    .name = "average_pool", .forward = mean_forward, .backward = mean_backward, .anywhere = 1};

/* ---- building ---- */

/* Adds a pool over windows of `high` x `wide` pixels. */
static int add_pool(hu_net *net, const hu_operator_kind *kind, int x, size_t high, size_t wide, size_t stride) {
  hu_value value = net->value[x];
  if (high == 0 || wide == 0 || stride == 0) return hui_refuse(net, HU_E_SHAPE, "pool: kernel or stride is 0");
  /* The place in a window is kept as a float. */
  if (kind == &max_pool && high > 4096) return hui_refuse(net, HU_E_SHAPE, "pool: the window is too large");
  if (value.height < high || value.width < wide) {
    return hui_refuse(net, HU_E_SHAPE, "pool: not an image, or smaller than the window");
  }
  size_t h = (value.height - high) / stride + 1, w = (value.width - wide) / stride + 1;
  int z = hui_new_value(net, net->batch * h * w, value.cols, h, w);
  hu_operator *op = hui_new_operator(net, kind, x, -1, z, kind == &max_pool ? net->batch * h * w * value.cols : 0);
  if (!op) return -1;
  op->pool.high = high;
  op->pool.wide = wide;
  op->pool.stride = stride;
  return z;
}

int hu_net_max_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  return hui_usable(net, x) ? add_pool(net, &max_pool, x, kernel, kernel, stride) : -1;
}

int hu_net_average_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  return hui_usable(net, x) ? add_pool(net, &mean_pool, x, kernel, kernel, stride) : -1;
}

int hu_net_global_average(hu_net *net, int x) {
  if (!hui_usable(net, x)) return -1;
  const hu_value *value = &net->value[x];
  return add_pool(net, &mean_pool, x, value->height, value->width, 1);
}
