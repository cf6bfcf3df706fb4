/* SPDX-License-Identifier: MIT */
/* See fast.h.
 *
 *   lanes           posits, takums, HiFloat8 and fixed point: emu/number/lanes.h
 *   places          tables of few values: the code is a step function of binary32 operands in their order. Its steps
 *                   are found by bisection with the core, once a call; a table's value and a step between two values
 *                   are all there is between neighbours
 *   binade          logarithmic numbers of up to 8 fraction bits: log2 (2^E m) = E + log2 m, so the steps of one binade
 *                   (E = 0) and its values serve all; a multiple of 2^f is even
 *   table of codes  what depends on a code of up to 8 bits alone */
#include "emu/number/fast.h"

#include "emu/base/float_env.h"
#include "emu/core/lane_constants.h"
#include "emu/number/tapered.h"

/* ---- constants ---- */

static hu_lane_rounding rounding_of(uint32_t round) {
  hu_lane_rounding rounding;
  memset(&rounding, 0, sizeof rounding);
  const hu_addend addend = hui_addend_of(round, 2); /* of two digits: half of the last place kept is 2, all but one 3 */
  rounding.nearest = addend.base[0] == 1 || addend.base[0] == 2 ? ~(uint64_t)0 : 0;
  rounding.even = addend.step == 1;
  rounding.odd = addend.step > 1;
  for (int sign = 0; sign < 2 && !rounding.odd; sign++) {
    rounding.full[sign] = addend.base[sign] == 3 ? ~(uint64_t)0 : 0;
    rounding.minus[sign] = addend.base[sign] & 1 ? ~(uint64_t)0 : 0;
  }
  return rounding;
}

static void set_constants(hu_number_lane *lane, const hu_number_spec *spec) {
  memset(lane, 0, sizeof *lane);
  lane->rounding = rounding_of(spec->floating.round);
  lane->width = spec->width;
  lane->es = spec->es;
  lane->fraction = spec->fraction;
  lane->is_signed = spec->sign;
  lane->wrap = spec->wrap;
  lane->mask = spec->mask;
  lane->top = spec->top;
  lane->max_code = spec->max_code;
  lane->low_code = spec->low_code;
}

static int posit_in_lanes(const hu_number_spec *spec) {
  return spec->kind == HU_NUMBER_POSIT && spec->width > 2 && (spec->width - 2) << spec->es <= 126;
}

/* ---- one element, and counts ---- */

static uint32_t encode_one(const hu_number_spec *spec, uint32_t pattern, hu_events *events) {
  uint32_t own, code = hui_any_round(spec, hui_quantity_of(hui_unpack32(pattern)), 0, &own);
  hu_events_count(events, own);
  return code;
}

static void add_counts(hu_events *events, const hu_lane_counts *counts) {
  events->inexact += counts->inexact;
  events->overflow += counts->overflow;
  events->saturated += counts->saturated;
  events->underflow += counts->underflow;
  events->to_zero += counts->to_zero;
  events->invalid += counts->invalid;
}

/* ---- tables ---- */

static uint32_t code_at(const hu_number_spec *spec, int64_t key) {
  uint32_t ignored;
  hu_num x = hui_unpack32((uint32_t)key ^ (key < 0 ? 0x7FFFFFFF : 0));
  return hui_number_round(spec, hui_quantity_of(x), 0, &ignored);
}

/* The steps between two keys with different codes, in order; 0 if there are too many. */
static int add_steps(hu_number_lane *lane, const hu_number_spec *spec, int64_t low, int64_t high) {
  uint32_t below = code_at(spec, low), above = code_at(spec, high);
  while (below != above) {
    int64_t first = low, past = high; /* the code at first is `below`, at past it is not */
    while (past - first > 1) {
      int64_t middle = first + (past - first) / 2;
      if (code_at(spec, middle) == below)
        first = middle;
      else
        past = middle;
    }
    if (lane->thresholds == HU_LANE_TABLE) return 0;
    below = code_at(spec, past);
    lane->threshold[lane->thresholds++] = (int32_t)past;
    lane->codes[lane->thresholds] = (uint8_t)below;
    low = past;
  }
  return 1;
}

/* The same, and over zero in two: which candidate is the lower one depends on the sign. */
static int add_steps_by_sign(hu_number_lane *lane, const hu_number_spec *spec, int64_t low, int64_t high) {
  if (low >= 0 || high < 0) return add_steps(lane, spec, low, high);
  return add_steps(lane, spec, low, -1) && add_steps(lane, spec, -1, 0) && add_steps(lane, spec, 0, high);
}

