/* SPDX-License-Identifier: MIT */
/* emu/core/scaled.h - shared scales and the elements under them, one block and one element at a time, in integers.
 *
 * All of docs/scaled.md sections 3 to 6; the array code and its fast ways are held against it. C11, C++17 and CUDA
 * compile the same text. binary32 numbers enter and leave as patterns. */
#ifndef HALFULP_EMU_CORE_SCALED_H
#define HALFULP_EMU_CORE_SCALED_H

#include "emu/core/scaled_formula.h"

/* A description unfolded, once a call, and the second-level scale of the tensor once it is known. */
typedef struct hu_scaler {
  hu_spec element, scale;
  hu_num top;         /* M, the largest element */
  hu_num tensor;      /* t; 1 without a second level; what a tensor stores: under formulas without t it is S */
  hu_num tensor_code; /* the encode scale that t is the reciprocal of: steps multiply, encode; of reciprocal 1 / t; S */
  int32_t emax;       /* floor(log2 M) */
  int32_t low, high;  /* exponents of the powers of two that are scales */
  uint32_t amin;
  uint32_t amax; /* T of formulas, a pattern */
  uint8_t rule, steps, two, coding, special, blank, minus;
  uint8_t by_formulas;        /* 1: rule is HU_SCALE_RATIO, and steps says how x or v take their factors */
  uint8_t own_x, own_v;       /* 1: the formula x, or v, is not a factor */
  uint8_t start[HU_OF_COUNT]; /* of the formulas */
  uint8_t two_types, twos;    /* 1: a block may have integers; 1: in two's complement (docs/scaled.md section 4.5) */
  hu_spec integer;
  hu_num to_integer, of_integer; /* g and f there */
  hu_formulas formulas;
} hu_scaler;

enum { HU_UNDER_SCALE = 0, HU_UNDER_ZERO = 1, HU_UNDER_NAN = 2 };
/* What a block's elements need to know. */
typedef struct hu_shared {
  hu_num by;     /* the divisor, or where `multiply` is 1 the factor */
  hu_num back;   /* an element's value is its code's times this */
  uint32_t code; /* of the scale */
  uint32_t amax; /* A, a pattern, for formulas */
  uint8_t under; /* HU_UNDER_ */
  uint8_t multiply;
  uint8_t integers; /* 1: the block has integers */
} hu_shared;

HU_FN hu_num hui_power_of_two(int32_t e) { return hui_num_finite(0, 1, e); }

/* Returns the digits of a finite x > 0, shifted so that the leading one is the highest bit. */
HU_FN uint64_t hui_digits_of(hu_num x) { return x.sig << hui_clz64(x.sig); }

/* Does the same as hui_step32, but replaces 0. */
HU_FN hu_num hui_step32_some(hu_num x) {
  hu_num z = hui_step32(x);
  return z.kind == HU_KIND_ZERO ? hui_unpack32(1) : z;
}

/* Returns how many blocks n rows or columns make; side 0: one. */
HU_FN size_t hui_blocks_along(size_t n, size_t side) { return n == 0 ? 0 : side == 0 ? 1 : (n - 1) / side + 1; }

/* ---- formulas ---- */

HU_FN uint32_t hui_formula_of(const hu_scaler *scaler, uint32_t which, const uint32_t *value) {
  uint32_t at = scaler->start[which];
  return hui_formula_run(&scaler->scale, &scaler->element, &scaler->formulas, at,
                         hui_formula_end(&scaler->formulas, at), value);
}

/* Computes the factor of x or v. */
HU_FN uint32_t hui_formula_factor(const hu_scaler *scaler, uint32_t which, const uint32_t *value) {
  uint32_t at = scaler->start[which];
  return hui_formula_run(&scaler->scale, &scaler->element, &scaler->formulas, at + 1u,
                         hui_formula_end(&scaler->formulas, at) - 1, value);
}

