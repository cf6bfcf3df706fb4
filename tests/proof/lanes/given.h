/* SPDX-License-Identifier: MIT */
/* tests/proof/lanes/given.h - formats and modes made of the numbers that a theorem is given, and what may be wrong with
 * an answer; for C and C++. The library's headers have been included. */
#ifndef HALFULP_TESTS_PROOF_LANES_GIVEN_H
#define HALFULP_TESTS_PROOF_LANES_GIVEN_H

enum { WRONG_CODE = 1, WRONG_EVENTS = 2, WRONG_VALUE = 4 };

/* A format, a mode, an operand and a random word. axes: from the lowest bit on sign (1 bit), zero (2), subnormal (2),
 * inf (2), nan (3), negzero (1), overflow (2), negative (2). policy: saturate (2), tiny (1), nan (2). */
#define ARGUMENTS                                                                                          \
  uint8_t m, uint8_t e, int16_t b, uint16_t axes, uint8_t policy, uint8_t round, uint8_t bits, uint32_t u, \
      uint32_t random
#define GIVEN m, e, b, axes, policy, round, bits, u, random

static inline hu_format format_of(uint8_t m, uint8_t e, int16_t b, uint16_t axes) {
  hu_format format;
  memset(&format, 0, sizeof format);
  format.sign = axes & 1;
  format.e = e;
  format.m = m;
  format.b = b;
  format.zero = axes >> 1 & 3;
  format.subnormal = axes >> 3 & 3;
  format.inf = axes >> 5 & 3;
  format.nan = axes >> 7 & 7;
  format.negzero = axes >> 10 & 1;
  format.overflow = axes >> 11 & 3;
  format.negative = axes >> 13 & 3;
  return format;
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

#endif
