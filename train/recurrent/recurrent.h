/* SPDX-License-Identifier: MIT */
/* train/recurrent/recurrent.h - cells, step by step, as layers of cells and decoders are made of them. */
#ifndef HALFULP_TRAIN_RECURRENT_RECURRENT_H
#define HALFULP_TRAIN_RECURRENT_RECURRENT_H

#include "train/net/net.h"

/* Parameters of a cell. */
enum { HU_CELL_WEIGHT_X, HU_CELL_BIAS_X, HU_CELL_WEIGHT_H, HU_CELL_BIAS_H, HU_CELL_PROJECTION, HU_CELL_PARAMETERS };

/* A cell that runs through the steps of one direction of a layer. */
typedef struct hu_cell {
  const hu_recurrent *layer;
  int theta[HU_CELL_PARAMETERS]; /* -1: there is none */
  int state, h; /* what the cell keeps; what the next step multiplies, where that is not the state itself */
} hu_cell;

/* Adds the parameters of a cell of a layer that reads so many columns; the caller names them. */
void hui_add_cell_parameters(hu_net *net, hu_cell *cell, const hu_recurrent *layer, size_t cols);
/* Adds the zeros that a cell begins with. */
void hui_add_cell_state(hu_net *net, hu_cell *cell);
/* Adds step t, which reads a row of each sample. Returns h, or -1. */
int hui_add_cell(hu_net *net, hu_cell *cell, int row, size_t t);

#endif
