/* SPDX-License-Identifier: MIT */
/* Convolutions whose groups have one channel and one output each: images or channels are divided among threads. */
#include "train/engine/convolve.h"

enum { LANES = 16 };

typedef struct call {
  const hu_cpu *cpu;
  const hu_convolution *c;
} call;

static void result_part(void *context, size_t image) {
  const call *k = context;
  const hu_convolution *c = k->c;
  const size_t *n = c->n, pad = n[HU_PAD];
  if (pad) {
    hu_frame_image(c, c->x + image * n[HU_HEIGHT] * n[HU_WIDTH] * c->channels,
                   c->framed + image * (n[HU_HEIGHT] + 2 * pad) * (n[HU_WIDTH] + 2 * pad) * c->channels);
  }
  k->cpu->loops->depthwise.result(c, image);
}

/* The last channels by the thread that has those before them, whose lanes they share. */
static void weights_part(void *context, size_t part) {
  const call *k = context;
  size_t j = part * LANES, last = k->c->channels - LANES;
  k->cpu->loops->depthwise.weights(k->c, j);
  if (j < last && j + LANES > last) k->cpu->loops->depthwise.weights(k->c, last);
}

static void images_part(void *context, size_t image) {
  const call *k = context;
  k->cpu->loops->depthwise.images(k->c, image);
}

int hu_cpu_depthwise_possible(const hu_cpu *cpu, const hu_convolution *c) {
  return cpu->loops->depthwise.result && c->groups == c->channels && c->groups == c->outputs && c->channels >= LANES;
}

int hu_cpu_depthwise(const hu_cpu *cpu, int what, const hu_convolution *c) {
  call k = {cpu, c};
  const size_t *n = c->n, windows = c->images * n[HU_DOWN] * n[HU_ACROSS];
  const size_t work = windows * n[HU_HIGH] * n[HU_WIDE] * c->channels;
  if (what == HU_CONVOLVE_RESULT) {
    hu_cpu_run_work(cpu, c->images, work, result_part, &k);
  } else if (what == HU_CONVOLVE_WEIGHTS) {
    hu_cpu_run_work(cpu, c->channels / LANES, work, weights_part, &k);
  } else if (what == HU_CONVOLVE_IMAGES && !c->rounding) {
    hu_cpu_run_work(cpu, c->images, work, images_part, &k);
  } else {
    return 0;
  }
  return 1;
}
