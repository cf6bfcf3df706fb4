/* SPDX-License-Identifier: MIT */
/* Tokens, positions, steps of time, recurrent cells. */
#include <stdlib.h>
#include <string.h>

#include "train/graph.h"

/* ---- tokens ---- */

static hu_status embedding_forward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v;
  const hu_parameter *w = &net->parameter[op->theta[0]];
  hu_value *z = &net->value[op->out];
  for (size_t i = 0; i < z->rows; i++) {
    if (!(x[i] >= 0 && x[i] < (float)w->rows) || x[i] != (float)(size_t)x[i]) return HU_E_SHAPE;
    memcpy(z->v + i * z->cols, w->theta + (size_t)x[i] * w->cols, w->cols * sizeof(float));
  }
  return HU_OK;
}

static hu_status embedding_backward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v;
  const hu_parameter *w = &net->parameter[op->theta[0]];
  const hu_value *z = &net->value[op->out];
  float *sum = net->work[0];
  memset(sum, 0, w->rows * w->cols * sizeof *sum);
  for (size_t i = 0; i < z->rows; i++) {
    float *row = sum + (size_t)x[i] * w->cols;
    for (size_t j = 0; j < z->cols; j++) row[j] += z->dv[i * z->cols + j];
  }
  hu_give_parameter(net, op->theta[0], sum);
  return HU_OK;
}

static const hu_operator_kind embedding = {"embedding", embedding_forward, embedding_backward, NULL, 0, 0};

int hu_net_embedding(hu_net *net, int x, size_t vocabulary, size_t cols) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  if (v.cols != 1 || v.made) return hu_refuse(net, HU_E_SHAPE, "embedding: not an input of one column");
  if (vocabulary == 0 || vocabulary > (1u << 24)) return hu_refuse(net, HU_E_SHAPE, "embedding: vocabulary");
  int z = hu_new_value(net, v.rows, cols, 0, 0);
  hu_operator *op = hu_new_operator(net, &embedding, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = hu_new_parameter(net, vocabulary, cols, 0, cols);
  return net->status == HU_OK ? z : -1;
}

/* ---- positions ---- */

static hu_status position_forward(hu_net *net, hu_operator *op) {
  const float *x = net->value[op->in[0]].v, *w = net->parameter[op->theta[0]].theta;
  hu_value *z = &net->value[op->out];
  size_t one = z->rows / net->batch * z->cols;
  for (size_t i = 0; i < z->rows * z->cols; i++) z->v[i] = x[i] + w[i % one];
  return HU_OK;
}

static hu_status position_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  hu_sum_columns(net->batch, z->rows / net->batch * z->cols, net->work[0], z->dv, NULL);
  hu_give_parameter(net, op->theta[0], net->work[0]);
  if (hu_wants_gradient(net, op->in[0])) hu_give(net, op->in[0], z->dv);
  return HU_OK;
}

static const hu_operator_kind position = {"position", position_forward, position_backward, NULL, 0, 0};

int hu_net_position(hu_net *net, int x) {
  if (!hu_usable(net, x)) return -1;
  hu_value v = net->value[x];
  int z = hu_new_value(net, v.rows, v.cols, v.height, v.width);
  hu_operator *op = hu_new_operator(net, &position, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = hu_new_parameter(net, v.rows / net->batch, v.cols, 0, 0);
  return net->status == HU_OK ? z : -1;
}

/* ---- parts: row `step` of each sample, or columns from ... from + cols - 1 ---- */

enum { STEP = 0, FROM = 1 };

/* Where row i of the part begins in x. */
static size_t part_at(const hu_net *net, const hu_operator *op, const hu_value *x, size_t i) {
  size_t steps = x->rows / net->value[op->out].rows;
  return (i * steps + op->n[STEP]) * x->cols + op->n[FROM];
}

static hu_status part_forward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]];
  hu_value *z = &net->value[op->out];
  for (size_t i = 0; i < z->rows; i++) {
    memcpy(z->v + i * z->cols, x->v + part_at(net, op, x, i), z->cols * sizeof(float));
  }
  return HU_OK;
}

static hu_status part_backward(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  float *dx = net->work[0];
  if (!hu_wants_gradient(net, op->in[0])) return HU_OK;
  memset(dx, 0, x->rows * x->cols * sizeof *dx);
  for (size_t i = 0; i < z->rows; i++) {
    memcpy(dx + part_at(net, op, x, i), z->dv + i * z->cols, z->cols * sizeof(float));
  }
  hu_give(net, op->in[0], dx);
  return HU_OK;
}

static const hu_operator_kind part = {"part", part_forward, part_backward, NULL, 0, 0};

