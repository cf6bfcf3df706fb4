/* SPDX-License-Identifier: MIT */
/* Prepares the gradients of a network's parameters for the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/step/gradient.h"

/* ---- by calls of an engine; nothing of a tensor comes to the host but its sums ---- */

typedef struct maker {
  hu_net *net;
  const hu_gradient_tensor *x;
  hu_squares *sums; /* two a parameter */
} maker;

static int is_penalised(const maker *m, int i) { return m->x && m->x[i].penalty.kind != HU_PENALTY_NONE; }

static hu_status unscale(void *self, float scale, int penalised, hu_gradient_found *found) {
  const maker *m = self;
  hu_net *net = m->net;
  hu_gradient_found none = {0, 0};
  hu_do_put(net, net->found, &none, sizeof none);
  for (int i = 0; i < net->parameters && net->fault == HU_OK; i++) {
    hu_parameter *p = &net->parameter[i];
    if (penalised && !is_penalised(m, i)) continue;
    net->fault = net->engine->unscale(net->self, p->rows * p->cols, p->dtheta, scale, net->found);
  }
  hu_do_get(net, found, net->found, sizeof *found);
  return hu_done(net);
}

/* The same operations as on the host, one after another: slope = rn(l w), or l with the sign of w; rn(slope scale);
 * rn(g + that). */
static hu_status penalise(void *self, float scale) {
  const maker *m = self;
  hu_net *net = m->net;
  float *slope = net->work[0];
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *p = &net->parameter[i];
    size_t n = p->rows * p->cols;
    if (!is_penalised(m, i)) continue;
    int kernel = m->x[i].penalty.kind == HU_PENALTY_L1 ? HU_RUN_SIGN : HU_RUN_SCALE;
    hu_do_each(net, kernel, n, slope, p->master, NULL, hu_penalty_factor(&m->x[i].penalty));
    hu_do_each(net, HU_RUN_SCALE, n, slope, slope, NULL, scale);
    hu_do_each(net, HU_RUN_ACCUMULATE, n, p->dtheta, slope, NULL, 0);
  }
  return hu_done(net);
}

static hu_status squares(void *self, double *g, double *w) {
  const maker *m = self;
  hu_net *net = m->net;
  size_t n = (size_t)net->parameters;
  for (size_t i = 0; i < n; i++) {
    const hu_parameter *p = &net->parameter[i];
    m->sums[i] = (hu_squares){p->rows * p->cols, p->dtheta, 0};
    m->sums[n + i] = (hu_squares){p->rows * p->cols, p->master, 0};
  }
  if (net->fault == HU_OK) net->fault = net->engine->squares(net->self, w ? 2 * n : n, m->sums);
  for (size_t i = 0; i < n && net->fault == HU_OK; i++) {
    g[i] = m->sums[i].sum;
    if (w) w[i] = m->sums[n + i].sum;
  }
  return hu_done(net);
}

static hu_status times(void *self, size_t tensor, float factor) {
  hu_net *net = ((const maker *)self)->net;
  const hu_parameter *p = &net->parameter[tensor];
  hu_do_each(net, HU_RUN_SCALE, p->rows * p->cols, p->dtheta, p->dtheta, NULL, factor);
  return hu_done(net);
}

/* ---- by rules ---- */

static hu_status prepare_there(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                               hu_gradient_found *found, const hu_gradient_tensor *x) {
  size_t n = (size_t)net->parameters;
  maker m = {net, x, malloc((2 * n + 1) * sizeof *m.sums)};
  const hu_gradient_maker calls = {&m, unscale, penalise, squares, times};
  if (!m.sums) return HU_E_MEMORY;
  hu_status s = hu_gradient_prepare_by(&calls, n, x, &with->rules, scale, rate, found, &with->norms);
  free(m.sums);
  return s;
}

static hu_status by_rules(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                          hu_gradient_found *found) {
  size_t n = (size_t)net->parameters;
  hu_gradient_tensor *x = calloc(n ? n : 1, sizeof *x);
  if (!x) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const hu_parameter *p = &net->parameter[i];
    x[i] = (hu_gradient_tensor){p->rows * p->cols, p->dtheta, p->master, {0, 0}};
    if (with->penalties) x[i].penalty = with->penalties[i];
  }
  hu_status s = net->engine->on_host ? hu_gradient_prepare(n, x, &with->rules, scale, rate, found, &with->norms)
                                     : prepare_there(net, with, scale, rate, found, x);
  free(x);
  return s;
}

hu_status hu_prepare_gradients(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                               hu_gradient_found *found) {
  net->fault = HU_OK;
  if (with) memset(&with->norms, 0, sizeof with->norms);
  if (!with || (with->rules.clip == 0 && with->rules.larc == HU_LARC_NONE && !with->penalties)) {
    /* All there is to do where no rule asks for more: gradients as of the loss without its scale. */
    maker m = {net, NULL, NULL};
    hu_status s = with ? hu_gradient_rules_check(&with->rules, NULL) : HU_OK;
    return s == HU_OK ? unscale(&m, scale, 0, found) : s;
  }
  return by_rules(net, with, scale, rate, found);
}
