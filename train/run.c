/* SPDX-License-Identifier: MIT */
/* A network run: forward, backward, a step. */
#include <string.h>

#include "halfulp/train/data.h"
#include "train/graph.h"

hu_stream hu_words_of(const hu_net *net, unsigned of, uint64_t number) {
  hu_stream s = hu_stream_of_use(net->seed, of == HU_OF_DROPOUT ? HU_USE_DROPOUT : HU_USE_ROUNDING);
  s = hu_stream_child(s, (uint64_t)of << 32 | number);
  s.counter += net->step << 36; /* a tensor has less than 2^36 numbers */
  return s;
}

hu_exec hu_exec_of(const hu_net *net, hu_stream words) {
  hu_exec e;
  memset(&e, 0, sizeof e);
  e.threads = net->threads;
  e.stream = words;
  return e;
}

static hu_status round_in_place(const hu_net *net, size_t rows, size_t cols, float *x, const hu_rounding *r,
                                hu_stream words, hu_rounding_counts *counts) {
  hu_exec e = hu_exec_of(net, words);
  return hu_rounding_apply(rows, cols, x, x, r, &e, counts);
}

static hu_status round_value(hu_net *net, int i) {
  hu_value *x = &net->value[i];
  hu_stream words = hu_words_of(net, HU_OF_VALUE, (uint64_t)i);
  return round_in_place(net, x->rows, x->cols, x->v, &x->round, words, &x->counts);
}

/* ---- what goes in ---- */

hu_status hu_net_feed(hu_net *net, int input, const float *x) {
  if (!net || !x) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  if (input < 0 || input >= net->values || net->value[input].made) return HU_E_SHAPE;
  hu_value *v = &net->value[input];
  net->training = 0; /* gradients want a pass with what is fed now */
  memcpy(v->v, x, v->rows * v->cols * sizeof *x);
  return round_value(net, input);
}

hu_status hu_net_initialize(hu_net *net, uint64_t seed) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  net->seed = seed;
  net->step = 0;
  net->training = net->trained = 0;
  memset(&net->time, 0, sizeof net->time);
  net->time.power1 = net->time.power2 = 1;
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *p = &net->parameter[i];
    size_t n = p->rows * p->cols;
    for (size_t k = 0; k < n; k++) {
      p->master[k] = p->start;
      p->m[k] = p->second[k] = p->kahan[k] = 0;
    }
    hu_stream words = hu_stream_child(hu_stream_of_use(seed, HU_USE_WEIGHTS), (uint64_t)i);
    if (p->fan_in) hu_init_normal(n, p->master, p->before_relu ? 2 : 1, p->fan_in, words);
  }
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].kind->start) net->op[i].kind->start(net, &net->op[i]);
  }
  return HU_OK;
}

/* ---- forward ---- */

static hu_status round_parameters(hu_net *net) {
  hu_status s = HU_OK;
  for (int i = 0; i < net->parameters && s == HU_OK; i++) {
    hu_parameter *p = &net->parameter[i];
    hu_exec e = hu_exec_of(net, hu_words_of(net, HU_OF_PARAMETER, (uint64_t)i));
    s = hu_rounding_apply(p->rows, p->cols, p->theta, p->master, &p->round, &e, &p->counts);
  }
  return s;
}

hu_status hu_net_forward(hu_net *net, int training, float *loss) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  net->training = training;
  net->trained = 0;
  hu_status s = round_parameters(net);
  for (int i = 0; i < net->operators && s == HU_OK; i++) {
    s = net->op[i].kind->forward(net, &net->op[i]);
    if (s == HU_OK) s = round_value(net, net->op[i].out);
  }
  if (s != HU_OK) net->training = 0;
  if (s == HU_OK && loss) *loss = net->loss;
  return s;
}

/* ---- backward ---- */

int hu_wants_gradient(const hu_net *net, int value) { return net->value[value].made; }

