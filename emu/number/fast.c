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
  hu_lane_rounding r;
  memset(&r, 0, sizeof r);
  const hu_addend q = hui_addend_of(round, 2); /* of two digits: half of the last place kept is 2, all but one 3 */
  r.nearest = q.base[0] == 1 || q.base[0] == 2 ? ~(uint64_t)0 : 0;
  r.even = q.step == 1;
  r.odd = q.step > 1;
  for (int sign = 0; sign < 2 && !r.odd; sign++) {
    r.full[sign] = q.base[sign] == 3 ? ~(uint64_t)0 : 0;
    r.minus[sign] = q.base[sign] & 1 ? ~(uint64_t)0 : 0;
  }
  return r;
}

static void set_constants(hu_number_lane *c, const hu_number_spec *s) {
  memset(c, 0, sizeof *c);
  c->rounding = rounding_of(s->floating.round);
  c->width = s->width;
  c->es = s->es;
  c->fraction = s->fraction;
  c->is_signed = s->sign;
  c->wrap = s->wrap;
  c->mask = s->mask;
  c->top = s->top;
  c->max_code = s->max_code;
  c->low_code = s->low_code;
}

static int posit_in_lanes(const hu_number_spec *s) {
  return s->kind == HU_NUMBER_POSIT && s->width > 2 && (s->width - 2) << s->es <= 126;
}

/* ---- one element, and counts ---- */

static uint32_t encode_one(const hu_number_spec *s, uint32_t u, hu_events *events) {
  uint32_t own, code = hui_any_round(s, hui_quantity_of(hui_unpack32(u)), 0, &own);
  hu_events_count(events, own);
  return code;
}

static void add_counts(hu_events *events, const hu_lane_counts *c) {
  events->inexact += c->inexact;
  events->overflow += c->overflow;
  events->saturated += c->saturated;
  events->underflow += c->underflow;
  events->to_zero += c->to_zero;
  events->invalid += c->invalid;
}

/* ---- tables ---- */

static uint32_t code_at(const hu_number_spec *s, int64_t key) {
  uint32_t ignored;
  hu_num x = hui_unpack32((uint32_t)key ^ (key < 0 ? 0x7FFFFFFF : 0));
  return hui_number_round(s, hui_quantity_of(x), 0, &ignored);
}

/* The steps between two keys with different codes, in order; 0 if there are too many. */
static int add_steps(hu_number_lane *c, const hu_number_spec *s, int64_t low, int64_t high) {
  uint32_t below = code_at(s, low), above = code_at(s, high);
  while (below != above) {
    int64_t first = low, past = high; /* the code at first is `below`, at past it is not */
    while (past - first > 1) {
      int64_t middle = first + (past - first) / 2;
      if (code_at(s, middle) == below)
        first = middle;
      else
        past = middle;
    }
    if (c->thresholds == HU_LANE_TABLE) return 0;
    below = code_at(s, past);
    c->threshold[c->thresholds++] = (int32_t)past;
    c->codes[c->thresholds] = (uint8_t)below;
    low = past;
  }
  return 1;
}

/* The same, and over zero in two: which candidate is the lower one depends on the sign. */
static int add_steps_by_sign(hu_number_lane *c, const hu_number_spec *s, int64_t low, int64_t high) {
  if (low >= 0 || high < 0) return add_steps(c, s, low, high);
  return add_steps(c, s, low, -1) && add_steps(c, s, -1, 0) && add_steps(c, s, 0, high);
}

/* Finds the steps by the codes of values: between them, on one side of zero, codes cannot come back. */
static int find_steps(hu_number_fast *f, const hu_number_spec *s) {
  hu_number_lane *c = &f->constants;
  int64_t last = hui_key_of(0xFF7FFFFF);
  c->thresholds = 0;
  c->codes[0] = (uint8_t)code_at(s, last);
  for (int32_t place = 0; place <= s->places_end; place++) {
    uint32_t u = s->pattern[s->order[place]];
    int64_t key = hui_key_of((u & 0x7FFFFFFF) == 0 ? 0 : u);
    if (!add_steps_by_sign(c, s, last, key)) return 0;
    last = key;
  }
  return add_steps_by_sign(c, s, last, hui_key_of(0x7F7FFFFF));
}

