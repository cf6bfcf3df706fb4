/* SPDX-License-Identifier: MIT */
/* halfulp/train.h - everything of libhalfulp-train: training in low precision, on halfulp's public calls alone.
 *
 *   net.h         networks whose every tensor has a precision, and their gradients
 *   rounding.h    how a whole tensor is rounded, and which tensors are kept in low precision
 *   gradient.h    factors on the loss, static and automatic; penalties, clipping by the global norm, LARC
 *   optimizer.h   SGD and AdamW in any format; stochastic and compensated weight updates
 *   precision.h   assignments of precision at work on a network
 *   data.h        data sets, batches, first weights
 *   model.h       the networks of the papers, from records and texts
 *   trainer.h     a training run described by keys and values
 *   experiment.h  papers' claims, reproduced and judged
 *
 * Floating-point environment. Every call that computes, and every thread that the library starts, works to nearest,
 * with subnormal numbers kept and traps masked, whatever the caller has set: another direction of rounding, numbers
 * flushed to zero (FTZ, DAZ), unmasked traps. The caller's settings and flags are the same when the call returns.
 * Callbacks: that of an experiment is called in the caller's environment, an observer of a net in the library's. */
#ifndef HALFULP_TRAIN_H
#define HALFULP_TRAIN_H

#include "halfulp/train/data.h"
#include "halfulp/train/experiment.h"
#include "halfulp/train/gradient.h"
#include "halfulp/train/model.h"
#include "halfulp/train/net.h"
#include "halfulp/train/optimizer.h"
#include "halfulp/train/precision.h"
#include "halfulp/train/rounding.h"
#include "halfulp/train/trainer.h"

#endif
