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
  hu_gradient_rules rules;
  memset(&rules, 0, sizeof rules);
  rules.larc_eta = 0.001;
  rules.larc_least = rules.larc_eps = 1e-7;
  return rules;
}

/* ---- what is refused ---- */

static int some(double x) { return x >= 0 && x <= (double)FLT_MAX; }

static HU_NOINLINE hu_status check_penalty(const hu_penalty *penalty, const char **why) {
  static _Thread_local char lost[HU_CONSTANT_WHY_MAX];
  const char *what = NULL;
  if (!penalty) return HU_E_NULL;
  if (penalty->kind > HU_PENALTY_L1) what = "penalty: unknown";
  if (!some(2 * penalty->lambda)) what = "lambda: negative, or twice it is beyond binary32";
  if (!what && penalty->kind != HU_PENALTY_NONE)
    what = hui_constant_wrong(lost, "lambda", penalty->lambda, hu_binary32(), "binary32");
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_penalty_check(const hu_penalty *penalty, const char **why) {
  HU_ENV_RETURN(hu_status, check_penalty(penalty, why));
}

static HU_NOINLINE hu_status check_rules(const hu_gradient_rules *rules, const char **why) {
  const char *what = NULL;
  if (!rules) return HU_E_NULL;
  if (rules->literal > 1) what = "literal: neither 0 nor 1";
  if (rules->larc > HU_LARC_SCALE) what = "larc: unknown";
  if (!some(rules->clip)) what = "clip: negative or not finite";
  if (!some(rules->larc_eta)) what = "larc_eta: negative or not finite";
  if (!some(rules->larc_least)) what = "larc_least: negative or not finite";
  if (!(some(rules->larc_eps) && (rules->larc == HU_LARC_NONE || rules->larc_eps > 0)))
    what = "larc_eps: not positive and finite";
  if (what && why) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_gradient_rules_check(const hu_gradient_rules *rules, const char **why) {
  HU_ENV_RETURN(hu_status, check_rules(rules, why));
}

static hu_status check(size_t tensors, const hu_gradient_tensor *tensor, const hu_gradient_rules *rules, float scale,
                       double rate) {
  hu_status status = hu_gradient_rules_check(rules, NULL);
  if (status == HU_OK && !(scale > 0 && scale <= FLT_MAX)) status = HU_E_TRAIN;
  if (status == HU_OK && rules->larc == HU_LARC_CLIP && !(rate > 0 && some(rate))) status = HU_E_TRAIN;
  if (status == HU_OK && tensors && !tensor) status = HU_E_NULL;
  for (size_t i = 0; i < tensors && status == HU_OK; i++) {
    int read = tensor[i].penalty.kind != HU_PENALTY_NONE || rules->larc != HU_LARC_NONE;
    status = hu_penalty_check(&tensor[i].penalty, NULL);
    if (status == HU_OK && tensor[i].n && (!tensor[i].g || (read && !tensor[i].w))) status = HU_E_NULL;
  }
  return status;
}

/* ---- the steps on the host's arrays ---- */

float hui_penalty_factor(const hu_penalty *penalty) {
  return (float)(penalty->kind == HU_PENALTY_L2 ? 2 * penalty->lambda : penalty->lambda);
}

/* g + scale R'; scale 1: R' as it is, for 1 times a number is that number. */
static void penalise(const hu_gradient_tensor *tensors, float scale) {
  float l = hui_penalty_factor(&tensors->penalty);
  if (tensors->penalty.kind == HU_PENALTY_NONE) return;
  for (size_t i = 0; i < tensors->n; i++) {
    float w = tensors->w[i], slope = l * w;
    if (tensors->penalty.kind == HU_PENALTY_L1) slope = w > 0 ? l : w < 0 ? -l : 0;
    slope *= scale;
    tensors->g[i] += slope;
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

typedef struct host_tensors {
  size_t tensors;
  const hu_gradient_tensor *list;
} host_tensors;

static hu_status host_unscale(void *self, float scale, int penalised, hu_gradient_found *found) {
  const host_tensors *host = self;
  for (size_t i = 0; i < host->tensors; i++) {
    if (penalised && host->list[i].penalty.kind == HU_PENALTY_NONE) continue;
    hu_gradient_unscale_n(host->list[i].n, host->list[i].g, scale, found);
  }
  return HU_OK;
}

static hu_status host_penalise(void *self, float scale) {
  const host_tensors *host = self;
  for (size_t i = 0; i < host->tensors; i++) penalise(&host->list[i], scale);
  return HU_OK;
}

static hu_status host_squares(void *self, double *g, double *w) {
  const host_tensors *host = self;
  for (size_t i = 0; i < host->tensors; i++) {
    g[i] = squares(host->list[i].n, host->list[i].g);
    if (w) w[i] = squares(host->list[i].n, host->list[i].w);
  }
  return HU_OK;
}

static hu_status host_times(void *self, size_t tensor, float factor) {
  const hu_gradient_tensor *tensors = &((const host_tensors *)self)->list[tensor];
  for (size_t i = 0; i < tensors->n; i++) tensors->g[i] *= factor;
  return HU_OK;
}

/* ---- their order ---- */

/* A step, and the sums of squares of each tensor. */
typedef struct gradient_job {
  const hu_gradient_maker *make;
  const hu_gradient_rules *rules;
  const hu_gradient_tensor *list;
  size_t tensors;
  double rate, *g, *w;
} gradient_job;

static hu_status times_clipped(const gradient_job *job, float factor) {
  hu_status status = HU_OK;
  for (size_t i = 0; i < job->tensors && status == HU_OK; i++)
    if (!job->list[i].unclipped) status = job->make->times(job->make->self, i, factor);
  return status;
}

/* The factor of tensor i; 1: leave it. */
static float larc_factor(const gradient_job *job, size_t i) {
  const hu_gradient_rules *rules = job->rules;
  double top = rules->larc_eta * sqrt(job->w[i]);
  double below = sqrt(job->g[i]) + rules->larc_eps;
  double f = rules->larc == HU_LARC_CLIP ? top / (job->rate * below) : top / below;
  if (f < rules->larc_least) f = rules->larc_least;
  if (rules->larc == HU_LARC_CLIP && f > 1) f = 1;
  return f < (double)FLT_MAX ? (float)f : FLT_MAX;
}

/* Computes the sums of squares job->g, again where clipping changed the gradients. */
static hu_status scale_layers(const gradient_job *job, hu_gradient_norms *norms) {
  hu_status status = norms->clipped ? job->make->squares(job->make->self, job->g, NULL) : HU_OK;
  for (size_t i = 0; i < job->tensors && status == HU_OK; i++) {
    float f = larc_factor(job, i);
    norms->smaller += f < 1;
    if (f != 1) status = job->make->times(job->make->self, i, f);
  }
  return status;
}

static hu_status limit(const gradient_job *job, hu_gradient_norms *norms) {
  const hu_gradient_rules *rules = job->rules;
  hu_status status = job->make->squares(job->make->self, job->g, rules->larc == HU_LARC_NONE ? NULL : job->w);
  double sum = 0;
  if (status != HU_OK) return status;
  for (size_t i = 0; i < job->tensors; i++)
    if (!job->list[i].unclipped) sum += job->g[i];
  norms->norm = sqrt(sum);
  norms->clipped = rules->clip > 0 && norms->norm > rules->clip;
  if (norms->clipped) status = times_clipped(job, (float)(rules->clip / norms->norm));
  return status == HU_OK && rules->larc != HU_LARC_NONE ? scale_layers(job, norms) : status;
}

/* Divides the scale out of the gradients and adds their penalties. */
static hu_status unscale(const hu_gradient_maker *maker, int literal, float scale, hu_gradient_found *found) {
  hu_gradient_found here = {0, 0}, after = {0, 0};
  hu_status status = literal ? maker->penalise(maker->self, scale) : HU_OK;
  if (status == HU_OK) status = maker->unscale(maker->self, scale, 0, &here);
  found->amax = here.amax > found->amax ? here.amax : found->amax;
  found->bad |= here.bad;
  if (status != HU_OK || here.bad || literal) return status;
  status = maker->penalise(maker->self, 1);
  if (status == HU_OK)
    status = maker->unscale(maker->self, 1, 1, &after); /* changes nothing; sees what the sum has become */
  found->bad |= after.bad;
  return status;
}

static int has_penalty(size_t tensors, const hu_gradient_tensor *tensor) {
  for (size_t i = 0; i < tensors; i++) {
    if (tensor[i].penalty.kind != HU_PENALTY_NONE) return 1;
  }
  return 0;
}

hu_status hui_gradient_prepare_by(const hu_gradient_maker *maker, size_t tensors, const hu_gradient_tensor *tensor,
                                  const hu_gradient_rules *rules, float scale, double rate, hu_gradient_found *found,
                                  hu_gradient_norms *norms) {
  hu_gradient_rules none = hu_gradient_rules_none();
  int needed = norms || (rules && (rules->clip > 0 || rules->larc != HU_LARC_NONE));
  hu_gradient_norms ignored;
  if (!found) return HU_E_NULL;
  if (!norms) norms = &ignored;
  if (!rules) rules = &none;
  hu_status status = check(tensors, tensor, rules, scale, rate);
  if (status != HU_OK) return status;
  gradient_job job = {.make = maker, .rules = rules, .list = tensor, .tensors = tensors, .rate = rate};
  if (needed) job.g = malloc((2 * tensors + 1) * sizeof *job.g);
  if (needed && !job.g) return HU_E_MEMORY;
  job.w = needed ? job.g + tensors : NULL;
  memset(norms, 0, sizeof *norms);
  /* Without penalties both orders are one, and nothing is to be looked at twice. */
  status = unscale(maker, rules->literal || !has_penalty(tensors, tensor), scale, found);
  if (status == HU_OK && needed && !found->bad) status = limit(&job, norms);
  free(job.g);
  return status;
}

static HU_NOINLINE hu_status prepare(size_t tensors, const hu_gradient_tensor *tensor, const hu_gradient_rules *rules,
                                     float scale, double rate, hu_gradient_found *found, hu_gradient_norms *norms) {
  host_tensors host = {tensors, tensor};
  const hu_gradient_maker maker = {&host, host_unscale, host_penalise, host_squares, host_times};
  return hui_gradient_prepare_by(&maker, tensors, tensor, rules, scale, rate, found, norms);
}

hu_status hu_gradient_prepare(size_t tensors, const hu_gradient_tensor *tensor, const hu_gradient_rules *rules,
                              float scale, double rate, hu_gradient_found *found, hu_gradient_norms *norms) {
  HU_ENV_RETURN(hu_status, prepare(tensors, tensor, rules, scale, rate, found, norms));
}

static HU_NOINLINE void gather(size_t n, float *sum, const float *g, uint32_t parts) {
  float d = (float)parts;
  for (size_t i = 0; i < n; i++) {
    float part = g[i] / d;
    sum[i] += part;
  }
}

void hu_gradient_gather_n(size_t n, float *sum, const float *g, uint32_t parts) { HU_ENV_DO(gather(n, sum, g, parts)); }
