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

/* z is a in the first loss.cols columns and in that of the row's label, -infinity in the others. */
HU_AT(own_columns) {
  const size_t samples = task->loss.cols, label = task->loss.labels[r];
  const float *a = task->a + r * task->cols;
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = j < samples || j == label ? a[j] : -INFINITY;
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

/* z is a less the number that b has for its row. */
HU_AT(less_each) {
  const float *a = task->a + r * task->cols, less = task->b[r];
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = a[j] - less;
}

/* ---- labels of sequences (train/loss/ctc.c): a row is a sample, a column one of its states: blank, label, blank, ...,
 * label, blank ---- */

/* Returns how many steps a sample has; the label of a state. */
HU_INSIDE size_t hui_ctc_steps(const hu_task *task, size_t r) {
  const float most = task->ctc.lengths ? task->ctc.lengths[r] : (float)task->ctc.steps;
  return !(most < (float)task->ctc.steps) ? task->ctc.steps : most > 0 ? (size_t)most : 0;
}
HU_INSIDE uint32_t hui_ctc_label(const hu_task *task, size_t r, size_t state) {
  return state % 2 ? task->ctc.labels[r * task->ctc.steps + state / 2] : task->ctc.blank;
}

/* Returns 1 if a way may leave out the blank between a label and the one before it. */
HU_INSIDE int hui_ctc_skips(const hu_task *task, size_t r, size_t state) {
  return state % 2 && state > 1 && hui_ctc_label(task, r, state) != hui_ctc_label(task, r, state - 2);
}

/* z[r] is the number of labels of sample r. */
HU_AT(ctc_counts) {
  const uint32_t *labels = task->ctc.labels + r * task->ctc.steps;
  size_t n = 0;
  (void)j0, (void)j1;
  while (n < task->ctc.steps && labels[n] != HU_LABEL_NONE) n++;
  task->z[r] = (float)n;
}

/* Writes to x what is added up for a state: from a, the states of the step before. */
HU_INSIDE void hui_ctc_before(const hu_task *task, size_t r, size_t state, float x[3]) {
  const float *a = task->a + r * task->cols;
  if (task->ctc.step == 0) {
    if (state < 2) x[0] = 0;
    return;
  }
  x[0] = a[state];
  if (state > 0) x[1] = a[state - 1];
  if (hui_ctc_skips(task, r, state)) x[2] = a[state - 2];
}

/* The same from the states of the step behind, and what they have there themselves. */
HU_INSIDE void hui_ctc_behind(const hu_task *task, size_t r, size_t state, size_t last, float x[3]) {
  const size_t step = task->ctc.step, steps = hui_ctc_steps(task, r);
  const float *a = task->a + r * task->cols, *logs = task->ctc.logs + (r * task->ctc.steps + step + 1) * task->ctc.cols;
  if (step + 1 == steps && state + 1 >= last) x[0] = 0;
  if (step + 1 >= steps) return;
  for (size_t k = 0; k < 3 && state + k <= last; k++) {
    if (k < 2 || hui_ctc_skips(task, r, state + k)) x[k] = a[state + k] + logs[hui_ctc_label(task, r, state + k)];
  }
}

/* The same from both states that a sample can end with. */
HU_INSIDE void hui_ctc_ends(const hu_task *task, size_t r, size_t last, float x[3]) {
  const size_t steps = hui_ctc_steps(task, r);
  const float *a = task->a + ((steps ? steps - 1 : 0) * task->rows + r) * task->ctc.states;
  if (steps) x[0] = a[last];
  if (steps && last) x[1] = a[last - 1];
  if (!steps && !last) x[0] = 0;
}

/* Writes up to three numbers less their largest, which goes to ctc.top, to z and rows x cols numbers behind each other;
 * -infinity stays what it is. */
HU_AT(ctc_ways) {
  const size_t all = task->rows * task->cols, last = 2 * (size_t)task->ctc.counts[r];
  for (size_t j = j0; j < j1; j++) {
    const size_t at = r * task->cols + j;
    float x[3] = {-INFINITY, -INFINITY, -INFINITY};
    if (task->ctc.way == HU_CTC_END) {
      hui_ctc_ends(task, r, last, x);
    } else if (j <= last && task->ctc.way == HU_CTC_FORWARD) {
      hui_ctc_before(task, r, j, x);
    } else if (j <= last) {
      hui_ctc_behind(task, r, j, last, x);
    }
    float top = x[1] > x[0] ? x[1] : x[0];
    top = x[2] > top ? x[2] : top;
    task->ctc.top[at] = top;
    for (size_t k = 0; k < 3; k++) task->z[k * all + at] = x[k] == -INFINITY ? x[k] : x[k] - top;
  }
}

/* z = ctc.top + a, and forward what the step itself has for the state's label. */
HU_AT(ctc_states) {
  const size_t last = 2 * (size_t)task->ctc.counts[r];
  const float *logs = task->ctc.logs + (r * task->ctc.steps + task->ctc.step) * task->ctc.cols;
  for (size_t j = j0; j < j1; j++) {
    const size_t at = r * task->cols + j;
    const float sum = task->ctc.top[at] + task->a[at];
    const int own = task->ctc.way == HU_CTC_FORWARD && j <= last;
    task->z[at] = own ? sum + logs[hui_ctc_label(task, r, j)] : sum;
  }
}

/* z[r] is what sample r loses, whose probability has the logarithm a[r]. */
HU_AT(ctc_terms) {
  const float total = task->a[r], n = task->ctc.counts[r] > 1 ? task->ctc.counts[r] : 1;
  const int none = total == -INFINITY && task->ctc.how & HU_CTC_ZERO_INFINITE;
  (void)j0, (void)j1;
  task->z[r] = none ? 0 : task->ctc.how & HU_CTC_BY_LENGTH ? -total / n : -total;
}

/* z is the logarithm of the share that the ways through a state have: a + b, less ctc.total. */
HU_AT(ctc_through) {
  const size_t last = 2 * (size_t)task->ctc.counts[r], at = r * task->cols;
  const int there = task->ctc.step < hui_ctc_steps(task, r);
  for (size_t j = j0; j < j1; j++)
    task->z[at + j] = there && j <= last ? (task->a[at + j] + task->b[at + j]) - task->ctc.total[r] : -INFINITY;
}

/* The row of z for this step is (b less the sum of a over the states of each label) times the gradient of the loss. */
HU_AT(ctc_back) {
  const size_t row = (r * task->ctc.steps + task->ctc.step) * task->ctc.cols, cols = task->ctc.cols;
  const size_t last = 2 * (size_t)task->ctc.counts[r];
  const float *a = task->a + r * task->cols, *b = task->b + row, n = task->ctc.counts[r] > 1 ? task->ctc.counts[r] : 1;
  const float all = task->ctc.gradient[0] * task->p, by = task->ctc.how & HU_CTC_BY_LENGTH ? all / n : all;
  const int there = task->ctc.step < hui_ctc_steps(task, r), none = task->ctc.total[r] == -INFINITY;
  float *z = task->z + row;
  (void)j0, (void)j1;
  for (size_t k = 0; k < cols; k++) z[k] = 0;
  if (!there || (none && task->ctc.how & HU_CTC_ZERO_INFINITE)) return;
  for (size_t j = 0; j <= last; j++) z[hui_ctc_label(task, r, j)] += a[j];
  for (size_t k = 0; k < cols; k++) z[k] = none ? hui_canonical(NAN) : (b[k] - z[k]) * by;
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
