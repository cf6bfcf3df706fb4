/* SPDX-License-Identifier: MIT */
/* Builds networks: memory, errors, tensors. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "train/net/net.h"

/* Zeros in the engine's memory. */
static void *zeros(const hu_net *net, size_t n, size_t size) {
  return n > SIZE_MAX / size ? NULL : net->engine->allocate(net->self, n * size);
}

static void release(const hu_net *net, void *p) {
  if (p) net->engine->release(net->self, p);
}

/* The table with space for one more than count: itself, or a larger one in its place. NULL: no memory, and the table is
 * as it was. */
static void *with_row(void *table, int *buffer, int count, size_t size) {
  if (count < *buffer) return table;
  int more = *buffer ? 2 * *buffer : 64;
  void *z = realloc(table, (size_t)more * size);
  if (z) *buffer = more;
  return z;
}

static int has_buffers(hu_net *net) {
  net->outcome = zeros(net, 1, sizeof *net->outcome);
  net->found = zeros(net, 1, sizeof *net->found);
  net->updates = zeros(net, 1, sizeof *net->updates);
  return net->outcome && net->found && net->updates;
}

/* Makes a net; `first` is NULL, or the net whose engine it takes. */
static hu_net *new_net(const hu_engine *engine, size_t batch, uint32_t threads, hu_net *first) {
  hu_net *net = batch ? calloc(1, sizeof *net) : NULL;
  if (!net) return NULL;
  net->engine = engine;
  net->batch = batch;
  net->threads = threads;
  net->passes = 1;
  net->time.power1 = net->time.power2 = 1;
  net->first = first;
  if (first) net->self = first->self;
  if (!first && engine->open(&net->self, threads) != HU_OK) {
    free(net);
    return NULL;
  }
  if (has_buffers(net)) return net;
  hu_net_free(net);
  return NULL;
}

hu_net *hu_net_new_on(const hu_engine *engine, size_t batch, uint32_t threads) {
  return new_net(engine ? engine : hui_engine_cpu(), batch, threads, NULL);
}

hu_net *hui_net_new_beside(hu_net *first, size_t batch) { return new_net(first->engine, batch, first->threads, first); }

void hui_net_follow(hu_net *net) {
  const hu_net *first = net->first;
  for (int i = 0; i < net->values; i++) {
    net->value[i].round = first->value[i].round;
    net->value[i].round_back = first->value[i].round_back;
    net->value[i].by_reader = first->value[i].by_reader;
  }
  for (int i = 0; i < net->parameters; i++) {
    net->parameter[i].round = first->parameter[i].round;
    net->parameter[i].round_back = first->parameter[i].round_back;
  }
  for (int i = 0; i < net->operators; i++) net->op[i].rounding = first->op[i].rounding;
  net->seed = first->seed;
  net->step = first->step;
  net->passes = first->passes;
  net->planned = first->planned;
  net->whole = first->whole;
  net->observer = first->observer;
  net->observer_context = first->observer_context;
}

hu_net *hu_net_new(size_t batch, uint32_t threads) { return hu_net_new_on(NULL, batch, threads); }

static void free_shown(float *shown[2]) {
  free(shown[0]);
  free(shown[1]);
}

static void free_tensors(hu_net *net) {
  for (int i = 0; i < net->values; i++) {
    hu_value *x = &net->value[i];
    void *all[] = {x->v, x->dv};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) release(net, all[k]);
    free_shown(x->shown);
  }
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    void *all[] = {parameter->dtheta,  parameter->master,       parameter->theta,
                   parameter->state.m, parameter->state.second, parameter->state.kahan};
    size_t own = net->first ? 1 : sizeof all / sizeof *all;
    for (size_t k = 0; k < own; k++) release(net, all[k]);
    void *ramping[] = {parameter->ramping.period, parameter->ramping.steps, parameter->ramping.sum,
                       parameter->ramping.due, parameter->ramping.mean};
    for (size_t k = 0; k < sizeof ramping / sizeof *ramping; k++) release(net, ramping[k]);
    release(net, parameter->average.numbers);
    free_shown(parameter->shown);
    free(parameter->name);
  }
}

