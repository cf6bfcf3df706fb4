/* SPDX-License-Identifier: MIT */
/* emu/core/number.h - any number system: a code's value, and the one rounding of a value to a code.
 *
 * All of docs/numbers.md for one value, in integers only. C11, C++17 and CUDA compile the same text. */
#ifndef HALFULP_EMU_CORE_NUMBER_H
#define HALFULP_EMU_CORE_NUMBER_H

#include "emu/core/modes.h"
#include "emu/core/number_log.h"
#include "halfulp/number.h"

/* A number system and a mode unfolded, once a call. Plain data without pointers: goes to a kernel by value. */
typedef struct hu_number_spec {
  hu_spec floating;                                 /* kind float; of the others the rounding and the NaN policy */
  uint32_t mask, top;                               /* all bits of a code, its highest one */
  uint32_t max_code, low_code, zero_code, nan_code; /* zero_code: what 0 is taken to where NaN becomes zero */
  int32_t low_k, high_k;                            /* lns */
  uint8_t kind, width, es, fraction, sign, coding, wrap, ties;
  uint8_t has_zero, has_nan, inf_to_nan;
  uint8_t places_end; /* table: the highest place */
  uint16_t count;
  uint32_t minus_zero;            /* table: the code of zero for negative operands */
  uint32_t pattern[HU_TABLE_MAX]; /* table: value i; limits behind the values */
  uint8_t order[HU_TABLE_MAX];    /* table: the lowest code of the value with this place */
} hu_number_spec;

/* A real number, an infinity or a NaN; if `power`, its magnitude is 2^(k / 2^fraction) and x has only kind and sign. */
typedef struct hu_quantity {
  hu_num x;
  int32_t k;
  uint8_t fraction, power;
} hu_quantity;

HU_FN hu_quantity hui_quantity_of(hu_num x) {
  hu_quantity quantity;
  quantity.x = x;
  quantity.k = 0;
  quantity.fraction = 0;
  quantity.power = 0;
  return quantity;
}

/* Returns all of it, or 64 digits and sticky. */
HU_FN hu_num hui_quantity_num(hu_quantity quantity) {
  return quantity.power ? hui_power_num(quantity.x.sign, quantity.k, quantity.fraction) : quantity.x;
}

/* ---- a code's value ---- */

HU_FN hu_num hui_posit_unpack(const hu_number_spec *spec, uint32_t code) {
  uint32_t c = code & spec->mask, sign = (c & spec->top) != 0;
  if ((c & ~spec->top) == 0) return hui_num_special(c ? HU_KIND_NAN : HU_KIND_ZERO, 0);
  if (sign) c = (~c + 1) & spec->mask;
  uint64_t body = (uint64_t)c << (65 - spec->width); /* the n - 1 bits below the sign, on top */
  int32_t ones = (int32_t)(body >> 63), run = hui_clz64(ones ? ~body : body), r = ones ? run - 1 : -run;
  uint64_t rest = body << (run + 1);
  int32_t e = spec->es ? (int32_t)(rest >> (64 - spec->es)) : 0;
  return hui_num_finite(sign, (uint64_t)1 << 63 | rest << spec->es >> 1, r * (1 << spec->es) + e - 63);
}

HU_FN hu_quantity hui_lns_unpack(const hu_number_spec *spec, uint32_t code) {
  uint32_t field = code & (spec->top - 1), sign = (code & spec->top) != 0;
  uint32_t half = spec->top >> 1, special = spec->coding == HU_LNS_TWOS ? half : 0;
  hu_quantity quantity = hui_quantity_of(hui_num_finite(sign, 1, 0));
  if (spec->has_zero && field == special) return hui_quantity_of(hui_num_special(sign ? HU_KIND_NAN : HU_KIND_ZERO, 0));
  int64_t k = field;
  if (spec->coding == HU_LNS_TWOS && field >= half) k -= spec->top;
  if (spec->coding == HU_LNS_OFFSET) k -= half;
  quantity.k = (int32_t)k;
  quantity.fraction = spec->fraction;
  quantity.power = 1;
  return quantity;
}

