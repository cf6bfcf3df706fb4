/* SPDX-License-Identifier: MIT */
/* train/trainer/bleu.h - how much translations have in common with others: BLEU of Papineni et al. (2002). */
#ifndef HALFULP_TRAIN_TRAINER_BLEU_H
#define HALFULP_TRAIN_TRAINER_BLEU_H

#include <stddef.h>
#include <stdint.h>

#include "train/trainer/figures.h"

/* Sums over the sentences of a corpus, whole numbers all: for n = 1 ... 4 the parts of n words that have a partner,
 * then all parts of n words; then the words of the translations and of the references. */
enum { HU_BLEU_PARTS = 4, HU_BLEU_NUMBERS = 2 * HU_BLEU_PARTS + 2 };
typedef struct hu_bleu {
  double number[HU_BLEU_NUMBERS];
} hu_bleu;

/* Adds a translation and its reference. A part's partners in the reference are as many as it stands there (clipped
 * counts). */
void hui_bleu_add(hu_bleu *bleu, size_t words, const uint32_t *text, size_t others, const uint32_t *reference);
/* 100 times the geometric mean of the four shares, times e^(1 - references / translations) where the translations are
 * not longer; 0 where there is a share of 0. In binary64, with the same bits on every machine: the mean is two square
 * roots. */
double hui_bleu_of(const hu_bleu *bleu);

#endif