void hu_net_free(hu_net *net) {
  if (!net) return;
  hui_free_operands(net);
  free_tensors(net);
  for (int i = 0; i < net->operators; i++) {
    release(net, net->op[i].kept);
    hui_delayed_free(&net->op[i]);
    free(net->op[i].list.value);
  }
  for (int i = 0; i < HU_BUFFERS; i++) release(net, net->work[i]);
  hui_tally_free(net);
  hui_delayed_end(net);
  void *all[] = {net->labels, net->targets, net->weights, net->outcome, net->found, net->updates};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) release(net, all[k]);
  if (!net->first) net->engine->close(net->self);
  free(net->carried.value);
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

static float *numbers(const hu_net *net, size_t n) { return zeros(net, n, sizeof(float)); }

int hui_new_value(hu_net *net, size_t rows, size_t cols, size_t height, size_t width) {
  size_t n;
  if (rows == 0 || cols == 0) return hui_refuse(net, HU_E_SHAPE, "a side of the result is 0");
  if (__builtin_mul_overflow(rows, cols, &n) || n > ((size_t)1 << 40)) {
    return hui_refuse(net, HU_E_SHAPE, "the result is too large");
  }
  if (net->values == HU_TENSORS_MAX) return hui_refuse(net, HU_E_SHAPE, "too many values");
  hu_value *all = with_row(net->value, &net->capacity[0], net->values, sizeof *net->value);
  if (!all) return hui_refuse(net, HU_E_MEMORY, "no memory for the result");
  net->value = all;
  hu_value *x = &net->value[net->values];
  memset(x, 0, sizeof *x);
  x->rows = rows;
  x->cols = cols;
  x->height = height;
  x->width = width;
  x->v = numbers(net, n);
  x->dv = numbers(net, n);
  net->values++;
  if (!x->v || !x->dv || !hui_tally_add(net, &x->seen) || hui_reserve_work(net, n) != HU_OK) {
    return hui_refuse(net, HU_E_MEMORY, "no memory for the result");
  }
  return net->values - 1;
}

/* Allocates weights and the state of the optimizer. Returns 0 if there is no memory. */
static int has_weights(const hu_net *net, hu_parameter *parameter, size_t n, const hu_parameter *first) {
  parameter->master = first ? first->master : numbers(net, n);
  parameter->theta = first ? first->theta : numbers(net, n);
  parameter->state.m = first ? first->state.m : numbers(net, n);
  parameter->state.second = first ? first->state.second : numbers(net, n);
  parameter->state.kahan = first ? first->state.kahan : numbers(net, n);
  return parameter->master && parameter->theta && parameter->state.m && parameter->state.second &&
         parameter->state.kahan;
}

/* The parts of a layer are named alike up to the last dot. */
static int of_one_layer(const hu_net *net, int a, int b) {
  const char *name = net->parameter[a].name, *dot = strrchr(name, '.');
  size_t n = dot ? (size_t)(dot - name) + 1 : 0;
  return n > 0 && strncmp(name, net->parameter[b].name, n) == 0;
}

/* Returns the next parameter of the layer that hu_net_share has named. */
static int taken_parameter(hu_net *net, size_t rows, size_t cols) {
  int taken = net->shared - 1;
  const hu_parameter *parameter = &net->parameter[taken];
  if (parameter->rows != rows || parameter->cols != cols)
    return hui_refuse(net, HU_E_SHAPE, "share: the layer has parameters of other sizes");
  if (taken + 1 < net->parameters && of_one_layer(net, taken, taken + 1)) {
    net->shared++;
  } else {
    net->shared = HU_SHARED_ALL;
  }
  return taken;
}

void hu_net_share(hu_net *net, int parameter) {
  if (!net || net->status != HU_OK) return;
  net->shared = parameter + 1;
  if (parameter < 0 || parameter >= net->parameters)
    hui_refuse(net, HU_E_SHAPE, "share: there is no parameter of that number");
}

