/* SPDX-License-Identifier: MIT */
/* train/trainer/figures.h - figures of an evaluation: perplexity, and how scores rank examples. */
#ifndef HALFULP_TRAIN_TRAINER_FIGURES_H
#define HALFULP_TRAIN_TRAINER_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

/* The area under the ROC curve: of all pairs of an example with label 1 and one with label 0, the share in which the
 * former has the larger score; a pair of equal scores counts half. Exact, except for one rounding of each of the two
 * counts and of their quotient. NaN where a score is NaN, or a label is missing. n < 2^32. HU_E_MEMORY. */
hu_status hui_auc(size_t n, const double *score, const uint32_t *label, double *z);

/* Groups of `size` scores, of which the first is the positive's. Its rank is the number of others that it is not
 * greater than: equal scores, and NaN, stand against it. *hit: share of the groups with a rank below 10 (HR@10); *ndcg:
 * mean of 1 / log2(rank + 2) in these groups and 0 in others (NDCG@10), in binary64, added up in order. */
void hui_rank_groups(size_t groups, size_t size, const double *score, double *hit, double *ndcg);

#endif
