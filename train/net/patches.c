/* SPDX-License-Identifier: MIT */
/* The sizes of a convolution, its patches, and the calls of an engine that needs none. */
#include <string.h>

#include "train/engine/kernels_layers.h"
#include "train/net/convolution.h"

/* ---- windows ---- */

hu_net_windows hu_net_windows_of(size_t kernel, size_t stride, size_t pad) {
  const hu_net_windows windows = {{kernel, kernel}, {stride, stride}, {1, 1}, {pad, pad, pad, pad}};
  return windows;
}

/* How many windows there are in one direction; 0: there is none. */
static size_t count_windows(const hu_net_windows *windows, size_t way, size_t image, int ceil) {
  const size_t before = windows->pad[2 * way], kernel = windows->kernel[way], stride = windows->stride[way];
  const size_t all = before + image + windows->pad[2 * way + 1], reach = (kernel - 1) * windows->dilation[way] + 1;
  if (all < reach) return 0;
  size_t count = (all - reach + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (count - 1) * stride >= before + image) count--;
  return count;
}

int hui_are_windows(const hu_net_windows *windows) {
  const size_t most = (size_t)1 << 24;
  for (size_t way = 0; way < 2; way++) {
    const size_t kernel = windows->kernel[way], stride = windows->stride[way], dilation = windows->dilation[way];
    if (kernel == 0 || kernel > most || stride == 0 || stride > most || dilation == 0 || dilation > most) return 0;
    const size_t reach = (kernel - 1) * dilation + 1;
    if (windows->pad[2 * way] >= reach || windows->pad[2 * way + 1] >= reach) return 0;
  }
  return 1;
}

/* From a window that sees a pixel to the next one that may: their distance is a multiple of the dilation. */
static size_t step_of(size_t stride, size_t apart) {
  size_t a = stride, b = apart;
  while (b) {
    size_t rest = a % b;
    a = b;
    b = rest;
  }
  return apart / a;
}

const char *hui_windows_over(hu_window_sizes *sizes, const hu_value *image, const hu_net_windows *windows, int ceil) {
  if (!image->height) return "not an image";
  if (!hui_are_windows(windows)) return "kernel, stride, dilation or pad";
  memset(sizes, 0, sizeof *sizes);
  sizes->high = windows->kernel[0];
  sizes->wide = windows->kernel[1];
  sizes->stride_down = windows->stride[0];
  sizes->stride_across = windows->stride[1];
  sizes->apart_down = windows->dilation[0];
  sizes->apart_across = windows->dilation[1];
  sizes->step_down = step_of(windows->stride[0], windows->dilation[0]);
  sizes->step_across = step_of(windows->stride[1], windows->dilation[1]);
  sizes->top = windows->pad[0];
  sizes->bottom = windows->pad[1];
  sizes->left = windows->pad[2];
  sizes->right = windows->pad[3];
  sizes->height = image->height;
  sizes->width = image->width;
  sizes->down = count_windows(windows, 0, image->height, ceil);
  sizes->across = count_windows(windows, 1, image->width, ceil);
  sizes->groups = 1;
  return sizes->down && sizes->across ? NULL : "the kernel is larger than the image";
}

/* ---- patches ---- */

static const hu_value *image_of(const hu_net *net, const hu_operator *op) { return &net->value[op->convolution.image]; }

/* Returns the rows of patches: those of the value whose rows are windows. */
static size_t windows_of(const hu_net *net, const hu_operator *op) {
  return net->batch * op->convolution.windows.down * op->convolution.windows.across;
}

size_t hui_patch_size(const hu_net *net, const hu_operator *op) {
  return op->convolution.windows.high * op->convolution.windows.wide * image_of(net, op)->cols;
}

size_t hui_patch_part(const hu_net *net, const hu_operator *op) { return hui_patch_size(net, op) / op->groups; }

static hu_task windows_task(const hu_operator *op, size_t rows, size_t cols, float *to, const float *from) {
  hu_task task = hui_task_of(rows, cols, to, from, NULL);
  task.windows.sizes = op->convolution.windows;
  return task;
}

void hui_make_patches(hu_net *net, hu_operator *op, const float *x) {
  hu_task task = windows_task(op, windows_of(net, op), hui_patch_size(net, op), op->kept, x);
  hui_do(net, op->groups > 1 ? HU_RUN_GROUPS : HU_RUN_PATCHES, &task);
  op->convolution.kept = HU_KEPT_PATCHES;
}

void hui_add_windows(hu_net *net, hu_operator *op, float *dx, const float *patches) {
  const hu_value *x = image_of(net, op);
  hu_task task = windows_task(op, x->rows, x->cols, dx, patches);
  task.work = windows_of(net, op) * hui_patch_size(net, op);
  hui_do(net, op->groups > 1 ? HU_RUN_GROUPS_BACK : HU_RUN_PATCHES_BACK, &task);
}

int hui_frames_fit(const hu_net *net, const hu_operator *op) {
  hu_convolution convolution;
  memset(&convolution, 0, sizeof convolution);
  convolution.windows = op->convolution.windows;
  convolution.channels = net->value[op->in[0]].cols;
  return net->batch * hui_frame_size(&convolution) <= op->kept_size;
}

hu_convolution hui_convolution_of(hu_net *net, hu_operator *op) {
  hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_convolution convolution;
  memset(&convolution, 0, sizeof convolution);
  convolution.windows = op->convolution.windows;
  convolution.images = net->batch;
  convolution.channels = x->cols;
  convolution.outputs = z->cols;
  convolution.x = x->v;
  convolution.z = z->v;
  convolution.framed = hui_has_border(&op->convolution.windows) ? op->kept : x->v;
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
