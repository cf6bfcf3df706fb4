/* SPDX-License-Identifier: MIT */
/* emu/core/scaled_formula.h - the formulas of scaled tensors, docs/scaled.md section 4.4: numbers from 0 up in binary32
 * patterns, one operation after another. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_SCALED_FORMULA_H
#define HALFULP_EMU_CORE_SCALED_FORMULA_H

#include "emu/core/arith.h"
#include "halfulp/scaled.h"

#define HU_LARGEST32 0x7F7FFFFFu
/* The five formulas in the order of the record. */
enum { HU_OF_BIG_S, HU_OF_SMALL_T, HU_OF_SCALE, HU_OF_ELEMENT, HU_OF_VALUE, HU_OF_COUNT };
enum { HU_FORMULA_NAMES = HU_FORMULA_P + 1 };

/* One step in binary32, ties to even; a finite x beyond the range gives the largest number. */
HU_OUTLINE hu_num hui_step32(hu_num x) {
  uint32_t pattern = hui_pack32(x);
  if (x.kind == HU_KIND_FINITE && (pattern & 0x7FFFFFFF) == 0x7F800000) pattern = (pattern & 0x80000000) | HU_LARGEST32;
  return hui_unpack32(pattern);
}

HU_FN uint32_t hui_pack_step(hu_num x) { return hui_pack32(hui_step32(x)); }

/* ---- the code ---- */

/* Returns how many operands an operation takes. */
HU_FN uint32_t hui_formula_takes(uint32_t op) {
  if (op < HU_FORMULA_ADD || op >= HU_FORMULA_NUMBER) return 0;
  return op <= HU_FORMULA_AND ? 2 : 1;
}

/* Returns where the formula that begins at `at` has its END. */
HU_FN uint32_t hui_formula_end(const hu_formulas *formulas, uint32_t at) {
  while (at < HU_FORMULA_BYTES && formulas->code[at] != HU_FORMULA_END) at++;
  return at;
}

HU_FN uint32_t hui_formula_has(const hu_formulas *formulas, uint32_t at, uint32_t end, uint32_t op) {
  while (at < end && formulas->code[at] != op) at++;
  return at < end;
}

/* Is it NAME * f or NAME / f, where f has no NAME? Then f stands from at + 1 to end - 1. */
HU_OUTLINE uint32_t hui_formula_is_factor(const hu_formulas *formulas, uint32_t at, uint32_t end, uint32_t name) {
  uint32_t depth = 0;
  if (end - at < 3 || formulas->code[at] != name) return 0;
  if (formulas->code[end - 1] != HU_FORMULA_TIMES && formulas->code[end - 1] != HU_FORMULA_OVER) return 0;
  for (uint32_t i = at + 1; i < end - 1; i++) {
    uint32_t takes = hui_formula_takes(formulas->code[i]);
    if (formulas->code[i] == name || depth < takes) return 0;
    depth += 1 - takes;
  }
  return depth == 1;
}

/* ---- operations on one number, from 0 up and finite ---- */

/* Returns the place of the highest digit of a pattern that is not 0, in a word with 2^-149 at place 0 where it is
 * subnormal, else 23. */
HU_FN uint32_t hui_formula_top(uint32_t x) { return x >> 23 ? 23 : 63 - (uint32_t)hui_clz64(x); }

HU_FN uint32_t hui_formula_down(uint32_t x) { return x >> 23 ? x & 0x7F800000 : x ? 1u << hui_formula_top(x) : 0; }

/* Returns down(x + more), at most 2^127. */
HU_FN uint32_t hui_formula_carry(uint32_t x, uint32_t more) {
  uint32_t z = x ? hui_formula_down(x + more) : 0;
  return z > 0x7F000000 ? 0x7F000000 : z;
}

HU_FN uint32_t hui_formula_near(uint32_t x) {
  uint32_t top = hui_formula_top(x | 1), digits = (x & 0x7FFFFF) << (23 - top) & 0x7FFFFF;
  return hui_formula_carry(x, digits >= 0x3504F4 ? 1u << top : 0); /* 0x3FB504F4 is the first number above sqrt(2) */
}

HU_FN uint32_t hui_formula_bfloat16(uint32_t x) {
  uint32_t z = (x + 0x7FFF + (x >> 16 & 1)) & 0xFFFF0000;
  return z > 0x7F7F0000 ? 0x7F7F0000 : z;
}

