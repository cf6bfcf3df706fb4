/* SPDX-License-Identifier: MIT */
/* Optimizers: pieces that stay in the first-level cache, one operator and one rounding after another. */
#include "halfulp/train/optimizer.h"

#include <math.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { PIECE = 1024 };

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

/* ---- what is refused ---- */

static double scalar(const hu_optimizer *o, double x) {
  const hu_mode rne = {0};
  return hu_decode64(o->state, hu_encode64(o->state, rne, x, 0, NULL));
}

/* From 0 to below 1, also when rounded. */
static int forgets(const hu_optimizer *o, double x) { return x >= 0 && x < 1 && scalar(o, x) < 1; }

static int some(double x) { return x >= 0 && x < INFINITY; }

static const char *wrong(const hu_optimizer *o) {
  if (o->kind > HU_ADAMW) return "kind: unknown";
  if (o->update > HU_UPDATE_KAHAN) return "update: unknown";
  if (o->coupled > (o->kind == HU_ADAMW)) return "coupled: of AdamW alone";
  if (o->fused > (o->kind == HU_SGD && o->update == HU_UPDATE_ROUND)) return "fused: of SGD without Kahan terms alone";
  if (o->update == HU_UPDATE_KAHAN && (o->mode.round || o->mode.saturate || o->mode.tiny || o->mode.nan)) {
    return "mode: Kahan summation rounds to nearest even";
  }
  if (!some(o->rate)) return "rate: negative or not finite";
  if (!some(o->decay)) return "decay: negative or not finite";
  if (o->kind == HU_SGD && !forgets(o, o->momentum)) return "momentum: not from 0 to below 1 in the state's format";
  if (o->kind == HU_SGD) return NULL;
  if (!forgets(o, o->beta1)) return "beta1: not from 0 to below 1 in the state's format";
  if (!forgets(o, o->beta2)) return "beta2: not from 0 to below 1 in the state's format";
  if (!some(o->eps)) return "eps: negative or not finite";
  return NULL;
}

hu_status hu_optimizer_check(const hu_optimizer *o, const char **why) {
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
  const char *what = wrong(o);
  if (what) *why = what;
  return what ? HU_E_TRAIN : HU_OK;
}

/* ---- operators on a piece ---- */

typedef struct job {
  const hu_optimizer *o;
  float rate, momentum, decay, beta1, beta2, less1, less2, past1, past2, eps;
  int state_is_binary32;
} job;

static job job_of(const hu_optimizer *o, const hu_optimizer_time *now) {
  job j;
  memset(&j, 0, sizeof j);
  j.o = o;
  j.rate = (float)scalar(o, o->rate);
  j.momentum = (float)scalar(o, o->momentum);
  j.decay = (float)scalar(o, o->decay);
  j.beta1 = (float)scalar(o, o->beta1);
  j.beta2 = (float)scalar(o, o->beta2);
  j.less1 = (float)scalar(o, 1 - (double)j.beta1);
  j.less2 = (float)scalar(o, 1 - (double)j.beta2);
  j.past1 = (float)scalar(o, 1 - now->power1);
  j.past2 = (float)scalar(o, 1 - now->power2);
  j.eps = (float)scalar(o, o->eps);
  j.state_is_binary32 = hu_format_equal(o->state, hu_binary32());
  return j;
}

/* What was checked before cannot fail. */
static void rounded(size_t n, float *x, hu_format f, hu_mode mode, hu_stream stream) {
  hu_exec exec;
  memset(&exec, 0, sizeof exec);
  exec.stream = stream;
  hu_status s = hu_quantize_n(n, x, 1, x, 1, f, mode, &exec, NULL);
  (void)s;
}

static void nearest(size_t n, float *x, hu_format f) {
  const hu_mode rne = {0};
  const hu_stream none = {0, 0};
  rounded(n, x, f, rne, none);
}

/* Q of a result that stays in registers and cache: nothing is left to do in binary32. */
static void q(const job *j, size_t n, float *x) {
  if (!j->state_is_binary32) nearest(n, x, j->o->state);
}

static void times(const job *j, size_t n, float *z, float a, const float *x) {
  for (size_t i = 0; i < n; i++) z[i] = a * x[i];
  q(j, n, z);
}

static void plus(const job *j, size_t n, float *z, const float *x, const float *y) {
  for (size_t i = 0; i < n; i++) z[i] = x[i] + y[i];
  q(j, n, z);
}

/* z = Q(x + Q(decay w)) */
static void decayed(const job *j, size_t n, float *z, const float *x, const float *w) {
  float t[PIECE];
  times(j, n, t, j->decay, w);
  plus(j, n, z, x, t);
}

/* z = Q(Q(a z) + y) */
static void moving(const job *j, size_t n, float *z, float a, const float *y) {
  float t[PIECE];
  times(j, n, t, a, z);
  for (size_t i = 0; i < n; i++) z[i] = t[i] + y[i];
  nearest(n, z, j->o->state);
}

/* u, or with `fused` m */
static void sgd(const job *j, size_t n, float *u, const hu_optimizer_arrays *x) {
  const float *g = x->g;
  float t[PIECE];
  if (j->decay != 0) {
    decayed(j, n, t, g, x->w);
    g = t;
  }
  if (x->m) {
    moving(j, n, x->m, j->momentum, g);
    g = x->m;
  }
  if (j->o->fused) {
    memcpy(u, g, n * sizeof *u);
  } else {
    times(j, n, u, j->rate, g);
  }
}