HU_FN hu_quantity hui_number_unpack(const hu_number_spec *spec, uint32_t code) {
  uint32_t c = code & spec->mask;
  switch (spec->kind) {
    case HU_NUMBER_FLOAT: return hui_quantity_of(hui_unpack(&spec->floating, code));
    case HU_NUMBER_POSIT: return hui_quantity_of(hui_posit_unpack(spec, code));
    case HU_NUMBER_LNS: return hui_lns_unpack(spec, code);
    case HU_NUMBER_FIXED: {
      uint32_t sign = spec->sign && c & spec->top;
      return hui_quantity_of(hui_num_finite(sign, sign ? (~c + 1) & spec->mask : c, -(int32_t)spec->fraction));
    }
    default:
      if (c >= spec->count) return hui_quantity_of(hui_num_special(HU_KIND_NAN, 0));
      return hui_quantity_of(hui_unpack32(spec->pattern[c]));
  }
}

/* Returns the value as a binary64 pattern; irrational ones are rounded to nearest. */
HU_FN uint64_t hui_quantity_pack64(hu_quantity quantity) {
  hu_num x = hui_quantity_num(quantity);
  return hui_pack64(x) + (x.sticky && (x.sig & 0x400) != 0); /* cut off to 53 digits, then up from the half on */
}

/* Rounds the value to a binary32 pattern, ties to even. */
HU_FN uint32_t hui_quantity_pack32(hu_quantity quantity) { return hui_pack32(hui_quantity_num(quantity)); }

/* ---- operands that are no numbers, and ends ---- */

HU_FN uint32_t hui_number_from_nan(const hu_number_spec *spec, uint32_t *events) {
  *events |= HU_EVENT_NAN_IN;
  if (spec->has_nan) return spec->nan_code;
  if (spec->floating.nan_to == HU_NAN_TO_ERROR) *events |= HU_EVENT_INVALID;
  return spec->floating.nan_to == HU_NAN_TO_ZERO ? spec->zero_code : spec->max_code;
}

HU_FN uint32_t hui_number_from_inf(const hu_number_spec *spec, uint32_t sign, uint32_t *events) {
  *events |= HU_EVENT_INF_IN;
  if (spec->has_nan && spec->inf_to_nan) {
    *events |= HU_EVENT_INVALID;
    return spec->nan_code;
  }
  if (sign && spec->kind == HU_NUMBER_FIXED && !spec->sign) *events |= HU_EVENT_INVALID;
  *events |= HU_EVENT_SATURATED;
  return sign ? spec->low_code : spec->max_code;
}

HU_FN uint32_t hui_number_beyond(const hu_number_spec *spec, uint32_t sign, uint32_t *events) {
  uint32_t code = sign ? spec->low_code : spec->max_code;
  *events |= HU_EVENT_OVERFLOW | HU_EVENT_INEXACT | HU_EVENT_SATURATED;
  if (spec->kind == HU_NUMBER_TABLE && (spec->pattern[code] & 0x7FFFFFFF) == 0) *events |= HU_EVENT_TO_ZERO;
  return code;
}

/* ---- posit ---- */

HU_FN uint32_t hui_posit_round(const hu_number_spec *spec, hu_num x, uint32_t random, uint32_t *events) {
  int32_t lead = hui_clz64(x.sig), k = x.exp + 63 - lead, top = (spec->width - 2) * (1 << spec->es);
  uint64_t sig = x.sig << lead;
  uint32_t more = x.sticky || sig << 1 != 0, c;
  if (k >= top) {
    c = spec->max_code;
    if (k > top || more) *events |= HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT;
  } else if (-top > k || (k == -top && !more)) {
    c = 1;
    if (-top > k) *events |= HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT;
  } else {
    /* r and e of k = r 2^es + e; the regime and the bit that ends it fit into the n - 1 bits, or end with them. */
    int32_t r = k >= 0 ? k >> spec->es : -((-k + (1 << spec->es) - 1) >> spec->es), e = k - r * (1 << spec->es);
    int32_t bits = r >= 0 ? r + 2 : 1 - r, left = spec->width - 1 - bits;
    uint64_t tail = sig << 1; /* the exponent's bits, then the fraction's */
    uint32_t sticky = x.sticky;
    if (spec->es) {
      sticky |= (tail & (((uint64_t)1 << spec->es) - 1)) != 0;
      tail = (uint64_t)e << (64 - spec->es) | tail >> spec->es;
    }
    uint32_t regime = r >= 0 ? ((uint32_t)2 << (r + 1)) - 2 : 1;
    c = regime << left | (uint32_t)(left ? tail >> (64 - left) : 0);
    uint64_t part = left ? tail << left : tail;
    if (part || sticky) *events |= HU_EVENT_INEXACT;
    c += (uint32_t)hui_round_up(&spec->floating, part, sticky, 64, c & 1, x.sign, random);
  }
  return x.sign ? (~c + 1) & spec->mask : c;
}

