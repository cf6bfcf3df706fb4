/* SPDX-License-Identifier: MIT */
/* halfulp/train/gradient.h - what happens to gradients between the backward pass and the optimizer, in binary32.
 *
 *   hu_gradient_rules rules = hu_gradient_rules_none();
 *   rules.clip = 1;
 *   hu_gradient_tensor x[2] = {{n0, g0, w0, {HU_PENALTY_L2, 1e-5}, 0}, {n1, g1, w1, {HU_PENALTY_NONE, 0}, 0}};
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
 *   3. clipping   N = square root of the sum of g^2 over all tensors that are not `unclipped`; where N > clip:
 *                 g = rn(g rn(clip / N)) of these tensors
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

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the factor on the loss that keeps small gradients above the smallest number ----
 *
 *   hu_loss_rule rule;
 *   if (hu_loss_rule_parse(&rule, "backoff(scale_max=16777216,step_window=1000)", NULL) != HU_OK) ...
 *   hu_loss_scale s = hu_loss_scale_start(&rule);
 *   for each step:
 *     gradients of s.scale times the loss; then per array hu_gradient_unscale_n(n, g, s.scale, &found);
 *     if (hu_loss_scale_update(&s, &rule, found)) the optimizer's step; else nothing changes but s
 *
 * A rule is a plain record, and so is the state that it moves; neither is hidden, both can be stored. The argument
 * `found` of `update` says what the unscaled gradients of one step contained. The scale is always a positive binary32
 * number. The caller's floating-point environment changes nothing (train.h).
 *
 * Rules, their text, and the keys with their defaults (no blanks; keys in any order, each at most once):
 *
 *   none                     the scale 1; every step is taken
 *   static(S)                the scale S; a step with an infinity or a NaN is not taken
 *                            (Micikevicius et al., Mixed Precision Training, ICLR 2018, section 3.2)
 *   static(S,unchecked)      every step is taken, as OpenSeq2Seq does with a number
 *   backoff(scale_min=1,scale_max=16384,step_factor=2,step_window=2000,start=scale_max)
 *                            after a bad step S / step_factor; after a good one S step_factor if step_window divides
 *                            (iteration - iteration of the last bad step, -1 before the first); within the limits
 *                            (OpenSeq2Seq, BackoffScaler)
 *   logmax(scale_min=1,scale_max=16384,log_max=16,beta1=0.99,beta2=0.999,overflow_std_dev=3.09,start=1[,literal])
 *   lognormal(...)           the same: 2^(16 - (mu + overflow_std_dev sigma)) within the limits, mu a fast mean of
 *                            log2 of the largest gradient, sigma its slow standard deviation (OpenSeq2Seq, LogMax in
 *                            its code, LogNormal on its page); formulas below
 *   gradscaler(init_scale=65536,growth_factor=2,backoff_factor=0.5,growth_interval=2000)
 *                            after a bad step S backoff_factor; after growth_interval good ones in a row S
 *                            growth_factor, unless that is infinite (torch.amp.GradScaler)
 *   exponential(start=1,factor=2,every=1000,scale_max=16384)
 *                            after t steps S = start factor^floor(t / every), at most scale_max: one product, rounded
 *                            to binary32, after every `every` steps. A step with an infinity or a NaN is not taken,
 *                            but it counts as a step, and S does not change because of it. (Cambier et al., Shifted
 *                            and Squeezed 8-bit Floating Point, ICLR 2020, section 4.3 and table 3, "FP8+LS(exp)".
 *                            The paper says only that many schedules were tried; keys and defaults are ours.)
 *
 * Numbers are decimal ("1e-3", "0.5") or powers of two ("2^24"). The words backoff, logmax, lognormal are read in any
 * case.
 *
 * logmax, in binary64, ties to even, in this order; x = log2(amax):
 *   xh = beta1 xh + (1 - beta1) x;  c1 = c1 beta1;  mu = xh / (1 - c1)
 *   sh = beta2 sh + (1 - beta2) x;  qh = beta2 qh + ((1 - beta2) x) x;  c2 = c2 beta2
 *   sigma = sqrt(max(qh / (1 - c2) - (sh / (1 - c2))^2, 0))
 *   scale = 2^(16 - (mu + overflow_std_dev sigma)), limited, as a binary32 number
 * log2 is rounded to 27 digits, the exponent to 26, both by halfulp/arith.h: the same bits on every machine. For a
 * bad step x = log_max; `literal` takes 2^log_max there, as the published code does, which is a logarithm of 65536 and
 * holds the scale at its minimum for thousands of steps. The published code takes the logarithm of amax = 0, and the
 * scale is NaN for ever; here a good step with amax = 0 changes nothing. */

