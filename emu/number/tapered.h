/* SPDX-License-Identifier: MIT */
/* emu/number/tapered.h - takums and HiFloat8: a code's value, and the one rounding of a value to a code; and these two
 * for every kind of number system.
 *
 * docs/numbers.md N.1 and N.2, in integers only. The other kinds are those of emu/core/number.h, whose record and
 * quantity serve here, too; a quantity of `power` HU_POWER_OF_E is e^(k / 2^f), which only this file understands. */
#ifndef HALFULP_EMU_NUMBER_TAPERED_H
#define HALFULP_EMU_NUMBER_TAPERED_H

#include "emu/core/number.h"

enum { HU_POWER_OF_E = 2 };

HU_FN uint32_t hui_is_tapered(uint32_t kind) { return kind > HU_NUMBER_TABLE; }

/* ---- powers of e ---- */

/* All of a quantity, or 64 digits and sticky. e^x is irrational for a rational x that is not 0. */
HU_FN hu_num hui_any_num(hu_quantity quantity) {
  uint32_t ignored = 0;
  if (quantity.power != HU_POWER_OF_E) return hui_quantity_num(quantity);
  hu_num x = hui_num_finite(quantity.k < 0, (uint64_t)(quantity.k < 0 ? -(int64_t)quantity.k : quantity.k),
                            -(int32_t)quantity.fraction);
  x = hui_function_of(HU_OP_EXP, x, x, &ignored);
  x.sign = quantity.x.sign;
  return x;
}

/* Returns k 2^exp times ln 2 or 1 / ln 2, both irrational: zero, or 64 digits and sticky. */
HU_OUTLINE hu_num hui_times_constant(int32_t which, int32_t k, int32_t exp) {
  if (k == 0) return hui_num_special(HU_KIND_ZERO, 0);
  hu_big a = hui_big_constant(which, HU_BIG_FRACTION);
  hui_big_times(&a, &a, (uint32_t)(k < 0 ? -(int64_t)k : k), HU_BIG_FRACTION);
  int32_t place = hui_big_lead(&a, HU_BIG_FRACTION);
  hu_num z = hui_num_finite(k < 0, hui_big_digits(&a, place, HU_BIG_FRACTION), place - 63 - 32 * HU_BIG_FRACTION + exp);
  z.sticky = 1;
  return z;
}

/* 2 ln |x| of a finite quantity that is not 0: all of it, or 64 digits and sticky. */
HU_OUTLINE hu_num hui_twice_log(hu_quantity quantity) {
  uint32_t ignored = 0;
  if (quantity.power == HU_POWER_OF_E)
    return hui_num_finite(quantity.k < 0, (uint64_t)(quantity.k < 0 ? -(int64_t)quantity.k : quantity.k),
                          1 - quantity.fraction);
  if (quantity.power) return hui_times_constant(HU_CONSTANT_LN2, quantity.k, 1 - quantity.fraction);
  quantity.x.sign = 0;
  hu_num z = hui_function_of(HU_OP_LOG, quantity.x, quantity.x, &ignored);
  z.exp++;
  return z;
}

/* ---- takum ---- */

/* The exponent c and the digits of m, 0 <= m < 1, from the top of 64 bits: a linear takum is (1 + m) 2^c, a logarithmic
 * one e^((c + m) / 2). *code is that of the magnitude, not 0. */
typedef struct hu_takum_fields {
  int32_t c;
  uint64_t m;
  int32_t digits; /* of m that the code has, 0 to 27 */
} hu_takum_fields;

HU_FN hu_takum_fields hui_takum_split(const hu_number_spec *spec, uint32_t code) {
  hu_takum_fields fields;
  uint64_t full = (uint64_t)code << (64 - spec->width);
  int32_t up = (int32_t)(full >> 62), r = (int32_t)(full >> 59) & 7;
  if (!up) r = 7 - r;
  uint64_t body = full << 5;
  int32_t field = r ? (int32_t)(body >> (64 - r)) : 0;
  fields.c = up ? (1 << r) - 1 + field : field + 1 - (2 << r);
  fields.m = body << r;
  fields.digits = spec->width - 5 - r < 0 ? 0 : spec->width - 5 - r;
  return fields;
}

