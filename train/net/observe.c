/* SPDX-License-Identifier: MIT */
/* Notifies the observer of a net of the phases of a step. */
#include "train/net/net.h"

void hu_net_observe(hu_net *net, hu_net_observer *observer, void *context) {
  if (!net) return;
  net->observer = observer;
  net->observer_context = context;
}

void hui_notify(hu_net *net, unsigned phase, const hu_operator *op, int ends) {
  if (!net->observer) return;
  hu_net_phase now = {(uint8_t)phase, 0, "", 0};
  if (op) {
    now.product = op->kind->product != 0;
    now.kind = op->kind->name;
    now.number = op->number;
  }
  net->observer(net->observer_context, &now, ends);
}

void hui_notify_rounding(void *const notified[2], int ends) {
  hui_notify((hu_net *)notified[0], HU_PHASE_ROUNDING, (const hu_operator *)notified[1], ends);
}

void hui_round_of(hu_net *net, const hu_operator *op, size_t rows, size_t cols, float *z, const float *x,
                  const hu_rounding *rounding, unsigned of, uint64_t number, hu_rounding_counts *counts) {
  hu_stream words = {0, 0};
  hui_notify(net, HU_PHASE_ROUNDING, op, 0);
  if (rounding->mode.round >= HU_SRA) words = hui_net_words(net, of, number);
  hui_do_round(net, rows, cols, z, x, rounding, words, counts);
  hui_notify(net, HU_PHASE_ROUNDING, op, 1);
}