/* Finds the steps by the codes of values: between them, on one side of zero, codes cannot come back. */
static int find_steps(hu_number_fast *fast, const hu_number_spec *spec) {
  hu_number_lane *lane = &fast->constants;
  int64_t last = hui_key_of(0xFF7FFFFF);
  lane->thresholds = 0;
  lane->codes[0] = (uint8_t)code_at(spec, last);
  for (int32_t place = 0; place <= spec->places_end; place++) {
    uint32_t pattern = spec->pattern[spec->order[place]];
    int64_t key = hui_key_of((pattern & 0x7FFFFFFF) == 0 ? 0 : pattern);
    if (!add_steps_by_sign(lane, spec, last, key)) return 0;
    last = key;
  }
  return add_steps_by_sign(lane, spec, last, hui_key_of(0x7F7FFFFF));
}

static void encode_places(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  const hu_number_spec *spec = fast->to;
  int32_t low = hui_key_of(spec->pattern[spec->low_code]), high = hui_key_of(spec->pattern[spec->max_code]);
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  fast->lanes->places(&fast->constants, n, z, x);
  for (size_t i = 0; i < n; i++) {
    int32_t key = hui_key_of(x[i]);
    uint32_t v, beyond = key < low || key > high;
    z[i] = fast->constants.codes[z[i]];
    v = spec->pattern[z[i]];
    if (HU_UNLIKELY((x[i] & 0x7FFFFFFF) - 1 >= 0x7F7FFFFF)) { /* a zero, an infinity or NaN */
      z[i] = encode_one(spec, x[i], events);
      continue;
    }
    counts.inexact += v != x[i];
    counts.overflow += beyond;
    counts.to_zero += (v & 0x7FFFFFFF) == 0;
  }
  counts.saturated = counts.overflow;
  add_counts(events, &counts);
}

/* ---- logarithms ---- */

/* The 23 digits behind the point of 2^(k / 2^g), 1 <= it < 2; the others are cut off. */
static uint32_t fraction_of(int32_t k, int32_t g) {
  hu_num x = hui_power_num(0, k, g);
  return (uint32_t)(x.sig << hui_clz64(x.sig) >> 40) & 0x7FFFFF;
}

/* Finds the least trailing significand of a number from 1 to 2 whose logarithm, times 2^f, rounds to j or more, or
 * returns 2^23. To nearest the logarithm passes (j - 1/2) / 2^f there, which no number has, else j / 2^f or, where the
 * mode goes up from (j - 1) / 2^f on, that; only 1 and 2 have such a logarithm. */
static uint32_t least_fraction(const hu_number_spec *spec, int32_t j, uint32_t sign) {
  int32_t f = spec->fraction;
  if (hui_is_to_nearest(&spec->floating)) return fraction_of(2 * j - 1, f + 1) + 1;
  if (hui_takes_upper(&spec->floating, -1, (uint32_t)(j - 1) & 1, sign)) return fraction_of(j - 1, f) + 1;
  return j == 1 << f ? 1u << 23 : fraction_of(j, f) + 1;
}

static void find_fractions(hu_number_fast *fast, const hu_number_spec *spec) {
  for (uint32_t sign = 0; sign < 2; sign++) {
    if (sign && !hui_looks_at_sign(&spec->floating)) {
      memcpy(fast->fractions[1], fast->fractions[0], sizeof fast->fractions[0]);
      return;
    }
    for (int32_t j = 1; j <= 1 << spec->fraction; j++) fast->fractions[sign][j - 1] = least_fraction(spec, j, sign);
  }
}

/* Values from 1 to 2, which those of other binades are by their exponents. */
static void find_powers(hu_number_fast *fast, const hu_number_spec *spec) {
  for (int32_t j = 0; j < 1 << spec->fraction; j++) {
    hu_quantity quantity = hui_quantity_of(hui_power_num(0, j, spec->fraction));
    fast->powers32[j] = hui_quantity_pack32(quantity);
    fast->bits[j] = hui_quantity_pack64(quantity);
  }
}

static void decode_binade(const hu_number_fast *fast, const hu_number_spec *spec, size_t n, uint32_t *z,
                          const uint32_t *x) {
  for (size_t i = 0; i < n; i++) {
    hu_quantity quantity = hui_lns_unpack(spec, x[i]);
    int32_t e = hui_power_exponent(quantity.k, spec->fraction);
    if (HU_UNLIKELY(!quantity.power || e < -126 || e > 127)) {
      z[i] = hui_quantity_pack32(quantity);
      continue;
    }
    uint32_t j = (uint32_t)quantity.k & (((uint32_t)1 << spec->fraction) - 1);
    z[i] = (fast->powers32[j] + ((uint32_t)e << 23)) | (uint32_t)quantity.x.sign << 31;
  }
}