HU_FN hu_quantity hui_takum_unpack(const hu_number_spec *spec, uint32_t code) {
  uint32_t c = code & spec->mask, sign = (c & spec->top) != 0;
  if ((c & ~spec->top) == 0) return hui_quantity_of(hui_num_special(c ? HU_KIND_NAN : HU_KIND_ZERO, 0));
  hu_takum_fields fields = hui_takum_split(spec, sign ? (~c + 1) & spec->mask : c);
  if (spec->kind == HU_NUMBER_TAKUM_LINEAR) {
    return hui_quantity_of(hui_num_finite(sign, (uint64_t)1 << 63 | fields.m >> 1, fields.c - 63));
  }
  hu_quantity quantity = hui_quantity_of(hui_num_finite(sign, 1, 0));
  quantity.k = fields.c * (1 << fields.digits) + (fields.digits ? (int32_t)(fields.m >> (64 - fields.digits)) : 0);
  quantity.fraction = (uint8_t)(fields.digits + 1);
  quantity.power = quantity.k ? HU_POWER_OF_E : 0;
  return quantity;
}

/* Returns c + m of a magnitude. */
HU_FN hu_split hui_takum_place(const hu_number_spec *spec, hu_quantity quantity) {
  hu_split z = {0, 0, 0};
  if (spec->kind == HU_NUMBER_TAKUM) return hui_floor_split(hui_twice_log(quantity));
  hu_num x = hui_any_num(quantity);
  z.whole = hui_exponent(x);
  z.part = x.sig << hui_clz64(x.sig) << 1;
  z.sticky = x.sticky;
  return z;
}

/* The code of the bits that begin the endless bit string of c + m, -255 <= c <= 254, and what is cut off. */
HU_FN uint32_t hui_takum_cut(const hu_number_spec *spec, hu_split *z) {
  int32_t c = (int32_t)z->whole, up = c >= 0, r = 31 - hui_clz32((uint32_t)(up ? c + 1 : -c)), n = spec->width;
  int32_t field = up ? c + 1 - (1 << r) : c - 1 + (2 << r);
  uint64_t head = (uint64_t)((uint32_t)up << (3 + r) | (uint32_t)(up ? r : 7 - r) << r | (uint32_t)field);
  uint64_t high = head << (59 - r) | z->part >> (5 + r), low = z->part << (59 - r);
  z->part = high << n | low >> (64 - n);
  z->sticky |= low << n != 0;
  return (uint32_t)(high >> (64 - n));
}

/* Rounds, never to zero, never beyond the largest number. */
HU_FN uint32_t hui_takum_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  hu_split z = hui_takum_place(spec, quantity);
  uint32_t c = 0, sign = quantity.x.sign, beyond = z.whole > 254;
  if (!beyond && z.whole >= -255) {
    c = hui_takum_cut(spec, &z);
    beyond = c == spec->max_code && (z.part || z.sticky);
  }
  if (beyond) {
    c = spec->max_code;
    *events |= HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT;
  } else if (c == 0) {
    c = 1;
    *events |= HU_EVENT_UNDERFLOW | HU_EVENT_INEXACT;
  } else if (z.part || z.sticky) {
    *events |= HU_EVENT_INEXACT;
    c += (uint32_t)hui_round_up(&spec->floating, z.part, z.sticky, 64, c & 1, sign, random);
  }
  return sign ? (~c + 1) & spec->mask : c;
}

/* ---- HiFloat8 ---- */

/* Magnitudes are numbered upward from 0 by places: the binades of exponents from LEAST on have 2, 4, 8, 4 and 2 of
 * them, those below are powers of two, the last place is infinity. A place is odd just if its code is. */
