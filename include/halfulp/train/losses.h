/* SPDX-License-Identifier: MIT */
/* halfulp/train/losses.h - losses of a network, and of sequences of labels. Results are those of layers.h. */
#ifndef HALFULP_TRAIN_LOSSES_H
#define HALFULP_TRAIN_LOSSES_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Losses, the last operators of a net, each a single number, and what it is compared with (hu_net_labels,
 * hu_net_targets). A net that has several loses their sum, added from the first one on; the values that they look at
 * have the same rows, and those with targets the same columns. R counts rows (hu_net_row_weights).
 * cross_entropy: weight / R times the sum over the R rows of log(sum over j of e^(x_j - max)) - (x_label - max).
 * squared_error: weight / (2 R) times the sum of (x - target)^2.
 * absolute_error: weight / R times the sum of |x - target|; its derivative where x = target is taken to be 0.
 * logistic: weight / R times the sum of log(1 + e^x) - x target, targets from 0 to 1; or labels 0 and 1 of one column,
 *   where the answer to a row is 1 if x is above 0.
 * smooth_l1: weight / R times the sum of (x - target)^2 / (2 beta) where |x - target| < beta, elsewhere of
 *   |x - target| - beta / 2; beta from 0 on, rounded to binary32. Girshick, Fast R-CNN (2015). */
HU_API int hu_net_cross_entropy(hu_net *net, int x, double weight);  /* compares with labels */
HU_API int hu_net_squared_error(hu_net *net, int x, double weight);  /* compares with targets, by square */
HU_API int hu_net_absolute_error(hu_net *net, int x, double weight); /* compares with targets, by size */
HU_API int hu_net_logistic(hu_net *net, int x, double weight);       /* compares with targets, or labels 0 and 1 */
HU_API int hu_net_smooth_l1(hu_net *net, int x, double weight, double beta); /* compares with near and far targets */
/* Cross entropy with a target that is spread: weight / R times the sum over rows and columns of q_j (log(sum over k of
 * e^(x_k - max)) - (x_j - max)). Of C columns each has q = smoothing / C, and the label 1 - smoothing more (Szegedy et
 * al., Rethinking the Inception architecture, 2016; PyTorch); HU_SMOOTHING_OTHERS: the label has 1 - smoothing, each
 * other column smoothing / (C - 1) (Tensor2Tensor). HU_SMOOTHING_LESS_MINIMUM: each row less -(sum of q log q), so that
 * the least loss is 0. HU_E_TRAIN: smoothing is not from 0 to below 1; HU_E_SHAPE: one column. */
enum {
  HU_SMOOTHING_OTHERS = 1,      /* the smoothing goes to the other columns alone */
  HU_SMOOTHING_LESS_MINIMUM = 2 /* the least loss is 0 */
};
HU_API int hu_net_cross_entropy_smoothed(hu_net *net, int x, double weight, double smoothing, unsigned how);

/* X T^T + b for a table T of a row for each of `outputs`, of which only hu_net_cross_entropy may look at the result. In
 * training it sees `samples` random classes, different ones, small numbers more often, and each row's label, less the
 * logarithm of how often a class is expected among them (Jean et al. 2015; sampled_softmax_loss of TensorFlow with a
 * log-uniform sampler, without accidental hits); in evaluation it sees all classes. docs/training/losses.md defines
 * every operation. table: a parameter of outputs x the columns of x, such as an embedding's; -1: the layer's own. Its
 * gradient is +0 in rows of other classes. Returns the value of all classes, which training does not compute; the one
 * before it has the samples. HU_E_SHAPE: not 1 to 2^24 outputs, not 1 to `outputs` samples, a table of other sizes;
 * another loss, smoothing or an operator that reads the result. HU_E_TRAIN, of a pass: no loss was added. */
HU_API int hu_net_sampled_linear(hu_net *net, int x, int table, size_t outputs, size_t samples, int bias);

/* Connectionist temporal classification (Graves et al. 2006) of the steps of each sample: weight / (samples) times the
 * sum over samples of -log of the probability, by softmax of each row, of all ways to read its labels: a label or
 * `blank` in each step, equal labels behind each other read as one, then without blanks. The labels of a sample
 * (hu_net_labels) are the first of its steps; HU_LABEL_NONE follows. lengths: an input of one number a sample; -1: all
 * have all steps. docs/training/losses.md says what is computed. HU_E_SHAPE: the blank is not a column. */
enum {
  HU_CTC_BY_LENGTH = 1,    /* each sample's term over its number of labels, or 1: PyTorch's reduction 'mean' */
  HU_CTC_ZERO_INFINITE = 2 /* a sample with more labels than steps can hold loses 0, and has no gradient, in place of
                              an infinity and NaN: PyTorch's zero_infinity */
};
HU_API int hu_net_ctc(hu_net *net, int x, double weight, uint32_t blank, int lengths, unsigned how);
/* Writes the labels that the largest number of each of `steps` rows reads (the first one of equals); returns how many,
 * `steps` at most. */
HU_API size_t hu_ctc_greedy(size_t steps, size_t cols, const float *x, uint32_t blank, uint32_t *labels);
/* Returns the least number of labels that have to be put in, left out or replaced to make y of x (Levenshtein 1965);
 * SIZE_MAX: no memory. The label error rate of several sequences is the sum of these over the sum of m. */
HU_API size_t hu_edit_distance(size_t n, const uint32_t *x, size_t m, const uint32_t *y);

#ifdef __cplusplus
}
#endif
#endif
