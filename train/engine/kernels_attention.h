/* SPDX-License-Identifier: MIT */
/* train/engine/kernels_attention.h - the kernels of attention (kernels.h): softmax along rows, of which some columns
 * count; positions; experts. Orders are those of docs/training/training.md. */
#ifndef HALFULP_TRAIN_ENGINE_KERNELS_ATTENTION_H
#define HALFULP_TRAIN_ENGINE_KERNELS_ATTENTION_H

#include "train/engine/kernels.h"

/* ---- softmax ---- */

/* The columns first ... end - 1 of a row. */
typedef struct hu_columns_seen {
  size_t first, end;
} hu_columns_seen;

/* Returns the columns of row r that count, of cols: all, or (causal) those up to its step of `steps`, and of these
 * (window) the last ones; and no more than counts says for its sample of `sample` rows, if it is not NULL. */
HU_INSIDE hu_columns_seen hui_columns_seen(const hu_softmax_task *softmax, size_t cols, size_t r) {
  const size_t n = softmax->causal ? r % softmax->steps + 1 : cols, window = softmax->window;
  hu_columns_seen seen = {window && window < n ? n - window : 0, n};
  if (!softmax->counts) return seen;
  const float most = softmax->counts[r / softmax->sample];
  seen.end = !(most < (float)n) ? n : most > 0 ? (size_t)most : 0;
  if (seen.first > seen.end) seen.first = seen.end;
  return seen;
}

HU_INSIDE hu_columns_seen hui_columns_of(const hu_task *task, size_t r) {
  return hui_columns_seen(&task->softmax, task->cols, r);
}

/* The head that row r belongs to. */
HU_INSIDE size_t hui_head_of(const hu_softmax_task *softmax, size_t r) { return r % softmax->sample / softmax->steps; }

/* Subtracts from each row of a its largest number; columns that do not count become 0. With softmax.sink, a number for
 * each head, that one is among the numbers of the row, and softmax.sinks[r] gets what is left of it. */
HU_AT(less_top) {
  const hu_columns_seen seen = hui_columns_of(task, r);
  const float *a = task->a + r * task->cols;
  float *z = task->z + r * task->cols, top = seen.first < seen.end ? a[seen.first] : -INFINITY;
  (void)j0, (void)j1;
  for (size_t j = seen.first + 1; j < seen.end; j++) top = a[j] > top || a[j] != a[j] ? a[j] : top;
  if (task->softmax.sink) {
    const float sink = task->softmax.sink[hui_head_of(&task->softmax, r)];
    top = sink > top || sink != sink ? sink : top;
    task->softmax.sinks[r] = sink - top;
  }
  for (size_t j = 0; j < seen.first; j++) z[j] = 0;
  HU_INDEPENDENT for (size_t j = seen.first; j < seen.end; j++) z[j] = a[j] - top;
  for (size_t j = seen.end; j < task->cols; j++) z[j] = 0;
}

/* Divides each row of z by its sum, which softmax.sums[r] gets if it is not NULL; softmax.sinks[r] is added to the sum
 * last, and divided by it. */
HU_AT(shares) {
  const hu_columns_seen seen = hui_columns_of(task, r);
  float *z = task->z + r * task->cols, sum = hui_sum_of_row(seen.end - seen.first, z + seen.first, NULL);
  (void)j0, (void)j1;
  if (task->softmax.sinks) {
    sum = sum + task->softmax.sinks[r];
    task->softmax.sinks[r] /= sum;
  }
  if (task->softmax.sums) task->softmax.sums[r] = sum;
  for (size_t j = 0; j < seen.first; j++) z[j] = 0;
  HU_INDEPENDENT for (size_t j = seen.first; j < seen.end; j++) z[j] /= sum;
  for (size_t j = seen.end; j < task->cols; j++) z[j] = 0;
}

/* z is the gradient of what `shares` read, a its result, b the gradient of that. With softmax.sinks, softmax.sums gets
 * what each row gives to the sink of its head: a row of all heads for each step of each sample. */
HU_AT(shares_back) {
  const size_t at = r * task->cols;
  const float *a = task->a + at, *b = task->b + at;
  float *z = task->z + at;
  const float sum = hui_sum_of_row(task->cols, b, a);
  if (task->softmax.sinks) {
    const size_t steps = task->softmax.steps, heads = task->softmax.sample / steps;
    const size_t row = r / task->softmax.sample * steps + r % steps;
    task->softmax.sums[row * heads + hui_head_of(&task->softmax, r)] = -(task->softmax.sinks[r] * sum);
  }
  HU_EACH_COLUMN z[j] = a[j] * (b[j] - sum);
}

