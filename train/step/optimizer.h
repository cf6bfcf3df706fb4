/* SPDX-License-Identifier: MIT */
/* train/step/optimizer.h - reads from the record of an optimizer what its step needs. */
#ifndef HALFULP_TRAIN_STEP_OPTIMIZER_H
#define HALFULP_TRAIN_STEP_OPTIMIZER_H

#include "halfulp/train/optimizer.h"

/* Which arrays an optimizer has beside weights, gradients and Kahan terms: m; v. */
int hui_optimizer_has_m(const hu_optimizer *optimizer);
int hui_optimizer_has_v(const hu_optimizer *optimizer);
/* Returns 1 if a moment is stored in a form of its own. */
int hui_optimizer_stores(const hu_optimizer *optimizer);
/* Returns the bits that n elements take beside their weights: moments and Kahan terms, of a record that was checked. */
uint64_t hui_optimizer_state_bits(size_t n, const hu_optimizer *optimizer);
/* A rate or a factor as the format of the state keeps it, to which every step rounds it. */
double hui_optimizer_scalar(const hu_optimizer *optimizer, double x);

/* Returns the rate of a step, which is not rounded yet: of Adam with the correction outside it is multiplied. */
double hui_optimizer_rate(const hu_optimizer *optimizer, const hu_optimizer_time *now);
/* Returns Muon's factor, which is not rounded yet. */
double hui_muon_factor(const hu_optimizer_matrix *matrix, unsigned aspect);

#endif