/* Kinds of rules. */
enum {
  HU_LOSS_NONE = 0,       /* no scale */
  HU_LOSS_STATIC = 1,     /* a constant */
  HU_LOSS_BACKOFF = 2,    /* OpenSeq2Seq's Backoff */
  HU_LOSS_LOGMAX = 3,     /* OpenSeq2Seq's LogMax */
  HU_LOSS_GRADSCALER = 4, /* PyTorch's GradScaler */
  HU_LOSS_EXPONENTIAL = 5 /* grows by a factor every so many steps */
};

/* How the scale of the loss is chosen. */
typedef struct hu_loss_rule {
  uint8_t kind;       /* HU_LOSS_ */
  uint8_t unchecked;  /* static: 1: every step is taken */
  uint8_t literal;    /* logmax: as published */
  float start;        /* the first scale */
  float low, high;    /* backoff, logmax: scale_min, scale_max; exponential: 0 and scale_max; else 0 and 0 */
  float grow, shrink; /* backoff: step_factor and 1 / step_factor; gradscaler: growth_factor, backoff_factor;
                         exponential: factor and 0 */
  uint64_t window;    /* backoff: step_window; gradscaler: growth_interval; exponential: every */
  double log_max, beta1, beta2, deviations; /* logmax; deviations: overflow_std_dev */
} hu_loss_rule;

/* What a step's gradients were, divided by the scale. */
typedef struct hu_gradient_found {
  float amax;  /* the largest magnitude of the finite ones; 0 for none */
  uint8_t bad; /* 1: an infinity or a NaN among them */
} hu_gradient_found;

/* The scale, and what it has seen. */
typedef struct hu_loss_scale {
  float scale;               /* to be used in the next step */
  uint64_t iteration;        /* steps so far, taken or not */
  uint64_t skipped;          /* steps not taken */
  uint64_t since;            /* backoff: good steps since the last bad one; gradscaler: since the last change */
  double xh, sh, qh, c1, c2; /* logmax */
} hu_loss_scale;

/* HU_OK, or HU_E_TRAIN with *why, if not NULL, a static sentence that names the field. */
HU_API HU_MUST_CHECK hu_status hu_loss_rule_check(const hu_loss_rule *rule, const char **why);
/* Text to rule: HU_E_TEXT (not the grammar), HU_E_NAME (no such rule or key), HU_E_TRAIN (hu_loss_rule_check refuses
 * it); then, if where is not NULL, *where is the offset of what is wrong (0 for HU_E_TRAIN). *rule is untouched then.
 */
HU_API HU_MUST_CHECK hu_status hu_loss_rule_parse(hu_loss_rule *rule, const char *text, size_t *where);
/* Rule to text with every key that is not at its default, which parses to the rule. Returns the length needed, like
 * snprintf; 0 for a rule that is not valid. HU_LOSS_RULE_TEXT_MAX bytes always suffice. */
#define HU_LOSS_RULE_TEXT_MAX 256
HU_API size_t hu_loss_rule_text(char *text, size_t size, const hu_loss_rule *rule);

/* The state before the first step; all zero for a rule that is not valid. */
HU_API hu_loss_scale hu_loss_scale_start(const hu_loss_rule *rule);
/* One step's gradients were as found: moves the state and returns 1 if the step is to be taken, 0 if not. */
HU_API int hu_loss_scale_update(hu_loss_scale *scale, const hu_loss_rule *rule, hu_gradient_found found);

/* g[i] = g[i] (1/scale), 1/scale rounded to binary32, the product rounded to binary32, ties to even (exact for powers
 * of two but where the product is subnormal); *found, to be zero before the first array of a step, takes the results
 * in. g may be unaligned to nothing but float. */
HU_API void hu_gradient_unscale_n(size_t n, float *g, float scale, hu_gradient_found *found);

/* The largest power of two S for which gradients of magnitude up to gmax > 0 stay below the smallest magnitude that
 * rounds to infinity in a format with the largest number `max`, less `margin` binades:
 * 2^(floor(log2(max / gmax)) - margin), max / gmax as a real number (Micikevicius et al., section 3.2: max 65504).
 * Limited to binary32's powers of two; 0 for arguments that are not positive and finite. */
HU_API float hu_loss_scale_of_gmax(float gmax, float max, int margin);

/* ---- penalties, clipping, LARC ---- */

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
  uint8_t unclipped; /* 1: clipping neither counts nor changes it */
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
/* Steps 1 to 4 for all tensors of a model. rate: that of the optimizer, which LARC uses. found as
 * above: amax after step 1, what was bad after step 1 or 2. norms may be NULL. Rules NULL: steps 1 and 2 alone.
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