/* ---- softmax of a block of columns after another: online.top, online.sum and online.factor have a number for each row
 * of scores; columns online.from ... of these are the block ---- */

/* Begins each row: with nothing, or with the sink of its head. */
HU_AT(online_begin) {
  const float *sink = task->online.softmax.sink;
  (void)j0, (void)j1;
  task->online.top[r] = sink ? sink[hui_head_of(&task->online.softmax, r)] : -INFINITY;
  task->online.sum[r] = sink ? 1 : 0;
}

/* Takes the largest number of the block into top; z gets what is left of the block, minus infinity for columns that do
 * not count, and factor what is left of the top before. */
HU_AT(online_top) {
  const hu_columns_seen all = hui_columns_seen(&task->online.softmax, task->online.keys, r);
  const size_t from = task->online.from, first = all.first > from ? all.first - from : 0;
  const size_t above = all.end > from ? all.end - from : 0, end = above < task->cols ? above : task->cols;
  const float *a = task->a + r * task->lda + from, before = task->online.top[r];
  float *z = task->z + r * task->cols, top = before;
  (void)j0, (void)j1;
  for (size_t j = first; j < end; j++) top = a[j] > top || a[j] != a[j] ? a[j] : top;
  for (size_t j = 0; j < task->cols; j++) z[j] = j >= first && j < end ? a[j] - top : -INFINITY;
  task->online.top[r] = top;
  task->online.factor[r] = first < end ? before - top : 0;
}

/* sum = sum factor + the row sum of z. */
HU_AT(online_sum) {
  const float sum = hui_sum_of_row(task->cols, task->z + r * task->cols, NULL);
  (void)j0, (void)j1;
  task->online.sum[r] = task->online.sum[r] * task->online.factor[r] + sum;
}

/* Returns the row of scores of a row of results and of the head of column j. */
HU_INSIDE size_t hui_score_row(const hu_online_task *online, size_t r, size_t j) {
  const size_t steps = online->softmax.steps;
  return r / steps * online->softmax.sample + j / online->width * steps + r % steps;
}

/* z = z factor + b. */
HU_AT(online_add) {
  const float *b = task->b + r * task->cols;
  float *z = task->z + r * task->cols;
  for (size_t j = j0; j < j1; j++) z[j] = z[j] * task->online.factor[hui_score_row(&task->online, r, j)] + b[j];
}

/* z is divided by the sum; it is +0 if that is 0. */
HU_AT(online_end) {
  float *z = task->z + r * task->cols;
  for (size_t j = j0; j < j1; j++) {
    const float sum = task->online.sum[hui_score_row(&task->online, r, j)];
    z[j] = sum == 0 ? 0 : z[j] / sum;
  }
}

/* z = a - top, minus infinity for columns that do not count; and the same of the sink. */
HU_AT(online_less) {
  const hu_columns_seen seen = hui_columns_seen(&task->online.softmax, task->cols, r);
  const float *a = task->a + r * task->cols, top = task->online.top[r], *sink = task->online.softmax.sink;
  float *z = task->z + r * task->cols;
  (void)j0, (void)j1;
  for (size_t j = 0; j < task->cols; j++) z[j] = j >= seen.first && j < seen.end ? a[j] - top : -INFINITY;
  if (sink) task->online.softmax.sinks[r] = sink[hui_head_of(&task->online.softmax, r)] - top;
}

/* Divides each row of z, and the sink's number, by the sum; +0 if that is 0. */
HU_AT(online_shares) {
  float *z = task->z + r * task->cols;
  const float sum = task->online.sum[r];
  (void)j0, (void)j1;
  for (size_t j = 0; j < task->cols; j++) z[j] = sum == 0 ? 0 : z[j] / sum;
  if (task->online.softmax.sink) task->online.softmax.sinks[r] /= sum;
}

/* z = a (z - D), D the row sum over the head's columns of b, the gradient of online.result, times that; with a sink,
 * softmax.sums gets what the row gives to it, as of shares_back. */
