/* SPDX-License-Identifier: MIT */
/* Optimizers: what they are made of, what is refused, and what a step leaves for the next one. train/engine/optimizer.c
 * makes the steps. */
#include "train/step/optimizer.h"

#include <math.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "train/environment.h"
#include "train/text/constant.h"

static hu_optimizer usual(hu_format f) {
  hu_optimizer o;
  memset(&o, 0, sizeof o);
  o.state = o.weight = f;
  return o;
}

hu_optimizer hu_optimizer_sgd(hu_format f) {
  hu_optimizer o = usual(f);
  o.rate = 0.01;
  o.momentum = 0.9;
  return o;
}

hu_optimizer hu_optimizer_adamw(hu_format f) {
  hu_optimizer o = usual(f);
  o.kind = HU_ADAMW;
  o.rate = 0.001;
  o.beta1 = 0.9;
  o.beta2 = 0.999;
  o.eps = 1e-8;
  return o;
}

hu_optimizer hu_optimizer_adagrad(hu_format f) {
  hu_optimizer o = usual(f);
  o.kind = HU_ADAGRAD;
  o.rate = 0.01;
  o.eps = 1e-10;
  return o;
}

int hu_optimizer_has_m(const hu_optimizer *o) { return o->kind == HU_ADAMW || (o->kind == HU_SGD && o->momentum != 0); }

int hu_optimizer_has_v(const hu_optimizer *o) { return o->kind != HU_SGD; }

/* ---- what is refused ---- */

double hu_optimizer_scalar(const hu_optimizer *o, double x) { return hu_constant_in(o->state, x); }

static int factor(double x) { return x >= 0 && x < 1; }

static int some(double x) { return x >= 0 && x < INFINITY; }

static int is_nearest(hu_mode m) { return !m.round && !m.saturate && !m.tiny && !m.nan; }

/* A constant that `state` makes 0, or 1; the rate may end at 0 in a step. The sentence is this thread's. */
static const char *lost(const hu_optimizer *o, int in_step) {
  static _Thread_local char why[HU_CONSTANT_WHY_MAX];
  int root = o->kind != HU_SGD, moments = o->kind == HU_ADAMW;
  const struct {
    const char *name;
    double x;
    int used;
  } all[] = {{"rate", o->rate, !in_step}, {"decay", o->decay, 1},       {"momentum", o->momentum, !root},
             {"eps", o->eps, root},       {"beta1", o->beta1, moments}, {"beta2", o->beta2, moments}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].used && hu_constant_wrong(why, all[i].name, all[i].x, o->state, "the state's format")) return why;
  return NULL;
}

static const char *wrong(const hu_optimizer *o) {
  if (o->kind > HU_ADAGRAD) return "kind: unknown";
  if (o->update > HU_UPDATE_KAHAN) return "update: unknown";
  if (o->coupled > (o->kind == HU_ADAMW)) return "coupled: of AdamW alone";
  if (o->fused > (o->kind == HU_SGD && o->update == HU_UPDATE_ROUND)) return "fused: of SGD without Kahan terms alone";
  if (o->nesterov > (o->kind == HU_SGD)) return "nesterov: of SGD alone";
  if (o->update == HU_UPDATE_KAHAN && !is_nearest(o->mode)) {
    return "mode: Kahan summation rounds to nearest even";
  }
  if (o->kind != HU_SGD && !is_nearest(o->mode_momentum)) return "mode_momentum: of SGD alone";
  if (!some(o->rate)) return "rate: negative or not finite";
  if (!some(o->decay)) return "decay: negative or not finite";
  if (o->kind == HU_SGD && !factor(o->momentum)) return "momentum: not from 0 to below 1";
  if (o->kind == HU_SGD) return NULL;
  if (!some(o->eps)) return "eps: negative or not finite";
  if (o->kind == HU_ADAGRAD) return NULL;
  if (!factor(o->beta1)) return "beta1: not from 0 to below 1";
  if (!factor(o->beta2)) return "beta2: not from 0 to below 1";
  return NULL;
}

static HU_NOINLINE hu_status check(const hu_optimizer *o, int in_step, const char **why) {
  const char *ignored;
  if (!why) why = &ignored;
  if (!o) return HU_E_NULL;
  hu_status s = hu_format_check(o->state, why);
  if (s == HU_OK) s = hu_format_check(o->weight, why);
  if (s != HU_OK) return s;
  *why = "state, weight: not signed, or with values that binary32 lacks";
  if (!o->state.sign || !o->weight.sign) return HU_E_FORMAT;
  if (!hu_format_fits_binary32(o->state) || !hu_format_fits_binary32(o->weight)) return HU_E_CARRIER;
  *why = "mode: unknown";
  if (hu_mode_check(o->mode) != HU_OK) return HU_E_MODE;
  *why = "mode_decay, mode_momentum: unknown";
  if (hu_mode_check(o->mode_decay) != HU_OK || hu_mode_check(o->mode_momentum) != HU_OK) return HU_E_MODE;
  const char *what = wrong(o);
  if (!what) what = lost(o, in_step);
  if (what) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

hu_status hu_optimizer_check(const hu_optimizer *o, const char **why) { HU_ENV_RETURN(hu_status, check(o, 0, why)); }

hu_status hu_optimizer_check_step(const hu_optimizer *o, const char **why) {
  HU_ENV_RETURN(hu_status, check(o, 1, why));
}

/* ---- calls ---- */

static HU_NOINLINE void tick(hu_optimizer_time *now, const hu_optimizer *o) {
  now->t++;
  now->power1 *= hu_optimizer_scalar(o, o->beta1);
  now->power2 *= hu_optimizer_scalar(o, o->beta2);
}

void hu_optimizer_tick(hu_optimizer_time *now, const hu_optimizer *o) { HU_ENV_DO(tick(now, o)); }

size_t hu_optimizer_bytes(const hu_optimizer *o) {
  if (hu_optimizer_check_step(o, NULL) != HU_OK) return 0;
  size_t state = hu_limits_of(o->state).storage / 8, weight = hu_limits_of(o->weight).storage / 8;
  size_t states = (size_t)(hu_optimizer_has_m(o) + hu_optimizer_has_v(o));
  return weight * (1 + (o->update == HU_UPDATE_KAHAN)) + state * states;
}
