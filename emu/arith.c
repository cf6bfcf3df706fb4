/* SPDX-License-Identifier: MIT */
/* Arithmetic, one operation at a time: check, unpack, the exact result, one rounding. */
#include "halfulp/arith.h"

#include "emu/arith.h"

static int refused(hu_format f) { return hu_format_check(f, NULL) != HU_OK; }

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

static hu_num number(hu_format f, uint32_t code) {
  hu_mode rne = {0};
  hu_spec s = hu_spec_of(f, rne);
  return hu_unpack(&s, code);
}

static uint32_t two(int32_t op, hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b,
                    uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  if (refused(fz) || refused(fa) || refused(fb) || hu_mode_check(mode) != HU_OK) return misuse(events);
  hu_spec s = hu_spec_of(fz, mode);
  return hu_arith_one(&s, op, number(fa, a), number(fb, b), hu_num_special(HU_KIND_ZERO, 0), random, ev);
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
  if (refused(fz) || refused(fx) || hu_mode_check(mode) != HU_OK) return misuse(events);
  hu_spec s = hu_spec_of(fz, mode);
  hu_num none = hu_num_special(HU_KIND_ZERO, 0);
  return hu_arith_one(&s, HU_OP_SQRT, number(fx, x), none, none, random, ev);
}

uint32_t hu_fma(hu_format fz, hu_mode mode, hu_format fa, uint32_t a, hu_format fb, uint32_t b, hu_format fc,
                uint32_t c, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  if (refused(fz) || refused(fa) || refused(fb) || refused(fc) || hu_mode_check(mode) != HU_OK) return misuse(events);
  hu_spec s = hu_spec_of(fz, mode);
  return hu_arith_one(&s, HU_OP_FMA, number(fa, a), number(fb, b), number(fc, c), random, ev);
}

int hu_compare(hu_format fa, uint32_t a, hu_format fb, uint32_t b) {
  if (refused(fa) || refused(fb)) return HU_UNORDERED;
  hu_num x = number(fa, a), y = number(fb, b);
  if (x.kind == HU_KIND_NAN || y.kind == HU_KIND_NAN) return HU_UNORDERED;
  return hu_compare_numbers(x, y);
}

uint32_t hu_round_to_integral(hu_format f, hu_mode mode, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  if (refused(f) || hu_mode_check(mode) != HU_OK) return misuse(events);
  hu_spec s = hu_spec_of(f, mode);
  return hu_round_to_integral_code(&s, x, random, ev);
}

static uint32_t next(hu_format f, uint32_t x, uint32_t down) {
  hu_mode rne = {0};
  if (refused(f)) return 0;
  hu_spec s = hu_spec_of(f, rne);
  return hu_next_code(&s, x, down);
}

uint32_t hu_next_up(hu_format f, uint32_t x) { return next(f, x, 0); }
uint32_t hu_next_down(hu_format f, uint32_t x) { return next(f, x, 1); }

int hu_class(hu_format f, uint32_t x) {
  hu_mode rne = {0};
  if (refused(f)) return HU_CLASS_NAN;
  hu_spec s = hu_spec_of(f, rne);
  return (int)hu_class_of(&s, x);
}

int hu_is_signalling(hu_format f, uint32_t x) {
  hu_mode rne = {0};
  if (refused(f)) return 0;
  hu_spec s = hu_spec_of(f, rne);
  return (int)hu_is_signalling_code(&s, x);
}