int hui_new_parameter(hu_net *net, size_t rows, size_t cols, float start, size_t fan_in) {
  size_t n;
  if (net->status == HU_OK && net->shared == HU_SHARED_ALL)
    return hui_refuse(net, HU_E_SHAPE, "share: the layer has fewer parameters");
  if (net->status == HU_OK && net->shared) return taken_parameter(net, rows, cols);
  if (__builtin_mul_overflow(rows, cols, &n)) return hui_refuse(net, HU_E_SHAPE, "parameters: too many");
  if (net->parameters == HU_TENSORS_MAX) return hui_refuse(net, HU_E_SHAPE, "too many parameters");
  hu_parameter *table = with_row(net->parameter, &net->capacity[1], net->parameters, sizeof *net->parameter);
  char *name = calloc(1, HU_PARAMETER_NAME_MAX);
  if (table) net->parameter = table;
  if (!table || !name) {
    free(name);
    return hui_refuse(net, HU_E_MEMORY, "no memory for parameters");
  }
  hu_parameter *parameter = &net->parameter[net->parameters];
  memset(parameter, 0, sizeof *parameter);
  parameter->name = name;
  parameter->rows = rows;
  parameter->cols = cols;
  parameter->rule = hu_parameter_rule_none();
  parameter->first.start = start;
  parameter->first.fan_in = fan_in;
  parameter->dtheta = numbers(net, n);
  int all = has_weights(net, parameter, n, net->first ? &net->first->parameter[net->parameters] : NULL);
  net->parameters++;
  if (!all || !parameter->dtheta || !hui_tally_add(net, &parameter->seen) ||
      !hui_tally_add(net, &parameter->moments_seen) || hui_reserve_work(net, n) != HU_OK) {
    return hui_refuse(net, HU_E_MEMORY, "no memory for parameters");
  }
  return net->parameters - 1;
}

hu_operator *hui_new_operator(hu_net *net, const hu_operator_kind *kind, int x, int y, int out, size_t kept) {
  if (net->status != HU_OK || out < 0) return NULL;
  if (net->operators && net->op[net->operators - 1].kind->loss && !kind->loss) {
    hui_refuse(net, HU_E_SHAPE, "an operator after the loss");
    return NULL;
  }
  if (!net->engine->on_host && !kind->anywhere) {
    hui_refuse(net, HU_E_DEVICE, "this kind of operator computes on the CPU only");
    return NULL;
  }
  if (net->operators == HU_OPERATORS_MAX) {
    char said[64];
    snprintf(said, sizeof said, "more than %d operators", HU_OPERATORS_MAX);
    hui_refuse(net, HU_E_SHAPE, said);
    return NULL;
  }
  const int read[] = {x, y};
  for (int k = 0; k < 2; k++) {
    if (read[k] < 0 || !net->value[read[k]].sampled || kind->loss == HU_COMPARES_LABELS) continue;
    hui_refuse(net, HU_E_SHAPE, "of a sampled linear layer, which cross entropy alone reads");
    return NULL;
  }
  hu_operator *all = with_row(net->op, &net->capacity[2], net->operators, sizeof *net->op);
  if (!all) {
    hui_refuse(net, HU_E_MEMORY, "no memory for an operator");
    return NULL;
  }
  net->op = all;
  hu_operator *op = &net->op[net->operators];
  memset(op, 0, sizeof *op);
  op->kind = kind;
  op->in[0] = x;
  op->in[1] = y;
  op->in[2] = -1;
  op->out = out;
  op->theta[0] = op->theta[1] = -1;
  op->groups = 1;
  op->rounding = hu_product_rounding_plain();
  op->number = (uint64_t)net->operators;
  net->value[out].made = 1;
  op->kept_size = kept;
  op->kept = kept ? numbers(net, kept) : NULL;
  net->operators++;
  if ((kept && !op->kept) || (kind->product && !hui_tally_add(net, &op->seen))) {
    hui_refuse(net, HU_E_MEMORY, "no memory for what the gradient needs");
    return NULL;
  }
  return op;
}

int hui_first_loss(const hu_net *net) {
  int i = net->operators;
  while (i > 0 && net->op[i - 1].kind->loss) i--;
  return i;
}