enum { HU_HIF8_LEAST = -15, HU_HIF8_INF_PLACE = 127, HU_HIF8_INF = 0x6F, HU_HIF8_MAX = 0x6E, HU_HIF8_NAN = 0x80 };

/* Returns how many bits stand behind the point in the binade of an exponent from -15 to 15. */
HU_FN int32_t hui_hif8_digits(int32_t e) {
  int32_t a = e < 0 ? -e : e;
  return a < 4 ? 3 : a < 8 ? 2 : 1;
}

/* Returns the place of 2^e. */
HU_FN int32_t hui_hif8_first(int32_t e) {
  int32_t place = 8;
  for (int32_t i = HU_HIF8_LEAST; i < e; i++) place += 1 << hui_hif8_digits(i);
  return place;
}

HU_FN uint32_t hui_hif8_code(int32_t place) {
  int32_t e = HU_HIF8_LEAST;
  if (place < 8) return (uint32_t)place;
  for (int32_t at = 8 + (1 << hui_hif8_digits(e)); place >= at; at += 1 << hui_hif8_digits(e)) e++;
  int32_t digits = hui_hif8_digits(e), m = place - hui_hif8_first(e), minus = e < 0, a = minus ? -e : e;
  if (a == 0) return 0x08 | (uint32_t)m;
  if (a == 1) return 0x10 | (uint32_t)(minus << 3 | m);
  int32_t bits = 5 - digits; /* of the exponent's field: its sign, and what is below its leading one */
  uint32_t prefix = a < 4 ? 0x20 : a < 8 ? 0x40 : 0x60;
  return prefix | (uint32_t)(minus << 4 | (a & ((1 << (bits - 1)) - 1)) << digits | m);
}

HU_FN hu_num hui_hif8_unpack(uint32_t code) {
  uint32_t c = code & 0x7F, sign = code >> 7 & 1;
  if (c == 0) return hui_num_special(sign ? HU_KIND_NAN : HU_KIND_ZERO, 0);
  if (c == HU_HIF8_INF) return hui_num_special(HU_KIND_INF, sign);
  if (c < 0x08) return hui_num_finite(sign, 1, (int32_t)c - 23);
  int32_t width = c >= 0x60 ? 4 : c >= 0x40 ? 3 : c >= 0x20 ? 2 : c >= 0x10 ? 1 : 0; /* of the exponent's field */
  int32_t digits = width < 2 ? 3 : 5 - width, a = 0, minus = 0;
  if (width) {
    int32_t field = (int32_t)(c >> digits) & ((1 << width) - 1);
    minus = field >> (width - 1);
    a = (1 << (width - 1)) | (field & ((1 << (width - 1)) - 1));
  }
  uint64_t m = c & ((1u << digits) - 1);
  return hui_num_finite(sign, (uint64_t)1 << digits | m, (minus ? -a : a) - digits);
}

/* The place of the lower candidate of a magnitude, and what is above it. */
HU_FN hu_split hui_hif8_place(hu_num x) {
  hu_split z = {0, 0, x.sticky};
  int32_t e = hui_exponent(x);
  uint64_t sig = x.sig << hui_clz64(x.sig);
  if (e < -22) { /* between 0 and 2^-22 */
    int32_t down = -23 - e;
    z.part = hui_shift_right(sig, down);
    z.sticky |= down > 63 || z.part << down != sig;
  } else if (e < HU_HIF8_LEAST) {
    z.whole = e + 23;
    z.part = sig << 1;
  } else if (e > 15) {
    z.whole = HU_HIF8_INF_PLACE;
    z.sticky = 1;
  } else {
    int32_t digits = hui_hif8_digits(e);
    z.whole = hui_hif8_first(e) + (int32_t)(sig << 1 >> (64 - digits));
    z.part = sig << 1 << digits;
  }
  return z;
}

