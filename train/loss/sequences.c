/* SPDX-License-Identifier: MIT */
/* Sequences of labels: their check, what a net reads, and how far that is from them. */
#include <stdint.h>
#include <stdlib.h>

#include "train/loss/loss.h"

hu_status hui_check_sequences(hu_net *net, const hu_operator *op, const uint32_t *labels) {
  const hu_value *x = &net->value[op->in[0]];
  const size_t steps = x->rows / net->batch;
  size_t longest = 0;
  for (size_t i = 0; i < net->batch; i++) {
    size_t n = 0, at = 0;
    for (; at < steps; at++) {
      const uint32_t label = labels[i * steps + at];
      if (label == HU_LABEL_NONE) continue;
      if (label >= x->cols || label == op->loss.blank || n != at) return HU_E_SHAPE;
      n++;
    }
    if (n > longest) longest = n;
  }
  net->longest = longest;
  return HU_OK;
}

/* ---- what a net answers ---- */

size_t hu_ctc_greedy(size_t steps, size_t cols, const float *x, uint32_t blank, uint32_t *labels) {
  size_t n = 0, before = blank;
  for (size_t t = 0; t < steps; t++) {
    size_t best = 0;
    for (size_t j = 1; j < cols; j++) best = x[t * cols + j] > x[t * cols + best] ? j : best;
    if (best != blank && best != before) labels[n++] = (uint32_t)best;
    before = best;
  }
  return n;
}

size_t hu_edit_distance(size_t n, const uint32_t *x, size_t m, const uint32_t *y) {
  size_t *row = malloc((m + 1) * sizeof *row);
  if (!row) return SIZE_MAX;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 0; i < n; i++) {
    size_t corner = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < m; j++) {
      size_t least = corner + (x[i] != y[j]);
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j + 1] + 1 < least) least = row[j + 1] + 1;
      corner = row[j + 1];
      row[j + 1] = least;
    }
  }
  size_t distance = row[m];
  free(row);
  return distance;
}