/* ---- lns ---- */

HU_FN uint32_t hui_lns_code(const hu_number_spec *spec, uint32_t sign, int64_t k) {
  uint32_t field = (uint32_t)k + (spec->coding == HU_LNS_OFFSET ? spec->top >> 1 : 0);
  return (field & (spec->top - 1)) | (sign ? spec->top : 0);
}

HU_FN uint32_t hui_lns_below(const hu_number_spec *spec, uint32_t sign, uint32_t *events) {
  uint32_t away = hui_takes_upper(&spec->floating, -1, 0, sign);
  *events |= HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT;
  if (away || !spec->has_zero) return hui_lns_code(spec, sign, spec->low_k);
  *events |= HU_EVENT_TO_ZERO;
  return spec->zero_code;
}

HU_FN uint32_t hui_lns_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  uint32_t sign = quantity.x.sign;
  hu_split z;
  if (quantity.power) {
    z = hui_floor_split(hui_num_finite(quantity.k < 0, (uint64_t)(quantity.k < 0 ? -(int64_t)quantity.k : quantity.k),
                                       spec->fraction - quantity.fraction));
  } else if (!hui_log_quickly(&z, quantity.x, spec->fraction, spec->floating.round >= HU_SRA ? 34 : 1)) {
    z = hui_floor_split(hui_log_scaled(quantity.x, spec->fraction));
  }
  if (z.part || z.sticky) *events |= HU_EVENT_INEXACT;
  z.whole += hui_round_up(&spec->floating, z.part, z.sticky, 64, (uint32_t)z.whole & 1, sign, random);
  if (z.whole > spec->high_k) return hui_number_beyond(spec, sign, events);
  if (z.whole < spec->low_k) return hui_lns_below(spec, sign, events);
  return hui_lns_code(spec, sign, z.whole);
}

/* ---- fixed ---- */

/* |x| 2^n: its integer part modulo 2^64, `large` if that is more than 2^62 or so, and the digits behind the point. */
typedef struct hu_units {
  uint64_t whole, part;
  uint32_t sticky, large;
} hu_units;

HU_FN hu_units hui_units_of(hu_quantity quantity, int32_t n) {
  hu_units z = {0, 0, 0, 0};
  if (quantity.power && !hui_power_is_whole(quantity.k, quantity.fraction)) {
    uint64_t w[2];
    hui_power_words(w, 2, quantity.k, quantity.fraction, n + 64);
    z.part = w[0];
    z.whole = w[1];
    z.sticky = 1;
    z.large = hui_power_exponent(quantity.k, quantity.fraction) + n >= 62;
    return z;
  }
  hu_num x = hui_quantity_num(quantity);
  x.exp += n;
  if (hui_exponent(x) < 62) {
    x.sign = 0;
    hu_split split = hui_floor_split(x);
    z.whole = (uint64_t)split.whole;
    z.part = split.part;
    z.sticky = split.sticky;
    return z;
  }
  z.large = 1; /* and of at most 53 digits: what is behind the point is 0 */
  z.whole = x.exp >= 0 ? (x.exp > 63 ? 0 : x.sig << x.exp) : x.sig >> -x.exp;
  z.part = x.exp >= 0 ? 0 : x.sig << (64 + x.exp);
  return z;
}

HU_FN uint32_t hui_fixed_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  hu_units units = hui_units_of(quantity, spec->fraction);
  uint32_t sign = quantity.x.sign, inexact = units.part || units.sticky;
  units.whole +=
      (uint64_t)hui_round_up(&spec->floating, units.part, units.sticky, 64, (uint32_t)units.whole & 1, sign, random);
  uint64_t limit = sign ? (spec->sign ? spec->top : 0) : spec->max_code;
  if (inexact) *events |= HU_EVENT_INEXACT;
  if (!units.large && units.whole <= limit) {
    if (units.whole == 0) *events |= HU_EVENT_TO_ZERO;
    return (uint32_t)(sign ? ~units.whole + 1 : units.whole) & spec->mask;
  }
  *events |= HU_EVENT_INEXACT;
  if (spec->wrap) {
    *events |= HU_EVENT_OVERFLOW;
    return (uint32_t)(sign ? ~units.whole + 1 : units.whole) & spec->mask;
  }
  if (!sign || spec->sign) return hui_number_beyond(spec, sign, events);
  *events |= HU_EVENT_INVALID | HU_EVENT_SATURATED;
  return spec->low_code;
}