/* spec->wrap: an infinity becomes the largest number; spec->coding: what is beyond it does. */
HU_FN uint32_t hui_hif8_beyond(const hu_number_spec *spec, uint32_t sign, uint32_t *events) {
  *events |= HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  if (!spec->coding && !hui_is_inward(&spec->floating, sign)) return HU_HIF8_INF | sign << 7;
  *events |= HU_EVENT_SATURATED;
  return HU_HIF8_MAX | sign << 7;
}

HU_FN uint32_t hui_hif8_round(const hu_number_spec *spec, hu_num x, uint32_t random, uint32_t *events) {
  hu_split z = hui_hif8_place(x);
  int32_t place = (int32_t)z.whole;
  if (place < HU_HIF8_INF_PLACE) {
    if (z.part || z.sticky) *events |= HU_EVENT_INEXACT;
    if (place == 0) *events |= HU_EVENT_UNDERFLOW; /* |x| < 2^-22 */
    place += hui_round_up(&spec->floating, z.part, z.sticky, 64, (uint32_t)place & 1, x.sign, random);
  }
  if (place == HU_HIF8_INF_PLACE) return hui_hif8_beyond(spec, x.sign, events);
  if (place == 0) *events |= HU_EVENT_TO_ZERO;
  return place ? hui_hif8_code(place) | (uint32_t)x.sign << 7 : 0;
}

/* ---- any kind ---- */

/* Of a tapered kind; the fields of the others are set. */
HU_FN void hui_tapered_spec(hu_number_spec *spec, hu_mode mode) {
  spec->has_zero = spec->has_nan = 1;
  spec->nan_code = spec->top;
  if (spec->kind == HU_NUMBER_HIFLOAT8) {
    spec->max_code = HU_HIF8_MAX;
    spec->low_code = HU_HIF8_MAX | HU_HIF8_NAN;
    spec->wrap = mode.saturate == HU_SAT_FINITE;
    spec->coding = mode.saturate == HU_SAT_FINITE || mode.saturate == HU_SAT_PROPAGATE;
    return;
  }
  spec->max_code = spec->top - 1;
  spec->low_code = spec->top + 1;
  spec->inf_to_nan = mode.saturate != HU_SAT_FINITE;
}

HU_FN hu_quantity hui_any_unpack(const hu_number_spec *spec, uint32_t code) {
  if (!hui_is_tapered(spec->kind)) return hui_number_unpack(spec, code);
  return spec->kind == HU_NUMBER_HIFLOAT8 ? hui_quantity_of(hui_hif8_unpack(code & spec->mask))
                                          : hui_takum_unpack(spec, code);
}

HU_FN uint32_t hui_tapered_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  *events = 0;
  if (quantity.x.kind == HU_KIND_NAN) return hui_number_from_nan(spec, events);
  if (quantity.x.kind == HU_KIND_ZERO) return 0;
  if (quantity.x.kind == HU_KIND_INF && (spec->kind != HU_NUMBER_HIFLOAT8 || spec->wrap)) {
    return hui_number_from_inf(spec, quantity.x.sign, events);
  }
  if (quantity.x.kind == HU_KIND_INF) {
    *events = HU_EVENT_INF_IN;
    return HU_HIF8_INF | (uint32_t)quantity.x.sign << 7;
  }
  if (spec->kind == HU_NUMBER_HIFLOAT8) return hui_hif8_round(spec, hui_any_num(quantity), random, events);
  return hui_takum_round(spec, quantity, random, events);
}

