/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/arith.h on one value: each checks and unpacks its operands, forms the exact result and rounds it
 * once. */
#include "halfulp/arith.h"

#include "emu/core/arith.h"
#include "emu/format/unfold.h"

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

static uint32_t two(int32_t op, hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                    uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec, sa, sb;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&sa, fa) || hui_source_refused(&sb, fb))
    return misuse(events);
  return hui_arith_one(&spec, op, hui_unpack(&sa, a), hui_unpack(&sb, b), hui_num_special(HU_KIND_ZERO, 0), random, ev);
}

uint32_t hu_add(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                uint32_t *events) {
  return two(HU_OP_ADD, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_sub(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                uint32_t *events) {
  return two(HU_OP_SUB, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_mul(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                uint32_t *events) {
  return two(HU_OP_MUL, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_div(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                uint32_t *events) {
  return two(HU_OP_DIV, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_minimum(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                    uint32_t *events) {
  return two(HU_OP_MINIMUM, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_maximum(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, uint32_t random,
                    uint32_t *events) {
  return two(HU_OP_MAXIMUM, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_minimum_number(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  return two(HU_OP_MINIMUM_NUMBER, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_maximum_number(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                           uint32_t random, uint32_t *events) {
  return two(HU_OP_MAXIMUM_NUMBER, fz, mode, fa, a, fb, b, random, events);
}

uint32_t hu_sqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec, source;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&source, fx)) return misuse(events);
  hu_num none = hui_num_special(HU_KIND_ZERO, 0);
  return hui_arith_one(&spec, HU_OP_SQRT, hui_unpack(&source, x), none, none, random, ev);
}

uint32_t hu_fma(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, hu_format fc,
                uint32_t c, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec, sa, sb, sc;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&sa, fa) || hui_source_refused(&sb, fb) ||
      hui_source_refused(&sc, fc))
    return misuse(events);
  return hui_arith_one(&spec, HU_OP_FMA, hui_unpack(&sa, a), hui_unpack(&sb, b), hui_unpack(&sc, c), random, ev);
}

int hu_compare(hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  hu_spec sa, sb;
  if (hui_source_refused(&sa, fa) || hui_source_refused(&sb, fb)) return HU_UNORDERED;
  hu_num x = hui_unpack(&sa, a), y = hui_unpack(&sb, b);
  if (x.kind == HU_KIND_NAN || y.kind == HU_KIND_NAN) return HU_UNORDERED;
  return hui_compare_numbers(x, y);
}

uint32_t hu_round_to_integral(hu_format format, hu_mode mode, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return misuse(events);
  return hui_round_to_integral_code(&spec, x, random, ev);
}

static uint32_t next(hu_format format, uint32_t x, uint32_t down) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return 0;
  return hui_next_code(&spec, x, down);
}

uint32_t hu_next_up(hu_format format, uint32_t x) { return next(format, x, 0); }
uint32_t hu_next_down(hu_format format, uint32_t x) { return next(format, x, 1); }

int hu_class(hu_format format, uint32_t x) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return HU_CLASS_NAN;
  return (int)hui_class_of(&spec, x);
}

int hu_is_signalling(hu_format format, uint32_t x) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return 0;
  return (int)hui_is_signalling_code(&spec, x);
}

uint32_t hu_remainder(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y, uint32_t random,
                      uint32_t *events) {
  uint32_t ignored, raised = 0, *ev = events ? events : &ignored;
  hu_spec spec, sx, sy;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&sx, fx) || hui_source_refused(&sy, fy))
    return misuse(events);
  hu_num a = hui_unpack(&sx, x), b = hui_unpack(&sy, y), z = hui_exact_remainder(a, b, &raised);
  return hui_arith_round(&spec, z, raised, hui_operand_events(a) | hui_operand_events(b), random, ev);
}

/* ---- integers ---- */

/* Returns the result of an invalid conversion: below, above, NaN. */
static uint64_t invalid_integer(hu_integer integer, hu_num x) {
  uint64_t low = (uint64_t)0 - hui_integer_limit(integer.width, integer.is_signed, 1),
           high = hui_integer_limit(integer.width, integer.is_signed, 0);
  if (integer.invalid == HU_INTEGER_X86) return integer.is_signed ? low : high;
  if (x.kind == HU_KIND_NAN) return integer.invalid == HU_INTEGER_ARM ? 0 : high;
  return x.sign ? low : high;
}

uint64_t hu_to_integer(hu_integer integer, hu_mode mode, hu_format format, uint32_t x, uint32_t random,
                       uint32_t *events) {
  uint32_t ignored, inexact, fits, *ev = events ? events : &ignored;
  if (integer.width < 1 || integer.width > 64 || integer.is_signed > 1 || integer.invalid > HU_INTEGER_X86 ||
      integer.exact > 1)
    return misuse(events);
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return misuse(events);
  hu_num from = hui_unpack(&spec, x), i = hui_exact_integer(&spec, from, random, &inexact);
  uint64_t z = hui_integer_of(i, integer.width, integer.is_signed, &fits);
  *ev = hui_operand_events(from);
  if (!fits) {
    *ev |= HU_EVENT_INVALID;
    return invalid_integer(integer, from);
  }
  if (inexact && integer.exact) *ev |= HU_EVENT_INEXACT;
  if (inexact && z == 0) *ev |= HU_EVENT_TO_ZERO;
  return z;
}

static uint32_t from_integer(hu_format fz, hu_mode mode, uint32_t sign, uint64_t x, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, fz, mode)) return misuse(events);
  return hui_round(&spec, hui_num_finite(sign, x, 0), random, events ? events : &ignored);
}

uint32_t hu_from_signed(hu_format fz, hu_mode mode, int64_t x, uint32_t random, uint32_t *events) {
  uint64_t pattern = (uint64_t)x;
  return from_integer(fz, mode, x < 0, x < 0 ? 0 - pattern : pattern, random, events);
}

uint32_t hu_from_unsigned(hu_format fz, hu_mode mode, uint64_t x, uint32_t random, uint32_t *events) {
  return from_integer(fz, mode, 0, x, random, events);
}