HU_FN uint32_t hui_formula_is(const hu_scaler *scaler, uint32_t which) {
  return scaler->by_formulas && scaler->formulas.code[scaler->start[which]] != HU_FORMULA_END;
}

/* Unfolds the formulas: where each one is, and which of them are factors. */
HU_OUTLINE void hui_scaler_formulas(hu_scaler *scaler, const hu_formulas *formulas) {
  uint32_t at = 0, end[HU_OF_COUNT];
  scaler->by_formulas = 1;
  scaler->rule = HU_SCALE_RATIO;
  scaler->formulas = *formulas;
  for (uint32_t i = 0; i < HU_OF_COUNT; i++) {
    scaler->start[i] = (uint8_t)at;
    end[i] = hui_formula_end(formulas, at);
    at = end[i] + (end[i] < HU_FORMULA_BYTES);
  }
  uint32_t x = scaler->start[HU_OF_ELEMENT], v = scaler->start[HU_OF_VALUE];
  scaler->own_x = !hui_formula_is_factor(formulas, x, end[HU_OF_ELEMENT], HU_FORMULA_X);
  scaler->own_v = end[HU_OF_VALUE] > v && (!hui_formula_is_factor(formulas, v, end[HU_OF_VALUE], HU_FORMULA_P) ||
                                           formulas->code[end[HU_OF_VALUE] - 1] == HU_FORMULA_OVER);
  scaler->steps =
      !scaler->own_x && formulas->code[end[HU_OF_ELEMENT] - 1] == HU_FORMULA_OVER ? HU_STEPS_DIVIDE : HU_STEPS_MULTIPLY;
}

/* Sets the names that formulas of a block know: A, and the code of its scale once it is there. */
HU_FN void hui_formula_names(const hu_scaler *scaler, uint32_t amax, uint32_t code, uint32_t *value) {
  uint32_t tensor = hui_pack32(scaler->tensor) & 0x7FFFFFFF, has_t = hui_formula_is(scaler, HU_OF_SMALL_T);
  value[HU_FORMULA_A] = amax;
  value[HU_FORMULA_T] = scaler->amax;
  value[HU_FORMULA_BIG_S] = has_t ? hui_pack32(scaler->tensor_code) : tensor;
  value[HU_FORMULA_SMALL_T] = tensor;
  value[HU_FORMULA_SCALE] = hui_pack32(hui_unpack(&scaler->scale, code)) & 0x7FFFFFFF;
}

/* Sets S and t of formulas; the amax is not 0. */
HU_OUTLINE void hui_formula_tensor(hu_scaler *scaler) {
  uint32_t value[HU_FORMULA_NAMES] = {0}, at = scaler->start[HU_OF_BIG_S],
           first = hui_formula_has(&scaler->formulas, at, hui_formula_end(&scaler->formulas, at), HU_FORMULA_SMALL_T);
  value[HU_FORMULA_T] = scaler->amax;
  for (uint32_t i = 0; i < 2; i++) { /* the one that the other needs is made first */
    uint32_t which = i == first ? HU_OF_BIG_S : HU_OF_SMALL_T;
    if (!hui_formula_is(scaler, which)) continue;
    uint32_t z = hui_formula_of(scaler, which, value);
    value[which == HU_OF_BIG_S ? HU_FORMULA_BIG_S : HU_FORMULA_SMALL_T] = z ? z : 1;
  }
  scaler->tensor_code = hui_unpack32(value[HU_FORMULA_BIG_S]);
  scaler->tensor =
      hui_formula_is(scaler, HU_OF_SMALL_T) ? hui_unpack32(value[HU_FORMULA_SMALL_T]) : scaler->tensor_code;
}

/* ---- a type for each block ---- */

/* Unfolds what blocks of integers need: their format, which has the element's width and no -0, and the binary32
 * constants of the programs for N / M and M / N. */
