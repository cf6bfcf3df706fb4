/* SPDX-License-Identifier: MIT */
/* halfulp/train/experts.h - mixtures of experts: rows of a value choose experts by logits, a column each. Results are
 * those of layers.h. */
#ifndef HALFULP_TRAIN_EXPERTS_H
#define HALFULP_TRAIN_EXPERTS_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a row chooses. hu_routing_of(chosen) has 0 in all other fields. */
typedef struct hu_routing {
  size_t chosen;     /* experts that each row chooses: those of its largest logits, of equal ones the first */
  uint8_t of_chosen; /* 0: shares are those of softmax over all logits; 1: over the chosen ones (gpt-oss) */
  uint8_t normed;    /* 1: they are divided by the sum of the chosen ones (Mixtral) */
  double capacity;   /* 0: an expert takes all rows that chose it; else ceil(capacity R chosen / E) of R rows for E
                        experts, the first ones, and the others get nothing from it (GShard, Switch Transformer) */
} hu_routing;
HU_API hu_routing hu_routing_of(size_t chosen);
/* Returns the shares, a row of E numbers, +0 for experts that are not chosen. HU_E_SHAPE: an input, or more chosen than
 * there are; HU_E_TRAIN: a capacity that is negative or not finite. Shazeer et al., Outrageously Large Neural Networks
 * (2017); Jiang et al., Mixtral of Experts (2024). */
HU_API int hu_net_route(hu_net *net, int logits, const hu_routing *how);
/* Returns the rows of x sorted by expert, and for each expert in the order of x: R chosen rows, of which the last ones
 * are +0 if some were not taken. routing: a value of hu_net_route. */
HU_API int hu_net_to_experts(hu_net *net, int x, int routing);
/* Multiplies the rows of each expert by a matrix of its own, and adds a row of its own: Z_e = X_e W_e + b_e. W has the
 * matrices of all experts below each other, b a row each. The products of different experts are separate sums; a
 * rounding sees X, W, Z and their gradients as whole tensors (hu_net_round_product), and `hadamard` is passed over. */
HU_API int hu_net_experts(hu_net *net, int x, int routing, size_t outputs, int bias);
/* Returns for each row the sum of share z over the experts that took it, first expert first, from +0. */
HU_API int hu_net_from_experts(hu_net *net, int x, int routing);
/* Losses beside the last operator's, which are added to it, and to hu_net_forward's, in training; each returns a value
 * of one number. balance: weight E times the sum over the experts of f P, f the part of the rows that chose it, without
 * a gradient, P the mean of its softmax over all logits (Fedus et al., Switch Transformers (2022), equation 4; with
 * several chosen experts as in Mixtral's code). z: weight times the mean over the rows of (log of the sum of e^logit)^2
 * (Zoph et al., ST-MoE (2022), equation 5). HU_E_TRAIN: a weight that is not positive and finite. */
HU_API int hu_net_balance_loss(hu_net *net, int routing, double weight); /* keeps loads even */
HU_API int hu_net_z_loss(hu_net *net, int routing, double weight);       /* keeps logits small */

#ifdef __cplusplus
}
#endif
#endif