HU_AT(online_back) {
  const hu_softmax_task *softmax = &task->online.softmax;
  const size_t width = task->online.width, steps = softmax->steps, heads = softmax->sample / steps;
  const size_t head = hui_head_of(softmax, r), row = r / softmax->sample * steps + r % steps;
  const size_t at = row * heads * width + head * width;
  const float *a = task->a + r * task->cols, sum = hui_sum_of_row(width, task->b + at, task->online.result + at);
  float *z = task->z + r * task->cols;
  (void)j0, (void)j1;
  if (softmax->sink) softmax->sums[row * heads + head] = -(softmax->sinks[r] * sum);
  for (size_t j = 0; j < task->cols; j++) z[j] = a[j] * (z[j] - sum);
}

/* ---- positions ---- */

/* Turns pairs of numbers of each head, whose columns are among the first rotary.columns of a: (x, y) becomes
 * (x c - y s, y c + x s), with c and p s of the row's step and of the pair. Other columns are copied. */
HU_AT(rotary) {
  const hu_rotary_task *rotary = &task->rotary;
  const size_t width = rotary->width, half = width / 2, at = r % rotary->steps * half;
  const float *a = task->a + r * task->cols, *c = rotary->cosine + at, *s = rotary->sine + at, p = task->p;
  float *z = task->z + r * task->cols;
  HU_INDEPENDENT for (size_t j = j0; j < j1; j++) {
    const size_t k = j % width, pair = rotary->interleaved ? k / 2 : k % half;
    const int second = rotary->interleaved ? k % 2 : k >= half;
    const size_t away = rotary->interleaved ? 1 : half;
    if (j >= rotary->columns)
      z[j] = a[j];
    else if (second)
      z[j] = a[j] * c[pair] + a[j - away] * (s[pair] * p);
    else
      z[j] = a[j] * c[pair] - a[j + away] * (s[pair] * p);
  }
}

/* ---- experts: row r of the rows x experts numbers of experts.place is the row's ---- */

/* Marks the experts.chosen largest numbers of row r of a, of equal ones the first: place is 0 there. */
HU_AT(choose) {
  const hu_experts_task *experts = &task->experts;
  const float *a = task->a + r * experts->experts;
  uint32_t *place = experts->place + r * experts->experts;
  (void)j0, (void)j1;
  for (size_t j = 0; j < experts->experts; j++) place[j] = (uint32_t)HU_PLACE_NONE;
  for (size_t k = 0; k < experts->chosen; k++) {
    size_t best = 0;
    while (place[best] == 0) best++;
    for (size_t j = best + 1; j < experts->experts; j++) {
      if (place[j] != 0 && a[j] > a[best]) best = j;
    }
    place[best] = 0;
  }
}

/* Returns the sum of a b, or (b NULL) of a, over the experts that a row has chosen, first one first, from +0. */
HU_INSIDE float hui_sum_of_chosen(const hu_experts_task *experts, size_t r, const float *a, const float *b) {
  const uint32_t *place = experts->place + r * experts->experts;
  float sum = 0;
  for (size_t j = 0; j < experts->experts; j++) {
    if (place[j] != (uint32_t)HU_PLACE_NONE) sum += b ? a[j] * b[j] : a[j];
  }
  return sum;
}

/* z is a where the expert is chosen, divided by the row's sum of these if experts.normed is 1, and +0 elsewhere. */
HU_AT(chosen) {
  const hu_experts_task *experts = &task->experts;
  const float *a = task->a + r * task->cols, sum = experts->normed ? hui_sum_of_chosen(experts, r, a, NULL) : 1;
  const uint32_t *place = experts->place + r * task->cols;
  float *z = task->z + r * task->cols;
  for (size_t j = j0; j < j1; j++) z[j] = place[j] == (uint32_t)HU_PLACE_NONE ? 0 : a[j];
  if (!experts->normed) return;
  for (size_t j = j0; j < j1; j++) {
    if (place[j] != (uint32_t)HU_PLACE_NONE) z[j] = z[j] / sum;
  }
}

/* z is the gradient of what `chosen` read; experts.shares is its result and b the gradient of that; a is what it read,
 * or NULL: then z is the gradient of s, of which that was e^s. */
HU_AT(chosen_back) {
  const hu_experts_task *experts = &task->experts;
  const size_t at = r * task->cols;
  const float *b = task->b + at, *shares = experts->shares + at;
  const uint32_t *place = experts->place + at;
  const float slope = experts->normed ? hui_sum_of_chosen(experts, r, b, shares) : 0;
  const float sum = experts->normed && task->a ? hui_sum_of_chosen(experts, r, task->a + at, NULL) : 1;
  float *z = task->z + at;
  for (size_t j = j0; j < j1; j++) {
    const float less = b[j] - slope;
    z[j] = place[j] == (uint32_t)HU_PLACE_NONE ? 0 : task->a ? less / sum : shares[j] * less;
  }
}