static int add_part(hu_net *net, int x, size_t rows, size_t step, size_t from, size_t cols) {
  if (x < 0) return -1;
  int z = hu_new_value(net, rows, cols, 0, 0);
  hu_operator *op = hu_new_operator(net, &part, x, -1, z, 0);
  if (!op) return -1;
  op->n[STEP] = step;
  op->n[FROM] = from;
  return z;
}

/* ---- steps side by side again ---- */

static hu_status stack_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  for (size_t i = 0; i < z->rows; i++) {
    const float *x = net->value[op->list[i % op->n[0]]].v + i / op->n[0] * z->cols;
    memcpy(z->v + i * z->cols, x, z->cols * sizeof(float));
  }
  return HU_OK;
}

static hu_status stack_backward(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  float *dx = net->work[0];
  for (size_t t = op->n[0]; t-- > 0;) {
    for (size_t i = t; i < z->rows; i += op->n[0]) {
      memcpy(dx + i / op->n[0] * z->cols, z->dv + i * z->cols, z->cols * sizeof(float));
    }
    hu_give(net, op->list[t], dx);
  }
  return HU_OK;
}

static const hu_operator_kind stack = {"stack", stack_forward, stack_backward, NULL, 0, 0};

static int add_stack(hu_net *net, size_t steps, int *list) {
  hu_value v = net->value[list[0]];
  int z = hu_new_value(net, v.rows * steps, v.cols, 0, 0);
  hu_operator *op = hu_new_operator(net, &stack, list[0], -1, z, 0);
  if (!op) return -1;
  op->n[0] = steps;
  op->list = list;
  return z;
}

/* ---- cells: in[0] of the step's row, in[1] of h, in[2] the state ---- */

enum { UNITS = 0 };

/* z = sigmoid(a_z + c_z), r = sigmoid(a_r + c_r), n = tanh(a_n + r c_n), h' = (1 - z) n + z h. kept: z, r, n. */
static hu_status gru_forward(hu_net *net, hu_operator *op) {
  const hu_value *a = &net->value[op->in[0]], *c = &net->value[op->in[1]], *h = &net->value[op->in[2]];
  hu_value *out = &net->value[op->out];
  size_t u = op->n[UNITS];
  for (size_t i = 0; i < a->rows; i++) {
    const float *x = a->v + 3 * u * i, *y = c->v + 3 * u * i;
    float *k = op->kept + 3 * u * i;
    for (size_t j = 0; j < 2 * u; j++) k[j] = x[j] + y[j];
    hu_sigmoid_each(2 * u, k, k);
    for (size_t j = 0; j < u; j++) k[2 * u + j] = x[2 * u + j] + k[u + j] * y[2 * u + j];
    hu_tanh_each(u, k + 2 * u, k + 2 * u);
    for (size_t j = 0; j < u; j++) out->v[u * i + j] = (1 - k[j]) * k[2 * u + j] + k[j] * h->v[u * i + j];
  }
  return HU_OK;
}

static hu_status gru_backward(hu_net *net, hu_operator *op) {
  const hu_value *c = &net->value[op->in[1]], *h = &net->value[op->in[2]], *out = &net->value[op->out];
  size_t u = op->n[UNITS];
  float *da = net->work[0], *dc = net->work[1], *dh = net->work[2];
  for (size_t i = 0; i < out->rows; i++) {
    const float *k = op->kept + 3 * u * i, *y = c->v + 3 * u * i, *d = out->dv + u * i;
    float *x = da + 3 * u * i, *w = dc + 3 * u * i;
    for (size_t j = 0; j < u; j++) {
      float z = k[j], r = k[u + j], n = k[2 * u + j];
      float dn = d[j] * (1 - z) * (1 - n * n), dr = dn * y[2 * u + j];
      x[2 * u + j] = dn;
      w[2 * u + j] = dn * r;
      x[j] = w[j] = d[j] * (h->v[u * i + j] - n) * (z * (1 - z));
      x[u + j] = w[u + j] = dr * (r * (1 - r));
      dh[u * i + j] = d[j] * z;
    }
  }
  hu_give(net, op->in[0], da);
  hu_give(net, op->in[1], dc);
  if (hu_wants_gradient(net, op->in[2])) hu_give(net, op->in[2], dh);
  return HU_OK;
}

static const hu_operator_kind gru = {"gru", gru_forward, gru_backward, NULL, 0, 0};

/* s = a + b of four parts i, f, o, g; c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c'). The state and
 * the result are h and c side by side. kept: the four, and tanh(c'). */