/* ---- table ---- */

HU_FN hu_num hui_table_value(const hu_number_spec *spec, int32_t place) {
  return hui_unpack32(spec->pattern[spec->order[place]]);
}

/* Compares x, perhaps sticky, with an exact number. */
HU_FN int32_t hui_table_compare(hu_num x, hu_num v) {
  int32_t c = hui_compare_numbers(x, v);
  return c == 0 && x.sticky ? (x.sign ? -1 : 1) : c;
}

/* Places of all binary32 numbers: 12 limbs behind the point of |x| 2^-66. */
enum { HU_TABLE_LIMBS = 12, HU_TABLE_SHIFT = 66 };

HU_FN hu_big hui_table_big(hu_num x) {
  return hui_big_scaled(x.kind == HU_KIND_ZERO ? 0 : x.sig, x.exp - HU_TABLE_SHIFT, HU_TABLE_LIMBS);
}

/* |x - v|; digits of x below the lowest place are left out, and *sticky says so. */
HU_OUTLINE hu_big hui_table_distance(hu_quantity quantity, hu_num v, uint32_t *sticky) {
  hu_big a, b = hui_table_big(v);
  if (quantity.power && !hui_power_is_whole(quantity.k, quantity.fraction)) {
    uint64_t w[HU_TABLE_LIMBS / 2 + 1];
    hui_power_words(w, HU_TABLE_LIMBS / 2 + 1, quantity.k, quantity.fraction, 32 * HU_TABLE_LIMBS - HU_TABLE_SHIFT);
    a = hui_big_of(0, HU_TABLE_LIMBS);
    for (int32_t i = 0; i < HU_TABLE_LIMBS + 2; i++) a.limb[i] = (uint32_t)(w[i >> 1] >> (i & 1 ? 32 : 0));
    *sticky = 1;
  } else {
    hu_num x = hui_quantity_num(quantity);
    int32_t lost = HU_TABLE_SHIFT - 32 * HU_TABLE_LIMBS - x.exp;
    a = hui_table_big(x);
    *sticky = x.kind != HU_KIND_ZERO && lost > 0 && (lost > 63 || x.sig & (((uint64_t)1 << lost) - 1));
  }
  if (v.kind != HU_KIND_ZERO && quantity.x.sign != v.sign) {
    hui_big_add(&a, &a, &b, HU_TABLE_LIMBS);
  } else {
    (void)hui_big_distance(&a, &a, &b, HU_TABLE_LIMBS);
  }
  return a;
}

/* Is the upper candidate taken, between the values a < b? `lower` is the place of the lower one, the one toward
 * zero. */
HU_OUTLINE int32_t hui_table_up(const hu_number_spec *spec, hu_quantity quantity, hu_num x, hu_num a, hu_num b,
                                int32_t lower, uint32_t random) {
  uint32_t sticky, ignored = 0, low_is_lower = !x.sign;
  if (spec->floating.round == HU_RNE && spec->ties == HU_TIES_LOW32) {
    hu_num total = hui_exact_add(a, b, 0, &ignored);
    total.exp--;
    int32_t high = hui_table_compare(x, hui_unpack32(hui_pack32(total))) > 0;
    return high == (int32_t)low_is_lower;
  }
  if (spec->floating.round == HU_RNE && spec->ties == HU_TIES_GIVEN) {
    uint32_t code = spec->order[low_is_lower ? lower : lower - 1];
    int32_t high = hui_table_compare(x, hui_unpack32(spec->pattern[spec->count + code])) > 0;
    return high == (int32_t)low_is_lower;
  }
  hu_big rest = hui_table_distance(quantity, low_is_lower ? a : b, &sticky), gap;
  gap = hui_table_distance(hui_quantity_of(a), b, &ignored);
  int32_t digits = spec->floating.round >= HU_SRA ? 34 : 1; /* of nu; sticky says all else */
  uint64_t part = 0;
  for (int32_t i = 1; i <= digits; i++) {
    hui_big_add(&rest, &rest, &rest, HU_TABLE_LIMBS);
    if (hui_big_compare(&rest, &gap, HU_TABLE_LIMBS) < 0) continue;
    hui_big_sub(&rest, &rest, &gap, HU_TABLE_LIMBS);
    part |= (uint64_t)1 << (64 - i);
  }
  sticky |= hui_big_lead(&rest, HU_TABLE_LIMBS) >= 0;
  if (spec->floating.round == HU_RNE && spec->ties == HU_TIES_LOW && part == (uint64_t)1 << 63 && !sticky) {
    return !low_is_lower;
  }
  return hui_round_up(&spec->floating, part, sticky, 64, (uint32_t)lower & 1, x.sign, random);
}

