/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/number.h on one value: which number systems are valid, what they hold, and encoding and
 * decoding. */
#include "emu/core/bits.h"
#include "emu/number/call.h"
#include "emu/number/tapered.h"
#include "halfulp/scalar.h"

/* ---- which make sense ---- */

static const char *wrong_posit(hu_number number) {
  if (number.width < 2 || number.width > 32) return "n: not 2 to 32";
  if (number.es > 5) return "es: more than 5";
  return (number.width - 2) << number.es > 1022 ? "es: maxPos is beyond 2^1022" : NULL;
}

static const char *wrong_lns(hu_number number) {
  if (number.width < 3 || number.width > 32) return "w: not 3 to 32";
  if (number.fraction > number.width - 2) return "f: more than w - 2";
  if (number.coding > HU_LNS_UNSIGNED) return "coding: unknown";
  int most = number.coding == HU_LNS_UNSIGNED ? 10 : 11;
  return number.width - number.fraction > most ? "f: values are beyond 2^512" : NULL;
}

static const char *wrong_fixed(hu_number number) {
  if (number.sign > 1) return "sign: not 0 or 1";
  if (number.width < 1u + number.sign || number.width > 32)
    return "m + n: the codes do not have 1 to 32 bits, or 2 with a sign";
  if (number.fraction > number.width - number.sign) return "n: more than the bits of a code";
  return number.overflow > HU_FIXED_WRAP ? "overflow: unknown" : NULL;
}

