/* SPDX-License-Identifier: MIT */
/* Networks built: memory, errors, tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/graph.h"

hu_net *hu_net_new(size_t batch, uint32_t threads) {
  hu_net *net = batch ? calloc(1, sizeof *net) : NULL;
  if (!net) return NULL;
  net->batch = batch;
  net->threads = threads;
  net->time.power1 = net->time.power2 = 1;
  net->value = calloc(HU_TENSORS_MAX, sizeof *net->value);
  net->parameter = calloc(HU_TENSORS_MAX, sizeof *net->parameter);
  net->op = calloc(HU_TENSORS_MAX, sizeof *net->op);
  if (net->value && net->parameter && net->op) return net;
  hu_net_free(net);
  return NULL;
}

void hu_net_free(hu_net *net) {
  if (!net) return;
  for (int i = 0; i < net->values; i++) {
    free(net->value[i].v);
    free(net->value[i].dv);
  }
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *p = &net->parameter[i];
    float *all[] = {p->master, p->theta, p->dtheta, p->m, p->second, p->kahan};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  }
  for (int i = 0; i < net->operators; i++) {
    free(net->op[i].kept);
    free(net->op[i].list);
  }
  for (int i = 0; i < 3; i++) free(net->work[i]);
  free(net->labels);
  free(net->targets);
  free(net->value);
  free(net->parameter);
  free(net->op);
  free(net);
}

hu_status hu_net_status(const hu_net *net, const char **why) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK && why) *why = net->why;
  return net->status;
}

int hu_refuse(hu_net *net, hu_status status, const char *what) {
  if (net->status != HU_OK) return -1;
  net->status = status;
  snprintf(net->why, sizeof net->why, "operator %d: %s", net->operators, what);
  return -1;
}

int hu_usable(hu_net *net, int x) {
  if (!net || net->status != HU_OK) return 0;
  if (x >= 0 && x < net->values) return 1;
  hu_refuse(net, HU_E_SHAPE, "no value of that number");
  return 0;
}

static float *zeros(size_t n) { return n > SIZE_MAX / sizeof(float) ? NULL : calloc(n ? n : 1, sizeof(float)); }

int hu_new_value(hu_net *net, size_t rows, size_t cols, size_t height, size_t width) {
  size_t n;
  if (rows == 0 || cols == 0) return hu_refuse(net, HU_E_SHAPE, "a side of the result is 0");
  if (__builtin_mul_overflow(rows, cols, &n) || n > ((size_t)1 << 40)) {
    return hu_refuse(net, HU_E_SHAPE, "the result is too large");
  }
  if (net->values == HU_TENSORS_MAX) return hu_refuse(net, HU_E_SHAPE, "too many values");
  hu_value *x = &net->value[net->values];
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->height = height;
  x->width = width;
  x->v = zeros(n);
  x->dv = zeros(n);
  net->values++;
  if (!x->v || !x->dv || hu_want_work(net, n) != HU_OK) return hu_refuse(net, HU_E_MEMORY, "no memory for the result");
  return net->values - 1;
}

int hu_new_parameter(hu_net *net, size_t rows, size_t cols, float start, size_t fan_in) {
  size_t n;
  if (__builtin_mul_overflow(rows, cols, &n)) return hu_refuse(net, HU_E_SHAPE, "parameters: too many");
  if (net->parameters == HU_TENSORS_MAX) return hu_refuse(net, HU_E_SHAPE, "too many parameters");
  hu_parameter *p = &net->parameter[net->parameters];
  memset(p, 0, sizeof *p);
  p->rows = rows;
  p->cols = cols;
  p->start = start;
  p->fan_in = fan_in;
  p->master = zeros(n);
  p->theta = zeros(n);
  p->dtheta = zeros(n);
  p->m = zeros(n);
  p->second = zeros(n);
  p->kahan = zeros(n);
  net->parameters++;
  if (!p->master || !p->theta || !p->dtheta || !p->m || !p->second || !p->kahan || hu_want_work(net, n) != HU_OK) {
    return hu_refuse(net, HU_E_MEMORY, "no memory for parameters");
  }
  return net->parameters - 1;
}

hu_operator *hu_new_operator(hu_net *net, const hu_operator_kind *kind, int x, int y, int out, size_t kept) {
  if (net->status != HU_OK || out < 0) return NULL;
  if (net->operators && net->op[net->operators - 1].kind->loss) {
    hu_refuse(net, HU_E_SHAPE, "an operator after the loss");
    return NULL;
  }
  hu_operator *op = &net->op[net->operators];
  memset(op, 0, sizeof *op);
  op->kind = kind;
  op->in[0] = x;
  op->in[1] = y;
  op->in[2] = -1;
  op->out = out;
  op->theta[0] = op->theta[1] = -1;
  op->rounding = hu_product_rounding_plain();
  op->number = (uint64_t)net->operators;
  net->value[out].made = 1;
  op->kept_size = kept;
  op->kept = kept ? zeros(kept) : NULL;
  net->operators++;
  if (kept && !op->kept) {
    hu_refuse(net, HU_E_MEMORY, "no memory for what the gradient needs");
    return NULL;
  }
  return op;
}

hu_status hu_want_work(hu_net *net, size_t n) {
  if (n <= net->work_size) return HU_OK;
  for (int i = 0; i < 3; i++) {
    float *room = zeros(n);
    if (!room) return HU_E_MEMORY;
    free(net->work[i]);
    net->work[i] = room;
  }
  net->work_size = n;
  return HU_OK;
}

int hu_net_input(hu_net *net, size_t rows, size_t cols) {
  if (!net || net->status != HU_OK) return -1;
  size_t all;
  if (__builtin_mul_overflow(net->batch, rows, &all)) return hu_refuse(net, HU_E_SHAPE, "input: too many rows");
  return hu_new_value(net, all, cols, 0, 0);
}

int hu_net_image(hu_net *net, size_t height, size_t width, size_t channels) {
  if (!net || net->status != HU_OK) return -1;
  size_t pixels, all;
  if (__builtin_mul_overflow(height, width, &pixels) || __builtin_mul_overflow(net->batch, pixels, &all)) {
    return hu_refuse(net, HU_E_SHAPE, "image: too many pixels");
  }
  return hu_new_value(net, all, channels, height, width);
}

hu_product_rounding hu_product_rounding_plain(void) {
  hu_product_rounding r;
  memset(&r, 0, sizeof r);
  r.accum.kind = HU_ACCUM_FP32;
  return r;
}

/* ---- precision ---- */

