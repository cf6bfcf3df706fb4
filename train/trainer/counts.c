/* SPDX-License-Identifier: MIT */
/* Numbers of a net, and what the roundings of a pass were, over all tensors. */
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
