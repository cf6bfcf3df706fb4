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
  const size_t *n = convolution->n, pad = n[HU_PAD];
  if (pad) {
    hu_frame_image(
        convolution, convolution->x + image * n[HU_HEIGHT] * n[HU_WIDTH] * convolution->channels,
        convolution->framed + image * (n[HU_HEIGHT] + 2 * pad) * (n[HU_WIDTH] + 2 * pad) * convolution->channels);
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

int hu_cpu_depthwise_possible(const hu_cpu *cpu, const hu_convolution *convolution) {
  return cpu->loops->depthwise.result && convolution->groups == convolution->channels &&
         convolution->groups == convolution->outputs && convolution->channels >= LANES;
}

int hu_cpu_depthwise(const hu_cpu *cpu, int what, const hu_convolution *convolution) {
  depthwise_call call = {cpu, convolution};
  const size_t *n = convolution->n, windows = convolution->images * n[HU_DOWN] * n[HU_ACROSS];
  const size_t work = windows * n[HU_HIGH] * n[HU_WIDE] * convolution->channels;
  if (what == HU_CONVOLVE_RESULT) {
    hu_cpu_run_work(cpu, convolution->images, work, result_part, &call);
  } else if (what == HU_CONVOLVE_WEIGHTS) {
    hu_cpu_run_work(cpu, convolution->channels / LANES, work, weights_part, &call);
  } else if (what == HU_CONVOLVE_IMAGES && !convolution->rounding) {
    hu_cpu_run_work(cpu, convolution->images, work, images_part, &call);
  } else {
    return 0;
  }
  return 1;
}
