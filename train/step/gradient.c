/* SPDX-License-Identifier: MIT */
/* Prepares gradients between the backward pass and the optimizer: unscales, penalises and clips them. */
#include "halfulp/train/gradient.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "train/environment.h"

hu_gradient_rules hu_gradient_rules_none(void) {
  hu_gradient_rules r;
  memset(&r, 0, sizeof r);
  r.larc_eta = 0.001;
  r.larc_least = r.larc_eps = 1e-7;
  return r;
}

/* ---- what is refused ---- */

static int some(double x) { return x >= 0 && x <= (double)FLT_MAX; }

static HU_NOINLINE hu_status check_penalty(const hu_penalty *p, const char **why) {
  const char *what = NULL;
  if (!p) return HU_E_NULL;
  if (p->kind > HU_PENALTY_L1) what = "penalty: unknown";
  if (!some(2 * p->lambda)) what = "lambda: negative, or twice it is beyond binary32";
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_penalty_check(const hu_penalty *p, const char **why) { HU_ENV_RETURN(hu_status, check_penalty(p, why)); }

static HU_NOINLINE hu_status check_rules(const hu_gradient_rules *r, const char **why) {
  const char *what = NULL;
  if (!r) return HU_E_NULL;
  if (r->literal > 1) what = "literal: neither 0 nor 1";
  if (r->larc > HU_LARC_SCALE) what = "larc: unknown";
  if (!some(r->clip)) what = "clip: negative or not finite";
  if (!some(r->larc_eta)) what = "larc_eta: negative or not finite";
  if (!some(r->larc_least)) what = "larc_least: negative or not finite";
  if (!(some(r->larc_eps) && (r->larc == HU_LARC_NONE || r->larc_eps > 0))) what = "larc_eps: not positive and finite";
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_gradient_rules_check(const hu_gradient_rules *r, const char **why) {
  HU_ENV_RETURN(hu_status, check_rules(r, why));
}

static hu_status check(size_t tensors, const hu_gradient_tensor *x, const hu_gradient_rules *rules, float scale,
                       double rate) {
  hu_status s = hu_gradient_rules_check(rules, NULL);
  if (s == HU_OK && !(scale > 0 && scale <= FLT_MAX)) s = HU_E_TRAIN;
  if (s == HU_OK && rules->larc == HU_LARC_CLIP && !(rate > 0 && some(rate))) s = HU_E_TRAIN;
  if (s == HU_OK && tensors && !x) s = HU_E_NULL;
  for (size_t i = 0; i < tensors && s == HU_OK; i++) {
    int read = x[i].penalty.kind != HU_PENALTY_NONE || rules->larc != HU_LARC_NONE;
    s = hu_penalty_check(&x[i].penalty, NULL);
    if (s == HU_OK && x[i].n && (!x[i].g || (read && !x[i].w))) s = HU_E_NULL;
  }
  return s;
}

/* ---- the steps ---- */

/* g + scale R'; scale 1: R' as it is, for 1 times a number is that number. */
static void penalise(const hu_gradient_tensor *x, float scale) {
  float l = (float)(x->penalty.kind == HU_PENALTY_L2 ? 2 * x->penalty.lambda : x->penalty.lambda);
  if (x->penalty.kind == HU_PENALTY_NONE) return;
  for (size_t i = 0; i < x->n; i++) {
    float w = x->w[i], slope = l * w;
    if (x->penalty.kind == HU_PENALTY_L1) slope = w > 0 ? l : w < 0 ? -l : 0;
    slope *= scale;
    x->g[i] += slope;
  }
}

static HU_NOINLINE double squares(size_t n, const float *x) {
  double sum[16] = {0};
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (size_t k = 0; k < 16; k++) sum[k] += (double)x[i + k] * (double)x[i + k];
  }
  for (size_t k = 0; i + k < n; k++) sum[k] += (double)x[i + k] * (double)x[i + k];
  for (size_t half = 8; half; half /= 2) {
    for (size_t k = 0; k < half; k++) sum[k] += sum[k + half];
  }
  return sum[0];
}

double hu_gradient_squares_n(size_t n, const float *x) { HU_ENV_RETURN(double, squares(n, x)); }

static void times(const hu_gradient_tensor *x, float factor) {
  for (size_t i = 0; i < x->n; i++) x->g[i] *= factor;
}

static double norm_of(size_t tensors, const hu_gradient_tensor *x) {
  double sum = 0;
  for (size_t i = 0; i < tensors; i++) sum += squares(x[i].n, x[i].g);
  return sqrt(sum);
}

/* The factor of a tensor; 1: leave it. */
static float larc_factor(const hu_gradient_tensor *x, const hu_gradient_rules *r, double rate) {
  double top = r->larc_eta * sqrt(squares(x->n, x->w));
  double below = sqrt(squares(x->n, x->g)) + r->larc_eps;
  double f = r->larc == HU_LARC_CLIP ? top / (rate * below) : top / below;
  if (f < r->larc_least) f = r->larc_least;
  if (r->larc == HU_LARC_CLIP && f > 1) f = 1;
  return f < (double)FLT_MAX ? (float)f : FLT_MAX;
}

static void limit(size_t tensors, const hu_gradient_tensor *x, const hu_gradient_rules *r, double rate,
                  hu_gradient_norms *norms) {
  norms->norm = norm_of(tensors, x);
  norms->clipped = r->clip > 0 && norms->norm > r->clip;
  for (size_t i = 0; i < tensors && norms->clipped; i++) times(&x[i], (float)(r->clip / norms->norm));
  for (size_t i = 0; i < tensors && r->larc != HU_LARC_NONE; i++) {
    float f = larc_factor(&x[i], r, rate);
    norms->smaller += f < 1;
    if (f != 1) times(&x[i], f);
  }
}

static HU_NOINLINE hu_status prepare(size_t tensors, const hu_gradient_tensor *x, const hu_gradient_rules *rules,
                                     float scale, double rate, hu_gradient_found *found, hu_gradient_norms *norms) {
  hu_gradient_rules none = hu_gradient_rules_none();
  hu_gradient_norms ignored;
  hu_gradient_found here = {0, 0};
  if (!found) return HU_E_NULL;
  if (!norms) norms = &ignored;
  int wanted = norms != &ignored || (rules && (rules->clip > 0 || rules->larc != HU_LARC_NONE));
  if (!rules) rules = &none;
  hu_status s = check(tensors, x, rules, scale, rate);
  if (s != HU_OK) return s;
  memset(norms, 0, sizeof *norms);
  for (size_t i = 0; i < tensors; i++) {
    if (rules->literal) penalise(&x[i], scale);
    hu_gradient_unscale_n(x[i].n, x[i].g, scale, &here);
  }
  found->amax = here.amax > found->amax ? here.amax : found->amax;
  found->bad |= here.bad;
  if (here.bad) return HU_OK;
  for (size_t i = 0; i < tensors && !rules->literal; i++) {
    hu_gradient_found after = {0, 0};
    if (x[i].penalty.kind == HU_PENALTY_NONE) continue;
    penalise(&x[i], 1);
    hu_gradient_unscale_n(x[i].n, x[i].g, 1, &after); /* changes nothing; sees what the sum has become */
    found->bad |= after.bad;
  }
  if (wanted && !found->bad) limit(tensors, x, rules, rate, norms);
  return HU_OK;
}

hu_status hu_gradient_prepare(size_t tensors, const hu_gradient_tensor *x, const hu_gradient_rules *rules, float scale,
                              double rate, hu_gradient_found *found, hu_gradient_norms *norms) {
  HU_ENV_RETURN(hu_status, prepare(tensors, x, rules, scale, rate, found, norms));
}

static HU_NOINLINE void gather(size_t n, float *sum, const float *g, uint32_t parts) {
  float d = (float)parts;
  for (size_t i = 0; i < n; i++) {
    float part = g[i] / d;
    sum[i] += part;
  }
}

void hu_gradient_gather_n(size_t n, float *sum, const float *g, uint32_t parts) { HU_ENV_DO(gather(n, sum, g, parts)); }