/* Counts the rows that chose expert r. */
HU_AT(expert_count) {
  const hu_experts_task *experts = &task->experts;
  uint32_t count = 0;
  (void)j0, (void)j1;
  for (size_t i = 0; i < experts->rows; i++)
    count += experts->place[i * experts->experts + r] != (uint32_t)HU_PLACE_NONE;
  experts->counts[r] = count;
}

/* Returns how many rows an expert takes. */
HU_INSIDE size_t hui_taken(const hu_experts_task *experts, size_t expert) {
  const size_t count = experts->counts[expert];
  return experts->capacity && count > experts->capacity ? experts->capacity : count;
}

/* Gives the rows that chose expert r their places: behind those of the experts before it, in order, and no more than it
 * takes. The last expert marks what is left. */
HU_AT(expert_places) {
  const hu_experts_task *experts = &task->experts;
  size_t at = 0, end;
  (void)j0, (void)j1;
  for (size_t j = 0; j < r; j++) at += hui_taken(experts, j);
  end = at + hui_taken(experts, r);
  for (size_t i = 0; i < experts->rows; i++) {
    const size_t number = i * experts->experts + r;
    if (experts->place[number] == (uint32_t)HU_PLACE_NONE) continue;
    experts->place[number] = at < end ? (uint32_t)at : (uint32_t)HU_PLACE_DROPPED;
    if (at < end) experts->source[at++] = (uint32_t)number;
  }
  if (r + 1 < experts->experts) return;
  for (; at < experts->rows * experts->chosen; at++) experts->source[at] = (uint32_t)HU_PLACE_NONE;
}

/* Row r of z, a row of the experts, is the row of a that has this place, times its share if experts.shares is not NULL;
 * +0 if there is none. */
HU_AT(expert_rows) {
  const hu_experts_task *experts = &task->experts;
  const uint32_t number = experts->source[r];
  float *z = task->z + r * task->cols;
  if (number == (uint32_t)HU_PLACE_NONE) {
    HU_EACH_COLUMN z[j] = 0;
    return;
  }
  const float *a = task->a + number / experts->experts * task->cols;
  if (experts->shares) {
    const float share = experts->shares[number];
    HU_EACH_COLUMN z[j] = share * a[j];
  } else {
    HU_EACH_COLUMN z[j] = a[j];
  }
}

/* Row r of z is the sum over its places, first expert first, from +0, of the row of a there, times its share if
 * experts.shares is not NULL. */
HU_AT(expert_sums) {
  const hu_experts_task *experts = &task->experts;
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = 0;
  for (size_t i = 0; i < experts->experts; i++) {
    const uint32_t place = experts->place[r * experts->experts + i];
    if (place >= (uint32_t)HU_PLACE_DROPPED) continue;
    const float *a = task->a + place * task->cols;
    const float share = experts->shares ? experts->shares[r * experts->experts + i] : 1;
    HU_EACH_COLUMN z[j] += share * a[j];
  }
}

/* z gets the gradient of each share of row r: the row sum of a, the row's gradient, times the row of b at its place; +0
 * where there is none. */
HU_AT(expert_shares) {
  const hu_experts_task *experts = &task->experts;
  (void)j0, (void)j1;
  for (size_t i = 0; i < experts->experts; i++) {
    const uint32_t place = experts->place[r * experts->experts + i];
    task->z[r * experts->experts + i] =
        place >= (uint32_t)HU_PLACE_DROPPED
            ? 0
            : hui_sum_of_row(task->cols, task->a + r * task->cols, task->b + place * task->cols);
  }
}

/* z is the part of the rows that chose an expert; there is one row. */
HU_AT(load) {
  (void)r;
  for (size_t j = j0; j < j1; j++) task->z[j] = (float)task->experts.counts[j] / (float)task->experts.rows;
}

/* z[r] is the largest number of row r of a plus b[r]. */
HU_AT(log_sums) {
  const float *a = task->a + r * task->cols;
  (void)j0, (void)j1;
  task->z[r] = a[hui_first_largest(task->cols, a)] + task->b[r];
}

/* Multiplies row r of a by the number b[r]. */
HU_AT(times_column) {
  const float *a = task->a + r * task->cols, b = task->b[r];
  float *z = task->z + r * task->cols;
  HU_EACH_COLUMN z[j] = a[j] * b;
}

#endif