uint64_t hui_number_fast_value64(const hu_number_fast *fast, uint32_t code) {
  const hu_number_spec *spec = fast->to ? fast->to : fast->from;
  hu_quantity quantity = hui_any_unpack(spec, code);
  if (fast->decode != HU_NUMBER_BINADE || !quantity.power) return hui_any_pack64(quantity);
  uint32_t j = (uint32_t)quantity.k & (((uint32_t)1 << spec->fraction) - 1);
  int64_t e = hui_power_exponent(quantity.k, spec->fraction);
  return (fast->bits[j] + ((uint64_t)e << 52)) | (uint64_t)quantity.x.sign << 63;
}

static void encode_binade(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  const hu_number_spec *spec = fast->to;
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < n; i++) {
    uint32_t pattern = x[i], field = pattern >> 23 & 0xFF, fraction = pattern & 0x7FFFFF, sign = pattern >> 31, at = 0,
             own;
    const uint32_t *steps = fast->fractions[sign];
    if (HU_UNLIKELY(field - 1 >= 254)) { /* zeros, subnormal numbers, infinities, NaN */
      z[i] = encode_one(spec, pattern, events);
      continue;
    }
    for (uint32_t half = (uint32_t)1 << spec->fraction >> 1; half; half >>= 1) {
      at += steps[at + half - 1] <= fraction ? half : 0;
    }
    at += steps[at] <= fraction;
    int32_t k = ((int32_t)field - 127) * (1 << spec->fraction) + (int32_t)at;
    if (HU_UNLIKELY(k < spec->low_k)) {
      own = 0;
      z[i] = hui_lns_below(spec, sign, &own);
      hu_events_count(events, own);
      continue;
    }
    uint32_t over = k > spec->high_k;
    counts.inexact += fraction != 0 || over;
    counts.overflow += over;
    z[i] = over ? (sign ? spec->low_code : spec->max_code) : hui_lns_code(spec, sign, k);
  }
  counts.saturated = counts.overflow;
  add_counts(events, &counts);
}

/* ---- lanes ---- */

static int is_takum(const hu_number_spec *spec) {
  return spec->kind == HU_NUMBER_TAKUM || spec->kind == HU_NUMBER_TAKUM_LINEAR;
}

/* The codes of all places, the last of which is beyond the range. */
static void find_hif8_codes(hu_number_lane *lane, const hu_number_spec *spec) {
  for (uint32_t sign = 0; sign < 2; sign++) {
    uint32_t events = 0, beyond = hui_hif8_beyond(spec, sign, &events);
    lane->codes[sign << 7] = 0;
    for (int32_t place = 1; place < HU_HIF8_INF_PLACE; place++)
      lane->codes[(uint32_t)place | sign << 7] = (uint8_t)(hui_hif8_code(place) | sign << 7);
    lane->codes[HU_HIF8_INF_PLACE | sign << 7] = (uint8_t)beyond;
    lane->stops[sign] = events & HU_EVENT_SATURATED ? ~(uint64_t)0 : 0;
  }
}

