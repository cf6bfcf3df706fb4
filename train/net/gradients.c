/* SPDX-License-Identifier: MIT */
/* Prepares the gradients of a network's parameters for the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"
#include "train/step/gradient.h"

/* ---- by calls of an engine; nothing of a tensor comes to the host but its sums ---- */

typedef struct squares_maker {
  hu_net *net;
  const hu_gradient_tensor *tensors;
  hu_squares *sums; /* two a parameter */
} squares_maker;

static int is_penalised(const squares_maker *maker, int i) {
  return maker->tensors && maker->tensors[i].penalty.kind != HU_PENALTY_NONE;
}

static hu_status unscale(void *self, float scale, int penalised, hu_gradient_found *found) {
  const squares_maker *maker = self;
  hu_net *net = maker->net;
  hu_gradient_found none = {0, 0};
  hui_do_put(net, net->found, &none, sizeof none);
  for (int i = 0; i < net->parameters && net->fault == HU_OK; i++) {
    hu_parameter *parameter = &net->parameter[i];
    if (penalised && !is_penalised(maker, i)) continue;
    net->fault =
        net->engine->unscale(net->self, parameter->rows * parameter->cols, parameter->dtheta, scale, net->found);
  }
  hui_do_get(net, found, net->found, sizeof *found);
  return hui_done(net);
}

/* The same operations as on the host, one after another: slope = rn(l w), or l with the sign of w; rn(slope scale);
 * rn(g + that). */
static hu_status penalise(void *self, float scale) {
  const squares_maker *maker = self;
  hu_net *net = maker->net;
  float *slope = net->work[0];
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    size_t n = parameter->rows * parameter->cols;
    if (!is_penalised(maker, i)) continue;
    int kernel = maker->tensors[i].penalty.kind == HU_PENALTY_L1 ? HU_RUN_SIGN : HU_RUN_SCALE;
    hui_do_each(net, kernel, n, slope, parameter->master, NULL, hui_penalty_factor(&maker->tensors[i].penalty));
    hui_do_each(net, HU_RUN_SCALE, n, slope, slope, NULL, scale);
    hui_do_each(net, HU_RUN_ACCUMULATE, n, parameter->dtheta, slope, NULL, 0);
  }
  return hui_done(net);
}

static hu_status squares(void *self, double *g, double *w) {
  const squares_maker *maker = self;
  hu_net *net = maker->net;
  size_t n = (size_t)net->parameters;
  for (size_t i = 0; i < n; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    maker->sums[i] = (hu_squares){parameter->rows * parameter->cols, parameter->dtheta, 0};
    maker->sums[n + i] = (hu_squares){parameter->rows * parameter->cols, parameter->master, 0};
  }
  if (net->fault == HU_OK) net->fault = net->engine->squares(net->self, w ? 2 * n : n, maker->sums);
  for (size_t i = 0; i < n && net->fault == HU_OK; i++) {
    g[i] = maker->sums[i].sum;
    if (w) w[i] = maker->sums[n + i].sum;
  }
  return hui_done(net);
}

static hu_status times(void *self, size_t tensor, float factor) {
  hu_net *net = ((const squares_maker *)self)->net;
  const hu_parameter *parameter = &net->parameter[tensor];
  hui_do_each(net, HU_RUN_SCALE, parameter->rows * parameter->cols, parameter->dtheta, parameter->dtheta, NULL, factor);
  return hui_done(net);
}

/* ---- by rules ---- */

static hu_status prepare_there(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                               hu_gradient_found *found, const hu_gradient_tensor *tensors) {
  size_t n = (size_t)net->parameters;
  squares_maker maker = {net, tensors, malloc((2 * n + 1) * sizeof *maker.sums)};
  const hu_gradient_maker calls = {&maker, unscale, penalise, squares, times};
  if (!maker.sums) return HU_E_MEMORY;
  hu_status status = hui_gradient_prepare_by(&calls, n, tensors, &with->rules, scale, rate, found, &with->norms);
  free(maker.sums);
  return status;
}

static hu_status by_rules(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                          hu_gradient_found *found) {
  size_t n = (size_t)net->parameters;
  hu_gradient_tensor *tensors = calloc(n ? n : 1, sizeof *tensors);
  if (!tensors) return HU_E_MEMORY;
  for (size_t i = 0; i < n; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    tensors[i] = (hu_gradient_tensor){
        parameter->rows * parameter->cols, parameter->dtheta, parameter->master, {0, 0}, parameter->rule.unclipped};
    if (with->penalties) tensors[i].penalty = with->penalties[i];
  }
  hu_status status = net->engine->on_host
                         ? hu_gradient_prepare(n, tensors, &with->rules, scale, rate, found, &with->norms)
                         : prepare_there(net, with, scale, rate, found, tensors);
  free(tensors);
  return status;
}

hu_status hui_prepare_gradients(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                                hu_gradient_found *found) {
  net->fault = HU_OK;
  if (with) memset(&with->norms, 0, sizeof with->norms);
  if (!with || (with->rules.clip == 0 && with->rules.larc == HU_LARC_NONE && !with->penalties)) {
    /* All there is to do where no rule asks for more: gradients as of the loss without its scale. */
    squares_maker maker = {net, NULL, NULL};
    hu_status status = with ? hu_gradient_rules_check(&with->rules, NULL) : HU_OK;
    return status == HU_OK ? unscale(&maker, scale, 0, found) : status;
  }
  return by_rules(net, with, scale, rate, found);
}
