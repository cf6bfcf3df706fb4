/* SPDX-License-Identifier: MIT */
/* Puts an assignment of precision to work on a network. */
#include "halfulp/train/precision.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "train/net/net.h"

struct hu_precision {
  hu_net *net;
  hu_precision_rule rule;
  hu_precision_past past;
  hu_layout layout;
  hu_assignment now;
  uint64_t *values; /* sizes; then over_v, row's over_theta */
  uint64_t *over_v, *over_theta;
  hu_layout_operator *row;
  size_t *owner; /* of each parameter: the operator of the layout */
  uint8_t *low;  /* what `now` points to */
};

/* ---- rules ---- */

static hu_rounding finite(unsigned e, unsigned m, int b, int gradient) {
  const hu_mode rne = {0};
  hu_rounding r = hu_rounding_format(hu_format_finite(e, m, b), rne);
  r.keep_nan = 1;
  r.over_inf = (uint8_t)gradient;
  return r;
}

hu_candidate hu_candidate_default(void) {
  hu_candidate c = {finite(4, 3, 4, 0), finite(5, 2, 0, 1), finite(6, 9, 0, 0), finite(6, 9, 0, 1)};
  return c;
}

hu_precision_rule hu_precision_rule_default(void) {
  hu_precision_rule r;
  memset(&r, 0, sizeof r);
  r.r.num = r.r.den = 1;
  r.limit.num = 1;
  r.limit.den = 100;
  r.formats = hu_candidate_default();
  return r;
}

static hu_status check_rule(const hu_precision_rule *r) {
  const hu_rounding *all[] = {&r->formats.low, &r->formats.low_back, &r->formats.high, &r->formats.high_back};
  for (size_t i = 0; i < 4; i++) {
    hu_status s = hu_rounding_check(all[i]);
    if (s != HU_OK) return s;
  }
  if (r->kind > HU_PRECISION_DEMOTE || r->order > HU_DEMOTE_RANDOM) return HU_E_TRAIN;
  if (!hu_ratio_usable(r->r) || !hu_ratio_usable(r->limit)) return HU_E_TRAIN;
  return r->promote > 1 || r->low_dtheta > 1 ? HU_E_TRAIN : HU_OK;
}

/* ---- the layout ---- */

static uint64_t numbers_of(const hu_parameter *p) { return (uint64_t)p->rows * p->cols; }

/* What operator number k of the net has is put where the operator that makes its value stands. */
static void lay_operator(hu_precision *p, const hu_operator *op) {
  hu_layout_operator *row = &p->row[op->out - 1];
  row->input = (size_t)op->in[0];
  row->product = (uint8_t)(op->kind->product != 0);
  for (int k = 0; k < 2; k++) {
    int theta = op->theta[k];
    if (theta < 0 || p->owner[theta] != SIZE_MAX) continue;
    p->owner[theta] = (size_t)op->out - 1;
    row->parameters += numbers_of(&p->net->parameter[theta]);
  }
}

static void lay_out(hu_precision *p) {
  const hu_net *net = p->net;
  for (size_t k = 0; k <= p->layout.operators; k++) {
    p->values[k] = net->value[k].tokens ? 0 : (uint64_t)net->value[k].rows * net->value[k].cols * net->passes;
    if (k && !net->value[k].made) p->row[k - 1].input = k - 1;
  }
  for (int i = 0; i < net->parameters; i++) p->owner[i] = SIZE_MAX;
  for (int i = 0; i < net->operators; i++) lay_operator(p, &net->op[i]);
}

/* ---- what is low becomes roundings ---- */

static hu_status apply(hu_precision *p) {
  const hu_candidate *c = &p->rule.formats;
  hu_status s = HU_OK;
  for (size_t k = 0; k <= p->layout.operators && s == HU_OK; k++) {
    if (p->values[k] == 0) continue;
    s = hu_net_round_value(p->net, (int)k, p->now.v[k] ? &c->low : &c->high,
                           p->now.dv[k] ? &c->low_back : &c->high_back);
  }
  for (int i = 0; i < p->net->parameters && s == HU_OK; i++) {
    size_t op = p->owner[i];
    if (op == SIZE_MAX) continue;
    s = hu_net_round_parameter(p->net, i, p->now.theta[op] ? &c->low : &c->high,
                               p->now.dtheta[op] ? &c->low_back : &c->high_back);
  }
  return s;
}

