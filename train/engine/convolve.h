/* SPDX-License-Identifier: MIT */
/* train/engine/convolve.h - convolutions without patches: what convolve.c, which the engine calls, takes from the files
 * beside it. None of them calls it. */
#ifndef HALFULP_TRAIN_ENGINE_CONVOLVE_H
#define HALFULP_TRAIN_ENGINE_CONVOLVE_H

#include "train/engine/cpu.h"
#include "train/engine/kernels_layers.h"

/* Copies an image with zeros around it (hui_frame_row, hui_frame_size). */
void hui_frame_image(const hu_convolution *convolution, const float *x, float *z);
/* Notifies the caller that rounding within a loop begins or ends. */
static inline void hui_cpu_notify(const hu_cpu *cpu, const hu_convolution *convolution, int ends) {
  if (convolution->notify && cpu->threads <= 1) convolution->notify(convolution->notified, ends);
}
/* hui_cpu_run, in this thread alone where there is little work. */
static inline void hui_cpu_run_work(const hu_cpu *cpu, size_t parts, size_t work,
                                    void (*part)(void *context, size_t part), void *context) {
  if (work >= HU_CPU_PRODUCTS_MIN) {
    hui_cpu_run(cpu, parts, part, context);
  } else {
    for (size_t i = 0; i < parts; i++) part(context, i);
  }
}
/* Carries out HU_CONVOLVE_ROUND. */
int hui_cpu_round_image(const hu_cpu *cpu, const hu_convolution *convolution);
/* Carries out HU_CONVOLVE_BLOCKS; HU_CONVOLVE_RESULT_BLOCKS and HU_CONVOLVE_WEIGHTS_BLOCKS. */
int hui_cpu_blocks_possible(const hu_convolution *convolution);
int hui_cpu_convolve_blocks(const hu_cpu *cpu, int what, const hu_convolution *convolution);
/* Carries out for groups of one channel and one output: POSSIBLE; RESULT, WEIGHTS, IMAGES without a rounding, else
 * 0. */
int hui_cpu_depthwise_possible(const hu_cpu *cpu, const hu_convolution *convolution);
int hui_cpu_depthwise(const hu_cpu *cpu, int what, const hu_convolution *convolution);

#endif
