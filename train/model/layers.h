/* SPDX-License-Identifier: MIT */
/* train/model/layers.h - what the layers of networks' texts have in common. Each subject has a list of its layers. */
#ifndef HALFULP_TRAIN_MODEL_LAYERS_H
#define HALFULP_TRAIN_MODEL_LAYERS_H

#include <math.h>

#include "train/model/network.h"

/* The layers of a subject. */
typedef struct hu_layer_list {
  size_t count;
  const hu_layer *layers;
} hu_layer_list;
extern const hu_layer_list hui_layers_of_rows;         /* rows.c */
extern const hu_layer_list hui_layers_of_windows;      /* windows.c */
extern const hu_layer_list hui_layers_of_norms;        /* norms.c */
extern const hu_layer_list hui_layers_of_transformers; /* transformer.c */
extern const hu_layer_list hui_layers_of_steps;        /* recurrent.c */

/* Returns a whole number that an argument is. */
size_t hui_size_of(const hu_item *item);
/* Draws parameter p as the text says, if it does. window: the pixels that an output sees, of a convolution. */
void hui_layer_start(hu_network *network, int p, const hu_item *how, size_t window);
/* Draws the weights of a layer from parameter p on, and its bias. how: those of both; bias: whether there is one. */
void hui_layer_start_both(hu_network *network, int p, const hu_item *how, const hu_item *bias, size_t window);
/* Gives all parameters from p on a factor of their gradients, over the root of the samples of a step, if `how` is one;
 * of another layer's parameters it is refused. */
void hui_layer_weights(hu_network *network, int p, const hu_item *how);
/* Returns the first parameter of the layer that made a value; -1: it has none. */
int hui_layer_parameter(const hu_net *net, int value);
/* Returns the table that the layer in hand shares with an embedding; -1: it shares something else, or nothing. */
int hui_layer_shared_table(const hu_network *network);
/* Returns the input of lengths that an argument names, and notes it as one; -1: there is none. */
int hui_layer_lengths(hu_network *network, const hu_item *item);

/* Define layers of one value, or of two, that take nothing else. */
#define ADD_ONE(name)                                                \
  static int add_##name(hu_network *network, const hu_item *items) { \
    return hu_net_##name(network->net, items[0].value);              \
  }
#define ADD_TWO(name)                                                   \
  static int add_##name(hu_network *network, const hu_item *items) {    \
    return hu_net_##name(network->net, items[0].value, items[1].value); \
  }

/* Describe parameters of layers. */
#define GIVEN(name, type) \
  { #name, type, NAN }
#define VALUE(name) GIVEN(name, 'v')
#define COUNT(name) GIVEN(name, 'n')
#define KERNEL GIVEN(kernel, 'w')
#define STRIDE \
  { "stride", 'w', 1 }
#define PAD \
  { "pad", 'p', 0 }
#define EPS \
  { "eps", 'r', 1e-5 }
#define START \
  { "start", 's', 0 }
#define FORWARD \
  { "forward", 'm', INFINITY }
#define BACKWARD \
  { "backward", 'm', INFINITY }
#define WEIGHTS \
  { "weights", 'm', INFINITY }
#define BIAS_START \
  { "bias_start", 's', 0 }

#endif