HU_OUTLINE void hui_scaler_types(hu_scaler *scaler, hu_format format, hu_mode mode) {
  uint32_t four = format.e + format.m == 3;
  format.m = (uint8_t)(format.e + format.m);
  scaler->to_integer = hui_unpack32(four ? 0x3F955555 : format.e == 2 ? 0x40844444 : 0x3F8DB6DB);
  scaler->of_integer = hui_unpack32(four ? 0x3F5B6DB7 : format.e == 2 ? 0x3E77BDF1 : 0x3F6739CE);
  format.e = 0;
  format.negzero = 0;
  format.b = (int16_t)(1 - format.m);
  scaler->integer = hui_spec_of(format, mode);
  scaler->two_types = 1;
  scaler->twos = (uint8_t)four;
  scaler->rule = HU_SCALE_RATIO;
}

/* ---- a description unfolded ---- */

HU_OUTLINE hu_scaler hui_scaler_of(hu_scaling scaling, hu_mode mode) {
  hu_scaler scaler;
  hu_mode shared;
  memset(&scaler, 0, sizeof scaler);
  memset(&shared, 0, sizeof shared);
  shared.round = scaling.round;
  shared.saturate = HU_SAT_FINITE;
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  scaler.element = hui_spec_of(scaling.element, mode);
  scaler.scale = hui_spec_of(scaling.scale, shared);
  scaler.top = hui_unpack(&scaler.element, scaler.element.max_code);
  scaler.emax = hui_exponent(scaler.top);
  scaler.high = hui_exponent(hui_unpack(&scaler.scale, scaler.scale.max_code));
  scaler.low = hui_first_power(&scaler.scale) - (hui_has_subnormals(&scaler.scale) ? scaler.scale.m : 0);
  scaler.tensor = hui_power_of_two(0);
  scaler.tensor_code = scaler.tensor;
  scaler.amin = scaling.amin;
  scaler.rule = scaling.rule;
  scaler.steps = scaling.steps;
  scaler.two = scaling.tensor;
  scaler.coding = scaling.coding;
  scaler.special = scaling.special;
  scaler.blank = scaling.blank;
  scaler.minus = scaling.minus;
  if (scaling.rule == HU_SCALE_FORMULAS) hui_scaler_formulas(&scaler, &scaling.formulas);
  if (scaling.rule >= HU_SCALE_INTFLOAT_MAE) hui_scaler_types(&scaler, scaling.element, mode);
  return scaler;
}

/* ---- the second level ---- */

/* Sets t from the tensor's amax, a pattern; for a scaling with two levels. */
HU_OUTLINE void hui_scaler_tensor(hu_scaler *scaler, uint32_t amax) {
  hu_num a = hui_unpack32(amax), one = hui_power_of_two(0);
  hu_num both = hui_product(0, scaler->top, hui_unpack(&scaler->scale, scaler->scale.max_code));
  scaler->tensor = scaler->tensor_code = one;
  scaler->amax = amax;
  if (amax == 0) return;
  if (scaler->by_formulas) {
    hui_formula_tensor(scaler);
    return;
  }
  if (scaler->steps == HU_STEPS_EXACT || scaler->steps == HU_STEPS_DIVIDE) {
    scaler->tensor = hui_step32_some(hui_quotient(0, a, both));
    return;
  }
  if (scaler->steps == HU_STEPS_RECIPROCAL) {
    scaler->tensor = hui_step32_some(hui_quotient(0, a, both));
    scaler->tensor_code = hui_step32_some(hui_quotient(0, one, scaler->tensor));
    return;
  }
  scaler->tensor_code = hui_step32_some(hui_quotient(0, both, a));
  scaler->tensor = hui_step32_some(hui_quotient(0, one, scaler->tensor_code));
}

/* ---- the scale of a block ---- */

/* Returns the exponent of the scale for amax a > 0 under a rule of powers of two. */
HU_FN int32_t hui_scale_exponent(const hu_scaler *scaler, hu_num a) {
  uint64_t digits = hui_digits_of(a);
  int32_t e = hui_exponent(a) - scaler->emax;
  if (scaler->rule == HU_SCALE_CEIL) e += digits << 1 != 0;
  if (scaler->rule == HU_SCALE_EVEN) e += digits + ((uint64_t)1 << (62 - scaler->element.m)) < digits;
  if (scaler->rule == HU_SCALE_RCEIL) e += digits > hui_digits_of(scaler->top);
  if (e < scaler->low) return scaler->low;
  return e > scaler->high ? scaler->high : e;
}

