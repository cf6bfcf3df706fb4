/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/function.h on one value: operations by hu_apply_code. */
#include "halfulp/function.h"

#include "halfulp/operation.h"

static uint32_t one(int op, hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  hu_code operand = {fx, x};
  return hu_apply_code(op, fz, mode, &operand, random, events);
}

uint32_t hu_exp(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXP, fz, mode, fx, x, random, events);
}

uint32_t hu_exp2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXP2, fz, mode, fx, x, random, events);
}

uint32_t hu_expm1(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_EXPM1, fz, mode, fx, x, random, events);
}

uint32_t hu_log(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG, fz, mode, fx, x, random, events);
}

uint32_t hu_log2(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG2, fz, mode, fx, x, random, events);
}

uint32_t hu_log1p(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_LOG1P, fz, mode, fx, x, random, events);
}

uint32_t hu_tanh(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_TANH, fz, mode, fx, x, random, events);
}

uint32_t hu_sigmoid(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_SIGMOID, fz, mode, fx, x, random, events);
}

uint32_t hu_erf(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_ERF, fz, mode, fx, x, random, events);
}

uint32_t hu_gelu(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_GELU, fz, mode, fx, x, random, events);
}

uint32_t hu_rsqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_RSQRT, fz, mode, fx, x, random, events);
}

uint32_t hu_reciprocal(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_RECIPROCAL, fz, mode, fx, x, random, events);
}

uint32_t hu_sin(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_SIN, fz, mode, fx, x, random, events);
}

uint32_t hu_cos(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  return one(HU_OP_COS, fz, mode, fx, x, random, events);
}

uint32_t hu_pow(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y, uint32_t random,
                uint32_t *events) {
  hu_code operands[2] = {{fx, x}, {fy, y}};
  return hu_apply_code(HU_OP_POW, fz, mode, operands, random, events);
}
