/* SPDX-License-Identifier: MIT */
/* One value at a time: check, unpack, round, nothing else. */
#include "halfulp/scalar.h"

#include "emu/core/bits.h"
#include "emu/format/unfold.h"
#include "emu/format/value32.h"

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

uint32_t hu_encode(hu_format format, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return misuse(events);
  return hui_round(&spec, hui_unpack32(hui_bits_of_float(x)), random, events ? events : &ignored);
}

uint32_t hu_encode64(hu_format format, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return misuse(events);
  return hui_round(&spec, hui_unpack64(hui_bits_of_double(x)), random, events ? events : &ignored);
}

uint32_t hu_convert(hu_format fz, hu_mode mode, hu_format fx, uint32_t x, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_spec spec, source;
  if (hui_result_refused(&spec, fz, mode) || hui_source_refused(&source, fx)) return misuse(events);
  return hui_round(&spec, hui_unpack(&source, x), random, events ? events : &ignored);
}

double hu_decode64(hu_format format, uint32_t code) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return hui_double_of_bits(0x7FF8000000000000u);
  return hui_double_of_bits(hui_pack64(hui_unpack(&spec, code)));
}

float hu_decode(hu_format format, uint32_t code) {
  hu_spec spec;
  if (hui_source_refused(&spec, format)) return hui_float_of_bits(0x7FC00000);
  return hui_float_of_bits(hui_value32(&spec, code));
}

float hu_quantize(hu_format format, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return hui_float_of_bits(0x7FC00000 | misuse(events));
  return hui_float_of_bits(hui_value32(&spec, hui_round(&spec, hui_unpack32(hui_bits_of_float(x)), random, ev)));
}

double hu_quantize64(hu_format format, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  uint32_t ignored, *ev = events ? events : &ignored;
  hu_spec spec;
  if (hui_result_refused(&spec, format, mode)) return hui_double_of_bits(0x7FF8000000000000u | misuse(events));
  uint32_t code = hui_round(&spec, hui_unpack64(hui_bits_of_double(x)), random, ev);
  return hui_double_of_bits(hui_pack64(hui_unpack(&spec, code)));
}
