/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/question.h - what the sources of theorems share: the text in a form that the translator reads,
 * formats and modes made of numbers, and what may be wrong with an answer.
 *
 * A theorem is a function of numbers that returns 0, whatever they are. */
#ifndef HALFULP_TESTS_PROOF_LANES_QUESTION_H
#define HALFULP_TESTS_PROOF_LANES_QUESTION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The translator reads functions without calls. */
#define inline __attribute__((always_inline)) inline
#include "emu/core/port.h"
#undef HU_NOINLINE
#define HU_NOINLINE inline

#include "halfulp/format.h"
#include "halfulp/mode.h"
__attribute__((always_inline)) hu_status hu_format_check(hu_format f, const char **axis);
__attribute__((always_inline)) void hu_events_count(hu_events *sum, uint32_t events);
__attribute__((always_inline)) void hu_events_add(hu_events *sum, const hu_events *part);
#include "emu/format/format.c"
#include "one_lane.h"

#include "emu/format/mode.c"

enum { WRONG_CODE = 1, WRONG_EVENTS = 2, WRONG_VALUE = 4 };

/* A format, a mode, an operand and a random word. axes: from the lowest bit on sign (1 bit), zero (2), subnormal (2),
 * inf (2), nan (3), negzero (1), overflow (2), negative (2). policy: saturate (2), tiny (1), nan (2). */
#define ARGUMENTS                                                                                          \
  uint8_t m, uint8_t e, int16_t b, uint16_t axes, uint8_t policy, uint8_t round, uint8_t bits, uint32_t u, \
      uint32_t random
#define GIVEN m, e, b, axes, policy, round, bits, u, random

static inline hu_format format_of(uint8_t m, uint8_t e, int16_t b, uint16_t axes) {
  hu_format f;
  memset(&f, 0, sizeof f);
  f.sign = axes & 1;
  f.e = e;
  f.m = m;
  f.b = b;
  f.zero = axes >> 1 & 3;
  f.subnormal = axes >> 3 & 3;
  f.inf = axes >> 5 & 3;
  f.nan = axes >> 7 & 7;
  f.negzero = axes >> 10 & 1;
  f.overflow = axes >> 11 & 3;
  f.negative = axes >> 13 & 3;
  return f;
}

static inline hu_mode mode_of(uint8_t policy, uint8_t round, uint8_t bits) {
  hu_mode mode;
  memset(&mode, 0, sizeof mode);
  mode.round = round;
  mode.bits = bits;
  mode.saturate = policy & 3;
  mode.tiny = policy >> 2 & 1;
  mode.nan = policy >> 3 & 3;
  return mode;
}

/* hu_mode_check's condition; the modes by the query. */
static inline int mode_is_valid(hu_mode mode) {
  return mode.nan <= HU_NAN_TO_ERROR &&
         (mode.round >= HU_SRA ? mode.round <= HU_SRC && mode.bits >= 1 && mode.bits <= 32 : mode.bits == 0);
}

/* Events of one element: the counts of a loop against the bits of the core. */
static inline uint32_t wrong_events(const hu_events *counts, uint32_t events) {
  const hu_events *z = counts;
  hu_events core;
  memset(&core, 0, sizeof core);
  hu_events_count(&core, events);
  return z->inexact == core.inexact && z->underflow == core.underflow && z->to_zero == core.to_zero &&
                 z->subnormal == core.subnormal && z->overflow == core.overflow && z->saturated == core.saturated &&
                 z->invalid == core.invalid && z->nan_in == core.nan_in && z->inf_in == core.inf_in &&
                 z->divide_by_zero == core.divide_by_zero
             ? 0
             : WRONG_EVENTS;
}

#endif
