/* SPDX-License-Identifier: MIT */
/* See exact.h. The cases are those of the draft's functions on closed extended reals. */
#include "emu/p3109/exact.h"

#include "emu/core/arith.h"
#include "emu/core/exact_digits.h"
#include "emu/core/function.h"
#include "emu/core/modes.h"
#include "emu/p3109/functions.h"

static hu_num not_a_number(void) { return hui_num_special(HU_KIND_NAN, 0); }

static int is_nan(hu_num x) { return x.kind == HU_KIND_NAN; }

/* The draft's zero has no sign. */
static hu_num unsigned_zero(hu_num x) {
  if (x.kind == HU_KIND_ZERO) x.sign = 0;
  return x;
}

hu_num hui_p3109_value_of(const hu_spec *spec, uint32_t code) { return unsigned_zero(hui_unpack(spec, code)); }

hu_num hui_p3109_value(hu_format format, uint32_t code) {
  const hu_mode rne = {0};
  hu_spec spec = hui_spec_of(format, rne);
  return hui_p3109_value_of(&spec, code);
}

/* Of neither of which is NaN. */
static int is_less(hu_num a, hu_num b) { return hui_compare_numbers(a, b) < 0; }

/* ---- sums ---- */

/* x + y + z in integers as wide as they require: values of codes, and products of two, lie from 2^-2148 to 2^2048. */
static hu_num sum_of_three(const hu_num *x) {
  enum { WORDS = HU_SUM_WORDS, LOW = -2200 };
  uint64_t word[WORDS] = {0};
  uint32_t terms = 0;
  for (int i = 0; i < 3; i++) terms |= hui_digits_add_term(word, WORDS, LOW, hui_long_of(x[i]));
  return hui_digits_value(word, WORDS, LOW, terms);
}

/* Computes x s and y t, then their sum, difference or product. */
static hu_num scaled(int op, const hu_num *x) {
  uint32_t raised = 0;
  hu_num a = hui_exact_mul(x[0], x[1], &raised), b = hui_exact_mul(x[2], x[3], &raised);
  if (op == HU_P3109_SCALED_MULTIPLY) return hui_exact_mul(a, b, &raised);
  if (op == HU_P3109_SCALED_SUBTRACT) b = hui_negated(b);
  return hui_exact_add(a, b, 0, &raised);
}

/* ---- the smaller and the larger ---- */

enum { BY_MAGNITUDE = 1, NUMBERS = 2, FINITE = 4 };

/* Is x taken, and not y? Neither is NaN. Of equal magnitudes the smaller counts as the smaller. */
static int is_first(hu_num x, hu_num y, int larger, int rule) {
  int32_t c = 0;
  if (rule & BY_MAGNITUDE) {
    hu_num a = x, b = y;
    a.sign = b.sign = 0;
    c = hui_compare_numbers(a, b);
  }
  if (c == 0) c = hui_compare_numbers(x, y);
  return larger ? c > 0 : c < 0;
}

static hu_num extreme(hu_num x, hu_num y, int larger, int rule) {
  if (is_nan(x) || is_nan(y)) {
    if (rule & (NUMBERS | FINITE)) return is_nan(x) ? y : x;
    return not_a_number();
  }
  int x_infinite = x.kind == HU_KIND_INF, y_infinite = y.kind == HU_KIND_INF;
  if (rule & FINITE && x_infinite != y_infinite) return x_infinite ? y : x;
  return is_first(x, y, larger, rule) ? x : y;
}

static hu_num clamp(hu_num x, hu_num low, hu_num high) {
  if (is_nan(x) || is_nan(low) || is_nan(high) || is_less(high, low)) return not_a_number();
  if (is_less(x, low)) return low;
  return is_less(high, x) ? high : x;
}

/* ---- all of them ---- */

static hu_num copy_sign(hu_num x, hu_num y) {
  if (is_nan(x) || is_nan(y)) return not_a_number();
  x.sign = y.sign;
  return x;
}

static hu_num absolute(hu_num x) {
  x.sign = 0;
  return x;
}

/* Of one operand: what emu/core/function.h has, with NaN in place of the poles of 1/x and 1/sqrt(x), or functions.h. */
static hu_num function(int op, hu_num x) {
  static const struct {
    int op;
    int32_t core;
  } known[] = {{HU_P3109_EXP, HU_OP_EXP},          {HU_P3109_EXP2, HU_OP_EXP2},  {HU_P3109_EXP_MINUS_ONE, HU_OP_EXPM1},
               {HU_P3109_LOG, HU_OP_LOG},          {HU_P3109_LOG2, HU_OP_LOG2},  {HU_P3109_LOG_ONE_PLUS, HU_OP_LOG1P},
               {HU_P3109_SIN, HU_OP_SIN},          {HU_P3109_COS, HU_OP_COS},    {HU_P3109_TANH, HU_OP_TANH},
               {HU_P3109_RECIP, HU_OP_RECIPROCAL}, {HU_P3109_RSQRT, HU_OP_RSQRT}};
  uint32_t raised = 0;
  if ((op == HU_P3109_RECIP || op == HU_P3109_RSQRT) && x.kind == HU_KIND_ZERO) return not_a_number();
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].op == op) return hui_function_of(known[i].core, x, x, &raised);
  return hui_p3109_function(op, x, x);
}