HU_FN uint32_t hui_table_code(const hu_number_spec *spec, int32_t place, hu_num x, uint32_t *events) {
  uint32_t code = spec->order[place];
  if ((spec->pattern[code] & 0x7FFFFFFF) != 0) return code;
  if (x.kind != HU_KIND_ZERO) *events |= HU_EVENT_TO_ZERO;
  return x.sign ? spec->minus_zero : spec->zero_code;
}

HU_FN uint32_t hui_table_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  hu_num x = hui_quantity_num(quantity);
  int32_t first = 0, past = spec->places_end + 1; /* first: the highest place whose value is not above x */
  if (hui_table_compare(x, hui_table_value(spec, 0)) < 0) return hui_number_beyond(spec, 1, events);
  while (past - first > 1) {
    int32_t middle = (first + past) >> 1;
    if (hui_table_compare(x, hui_table_value(spec, middle)) < 0) {
      past = middle;
    } else {
      first = middle;
    }
  }
  hu_num a = hui_table_value(spec, first);
  if (hui_table_compare(x, a) == 0) return hui_table_code(spec, first, x, events);
  if (first == spec->places_end) return hui_number_beyond(spec, 0, events);
  int32_t lower = x.sign ? first + 1 : first;
  int32_t up = hui_table_up(spec, quantity, x, a, hui_table_value(spec, first + 1), lower, random);
  *events |= HU_EVENT_INEXACT;
  return hui_table_code(spec, first + (x.sign ? !up : up), x, events);
}

/* ---- any ---- */

/* The code of quantity in the number system and mode of spec; sets (not adds) *events. */
HU_FN uint32_t hui_number_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  *events = 0;
  if (spec->kind == HU_NUMBER_FLOAT) return hui_round(&spec->floating, hui_quantity_num(quantity), random, events);
  if (quantity.x.kind == HU_KIND_NAN) return hui_number_from_nan(spec, events);
  if (quantity.x.kind == HU_KIND_INF) return hui_number_from_inf(spec, quantity.x.sign, events);
  if (spec->kind == HU_NUMBER_TABLE) return hui_table_round(spec, quantity, random, events);
  if (quantity.x.kind == HU_KIND_ZERO) {
    if (spec->has_zero) return spec->zero_code;
    *events = HU_EVENT_INEXACT;
    return hui_lns_code(spec, quantity.x.sign, spec->low_k);
  }
  switch (spec->kind) {
    case HU_NUMBER_POSIT: return hui_posit_round(spec, hui_quantity_num(quantity), random, events);
    case HU_NUMBER_LNS: return hui_lns_round(spec, quantity, random, events);
    default: return hui_fixed_round(spec, quantity, random, events);
  }
}

/* ---- unfolding ---- */

/* Returns how many numbers a table's pointer leads to. */
HU_FN size_t hui_table_length(hu_number number) {
  return number.ties == HU_TIES_GIVEN ? 2 * (size_t)number.count : number.count;
}

HU_FN void hui_number_spec_lns(hu_number_spec *spec) {
  spec->has_zero = spec->has_nan = spec->coding != HU_LNS_UNSIGNED;
  spec->low_k = spec->has_zero ? 1 - (int32_t)(spec->top >> 1) : 0;
  spec->high_k = (int32_t)(spec->has_zero ? (spec->top >> 1) - 1 : spec->top - 1);
  spec->zero_code = spec->coding == HU_LNS_TWOS ? spec->top >> 1 : 0;
  spec->nan_code = spec->top | spec->zero_code;
  spec->max_code = hui_lns_code(spec, 0, spec->high_k);
  spec->low_code = hui_lns_code(spec, 1, spec->high_k);
}

