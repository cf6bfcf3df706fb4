/* SPDX-License-Identifier: MIT */
/* Gradients that operators give to the values and parameters that they read: the first one is stored, the others are
 * added in the order of the backward pass. */
#include "train/net/net.h"

int hui_needs_gradient(const hu_net *net, int value) { return net->value[value].made; }

static void give(hu_net *net, int *there, size_t n, float *z, const float *x) {
  if (x != z) hui_do_each(net, *there ? HU_RUN_ACCUMULATE : HU_RUN_COPY, n, z, x, NULL, 0);
  *there = 1;
}

float *hui_gift(hu_net *net, int value, float *buffer) {
  hu_value *other = &net->value[value];
  return other->gradient ? buffer : other->dv;
}

float *hui_gift_parameter(hu_net *net, int parameter, float *buffer) {
  hu_parameter *weights = &net->parameter[parameter];
  return weights->gradient ? buffer : weights->dtheta;
}

void hui_give_unrounded(hu_net *net, int value, const float *x) {
  hu_value *other = &net->value[value];
  if (!other->gradient) other->minus = HU_MINUS_ANY;
  give(net, &other->gradient, other->rows * other->cols, other->dv, x);
  other->given++;
}

void hui_round_gift(hu_net *net, int value, size_t rows, size_t cols, float *z, const float *x) {
  enum { VALUE_BITS = 22 };
  hu_value *other = &net->value[value];
  hu_rounding_counts *counts = net->engine->on_host ? &other->counts_back : other->seen ? other->seen + 1 : NULL;
  hui_round_of(net, NULL, rows, cols, z, x, &other->round_back, HU_OF_GRADIENT,
               (uint64_t)other->given << VALUE_BITS | (uint64_t)value, counts);
}

void hui_give(hu_net *net, int value, const float *x) {
  const hu_value *other = &net->value[value];
  float *rounded = other->gradient ? net->work[HU_BUFFERS - 1] : other->dv;
  if (other->by_reader) hui_round_gift(net, value, other->rows, other->cols, rounded, x);
  hui_give_unrounded(net, value, other->by_reader ? rounded : x);
}

void hui_give_parameter(hu_net *net, int parameter, const float *x) {
  hu_parameter *weights = &net->parameter[parameter];
  give(net, &weights->gradient, weights->rows * weights->cols, weights->dtheta, x);
}