/* The same in binary32 patterns: what takes that of A into the next binade where the rule goes up (docs/scaled.md
 * section 3). m <= 22. */
HU_FN uint32_t hui_scale_carry(const hu_scaler *scaler) {
  if (scaler->rule == HU_SCALE_CEIL) return 0x7FFFFF;
  if (scaler->rule == HU_SCALE_EVEN) return (uint32_t)1 << (22 - scaler->element.m);
  if (scaler->rule == HU_SCALE_RCEIL) return 0x7FFFFF - (hui_pack32(scaler->top) & 0x7FFFFF);
  return 0;
}

/* Returns what rule ratio rounds into the scale format, for amax a > 0. */
HU_OUTLINE hu_num hui_scale_ratio(const hu_scaler *scaler, hu_num a) {
  hu_num q;
  if (scaler->steps == HU_STEPS_EXACT)
    return hui_quotient(0, a, scaler->two ? hui_product(0, scaler->top, scaler->tensor) : scaler->top);
  if (scaler->steps == HU_STEPS_ENCODE) {
    q = hui_step32(hui_quotient(0, hui_power_of_two(0), scaler->top));
    q = hui_step32(hui_product(0, scaler->tensor_code, q));
    return q.kind == HU_KIND_ZERO ? q : hui_step32(hui_product(0, a, q));
  }
  q = hui_step32(hui_quotient(0, a, scaler->top));
  if (!scaler->two || q.kind == HU_KIND_ZERO) return q;
  if (scaler->steps == HU_STEPS_MULTIPLY) return hui_step32(hui_product(0, q, scaler->tensor_code));
  return hui_step32(hui_quotient(0, q, scaler->tensor));
}

/* Returns s t, as decoding uses it: exact, or a binary32 number. */
HU_FN hu_num hui_scale_back(const hu_scaler *scaler, hu_num scale) {
  uint32_t ignored = 0;
  hu_num x = hui_exact_mul(scale, scaler->tensor, &ignored);
  return scaler->steps == HU_STEPS_EXACT ? x : hui_step32(x);
}

HU_FN uint32_t hui_scale_code(const hu_scaler *scaler, hu_num x) {
  uint32_t ignored;
  return hui_round(&scaler->scale, x, 0, &ignored);
}

/* Returns the code of the scale of a block of zeros. */
HU_FN uint32_t hui_blank_code(const hu_scaler *scaler) {
  if (scaler->blank == HU_BLANK_ZERO) return 0;
  return hui_scale_code(scaler, hui_power_of_two(scaler->blank == HU_BLANK_ONE ? 0 : scaler->low));
}

/* What a value's P is multiplied by under a formula v that is a factor. */
HU_FN hu_num hui_formula_back(const hu_scaler *scaler, hu_num scale, uint32_t code) {
  uint32_t value[HU_FORMULA_NAMES] = {0};
  if (scaler->tensor.kind == HU_KIND_NAN || scaler->tensor.kind == HU_KIND_INF || scale.kind == HU_KIND_INF)
    return hui_scale_back(scaler, scale);
  hui_formula_names(scaler, 0, code, value);
  hu_num z = hui_unpack32(hui_formula_factor(scaler, HU_OF_VALUE, value));
  z.sign = scale.sign ^ scaler->tensor.sign;
  return z;
}

