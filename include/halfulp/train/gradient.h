/* SPDX-License-Identifier: MIT */
/* halfulp/train/gradient.h - what happens to gradients between the backward pass and the optimizer, in binary32.
 *
 *   hu_gradient_rules rules = hu_gradient_rules_none();
 *   rules.clip = 1;
 *   hu_gradient_tensor x[2] = {{n0, g0, w0, {HU_PENALTY_L2, 1e-5}}, {n1, g1, w1, {HU_PENALTY_NONE, 0}}};
 *   hu_gradient_found found = {0, 0};
 *   each step:  gradients of scale.scale times the loss into g0, g1
 *               hu_status s = hu_gradient_prepare(2, x, &rules, scale.scale, rate, &found, NULL);
 *               if (hu_loss_scale_update(&scale, &rule, found)) the step of any optimizer for (w0, g0), (w1, g1)
 *
 * The wrapper of the OpenSeq2Seq mixed precision page, for any optimizer: w are binary32 master weights, so that a
 * penalty's gradient never underflows in a narrow format; thresholds are those of unscaled gradients.
 * hu_net_update_with (net.h) does the same for a network. With rn a binary32 rounding and S the loss scale, in this
 * order:
 *
 *   1. unscaled   g = rn(g rn(1 / S))                              hu_gradient_unscale_n sets `found`
 *   2. penalties  g = rn(g + R')         R' of a tensor: L2 rn(rn(2 lambda) w), of lambda |w|^2
 *                                                        L2_HALF rn(rn(lambda) w), of lambda |w|^2 / 2
 *                                                        L1 rn(lambda) with the sign of w, +0 where w is 0
 *      literal    g = rn(g + rn(S R')) before 1, as published: the same except for roundings, and `found` sees the sum
 *   3. clipping   N = square root of the sum of g^2 over all tensors; where N > clip: g = rn(g rn(clip / N))
 *   4. LARC       of each tensor, n_w and n_g the norms of w and g:   f = (eta n_w) / (rate (n_g + eps))
 *                 f = max(f, least), and at most binary32's largest number; HU_LARC_CLIP: at most 1 (HU_LARC_SCALE:
 *                 without the rate and this limit); where rn(f) is not 1: g = rn(g rn(f))
 *
 * If an infinity or a NaN is found after 1 or 2, the rest is left out: the step is not to be taken. Numbers of 3 and 4
 * are binary64, each operation rounded once. Sums of squares (exact in binary64): 16 partial sums from +0 for each
 * tensor, number i to partial sum i mod 16, in order, then partial sums k and k + 8, 4, 2, 1 added; then the tensors'
 * sums from +0 in order. No result depends on the machine, or on the caller's floating-point environment (train.h). */
#ifndef HALFULP_TRAIN_GRADIENT_H
#define HALFULP_TRAIN_GRADIENT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/train/loss_scale.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Penalties of weights, added to their gradients. */
enum {
  HU_PENALTY_NONE = 0,    /* none */
  HU_PENALTY_L2 = 1,      /* lambda |w|^2 */
  HU_PENALTY_L2_HALF = 2, /* lambda |w|^2 / 2 */
  HU_PENALTY_L1 = 3       /* lambda |w| */
};
/* Layer-wise rates. */
enum {
  HU_LARC_NONE = 0, /* none */
  HU_LARC_CLIP = 1, /* the rate is limited */
  HU_LARC_SCALE = 2 /* the rate is multiplied */
};

/* A penalty of one tensor. */
typedef struct hu_penalty {
  uint8_t kind;  /* HU_PENALTY_ */
  double lambda; /* not negative; 2 lambda (L2), lambda within binary32 */
} hu_penalty;

/* What happens to gradients before the update. */
typedef struct hu_gradient_rules {
  uint8_t literal; /* 1: penalties before the division by the loss scale */
  uint8_t larc;    /* HU_LARC_ */
  double clip;     /* the largest global norm; 0: any */
  double larc_eta; /* at most this share of the weights' norm moves (clip), moves times the rate (scale) */
  double larc_least, larc_eps;
} hu_gradient_rules;

/* The gradient of one tensor. */
typedef struct hu_gradient_tensor {
  size_t n;
  float *g;
  const float *w; /* master weights; NULL where neither a penalty nor LARC reads them */
  hu_penalty penalty;
} hu_gradient_tensor;

/* What clipping and LARC met. */
typedef struct hu_gradient_norms {
  double norm;      /* N; 0 if the step is not to be taken */
  uint8_t clipped;  /* 1: N was above clip */
  uint64_t smaller; /* tensors whose factor of LARC was below 1 */
} hu_gradient_norms;

/* Nothing; LARC's numbers as published: eta 0.001 (which has no published default), least and eps 1e-7. */
HU_API hu_gradient_rules hu_gradient_rules_none(void);
/* HU_OK, or HU_E_TRAIN with *why, if not NULL, a static sentence that names the field. */
HU_API HU_MUST_CHECK hu_status hu_gradient_rules_check(const hu_gradient_rules *rules,
                                                       const char **why); /* rules of gradients */
HU_API HU_MUST_CHECK hu_status hu_penalty_check(const hu_penalty *penalty,
                                                const char **why); /* the penalty of a loss */
/* Steps 1 to 4 for all tensors of a model. rate: that of the optimizer, which LARC uses. found as in
 * loss_scale.h: amax after step 1, what was bad after step 1 or 2. norms may be NULL. Rules NULL: steps 1 and 2 alone.
 * Errors, with nothing changed: HU_E_NULL (g, or w that is wanted), HU_E_TRAIN (a rule, a penalty, a scale that is not
 * positive and finite, a rate that is not where LARC clips), HU_E_MEMORY. */
HU_API HU_MUST_CHECK hu_status hu_gradient_prepare(size_t tensors, const hu_gradient_tensor *x,
                                                   const hu_gradient_rules *rules, float scale, double rate,
                                                   hu_gradient_found *found, hu_gradient_norms *norms);
/* The sum of squares of one tensor, as above. */
HU_API double hu_gradient_squares_n(size_t n, const float *x);
/* sum[i] = rn(sum[i] + rn(g[i] / parts)): gradients of `parts` parts of a batch, one after another, unscaled. A large
 * batch in parts gets the mean of their gradients before it is clipped. */
HU_API void hu_gradient_gather_n(size_t n, float *sum, const float *g, uint32_t parts);

#ifdef __cplusplus
}
#endif
#endif
