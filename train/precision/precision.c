/* SPDX-License-Identifier: MIT */
/* Puts an assignment of precision to work on a network. */
#include "halfulp/train/precision.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "train/net/net.h"
#include "train/precision/passed.h"
#include "train/step/optimizer.h"

struct hu_precision {
  hu_net *net;
  hu_precision_rule rule;
  hu_precision_past past;
  hu_layout layout;
  hu_assignment now;
  uint64_t *values; /* sizes; then over_v, row's over_theta, passed */
  uint64_t *over_v, *over_theta;
  uint64_t *passed; /* the sizes of the last pass, which may have had fewer samples */
  hu_layout_operator *row;
  size_t *owner;     /* of each parameter: the operator of the layout */
  uint8_t *low;      /* what `now` points to; then `shuffled` */
  uint8_t *shuffled; /* 1: a shuffle makes the value, which is no tensor in the published reading */
};

/* ---- rules ---- */

static hu_rounding finite(unsigned e, unsigned m, int b, int gradient) {
  const hu_mode rne = {0};
  hu_rounding rounding = hu_rounding_format(hu_format_finite(e, m, b), rne);
  rounding.keep_nan = 1;
  rounding.over_inf = (uint8_t)gradient;
  return rounding;
}

hu_candidate hu_candidate_default(void) {
  hu_candidate candidate = {finite(4, 3, 4, 0), finite(5, 2, 0, 1), finite(6, 9, 0, 0), finite(6, 9, 0, 1)};
  return candidate;
}

hu_precision_rule hu_precision_rule_default(void) {
  hu_precision_rule rule;
  memset(&rule, 0, sizeof rule);
  rule.r.num = rule.r.den = 1;
  rule.most = rule.r;
  rule.limit.num = 1;
  rule.limit.den = 100;
  rule.formats = hu_candidate_default();
  return rule;
}

static hu_status check_rule(const hu_precision_rule *rule) {
  const hu_rounding *all[] = {&rule->formats.low, &rule->formats.low_back, &rule->formats.high,
                              &rule->formats.high_back};
  for (size_t i = 0; i < 4; i++) {
    hu_status status = hu_rounding_check(all[i]);
    if (status != HU_OK) return status;
  }
  if (rule->kind > HU_PRECISION_DEMOTE || rule->order > HU_DEMOTE_RANDOM) return HU_E_TRAIN;
  if (rule->reading > HU_READING_PUBLISHED) return HU_E_TRAIN;
  if (!hu_ratio_usable(rule->r) || !hu_ratio_usable(rule->limit) || !hu_ratio_usable(rule->most)) return HU_E_TRAIN;
  return rule->promote > 1 || rule->low_dtheta > 1 ? HU_E_TRAIN : HU_OK;
}

/* ---- the layout ---- */

static uint64_t numbers_of(const hu_parameter *parameter) { return (uint64_t)parameter->rows * parameter->cols; }

static int is_published(const hu_precision *precision) { return precision->layout.reading == HU_READING_PUBLISHED; }

/* Returns the number of elements of value k of the plan's net, or of one beside it. */
static uint64_t elements_of(const hu_precision *precision, const hu_net *net, size_t k) {
  const hu_value *value = &net->value[k];
  if (value->tokens || precision->shuffled[k]) return 0;
  return (uint64_t)value->rows * value->cols * net->passes;
}

/* What operator number k of the net has is put where the operator that makes its value stands. */
static void lay_operator(hu_precision *precision, const hu_operator *op) {
  hu_layout_operator *row = &precision->row[op->out - 1];
  row->input = (size_t)op->in[0];
  if (precision->shuffled[row->input]) row->input = precision->row[row->input - 1].input;
  row->product = (uint8_t)(op->kind->product != 0);
  for (int k = 0; k < 2; k++) {
    int theta = op->theta[k];
    if (theta < 0 || precision->owner[theta] != SIZE_MAX) continue;
    precision->owner[theta] = (size_t)op->out - 1;
    row->parameters += numbers_of(&precision->net->parameter[theta]);
  }
  if (is_published(precision) && op->kind->loss && strcmp(op->kind->name, "cross_entropy") == 0) {
    const hu_value *logits = &precision->net->value[op->in[0]];
    precision->values[op->out] = (uint64_t)logits->rows * (logits->cols + 1) * precision->net->passes;
  }
}

