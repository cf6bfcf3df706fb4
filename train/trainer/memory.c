/* SPDX-License-Identifier: MIT */
/* Bytes of the tensors of a step: as this library keeps them, and as the system stores them that the keys describe. */
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/net/net.h"
#include "train/step/optimizer.h"
#include "train/trainer/trainer.h"

/* Operators by the values that they read: those that read value i are op[first[i]] ... op[first[i + 1] - 1], in order,
 * each as often as it reads it. made_by[i]: the one that makes value i; -1: an input. */
typedef struct value_readers {
  const hu_net *net;
  size_t *first;
  int *op, *made_by;
} value_readers;

/* How a tensor's bits are counted: `bits` of it by the rounding that it has. */
typedef double count(const value_readers *readers, int i, double bits);

static double bits_of(size_t rows, size_t cols, const hu_rounding *rounding) {
  return (double)hu_rounding_bits(rows, cols, rounding);
}

static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }

/* ---- who reads what ---- */

static void close_readers(value_readers *readers) {
  free(readers->first);
  free(readers->op);
  free(readers->made_by);
}

static void note(value_readers *readers, int op, int value) {
  if (value < 0) return;
  if (readers->op) readers->op[readers->first[value]] = op;
  readers->first[value]++;
}

/* The first time the readers of value i are counted in first[i], then they go to op[first[i]] on. */
static void note_all(value_readers *readers) {
  for (int i = 0; i < readers->net->operators; i++) {
    const hu_operator *op = &readers->net->op[i];
    for (int k = 0; k < 3; k++) note(readers, i, op->in[k]);
    for (size_t k = 0; k < op->list.count; k++) note(readers, i, op->list.value[k]);
    readers->made_by[op->out] = i;
  }
}

/* Lists the readers of each value. Returns 0 if there is no memory. */
static int open_readers(value_readers *readers, const hu_net *net) {
  size_t values = (size_t)net->values, at = 0;
  *readers = (value_readers){net, calloc(values + 2, sizeof *readers->first), NULL,
                             calloc(values + 1, sizeof *readers->made_by)};
  if (!readers->first || !readers->made_by) return 0;
  for (size_t i = 0; i < values; i++) readers->made_by[i] = -1;
  note_all(readers);
  for (size_t i = 0; i <= values; i++) {
    size_t n = readers->first[i];
    readers->first[i] = at;
    at += n;
  }
  readers->op = calloc(at + 1, sizeof *readers->op);
  if (!readers->op) return 0;
  note_all(readers); /* which moves first[i] to where first[i + 1] was */
  memmove(readers->first + 1, readers->first, (values + 1) * sizeof *readers->first);
  readers->first[0] = 0;
  return 1;
}

/* ---- codes of operands ---- */

/* A product by a parameter has X and W apart; those of attention take both from values. */
static int by_weights(const hu_operator *op) { return op->kind->product && op->theta[0] >= 0; }

/* Codes of E2M1, a scale of 8 bits for each block along the axis, and (masked) a bit that says what was clipped. */
static double quartet_bits(size_t rows, size_t cols, int down, int masked) {
  size_t blocks = down ? (rows + 31) / 32 * cols : rows * ((cols + 31) / 32);
  return (double)rows * (double)cols * (4 + masked) + 8 * (double)blocks;
}

/* X and W are those of the forward pass, with masks; dZ is rounded in both directions. */
static double x_bits(const hu_operator *op, size_t rows, size_t cols) {
  return op->rounding.quartet ? quartet_bits(rows, cols, 0, 1) : bits_of(rows, cols, &op->rounding.x_back);
}

static double w_bits(const hu_operator *op, size_t rows, size_t cols) {
  const hu_product_rounding *rounding = &op->rounding;
  if (rounding->quartet) return quartet_bits(rows, cols, 1, 1);
  return larger(bits_of(rows, cols, &rounding->w), bits_of(rows, cols, &rounding->w_back));
}

static double dz_bits(const hu_operator *op, size_t rows, size_t cols) {
  const hu_product_rounding *rounding = &op->rounding;
  if (rounding->quartet) return larger(quartet_bits(rows, cols, 0, 0), quartet_bits(rows, cols, 1, 0));
  return larger(bits_of(rows, cols, &rounding->dz), bits_of(rows, cols, &rounding->dz_w));
}

/* A value whose readers are all products is stored as the operand that dW needs; one that a product without bias makes
 * is a number of the result's rounding. */