static hu_num computed(int op, const hu_num *x) {
  uint32_t raised = 0;
  switch (op) {
    case HU_P3109_CONVERT: return x[0];
    case HU_P3109_ABS: return absolute(x[0]);
    case HU_P3109_NEGATE: return hui_negated(x[0]);
    case HU_P3109_COPY_SIGN: return copy_sign(x[0], x[1]);
    case HU_P3109_ADD: return hui_exact_add(x[0], x[1], 0, &raised);
    case HU_P3109_SUBTRACT: return hui_exact_add(x[0], hui_negated(x[1]), 0, &raised);
    case HU_P3109_MULTIPLY: return hui_exact_mul(x[0], x[1], &raised);
    case HU_P3109_DIVIDE:
      if (x[1].kind == HU_KIND_ZERO) return not_a_number();
      return hui_exact_div(x[0], x[1], &raised);
    case HU_P3109_FMA: return hui_exact_fma(x[0], x[1], x[2], 0, &raised);
    case HU_P3109_FAA: return sum_of_three(x);
    case HU_P3109_SQRT: return hui_exact_sqrt(x[0], &raised);
    case HU_P3109_HYPOT:
    case HU_P3109_ARC_TAN2:
    case HU_P3109_ARC_TAN2_PI: return hui_p3109_function(op, x[0], x[1]);
    case HU_P3109_SCALED_ADD:
    case HU_P3109_SCALED_SUBTRACT:
    case HU_P3109_SCALED_MULTIPLY: return scaled(op, x);
    case HU_P3109_MINIMUM: return extreme(x[0], x[1], 0, 0);
    case HU_P3109_MAXIMUM: return extreme(x[0], x[1], 1, 0);
    case HU_P3109_MINIMUM_NUMBER: return extreme(x[0], x[1], 0, NUMBERS);
    case HU_P3109_MAXIMUM_NUMBER: return extreme(x[0], x[1], 1, NUMBERS);
    case HU_P3109_MINIMUM_MAGNITUDE: return extreme(x[0], x[1], 0, BY_MAGNITUDE);
    case HU_P3109_MAXIMUM_MAGNITUDE: return extreme(x[0], x[1], 1, BY_MAGNITUDE);
    case HU_P3109_MINIMUM_MAGNITUDE_NUMBER: return extreme(x[0], x[1], 0, BY_MAGNITUDE | NUMBERS);
    case HU_P3109_MAXIMUM_MAGNITUDE_NUMBER: return extreme(x[0], x[1], 1, BY_MAGNITUDE | NUMBERS);
    case HU_P3109_MINIMUM_FINITE: return extreme(x[0], x[1], 0, FINITE);
    case HU_P3109_MAXIMUM_FINITE: return extreme(x[0], x[1], 1, FINITE);
    case HU_P3109_CLAMP: return clamp(x[0], x[1], x[2]);
    default: return function(op, x[0]);
  }
}

hu_num hui_p3109_exact(int op, const hu_num *x) { return unsigned_zero(computed(op, x)); }

hu_num hui_p3109_exact_by(uint8_t rules, int op, const hu_num *x) {
  hu_num z = hui_p3109_exact(op, x);
  if (rules != HU_P3109_D1 || x[0].kind != HU_KIND_FINITE) return z;
  if (op == HU_P3109_TAN_PI && is_nan(z))
    return hui_num_special(HU_KIND_INF, hui_p3109_function(HU_P3109_SIN_PI, x[0], x[0]).sign);
  if ((op == HU_P3109_ARC_TAN2 || op == HU_P3109_ARC_TAN2_PI) && x[1].kind == HU_KIND_INF && x[1].sign)
    z.sign = x[0].sign;
  return z;
}

/* ---- projection ---- */

/* A format of the draft leaves its numbers as the rules say; any other format with NaN and without infinities does,
 * too. */
static hu_spec spec_by(hu_format format, hu_p3109_projection projection) {
  if (format.inf == HU_INF_NONE && format.nan != HU_NAN_NONE)
    format.overflow = projection.rules == HU_P3109_V4_0 ? HU_OVERFLOW_MAX : HU_OVERFLOW_NAN;
  hu_spec spec = hui_spec_of(format, projection.mode);
  /* ToOdd stops at an odd largest number before D1, and at none since. */
  spec.odd_stops = projection.rules != HU_P3109_D1 && spec.has_inf && spec.max_code & 1;
  return spec;
}

hu_p3109_target hui_p3109_target_of(hu_format format, hu_p3109_projection projection) {
  if (projection.mode.saturate == HU_SAT_DEFAULT) projection.mode.saturate = HU_SAT_NONE;
  hu_p3109_target z = {spec_by(format, projection), projection.rules};
  return z;
}

uint32_t hui_p3109_projected(const hu_p3109_target *z, hu_num x, uint32_t random) {
  const hu_spec *spec = &z->spec;
  uint32_t events, code = hui_round(spec, x, random, &events);
  /* What a negative number rounds to is 0 without a sign. */
  return spec->negzero && code == spec->sign_mask ? 0 : code;
}