hu_status hui_reserve_work(hu_net *net, size_t n) {
  if (n <= net->work_size) return HU_OK;
  for (int i = 0; i < HU_BUFFERS; i++) {
    float *buffer = numbers(net, n);
    if (!buffer) return HU_E_MEMORY;
    release(net, net->work[i]);
    net->work[i] = buffer;
  }
  net->work_size = n;
  return HU_OK;
}

int hu_net_input(hu_net *net, size_t rows, size_t cols) {
  if (!net || net->status != HU_OK) return -1;
  size_t all;
  if (__builtin_mul_overflow(net->batch, rows, &all)) return hui_refuse(net, HU_E_SHAPE, "input: too many rows");
  return hui_new_value(net, all, cols, 0, 0);
}

int hu_net_image(hu_net *net, size_t height, size_t width, size_t channels) {
  if (!net || net->status != HU_OK) return -1;
  size_t pixels, all;
  if (__builtin_mul_overflow(height, width, &pixels) || __builtin_mul_overflow(net->batch, pixels, &all)) {
    return hui_refuse(net, HU_E_SHAPE, "image: too many pixels");
  }
  return hui_new_value(net, all, channels, height, width);
}

hu_product_rounding hu_product_rounding_plain(void) {
  hu_product_rounding rounding;
  memset(&rounding, 0, sizeof rounding);
  rounding.z_accum.kind = rounding.dx_accum.kind = rounding.dw_accum.kind = HU_ACCUM_FP32;
  return rounding;
}

/* ---- precision ---- */

int hu_net_values(const hu_net *net) { return net ? net->values : 0; }
int hu_net_parameters(const hu_net *net) { return net ? net->parameters : 0; }

static hu_status set_rounding(hu_rounding *rounding, const hu_rounding *x) {
  hu_status status = x ? hu_rounding_check(x) : HU_OK;
  if (status == HU_OK && x) *rounding = *x;
  return status;
}

static hu_status set_both(hu_rounding *rounding, const hu_rounding *x, hu_rounding *back, const hu_rounding *y) {
  hu_status status = y ? hu_rounding_check(y) : HU_OK;
  if (status == HU_OK) status = set_rounding(rounding, x);
  return status == HU_OK ? set_rounding(back, y) : status;
}

hu_status hu_net_round_value(hu_net *net, int value, const hu_rounding *rounding, const hu_rounding *dv) {
  if (!net) return HU_E_NULL;
  if (value < 0 || value >= net->values) return HU_E_SHAPE;
  return set_both(&net->value[value].round, rounding, &net->value[value].round_back, dv);
}

hu_status hu_net_round_parameter(hu_net *net, int parameter, const hu_rounding *theta, const hu_rounding *dtheta) {
  if (!net) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  return set_both(&net->parameter[parameter].round, theta, &net->parameter[parameter].round_back, dtheta);
}

/* Quartet's layer goes with the other fields. */
static int quartet_allowed(const hu_product_rounding *rounding) {
  const hu_rounding *all[] = {&rounding->x,      &rounding->w,      &rounding->dz,
                              &rounding->w_back, &rounding->x_back, &rounding->dz_w};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->kind != HU_ROUND_KEEP) return 0;
  }
  return rounding->quartet <= HU_QUARTET_STOCHASTIC && !rounding->hadamard && !rounding->twice;
}