/* Rounds to binary16, ties to even or toward zero; at most 65504. */
HU_FN uint32_t hui_formula_binary16(uint32_t x, uint32_t nearest) {
  uint32_t cut = 13, field = x >> 23;
  if (field < 113) { /* multiples of 2^-24: none of these has digits to spare */
    cut = 126 - (field ? field : 1);
    if (cut > 25) return 0;
    x = (x & 0x7FFFFF) | (field ? 0x800000 : 0);
  }
  uint32_t z = nearest ? x + (1u << (cut - 1)) - 1 + (x >> cut & 1) : x;
  z = z >> cut << cut;
  if (field >= 113) return z > 0x477FE000 ? 0x477FE000 : z;
  return z ? hui_pack32(hui_num_finite(0, z >> cut, -24)) : 0;
}

/* Rounds into a format; spec: its mode. */
HU_FN uint32_t hui_formula_into(const hu_spec *spec, uint32_t x) {
  uint32_t ignored;
  return hui_pack32(hui_unpack(spec, hui_round(spec, hui_unpack32(x), 0, &ignored))) & 0x7FFFFFFF;
}

HU_OUTLINE uint32_t hui_formula_one(const hu_spec *scale, const hu_spec *element, uint32_t op, uint32_t x) {
  if (op >= HU_FORMULA_EVEN && op < HU_FORMULA_SCALE_OF) {
    uint32_t top = hui_formula_top(x | 1), m = op - HU_FORMULA_EVEN + 1;
    return hui_formula_carry(x, top > m ? 1u << (top - m - 1) : 0);
  }
  if (op == HU_FORMULA_RNA || op == HU_FORMULA_RNZ) {
    hu_spec own = *element;
    own.round = op == HU_FORMULA_RNA ? HU_RNA : HU_RNZ;
    own.bits = 0;
    own.saturate = HU_SAT_FINITE;
    return hui_formula_into(&own, x);
  }
  switch (op) {
    case HU_FORMULA_BF: return hui_formula_bfloat16(x);
    case HU_FORMULA_H: return hui_formula_binary16(x, 1);
    case HU_FORMULA_HZ: return hui_formula_binary16(x, 0);
    case HU_FORMULA_UP: return hui_formula_carry(x, (1u << hui_formula_top(x | 1)) - 1);
    case HU_FORMULA_DOWN: return hui_formula_down(x);
    case HU_FORMULA_NEAR: return hui_formula_near(x);
    default: return hui_formula_into(scale, x);
  }
}

/* ---- operations on two numbers ---- */

/* What an operation chooses of two numbers; patterns are in the order of the numbers. */
HU_FN uint32_t hui_formula_choice(uint32_t op, uint32_t a, uint32_t b) {
  if (op == HU_FORMULA_MAX) return a > b ? a : b;
  if (op == HU_FORMULA_MIN) return a < b ? a : b;
  return op == HU_FORMULA_OR ? (a ? a : b) : a ? b : 0;
}

HU_OUTLINE uint32_t hui_formula_two(uint32_t op, uint32_t a, uint32_t b) {
  uint32_t ignored = 0;
  hu_num x = hui_unpack32(a), y = hui_unpack32(b);
  switch (op) {
    case HU_FORMULA_ADD: return hui_pack_step(hui_exact_add(x, y, 0, &ignored));
    case HU_FORMULA_TIMES: return a && b ? hui_pack_step(hui_product(0, x, y)) : 0;
    case HU_FORMULA_OVER: return !a ? 0 : !b ? HU_LARGEST32 : hui_pack_step(hui_quotient(0, x, y));
    default: return hui_formula_choice(op, a, b);
  }
}

/* Computes what stands in code[at] ... code[end - 1]; value[k]: the pattern of name k, its sign 0. */
HU_OUTLINE uint32_t hui_formula_run(const hu_spec *scale, const hu_spec *element, const hu_formulas *formulas,
                                    uint32_t at, uint32_t end, const uint32_t *value) {
  uint32_t stack[HU_FORMULA_DEEP + 1], depth = 0;
  for (; at < end; at++) {
    uint32_t op = formulas->code[at], takes = hui_formula_takes(op);
    if (op >= HU_FORMULA_NUMBER) {
      stack[depth++] = formulas->number[op - HU_FORMULA_NUMBER];
    } else if (takes == 0) {
      stack[depth++] = value[op];
    } else if (takes == 1) {
      stack[depth - 1] = hui_formula_one(scale, element, op, stack[depth - 1]);
    } else {
      depth--;
      stack[depth - 1] = hui_formula_two(op, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}

#endif
