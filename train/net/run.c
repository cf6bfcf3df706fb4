/* SPDX-License-Identifier: MIT */
/* Runs a network: forward, backward, and the step of the optimizer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "train/environment.h"
#include "train/data/file.h"
#include "train/net/net.h"
#include "train/step/optimizer.h"

/* Returns where the engine counts. */
static hu_rounding_counts *counts_of(const hu_net *net, hu_rounding_counts *own, hu_rounding_counts *seen) {
  return net->engine->on_host ? own : seen;
}

/* The backward ones of a pair of counts; there is none where the engine's memory is the host's. */
static hu_rounding_counts *back_of(hu_rounding_counts *seen) { return seen ? seen + 1 : NULL; }

/* Rounds value i, which op made (NULL: it is an input). */
static void round_value(hu_net *net, const hu_operator *op, int i) {
  hu_value *x = &net->value[i];
  hui_round_of(net, op, x->rows, x->cols, x->v, x->v, &x->round, HU_OF_VALUE, (uint64_t)i,
               counts_of(net, &x->counts, x->seen));
}

/* ---- what goes in ---- */

static HU_NOINLINE hu_status feed(hu_net *net, int input, const float *x) {
  if (!net || !x) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  if (input < 0 || input >= net->values || net->value[input].made) return HU_E_SHAPE;
  hu_value *value = &net->value[input];
  net->training = 0; /* gradients need a pass with what is fed now */
  net->fault = HU_OK;
  hui_do_put(net, value->v, x, value->rows * value->cols * sizeof *x);
  round_value(net, NULL, input);
  return hui_done(net);
}

hu_status hu_net_feed(hu_net *net, int input, const float *x) { HU_ENV_RETURN(hu_status, feed(net, input, x)); }

/* Writes the first numbers of a parameter into z, on the host. */
static void draw(const hu_net *net, int i, float *z) {
  const hu_parameter *parameter = &net->parameter[i];
  size_t n = parameter->rows * parameter->cols;
  hu_stream words = hu_stream_child(hu_stream_of_use(net->seed, HU_USE_WEIGHTS), (uint64_t)i);
  for (size_t k = 0; k < n; k++) z[k] = parameter->first.start;
  if (parameter->first.drawn == HU_DRAWN_UNIFORM) {
    hui_init_within(n, z, parameter->first.deviation, words);
  } else if (parameter->first.drawn == HU_DRAWN_CUT) {
    hui_init_cut(n, z, parameter->first.deviation, words);
  } else if (parameter->first.drawn == HU_DRAWN_NORMAL) {
    if (parameter->first.deviation > 0) hu_normal_n(n, z, parameter->first.deviation, words);
  } else if (parameter->first.drawn == HU_DRAWN_DEFAULT && parameter->first.fan_in) {
    hu_init_normal(n, z, parameter->first.before_relu ? 2 : 1, parameter->first.fan_in, words);
  }
}

static hu_status start_parameter(hu_net *net, int i) {
  hu_parameter *parameter = &net->parameter[i];
  size_t n = parameter->rows * parameter->cols;
  float *buffer = net->engine->on_host ? parameter->master : malloc((n ? n : 1) * sizeof *buffer);
  if (!buffer) return HU_E_MEMORY;
  draw(net, i, buffer);
  if (buffer != parameter->master) {
    hui_do_put(net, parameter->master, buffer, n * sizeof *buffer);
    free(buffer);
  }
  hui_do_fill(net, n, parameter->state.m, 0);
  hui_do_fill(net, n, parameter->state.second, 0);
  hui_do_fill(net, n, parameter->state.kahan, 0);
  return hui_done(net);
}

static HU_NOINLINE hu_status initialize(hu_net *net, uint64_t seed) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  net->seed = seed;
  net->step = 0;
  net->training = net->trained = 0;
  memset(&net->time, 0, sizeof net->time);
  net->time.power1 = net->time.power2 = 1;
  hu_status status = net->fault = HU_OK;
  hui_delayed_forget(net);
  for (int i = 0; i < net->parameters && status == HU_OK; i++) status = start_parameter(net, i);
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].kind->start) net->op[i].kind->start(net, &net->op[i]);
  }
  return status == HU_OK ? hui_done(net) : status;
}