/* Reads values, binary32 patterns, as many as hui_table_length says. */
HU_OUTLINE void hui_number_spec_table(hu_number_spec *spec, const uint32_t *values) {
  int32_t n = 0, plus = 0, minus = 0;
  uint32_t ignored = 0;
  hu_quantity zero = hui_quantity_of(hui_num_special(HU_KIND_ZERO, 0));
  for (int32_t i = 0; i < spec->count; i++) {
    hu_num v = hui_unpack32(values[i]);
    int32_t at = n;
    spec->pattern[i] = values[i];
    if (v.kind == HU_KIND_NAN) {
      if (!spec->has_nan) spec->nan_code = (uint32_t)i;
      spec->has_nan = 1;
      continue;
    }
    while (at > 0 && hui_compare_numbers(v, hui_table_value(spec, at - 1)) < 0) at--;
    if (at > 0 && hui_compare_numbers(v, hui_table_value(spec, at - 1)) == 0) continue;
    for (int32_t j = n; j > at; j--) spec->order[j] = spec->order[j - 1];
    spec->order[at] = (uint8_t)i;
    n++;
  }
  for (int32_t i = spec->count; spec->ties == HU_TIES_GIVEN && i < 2 * spec->count; i++) spec->pattern[i] = values[i];
  spec->places_end = (uint8_t)(n - 1);
  spec->max_code = spec->order[n - 1];
  spec->low_code = spec->order[0];
  for (int32_t i = spec->count - 1; i >= 0; i--) { /* zeros: the lowest of either sign, or of any */
    if ((spec->pattern[i] & 0x7FFFFFFF) != 0) continue;
    if (spec->pattern[i]) spec->minus_zero = (uint32_t)i;
    if (!spec->pattern[i]) spec->zero_code = (uint32_t)i;
    if (spec->pattern[i]) minus = 1;
    if (!spec->pattern[i]) plus = 1;
  }
  spec->has_zero = (uint8_t)(plus || minus);
  if (!minus) spec->minus_zero = spec->zero_code;
  if (!plus) spec->zero_code = spec->minus_zero;
  if ((spec->pattern[spec->max_code] & 0x7FFFFFFF) == 0) spec->max_code = spec->zero_code;
  if ((spec->pattern[spec->low_code] & 0x7FFFFFFF) == 0) spec->low_code = spec->minus_zero;
  spec->floating.round = HU_RNE;
  if (!spec->has_zero) spec->zero_code = hui_table_round(spec, zero, 0, &ignored);
}

/* Makes the spec of a valid number and mode. values: the table's values as binary32 patterns, else NULL. */
HU_OUTLINE void hui_number_spec_make(hu_number_spec *spec, hu_number number, const uint32_t *values, hu_mode mode) {
  uint32_t width = number.width;
  memset(spec, 0, sizeof *spec);
  spec->floating = hui_spec_of(number.format, mode);
  spec->kind = number.kind;
  spec->es = number.es;
  spec->fraction = number.fraction;
  spec->sign = number.sign;
  spec->coding = number.coding;
  spec->wrap = number.overflow;
  spec->ties = number.ties;
  spec->count = number.count;
  if (number.kind == HU_NUMBER_FLOAT) width = (uint32_t)number.format.sign + number.format.e + number.format.m;
  if (number.kind == HU_NUMBER_TABLE) width = 1;
  while (number.kind == HU_NUMBER_TABLE && 1u << width < number.count) width++;
  spec->width = (uint8_t)width;
  spec->mask = (uint32_t)(((uint64_t)1 << width) - 1);
  spec->top = (spec->mask >> 1) + 1;
  spec->inf_to_nan = mode.saturate == HU_SAT_NONE || mode.saturate == HU_SAT_PROPAGATE ||
                     (mode.saturate == HU_SAT_DEFAULT && number.kind == HU_NUMBER_POSIT);
  switch (number.kind) {
    case HU_NUMBER_POSIT:
      spec->has_zero = spec->has_nan = 1;
      spec->nan_code = spec->top;
      spec->max_code = spec->top - 1;
      spec->low_code = spec->top + 1;
      break;
    case HU_NUMBER_LNS: hui_number_spec_lns(spec); break;
    case HU_NUMBER_FIXED:
      spec->has_zero = 1;
      spec->max_code = spec->sign ? spec->top - 1 : spec->mask;
      spec->low_code = spec->sign ? spec->top : 0;
      break;
    case HU_NUMBER_TABLE:
      hui_number_spec_table(spec, values);
      spec->floating.round = mode.round;
      break;
    default: break;
  }
}

#endif