static double value_bits(const value_readers *readers, int value, double bits) {
  const hu_value *x = &readers->net->value[value];
  const hu_operator *maker = readers->made_by[value] < 0 ? NULL : &readers->net->op[readers->made_by[value]];
  double widest = 0;
  size_t all = readers->first[value + 1] - readers->first[value], products = 0;
  if (maker && by_weights(maker) && maker->theta[1] < 0) {
    bits = smaller(bits, bits_of(x->rows, x->cols, &maker->rounding.z_out));
  }
  for (size_t k = readers->first[value]; k < readers->first[value + 1]; k++) {
    const hu_operator *op = &readers->net->op[readers->op[k]];
    products += op->kind->product != 0;
    widest = larger(widest, x_bits(op, x->rows, x->cols));
    if (!by_weights(op)) widest = larger(widest, bits_of(x->rows, x->cols, &op->rounding.w_back));
  }
  return all && products == all ? smaller(bits, widest) : bits;
}

/* A gradient is stored as the operand dZ of the product that made its value, or as the dX that its only reader gave. */
static double gradient_bits(const value_readers *readers, int value, double bits) {
  const hu_value *x = &readers->net->value[value];
  const hu_operator *maker = readers->made_by[value] < 0 ? NULL : &readers->net->op[readers->made_by[value]];
  if (maker && maker->kind->product) {
    bits = smaller(bits, dz_bits(maker, x->rows, x->cols));
  }
  if (readers->first[value + 1] - readers->first[value] != 1) return bits;
  const hu_operator *reader = &readers->net->op[readers->op[readers->first[value]]];
  return by_weights(reader) ? smaller(bits, bits_of(x->rows, x->cols, &reader->rounding.dx_out)) : bits;
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
static double weight_bits(const value_readers *readers, int parameter, double bits) {
  const hu_net *net = readers->net;
  const hu_parameter *weights = &net->parameter[parameter];
  int times;
  const hu_operator *op = product_of(net, parameter, &times);
  if (!op) return bits;
  return smaller(bits, w_bits(op, weights->rows, weights->cols));
}

/* dW of a parameter that one product has. */
static double weight_gradient_bits(const value_readers *readers, int parameter, double bits) {
  const hu_net *net = readers->net;
  const hu_parameter *weights = &net->parameter[parameter];
  int times;
  const hu_operator *op = product_of(net, parameter, &times);
  return op && times == 1 ? smaller(bits, bits_of(weights->rows, weights->cols, &op->rounding.dw_out)) : bits;
}

static double as_it_is(const value_readers *readers, int i, double bits) {
  (void)readers;
  (void)i;
  return bits;
}

/* ---- sums ---- */

typedef struct counts {
  count *value, *gradient, *weight, *weight_gradient;
} counts;

static const counts stored = {as_it_is, as_it_is, as_it_is, as_it_is};
static const counts described = {value_bits, gradient_bits, weight_bits, weight_gradient_bits};

static HU_NOINLINE hu_trainer_memory memory_of(const hu_trainer *trainer, const counts *by) {
  hu_trainer_memory memory = {0, 0, 0, 0};
  value_readers readers;
  if (!trainer || !trainer->net) return memory;
  const hu_net *net = trainer->net;
  if (!open_readers(&readers, net)) {
    close_readers(&readers);
    return memory;
  }
  for (int i = 0; i < net->values; i++) {
    const hu_value *x = &net->value[i];
    memory.values += by->value(&readers, i, bits_of(x->rows, x->cols, &x->round)) / 8;
    if (x->made) memory.gradients += by->gradient(&readers, i, bits_of(x->rows, x->cols, &x->round_back)) / 8;
  }
  for (int i = 0; i < net->parameters; i++) {
    const hu_parameter *parameter = &net->parameter[i];
    hu_optimizer optimizer = hui_optimizer_of(net, i, &trainer->optimizer);
    double n = (double)parameter->rows * (double)parameter->cols, master = n * hu_limits_of(optimizer.weight).width / 8;
    double seen = by->weight(&readers, i, bits_of(parameter->rows, parameter->cols, &parameter->round)) / 8;
    memory.weights += master + (seen < master ? seen : 0); /* a copy for the operators, if it is another one */
    memory.state += (double)hui_optimizer_state_bits(parameter->rows * parameter->cols, &optimizer) / 8;
    if (parameter->average.numbers) memory.state += n * (double)sizeof(float);
    if (trainer->averages.of && trainer->averages.of[i]) memory.state += n * (double)sizeof(float);
    memory.gradients +=
        by->weight_gradient(&readers, i, bits_of(parameter->rows, parameter->cols, &parameter->round_back)) / 8;
    if (trainer->keys.accumulate > 1) memory.gradients += n * (double)sizeof(float);
  }
  close_readers(&readers);
  return memory;
}

hu_trainer_memory hu_trainer_memory_of(const hu_trainer *trainer) {
  HU_ENV_RETURN(hu_trainer_memory, memory_of(trainer, &described));
}
hu_trainer_memory hu_trainer_stored_of(const hu_trainer *trainer) {
  HU_ENV_RETURN(hu_trainer_memory, memory_of(trainer, &stored));
}
