/* SPDX-License-Identifier: MIT */
/* emu/core/round.h as functions of integers, for the translator: a descriptor, a mode and an operand come as numbers,
 * a code and its events leave in one word. */
#include "emu/core/round.h"

#define FORMAT                                                                                                \
  uint8_t sign, uint8_t e, uint8_t m, uint8_t zero, uint8_t subnormal, uint8_t inf, uint8_t nan, uint8_t negzero, \
      uint8_t overflow, uint8_t negative, int16_t b
#define MODE uint8_t round, uint8_t saturate, uint8_t tiny, uint8_t nan_to, uint8_t bits
#define OPERAND uint8_t kind, uint8_t minus, uint64_t sig, int32_t exp, uint8_t sticky

uint64_t proof_round(FORMAT, MODE, OPERAND, uint32_t random);

uint64_t proof_round(FORMAT, MODE, OPERAND, uint32_t random) {
  hu_format f = {sign, e, m, zero, subnormal, inf, nan, negzero, overflow, negative, b};
  hu_mode mode = {round, saturate, tiny, nan_to, bits, 0, {0, 0}};
  hu_spec s = hu_spec_of(f, mode);
  hu_num x = {sig, exp, kind, minus, sticky};
  uint32_t events;
  uint32_t code = hu_round(&s, x, random, &events);
  return (uint64_t)events << 32 | code;
}
