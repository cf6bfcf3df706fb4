/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/arith.h that are no operations of operation.h: conversions from and to integers. */
#include "halfulp/arith.h"

#include "emu/core/arith.h"
#include "emu/format/unfold.h"

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

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
