/* SPDX-License-Identifier: MIT */
/* emu/arith/function_one.h - computes one elementary function: in binary64 where that decides the result, else by as
 * many digits as it takes; then it rounds once. */
#ifndef HALFULP_EMU_ARITH_FUNCTION_ONE_H
#define HALFULP_EMU_ARITH_FUNCTION_ONE_H

#include "emu/arith/function_quick.h"
#include "emu/core/function.h"

/* Is x finite, not 0, of at most 24 digits, between 2^-1000 and 2^1000? */
HU_FN int32_t hui_quick_operand(hu_num x) {
  if (x.kind != HU_KIND_FINITE) return 0;
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
  return (x.sig << lead & 0xFFFFFFFFFFu) == 0 && k > -1000 && k < 1000;
}

/* May hui_quick_of be tried? It knows 26 digits: the grid's m + 1, one for the half, the random ones and their
 * half. */
HU_FN int32_t hui_quick_may(const hu_spec *s, int32_t op, hu_num x, hu_num y) {
  if (s->m + 2 + (s->round >= HU_SRA ? s->bits : 0) > 25 || !hui_quick_operand(x)) return 0;
  if (op == HU_OP_LOG || op == HU_OP_LOG2) return !x.sign;
  if (op != HU_OP_POW) return op != HU_OP_RSQRT && op != HU_OP_RECIPROCAL;
  if (!hui_quick_operand(y) || hui_exponent(y) < -300 || hui_exponent(y) > 300) return 0;
  return !x.sign && !(hui_is_power_of_two(x) && hui_exponent(x) == 0);
}

/* *q for f(x), or x^y, of such operands. The CPU must round binary64 to nearest. Writes memory, so that no compiler
 * takes the call out from between changes of the direction. */
HU_OUTLINE void hui_quick_of(hu_quick_result *q, int32_t op, double x, double y) {
  switch (op) {
    case HU_OP_EXP: *q = hui_quick_exp(x); break;
    case HU_OP_EXP2: *q = hui_quick_exp2(x); break;
    case HU_OP_EXPM1: *q = hui_quick_expm1(x); break;
    case HU_OP_LOG: *q = hui_quick_log(x, 0); break;
    case HU_OP_LOG2: *q = hui_quick_log(x, 1); break;
    case HU_OP_LOG1P: *q = hui_quick_log1p(x); break;
    case HU_OP_TANH: *q = hui_quick_tanh(x); break;
    case HU_OP_SIGMOID: *q = hui_quick_sigmoid(x); break;
    case HU_OP_ERF: *q = hui_quick_erf(x); break;
    case HU_OP_GELU: *q = hui_quick_gelu(x); break;
    case HU_OP_SIN: *q = hui_quick_sin(x, 0); break;
    case HU_OP_COS: *q = hui_quick_sin(x, 1); break;
    default: *q = hui_quick_pow(x, y); break;
  }
}

/* Returns the code; sets *events. */
HU_FN uint32_t hui_function_quickly_rounded(const hu_spec *s, hu_quick_result q, uint32_t random, uint32_t *events) {
  return hui_arith_round(s, hui_unpack64(q.bits), 0, 0, random, events);
}

HU_FN uint32_t hui_function_one(const hu_spec *s, int32_t op, hu_num x, hu_num y, uint32_t random, uint32_t *events) {
  uint32_t raised = 0, operands = hui_operand_events(x) | (op == HU_OP_POW ? hui_operand_events(y) : 0);
  hu_num z = hui_function_of(op, x, y, &raised);
  return hui_arith_round(s, z, raised, operands, random, events);
}

/* Tries hui_quick_of, then computes in integers; binary64 is to nearest already. */
HU_FN uint32_t hui_function_code_of(const hu_spec *s, int32_t op, hu_num x, hu_num y, uint32_t random,
                                    uint32_t *events) {
  if (hui_quick_may(s, op, x, y)) {
    hu_quick_result q;
    hui_quick_of(&q, op, hui_double64(hui_pack64(x)), hui_double64(hui_pack64(y)));
    if (q.known) return hui_function_quickly_rounded(s, q, random, events);
  }
  return hui_function_one(s, op, x, y, random, events);
}

#endif
