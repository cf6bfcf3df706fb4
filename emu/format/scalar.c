/* SPDX-License-Identifier: MIT */
/* One value at a time: check, unpack, round, nothing else. */
#include "halfulp/scalar.h"

#include "emu/core/bits.h"
#include "emu/core/round.h"

static int refused(hu_format format, hu_mode mode) {
  return hu_format_check(format, NULL) != HU_OK || hu_mode_check(mode) != HU_OK;
}

static uint32_t round_into(hu_format format, hu_mode mode, hu_num x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec = hui_spec_of(format, mode);
  return hui_round(&spec, x, random, ev);
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

uint32_t hu_encode(hu_format format, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  if (refused(format, mode)) return misuse(events);
  return round_into(format, mode, hui_unpack32(hui_bits_of_float(x)), random, events);
}

uint32_t hu_encode64(hu_format format, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  if (refused(format, mode)) return misuse(events);
  return round_into(format, mode, hui_unpack64(hui_bits_of_double(x)), random, events);
}

uint32_t hu_convert(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  hu_mode rne = {0};
  if (refused(fz, mode) || refused(fx, rne)) return misuse(events);
  hu_spec sx = hui_spec_of(fx, rne);
  return round_into(fz, mode, hui_unpack(&sx, x), random, events);
}

double hu_decode64(hu_format format, uint32_t code) {
  hu_mode rne = {0};
  if (refused(format, rne)) return hui_double_of_bits(0x7FF8000000000000u);
  hu_spec spec = hui_spec_of(format, rne);
  return hui_double_of_bits(hui_pack64(hui_unpack(&spec, code)));
}

/* The value of a code in binary32: put together where that is exact and normal, else rounded. */
static float value32(const hu_spec *spec, uint32_t code) {
  hu_num x = hui_unpack(spec, code);
  if (x.kind == HU_KIND_FINITE) {
    int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead;
    uint64_t sig = x.sig << lead;
    if (k >= -126 && k <= 127 && !(sig & 0xFFFFFFFFFFu))
      return hui_float_of_bits((uint32_t)x.sign << 31 | (((uint32_t)(k + 126) << 23) + (uint32_t)(sig >> 40)));
  }
  return hui_float_of_bits(hui_pack32(x));
}

float hu_decode(hu_format format, uint32_t code) {
  hu_mode rne = {0};
  if (refused(format, rne)) return hui_float_of_bits(0x7FC00000);
  hu_spec spec = hui_spec_of(format, rne);
  return value32(&spec, code);
}

float hu_quantize(hu_format format, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  if (refused(format, mode)) return hui_float_of_bits(0x7FC00000 | misuse(events));
  hu_spec spec = hui_spec_of(format, mode);
  return value32(&spec, hui_round(&spec, hui_unpack32(hui_bits_of_float(x)), random, ev));
}

double hu_quantize64(hu_format format, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  if (refused(format, mode)) return hui_double_of_bits(0x7FF8000000000000u | misuse(events));
  hu_spec spec = hui_spec_of(format, mode);
  uint32_t code = hui_round(&spec, hui_unpack64(hui_bits_of_double(x)), random, ev);
  return hui_double_of_bits(hui_pack64(hui_unpack(&spec, code)));
}
