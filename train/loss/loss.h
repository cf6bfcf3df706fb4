/* SPDX-License-Identifier: MIT */
/* train/loss/loss.h - what the files of losses share. */
#ifndef HALFULP_TRAIN_LOSS_LOSS_H
#define HALFULP_TRAIN_LOSS_LOSS_H

#include "train/net/net.h"

/* Adds a loss of a kind, which keeps so many numbers. Returns its value; or sets the net's error and returns -1. */
int hui_add_loss(hu_net *net, const hu_operator_kind *kind, int x, const hu_loss_how *how, size_t kept);
/* Makes the sum of n terms, times p, the loss of an operator, and adds it to those before it; behind the first one, in
 * training, come those that are beside. */
hu_status hui_set_loss(hu_net *net, hu_operator *op, size_t n, const float *terms, float p);
/* Returns the column of each row's label in the result of a layer of sampled classes, in the engine's memory. */
const uint32_t *hui_sampled_columns(const hu_net *net, const hu_operator *op);
/* Checks labels of sequences, batch x steps of them, and notes how many the longest one has. HU_E_SHAPE: a label that
 * is no column, or the blank, or behind the end of its sequence. */
hu_status hui_check_sequences(hu_net *net, const hu_operator *op, const uint32_t *labels);

#endif
