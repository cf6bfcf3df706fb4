/* SPDX-License-Identifier: MIT */
/* Matrix products: the three of a layer with weights, and the bias. */
#include "train/net/product.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"

/* z = a b in binary32, m x k times k x n, for the result `part`: of each group, whose columns of z lie side by side. */
static hu_products products_of(const hu_operator *op, unsigned part, size_t m, size_t n, size_t k, float *z,
                               hu_matrices a, hu_matrices b) {
  hu_matrices matrices = {.data = z, .ld = n * op->groups, .inner = n, .format = hu_binary32()};
  hu_products products = {.m = m,
                          .n = n,
                          .k = k,
                          .outer = 1,
                          .inner = op->groups,
                          .z = matrices,
                          .a = a,
                          .b = b,
                          .accum = hui_accum_of(op, part),
                          .words = {0, 0}};
  return products;
}

void hui_multiply(hu_net *net, const hu_operator *op, unsigned part, size_t m, size_t n, size_t k, float *z,
                  hu_matrices a, hu_matrices b) {
  hu_products products = products_of(op, part, m, n, k, z, a, b);
  hui_do_products(net, op, part, &products);
}

/* ---- weights of several operators, such as the steps of time, in panels: made once a pass ---- */

enum { FEW_ROWS = 240 }; /* more of them pay for panels of their own */

static int worth_panels(const hu_net *net, const hu_operator *op, const hu_products *products) {
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  int stays = products->b.data == parameter->theta ||
              (parameter->rounded.there && products->b.data == parameter->rounded.numbers);
  int one = products->outer * products->inner == 1 && hui_is_plain_fp32(products->accum);
  return op->sharing.shared && net->engine->pack && one && stays && products->m <= FEW_ROWS;
}

/* Those of W, p's right operand. NULL: it is read as it lies. */
static const float *panels_of(hu_net *net, const hu_operator *op, const hu_products *products) {
  hu_parameter *parameter = &net->parameter[op->theta[0]];
  hu_panels *panels = &parameter->panels[products->b.transposed];
  if (!worth_panels(net, op, products)) return NULL;
  if (panels->of == products->b.data && panels->made == parameter->rounded.made) return panels->own;
  size_t size = net->engine->pack(net->self, &products->b, products->k, products->n, NULL);
  if (panels->size < size) {
    if (panels->own) net->engine->release(net->self, panels->own);
    panels->own = net->engine->allocate(net->self, size * sizeof *panels->own);
    panels->size = panels->own ? size : 0;
  }
  panels->of = size && panels->own ? products->b.data : NULL;
  panels->made = parameter->rounded.made;
  if (panels->of) net->engine->pack(net->self, &products->b, products->k, products->n, panels->own);
  return panels->of ? panels->own : NULL;
}

/* Computes a product by W. */
static void multiply_by_weights(hu_net *net, const hu_operator *op, unsigned part, hu_products *products) {
  products->panels = panels_of(net, op, products);
  hui_do_products(net, op, part, products);
}

hu_matrices hui_x_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, unsigned part) {
  const hu_value *x = &net->value[op->in[0]];
  return hui_product_operand(net, op, x->rows, x->cols, x->v, rounding, &x->round, net->work[1], part);
}

hu_matrices hui_weights_operand(hu_net *net, hu_operator *op, size_t in, const hu_rounding *rounding, unsigned part) {
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  size_t rows = op->sharing.transposed ? parameter->rows : in;
  hu_matrices z = hui_product_operand(net, op, rows, parameter->cols, parameter->theta, rounding, &parameter->round,
                                      net->work[2], part);
  z.inner = parameter->cols / op->groups;
  z.transposed = op->sharing.transposed;
  return z;
}

hu_matrices hui_gradients_operand(hu_net *net, hu_operator *op, const hu_rounding *rounding, float *buffer,
                                  unsigned part) {
  const hu_value *z = &net->value[op->out];
  hu_matrices dz = hui_product_operand(net, op, z->rows, z->cols, z->dv, rounding, &z->round_back, buffer, part);
  dz.inner = z->cols / op->groups;
  return dz;
}

void hui_times_factor(hu_net *net, size_t n, float *x, float factor) {
  if (factor != 0) hui_do_each(net, HU_RUN_SCALE, n, x, x, NULL, factor);
}

void hui_net_factors(hu_net *net, int value, float forward, float backward) {
  hu_operator *op = &net->op[hu_net_value_operator(net, value)];
  op->factor[0] = forward;
  op->factor[1] = backward;
}

