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

/* ---- steps: rows of a sample of steps.sample rows, steps.each of them a step ---- */

/* Returns how many steps the sample of row r has. */
HU_INSIDE size_t hui_steps_of(const hu_task *task, size_t r) {
  const size_t n = task->steps.count;
  if (!task->steps.lengths) return n;
  const float most = task->steps.lengths[r / task->steps.sample];
  return !(most < (float)n) ? n : most > 0 ? (size_t)most : 0;
}

/* z is a in the steps of a sample, b in those behind its end, which row 0 counts from steps.first on; NULL is +0. */
HU_AT(within) {
  const size_t step = task->steps.first + r % task->steps.sample / task->steps.each;
  const float most = task->steps.lengths[r / task->steps.sample], *a = task->a, *b = task->b;
  const float *x = !((float)(step + 1) > most) ? a : b;
  float *z = task->z + r * task->cols;
  if (x) {
    x += r * task->cols;
    HU_EACH_COLUMN z[j] = x[j];
  } else {
    HU_EACH_COLUMN z[j] = 0;
  }
}

/* z is a less the row b in the steps of a sample; +0 behind its end. */
HU_AT(centre) {
  const size_t step = r % task->steps.sample / task->steps.each;
  const float *a = task->a + r * task->cols, *b = task->b;
  const int there = !((float)(step + 1) > task->steps.lengths[r / task->steps.sample]);
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = there ? a[j] - b[j] : 0;
}

/* z = the sum over k below steps.seen of row k of b times a, k steps later, from +0; +0 behind the end. */
HU_AT(row_convolve) {
  const size_t cols = task->cols, end = hui_steps_of(task, r), step = r % task->steps.sample;
  const size_t all = step < end ? end - step : 0, n = all < task->steps.seen ? all : task->steps.seen;
  const float *a = task->a + r * cols;
  float *z = task->z + r * cols;
  HU_EACH_COLUMN z[j] = 0;
  for (size_t k = 0; k < n; k++) {
    const float *later = a + k * cols, *b = task->b + k * cols;
    HU_EACH_COLUMN z[j] += b[j] * later[j];
  }
}

/* Computes the same with a, k steps earlier. */
HU_AT(row_convolve_back) {
  const size_t cols = task->cols, end = hui_steps_of(task, r), step = r % task->steps.sample;
  const size_t all = step < end ? step + 1 : 0, n = all < task->steps.seen ? all : task->steps.seen;
  const float *a = task->a + r * cols;
  float *z = task->z + r * cols;
  HU_EACH_COLUMN z[j] = 0;
  for (size_t k = 0; k < n; k++) {
    const float *earlier = a - k * cols, *b = task->b + k * cols;
    HU_EACH_COLUMN z[j] += b[j] * earlier[j];
  }
}

/* z = a, steps.first steps later; +0 where neither of the two has a step. */
HU_AT(later) {
  const size_t cols = task->cols, k = task->steps.first, step = r % task->steps.sample;
  float *z = task->z + r * cols;
  if (step + k < hui_steps_of(task, r)) {
    const float *a = task->a + (r + k) * cols;
    HU_EACH_COLUMN z[j] = a[j];
  } else {
    HU_EACH_COLUMN z[j] = 0;
  }
}

#endif