hu_status hu_net_initialize(hu_net *net, uint64_t seed) { HU_ENV_RETURN(hu_status, initialize(net, seed)); }

/* ---- forward ---- */

static void round_parameters(hu_net *net) {
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    hu_rounding_counts *counts = counts_of(net, &parameter->counts, parameter->seen);
    hui_round_of(net, NULL, parameter->rows, parameter->cols, parameter->theta, parameter->master, &parameter->round,
                 HU_OF_PARAMETER, (uint64_t)i, counts);
  }
}

hu_status hui_net_round_parameters(hu_net *net) {
  net->fault = HU_OK;
  hui_forget_operands(net);
  round_parameters(net);
  return hui_done(net);
}

void hui_note_over(hu_net *net) {
  hui_tally_read(net);
  for (int i = 0; i < net->values; i++) {
    hu_value *x = &net->value[i];
    if (x->seen) x->counts = *hui_tally_of(net, x->seen);
    x->over = x->counts.over - x->over_seen;
    x->over_seen = x->counts.over;
  }
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    if (parameter->seen) parameter->counts = *hui_tally_of(net, parameter->seen);
    parameter->over = parameter->counts.over - parameter->over_seen;
    parameter->over_seen = parameter->counts.over;
  }
}

static hu_status begin_forward(hu_net *net, int training) {
  net->training = training;
  net->trained = 0;
  net->fault = HU_OK;
  net->has_tokens = 0;
  hui_forget_operands(net);
  hui_carry_states(net);
  if (!net->same_weights && !net->first) round_parameters(net);
  return hui_done(net);
}

static hu_status forward_operator(hu_net *net, hu_operator *op) {
  if (op->passes == (net->training ? HU_PASSES_EVALUATION : HU_PASSES_TRAINING)) return HU_OK;
  hui_notify(net, HU_PHASE_FORWARD, op, 0);
  hu_status status = op->kind->forward(net, op);
  hui_notify(net, HU_PHASE_FORWARD, op, 1);
  if (status == HU_OK) round_value(net, op, op->out);
  return status == HU_OK ? hui_done(net) : status;
}

static hu_status end_forward(hu_net *net, float *loss) {
  hu_outcome outcome = {0, 0};
  if (net->planned) hui_note_over(net);
  if (loss || net->has_tokens) hui_do_get(net, &outcome, net->outcome, sizeof outcome);
  if (hui_done(net) != HU_OK) return hui_done(net);
  if (loss) *loss = outcome.loss;
  return outcome.flag ? HU_E_SHAPE : HU_OK;
}

hu_status hui_net_forward_all(hu_net *const *nets, size_t count, int training, float *loss) {
  hu_status status = HU_OK;
  for (size_t k = 0; k < count && status == HU_OK; k++) status = begin_forward(nets[k], training);
  for (int i = 0; i < nets[0]->operators && status == HU_OK; i++) {
    if (training) status = hui_whole_statistics(nets, count, i, 0);
    for (size_t k = 0; k < count && status == HU_OK; k++) status = forward_operator(nets[k], &nets[k]->op[i]);
  }
  for (size_t k = 0; k < count && status == HU_OK; k++) status = end_forward(nets[k], loss ? &loss[k] : NULL);
  for (size_t k = 0; k < count && status != HU_OK; k++) nets[k]->training = 0;
  return status;
}

static HU_NOINLINE hu_status forward(hu_net *net, int training, float *loss) {
  if (!net) return HU_E_NULL;
  return net->status == HU_OK ? hui_net_forward_all(&net, 1, training, loss) : net->status;
}

hu_status hu_net_forward(hu_net *net, int training, float *loss) {
  HU_ENV_RETURN(hu_status, forward(net, training, loss));
}

/* ---- backward ---- */

static void round_gradient(hu_net *net, const hu_operator *op) {
  hu_value *x = &net->value[op->out];
  if (x->by_reader) return;
  hu_rounding_counts *counts = counts_of(net, &x->counts_back, back_of(x->seen));
  hui_round_of(net, op, x->rows, x->cols, x->dv, x->dv, &x->round_back, HU_OF_GRADIENT, (uint64_t)op->out, counts);
}