/* All that elements need, once the scale's code is there. */
HU_FN void hui_shared_finish(const hu_scaler *scaler, hu_shared *shared) {
  hu_num scale = hui_unpack(&scaler->scale, shared->code);
  shared->integers = scaler->two_types && scale.sign && scale.kind != HU_KIND_NAN;
  if (scaler->two_types) scale.sign = 0;
  if (scaler->by_formulas) {
    int32_t factor = hui_formula_is(scaler, HU_OF_VALUE) && !scaler->own_v && scale.kind != HU_KIND_NAN;
    shared->back = factor ? hui_formula_back(scaler, scale, shared->code) : hui_scale_back(scaler, scale);
    shared->by = hui_power_of_two(0);
    shared->multiply = scaler->steps >= HU_STEPS_MULTIPLY;
    shared->under = scale.kind == HU_KIND_NAN ? HU_UNDER_NAN : HU_UNDER_SCALE;
    return;
  }
  shared->back = hui_scale_back(scaler, scale);
  shared->by = shared->back;
  shared->multiply = scaler->steps >= HU_STEPS_MULTIPLY;
  shared->under = scale.kind == HU_KIND_NAN           ? HU_UNDER_NAN
                  : shared->back.kind == HU_KIND_ZERO ? HU_UNDER_ZERO
                                                      : HU_UNDER_SCALE;
  if (shared->multiply && shared->under == HU_UNDER_SCALE &&
      shared->back.kind == HU_KIND_FINITE) { /* read scales may be infinite */
    shared->by = hui_step32(hui_quotient(0, hui_power_of_two(0), shared->back));
  }
}

/* Returns the factor of steps reciprocal with two levels, (1 / t) / s. */
HU_OUTLINE hu_num hui_shared_reciprocal(const hu_scaler *scaler, uint32_t code) {
  hu_num scale = hui_unpack(&scaler->scale, code);
  scale.sig += scale.sig == 0; /* of a scale that is 0 or no number no element takes the factor */
  return hui_step32(hui_quotient(0, scaler->tensor_code, scale));
}

/* Returns the scale of a block with amax a, by the formulas, and the factor of its elements. */
HU_OUTLINE hu_shared hui_shared_by_formulas(const hu_scaler *scaler, uint32_t a, uint32_t nan) {
  hu_shared shared;
  uint32_t value[HU_FORMULA_NAMES] = {0};
  memset(&shared, 0, sizeof shared);
  hui_formula_names(scaler, a, 0, value);
  if (nan)
    shared.code = scaler->scale.nan_code;
  else if (a == 0 && scaler->blank != HU_BLANK_FORMULA)
    shared.code = hui_blank_code(scaler);
  else
    shared.code = hui_scale_code(scaler, hui_unpack32(hui_formula_of(scaler, HU_OF_SCALE, value)));
  hui_shared_finish(scaler, &shared);
  shared.amax = a;
  if (shared.under == HU_UNDER_NAN || scaler->own_x) return shared;
  hui_formula_names(scaler, a, shared.code, value);
  shared.by = hui_unpack32(hui_formula_factor(scaler, HU_OF_ELEMENT, value));
  return shared;
}

/* Returns the scale 2^e. */
HU_FN hu_shared hui_shared_power(const hu_scaler *scaler, int32_t e) {
  hu_shared shared;
  memset(&shared, 0, sizeof shared);
  shared.code = hui_scale_code(scaler, hui_power_of_two(e));
  hui_shared_finish(scaler, &shared);
  return shared;
}