static void encode_places(const hu_number_fast *f, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  const hu_number_spec *s = f->to;
  int32_t low = hui_key_of(s->pattern[s->low_code]), high = hui_key_of(s->pattern[s->max_code]);
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  f->lanes->places(&f->constants, n, z, x);
  for (size_t i = 0; i < n; i++) {
    int32_t key = hui_key_of(x[i]);
    uint32_t v, beyond = key < low || key > high;
    z[i] = f->constants.codes[z[i]];
    v = s->pattern[z[i]];
    if (HU_UNLIKELY((x[i] & 0x7FFFFFFF) - 1 >= 0x7F7FFFFF)) { /* a zero, an infinity or NaN */
      z[i] = encode_one(s, x[i], events);
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
static uint32_t least_fraction(const hu_number_spec *s, int32_t j, uint32_t sign) {
  int32_t f = s->fraction;
  uint32_t round = s->floating.round;
  int up = round == HU_RAZ || (round == HU_RTP && !sign) || (round == HU_RTN && sign) || (round == HU_RTO && (j & 1));
  if (round <= HU_RNZ) return fraction_of(2 * j - 1, f + 1) + 1;
  if (up) return fraction_of(j - 1, f) + 1;
  return j == 1 << f ? 1u << 23 : fraction_of(j, f) + 1;
}

static void find_fractions(hu_number_fast *f, const hu_number_spec *s) {
  for (uint32_t sign = 0; sign < 2; sign++) {
    if (sign && s->floating.round != HU_RTP && s->floating.round != HU_RTN) {
      memcpy(f->fractions[1], f->fractions[0], sizeof f->fractions[0]);
      return;
    }
    for (int32_t j = 1; j <= 1 << s->fraction; j++) f->fractions[sign][j - 1] = least_fraction(s, j, sign);
  }
}

/* Values from 1 to 2, which those of other binades are by their exponents. */
static void find_powers(hu_number_fast *f, const hu_number_spec *s) {
  for (int32_t j = 0; j < 1 << s->fraction; j++) {
    hu_quantity q = hui_quantity_of(hui_power_num(0, j, s->fraction));
    f->powers32[j] = hui_quantity_pack32(q);
    f->bits[j] = hui_quantity_pack64(q);
  }
}

static void decode_binade(const hu_number_fast *f, const hu_number_spec *s, size_t n, uint32_t *z, const uint32_t *x) {
  for (size_t i = 0; i < n; i++) {
    hu_quantity q = hui_lns_unpack(s, x[i]);
    int32_t e = hui_power_exponent(q.k, s->fraction);
    if (HU_UNLIKELY(!q.power || e < -126 || e > 127)) {
      z[i] = hui_quantity_pack32(q);
      continue;
    }
    uint32_t j = (uint32_t)q.k & (((uint32_t)1 << s->fraction) - 1);
    z[i] = (f->powers32[j] + ((uint32_t)e << 23)) | (uint32_t)q.x.sign << 31;
  }
}

uint64_t hui_number_fast_value64(const hu_number_fast *f, uint32_t code) {
  const hu_number_spec *s = f->to ? f->to : f->from;
  hu_quantity q = hui_any_unpack(s, code);
  if (f->decode != HU_NUMBER_BINADE || !q.power) return hui_any_pack64(q);
  uint32_t j = (uint32_t)q.k & (((uint32_t)1 << s->fraction) - 1);
  int64_t e = hui_power_exponent(q.k, s->fraction);
  return (f->bits[j] + ((uint64_t)e << 52)) | (uint64_t)q.x.sign << 63;
}

static void encode_binade(const hu_number_fast *f, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  const hu_number_spec *s = f->to;
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < n; i++) {
    uint32_t u = x[i], field = u >> 23 & 0xFF, fraction = u & 0x7FFFFF, sign = u >> 31, at = 0, own;
    const uint32_t *steps = f->fractions[sign];
    if (HU_UNLIKELY(field - 1 >= 254)) { /* zeros, subnormal numbers, infinities, NaN */
      z[i] = encode_one(s, u, events);
      continue;
    }
    for (uint32_t half = (uint32_t)1 << s->fraction >> 1; half; half >>= 1) {
      at += steps[at + half - 1] <= fraction ? half : 0;
    }
    at += steps[at] <= fraction;
    int32_t k = ((int32_t)field - 127) * (1 << s->fraction) + (int32_t)at;
    if (HU_UNLIKELY(k < s->low_k)) {
      own = 0;
      z[i] = hui_lns_below(s, sign, &own);
      hu_events_count(events, own);
      continue;
    }
    uint32_t over = k > s->high_k;
    counts.inexact += fraction != 0 || over;
    counts.overflow += over;
    z[i] = over ? (sign ? s->low_code : s->max_code) : hui_lns_code(s, sign, k);
  }
  counts.saturated = counts.overflow;
  add_counts(events, &counts);
}

/* ---- lanes ---- */

static int is_takum(const hu_number_spec *s) { return s->kind == HU_NUMBER_TAKUM || s->kind == HU_NUMBER_TAKUM_LINEAR; }

/* The codes of all places, the last of which is beyond the range. */
static void find_hif8_codes(hu_number_lane *c, const hu_number_spec *s) {
  for (uint32_t sign = 0; sign < 2; sign++) {
    uint32_t events = 0, beyond = hui_hif8_beyond(s, sign, &events);
    c->codes[sign << 7] = 0;
    for (int32_t place = 1; place < HU_HIF8_INF_PLACE; place++)
      c->codes[(uint32_t)place | sign << 7] = (uint8_t)(hui_hif8_code(place) | sign << 7);
    c->codes[HU_HIF8_INF_PLACE | sign << 7] = (uint8_t)beyond;
    c->stops[sign] = events & HU_EVENT_SATURATED ? ~(uint64_t)0 : 0;
  }
}

static uint64_t encode_lanes(const hu_number_fast *f, size_t n, uint32_t *z, const uint32_t *x,
                             hu_lane_counts *counts) {
  const hu_number_lanes *lanes = f->lanes;
  switch (f->to->kind) {
    case HU_NUMBER_POSIT: return lanes->posit(&f->constants, n, z, x, counts);
    case HU_NUMBER_TAKUM_LINEAR: return lanes->takum[1](&f->constants, n, z, x, counts);
    case HU_NUMBER_HIFLOAT8: return lanes->hif8(&f->constants, n, z, x, counts);
    case HU_NUMBER_TAKUM: break;
    default: return lanes->fixed(&f->constants, n, z, x, counts);
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  uint64_t left = lanes->takum[0](&f->constants, n, z, x, counts);
  hui_float_env_leave(saved);
  return left;
}

static void decode_lanes(const hu_number_fast *f, const hu_number_spec *s, size_t n, uint32_t *z, const uint32_t *x) {
  const hu_number_lanes *lanes = f->lanes;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (is_takum(s)) {
    lanes->takum_values[s->kind == HU_NUMBER_TAKUM_LINEAR](&f->back, n, z, x);
  } else {
    (s->kind == HU_NUMBER_POSIT ? lanes->posit_values : lanes->fixed_values)(&f->back, n, z, x);
  }
  hui_float_env_leave(saved);
  for (size_t i = 0; is_takum(s) && i < n; i++) {
    if (HU_UNLIKELY(z[i] == HU_LANE_LEFT)) z[i] = hui_any_pack32(hui_any_unpack(s, x[i]));
  }
}

/* ---- ways ---- */

static uint32_t cost_of(const hu_number_spec *s) { /* elements that a search for steps or codes has to be worth */
  if (s->kind == HU_NUMBER_HIFLOAT8) return 512;
  return s->kind == HU_NUMBER_TABLE ? 64u * s->count : 4u << s->fraction;
}

static int encode_way(hu_number_fast *f, const hu_number_spec *s, size_t n) {
  if (s->floating.round >= HU_SRA) return HU_NUMBER_ONE;
  if (posit_in_lanes(s) || is_takum(s) || s->kind == HU_NUMBER_FIXED) return HU_NUMBER_LANES;
  if (n < cost_of(s)) return HU_NUMBER_ONE;
  if (s->kind == HU_NUMBER_HIFLOAT8) {
    find_hif8_codes(&f->constants, s);
    return HU_NUMBER_LANES;
  }
  if (s->kind == HU_NUMBER_TABLE) return find_steps(f, s) ? HU_NUMBER_PLACES : HU_NUMBER_ONE;
  if (s->kind != HU_NUMBER_LNS || s->fraction < 1 || s->fraction > 8) return HU_NUMBER_ONE;
  find_fractions(f, s);
  return HU_NUMBER_BINADE;
}

/* What is written for every code of s. */
static void find_values(hu_number_fast *f, const hu_number_spec *s, unsigned values) {
  for (uint32_t c = 0; c < 256; c++) {
    hu_quantity q = hui_any_unpack(s, c);
    f->events[c] = 0;
    if (f->to && !values) {
      f->bits[c] = hui_any_round(f->to, q, 0, &f->events[c]);
    } else {
      f->bits[c] = values == 64 ? hui_any_pack64(q) : hui_any_pack32(q);
    }
  }
}

static int decode_way(hu_number_fast *f, const hu_number_spec *s, size_t n, unsigned values) {
  if (s->kind == HU_NUMBER_LNS && s->width > 8 && s->fraction > 0 && s->fraction <= 8 && n >= 1u << s->fraction) {
    find_powers(f, s);
    return HU_NUMBER_BINADE;
  }
  if (values != 32) return HU_NUMBER_ONE;
  if (posit_in_lanes(s) && s->width <= 25) return HU_NUMBER_LANES;
  if (is_takum(s)) { /* a table of codes is quicker */
    return (s->width > 8 || n < 512) && (s->kind == HU_NUMBER_TAKUM || s->width <= 28) ? HU_NUMBER_LANES
                                                                                       : HU_NUMBER_ONE;
  }
  return s->kind == HU_NUMBER_FIXED ? HU_NUMBER_LANES : HU_NUMBER_ONE;
}

void hui_number_fast_make(hu_number_fast *f, const hu_number_spec *to, const hu_number_spec *from, int reads32,
                          unsigned values, size_t n, const hu_number_lanes *lanes) {
  const hu_number_spec *coded = to && values ? to : from; /* whose codes become something else */
  f->to = to;
  f->from = from;
  f->encode = f->decode = HU_NUMBER_ONE;
  f->lanes = lanes;
  if (!f->lanes) return;
  if (to) set_constants(&f->constants, to);
  if (to && reads32) f->encode = encode_way(f, to, n);
  if (!coded || (to && from && to->floating.round >= HU_SRA)) return;
  set_constants(&f->back, coded);
  if (values) f->decode = decode_way(f, coded, n, values);
  if (coded->width <= 8 && n >= 512 && f->decode == HU_NUMBER_ONE) {
    find_values(f, coded, values);
    f->decode = HU_NUMBER_TABLE_OF_CODES;
  }
}

void hui_number_fast_encode(const hu_number_fast *f, size_t n, uint32_t *z, const uint32_t *x, hu_events *events) {
  hu_lane_counts counts = {0, 0, 0, 0, 0, 0};
  if (f->encode == HU_NUMBER_PLACES) {
    encode_places(f, n, z, x, events);
  } else if (f->encode == HU_NUMBER_BINADE) {
    encode_binade(f, n, z, x, events);
  } else if (f->encode == HU_NUMBER_LANES && !encode_lanes(f, n, z, x, &counts)) {
    add_counts(events, &counts);
  } else {
    for (size_t i = 0; i < n; i++) z[i] = encode_one(f->to, x[i], events);
  }
}

void hui_number_fast_decode(const hu_number_fast *f, size_t n, uint32_t *z, const uint32_t *x) {
  const hu_number_spec *s = f->to ? f->to : f->from;
  if (f->decode == HU_NUMBER_LANES) {
    decode_lanes(f, s, n, z, x);
  } else if (f->decode == HU_NUMBER_BINADE) {
    decode_binade(f, s, n, z, x);
  } else if (f->decode == HU_NUMBER_TABLE_OF_CODES) {
    for (size_t i = 0; i < n; i++) z[i] = (uint32_t)f->bits[x[i] & 0xFF];
  } else {
    for (size_t i = 0; i < n; i++) z[i] = hui_any_pack32(hui_any_unpack(s, x[i]));
  }
}
