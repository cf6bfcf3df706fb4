/* SPDX-License-Identifier: MIT */
/* gpu/train/kernels.h - the kernels of training on a device, for its engine. Pointers are to device memory; calls
 * enqueue on the default stream and return at once. */
#ifndef HALFULP_GPU_TRAIN_KERNELS_H
#define HALFULP_GPU_TRAIN_KERNELS_H

#include "train/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a kernel of train/engine/kernels.h. */
hu_status hui_train_run(int kernel, const hu_task *task);
/* x = 0 for n bytes. */
hu_status hui_train_zero(void *x, size_t n);
/* gradient = gradient back; merges what it finds into *found. */
hu_status hui_train_unscale(size_t n, float *gradient, float back, hu_gradient_found *found);
/* Counts the updates that are not 0, and for how many of those before and after are equal. */
hu_status hui_train_compare(size_t n, const float *update, const float *before, const float *after,
                            hu_update_counts *counts);
/* Puts the sum of squares of each array into the table. */
hu_status hui_train_squares(size_t count, hu_squares *x);
/* Adds the answers in rows of x. */
hu_status hui_train_judge(size_t rows, size_t cols, const float *x, const uint32_t *labels, hu_answers *answers);
/* Adds n elements, and how many finite ones are of larger magnitude than max. */
hu_status hui_train_count(size_t n, const float *x, float max, hu_rounding_counts *counts);
/* Applies over=inf and nan=keep of rounding.h to z, to which `before` was rounded, and subtracts the events of values
 * that it replaces; events may be NULL. */
hu_status hui_train_widen(size_t n, float *z, const float *before, const hu_rounding *rounding, hu_stream words,
                          hu_events *events);

#ifdef __cplusplus
}
#endif
#endif
