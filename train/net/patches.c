/* SPDX-License-Identifier: MIT */
/* The sizes of a convolution, its patches, and the calls of an engine that needs none. */
#include <string.h>

#include "train/engine/kernels_layers.h"
#include "train/net/convolution.h"

size_t hui_patch_size(const hu_net *net, const hu_operator *op) {
  return op->convolution.kernel * op->convolution.kernel * net->value[op->in[0]].cols;
}

size_t hui_patch_part(const hu_net *net, const hu_operator *op) { return hui_patch_size(net, op) / op->groups; }

hu_task hui_windows(const hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *to, const float *from) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task task = hui_task_of(rows, cols, to, from, NULL);
  const hu_window_sizes sizes = {.high = op->convolution.kernel,
                                 .wide = op->convolution.kernel,
                                 .stride = op->convolution.stride,
                                 .pad = op->convolution.pad,
                                 .height = x->height,
                                 .width = x->width,
                                 .down = z->height,
                                 .across = z->width,
                                 .groups = op->groups};
  task.windows.sizes = sizes;
  return task;
}

void hui_make_patches(hu_net *net, hu_operator *op, const float *x) {
  hu_task task = hui_windows(net, op, net->value[op->out].rows, hui_patch_size(net, op), op->kept, x);
  hui_do(net, op->groups > 1 ? HU_RUN_GROUPS : HU_RUN_PATCHES, &task);
  op->convolution.kept = HU_KEPT_PATCHES;
}

void hui_add_windows(hu_net *net, hu_operator *op, float *dx, const float *patches) {
  const hu_value *x = &net->value[op->in[0]];
  hu_task task = hui_windows(net, op, x->rows, x->cols, dx, patches);
  task.work = net->value[op->out].rows * hui_patch_size(net, op);
  hui_do(net, op->groups > 1 ? HU_RUN_GROUPS_BACK : HU_RUN_PATCHES_BACK, &task);
}

int hui_frames_fit(const hu_net *net, const hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  const size_t border = 2 * op->convolution.pad;
  return net->batch * (x->height + border) * (x->width + border) * x->cols <= op->kept_size;
}

hu_convolution hui_convolution_of(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_task task = hui_windows(net, op, 0, 0, NULL, NULL);
  hu_convolution convolution;
  memset(&convolution, 0, sizeof convolution);
  convolution.windows = task.windows.sizes;
  convolution.images = net->batch;
  convolution.channels = x->cols;
  convolution.outputs = z->cols;
  convolution.x = x->v;
  convolution.z = z->v;
  convolution.framed = op->convolution.pad ? op->kept : x->v;
  convolution.buffer = net->work[HU_BUFFERS - 1];
  convolution.notify = net->observer ? hui_notify_rounding : NULL;
  convolution.notified[0] = net;
  convolution.notified[1] = op;
  return convolution;
}

int hui_without_patches(hu_net *net, const hu_accum *accum, int what, const hu_convolution *convolution) {
  if (net->fault != HU_OK || !net->engine->convolve || !hui_is_plain_fp32(accum)) return 0;
  return net->engine->convolve(net->self, what, convolution);
}
