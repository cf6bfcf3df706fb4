/* SPDX-License-Identifier: MIT */
/* hu_format_check as a function of integers, for the translator. */
#include "emu/format/format.c"

uint32_t proof_check(uint8_t sign, uint8_t e, uint8_t m, uint8_t zero, uint8_t subnormal, uint8_t inf, uint8_t nan,
                     uint8_t negzero, uint8_t overflow, uint8_t negative, int16_t b);

uint32_t proof_check(uint8_t sign, uint8_t e, uint8_t m, uint8_t zero, uint8_t subnormal, uint8_t inf, uint8_t nan,
                     uint8_t negzero, uint8_t overflow, uint8_t negative, int16_t b) {
  hu_format format = {sign, e, m, zero, subnormal, inf, nan, negzero, overflow, negative, b};
  return hu_format_check(format, NULL) == HU_OK;
}
