/* SPDX-License-Identifier: MIT */
/* What the roundings of a pass were, over all tensors. */
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* Forward (NULL: not counted here) and backward counts of a tensor; `seen`: where an engine's memory has them, else
 * NULL. */
static void count_tensor(const hu_net *net, hu_trainer_report *r, const hu_rounding_counts *forward,
                         const hu_rounding_counts *backward, const hu_rounding_counts *seen) {
  const hu_rounding_counts *both = seen ? hu_tally_of(net, seen) : NULL;
  if (forward) hu_add_counts(&r->forward, both ? &both[0] : forward);
  hu_add_counts(&r->backward, both ? &both[1] : backward);
}

/* weights: 1: those of the parameters are counted here. */
static void count_net(hu_net *net, int weights, hu_trainer_report *r) {
  hu_tally_read(net);
  for (int i = 0; i < net->values; i++) {
    const hu_value *x = &net->value[i];
    count_tensor(net, r, &x->counts, &x->counts_back, x->seen);
  }
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *p = &net->parameter[i];
    count_tensor(net, r, weights ? &p->counts : NULL, &p->counts_back, p->seen);
  }
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (op->kind->product) count_tensor(net, r, &op->counts[0], &op->counts[1], op->seen);
  }
}

/* Weights are rounded once a step for all processes: the first one's first net counts them. */
void hu_count_tensors(const hu_trainer *t, hu_trainer_report *r) {
  const hu_shards *s = &t->shards;
  count_net(t->net, t->ranks.rank == 0, r);
  for (size_t k = 1; s->net && k < s->own; k++) count_net(s->net[k], 0, r);
}