static uint64_t encode_lanes(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x,
                             hu_lane_counts *counts) {
  const hu_number_lanes *lanes = fast->lanes;
  switch (fast->to->kind) {
    case HU_NUMBER_POSIT: return lanes->posit(&fast->constants, n, z, x, counts);
    case HU_NUMBER_TAKUM_LINEAR: return lanes->takum[1](&fast->constants, n, z, x, counts);
    case HU_NUMBER_HIFLOAT8: return lanes->hif8(&fast->constants, n, z, x, counts);
    case HU_NUMBER_TAKUM: break;
    default: return lanes->fixed(&fast->constants, n, z, x, counts);
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  uint64_t left = lanes->takum[0](&fast->constants, n, z, x, counts);
  hui_float_env_leave(saved);
  return left;
}

static void decode_lanes(const hu_number_fast *fast, const hu_number_spec *spec, size_t n, uint32_t *z,
                         const uint32_t *x) {
  const hu_number_lanes *lanes = fast->lanes;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (is_takum(spec)) {
    lanes->takum_values[spec->kind == HU_NUMBER_TAKUM_LINEAR](&fast->back, n, z, x);
  } else {
    (spec->kind == HU_NUMBER_POSIT ? lanes->posit_values : lanes->fixed_values)(&fast->back, n, z, x);
  }
  hui_float_env_leave(saved);
  for (size_t i = 0; is_takum(spec) && i < n; i++) {
    if (HU_UNLIKELY(z[i] == HU_LANE_LEFT)) z[i] = hui_any_pack32(hui_any_unpack(spec, x[i]));
  }
}

/* ---- ways ---- */

static uint32_t cost_of(const hu_number_spec *spec) { /* elements that a search for steps or codes has to be worth */
  if (spec->kind == HU_NUMBER_HIFLOAT8) return 512;
  return spec->kind == HU_NUMBER_TABLE ? 64u * spec->count : 4u << spec->fraction;
}

static int encode_way(hu_number_fast *fast, const hu_number_spec *spec, size_t n) {
  if (spec->floating.round >= HU_SRA) return HU_NUMBER_ONE;
  if (posit_in_lanes(spec) || is_takum(spec) || spec->kind == HU_NUMBER_FIXED) return HU_NUMBER_LANES;
  if (n < cost_of(spec)) return HU_NUMBER_ONE;
  if (spec->kind == HU_NUMBER_HIFLOAT8) {
    find_hif8_codes(&fast->constants, spec);
    return HU_NUMBER_LANES;
  }
  if (spec->kind == HU_NUMBER_TABLE) return find_steps(fast, spec) ? HU_NUMBER_PLACES : HU_NUMBER_ONE;
  if (spec->kind != HU_NUMBER_LNS || spec->fraction < 1 || spec->fraction > 8) return HU_NUMBER_ONE;
  find_fractions(fast, spec);
  return HU_NUMBER_BINADE;
}

/* What is written for every code of spec: what it rounds to, or its value, or the value of what it rounds to. */
static void find_values(hu_number_fast *fast, const hu_number_spec *spec, unsigned values) {
  for (uint32_t c = 0; c < 256; c++) {
    hu_quantity quantity = hui_any_unpack(spec, c);
    fast->events[c] = 0;
    if (fast->to && fast->from) {
      uint32_t code = hui_any_round(fast->to, quantity, 0, &fast->events[c]);
      fast->bits[c] = code;
      if (values) quantity = hui_any_unpack(fast->to, code);
    }
    if (values) fast->bits[c] = values == 64 ? hui_any_pack64(quantity) : hui_any_pack32(quantity);
  }
}

static int decode_way(hu_number_fast *fast, const hu_number_spec *spec, size_t n, unsigned values) {
  if (spec->kind == HU_NUMBER_LNS && spec->width > 8 && spec->fraction > 0 && spec->fraction <= 8 &&
      n >= 1u << spec->fraction) {
    find_powers(fast, spec);
    return HU_NUMBER_BINADE;
  }
  if (values != 32) return HU_NUMBER_ONE;
  if (posit_in_lanes(spec) && spec->width <= 25) return HU_NUMBER_LANES;
  if (is_takum(spec)) { /* a table of codes is quicker */
    return (spec->width > 8 || n < 512) && (spec->kind == HU_NUMBER_TAKUM || spec->width <= 28) ? HU_NUMBER_LANES
                                                                                                : HU_NUMBER_ONE;
  }
  return spec->kind == HU_NUMBER_FIXED ? HU_NUMBER_LANES : HU_NUMBER_ONE;
}

void hui_number_fast_make(hu_number_fast *fast, const hu_number_spec *to, const hu_number_spec *from, int reads32,
                          unsigned values, size_t n, const hu_number_lanes *lanes) {
  const hu_number_spec *coded = from ? from : values ? to : NULL; /* whose codes become something else */
  fast->to = to;
  fast->from = from;
  fast->encode = fast->decode = HU_NUMBER_ONE;
  fast->lanes = lanes;
  if (!fast->lanes) return;
  if (to) set_constants(&fast->constants, to);
  if (to && reads32) fast->encode = encode_way(fast, to, n);
  if (!coded || (to && from && to->floating.round >= HU_SRA)) return;
  set_constants(&fast->back, coded);
  if (values && !(to && from)) fast->decode = decode_way(fast, coded, n, values);
  if (coded->width <= 8 && n >= 512 && fast->decode == HU_NUMBER_ONE) {
    find_values(fast, coded, values);
    fast->decode = HU_NUMBER_TABLE_OF_CODES;
  }
}

void hui_number_fast_encode(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  if (fast->encode == HU_NUMBER_PLACES) {
    encode_places(fast, n, z, x, events);
  } else if (fast->encode == HU_NUMBER_BINADE) {
    encode_binade(fast, n, z, x, events);
  } else if (fast->encode == HU_NUMBER_LANES && !encode_lanes(fast, n, z, x, &counts)) {
    add_counts(events, &counts);
  } else {
    for (size_t i = 0; i < n; i++) z[i] = encode_one(fast->to, x[i], events);
  }
}

void hui_number_fast_decode(const hu_number_fast *fast, size_t n, uint32_t *z, const uint32_t *x) {
  const hu_number_spec *spec = fast->to ? fast->to : fast->from;
  if (fast->decode == HU_NUMBER_LANES) {
    decode_lanes(fast, spec, n, z, x);
  } else if (fast->decode == HU_NUMBER_BINADE) {
    decode_binade(fast, spec, n, z, x);
  } else if (fast->decode == HU_NUMBER_TABLE_OF_CODES) {
    for (size_t i = 0; i < n; i++) z[i] = (uint32_t)fast->bits[x[i] & 0xFF];
  } else {
    for (size_t i = 0; i < n; i++) z[i] = hui_any_pack32(hui_any_unpack(spec, x[i]));
  }
}
