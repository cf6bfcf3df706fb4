/* SPDX-License-Identifier: MIT */
/* The rounding of elements under a shared scale (emu/scaled/strip_lanes.c) against emu/core/scaled.h: functions that
 * return 0, whatever they are given. The scale is 2^power, or a binary32 number that products and quotients are made
 * with; of those nothing is supposed but that both sides get the same ones. */
#include "question.h"

#include "emu/scaled/strip.h"
#undef HU_OF_LEVEL
#define HU_OF_LEVEL(name) \
  not_a_table;            \
  static const hu_scaled_strips unread __attribute__((unused))
#include "emu/scaled/strip_lanes.c"

/* The element format under the mode, as hui_scaler_of makes it, and what strips make of it; taken: 0 if they refuse. */
typedef struct strip_question {
  int taken;
  hu_scaler s;
  hu_scaled_grid g;
} strip_question;

/* Two's complement only where hu_scaling_check admits it. */
static inline strip_question strip_question_of(ARGUMENTS, uint8_t twos) {
  strip_question q;
  hu_format f = format_of(m, e, b, axes);
  hu_mode mode = mode_of(policy, round, bits);
  (void)u, (void)random;
  q.taken = 0;
  if (hu_format_check(f, NULL) != HU_OK || !mode_is_valid(mode) || twos > 1) return q;
  if (twos && (f.e || !f.sign || f.negzero || f.inf || f.nan)) return q;
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  memset(&q.s, 0, sizeof q.s);
  q.s.element = hui_spec_of(f, mode);
  q.s.top = hui_unpack(&q.s.element, q.s.element.max_code);
  q.s.emax = hui_exponent(q.s.top);
  q.s.coding = twos ? HU_CODING_TWOS : HU_CODING_FORMAT;
  q.taken = round == PROOF_ROUND && hui_scaled_grid_of(&q.g, &q.s);
  return q;
}

/* One element through the loop. */
static inline uint32_t strip_of_one(const strip_question *q, int way, int to, uint32_t u, uint32_t by, uint32_t back,
                                    uint32_t random, hu_events *counts) {
  uint32_t z = 0;
  strip_arrays one;
  memset(&one, 0, sizeof one);
  one.x = &u;
  one.by = &by;
  one.back = &back;
  one.random = &random;
  one.z = &z;
  one.side = HU_SIDE_EACH;
  one.rows = 1;
  memset(counts, 0, sizeof *counts);
  strip_loop(&q->g, PROOF_ROUND, way, to, &one, 0, 1, counts);
  return z;
}

/* x 2^-power rounded by the core, and its value times 2^power. */
static inline int wrong_shift(ARGUMENTS, int16_t power, uint8_t twos, int to) {
  strip_question q = strip_question_of(GIVEN, twos);
  hu_events counts;
  uint32_t events;
  if (!q.taken || power < q.g.least || power > q.g.most || (u & 0x7FFFFFFF) >= q.g.highest) return 0;
  uint32_t z = strip_of_one(&q, HU_SHIFT, to, u, (uint32_t)power << 23, 0, random, &counts);
  hu_num x = hui_unpack32(u);
  x.exp -= x.kind == HU_KIND_FINITE ? power : 0;
  uint32_t code = hui_round(&q.s.element, x, bits ? random >> (32 - bits) : 0, &events);
  uint32_t wrong = wrong_events(&counts, events);
  if (to == HU_TO_VALUE) {
    hu_num value = hui_unpack(&q.s.element, code);
    value.exp += value.kind == HU_KIND_FINITE ? power : 0;
    if (z != hui_pack32(value)) wrong |= WRONG_VALUE;
  } else {
    if (twos) code = hui_twos_of(&q.s.element, code);
    if (z != code) wrong |= WRONG_CODE;
  }
  return (int)wrong;
}

/* more1: power; more2: two's complement. Codes have at most 16 bits. */
int strip_shift_codes(ARGUMENTS, int16_t power, uint8_t twos) { return wrong_shift(GIVEN, power, twos, HU_TO_CODE16); }
int strip_shift_values(ARGUMENTS, int16_t power) { return wrong_shift(GIVEN, power, 0, HU_TO_VALUE); }
int strip_shift_reached(ARGUMENTS, int16_t power) {
  strip_question q = strip_question_of(GIVEN, 0);
  hu_events counts;
  if (!q.taken || power < q.g.least || power > q.g.most || (u & 0x7FFFFFFF) >= q.g.highest || power == 0) return 0;
  return strip_of_one(&q, HU_SHIFT, HU_TO_CODE16, u, (uint32_t)power << 23, 0, random, &counts) == 5 && counts.inexact;
}

/* The quotient |x| by or |x| / by, a number, rounded by the core, and its value times `back`. */
static inline int wrong_quotient(ARGUMENTS, uint32_t by, uint32_t back, int way, int to) {
  strip_question q = strip_question_of(GIVEN, 0);
  hu_events counts;
  uint32_t events, a = u & 0x7FFFFFFF, y = way == HU_TIMES ? any_product(a, by) : any_quotient(a, by);
  if (!q.taken || y > 0x7F800000) return 0;
  if (y == 0x7F800000) y = HU_LARGEST32; /* hui_step32 */
  uint32_t z = strip_of_one(&q, way, to, u, by, back, random, &counts);
  uint32_t code = hui_round(&q.s.element, hui_unpack32(y | (u & 0x80000000)), 0, &events);
  uint32_t wrong = wrong_events(&counts, events);
  if (to == HU_TO_VALUE) {
    uint32_t value = hui_pack32(hui_unpack(&q.s.element, code)), sign = value & 0x80000000;
    if (z != (any_product(value & 0x7FFFFFFF, back) | sign)) wrong |= WRONG_VALUE;
  } else {
    if (z != code) wrong |= WRONG_CODE;
  }
  return (int)wrong;
}

int strip_times_codes(ARGUMENTS, uint32_t by) { return wrong_quotient(GIVEN, by, 0, HU_TIMES, HU_TO_CODE16); }
int strip_over_codes(ARGUMENTS, uint32_t by) { return wrong_quotient(GIVEN, by, 0, HU_OVER, HU_TO_CODE16); }
int strip_times_values(ARGUMENTS, uint32_t by, uint32_t back) {
  return wrong_quotient(GIVEN, by, back, HU_TIMES, HU_TO_VALUE);
}
