/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/arith.h on one value: operations by hu_apply_code, and conversions from and to integers. */
#include "halfulp/arith.h"

#include "emu/core/arith.h"
#include "emu/format/unfold.h"
#include "halfulp/operation.h"

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

/* Computes an operation of two codes. */
static uint32_t two(int op, hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                    uint32_t random, uint32_t *events) {
  hu_code x[2] = {{fa, a}, {fb, b}};
  return hu_apply_code(op, fz, mode, x, random, events);
}

/* Computes an operation of one code that rounds nothing: a code of the same format, or a class. */
static uint32_t exact(int op, hu_format format, uint32_t code) {
  hu_mode rne = {0};
  hu_code x = {format, code};
  return hu_apply_code(op, format, rne, &x, 0, NULL);
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

uint32_t hu_remainder(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, hu_format fy, uint32_t y, uint32_t random,
                      uint32_t *events) {
  return two(HU_OP_REMAINDER, fz, mode, fx, x, fy, y, random, events);
}

uint32_t hu_sqrt(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  hu_code operand = {fx, x};
  return hu_apply_code(HU_OP_SQRT, fz, mode, &operand, random, events);
}

uint32_t hu_fma(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, hu_format fc,
                uint32_t c, uint32_t random, uint32_t *events) {
  hu_code x[3] = {{fa, a}, {fb, b}, {fc, c}};
  return hu_apply_code(HU_OP_FMA, fz, mode, x, random, events);
}

uint32_t hu_round_to_integral(hu_format format, hu_mode mode, uint32_t x, uint32_t random, uint32_t *events) {
  hu_code operand = {format, x};
  return hu_apply_code(HU_OP_INTEGRAL, format, mode, &operand, random, events);
}

int hu_compare(hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  hu_mode rne = {0};
  return (int)two(HU_OP_COMPARE, fa, rne, fa, a, fb, b, 0, NULL);
}

uint32_t hu_next_up(hu_format format, uint32_t x) { return exact(HU_OP_NEXT_UP, format, x); }
uint32_t hu_next_down(hu_format format, uint32_t x) { return exact(HU_OP_NEXT_DOWN, format, x); }
int hu_class(hu_format format, uint32_t x) { return (int)exact(HU_OP_CLASS, format, x); }

int hu_is_signalling(hu_format format, uint32_t x) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return 0;
  return (int)hui_is_signalling_code(&spec, x);
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