hu_status hu_net_round_product(hu_net *net, int value, const hu_product_rounding *rounding) {
  if (!net || !rounding) return HU_E_NULL;
  const hu_rounding *all[] = {&rounding->x,      &rounding->w,      &rounding->dz,
                              &rounding->w_back, &rounding->x_back, &rounding->dz_w,
                              &rounding->z_out,  &rounding->dx_out, &rounding->dw_out};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    hu_status status = hu_rounding_check(all[i]);
    if (status != HU_OK) return status;
  }
  hu_status status = hu_accum_check(&rounding->z_accum);
  if (status == HU_OK) status = hu_accum_check(&rounding->dx_accum);
  if (status == HU_OK) status = hu_accum_check(&rounding->dw_accum);
  if (status != HU_OK) return status;
  if (rounding->hadamard && rounding->hadamard != 16 && rounding->hadamard != 32 && rounding->hadamard != 64 &&
      rounding->hadamard != 128) {
    return HU_E_SHAPE;
  }
  if (rounding->by_window > 1 || rounding->twice > 1 || (rounding->twice && rounding->hadamard)) return HU_E_TRAIN;
  if (rounding->quartet && !quartet_allowed(rounding)) return HU_E_TRAIN;
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].out != value || !net->op[i].kind->product) continue;
    if (rounding->twice && rounding->by_window && strcmp(net->op[i].kind->name, "conv") == 0) return HU_E_TRAIN;
    if (rounding->quartet && strcmp(net->op[i].kind->name, "linear") != 0) return HU_E_TRAIN;
    if (rounding->quartet && net->op[i].sharing.transposed) return HU_E_TRAIN;
    if (rounding->w_average != 0 && net->op[i].passes == HU_PASSES_TRAINING) return HU_E_TRAIN;
    status = hui_average_begin(net, &net->op[i], rounding);
    if (status != HU_OK) return status;
    hui_delayed_free(&net->op[i]);
    net->op[i].rounding = *rounding;
    if (strcmp(net->op[i].kind->name, "experts") == 0) net->op[i].rounding.hadamard = 0; /* rows of different ones */
    return HU_OK;
  }
  return HU_E_SHAPE;
}

hu_status hu_net_update_parameter(hu_net *net, int parameter, unsigned update, hu_mode mode) {
  if (!net) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  optimizer.update = (uint8_t)update;
  optimizer.mode = mode;
  hu_status status = update > HU_UPDATE_KAHAN ? HU_E_TRAIN : hu_optimizer_check(&optimizer, NULL);
  if (status != HU_OK) return status;
  net->parameter[parameter].own.set = 1;
  net->parameter[parameter].own.update = (uint8_t)update;
  net->parameter[parameter].own.mode = mode;
  return HU_OK;
}

hu_parameter_rule hu_parameter_rule_none(void) { return (hu_parameter_rule){1, 1, 0, 0}; }

static int is_factor(double x) { return x >= 0 && x <= DBL_MAX; }

hu_status hu_net_rule_parameter(hu_net *net, int parameter, const hu_parameter_rule *rule) {
  if (!net || !rule) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  if (!is_factor(rule->rate) || !is_factor(rule->decay) || rule->unclipped > 1 || rule->lazy > 1) return HU_E_TRAIN;
  net->parameter[parameter].rule = *rule;
  return HU_OK;
}

hu_status hu_net_muon_parameter(hu_net *net, int parameter, int on) {
  if (!net) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  net->parameter[parameter].not_muon = !on;
  return HU_OK;
}

/* ---- looking ---- */

/* n numbers of the engine's as the host sees them; NULL: no memory, or the engine failed. */
static float *look(const hu_net *net, size_t n, const float *x, float **shown) {
  if (net->engine->on_host) return (float *)x;
  if (!*shown) *shown = malloc((n ? n : 1) * sizeof **shown);
  return *shown && net->engine->get(net->self, *shown, x, n * sizeof *x) == HU_OK ? *shown : NULL;
}

static int look_at_counts(const hu_net *net, const hu_rounding_counts *seen, hu_rounding_counts counts[2]) {
  return net->engine->on_host || net->engine->get(net->self, counts, seen, 2 * sizeof *seen) == HU_OK;
}

static hu_net_tensor tensor(const hu_net *net, size_t rows, size_t cols, const float *x, const float *dx,
                            float *shown[2], const hu_rounding_counts *seen, hu_rounding_counts counts,
                            hu_rounding_counts counts_back) {
  hu_rounding_counts both[2] = {counts, counts_back};
  hu_net_tensor none;
  memset(&none, 0, sizeof none);
  hu_net_tensor made = {.rows = rows,
                        .cols = cols,
                        .numbers = look(net, rows * cols, x, &shown[0]),
                        .gradients = look(net, rows * cols, dx, &shown[1]),
                        .forward = counts,
                        .backward = counts_back};
  if (!made.numbers || !made.gradients || !look_at_counts(net, seen, both)) return none;
  made.forward = both[0];
  made.backward = both[1];
  return made;
}