int hu_net_values(const hu_net *net) { return net ? net->values : 0; }
int hu_net_parameters(const hu_net *net) { return net ? net->parameters : 0; }

static hu_status set_rounding(hu_rounding *z, const hu_rounding *x) {
  hu_status s = x ? hu_rounding_check(x) : HU_OK;
  if (s == HU_OK && x) *z = *x;
  return s;
}

static hu_status set_both(hu_rounding *z, const hu_rounding *x, hu_rounding *back, const hu_rounding *y) {
  hu_status s = y ? hu_rounding_check(y) : HU_OK;
  if (s == HU_OK) s = set_rounding(z, x);
  return s == HU_OK ? set_rounding(back, y) : s;
}

hu_status hu_net_round_value(hu_net *net, int value, const hu_rounding *v, const hu_rounding *dv) {
  if (!net) return HU_E_NULL;
  if (value < 0 || value >= net->values) return HU_E_SHAPE;
  return set_both(&net->value[value].round, v, &net->value[value].round_back, dv);
}

hu_status hu_net_round_parameter(hu_net *net, int parameter, const hu_rounding *theta, const hu_rounding *dtheta) {
  if (!net) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  return set_both(&net->parameter[parameter].round, theta, &net->parameter[parameter].round_back, dtheta);
}

hu_status hu_net_round_product(hu_net *net, int value, const hu_product_rounding *r) {
  if (!net || !r) return HU_E_NULL;
  const hu_rounding *all[] = {&r->x,    &r->w,     &r->dz,     &r->w_back, &r->x_back,
                              &r->dz_w, &r->z_out, &r->dx_out, &r->dw_out};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    hu_status s = hu_rounding_check(all[i]);
    if (s != HU_OK) return s;
  }
  hu_status s = hu_accum_check(&r->accum);
  if (s != HU_OK) return s;
  if (r->hadamard && r->hadamard != 16 && r->hadamard != 32 && r->hadamard != 64 && r->hadamard != 128) {
    return HU_E_SHAPE;
  }
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].out != value || !net->op[i].kind->product) continue;
    net->op[i].rounding = *r;
    return HU_OK;
  }
  return HU_E_SHAPE;
}

/* ---- looking ---- */

hu_net_tensor hu_net_value(const hu_net *net, int value) {
  hu_net_tensor t;
  memset(&t, 0, sizeof t);
  if (!net || value < 0 || value >= net->values) return t;
  const hu_value *x = &net->value[value];
  hu_net_tensor z = {x->rows, x->cols, x->v, x->dv, x->counts, x->counts_back};
  return z;
}

hu_net_tensor hu_net_parameter(const hu_net *net, int parameter) {
  hu_net_tensor t;
  memset(&t, 0, sizeof t);
  if (!net || parameter < 0 || parameter >= net->parameters) return t;
  const hu_parameter *p = &net->parameter[parameter];
  hu_net_tensor z = {p->rows, p->cols, p->master, p->dtheta, p->counts, p->counts_back};
  return z;
}

void hu_net_forget_counts(hu_net *net) {
  hu_rounding_counts none;
  memset(&none, 0, sizeof none);
  if (!net) return;
  for (int i = 0; i < net->values; i++) net->value[i].counts = net->value[i].counts_back = none;
  for (int i = 0; i < net->parameters; i++) net->parameter[i].counts = net->parameter[i].counts_back = none;
}

uint64_t hu_net_digest(const hu_net *net) {
  uint64_t h = 0xCBF29CE484222325u;
  if (!net) return 0;
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *p = &net->parameter[i];
    for (size_t k = 0; k < p->rows * p->cols; k++) {
      uint32_t u;
      memcpy(&u, &p->master[k], sizeof u);
      for (int byte = 0; byte < 4; byte++) h = (h ^ (u >> (8 * byte) & 0xFF)) * 0x100000001B3u;
    }
  }
  return h;
}