static void give(int *there, size_t n, float *z, const float *x) {
  if (*there) {
    for (size_t i = 0; i < n; i++) z[i] += x[i];
  } else {
    memcpy(z, x, n * sizeof *z);
  }
  *there = 1;
}

void hu_give(hu_net *net, int value, const float *x) {
  hu_value *v = &net->value[value];
  give(&v->gradient, v->rows * v->cols, v->dv, x);
}

void hu_give_parameter(hu_net *net, int parameter, const float *x) {
  hu_parameter *p = &net->parameter[parameter];
  give(&p->gradient, p->rows * p->cols, p->dtheta, x);
}

static hu_status round_gradient(hu_net *net, int i) {
  hu_value *x = &net->value[i];
  hu_stream words = hu_words_of(net, HU_OF_GRADIENT, (uint64_t)i);
  return round_in_place(net, x->rows, x->cols, x->dv, &x->round_back, words, &x->counts_back);
}

static hu_status round_parameter_gradients(hu_net *net) {
  hu_status s = HU_OK;
  for (int i = 0; i < net->parameters && s == HU_OK; i++) {
    hu_parameter *p = &net->parameter[i];
    if (!p->gradient) memset(p->dtheta, 0, p->rows * p->cols * sizeof *p->dtheta);
    hu_stream words = hu_words_of(net, HU_OF_PARAMETER_GRADIENT, (uint64_t)i);
    s = round_in_place(net, p->rows, p->cols, p->dtheta, &p->round_back, words, &p->counts_back);
  }
  return s;
}

hu_status hu_net_backward(hu_net *net, float scale) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  if (!net->training || !net->operators || !net->op[net->operators - 1].kind->loss) return HU_E_TRAIN;
  for (int i = 0; i < net->values; i++) net->value[i].gradient = 0;
  for (int i = 0; i < net->parameters; i++) net->parameter[i].gradient = 0;
  hu_give(net, net->op[net->operators - 1].out, &scale);
  hu_status s = HU_OK;
  for (int i = net->operators; i-- > 0 && s == HU_OK;) {
    hu_operator *op = &net->op[i];
    if (!net->value[op->out].gradient) continue;
    s = round_gradient(net, op->out);
    if (s == HU_OK) s = op->kind->backward(net, op);
  }
  if (s == HU_OK) s = round_parameter_gradients(net);
  net->trained = s == HU_OK;
  return s;
}

/* ---- a step ---- */

static hu_status step_parameter(hu_net *net, int i, const hu_optimizer *o, hu_update_counts *counts) {
  hu_parameter *p = &net->parameter[i];
  int adam = o->kind == HU_ADAMW;
  hu_optimizer_arrays x = {p->master, p->dtheta, adam || o->momentum != 0 ? p->m : NULL, adam ? p->second : NULL,
                           o->update == HU_UPDATE_KAHAN ? p->kahan : NULL};
  hu_stream words = hu_words_of(net, HU_OF_UPDATE, (uint64_t)i);
  return hu_optimizer_step(p->rows * p->cols, &x, o, &net->time, words, counts);
}

hu_status hu_net_update(hu_net *net, const hu_optimizer *o, const hu_loss_rule *rule, hu_loss_scale *scale,
                        hu_update_counts *counts, int *taken) {
  hu_gradient_found found = {0, 0};
  if (!net || !rule || !scale) return HU_E_NULL;
  hu_status s = hu_optimizer_check(o, NULL);
  if (s == HU_OK) s = hu_loss_rule_check(rule, NULL);
  if (s == HU_OK && !net->trained) s = HU_E_TRAIN;
  if (s != HU_OK) return s;
  net->trained = 0;
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *p = &net->parameter[i];
    hu_gradient_unscale_n(p->rows * p->cols, p->dtheta, scale->scale, &found);
  }
  int go = hu_loss_scale_update(scale, rule, found);
  if (go) hu_optimizer_tick(&net->time, o);
  for (int i = 0; go && i < net->parameters && s == HU_OK; i++) s = step_parameter(net, i, o, counts);
  net->step++;
  if (taken) *taken = go;
  return s;
}
