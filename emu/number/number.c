/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/number.h on one value: which number systems are valid, what they hold, and encoding and
 * decoding. */
#include "emu/core/bits.h"
#include "emu/number/call.h"
#include "emu/number/tapered.h"
#include "halfulp/scalar.h"

/* ---- records ---- */

static hu_number of_kind(unsigned kind, unsigned width) {
  hu_number n;
  memset(&n, 0, sizeof n);
  n.kind = (uint8_t)kind;
  n.width = (uint8_t)(width > 255 ? 255 : width);
  return n;
}

static uint8_t byte(unsigned x) { return (uint8_t)(x > 255 ? 255 : x); }

hu_number hu_number_float(hu_format f) {
  hu_number n = of_kind(HU_NUMBER_FLOAT, 0);
  n.format = f;
  return n;
}

hu_number hu_number_posit(unsigned n, unsigned es) {
  hu_number z = of_kind(HU_NUMBER_POSIT, n);
  z.es = byte(es);
  return z;
}

hu_number hu_number_lns(unsigned w, unsigned f, unsigned coding) {
  hu_number z = of_kind(HU_NUMBER_LNS, w);
  z.fraction = byte(f);
  z.coding = byte(coding);
  return z;
}

hu_number hu_number_fixed(int is_signed, unsigned m, unsigned n, unsigned overflow) {
  hu_number z = of_kind(HU_NUMBER_FIXED, m > 255 || n > 255 ? 255 : (is_signed != 0) + m + n);
  z.sign = is_signed != 0;
  z.fraction = byte(n);
  z.overflow = byte(overflow);
  return z;
}

hu_number hu_number_takum(unsigned n, int linear) {
  return of_kind(linear ? HU_NUMBER_TAKUM_LINEAR : HU_NUMBER_TAKUM, n);
}

hu_number hu_number_hifloat8(void) { return of_kind(HU_NUMBER_HIFLOAT8, 8); }

hu_number hu_number_table(size_t count, const float *values, unsigned ties) {
  hu_number z = of_kind(HU_NUMBER_TABLE, 0);
  z.count = (uint16_t)(count > HU_TABLE_MAX ? HU_TABLE_MAX + 1 : count);
  z.table = values;
  z.ties = byte(ties);
  return z;
}

/* ---- which make sense ---- */

static const char *wrong_posit(hu_number n) {
  if (n.width < 2 || n.width > 32) return "n: not 2 to 32";
  if (n.es > 5) return "es: more than 5";
  return (n.width - 2) << n.es > 1022 ? "es: maxPos is beyond 2^1022" : NULL;
}

static const char *wrong_lns(hu_number n) {
  if (n.width < 3 || n.width > 32) return "w: not 3 to 32";
  if (n.fraction > n.width - 2) return "f: more than w - 2";
  if (n.coding > HU_LNS_UNSIGNED) return "coding: unknown";
  int most = n.coding == HU_LNS_UNSIGNED ? 10 : 11;
  return n.width - n.fraction > most ? "f: values are beyond 2^512" : NULL;
}

static const char *wrong_fixed(hu_number n) {
  if (n.sign > 1) return "sign: not 0 or 1";
  if (n.width < 1u + n.sign || n.width > 32) return "m + n: the codes do not have 1 to 32 bits, or 2 with a sign";
  if (n.fraction > n.width - n.sign) return "n: more than the bits of a code";
  return n.overflow > HU_FIXED_WRAP ? "overflow: unknown" : NULL;
}