static hu_status assign(hu_precision *p) {
  const hu_precision_rule *r = &p->rule;
  hu_stream words = hu_stream_child(hu_stream_of_use(r->seed, HU_USE_ROUNDING), (uint64_t)7 << 32);
  hu_status s = HU_OK;
  switch (r->kind) {
    case HU_PRECISION_HIGH: s = hu_assign_high(&p->layout, &p->now); break;
    case HU_PRECISION_UNIFORM: s = hu_assign_uniform(&p->layout, &p->now); break;
    case HU_PRECISION_OPERATOR: s = hu_assign_operator(&p->layout, &p->now); break;
    case HU_PRECISION_OPERATOR_PRIME: s = hu_assign_operator_prime(&p->layout, &p->now); break;
    default: s = hu_assign_demote(&p->layout, &p->now, r->r, r->order, words); break;
  }
  if (s == HU_OK && !r->low_dtheta) hu_assign_keep_parameter_gradients(&p->layout, &p->now);
  return s == HU_OK ? apply(p) : s;
}

/* ---- plans ---- */

static hu_precision *room(hu_net *net) {
  size_t m = (size_t)net->values - 1;
  hu_precision *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->net = net;
  p->values = calloc(3 * (m + 1), sizeof *p->values);
  p->row = calloc(m + 1, sizeof *p->row);
  p->owner = calloc((size_t)net->parameters + 1, sizeof *p->owner);
  p->low = calloc(4 * (m + 1), 1);
  if (!p->values || !p->row || !p->owner || !p->low) {
    hu_precision_free(p);
    return NULL;
  }
  p->over_v = p->values + (m + 1);
  p->over_theta = p->over_v + (m + 1);
  p->layout.operators = m;
  p->layout.values = p->values;
  p->layout.row = p->row;
  p->now.v = p->low;
  p->now.dv = p->now.v + (m + 1);
  p->now.theta = p->now.dv + (m + 1);
  p->now.dtheta = p->now.theta + (m + 1);
  return p;
}

hu_status hu_precision_new(hu_precision **plan, hu_net *net, const hu_precision_rule *rule) {
  if (!plan || !net || !rule) return HU_E_NULL;
  *plan = NULL;
  hu_status s = hu_net_status(net, NULL);
  if (s == HU_OK) s = check_rule(rule);
  if (s == HU_OK && net->operators == 0) s = HU_E_SHAPE;
  if (s != HU_OK) return s;
  hu_precision *p = room(net);
  if (!p) return HU_E_MEMORY;
  p->rule = *rule;
  lay_out(p);
  s = assign(p);
  if (s == HU_OK) {
    net->planned = 1;
    *plan = p;
  }
  if (s != HU_OK) hu_precision_free(p);
  return s;
}

void hu_precision_free(hu_precision *p) {
  if (!p) return;
  free(p->values);
  free(p->row);
  free(p->owner);
  free(p->low);
  free(p);
}

/* ---- steps ---- */

static uint64_t low_elements(const hu_precision *p) {
  hu_ratio r = hu_assign_ratio(&p->layout, &p->now);
  return r.num * (hu_layout_elements(&p->layout) / r.den);
}

static void count_step(hu_precision *p) {
  if (p->past.steps >= ((uint64_t)1 << 63) / hu_layout_elements(&p->layout) - 1) return;
  p->past.steps++;
  p->past.low += low_elements(p);
}

static void count_over(hu_precision *p) {
  for (size_t k = 0; k <= p->layout.operators; k++) p->over_v[k] = p->net->value[k].over;
  memset(p->over_theta, 0, (p->layout.operators + 1) * sizeof *p->over_theta);
  for (int i = 0; i < p->net->parameters; i++) {
    if (p->owner[i] != SIZE_MAX) p->over_theta[p->owner[i]] += p->net->parameter[i].over;
  }
}

hu_status hu_precision_step(hu_precision *p, size_t *promoted) {
  size_t count = 0;
  if (!p) return HU_E_NULL;
  if ((size_t)p->net->values != p->layout.operators + 1) return HU_E_SHAPE;
  if (!p->net->training) return HU_E_TRAIN;
  count_step(p);
  if (p->rule.promote) {
    count_over(p);
    count = hu_assign_promote(&p->layout, &p->now, p->over_v, p->over_theta, p->rule.limit);
  }
  p->past.promoted += count;
  if (promoted) *promoted = count;
  return count ? apply(p) : HU_OK;
}