/* The scale of a block with amax a, a pattern; nan: of one with infinities or NaN under special=nan. */
HU_OUTLINE hu_shared hui_shared_of(const hu_scaler *scaler, uint32_t a, uint32_t nan) {
  hu_shared shared;
  memset(&shared, 0, sizeof shared);
  if (a < scaler->amin) a = scaler->amin;
  if (scaler->by_formulas) return hui_shared_by_formulas(scaler, a, nan);
  hu_num amax = hui_unpack32(a);
  hu_num by = hui_power_of_two(0); /* where it is not 1 / (s t) */
  if (nan) {
    shared.code = scaler->scale.nan_code;
  } else if (a == 0) {
    shared.code = hui_blank_code(scaler);
  } else if (scaler->rule != HU_SCALE_RATIO) {
    return hui_shared_power(scaler, hui_scale_exponent(scaler, amax));
  } else if (scaler->steps == HU_STEPS_ENCODE && !scaler->two) {
    by = hui_step32_some(hui_quotient(0, scaler->top, amax));
    shared.code = hui_scale_code(scaler, hui_step32_some(hui_quotient(0, hui_power_of_two(0), by)));
  } else {
    shared.code = hui_scale_code(scaler, hui_scale_ratio(scaler, amax));
    if (scaler->steps == HU_STEPS_RECIPROCAL && scaler->two) by = hui_shared_reciprocal(scaler, shared.code);
  }
  hui_shared_finish(scaler, &shared);
  if (scaler->steps == (scaler->two ? HU_STEPS_RECIPROCAL : HU_STEPS_ENCODE) && a && shared.under == HU_UNDER_SCALE)
    shared.by = by;
  return shared;
}

/* ---- elements ---- */

/* Convert between the codes of a fixed-point format, sign and magnitude, and two's complement of the same width. */
HU_FN uint32_t hui_twos_of(const hu_spec *spec, uint32_t code) {
  return code & spec->sign_mask ? (spec->sign_mask << 1) - (code & spec->mag_mask) : code;
}

/* Returns the number of an element's code; hui_integer_number does it for integers. */
HU_FN hu_num hui_scaled_number(const hu_scaler *scaler, uint32_t code) {
  const hu_spec *spec = &scaler->element;
  if (scaler->coding != HU_CODING_TWOS || !(code & spec->sign_mask)) return hui_unpack(spec, code);
  return hui_num_finite(1, spec->sign_mask - (code & spec->mag_mask), spec->emin - spec->m);
}

HU_FN hu_num hui_integer_number(const hu_scaler *scaler, uint32_t code) {
  const hu_spec *spec = &scaler->integer;
  uint32_t size = code & spec->mag_mask, sign = (code & spec->sign_mask) != 0;
  if (sign && scaler->twos) size = spec->sign_mask - size;
  return size ? hui_num_finite(sign, size, 0) : hui_num_special(HU_KIND_ZERO, 0);
}

/* Returns the code of an integer; y: what the steps made of an element. */
HU_OUTLINE uint32_t hui_integer_code(const hu_scaler *scaler, hu_num y, uint32_t random, uint32_t *events) {
  if (y.kind == HU_KIND_FINITE) y = hui_step32(hui_product(y.sign, y, scaler->to_integer));
  uint32_t code = hui_round(&scaler->integer, y, random, events);
  return scaler->twos ? hui_twos_of(&scaler->integer, code) : code;
}

/* An element whose block has no scale to divide by. */
HU_FN uint32_t hui_scaled_lost(const hu_scaler *scaler, const hu_shared *shared, hu_num x, uint32_t random,
                               uint32_t *events) {
  if (shared->under == HU_UNDER_NAN) {
    *events = x.kind == HU_KIND_NAN   ? HU_EVENT_NAN_IN
              : x.kind == HU_KIND_INF ? HU_EVENT_INF_IN | HU_EVENT_INVALID
                                      : HU_EVENT_INEXACT;
    return x.kind == HU_KIND_NAN && scaler->element.has_nan ? scaler->element.nan_code : 0;
  }
  uint32_t lost = x.kind == HU_KIND_FINITE ? HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO : 0;
  if (lost) x = hui_num_special(HU_KIND_ZERO, x.sign);
  uint32_t code = hui_round(&scaler->element, x, random, events);
  *events |= lost;
  return code;
}