static void lay_out(hu_precision *precision) {
  hu_net *net = precision->net;
  for (int i = 0; i < net->operators && is_published(precision); i++)
    precision->shuffled[net->op[i].out] = strcmp(net->op[i].kind->name, "shuffle") == 0;
  for (size_t k = 0; k <= precision->layout.operators; k++) {
    precision->values[k] = elements_of(precision, net, k);
    net->value[k].by_reader = is_published(precision);
    if (k && !net->value[k].made) precision->row[k - 1].input = k - 1;
  }
  for (int i = 0; i < net->parameters; i++) precision->owner[i] = SIZE_MAX;
  for (int i = 0; i < net->operators; i++) lay_operator(precision, &net->op[i]);
  memcpy(precision->passed, precision->values, (precision->layout.operators + 1) * sizeof *precision->passed);
}

/* ---- what is low becomes roundings ---- */

static hu_status apply(hu_precision *precision) {
  const hu_candidate *candidate = &precision->rule.formats;
  hu_status status = HU_OK;
  const hu_rounding keep = hu_rounding_keep();
  for (size_t k = 0; k <= precision->layout.operators && status == HU_OK; k++) {
    const int shuffled = precision->shuffled[k];
    const size_t from = shuffled ? precision->row[k - 1].input : k;
    if (precision->values[from] == 0) continue;
    const hu_rounding *forward = precision->now.v[k] ? &candidate->low : &candidate->high;
    status = hu_net_round_value(precision->net, (int)k, shuffled ? &keep : forward,
                                precision->now.dv[from] ? &candidate->low_back : &candidate->high_back);
  }
  for (int i = 0; i < precision->net->parameters && status == HU_OK; i++) {
    size_t op = precision->owner[i];
    if (op == SIZE_MAX) continue;
    status = hu_net_round_parameter(precision->net, i, precision->now.theta[op] ? &candidate->low : &candidate->high,
                                    precision->now.dtheta[op] ? &candidate->low_back : &candidate->high_back);
  }
  return status;
}

/* Returns 1 if groups with more elements than `most` says are low. */
static int is_above(const hu_precision *precision, hu_ratio most) {
  hu_ratio ratio = hu_assign_ratio(&precision->layout, &precision->now);
  return ratio.num * most.den > most.num * ratio.den;
}

static hu_status assign(hu_precision *precision) {
  const hu_precision_rule *rule = &precision->rule;
  hu_stream words = hu_stream_child(hu_stream_of_use(rule->seed, HU_USE_ROUNDING), (uint64_t)7 << 32);
  hu_status status = HU_OK;
  switch (rule->kind) {
    case HU_PRECISION_HIGH: status = hu_assign_high(&precision->layout, &precision->now); break;
    case HU_PRECISION_UNIFORM: status = hu_assign_uniform(&precision->layout, &precision->now); break;
    case HU_PRECISION_OPERATOR: status = hu_assign_operator(&precision->layout, &precision->now); break;
    case HU_PRECISION_OPERATOR_PRIME: status = hu_assign_operator_prime(&precision->layout, &precision->now); break;
    default: status = hu_assign_demote(&precision->layout, &precision->now, rule->r, rule->order, words); break;
  }
  if (status == HU_OK && rule->kind == HU_PRECISION_DEMOTE && is_above(precision, rule->most)) return HU_E_TRAIN;
  if (status == HU_OK && !rule->low_dtheta) hu_assign_keep_parameter_gradients(&precision->layout, &precision->now);
  return status == HU_OK ? apply(precision) : status;
}

/* ---- plans ---- */

static hu_precision *buffer(hu_net *net) {
  size_t m = (size_t)net->values - 1;
  hu_precision *precision = calloc(1, sizeof *precision);
  if (!precision) return NULL;
  precision->net = net;
  precision->values = calloc(4 * (m + 1), sizeof *precision->values);
  precision->row = calloc(m + 1, sizeof *precision->row);
  precision->owner = calloc((size_t)net->parameters + 1, sizeof *precision->owner);
  precision->low = calloc(5 * (m + 1), 1);
  if (!precision->values || !precision->row || !precision->owner || !precision->low) {
    hu_precision_free(precision);
    return NULL;
  }
  precision->over_v = precision->values + (m + 1);
  precision->over_theta = precision->over_v + (m + 1);
  precision->passed = precision->over_theta + (m + 1);
  precision->layout.operators = m;
  precision->layout.values = precision->values;
  precision->layout.row = precision->row;
  precision->now.v = precision->low;
  precision->now.dv = precision->now.v + (m + 1);
  precision->now.theta = precision->now.dv + (m + 1);
  precision->now.dtheta = precision->now.theta + (m + 1);
  precision->shuffled = precision->now.dtheta + (m + 1);
  return precision;
}

