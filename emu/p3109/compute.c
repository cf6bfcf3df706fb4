/* SPDX-License-Identifier: MIT */
/* hu_p3109_compute: operands out of their codes, the exact result, one projection; neighbours and predicates. */
#include "emu/core/arith.h"
#include "emu/core/bits.h"
#include "emu/p3109/exact.h"
#include "halfulp/arith.h"

hu_status hu_p3109_projection_check(hu_p3109_projection projection) {
  return projection.rules > HU_P3109_V4_0 ? HU_E_MODE : hu_mode_check(projection.mode);
}

/* ---- neighbours ---- */

/* hu_next_up and hu_next_down give the operand itself where there is no neighbour. */
static uint32_t neighbour(hu_format format, uint32_t code, int below) {
  const hu_p3109_projection plain = {{0}, HU_P3109_D1};
  hu_p3109_target z = hui_p3109_target_of(format, plain);
  hu_num x = hui_p3109_value_of(&z.spec, code);
  uint32_t here = hui_p3109_projected(&z, x, 0), next = below ? hu_next_down(format, here) : hu_next_up(format, here);
  if (x.kind == HU_KIND_NAN || next == here) return hui_p3109_projected(&z, hui_num_special(HU_KIND_NAN, 0), 0);
  return z.spec.negzero && next == z.spec.sign_mask ? 0 : next;
}

/* ---- predicates ---- */

static uint32_t class_of(hu_format format, uint32_t code) {
  const hu_mode rne = {0};
  hu_spec spec = hui_spec_of(format, rne);
  hu_num x = hui_p3109_value(format, code);
  uint32_t normal = !hui_is_below_normal(&spec, code & spec.mag_mask);
  if (x.kind == HU_KIND_NAN) return HU_P3109_CLASS_NAN;
  if (x.kind == HU_KIND_ZERO) return HU_P3109_CLASS_ZERO;
  if (x.kind == HU_KIND_INF) return x.sign ? HU_P3109_CLASS_NEGATIVE_INFINITY : HU_P3109_CLASS_POSITIVE_INFINITY;
  if (x.sign) return normal ? HU_P3109_CLASS_NEGATIVE_NORMAL : HU_P3109_CLASS_NEGATIVE_SUBNORMAL;
  return normal ? HU_P3109_CLASS_POSITIVE_NORMAL : HU_P3109_CLASS_POSITIVE_SUBNORMAL;
}

static uint32_t is_one(hu_num x) {
  return x.kind == HU_KIND_FINITE && !x.sign && hui_exponent(x) == 0 && (x.sig & (x.sig - 1)) == 0;
}

static uint32_t classified(int op, hu_format format, uint32_t code) {
  uint32_t c = class_of(format, code);
  int infinite = c == HU_P3109_CLASS_NEGATIVE_INFINITY || c == HU_P3109_CLASS_POSITIVE_INFINITY;
  switch (op) {
    case HU_P3109_IS_ZERO: return c == HU_P3109_CLASS_ZERO;
    case HU_P3109_IS_ONE: return is_one(hui_p3109_value(format, code));
    case HU_P3109_IS_NAN: return c == HU_P3109_CLASS_NAN;
    case HU_P3109_IS_SIGN_MINUS: return c != HU_P3109_CLASS_NAN && c < HU_P3109_CLASS_ZERO;
    case HU_P3109_IS_FINITE: return c != HU_P3109_CLASS_NAN && !infinite;
    case HU_P3109_IS_INFINITE: return (uint32_t)infinite;
    case HU_P3109_IS_NORMAL: return c == HU_P3109_CLASS_NEGATIVE_NORMAL || c == HU_P3109_CLASS_POSITIVE_NORMAL;
    case HU_P3109_IS_SUBNORMAL: return c == HU_P3109_CLASS_NEGATIVE_SUBNORMAL || c == HU_P3109_CLASS_POSITIVE_SUBNORMAL;
    default: return c;
  }
}

static uint32_t compared(int op, hu_num x, hu_num y) {
  int x_nan = x.kind == HU_KIND_NAN, y_nan = y.kind == HU_KIND_NAN;
  if (op == HU_P3109_TOTAL_ORDER && (x_nan || y_nan)) return (uint32_t)x_nan;
  if (x_nan || y_nan) return 0;
  int32_t c = hui_compare_numbers(x, y);
  switch (op) {
    case HU_P3109_COMPARE_LESS: return c < 0;
    case HU_P3109_COMPARE_EQUAL: return c == 0;
    case HU_P3109_COMPARE_GREATER_EQUAL: return c >= 0;
    case HU_P3109_COMPARE_GREATER: return c > 0;
    default: return c <= 0; /* CompareLessEqual, TotalOrder */
  }
}

/* ---- the calls ---- */

uint32_t hu_p3109_compute(int op, hu_format fz, hu_p3109_projection projection, const hu_format *formats,
                          const uint32_t *x, uint32_t random) {
  hu_p3109_operation operation = hu_p3109_at(op);
  hu_num value[HU_P3109_OPERANDS_MAX];
  if (!operation.name || !formats || !x) return 0;
  for (unsigned i = 0; i < operation.operands; i++) {
    if (hu_format_check(formats[i], NULL) != HU_OK) return 0;
    value[i] = hui_p3109_value(formats[i], x[i]);
  }
  if (operation.gives == HU_P3109_NEIGHBOUR) return neighbour(formats[0], x[0], op == HU_P3109_NEXT_LESS_THAN);
  if (operation.gives == HU_P3109_WORD || (operation.operands == 1 && operation.gives == HU_P3109_TRUTH))
    return classified(op, formats[0], x[0]);
  if (operation.gives == HU_P3109_TRUTH) return compared(op, value[0], value[1]);
  if (hu_format_check(fz, NULL) != HU_OK || hu_p3109_projection_check(projection) != HU_OK) return 0;
  hu_p3109_target z = hui_p3109_target_of(fz, projection);
  return hui_p3109_projected(&z, hui_p3109_exact_by(projection.rules, op, value), random);
}

uint32_t hu_p3109_project(hu_format fz, hu_p3109_projection projection, double x, uint32_t random) {
  if (hu_format_check(fz, NULL) != HU_OK || hu_p3109_projection_check(projection) != HU_OK) return 0;
  hu_p3109_target z = hui_p3109_target_of(fz, projection);
  return hui_p3109_projected(&z, hui_unpack64(hui_bits_of_double(x)), random);
}