hu_status hui_finish_forward(hu_net *net, hu_operator *op) {
  hu_value *z = &net->value[op->out];
  size_t rows = z->rows;
  hui_times_factor(net, rows * z->cols, z->v, op->factor[0]);
  hu_status status = hui_round_product(net, op, rows, z->cols, z->v, &op->rounding.z_out, HU_PART_Z_OUT);
  if (status != HU_OK || op->theta[1] < 0) return status;
  hu_task task = hui_task_of(rows, z->cols, z->v, z->v, net->parameter[op->theta[1]].theta);
  hui_do(net, HU_RUN_ADD_ROW, &task);
  return hui_done(net);
}

hu_status hui_product_forward(hu_net *net, hu_operator *op, size_t in, hu_matrices x) {
  hu_value *z = &net->value[op->out];
  hu_matrices matrices = hui_weights_operand(net, op, in, &op->rounding.w, HU_PART_Z_W);
  x.inner = in;
  hu_products products = products_of(op, HU_PART_Z_OUT, z->rows, z->cols / op->groups, in, z->v, x, matrices);
  multiply_by_weights(net, op, HU_PART_Z_OUT, &products);
  return hui_finish_forward(net, op);
}

void hui_product_x(hu_net *net, hu_operator *op, size_t in, float *dx) {
  const hu_value *z = &net->value[op->out];
  hu_matrices dz = hui_gradients_operand(net, op, &op->rounding.dz, net->work[1], HU_PART_DX_DZ);
  hu_matrices matrices = hui_weights_operand(net, op, in, &op->rounding.w_back, HU_PART_DX_W);
  matrices.transposed = !op->sharing.transposed;
  hu_products products = products_of(op, HU_PART_DX_OUT, z->rows, in, z->cols / op->groups, dx, dz, matrices);
  multiply_by_weights(net, op, HU_PART_DX_OUT, &products);
}

hu_status hui_give_bias(hu_net *net, hu_operator *op) {
  const hu_value *z = &net->value[op->out];
  if (op->theta[1] < 0) return hui_done(net);
  float *db = hui_gift_parameter(net, op->theta[1], net->work[0]);
  hui_do_columns(net, HU_RUN_COLUMNS, z->rows, z->cols, db, z->dv, NULL, NULL);
  hui_give_parameter(net, op->theta[1], db);
  return hui_done(net);
}

hu_status hui_finish_weights(hu_net *net, hu_operator *op, size_t in, float *dw) {
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  const size_t rows = op->sharing.transposed ? parameter->rows : in;
  hu_status status = hui_round_product(net, op, rows, parameter->cols, dw, &op->rounding.dw_out, HU_PART_DW_OUT);
  hui_give_parameter(net, op->theta[0], dw);
  return status == HU_OK ? hui_give_bias(net, op) : status;
}

/* The product that makes dW; or, of a table that is multiplied by transposed, its gradient dZ^T X under `model`. */
static hu_products weights_of(hu_net *net, hu_operator *op, size_t in, float *dw, hu_matrices x, hu_matrices dz,
                              hu_accum *model) {
  const hu_value *z = &net->value[op->out];
  if (op->sharing.transposed) {
    dz.transposed = 1;
    hu_products products = products_of(op, HU_PART_DW_OUT, z->cols, in, z->rows, dw, dz, x);
    *model = hui_accum_swapped(products.accum);
    products.accum = model;
    return products;
  }
  x.transposed = 1;
  x.inner = in;
  return products_of(op, HU_PART_DW_OUT, in, z->cols / op->groups, z->rows, dw, x, dz);
}

/* The product rounded and given by the engine at once; 0: it is not. */
static int give_rounded(hu_net *net, hu_operator *op, const hu_products *products) {
  const hu_parameter *parameter = &net->parameter[op->theta[0]];
  hu_rounded_product product;
  int done = 0;
  if (!parameter->gradient || !net->engine->add_rounded || net->fault != HU_OK) return 0;
  memset(&product, 0, sizeof product);
  product.products = products;
  product.rounding = &op->rounding.dw_out;
  if (product.rounding->mode.round >= HU_SRA)
    product.words = hui_net_words(net, HU_OF_PRODUCT, op->number << 4 | HU_PART_DW_OUT);
  product.counts = hui_counts_of_part(net, op, HU_PART_DW_OUT);
  product.sum = parameter->dtheta;
  product.notify = net->observer ? hui_notify_rounding : NULL;
  product.notified[0] = net;
  product.notified[1] = op;
  net->fault = net->engine->add_rounded(net->self, &product, &done);
  return done;
}