/* A place in the order of binary32 numbers that no control register changes; -0 and +0 share one, NaN has the last. */
static int64_t order_of(float x) {
  uint32_t u = hui_bits_of_float(x), magnitude = u & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return INT64_MAX;
  return u >> 31 ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* Is the limit of every value between it and the next larger one? Codes that share a value look at the lowest's. */
static int limits_fit(hu_number n) {
  for (unsigned i = 0; i < n.count; i++) {
    int shared = 0;
    int64_t next = INT64_MAX, v = order_of(n.table[i]), limit = order_of(n.table[n.count + i]);
    if (v == INT64_MAX) continue;
    for (unsigned j = 0; j < i; j++) shared |= order_of(n.table[j]) == v;
    for (unsigned j = 0; j < n.count; j++) {
      int64_t other = order_of(n.table[j]);
      if (other > v && other < next) next = other;
    }
    if (next != INT64_MAX && !shared && !(v <= limit && limit < next)) return 0;
  }
  return 1;
}

static const char *wrong_table(hu_number n) {
  unsigned finite = 0;
  if (n.count < 1 || n.count > HU_TABLE_MAX) return "count: not 1 to 256";
  if (!n.table) return "table: NULL";
  if (n.ties > HU_TIES_GIVEN) return "ties: unknown";
  if (n.ties == HU_TIES_GIVEN && n.count > HU_TABLE_MAX / 2) return "count: not 1 to 128, with limits";
  for (unsigned i = 0; i < n.count; i++) {
    uint32_t magnitude = hui_bits_of_float(n.table[i]) & 0x7FFFFFFF;
    if (magnitude == 0x7F800000) return "table: an infinity";
    finite += magnitude < 0x7F800000;
  }
  if (!finite) return "table: no finite value";
  return n.ties == HU_TIES_GIVEN && !limits_fit(n) ? "table: a limit is not between its values" : NULL;
}

/* Clears the fields of other kinds. */
static hu_number stripped(hu_number n) {
  hu_number z = of_kind(n.kind, 0);
  if (n.kind != HU_NUMBER_FLOAT && n.kind != HU_NUMBER_TABLE) z.width = n.width;
  if (n.kind == HU_NUMBER_POSIT) z.es = n.es;
  if (n.kind == HU_NUMBER_LNS || n.kind == HU_NUMBER_FIXED) z.fraction = n.fraction;
  if (n.kind == HU_NUMBER_FIXED) z.sign = n.sign;
  if (n.kind == HU_NUMBER_LNS) z.coding = n.coding;
  if (n.kind == HU_NUMBER_FIXED) z.overflow = n.overflow;
  if (n.kind == HU_NUMBER_FLOAT) z.format = n.format;
  if (n.kind == HU_NUMBER_TABLE) {
    z.ties = n.ties;
    z.count = n.count;
    z.table = n.table;
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

hu_status hu_number_check(hu_number n, const char **why) {
  const char *wrong = NULL;
  switch (n.kind) {
    case HU_NUMBER_FLOAT: {
      hu_status s = hu_format_check(n.format, why);
      if (s != HU_OK) return s;
      break;
    }
    case HU_NUMBER_POSIT: wrong = wrong_posit(n); break;
    case HU_NUMBER_LNS: wrong = wrong_lns(n); break;
    case HU_NUMBER_FIXED: wrong = wrong_fixed(n); break;
    case HU_NUMBER_TABLE: wrong = wrong_table(n); break;
    case HU_NUMBER_TAKUM_LINEAR:
    case HU_NUMBER_TAKUM: wrong = n.width < 8 || n.width > 32 ? "n: not 8 to 32" : NULL; break;
    case HU_NUMBER_HIFLOAT8: wrong = n.width != 8 ? "width: not 8" : NULL; break;
    default: wrong = "kind: unknown";
  }
  if (!wrong && (!same_fields(n, stripped(n)) || (n.table && n.kind != HU_NUMBER_TABLE))) {
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

void hui_number_unfold(hu_number_spec *s, hu_number n, hu_mode mode) {
  uint32_t values[HU_TABLE_MAX];
  int table = n.kind == HU_NUMBER_TABLE;
  if (table) memcpy(values, n.table, hui_table_length(n) * sizeof *values);
  hui_number_spec_make(s, n, table ? values : NULL, mode);
  if (hui_is_tapered(n.kind)) hui_tapered_spec(s, mode);
}

static double value_of(const hu_number_spec *s, uint32_t code) {
  return hui_double_of_bits(hui_any_pack64(hui_any_unpack(s, code)));
}

/* Of the smallest positive value, where there is one. */
static uint32_t smallest(const hu_number_spec *s) {
  switch (s->kind) {
    case HU_NUMBER_LNS: return hui_lns_code(s, 0, s->low_k);
    case HU_NUMBER_TABLE:
      for (int place = 0; place <= s->places_end; place++) {
        uint32_t u = s->pattern[s->order[place]];
        if (u > 0 && u < 0x80000000u) return s->order[place];
      }
      return HU_NO_CODE;
    default: return s->max_code ? 1 : HU_NO_CODE;
  }
}

static void limits_of_float(hu_number_limits *l, hu_format f) {
  hu_limits of = hu_limits_of(f);
  hu_mode rne = {0};
  l->max_code = of.max_code;
  l->min_code = of.min_code;
  l->low_code = hu_encode64(f, rne, of.low, 0, NULL);
  l->has_zero = f.zero != HU_ZERO_NONE;
  l->zero_code = 0;
  l->has_nan = of.has_nan;
  l->nan_code = of.nan_code;
}

hu_number_limits hu_number_limits_of(hu_number n) {
  hu_number_limits l;
  hu_number_spec s;
  hu_mode rne = {0};
  memset(&l, 0, sizeof l);
  if (hu_number_check(n, NULL) != HU_OK) return l;
  hui_number_unfold(&s, n, rne);
  l.width = s.width;
  l.storage = s.width <= 8 ? 8 : s.width <= 16 ? 16 : 32;
  l.max_code = s.max_code;
  l.low_code = s.low_code;
  l.min_code = smallest(&s);
  l.has_zero = s.has_zero;
  l.zero_code = s.zero_code;
  l.has_nan = s.has_nan;
  l.nan_code = s.nan_code;
  if (n.kind == HU_NUMBER_FLOAT) limits_of_float(&l, n.format);
  if (!l.has_zero) l.zero_code = HU_NO_CODE;
  if (!l.has_nan) l.nan_code = HU_NO_CODE;
  l.exact64 = n.kind != HU_NUMBER_TAKUM && (n.kind != HU_NUMBER_LNS || n.fraction == 0);
  l.max = value_of(&s, l.max_code);
  l.low = value_of(&s, l.low_code);
  l.min = l.min_code == HU_NO_CODE ? 0 : value_of(&s, l.min_code);
  return l;
}

/* ---- one value ---- */

static int refused(hu_number n, hu_mode mode) {
  return hu_number_check(n, NULL) != HU_OK || hu_mode_check(mode) != HU_OK;
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

static uint32_t round_into(hu_number z, hu_mode mode, hu_quantity q, uint32_t random, uint32_t *events) {
  uint32_t ignored;
  hu_number_spec s;
  hui_number_unfold(&s, z, mode);
  return hui_any_round(&s, q, random, events ? events : &ignored);
}

uint32_t hu_number_encode(hu_number z, hu_mode mode, float x, uint32_t random, uint32_t *events) {
  if (refused(z, mode)) return misuse(events);
  return round_into(z, mode, hui_quantity_of(hui_unpack32(hui_bits_of_float(x))), random, events);
}

uint32_t hu_number_encode64(hu_number z, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  if (refused(z, mode)) return misuse(events);
  return round_into(z, mode, hui_quantity_of(hui_unpack64(hui_bits_of_double(x))), random, events);
}

uint32_t hu_number_convert(hu_number z, hu_mode mode, hu_number fx, uint32_t x, uint32_t random, uint32_t *events) {
  hu_mode rne = {0};
  hu_number_spec s;
  if (refused(z, mode) || refused(fx, rne)) return misuse(events);
  hui_number_unfold(&s, fx, rne);
  return round_into(z, mode, hui_any_unpack(&s, x), random, events);
}

double hu_number_decode64(hu_number f, uint32_t code) {
  hu_mode rne = {0};
  hu_number_spec s;
  if (refused(f, rne)) return hui_double_of_bits(0x7FF8000000000000u);
  hui_number_unfold(&s, f, rne);
  return value_of(&s, code);
}

float hu_number_decode(hu_number f, uint32_t code) {
  hu_mode rne = {0};
  hu_number_spec s;
  if (refused(f, rne)) return hui_float_of_bits(0x7FC00000);
  hui_number_unfold(&s, f, rne);
  return hui_float_of_bits(hui_any_pack32(hui_any_unpack(&s, code)));
}
