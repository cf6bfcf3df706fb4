/* SPDX-License-Identifier: MIT */
/* Prepares gradients between the backward pass and the optimizer: unscales, penalises and clips them. */
#include "train/step/gradient.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/environment.h"
#include "train/text/constant.h"

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
  static _Thread_local char lost[HU_CONSTANT_WHY_MAX];
  const char *what = NULL;
  if (!p) return HU_E_NULL;
  if (p->kind > HU_PENALTY_L1) what = "penalty: unknown";
  if (!some(2 * p->lambda)) what = "lambda: negative, or twice it is beyond binary32";
  if (!what && p->kind != HU_PENALTY_NONE)
    what = hu_constant_wrong(lost, "lambda", p->lambda, hu_binary32(), "binary32");
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

/* ---- the steps on the host's arrays ---- */

float hu_penalty_factor(const hu_penalty *p) { return (float)(p->kind == HU_PENALTY_L2 ? 2 * p->lambda : p->lambda); }

/* g + scale R'; scale 1: R' as it is, for 1 times a number is that number. */
static void penalise(const hu_gradient_tensor *x, float scale) {
  float l = hu_penalty_factor(&x->penalty);
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

typedef struct host {
  size_t tensors;
  const hu_gradient_tensor *x;
} host;

static hu_status host_unscale(void *self, float scale, int penalised, hu_gradient_found *found) {
  const host *h = self;
  for (size_t i = 0; i < h->tensors; i++) {
    if (penalised && h->x[i].penalty.kind == HU_PENALTY_NONE) continue;
    hu_gradient_unscale_n(h->x[i].n, h->x[i].g, scale, found);
  }
  return HU_OK;
}

static hu_status host_penalise(void *self, float scale) {
  const host *h = self;
  for (size_t i = 0; i < h->tensors; i++) penalise(&h->x[i], scale);
  return HU_OK;
}

static hu_status host_squares(void *self, double *g, double *w) {
  const host *h = self;
  for (size_t i = 0; i < h->tensors; i++) {
    g[i] = squares(h->x[i].n, h->x[i].g);
    if (w) w[i] = squares(h->x[i].n, h->x[i].w);
  }
  return HU_OK;
}

static hu_status host_times(void *self, size_t tensor, float factor) {
  const hu_gradient_tensor *x = &((const host *)self)->x[tensor];
  for (size_t i = 0; i < x->n; i++) x->g[i] *= factor;
  return HU_OK;
}

/* ---- their order ---- */

/* A step, and the sums of squares of each tensor. */
typedef struct job {
  const hu_gradient_maker *make;
  const hu_gradient_rules *rules;
  size_t tensors;
  double rate, *g, *w;
} job;

static hu_status times_all(const job *j, float factor) {
  hu_status s = HU_OK;
  for (size_t i = 0; i < j->tensors && s == HU_OK; i++) s = j->make->times(j->make->self, i, factor);
  return s;
}

/* The factor of tensor i; 1: leave it. */
static float larc_factor(const job *j, size_t i) {
  const hu_gradient_rules *r = j->rules;
  double top = r->larc_eta * sqrt(j->w[i]);
  double below = sqrt(j->g[i]) + r->larc_eps;
  double f = r->larc == HU_LARC_CLIP ? top / (j->rate * below) : top / below;
  if (f < r->larc_least) f = r->larc_least;
  if (r->larc == HU_LARC_CLIP && f > 1) f = 1;
  return f < (double)FLT_MAX ? (float)f : FLT_MAX;
}

/* j->g: the sums of squares, again where clipping changed the gradients. */
static hu_status scale_layers(const job *j, hu_gradient_norms *norms) {
  hu_status s = norms->clipped ? j->make->squares(j->make->self, j->g, NULL) : HU_OK;
  for (size_t i = 0; i < j->tensors && s == HU_OK; i++) {
    float f = larc_factor(j, i);
    norms->smaller += f < 1;
    if (f != 1) s = j->make->times(j->make->self, i, f);
  }
  return s;
}

static hu_status limit(const job *j, hu_gradient_norms *norms) {
  const hu_gradient_rules *r = j->rules;
  hu_status s = j->make->squares(j->make->self, j->g, r->larc == HU_LARC_NONE ? NULL : j->w);
  double sum = 0;
  if (s != HU_OK) return s;
  for (size_t i = 0; i < j->tensors; i++) sum += j->g[i];
  norms->norm = sqrt(sum);
  norms->clipped = r->clip > 0 && norms->norm > r->clip;
  if (norms->clipped) s = times_all(j, (float)(r->clip / norms->norm));
  return s == HU_OK && r->larc != HU_LARC_NONE ? scale_layers(j, norms) : s;
}

/* The gradients without their scale, with their penalties. */
static hu_status unscale(const hu_gradient_maker *m, int literal, float scale, hu_gradient_found *found) {
  hu_gradient_found here = {0, 0}, after = {0, 0};
  hu_status s = literal ? m->penalise(m->self, scale) : HU_OK;
  if (s == HU_OK) s = m->unscale(m->self, scale, 0, &here);
  found->amax = here.amax > found->amax ? here.amax : found->amax;
  found->bad |= here.bad;
  if (s != HU_OK || here.bad || literal) return s;
  s = m->penalise(m->self, 1);
  if (s == HU_OK) s = m->unscale(m->self, 1, 1, &after); /* changes nothing; sees what the sum has become */
  found->bad |= after.bad;
  return s;
}

static int has_penalty(size_t tensors, const hu_gradient_tensor *x) {
  for (size_t i = 0; i < tensors; i++) {
    if (x[i].penalty.kind != HU_PENALTY_NONE) return 1;
  }
  return 0;
}

hu_status hu_gradient_prepare_by(const hu_gradient_maker *maker, size_t tensors, const hu_gradient_tensor *x,
                                 const hu_gradient_rules *rules, float scale, double rate, hu_gradient_found *found,
                                 hu_gradient_norms *norms) {
  hu_gradient_rules none = hu_gradient_rules_none();
  int wanted = norms || (rules && (rules->clip > 0 || rules->larc != HU_LARC_NONE));
  hu_gradient_norms ignored;
  if (!found) return HU_E_NULL;
  if (!norms) norms = &ignored;
  if (!rules) rules = &none;
  hu_status s = check(tensors, x, rules, scale, rate);
  if (s != HU_OK) return s;
  job j = {maker, rules, tensors, rate, NULL, NULL};
  if (wanted) j.g = malloc((2 * tensors + 1) * sizeof *j.g);
  if (wanted && !j.g) return HU_E_MEMORY;
  j.w = wanted ? j.g + tensors : NULL;
  memset(norms, 0, sizeof *norms);
  /* Without penalties both orders are one, and nothing is to be looked at twice. */
  s = unscale(maker, rules->literal || !has_penalty(tensors, x), scale, found);
  if (s == HU_OK && wanted && !found->bad) s = limit(&j, norms);
  free(j.g);
  return s;
}

static HU_NOINLINE hu_status prepare(size_t tensors, const hu_gradient_tensor *x, const hu_gradient_rules *rules,
                                     float scale, double rate, hu_gradient_found *found, hu_gradient_norms *norms) {
  host h = {tensors, x};
  const hu_gradient_maker maker = {&h, host_unscale, host_penalise, host_squares, host_times};
  return hu_gradient_prepare_by(&maker, tensors, x, rules, scale, rate, found, norms);
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