hu_status hu_precision_new(hu_precision **plan, hu_net *net, const hu_precision_rule *rule) {
  if (!plan || !net || !rule) return HU_E_NULL;
  *plan = NULL;
  hu_status status = hu_net_status(net, NULL);
  if (status == HU_OK) status = check_rule(rule);
  if (status == HU_OK && net->operators == 0) status = HU_E_SHAPE;
  if (status != HU_OK) return status;
  hu_precision *precision = buffer(net);
  if (!precision) return HU_E_MEMORY;
  precision->rule = *rule;
  precision->layout.reading = rule->reading;
  lay_out(precision);
  status = assign(precision);
  if (status == HU_OK) {
    net->planned = 1;
    *plan = precision;
  }
  if (status != HU_OK) hu_precision_free(precision);
  return status;
}

void hu_precision_free(hu_precision *precision) {
  if (!precision) return;
  free(precision->values);
  free(precision->row);
  free(precision->owner);
  free(precision->low);
  free(precision);
}

/* ---- steps ---- */

static uint64_t low_elements(const hu_precision *precision) {
  hu_ratio ratio = hu_assign_ratio(&precision->layout, &precision->now);
  return ratio.num * (hu_layout_elements(&precision->layout) / ratio.den);
}

static void count_step(hu_precision *precision) {
  if (precision->past.steps >= ((uint64_t)1 << 63) / hu_layout_elements(&precision->layout) - 1) return;
  precision->past.steps++;
  precision->past.low += low_elements(precision);
}

/* Returns how often an element of value k counts: more than once where it stands for those of another operator. */
static uint64_t times(const hu_precision *precision, size_t k) {
  const uint64_t counted = elements_of(precision, precision->net, k);
  return counted ? precision->values[k] / counted : 0;
}

void hui_precision_passed(hu_precision *precision, const hu_net *net) {
  for (size_t k = 0; k <= precision->layout.operators; k++) {
    precision->net->value[k].over = net->value[k].over;
    precision->passed[k] = elements_of(precision, net, k) * times(precision, k);
  }
}

static void count_over(hu_precision *precision) {
  for (size_t k = 0; k <= precision->layout.operators; k++)
    precision->over_v[k] = precision->net->value[k].over * times(precision, k);
  memset(precision->over_theta, 0, (precision->layout.operators + 1) * sizeof *precision->over_theta);
  for (int i = 0; i < precision->net->parameters; i++) {
    if (precision->owner[i] != SIZE_MAX)
      precision->over_theta[precision->owner[i]] += precision->net->parameter[i].over;
  }
}

hu_status hu_precision_step(hu_precision *precision, size_t *promoted) {
  size_t count = 0;
  if (!precision) return HU_E_NULL;
  if ((size_t)precision->net->values != precision->layout.operators + 1) return HU_E_SHAPE;
  if (!precision->net->training) return HU_E_TRAIN;
  count_step(precision);
  if (precision->rule.promote) {
    hu_layout passed = precision->layout;
    passed.values = precision->passed;
    count_over(precision);
    count =
        hu_assign_promote(&passed, &precision->now, precision->over_v, precision->over_theta, precision->rule.limit);
  }
  precision->past.promoted += count;
  if (promoted) *promoted = count;
  return count ? apply(precision) : HU_OK;
}

/* ---- looking ---- */

const hu_layout *hu_precision_layout(const hu_precision *precision) { return precision ? &precision->layout : NULL; }
const hu_assignment *hu_precision_assignment(const hu_precision *precision) {
  return precision ? &precision->now : NULL;
}

hu_precision_past hu_precision_past_of(const hu_precision *precision) {
  hu_precision_past none = {0, 0, 0};
  return precision ? precision->past : none;
}

hu_ratio hu_precision_ratio(const hu_precision *precision) {
  return precision ? hu_assign_ratio(&precision->layout, &precision->now) : hu_ratio_of(0, 1);
}

