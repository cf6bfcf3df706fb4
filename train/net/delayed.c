/* SPDX-License-Identifier: MIT */
/* Delayed scaling: scales of operands from the largest magnitudes of earlier steps. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "train/net/net.h"

enum { X = 0, W = 1, DZ = 2, HISTORY_MAX = 65536, MARGIN_MAX = 64 };

/* What an operand is a rounding of. */
static unsigned tensor_of(unsigned part) {
  if (part == HU_PART_Z_X || part == HU_PART_DW_X) return X;
  return part == HU_PART_Z_W || part == HU_PART_DX_W ? W : DZ;
}

static size_t record_size_of(const hu_delayed *rule) { return 1 + (size_t)rule->history; }
static size_t record_size(const hu_delay *delay) { return record_size_of(&delay->rule); }

/* Record `of` of an operator: of a net beside another one, that one's. */
static float *record_of(const hu_net *net, const hu_operator *op, unsigned of) {
  const hu_delay *delay = net->first ? net->first->op[op->number].delay : op->delay;
  return delay ? delay->state + of * record_size(delay) : NULL;
}

/* ---- what is delayed ---- */

/* One scale for the whole tensor, that its amax alone decides. */
static int has_one_scale(const hu_rounding *rounding) {
  return !rounding->scaling.rows && !rounding->scaling.cols && !rounding->scaling.tensor &&
         rounding->scaling.rule == HU_SCALE_RATIO;
}

static hu_status check(const hu_operator *op, const hu_delayed *rule) {
  const hu_product_rounding *rounding = &op->rounding;
  const hu_rounding *operands[] = {&rounding->x,      &rounding->w,      &rounding->dz,
                                   &rounding->w_back, &rounding->x_back, &rounding->dz_w};
  size_t delayed = 0;
  if (rule->history > HISTORY_MAX || rule->takes > HU_AMAX_RECENT || rule->margin > MARGIN_MAX) return HU_E_TRAIN;
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
    if (operands[i]->kind != HU_ROUND_SCALED) continue;
    if (!has_one_scale(operands[i])) return HU_E_SCALING;
    delayed++;
  }
  return !delayed || rounding->hadamard || (rounding->by_window && strcmp(op->kind->name, "conv") == 0) ? HU_E_TRAIN
                                                                                                        : HU_OK;
}

void hui_delayed_free(hu_operator *op) {
  if (!op->delay) return;
  free(op->delay->state);
  free(op->delay);
  op->delay = NULL;
}

/* ---- what passes find, of all operators in one block, so that a look is one copy ---- */

static size_t found_bytes(size_t operators) { return operators * HU_DELAYED_OF * sizeof(hu_gradient_found); }

void hui_delayed_end(hu_net *net) {
  if (net->amaxes.there) net->engine->release(net->self, net->amaxes.there);
  free(net->amaxes.here);
  memset(&net->amaxes, 0, sizeof net->amaxes);
}

/* What was found goes to the operators, and the block is zeros again. */
static void look(hu_net *net) {
  const hu_amaxes *amaxes = &net->amaxes;
  if (!amaxes->capacity) return;
  hui_do_get(net, amaxes->here, amaxes->there, found_bytes(amaxes->capacity));
  hui_do_put(net, amaxes->there, amaxes->here + HU_DELAYED_OF * amaxes->capacity, found_bytes(amaxes->capacity));
  for (size_t i = 0; i < amaxes->capacity; i++) {
    hu_delay *delay = net->op[i].delay;
    const hu_gradient_found *found = amaxes->here + HU_DELAYED_OF * i;
    for (int k = 0; delay && k < HU_DELAYED_OF; k++)
      delay->amax[k] = fmaxf(delay->amax[k], found[k].bad ? INFINITY : found[k].amax);
  }
}

/* Space for all operators that the net has; 0: no memory, and nothing has changed. */
static int reserve_amaxes(hu_net *net) {
  size_t buffer = (size_t)net->operators;
  if (buffer <= net->amaxes.capacity) return 1;
  look(net);
  hu_gradient_found *there = net->engine->allocate(net->self, found_bytes(buffer)),
                    *here = calloc(2, found_bytes(buffer));
  if (!there || !here) {
    if (there) net->engine->release(net->self, there);
    free(here);
    return 0;
  }
  hui_delayed_end(net);
  net->amaxes.there = there;
  net->amaxes.here = here;
  net->amaxes.capacity = buffer;
  hui_do_put(net, there, here, found_bytes(buffer));
  return 1;
}

/* ---- which products are delayed ---- */

static hu_status delay(hu_net *net, hu_operator *op, const hu_delayed *rule) {
  hui_delayed_free(op);
  if (!rule->history) return HU_OK;
  hu_status status = check(net->first ? &net->first->op[op->number] : op, rule); /* whose roundings it takes */
  if (status != HU_OK) return status;
  hu_delay *made = reserve_amaxes(net) ? calloc(1, sizeof *made) : NULL;
  if (made && !net->first) made->state = calloc(HU_DELAYED_OF * record_size_of(rule), sizeof *made->state);
  if (!made || (!net->first && !made->state)) {
    free(made);
    return HU_E_MEMORY;
  }
  made->rule = *rule;
  op->delay = made;
  return HU_OK;
}

