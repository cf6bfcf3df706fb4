/* SPDX-License-Identifier: MIT */
/* Convolutions whose groups have one channel and one output each: images or channels are divided among threads. */
#include "train/engine/convolve.h"

enum { LANES = 16 };

typedef struct depthwise_call {
  const hu_cpu *cpu;
  const hu_convolution *convolution;
} depthwise_call;

static void result_part(void *context, size_t image) {
  const depthwise_call *call = context;
  const hu_convolution *convolution = call->convolution;
  const hu_window_sizes *sizes = &convolution->windows;
  if (hui_has_border(sizes)) {
    hui_frame_image(convolution, convolution->x + image * sizes->height * sizes->width * convolution->channels,
                    convolution->framed + image * hui_frame_size(convolution));
  }
  call->cpu->loops->depthwise.result(convolution, image);
}

/* The last channels by the thread that has those before them, whose lanes they share. */
static void weights_part(void *context, size_t part) {
  const depthwise_call *call = context;
  size_t j = part * LANES, last = call->convolution->channels - LANES;
  call->cpu->loops->depthwise.weights(call->convolution, j);
  if (j < last && j + LANES > last) call->cpu->loops->depthwise.weights(call->convolution, last);
}

static void images_part(void *context, size_t image) {
  const depthwise_call *call = context;
  call->cpu->loops->depthwise.images(call->convolution, image);
}

int hui_cpu_depthwise_possible(const hu_cpu *cpu, const hu_convolution *convolution) {
  return cpu->loops->depthwise.result && convolution->windows.groups == convolution->channels &&
         convolution->windows.groups == convolution->outputs && convolution->channels >= LANES;
}

int hui_cpu_depthwise(const hu_cpu *cpu, int what, const hu_convolution *convolution) {
  depthwise_call call = {cpu, convolution};
  const hu_window_sizes *sizes = &convolution->windows;
  const size_t windows = convolution->images * sizes->down * sizes->across;
  const size_t work = windows * sizes->high * sizes->wide * convolution->channels;
  if (what == HU_CONVOLVE_RESULT) {
    hui_cpu_run_work(cpu, convolution->images, work, result_part, &call);
  } else if (what == HU_CONVOLVE_WEIGHTS) {
    hui_cpu_run_work(cpu, convolution->channels / LANES, work, weights_part, &call);
  } else if (what == HU_CONVOLVE_IMAGES && !convolution->rounding) {
    hui_cpu_run_work(cpu, convolution->images, work, images_part, &call);
  } else {
    return 0;
  }
  return 1;
}
