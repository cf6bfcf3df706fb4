/* SPDX-License-Identifier: MIT */
/* emu/core/round.h as functions of integers, for the translator: a descriptor, a mode and an operand come as numbers.
 *
 * With PROOF_DECISION what a stochastic mode decides is a call of an undefined function, so that what is proved holds
 * for every decision. The header is read as it stands: of the two places that name hui_stochastic_up the first, where
 * it is defined, becomes hu_stochastic_up_0, and the second, where it is used, hu_stochastic_up_1, which is here. */
#include "emu/core/port.h"

#ifdef PROOF_DECISION
#define PROOF_JOIN(a, b) a##b
#define PROOF_NUMBERED(name, n) PROOF_JOIN(name, n)
#define hui_stochastic_up PROOF_NUMBERED(hu_stochastic_up_, __COUNTER__)
typedef struct hu_spec hu_spec;
HU_FN int32_t hu_stochastic_up_1(const hu_spec *s, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random);
#endif

#include "emu/core/round.h"

#ifdef PROOF_DECISION
_Static_assert(__COUNTER__ == 2, "hui_stochastic_up is named in two places");
uint32_t proof_decision(uint32_t round, uint32_t bits, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random);
HU_FN int32_t hu_stochastic_up_1(const hu_spec *s, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random) {
  return proof_decision(s->round, s->bits, sig, sticky, cut, random) & 1;
}
#endif

#define FORMAT                                                                                                    \
  uint8_t sign, uint8_t e, uint8_t m, uint8_t zero, uint8_t subnormal, uint8_t inf, uint8_t nan, uint8_t negzero, \
      uint8_t overflow, uint8_t negative, int16_t b
#define FORMAT_GIVEN \
  { sign, e, m, zero, subnormal, inf, nan, negzero, overflow, negative, b }
#define MODE uint8_t round, uint8_t saturate, uint8_t tiny, uint8_t nan_to, uint8_t bits
#define OPERAND uint8_t kind, uint8_t minus, uint64_t sig, int32_t exp, uint8_t sticky

typedef struct proof_pair {
  uint64_t one, two;
} proof_pair;

uint64_t proof_round(FORMAT, MODE, OPERAND, uint32_t random);
proof_pair proof_unpack(FORMAT, uint32_t code);

/* Events above the code. */
uint64_t proof_round(FORMAT, MODE, OPERAND, uint32_t random) {
  hu_format f = FORMAT_GIVEN;
  hu_mode mode = {round, saturate, tiny, nan_to, bits, 0, {0, 0}};
  hu_spec s = hui_spec_of(f, mode);
  hu_num x = {sig, exp, kind, minus, sticky};
  uint32_t events;
  uint32_t code = hui_round(&s, x, random, &events);
  return (uint64_t)events << 32 | code;
}

/* The significand; the exponent below kind, sign and sticky, a byte each. */
proof_pair proof_unpack(FORMAT, uint32_t code) {
  hu_format f = FORMAT_GIVEN;
  hu_mode mode = {0};
  hu_spec s = hui_spec_of(f, mode);
  hu_num x = hui_unpack(&s, code);
  proof_pair z = {x.sig, (uint64_t)x.kind << 48 | (uint64_t)x.sign << 40 | (uint64_t)x.sticky << 32 | (uint32_t)x.exp};
  return z;
}

#ifndef PROOF_DECISION
uint32_t proof_decision(uint32_t round, uint32_t bits, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random);

uint32_t proof_decision(uint32_t round, uint32_t bits, uint64_t sig, uint32_t sticky, int32_t cut, uint32_t random) {
  hu_spec s;
  memset(&s, 0, sizeof s);
  s.round = (uint8_t)round;
  s.bits = (uint8_t)bits;
  return (uint32_t)hui_stochastic_up(&s, sig, sticky, cut, random);
}
#endif