hu_ratio hu_precision_mean_ratio(const hu_precision *precision) {
  if (!precision || !precision->past.steps) return hu_precision_ratio(precision);
  return hu_ratio_of(precision->past.low, precision->past.steps * hu_layout_elements(&precision->layout));
}

hu_ratio hu_precision_overflow(const hu_precision *precision, size_t value) {
  if (!precision || value > precision->layout.operators) return hu_ratio_of(0, 1);
  return hu_ratio_of(precision->net->value[value].over, precision->passed[value]);
}

hu_ratio hu_precision_overflow_theta(const hu_precision *precision, size_t op) {
  uint64_t over = 0;
  if (!precision || op >= precision->layout.operators) return hu_ratio_of(0, 1);
  for (int i = 0; i < precision->net->parameters; i++)
    over += precision->owner[i] == op ? precision->net->parameter[i].over : 0;
  return hu_ratio_of(over, precision->row[op].parameters);
}

/* ---- memory ---- */

/* Returns the bits of a tensor under the assignment, and adds those with all high. */
static uint64_t bits(size_t rows, size_t cols, int low, const hu_rounding *rounding, const hu_rounding *by,
                     uint64_t *high) {
  uint64_t all = hu_rounding_bits(rows, cols, by);
  *high += all;
  return low ? hu_rounding_bits(rows, cols, rounding) : all;
}

hu_status hu_precision_memory_of(hu_precision_memory *memory, const hu_precision *precision,
                                 const hu_optimizer *optimizer) {
  hu_precision_memory sum;
  memset(&sum, 0, sizeof sum);
  if (!memory || !precision) return HU_E_NULL;
  hu_status status = optimizer ? hu_optimizer_check_step(optimizer, NULL) : HU_OK;
  if (status != HU_OK) return status;
  const hu_candidate *candidate = &precision->rule.formats;
  uint64_t master = optimizer ? hu_limits_of(optimizer->weight).storage : 0;
  for (size_t k = 0; k <= precision->layout.operators; k++) {
    const hu_value *x = &precision->net->value[k];
    if (precision->values[k] == 0) continue;
    sum.values += bits(x->rows, x->cols, precision->now.v[k], &candidate->low, &candidate->high, &sum.high);
    sum.value_gradients +=
        bits(x->rows, x->cols, precision->now.dv[k], &candidate->low_back, &candidate->high_back, &sum.high);
  }
  for (int i = 0; i < precision->net->parameters; i++) {
    const hu_parameter *parameter = &precision->net->parameter[i];
    size_t op = precision->owner[i];
    if (op == SIZE_MAX) continue;
    sum.weights +=
        bits(parameter->rows, parameter->cols, precision->now.theta[op], &candidate->low, &candidate->high, &sum.high);
    sum.weight_gradients += bits(parameter->rows, parameter->cols, precision->now.dtheta[op], &candidate->low_back,
                                 &candidate->high_back, &sum.high);
    sum.master += master * numbers_of(parameter);
    if (!optimizer) continue;
    hu_optimizer own = hui_optimizer_of(precision->net, i, optimizer);
    sum.state += hui_optimizer_state_bits(numbers_of(parameter), &own);
  }
  sum.aggregate = sum.values + sum.value_gradients + sum.weights + sum.weight_gradients;
  *memory = sum;
  return HU_OK;
}

/* ---- other assignments ---- */

hu_status hu_precision_set(hu_precision *precision, const hu_assignment *assignment, const hu_precision_past *past) {
  if (!precision || !assignment || !assignment->v || !assignment->dv || !assignment->theta || !assignment->dtheta)
    return HU_E_NULL;
  size_t m = precision->layout.operators;
  for (size_t k = 0; k <= m; k++) {
    if (assignment->v[k] > 1 || assignment->dv[k] > 1 ||
        (k < m && (assignment->theta[k] > 1 || assignment->dtheta[k] > 1)))
      return HU_E_TRAIN;
  }
  memmove(precision->now.v, assignment->v, m + 1);
  memmove(precision->now.dv, assignment->dv, m + 1);
  memmove(precision->now.theta, assignment->theta, m);
  memmove(precision->now.dtheta, assignment->dtheta, m);
  memset(&precision->past, 0, sizeof precision->past);
  if (past) precision->past = *past;
  return apply(precision);
}
