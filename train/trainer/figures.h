/* SPDX-License-Identifier: MIT */
/* train/trainer/figures.h - figures of an evaluation: perplexity, and how scores rank examples. */
#ifndef HALFULP_TRAIN_TRAINER_FIGURES_H
#define HALFULP_TRAIN_TRAINER_FIGURES_H

#include <stddef.h>
#include <stdint.h>

/* e^x in binary64, within 2 units in the last place, with the same bits on every machine: single operations of IEEE 754
 * alone. NaN of NaN; above 709.78 infinity. */
double hu_exp_of_loss(double x);

#endif
