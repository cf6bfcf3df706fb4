/* SPDX-License-Identifier: MIT */
/* Figures of an evaluation. */
#include "train/trainer/figures.h"

#include <math.h>
#include <stdlib.h>

/* ---- ranks ---- */

typedef struct hu_scored {
  double score;
  uint32_t label;
} hu_scored;

static int by_score(const void *a, const void *b) {
  double x = ((const hu_scored *)a)->score, y = ((const hu_scored *)b)->score;
  return x < y ? -1 : x > y;
}

/* Twice the number of pairs that are in order, of examples by their scores. */
static uint64_t pairs_in_order(size_t n, const hu_scored *scored) {
  uint64_t twice = 0, below = 0; /* examples with label 0 and a smaller score */
  for (size_t i = 0, end; i < n; i = end) {
    uint64_t count[2] = {0, 0};
    for (end = i; end < n && scored[end].score == scored[i].score; end++) count[scored[end].label]++;
    twice += count[1] * (2 * below + count[0]);
    below += count[0];
  }
  return twice;
}

hu_status hui_auc(size_t n, const double *score, const uint32_t *label, double *z) {
  uint64_t ones = 0;
  hu_scored *scored = malloc((n + 1) * sizeof *scored);
  if (!scored) return HU_E_MEMORY;
  *z = (double)NAN;
  for (size_t i = 0; i < n; i++) {
    scored[i] = (hu_scored){score[i], label[i]};
    ones += label[i];
    if (isnan(score[i])) n = ones = 0; /* no rank is known */
  }
  if (ones && ones < n) {
    qsort(scored, n, sizeof *scored, by_score);
    *z = (double)pairs_in_order(n, scored) / (double)(2 * ones * (n - ones));
  }
  free(scored);
  return HU_OK;
}

void hui_rank_groups(size_t groups, size_t size, const double *score, double *hit, double *ndcg) {
  enum { BEST = 10 };
  static const double gain[BEST] = {0x1p0, /* 1 / log2(2), 1 / log2(3), ..., to nearest */
                                    0x1.430939835353dp-1,
                                    0x1p-1,
                                    0x1.b903469050f73p-2,
                                    0x1.8c23246dc0a9fp-2,
                                    0x1.6cc193acea9b5p-2,
                                    0x1.5555555555555p-2,
                                    0x1.430939835353dp-2,
                                    0x1.34413509f79ffp-2,
                                    0x1.28009c1dd6454p-2};
  size_t hits = 0;
  double sum = 0;
  for (size_t g = 0; g < groups; g++) {
    const double *x = score + g * size;
    size_t rank = 0;
    for (size_t i = 1; i < size; i++) rank += !(x[0] > x[i]);
    if (rank >= BEST) continue;
    hits++;
    sum += gain[rank];
  }
  *hit = (double)hits / (double)groups;
  *ndcg = sum / (double)groups;
}
