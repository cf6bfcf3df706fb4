/* SPDX-License-Identifier: MIT */
/* halfulp/train/recurrent.h - recurrent cells and layers over steps: `rows` of a sample are steps of time, which may be
 * fewer than all. Results are those of layers.h. */
#ifndef HALFULP_TRAIN_RECURRENT_H
#define HALFULP_TRAIN_RECURRENT_H

#include "halfulp/train/layers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One layer of `units` gated recurrent units or long short-term memory cells from a state of zeros; the result is the
 * last state h (`last`), or those of all steps. Each step is two linear operators, of the step's row and of h, with
 * parameters that all steps share, and a cell (docs/training/training.md section 3). First weights N(0, 1 / fan_in). */
HU_API int hu_net_gru(hu_net *net, int x, size_t units, int last);  /* gated recurrent units */
HU_API int hu_net_lstm(hu_net *net, int x, size_t units, int last); /* long short-term memory cells */
/* The same with what networks of speech and language add. HU_E_SHAPE: a field out of its range, or one that the cell
 * does not have; lengths that are not an input of one number a sample. */
enum {
  HU_CELL_GRU = 0, /* gated recurrent units */
  HU_CELL_LSTM = 1 /* long short-term memory cells */
};
enum {
  HU_DIRECTION_FORWARD = 0,  /* from the first step to the last */
  HU_DIRECTION_BACKWARD = 1, /* from the last step to the first; row t of the result is of step t */
  HU_DIRECTION_BOTH = 2,     /* two layers with weights of their own, their results side by side, forward first */
  HU_DIRECTION_SUM = 3       /* their results added */
};
typedef struct hu_recurrent {
  uint8_t cell;      /* HU_CELL_ */
  uint8_t direction; /* HU_DIRECTION_ */
  uint8_t last;      /* 1: the result is the state behind the last step of each direction; 0: those of all steps */
  uint8_t one_bias;  /* 1: h W_h has no bias of its own, as in TensorFlow */
  uint8_t carried;   /* 1: a pass begins with the state that the pass before ended with, as a constant (truncated
                        backpropagation; Jozefowicz et al. 2016), until hu_net_forget_states; forward alone */
  size_t units;
  size_t
      projection; /* lstm: h is (o tanh c') times a matrix units x projection, without a bias (Sak et al. 2014); 0: no
                        such matrix */
  float forget_bias; /* lstm: is added to the sum of the forget gate */
  int lengths;       /* an input of one number a sample, its steps; -1: all have all. A state stays as it is behind the
                        end (backward: before it), rows of the result there are +0, and no gradient comes from there */
} hu_recurrent;
/* Returns a layer of so many units: forward, all steps, two biases, no lengths. */
HU_API hu_recurrent hu_recurrent_of(uint8_t cell, size_t units);
HU_API int hu_net_recurrent(hu_net *net, int x, const hu_recurrent *layer); /* adds the layer */
/* The state that a layer of cells in one direction ends with, a row for each sample: of gru h, of lstm h and c side by
 * side. x: what hu_net_recurrent has returned. HU_E_SHAPE: it is something else, or of both directions. */
HU_API int hu_net_last_state(hu_net *net, int x);

/* A decoder whose steps attend (Vinyals et al., Grammar as a foreign language, 2015; attention_decoder of TensorFlow 1,
 * with one head). Of a memory of cols columns, with K = memory Wk, states of zeros or of `state`, and c = +0 at first,
 * step t of x is, in linear operators, concat, lstm, add row, tanh and softmax:
 *
 *   y = [x_t, c] Wi + bi;  y = h_k of lstm k, which reads y, k = 1 ... layers
 *   e = tanh(K + [h_1, c_1, h_2, c_2, ...] Wq + bq) v, for each row of the memory
 *   p = softmax of e over the rows below the length;  c = p memory
 *   the row of the result = [h_layers, c] Wo + bo
 *
 * Wk is cols x cols, Wi has the columns of x, v is cols x 1, Wo has `units` columns. A step sees no later one. */
typedef struct hu_attending {
  size_t units, layers; /* of each lstm, which has one bias; 1 to 16 layers */
  float forget_bias;    /* as in hu_recurrent */
  int state;            /* a value of a row for each sample: h and c of each layer side by side; -1: zeros */
  int lengths;          /* an input of one number a sample: rows of its memory; -1: all */
} hu_attending;
/* Returns a decoder that begins with zeros and sees the whole memory. */
HU_API hu_attending hu_attending_of(size_t units, size_t layers);
/* Returns a row of `units` columns for each of x. HU_E_SHAPE: units or layers are out of range, the memory is an input,
 * the state has other sizes. */
HU_API int hu_net_attending_lstm(hu_net *net, int x, int memory, const hu_attending *how);
/* Lets the next pass begin with states of zeros. It is to be a forward pass. */
HU_API HU_MUST_CHECK hu_status hu_net_forget_states(hu_net *net);
/* x with +0 in the steps behind the end of each sample, forward and in the gradient; of an image, steps are its rows of
 * pixels. */
HU_API int hu_net_within(hu_net *net, int x, int lengths);
/* Row t of the result is the sum over k of row k of W times row t + k of x, number by number, k from 0 to seen - 1 and
 * up to the end of the sample: W is seen x cols. Rows behind the end are +0. lengths: -1: all have all steps. Amodei et
 * al., Deep Speech 2 (2016), section 3.7. */
HU_API int hu_net_row_convolution(hu_net *net, int x, size_t seen, int lengths);

#ifdef __cplusplus
}
#endif
#endif
