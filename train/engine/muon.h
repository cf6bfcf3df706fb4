/* SPDX-License-Identifier: MIT */
/* train/engine/muon.h - makes the matrix of an update orthogonal, by calls of an engine. */
#ifndef HALFULP_TRAIN_ENGINE_MUON_H
#define HALFULP_TRAIN_ENGINE_MUON_H

#include "train/engine/engine.h"

/* A matrix in the engine's memory, and where its iterations are computed. */
typedef struct hu_muon_call {
  const hu_engine *engine;
  void *self;
  const hu_optimizer_matrix *matrix;
  const hu_optimizer *optimizer;
  float *const *buffer; /* four of rows x cols numbers, the matrix in the first one */
} hu_muon_call;

/* Replaces d in the first buffer by N(d) of halfulp/train/optimizer.h. */
hu_status hui_muon_orthogonal(const hu_muon_call *call);

#endif