double hui_net_samples(const hu_net *net) { return (double)net->batch * (double)net->passes; }

/* Multiplies the whole gradient of a parameter by its own factor, before it is rounded. */
static void scale_gradient(hu_net *net, const hu_parameter *parameter) {
  const float factor = (float)(parameter->back / sqrt(hui_net_samples(net)));
  if (parameter->back != 0)
    hui_do_each(net, HU_RUN_SCALE, parameter->rows * parameter->cols, parameter->dtheta, parameter->dtheta, NULL,
                factor);
}

static void round_parameter_gradients(hu_net *net) {
  for (int i = 0; i < net->parameters; i++) {
    hu_parameter *parameter = &net->parameter[i];
    hui_give_postponed(net, i);
    if (!parameter->gradient) hui_do_fill(net, parameter->rows * parameter->cols, parameter->dtheta, 0);
    scale_gradient(net, parameter);
    hu_rounding_counts *counts = counts_of(net, &parameter->counts_back, back_of(parameter->seen));
    hui_round_of(net, NULL, parameter->rows, parameter->cols, parameter->dtheta, parameter->dtheta,
                 &parameter->round_back, HU_OF_PARAMETER_GRADIENT, (uint64_t)i, counts);
  }
}

static hu_status begin_backward(hu_net *net, float scale) {
  for (int i = 0; i < net->values; i++) net->value[i].gradient = net->value[i].given = 0;
  for (int i = 0; i < net->parameters; i++) net->parameter[i].gradient = net->parameter[i].postponed = 0;
  for (int i = 0; i < net->operators; i++) net->op[i].sharing.postponed = net->op[i].sharing.later = 0;
  net->fault = HU_OK;
  for (int i = 0, first = hui_first_loss(net); i < net->operators; i++) {
    hu_value *loss = &net->value[net->op[i].out];
    if (i < first && !net->op[i].kind->aside) continue;
    hui_do_put(net, loss->dv, &scale, sizeof scale);
    loss->gradient = 1;
  }
  return hui_done(net);
}

static hu_status backward_operator(hu_net *net, hu_operator *op) {
  hui_notify(net, HU_PHASE_BACKWARD, op, 0);
  hu_status status = op->kind->backward(net, op);
  hui_notify(net, HU_PHASE_BACKWARD, op, 1);
  return status;
}

void hui_backward_after_turn(hu_net *net, hu_operator *op) {
  round_gradient(net, op);
  hu_status status = op->kind->backward(net, op);
  if (net->fault == HU_OK) net->fault = status;
}

static hu_status backward_operators(hu_net *const *nets, size_t count, int i) {
  hu_status status = HU_OK;
  if (!nets[0]->value[nets[0]->op[i].out].gradient) return HU_OK;
  for (size_t k = 0; k < count && status == HU_OK; k++) {
    round_gradient(nets[k], &nets[k]->op[i]);
    status = hui_done(nets[k]);
  }
  if (status == HU_OK) status = hui_whole_statistics(nets, count, i, 1);
  for (size_t k = 0; k < count && status == HU_OK; k++) status = backward_operator(nets[k], &nets[k]->op[i]);
  return status;
}

hu_status hui_net_backward_all(hu_net *const *nets, size_t count, float scale) {
  hu_status status = HU_OK;
  for (size_t k = 0; k < count && status == HU_OK; k++) status = begin_backward(nets[k], scale);
  for (int i = nets[0]->operators; i-- > 0 && status == HU_OK;) status = backward_operators(nets, count, i);
  for (size_t k = 0; k < count && status == HU_OK; k++) {
    round_parameter_gradients(nets[k]);
    status = hui_done(nets[k]);
  }
  for (size_t k = 0; k < count; k++) nets[k]->trained = status == HU_OK;
  return status;
}

