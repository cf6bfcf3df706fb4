/* SPDX-License-Identifier: MIT */
/* train/engine/kernels_sequences.h - the kernels of losses, and of sequences whose lengths differ (kernels.h). Orders
 * are those of docs/training/training.md. */
#ifndef HALFULP_TRAIN_ENGINE_KERNELS_SEQUENCES_H
#define HALFULP_TRAIN_ENGINE_KERNELS_SEQUENCES_H

#include "train/engine/kernels_layers.h"

/* ---- losses ---- */

/* z = a times the number that b has for its row; +0 where that number is 0. */
HU_AT(weigh) {
  const float *a = task->a + r * task->cols, weight = task->b[r];
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = weight == 0 ? 0 : a[j] * weight;
}

/* z[r] is the cross entropy of row r with a smoothed label: a[r] is a logarithm, row r of loss.terms what is taken off
 * it, column by column. The row becomes these differences. */
HU_AT(smooth) {
  const uint32_t label = task->loss.labels[r];
  const size_t cols = task->cols;
  float *terms = task->loss.terms + r * cols;
  const float top = task->a[r];
  (void)j0;
  (void)j1;
  for (size_t j = 0; j < cols; j++) terms[j] = top - terms[j];
  const float all = hui_sum_of_row(cols, terms, NULL);
  task->z[r] = label == HU_LABEL_NONE
                   ? 0
                   : ((task->loss.label - task->loss.other) * terms[label] + task->loss.other * all) - task->loss.less;
}

/* a holds the shares. The gradients z of a row without a label are 0. */
HU_AT(smooth_back) {
  const size_t at = r * task->cols, label = task->loss.labels[r];
  const float *a = task->a + at, by = task->loss.gradient[0] * task->p;
  const float own = task->loss.label, other = task->loss.other;
  float *z = task->z + at;
  if (label == HU_LABEL_NONE) {
    HU_EACH_COLUMN z[j] = 0;
  } else {
    HU_EACH_COLUMN z[j] = (a[j] - (j == label ? own : other)) * by;
  }
}

HU_ONE(minus_size, -fabsf(a[j]))

/* Returns 1 if a row has a label, or there are targets. */
HU_INSIDE int hui_is_asked(const hu_task *task, size_t r) {
  return !task->loss.labels || task->loss.labels[r] != HU_LABEL_NONE;
}

/* loss.terms are the logistic losses of a, with the targets b or a label in each row; z is the logarithm of 1 + e^-|a|
 * in them. */
HU_AT(logistic) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at, *z = task->z + at;
  const uint32_t *labels = task->loss.labels;
  float *terms = task->loss.terms + at;
  const int asked = hui_is_asked(task, r);
  HU_EACH_COLUMN {
    const float target = labels ? (float)labels[r] : b[j];
    terms[j] = asked ? ((a[j] > 0 || a[j] != a[j] ? a[j] : 0) - a[j] * target) + z[j] : 0;
  }
}

/* z is the gradient of the logistic losses whose sigmoids a holds, with the targets b or labels. */
HU_AT(logistic_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at, by = task->loss.gradient[0] * task->p;
  const uint32_t *labels = task->loss.labels;
  float *z = task->z + at;
  const int asked = hui_is_asked(task, r);
  HU_EACH_COLUMN z[j] = asked ? (a[j] - (labels ? (float)labels[r] : b[j])) * by : 0;
}

/* z = a - b; loss.terms are its square over 2 p where its size is below p, and its size less p / 2 elsewhere. */
HU_AT(huber) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at, p = task->p, half = 0.5f * p;
  float *z = task->z + at, *terms = task->loss.terms + at;
  HU_EACH_COLUMN {
    const float less = a[j] - b[j], size = fabsf(less);
    z[j] = less;
    terms[j] = size < p ? 0.5f * less * less / p : size - half;
  }
}

/* z is the gradient of the differences a; loss.bound is p of huber. */
HU_AT(huber_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, by = task->loss.gradient[0] * task->p, bound = task->loss.bound;
  float *z = task->z + at;
  HU_EACH_COLUMN {
    const float inside = a[j] / bound * by, outside = a[j] > 0 ? by : a[j] < 0 ? -by : a[j] != a[j] ? a[j] : 0;
    z[j] = fabsf(a[j]) < bound ? inside : outside;
  }
}

#endif