hu_net_tensor hu_net_value(const hu_net *net, int value) {
  hu_net_tensor none;
  memset(&none, 0, sizeof none);
  if (!net || value < 0 || value >= net->values) return none;
  hu_value *x = &net->value[value];
  return tensor(net, x->rows, x->cols, x->v, x->dv, x->shown, x->seen, x->counts, x->counts_back);
}

static const hu_value *value_of(const hu_net *net, int value) {
  return net && value >= 0 && value < net->values ? &net->value[value] : NULL;
}

size_t hui_net_rows(const hu_net *net, int value) {
  const hu_value *x = value_of(net, value);
  return x ? x->rows : 0;
}

size_t hui_net_cols(const hu_net *net, int value) {
  const hu_value *x = value_of(net, value);
  return x ? x->cols : 0;
}

const float *hui_net_numbers(const hu_net *net, int value) {
  if (!value_of(net, value)) return NULL;
  hu_value *x = &net->value[value];
  return look(net, x->rows * x->cols, x->v, &x->shown[0]);
}

hu_net_tensor hu_net_parameter(const hu_net *net, int parameter) {
  hu_net_tensor none;
  memset(&none, 0, sizeof none);
  if (!net || parameter < 0 || parameter >= net->parameters) return none;
  hu_parameter *weights = &net->parameter[parameter];
  return tensor(net, weights->rows, weights->cols, weights->master, weights->dtheta, weights->shown, weights->seen,
                weights->counts, weights->counts_back);
}

hu_status hu_net_set_parameter(hu_net *net, int parameter, const float *x) {
  if (!net || !x) return HU_E_NULL;
  if (parameter < 0 || parameter >= net->parameters) return HU_E_SHAPE;
  const hu_parameter *weights = &net->parameter[parameter];
  if (x == weights->master) return HU_OK; /* set where it is */
  return net->engine->put(net->self, weights->master, x, weights->rows * weights->cols * sizeof *x);
}

void hu_net_forget_counts(hu_net *net) {
  hu_rounding_counts none;
  memset(&none, 0, sizeof none);
  if (!net) return;
  for (int i = 0; i < net->values; i++) {
    net->value[i].counts = net->value[i].counts_back = none;
    net->value[i].over_seen = 0;
  }
  for (int i = 0; i < net->parameters; i++) {
    net->parameter[i].counts = net->parameter[i].counts_back = none;
    net->parameter[i].moments[0] = net->parameter[i].moments[1] = none;
    net->parameter[i].over_seen = 0;
  }
  for (int i = 0; i < net->operators; i++) net->op[i].counts[0] = net->op[i].counts[1] = none;
  hui_tally_forget(net);
}

int hu_net_product_counts(const hu_net *net, int value, hu_rounding_counts counts[2]) {
  for (int i = 0; net && i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (op->out != value || !op->kind->product) continue;
    memcpy(counts, op->counts, sizeof op->counts);
    return look_at_counts(net, op->seen, counts);
  }
  return 0;
}

int hu_net_moment_counts(const hu_net *net, int parameter, hu_rounding_counts counts[2]) {
  if (!net || parameter < 0 || parameter >= net->parameters) return 0;
  const hu_parameter *weights = &net->parameter[parameter];
  memcpy(counts, weights->moments, sizeof weights->moments);
  return look_at_counts(net, weights->moments_seen, counts);
}

uint64_t hu_net_digest(const hu_net *net) {
  uint64_t h = 0xCBF29CE484222325u;
  if (!net) return 0;
  for (int i = 0; i < net->parameters; i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    for (size_t k = 0; k < tensor.rows * tensor.cols; k++) {
      uint32_t u;
      memcpy(&u, &tensor.numbers[k], sizeof u);
      for (int byte = 0; byte < 4; byte++) h = (h ^ (u >> (8 * byte) & 0xFF)) * 0x100000001B3u;
    }
  }
  return h;
}