/* ---- looking ---- */

const hu_layout *hu_precision_layout(const hu_precision *p) { return p ? &p->layout : NULL; }
const hu_assignment *hu_precision_assignment(const hu_precision *p) { return p ? &p->now : NULL; }

hu_precision_past hu_precision_past_of(const hu_precision *p) {
  hu_precision_past none = {0, 0, 0};
  return p ? p->past : none;
}

hu_ratio hu_precision_ratio(const hu_precision *p) {
  return p ? hu_assign_ratio(&p->layout, &p->now) : hu_ratio_of(0, 1);
}

hu_ratio hu_precision_mean_ratio(const hu_precision *p) {
  if (!p || !p->past.steps) return hu_precision_ratio(p);
  return hu_ratio_of(p->past.low, p->past.steps * hu_layout_elements(&p->layout));
}

hu_ratio hu_precision_overflow(const hu_precision *p, size_t value) {
  if (!p || value > p->layout.operators) return hu_ratio_of(0, 1);
  return hu_ratio_of(p->net->value[value].over, p->values[value]);
}

hu_ratio hu_precision_overflow_theta(const hu_precision *p, size_t op) {
  uint64_t over = 0;
  if (!p || op >= p->layout.operators) return hu_ratio_of(0, 1);
  for (int i = 0; i < p->net->parameters; i++) over += p->owner[i] == op ? p->net->parameter[i].over : 0;
  return hu_ratio_of(over, p->row[op].parameters);
}

/* ---- memory ---- */

/* Bits of a tensor under the assignment, and all high. */
static uint64_t bits(size_t rows, size_t cols, int low, const hu_rounding *l, const hu_rounding *h, uint64_t *high) {
  uint64_t all = hu_rounding_bits(rows, cols, h);
  *high += all;
  return low ? hu_rounding_bits(rows, cols, l) : all;
}

hu_status hu_precision_memory_of(hu_precision_memory *z, const hu_precision *p, const hu_optimizer *o) {
  hu_precision_memory m;
  memset(&m, 0, sizeof m);
  if (!z || !p) return HU_E_NULL;
  hu_status s = o ? hu_optimizer_check_step(o, NULL) : HU_OK;
  if (s != HU_OK) return s;
  const hu_candidate *c = &p->rule.formats;
  uint64_t master = o ? hu_limits_of(o->weight).storage : 0, each = o ? 8 * hu_optimizer_bytes(o) : 0;
  for (size_t k = 0; k <= p->layout.operators; k++) {
    const hu_value *x = &p->net->value[k];
    if (p->values[k] == 0) continue;
    m.values += bits(x->rows, x->cols, p->now.v[k], &c->low, &c->high, &m.high);
    m.value_gradients += bits(x->rows, x->cols, p->now.dv[k], &c->low_back, &c->high_back, &m.high);
  }
  for (int i = 0; i < p->net->parameters; i++) {
    const hu_parameter *x = &p->net->parameter[i];
    size_t op = p->owner[i];
    if (op == SIZE_MAX) continue;
    m.weights += bits(x->rows, x->cols, p->now.theta[op], &c->low, &c->high, &m.high);
    m.weight_gradients += bits(x->rows, x->cols, p->now.dtheta[op], &c->low_back, &c->high_back, &m.high);
    m.master += master * numbers_of(x);
    m.state += (each - master) * numbers_of(x);
  }
  m.aggregate = m.values + m.value_gradients + m.weights + m.weight_gradients;
  *z = m;
  return HU_OK;
}

/* ---- other assignments ---- */

hu_status hu_precision_set(hu_precision *p, const hu_assignment *a, const hu_precision_past *past) {
  if (!p || !a || !a->v || !a->dv || !a->theta || !a->dtheta) return HU_E_NULL;
  size_t m = p->layout.operators;
  for (size_t k = 0; k <= m; k++) {
    if (a->v[k] > 1 || a->dv[k] > 1 || (k < m && (a->theta[k] > 1 || a->dtheta[k] > 1))) return HU_E_TRAIN;
  }
  memmove(p->now.v, a->v, m + 1);
  memmove(p->now.dv, a->dv, m + 1);
  memmove(p->now.theta, a->theta, m);
  memmove(p->now.dtheta, a->dtheta, m);
  memset(&p->past, 0, sizeof p->past);
  if (past) p->past = *past;
  return apply(p);
}
