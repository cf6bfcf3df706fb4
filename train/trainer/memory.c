/* SPDX-License-Identifier: MIT */
/* Bytes of the tensors of a step: as this library keeps them, and as the system stores them that the keys describe. */
#include "train/environment.h"
#include "train/net/net.h"
#include "train/trainer/trainer.h"

/* How a tensor's bits are counted: `bits` of it by the rounding that it has. */
typedef double count(const hu_net *net, int i, double bits);

static double bits_of(size_t rows, size_t cols, const hu_rounding *r) {
  return (double)hu_rounding_bits(rows, cols, r);
}

static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }

/* ---- codes of operands ---- */

/* How often op reads a value. */
static int reads(const hu_operator *op, int value) {
  int times = 0;
  for (int k = 0; k < 3; k++) times += op->in[k] == value;
  for (size_t k = 0; op->list && k < op->n[0]; k++) times += op->list[k] == value;
  return times;
}

/* A product by a parameter has X and W apart; those of attention take both from values. */
static int by_weights(const hu_operator *op) { return op->kind->product && op->theta[0] >= 0; }

/* A value whose readers are all products is stored as the operand that dW needs; one that a product without bias makes
 * is a number of the result's rounding. */
static double value_bits(const hu_net *net, int value, double bits) {
  const hu_value *x = &net->value[value];
  double widest = 0;
  int readers = 0, products = 0;
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (by_weights(op) && op->out == value && op->theta[1] < 0) {
      bits = smaller(bits, bits_of(x->rows, x->cols, &op->rounding.z_out));
    }
    if (!reads(op, value)) continue;
    readers++;
    products += op->kind->product;
    widest = larger(widest, bits_of(x->rows, x->cols, &op->rounding.x_back));
    if (!by_weights(op)) widest = larger(widest, bits_of(x->rows, x->cols, &op->rounding.w_back));
  }
  return readers && products == readers ? smaller(bits, widest) : bits;
}

/* A gradient is stored as the operand dZ of the product that made its value, or as the dX that its only reader gave. */
static double gradient_bits(const hu_net *net, int value, double bits) {
  const hu_value *x = &net->value[value];
  const hu_operator *reader = NULL;
  int times = 0;
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    int here = reads(op, value);
    times += here;
    if (here) reader = op;
    if (op->out != value || !op->kind->product) continue;
    bits = smaller(bits,
                   larger(bits_of(x->rows, x->cols, &op->rounding.dz), bits_of(x->rows, x->cols, &op->rounding.dz_w)));
  }
  int given = times == 1 && by_weights(reader);
  return given ? smaller(bits, bits_of(x->rows, x->cols, &reader->rounding.dx_out)) : bits;
}

/* Products that read a parameter, or NULL where something else does, too; *times: how many. */
static const hu_operator *product_of(const hu_net *net, int parameter, int *times) {
  const hu_operator *found = NULL;
  *times = 0;
  for (int i = 0; i < net->operators; i++) {
    const hu_operator *op = &net->op[i];
    if (op->theta[0] != parameter && op->theta[1] != parameter) continue;
    if (op->theta[0] != parameter || !op->kind->product) return NULL;
    found = op;
    (*times)++;
  }
  return found;
}

/* The copy of the weights that operators see: all products of a parameter round it alike. */
static double weight_bits(const hu_net *net, int parameter, double bits) {
  const hu_parameter *p = &net->parameter[parameter];
  int times;
  const hu_operator *op = product_of(net, parameter, &times);
  if (!op) return bits;
  return smaller(bits,
                 larger(bits_of(p->rows, p->cols, &op->rounding.w), bits_of(p->rows, p->cols, &op->rounding.w_back)));
}

/* dW of a parameter that one product has. */
static double weight_gradient_bits(const hu_net *net, int parameter, double bits) {
  const hu_parameter *p = &net->parameter[parameter];
  int times;
  const hu_operator *op = product_of(net, parameter, &times);
  return op && times == 1 ? smaller(bits, bits_of(p->rows, p->cols, &op->rounding.dw_out)) : bits;
}

static double as_it_is(const hu_net *net, int i, double bits) {
  (void)net;
  (void)i;
  return bits;
}

/* ---- sums ---- */

typedef struct counts {
  count *value, *gradient, *weight, *weight_gradient;
} counts;

static const counts stored = {as_it_is, as_it_is, as_it_is, as_it_is};
static const counts described = {value_bits, gradient_bits, weight_bits, weight_gradient_bits};

/* Bytes of the formats that the optimizer keeps, without the weight itself. */
static double state_bytes(const hu_optimizer *o) {
  hu_optimizer plain = hu_optimizer_sgd(o->state);
  plain.weight = o->weight;
  plain.momentum = 0;
  return (double)hu_optimizer_bytes(o) - (double)hu_optimizer_bytes(&plain);
}

static HU_NOINLINE hu_trainer_memory memory_of(const hu_trainer *t, const counts *by) {
  hu_trainer_memory z = {0, 0, 0, 0};
  if (!t || !t->net) return z;
  const hu_net *net = t->net;
  for (int i = 0; i < net->values; i++) {
    const hu_value *x = &net->value[i];
    z.values += by->value(net, i, bits_of(x->rows, x->cols, &x->round)) / 8;
    if (x->made) z.gradients += by->gradient(net, i, bits_of(x->rows, x->cols, &x->round_back)) / 8;
  }
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *p = &net->parameter[i];
    hu_optimizer o = hu_optimizer_of(net, i, &t->optimizer);
    double n = (double)p->rows * (double)p->cols, master = n * hu_limits_of(o.weight).width / 8;
    double seen = by->weight(net, i, bits_of(p->rows, p->cols, &p->round)) / 8;
    z.weights += master + (seen < master ? seen : 0); /* a copy for the operators, if it is another one */
    z.state += n * state_bytes(&o);
    z.gradients += by->weight_gradient(net, i, bits_of(p->rows, p->cols, &p->round_back)) / 8;
    if (t->keys.accumulate > 1) z.gradients += n * (double)sizeof(float);
  }
  return z;
}

hu_trainer_memory hu_trainer_memory_of(const hu_trainer *t) {
  HU_ENV_RETURN(hu_trainer_memory, memory_of(t, &described));
}
hu_trainer_memory hu_trainer_stored_of(const hu_trainer *t) { HU_ENV_RETURN(hu_trainer_memory, memory_of(t, &stored)); }