static HU_NOINLINE hu_status backward(hu_net *net, float scale) {
  if (!net) return HU_E_NULL;
  if (net->status != HU_OK) return net->status;
  if (!net->training || !net->operators || !net->op[net->operators - 1].kind->loss) return HU_E_TRAIN;
  return hui_net_backward_all(&net, 1, scale);
}

hu_status hu_net_backward(hu_net *net, float scale) { HU_ENV_RETURN(hu_status, backward(net, scale)); }

/* ---- a step ---- */

/* Muon's are matrices that a product multiplies by; not tables, positions, biases and gains. */
static int is_muons(const hu_net *net, int parameter) {
  int is = 0;
  if (net->parameter[parameter].not_muon) return 0;
  for (int i = 0; i < net->operators; i++) {
    if (net->op[i].theta[0] != parameter) continue;
    if (!net->op[i].kind->product) return 0; /* a table, whatever multiplies by it as well */
    is = 1;
  }
  return is;
}

static hu_optimizer adamw_beside(const hu_optimizer *muon) {
  const hu_mode rne = {0};
  hu_optimizer made = *muon;
  made.kind = HU_ADAMW;
  made.rate = muon->rate_adamw;
  made.nesterov = 0;
  made.mode_momentum = rne;
  return made;
}

hu_optimizer hui_optimizer_of(const hu_net *net, int i, const hu_optimizer *optimizer) {
  const hu_parameter *parameter = &net->parameter[i];
  hu_optimizer made = optimizer->kind == HU_MUON && !is_muons(net, i) ? adamw_beside(optimizer) : *optimizer;
  if (parameter->own.set) {
    made.update = parameter->own.update;
    made.mode = parameter->own.mode;
  }
  made.rate *= parameter->rule.rate;
  made.decay *= parameter->rule.decay;
  return made;
}

static float *from(float *x, size_t at) { return x ? x + at : NULL; }

static int is_zero(size_t n, const float *x) {
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0) return 0;
  return 1;
}

/* Steps on rows that have a gradient: on each run of them as on a piece of the tensor, with the words of its place. */
static void step_rows(hu_net *net, hu_parameter *parameter, const hu_optimizer *optimizer,
                      const hu_optimizer_arrays *arrays, hu_stream words) {
  const size_t rows = parameter->rows, cols = parameter->cols;
  float *copy = net->engine->on_host ? NULL : malloc(rows * cols * sizeof *copy);
  if (copy) hui_do_get(net, copy, parameter->dtheta, rows * cols * sizeof *copy);
  const float *g = net->engine->on_host ? parameter->dtheta : copy;
  if (!g) net->fault = HU_E_MEMORY;
  for (size_t first = 0, end; first < rows && net->fault == HU_OK; first = end) {
    for (end = first; end < rows && !is_zero(cols, g + end * cols); end++) continue;
    const size_t at = first * cols;
    const hu_optimizer_matrix piece = {end - first, cols, 0};
    const hu_optimizer_arrays own = {arrays->w + at, arrays->g + at, from(arrays->m, at), from(arrays->v, at),
                                     from(arrays->c, at)};
    const hu_stream place = {words.key, words.counter + at};
    if (end > first)
      net->fault = hui_optimizer_step_on(net->engine, net->self, &piece, &own, optimizer, &net->time, place, net->work,
                                         net->updates);
    if (end == first) end++;
  }
  free(copy);
}