/* The number that formulas make of an element, which is not 0. */
HU_OUTLINE hu_num hui_formula_element(const hu_scaler *scaler, const hu_shared *shared, hu_num x) {
  uint32_t value[HU_FORMULA_NAMES] = {0}, sign = x.sign;
  x.sign = 0;
  uint32_t pattern = hui_pack32(x), z;
  if (scaler->own_x) {
    hui_formula_names(scaler, shared->amax, shared->code, value);
    value[HU_FORMULA_X] = pattern;
    z = hui_formula_of(scaler, HU_OF_ELEMENT, value);
  } else {
    z = hui_formula_two(shared->multiply ? HU_FORMULA_TIMES : HU_FORMULA_OVER, pattern, hui_pack32(shared->by));
  }
  return hui_unpack32(z | sign << 31);
}

/* Returns a code of zero with the sign that `minus` gives it; x: the element's pattern. */
HU_FN uint32_t hui_zero_signed(const hu_scaler *scaler, uint32_t code, uint32_t x) {
  if (code & scaler->element.mag_mask || !hui_has_zero(&scaler->element)) return code;
  if (scaler->minus == HU_MINUS_ZERO_ALL) return code | scaler->element.sign_mask;
  return scaler->minus == HU_MINUS_ZERO_NONE || x == 0x80000000 ? 0 : code;
}

/* The code, as it is stored, of the element with pattern pattern. */
HU_OUTLINE uint32_t hui_scaled_element(const hu_scaler *scaler, const hu_shared *shared, uint32_t pattern,
                                       uint32_t random, uint32_t *events) {
  hu_num x = hui_unpack32(pattern);
  uint32_t more = 0;
  if (x.kind == HU_KIND_INF && scaler->special == HU_SPECIAL_SATURATE) {
    x = hui_unpack32((pattern & 0x80000000) | HU_LARGEST32);
    more = HU_EVENT_INF_IN;
  }
  uint32_t code;
  if (shared->under != HU_UNDER_SCALE) {
    code = hui_scaled_lost(scaler, shared, x, random, events);
    if (shared->integers) code = 0;
  } else {
    if (x.kind == HU_KIND_FINITE && scaler->by_formulas) {
      x = hui_formula_element(scaler, shared, x);
    } else if (x.kind == HU_KIND_FINITE) {
      x = shared->multiply ? hui_product(x.sign, x, shared->by) : hui_quotient(x.sign, x, shared->by);
      if (scaler->steps != HU_STEPS_EXACT) x = hui_step32(x);
    }
    code =
        shared->integers ? hui_integer_code(scaler, x, random, events) : hui_round(&scaler->element, x, random, events);
  }
  *events |= more;
  if (scaler->minus && shared->under != HU_UNDER_NAN && !shared->integers)
    code = hui_zero_signed(scaler, code, pattern);
  return scaler->coding == HU_CODING_TWOS ? hui_twos_of(&scaler->element, code) : code;
}

/* The value of a number of a code by the formula v, which is not a factor. */
HU_OUTLINE uint32_t hui_formula_value(const hu_scaler *scaler, const hu_shared *shared, hu_num p) {
  uint32_t value[HU_FORMULA_NAMES] = {0},
           sign = p.sign ^ hui_unpack(&scaler->scale, shared->code).sign ^ scaler->tensor.sign;
  p.sign = 0;
  hui_formula_names(scaler, 0, shared->code, value);
  value[HU_FORMULA_P] = hui_pack32(p);
  return hui_formula_of(scaler, HU_OF_VALUE, value) | sign << 31;
}

/* Returns the value, a pattern, of an element's code. */
HU_OUTLINE uint32_t hui_scaled_value(const hu_scaler *scaler, const hu_shared *shared, uint32_t code) {
  uint32_t ignored = 0;
  hu_num p = shared->integers ? hui_integer_number(scaler, code) : hui_scaled_number(scaler, code);
  if (shared->integers && p.kind == HU_KIND_FINITE)
    p = hui_unpack32(hui_pack32(hui_product(p.sign, p, scaler->of_integer)));
  if (scaler->own_v && p.kind == HU_KIND_FINITE && shared->back.kind <= HU_KIND_FINITE)
    return hui_formula_value(scaler, shared, p);
  return hui_pack32(hui_exact_mul(p, shared->back, &ignored));
}

#endif
