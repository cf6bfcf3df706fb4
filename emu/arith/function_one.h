/* SPDX-License-Identifier: MIT */
/* emu/arith/function_one.h - computes one elementary function: in binary64 where that decides the result, else by as
 * many digits as it takes; then it rounds once. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_ONE_H
#define HALFULP_EMU_ARITH_FUNCTION_ONE_H

#include "emu/arith/function_quick.h"
#include "emu/core/function.h"

/* Finite, not 0, at most 24 digits, between 2^-1000 and 2^1000. */
HU_FN int32_t hu_quick_operand(hu_num x) {
  if (x.kind != HU_KIND_FINITE) return 0;
  int32_t lead = hu_clz64(x.sig), k = x.exp + 63 - lead;
  return (x.sig << lead & 0xFFFFFFFFFFu) == 0 && k > -1000 && k < 1000;
}

/* May the quick way be tried? It knows 26 digits: the grid's m + 1, one for the half, the random ones and their
 * half. */
HU_FN int32_t hu_quick_may(const hu_spec *s, int32_t op, hu_num x, hu_num y) {
  if (s->m + 2 + (s->round >= HU_SRA ? s->bits : 0) > 25 || !hu_quick_operand(x)) return 0;
  if (op == HU_OP_LOG || op == HU_OP_LOG2) return !x.sign;
  if (op != HU_OP_POW) return op != HU_OP_RSQRT && op != HU_OP_RECIPROCAL;
  if (!hu_quick_operand(y) || hu_exponent(y) < -300 || hu_exponent(y) > 300) return 0;
  return !x.sign && !(hu_is_power_of_two(x) && hu_exponent(x) == 0);
}

/* *q for f(x), or x^y, of such operands. Wants binary64 to nearest. Writes memory, so that no compiler takes the
 * call out from between changes of the direction. */
HU_OUTLINE void hu_quick_of(hu_quick_result *q, int32_t op, double x, double y) {
  switch (op) {
    case HU_OP_EXP: *q = hu_quick_exp(x); break;
    case HU_OP_EXP2: *q = hu_quick_exp2(x); break;
    case HU_OP_EXPM1: *q = hu_quick_expm1(x); break;
    case HU_OP_LOG: *q = hu_quick_log(x, 0); break;
    case HU_OP_LOG2: *q = hu_quick_log(x, 1); break;
    case HU_OP_LOG1P: *q = hu_quick_log1p(x); break;
    case HU_OP_TANH: *q = hu_quick_tanh(x); break;
    case HU_OP_SIGMOID: *q = hu_quick_sigmoid(x); break;
    case HU_OP_ERF: *q = hu_quick_erf(x); break;
    case HU_OP_GELU: *q = hu_quick_gelu(x); break;
    case HU_OP_SIN: *q = hu_quick_sin(x, 0); break;
    case HU_OP_COS: *q = hu_quick_sin(x, 1); break;
    default: *q = hu_quick_pow(x, y); break;
  }
}

/* The code; sets *events. */
HU_FN uint32_t hu_function_quickly_rounded(const hu_spec *s, hu_quick_result q, uint32_t random, uint32_t *events) {
  return hu_arith_round(s, hu_unpack64(q.bits), 0, 0, random, events);
}

HU_FN uint32_t hu_function_one(const hu_spec *s, int32_t op, hu_num x, hu_num y, uint32_t random, uint32_t *events) {
  uint32_t raised = 0, operands = hu_operand_events(x) | (op == HU_OP_POW ? hu_operand_events(y) : 0);
  hu_num z = hu_function_of(op, x, y, &raised);
  return hu_arith_round(s, z, raised, operands, random, events);
}

/* Both ways, where binary64 is to nearest already. */
HU_FN uint32_t hu_function_code_of(const hu_spec *s, int32_t op, hu_num x, hu_num y, uint32_t random,
                                   uint32_t *events) {
  if (hu_quick_may(s, op, x, y)) {
    hu_quick_result q;
    hu_quick_of(&q, op, hu_double64(hu_pack64(x)), hu_double64(hu_pack64(y)));
    if (q.known) return hu_function_quickly_rounded(s, q, random, events);
  }
  return hu_function_one(s, op, x, y, random, events);
}

#endif