static void adamw(const job *j, size_t n, float *u, const hu_optimizer_arrays *x) {
  const float *g = x->g;
  float t[PIECE], d[PIECE], sum[PIECE];
  if (j->o->coupled && j->decay != 0) {
    decayed(j, n, sum, g, x->w);
    g = sum;
  }
  times(j, n, t, j->less1, g);
  moving(j, n, x->m, j->beta1, t);
  for (size_t i = 0; i < n; i++) t[i] = g[i] * g[i];
  q(j, n, t);
  times(j, n, t, j->less2, t);
  moving(j, n, x->v, j->beta2, t);
  for (size_t i = 0; i < n; i++) d[i] = x->v[i] / j->past2;
  q(j, n, d);
  for (size_t i = 0; i < n; i++) d[i] = sqrtf(d[i]);
  q(j, n, d);
  for (size_t i = 0; i < n; i++) d[i] += j->eps;
  q(j, n, d);
  for (size_t i = 0; i < n; i++) t[i] = x->m[i] / j->past1;
  q(j, n, t);
  for (size_t i = 0; i < n; i++) u[i] = t[i] / d[i];
  q(j, n, u);
  if (!j->o->coupled && j->decay != 0) decayed(j, n, u, u, x->w);
  times(j, n, u, j->rate, u);
}

/* ---- the end of the update ---- */

static void count(hu_update_counts *counts, size_t n, const float *u, const float *before, const float *after) {
  uint64_t moved = 0, lost = 0;
  for (size_t i = 0; i < n; i++) {
    moved += u[i] != 0;
    lost += u[i] != 0 && before[i] == after[i];
  }
  if (!counts) return;
  counts->moved += moved;
  counts->lost += lost;
}

static void subtract(const job *j, size_t n, float *w, const float *u, hu_stream stream, hu_update_counts *counts) {
  float s[PIECE];
  if (j->o->fused) {
    for (size_t i = 0; i < n; i++) s[i] = fmaf(-j->rate, u[i], w[i]);
  } else {
    for (size_t i = 0; i < n; i++) s[i] = w[i] - u[i];
  }
  rounded(n, s, j->o->weight, j->o->mode, stream);
  count(counts, n, u, w, s);
  memcpy(w, s, n * sizeof *w);
}

static void kahan(const job *j, size_t n, float *w, float *c, const float *u, hu_update_counts *counts) {
  float y[PIECE], s[PIECE];
  hu_format f = j->o->weight;
  for (size_t i = 0; i < n; i++) y[i] = -u[i] - c[i];
  nearest(n, y, f);
  for (size_t i = 0; i < n; i++) s[i] = w[i] + y[i];
  nearest(n, s, f);
  for (size_t i = 0; i < n; i++) c[i] = s[i] - w[i];
  nearest(n, c, f);
  for (size_t i = 0; i < n; i++) c[i] -= y[i];
  nearest(n, c, f);
  count(counts, n, u, w, s);
  memcpy(w, s, n * sizeof *w);
}

/* ---- calls ---- */

void hu_optimizer_tick(hu_optimizer_time *now, const hu_optimizer *o) {
  now->t++;
  now->power1 *= scalar(o, o->beta1);
  now->power2 *= scalar(o, o->beta2);
}

static hu_status check_arrays(const hu_optimizer_arrays *x, const hu_optimizer *o) {
  int adam = o->kind == HU_ADAMW;
  if (!x || !x->w || !x->g) return HU_E_NULL;
  if (!x->m != !(adam || o->momentum != 0) || !x->v != !adam) return HU_E_NULL;
  return !x->c != !(o->update == HU_UPDATE_KAHAN) ? HU_E_NULL : HU_OK;
}

static hu_optimizer_arrays part_of(const hu_optimizer_arrays *x, size_t at) {
  hu_optimizer_arrays p = *x;
  p.w += at;
  p.g += at;
  if (p.m) p.m += at;
  if (p.v) p.v += at;
  if (p.c) p.c += at;
  return p;
}

hu_status hu_optimizer_step(size_t n, const hu_optimizer_arrays *x, const hu_optimizer *o, const hu_optimizer_time *now,
                            hu_stream stream, hu_update_counts *counts) {
  hu_status s = hu_optimizer_check(o, NULL);
  if (s == HU_OK && !now) s = HU_E_NULL;
  if (s == HU_OK) s = check_arrays(x, o);
  if (s == HU_OK && now->t == 0) s = HU_E_SHAPE;
  if (s != HU_OK) return s;
  job j = job_of(o, now);
  for (size_t at = 0; at < n; at += PIECE) {
    size_t piece = n - at < PIECE ? n - at : PIECE;
    hu_optimizer_arrays p = part_of(x, at);
    hu_stream words = {stream.key, stream.counter + at};
    float u[PIECE];
    if (o->kind == HU_ADAMW) {
      adamw(&j, piece, u, &p);
    } else {
      sgd(&j, piece, u, &p);
    }
    if (o->update == HU_UPDATE_KAHAN) {
      kahan(&j, piece, p.w, p.c, u, counts);
    } else {
      subtract(&j, piece, p.w, u, words, counts);
    }
  }
  return HU_OK;
}

size_t hu_optimizer_bytes(const hu_optimizer *o) {
  if (hu_optimizer_check(o, NULL) != HU_OK) return 0;
  size_t state = hu_format_limits(o->state).storage / 8, weight = hu_format_limits(o->weight).storage / 8;
  size_t states = o->kind == HU_ADAMW ? 2 : o->momentum != 0;
  return weight * (1 + (o->update == HU_UPDATE_KAHAN)) + state * states;
}