hu_status hui_product_weights(hu_net *net, hu_operator *op, size_t in, hu_matrices x) {
  hui_give_postponed(net, op->theta[0]);
  float *dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
  hu_matrices dz = hui_gradients_operand(net, op, &op->rounding.dz_w, net->work[2], HU_PART_DW_DZ);
  hu_accum model;
  hu_products products = weights_of(net, op, in, dw, x, dz, &model);
  if (give_rounded(net, op, &products)) return hui_give_bias(net, op);
  hui_do_products(net, op, HU_PART_DW_OUT, &products);
  return hui_finish_weights(net, op, in, dw);
}

/* ---- weights of several operators: their gradients are summed at the end of the pass, where nothing rounds them or
 * their operands, so that an engine reads and writes the sum once ---- */

/* X and dZ stay as they are until the end of the pass. */
int hui_postponed(hu_net *net, hu_operator *op) {
  const hu_product_rounding *rounding = &op->rounding;
  if (!op->sharing.shared || op->sharing.transposed || !net->engine->sum_products || rounding->hadamard ||
      !hui_is_plain_fp32(&rounding->dw_accum))
    return 0;
  op->sharing.postponed = hui_is_kept(hui_last_rounding(op, HU_PART_DW_X, &rounding->x_back)) &&
                          hui_is_kept(&rounding->dz_w) && hui_is_kept(&rounding->dw_out);
  if (op->sharing.postponed) net->parameter[op->theta[0]].postponed = 1;
  return op->sharing.postponed;
}

static hu_products postponed_product(hu_net *net, hu_operator *op) {
  const hu_value *x = &net->value[op->in[0]], *z = &net->value[op->out];
  hu_matrices a = {.data = x->v, .ld = x->cols, .format = hu_binary32()},
              b = {.data = z->dv, .ld = z->cols, .format = hu_binary32()};
  return weights_of(net, op, x->cols, net->parameter[op->theta[0]].dtheta, a, b, NULL);
}

/* Gives the gradients one after another, in the order of their operators. */
static void give_each(hu_net *net, size_t count, hu_products *products, const int *ops) {
  for (size_t i = 0; i < count; i++) {
    const hu_operator *op = &net->op[ops[i]];
    float *dw = hui_gift_parameter(net, op->theta[0], net->work[0]);
    products[i].z.data = dw;
    hui_do_products(net, op, HU_PART_DW_OUT, &products[i]);
    hui_give_parameter(net, op->theta[0], dw);
  }
}

void hui_give_postponed(hu_net *net, int parameter) {
  hu_parameter *weights = &net->parameter[parameter];
  size_t count = 0;
  if (!weights->postponed) return;
  weights->postponed = 0;
  hu_products *products = malloc((size_t)net->operators * sizeof *products);
  int *ops = malloc((size_t)net->operators * sizeof *ops);
  for (int i = net->operators; i-- > 0 && products && ops;) {
    hu_operator *op = &net->op[i];
    if (!op->sharing.postponed || op->theta[0] != parameter) continue;
    op->sharing.postponed = 0;
    ops[count] = i;
    products[count++] = postponed_product(net, op);
  }
  if (!products || !ops) net->fault = HU_E_MEMORY;
  if (net->fault == HU_OK) {
    hu_operator *op = &net->op[ops[count - 1]];
    hui_notify(net, HU_PHASE_BACKWARD, op, 0);
    if (net->engine->sum_products(net->self, count, products, weights->gradient)) {
      weights->gradient = 1;
    } else {
      give_each(net, count, products, ops);
    }
    hui_notify(net, HU_PHASE_BACKWARD, op, 1);
  }
  free(products);
  free(ops);
}

int hui_add_weights(hu_net *net, hu_operator *op, size_t in, size_t cols, int bias) {
  op->theta[0] = hui_new_parameter(net, in, cols, 0, in);
  if (bias && op->theta[0] >= 0) op->theta[1] = hui_new_parameter(net, 1, net->value[op->out].cols, 0, 0);
  hui_name_parameters(net, op->kind->name, op->theta[0], "weight bias");
  return net->status == HU_OK ? op->out : -1;
}