/* A place in the order of binary32 numbers that no control register changes; -0 and +0 share one, NaN has the last. */
static int64_t order_of(float x) {
  uint32_t pattern = hui_bits_of_float(x), magnitude = pattern & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return INT64_MAX;
  return pattern >> 31 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* Is the limit of every value between it and the next larger one? Codes that share a value look at the lowest's. */
static int limits_fit(hu_number number) {
  for (unsigned i = 0; i < number.count; i++) {
    int shared = 0;
    int64_t next = INT64_MAX, v = order_of(number.table[i]), limit = order_of(number.table[number.count + i]);
    if (v == INT64_MAX) continue;
    for (unsigned j = 0; j < i; j++) shared |= order_of(number.table[j]) == v;
    for (unsigned j = 0; j < number.count; j++) {
      int64_t other = order_of(number.table[j]);
      if (other > v && other < next) next = other;
    }
    if (next != INT64_MAX && !shared && !(v <= limit && limit < next)) return 0;
  }
  return 1;
}

static const char *wrong_table(hu_number number) {
  unsigned finite = 0;
  if (number.count < 1 || number.count > HU_TABLE_MAX) return "count: not 1 to 256";
  if (!number.table) return "table: NULL";
  if (number.ties > HU_TIES_GIVEN) return "ties: unknown";
  if (number.ties == HU_TIES_GIVEN && number.count > HU_TABLE_MAX / 2) return "count: not 1 to 128, with limits";
  for (unsigned i = 0; i < number.count; i++) {
    uint32_t magnitude = hui_bits_of_float(number.table[i]) & 0x7FFFFFFF;
    if (magnitude == 0x7F800000) return "table: an infinity";
    finite += magnitude < 0x7F800000;
  }
  if (!finite) return "table: no finite value";
  return number.ties == HU_TIES_GIVEN && !limits_fit(number) ? "table: a limit is not between its values" : NULL;
}

/* Clears the fields of other kinds. */
static hu_number stripped(hu_number number) {
  hu_number z = hu_number_of_kind(number.kind, 0);
  if (number.kind != HU_NUMBER_FLOAT && number.kind != HU_NUMBER_TABLE) z.width = number.width;
  if (number.kind == HU_NUMBER_POSIT) z.es = number.es;
  if (number.kind == HU_NUMBER_LNS || number.kind == HU_NUMBER_FIXED) z.fraction = number.fraction;
  if (number.kind == HU_NUMBER_FIXED) z.sign = number.sign;
  if (number.kind == HU_NUMBER_LNS) z.coding = number.coding;
  if (number.kind == HU_NUMBER_FIXED) z.overflow = number.overflow;
  if (number.kind == HU_NUMBER_FLOAT) z.format = number.format;
  if (number.kind == HU_NUMBER_TABLE) {
    z.ties = number.ties;
    z.count = number.count;
    z.table = number.table;
  }
  return z;
}

static int same_fields(hu_number a, hu_number b) {
  hu_format none;
  memset(&none, 0, sizeof none);
  if (a.kind != HU_NUMBER_FLOAT) a.format = none;
  if (b.kind != HU_NUMBER_FLOAT) b.format = none;
  return a.kind == b.kind && a.width == b.width && a.es == b.es && a.fraction == b.fraction && a.sign == b.sign &&
         a.coding == b.coding && a.overflow == b.overflow && a.ties == b.ties && a.count == b.count &&
         hu_format_equal(a.format, b.format);
}

hu_status hu_number_check(hu_number number, const char **why) {
  const char *wrong = NULL;
  switch (number.kind) {
    case HU_NUMBER_FLOAT: {
      hu_status status = hu_format_check(number.format, why);
      if (status != HU_OK) return status;
      break;
    }
    case HU_NUMBER_POSIT: wrong = wrong_posit(number); break;
    case HU_NUMBER_LNS: wrong = wrong_lns(number); break;
    case HU_NUMBER_FIXED: wrong = wrong_fixed(number); break;
    case HU_NUMBER_TABLE: wrong = wrong_table(number); break;
    case HU_NUMBER_TAKUM_LINEAR:
    case HU_NUMBER_TAKUM: wrong = number.width < 8 || number.width > 32 ? "n: not 8 to 32" : NULL; break;
    case HU_NUMBER_HIFLOAT8: wrong = number.width != 8 ? "width: not 8" : NULL; break;
    default: wrong = "kind: unknown";
  }
  const hu_number kept = stripped(number);
  if (!wrong && (!same_fields(number, kept) || !hu_format_equal(number.format, kept.format) ||
                 (number.table && number.kind != HU_NUMBER_TABLE))) {
    wrong = "kind: a field of another kind is not 0";
  }
  if (wrong && why) *why = wrong;
  return wrong ? HU_E_NUMBER : HU_OK;
}

int hu_number_equal(hu_number a, hu_number b) {
  if (!same_fields(a, b)) return 0;
  if (a.kind != HU_NUMBER_TABLE || a.table == b.table) return a.table == b.table;
  if (!a.table || !b.table || hui_table_length(a) > HU_TABLE_MAX) return 0;
  return memcmp(a.table, b.table, hui_table_length(a) * sizeof *a.table) == 0;
}

/* ---- what they have ---- */

void hui_number_unfold(hu_number_spec *spec, hu_number number, hu_mode mode) {
  uint32_t values[HU_TABLE_MAX];
  int table = number.kind == HU_NUMBER_TABLE;
  if (table) memcpy(values, number.table, hui_table_length(number) * sizeof *values);
  hui_number_spec_make(spec, number, table ? values : NULL, mode);
  if (hui_is_tapered(number.kind)) hui_tapered_spec(spec, mode);
}

static double value_of(const hu_number_spec *spec, uint32_t code) {
  return hui_double_of_bits(hui_any_pack64(hui_any_unpack(spec, code)));
}

/* Of the smallest positive value, where there is one. */
static uint32_t smallest(const hu_number_spec *spec) {
  switch (spec->kind) {
    case HU_NUMBER_LNS: return hui_lns_code(spec, 0, spec->low_k);
    case HU_NUMBER_TABLE:
      for (int place = 0; place <= spec->places_end; place++) {
        uint32_t pattern = spec->pattern[spec->order[place]];
        if (pattern > 0 && pattern < 0x80000000u) return spec->order[place];
      }
      return HU_NO_CODE;
    default: return spec->max_code ? 1 : HU_NO_CODE;
  }
}

static void limits_of_float(hu_number_limits *limits, hu_format format) {
  hu_limits of = hu_limits_of(format);
  hu_mode rne = {0};
  limits->max_code = of.max_code;
  limits->min_code = of.min_code;
  limits->low_code = hu_encode64(format, rne, of.low, 0, NULL);
  limits->has_zero = of.min_code != 0; /* code 0 is the least number where there is no zero */
  limits->zero_code = 0;
  limits->has_nan = of.has_nan;
  limits->nan_code = of.nan_code;
}

hu_number_limits hu_number_limits_of(hu_number number) {
  hu_number_limits limits;
  hu_number_spec spec;
  hu_mode rne = {0};
  memset(&limits, 0, sizeof limits);
  if (hu_number_check(number, NULL) != HU_OK) return limits;
  hui_number_unfold(&spec, number, rne);
  limits.width = spec.width;
  limits.storage = spec.width <= 8 ? 8 : spec.width <= 16 ? 16 : 32;
  limits.max_code = spec.max_code;
  limits.low_code = spec.low_code;
  limits.min_code = smallest(&spec);
  limits.has_zero = spec.has_zero;
  limits.zero_code = spec.zero_code;
  limits.has_nan = spec.has_nan;
  limits.nan_code = spec.nan_code;
  if (number.kind == HU_NUMBER_FLOAT) limits_of_float(&limits, number.format);
  if (!limits.has_zero) limits.zero_code = HU_NO_CODE;
  if (!limits.has_nan) limits.nan_code = HU_NO_CODE;
  limits.exact64 = number.kind != HU_NUMBER_TAKUM && (number.kind != HU_NUMBER_LNS || number.fraction == 0);
  limits.max = value_of(&spec, limits.max_code);
  limits.low = value_of(&spec, limits.low_code);
  limits.min = limits.min_code == HU_NO_CODE ? 0 : value_of(&spec, limits.min_code);
  return limits;
}

/* ---- one value ---- */

static int refused(hu_number number, hu_mode mode) {
  return hu_number_check(number, NULL) != HU_OK || hu_mode_check(mode) != HU_OK;
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

static uint32_t round_into(hu_number number, hu_mode mode, hu_quantity quantity, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_number_spec spec;
  hui_number_unfold(&spec, number, mode);
  return hui_any_round(&spec, quantity, random, events ? events : &ignored);
}

uint32_t hu_number_encode(hu_number number, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  if (refused(number, mode)) return misuse(events);
  return round_into(number, mode, hui_quantity_of(hui_unpack32(hui_bits_of_float(x))), random, events);
}

uint32_t hu_number_encode64(hu_number number, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  if (refused(number, mode)) return misuse(events);
  return round_into(number, mode, hui_quantity_of(hui_unpack64(hui_bits_of_double(x))), random, events);
}

uint32_t hu_number_convert(hu_number number, hu_mode mode, hu_number fx, uint32_t x, uint32_t random,
                           uint32_t *events) {
  hu_mode rne = {0};
  hu_number_spec spec;
  if (refused(number, mode) || refused(fx, rne)) return misuse(events);
  hui_number_unfold(&spec, fx, rne);
  return round_into(number, mode, hui_any_unpack(&spec, x), random, events);
}

double hu_number_decode64(hu_number number, uint32_t code) {
  hu_mode rne = {0};
  hu_number_spec spec;
  if (refused(number, rne)) return hui_double_of_bits(0x7FF8000000000000u);
  hui_number_unfold(&spec, number, rne);
  return value_of(&spec, code);
}

float hu_number_decode(hu_number number, uint32_t code) {
  hu_mode rne = {0};
  hu_number_spec spec;
  if (refused(number, rne)) return hui_float_of_bits(0x7FC00000);
  hui_number_unfold(&spec, number, rne);
  return hui_float_of_bits(hui_any_pack32(hui_any_unpack(&spec, code)));
}
