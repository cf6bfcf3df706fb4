/* SPDX-License-Identifier: MIT */
/* Pools over windows of pixels. */
#include <string.h>

#include "train/graph.h"

enum { KERNEL = 0, STRIDE = 1 };

/* Number of the pixel (i, j) of the window of output row r, in rows of x. */
static size_t pixel_of(const hu_value *x, const hu_value *z, const size_t n[4], size_t r, size_t i, size_t j) {
  size_t per = z->height * z->width, sample = r / per, row = r % per / z->width, col = r % z->width;
  return (sample * x->height + row * n[STRIDE] + i) * x->width + col * n[STRIDE] + j;
}

/* ---- the largest; `kept` holds which pixel of the window it was ---- */

static hu_status max_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  size_t c = x->cols, k = op->n[KERNEL];
  for (size_t r = 0; r < z->rows; r++) {
    for (size_t w = 0; w < k * k; w++) {
      const float *pixel = x->v + pixel_of(x, z, op->n, r, w / k, w % k) * c;
      for (size_t j = 0; j < c; j++) {
        float *best = &z->v[r * c + j];
        if (w > 0 && !(pixel[j] > *best) && pixel[j] == pixel[j]) continue;
        if (w > 0 && *best != *best) continue;
        *best = pixel[j];
        op->kept[r * c + j] = (float)w;
      }
    }
  }
  return HU_OK;
}

static hu_status max_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t c = x->cols, k = op->n[KERNEL];
  float *dx = net->work[0];
  memset(dx, 0, x->rows * c * sizeof *dx);
  for (size_t r = 0; r < z->rows; r++) {
    for (size_t j = 0; j < c; j++) {
      size_t w = (size_t)op->kept[r * c + j];
      dx[pixel_of(x, z, op->n, r, w / k, w % k) * c + j] += z->dv[r * c + j];
    }
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind max_pool = {"max_pool", max_forward, max_backward, NULL, 0, 0};

/* ---- the mean: pixels added in their order, times 1 / their number ---- */

static hu_status mean_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  size_t c = x->cols, k = op->n[KERNEL], wide = op->n[2];
  float part = 1 / (float)(k * wide);
  memset(z->v, 0, z->rows * c * sizeof *z->v);
  for (size_t r = 0; r < z->rows; r++) {
    float *sum = z->v + r * c;
    for (size_t w = 0; w < k * wide; w++) {
      const float *pixel = x->v + pixel_of(x, z, op->n, r, w / wide, w % wide) * c;
      for (size_t j = 0; j < c; j++) sum[j] += pixel[j];
    }
    for (size_t j = 0; j < c; j++) sum[j] *= part;
  }
  return HU_OK;
}

static hu_status mean_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  size_t c = x->cols, k = op->n[KERNEL], wide = op->n[2];
  float part = 1 / (float)(k * wide), *dx = net->work[0];
  memset(dx, 0, x->rows * c * sizeof *dx);
  for (size_t r = 0; r < z->rows; r++) {
    for (size_t w = 0; w < k * wide; w++) {
      float *pixel = dx + pixel_of(x, z, op->n, r, w / wide, w % wide) * c;
      for (size_t j = 0; j < c; j++) pixel[j] += z->dv[r * c + j] * part;
    }
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind mean_pool = {"average_pool", mean_forward, mean_backward, NULL, 0, 0};

/* ---- building ---- */

/* Windows of `high` x `wide` pixels. */
static int add_pool(hu_net *net, const hu_operator_kind *kind, int x, size_t high, size_t wide, size_t stride) {
  hu_value v = net->value[x];
  if (high == 0 || wide == 0 || stride == 0) return hu_refuse(net, HU_E_SHAPE, "pool: kernel or stride is 0");
  /* The place in a window is kept as a float. */
  if (kind == &max_pool && high > 4096) return hu_refuse(net, HU_E_SHAPE, "pool: the window is too large");
  if (v.height < high || v.width < wide) {
    return hu_refuse(net, HU_E_SHAPE, "pool: not an image, or smaller than the window");
  }
  size_t h = (v.height - high) / stride + 1, w = (v.width - wide) / stride + 1;
  int z = hu_new_value(net, net->batch * h * w, v.cols, h, w);
  hu_operator *op = hu_new_operator(net, kind, x, -1, z, kind == &max_pool ? net->batch * h * w * v.cols : 0);
  if (!op) return -1;
  op->n[KERNEL] = high;
  op->n[STRIDE] = stride;
  op->n[2] = wide;
  return z;
}

int hu_net_max_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  return hu_usable(net, x) ? add_pool(net, &max_pool, x, kernel, kernel, stride) : -1;
}

int hu_net_average_pool(hu_net *net, int x, size_t kernel, size_t stride) {
  return hu_usable(net, x) ? add_pool(net, &mean_pool, x, kernel, kernel, stride) : -1;
}

int hu_net_global_average(hu_net *net, int x) {
  if (!hu_usable(net, x)) return -1;
  const hu_value *v = &net->value[x];
  return add_pool(net, &mean_pool, x, v->height, v->width, 1);
}