static void step_parameter(hu_net *net, int i, const hu_optimizer *all) {
  hu_parameter *parameter = &net->parameter[i];
  const hu_optimizer own = hui_optimizer_of(net, i, all), *optimizer = &own;
  hu_optimizer_arrays arrays = {parameter->master, parameter->dtheta,
                                hui_optimizer_has_m(optimizer) ? parameter->state.m : NULL,
                                hui_optimizer_has_v(optimizer) ? parameter->state.second : NULL,
                                optimizer->update == HU_UPDATE_KAHAN ? parameter->state.kahan : NULL};
  hu_stream words = hui_net_words(net, HU_OF_UPDATE, (uint64_t)i);
  if (net->fault != HU_OK) return;
  size_t n = parameter->rows * parameter->cols;
  if (parameter->ramping.period && !parameter->ramping.off) {
    net->fault = hui_optimizer_step_ramped(net->engine, net->self, n, &arrays, optimizer, &net->time, words, net->work,
                                           &parameter->ramping, net->updates);
    return;
  }
  if (parameter->rule.lazy && optimizer->kind != HU_MUON) {
    step_rows(net, parameter, optimizer, &arrays, words);
    return;
  }
  const hu_optimizer_matrix matrix = {parameter->rows, parameter->cols, 0};
  net->fault = net->engine->step && optimizer->kind != HU_MUON
                   ? net->engine->step(net->self, n, &arrays, optimizer, &net->time, words, net->updates)
                   : hui_optimizer_step_on(net->engine, net->self, &matrix, &arrays, optimizer, &net->time, words,
                                           net->work, net->updates);
  if (net->fault != HU_OK) return;
  net->fault = hui_optimizer_store(net->engine, net->self, n, &arrays, optimizer, words,
                                   counts_of(net, parameter->moments, parameter->moments_seen));
}

static hu_status step(hu_net *net, const hu_optimizer *optimizer, hu_update_counts *counts) {
  hu_update_counts sum = {0, 0};
  hui_do_put(net, net->updates, &sum, sizeof sum);
  for (int i = 0; i < net->parameters; i++) step_parameter(net, i, optimizer);
  if (!counts) return hui_done(net);
  hui_do_get(net, &sum, net->updates, sizeof sum);
  counts->moved += sum.moved;
  counts->lost += sum.lost;
  return hui_done(net);
}

/* Sums of squares that do not begin with 0. */
static void begin_sums(hu_net *net, const hu_optimizer *optimizer) {
  if (net->time.t || optimizer->kind != HU_ADAGRAD || optimizer->accumulated == 0) return;
  const float first = (float)hui_optimizer_scalar(optimizer, optimizer->accumulated);
  for (int i = 0; i < net->parameters; i++)
    hui_do_fill(net, net->parameter[i].rows * net->parameter[i].cols, net->parameter[i].state.second, first);
}

static HU_NOINLINE hu_status update(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule,
                                    hu_loss_scale *scale, hu_net_gradient_rules *with, hu_update_counts *counts,
                                    int *taken) {
  hu_gradient_found found = {0, 0};
  if (!net || !rule || !scale) return HU_E_NULL;
  hu_status status = hu_optimizer_check_step(optimizer, NULL);
  if (status == HU_OK) status = hu_loss_rule_check(rule, NULL);
  if (status == HU_OK && !net->trained) status = HU_E_TRAIN;
  if (status == HU_OK && with && with->rules.larc != HU_LARC_NONE && optimizer->kind == HU_MUON) status = HU_E_TRAIN;
  if (status != HU_OK) return status;
  hui_notify(net, HU_PHASE_UPDATE, NULL, 0);
  status = hui_prepare_gradients(net, with, scale->scale, optimizer->rate, &found);
  if (status != HU_OK) {
    hui_notify(net, HU_PHASE_UPDATE, NULL, 1);
    return status;
  }
  if (with) with->found = found;
  net->trained = 0;
  int go = hu_loss_scale_update(scale, rule, found);
  hui_average_start(net);
  if (go) {
    begin_sums(net, optimizer);
    hu_optimizer_tick(&net->time, optimizer);
    status = step(net, optimizer, counts);
  }
  hui_average_step(net);
  net->step++;
  if (status == HU_OK) status = hui_delayed_step(net);
  hui_notify(net, HU_PHASE_UPDATE, NULL, 1);
  if (taken) *taken = go;
  return status;
}

hu_status hu_net_update_with(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule, hu_loss_scale *scale,
                             hu_net_gradient_rules *with, hu_update_counts *counts, int *taken) {
  HU_ENV_RETURN(hu_status, update(net, optimizer, rule, scale, with, counts, taken));
}

hu_status hu_net_update(hu_net *net, const hu_optimizer *optimizer, const hu_loss_rule *rule, hu_loss_scale *scale,
                        hu_update_counts *counts, int *taken) {
  return hu_net_update_with(net, optimizer, rule, scale, NULL, counts, taken);
}
