/* SPDX-License-Identifier: MIT */
/* Linear layers: their passes, by the products that all layers with weights share, or (`quartet`) by their own. */
#include "train/net/product.h"

static hu_status linear_forward(hu_net *net, hu_operator *op) {
  if (op->rounding.quartet) return hu_quartet_forward(net, op);
  return hu_product_forward(net, op, net->value[op->in[0]].cols, hu_x_operand(net, op, &op->rounding.x, HU_PART_Z_X));
}

static hu_status linear_backward(hu_net *net, hu_operator *op) {
  if (op->rounding.quartet) return hu_quartet_backward(net, op);
  hu_value *x = &net->value[op->in[0]];
  net->rounded.there = 0; /* dZ is another one */
  hu_status s = hu_postponed(net, op)
                    ? hu_give_bias(net, op)
                    : hu_product_weights(net, op, x->cols, hu_x_operand(net, op, &op->rounding.x_back, HU_PART_DW_X));
  if (s != HU_OK || !hu_wants_gradient(net, op->in[0])) return s;
  float *dx = hu_gift(net, op->in[0], net->work[0]);
  hu_product_x(net, op, x->cols, dx);
  s = hu_round_product(net, op, x->rows, x->cols, dx, &op->rounding.dx_out, HU_PART_DX_OUT);
  hu_give(net, op->in[0], dx);
  return s == HU_OK ? hu_done(net) : s;
}

static const hu_operator_kind linear = {"linear", linear_forward, linear_backward, NULL, 1, 0, 1};

int hu_linear_of(hu_net *net, int x, int weights, int bias) {
  if (!hu_usable(net, x) || weights < 0) return -1;
  hu_value v = net->value[x];
  int z = hu_new_value(net, v.rows, net->parameter[weights].cols, v.height, v.width);
  hu_operator *op = hu_new_operator(net, &linear, x, -1, z, 0);
  if (!op) return -1;
  op->theta[0] = weights;
  op->theta[1] = bias;
  for (int i = 0; i < net->operators - 1; i++) {
    if (net->op[i].kind == &linear && net->op[i].theta[0] == weights) op->shares = net->op[i].shares = 1;
  }
  return z;
}

int hu_net_linear(hu_net *net, int x, size_t outputs, int bias) {
  if (!hu_usable(net, x)) return -1;
  int weights = hu_new_parameter(net, net->value[x].cols, outputs, 0, net->value[x].cols);
  int offset = bias && weights >= 0 ? hu_new_parameter(net, 1, outputs, 0, 0) : -1;
  hu_name_parameters(net, "linear", weights, "weight bias");
  return net->status == HU_OK ? hu_linear_of(net, x, weights, offset) : -1;
}