/* Rounds a power of e to a logarithmic number. */
HU_FN uint32_t hui_lns_of_e(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  hu_split z =
      hui_floor_split(hui_times_constant(HU_CONSTANT_LOG2E, quantity.k, (int32_t)spec->fraction - quantity.fraction));
  uint32_t sign = quantity.x.sign;
  *events = HU_EVENT_INEXACT;
  z.whole += hui_round_up(&spec->floating, z.part, z.sticky, 64, (uint32_t)z.whole & 1, sign, random);
  if (z.whole > spec->high_k) return hui_number_beyond(spec, sign, events);
  return z.whole < spec->low_k ? hui_lns_below(spec, sign, events) : hui_lns_code(spec, sign, z.whole);
}

/* Returns |x| 2^n of a power of e, from 2^62 on: its integer part modulo 2^64, and 64 digits behind the point. */
HU_OUTLINE hu_units hui_units_of_e(hu_quantity quantity, int32_t n) {
  hu_units units = {0, 0, 1, 1};
  for (int32_t limbs = 12; limbs <= HU_BIG_FRACTION; limbs *= 2) {
    hu_real value;
    hu_big a = hui_big_scaled((uint64_t)quantity.k, -(int32_t)quantity.fraction, limbs), reach = hui_big_of(0, limbs),
           above;
    hui_real_exp(&value, &a, 0, 0, limbs);
    int32_t from = 32 * limbs - n - 64 - value.exp; /* the place of the lowest digit */
    if (from < 0) continue;
    reach.limb[value.error >> 5] = (uint32_t)1 << (value.error & 31);
    hui_big_add(&above, &value.z, &reach, limbs);
    hui_big_sub(&value.z, &value.z, &reach, limbs);
    units.part = hui_big_digits(&value.z, from + 63, limbs);
    units.whole = hui_big_digits(&value.z, from + 127, limbs);
    if (units.part == hui_big_digits(&above, from + 63, limbs) &&
        units.whole == hui_big_digits(&above, from + 127, limbs))
      break;
  }
  return units;
}

/* Rounds a power of e to a fixed-point number. */
HU_FN uint32_t hui_fixed_of_e(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  hu_num x = hui_any_num(quantity);
  if (!spec->wrap || hui_exponent(x) + spec->fraction < 62)
    return hui_number_round(spec, hui_quantity_of(x), random, events);
  hu_units units = hui_units_of_e(quantity, spec->fraction);
  units.whole += (uint64_t)hui_round_up(&spec->floating, units.part, units.sticky, 64, (uint32_t)units.whole & 1,
                                        quantity.x.sign, random);
  *events = HU_EVENT_OVERFLOW | HU_EVENT_INEXACT;
  return (uint32_t)(quantity.x.sign ? ~units.whole + 1 : units.whole) & spec->mask;
}

/* The code of quantity in any number system; sets (not adds) *events. Tables get a power of e in 64 digits, of which
 * the last one is odd: no limit that has fewer digits lies between it and the power. */
HU_FN uint32_t hui_any_round(const hu_number_spec *spec, hu_quantity quantity, uint32_t random, uint32_t *events) {
  if (hui_is_tapered(spec->kind)) return hui_tapered_round(spec, quantity, random, events);
  if (quantity.power != HU_POWER_OF_E) return hui_number_round(spec, quantity, random, events);
  if (spec->kind == HU_NUMBER_LNS) return hui_lns_of_e(spec, quantity, random, events);
  if (spec->kind == HU_NUMBER_FIXED) return hui_fixed_of_e(spec, quantity, random, events);
  hu_num x = hui_any_num(quantity);
  if (spec->kind == HU_NUMBER_TABLE) {
    x.sig |= 1;
    x.sticky = 0;
  }
  return hui_number_round(spec, hui_quantity_of(x), random, events);
}

/* Round the value to binary64 and binary32 patterns, ties to even. */
HU_FN uint64_t hui_any_pack64(hu_quantity quantity) {
  return hui_quantity_pack64(hui_quantity_of(hui_any_num(quantity)));
}
HU_FN uint32_t hui_any_pack32(hu_quantity quantity) {
  return hui_quantity_pack32(hui_quantity_of(hui_any_num(quantity)));
}

#endif
