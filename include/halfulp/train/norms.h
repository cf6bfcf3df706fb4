/* SPDX-License-Identifier: MIT */
/* halfulp/train/norms.h - layers that divide by what a column or a row has: norms. Results are those of layers.h. */
#ifndef HALFULP_TRAIN_NORMS_H
#define HALFULP_TRAIN_NORMS_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* g (x - mean) / sqrt(variance + eps) + b. Batch: over all rows, a column at a time, with running statistics for
 * evaluation, r = (1 - momentum) r + momentum mean (or variance); layer: over the columns of a row. Without more
 * arguments eps is 1e-5 and the momentum 0.1. unbiased: 1: the running variance is R / (R - 1) times that of the batch
 * of R rows (of one row: once), as in PyTorch and TensorFlow. HU_E_TRAIN: eps is below 0 or not finite, the momentum
 * not from 0 to 1, or `unbiased` above 1. */
HU_API int hu_net_batch_norm(hu_net *net, int x); /* batch: statistics of a column over all rows */
HU_API int hu_net_layer_norm(hu_net *net, int x); /* layer: statistics of a row */
/* lengths: -1, or an input of one number a sample: statistics are over the steps that samples have alone, R of them (of
 * an image, steps are its rows of pixels), and the result and all gradients are +0 behind their ends. Not with
 * parallel.statistics = batch, where a pass then fails with HU_E_TRAIN. */
HU_API int hu_net_batch_norm_with(hu_net *net, int x, double eps, double momentum, int unbiased, int lengths);
HU_API int hu_net_layer_norm_with(hu_net *net, int x, double eps); /* layer: with an eps of its own */
/* Computes g x / sqrt(mean of x x + eps) over the columns of a row (Zhang and Sennrich, Root mean square layer
 * normalization, 2019), and g x / sqrt(sum of x x + eps), the L2 norm (Liu, Rabinovich, Berg, ParseNet, 2015). One
 * parameter, the gain, 1 at first. HU_E_TRAIN: eps as above. */
HU_API int hu_net_rms_norm(hu_net *net, int x, double eps); /* by the root of the mean square of a row */
HU_API int hu_net_l2_norm(hu_net *net, int x, double eps);  /* by the Euclidean length of a row */
/* Computes x (k + alpha / size times the sum of x x over `size` neighbouring columns)^-beta: those from size / 2 before
 * the column on (rounded down), as far as there are some. Krizhevsky et al. (2012), section 3.3, with alpha / size in
 * place of alpha, as in Caffe and PyTorch. HU_E_TRAIN: size 0, or k not above 0, or alpha or beta below 0, or one of
 * them not finite. */
HU_API int hu_net_response_norm(hu_net *net, int x, size_t size, double alpha, double beta, double k);

#ifdef __cplusplus
}
#endif
#endif