static hu_status lstm_forward(hu_net *net, hu_operator *op) {
  const hu_value *a = &net->value[op->in[0]], *b = &net->value[op->in[1]], *state = &net->value[op->in[2]];
  hu_value *out = &net->value[op->out];
  size_t u = op->n[UNITS];
  for (size_t i = 0; i < a->rows; i++) {
    float *k = op->kept + 5 * u * i, *h = out->v + 2 * u * i, *c = h + u;
    for (size_t j = 0; j < 4 * u; j++) k[j] = a->v[4 * u * i + j] + b->v[4 * u * i + j];
    hu_sigmoid_each(3 * u, k, k);
    hu_tanh_each(u, k + 3 * u, k + 3 * u);
    for (size_t j = 0; j < u; j++) c[j] = k[u + j] * state->v[2 * u * i + u + j] + k[j] * k[3 * u + j];
    hu_tanh_each(u, k + 4 * u, c);
    for (size_t j = 0; j < u; j++) h[j] = k[2 * u + j] * k[4 * u + j];
  }
  return HU_OK;
}

static hu_status lstm_backward(hu_net *net, hu_operator *op) {
  const hu_value *state = &net->value[op->in[2]], *out = &net->value[op->out];
  size_t u = op->n[UNITS];
  float *ds = net->work[0], *dstate = net->work[1];
  for (size_t i = 0; i < out->rows; i++) {
    const float *k = op->kept + 5 * u * i, *dh = out->dv + 2 * u * i, *dc = dh + u;
    const float *c = state->v + 2 * u * i + u;
    float *s = ds + 4 * u * i, *back = dstate + 2 * u * i;
    for (size_t j = 0; j < u; j++) {
      float in = k[j], f = k[u + j], o = k[2 * u + j], g = k[3 * u + j], t = k[4 * u + j];
      float d = dc[j] + dh[j] * o * (1 - t * t);
      s[j] = d * g * (in * (1 - in));
      s[u + j] = d * c[j] * (f * (1 - f));
      s[2 * u + j] = dh[j] * t * (o * (1 - o));
      s[3 * u + j] = d * in * (1 - g * g);
      back[j] = 0;
      back[u + j] = d * f;
    }
  }
  hu_give(net, op->in[0], ds);
  hu_give(net, op->in[1], ds);
  if (hu_wants_gradient(net, op->in[2])) hu_give(net, op->in[2], dstate);
  return HU_OK;
}

static const hu_operator_kind lstm = {"lstm", lstm_forward, lstm_backward, NULL, 0, 0};

/* ---- layers of cells ---- */

typedef struct cell {
  const hu_operator_kind *kind;
  size_t parts, state, kept; /* of linear results, of the state, of what is kept; in units */
  const char *wrong;
} cell;

static const cell gru_cell = {&gru, 3, 1, 3, "gru: no memory, or no units"};
static const cell lstm_cell = {&lstm, 4, 2, 5, "lstm: no memory, or no units"};

static int add_step(hu_net *net, const cell *c, int x, size_t units, int state, const int theta[4]) {
  size_t rows = net->value[x].rows;
  int h = c->state == 1 ? state : add_part(net, state, rows, 0, 0, units);
  int a = hu_linear_of(net, x, theta[0], theta[1]), b = hu_linear_of(net, h, theta[2], theta[3]);
  int z = a >= 0 && b >= 0 ? hu_new_value(net, rows, c->state * units, 0, 0) : -1;
  hu_operator *op = hu_new_operator(net, c->kind, a, b, z, c->kept * units * rows);
  if (!op) return -1;
  op->in[2] = state;
  op->n[UNITS] = units;
  return z;
}

static int add_cells(hu_net *net, const cell *c, int x, size_t units, int last) {
  if (!hu_usable(net, x)) return -1;
  size_t rows = net->batch, steps = net->value[x].rows / rows, cols = net->value[x].cols;
  int *list = units ? calloc(steps, sizeof *list) : NULL;
  if (!list) return hu_refuse(net, units ? HU_E_MEMORY : HU_E_SHAPE, c->wrong);
  int theta[4];
  theta[0] = hu_new_parameter(net, cols, c->parts * units, 0, cols);
  theta[1] = hu_new_parameter(net, 1, c->parts * units, 0, 0);
  theta[2] = hu_new_parameter(net, units, c->parts * units, 0, units);
  theta[3] = hu_new_parameter(net, 1, c->parts * units, 0, 0);
  int state = hu_new_value(net, rows, c->state * units, 0, 0);
  for (size_t t = 0; t < steps && net->status == HU_OK; t++) {
    int row = add_part(net, x, rows, t, 0, cols);
    state = row < 0 || state < 0 ? -1 : add_step(net, c, row, units, state, theta);
    list[t] = c->state == 1 || state < 0 ? state : add_part(net, state, rows, 0, 0, units);
  }
  int z = net->status != HU_OK ? -1 : last ? list[steps - 1] : add_stack(net, steps, list);
  if (z < 0 || last) free(list);
  return z;
}

int hu_net_gru(hu_net *net, int x, size_t units, int last) { return add_cells(net, &gru_cell, x, units, last); }
int hu_net_lstm(hu_net *net, int x, size_t units, int last) { return add_cells(net, &lstm_cell, x, units, last); }
