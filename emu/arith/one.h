/* SPDX-License-Identifier: MIT */
/* emu/arith/one.h - operations that emu/core/arith.h has only in parts, on one value: for the call of one value and for
 * arrays. */
#ifndef HALFULP_EMU_ARITH_ONE_H
#define HALFULP_EMU_ARITH_ONE_H

#include "emu/core/arith.h"
#include "halfulp/arith.h"

HU_FN uint32_t hui_remainder_code(const hu_spec *spec, hu_num x, hu_num y, uint32_t random, uint32_t *events) {
  uint32_t raised = 0;
  hu_num exact = hui_exact_remainder(x, y, &raised);
  return hui_arith_round(spec, exact, raised, hui_operand_events(x) | hui_operand_events(y), random, events);
}

/* Returns HU_LESS ... HU_UNORDERED. */
HU_FN uint32_t hui_compared(hu_num a, hu_num b) {
  if (a.kind == HU_KIND_NAN || b.kind == HU_KIND_NAN) return (uint32_t)HU_UNORDERED;
  return (uint32_t)hui_compare_numbers(a, b);
}

/* Computes HU_OP_INTEGRAL, HU_OP_NEXT_UP, HU_OP_NEXT_DOWN or HU_OP_CLASS of a code of spec's format. Only the first
 * sets *events. */
HU_FN uint32_t hui_within_format(const hu_spec *spec, int32_t op, uint32_t code, uint32_t random, uint32_t *events) {
  switch (op) {
    case HU_OP_INTEGRAL: return hui_round_to_integral_code(spec, code, random, events);
    case HU_OP_NEXT_UP: return hui_next_code(spec, code, 0);
    case HU_OP_NEXT_DOWN: return hui_next_code(spec, code, 1);
    default: return hui_class_of(spec, code);
  }
}

#endif
