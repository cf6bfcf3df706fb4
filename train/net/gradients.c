/* SPDX-License-Identifier: MIT */
/* Prepares the gradients of a network's parameters for the optimizer. */
#include <stdlib.h>
#include <string.h>

#include "train/net/net.h"

/* Gradients as of the loss without its scale: all there is to do where no rule asks for more. */
static hu_status unscale(hu_net *net, float scale, hu_gradient_found *found) {
  hu_gradient_found none = {0, 0};
  hu_do_put(net, net->found, &none, sizeof none);
  for (int i = 0; i < net->parameters && net->fault == HU_OK; i++) {
    hu_parameter *p = &net->parameter[i];
    net->fault = net->engine->unscale(net->self, p->rows * p->cols, p->dtheta, scale, net->found);
  }
  hu_do_get(net, found, net->found, sizeof *found);
  return hu_done(net);
}

/* The engine's numbers where the host sees them: themselves, or a copy to be freed. */
static float *seen(hu_net *net, float *numbers, size_t n) {
  if (net->engine->on_host) return numbers;
  float *copy = malloc((n ? n : 1) * sizeof *copy);
  if (copy) hu_do_get(net, copy, numbers, n * sizeof *copy);
  return copy;
}

/* Rules work on the host, through all tensors at once. */
static hu_status prepare(hu_net *net, hu_net_gradient_rules *with, float scale, double rate, hu_gradient_found *found,
                         hu_gradient_tensor *x) {
  size_t n = (size_t)net->parameters;
  for (size_t i = 0; i < n; i++) {
    const hu_parameter *p = &net->parameter[i];
    x[i].n = p->rows * p->cols;
    x[i].g = seen(net, p->dtheta, x[i].n);
    x[i].w = seen(net, p->master, x[i].n);
    if (!x[i].g || !x[i].w) return HU_E_MEMORY;
    if (with->penalties) x[i].penalty = with->penalties[i];
  }
  hu_status s = hu_done(net);
  if (s == HU_OK) s = hu_gradient_prepare(n, x, &with->rules, scale, rate, found, &with->norms);
  for (size_t i = 0; i < n && s == HU_OK && !net->engine->on_host; i++) {
    hu_do_put(net, net->parameter[i].dtheta, x[i].g, x[i].n * sizeof *x[i].g);
    s = hu_done(net);
  }
  return s;
}

hu_status hu_prepare_gradients(hu_net *net, hu_net_gradient_rules *with, float scale, double rate,
                               hu_gradient_found *found) {
  size_t n = (size_t)net->parameters;
  net->fault = HU_OK;
  if (with) memset(&with->norms, 0, sizeof with->norms);
  if (!with || (with->rules.clip == 0 && with->rules.larc == HU_LARC_NONE && !with->penalties)) {
    hu_status s = with ? hu_gradient_rules_check(&with->rules, NULL) : HU_OK;
    return s == HU_OK ? unscale(net, scale, found) : s;
  }
  hu_gradient_tensor *x = calloc(n ? n : 1, sizeof *x);
  if (!x) return HU_E_MEMORY;
  hu_status s = prepare(net, with, scale, rate, found, x);
  for (size_t i = 0; i < n && !net->engine->on_host; i++) {
    free(x[i].g);
    free((float *)(uintptr_t)x[i].w);
  }
  free(x);
  return s;
}