/* The product that makes a value; NULL: none. */
static hu_operator *product_of(const hu_net *net, int value) {
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].out == value && net->op[i].kind->product) return &net->op[i];
  }
  return NULL;
}

hu_status hu_net_delay_product(hu_net *net, int value, const hu_delayed *delayed) {
  if (!net || !delayed) return HU_E_NULL;
  hu_operator *op = product_of(net, value);
  return op ? delay(net, op, delayed) : HU_E_SHAPE;
}

float *hu_net_delayed_record(const hu_net *net, int value, int of) {
  const hu_operator *op = net && of >= 0 && of < HU_DELAYED_OF ? product_of(net, value) : NULL;
  return op && op->delay ? record_of(net, op, (unsigned)of) : NULL;
}

/* ---- in a pass ---- */

void hui_delayed_begin(hu_net *net) {
  for (int i = 0; i < net->operators; i++) {
    hu_delay *delay = net->op[i].delay;
    if (delay) memset(delay->looked, 0, sizeof delay->looked);
  }
}

/* Multiplies by 1, which changes no number: the engines find the largest gradient like that. */
static void note(hu_net *net, const hu_operator *op, unsigned of, size_t n, const float *x) {
  hu_delay *delay = op->delay;
  if (!net->training || delay->looked[of] || net->fault != HU_OK) return;
  delay->looked[of] = 1;
  hu_gradient_found *found = net->amaxes.there + HU_DELAYED_OF * op->number + of;
  net->fault = net->engine->unscale(net->self, n, (float *)(uintptr_t)x, 1, found);
}

const hu_rounding *hui_delayed_rounding(hu_net *net, hu_operator *op, size_t n, const float *x,
                                        const hu_rounding *rounding, unsigned part, hu_rounding *given) {
  hu_delay *delay = op->delay;
  if (!delay || part > HU_PART_DX_W || rounding->kind != HU_ROUND_SCALED) return rounding;
  unsigned of = tensor_of(part);
  note(net, op, of, n, x);
  float amax = *record_of(net, op, of);
  memcpy(given, rounding, sizeof *given); /* padding, too, which hui_roundings_alike sees */
  given->amax =
      amax > 0 ? fminf(ldexpf(amax, delay->rule.margin), FLT_MAX) : (float)hu_limits_of(rounding->scaling.element).max;
  return given;
}

/* ---- a step ---- */

size_t hui_delayed_records(const hu_net *net) {
  size_t n = 0;
  for (int i = 0; i < net->operators; i++) n += net->op[i].delay ? HU_DELAYED_OF : 0;
  return n;
}

hu_status hui_delayed_take(hu_net *net, double *z) {
  look(net);
  for (int i = 0; i < net->operators; i++) {
    hu_delay *delay = net->op[i].delay;
    if (!delay) continue;
    for (int k = 0; k < HU_DELAYED_OF; k++, z++) *z = fmax(*z, (double)delay->amax[k]);
    memset(delay->amax, 0, sizeof delay->amax);
  }
  return hui_done(net);
}

void hui_delayed_put(hu_net *net, const double *x) {
  for (int i = 0; i < net->operators; i++) {
    hu_delay *delay = net->op[i].delay;
    for (int k = 0; delay && k < HU_DELAYED_OF; k++) delay->amax[k] = (float)*x++;
  }
}

/* Writes the amax of a step into a record. */
static void remember(float *record, const hu_delayed *rule, float amax) {
  float *history = record + 1, f = amax;
  memmove(history + 1, history, (rule->history - 1) * sizeof *history);
  history[0] = amax;
  for (uint32_t i = 1; i < rule->history && rule->takes == HU_AMAX_MAX; i++) f = fmaxf(f, history[i]);
  if (f > 0 && f < INFINITY) record[0] = f;
}

hu_status hui_delayed_step(hu_net *net) {
  look(net);
  for (int i = 0; i < net->operators; i++) {
    hu_delay *delay = net->op[i].delay;
    if (!delay) continue;
    for (unsigned k = 0; k < HU_DELAYED_OF; k++) remember(record_of(net, &net->op[i], k), &delay->rule, delay->amax[k]);
    memset(delay->amax, 0, sizeof delay->amax);
  }
  return hui_done(net);
}

void hui_delayed_forget(hu_net *net) {
  look(net);
  for (int i = 0; i < net->operators; i++) {
    hu_delay *delay = net->op[i].delay;
    if (!delay) continue;
    memset(delay->amax, 0, sizeof delay->amax);
    if (delay->state) memset(delay->state, 0, HU_DELAYED_OF * record_size(delay) * sizeof *delay->state);
  }
}
