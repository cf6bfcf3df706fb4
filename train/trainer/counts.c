/* SPDX-License-Identifier: MIT */
/* What all tensors of a net have together: numbers, the largest gradient, counts of the roundings of a pass. */
#include <math.h>

#include "halfulp/train/gradient.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* Forward (NULL: not counted here) and backward counts of a tensor; `seen`: where an engine's memory has them, else
 * NULL. */
static void count_tensor(const hu_net *net, hu_trainer_report *report, const hu_rounding_counts *forward,
                         const hu_rounding_counts *backward, const hu_rounding_counts *seen) {
  const hu_rounding_counts *both = seen ? hui_tally_of(net, seen) : NULL;
  if (forward) hui_add_counts(&report->forward, both ? &both[0] : forward);
  hui_add_counts(&report->backward, both ? &both[1] : backward);
}

/* weights: 1: those of the parameters are counted here. */
void hui_count_net(hu_net *net, int weights, hu_trainer_report *report) {
  hui_tally_read(net);
  for (int i = 0; i < net->values; i++) {
    const hu_value *x = &net->value[i];
    count_tensor(net, report, &x->counts, &x->counts_back, x->seen);
  }
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    count_tensor(net, report, weights ? &parameter->counts : NULL, &parameter->counts_back, parameter->seen);
  }
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (op->kind->product) count_tensor(net, report, &op->counts[0], &op->counts[1], op->seen);
  }
}

/* Weights are rounded once a step for all processes: the first one's first net counts them. */
void hui_count_tensors(const hu_trainer *trainer, hu_trainer_report *report) {
  const hu_shards *shards = &trainer->shards;
  hui_count_net(trainer->net, trainer->ranks.rank == 0, report);
  for (size_t k = 1; shards->net && k < shards->own; k++) hui_count_net(shards->net[k], 0, report);
}

size_t hui_gradient_numbers(const hu_net *net) {
  size_t n = 0;
  for (int i = 0; i < net->parameters; i++) n += net->parameter[i].rows * net->parameter[i].cols;
  return n;
}

size_t hui_running_numbers(const hu_net *net) {
  size_t all = 0, n;
  for (int i = 0; i < net->operators; i++) all += hui_running_of(net, &net->op[i], &n) ? n : 0;
  return all;
}

/* ---- the largest gradient ---- */

static float larger(float largest, size_t n, const float *x) {
  for (size_t i = 0; i < n; i++) {
    float a = fabsf(x[i]);
    if (a > largest && isfinite(a)) largest = a;
  }
  return largest;
}

/* The same by an engine whose memory is not the host's: gradients divided by 1 stay what they are, and the largest one
 * is found, too. */
static float largest_there(hu_net *net, int loss) {
  hu_gradient_found found = {0, 0};
  hui_do_put(net, net->found, &found, sizeof found);
  for (int i = 0; i < loss && net->fault == HU_OK; i++) {
    const hu_value *x = &net->value[i];
    net->fault = net->engine->unscale(net->self, x->rows * x->cols, x->dv, 1, net->found);
  }
  for (int i = 0; i < net->parameters && net->fault == HU_OK; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    net->fault = net->engine->unscale(net->self, parameter->rows * parameter->cols, parameter->dtheta, 1, net->found);
  }
  hui_do_get(net, &found, net->found, sizeof found);
  return found.amax;
}

float hui_largest_gradient(hu_net *net, int loss) {
  float z = 0;
  if (!net->engine->on_host) return largest_there(net, loss);
  for (int i = 0; i < loss; i++) {
    hu_net_tensor tensor = hu_net_value(net, i);
    z = larger(z, tensor.rows * tensor.cols, tensor.gradients);
  }
  for (int i = 0; i < hu_net_parameters(net); i++) {
    hu_net_tensor tensor = hu_net_parameter(net, i);
    z = larger(z, tensor.rows * tensor.cols, tensor.gradients);
  }
  return z;
}
