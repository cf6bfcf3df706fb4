/* SPDX-License-Identifier: MIT */
/* train/step/gradient.h - the order of the steps of hu_gradient_prepare (halfulp/train/gradient.h), and who makes them:
 * loops over the host's arrays, or an engine whose memory is another (train/net/gradients.c). */
#ifndef HALFULP_TRAIN_STEP_GRADIENT_H
#define HALFULP_TRAIN_STEP_GRADIENT_H

#include "halfulp/train/gradient.h"

/* What is done to all tensors of a model; each returns what can go wrong, and what it does is in that header. */
typedef struct hu_gradient_maker {
  void *self;
  /* g = g / scale; *found is of all of them. penalised: 1: only of tensors with a penalty. */
  hu_status (*unscale)(void *self, float scale, int penalised, hu_gradient_found *found);
  /* g + scale R' of tensors with a penalty. */
  hu_status (*penalise)(void *self, float scale);
  /* Sums of squares of every tensor's g, and (w not NULL) of every tensor's w. */
  hu_status (*squares)(void *self, double *g, double *w);
  /* g factor, of one tensor. */
  hu_status (*times)(void *self, size_t tensor, float factor);
} hu_gradient_maker;

/* hu_gradient_prepare by a maker; g of x, and w, may be in a memory that is not the host's. HU_E_MEMORY, too: sums of
 * squares have space for two numbers a tensor. */
hu_status hui_gradient_prepare_by(const hu_gradient_maker *maker, size_t tensors, const hu_gradient_tensor *tensor,
                                  const hu_gradient_rules *rules, float scale, double rate, hu_gradient_found *found,
                                  hu_gradient_norms *norms);
/* What a penalty multiplies w by (L2), or is the size of R' (L1). */
float hui_penalty_factor(const hu_penalty *penalty);

#endif
